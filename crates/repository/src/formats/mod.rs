//! The metadata formats. Adding one is a file here and a line in [`all`].

pub mod didl;
mod http_header;
pub(crate) mod oai_dc;
mod oai_didl;
pub mod steady;
mod stored;

use std::io;
use std::path::Path;
use std::sync::Arc;

use modoai_protocol::MetadataPrefix;
use modoai_protocol::xml::{XSI_NAMESPACE, XmlWriter};

use crate::catalogue::stored::Unpacker;
use crate::catalogue::{Detail, Learned};
use crate::host::{Host, Representation};
use crate::item::{Facts, Item};
use crate::repository::Repository;

/// Formats, in the order ListMetadataFormats tells them.
pub type Formats = Arc<[Arc<dyn Format>]>;

/// Every format of a site.
pub fn all() -> Formats {
    Arc::new([Arc::new(oai_dc::OaiDc), Arc::new(http_header::HttpHeader), Arc::new(oai_didl::OaiDidl)])
}

pub(crate) use stored::of_records;
pub use stored::{holds, stored};

/// Schemas of our own, which a host serves below the repository's URL.
pub const SCHEMAS: &[(&str, &str)] = &[
    (http_header::SCHEMA_NAME, http_header::SCHEMA),
    ("fixity.xsd", include_str!("fixity.xsd")),
    ("datestamps.xsd", include_str!("datestamps.xsd")),
];

/// A way to describe an item in XML.
pub trait Format: Send + Sync {
    /// Its short name.
    fn prefix(&self) -> &str;
    /// Its XML namespace.
    fn namespace(&self) -> &str;
    /// Where its schema is published.
    fn schema(&self, base_url: &str) -> String;
    /// What it wants to know of an item from the catalogue.
    fn detail(&self) -> Detail {
        Detail::Description
    }
    /// Whether describing this item takes what a GET returns, and not only what the catalogue remembers.
    fn needs_get(&self, item: &Item) -> bool;
    /// Returns true if records can contain the files they are about.
    fn contains_files(&self) -> bool {
        false
    }

    /// Whether items in this format may be large, so that few are taken at once and a page is better ended by its bytes
    /// than by its count.
    fn is_bulky(&self) -> bool {
        false
    }
    /// The catalogue's list of the items that have it; `None` if all have it.
    fn list(&self) -> Option<&str> {
        None
    }
    /// Whether this item has it.
    fn has(&self, item: &Item) -> Has {
        let _ = item;
        Has::Yes
    }
    /// Writes what follows the header of a record: `metadata`, and what is said about it. An error means that the answer
    /// cannot be completed.
    fn write(&self, subject: Subject<'_>, xml: &mut XmlWriter<'_>) -> io::Result<()>;

    /// The prefix as the protocol's type.
    fn metadata_prefix(&self) -> MetadataPrefix {
        MetadataPrefix::parse(self.prefix()).expect("a format's prefix is legal; a test looks at each")
    }
}

/// Whether an item has a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Has {
    /// It can be described in it.
    Yes,
    /// It could be once.
    Gone,
    /// It never could.
    No,
}

/// The item to be described, and all that may be needed for it.
pub struct Subject<'a> {
    /// What the catalogue remembers.
    pub item: &'a Item,
    /// The repository it is in.
    pub repository: &'a Repository,
    /// What a GET returns, if the format asked for it.
    pub representation: Option<Representation>,
    /// Whom to ask again when a file changes while it is read.
    pub host: &'a dyn Host,
    /// What lasts from one record of an answer to the next.
    pub desk: &'a mut Desk,
}

/// What lasts from one record of an answer to the next.
#[derive(Default)]
pub struct Desk {
    /// What was found out about items, to be remembered when the answer is complete.
    pub learned: Vec<Learned>,
    /// Room for a file, so that each record does not ask the allocator for it.
    buffer: Vec<u8>,
    /// Unpacks stored records; made when the first one comes.
    unpacker: Option<Unpacker>,
    /// A record that was stored in pieces, whole.
    whole: Vec<u8>,
}

impl Subject<'_> {
    /// The item's URL.
    fn url(&self) -> String {
        [&*self.repository.site_url, &*self.item.name].concat()
    }

    /// The item's identifier.
    pub fn identifier(&self) -> String {
        [&*self.repository.identifier_prefix, &*self.item.name].concat()
    }

    /// Everything that is stored of the item's record, however large: to be asked only about what is bounded otherwise.
    pub fn record(&mut self) -> io::Result<&[u8]> {
        stored::whole(self.repository, self.item, self.desk)
    }

    /// Only mentions the item, if its record is too large for people to look at. Tells whether it did.
    pub fn mention_if_large(&self, xml: &mut XmlWriter<'_>) -> bool {
        let large = self.item.body.as_ref().filter(|body| body.size > self.repository.largest_shown);
        if let Some(body) = large {
            xml.raw("<metadata><stored><tooLargeToShow>").number(body.size);
            xml.raw(" bytes</tooLargeToShow></stored></metadata>");
        }
        large.is_some()
    }

    /// The largest resource that goes by value.
    pub fn by_value_limit(&self) -> u64 {
        self.repository.settings.by_value_limit
    }

    /// Directory for temporary copies; empty for that of the system.
    pub fn temporary_directory(&self) -> &Path {
        &self.repository.settings.temporary_directory
    }

    /// Notes facts about the state of the file that was opened.
    fn learn(&mut self, representation: &Representation, facts: Facts) {
        let (number, fingerprint) = (self.item.number, representation.fingerprint);
        self.desk.learned.push(Learned { number, fingerprint, facts });
    }
}

/// Opens a root element that stands on its own when it is cut out of the answer: with its namespace, and the schema for
/// it. More attributes may follow before the caller closes the tag.
pub(crate) fn open_root(xml: &mut XmlWriter<'_>, name: &str, xmlns: &str, namespace: &str, schema: &str) {
    xml.raw("<").raw(name).attribute(xmlns, namespace).attribute("xmlns:xsi", XSI_NAMESPACE);
    xml.raw(" xsi:schemaLocation=\"").text(namespace).raw(" ").text(schema).raw("\"");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_legal_and_distinct() {
        let prefixes: Vec<_> = all().iter().map(|format| format.metadata_prefix()).collect();
        assert_eq!(prefixes[0].as_str(), "oai_dc", "the one every repository must have comes first");
        for (index, prefix) in prefixes.iter().enumerate() {
            assert!(!prefixes[..index].contains(prefix));
        }
    }
}
