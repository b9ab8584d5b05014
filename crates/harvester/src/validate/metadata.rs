//! Compares metadata: two serialisations of the same metadata may differ in prefixes, in the place of namespace
//! declarations and in whitespace between elements.

use modoai_protocol::xml::document::Part;
use modoai_protocol::xml::{OAI_NAMESPACE, XSI_NAMESPACE};
use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};
use quick_xml::name::{QName, ResolveResult};
use quick_xml::reader::NsReader;
use xxhash_rust::xxh3::Xxh3;

/// The properties of a record's metadata that are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Metadata {
    /// The namespace of its root element.
    pub(crate) namespace: String,
    /// A hash that is the same for all serialisations of the same content.
    pub(crate) fingerprint: u64,
}

/// Reads a foreign element. Other checks report bytes that are not text, and XML errors.
pub(crate) fn look(part: &Part) -> Metadata {
    let text = String::from_utf8_lossy(&part.bytes);
    let mut reader = NsReader::from_str(&text);
    reader.config_mut().expand_empty_elements = true;
    let mut hash = Xxh3::new();
    let mut namespace = None;
    let mut run = String::new();
    loop {
        match reader.read_event() {
            Ok(Event::Start(tag)) => {
                end_run(&mut run, &mut hash);
                let name = expanded(&reader, part, tag.name(), true);
                hash.update(format!("<{{{}}}{}", name.0, name.1).as_bytes());
                attributes(&reader, part, &tag, &mut hash);
                namespace.get_or_insert(name.0);
            }
            Ok(Event::End(_)) => {
                end_run(&mut run, &mut hash);
                hash.update(b">");
            }
            Ok(Event::Text(text)) => run.push_str(&text.xml10_content()),
            Ok(Event::CData(text)) => run.push_str(&text.xml10_content()),
            Ok(Event::GeneralRef(reference)) => match reference.resolve_char_ref() {
                Ok(Some(character)) => run.push(character),
                _ => run.push_str(quick_xml::escape::resolve_predefined_entity(&reference).unwrap_or(&reference)),
            },
            Ok(Event::Eof) | Err(_) => break,
            Ok(_) => {}
        }
    }
    Metadata { namespace: namespace.unwrap_or_default(), fingerprint: hash.digest() }
}

/// Hashes text word by word.
fn end_run(run: &mut String, hash: &mut Xxh3) {
    let mut first = true;
    for word in run.split_whitespace() {
        hash.update(if first { b"\"" } else { b" " });
        hash.update(word.as_bytes());
        first = false;
    }
    run.clear();
}

fn attributes(reader: &NsReader<&[u8]>, part: &Part, tag: &BytesStart<'_>, hash: &mut Xxh3) {
    let mut found: Vec<String> = Vec::new();
    for attribute in tag.attributes().flatten() {
        if attribute.key.as_namespace_binding().is_some() {
            continue;
        }
        let (namespace, name) = expanded(reader, part, attribute.key, false);
        if namespace != XSI_NAMESPACE {
            let value = attribute.normalized_value(XmlVersion::Implicit1_0).unwrap_or_default();
            found.push(format!("@{{{namespace}}}{name}={value}"));
        }
    }
    found.sort();
    for attribute in found {
        hash.update(attribute.as_bytes());
    }
}

/// Returns a name with its namespace, which may be declared outside of the part.
fn expanded(reader: &NsReader<&[u8]>, part: &Part, name: QName<'_>, is_element: bool) -> (String, String) {
    let (local, prefix) = name.decompose();
    let prefix = prefix.map(quick_xml::name::Prefix::into_inner).unwrap_or_default();
    let inherited = || {
        let found = part.namespaces.iter().find(|(given, _)| given == prefix);
        found.map(|(_, uri)| uri.clone()).unwrap_or_default()
    };
    let (resolved, _) = reader.resolver().resolve(name, is_element);
    let namespace = match resolved {
        ResolveResult::Bound(namespace) => namespace.into_inner().to_owned(),
        ResolveResult::Unknown(_) => inherited(),
        ResolveResult::Unbound if is_element => inherited(),
        ResolveResult::Unbound => String::new(),
    };
    (namespace, local.into_inner().to_owned())
}

/// Returns true if a namespace is not that of the protocol, as required for metadata.
pub(crate) fn is_foreign(namespace: &str) -> bool {
    !namespace.is_empty() && namespace != OAI_NAMESPACE
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(bytes: &str, namespaces: &[(&str, &str)]) -> Part {
        let owned = |(prefix, uri): &(&str, &str)| ((*prefix).to_owned(), (*uri).to_owned());
        Part { bytes: bytes.as_bytes().to_vec(), namespaces: namespaces.iter().map(owned).collect() }
    }

    #[test]
    fn prefixes_and_white_space_do_not_matter_and_texts_do() {
        let one = look(&part("<a:r xmlns:a=\"urn:a\"><a:t x=\"1\" y=\"2\">A &amp; B</a:t></a:r>", &[]));
        let two = look(&part("<r>\n  <t y='2' x='1'>A &#38;  B</t>\n</r>", &[("", "urn:a")]));
        let other = look(&part("<r><t y='2' x='1'>A &#38; C</t></r>", &[("", "urn:a")]));
        assert_eq!(one, two);
        assert_eq!(one.namespace, "urn:a");
        assert_ne!(one, other);
    }
}
