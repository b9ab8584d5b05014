//! One record as one line of JSON.
//!
//! ```json
//! {"identifier":"oai:example.org:1","datestamp":"2024-05-01T00:00:00Z","deleted":false,"sets":["physics"],
//!  "format":"oai_dc","source":"https://example.org/oai","harvested":"2024-06-01T12:00:00Z",
//!  "metadata":"<oai_dc:dc …>…</oai_dc:dc>","namespaces":{"":"http://www.openarchives.org/OAI/2.0/"},
//!  "about":[{"xml":"<provenance …/>","namespaces":{}}]}
//! ```
//!
//! (On one line.) `metadata` and `xml` are the exact bytes received. If those are not text that XML allows, the line
//! has `metadata_base64` or `xml_base64` instead, so nothing is lost. A record without metadata has neither `metadata`
//! nor `namespaces`. `namespaces` are the declarations that the element inherits. If a record has several metadata
//! elements, which the protocol does not allow, the second and later ones are in `more_metadata`, a list like `about`.

use std::io::{self, BufRead, Write};

use memchr::memchr2;
use modoai_protocol::Datestamp;

use crate::record::Header;
use crate::sink::gathered::Gathered;
use crate::sink::{Origin, Part};

/// The beginning of every line.
pub(super) const OPENING: &[u8] = b"{\"identifier\":";
/// The number of bytes that are escaped or read at a time. A multiple of four, so that pieces of base64 can be decoded.
const PIECE: usize = 64 * 1024;

/// Writes a record as a line.
pub fn write_line(record: &mut Gathered, origin: &Origin, out: &mut dyn Write) -> io::Result<()> {
    let mut line = LineWriter { text: Vec::with_capacity(4096), out };
    let header = record.header();
    line.field("{\"identifier\":", &header.identifier);
    line.field(",\"datestamp\":", &header.datestamp);
    line.put(if header.deleted { ",\"deleted\":true,\"sets\":[" } else { ",\"deleted\":false,\"sets\":[" });
    for (at, set) in header.sets.iter().enumerate() {
        line.field(if at > 0 { "," } else { "" }, set);
    }
    line.field("],\"format\":", &origin.prefix);
    line.field(",\"source\":", &origin.base_url);
    line.put(",\"harvested\":\"");
    line.text.extend_from_slice(&origin.harvested.to_bytes());
    line.put("\"");
    let first = record.parts().iter().position(|part| part.part == Part::Metadata);
    if let Some(at) = first {
        line.part(",\"metadata", record, at)?;
    }
    line.put(",\"about\":[");
    line.parts(Part::About, record, None)?;
    if record.parts().iter().filter(|part| part.part == Part::Metadata).count() > 1 {
        line.put("],\"more_metadata\":[");
        line.parts(Part::Metadata, record, first)?;
    }
    line.put("]}\n");
    line.out.write_all(&line.text)
}

/// Writes the parts of a line.
struct LineWriter<'a> {
    /// What is not written yet.
    text: Vec<u8>,
    out: &'a mut dyn Write,
}

impl LineWriter<'_> {
    fn put(&mut self, text: &str) {
        self.text.extend_from_slice(text.as_bytes());
    }

    /// Writes a name and a string.
    fn field(&mut self, name: &str, value: &str) {
        self.put(name);
        if value.bytes().any(is_escaped) {
            self.text.extend_from_slice(serde_json::Value::from(value).to_string().as_bytes());
            return;
        }
        for text in ["\"", value, "\""] {
            self.put(text);
        }
    }

    /// Writes all parts of a kind except one, as a list.
    fn parts(&mut self, kind: Part, record: &mut Gathered, except: Option<usize>) -> io::Result<()> {
        let mut separator = "{\"xml";
        for at in 0..record.parts().len() {
            if record.parts()[at].part == kind && Some(at) != except {
                self.part(separator, record, at)?;
                self.put("}");
                separator = ",{\"xml";
            }
        }
        Ok(())
    }

    /// Writes a part after the beginning of its name.
    fn part(&mut self, name: &str, record: &mut Gathered, at: usize) -> io::Result<()> {
        let is_text = record.parts()[at].is_text;
        self.put(name);
        self.put(if is_text { "\":\"" } else { "_base64\":\"" });
        let Self { text, out } = self;
        record.read(at, |piece| {
            match is_text {
                true => escape_into(text, piece),
                false => text.extend_from_slice(base64_simd::STANDARD.encode_to_string(piece).as_bytes()),
            }
            if text.len() > PIECE {
                out.write_all(text)?;
                text.clear();
            }
            Ok(())
        })?;
        self.put("\",\"namespaces\":{");
        for (at, (prefix, uri)) in record.parts()[at].namespaces.iter().enumerate() {
            self.field(if at > 0 { "," } else { "" }, prefix);
            self.field(":", uri);
        }
        self.put("}");
        Ok(())
    }
}

/// Returns true if JSON requires that the byte is escaped.
fn is_escaped(byte: u8) -> bool {
    (byte < 0x20) | (byte == b'"') | (byte == b'\\')
}

/// Escapes a piece of a JSON string. Only ASCII characters are escaped, so a piece may begin and end within a
/// character.
fn escape_into(out: &mut Vec<u8>, piece: &[u8]) {
    // Most blocks contain nothing to escape, and this check compares many bytes in parallel.
    const BLOCK: usize = 32;
    out.reserve(piece.len() + piece.len() / 16);
    for block in piece.chunks(BLOCK) {
        let found = block.iter().fold(false, |found, &byte| found | is_escaped(byte));
        if !found {
            out.extend_from_slice(block);
            continue;
        }
        for &byte in block {
            match ESCAPES.iter().find(|(plain, _)| *plain == byte) {
                Some((_, letter)) => out.extend_from_slice(&[b'\\', *letter]),
                None => out.push(byte),
            }
        }
    }
}

/// The characters that are escaped in content, and the letters after the backslash. XML allows no other control
/// characters.
const ESCAPES: [(u8, u8); 5] = [(b'"', b'"'), (b'\\', b'\\'), (b'\n', b'n'), (b'\r', b'r'), (b'\t', b't')];

/// Reads the identifier from the beginning of a line.
pub(super) fn read_identifier(source: &mut impl BufRead) -> io::Result<String> {
    LineReader { source }.field("{\"identifier\":")
}

/// Reads a line that [`write_line`] wrote.
pub(super) fn read_line(source: &mut impl BufRead, record: &mut Gathered) -> io::Result<Origin> {
    let mut line = LineReader { source };
    let identifier = line.field("{\"identifier\":")?;
    let datestamp = line.field(",\"datestamp\":")?;
    line.expect(",\"deleted\":")?;
    let deleted = line.next_is(b't')?;
    line.expect(if deleted { "true" } else { "false" })?;
    let mut header = Header { identifier, datestamp, sets: Vec::new(), deleted };
    line.expect(",\"sets\":[")?;
    line.list(b']', |line| {
        header.sets.push(line.string()?);
        Ok(())
    })?;
    record.begin(&header)?;
    let prefix = line.field(",\"format\":")?;
    let base_url = line.field(",\"source\":")?;
    let harvested = Datestamp::parse(&line.field(",\"harvested\":")?).ok_or_else(|| invalid("a datestamp"))?;
    line.expect(",")?;
    line.expect("\"")?;
    if line.next_is(b'm')? {
        line.expect("metadata")?;
        line.part(Part::Metadata, record)?;
        line.expect(",\"")?;
    }
    line.expect("about\":[")?;
    line.list(b']', |line| line.part_in_list(Part::About, record))?;
    if line.next_is(b',')? {
        line.expect(",\"more_metadata\":[")?;
        line.list(b']', |line| line.part_in_list(Part::Metadata, record))?;
    }
    line.expect("}\n")?;
    Ok(Origin { base_url, prefix, schema: String::new(), namespace: String::new(), harvested })
}

/// Reads the parts of a line in the order in which [`write_line`] writes them. A JSON parser would hold a large record in
/// memory.
struct LineReader<'a, R> {
    source: &'a mut R,
}

impl<R: BufRead> LineReader<'_, R> {
    fn part_in_list(&mut self, kind: Part, record: &mut Gathered) -> io::Result<()> {
        self.expect("{\"xml")?;
        self.part(kind, record)?;
        self.expect("}")
    }

    /// Reads a part whose name was read up to its end or `_base64`.
    fn part(&mut self, kind: Part, record: &mut Gathered) -> io::Result<()> {
        let is_base64 = self.next_is(b'_')?;
        self.expect(if is_base64 { "_base64\":\"" } else { "\":\"" })?;
        record.part(kind, []);
        self.content(|piece| match is_base64 {
            false => record.bytes(piece),
            true => record.bytes(&base64_simd::STANDARD.decode_to_vec(piece).map_err(|_| invalid("base64"))?),
        })?;
        self.expect(",\"namespaces\":{")?;
        self.list(b'}', |line| {
            let prefix = line.string()?;
            record.declare(prefix, line.field(":")?);
            Ok(())
        })?;
        record.part_end();
        Ok(())
    }

    /// Passes the rest of a string to `take`, in pieces.
    fn content(&mut self, mut take: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        let mut piece = Vec::new();
        loop {
            let available = self.available()?;
            let room = &available[..available.len().min(PIECE - piece.len())];
            let length = memchr2(b'"', b'\\', room).unwrap_or(room.len());
            piece.extend_from_slice(&room[..length]);
            let is_special = length < room.len();
            self.source.consume(length);
            if is_special {
                match self.byte()? {
                    b'"' => return take(&piece),
                    _ => {
                        let letter = self.byte()?;
                        let plain = ESCAPES.iter().find(|(_, known)| *known == letter);
                        piece.push(plain.ok_or_else(|| invalid("an escaped character"))?.0);
                    }
                }
            }
            if piece.len() == PIECE {
                take(&piece)?;
                piece.clear();
            }
        }
    }

    /// Reads a name and the string that follows.
    fn field(&mut self, name: &str) -> io::Result<String> {
        self.expect(name)?;
        self.string()
    }

    fn string(&mut self) -> io::Result<String> {
        let mut text = vec![self.byte()?];
        loop {
            match self.byte()? {
                b'"' => break text.push(b'"'),
                b'\\' => text.extend([b'\\', self.byte()?]),
                byte => text.push(byte),
            }
        }
        serde_json::from_slice(&text).map_err(|_| invalid("a string"))
    }

    /// Reads a list after its beginning, up to and including this end.
    fn list(&mut self, end: u8, mut item: impl FnMut(&mut Self) -> io::Result<()>) -> io::Result<()> {
        while !self.next_is(end)? {
            if self.next_is(b',')? {
                self.byte()?;
            }
            item(self)?;
        }
        self.byte().map(drop)
    }

    fn next_is(&mut self, byte: u8) -> io::Result<bool> {
        Ok(self.available()?[0] == byte)
    }

    fn byte(&mut self) -> io::Result<u8> {
        let byte = self.available()?[0];
        self.source.consume(1);
        Ok(byte)
    }

    fn expect(&mut self, text: &str) -> io::Result<()> {
        text.bytes().try_for_each(|byte| if self.byte()? == byte { Ok(()) } else { Err(invalid(text)) })
    }

    /// Returns the bytes that follow; at least one.
    fn available(&mut self) -> io::Result<&[u8]> {
        match self.source.fill_buf()? {
            [] => Err(io::ErrorKind::UnexpectedEof.into()),
            bytes => Ok(bytes),
        }
    }
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("expected {what}"))
}
