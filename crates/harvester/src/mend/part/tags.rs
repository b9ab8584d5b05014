//! Checks tags: names, attributes, nesting and namespaces, according to XML 1.0 and Namespaces in XML 1.0.

use std::collections::HashSet;

use super::text::resolve;
use super::{LONGEST, Wrong, quoted};

const DEEPEST: usize = 1024;
const MOST_NAMESPACES: usize = 512;
const XML: &str = "http://www.w3.org/XML/1998/namespace";
const XMLNS: &str = "http://www.w3.org/2000/xmlns/";

/// The open elements, and the namespace declarations in scope.
pub(super) struct Tags {
    /// The names, concatenated.
    names: String,
    open: Vec<Open>,
    /// Prefix and URI, innermost last.
    scope: Vec<(String, String)>,
    /// The number of bytes in `scope`.
    scope_length: usize,
}

struct Open {
    /// The offset of its name.
    name: usize,
    /// The number of declarations in scope before it.
    scope: usize,
}

impl Tags {
    pub(super) fn new(namespaces: &[(&str, &str)]) -> Self {
        let scope: Vec<_> = namespaces.iter().map(|(prefix, uri)| ((*prefix).to_owned(), (*uri).to_owned())).collect();
        let scope_length = scope.iter().map(|(prefix, uri)| prefix.len() + uri.len()).sum();
        Self { names: String::new(), open: Vec::new(), scope, scope_length }
    }

    pub(super) fn depth(&self) -> usize {
        self.open.len()
    }

    pub(super) fn held(&self) -> usize {
        self.names.capacity() + self.scope_length + self.scope.capacity() * size_of::<(String, String)>()
    }

    /// Checks a whole tag, from `<` to `>`.
    pub(super) fn tag(&mut self, tag: &[u8]) -> Result<(), Wrong> {
        let Ok(tag) = std::str::from_utf8(tag) else { return Err(Wrong::NotUtf8) };
        let inside = &tag[1..tag.len() - 1];
        match inside.strip_prefix('/') {
            Some(name) => self.end_tag(name.trim_end_matches(SPACES)),
            None => self.start_tag(inside),
        }
    }

    fn end_tag(&mut self, name: &str) -> Result<(), Wrong> {
        let open = self.open.last().map_or("", |open| &self.names[open.name..]);
        if open != name || open.is_empty() {
            return Err(Wrong::Mismatch { open: quoted(open.as_bytes()), close: quoted(name.as_bytes()) });
        }
        self.close();
        Ok(())
    }

    fn start_tag(&mut self, inside: &str) -> Result<(), Wrong> {
        let (inside, is_empty) = inside.strip_suffix('/').map_or((inside, false), |inside| (inside, true));
        let (name, rest) = inside.split_at(inside.find(SPACES).unwrap_or(inside.len()));
        let (prefix, _) = qualified(name)?;
        if self.open.len() == DEEPEST {
            return Err(Wrong::Limit { what: "open elements", limit: DEEPEST });
        }
        if self.names.len() + name.len() > LONGEST {
            return Err(Wrong::Limit { what: "bytes in the names of open elements", limit: LONGEST });
        }
        self.open.push(Open { name: self.names.len(), scope: self.scope.len() });
        self.names.push_str(name);
        let attributes = attributes(rest)?;
        for attribute in &attributes {
            self.declare(attribute)?;
        }
        if !prefix.is_empty() {
            self.namespace(prefix)?;
        }
        self.check_distinct(&attributes)?;
        if is_empty {
            self.close();
        }
        Ok(())
    }

    /// Adds a declaration to the scope, if the attribute is one.
    fn declare(&mut self, attribute: &Attribute<'_>) -> Result<(), Wrong> {
        let uri = resolve(attribute.value)?;
        let prefix = match (attribute.prefix, attribute.local) {
            ("", "xmlns") => "",
            ("xmlns", prefix) => prefix,
            _ => return Ok(()),
        };
        if !may_be_declared(prefix, &uri) {
            return Err(Wrong::IllFormed("an invalid namespace declaration"));
        }
        self.scope_length += prefix.len() + uri.len();
        if self.scope.len() == MOST_NAMESPACES {
            return Err(Wrong::Limit { what: "namespace declarations", limit: MOST_NAMESPACES });
        }
        if self.scope_length > LONGEST {
            return Err(Wrong::Limit { what: "bytes of namespace declarations", limit: LONGEST });
        }
        self.scope.push((prefix.to_owned(), uri.into_owned()));
        Ok(())
    }

    /// Returns the namespace of a prefix that is not empty.
    fn namespace(&self, prefix: &str) -> Result<&str, Wrong> {
        if prefix == "xml" {
            return Ok(XML);
        }
        let declared = self.scope.iter().rev().find(|(declared, _)| declared == prefix);
        match declared {
            Some((_, uri)) if !uri.is_empty() => Ok(uri),
            _ => Err(Wrong::Prefix(quoted(prefix.as_bytes()))),
        }
    }

    /// Checks that no two attributes have the same name, or the same name and namespace.
    fn check_distinct(&self, attributes: &[Attribute<'_>]) -> Result<(), Wrong> {
        let mut seen = HashSet::new();
        for attribute in attributes {
            let namespace = match attribute.prefix {
                "" => "",
                "xmlns" => XMLNS,
                prefix => self.namespace(prefix)?,
            };
            if !seen.insert((namespace, attribute.local)) {
                return Err(Wrong::Repeated(quoted(attribute.local.as_bytes())));
            }
        }
        Ok(())
    }

    fn close(&mut self) {
        if let Some(open) = self.open.pop() {
            self.names.truncate(open.name);
            let gone = self.scope.drain(open.scope..);
            self.scope_length -= gone.map(|(prefix, uri)| prefix.len() + uri.len()).sum::<usize>();
        }
    }
}

/// Returns true if a prefix may be declared for a namespace. The default namespace has an empty prefix, and only its
/// declaration may be empty.
pub(crate) fn may_be_declared(prefix: &str, uri: &str) -> bool {
    match prefix {
        "xmlns" => false,
        "xml" => uri == XML,
        _ => uri != XML && uri != XMLNS && (prefix.is_empty() || !uri.is_empty()),
    }
}

/// Checks the name of an instruction.
pub(super) fn target(name: &[u8]) -> Result<(), Wrong> {
    match std::str::from_utf8(name) {
        Ok(name) if is_name(name) && !name.eq_ignore_ascii_case("xml") => Ok(()),
        _ => Err(Wrong::Name(quoted(name))),
    }
}

const SPACES: [char; 4] = [' ', '\t', '\r', '\n'];

struct Attribute<'a> {
    prefix: &'a str,
    local: &'a str,
    /// The text between the quotes.
    value: &'a str,
}

/// Parses the attributes of a start tag.
fn attributes(mut rest: &str) -> Result<Vec<Attribute<'_>>, Wrong> {
    let mut attributes = Vec::new();
    loop {
        let trimmed = rest.trim_start_matches(SPACES);
        if trimmed.is_empty() {
            return Ok(attributes);
        }
        if trimmed.len() == rest.len() {
            return Err(Wrong::IllFormed("no whitespace between attributes"));
        }
        let (name, after) = trimmed.split_once('=').ok_or(Wrong::IllFormed("an attribute without a value"))?;
        let (prefix, local) = qualified(name.trim_end_matches(SPACES))?;
        let after = after.trim_start_matches(SPACES);
        let quote = after.chars().next().filter(|quote| matches!(quote, '"' | '\''));
        let quote = quote.ok_or(Wrong::IllFormed("an unquoted attribute value"))?;
        let (value, after) = after[1..].split_once(quote).ok_or(Wrong::IllFormed("an unterminated attribute value"))?;
        if value.contains('<') {
            return Err(Wrong::IllFormed("'<' in an attribute value"));
        }
        attributes.push(Attribute { prefix, local, value });
        rest = after;
    }
}

/// Splits a name at its colon.
fn qualified(name: &str) -> Result<(&str, &str), Wrong> {
    let parts = name.split_once(':').filter(|(prefix, _)| !prefix.is_empty());
    let (prefix, local) = parts.unwrap_or(("", name));
    if is_name(local) && (prefix.is_empty() || is_name(prefix)) {
        return Ok((prefix, local));
    }
    Err(Wrong::Name(quoted(name.as_bytes())))
}

/// Returns true for a name without colons.
pub(crate) fn is_name(name: &str) -> bool {
    let starts = |character: char| {
        matches!(character,
            'A'..='Z' | 'a'..='z' | '_' | '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}' | '\u{f8}'..='\u{2ff}'
            | '\u{370}'..='\u{37d}' | '\u{37f}'..='\u{1fff}' | '\u{200c}' | '\u{200d}' | '\u{2070}'..='\u{218f}'
            | '\u{2c00}'..='\u{2fef}' | '\u{3001}'..='\u{d7ff}' | '\u{f900}'..='\u{fdcf}' | '\u{fdf0}'..='\u{fffd}'
            | '\u{10000}'..='\u{effff}')
    };
    let follows = |character: char| {
        starts(character)
            || matches!(character,
                '-' | '.' | '0'..='9' | '\u{b7}' | '\u{300}'..='\u{36f}' | '\u{203f}' | '\u{2040}')
    };
    name.chars().next().is_some_and(starts) && name.chars().all(follows)
}
