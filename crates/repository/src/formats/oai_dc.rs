//! Unqualified Dublin Core: the properties of a file that are known without understanding its content, and the title of
//! HTML.

use std::borrow::Cow;
use std::io;

use modoai_protocol::xml::XmlWriter;

use super::{Format, Subject};
use crate::item::{Facts, Item};
use crate::site::{name, title};

/// Its metadata prefix; every repository has it.
pub(super) const PREFIX: &str = "oai_dc";
/// Namespace of the format.
pub(super) const NAMESPACE: &str = "http://www.openarchives.org/OAI/2.0/oai_dc/";
/// The URL of its schema.
pub(super) const SCHEMA: &str = "http://www.openarchives.org/OAI/2.0/oai_dc.xsd";

/// The start tag, in one piece, because millions of records are written in this format.
pub(crate) const ROOT: &str = "<oai_dc:dc xmlns:oai_dc=\"http://www.openarchives.org/OAI/2.0/oai_dc/\" \
    xmlns:dc=\"http://purl.org/dc/elements/1.1/\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" \
    xsi:schemaLocation=\"http://www.openarchives.org/OAI/2.0/oai_dc/ http://www.openarchives.org/OAI/2.0/oai_dc.xsd\">";

/// The end tag.
pub(crate) const ROOT_END: &str = "</oai_dc:dc>";

pub(super) struct OaiDc;

impl Format for OaiDc {
    fn prefix(&self) -> &str {
        PREFIX
    }

    fn namespace(&self) -> &str {
        NAMESPACE
    }

    fn schema(&self, _base_url: &str) -> String {
        SCHEMA.to_owned()
    }

    /// Returns true only the first time: a title is stored once it has been read.
    fn needs_get(&self, item: &Item) -> bool {
        item.facts.title.is_none() && title::is_in(&item.media_type)
    }

    fn write(&self, mut subject: Subject<'_>, xml: &mut XmlWriter<'_>) -> io::Result<()> {
        let item = subject.item;
        let (mut title, mut media_type) = (item.facts.title.clone(), Cow::Borrowed(&*item.media_type));
        let mut fingerprint = item.fingerprint;
        if let Some(representation) = subject.representation.take() {
            // The described file is the one that a GET returns, even if the catalogue does not know this state of it
            // yet.
            if representation.fingerprint != item.fingerprint {
                fingerprint = representation.fingerprint;
                media_type = representation.media_type().map_or(media_type, Cow::Owned);
            }
            // A page that cannot be read up to its title is described without one; the next request tries again.
            title = if title::is_in(&media_type) { title::of(&representation.file).ok() } else { None };
            if title.is_some() {
                subject.learn(&representation, Facts { title: title.clone(), digests: None });
            }
        }
        let title = title.as_deref().filter(|title| !title.is_empty());

        xml.raw("<metadata>").raw(ROOT).raw("<dc:title>");
        match title {
            Some(title) => xml.text(title),
            None => xml.text(&file_name(&item.name)),
        };
        xml.raw("</dc:title><dc:identifier>").text(&subject.repository.site_url);
        xml.text(&item.name).raw("</dc:identifier><dc:format>");
        xml.text(&media_type).raw("</dc:format><dc:format>").number(fingerprint.size);
        xml.raw(" bytes</dc:format><dc:date>").datestamp(fingerprint.modified_at());
        match dcmi_type(&media_type) {
            Some(kind) => xml.raw("</dc:date><dc:type>").raw(kind).raw("</dc:type></oai_dc:dc></metadata>"),
            None => xml.raw("</dc:date></oai_dc:dc></metadata>"),
        };
        Ok(())
    }
}

/// Returns the last segment of the name, decoded for humans.
fn file_name(item_name: &str) -> Cow<'_, str> {
    let segment = item_name.rsplit('/').next().unwrap_or_default();
    if segment.is_empty() {
        // The URL of a directory, which is possible if names are whole URLs.
        return Cow::Borrowed(item_name);
    }
    if !segment.contains('%') {
        return Cow::Borrowed(segment);
    }
    let decoded = name::decode(segment).and_then(|mut segments| segments.pop()).unwrap_or_default();
    Cow::Owned(String::from_utf8_lossy(&decoded).into_owned())
}

/// Returns the DCMI type that a media type implies, if it does.
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
        assert_eq!(file_name("http://h/a/"), "http://h/a/");
        assert_eq!(file_name("%FF"), "\u{fffd}");
    }
}
