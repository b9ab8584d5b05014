//! Descriptions in Identify that the administrator writes: eprints, rights, friends, branding, and any other container.
//!
//! A description is one XML element, in a file or in the configuration itself. It is checked once, when the
//! configuration is read, because one invalid element would make every Identify response unreadable. modoai copies it
//! unmodified, so every container that a schema defines now or later can be used.

use std::fs;
use std::path::Path;

use modoai_protocol::xml::OAI_NAMESPACE;
use modoai_protocol::xml::reader::fragment::{Fragment, Node};
use modoai_protocol::xml::reader::{Fault, ReadError};
use modoai_settings::{Problem, Value};

/// A checked element for Identify.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// The element, with all its namespace declarations.
    pub xml: String,
    /// Its namespace.
    pub namespace: String,
}

impl Description {
    /// Reads a file that contains one element.
    pub fn read(file: &Path) -> Result<Self, String> {
        let shown = file.display();
        let text = fs::read_to_string(file).map_err(|error| format!("has the unreadable file {shown}: {error}"))?;
        Self::parse(&text).map_err(|(line, what)| format!("has an invalid file: {shown}:{line}: {what}"))
    }

    /// Parses the value of the setting: paths of files, or elements.
    pub(crate) fn read_all(value: &Value) -> Result<Vec<Self>, Problem> {
        let read = |value: &Value| {
            let text = value.text()?;
            let read = if text.trim_start().starts_with('<') {
                Self::parse(text).map_err(|(_, what)| format!("has an invalid element: {what}"))
            } else {
                Self::read(&value.path()?)
            };
            read.map_err(|what| value.problem(what))
        };
        value.items().map(read).collect()
    }

    /// Parses a document; what surrounds its element is omitted. An error has the line.
    fn parse(text: &str) -> Result<Self, (usize, String)> {
        let text = text.trim_start_matches('\u{feff}');
        let line = |offset: usize| text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1;
        let place = |offset: u64| usize::try_from(offset).unwrap_or(text.len());
        let (mut root, mut end, mut bare) = (None, 0, None);
        let mut document = Fragment::document();
        let read = document.push(text.as_bytes(), &mut |node| {
            match node {
                Node::Start(start) => {
                    if start.namespace.is_empty() || start.namespace == OAI_NAMESPACE {
                        bare.get_or_insert_with(|| (place(start.offset), start.name.to_owned()));
                    }
                    root.get_or_insert_with(|| (place(start.offset), start.namespace.to_owned()));
                }
                Node::End { after } => end = place(after),
                Node::Text(_) => {}
            }
            Ok::<_, ReadError>(())
        });
        read.and_then(|()| document.finish()).map_err(|ReadError { offset, fault }| {
            let what = match fault {
                Fault::Truncated { .. } => "the element is incomplete".to_owned(),
                fault => fault.to_string(),
            };
            (line(place(offset)), what)
        })?;
        if let Some((offset, name)) = bare {
            let what = "must be in a namespace other than that of OAI-PMH; omit <description> itself";
            return Err((line(offset), format!("<{name}> {what}")));
        }
        let (start, namespace) = root.unwrap_or_default();
        Ok(Self { xml: text.get(start..end).unwrap_or_default().to_owned(), namespace })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_element_is_copied_without_what_precedes_it() {
        let text =
            "\u{feff}<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- ours -->\n<a xmlns=\"urn:a\">\n<b>ä</b></a>\n";
        let description = Description::parse(text).expect("good");
        assert_eq!(description.xml, "<a xmlns=\"urn:a\">\n<b>ä</b></a>");
        assert_eq!(description.namespace, "urn:a");
    }

    #[test]
    fn an_error_has_its_line() {
        for (text, line, what) in [
            ("", 1, "incomplete"),
            ("<!-- x -->", 1, "incomplete"),
            ("<?xml version='1.0'?>\n<a xmlns='urn:a'>\n<b></a>", 3, "'b' is closed"),
            ("<a xmlns='urn:a'/>\n<b xmlns='urn:b'/>", 2, "after"),
            ("<a xmlns='urn:a'>&nbsp;</a>", 1, "nbsp"),
            ("<a xmlns='urn:a'>\n\u{1}</a>", 2, "U+0001"),
            ("<!DOCTYPE a>\n<a xmlns='urn:a'/>", 1, "document type"),
            ("<a xmlns='urn:a'\n x:b=''/>", 1, "'x'"),
            ("\n<a/>", 2, "<a> must be in a namespace"),
            ("<description><a xmlns='urn:a'/></description>", 1, "<description> must be in a namespace"),
            ("<x:a xmlns:x='urn:a'><b/></x:a>", 1, "<b> must be in a namespace"),
            ("<a xmlns='http://www.openarchives.org/OAI/2.0/'/>", 1, "<a> must be in a namespace"),
        ] {
            let error = Description::parse(text).expect_err(text);
            assert!(error.0 == line && error.1.contains(what), "{text}: {error:?}");
        }
    }
}
