//! MPEG-21 DIDL: the resource itself, wrapped for keeping, with what was known about it when it was wrapped.
//!
//! One Item with two descriptors (its URL as a DII identifier, the headers of a GET) and one Component: its digests, the
//! resource by reference always, and by value in base64 up to a size. Two Resources in one Component claim to be the
//! same bytes, so headers, digests and value always belong to one opening of the file (see [`super::steady`]).

use std::io;

use modoai_protocol::query;
use modoai_protocol::xml::XmlWriter;
use sha2::{Digest as _, Sha256};

use super::steady::{self, Value};
use super::{Format, Subject, http_header, open_root};
use crate::catalogue::Detail;
use crate::item::{Digests, Facts, Item};

const NAMESPACE: &str = "urn:mpeg:mpeg21:2002:02-DIDL-NS";
const SCHEMA: &str = "http://standards.iso.org/ittf/PubliclyAvailableStandards/MPEG-21_schema_files/did/didl.xsd";
const STATEMENT: &str = "<didl:Descriptor><didl:Statement mimeType=\"application/xml; charset=utf-8\">";
const STATEMENT_END: &str = "</didl:Statement></didl:Descriptor>";

pub(super) struct OaiDidl;

impl Format for OaiDidl {
    fn prefix(&self) -> &str {
        "oai_didl"
    }

    fn namespace(&self) -> &str {
        NAMESPACE
    }

    fn schema(&self, _base_url: &str) -> String {
        SCHEMA.to_owned()
    }

    fn detail(&self) -> Detail {
        Detail::Whole
    }

    fn needs_get(&self, _item: &Item) -> bool {
        true
    }

    fn is_bulky(&self) -> bool {
        true
    }

    fn write(&self, mut subject: Subject<'_>, xml: &mut XmlWriter<'_>) -> io::Result<()> {
        let Some(representation) = subject.representation.take() else {
            return Err(io::Error::other("a file to be described is missing"));
        };
        let mut steady = steady::read(&mut subject, representation)?;
        if let (Some(digests), true) = (steady.digests, steady.digests_are_new) {
            subject.learn(&steady.representation, Facts { title: None, digests: Some(digests) });
        }
        let value = steady.value.take();
        let (item, url, base_url) = (subject.item, subject.url(), subject.repository.base_url());
        let media_type = steady.representation.headers.iter().find(|(name, _)| name == "Content-Type");
        let media_type = media_type.map_or(&*item.media_type, |(_, value)| value.as_str());

        xml.raw("<metadata>");
        open_root(xml, "didl:DIDL", "xmlns:didl", NAMESPACE, SCHEMA);
        xml.attribute("DIDLDocumentId", &document_id(base_url, &subject.identifier())).raw("><didl:Item id=\"i");
        xml.raw(&hex(&Sha256::digest(&url)[..8])).raw("\">").raw(STATEMENT);
        xml.raw("<dii:Identifier xmlns:dii=\"urn:mpeg:mpeg21:2002:01-DII-NS\">").text(&url).raw("</dii:Identifier>");
        xml.raw(STATEMENT_END).raw(STATEMENT);
        http_header::write(xml, base_url, &steady.representation.headers);
        xml.raw(STATEMENT_END).raw("<didl:Component>");
        if let Some(digests) = &steady.digests {
            fixity(xml, digests);
        }
        xml.raw("<didl:Resource").attribute("mimeType", media_type).attribute("ref", &url).raw("/>");
        if let Some(mut value) = value {
            write_value(&mut value, media_type, xml)?;
            value.recycle(&mut subject.desk.buffer);
        }
        xml.raw("</didl:Component></didl:Item></didl:DIDL></metadata>");
        Ok(())
    }
}

/// The DIDL document has a URL of its own: the request that returns it.
fn document_id(base_url: &str, identifier: &str) -> String {
    let arguments = [("verb", "GetRecord"), ("metadataPrefix", "oai_didl"), ("identifier", identifier)];
    format!("{base_url}?{}", query::render(arguments))
}

fn fixity(xml: &mut XmlWriter<'_>, digests: &Digests) {
    xml.raw(STATEMENT).raw("<fixity xmlns=\"urn:modoai:fixity:1\"><digest algorithm=\"SHA-256\">");
    xml.raw(&hex(&digests.sha256)).raw("</digest><digest algorithm=\"MD5\">").raw(&hex(&digests.md5));
    xml.raw("</digest></fixity>").raw(STATEMENT_END);
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn write_value(value: &mut Value, media_type: &str, xml: &mut XmlWriter<'_>) -> io::Result<()> {
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
