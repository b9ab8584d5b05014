//! `modoai import`.

mod display;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Instant;

use clap::Args;
use modoai_archive::config::{Config, ConfigError};
use modoai_archive::import::{Import, ImportError, ImportOptions, Progress, Report, Spared};
use modoai_archive::source::{self, Kind, OpenError, Options};
use modoai_archive::terms::{Archive, TermsError};
use modoai_archive::watch::Watch;
use modoai_protocol::MaxDeleted;
use modoai_repository::catalogue::{self, Access, Catalogue, CatalogueError, Location};
use serde::Serialize;
use tempfile::TempDir;

use self::display::Grumbler;
use crate::config::shown;
use crate::error::{self, CliError};
use crate::output::{self, Counting, counted};

/// Import records into a catalogue for `modoai serve --catalogue`.
///
/// The input is JSON lines, CSV, a directory of XML files, an OAI static repository, an arXiv metadata snapshot or
/// arXiv .abs files. A repeated import detects added, changed and deleted records; unchanged records keep their
/// datestamps. Invalid entries are reported, and all others are imported. If an import is interrupted, run it again.
///
/// The file archive.toml defines formats, sets and identifiers, and the catalogue stores this definition. When it
/// changes, the next import updates the datestamps of the records that are affected, and no others.
#[derive(Debug, Args)]
pub(crate) struct ImportCommand {
    /// Files or directories of records; - for standard input. Without input, only the configuration is applied.
    #[arg(value_name = "INPUT")]
    inputs: Vec<PathBuf>,
    /// Catalogue to write: a directory or a file. It is created if it does not exist.
    #[arg(long, value_name = "CATALOGUE", value_parser = crate::place::catalogue())]
    into: Location,
    /// Configuration file of the archive [default: the definition stored in the catalogue]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Built-in configuration: arxiv. The configuration file overrides it.
    #[arg(long, value_name = "NAME")]
    preset: Option<String>,
    /// Domain name in identifiers, as in oai:example.org:1; overrides the configuration.
    #[arg(long, value_name = "DOMAIN")]
    namespace: Option<String>,
    /// Input format: jsonl, csv, xml, static, arxiv or abs [default: detected from the content]
    #[arg(long = "as", value_name = "KIND", value_parser = kind)]
    kind: Option<Kind>,
    /// Name of the source. An archive can have several sources, each with its own documents.
    #[arg(long, value_name = "NAME", default_value = "")]
    source: String,
    /// The input contains only added and changed documents; keep documents that are missing from it.
    #[arg(long)]
    update: bool,
    /// Delete nothing if more than this percentage of the documents of the source is missing from the input.
    #[arg(long, value_name = "PERCENT", default_value_t = MaxDeleted::PERCENT, value_parser = percent)]
    max_deleted: u64,
    /// Accept all missing documents as deleted, regardless of their number.
    #[arg(long)]
    accept_deletions: bool,
    /// Former name of --max-deleted and --accept-deletions.
    #[arg(long, value_name = "SHARE", hide = true, value_parser = renamed)]
    most_gone: Option<String>,
    /// Keep running, and import again whenever the input changes.
    #[arg(long, conflicts_with = "dry_run")]
    watch: bool,
    /// Do not compute digests of files; records then have them only for files that they include.
    #[arg(long)]
    no_digests: bool,
    /// Print the changes without making them.
    #[arg(long)]
    dry_run: bool,
    /// Print the summary as one JSON object.
    #[arg(long)]
    json: bool,
    /// Write all rejected entries and unparsable dates to a file; standard error shows only the first hundred entries
    /// and the first date.
    #[arg(long, value_name = "FILE", value_parser = crate::place::path())]
    faults: Option<PathBuf>,
}

fn kind(name: &str) -> Result<Kind, String> {
    Kind::named(name).ok_or_else(|| {
        let known: Vec<_> = Kind::all().map(Kind::name).collect();
        format!("expected one of {}", known.join(", "))
    })
}

fn percent(text: &str) -> Result<u64, String> {
    let percent = text.strip_suffix('%').unwrap_or(text).parse::<u64>().ok().filter(|percent| *percent <= 100);
    percent.ok_or_else(|| "expected a percentage from 0 to 100".to_owned())
}

fn renamed(share: &str) -> Result<String, String> {
    Err(format!("use --max-deleted {share}, or --accept-deletions to accept all of them"))
}

/// A single document can always be deleted; otherwise the smallest archives could not delete any.
const FEW: u64 = 1;

/// The output with --json.
#[derive(Serialize)]
struct Summary<'a> {
    #[serde(flatten)]
    report: &'a Report,
    seconds: f64,
}

/// Everything that an import needs, ready.
struct Work {
    archive: Archive,
    options: Options,
    catalogue: Arc<dyn Catalogue>,
    /// The directory for large documents until they are imported.
    spool: PathBuf,
}

impl ImportCommand {
    pub(crate) fn run(self, quiet: bool) -> Result<(), CliError> {
        if let Some(url) = self.inputs.iter().find(|input| is_url(input)) {
            let what = format!("{} is a URL, not a file of records", shown(url));
            let hint = "to fill a catalogue from a repository, use `modoai harvest URL --sink catalogue --into DIR`";
            return Err(CliError::new(error::Kind::Usage, what).hint(hint));
        }
        // Errors in the arguments are reported before anything is created.
        let said = self.said()?;
        // A dry run creates nothing: a missing catalogue is replaced by an empty temporary one.
        let stand_in = if self.dry_run && !self.into.is_occupied() { Some(passing_folder()?) } else { None };
        let into = stand_in.as_ref().map_or_else(|| self.into.clone(), |folder| Location::in_directory(folder.path()));
        let failed = |error| {
            CliError::failed(format!("failed to open the catalogue {}", shown(self.into.path()))).because(error)
        };
        let catalogue = catalogue::open(&into, Access::Write).map_err(failed)?;
        let spool = into.directory();
        let (archive, options) = match said {
            Some(said) => said,
            // Without arguments about the archive, the stored ones stay valid.
            None => match Config::remembered(&*catalogue, &self.source).map_err(wrong)? {
                Some(remembered) => self.resolved(remembered)?,
                None => self.resolved(self.config()?)?,
            },
        };
        let work = Work { archive, options, catalogue, spool };
        if !self.watch {
            return self.once(&work, quiet);
        }
        let failed = |error| CliError::failed("failed to watch the input").because(error);
        // Before the first import, so that changes during it are imported next.
        let mut watch = Watch::on(&self.inputs).map_err(failed)?;
        loop {
            // An import that fails now may succeed the next time.
            self.once(&work, quiet).unwrap_or_else(|error| output::warn(&error.to_string()));
            watch.wait().map_err(failed)?;
        }
    }

    /// Returns the archive of the arguments, and the options for reading its input; `None` if stored ones may have to
    /// be used instead.
    fn said(&self) -> Result<Option<(Archive, Options)>, CliError> {
        let may_remember = self.config.is_none() && self.preset.is_none() && self.into.is_occupied();
        if may_remember { Ok(None) } else { self.resolved(self.config()?).map(Some) }
    }

    fn config(&self) -> Result<Config, CliError> {
        let unread =
            |error: ConfigError| CliError::new(error::Kind::Config, "invalid archive configuration").because(error);
        Config::load(self.config.as_deref(), self.preset.as_deref()).map_err(unread)
    }

    /// The archive of a configuration, with what the flags say.
    fn resolved(&self, config: Config) -> Result<(Archive, Options), CliError> {
        let Config { mut terms, source } = config;
        if let Some(namespace) = &self.namespace {
            terms = terms.in_namespace(namespace).map_err(wrong)?;
        }
        Ok((Archive::compile(terms).map_err(wrong)?, source))
    }

    fn max_deleted(&self) -> MaxDeleted {
        if self.accept_deletions { MaxDeleted::ALL } else { MaxDeleted::new(self.max_deleted, FEW) }
    }

    fn once(&self, work: &Work, quiet: bool) -> Result<(), CliError> {
        let start = Instant::now();
        let progress = Arc::new(Progress::default());
        let import = Import {
            catalogue: Arc::clone(&work.catalogue),
            archive: &work.archive,
            options: ImportOptions {
                source: self.source.clone(),
                reading: work.options.clone(),
                only_update: self.update,
                max_deleted: self.max_deleted(),
                dry_run: self.dry_run,
                spool: work.spool.clone(),
            },
            progress: &progress,
        };
        let mut grumbler = Grumbler::new(self.faults.as_deref(), quiet)?;
        let display = (!quiet).then(|| {
            let progress = Arc::clone(&progress);
            Counting::shown_by(move |done| display::show(&progress, done))
        });
        let report = if self.inputs.is_empty() {
            import.recast()
        } else {
            let kind = match self.kind.or(work.options.kind) {
                Some(kind) => kind,
                None => Kind::guess(&self.inputs).map_err(unreadable)?,
            };
            let (source, reading) = source::open(kind, &self.inputs, &work.options).map_err(unreadable)?;
            import.run(source, &*reading, &mut grumbler)
        };
        drop(display);
        let report = report.map_err(|error| self.failed(error))?;
        grumbler.finish()?;
        if self.json {
            let summary = Summary { report: &report, seconds: start.elapsed().as_secs_f64() };
            let line = serde_json::to_string(&summary).expect("a report is numbers");
            output::print(&format!("{line}\n"))?;
        } else {
            output::print(&display::told(&report, start.elapsed(), self.dry_run, !self.inputs.is_empty()))?;
        }
        if !self.no_digests {
            let count = Arc::new(AtomicU64::new(0));
            let _display = (!quiet).then(|| Counting::start("computing digests", Arc::clone(&count)));
            import.digest_files(&count).map_err(|error| self.failed(error))?;
        }
        verdict(&report)
    }

    fn failed(&self, error: ImportError) -> CliError {
        let place = shown(self.into.path());
        match error {
            ImportError::Terms(_) | ImportError::Recast { .. } | ImportError::Sets { .. } => {
                CliError::new(error::Kind::Config, "invalid archive configuration").because(error)
            }
            ImportError::Catalogue(CatalogueError::OtherKind { .. }) => {
                CliError::failed(format!("failed to import into {place}"))
                    .because(error)
                    .hint("give another catalogue with --into")
            }
            ImportError::Source(_) => CliError::failed(format!("failed to import into {place}")).because(error).hint(
                "correct the input, and import again; the entries imported so far are kept, and nothing was deleted",
            ),
            error => CliError::failed(format!("failed to import into {place}"))
                .because(error)
                .hint("run the same command again; the entries imported so far are kept"),
        }
    }
}

fn wrong(error: TermsError) -> CliError {
    CliError::new(error::Kind::Config, "invalid archive configuration").because(error)
}

fn unreadable(error: OpenError) -> CliError {
    if let OpenError::Mixed { .. } = error {
        return CliError::new(error::Kind::Incomplete, "nothing was imported")
            .because(error)
            .hint("use --as KIND to import the files of one kind; give each kind its own --source");
    }
    CliError::failed("failed to read the input").because(error)
}

fn is_url(input: &Path) -> bool {
    let text = input.to_string_lossy();
    text.starts_with("http://") || text.starts_with("https://")
}

fn passing_folder() -> Result<TempDir, CliError> {
    TempDir::new().map_err(|error| CliError::failed("failed to create a temporary directory").because(error))
}

/// Returns the result that determines the exit code.
fn verdict(report: &Report) -> Result<(), CliError> {
    let missing = counted(report.spared, "document is", "documents are");
    match report.spared_because {
        Some(Spared::TooMany) => {
            let what = format!("{missing} missing from the input; too many to delete");
            let hint = "if the deletions are intended, use --accept-deletions";
            Err(CliError::new(error::Kind::Incomplete, what).hint(hint))
        }
        Some(Spared::Unidentified) => {
            let what = format!(
                "{missing} missing from the input; none was deleted, because unreadable entries may belong to them"
            );
            Err(CliError::new(error::Kind::Findings, what).hint("correct the invalid entries, and import again"))
        }
        None if report.bad + report.duplicates > 0 => {
            let what = format!("{} not imported", counted(report.bad + report.duplicates, "entry was", "entries were"));
            Err(CliError::new(error::Kind::Findings, what)
                .hint("the reasons are listed above; all other entries are in the catalogue"))
        }
        None => Ok(()),
    }
}
