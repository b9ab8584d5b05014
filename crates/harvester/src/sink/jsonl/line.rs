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
//! nor `namespaces`. `namespaces` are the declarations that the element inherits.

use std::io::{self, Write};

use super::super::gathered::{Gathered, GatheredPart};
use super::super::{Origin, Part};

/// The beginning of every line.
pub(super) const OPENING: &[u8] = b"{\"identifier\":";

/// Writes a record as a line. If a record has several metadata parts, which the protocol does not allow, the first is
/// written.
pub fn write_line(record: &mut Gathered, origin: &Origin, out: &mut dyn Write) -> io::Result<()> {
    let header = record.header();
    out.write_all(OPENING)?;
    write_string(&header.identifier, out)?;
    out.write_all(b",\"datestamp\":")?;
    write_string(&header.datestamp, out)?;
    write!(out, ",\"deleted\":{},\"sets\":[", header.deleted)?;
    for (at, set) in header.sets.iter().enumerate() {
        separate(at, out)?;
        write_string(set, out)?;
    }
    out.write_all(b"],\"format\":")?;
    write_string(&origin.prefix, out)?;
    out.write_all(b",\"source\":")?;
    write_string(&origin.base_url, out)?;
    write!(out, ",\"harvested\":\"{}\"", origin.harvested)?;
    if let Some(at) = record.parts().iter().position(|part| part.part == Part::Metadata) {
        out.write_all(b",")?;
        write_part(record, at, "metadata", out)?;
    }
    out.write_all(b",\"about\":[")?;
    let mut written = 0;
    for at in 0..record.parts().len() {
        if record.parts()[at].part == Part::About {
            separate(written, out)?;
            out.write_all(b"{")?;
            write_part(record, at, "xml", out)?;
            out.write_all(b"}")?;
            written += 1;
        }
    }
    out.write_all(b"]}\n")
}

fn write_part(record: &mut Gathered, at: usize, name: &str, out: &mut dyn Write) -> io::Result<()> {
    if record.parts()[at].is_text {
        write!(out, "\"{name}\":\"")?;
        let mut escaped = Vec::new();
        record.read(at, |piece| {
            escaped.clear();
            escape_into(&mut escaped, piece);
            out.write_all(&escaped)
        })?;
    } else {
        write!(out, "\"{name}_base64\":\"")?;
        record.write_base64(at, out)?;
    }
    out.write_all(b"\",\"namespaces\":{")?;
    let GatheredPart { namespaces, .. } = &record.parts()[at];
    for (at, (prefix, uri)) in namespaces.iter().enumerate() {
        separate(at, out)?;
        write_string(prefix, out)?;
        out.write_all(b":")?;
        write_string(uri, out)?;
    }
    out.write_all(b"}")
}

fn separate(at: usize, out: &mut dyn Write) -> io::Result<()> {
    if at > 0 { out.write_all(b",") } else { Ok(()) }
}

fn write_string(text: &str, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(out, text).map_err(io::Error::from)
}

/// Escapes a piece of a JSON string. Only ASCII characters are escaped, so a piece may begin and end within a
/// character.
fn escape_into(out: &mut Vec<u8>, piece: &[u8]) {
    let mut from = 0;
    for (at, &byte) in piece.iter().enumerate() {
        let escaped: &[u8] = match byte {
            b'"' => b"\\\"",
            b'\\' => b"\\\\",
            b'\n' => b"\\n",
            b'\r' => b"\\r",
            b'\t' => b"\\t",
            _ => continue,
        };
        out.extend_from_slice(&piece[from..at]);
        out.extend_from_slice(escaped);
        from = at + 1;
    }
    out.extend_from_slice(&piece[from..]);
}
