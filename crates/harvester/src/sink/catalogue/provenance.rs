//! Describes the origin of a record, in an `about` container as the OAI guidelines for provenance define it.
//!
//! modoai's description is the outermost. If the record arrived with one, because it was harvested from an aggregator,
//! that one is nested unchanged in modoai's, byte by byte. So a record that passed through three repositories names all
//! three.

use modoai_protocol::Datestamp;
use modoai_protocol::xml::writer::escaped;
use quick_xml::events::{BytesStart, Event};

use super::scope::{ANSWER, Namespaces, resolve};
use crate::record::Header;
use crate::sink::Origin;

const PROVENANCE: &str = "http://www.openarchives.org/OAI/2.0/provenance";

/// The provenance description in a received record.
pub(super) struct Received {
    /// The element `originDescription`.
    pub(super) bytes: Vec<u8>,
    /// The declarations it inherits.
    namespaces: Namespaces,
    /// The prefix of the element around it.
    prefix: String,
}

/// The description in an about container, if it is one of provenance.
pub(super) fn received(fragment: &[u8], inherited: &[(String, String)]) -> Option<Received> {
    let mut reader = quick_xml::Reader::from_reader(fragment);
    let mut namespaces = inherited.to_vec();
    let Event::Start(root) = reader.read_event().ok()? else { return None };
    declare(&root, &mut namespaces)?;
    let prefix = is_ours(&root, "provenance", &namespaces)?;
    loop {
        let start = usize::try_from(reader.buffer_position()).ok()?;
        match reader.read_event().ok()? {
            Event::Start(child) => {
                let mut inner = namespaces.clone();
                declare(&child, &mut inner)?;
                is_ours(&child, "originDescription", &inner)?;
                reader.read_to_end(child.name()).ok()?;
                let end = usize::try_from(reader.buffer_position()).ok()?;
                return Some(Received { bytes: fragment[start..end].to_vec(), namespaces, prefix });
            }
            Event::Text(_) | Event::Comment(_) | Event::PI(_) => {}
            _ => return None,
        }
    }
}

/// Brings the namespace declarations of a tag into scope.
fn declare(tag: &BytesStart<'_>, namespaces: &mut Namespaces) -> Option<()> {
    for attribute in tag.attributes() {
        let attribute = attribute.ok()?;
        let prefix = match attribute.key.as_ref().strip_prefix("xmlns") {
            Some("") => "",
            Some(rest) => rest.strip_prefix(':')?,
            None => continue,
        };
        namespaces.push((prefix.to_owned(), quick_xml::escape::unescape(&attribute.value).ok()?.into_owned()));
    }
    Some(())
}

/// Returns the prefix of an element, if it has that name in the provenance namespace.
fn is_ours(tag: &BytesStart<'_>, local: &str, namespaces: &[(String, String)]) -> Option<String> {
    let name = tag.name();
    let (prefix, name) = name.as_ref().split_once(':').unwrap_or(("", name.as_ref()));
    (name == local && resolve(namespaces, prefix) == Some(PROVENANCE)).then(|| prefix.to_owned())
}

/// The bytes before and after the nested description.
pub(super) struct Around {
    pub(super) before: String,
    pub(super) after: String,
}

/// Returns modoai's about container. Its attribute `altered` reports any alteration.
pub(super) fn around(origin: &Origin, header: &Header, altered: bool, received: Option<&Received>) -> Around {
    let colon = |prefix: &str| if prefix.is_empty() { String::new() } else { format!("{prefix}:") };
    let (p, scope) = match received {
        Some(received) => (colon(&received.prefix), received.namespaces.clone()),
        None => (String::new(), vec![(String::new(), PROVENANCE.to_owned())]),
    };
    let declared = ANSWER.declarations(&scope);
    // The received description may declare another meaning of xsi; otherwise the declaration of the response is in
    // force.
    let location = match resolve(&scope, "xsi") {
        Some(uri) if uri != modoai_protocol::xml::XSI_NAMESPACE => String::new(),
        _ => format!(" xsi:schemaLocation=\"{PROVENANCE} {PROVENANCE}.xsd\""),
    };
    let Origin { base_url, namespace, harvested, .. } = origin;
    let datestamp = dated(&header.datestamp, *harvested);
    let before = format!(
        "<about><{p}provenance{declared}{location}><{p}originDescription harvestDate=\"{harvested}\" \
         altered=\"{altered}\"><{p}baseURL>{}</{p}baseURL><{p}identifier>{}</{p}identifier>\
         <{p}datestamp>{datestamp}</{p}datestamp><{p}metadataNamespace>{}</{p}metadataNamespace>",
        escaped(base_url),
        escaped(&header.identifier),
        escaped(namespace),
    );
    Around { before, after: format!("</{p}originDescription></{p}provenance></about>") }
}

/// The datestamp as the server wrote it, if that is a date; else the moment of the harvest, before which it must have been.
fn dated(written: &str, harvested: Datestamp) -> String {
    let written = written.trim();
    let day = written.get(..10).unwrap_or_default();
    let time = written.get(10..).unwrap_or_default();
    let is_time = time.is_empty()
        || (time.starts_with('T')
            && modoai_protocol::Bound::parse(&format!("{day}{}Z", time.get(..9).unwrap_or_default())).is_some()
            && time[9..].bytes().all(|byte| byte.is_ascii_digit() || b".:+-Z".contains(&byte)));
    let is_date = modoai_protocol::Bound::parse(day).is_some() && is_time;
    if is_date { written.to_owned() } else { harvested.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin() -> Origin {
        Origin {
            base_url: "http://a.example/oai?x&y".to_owned(),
            prefix: "oai_dc".to_owned(),
            schema: "http://www.openarchives.org/OAI/2.0/oai_dc.xsd".to_owned(),
            namespace: "http://www.openarchives.org/OAI/2.0/oai_dc/".to_owned(),
            harvested: Datestamp::from_unix(0),
        }
    }

    #[test]
    fn a_received_description_is_found_and_nested() {
        let inner = "<p:originDescription harvestDate='2020-01-01'>…</p:originDescription>";
        let fragment = format!("<p:provenance xmlns:p='{PROVENANCE}' xmlns:z='urn:z'>\n{inner}</p:provenance>");
        let inherited = [(String::new(), modoai_protocol::xml::OAI_NAMESPACE.to_owned())];
        let found = received(fragment.as_bytes(), &inherited).expect("it is one");
        assert_eq!(found.bytes, inner.as_bytes());
        let header = Header { identifier: "a<b".to_owned(), datestamp: "2020-01-01".to_owned(), ..Header::default() };
        let around = around(&origin(), &header, false, Some(&found));
        assert!(around.before.starts_with("<about><p:provenance xmlns:p="), "{}", around.before);
        assert!(around.before.contains(" xmlns:z=\"urn:z\""), "{}", around.before);
        assert!(around.before.contains("<p:identifier>a&lt;b</p:identifier><p:datestamp>2020-01-01</p:datestamp>"));
        assert_eq!(around.after, "</p:originDescription></p:provenance></about>");
    }

    #[test]
    fn anything_else_is_left_alone() {
        for other in ["<rights/>", "<provenance/>", "<provenance><originDescription/></provenance>", "<a", ""] {
            assert!(received(other.as_bytes(), &[]).is_none(), "{other}");
        }
        let empty = format!("<provenance xmlns='{PROVENANCE}'><b/></provenance>");
        assert!(received(empty.as_bytes(), &[]).is_none());
    }

    #[test]
    fn only_dates_are_taken_for_dates() {
        let now = Datestamp::from_unix(0);
        for good in ["2020-02-29", "2020-01-01T10:00:00Z", "2020-01-01T10:00:00.123+02:00"] {
            assert_eq!(dated(good, now), good);
        }
        for bad in ["", "yesterday", "2020-02-30", "2020-01-01 10:00:00", "2020-01-01T99:00:00Z", "2020-01-01é"] {
            assert_eq!(dated(bad, now), "1970-01-01T00:00:00Z");
        }
    }
}
