//! Records as values: sent to a sink in pieces, and read back.

use std::io::Write as _;
use std::path::Path;

use modoai_harvester::record::{Header, Novelty};
use modoai_harvester::sink::records::{Damage, Found, Reader, Records};
use modoai_harvester::sink::{Kept, Origin, Part, Sink};
use modoai_protocol::Datestamp;

/// A record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) header: Header,
    pub(crate) parts: Vec<ItemPart>,
}

/// A part of it: what it is, what it inherits, its bytes.
pub(crate) type ItemPart = (Part, Vec<(String, String)>, Vec<u8>);

impl Item {
    /// A plain one with this metadata.
    pub(crate) fn new(identifier: &str, metadata: impl Into<Vec<u8>>) -> Self {
        let namespaces = vec![(String::new(), "urn:default".to_owned()), ("dc".to_owned(), "urn:dc".to_owned())];
        let header = Header {
            identifier: identifier.to_owned(),
            datestamp: "2024-05-01".to_owned(),
            sets: vec!["a".to_owned(), "a:b".to_owned()],
            deleted: false,
        };
        Self { header, parts: vec![(Part::Metadata, namespaces, metadata.into())] }
    }

    /// A tombstone.
    pub(crate) fn deleted(identifier: &str) -> Self {
        let mut item = Self::new(identifier, "");
        item.header.deleted = true;
        item.parts.clear();
        item
    }

    /// With an about container.
    pub(crate) fn about(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.parts.push((Part::About, Vec::new(), bytes.into()));
        self
    }

    /// Begins the record and sends all its parts, in pieces of this size.
    pub(crate) fn send_parts(&self, sink: &mut dyn Sink, piece: usize) {
        sink.record(&self.header).expect("taken");
        for (part, namespaces, bytes) in &self.parts {
            let borrowed: Vec<_> = namespaces.iter().map(|(prefix, uri)| (prefix.as_str(), uri.as_str())).collect();
            sink.part(*part, &borrowed).expect("taken");
            for piece in bytes.chunks(piece.max(1)) {
                sink.bytes(piece).expect("taken");
            }
            sink.part_end().expect("taken");
        }
    }

    /// Sends all of it.
    pub(crate) fn send(&self, sink: &mut dyn Sink, piece: usize, novelty: Novelty) -> Kept {
        self.send_parts(sink, piece);
        sink.end(novelty).expect("taken")
    }
}

/// Where all these records come from.
pub(crate) fn origin() -> Origin {
    Origin {
        base_url: "https://example.org/oai".to_owned(),
        prefix: "oai_dc".to_owned(),
        schema: "urn:schema".to_owned(),
        namespace: "urn:namespace".to_owned(),
        harvested: Datestamp::from_unix(1_717_243_200),
    }
}

/// The same, as far as it is stored.
pub(crate) fn stored_origin() -> Origin {
    Origin { schema: String::new(), namespace: String::new(), ..origin() }
}

/// Sends a page and commits it. Returns the mark.
pub(crate) fn send_page(sink: &mut dyn Sink, items: &[Item]) -> String {
    sink.page(&origin()).expect("taken");
    for item in items {
        assert_eq!(item.send(sink, 1000, Novelty::New), Kept::Yes);
    }
    sink.commit().expect("committed")
}

/// Everything that is found, in order.
pub(crate) fn collect(mut records: Records<'_>) -> (Vec<Item>, Vec<Damage>) {
    let (mut items, mut damages) = (Vec::new(), Vec::new());
    while let Some(found) = records.next().expect("readable") {
        let (record, origin) = match found {
            Found::Record(record, origin) => (record, origin),
            Found::Damage(damage) => {
                damages.push(damage);
                continue;
            }
        };
        assert_eq!(*origin, stored_origin());
        let header = record.header().clone();
        let count = record.parts().len();
        let read = |at| {
            let mut bytes = Vec::new();
            record.read(at, |piece| bytes.write_all(piece)).expect("readable");
            bytes
        };
        let bytes: Vec<_> = (0..count).map(read).collect();
        let parts = record.parts().iter().zip(bytes);
        let parts = parts.map(|(part, bytes)| (part.part, part.namespaces.clone(), bytes)).collect();
        items.push(Item { header, parts });
    }
    (items, damages)
}

/// All versions in a folder, all of them whole.
pub(crate) fn versions(dir: &Path) -> Vec<Item> {
    let mut reader = Reader::open(dir).expect("a folder of records");
    let (items, damages) = collect(reader.versions());
    assert_eq!(damages, []);
    items
}

/// The latest versions in a folder, all of them whole.
pub(crate) fn latest(dir: &Path) -> Vec<Item> {
    let mut reader = Reader::open(dir).expect("a folder of records");
    let (items, damages) = collect(reader.latest().expect("an index"));
    assert_eq!(damages, []);
    items
}
