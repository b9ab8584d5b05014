//! Unqualified Dublin Core: what can be said of a file without understanding it, and its title where it carries one.

use std::io;

use modoai_protocol::xml::XmlWriter;

use super::{Format, Subject, open_root};
use crate::item::{Facts, Item};
use crate::site::{name, title};

const NAMESPACE: &str = "http://www.openarchives.org/OAI/2.0/oai_dc/";
const SCHEMA: &str = "http://www.openarchives.org/OAI/2.0/oai_dc.xsd";

pub(super) struct OaiDc;

impl Format for OaiDc {
    fn prefix(&self) -> &'static str {
        "oai_dc"
    }

    fn namespace(&self) -> &'static str {
        NAMESPACE
    }

    fn schema(&self, _base_url: &str) -> String {
        SCHEMA.to_owned()
    }

    /// Only the first time: a title is remembered once it has been read.
    fn needs_get(&self, item: &Item) -> bool {
        item.facts.title.is_none() && title::is_in(&item.media_type)
    }

    fn write(&self, mut subject: Subject<'_>, xml: &mut XmlWriter<'_>) -> io::Result<()> {
        let item = subject.item;
        let read_now = match subject.representation.take() {
            Some(representation) => {
                // A page that cannot be read to its title is described without one; the next request tries again.
                let title = title::of(&representation.file).ok();
                if title.is_some() {
                    subject.learn(&representation, Facts { title: title.clone(), digests: None });
                }
                title
            }
            None => None,
        };
        let title = read_now.as_deref().or(item.facts.title.as_deref()).filter(|title| !title.is_empty());

        open_root(xml, "oai_dc:dc", "xmlns:oai_dc", NAMESPACE, SCHEMA);
        xml.raw(" xmlns:dc=\"http://purl.org/dc/elements/1.1/\">");
        match title {
            Some(title) => xml.element("dc:title", title),
            None => xml.element("dc:title", &file_name(&item.name)),
        };
        xml.element("dc:identifier", subject.url);
        xml.element("dc:format", &item.media_type);
        xml.raw("<dc:format>").number(item.fingerprint.size).raw(" bytes</dc:format><dc:date>");
        xml.datestamp(item.fingerprint.modified_at()).raw("</dc:date>");
        if let Some(kind) = dcmi_type(&item.media_type) {
            xml.element("dc:type", kind);
        }
        xml.raw("</oai_dc:dc>");
        Ok(())
    }
}

/// The last segment of the name as a person would write it.
fn file_name(item_name: &str) -> String {
    let segment = item_name.rsplit('/').next().unwrap_or_default();
    let decoded = name::decode(segment).and_then(|mut segments| segments.pop()).unwrap_or_default();
    String::from_utf8_lossy(&decoded).into_owned()
}

/// The DCMI type a media type implies, where it implies one.
fn dcmi_type(media_type: &str) -> Option<&'static str> {
    match media_type.split_once('/')? {
        ("text", "csv" | "tab-separated-values") => Some("Dataset"),
        ("text", "javascript" | "css") => Some("Software"),
        ("text", _) => Some("Text"),
        ("image", _) => Some("StillImage"),
        ("audio", _) => Some("Sound"),
        ("video", _) => Some("MovingImage"),
        ("application", "pdf" | "xhtml+xml" | "rtf" | "msword" | "epub+zip" | "postscript") => Some("Text"),
        ("application", subtype) if subtype.contains("wordprocessingml") || subtype.contains("opendocument.text") => {
            Some("Text")
        }
        ("application", "json" | "geo+json" | "xml" | "vnd.sqlite3") => Some("Dataset"),
        ("application", "javascript" | "wasm") => Some("Software"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_name_is_shown_as_people_write_it() {
        assert_eq!(file_name("a/100%25%20sure.txt"), "100% sure.txt");
        assert_eq!(file_name("%C3%A9"), "é");
        assert_eq!(file_name("%FF"), "\u{fffd}");
    }
}
