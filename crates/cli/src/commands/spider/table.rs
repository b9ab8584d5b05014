//! The table of a run. A damaged one is moved aside, and the run starts with a new one: except for earlier results, its
//! content can be fetched again.

use std::path::{Path, PathBuf};

use modoai_spider::results::ReportError;
use modoai_spider::table::{Table, TableError};
use modoai_spider::traverse::BeginError;

use super::{SpiderCommand, not_begun, plan, report_failed, table_failed};
use crate::config::shown;
use crate::error::CliError;

/// The reason why a traversal has no survey.
pub(super) enum Stopped {
    Begin(BeginError),
    Table(TableError),
    Report(ReportError),
    Other(CliError),
}

impl Stopped {
    /// Returns true if a new table would help.
    fn is_damage(&self) -> bool {
        match self {
            Self::Begin(BeginError::Table(error)) | Self::Table(error) => error.is_damage(),
            Self::Report(ReportError::Store(source)) => {
                source.downcast_ref::<TableError>().is_some_and(TableError::is_damage)
            }
            Self::Begin(_) | Self::Report(_) | Self::Other(_) => false,
        }
    }

    /// Returns the error of the command.
    pub(super) fn into_error(self) -> CliError {
        match self {
            Self::Begin(error) => not_begun(error),
            Self::Table(error) => table_failed(error),
            Self::Report(error) => report_failed(error),
            Self::Other(error) => error,
        }
    }
}

impl SpiderCommand {
    /// Opens the table of the target.
    pub(super) fn open_table(&self) -> Result<Table, Stopped> {
        let opened = match self.table_path().map_err(Stopped::Other)? {
            Some(file) => Table::open(&file),
            None => Table::temporary(),
        };
        opened.map_err(Stopped::Table)
    }

    /// Moves the table aside if it is damaged, and warns. Otherwise the failure is final.
    pub(super) fn set_table_aside(&self, stopped: Stopped) -> Result<(), CliError> {
        let Some(file) = self.table_path()?.filter(|_| stopped.is_damage()) else { return Err(stopped.into_error()) };
        set_aside(&file).map_err(table_failed)
    }

    fn table_path(&self) -> Result<Option<PathBuf>, CliError> {
        match (self.no_table, &self.table) {
            (true, _) => Ok(None),
            (false, Some(file)) => Ok(Some(file.clone())),
            (false, None) => plan::own_table(&self.target).map(Some),
        }
    }
}

/// Moves a damaged table aside, and warns.
pub(crate) fn set_aside(file: &Path) -> Result<(), TableError> {
    let aside = Table::set_aside(file)?;
    let (file, aside) = (shown(file), shown(&aside));
    tracing::warn!(
        "the table {file} is damaged: moved it to {aside} and started a new one; all findings are reported as new"
    );
    Ok(())
}
