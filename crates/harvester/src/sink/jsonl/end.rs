//! Where a file ended when it was last committed, and whether that is still so.
//!
//! People open such files, edit them, append to them. What is beyond the mark is cut off only if an interrupted page can
//! have left it there.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use xxhash_rust::xxh3::xxh3_64;

use super::line::OPENING;

/// So much before the end is compared: a few lines, in most files.
const COMPARED: u64 = 4096;

/// The mark of a commit: how much of the file is true, and a hash of the last of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct End {
    pub(super) length: u64,
    /// None where nothing was written yet, and in marks of earlier versions.
    hash: Option<u64>,
}

impl End {
    /// At this length.
    pub(super) fn at(file: &File, length: u64) -> io::Result<Self> {
        let mut last = vec![0; usize::try_from(length.min(COMPARED)).unwrap_or_default()];
        file.read_exact_at(&mut last, length - length.min(COMPARED))?;
        Ok(Self { length, hash: Some(xxh3_64(&last)) })
    }

    /// `LENGTH`, or `LENGTH:HASH`.
    pub(super) fn from_text(text: &str) -> Option<Self> {
        let Some((length, hash)) = text.split_once(':') else {
            return Some(Self { length: text.parse().ok()?, hash: None });
        };
        Some(Self { length: length.parse().ok()?, hash: Some(u64::from_str_radix(hash, 16).ok()?) })
    }

    pub(super) fn to_text(self) -> String {
        self.hash.map_or_else(|| self.length.to_string(), |hash| format!("{}:{hash:016x}", self.length))
    }

    /// In which way the file is not one of which all up to here is true, and the rest is ours.
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

/// Whether there is nothing but lines of ours from here on; the last may break off. Where the machine went down, a disk may
/// have zeros for what was not written out in time.
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
