//! Computes the digests of large files in steps.
//!
//! A file of many gigabytes takes minutes to read. Between two steps the caller pauses, stops, or reads smaller files
//! first, and the computation continues where it was. The result is valid for one state of the file: if the fingerprint
//! of the open file differs after a step, or the length at the end, the result is discarded. A file that is replaced or
//! deleted has another fingerprint, too, because its number of links changes.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read as _};
use std::ops::RangeInclusive;
use std::time::Instant;

use rustix::fs::Advice;

use super::read::Reader;
use crate::catalogue::Learned;
use crate::formats::steady::Hashes;
use crate::item::{Facts, Fingerprint, Item};
use crate::site::Site;
use crate::site::folder::fingerprint_of;

/// Files above this size are large: they are hashed in steps, one at a time, after all smaller ones.
pub(super) const LARGE: u64 = 8 << 20;

/// Large files up to this size are hashed before larger ones, so that a file of terabytes does not delay the others.
const HUGE: u64 = 1 << 30;

/// The maximum number of changed files whose names are kept; if there are more, all items are searched again.
const MOST_NAMES: usize = 20_000;

/// The number of bytes per read.
const PIECE: usize = 256 << 10;

/// Files whose digests are to be computed.
pub(super) struct Backlog {
    /// Their sizes.
    sizes: RangeInclusive<u64>,
    /// Files that changed.
    names: BTreeSet<String>,
    /// The number of the last item, while all items are searched.
    after: Option<i64>,
    /// The file that is being read.
    pub(super) hashing: Option<Hashing>,
}

/// Returns the backlogs of all large files, in the order of processing.
pub(super) fn backlogs() -> [Backlog; 2] {
    [LARGE + 1..=HUGE, HUGE + 1..=u64::MAX].map(|sizes| Backlog {
        sizes,
        names: BTreeSet::new(),
        after: None,
        hashing: None,
    })
}

impl Backlog {
    /// Returns true if there is nothing to do.
    pub(super) fn is_empty(&self) -> bool {
        self.names.is_empty() && self.after.is_none() && self.hashing.is_none()
    }

    /// Adds those of these files that are of its sizes, or begins a search through all items.
    pub(super) fn add(&mut self, reader: &Reader<'_>, names: &[String], everything: bool) {
        self.names.extend(names.iter().filter(|name| reader.undigested(name, &self.sizes).is_some()).cloned());
        if everything || self.names.len() > MOST_NAMES {
            self.names.clear();
            self.after = Some(i64::MIN);
        }
    }

    /// Returns the next file.
    pub(super) fn next(&mut self, reader: &Reader<'_>) -> Option<Item> {
        while let Some(name) = self.names.pop_first() {
            if let Some(item) = reader.undigested(&name, &self.sizes) {
                return Some(item);
            }
        }
        let item = reader.next_undigested(self.after?, &self.sizes).ok().flatten();
        self.after = item.as_ref().map(|item| item.number);
        item
    }
}

/// The digests of one file, as far as they have been computed.
pub(super) struct Hashing {
    number: i64,
    name: String,
    fingerprint: Fingerprint,
    file: File,
    hashes: Hashes,
    length: u64,
    piece: Vec<u8>,
}

/// The state of a computation after a step.
pub(super) enum Progress {
    /// The file is not read completely.
    Unfinished(Hashing),
    /// The digests of the item of this name.
    Done(String, Learned),
    /// The file changed. Its new state will be reported as a change of the site.
    Changed,
}

impl Hashing {
    /// Opens the file of an item; `None` if it is not in the state that the catalogue knows, or was changed a moment ago.
    pub(super) fn begin(site: &Site, item: &Item) -> io::Result<Option<Self>> {
        let Some(representation) = site.get(&item.name)? else { return Ok(None) };
        let (file, fingerprint) = (representation.file, representation.fingerprint);
        if fingerprint != item.fingerprint || fingerprint.is_fresh() {
            return Ok(None);
        }
        // The file must not displace files that visitors read from the page cache. Only advice: an error changes nothing.
        let _ = rustix::fs::fadvise(&file, 0, None, Advice::NoReuse);
        let (hashes, piece) = (Hashes::default(), vec![0; PIECE]);
        Ok(Some(Self { number: item.number, name: item.name.clone(), fingerprint, file, hashes, length: 0, piece }))
    }

    /// Continues until the given time, or until the whole file is read.
    pub(super) fn step(mut self, until: Instant) -> io::Result<Progress> {
        loop {
            let count = match self.file.read(&mut self.piece) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => read?,
            };
            self.hashes.update(&self.piece[..count]);
            self.length += count as u64;
            let (is_end, is_longer) = (count == 0, self.length > self.fingerprint.size);
            if !is_end && !is_longer && Instant::now() < until {
                continue;
            }
            if is_longer || fingerprint_of(&self.file)? != self.fingerprint {
                return Ok(Progress::Changed);
            }
            if !is_end {
                return Ok(Progress::Unfinished(self));
            }
            if self.length != self.fingerprint.size {
                return Ok(Progress::Changed);
            }
            let facts = Facts { title: None, digests: Some(self.hashes.finish()) };
            return Ok(Progress::Done(
                self.name,
                Learned { number: self.number, fingerprint: self.fingerprint, facts },
            ));
        }
    }
}
