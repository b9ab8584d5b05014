//! `modoai completions`.

use clap::{Args, Command};
use clap_complete::Shell;

use crate::error::CliError;
use crate::output;

/// Print shell completions.
///
/// For bash: modoai completions bash > /etc/bash_completion.d/modoai
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// Shell to print completions for.
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(self, app: &mut Command) -> Result<(), CliError> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, app, "modoai", &mut script);
        output::print(&String::from_utf8_lossy(&script))
    }
}
