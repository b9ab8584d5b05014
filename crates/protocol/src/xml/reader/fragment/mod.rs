//! Reads one foreign element as it arrives: the bytes of [`Event::PartBytes`](super::Event::PartBytes).
//!
//! It uses the same scanner, names and references as for responses, but with other guarantees. Every element is
//! reported with its namespace. Text is reported in pieces as it arrives, references resolved, so that a text node of
//! any size streams. Text is bytes, because the real encoding of foreign metadata was never checked.
//!
//! A strict reader is the one check of what modoai may send: before an element is served to others, it must be legal
//! UTF-8, well-formed, and with every prefix declared, because one invalid byte would make a whole page unreadable for
//! them. Whatever passes is read by a [`Reader`](super::Reader) with the default limits.

mod strict;

use std::borrow::Cow;

use memchr::{memchr, memchr2};

use super::Limits;
use super::fault::{Fault, ReadError, quoted};
use super::scanner::{Scanner, Token};
use super::tags::{Attributes, Nesting, Scope, is_space, name, split, utf8};
use super::text::reference;
use crate::xml::names::may_be_declared;

/// The length of the longest reference.
const LONGEST_REFERENCE: usize = 64;

/// The maximum length of a namespace and its prefix in strict mode: it is compared again for every name in it.
const LONGEST_NAMESPACE: usize = 1024;

/// The limits in strict mode: those of a reader, less than the rest of a response needs.
const STRICT: Limits = Limits { tag: 1023 * 1024, text: 1024 * 1024, depth: 1000, namespaces: 240 };

/// A part of the element's content, in document order.
pub enum Node<'a> {
    /// The start of an element.
    Start(Start<'a>),
    /// More text of the innermost open element.
    Text(&'a [u8]),
    /// The end of the innermost open element.
    End {
        /// The offset of the first byte after it.
        after: u64,
    },
}

/// The start of an element.
pub struct Start<'a> {
    /// The namespace; empty if the element has none, or an undeclared prefix.
    pub namespace: &'a str,
    /// The name without prefix.
    pub name: &'a str,
    /// The offset of the tag.
    pub offset: u64,
    tag: &'a [u8],
    scope: &'a Scope,
}

impl<'a> Start<'a> {
    /// Returns namespace, local name and value of each attribute that is not a namespace declaration.
    pub fn attributes(&self) -> impl Iterator<Item = Result<(&'a str, &'a str, Cow<'a, str>), ReadError>> {
        let (scope, offset) = (self.scope, self.offset);
        let others =
            Attributes::of(self.tag).filter(|attribute| attribute.as_ref().map_or(true, |it| it.declares().is_none()));
        others.map(move |attribute| {
            let read = attribute.and_then(|it| {
                let (prefix, local) = split(it.name()?);
                Ok((scope.resolve_attribute(prefix)?, local, it.value()?))
            });
            read.map_err(|fault| fault.at(offset))
        })
    }

    /// Returns the namespace declarations in scope, as prefix and URI.
    pub fn declarations(&self) -> Vec<(&'a str, &'a str)> {
        self.scope.inherited(self.scope.len())
    }

    /// Returns the value of the attribute with this name and without a namespace.
    pub fn attribute(&self, name: &str) -> Result<Option<Cow<'a, str>>, ReadError> {
        let found = Attributes::of(self.tag).find(|attribute| attribute.as_ref().map_or(true, |this| this.is(name)));
        let value = found.map(|attribute| attribute.and_then(super::tags::Attribute::value)).transpose();
        value.map_err(|fault| fault.at(self.offset))
    }
}

/// Reads one element, which is passed in pieces of any size, split at any byte.
///
/// ```
/// use modoai_protocol::xml::reader::fragment::Fragment;
///
/// assert_eq!(Fragment::check(b"<dc:title>Smith &amp; Sons</dc:title>", &[("dc", "urn:dc")]), Ok(()));
/// let error = Fragment::check(b"<dc:title>Smith & Sons</dc:title>", &[("dc", "urn:dc")]).unwrap_err();
/// assert_eq!(error.to_string(), "'& Sons' is not a character or entity reference (byte 16)");
/// ```
pub struct Fragment {
    scanner: Scanner,
    inner: Inner,
    /// In strict mode: the incomplete UTF-8 sequence at the end of the last piece.
    cut: Vec<u8>,
}

/// The errors that are reported.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Only those of nesting and references.
    Lenient,
    /// All; nothing precedes or follows the element.
    Element,
    /// All; comments, instructions and whitespace may surround the element.
    Document,
}

struct Inner {
    mode: Mode,
    limits: Limits,
    nesting: Nesting,
    scope: Scope,
    /// The number of namespace declarations in scope before each open element.
    outer: Vec<usize>,
    begun: bool,
    /// The number of closing brackets just read in text.
    brackets: u8,
    /// A carriage return or the beginning of a reference, from the end of the last text.
    held: Vec<u8>,
    /// The offset at which that begins.
    held_at: u64,
    in_cdata: bool,
}

impl Fragment {
    /// Creates a reader of an element that inherits these declarations (prefix, empty for the default, and URI).
    pub fn new(limits: Limits, inherited: &[(&str, &str)]) -> Self {
        Self::with(Mode::Lenient, limits, &inherited[..inherited.len().min(limits.namespaces)])
    }

    /// Creates a strict reader of an element that inherits these declarations.
    pub fn strict(inherited: &[(&str, &str)]) -> Self {
        Self::with(Mode::Element, STRICT, inherited)
    }

    /// Creates a strict reader of a document without a document type.
    pub fn document() -> Self {
        Self::with(Mode::Document, STRICT, &[])
    }

    fn with(mode: Mode, limits: Limits, inherited: &[(&str, &str)]) -> Self {
        let mut scope = Scope::default();
        for (prefix, uri) in inherited {
            scope.push(prefix, Cow::Borrowed(uri));
        }
        let inner = Inner {
            mode,
            limits,
            nesting: Nesting::default(),
            scope,
            outer: Vec::new(),
            begun: false,
            brackets: 0,
            held: Vec::new(),
            held_at: 0,
            in_cdata: false,
        };
        let scanner = if mode == Mode::Lenient { Scanner::new(limits.tag) } else { Scanner::strict(limits.tag) };
        Self { scanner, inner, cut: Vec::new() }
    }

    /// Checks a whole element strictly.
    pub fn check(element: &[u8], inherited: &[(&str, &str)]) -> Result<(), ReadError> {
        let mut fragment = Self::strict(inherited);
        fragment.push(element, &mut |_| Ok::<(), ReadError>(()))?;
        fragment.finish()
    }

    /// Processes more of the element and passes the completed nodes to `sink`. Do not call it again after an error.
    pub fn push<E: From<ReadError>>(
        &mut self,
        bytes: &[u8],
        sink: &mut impl FnMut(Node<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.inner.mode == Mode::Lenient { self.read(bytes, sink) } else { self.read_utf8(bytes, sink) }
    }

    fn read<E: From<ReadError>>(
        &mut self,
        bytes: &[u8],
        sink: &mut impl FnMut(Node<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let Self { scanner, inner, .. } = self;
        let mut at = 0;
        while let Some((token, offset)) = scanner.next(bytes, &mut at)? {
            match token {
                Token::Tag { bytes: tag, .. } => {
                    inner.end_text(sink)?;
                    inner.tag(tag, offset, sink)?;
                }
                Token::Text(text) => {
                    if inner.in_cdata {
                        inner.end_text(sink)?;
                    }
                    match inner.end_of_cdata(text) {
                        Some(end) => {
                            inner.text(&text[..end], offset, sink)?;
                            let what = "']]>' in text";
                            return Err(Fault::IllFormed { what }.at(offset + end as u64).into());
                        }
                        None => inner.text(text, offset, sink)?,
                    }
                }
                Token::CdataStart => {
                    inner.end_text(sink)?;
                    if inner.nesting.depth() == 0 {
                        return Err(inner.outside().at(offset).into());
                    }
                    inner.in_cdata = true;
                }
                Token::Cdata(text) => inner.text(text, offset, sink)?,
                Token::Instruction(instruction) => {
                    inner.end_text(sink)?;
                    inner.instruction(instruction, offset).map_err(|fault| fault.at(offset))?;
                }
                Token::Comment => {
                    inner.end_text(sink)?;
                    inner.surrounding().map_err(|fault| fault.at(offset))?;
                }
                Token::Doctype => {
                    let what = "a document type declaration";
                    return Err(Fault::IllFormed { what }.at(offset).into());
                }
            }
        }
        Ok(())
    }

    /// Returns true if the next byte is character data, or the first byte of markup: not part of a tag, a comment, a CDATA
    /// section or a processing instruction.
    pub fn is_between_markup(&self) -> bool {
        self.scanner.is_between_markup()
    }

    /// Checks that the element is complete when no more bytes follow.
    pub fn finish(&self) -> Result<(), ReadError> {
        let inner = &self.inner;
        if !self.cut.is_empty() {
            return Err(self.not_utf8());
        }
        if inner.begun && inner.nesting.depth() == 0 && self.scanner.is_between_markup() {
            return Ok(());
        }
        Err(Fault::Truncated { open: quoted(inner.nesting.last()) }.at(self.scanner.end()))
    }

    /// Returns the number of bytes of memory held: a small multiple of the limits at most, for any element.
    pub fn held(&self) -> usize {
        let Inner { nesting, scope, outer, held, .. } = &self.inner;
        self.scanner.held() + nesting.held() + scope.held() + outer.capacity() * size_of::<usize>() + held.capacity()
    }
}

impl Inner {
    fn tag<E: From<ReadError>>(
        &mut self,
        tag: &[u8],
        offset: u64,
        sink: &mut impl FnMut(Node<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let name = name(tag);
        if tag.starts_with(b"</") {
            let rest = &tag[2 + name.len()..tag.len() - 1];
            if !rest.iter().all(|byte| is_space(*byte)) {
                return Err(Fault::IllFormed { what: "an end tag contains more than a name" }.at(offset).into());
            }
            if self.nesting.depth() == 0 || self.nesting.last() != name {
                let (open, close) = (quoted(self.nesting.last()), quoted(name));
                return Err(Fault::Mismatch { open, close }.at(offset).into());
            }
        } else {
            self.open(tag, name).map_err(|fault| fault.at(offset))?;
            let name = utf8(name).map_err(|fault| fault.at(offset))?;
            let (prefix, name) = split(name);
            let namespace = self.scope.resolve(prefix).unwrap_or_default();
            sink(Node::Start(Start { namespace, name, offset, tag, scope: &self.scope }))?;
            if !tag.ends_with(b"/>") {
                return Ok(());
            }
        }
        self.nesting.pop();
        self.scope.truncate(self.outer.pop().unwrap_or_default());
        sink(Node::End { after: offset + tag.len() as u64 })
    }

    /// Processes the start of an element: nesting and namespaces.
    fn open(&mut self, tag: &[u8], name: &[u8]) -> Result<(), Fault> {
        if memchr(b'<', &tag[1..]).is_some() {
            return Err(Fault::IllFormed { what: "'<' inside a tag" });
        }
        let limits = self.limits;
        if self.nesting.depth() == limits.depth {
            return Err(Fault::Limit { what: "open elements", limit: limits.depth });
        }
        if self.nesting.length() + name.len() > limits.tag {
            return Err(Fault::Limit { what: "bytes in names of open elements", limit: limits.tag });
        }
        if self.nesting.depth() == 0 && std::mem::replace(&mut self.begun, true) {
            return Err(Fault::Trailing);
        }
        self.nesting.push(name);
        self.outer.push(self.scope.len());
        for attribute in Attributes::of(tag) {
            let attribute = attribute?;
            if let Some(prefix) = attribute.declares() {
                if self.scope.len() >= limits.namespaces {
                    return Err(Fault::Limit { what: "namespace declarations", limit: limits.namespaces });
                }
                let (prefix, uri) = (utf8(prefix)?, attribute.value()?);
                if self.mode != Mode::Lenient {
                    if !may_be_declared(prefix, &uri) {
                        return Err(Fault::IllFormed { what: "an invalid namespace declaration" });
                    }
                    if prefix.len() + uri.len() > LONGEST_NAMESPACE {
                        return Err(Fault::Limit { what: "bytes in a namespace", limit: LONGEST_NAMESPACE });
                    }
                }
                self.scope.push(prefix, uri);
            }
        }
        if self.mode == Mode::Lenient { Ok(()) } else { self.check_names(tag, name) }
    }

    /// Reports text, up to a line end or a reference that the next piece may change.
    fn text<E: From<ReadError>>(
        &mut self,
        mut text: &[u8],
        offset: u64,
        sink: &mut impl FnMut(Node<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.nesting.depth() == 0 {
            let stray = text.iter().position(|byte| self.mode == Mode::Element || !is_space(*byte));
            return stray.map_or(Ok(()), |at| Err(self.outside().at(offset + at as u64).into()));
        }
        let after = offset + text.len() as u64;
        while !text.is_empty() {
            match self.held.first() {
                None => {
                    let special = if self.in_cdata { memchr(b'\r', text) } else { memchr2(b'&', b'\r', text) };
                    let plain = special.unwrap_or(text.len());
                    if plain > 0 {
                        sink(Node::Text(&text[..plain]))?;
                    }
                    self.held.extend(text.get(plain));
                    self.held_at = after - (text.len() - plain) as u64;
                    text = text.get(plain + 1..).unwrap_or_default();
                }
                Some(b'\r') => {
                    self.end_line(sink)?;
                    text = text.strip_prefix(b"\n").unwrap_or(text);
                }
                Some(_) => {
                    let look = &text[..text.len().min(LONGEST_REFERENCE - self.held.len())];
                    let end = memchr(b';', look);
                    self.held.extend_from_slice(end.map_or(look, |end| &look[..=end]));
                    text = &text[end.map_or(look.len(), |end| end + 1)..];
                    if end.is_some() || self.held.len() == LONGEST_REFERENCE {
                        self.resolve(sink)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Completes the text, which ends at markup: what was held is complete, or never will be.
    fn end_text<E: From<ReadError>>(&mut self, sink: &mut impl FnMut(Node<'_>) -> Result<(), E>) -> Result<(), E> {
        self.in_cdata = false;
        self.brackets = 0;
        match self.held.first() {
            None => Ok(()),
            Some(b'\r') => self.end_line(sink),
            Some(_) => self.resolve(sink),
        }
    }

    fn end_line<E>(&mut self, sink: &mut impl FnMut(Node<'_>) -> Result<(), E>) -> Result<(), E> {
        self.held.clear();
        sink(Node::Text(b"\n"))
    }

    fn resolve<E: From<ReadError>>(&mut self, sink: &mut impl FnMut(Node<'_>) -> Result<(), E>) -> Result<(), E> {
        let character = utf8(&self.held).and_then(reference).map_err(|fault| fault.at(self.held_at))?.0;
        self.held.clear();
        sink(Node::Text(character.encode_utf8(&mut [0; 4]).as_bytes()))
    }
}

#[cfg(test)]
mod tests;
