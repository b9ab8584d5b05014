//! Splits HTML and XML into tags and text: the only module that uses the tokenizer.
//!
//! The tokenizer is that of the HTML standard (html5gum), so tags are the same as in a browser, even with invalid
//! markup. XML is read by it too, with other settings: many feeds are not well-formed, and a page must not lose its
//! references because of a stray ampersand. No tree is built. Memory use does not grow with nesting, and of a tag only
//! the [attributes](super::attributes) in use are kept.

use std::convert::Infallible;
use std::mem::swap;
use std::ops::Range;

use html5gum::{Emitter, Error, State, Tokenizer};

use super::attributes::Attribute;

/// Receives the tags and text of a document, in order.
pub(super) trait Visitor {
    /// A start tag. Returns the way in which the text after it is read.
    fn open(&mut self, tag: &Tag<'_>) -> Content;

    /// A piece of text, with entities resolved.
    fn text(&mut self, text: &[u8]);

    /// An end tag. In XML it follows an empty element too.
    fn close(&mut self, name: &[u8]);
}

/// The way in which the text after a start tag is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// Markup, the default.
    Markup,
    /// Text with entities (`title`).
    Text,
    /// Text without entities (`style`).
    Raw,
    /// A script.
    Script,
    /// Text without an end tag.
    Plain,
}

/// The rules of a markup language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// The rules of HTML.
    Html,
    /// The rules of XML: CDATA sections, empty elements, and no elements with special content.
    Xml,
}

/// A start tag. Names are in lower case.
pub(super) struct Tag<'a> {
    /// Its name, with its prefix if it has one.
    pub name: &'a [u8],
    /// The position of its `<`.
    pub start: usize,
    /// The position of its end.
    pub end: usize,
    /// The number of enclosing `svg` and `math` elements.
    pub foreign: usize,
    attributes: &'a [(Attribute, Range<usize>)],
    values: &'a [u8],
}

impl Tag<'_> {
    /// Returns the name without its prefix: XHTML and SVG may be written with one.
    pub(super) fn local_name(&self) -> &[u8] {
        local(self.name)
    }

    /// Returns its attributes that are in use, each once.
    pub(super) fn attributes(&self) -> impl Iterator<Item = (Attribute, &str)> {
        self.attributes.iter().map(|(attribute, place)| (*attribute, legible(&self.values[place.clone()])))
    }

    /// Returns the value of an attribute.
    pub(super) fn value(&self, wanted: Attribute) -> Option<&str> {
        self.attributes().find(|(attribute, _)| *attribute == wanted).map(|(_, value)| value)
    }
}

/// Returns a name without its prefix.
pub(super) fn local(name: &[u8]) -> &[u8] {
    memchr::memrchr(b':', name).map_or(name, |colon| &name[colon + 1..])
}

/// Returns the valid part of bytes as text: a limit may have cut a character in two.
pub(super) fn legible(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or_else(|_| bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid()))
}

/// Returns the beginning of a text, up to a number of bytes.
pub(super) fn beginning(text: &str, most: usize) -> &str {
    legible(&text.as_bytes()[..text.len().min(most)])
}

/// Reads a text completely.
pub(super) fn read(text: &str, dialect: Dialect, visitor: &mut impl Visitor) {
    let bridge = Bridge {
        visitor,
        dialect,
        position: 0,
        start: 0,
        is_start: false,
        is_empty: false,
        foreign: 0,
        name: Vec::new(),
        last: Vec::new(),
        attribute: Vec::new(),
        wanted: None,
        begun: 0,
        attributes: Vec::new(),
        values: Vec::new(),
    };
    // Neither the text in memory nor the bridge can fail, and the bridge emits no tokens.
    let Ok(()) = Tokenizer::new_with_emitter(text, bridge).finish();
}

/// The decision about the current attribute.
#[derive(Clone, Copy)]
enum Wanted {
    /// It is kept.
    Yes(Attribute),
    /// It is skipped: it is not in use, or a repetition; of repeated attributes, the first counts.
    No,
}

struct Bridge<'v, V> {
    visitor: &'v mut V,
    dialect: Dialect,
    position: usize,
    start: usize,
    is_start: bool,
    is_empty: bool,
    /// The number of open `svg` and `math` elements: within them, HTML has CDATA sections and empty elements.
    foreign: usize,
    name: Vec<u8>,
    /// The last start tag: where text is not markup, only its end tag is recognised.
    last: Vec<u8>,
    /// The name of the current attribute.
    attribute: Vec<u8>,
    /// `None` until its name is complete.
    wanted: Option<Wanted>,
    /// The position where its value begins.
    begun: usize,
    attributes: Vec<(Attribute, Range<usize>)>,
    values: Vec<u8>,
}

impl<V: Visitor> Bridge<'_, V> {
    fn begin_tag(&mut self, is_start: bool) {
        self.name.clear();
        self.attribute.clear();
        self.wanted = None;
        self.attributes.clear();
        self.values.clear();
        self.is_start = is_start;
        self.is_empty = false;
    }

    /// Decides about the current attribute, whose name is complete.
    fn settle(&mut self) -> Wanted {
        if let Some(wanted) = self.wanted {
            return wanted;
        }
        let attribute = if self.is_start { Attribute::of(&self.attribute) } else { None };
        let wanted = match attribute {
            Some(attribute) if self.attributes.iter().all(|(there, _)| *there != attribute) => Wanted::Yes(attribute),
            _ => Wanted::No,
        };
        self.begun = self.values.len();
        self.wanted = Some(wanted);
        wanted
    }

    fn end_attribute(&mut self) {
        if self.attribute.is_empty() {
            return;
        }
        if let Wanted::Yes(attribute) = self.settle() {
            self.attributes.push((attribute, self.begun..self.values.len()));
        }
        self.attribute.clear();
        self.wanted = None;
    }

    fn end_start_tag(&mut self) -> Option<State> {
        let tag = Tag {
            name: &self.name,
            start: self.start,
            end: self.position,
            foreign: self.foreign,
            attributes: &self.attributes,
            values: &self.values,
        };
        let content = self.visitor.open(&tag);
        let is_closed = self.is_empty && (self.dialect == Dialect::Xml || self.foreign > 0);
        if is_closed {
            self.visitor.close(&self.name);
        } else if is_foreign(&self.name) {
            self.foreign += 1;
        }
        swap(&mut self.last, &mut self.name);
        if self.dialect == Dialect::Xml || is_closed {
            return None;
        }
        match content {
            Content::Markup => None,
            Content::Text => Some(State::RcData),
            Content::Raw => Some(State::RawText),
            Content::Script => Some(State::ScriptData),
            Content::Plain => Some(State::PlainText),
        }
    }
}

fn is_foreign(name: &[u8]) -> bool {
    matches!(local(name), b"svg" | b"math")
}

impl<V: Visitor> Emitter for Bridge<'_, V> {
    type Token = Infallible;

    #[inline]
    fn pop_token(&mut self) -> Option<Infallible> {
        None
    }

    #[inline]
    fn should_emit_errors(&mut self) -> bool {
        false
    }

    #[inline]
    fn move_position(&mut self, offset: isize) {
        self.position = self.position.saturating_add_signed(offset);
    }

    #[inline]
    fn start_open_tag(&mut self) {
        self.start = self.position.saturating_sub(1);
    }

    #[inline]
    fn emit_string(&mut self, text: &[u8]) {
        self.visitor.text(text);
    }

    #[inline]
    fn init_start_tag(&mut self) {
        self.begin_tag(true);
    }

    #[inline]
    fn init_end_tag(&mut self) {
        self.begin_tag(false);
    }

    #[inline]
    fn push_tag_name(&mut self, piece: &[u8]) {
        self.name.extend_from_slice(piece);
    }

    #[inline]
    fn init_attribute(&mut self) {
        self.end_attribute();
    }

    #[inline]
    fn push_attribute_name(&mut self, piece: &[u8]) {
        self.attribute.extend_from_slice(piece);
    }

    #[inline]
    fn push_attribute_value(&mut self, piece: &[u8]) {
        if let Wanted::Yes(_) = self.settle() {
            self.values.extend_from_slice(piece);
        }
    }

    fn emit_current_tag(&mut self) -> Option<State> {
        self.end_attribute();
        if self.is_start {
            return self.end_start_tag();
        }
        if is_foreign(&self.name) {
            self.foreign = self.foreign.saturating_sub(1);
        }
        self.visitor.close(&self.name);
        None
    }

    #[inline]
    fn set_self_closing(&mut self) {
        self.is_empty = true;
    }

    fn current_is_appropriate_end_tag_token(&mut self) -> bool {
        !self.is_start && !self.last.is_empty() && self.last == self.name
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&mut self) -> bool {
        self.dialect == Dialect::Xml || self.foreign > 0
    }

    fn set_last_start_tag(&mut self, last: Option<&[u8]>) {
        self.last.clear();
        self.last.extend_from_slice(last.unwrap_or_default());
    }

    // Comments, document types and errors contain no references.
    fn emit_eof(&mut self) {}
    fn emit_error(&mut self, _: Error) {}
    fn init_comment(&mut self) {}
    #[inline]
    fn push_comment(&mut self, _: &[u8]) {}
    fn emit_current_comment(&mut self) {}
    fn init_doctype(&mut self) {}
    fn push_doctype_name(&mut self, _: &[u8]) {}
    fn set_doctype_public_identifier(&mut self, _: &[u8]) {}
    fn set_doctype_system_identifier(&mut self, _: &[u8]) {}
    fn push_doctype_public_identifier(&mut self, _: &[u8]) {}
    fn push_doctype_system_identifier(&mut self, _: &[u8]) {}
    fn set_force_quirks(&mut self) {}
    fn emit_current_doctype(&mut self) {}
}
