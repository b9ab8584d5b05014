//! MPEG-21 DIDL: the resource itself in an archival package, with its properties at the time of packaging.
//!
//! One Item with two descriptors (its URL as a DII identifier, the headers of a GET) and one Component: its digests,
//! the resource by reference always, and by value in base64 up to a size. Two Resources in one Component claim to be
//! the same bytes, so headers, digests and value always belong to one opening of the file (see [`super::steady`]).

use std::io;

use modoai_protocol::xml::XmlWriter;

use super::didl::{self, NAMESPACE, SCHEMA};
use super::{Format, Subject, http_header, steady};
use crate::catalogue::Detail;
use crate::item::{Facts, Item};

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

    fn contains_files(&self) -> bool {
        true
    }

    fn is_bulky(&self) -> bool {
        true
    }

    fn write(&self, mut subject: Subject<'_>, xml: &mut XmlWriter<'_>) -> io::Result<()> {
        let Some(representation) = subject.representation.take() else {
            return Err(io::Error::other("a file to be described is missing"));
        };
        let (item, host) = (subject.item, subject.host);
        let known = item.facts.digests.map(|digests| (item.fingerprint, digests));
        let settings = &subject.repository.settings;
        let (limit, temporary) = (settings.by_value_limit, &settings.temporary_directory);
        let again = || host.get(item);
        let steady = steady::read(representation, again, limit, temporary, known, &mut subject.desk.buffer)?;
        if let (Some(digests), true) = (steady.digests, steady.digests_are_new) {
            subject.learn(&steady.opened, Facts { title: None, digests: Some(digests) });
        }
        let (url, base_url) = (subject.url(), subject.repository.base_url());
        let media_type = steady.opened.headers.iter().find(|(name, _)| name == "Content-Type");
        let media_type = media_type.map_or(&*item.media_type, |(_, value)| value.as_str());

        xml.raw("<metadata>");
        didl::open(xml, Some(&didl::document_id(base_url, &subject.identifier())), &url);
        didl::identifier(xml, &url);
        didl::statement(xml, |xml| http_header::write(xml, base_url, &steady.opened.headers));
        xml.raw("<didl:Component>");
        if let Some(digests) = &steady.digests {
            didl::fixity(xml, digests);
        }
        didl::reference(xml, media_type, &url);
        if let Some(mut value) = steady.value {
            didl::value(xml, media_type, &mut value)?;
            value.recycle(&mut subject.desk.buffer);
        }
        xml.raw("</didl:Component>");
        didl::close(xml);
        xml.raw("</metadata>");
        Ok(())
    }
}
