//! Encodes the references of a page: half a million links take a few megabytes.
//!
//! One reference: kind, line (as the difference to the previous one), the number of the target or its text, fragment,
//! text. Numbers are of variable length, and the whole is compressed. Reading it copies no strings.

use crate::reference::{Kind, Reference, Target};

/// The tags that describe what is stored of a target in addition to its number.
const WEB: u8 = 0;
const WEB_WITH_FRAGMENT: u8 = 1;
const MAIL: u8 = 2;
const BAD_MAIL: u8 = 3;
const ELSEWHERE: u8 = 4;
const INVALID: u8 = 5;
/// Added to any of them if the URL has whitespace around it.
const PADDED: u8 = 0x80;

/// One level above the lowest: twice as fast as the default, and at most a tenth larger.
const LEVEL: i32 = 1;
/// The maximum size of decompressed references, more than any page needs; a damaged store must not cause a huge
/// allocation.
const MOST: usize = 256 * 1024 * 1024;

/// A reference from the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kept<'a> {
    pub(crate) kind: Kind,
    pub(crate) line: u32,
    pub(crate) text: &'a str,
    pub(crate) target: KeptTarget<'a>,
    /// True if the URL has whitespace around it.
    pub(crate) is_padded: bool,
}

/// The target of a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeptTarget<'a> {
    Node { id: u32, fragment: Option<&'a str> },
    Mail { url: &'a str, fault: Option<&'a str> },
    Elsewhere { url: &'a str },
    Invalid { text: &'a str, fault: &'a str },
}

/// References that are being encoded.
#[derive(Default)]
pub(crate) struct Packer {
    bytes: Vec<u8>,
    line: u32,
}

impl Packer {
    /// Adds a reference; `node` is the number of its target, if that is on the web.
    pub(crate) fn push(&mut self, reference: &Reference, node: Option<u32>) {
        self.bytes.push(reference.kind as u8);
        let step = i64::from(reference.line) - i64::from(self.line);
        self.line = reference.line;
        self.number(((step << 1) ^ (step >> 63)) as u64);
        self.string(&reference.text);
        let padded = if reference.is_padded { PADDED } else { 0 };
        match (&reference.target, node) {
            (Target::Web { fragment: None, .. }, Some(node)) => {
                self.bytes.push(padded | WEB);
                self.number(node.into());
            }
            (Target::Web { fragment: Some(fragment), .. }, Some(node)) => {
                self.bytes.push(padded | WEB_WITH_FRAGMENT);
                self.number(node.into());
                self.string(fragment);
            }
            (Target::Mail { url, fault: None }, _) => self.other(padded | MAIL, &[url]),
            (Target::Mail { url, fault: Some(fault) }, _) => self.other(padded | BAD_MAIL, &[url, fault]),
            (Target::Invalid { text, fault }, _) => self.other(padded | INVALID, &[text, fault]),
            (Target::Elsewhere { url } | Target::Web { url, .. }, _) => self.other(padded | ELSEWHERE, &[url]),
        }
    }

    /// Returns the compressed bytes.
    pub(crate) fn finish(self) -> std::io::Result<Vec<u8>> {
        zstd::bulk::compress(&self.bytes, LEVEL)
    }

    fn other(&mut self, tag: u8, texts: &[&str]) {
        self.bytes.push(tag);
        for text in texts {
            self.string(text);
        }
    }

    fn string(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.bytes.extend_from_slice(text.as_bytes());
    }

    fn number(&mut self, number: u64) {
        push_number(&mut self.bytes, number);
    }
}

/// Decompresses references. A damaged store results in none.
pub(crate) fn unpack(stored: &[u8]) -> Vec<u8> {
    let Ok(Some(size)) = zstd::zstd_safe::get_frame_content_size(stored) else { return Vec::new() };
    let size = usize::try_from(size).unwrap_or(MOST).min(MOST);
    zstd::bulk::decompress(stored, size).unwrap_or_default()
}

/// Reads references from decompressed bytes. Invalid data ends the list.
pub(crate) fn references(bytes: &[u8]) -> impl Iterator<Item = Kept<'_>> {
    let mut rest = bytes;
    let mut line = 0_i64;
    std::iter::from_fn(move || {
        let kind = Kind::from_code(take(&mut rest)?)?;
        let step = take_number(&mut rest)?;
        line += ((step >> 1) as i64) ^ -((step & 1) as i64);
        let text = take_string(&mut rest)?;
        let tag = take(&mut rest)?;
        let target = match tag & !PADDED {
            WEB => KeptTarget::Node { id: take_number(&mut rest)? as u32, fragment: None },
            WEB_WITH_FRAGMENT => {
                KeptTarget::Node { id: take_number(&mut rest)? as u32, fragment: Some(take_string(&mut rest)?) }
            }
            MAIL => KeptTarget::Mail { url: take_string(&mut rest)?, fault: None },
            BAD_MAIL => KeptTarget::Mail { url: take_string(&mut rest)?, fault: Some(take_string(&mut rest)?) },
            ELSEWHERE => KeptTarget::Elsewhere { url: take_string(&mut rest)? },
            INVALID => KeptTarget::Invalid { text: take_string(&mut rest)?, fault: take_string(&mut rest)? },
            _ => return None,
        };
        let is_padded = tag & PADDED != 0;
        Some(Kept { kind, line: u32::try_from(line).unwrap_or(0), text, target, is_padded })
    })
}

/// Appends a number of variable length.
pub(crate) fn push_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Removes a number from the front.
pub(crate) fn take_number(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let byte = take(rest)?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

fn take(rest: &mut &[u8]) -> Option<u8> {
    let (first, others) = rest.split_first()?;
    *rest = others;
    Some(*first)
}

fn take_string<'a>(rest: &mut &'a [u8]) -> Option<&'a str> {
    let length = usize::try_from(take_number(rest)?).ok()?;
    let (text, others) = rest.split_at_checked(length)?;
    *rest = others;
    std::str::from_utf8(text).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn reference(kind: Kind, line: u32, text: &str, target: Target) -> Reference {
        Reference { kind, line, text: text.into(), target, is_padded: line == 500 }
    }

    #[test]
    fn references_survive_the_store() {
        let web = |fragment: Option<&str>| Target::Web { url: "http://a/".into(), fragment: fragment.map(Into::into) };
        let all = [
            (reference(Kind::Anchor, 7, "Räume", web(None)), Some(3)),
            (reference(Kind::Image, 5, "", web(Some("x%20y"))), Some(900_000)),
            (reference(Kind::Anchor, 500, "", Target::Mail { url: "mailto:x".into(), fault: Some("no @") }), None),
            (reference(Kind::Anchor, 500, "", Target::Mail { url: "mailto:x@y".into(), fault: None }), None),
            (reference(Kind::Anchor, 501, "", Target::Elsewhere { url: "tel:1".into() }), None),
            (reference(Kind::Anchor, 0, "", Target::Invalid { text: "http://[".into(), fault: "no host" }), None),
        ];
        let mut packer = Packer::default();
        for (reference, node) in &all {
            packer.push(reference, *node);
        }
        let bytes = unpack(&packer.finish().expect("compressed"));
        let back: Vec<_> = references(&bytes).collect();
        assert_eq!(back.len(), all.len());
        for (kept, (reference, node)) in back.iter().zip(&all) {
            assert_eq!((kept.kind, kept.line, kept.text), (reference.kind, reference.line, &*reference.text));
            assert_eq!(kept.is_padded, reference.is_padded);
            match (kept.target, &reference.target) {
                (KeptTarget::Node { id, fragment }, Target::Web { fragment: was, .. }) => {
                    assert_eq!((Some(id), fragment), (*node, was.as_deref()));
                }
                (KeptTarget::Mail { url, fault }, Target::Mail { url: was, fault: flaw }) => {
                    assert_eq!((url, fault), (&**was, *flaw));
                }
                (KeptTarget::Elsewhere { url }, Target::Elsewhere { url: was }) => assert_eq!(url, &**was),
                (KeptTarget::Invalid { text, fault }, Target::Invalid { text: was, fault: flaw }) => {
                    assert_eq!((text, fault), (&**was, *flaw));
                }
                (kept, was) => panic!("{was:?} became {kept:?}"),
            }
        }
    }

    proptest! {
        #[test]
        fn a_damaged_store_does_no_harm(bytes: Vec<u8>) {
            let _ = references(&unpack(&bytes)).count();
            let _ = references(&bytes).count();
        }

        #[test]
        fn numbers_survive(number: u64) {
            let mut bytes = Vec::new();
            push_number(&mut bytes, number);
            prop_assert_eq!(take_number(&mut bytes.as_slice()), Some(number));
        }
    }
}
