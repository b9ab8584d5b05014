//! Resolves namespaces: those that are declared, and well-known prefixes that many records use without a declaration.

use modoai_protocol::xml::{OAI_NAMESPACE, XSI_NAMESPACE};
use quick_xml::events::Event;

use crate::sink::container::Surroundings;

/// The namespaces that are in force where metadata begins in a response of modoai.
pub(super) const ANSWER: Surroundings =
    Surroundings { declared: &[("", OAI_NAMESPACE), ("xsi", XSI_NAMESPACE)], stem: "oai" };

/// Prefixes that many records use without a declaration, and that have a well-known meaning.
const WELL_KNOWN: [(&str, &str); 6] = [
    ("xsi", XSI_NAMESPACE),
    ("oai_dc", "http://www.openarchives.org/OAI/2.0/oai_dc/"),
    ("dc", "http://purl.org/dc/elements/1.1/"),
    ("dcterms", "http://purl.org/dc/terms/"),
    ("xlink", "http://www.w3.org/1999/xlink"),
    ("rdf", "http://www.w3.org/1999/02/22-rdf-syntax-ns#"),
];

/// Prefixes and URIs; the default namespace has an empty prefix.
pub(super) type Namespaces = Vec<(String, String)>;

/// The URI of a prefix; the last declaration counts.
pub(super) fn resolve<'a>(namespaces: &'a [(String, String)], prefix: &str) -> Option<&'a str> {
    namespaces.iter().rev().find(|(known, _)| known == prefix).map(|(_, uri)| uri.as_str())
}

/// Returns the namespace of a well-known prefix.
pub(super) fn well_known(prefix: &str) -> Option<&'static str> {
    WELL_KNOWN.iter().find(|(known, _)| *known == prefix).map(|(_, uri)| *uri)
}

/// Returns true if the first tag of a fragment declares the default namespace.
pub(super) fn owns_default(fragment: &[u8]) -> bool {
    match quick_xml::Reader::from_reader(fragment).read_event() {
        Ok(Event::Start(tag) | Event::Empty(tag)) => {
            tag.attributes().flatten().any(|attribute| attribute.key.as_ref() == "xmlns")
        }
        _ => false,
    }
}
