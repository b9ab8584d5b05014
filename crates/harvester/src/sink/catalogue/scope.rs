//! Namespaces: which prefixes are declared, and what an element around a fragment must declare for it.

use std::fmt::Write as _;

use modoai_protocol::xml::{OAI_NAMESPACE, XSI_NAMESPACE};
use quick_xml::events::Event;

/// Prefixes that many forget to declare, and that mean the same everywhere.
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

/// What a well-known prefix means.
pub(super) fn well_known(prefix: &str) -> Option<&'static str> {
    WELL_KNOWN.iter().find(|(known, _)| *known == prefix).map(|(_, uri)| *uri)
}

/// Whether the first tag of a fragment declares the default namespace.
pub(super) fn owns_default(fragment: &[u8]) -> bool {
    match quick_xml::Reader::from_reader(fragment).read_event() {
        Ok(Event::Start(tag) | Event::Empty(tag)) => {
            tag.attributes().flatten().any(|attribute| attribute.key.as_ref() == "xmlns")
        }
        _ => false,
    }
}

/// An element around a fragment.
pub(super) struct Container {
    /// Its start tag.
    pub(super) open: String,
    /// Its end tag.
    pub(super) close: String,
}

/// The container of that name, one of the protocol's own, in an answer of ours, for a fragment that needs these
/// namespaces; `owns_default` says that the fragment declares the default namespace itself.
pub(super) fn container(name: &str, namespaces: &[(String, String)], owns_default: bool) -> Container {
    let default = resolve(namespaces, "").unwrap_or_default();
    if owns_default || default == OAI_NAMESPACE {
        let open = format!("<{name}{}>", declarations(namespaces, str::is_empty));
        return Container { open, close: format!("</{name}>") };
    }
    // Another default namespace, or none, is in force, so that ours needs a prefix: one that means it already, if any.
    let known = namespaces.iter().find(|(prefix, uri)| !prefix.is_empty() && uri == OAI_NAMESPACE);
    let (prefix, declaration) = match known {
        Some((prefix, _)) => (prefix.clone(), String::new()),
        None => {
            let free = |candidate: &String| resolve(namespaces, candidate).is_none();
            let prefix = (0_u32..).map(|n| if n == 0 { "oai".to_owned() } else { format!("oai{n}") }).find(free);
            let prefix = prefix.expect("there are more numbers than declarations");
            let declaration = format!(" xmlns:{prefix}=\"{OAI_NAMESPACE}\"");
            (prefix, declaration)
        }
    };
    let rest = declarations(namespaces, |_| false);
    let none = if default.is_empty() { " xmlns=\"\"" } else { "" };
    let open = format!("<{prefix}:{name}{declaration}{none}{rest}>");
    Container { open, close: format!("</{prefix}:{name}>") }
}

/// Declarations as attributes, but for those that are in force in all our answers anyway or that the caller leaves out.
pub(super) fn declarations(namespaces: &[(String, String)], leave_out: impl Fn(&str) -> bool) -> String {
    let mut text = String::new();
    for (at, (prefix, uri)) in namespaces.iter().enumerate() {
        let is_ours = prefix == "xsi" && uri == XSI_NAMESPACE;
        let is_overruled = namespaces[at + 1..].iter().any(|(later, _)| later == prefix);
        // A prefix cannot be undeclared, and only the default namespace can be none.
        if is_ours || is_overruled || leave_out(prefix) || uri.is_empty() || prefix == "xml" {
            continue;
        }
        let colon = if prefix.is_empty() { "" } else { ":" };
        let _ = write!(text, " xmlns{colon}{prefix}=\"{}\"", escaped(uri));
    }
    text
}

/// Text as it may stand in an attribute or between tags.
pub(super) fn escaped(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    modoai_protocol::xml::writer::escape_into(&mut out, text);
    String::from_utf8(out).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(namespaces: &[(&str, &str)], owns_default: bool) -> String {
        let owned: Vec<_> = namespaces.iter().map(|(prefix, uri)| ((*prefix).to_owned(), (*uri).to_owned())).collect();
        let container = container("metadata", &owned, owns_default);
        format!("{} {}", container.open, container.close)
    }

    #[test]
    fn only_what_is_missing_is_declared() {
        assert_eq!(opened(&[("", OAI_NAMESPACE), ("xsi", XSI_NAMESPACE)], false), "<metadata> </metadata>");
        assert_eq!(opened(&[("a", "u&v")], true), "<metadata xmlns:a=\"u&amp;v\"> </metadata>");
    }

    #[test]
    fn another_default_namespace_moves_ours_to_a_prefix() {
        let oai = format!("xmlns:oai=\"{OAI_NAMESPACE}\"");
        assert_eq!(opened(&[], false), format!("<oai:metadata {oai} xmlns=\"\"> </oai:metadata>"));
        assert_eq!(opened(&[("", "urn:x")], false), format!("<oai:metadata {oai} xmlns=\"urn:x\"> </oai:metadata>"));
        let taken = opened(&[("oai", "urn:y"), ("oai1", OAI_NAMESPACE)], false);
        assert_eq!(
            taken,
            format!("<oai1:metadata xmlns=\"\" xmlns:oai=\"urn:y\" xmlns:oai1=\"{OAI_NAMESPACE}\"> </oai1:metadata>")
        );
    }
}
