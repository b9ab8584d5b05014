//! The parts of a DIDL document that do not depend on its content.
//!
//! A document is [`open`]ed, followed by descriptors of the whole ([`identifier`], [`statement`]), then Components with
//! their descriptors ([`fixity`]) and Resources ([`reference()`], [`value`]), and is then [`close`]d. The schema
//! requires this order.

use std::io;

use modoai_protocol::query;
use modoai_protocol::xml::XmlWriter;
use sha2::{Digest as _, Sha256};

use super::open_root;
use super::steady::Value;
use crate::item::Digests;

/// The namespace of the standard's second edition.
pub const NAMESPACE: &str = "urn:mpeg:mpeg21:2002:02-DIDL-NS";

/// The location of its schema.
pub const SCHEMA: &str = "http://standards.iso.org/ittf/PubliclyAvailableStandards/MPEG-21_schema_files/did/didl.xsd";

const DII_NAMESPACE: &str = "urn:mpeg:mpeg21:2002:01-DII-NS";

/// Opens a document and its Item. `of` distinguishes the Item from all others in a response.
pub fn open(xml: &mut XmlWriter<'_>, document_id: Option<&str>, of: &str) {
    open_root(xml, "didl:DIDL", "xmlns:didl", NAMESPACE, SCHEMA);
    if let Some(document_id) = document_id {
        xml.attribute("DIDLDocumentId", document_id);
    }
    xml.raw("><didl:Item id=\"i").raw(&hex(&Sha256::digest(of)[..8])).raw("\">");
}

/// Closes the Item and the document.
pub fn close(xml: &mut XmlWriter<'_>) {
    xml.raw("</didl:Item></didl:DIDL>");
}

/// Returns the URL of a document: the request that returns it.
pub fn document_id(base_url: &str, identifier: &str) -> String {
    let arguments = [("verb", "GetRecord"), ("metadataPrefix", "oai_didl"), ("identifier", identifier)];
    format!("{base_url}?{}", query::render(arguments))
}

/// Writes a descriptor that contains one element.
pub fn statement(xml: &mut XmlWriter<'_>, write: impl FnOnce(&mut XmlWriter<'_>)) {
    xml.raw("<didl:Descriptor><didl:Statement mimeType=\"application/xml; charset=utf-8\">");
    write(xml);
    xml.raw("</didl:Statement></didl:Descriptor>");
}

/// Writes a descriptor with the identifier of the resource, a URI.
pub fn identifier(xml: &mut XmlWriter<'_>, uri: &str) {
    statement(xml, |xml| {
        xml.raw("<dii:Identifier").attribute("xmlns:dii", DII_NAMESPACE).raw(">").text(uri).raw("</dii:Identifier>");
    });
}

/// Writes a descriptor with the digests of a Component's bytes.
pub fn fixity(xml: &mut XmlWriter<'_>, digests: &Digests) {
    statement(xml, |xml| {
        xml.raw("<fixity xmlns=\"urn:modoai:fixity:1\"><digest algorithm=\"SHA-256\">").raw(&hex(&digests.sha256));
        xml.raw("</digest><digest algorithm=\"MD5\">").raw(&hex(&digests.md5)).raw("</digest></fixity>");
    });
}

/// Writes a Resource by reference.
pub fn reference(xml: &mut XmlWriter<'_>, media_type: &str, url: &str) {
    xml.raw("<didl:Resource").attribute("mimeType", media_type).attribute("ref", url).raw("/>");
}

/// Writes a Resource by value, in base64.
pub fn value(xml: &mut XmlWriter<'_>, media_type: &str, value: &mut Value) -> io::Result<()> {
    xml.raw("<didl:Resource").attribute("mimeType", media_type).raw(" encoding=\"base64\">");
    value.each_piece(&mut |piece| {
        let length = base64_simd::STANDARD.encoded_length(piece.len());
        xml.fill(length, |room| {
            let _ = base64_simd::STANDARD.encode(piece, base64_simd::Out::from_slice(room));
        });
        xml.relieve()
    })?;
    xml.raw("</didl:Resource>");
    Ok(())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
