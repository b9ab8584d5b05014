//! Contains all headers of a GET of the resource, so that a crawler need not request the resource to obtain them.
//!
//! The 2004 schema of this name is lost; this one is modoai's, published by the server itself.

use std::borrow::Cow;
use std::io;

use modoai_protocol::xml::XmlWriter;

use super::{Format, Subject, open_root};
use crate::item::Item;

/// Namespace of the format.
pub(super) const NAMESPACE: &str = "urn:modoai:http-header:1";

/// The schema, served below the repository's URL as [`SCHEMA_NAME`].
pub(super) const SCHEMA: &str = include_str!("http_header.xsd");

/// The schema's name below the repository's URL.
pub(super) const SCHEMA_NAME: &str = "http_header.xsd";

pub(super) struct HttpHeader;

impl Format for HttpHeader {
    fn prefix(&self) -> &str {
        "http_header"
    }

    fn namespace(&self) -> &str {
        NAMESPACE
    }

    fn schema(&self, base_url: &str) -> String {
        schema_url(base_url)
    }

    fn needs_get(&self, _item: &Item) -> bool {
        true
    }

    fn is_bulky(&self) -> bool {
        true
    }

    fn write(&self, subject: Subject<'_>, xml: &mut XmlWriter<'_>) -> io::Result<()> {
        let headers = subject.representation.map(|representation| representation.headers).unwrap_or_default();
        xml.raw("<metadata>");
        write(xml, subject.repository.base_url(), &headers);
        xml.raw("</metadata>");
        Ok(())
    }
}

/// Writes the element; an oai_didl record contains one, too.
pub(super) fn write(xml: &mut XmlWriter<'_>, base_url: &str, headers: &[(Cow<'static, str>, String)]) {
    open_root(xml, "http_header", "xmlns", NAMESPACE, &schema_url(base_url));
    xml.raw(" status=\"200\">");
    for (name, value) in headers {
        xml.raw("<header").attribute("name", name).raw(">").text(value).raw("</header>");
    }
    xml.raw("</http_header>");
}

fn schema_url(base_url: &str) -> String {
    format!("{base_url}/{SCHEMA_NAME}")
}
