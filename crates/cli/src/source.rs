//! The source of a command: a folder, or a catalogue of records.

use std::sync::Arc;

use clap::error::ErrorKind;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use modoai_archive::holdings;
use modoai_repository::catalogue::{self, Access, Catalogue, CatalogueKind, Location};
use modoai_repository::{Repository, Settings};

use crate::config::{Config, SettingsArgs, SiteArgs, shown};
use crate::error::CliError;
use crate::place;

/// A folder, or a catalogue of records.
#[derive(Debug)]
pub(crate) enum Source {
    Folder(SiteArgs),
    Records(RecordsArgs),
}

/// The arguments of commands that work on a catalogue of records.
#[derive(Debug)]
pub(crate) struct RecordsArgs {
    location: Location,
    pub(crate) settings: SettingsArgs,
}

/// A catalogue of records, open.
pub(crate) struct Records {
    pub(crate) config: Config,
    pub(crate) location: Location,
    pub(crate) catalogue: Arc<dyn Catalogue>,
}

impl Records {
    /// The repository in it: of an archive, or of harvested records.
    pub(crate) fn repository(&self, base_url: &str) -> Result<Repository, CliError> {
        repository_of(&self.catalogue, self.config.repository.clone(), base_url)
    }
}

/// The repository in a catalogue, with these settings.
pub(crate) fn repository_of(
    catalogue: &Arc<dyn Catalogue>,
    settings: Settings,
    base_url: &str,
) -> Result<Repository, CliError> {
    let repository = holdings::repository(catalogue, settings, base_url);
    repository.map_err(|error| CliError::failed("failed to prepare the formats of the archive").because(error))
}

impl RecordsArgs {
    /// Loads the configuration; `flags` are settings that the command's own flags give.
    pub(crate) fn config(&self, flags: &[(&str, Option<&str>)]) -> Result<Config, CliError> {
        self.settings.config(flags)
    }

    /// Loads the configuration, and looks whether the catalogue can be served. Changes nothing.
    pub(crate) fn check(&self, flags: &[(&str, Option<&str>)]) -> Result<Config, CliError> {
        let config = self.config(flags)?;
        self.expect_records(Access::Read)?;
        Ok(config)
    }

    /// Opens the catalogue, which must be there and must not be that of a folder.
    pub(crate) fn open(self, flags: &[(&str, Option<&str>)]) -> Result<Records, CliError> {
        let config = self.config(flags)?;
        let catalogue = self.expect_records(Access::Write)?;
        Ok(Records { config, location: self.location, catalogue })
    }

    fn expect_records(&self, access: Access) -> Result<Arc<dyn Catalogue>, CliError> {
        let name = shown(self.location.path());
        if !self.location.path().exists() {
            let what = format!("catalogue {name} not found");
            return Err(CliError::failed(what)
                .hint("create one with `modoai import`, or with `modoai harvest --sink catalogue`"));
        }
        let failed = |error| CliError::failed(format!("failed to open the catalogue {name}")).because(error);
        let catalogue = catalogue::open(&self.location, access).map_err(failed)?;
        match catalogue.kind().map_err(failed)? {
            Some(CatalogueKind::Site) => {
                let what = format!("the catalogue {name} contains the files of a directory, not records");
                Err(CliError::failed(what).hint("give the directory instead, and its catalogue with --data"))
            }
            Some(CatalogueKind::Crawl) => {
                let what = format!("the catalogue {name} contains the pages of a crawled site, not records");
                Err(CliError::failed(what).hint("give the URL of the site with --crawl, and its directory with --data"))
            }
            Some(CatalogueKind::Records | CatalogueKind::Archive) | None => Ok(catalogue),
        }
    }
}

impl Args for Source {
    fn augment_args(command: Command) -> Command {
        let catalogue = Arg::new("catalogue")
            .long("catalogue")
            .value_name("FILE")
            .value_parser(place::catalogue())
            .help("Catalogue of imported or harvested records, instead of a directory");
        SiteArgs::augment_args(command).mut_arg("dir", |dir| dir.required(false)).arg(catalogue)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl Source {
    /// The catalogue that was given, if one was.
    pub(crate) fn records(matches: &ArgMatches) -> Result<Option<RecordsArgs>, clap::Error> {
        let Some(location) = matches.get_one::<Location>("catalogue") else { return Ok(None) };
        if matches.contains_id("data") {
            return Err(contradiction("--data"));
        }
        let settings = SettingsArgs::from_arg_matches(matches)?;
        Ok(Some(RecordsArgs { location: location.clone(), settings }))
    }
}

/// Returns the error for an option that applies to folders and was used with a catalogue.
pub(crate) fn contradiction(name: &str) -> clap::Error {
    let what = format!("{name} cannot be used with --catalogue: its records do not come from a directory");
    clap::Error::raw(ErrorKind::ArgumentConflict, what)
}

/// Neither was given.
pub(crate) fn nothing_given() -> clap::Error {
    let what = "missing site: give the directory DIR, or a catalogue of records with --catalogue FILE";
    clap::Error::raw(ErrorKind::MissingRequiredArgument, what)
}

impl FromArgMatches for Source {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        match (Self::records(matches)?, matches.contains_id("dir")) {
            (Some(_), true) => Err(contradiction("DIR")),
            (Some(records), false) => Ok(Self::Records(records)),
            (None, true) => SiteArgs::from_arg_matches(matches).map(Self::Folder),
            (None, false) => Err(nothing_given()),
        }
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
