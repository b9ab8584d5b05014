//! `modoai index --apache`: performs the first scan of mod_oai before httpd starts.
//!
//! The names of all files, their titles and digests can be determined without httpd. Only httpd can determine a file's
//! media type, and if its URL points to it. So a new catalogue is left incomplete for the module, which queries httpd
//! about every file and corrects the guesses of this command; until then, harvesters do not see the corrections as
//! changes.

use std::borrow::Cow;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};

use clap::Args;
use modoai_repository::catalogue::{self, Access, Catalogue, CatalogueError, CatalogueKind, Location};
use modoai_repository::ingest::{Reconciler, Tally, read_everything};
use modoai_repository::site::Site;
use modoai_repository::site::describe::{Describer, Description};
use modoai_repository::site::walk::Met;
use serde_json::{Value, json};

use super::{all_looked_at, counted, kept_by, told};
use crate::config::shown;
use crate::error::{CliError, Kind};
use crate::httpd::{self, Served};
use crate::open::not_indexed;
use crate::output::{self, Counting};

/// The media type that httpd uses for files of unknown type.
const UNKNOWN: &str = "application/octet-stream";

#[derive(Debug, Args)]
pub(super) struct ApacheArgs {
    /// Index the sites of an Apache httpd that has mod_oai, instead of DIR.
    #[arg(long)]
    apache: bool,
    /// Command that starts httpd, with its arguments [default: apachectl, apache2ctl or httpd]. It is run only with `-t
    /// -D MODOAI_SHOW_ROOTS`, to list the sites. If only root may do that, pass its output on standard input, and give
    /// `-` here.
    #[arg(long, value_name = "PROGRAM", requires = "apache", allow_hyphen_values = true)]
    httpd: Option<String>,
}

/// The outcome for a server.
enum Outcome {
    /// httpd is running and updates the catalogue.
    Kept,
    /// Its files were listed, and this number of them read.
    Indexed { tally: Box<Tally>, read: u64, complete: bool },
}

impl ApacheArgs {
    /// Indexes every server, also after an error of another one.
    pub(super) fn run(self, accept_deletions: bool, as_json: bool) -> Result<(), CliError> {
        let mut failure: Option<CliError> = None;
        let mut fail = |error: CliError| {
            if let Some(earlier) = failure.replace(error) {
                earlier.report();
            }
        };
        let mut summaries = Vec::new();
        for server in httpd::servers(self.httpd.as_deref())? {
            let indexed = index(&server, accept_deletions).and_then(|outcome| {
                if as_json {
                    summaries.push(outcome.counted(&server));
                } else {
                    output::print(&outcome.told(&server))?;
                }
                outcome.all_looked_at()
            });
            indexed.unwrap_or_else(|error| fail(error.about(&server.name)));
        }
        if as_json {
            output::print(&format!("{}\n", json!({ "servers": summaries })))?;
        }
        failure.map_or(Ok(()), Err)
    }
}

fn index(server: &Served, accept_deletions: bool) -> Result<Outcome, CliError> {
    let Served { folder, site: settings, .. } = server;
    httpd::check_user(folder)?;
    let site = Site::open_roots(server.roots.clone(), settings, &[]);
    let site = Arc::new(site.map_err(|error| CliError::new(Kind::Config, "failed to find its files").because(error))?);
    let failed = |error: CatalogueError| CliError::failed("failed to write the catalogue").because(error);
    let catalogue = catalogue::open(&Location::in_directory(folder), Access::Write).map_err(failed)?;
    let writer = match catalogue.writer_for(CatalogueKind::Site) {
        Ok(writer) => writer,
        Err(CatalogueError::Locked { .. }) if accept_deletions => return Err(kept_by("a running httpd")),
        Err(CatalogueError::Locked { .. }) => return Ok(Outcome::Kept),
        Err(error) => return Err(failed(error)),
    };
    let complete = catalogue.standing().map_err(failed)?.ready;
    let describer = Guess { site: site.clone(), known: complete.then(|| catalogue.clone()) };
    let reconciler = Reconciler::new(site.clone(), writer, settings.max_deleted).described_by(Arc::new(describer));
    let reconciler = reconciler.with_sets(server.sets.clone());
    let mut reconciler = if accept_deletions { reconciler.accepting_deletions() } else { reconciler };
    let counting = Counting::start("looking", reconciler.seen());
    let tally = reconciler.beforehand(&|_, _| {});
    drop(counting);
    let tally = Box::new(tally.map_err(not_indexed)?);
    // From here on httpd may be started; it need not wait until everything has been read.
    drop(reconciler);
    let progress = Arc::new(AtomicU64::new(0));
    let counting = Counting::start("reading", progress.clone());
    let read = read_everything(&site, &*catalogue, settings.read_ahead, &AtomicBool::new(false), &progress);
    drop(counting);
    Ok(Outcome::Indexed { tally, read: read.map_err(failed)?, complete })
}

impl Outcome {
    fn all_looked_at(&self) -> Result<(), CliError> {
        match self {
            Self::Kept => Ok(()),
            Self::Indexed { tally, .. } => all_looked_at(tally),
        }
    }

    fn told(&self, server: &Served) -> String {
        let name = &server.name;
        match self {
            Self::Kept => format!("{name}: httpd is running and keeps this catalogue current; nothing to do\n"),
            Self::Indexed { tally, read, complete } => {
                let rest = if *complete { "" } else { "; httpd completes it when it starts" };
                format!("{name}: {}, {read} read{rest}\n", told(tally))
            }
        }
    }

    fn counted(&self, server: &Served) -> Value {
        let mut summary = match self {
            Self::Kept => json!({ "kept_by_another": true }),
            Self::Indexed { tally, read, complete } => {
                let mut summary = counted(tally);
                summary["read"] = json!(read);
                summary["complete"] = json!(complete);
                summary
            }
        };
        summary["server"] = json!(server.name);
        summary["state"] = json!(shown(&server.folder));
        summary
    }
}

/// Determines media types without httpd: the known ones, otherwise by the name.
struct Guess {
    site: Arc<Site>,
    /// A catalogue that harvesters have seen: there, another media type would be a change.
    known: Option<Arc<dyn Catalogue>>,
}

impl Guess {
    fn by_name(&self, item_name: &str) -> Cow<'static, str> {
        self.site.kinds().by_name(item_name).unwrap_or(Cow::Borrowed(UNKNOWN))
    }
}

impl Describer for Guess {
    fn at_a_glance(&self, item_name: &str) -> Option<Cow<'static, str>> {
        self.known.is_none().then(|| self.by_name(item_name))
    }

    fn look(&self, met: &Met) -> io::Result<Option<Description>> {
        let known = self.known.as_ref().map(|catalogue| catalogue.item(&met.name)).transpose();
        let known = known.map_err(io::Error::other)?.flatten();
        let media_type = known.map_or_else(|| self.by_name(&met.name).into_owned(), |item| item.media_type.to_string());
        Ok(Some(Description { media_type, elsewhere: None, is_public: None }))
    }
}
