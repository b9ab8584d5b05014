//! One record while it arrives, until it is compressed.
//!
//! A record of usual size is only buffered until it is known whether it is new: most are not. Only the parts of a large
//! one are repaired and compressed while they arrive, so that it is never held in memory as a whole.

use std::io;
use std::path::Path;

use modoai_repository::catalogue::stored::{Packed, Packer};
use xxhash_rust::xxh3::Xxh3;

use super::fragment::{Fit, Passing, fit};
use super::provenance::{self, Received};
use super::scope::{ANSWER, Namespaces, owns_default};
use crate::record::Header;
use crate::sink::{Origin, Part};

/// The number of bytes of a record that are buffered before compression starts.
const HELD: usize = 1024 * 1024;

/// A record that is being received.
pub(super) struct Incoming {
    packer: Packer,
    /// The hash of everything that distinguishes a changed record from an unchanged one: not the date of its harvest.
    hash: Xxh3,
    pub(super) header: Header,
    /// Parts that are complete, or the last of them arriving.
    parts: Vec<Held>,
    held: usize,
    /// The part that is too large to be held, and the end of its container.
    passing: Option<(Passing, String)>,
    has_metadata: bool,
    altered: bool,
    received: Option<Received>,
    refusal: Option<String>,
}

struct Held {
    part: Part,
    namespaces: Namespaces,
    bytes: Vec<u8>,
}

impl Incoming {
    /// For records that wait, if they are large, in this folder.
    pub(super) fn new(folder: &Path) -> io::Result<Self> {
        Ok(Self {
            packer: Packer::new(folder)?,
            hash: Xxh3::new(),
            header: Header::default(),
            parts: Vec::new(),
            held: 0,
            passing: None,
            has_metadata: false,
            altered: false,
            received: None,
            refusal: None,
        })
    }

    pub(super) fn begin(&mut self, header: &Header) {
        self.clear();
        self.header.clone_from(header);
    }

    /// Forgets the record.
    pub(super) fn clear(&mut self) {
        self.packer.clear();
        self.hash.reset();
        self.parts.clear();
        self.held = 0;
        self.passing = None;
        self.has_metadata = false;
        self.altered = false;
        self.received = None;
        self.refusal = None;
    }

    pub(super) fn part(&mut self, part: Part, namespaces: &[(&str, &str)]) {
        let owned = |(prefix, uri): &(&str, &str)| ((*prefix).to_owned(), (*uri).to_owned());
        let namespaces = namespaces.iter().map(owned).collect();
        self.parts.push(Held { part, namespaces, bytes: Vec::new() });
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.refusal.is_some() {
            return Ok(());
        }
        if let Some((passing, _)) = &mut self.passing {
            let mut out = Vec::with_capacity(bytes.len());
            if let Err(offence) = passing.push(bytes, &mut out) {
                self.refuse(&offence);
                return Ok(());
            }
            return self.write(&out);
        }
        self.held += bytes.len();
        if let Some(part) = self.parts.last_mut() {
            part.bytes.extend_from_slice(bytes);
        }
        if self.held > HELD { self.pass_on() } else { Ok(()) }
    }

    pub(super) fn part_end(&mut self) -> io::Result<()> {
        let Some((passing, close)) = self.passing.take() else { return Ok(()) };
        let mut out = Vec::new();
        match passing.finish(&mut out) {
            Ok(altered) => {
                self.altered |= altered;
                self.write(&out)?;
                self.write(close.as_bytes())
            }
            Err(offence) => {
                self.refuse(&offence);
                Ok(())
            }
        }
    }

    /// Ends the record. Returns it compressed, or the reason why it cannot be stored.
    pub(super) fn finish(&mut self, origin: &Origin) -> io::Result<Result<Packed, String>> {
        self.write_held()?;
        if !self.has_metadata {
            self.refuse(&"it has no metadata");
        }
        if let Some(refusal) = self.refusal.take() {
            self.clear();
            return Ok(Err(refusal));
        }
        let received = self.received.take();
        let around = provenance::around(origin, &self.header, self.altered, received.as_ref());
        self.packer.write(around.before.as_bytes())?;
        if let Some(received) = received {
            self.write(&received.bytes)?;
        }
        self.packer.write(around.after.as_bytes())?;
        let packed = self.packer.finish(self.hash.digest128().to_be_bytes())?;
        self.clear();
        Ok(Ok(packed))
    }

    /// Empties a full buffer: writes all parts except the one that is arriving, and from now on passes that one on.
    fn pass_on(&mut self) -> io::Result<()> {
        let Some(Held { part, namespaces, bytes }) = self.parts.pop() else { return Ok(()) };
        if part == Part::Metadata {
            // Metadata is stored first, even if other parts arrived before it.
            let before = std::mem::take(&mut self.parts);
            self.open(part, &namespaces, &bytes)?;
            self.parts = before;
            self.held = self.parts.iter().map(|part| part.bytes.len()).sum();
        } else {
            self.write_held()?;
            if !self.has_metadata {
                self.refuse(&"too much content precedes its metadata");
                return Ok(());
            }
            self.open(part, &namespaces, &bytes)?;
        }
        Ok(())
    }

    /// Begins a part that will be passed on.
    fn open(&mut self, part: Part, namespaces: &Namespaces, bytes: &[u8]) -> io::Result<()> {
        if !self.enter(part) {
            return Ok(());
        }
        let around = ANSWER.container(part.name(), namespaces, owns_default(bytes), "");
        self.write(around.open.as_bytes())?;
        self.passing = Some((Passing::new(namespaces), around.close));
        self.bytes(bytes)
    }

    /// Writes the buffered parts, metadata first. A provenance description is kept, to be nested in modoai's.
    fn write_held(&mut self) -> io::Result<()> {
        let (metadata, abouts): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.parts).into_iter().partition(|held| held.part == Part::Metadata);
        self.held = 0;
        for Held { part, namespaces, bytes } in metadata.into_iter().chain(abouts) {
            if self.refusal.is_some() || !self.enter(part) {
                return Ok(());
            }
            let Fit { bytes, altered, namespaces } = match fit(bytes, namespaces) {
                Ok(fit) => fit,
                Err(offence) => {
                    self.refuse(&offence);
                    return Ok(());
                }
            };
            self.altered |= altered;
            if part == Part::About && self.received.is_none() {
                self.received = provenance::received(&bytes, &namespaces);
                if self.received.is_some() {
                    continue;
                }
            }
            let around = ANSWER.container(part.name(), &namespaces, owns_default(&bytes), "");
            self.write(around.open.as_bytes())?;
            self.write(&bytes)?;
            self.write(around.close.as_bytes())?;
        }
        Ok(())
    }

    /// Returns true if a part may be written now.
    fn enter(&mut self, part: Part) -> bool {
        let is_second = part == Part::Metadata && std::mem::replace(&mut self.has_metadata, true);
        if is_second {
            self.refuse(&"it has two metadata elements");
        }
        !is_second
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hash.update(bytes);
        self.packer.write(bytes)
    }

    /// Refuses the record. The first reason is kept; its parts are discarded.
    fn refuse(&mut self, reason: &dyn std::fmt::Display) {
        self.refusal.get_or_insert_with(|| reason.to_string());
        self.packer.clear();
        self.parts.clear();
        self.passing = None;
    }
}
