//! `modoai man`.

use std::path::PathBuf;

use clap::{Args, Command};

use crate::error::CliError;

/// Write the man pages into a folder.
#[derive(Debug, Args)]
pub(crate) struct Man {
    /// Where to: a man1 folder, made if it is not there.
    dir: PathBuf,
}

impl Man {
    pub(crate) fn run(self, app: Command) -> Result<(), CliError> {
        let written = std::fs::create_dir_all(&self.dir).and_then(|()| clap_mangen::generate_to(app, &self.dir));
        written.map_err(|error| {
            CliError::failed(format!("failed to write the man pages into {}", self.dir.display())).because(error)
        })
    }
}
