//! Collects a complete record, for sinks that need all of it before they can write the first byte: they must know, for
//! example, if its bytes are text. Small records stay in memory, large ones are stored in a temporary file.

use std::io::{self, Read as _, Seek as _, SeekFrom, Write};
use std::path::{Path, PathBuf};

use modoai_protocol::xml::is_legal;
use tempfile::SpooledTempFile;

use super::Part;
use crate::record::Header;

/// The number of bytes kept in memory.
const SMALL: usize = 1 << 20;
/// The number of bytes per read. A multiple of three, so that pieces of base64 can be joined.
const PIECE: usize = 48 * 1024;

/// A complete record.
pub struct Gathered {
    header: Header,
    parts: Vec<GatheredPart>,
    folder: PathBuf,
    spool: SpooledTempFile,
    length: u64,
    text: XmlText,
    piece: Vec<u8>,
}

/// Its metadata, or an about container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatheredPart {
    /// The kind of the part.
    pub part: Part,
    /// The namespace declarations that it inherits: prefix (empty for the default) and URI.
    pub namespaces: Vec<(String, String)>,
    /// True if its bytes are UTF-8 and contain no character that XML forbids.
    pub is_text: bool,
    from: u64,
    to: u64,
}

impl Gathered {
    /// Returns an empty record. Large records are stored in this directory.
    pub fn new(folder: &Path) -> Self {
        Self {
            header: Header::default(),
            parts: Vec::new(),
            folder: folder.to_path_buf(),
            spool: SpooledTempFile::new_in(SMALL, folder),
            length: 0,
            text: XmlText::default(),
            piece: Vec::new(),
        }
    }

    /// Starts another record.
    pub fn begin(&mut self, header: &Header) -> io::Result<()> {
        self.header.clone_from(header);
        self.parts.clear();
        self.length = 0;
        if self.spool.is_rolled() {
            // Otherwise all later records would be stored in the file, too.
            self.spool = SpooledTempFile::new_in(SMALL, &self.folder);
        }
        self.spool.rewind()?;
        self.spool.set_len(0)
    }

    /// Starts a part.
    pub fn part<'n>(&mut self, part: Part, namespaces: impl IntoIterator<Item = (&'n str, &'n str)>) {
        let namespaces = namespaces.into_iter().map(|(prefix, uri)| (prefix.to_owned(), uri.to_owned())).collect();
        self.parts.push(GatheredPart { part, namespaces, is_text: true, from: self.length, to: self.length });
        self.text = XmlText::default();
    }

    /// Adds a namespace declaration to the part.
    pub(super) fn declare(&mut self, prefix: String, uri: String) {
        if let Some(part) = self.parts.last_mut() {
            part.namespaces.push((prefix, uri));
        }
    }

    /// Adds bytes to the part.
    pub fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.text.push(bytes);
        self.length += bytes.len() as u64;
        self.spool.write_all(bytes)
    }

    /// Completes the part.
    pub fn part_end(&mut self) {
        if let Some(part) = self.parts.last_mut() {
            part.to = self.length;
            part.is_text = self.text.is_complete();
        }
    }

    /// Returns the number of bytes of all parts.
    pub(super) fn len(&self) -> u64 {
        self.length
    }

    /// Returns its header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Returns its parts.
    pub fn parts(&self) -> &[GatheredPart] {
        &self.parts
    }

    /// Passes the exact bytes of a part to `take` in pieces, all but the last with a length divisible by three.
    pub fn read(&mut self, part: usize, mut take: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        let GatheredPart { mut from, to, .. } = self.parts[part];
        self.spool.seek(SeekFrom::Start(from))?;
        while from < to {
            let size = usize::try_from(to - from).map_or(PIECE, |left| left.min(PIECE));
            self.piece.resize(size, 0);
            self.spool.read_exact(&mut self.piece)?;
            take(&self.piece)?;
            from += size as u64;
        }
        Ok(())
    }

    /// Writes a part as base64.
    pub fn write_base64(&mut self, part: usize, out: &mut dyn Write) -> io::Result<()> {
        self.read(part, |piece| out.write_all(base64_simd::STANDARD.encode_to_string(piece).as_bytes()))
    }
}

/// Checks that bytes are text that XML allows. The pieces may be cut anywhere.
#[derive(Debug, Default)]
struct XmlText {
    /// The beginning of a character whose remaining bytes have not arrived.
    begun: Vec<u8>,
    illegal: bool,
}

impl XmlText {
    fn push(&mut self, bytes: &[u8]) {
        if self.illegal {
            return;
        }
        let begun = std::mem::take(&mut self.begun);
        let joined = if begun.is_empty() { Vec::new() } else { [&begun, bytes].concat() };
        let bytes = if begun.is_empty() { bytes } else { &joined };
        let whole = match std::str::from_utf8(bytes) {
            Ok(whole) => whole,
            Err(error) => {
                let (whole, rest) = bytes.split_at(error.valid_up_to());
                self.illegal = error.error_len().is_some();
                self.begun.extend_from_slice(rest);
                std::str::from_utf8(whole).unwrap_or_default()
            }
        };
        self.illegal |= has_forbidden(whole);
    }

    fn is_complete(&self) -> bool {
        self.begun.is_empty() && !self.illegal
    }
}

/// Returns true if the text contains characters that XML 1.0 forbids.
fn has_forbidden(text: &str) -> bool {
    // The bytes with which such characters begin are rare in text, and this loop checks many bytes in parallel.
    let control = |byte: u8| (byte < 0x20) & (byte != b'\t') & (byte != b'\n') & (byte != b'\r');
    let suspect = text.bytes().fold(false, |found, byte| found | control(byte) | (byte == 0xef));
    suspect && !text.chars().all(is_legal)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_text(pieces: &[&[u8]]) -> bool {
        let mut text = XmlText::default();
        pieces.iter().for_each(|piece| text.push(piece));
        text.is_complete()
    }

    #[test]
    fn text_is_told_from_bytes_wherever_it_is_cut() {
        let samples: [(&[u8], bool); 9] = [
            (b"", true),
            (b"<a>\t\r\n</a>", true),
            ("é€𝄞\u{fffd}\u{10ffff}".as_bytes(), true),
            (b"\0", false),
            (b"a\x1bb", false),
            (b"\xff", false),
            (b"caf\xe9", false),
            ("a\u{fffe}b".as_bytes(), false),
            (b"\xed\xa0\x80", false),
        ];
        for (bytes, expected) in samples {
            assert_eq!(is_text(&[bytes]), expected, "{bytes:?}");
            for first in 0..=bytes.len() {
                for second in first..=bytes.len() {
                    let pieces = [&bytes[..first], &bytes[first..second], &bytes[second..]];
                    assert_eq!(is_text(&pieces), expected, "{bytes:?} cut at {first} and {second}");
                }
            }
        }
    }
}
