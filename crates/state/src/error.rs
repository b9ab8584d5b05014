//! Errors of a state database, by what the user can do: wait, update modoai, or restore a copy.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

/// A state database cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// Another process uses it.
    #[error("{} is being used by another process", path.display())]
    Busy {
        /// The database, or its lock file.
        path: PathBuf,
    },
    /// A newer version of modoai has written it.
    #[error("{} has version {found}, but the newest supported version is {supported}", path.display())]
    Newer {
        /// The database.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The version of this program.
        supported: usize,
    },
    /// It is a database, but not of this kind.
    #[error("{} is a database of another program", path.display())]
    Foreign {
        /// The database.
        path: PathBuf,
    },
    /// It is not a database, or its content is inconsistent.
    #[error("{} is damaged", path.display())]
    Damaged {
        /// The database.
        path: PathBuf,
        /// The error of SQLite.
        source: Box<rusqlite::Error>,
    },
    /// The system reports an error.
    #[error("failed to {activity} {}", path.display())]
    Io {
        /// The operation.
        activity: &'static str,
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// SQLite reports an error.
    #[error("failed to {activity} {}", path.display())]
    Engine {
        /// The operation.
        activity: &'static str,
        /// The database.
        path: PathBuf,
        /// The cause.
        source: Box<rusqlite::Error>,
    },
}

impl DatabaseError {
    /// Returns a function for `map_err` that classifies an error of SQLite. A full disk or a locked file is not damage,
    /// and reporting it as damage would make users delete intact data.
    pub fn of(activity: &'static str, path: &Path) -> impl FnOnce(rusqlite::Error) -> Self {
        let path = path.to_path_buf();
        move |source| match source.sqlite_error_code() {
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
                Self::Damaged { path, source: Box::new(source) }
            }
            Some(ErrorCode::DatabaseBusy) => Self::Busy { path },
            _ => Self::Engine { activity, path, source: Box::new(source) },
        }
    }

    /// Returns a function for `map_err` that converts an error of the system.
    pub fn io(activity: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::Io { activity, path, source }
    }

    /// Returns true if only a new file, or a copy of an earlier one, helps.
    pub fn is_damage(&self) -> bool {
        match self {
            Self::Damaged { .. } => true,
            // A value of another type than the tables have.
            Self::Engine { source, .. } => {
                use rusqlite::Error::{FromSqlConversionFailure, InvalidColumnType};
                matches!(**source, InvalidColumnType(..) | FromSqlConversionFailure(..))
            }
            _ => false,
        }
    }
}
