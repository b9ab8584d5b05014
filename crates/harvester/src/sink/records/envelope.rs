//! The fields of a record inside a frame. The meaning of the letters is documented in [the parent module](super).

use std::io::Write as _;

use modoai_protocol::Datestamp;

use crate::record::Header;
use crate::sink::{Origin, Part};

pub(super) const RECORD: u8 = b'r';
pub(super) const METADATA: u8 = b'm';
pub(super) const ABOUT: u8 = b'a';
pub(super) const NAMESPACE: u8 = b'n';
pub(super) const BYTES: u8 = b'b';
pub(super) const END: u8 = b'e';
const DATESTAMP: u8 = b'd';
const SET: u8 = b's';
const DELETED: u8 = b'x';
const BASE_URL: u8 = b'U';
const PREFIX: u8 = b'P';
const SCHEMA: u8 = b'S';
const FORMAT_NAMESPACE: u8 = b'N';
const HARVESTED: u8 = b'H';

/// The number of digits in the size of a piece of bytes: the size is filled in when the piece is complete.
const DIGITS: usize = 8;

/// Appends a field.
pub(super) fn put(out: &mut Vec<u8>, letter: u8, value: &[u8]) {
    out.push(letter);
    write!(out, "{}", value.len()).expect("writing to a Vec cannot fail");
    out.push(b':');
    out.extend_from_slice(value);
    out.push(b'\n');
}

/// Appends the fields of an origin.
pub(super) fn put_origin(out: &mut Vec<u8>, origin: &Origin) {
    put(out, BASE_URL, origin.base_url.as_bytes());
    put(out, PREFIX, origin.prefix.as_bytes());
    put(out, SCHEMA, origin.schema.as_bytes());
    put(out, FORMAT_NAMESPACE, origin.namespace.as_bytes());
    put(out, HARVESTED, &origin.harvested.to_bytes());
}

/// Appends the fields of a header.
pub(super) fn put_header(out: &mut Vec<u8>, header: &Header) {
    put(out, RECORD, header.identifier.as_bytes());
    put(out, DATESTAMP, header.datestamp.as_bytes());
    for set in &header.sets {
        put(out, SET, set.as_bytes());
    }
    if header.deleted {
        put(out, DELETED, b"");
    }
}

/// Appends the beginning of a part.
pub(super) fn put_part(out: &mut Vec<u8>, part: Part, namespaces: &[(&str, &str)]) {
    let letter = match part {
        Part::Metadata => METADATA,
        Part::About => ABOUT,
    };
    put(out, letter, b"");
    for (prefix, uri) in namespaces {
        out.push(NAMESPACE);
        write!(out, "{}", prefix.len() + 1 + uri.len()).expect("writing to a Vec cannot fail");
        out.push(b':');
        out.extend_from_slice(prefix.as_bytes());
        out.push(b'=');
        out.extend_from_slice(uri.as_bytes());
        out.push(b'\n');
    }
}

/// Starts a field of bytes whose size is not known yet. Returns the argument for [`close_bytes`].
pub(super) fn open_bytes(out: &mut Vec<u8>) -> usize {
    out.push(BYTES);
    out.extend_from_slice(&[b'0'; DIGITS]);
    out.push(b':');
    out.len()
}

/// Ends a field of bytes.
pub(super) fn close_bytes(out: &mut Vec<u8>, from: usize) {
    let mut size = out.len() - from;
    for place in (from - 1 - DIGITS..from - 1).rev() {
        out[place] = b'0' + (size % 10) as u8;
        size /= 10;
    }
    debug_assert_eq!(size, 0, "a piece is smaller than a frame");
    out.push(b'\n');
}

/// A field that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Field<'a> {
    pub(super) letter: u8,
    pub(super) value: &'a [u8],
    /// The offset of the value in the frame.
    pub(super) at: usize,
    /// The offset of the next field.
    pub(super) next: usize,
}

/// Returns the field at this offset of a frame, if it is complete.
pub(super) fn field(content: &[u8], at: usize) -> Option<Field<'_>> {
    let letter = *content.get(at)?;
    let mut size = 0_usize;
    let mut place = at + 1;
    loop {
        match *content.get(place)? {
            digit @ b'0'..=b'9' if place - at <= 9 => size = size * 10 + usize::from(digit - b'0'),
            b':' if place > at + 1 => break,
            _ => return None,
        }
        place += 1;
    }
    let start = place + 1;
    let value = content.get(start..start.checked_add(size)?)?;
    (content.get(start + size) == Some(&b'\n')).then_some(Field { letter, value, at: start, next: start + size + 1 })
}

fn text(value: &[u8]) -> Option<&str> {
    std::str::from_utf8(value).ok()
}

fn set_text(out: &mut String, value: &[u8]) -> Option<()> {
    out.clear();
    out.push_str(text(value)?);
    Some(())
}

/// Reads the origin at the beginning of a frame. Returns the offset of the first record.
pub(super) fn read_origin(content: &[u8], origin: &mut Origin) -> Option<usize> {
    let mut at = 0;
    while at < content.len() {
        let field = field(content, at)?;
        match field.letter {
            BASE_URL => set_text(&mut origin.base_url, field.value)?,
            PREFIX => set_text(&mut origin.prefix, field.value)?,
            SCHEMA => set_text(&mut origin.schema, field.value)?,
            FORMAT_NAMESPACE => set_text(&mut origin.namespace, field.value)?,
            HARVESTED => origin.harvested = Datestamp::parse(text(field.value)?)?,
            RECORD => break,
            _ => return None,
        }
        at = field.next;
    }
    Some(at)
}

/// Reads a header. Returns the offset of its parts.
pub(super) fn read_header(content: &[u8], at: usize, header: &mut Header) -> Option<usize> {
    let first = field(content, at).filter(|field| field.letter == RECORD)?;
    set_text(&mut header.identifier, first.value)?;
    header.datestamp.clear();
    header.sets.clear();
    header.deleted = false;
    let mut at = first.next;
    while at < content.len() {
        let field = field(content, at)?;
        match field.letter {
            DATESTAMP => set_text(&mut header.datestamp, field.value)?,
            SET => header.sets.push(text(field.value)?.to_owned()),
            DELETED => header.deleted = true,
            _ => break,
        }
        at = field.next;
    }
    Some(at)
}

/// Splits the value of a namespace field into prefix and URI.
pub(super) fn read_namespace(value: &[u8]) -> Option<(String, String)> {
    let (prefix, uri) = text(value)?.split_once('=')?;
    Some((prefix.to_owned(), uri.to_owned()))
}

/// The end of a record, relative to its frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// The record ends in this frame, before this offset.
    Ends(usize),
    /// The record continues in the next frame.
    GoesOn,
}

/// Reads the parts of a record until the record or the frame ends.
pub(super) fn extent(content: &[u8], mut at: usize) -> Option<Extent> {
    while at < content.len() {
        let field = field(content, at)?;
        match field.letter {
            END => return Some(Extent::Ends(field.next)),
            METADATA | ABOUT | NAMESPACE | BYTES => at = field.next,
            _ => return None,
        }
    }
    Some(Extent::GoesOn)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_as_they_were_written_and_never_half() {
        let mut out = Vec::new();
        put(&mut out, RECORD, b"a:1\nb");
        let from = open_bytes(&mut out);
        out.extend_from_slice(b"<x/>\n");
        close_bytes(&mut out, from);
        assert_eq!(out, b"r5:a:1\nb\nb00000005:<x/>\n\n");
        let first = field(&out, 0).expect("a field");
        assert_eq!((first.letter, first.value), (RECORD, b"a:1\nb".as_slice()));
        let second = field(&out, first.next).expect("a field");
        assert_eq!((second.letter, second.value, second.next), (BYTES, b"<x/>\n".as_slice(), out.len()));
        for cut in 0..out.len() {
            assert_eq!(field(&out[..cut], first.next), None);
        }
    }

    #[test]
    fn what_is_no_field_is_none() {
        for bytes in ["", "r", "r:", "r1", "r1:", "r1:a", "r1:ab", "r-1:\n", "rx:\n", "r9999999999:a\n", "r 1:a\n"] {
            assert_eq!(field(bytes.as_bytes(), 0), None, "{bytes}");
        }
    }
}
