//! Reads the text before the root element. It is held until the root element has been received, because only then is it
//! certain that this is a response, and which text belongs to it.

use std::ops::Range;

use memchr::{memchr, memmem};

use super::around::{Opening, opening};
use super::doctype::Doctype;
use super::{Remedies, Repairs, is_space};
use crate::quirks::{self, Quirk};

/// The root element must begin within this many bytes.
const LIMIT: usize = 256 * 1024;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Holds the text before the root element.
pub(super) struct Prolog {
    remedies: Remedies,
    held: Vec<u8>,
    /// The offset of the present item.
    at: usize,
    /// The offset up to which it was read.
    seen: usize,
    item: Item,
    cuts: Vec<(Range<usize>, &'static Quirk)>,
    declarations: Vec<Range<usize>>,
    pub(super) repairs: Repairs,
}

#[derive(Clone, Copy)]
enum Item {
    /// Whitespace, or nothing yet.
    Space,
    Comment,
    Declaration,
    Instruction,
    Doctype(Doctype),
    /// Text that does not belong there, until an item does.
    Junk,
}

/// The result of reading the prolog.
pub(super) enum Found {
    /// The start of a response: the part of the prolog that is kept, and of the root element the bytes received so far.
    Root {
        bytes: Vec<u8>,
        /// The XML declaration.
        declaration: Declaration,
    },
    /// Not a response.
    Nothing { bytes: Vec<u8> },
}

/// The encoding in an XML declaration.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Declaration {
    /// The declared name of the encoding.
    pub(super) encoding: Option<String>,
    /// True if the parser does not accept that name, so that it was replaced by `UTF-8`.
    pub(super) rewritten: bool,
    /// True if the text begins with the byte order mark of UTF-8.
    pub(super) has_mark: bool,
}

impl Prolog {
    pub(super) fn new(remedies: Remedies) -> Self {
        Self {
            remedies,
            held: Vec::new(),
            at: 0,
            seen: 0,
            item: Item::Space,
            cuts: Vec::new(),
            declarations: Vec::new(),
            repairs: Repairs::default(),
        }
    }

    /// Reads a piece. Returns the result, if it is clear now, and the rest of `bytes` after it.
    pub(super) fn push<'b>(&mut self, bytes: &'b [u8]) -> (Option<Found>, &'b [u8]) {
        let (bytes, rest) = bytes.split_at(bytes.len().min(LIMIT - self.held.len()));
        self.held.extend_from_slice(bytes);
        if self.walk(false) {
            return (Some(self.root()), rest);
        }
        if self.held.len() == LIMIT {
            return (Some(self.finish()), rest);
        }
        (None, rest)
    }

    /// Returns the result at the end of the input.
    pub(super) fn finish(&mut self) -> Found {
        if self.walk(true) {
            return self.root();
        }
        Found::Nothing { bytes: std::mem::take(&mut self.held) }
    }

    pub(super) fn held(&self) -> usize {
        self.held.capacity()
    }

    /// Reads item by item; returns true if the root element was reached.
    fn walk(&mut self, is_all: bool) -> bool {
        loop {
            let next = match self.item {
                Item::Space => {
                    let rest = &self.held[self.at..];
                    let is_mark = self.at == 0 && !rest.is_empty();
                    if is_mark && rest.starts_with(BYTE_ORDER_MARK) {
                        self.at = BYTE_ORDER_MARK.len();
                        continue;
                    }
                    if is_mark && BYTE_ORDER_MARK.starts_with(rest) && !is_all {
                        return false;
                    }
                    self.at += rest.iter().position(|byte| !is_space(*byte)).unwrap_or(rest.len());
                    self.seen = self.at;
                    match opening(&self.held[self.at..]) {
                        Opening::Root => return true,
                        Opening::Unclear if !is_all || self.at == self.held.len() => return false,
                        Opening::Comment => Item::Comment,
                        Opening::Declaration => Item::Declaration,
                        Opening::Instruction => Item::Instruction,
                        Opening::Doctype => Item::Doctype(Doctype::new()),
                        Opening::Unclear | Opening::Other => Item::Junk,
                    }
                }
                Item::Comment => match self.end(4, b"-->") {
                    Some(_) => Item::Space,
                    None => return false,
                },
                Item::Instruction => match self.end(2, b"?>") {
                    Some(_) => Item::Space,
                    None => return false,
                },
                Item::Declaration => match self.end(2, b"?>") {
                    Some(range) => {
                        self.declarations.push(range);
                        Item::Space
                    }
                    None => return false,
                },
                Item::Doctype(mut doctype) => {
                    self.seen = self.seen.max(self.at + b"<!DOCTYPE".len());
                    let end = self.held[self.seen..].iter().position(|byte| doctype.ends_with(*byte));
                    let Some(end) = end.map(|end| self.seen + end + 1) else {
                        self.seen = self.held.len();
                        self.item = Item::Doctype(doctype);
                        return false;
                    };
                    if doctype.defines && self.remedies.contains(Remedies::DOCTYPE) {
                        self.cuts.push((self.at..end, quirks::DOCUMENT_TYPE));
                    }
                    (self.at, self.seen) = (end, end);
                    Item::Space
                }
                Item::Junk => match self.end_of_junk() {
                    Some(end) => {
                        if self.remedies.contains(Remedies::AROUND) {
                            self.cuts.push((self.at..end, quirks::JUNK_AROUND));
                        }
                        (self.at, self.seen) = (end, end);
                        Item::Space
                    }
                    None => return false,
                },
            };
            self.item = next;
        }
    }

    /// Returns the range of the item, if its end has been received, and skips it. The end cannot overlap the first
    /// bytes.
    fn end(&mut self, opening: usize, end: &[u8]) -> Option<Range<usize>> {
        let from = self.seen.max(self.at + opening);
        match memmem::find(&self.held[from..], end) {
            Some(found) => {
                let range = self.at..from + found + end.len();
                (self.at, self.seen) = (range.end, range.end);
                Some(range)
            }
            None => {
                self.seen = from.max(self.held.len().saturating_sub(end.len() - 1));
                None
            }
        }
    }

    /// Returns the offset of the next item that certainly belongs to a response.
    fn end_of_junk(&mut self) -> Option<usize> {
        // The first byte was already found not to belong there.
        self.seen = self.seen.max(self.at + 1);
        while let Some(found) = memchr(b'<', &self.held[self.seen..]) {
            self.seen += found;
            match opening(&self.held[self.seen..]) {
                Opening::Root | Opening::Declaration => return Some(self.seen),
                Opening::Unclear => return None,
                _ => self.seen += 1,
            }
        }
        self.seen = self.held.len();
        None
    }

    /// Returns the kept part of the prolog, now that the root element has been received.
    fn root(&mut self) -> Found {
        let held = std::mem::take(&mut self.held);
        let mut cuts: Vec<(Range<usize>, &[u8])> = Vec::new();
        for (range, quirk) in std::mem::take(&mut self.cuts) {
            self.repairs.add(quirk, 1);
            cuts.push((range, b""));
        }
        let mut declaration = Declaration { has_mark: held.starts_with(BYTE_ORDER_MARK), ..Declaration::default() };
        // Of two declarations, the one next to the root element is that of the response.
        let declarations = std::mem::take(&mut self.declarations);
        for (label, range) in declarations.into_iter().filter_map(|range| declared(&held, range)) {
            let taken = ["UTF-8", "UTF8", "US-ASCII", "ASCII"];
            if !taken.iter().any(|taken| label.eq_ignore_ascii_case(taken)) {
                declaration.rewritten = true;
                if self.remedies.contains(Remedies::ENCODING) {
                    cuts.push((range, b"UTF-8"));
                }
            }
            declaration.encoding = Some(label);
        }
        cuts.sort_by_key(|(range, _)| range.start);
        let mut bytes = Vec::with_capacity(held.len() + 8);
        let mut from = 0;
        for (range, instead) in cuts {
            bytes.extend_from_slice(&held[from..range.start]);
            bytes.extend_from_slice(instead);
            from = range.end;
        }
        bytes.extend_from_slice(&held[from..]);
        Found::Root { bytes, declaration }
    }
}

/// Returns the encoding in an XML declaration, and its range.
fn declared(held: &[u8], declaration: Range<usize>) -> Option<(String, Range<usize>)> {
    let text = &held[declaration.clone()];
    for found in memmem::find_iter(text, b"encoding") {
        let after = &text[found + b"encoding".len()..];
        let Some(value) = after.trim_ascii_start().strip_prefix(b"=").map(<[u8]>::trim_ascii_start) else { continue };
        let Some((quote @ (b'"' | b'\''), value)) = value.split_first() else { continue };
        let length = memchr(*quote, value)?;
        let start = declaration.end - value.len();
        return Some((String::from_utf8_lossy(&value[..length]).into_owned(), start..start + length));
    }
    None
}
