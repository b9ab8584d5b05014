//! A record as a document of its own: what was around the metadata in the answer it came with.
//!
//! What a container holds is as it was received, so everything it inherits is declared on the container, and nothing is
//! declared further out that it did not inherit: least of all a default namespace.

use modoai_protocol::xml::OAI_NAMESPACE;
use modoai_protocol::xml::writer::escape_into;

use crate::record::Header;
use crate::sink::container::Surroundings;

/// What is in force where the containers are.
pub(super) const RECORD: Surroundings = Surroundings { declared: &[("oai", OAI_NAMESPACE)], stem: "oai" };

/// The end of a record.
pub(super) const CLOSING: &[u8] = b"</oai:record>\n";

/// The beginning of a record: all that is before its first container.
pub(super) fn opening(header: &Header) -> Vec<u8> {
    let mut xml = format!("<oai:record xmlns:oai=\"{OAI_NAMESPACE}\"><oai:header").into_bytes();
    xml.extend_from_slice(if header.deleted { b" status=\"deleted\">" } else { b">" });
    let fields = [("identifier", &header.identifier), ("datestamp", &header.datestamp)];
    for (name, text) in fields.into_iter().chain(header.sets.iter().map(|set| ("setSpec", set))) {
        xml.extend_from_slice(format!("<oai:{name}>").as_bytes());
        escape_into(&mut xml, text);
        xml.extend_from_slice(format!("</oai:{name}>").as_bytes());
    }
    xml.extend_from_slice(b"</oai:header>");
    xml
}
