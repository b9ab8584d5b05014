//! Checks an XML document that could be part of an OAI-PMH response.
//!
//! A document that is sent as received must be well-formed, because one bad byte would make a whole page unreadable.
//! The parser leaves some checks to its users: names, prefixes, references, characters. All of them are made here, in
//! the same pass that reports the document's content.

use std::borrow::Cow;
use std::collections::HashSet;

use modoai_protocol::xml::{OAI_NAMESPACE, XSI_NAMESPACE, is_legal};
use quick_xml::events::{BytesStart, Event};
use quick_xml::name::{QName, ResolveResult};
use quick_xml::reader::NsReader;

use crate::source::Fault;

/// The maximum number of open elements. Real metadata has at most a few dozen.
const DEEPEST: usize = 1024;

/// The maximum length of a namespace, in bytes. It is compared again for every name in it.
const LONGEST_NAMESPACE: usize = 1024;

/// Namespaces with predefined prefixes.
const RESERVED: [&str; 2] = ["http://www.w3.org/XML/1998/namespace", "http://www.w3.org/2000/xmlns/"];

/// A document that was checked.
pub(in crate::source) struct Document<'a> {
    /// The root element, with its content.
    pub(in crate::source) root: &'a str,
    /// Its name without prefix.
    pub(in crate::source) name: String,
    /// Its namespace.
    pub(in crate::source) namespace: String,
    /// The URL of the schema, as the document declares it for its namespace.
    pub(in crate::source) schema: Option<String>,
}

/// A part of the document's content, in order.
pub(in crate::source) enum Node<'a> {
    /// The start of an element.
    Start {
        /// The namespace.
        namespace: &'a str,
        /// The name without prefix.
        name: &'a str,
        /// Names without prefix, and values.
        attributes: &'a [(String, String)],
    },
    /// More text in the innermost open element.
    Text(&'a str),
    /// The end of the innermost open element.
    End,
}

/// Checks a document, and reports its content.
pub(in crate::source) fn read<'a>(text: &'a str, sink: &mut dyn FnMut(Node<'_>)) -> Result<Document<'a>, Fault> {
    if let Some(at) = text.char_indices().find(|(_, character)| !is_legal(*character)).map(|(at, _)| at) {
        return Err(fault(text, at, "character that XML does not allow"));
    }
    let mut walk = Walk { reader: NsReader::from_str(text), attributes: Vec::new(), depth: 0, root: None };
    walk.reader.config_mut().enable_all_checks(true);
    walk.reader.config_mut().expand_empty_elements = true;
    let mut start = 0;
    let mut end = None;
    loop {
        let at = position(&walk.reader);
        let event = walk.reader.read_event().map_err(|error| {
            fault(text, usize::try_from(walk.reader.error_position()).unwrap_or(at), &error.to_string())
        })?;
        let wrong = |what: String| fault(text, at, &what);
        match event {
            Event::Start(tag) => {
                if walk.depth == 0 && end.is_some() {
                    return Err(wrong("second root element".to_owned()));
                }
                if walk.depth == 0 {
                    start = at;
                }
                walk.depth += 1;
                walk.open(&tag, sink).map_err(wrong)?;
            }
            Event::End(tag) => {
                // Only whitespace is allowed between the name and the `>`, which the parser includes in the name.
                if !is_qualified(tag.name().as_ref().trim_end()) {
                    return Err(wrong("an end tag contains more than a name".to_owned()));
                }
                sink(Node::End);
                walk.depth -= 1;
                if walk.depth == 0 {
                    end = Some(position(&walk.reader));
                }
            }
            Event::Text(more) if walk.depth == 0 => {
                if !more.trim_ascii().is_empty() {
                    return Err(wrong("text outside the root element".to_owned()));
                }
            }
            Event::Text(more) => {
                if more.contains("]]>") {
                    return Err(wrong("`]]>` in text".to_owned()));
                }
                sink(Node::Text(&more.xml10_content()));
            }
            Event::CData(more) if walk.depth > 0 => sink(Node::Text(&more.xml10_content())),
            Event::GeneralRef(reference) if walk.depth > 0 => {
                let character =
                    character(&reference).ok_or_else(|| wrong(format!("unknown entity `&{};`", &*reference)))?;
                sink(Node::Text(character.encode_utf8(&mut [0; 4])));
            }
            Event::CData(_) | Event::GeneralRef(_) => {
                return Err(wrong("text outside the root element".to_owned()));
            }
            // Its declarations may be used anywhere, and may expand without end.
            Event::DocType(_) => return Err(wrong("a DOCTYPE, which cannot be part of a response".to_owned())),
            Event::Decl(_) if at > 0 => {
                return Err(wrong("an XML declaration that is not at the beginning".to_owned()));
            }
            Event::PI(instruction) if !is_plain_name(instruction.target()) => {
                return Err(wrong("a processing instruction without a name".to_owned()));
            }
            Event::PI(instruction) if instruction.target().eq_ignore_ascii_case("xml") => {
                return Err(wrong("an XML declaration that is not at the beginning".to_owned()));
            }
            Event::Decl(_) | Event::PI(_) | Event::Comment(_) | Event::Empty(_) => {}
            Event::Eof => break,
        }
    }
    let (Some((name, namespace, schema)), Some(end)) = (walk.root, end) else {
        let what = if walk.depth > 0 { "the root element is not closed" } else { "no element found" };
        return Err(fault(text, text.len(), what));
    };
    Ok(Document { root: &text[start..end], name, namespace, schema })
}

struct Walk<'a> {
    reader: NsReader<&'a [u8]>,
    /// The attributes of the element that begins.
    attributes: Vec<(String, String)>,
    depth: usize,
    /// Name, namespace and schema of the root.
    root: Option<(String, String, Option<String>)>,
}

impl Walk<'_> {
    fn open(&mut self, tag: &BytesStart<'_>, sink: &mut dyn FnMut(Node<'_>)) -> Result<(), String> {
        if self.depth > DEEPEST {
            return Err("elements are nested too deeply".to_owned());
        }
        let (namespace, name) = self.resolved(tag.name(), true)?;
        let mut schemas = None;
        self.attributes.clear();
        let mut expanded: HashSet<(String, String)> = HashSet::new();
        if tag.attributes_raw().contains('<') {
            return Err("`<` inside a tag".to_owned());
        }
        if !are_apart(tag.attributes_raw()) {
            return Err("no whitespace between two attributes".to_owned());
        }
        for attribute in tag.attributes() {
            let attribute = attribute.map_err(|error| error.to_string())?;
            let key = attribute.key.as_ref();
            let value = unescaped(&attribute.value)?;
            if attribute.key.as_namespace_binding().is_some() {
                let is_empty = key != "xmlns" && value.is_empty();
                let is_reserved = key != "xmlns:xml" && RESERVED.contains(&&*value);
                if !is_qualified(key) || is_empty || is_reserved {
                    return Err(format!("invalid namespace declaration `{key}`"));
                }
                if value.len() > LONGEST_NAMESPACE {
                    return Err(format!("the namespace `{key}` has more than {LONGEST_NAMESPACE} bytes"));
                }
                continue;
            }
            let (space, local) = self.resolved(attribute.key, false)?;
            if space == XSI_NAMESPACE && local == "schemaLocation" {
                schemas = Some(value.clone().into_owned());
            }
            self.attributes.push((local.clone(), value.into_owned()));
            // The parser has compared those without a namespace.
            if !space.is_empty() && !expanded.insert((space, local)) {
                return Err(format!("the attribute `{key}` occurs twice"));
            }
        }
        sink(Node::Start { namespace: &namespace, name: &name, attributes: &self.attributes });
        if self.root.is_none() {
            if namespace.is_empty() {
                return Err(format!("the root element `{name}` has no namespace, but OAI-PMH requires one"));
            }
            if namespace == OAI_NAMESPACE {
                return Err("this is a response of an OAI-PMH repository, or part of one, not metadata".to_owned());
            }
            let schema = schemas.and_then(|schemas| location(&schemas, &namespace));
            self.root = Some((name, namespace, schema));
        }
        Ok(())
    }

    /// Returns namespace and local name of a valid name whose prefix is declared.
    fn resolved(&self, name: QName<'_>, is_element: bool) -> Result<(String, String), String> {
        let text = name.as_ref();
        if !is_qualified(text) {
            return Err(format!("`{text}` is not a valid name"));
        }
        if text.starts_with("xmlns:") {
            return Err(format!("`{text}` has a prefix that is reserved for declarations"));
        }
        let (found, local) = self.reader.resolver().resolve(name, is_element);
        let namespace = match found {
            ResolveResult::Bound(namespace) => unescaped(namespace.into_inner())?.into_owned(),
            ResolveResult::Unbound => String::new(),
            ResolveResult::Unknown(prefix) => return Err(format!("the prefix `{prefix}` is not declared")),
        };
        Ok((namespace, local.into_inner().to_owned()))
    }
}

fn position(reader: &NsReader<&[u8]>) -> usize {
    usize::try_from(reader.buffer_position()).expect("it is a place in a slice")
}

/// Returns the character that a reference represents.
fn character(reference: &quick_xml::events::BytesRef<'_>) -> Option<char> {
    if reference.is_char_ref() {
        return reference.resolve_char_ref().ok().flatten().filter(|character| is_legal(*character));
    }
    quick_xml::escape::resolve_predefined_entity(reference)?.chars().next()
}

/// Returns an attribute's value, unescaped.
fn unescaped(value: &str) -> Result<Cow<'_, str>, String> {
    let text = quick_xml::escape::unescape(value).map_err(|error| error.to_string())?;
    if text.chars().all(is_legal) { Ok(text) } else { Err("character that XML does not allow".to_owned()) }
}

/// Returns true if every value is followed by whitespace, or by nothing.
fn are_apart(attributes: &str) -> bool {
    let mut quote = None;
    let mut bytes = attributes.bytes().peekable();
    while let Some(byte) = bytes.next() {
        match quote {
            None if matches!(byte, b'"' | b'\'') => quote = Some(byte),
            Some(open) if open == byte => {
                quote = None;
                if bytes.peek().is_some_and(|next| !matches!(next, b' ' | b'\t' | b'\r' | b'\n')) {
                    return false;
                }
            }
            _ => {}
        }
    }
    true
}

/// Returns the schema of a namespace from pairs of both.
fn location(pairs: &str, namespace: &str) -> Option<String> {
    let mut words = pairs.split_ascii_whitespace();
    while let (Some(known), Some(schema)) = (words.next(), words.next()) {
        if known == namespace {
            return Some(schema.to_owned());
        }
    }
    None
}

/// Returns true if this is a name with at most one prefix.
fn is_qualified(name: &str) -> bool {
    name.splitn(2, ':').all(is_plain_name)
}

/// Returns true if this is a name without a colon, by the rules of XML.
fn is_plain_name(name: &str) -> bool {
    let starts = |c: char| {
        matches!(c, 'A'..='Z' | 'a'..='z' | '_' | '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}' | '\u{f8}'..='\u{2ff}'
            | '\u{370}'..='\u{37d}' | '\u{37f}'..='\u{1fff}' | '\u{200c}' | '\u{200d}' | '\u{2070}'..='\u{218f}'
            | '\u{2c00}'..='\u{2fef}' | '\u{3001}'..='\u{d7ff}' | '\u{f900}'..='\u{fdcf}' | '\u{fdf0}'..='\u{fffd}'
            | '\u{10000}'..='\u{effff}')
    };
    let goes_on = |c: char| {
        starts(c) || matches!(c, '0'..='9' | '-' | '.' | '\u{b7}' | '\u{300}'..='\u{36f}' | '\u{203f}' | '\u{2040}')
    };
    name.starts_with(starts) && name.chars().all(goes_on)
}

/// Returns an error with its line.
fn fault(text: &str, at: usize, what: &str) -> Fault {
    let before = &text.as_bytes()[..at.min(text.len())];
    let line = memchr::memchr_iter(b'\n', before).count() + 1;
    Fault(format!("line {line}: {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> Result<(String, String), String> {
        let mut said = String::new();
        let document = read(text, &mut |node| match node {
            Node::Start { name, .. } => said.push_str(name),
            Node::Text(text) => said.push_str(text),
            Node::End => said.push('.'),
        });
        document.map(|document| (document.root.to_owned(), said)).map_err(|fault| fault.0)
    }

    #[test]
    fn the_root_stands_on_its_own() {
        let root =
            "<a:r xmlns:a=\"urn:a\" a:x='1'>\n<!-- in --><b xmlns=\"urn:b\">&lt;&#233;<![CDATA[&]]></b ><a:e/></a:r>";
        let text = format!("<?xml version=\"1.0\"?>\n<?style x?><!-- out -->\n{root}\n<!-- after -->\n");
        assert_eq!(check(&text), Ok((root.to_owned(), "r\nb<é&.e..".to_owned())));
        assert_eq!(check("<r xmlns='urn:a'/>").map(|(root, _)| root), Ok("<r xmlns='urn:a'/>".to_owned()));
    }

    #[test]
    fn schemas_are_those_of_the_root() {
        let text = "<r xmlns='urn:a' xmlns:i='http://www.w3.org/2001/XMLSchema-instance' \
            i:schemaLocation='urn:b b.xsd\n urn:a a.xsd'/>";
        let document = read(text, &mut |_| {}).expect("legal");
        assert_eq!((document.name.as_str(), document.namespace.as_str()), ("r", "urn:a"));
        assert_eq!(document.schema.as_deref(), Some("a.xsd"));
    }

    #[test]
    fn what_is_not_xml_is_refused_with_its_line() {
        for (text, said) in [
            ("", "line 1: no element found"),
            ("<r xmlns='urn:a'>\n", "line 2: "),
            ("<r xmlns='urn:a'>\n<b>\n</c></r>", "line 3: "),
            ("<r/>", "has no namespace"),
            ("<r xmlns='http://www.openarchives.org/OAI/2.0/'/>", "a response of an OAI-PMH repository"),
            ("<!DOCTYPE r [<!ENTITY a 'b'>]>\n<r xmlns='urn:a'>&a;</r>", "line 1: a DOCTYPE"),
            ("<r xmlns='urn:a'>\n&nbsp;</r>", "line 2: unknown entity `&nbsp;`"),
            ("<r xmlns='urn:a'>a & b</r>", "line 1: "),
            ("<r xmlns='urn:a'>&#0;</r>", "unknown entity `&#0;`"),
            ("<r xmlns='urn:a'>\u{1}</r>", "XML does not allow"),
            ("<r xmlns='urn:a'><x:b/></r>", "the prefix `x` is not declared"),
            ("<r xmlns='urn:a' x:b='1'/>", "the prefix `x` is not declared"),
            ("<r xmlns='urn:a' b='1' b='2'/>", "line 1: "),
            ("<r xmlns='urn:a' xmlns:x='u' xmlns:y='u' x:b='1' y:b='2'/>", "the attribute `y:b` occurs twice"),
            ("<r xmlns='urn:a' b='<'/>", "`<` inside a tag"),
            ("<r xmlns='urn:a' b='&nbsp;'/>", "line 1: "),
            ("<r xmlns='urn:a'b='1'/>", "no whitespace between two attributes"),
            ("<r xmlns='urn:a' b/>", "line 1: "),
            ("<r xmlns='urn:a' xmlns:b=''/>", "invalid namespace declaration `xmlns:b`"),
            ("<r xmlns='http://www.w3.org/2000/xmlns/'/>", "line 1: "),
            ("<xmlns:r xmlns='urn:a'/>", "reserved for declarations"),
            ("<r xmlns='urn:a'><?1?></r>", "a processing instruction without a name"),
            ("<r xmlns='urn:a'><1/></r>", "`1` is not a valid name"),
            ("<r xmlns='urn:a'>]]></r>", "`]]>` in text"),
            ("<r xmlns='urn:a'><!-- a -- b --></r>", "line 1: "),
            ("<r xmlns='urn:a'/><r xmlns='urn:a'/>", "second root element"),
            ("<r xmlns='urn:a'/>x", "text outside the root element"),
            ("x<r xmlns='urn:a'/>", "text outside the root element"),
            (" <?xml version='1.0'?><r xmlns='urn:a'/>", "declaration that is not at the beginning"),
            ("<r xmlns='urn:a'><?XML x?></r>", "declaration that is not at the beginning"),
        ] {
            let error = check(text).expect_err(text);
            assert!(error.contains(said), "{text}: {error}");
        }
        let long = format!("<r xmlns='urn:{}'/>", "x".repeat(2000));
        assert!(check(&long).expect_err("long").contains("more than 1024 bytes"));
        let deep = format!("<r xmlns='urn:a'>{}", "<a>".repeat(100_000));
        assert!(check(&deep).expect_err("deep").contains("nested too deeply"));
    }
    #[test]
    fn many_attributes_are_compared_in_no_time() {
        let attributes: String = (0..200_000).map(|number| format!(" a:x{number}=''")).collect();
        let text = format!("<r xmlns='urn:a' xmlns:a='urn:b'{attributes}/>");
        assert!(check(&text).is_ok());
        let twice = text.replace("/>", " a:x0=''/>");
        assert!(check(&twice).is_err());
    }
}
