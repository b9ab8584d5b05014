//! The metadata formats. To add one, add a file here and a line to [`all`].

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

/// Formats, in the order of ListMetadataFormats.
pub type Formats = Arc<[Arc<dyn Format>]>;

/// Returns every format of a site.
pub fn all() -> Formats {
    Arc::new([Arc::new(oai_dc::OaiDc), Arc::new(http_header::HttpHeader), Arc::new(oai_didl::OaiDidl)])
}

pub(crate) use stored::of_records;
pub use stored::{holds, stored};

/// modoai's schemas, which a host serves below the repository's URL.
pub const SCHEMAS: &[(&str, &str)] = &[
    (http_header::SCHEMA_NAME, http_header::SCHEMA),
    ("fixity.xsd", include_str!("fixity.xsd")),
    ("datestamps.xsd", include_str!("datestamps.xsd")),
];

/// A description of items in XML.
pub trait Format: Send + Sync {
    /// Returns its metadata prefix.
    fn prefix(&self) -> &str;
    /// Returns its XML namespace.
    fn namespace(&self) -> &str;
    /// Returns the URL of its schema.
    fn schema(&self, base_url: &str) -> String;
    /// Returns the details of an item that it needs from the catalogue.
    fn detail(&self) -> Detail {
        Detail::Description
    }
    /// Returns true if the description of this item needs the response to a GET, and not only the catalogue.
    fn needs_get(&self, item: &Item) -> bool;
    /// Returns true if records can contain the files they are about.
    fn contains_files(&self) -> bool {
        false
    }

    /// Returns true if items in this format may be large: then few are read per query, and a page is ended by its bytes
    /// and not by its count.
    fn is_bulky(&self) -> bool {
        false
    }
    /// Returns the catalogue's list of the items that have it; `None` if all have it.
    fn list(&self) -> Option<&str> {
        None
    }
    /// Returns the availability of the format for this item.
    fn has(&self, item: &Item) -> Has {
        let _ = item;
        Has::Yes
    }
    /// Writes everything after the header of a record: `metadata` and `about`. An error means that the response cannot
    /// be completed.
    fn write(&self, subject: Subject<'_>, xml: &mut XmlWriter<'_>) -> io::Result<()>;

    /// Returns the prefix as the protocol's type.
    fn metadata_prefix(&self) -> MetadataPrefix {
        MetadataPrefix::parse(self.prefix()).expect("a format's prefix is legal; a test looks at each")
    }
}

/// The availability of a format for an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Has {
    /// The item can be described in it.
    Yes,
    /// The item could be described in it earlier.
    Gone,
    /// The item was never available in it.
    No,
}

/// The item to be described, and all that its description may need.
pub struct Subject<'a> {
    /// The item in the catalogue.
    pub item: &'a Item,
    /// The repository it is in.
    pub repository: &'a Repository,
    /// The response to a GET, if the format needs it.
    pub representation: Option<Representation>,
    /// The host, which opens a file again if it changes while it is read.
    pub host: &'a dyn Host,
    /// The state that is kept between the records of a response.
    pub desk: &'a mut Desk,
}

/// The state that is kept between the records of a response.
#[derive(Default)]
pub struct Desk {
    /// Facts about items, which are stored when the response is complete.
    pub learned: Vec<Learned>,
    /// A buffer for a file, so that each record needs no allocation.
    buffer: Vec<u8>,
    /// The decompressor for stored records, created for the first one.
    unpacker: Option<Unpacker>,
    /// The complete form of a record that was stored in pieces.
    whole: Vec<u8>,
}

impl Subject<'_> {
    /// Returns the item's URL.
    fn url(&self) -> String {
        [&*self.repository.site_url, &*self.item.name].concat()
    }

    /// Returns the item's identifier.
    pub fn identifier(&self) -> String {
        [&*self.repository.identifier_prefix, &*self.item.name].concat()
    }

    /// Returns the stored record of the item, regardless of its size: call it only if the size is bounded otherwise.
    pub fn record(&mut self) -> io::Result<&[u8]> {
        stored::whole(self.repository, self.item, self.desk)
    }

    /// Writes only the size of the record, if it is too large for a browser. Returns true if it did.
    pub fn mention_if_large(&self, xml: &mut XmlWriter<'_>) -> bool {
        let large = self.item.body.as_ref().filter(|body| body.size > self.repository.largest_shown);
        if let Some(body) = large {
            xml.raw("<metadata><stored><tooLargeToShow>").number(body.size);
            xml.raw(" bytes</tooLargeToShow></stored></metadata>");
        }
        large.is_some()
    }

    /// Returns the size limit of resources by value.
    pub fn by_value_limit(&self) -> u64 {
        self.repository.settings.by_value_limit
    }

    /// Returns the directory for temporary copies; empty for that of the system.
    pub fn temporary_directory(&self) -> &Path {
        &self.repository.settings.temporary_directory
    }

    /// Stores facts about the state of the file that was opened.
    fn learn(&mut self, representation: &Representation, facts: Facts) {
        let (number, fingerprint) = (self.item.number, representation.fingerprint);
        self.desk.learned.push(Learned { number, fingerprint, facts });
    }
}

/// Opens a root element with its namespace and the schema for it, so that it remains valid when it is cut out of the
/// response. More attributes may follow before the caller closes the tag.
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
