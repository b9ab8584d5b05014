//! `modoai harvest`.

mod endpoints;
mod footprints;
mod many;
pub(crate) mod names;
mod progress;
mod report;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::builder::PossibleValuesParser;
use clap::{Args, value_parser};
use modoai_fetch::{Client, Credential, FetchError, HeaderName, HeaderValue, Patience, Url};
use modoai_harvester::gauge::Gauge;
use modoai_harvester::harvest::{Harvest, HarvestError, Options, Trouble};
use modoai_harvester::sink::{self, SINKS, SinkKind, SinkOptions};
use modoai_harvester::state::{State, StateError};
use modoai_harvester::summary::{Gap, Summary};
use modoai_harvester::window::Window;
use modoai_protocol::{Bound, MaxDeleted};
use modoai_repository::catalogue::Location;

use crate::error::{CliError, Kind};
use crate::limits::LimitArgs;
use crate::remote::{RemoteArgs, base_url, seconds};
use footprints::Footprints;
use progress::Watching;
pub(in crate::commands) use report::label;

/// Harvest an OAI-PMH repository: all records on the first run, only changes on later runs.
///
/// modoai stores each page before it requests the next one, so you can interrupt or kill a harvest at any time; the
/// next run resumes it. modoai works around known server errors where it can and reports each of them. If anything
/// could not be harvested, the summary lists it and the exit code is 3 instead of 0.
///
/// Sinks: `records` (compressed segments, read with `modoai records`), `mirror` (the files of the site, from
/// repositories that offer oai_didl), `jsonl` (one JSON object per line), `warc` (WARC 1.1 web archive files), and
/// `catalogue` (for `modoai serve --catalogue`, an aggregator).
#[derive(Debug, Args)]
#[command(override_usage = "modoai harvest [OPTIONS] <BASE_URL> --into <DIR>
       modoai harvest [OPTIONS] <BASE_URL> --list-only
       modoai harvest [OPTIONS] --all <FILE> --into <DIR>")]
pub(crate) struct HarvestCommand {
    /// Base URL of the repository, such as `https://example.org/oai`.
    #[arg(value_name = "BASE_URL", value_parser = base_url, required_unless_present = "all")]
    base_url: Option<Url>,
    /// Directory for the harvest and its state.
    #[arg(long, value_name = "DIR", required_unless_present = "list_only", value_parser = crate::place::path())]
    into: Option<PathBuf>,
    /// Output format [default: the one used before in DIR, or records]
    #[arg(long, value_name = "SINK", value_parser = sinks())]
    sink: Option<String>,
    /// Metadata format [default: oai_didl for mirror and warc, oai_dc for other sinks]
    #[arg(long, value_name = "PREFIX")]
    format: Option<String>,
    /// Harvest only this set (repeatable).
    #[arg(long = "set", value_name = "SET")]
    sets: Vec<String>,
    /// Harvest only records changed on or after this date: 2024-01-31 or 2024-01-31T12:00:00Z.
    #[arg(long, value_name = "DATE", value_parser = date)]
    from: Option<Bound>,
    /// Harvest only records changed on or before this date.
    #[arg(long, value_name = "DATE", value_parser = date)]
    until: Option<Bound>,
    /// Fetch only the record with this identifier, and no list (repeatable).
    #[arg(long = "identifier", value_name = "ID", conflicts_with_all = ["sets", "from", "until", "list_only", "verify", "all", "limit"])]
    identifiers: Vec<String>,
    /// Stop after the page that reaches this number of records; the next run continues there.
    #[arg(long, value_name = "N", conflicts_with = "list_only", value_parser = value_parser!(u64).range(1..))]
    limit: Option<u64>,
    /// HTTP header to send with every request to the host of the base URL, such as 'X-Api-Key: secret' (repeatable).
    #[arg(long = "header", value_name = "NAME: VALUE", value_parser = header, conflicts_with = "all")]
    headers: Vec<(HeaderName, HeaderValue)>,
    /// Print the identifiers (for a site, its URLs), one per line, and fetch nothing else.
    #[arg(long, conflicts_with_all = ["sink", "all", "json", "verify", "keep_deleted", "allow_dotfiles", "catalogue"])]
    list_only: bool,
    /// Compare all identifiers, and the files of a mirror, with the repository; fetch missing or modified ones and
    /// delete those that no longer exist.
    #[arg(long)]
    verify: bool,
    /// Delete all records that no longer exist, even if they are more than half of the harvest.
    #[arg(long, requires = "verify")]
    accept_deletions: bool,
    /// Harvest every base URL listed in this file, one per line, each into its own directory below DIR.
    #[arg(long, value_name = "FILE", conflicts_with = "base_url")]
    all: Option<PathBuf>,
    /// Number of repositories to harvest in parallel, with one list at a time per host.
    #[arg(long, value_name = "N", default_value = "16", value_parser = value_parser!(u16).range(1..))]
    parallel: u16,
    /// Move deleted files to .modoai/deleted instead of deleting them (mirror only).
    #[arg(long)]
    keep_deleted: bool,
    /// Write files and directories whose names begin with a dot, such as .htaccess (mirror only). Web servers, git and
    /// shells read settings from such files, so use it only with repositories that you trust.
    #[arg(long)]
    allow_dotfiles: bool,
    /// Catalogue file to write; several sources can share it (catalogue only) [default: the one used before in DIR]
    #[arg(long, value_name = "FILE", value_parser = crate::place::catalogue())]
    catalogue: Option<Location>,
    /// Accept BASE_URL as the new address of the repository in DIR.
    #[arg(long)]
    moved: bool,
    /// Number of seconds that an incremental harvest reaches back before the last complete one [default: one day, or 0
    /// if the server guarantees datestamps of visibility]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    overlap: Option<Duration>,
    /// Maximum number of attempts per request.
    #[arg(long, value_name = "N", default_value = "6", value_parser = value_parser!(u32).range(1..))]
    attempts: u32,
    /// Delay before the first retry; it doubles with each further retry.
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = seconds)]
    patience: Duration,
    /// Print the summary as one JSON object.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    limits: LimitArgs,
    #[command(flatten)]
    remote: RemoteArgs,
}

fn sinks() -> PossibleValuesParser {
    PossibleValuesParser::new(
        SINKS
            .iter()
            .map(|kind| clap::builder::PossibleValue::new(kind.name).help(kind.about).aliases(kind.former_name)),
    )
}

fn date(text: &str) -> Result<Bound, String> {
    Bound::parse(text).ok_or_else(|| "expected a date such as 2024-01-31 or 2024-01-31T12:00:00Z".to_owned())
}

/// A header as curl takes it.
fn header(text: &str) -> Result<(HeaderName, HeaderValue), String> {
    let (name, value) =
        text.split_once(':').ok_or_else(|| "expected a header such as 'X-Api-Key: secret'".to_owned())?;
    let name = HeaderName::from_bytes(name.trim().as_bytes()).map_err(|error| error.to_string())?;
    let mut value = HeaderValue::from_str(value.trim()).map_err(|error| error.to_string())?;
    value.set_sensitive(true);
    Ok((name, value))
}

impl HarvestCommand {
    pub(crate) fn run(self, quiet: bool) -> Result<(), CliError> {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        let runtime =
            runtime.map_err(|error| CliError::failed("failed to start the asynchronous runtime").because(error))?;
        runtime.block_on(async {
            let stop = stop_on_signals()?;
            match (&self.all, self.list_only) {
                (Some(file), _) => many::run(&self, file, stop, quiet).await,
                (None, true) => names::run(&self, stop).await,
                (None, false) => self.one(stop, quiet).await,
            }
        })
    }

    async fn one(&self, stop: Arc<AtomicBool>, quiet: bool) -> Result<(), CliError> {
        let (client, options) = self.asked()?;
        let Some(into) = &self.into else { return Ok(()) };
        let (kind, footprints) = (self.kind(into)?, Footprints::of(into));
        let gauge = Arc::new(Gauge::default());
        let watching = Watching::start(vec![(options.slug.clone(), gauge.clone())], quiet || self.json);
        let harvest = Harvest::new(client, options).watched_by(gauge.clone()).stopped_by(stop);
        let result = harvest.into_folder(into, kind).await;
        drop(watching);
        let summary = match result {
            Ok(summary) => summary,
            Err(error) => {
                footprints.remove();
                let error = failed(error);
                if self.json {
                    report::tell(&broken_off(self, kind, &gauge, &error), true)?;
                }
                return Err(error);
            }
        };
        report::tell(&summary, self.json)?;
        if summary.complete { Ok(()) } else { Err(incomplete(&summary)) }
    }

    /// Returns the client and the options for the single repository of this command.
    fn asked(&self) -> Result<(Client, Options), CliError> {
        let Some(mut url) = self.base_url.clone() else {
            return Err(CliError::new(Kind::Usage, "missing base URL"));
        };
        let client = self.remote.client(&mut url)?;
        Ok((client, self.options(url)?))
    }

    /// Returns the selected sink, or the one that the folder was created with, or the first of all. An option for
    /// another sink is an error: it would have no effect, and the user would not notice.
    fn kind(&self, dir: &Path) -> Result<&'static SinkKind, CliError> {
        let known = || State::look(dir).and_then(|state| state.contract()).ok().flatten().map(|known| known.sink);
        let kind = self.sink.clone().or_else(known).and_then(|name| sink::named(&name)).unwrap_or(&SINKS[0]);
        for (is_given, option, sink) in [
            (self.catalogue.is_some(), "--catalogue", "catalogue"),
            (self.keep_deleted, "--keep-deleted", "mirror"),
            (self.allow_dotfiles, "--allow-dotfiles", "mirror"),
        ] {
            if is_given && kind.name != sink {
                let what = format!("{option} requires --sink {sink}; the sink is {}", kind.name);
                return Err(CliError::new(Kind::Usage, what));
            }
        }
        Ok(kind)
    }

    fn options(&self, url: Url) -> Result<Options, CliError> {
        if let (Some(from), Some(until)) = (self.from, self.until)
            && from.first() > until.last()
        {
            return Err(CliError::new(Kind::Usage, "--from is later than --until"));
        }
        let usual = Options::new(url);
        Ok(Options {
            format: self.format.clone(),
            sets: self.sets.clone(),
            window: Window { from: self.from.map(Bound::first), until: self.until.map(Bound::last) },
            identifiers: self.identifiers.clone(),
            limit: self.limit,
            headers: self.headers.clone(),
            // In a list of thousands, hundreds no longer exist.
            proposes: self.all.is_none(),
            headers_only: self.list_only,
            verify: self.verify,
            max_deleted: if self.accept_deletions { MaxDeleted::ALL } else { usual.max_deleted },
            patience: Patience {
                attempts: self.attempts,
                first: self.patience,
                most: Patience::default().most.min(60 * self.patience),
                ..Patience::default()
            },
            moved: self.moved,
            overlap: self.overlap,
            allow_private: self.remote.allow_private,
            limits: self.limits.limits(),
            sink: SinkOptions {
                keep_deleted: self.keep_deleted,
                catalogue: self.catalogue.clone(),
                allow_dotfiles: self.allow_dotfiles,
            },
            ..usual
        })
    }
}

/// Returns a flag that is set by the first interrupt; the second ends the process immediately, which does no harm
/// either.
fn stop_on_signals() -> Result<Arc<AtomicBool>, CliError> {
    use tokio::signal::unix::{SignalKind, signal};
    let stop = Arc::new(AtomicBool::new(false));
    for kind in [SignalKind::interrupt(), SignalKind::terminate()] {
        let listened = signal(kind).map_err(|error| CliError::failed("failed to listen for signals").because(error));
        let (mut signals, stop) = (listened?, stop.clone());
        tokio::spawn(async move {
            while signals.recv().await.is_some() {
                if stop.swap(true, Ordering::Relaxed) {
                    std::process::exit(130);
                }
                tracing::info!("stopping after this page; the harvested records are kept");
            }
        });
    }
    Ok(stop)
}

/// The summary of a harvest that failed: what had come until then, and why no more did.
fn broken_off(command: &HarvestCommand, kind: &SinkKind, gauge: &Gauge, error: &CliError) -> Summary {
    let source = command.base_url.clone().map(|mut url| {
        // Credentials must not be displayed.
        let _ = Credential::from_url(&mut url);
        url.to_string()
    });
    Summary {
        source: source.unwrap_or_default(),
        sink: kind.name.to_owned(),
        format: command.format.clone().unwrap_or_default(),
        records: Gauge::read(&gauge.records),
        deleted: Gauge::read(&gauge.deleted),
        unchanged: Gauge::read(&gauge.unchanged),
        elsewhere: Gauge::read(&gauge.elsewhere),
        bytes: Gauge::read(&gauge.bytes),
        requests: Gauge::read(&gauge.requests),
        missing: vec![Gap { what: "source".to_owned(), reason: error.what_happened(), ..Gap::default() }],
        ..Summary::default()
    }
}

fn incomplete(summary: &Summary) -> CliError {
    let count = summary.missing.len();
    let first = summary.missing.first().map(ToString::to_string).unwrap_or_default();
    let more = if count > 1 { format!(" (and {} more)", count - 1) } else { String::new() };
    let error = CliError::new(Kind::Incomplete, format!("harvest incomplete: {first}{more}"));
    match &summary.next.not_before {
        Some(date) => error.hint(format!("run the same command again after {date} to resume")),
        None if summary.refused == count as u64 => error
            .hint("use --allow-dotfiles to write names that begin with a dot; other special names are always refused"),
        None => error.hint("run the same command again to resume"),
    }
}

fn failed(error: HarvestError) -> CliError {
    let hint = match &error {
        HarvestError::State(StateError::Other { moved: true, .. }) => Some(
            "if the repository has moved there, use --moved; for another repository, give another \
                directory with --into",
        ),
        HarvestError::State(StateError::Other { .. }) => Some("give another directory with --into"),
        HarvestError::State(StateError::Busy { .. }) => {
            Some("wait until it ends, or give another directory with --into")
        }
        HarvestError::Format { .. } => Some("choose one of them with --format"),
        HarvestError::NoSets { .. } => Some("omit --set"),
        HarvestError::NoSuchHost { .. } => Some("check the spelling of the base URL"),
        HarvestError::Elsewhere { .. } => Some("run the command again with that URL"),
        HarvestError::NoRepository { source: Trouble::Unreachable(FetchError::PrivateAddress { .. }), .. } => {
            Some("use --allow-private if you trust the repository with access to your private network")
        }
        HarvestError::NoRepository { source: Trouble::Busy(_), .. } => Some("run the same command again later"),
        HarvestError::NoRepository { .. } => Some("check the base URL, or run `modoai validate URL` for details"),
        _ => None,
    };
    let failed = CliError::failed("harvest failed").because(error);
    match hint {
        Some(hint) => failed.hint(hint),
        None => failed,
    }
}
