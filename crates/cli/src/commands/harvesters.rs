//! `modoai harvesters`.

mod told;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use modoai_harvest_log::{FOLDER, Harvester, summary};
use modoai_protocol::{Bound, Datestamp};
use modoai_repository::catalogue::Location;
use modoai_settings::Value;

use crate::config::{shown, usual_state_dir};
use crate::error::{CliError, Kind};
use crate::httpd;
use crate::output;
use crate::place::{own_place, web_url};

/// Print harvest statistics per client: requests, records, bytes, refusals and last full harvest.
///
/// Servers log each request to the repository in the directory `harvest-log` next to the catalogue: client, user agent,
/// list, and what was sent. A client is a user, a harvester from the settings, or a block of addresses, and never a
/// single address.
///
/// Give the directory or URL that you gave to `modoai serve`, a catalogue, or the directory of the catalogue.
#[derive(Debug, Args)]
#[command(override_usage = "modoai harvesters [OPTIONS] <DIR>
       modoai harvesters [OPTIONS] --data <STATE_DIR>
       modoai harvesters [OPTIONS] --catalogue <FILE>
       modoai harvesters [OPTIONS] --apache")]
pub(crate) struct HarvestersCommand {
    /// Directory of the site, or URL of a crawled site.
    dir: Option<PathBuf>,
    /// Directory of the catalogue, if you gave one to `modoai serve`; or the index directory of one server of Apache
    /// httpd.
    #[arg(long, value_name = "STATE_DIR", conflicts_with_all = ["catalogue", "apache"], value_parser = crate::place::state_dir())]
    data: Option<PathBuf>,
    /// Catalogue of imported or harvested records.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["dir", "apache"], value_parser = crate::place::catalogue())]
    catalogue: Option<Location>,
    /// Print all repositories of an Apache httpd with mod_oai.
    #[arg(long, conflicts_with = "dir")]
    apache: bool,
    /// Command that starts httpd, with its arguments [default: apachectl, apache2ctl or httpd]. `-` reads the output of
    /// its `-t -D MODOAI_SHOW_ROOTS` from standard input.
    #[arg(long, value_name = "PROGRAM", requires = "apache", allow_hyphen_values = true)]
    httpd: Option<String>,
    /// Count only requests since a date, or within a duration such as 12h or 30d.
    #[arg(long, value_name = "WHEN", value_parser = since)]
    since: Option<Since>,
    /// Sort order.
    #[arg(long, value_enum, value_name = "WHAT", default_value = "bytes")]
    sort: Order,
    /// Print all details as one JSON object per log.
    #[arg(long)]
    json: bool,
}

/// The order of the harvesters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Order {
    /// Bytes sent.
    Bytes,
    /// Records sent.
    Records,
    /// Requests.
    Requests,
    /// Refused requests.
    Refused,
    /// Last request.
    Last,
}

/// A moment, or so long ago.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Since {
    Moment(Datestamp),
    Ago(Duration),
}

fn since(text: &str) -> Result<Since, String> {
    if let Some(bound) = Bound::parse(text) {
        return Ok(Since::Moment(bound.first()));
    }
    Value::from(text)
        .duration()
        .map(Since::Ago)
        .map_err(|_| "expected a date such as 2026-01-31, or a duration such as 12h or 30d".to_owned())
}

impl Since {
    fn moment(self) -> Datestamp {
        match self {
            Self::Moment(moment) => moment,
            Self::Ago(span) => {
                let seconds = i64::try_from(span.as_secs()).unwrap_or(i64::MAX);
                Datestamp::from_unix(jiff::Timestamp::now().as_second().saturating_sub(seconds))
            }
        }
    }
}

/// A place where a log may be, and the name of the server it is of if there are several.
struct Place {
    server: Option<String>,
    state_dir: PathBuf,
}

impl HarvestersCommand {
    pub(crate) fn run(self) -> Result<(), CliError> {
        let since = self.since.map(Since::moment);
        for Place { server, state_dir } in self.places()? {
            if !state_dir.is_dir() {
                let what = format!("no catalogue found at {}", shown(&state_dir));
                return Err(CliError::failed(what)
                    .hint("give the same --data as for `modoai serve`; the log is next to the catalogue"));
            }
            let folder = state_dir.join(FOLDER);
            let mut summary = summary(&folder, since).map_err(|error| {
                CliError::failed(format!("failed to read the harvest log {}", shown(&folder))).because(error)
            })?;
            self.sort.apply(&mut summary.harvesters);
            output::print(&if self.json {
                format!("{}\n", told::json(&summary, &folder, since, server.as_deref()))
            } else {
                told::text(&summary, &folder, since, server.as_deref())
            })?;
        }
        Ok(())
    }

    /// Returns the places that may have a log.
    fn places(&self) -> Result<Vec<Place>, CliError> {
        let one = |state_dir: PathBuf| Ok(vec![Place { server: None, state_dir }]);
        if self.apache {
            let all = httpd::repositories(self.httpd.as_deref())?.into_iter();
            return Ok(all.map(|(name, state_dir)| Place { server: Some(name), state_dir }).collect());
        }
        match (&self.data, &self.catalogue, &self.dir) {
            (Some(data), ..) => one(data.clone()),
            (None, Some(catalogue), _) if !catalogue.path().exists() => {
                Err(CliError::failed(format!("no catalogue found at {}", shown(catalogue.path())))
                    .hint("give the same file as for `modoai serve --catalogue`; the log is next to it"))
            }
            (None, Some(catalogue), _) => one(catalogue.directory()),
            (None, None, Some(dir)) => match dir.to_str().and_then(web_url) {
                Some(url) => one(own_place("crawls", url.as_str()).ok_or_else(|| {
                    CliError::failed("cannot determine the state directory: HOME is not set")
                        .hint("give the directory of the catalogue with --data")
                })?),
                None => one(usual_state_dir(dir)?),
            },
            (None, None, None) => Err(CliError::new(Kind::Usage, "no site given")
                .hint("give the directory DIR, or one of --data, --catalogue and --apache")),
        }
    }
}

impl Order {
    /// Equal harvesters stay in the order of names.
    fn apply(self, harvesters: &mut [Harvester]) {
        let of = |harvester: &Harvester| match self {
            Self::Bytes => harvester.bytes,
            Self::Records => harvester.records,
            Self::Requests => harvester.requests,
            Self::Refused => harvester.refused,
            Self::Last => u64::try_from(harvester.last.unix()).unwrap_or_default(),
        };
        harvesters.sort_by_key(|harvester| std::cmp::Reverse(of(harvester)));
    }
}
