//! Writes XML. It is the only code of the project that escapes.
//!
//! An [`XmlWriter`] is a buffer in front of an [`io::Write`]. Appending to it cannot fail. [`XmlWriter::relieve`],
//! which is called between records and between chunks of a large resource, writes the buffer out when it is full. So
//! memory stays constant, and only the calls that can really fail return errors.

use std::io;

use crate::datestamp::Datestamp;

/// The approximate size of the pieces that are written out: large enough that the cost per piece is negligible, small
/// enough that a hundred concurrent responses need a few megabytes.
const PIECE: usize = 64 * 1024;

/// Writes XML that is well-formed for any text.
pub struct XmlWriter<'w> {
    sink: &'w mut dyn io::Write,
    buffer: Vec<u8>,
    handed_on: u64,
}

impl<'w> XmlWriter<'w> {
    /// Creates a writer in front of `sink`.
    pub fn new(sink: &'w mut dyn io::Write) -> Self {
        Self { sink, buffer: Vec::with_capacity(PIECE + PIECE / 4), handed_on: 0 }
    }

    /// Returns the number of bytes written so far.
    pub fn position(&self) -> u64 {
        self.handed_on + self.buffer.len() as u64
    }

    /// Writes the buffer out if it is full.
    pub fn relieve(&mut self) -> io::Result<()> {
        if self.buffer.len() < PIECE { Ok(()) } else { self.hand_on() }
    }

    /// Writes out the rest of the buffer.
    pub fn finish(mut self) -> io::Result<()> {
        self.hand_on()?;
        self.sink.flush()
    }

    fn hand_on(&mut self) -> io::Result<()> {
        self.sink.write_all(&self.buffer)?;
        self.handed_on += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    /// Appends markup, or text that needs no escaping, unchanged.
    pub fn raw(&mut self, markup: &str) -> &mut Self {
        self.buffer.extend_from_slice(markup.as_bytes());
        self
    }

    /// Appends bytes of markup unchanged, for callers that have them as bytes, possibly split inside a character.
    pub fn verbatim(&mut self, markup: &[u8]) -> &mut Self {
        self.buffer.extend_from_slice(markup);
        self
    }

    /// Appends space for `length` bytes of ASCII and calls `fill` to write them: base64 is written from the file
    /// directly to the buffer.
    pub fn fill(&mut self, length: usize, fill: impl FnOnce(&mut [u8])) -> &mut Self {
        let start = self.buffer.len();
        self.buffer.resize(start + length, b' ');
        fill(&mut self.buffer[start..]);
        debug_assert!(self.buffer[start..].is_ascii());
        self
    }

    /// Appends character data or an attribute value.
    pub fn text(&mut self, text: &str) -> &mut Self {
        escape_into(&mut self.buffer, text);
        self
    }

    /// Appends a datestamp.
    pub fn datestamp(&mut self, datestamp: Datestamp) -> &mut Self {
        self.buffer.extend_from_slice(&datestamp.to_bytes());
        self
    }

    /// Appends a number.
    pub fn number(&mut self, mut number: u64) -> &mut Self {
        let mut digits = [0_u8; 20];
        let mut at = digits.len();
        loop {
            at -= 1;
            digits[at] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                break;
            }
        }
        self.buffer.extend_from_slice(&digits[at..]);
        self
    }

    /// Appends ` name="value"`.
    pub fn attribute(&mut self, name: &str, value: &str) -> &mut Self {
        self.raw(" ").raw(name).raw("=\"").text(value).raw("\"")
    }

    /// Appends `<name>text</name>`.
    pub fn element(&mut self, name: &str, text: &str) -> &mut Self {
        self.raw("<").raw(name).raw(">").text(text).raw("</").raw(name).raw(">")
    }
}

/// Appends `text` with markup escaped and characters that XML 1.0 forbids replaced by U+FFFD, so that data can never
/// make a document ill-formed. Tabs and line ends are written as references, so they survive attribute normalisation.
pub fn escape_into(out: &mut Vec<u8>, text: &str) {
    let bytes = text.as_bytes();
    if !bytes.iter().fold(false, |found, &byte| found | may_need_escaping(byte)) {
        out.extend_from_slice(bytes);
        return;
    }
    let mut from = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        let replacement: &[u8] = match byte {
            b'&' => b"&amp;",
            b'<' => b"&lt;",
            b'>' => b"&gt;",
            b'"' => b"&quot;",
            b'\t' => b"&#9;",
            b'\n' => b"&#10;",
            b'\r' => b"&#13;",
            0..0x20 => "\u{fffd}".as_bytes(),
            // U+FFFE and U+FFFF are EF BF BE and EF BF BF; their first two bytes are copied, and BD makes it U+FFFD.
            0xbe | 0xbf if at >= 2 && bytes[at - 2] == 0xef && bytes[at - 1] == 0xbf => b"\xbd",
            _ => continue,
        };
        out.extend_from_slice(&bytes[from..at]);
        out.extend_from_slice(replacement);
        from = at + 1;
    }
    out.extend_from_slice(&bytes[from..]);
}

/// Returns `text` escaped for character data or an attribute value.
pub fn escaped(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    escape_into(&mut out, text);
    String::from_utf8(out).expect("whole characters are replaced by whole characters")
}

/// Returns true if a byte could be, or be part of, a character to escape. Called for every byte without stopping at the
/// first one, which compilers translate to a few instructions for many bytes together: nearly all text has nothing to
/// escape.
fn may_need_escaping(byte: u8) -> bool {
    (byte < 0x20) | (byte == b'&') | (byte == b'<') | (byte == b'>') | (byte == b'"') | (byte == 0xef)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_escaped_and_illegal_characters_are_replaced() {
        assert_eq!(escaped("a<b>&\"c'"), "a&lt;b&gt;&amp;&quot;c'");
        assert_eq!(escaped("\0\u{1}\u{b}\u{1f}"), "\u{fffd}".repeat(4));
        assert_eq!(escaped("\t\n\r"), "&#9;&#10;&#13;");
        assert_eq!(escaped("\u{fffe}x\u{ffff}"), "\u{fffd}x\u{fffd}");
        assert_eq!(escaped("\u{fffd}\u{d7ff}\u{e000}\u{10ffff}é𝄞"), "\u{fffd}\u{d7ff}\u{e000}\u{10ffff}é𝄞");
    }

    #[test]
    fn the_buffer_is_handed_on_in_pieces() {
        let mut sink = Vec::new();
        let mut xml = XmlWriter::new(&mut sink);
        let mut longest = 0;
        for _ in 0..100_000 {
            xml.element("n", "1").number(10).relieve().expect("a Vec takes everything");
            longest = longest.max(xml.buffer.len());
        }
        let position = xml.position();
        xml.finish().expect("a Vec takes everything");
        assert_eq!(sink.len() as u64, position);
        assert!(longest < 2 * PIECE);
        assert!(sink.starts_with(b"<n>1</n>10<n>"));
    }
}
