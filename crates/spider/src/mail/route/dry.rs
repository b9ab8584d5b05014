//! Writes messages into a directory, to preview what would be sent: one file each, in the format of mail readers. No
//! message is delivered, so the ledger is not changed.

use std::path::{Path, PathBuf};

use lettre::message::Mailbox;

use super::{Refused, Route, RouteError};
use crate::mail::compose::Letter;

/// A directory for messages.
#[derive(Debug)]
pub struct Dry {
    folder: PathBuf,
    sender: Mailbox,
    written: usize,
}

impl Dry {
    /// Creates the route. The directory is created with the first message.
    pub fn new(folder: &Path, sender: Mailbox) -> Self {
        Self { folder: folder.to_owned(), sender, written: 0 }
    }
}

impl Route for Dry {
    fn sender(&self) -> &Mailbox {
        &self.sender
    }

    fn name(&self) -> String {
        self.folder.display().to_string()
    }

    fn send(&mut self, letter: &Letter) -> Result<Vec<Refused>, RouteError> {
        self.written += 1;
        let path = self.folder.join(format!("{:04}-{}.eml", self.written, file_name(&letter.to)));
        let unwritten = |source| RouteError::Write { path: path.clone(), source };
        std::fs::create_dir_all(&self.folder).map_err(unwritten)?;
        std::fs::write(&path, letter.message.formatted()).map_err(unwritten)?;
        Ok(Vec::new())
    }

    fn is_rehearsal(&self) -> bool {
        true
    }
}

/// Returns a file name from the first address. Characters that could form a path are replaced.
fn file_name(to: &[Mailbox]) -> String {
    let address = to.first().map(|mailbox| mailbox.email.to_string()).unwrap_or_default();
    let is_plain =
        |character: &char| character.is_ascii_alphanumeric() || "@-_+".contains(*character) || *character == '.';
    let name: String = address.chars().map(|character| if is_plain(&character) { character } else { '_' }).collect();
    name.chars().take(100).collect()
}
