//! Reads the configuration again while a server runs, on SIGHUP.
//!
//! Settings that are needed only for responses, those of the repository and the areas, are exchanged. Settings with
//! which the server was built require a restart: its socket and limits, the rules of the site, flow control. The
//! certificate is read again from the same files. Log files are opened again without a signal when they are renamed.

use modoai_repository::{Repository, Settings};
use modoai_server::{Areas, Certificate, Current};

use crate::config::{Config, SettingsArgs};
use crate::error::CliError;
use crate::open::open_areas;

/// The sources of the configuration: the file, and the flags that override it.
pub(super) struct Configuration {
    settings: SettingsArgs,
    listen: Option<String>,
}

impl Configuration {
    pub(super) fn new(settings: &SettingsArgs, listen: Option<&str>) -> Self {
        Self { settings: settings.clone(), listen: listen.map(str::to_owned) }
    }

    fn load(&self) -> Result<Config, CliError> {
        self.settings.config(&[("listen", self.listen.as_deref())])
    }
}

/// A function that creates the repository with these settings.
pub(super) type Make = Box<dyn Fn(Settings) -> Result<Repository, CliError> + Send + Sync>;

/// The parts that are exchanged, and their sources.
pub(super) struct Reload {
    pub(super) configuration: Configuration,
    pub(super) repository: Current<Repository>,
    pub(super) areas: Current<Areas>,
    pub(super) make: Make,
    pub(super) certificate: Option<Certificate>,
}

impl Reload {
    /// Reads the configuration, and exchanges everything, or nothing if it is invalid.
    pub(super) fn run(&self) {
        if let Some(certificate) = &self.certificate {
            certificate.reload();
        }
        match self.read() {
            Ok((repository, areas)) => {
                self.areas.replace(areas);
                self.repository.replace(repository);
                tracing::info!(
                    "reloaded the settings of the repository and the areas; all other settings take effect at the next start"
                );
            }
            Err(error) => tracing::error!(
                "failed to reload the configuration: {}; keeping the previous one",
                error.what_happened()
            ),
        }
    }

    fn read(&self) -> Result<(Repository, Areas), CliError> {
        let config = self.configuration.load()?;
        let areas = open_areas(&config)?;
        Ok(((self.make)(config.repository)?, areas))
    }
}
