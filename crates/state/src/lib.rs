//! State databases: SQLite files that modoai writes between runs, opened in one way.
//!
//! A catalogue, the state of a harvest, the indexes of sinks and the table of a spider have different tables, but the
//! same rules: a file of another program is rejected and left unchanged, a file of a newer version is reported as such,
//! a file of an older version is migrated in one transaction, and a damaged file is distinguished from a full disk.
//!
//! | file | content |
//! |---|---|
//! | `layout` | a kind of database: its tables, migrations and settings; opening and migrating a file |
//! | `lock` | a lock for one process at a time |
//! | `error` | the kinds of errors |

mod error;
mod layout;
mod lock;

pub use error::DatabaseError;
pub use layout::{Files, Journal, Layout, private_file};
pub use lock::Lock;
