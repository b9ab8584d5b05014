//! The data that the catalogue stores of a document: its record, and its stored formats.
//!
//! A list of a million records in a stored format copies bytes and renders nothing; any other format is rendered from
//! the record on request. All of it is compressed together, so that a text in the record and in three formats costs
//! little more than one copy.
//!
//! A stored document is a sequence of sections. Each has a name of up to 255 bytes, preceded by its length, and
//! content, preceded by four bytes of length in little-endian order. The first section is the record, and its name is
//! empty.

use std::io;

/// The name of the section with the `about` containers, which no format can have.
const ABOUT: &str = "/about";

/// The mark before the prefix of a format that is sent as received.
const GIVEN: &str = "/given/";

/// A stored document that is being composed.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    bytes: Vec<u8>,
}

impl Draft {
    /// Creates a stored document with a record, as JSON.
    pub(crate) fn of(record: &[u8]) -> Self {
        let mut draft = Self { bytes: Vec::with_capacity(record.len() * 3) };
        draft.add("", |section| section.extend_from_slice(record));
        draft
    }

    /// Adds a rendered format: its root element.
    pub(crate) fn keep<E>(&mut self, prefix: &str, write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>) -> Result<(), E> {
        let mut written = Ok(());
        self.add(prefix, |section| written = write(section));
        written
    }

    /// Adds a format that is sent as received.
    pub(crate) fn give(&mut self, prefix: &str, xml: &[u8]) {
        self.add(&[GIVEN, prefix].concat(), |section| section.extend_from_slice(xml));
    }

    /// Adds the `about` containers, unless they are empty.
    pub(crate) fn about(&mut self, about: &[u8]) {
        if !about.is_empty() {
            self.add(ABOUT, |section| section.extend_from_slice(about));
        }
    }

    /// Returns the bytes to be compressed.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn add(&mut self, name: &str, write: impl FnOnce(&mut Vec<u8>)) {
        let length = u8::try_from(name.len()).expect("prefixes are short; definitions are checked");
        self.bytes.push(length);
        self.bytes.extend_from_slice(name.as_bytes());
        let at = self.bytes.len();
        self.bytes.extend_from_slice(&[0; 4]);
        write(&mut self.bytes);
        let length = u32::try_from(self.bytes.len() - at - 4).expect("input is bounded to far less");
        self.bytes[at..at + 4].copy_from_slice(&length.to_le_bytes());
    }
}

/// A stored document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dossier<'a>(&'a [u8]);

impl<'a> Dossier<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Returns the record as JSON.
    pub(crate) fn record(&self) -> io::Result<&'a [u8]> {
        self.ready("").ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "a stored document has no record"))
    }

    /// Returns a stored format.
    pub(crate) fn ready(&self, prefix: &str) -> Option<&'a [u8]> {
        self.section(|name| name == prefix.as_bytes())
    }

    /// Returns a format that is sent as received.
    pub(crate) fn given(&self, prefix: &str) -> Option<&'a [u8]> {
        self.section(|name| name.strip_prefix(GIVEN.as_bytes()) == Some(prefix.as_bytes()))
    }

    /// Returns every format that is sent as received, by prefix.
    pub(crate) fn all_given(&self) -> impl Iterator<Item = (&'a str, &'a [u8])> + use<'a> {
        let given =
            |(name, xml): (&'a [u8], &'a [u8])| Some((str::from_utf8(name.strip_prefix(GIVEN.as_bytes())?).ok()?, xml));
        self.sections().filter_map(given)
    }

    /// Returns the `about` containers.
    pub(crate) fn about(&self) -> &'a [u8] {
        self.ready(ABOUT).unwrap_or_default()
    }

    fn section(&self, is_wanted: impl Fn(&[u8]) -> bool) -> Option<&'a [u8]> {
        self.sections().find(|(name, _)| is_wanted(name)).map(|(_, content)| content)
    }

    /// Iterates over names and contents, up to the first that is incomplete.
    fn sections(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + use<'a> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let (length, after) = rest.split_first()?;
            let (name, after) = after.split_at_checked(usize::from(*length))?;
            let (length, after) = after.split_first_chunk::<4>()?;
            let (content, after) = after.split_at_checked(u32::from_le_bytes(*length) as usize)?;
            rest = after;
            Some((name, content))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_come_back_and_damage_is_no_disaster() {
        let mut draft = Draft::of(b"{}");
        let write = |text: &'static [u8]| {
            move |out: &mut Vec<u8>| {
                out.extend_from_slice(text);
                Ok::<_, io::Error>(())
            }
        };
        draft.keep("oai_dc", write(b"<dc/>")).expect("written");
        draft.give("mods", b"<mods/>");
        draft.about(b"");
        let without_about = draft.bytes().len();
        draft.about(b"<about/>");
        let dossier = Dossier::new(draft.bytes());
        assert_eq!(dossier.record().expect("a record"), b"{}");
        assert_eq!(dossier.ready("oai_dc"), Some(&b"<dc/>"[..]));
        assert_eq!((dossier.ready("mods"), dossier.given("mods")), (None, Some(&b"<mods/>"[..])));
        assert_eq!(dossier.about(), b"<about/>");
        assert_eq!(Dossier::new(&draft.bytes()[..without_about]).about(), b"", "nothing was said, nothing is kept");
        for end in 0..draft.bytes().len() {
            let cut = Dossier::new(&draft.bytes()[..end]);
            let _ = (cut.record(), cut.ready("oai_dc"), cut.about());
        }
    }
}
