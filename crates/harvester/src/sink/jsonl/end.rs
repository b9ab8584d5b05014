//! The length and the end of a file at its last commit, and the check that the file still has them.
//!
//! Users open such files, edit them and append to them. Content beyond the mark is cut off only if an interrupted page
//! can have written it.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use xxhash_rust::xxh3::xxh3_64;

use super::line::OPENING;

/// The number of bytes before the end that are compared: a few lines in most files.
const COMPARED: u64 = 4096;

/// The mark of a commit: the committed length of the file, and a hash of its last bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct End {
    pub(super) length: u64,
    /// None if nothing was written yet, and in marks of earlier versions.
    hash: Option<u64>,
}

impl End {
    /// Returns the mark of a file at this length.
    pub(super) fn at(file: &File, length: u64) -> io::Result<Self> {
        let mut last = vec![0; usize::try_from(length.min(COMPARED)).unwrap_or_default()];
        file.read_exact_at(&mut last, length - length.min(COMPARED))?;
        Ok(Self { length, hash: Some(xxh3_64(&last)) })
    }

    /// Parses `LENGTH` or `LENGTH:HASH`.
    pub(super) fn from_text(text: &str) -> Option<Self> {
        let Some((length, hash)) = text.split_once(':') else {
            return Some(Self { length: text.parse().ok()?, hash: None });
        };
        Some(Self { length: length.parse().ok()?, hash: Some(u64::from_str_radix(hash, 16).ok()?) })
    }

    pub(super) fn to_text(self) -> String {
        self.hash.map_or_else(|| self.length.to_string(), |hash| format!("{}:{hash:016x}", self.length))
    }

    /// Returns the difference between the file and this mark, if the file was changed by something other than an
    /// interrupted page.
    pub(super) fn contradicted(self, file: &File) -> io::Result<Option<String>> {
        let found = file.metadata()?.len();
        if found < self.length {
            return Ok(Some(format!("it must have at least {} bytes and has {found}", self.length)));
        }
        if self.hash.is_some() && Self::at(file, self.length)? != self {
            return Ok(Some("another program wrote to it".to_owned()));
        }
        let is_ours = holds_lines(file, self.length)?;
        Ok((!is_ours).then(|| format!("another program wrote to it after byte {}", self.length)))
    }
}

/// Returns true if everything from this offset is lines that modoai wrote; the last may be incomplete. After a system
/// crash, a disk may contain zeros in place of data that was not written in time.
fn holds_lines(file: &File, mut from: u64) -> io::Result<bool> {
    let mut piece = vec![0; 64 * 1024];
    let mut known = 0;
    loop {
        let size = match file.read_at(&mut piece, from) {
            Ok(0) => return Ok(true),
            Ok(size) => size,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        for &byte in &piece[..size] {
            known = match OPENING.get(known) {
                None if byte == b'\n' => 0,
                None => known,
                Some(&expected) if byte == expected => known + 1,
                Some(_) if known == 0 && byte == 0 => OPENING.len(),
                Some(_) => return Ok(false),
            };
        }
        from += size as u64;
    }
}
