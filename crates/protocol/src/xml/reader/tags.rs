//! The content of tags: names and attributes, and the resulting nesting and namespaces.

use std::borrow::Cow;

use memchr::memchr;

use super::fault::{Fault, quoted};
use super::text::{Spaces, decode};
use crate::xml::names::{XML_NAMESPACE, XMLNS_NAMESPACE, qualified};

/// Returns the element name of a start or end tag.
pub(super) fn name(tag: &[u8]) -> &[u8] {
    let from = if tag.get(1) == Some(&b'/') { 2 } else { 1 };
    let rest = &tag[from..];
    let ends = |byte: &u8| is_space(*byte) || matches!(byte, b'/' | b'>');
    &rest[..rest.iter().position(ends).unwrap_or(rest.len())]
}

/// Splits `prefix:local`.
pub(super) fn split(name: &str) -> (&str, &str) {
    name.split_once(':').unwrap_or(("", name))
}

pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// The attributes of a start tag, in order, with values as written.
pub(super) struct Attributes<'a>(&'a [u8]);

impl<'a> Attributes<'a> {
    /// Returns the attributes of a complete start tag, or of an XML declaration.
    pub(super) fn of(tag: &'a [u8]) -> Self {
        let end = tag.len() - 1;
        let end = if end > 1 && matches!(tag[end - 1], b'/' | b'?') { end - 1 } else { end };
        Self(&tag[(1 + name(tag).len()).min(end)..end])
    }

    fn split_next(&mut self) -> Result<(&'a [u8], &'a [u8]), &'static str> {
        let equals = memchr(b'=', self.0).ok_or("an attribute without a value")?;
        let name = self.0[..equals].trim_ascii_end();
        let value = self.0[equals + 1..].trim_ascii_start();
        let (&quote, value) = value.split_first().ok_or("an attribute without a value")?;
        if !matches!(quote, b'"' | b'\'') {
            return Err("an unquoted attribute value");
        }
        if name.is_empty() || name.iter().any(|byte| is_space(*byte) || matches!(byte, b'"' | b'\'')) {
            return Err("an attribute without a name or value");
        }
        let end = memchr(quote, value).ok_or("an unterminated attribute value")?;
        self.0 = &value[end + 1..];
        if self.0.first().is_some_and(|&next| !is_space(next)) {
            return Err("no whitespace between attributes");
        }
        Ok((name, &value[..end]))
    }
}

impl<'a> Iterator for Attributes<'a> {
    type Item = Result<Attribute<'a>, Fault>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0 = self.0.trim_ascii_start();
        if self.0.is_empty() {
            return None;
        }
        let split = self.split_next().map_err(|what| Fault::IllFormed { what });
        Some(split.map(|(name, value)| Attribute { name, value }))
    }
}

/// An attribute as written. Only attributes of the protocol are decoded: those of foreign elements may be in any
/// encoding.
#[derive(Clone, Copy)]
pub(super) struct Attribute<'a> {
    name: &'a [u8],
    value: &'a [u8],
}

impl<'a> Attribute<'a> {
    pub(super) fn is(self, name: &str) -> bool {
        self.name == name.as_bytes()
    }

    /// Returns true if it has no namespace, and declares none.
    pub(super) fn is_plain(self) -> bool {
        memchr(b':', self.name).is_none() && self.name != b"xmlns"
    }

    /// Returns the namespace prefix that it declares, if it does.
    pub(super) fn declares(self) -> Option<&'a [u8]> {
        match self.name.strip_prefix(b"xmlns") {
            Some(b"") => Some(b""),
            Some(rest) => rest.strip_prefix(b":"),
            None => None,
        }
    }

    pub(super) fn name(self) -> Result<&'a str, Fault> {
        utf8(self.name)
    }

    /// Returns prefix and local name, which must be valid.
    pub(super) fn parts(self) -> Result<(&'a str, &'a str), Fault> {
        valid(self.name)
    }

    /// Returns the decoded value.
    pub(super) fn value(self) -> Result<Cow<'a, str>, Fault> {
        decode(utf8(self.value)?, Spaces::Attribute).map_err(|(_, fault)| fault)
    }
}

/// Splits a name, which must be valid.
pub(super) fn valid(name: &[u8]) -> Result<(&str, &str), Fault> {
    qualified(utf8(name)?).ok_or_else(|| Fault::Name { name: quoted(name) })
}

/// Returns a part of a tag that must be UTF-8.
pub(super) fn utf8(bytes: &[u8]) -> Result<&str, Fault> {
    std::str::from_utf8(bytes).map_err(|_| Fault::NotUtf8 { element: quoted(bytes) })
}

/// The names of the open elements, concatenated in one buffer.
#[derive(Default)]
pub(super) struct Nesting {
    names: Vec<u8>,
    starts: Vec<usize>,
}

impl Nesting {
    pub(super) fn depth(&self) -> usize {
        self.starts.len()
    }

    /// Returns the number of bytes of all names together.
    pub(super) fn length(&self) -> usize {
        self.names.len()
    }

    /// Returns the number of bytes of memory held.
    pub(super) fn held(&self) -> usize {
        self.names.capacity() + self.starts.capacity() * size_of::<usize>()
    }

    pub(super) fn push(&mut self, name: &[u8]) {
        self.starts.push(self.names.len());
        self.names.extend_from_slice(name);
    }

    /// Returns the innermost open element; empty if none is open.
    pub(super) fn last(&self) -> &[u8] {
        self.starts.last().map_or(&[], |&start| &self.names[start..])
    }

    pub(super) fn pop(&mut self) {
        if let Some(start) = self.starts.pop() {
            self.names.truncate(start);
        }
    }
}

/// The namespace declarations in scope, prefix and URI, innermost last; the default namespace has an empty prefix.
#[derive(Default)]
pub(super) struct Scope(Vec<(String, String)>);

impl Scope {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn truncate(&mut self, len: usize) {
        self.0.truncate(len);
    }

    pub(super) fn push(&mut self, prefix: &str, uri: Cow<'_, str>) {
        self.0.push((prefix.to_owned(), uri.into_owned()));
    }

    /// Returns the number of bytes of memory held.
    pub(super) fn held(&self) -> usize {
        self.0.iter().map(|(prefix, uri)| prefix.capacity() + uri.capacity()).sum::<usize>()
            + self.0.capacity() * size_of::<(String, String)>()
    }

    /// Returns the namespace of a prefix; `None` without a declaration, or if an inner one removes the outer one.
    pub(super) fn resolve(&self, prefix: &str) -> Option<&str> {
        if prefix == "xml" {
            return Some(XML_NAMESPACE);
        }
        let declared = self.0.iter().rev().find(|(bound, _)| bound == prefix)?;
        Some(declared.1.as_str()).filter(|uri| !uri.is_empty())
    }

    /// Returns the namespace of an attribute: without a prefix, it has none.
    pub(super) fn resolve_attribute(&self, prefix: &str) -> Result<&str, Fault> {
        match prefix {
            "" => Ok(""),
            "xmlns" => Ok(XMLNS_NAMESPACE),
            prefix => self.resolve(prefix).ok_or_else(|| Fault::Prefix { prefix: quoted(prefix.as_bytes()) }),
        }
    }

    /// Returns the first `outer` declarations, without those that later ones replace.
    pub(super) fn inherited(&self, outer: usize) -> Vec<(&str, &str)> {
        let holds = |(index, (prefix, uri)): &(usize, &(String, String))| {
            !uri.is_empty() && !self.0[index + 1..].iter().any(|(later, _)| later == prefix)
        };
        let outer = self.0[..outer].iter().enumerate().filter(holds);
        outer.map(|(_, (prefix, uri))| (prefix.as_str(), uri.as_str())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_split_and_checked() {
        let pairs = |tag: &'static str| {
            let read = |attribute: Result<Attribute<'_>, Fault>| {
                let attribute = attribute?;
                Ok(format!("{}={}", attribute.name()?, attribute.value()?))
            };
            let pairs = Attributes::of(tag.as_bytes()).map(read).collect::<Result<Vec<_>, Fault>>();
            pairs.ok().map(|pairs| pairs.join(" "))
        };
        assert_eq!(pairs("<a>").as_deref(), Some(""));
        assert_eq!(pairs("<a/>").as_deref(), Some(""));
        assert_eq!(pairs("<a b='1>' c = \"'&lt;\"\n/>").as_deref(), Some("b=1> c='<"));
        assert_eq!(pairs("<?xml version='1.0' encoding=\"x\"?>"), Some("version=1.0 encoding=x".to_owned()));
        for bad in ["<a b>", "<a b=>", "<a b=1>", "<a ='1'>", "<a b='1'c='2'>", "<a b c='1'>", "<a b='&x;'>"] {
            assert_eq!(pairs(bad), None, "{bad}");
        }
    }
}
