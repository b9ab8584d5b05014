//! Messages into a folder, to see what would be sent: a file each, that any mail reader opens. Nobody has been told then,
//! so the ledger stays as it is.

use std::path::{Path, PathBuf};

use lettre::message::Mailbox;

use super::{Refused, Route, RouteError};
use crate::mail::compose::Letter;

/// A folder.
#[derive(Debug)]
pub struct Dry {
    folder: PathBuf,
    sender: Mailbox,
    written: usize,
}

impl Dry {
    /// That folder; it is made when the first message comes.
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

/// The first address, as far as a file can be called so: no path can be made of it.
fn file_name(to: &[Mailbox]) -> String {
    let address = to.first().map(|mailbox| mailbox.email.to_string()).unwrap_or_default();
    let is_plain =
        |character: &char| character.is_ascii_alphanumeric() || "@-_+".contains(*character) || *character == '.';
    let name: String = address.chars().map(|character| if is_plain(&character) { character } else { '_' }).collect();
    name.chars().take(100).collect()
}
