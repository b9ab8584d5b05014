//! Opens a folder as a site, with its catalogue.

use std::path::Path;
use std::sync::Arc;

use modoai_repository::catalogue::{self, Access, Catalogue, CatalogueError, CatalogueKind, Location};
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
        let location = Location::in_directory(&state_dir);
        let catalogue = catalogue::open(&location, Access::Write).map_err(|error| {
            CliError::failed(format!("failed to open the catalogue of {}", shown(&args.dir)))
                .because(error)
                .hint("to use another directory, give it with --data")
        })?;
        warn_if_readable(&location.file());
        let root = site.root().map_or_else(|| args.dir.clone(), |root| root.to_path_buf());
        Ok(Self { config, root, site: Arc::new(site), catalogue, state_dir })
    }

    /// Returns the reconciler that updates the catalogue; `None` if another process is updating it.
    pub(crate) fn reconciler(&self) -> Result<Option<Reconciler>, CliError> {
        match self.catalogue.writer_for(CatalogueKind::Site) {
            Ok(writer) => {
                let reconciler = Reconciler::new(self.site.clone(), writer, self.config.site.max_deleted);
                Ok(Some(reconciler.with_sets(self.config.repository.set.clone())))
            }
            Err(CatalogueError::Locked { .. }) => Ok(None),
            Err(error @ CatalogueError::OtherKind { .. }) => Err(CliError::failed("failed to write the catalogue")
                .because(error)
                .hint("give another directory with --data")),
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
    let location = Location::at(dir);
    let catalogue = location.is_occupied().then(|| catalogue::open(&location, Access::Read).ok()).flatten();
    let kind = catalogue.and_then(|catalogue| catalogue.kind().ok());
    let dir = shown(dir);
    let hint = match kind {
        None => return Ok(()),
        Some(Some(CatalogueKind::Site)) => "give the directory of the site, and this directory with --data".to_owned(),
        Some(Some(CatalogueKind::Crawl)) => {
            "give the URL of the site with --crawl, and this directory with --data".to_owned()
        }
        Some(_) => format!("to use its records, give `--catalogue {dir}`"),
    };
    Err(CliError::new(Kind::Usage, format!("{dir} is a catalogue, not a site")).hint(hint))
}

/// Opens the password files of the areas.
pub(crate) fn open_areas(config: &Config) -> Result<Areas, CliError> {
    Areas::open(&config.server.area)
        .map_err(|error| CliError::new(Kind::Config, "failed to protect an area").because(error))
}

/// Returns the error for an index that was aborted, with a hint if there is one.
pub(crate) fn not_indexed(error: IngestError) -> CliError {
    let believable = matches!(error, IngestError::Emptied { .. } | IngestError::TooManyDeletions { .. });
    let failed = CliError::failed("the catalogue was not changed").because(error);
    if believable {
        failed.hint("if these deletions are intended, run `modoai index` with --accept-deletions")
    } else {
        failed
    }
}
