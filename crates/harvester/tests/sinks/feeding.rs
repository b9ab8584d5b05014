//! Records for sinks: made by hand, or harvested from a server of our own.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use base64_simd::STANDARD;
use modoai_fetch::{Client, Manners};
use modoai_harvester::record::{Header, Novelty};
use modoai_harvester::sink::{Kept, Origin, Part, Place, SINKS, Sink, SinkError, SinkOptions, Source};
use modoai_protocol::Datestamp;
use modoai_protocol::xml::Reader;
use modoai_protocol::xml::reader::{Event, PartKind};
use modoai_testkit::http::encode;
use sha2::{Digest as _, Sha256};
use tokio::runtime::Runtime;

/// The base URL of records made by hand.
pub(super) const BASE_URL: &str = "http://site.example/modoai";

/// A sink in a folder, and what it needs around it.
pub(super) struct Desk {
    pub(super) sink: Box<dyn Sink>,
    origin: Origin,
    // Dropped last: the sink waits for GETs in it.
    _runtime: Runtime,
}

impl Desk {
    /// Opens a sink for a source at this base URL.
    pub(super) fn open(sink: &str, dir: &Path, mark: Option<&str>, base_url: &str, options: &SinkOptions) -> Self {
        Self::try_open(sink, dir, mark, base_url, options).expect("a sink that opens")
    }

    /// The same, of a sink that may refuse.
    pub(super) fn try_open(
        sink: &str,
        dir: &Path,
        mark: Option<&str>,
        base_url: &str,
        options: &SinkOptions,
    ) -> Result<Self, SinkError> {
        let kind = SINKS.iter().find(|kind| kind.name == sink).expect("a sink of this name");
        let runtime = Runtime::new().expect("a runtime");
        let _inside = runtime.enter();
        let source = Source { base_url: base_url.to_owned(), name: "A site".to_owned(), slug: "site".to_owned() };
        let client = Client::new(Manners::default()).expect("a client");
        let gauge = Arc::default();
        let place = Place {
            dir,
            mark,
            distrusted: false,
            source: &source,
            client,
            gauge,
            budget: std::sync::Arc::default(),
            options,
        };
        let origin = Origin {
            base_url: base_url.to_owned(),
            prefix: kind.format.to_owned(),
            schema: String::new(),
            namespace: String::new(),
            harvested: Datestamp::from_unix(1_700_000_000),
        };
        let sink = (kind.open)(place)?;
        let mut desk = Self { sink, origin, _runtime: runtime };
        desk.page();
        Ok(desk)
    }

    /// A page begins.
    pub(super) fn page(&mut self) {
        self.sink.page(&self.origin).expect("a page");
    }

    /// The page ends; the next begins.
    pub(super) fn commit(&mut self) -> String {
        let mark = self.sink.commit().expect("a commit");
        self.page();
        mark
    }

    /// One record, its metadata in pieces of this size.
    pub(super) fn give(&mut self, header: &Header, metadata: &str, piece: usize, novelty: Novelty) -> Kept {
        self.sink.record(header).expect("a record");
        if !metadata.is_empty() {
            self.sink.part(Part::Metadata, &[]).expect("a part");
            for bytes in metadata.as_bytes().chunks(piece) {
                self.sink.bytes(bytes).expect("bytes");
            }
            self.sink.part_end().expect("the end of a part");
        }
        self.sink.end(novelty).expect("the end of a record")
    }

    /// A new resource by value.
    pub(super) fn put(&mut self, url: &str, bytes: &[u8]) -> Kept {
        self.give(&header(url), &Made::new(url, bytes).to_xml(), 1000, Novelty::New)
    }

    /// A deletion.
    pub(super) fn delete(&mut self, identifier: &str) -> Kept {
        let header = Header { deleted: true, ..header(identifier) };
        self.give(&header, "", 1, Novelty::Changed)
    }

    /// Everything a server of ours has. Returns why records were not kept, and the identifiers that came.
    pub(super) fn harvest(&mut self, server: &str, prefix: &str, novelty: Novelty) -> (Vec<String>, BTreeSet<String>) {
        let mut client = modoai_testkit::http::Client::new(server);
        let (mut refused, mut identifiers) = (Vec::new(), BTreeSet::new());
        let mut target = format!("/modoai?verb=ListRecords&metadataPrefix={prefix}");
        loop {
            let answer = client.get(&target).expect("an answer");
            assert_eq!(answer.status, 200, "{}", answer.text());
            let (mut reader, mut token, sink) = (Reader::default(), String::new(), &mut self.sink);
            for piece in answer.body.chunks(64 * 1024) {
                let read = reader.push(piece, &mut |event| match event {
                    Event::Header { identifier, datestamp, sets, deleted } => {
                        let (identifier, datestamp) = (identifier.to_owned(), datestamp.to_owned());
                        identifiers.insert(identifier.clone());
                        let header = Header { identifier, datestamp, sets: sets.to_vec(), deleted };
                        sink.record(&header).expect("a record");
                    }
                    Event::PartStart { kind, namespaces } => {
                        let part = if kind == PartKind::Metadata { Part::Metadata } else { Part::About };
                        sink.part(part, namespaces).expect("a part");
                    }
                    Event::PartBytes(bytes) => sink.bytes(bytes).expect("bytes"),
                    Event::PartEnd => sink.part_end().expect("the end of a part"),
                    Event::RecordEnd => match sink.end(novelty).expect("the end of a record") {
                        Kept::Yes => {}
                        Kept::No(reason) => refused.push(reason),
                    },
                    Event::Token { value, .. } => value.clone_into(&mut token),
                    _ => {}
                });
                read.expect("an answer that can be read");
            }
            reader.finish().expect("a whole answer");
            self.commit();
            if token.is_empty() {
                return (refused, identifiers);
            }
            target = format!("/modoai?verb=ListRecords&resumptionToken={}", encode(&token));
        }
    }
}

/// A header of an item that is there.
pub(super) fn header(identifier: &str) -> Header {
    let (identifier, datestamp) = (identifier.to_owned(), "2024-01-01T00:00:00Z".to_owned());
    Header { identifier, datestamp, sets: vec!["mime:text".to_owned()], deleted: false }
}

/// A DIDL document in the making, as ours are unless told otherwise.
#[derive(Clone)]
pub(super) struct Made {
    pub(super) url: String,
    /// In base64; none for by reference only.
    pub(super) value: Option<String>,
    pub(super) headers: Vec<(&'static str, String)>,
    /// SHA-256 in hexadecimal.
    pub(super) digest: Option<String>,
}

impl Made {
    pub(super) fn new(url: &str, bytes: &[u8]) -> Self {
        let hex = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        let headers = vec![
            ("Last-Modified", "Mon, 01 Jan 2024 10:00:00 GMT".to_owned()),
            ("Content-Length", bytes.len().to_string()),
            ("Content-Type", "text/plain".to_owned()),
        ];
        Self { url: url.to_owned(), value: Some(STANDARD.encode_to_string(bytes)), headers, digest: Some(hex) }
    }

    pub(super) fn to_xml(&self) -> String {
        let url = self.url.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
        let mut xml = format!(
            "<didl:DIDL xmlns:didl=\"urn:mpeg:mpeg21:2002:02-DIDL-NS\"><didl:Item><didl:Descriptor><didl:Statement \
             mimeType=\"a/b\"><i:Identifier xmlns:i=\"urn:mpeg:mpeg21:2002:01-DII-NS\">{url}</i:Identifier>\
             </didl:Statement></didl:Descriptor><didl:Descriptor><didl:Statement mimeType=\"a/b\">\
             <http_header xmlns=\"urn:modoai:http-header:1\" status=\"200\">"
        );
        for (name, value) in &self.headers {
            xml += &format!("<header name=\"{name}\">{value}</header>");
        }
        xml += "</http_header></didl:Statement></didl:Descriptor><didl:Component>";
        if let Some(digest) = &self.digest {
            xml += &format!(
                "<didl:Descriptor><didl:Statement mimeType=\"a/b\"><fixity xmlns=\"urn:modoai:fixity:1\">\
                 <digest algorithm=\"SHA-256\">{digest}</digest></fixity></didl:Statement></didl:Descriptor>"
            );
        }
        xml += &format!("<didl:Resource mimeType=\"text/plain\" ref=\"{url}\"/>");
        if let Some(value) = &self.value {
            xml += &format!("<didl:Resource mimeType=\"text/plain\" encoding=\"base64\">{value}</didl:Resource>");
        }
        xml + "</didl:Component></didl:Item></didl:DIDL>"
    }
}
