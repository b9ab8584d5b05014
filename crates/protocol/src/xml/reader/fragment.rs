//! Reads one foreign element as it arrives: the bytes of [`Event::PartBytes`](super::Event::PartBytes).
//!
//! It uses the same scanner, names and references as for responses, but with other guarantees. Every element is
//! reported with its namespace. Text is reported in pieces as it arrives, references resolved, so that a text node of
//! any size streams. Text is bytes, because the real encoding of foreign metadata was never checked.

use std::borrow::Cow;

use memchr::{memchr, memchr2};

use super::Limits;
use super::fault::{Fault, ReadError, quoted};
use super::scanner::{Scanner, Token};
use super::tags::{Attributes, Nesting, Scope, is_space, name, split, utf8};
use super::text::reference;

/// The length of the longest reference.
const LONGEST_REFERENCE: usize = 64;

/// A part of the element's content, in document order.
pub enum Node<'a> {
    /// The start of an element.
    Start(Start<'a>),
    /// More text of the innermost open element.
    Text(&'a [u8]),
    /// The end of the innermost open element.
    End,
}

/// The start of an element.
pub struct Start<'a> {
    /// The namespace; empty if the element has none, or an undeclared prefix.
    pub namespace: &'a str,
    /// The name without prefix.
    pub name: &'a str,
    tag: &'a [u8],
    offset: u64,
}

impl<'a> Start<'a> {
    /// Returns the value of the attribute with this name and without a namespace.
    pub fn attribute(&self, name: &str) -> Result<Option<Cow<'a, str>>, ReadError> {
        let found = Attributes::of(self.tag).find(|attribute| attribute.as_ref().map_or(true, |this| this.is(name)));
        let value = found.map(|attribute| attribute.and_then(super::tags::Attribute::value)).transpose();
        value.map_err(|fault| fault.at(self.offset))
    }
}

/// Reads one element, which is passed in pieces of any size, split at any byte.
pub struct Fragment {
    scanner: Scanner,
    inner: Inner,
}

struct Inner {
    limits: Limits,
    nesting: Nesting,
    scope: Scope,
    /// The number of namespace declarations in scope before each open element.
    outer: Vec<usize>,
    begun: bool,
    /// A carriage return or the beginning of a reference, from the end of the last text.
    held: Vec<u8>,
    /// The offset at which that begins.
    held_at: u64,
    in_cdata: bool,
}

impl Fragment {
    /// Creates a reader of an element that inherits these declarations (prefix, empty for the default, and URI).
    pub fn new(limits: Limits, inherited: &[(&str, &str)]) -> Self {
        let mut scope = Scope::default();
        for (prefix, uri) in inherited.iter().take(limits.namespaces) {
            scope.push(prefix, Cow::Borrowed(uri));
        }
        let inner = Inner {
            limits,
            nesting: Nesting::default(),
            scope,
            outer: Vec::new(),
            begun: false,
            held: Vec::new(),
            held_at: 0,
            in_cdata: false,
        };
        Self { scanner: Scanner::new(limits.tag), inner }
    }

    /// Processes more of the element and passes the completed nodes to `sink`. Do not call it again after an error.
    pub fn push<E: From<ReadError>>(
        &mut self,
        bytes: &[u8],
        sink: &mut impl FnMut(Node<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let Self { scanner, inner } = self;
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
                    inner.text(text, offset, sink)?;
                }
                Token::CdataStart => {
                    inner.end_text(sink)?;
                    if inner.nesting.depth() == 0 {
                        return Err(Fault::Trailing.at(offset).into());
                    }
                    inner.in_cdata = true;
                }
                Token::Cdata(text) => inner.text(text, offset, sink)?,
                Token::Instruction(_) | Token::Comment => inner.end_text(sink)?,
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
            sink(Node::Start(Start { namespace, name, tag, offset }))?;
            if !tag.ends_with(b"/>") {
                return Ok(());
            }
        }
        self.nesting.pop();
        self.scope.truncate(self.outer.pop().unwrap_or_default());
        sink(Node::End)
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
                self.scope.push(utf8(prefix)?, attribute.value()?);
            }
        }
        Ok(())
    }

    /// Reports text, up to a line end or a reference that the next piece may change.
    fn text<E: From<ReadError>>(
        &mut self,
        mut text: &[u8],
        offset: u64,
        sink: &mut impl FnMut(Node<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.nesting.depth() == 0 {
            let stray = text.iter().position(|byte| !is_space(*byte));
            return stray.map_or(Ok(()), |at| Err(Fault::Trailing.at(offset + at as u64).into()));
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
mod tests {
    use super::*;

    /// Returns the text of the element, and the outcome.
    fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> (Vec<u8>, Result<(), ReadError>) {
        let mut text = Vec::new();
        let mut fragment = Fragment::new(Limits::default(), &[]);
        let read = pieces.into_iter().try_for_each(|piece| {
            fragment.push(piece, &mut |node| {
                if let Node::Text(more) = node {
                    text.extend_from_slice(more);
                }
                Ok::<(), ReadError>(())
            })
        });
        (text, read.and_then(|()| fragment.finish()))
    }

    #[test]
    fn what_is_wrong_and_where_does_not_depend_on_cuts() {
        let entity = Fault::Entity { name: "nbsp".to_owned() };
        for (xml, expected) in [
            ("<a>one &amp; t<![CDATA[&w\r\n]]>o</a>\n ", Ok(())),
            ("<a>one, two &nbsp; three</a>", Err(entity.at(12))),
            ("<a>one, two &lt three</a>", Err(Fault::Reference { text: "&lt three".to_owned() }.at(12))),
            ("<a/>\n \n then", Err(Fault::Trailing.at(8))),
            ("<a/>\n <b/>", Err(Fault::Trailing.at(6))),
            ("<a/> <![CDATA[  ]]>", Err(Fault::Trailing.at(14))),
            ("<a>", Err(Fault::Truncated { open: "a".to_owned() }.at(3))),
        ] {
            let whole = read([xml.as_bytes()]);
            assert_eq!(whole.1, expected, "{xml}");
            for size in 1..xml.len() {
                assert_eq!(read(xml.as_bytes().chunks(size)), whole, "{xml} in pieces of {size}");
            }
        }
        assert_eq!(read([&b"<a>one &amp; t<![CDATA[&w\r\n]]>o</a>"[..]]).0, b"one & t&w\no");
    }
}
