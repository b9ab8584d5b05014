//! Reading the configuration again while a server runs, on SIGHUP.
//!
//! What a request needs only to answer, the settings of the repository and the areas, is exchanged. What the server was built
//! with stays until it is started again: its socket and limits, the rules of the site, flow control. The certificate is
//! read again from the same files. Log files are opened again without a signal when they are renamed.

use modoai_repository::{Repository, Settings};
use modoai_server::{Areas, Certificate, Current};

use crate::config::{Config, SettingsArgs};
use crate::error::CliError;
use crate::open::open_areas;

/// Where the configuration comes from: the file, and the flags that go before it.
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

/// Makes the repository with these settings.
pub(super) type Make = Box<dyn Fn(Settings) -> Result<Repository, CliError> + Send + Sync>;

/// What is exchanged, and for what.
pub(super) struct Reload {
    pub(super) configuration: Configuration,
    pub(super) repository: Current<Repository>,
    pub(super) areas: Current<Areas>,
    pub(super) make: Make,
    pub(super) certificate: Option<Certificate>,
}

impl Reload {
    /// Reads the configuration, and exchanges everything, or nothing if anything is wrong.
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
