//! `modoai settings`.

use clap::Args;

use crate::config::reference;
use crate::error::CliError;
use crate::output;

/// Print every setting with its default and description, as a template for a configuration file.
#[derive(Debug, Args)]
pub(crate) struct SettingsCommand {}

impl SettingsCommand {
    pub(crate) fn run(self) -> Result<(), CliError> {
        output::print(&reference())
    }
}
