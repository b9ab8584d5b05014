//! `oai_didl` of an archive: a document's files, wrapped with its description.
//!
//! One Item has two descriptors (the identifier, the `oai_dc` of the document) and a Component for each file: its own
//! identifier, its digests, the file by reference if it has a URL, and by value up to a size limit. A file that cannot
//! be included in either way is not left out: an Item without a Component reports it.
//!
//! Structure and consistency checks are those of a site's resources: see [`modoai_repository::formats::didl`] and
//! [`steady`].

mod shelf;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

use modoai_protocol::xml::XmlWriter;
use modoai_repository::formats::{didl, steady};
use modoai_repository::item::{Digests, Fingerprint};
use modoai_repository::site::kind;

use crate::record::{File, Record};
use shelf::Shelf;

/// The media type of files of unknown type.
const UNKNOWN: &str = "application/octet-stream";

/// Digests, and the state of the file to which they belong.
pub type Known = (Fingerprint, Digests);

/// Wraps documents with their files.
#[derive(Debug)]
pub struct Packages {
    shelf: Shelf,
    base_url: Option<String>,
    /// The directory for temporary copies; if empty, that of the system.
    temporary: PathBuf,
}

impl Packages {
    /// Creates packages of the files below this directory.
    pub fn new(root: &Path) -> Self {
        Self { shelf: Shelf::new(root), base_url: None, temporary: PathBuf::new() }
    }

    /// Adds the base URL of the repository, which every package contains.
    pub fn of_repository(self, base_url: &str) -> Self {
        Self { base_url: Some(base_url.to_owned()), ..self }
    }

    /// Sets the directory for temporary copies.
    pub fn copying_into(self, temporary: &Path) -> Self {
        Self { temporary: temporary.to_owned(), ..self }
    }

    /// Returns the length of a file and the time of its last change, for [`File::state`]. A path that is not found,
    /// outside the directory, or not that of a regular file is an error.
    pub fn state_of(&self, path: &str) -> io::Result<(u64, i64)> {
        let (_, fingerprint) = self.shelf.open(path)?;
        Ok((fingerprint.size, fingerprint.modified))
    }

    /// Returns the digests of a file; `None` if those in `known` are those of its present state, or if the file changes
    /// meanwhile.
    pub fn digests_of(&self, path: &str, known: Option<Known>) -> io::Result<Option<Known>> {
        let opened = self.shelf.open(path)?;
        if known.is_some_and(|(state, _)| state == opened.1) { Ok(None) } else { steady::digests(opened) }
    }

    /// Writes the package of a document with this OAI identifier: one element that is complete by itself. Files of up
    /// to `by_value_limit` bytes are included; for others, the package has the digests that are `known` for their
    /// paths. After an error, the response cannot be completed.
    pub fn write(
        &self,
        record: &Record,
        identifier: &str,
        oai_dc: &[u8],
        by_value_limit: u64,
        known: &dyn Fn(&str) -> io::Result<Option<Known>>,
        xml: &mut XmlWriter<'_>,
    ) -> io::Result<()> {
        let document_id = self.base_url.as_deref().map(|base_url| didl::document_id(base_url, identifier));
        didl::open(xml, document_id.as_deref(), identifier);
        didl::identifier(xml, identifier);
        didl::statement(xml, |xml| {
            xml.verbatim(oai_dc);
        });
        // Every Component precedes the Items within the Item: the order is free, but readers find the available files
        // first.
        let mut missing = Vec::new();
        for file in &record.files {
            let known = known(&file.path)?;
            let written = self.component(record, file, identifier, by_value_limit, known, xml)?;
            if let Err(Absent(reason)) = written {
                missing.push((file, reason));
            }
        }
        for (file, reason) in missing {
            xml.raw("<didl:Item>");
            didl::identifier(xml, &uri_of(file, None, identifier));
            xml.raw("<didl:Descriptor><didl:Statement mimeType=\"text/plain; charset=utf-8\">").text(reason);
            xml.raw("</didl:Statement></didl:Descriptor></didl:Item>");
        }
        didl::close(xml);
        Ok(())
    }

    /// Writes the Component of one file, if it can be included.
    fn component(
        &self,
        record: &Record,
        file: &File,
        identifier: &str,
        by_value_limit: u64,
        known: Option<Known>,
        xml: &mut XmlWriter<'_>,
    ) -> io::Result<Result<(), Absent>> {
        let opened = self.shelf.open(&file.path);
        let media_type = match (&file.media_type, kind::by_usual_name(&file.path), &opened) {
            (Some(told), _, _) => Cow::Borrowed(told.as_str()),
            (None, Some(usual), _) => Cow::Borrowed(usual),
            (None, None, Ok((open, _))) => kind::by_content(open).unwrap_or(Cow::Borrowed(UNKNOWN)),
            (None, None, Err(_)) => Cow::Borrowed(UNKNOWN),
        };
        let url = url_of(record, file, &media_type);
        let steady = match opened {
            Ok(opened) => {
                // A file that is missing when it is opened again has changed meanwhile.
                let again = || Ok(self.shelf.open(&file.path).ok());
                Some(steady::read(opened, again, by_value_limit, &self.temporary, known, &mut Vec::new())?)
            }
            Err(error) => {
                tracing::warn!(identifier, file = file.path, %error, "failed to read a file of a document");
                None
            }
        };
        let is_large = steady.as_ref().is_some_and(|steady| steady.opened.1.size > by_value_limit);
        let (digests, value) = steady.map_or((None, None), |steady| (steady.digests, steady.value));
        if url.is_none() && value.is_none() {
            let reason = if is_large { "too large, and without a URL" } else { "temporarily unavailable" };
            return Ok(Err(Absent(reason)));
        }
        xml.raw("<didl:Component>");
        didl::identifier(xml, &uri_of(file, url, identifier));
        if let Some(digests) = &digests {
            didl::fixity(xml, digests);
        }
        if let Some(url) = url {
            didl::reference(xml, &media_type, url);
        }
        if let Some(mut value) = value {
            didl::value(xml, &media_type, &mut value)?;
        }
        xml.raw("</didl:Component>");
        xml.relieve()?;
        Ok(Ok(()))
    }
}

/// The reason why a file is not in a package.
struct Absent(&'static str);

/// Returns the public URL of a file: its own, else the one link to a resource of its media type. Two such links, or two
/// such files, would be ambiguous.
fn url_of<'r>(record: &'r Record, file: &'r File, media_type: &str) -> Option<&'r str> {
    if let Some(url) = &file.url {
        return Some(url);
    }
    let mut links = record.links.iter().filter(|link| link.media_type.as_deref() == Some(media_type));
    let is_alone = |other: &File| {
        std::ptr::eq(other, file)
            || other
                .media_type
                .as_deref()
                .or_else(|| kind::by_usual_name(&other.path))
                .is_some_and(|it| it != media_type)
    };
    match (links.next(), links.next()) {
        (Some(link), None) if record.files.iter().all(is_alone) => Some(&link.url),
        _ => None,
    }
}

/// Returns the unique identifier of a file: its URL, else its path in the document.
fn uri_of(file: &File, url: Option<&str>, identifier: &str) -> String {
    match url.or(file.url.as_deref()) {
        Some(url) => url.to_owned(),
        None => format!("{identifier}#{}", shelf::encoded(&file.path)),
    }
}
