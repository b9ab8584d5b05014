//! Opening a folder as a site, with its catalogue.

use std::path::Path;
use std::sync::Arc;

use modoai_archive::holdings::Holdings;
use modoai_repository::catalogue::sqlite::Sqlite;
use modoai_repository::catalogue::{Catalogue, CatalogueError, system_clock};
use modoai_repository::ingest::{IngestError, Reconciler};
use modoai_repository::site::{Site, SiteError};
use modoai_server::Areas;

use crate::config::{Config, SiteArgs, shown};
use crate::error::{CliError, Kind};
use crate::place::warn_if_readable;

/// A site and its catalogue.
pub(crate) struct Opened {
    pub(crate) config: Config,
    /// The folder, with links resolved.
    pub(crate) root: std::path::PathBuf,
    pub(crate) site: Arc<Site>,
    pub(crate) catalogue: Arc<dyn Catalogue>,
    pub(crate) state_dir: std::path::PathBuf,
}

impl Opened {
    pub(crate) fn new(args: &SiteArgs, flags: &[(&str, Option<&str>)]) -> Result<Self, CliError> {
        let (config, site) = open_site(args, flags)?;
        let state_dir = args.state_dir(&site)?;
        let catalogue = Sqlite::open(&state_dir.join("catalogue.sqlite"), system_clock()).map_err(|error| {
            CliError::failed(format!("failed to open the catalogue of {}", shown(&args.dir)))
                .because(error)
                .hint("to use another directory, give it with --data")
        })?;
        warn_if_readable(catalogue.file());
        let root = site.root().map_or_else(|| args.dir.clone(), |root| root.to_path_buf());
        Ok(Self { config, root, site: Arc::new(site), catalogue: Arc::new(catalogue), state_dir })
    }

    /// What brings the catalogue up to date; `None` if another process is at it.
    pub(crate) fn reconciler(&self) -> Result<Option<Reconciler>, CliError> {
        match self.catalogue.writer() {
            Ok(writer) => {
                let reconciler = Reconciler::new(self.site.clone(), writer, self.config.site.max_vanished);
                Ok(Some(reconciler.with_sets(self.config.repository.sets.clone())))
            }
            Err(CatalogueError::Locked { .. }) => Ok(None),
            Err(error) => Err(CliError::failed("failed to write the catalogue").because(error)),
        }
    }
}

/// Loads the configuration and opens the folder by it.
pub(crate) fn open_site(args: &SiteArgs, flags: &[(&str, Option<&str>)]) -> Result<(Config, Site), CliError> {
    let config = args.config(flags)?;
    expect_no_catalogue(&args.dir)?;
    let site = Site::open(&args.dir, &config.site, &config.reserved()).map_err(|error| match error {
        SiteError::Root { source, .. } => {
            CliError::failed(format!("failed to open the directory {}", shown(&args.dir))).because(source)
        }
        SiteError::Prefix { .. } | SiteError::Pattern(_) => {
            CliError::new(Kind::Config, "invalid configuration").because(error)
        }
    })?;
    Ok((config, site))
}

/// Refuses a catalogue in place of a site: its database would be published as a file.
fn expect_no_catalogue(dir: &Path) -> Result<(), CliError> {
    let file = if dir.is_file() { dir.to_owned() } else { dir.join("catalogue.sqlite") };
    let holdings = file.is_file().then(|| Sqlite::open_to_read(&file, system_clock()).ok()).flatten();
    let holdings = holdings.and_then(|catalogue| Holdings::of(&catalogue).ok());
    let dir = shown(dir);
    let hint = match holdings {
        None => return Ok(()),
        Some(Holdings::Files) => "give the directory of the site, and this directory with --data".to_owned(),
        Some(_) => format!("to use its records, give `--catalogue {dir}`"),
    };
    Err(CliError::new(Kind::Usage, format!("{dir} is a catalogue, not a site")).hint(hint))
}

/// Opens the password files of the areas.
pub(crate) fn open_areas(config: &Config) -> Result<Areas, CliError> {
    Areas::open(&config.server.area)
        .map_err(|error| CliError::new(Kind::Config, "failed to protect an area").because(error))
}

/// An index that was given up, with advice where there is some.
pub(crate) fn not_indexed(error: IngestError) -> CliError {
    let believable = matches!(error, IngestError::Emptied { .. } | IngestError::Vanished { .. });
    let failed = CliError::failed("the catalogue was not changed").because(error);
    if believable {
        failed.hint("if these deletions are intended, run `modoai index` with --accept-deletions")
    } else {
        failed
    }
}
