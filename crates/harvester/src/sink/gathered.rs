//! A record put together from its pieces, for forms that must know all of it before they can begin to write it: whether
//! its bytes are text, for one. Small records stay in memory, large ones wait in a temporary file.

use std::io::{self, Read as _, Seek as _, SeekFrom, Write};
use std::path::Path;

use modoai_protocol::xml::is_legal;
use tempfile::SpooledTempFile;

use super::Part;
use crate::record::Header;

/// What is kept in memory.
const SMALL: usize = 1 << 20;
/// How much is read at once. A multiple of three, so that pieces of base64 can be joined.
const PIECE: usize = 48 * 1024;

/// A record.
pub struct Gathered {
    header: Header,
    parts: Vec<GatheredPart>,
    spool: SpooledTempFile,
    length: u64,
    text: XmlText,
    piece: Vec<u8>,
}

/// Its metadata, or an about container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatheredPart {
    /// What it is.
    pub part: Part,
    /// The namespace declarations that it inherits: prefix (empty for the default) and URI.
    pub namespaces: Vec<(String, String)>,
    /// Whether its bytes are UTF-8 and none of them stands for a character that XML forbids.
    pub is_text: bool,
    from: u64,
    to: u64,
}

impl Gathered {
    /// Holds nothing yet. Large records will be put into this folder.
    pub fn new(folder: &Path) -> Self {
        Self {
            header: Header::default(),
            parts: Vec::new(),
            spool: SpooledTempFile::new_in(SMALL, folder),
            length: 0,
            text: XmlText::default(),
            piece: Vec::new(),
        }
    }

    /// Begins another record.
    pub fn begin(&mut self, header: &Header) -> io::Result<()> {
        self.header.clone_from(header);
        self.parts.clear();
        self.length = 0;
        self.spool.rewind()?;
        self.spool.set_len(0)
    }

    /// Begins a part.
    pub fn part<'n>(&mut self, part: Part, namespaces: impl IntoIterator<Item = (&'n str, &'n str)>) {
        let namespaces = namespaces.into_iter().map(|(prefix, uri)| (prefix.to_owned(), uri.to_owned())).collect();
        self.parts.push(GatheredPart { part, namespaces, is_text: true, from: self.length, to: self.length });
        self.text = XmlText::default();
    }

    /// More of the part.
    pub fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.text.push(bytes);
        self.length += bytes.len() as u64;
        self.spool.write_all(bytes)
    }

    /// The part is complete.
    pub fn part_end(&mut self) {
        if let Some(part) = self.parts.last_mut() {
            part.to = self.length;
            part.is_text = self.text.is_complete();
        }
    }

    /// Its header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Its parts.
    pub fn parts(&self) -> &[GatheredPart] {
        &self.parts
    }

    /// Hands on the exact bytes of a part in pieces, all but the last of a size that three divides.
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

/// Judges bytes that come in pieces cut anywhere.
#[derive(Debug, Default)]
struct XmlText {
    /// The beginning of a character whose end has not come yet.
    begun: Vec<u8>,
    illegal: bool,
}

impl XmlText {
    fn push(&mut self, mut bytes: &[u8]) {
        while !self.begun.is_empty() && !self.illegal {
            let Some((first, rest)) = bytes.split_first() else { return };
            self.begun.push(*first);
            bytes = rest;
            let begun = std::mem::take(&mut self.begun);
            self.judge(&begun);
        }
        self.judge(bytes);
    }

    fn judge(&mut self, bytes: &[u8]) {
        if self.illegal {
            return;
        }
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

/// Whether text holds characters that XML 1.0 forbids.
fn has_forbidden(text: &str) -> bool {
    // Nearly no text has any of the bytes that such characters begin with, and bytes are looked at many at once.
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
