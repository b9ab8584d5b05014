//! A web archive: WARC 1.1, one gzip member per record, as the tools of web archives read it.
//!
//! A record of DIDL becomes a `resource` record with the bytes and a `metadata` record with the XML exactly as it came; if
//! the bytes are what was stored for that URI before, a `revisit` record says so instead of storing them again. All other
//! records, and deletions, become `metadata` records alone. Length and digest stand before the bytes, so the bytes wait in
//! a spool until the record is whole.
//!
//! | file | what it knows |
//! |---|---|
//! | `record` | what stands at the head of a record |
//! | `archive` | files, gzip members, where to cut |
//! | `envelope` | what stands around metadata that is kept as it came |
//! | `index` | which payload is stored already |

mod archive;
mod envelope;
mod index;
mod record;

use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use modoai_protocol::Datestamp;
use rustix::fs::{Mode, OFlags};

use self::archive::{Archive, Position};
use self::index::{Index, Stored};
use self::record::{Head, new_id};
use super::container::Container;
use super::reference::{Getter, Got, Known};
use super::resources::{Resources, check};
use super::spool::{Scratch, Spool, make_folder};
use super::{Kept, Origin, Part, Place, Sink, SinkError, Source};
use crate::didl::{Algorithm, Component};
use crate::record::{Header, Novelty};
use crate::state::OWN_FOLDER;

/// Opens the sink.
pub(super) fn open(place: Place<'_>) -> Result<Box<dyn Sink>, SinkError> {
    Ok(Box::new(Warc::open(place)?))
}

struct Warc {
    archive: Archive,
    index: Index,
    scratch: Scratch,
    source: Source,
    getter: Getter,
    /// When the page was made.
    date: Datestamp,
    /// What the last commit was told.
    committed: Position,
    record: Option<Arriving>,
}

/// A record while it arrives.
struct Arriving {
    resources: Resources,
    /// The record as XML: header and containers are written here, what they hold is as it came.
    xml: Spool,
    /// Of the open container.
    end_tag: String,
}

/// A resource that is to be written.
struct Payload {
    uri: String,
    media_type: String,
    spool: Spool,
}

impl Warc {
    fn open(place: Place<'_>) -> Result<Self, SinkError> {
        let dir = place.dir;
        let opened = || -> io::Result<(PathBuf, OwnedFd)> {
            std::fs::create_dir_all(dir)?;
            let path = dir.canonicalize()?;
            let root = rustix::fs::open(&path, OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::RDONLY, Mode::empty())?;
            let own = make_folder(&root, OWN_FOLDER.as_bytes())?;
            Ok((path, own))
        };
        let (dir, own) = opened().map_err(SinkError::io("open the archive in", dir))?;
        let own_path = dir.join(OWN_FOLDER);
        let (index, is_new) = Index::open(&own_path)?;
        let name = &place.source.slug;
        let at = match place.mark.and_then(Position::from_text) {
            Some(mark) => mark,
            // Files that nobody here remembers belong to an earlier archive, whose state is lost: they stay.
            None if is_new => Position { file: Archive::next_free(&dir, name)?, length: 0 },
            None => index.end()?.unwrap_or_default(),
        };
        let archive = Archive::open(&dir, name, at)?;
        index.cut(at)?;
        Ok(Self {
            archive,
            index,
            scratch: Scratch::open(&own, &own_path)?,
            source: place.source.clone(),
            getter: Getter::new(place.client, place.gauge, place.budget),
            date: Datestamp::from_unix(0),
            committed: at,
            record: None,
        })
    }

    /// Everything of a record, or the reason why it cannot be kept.
    fn write(&mut self, arriving: Arriving) -> Result<Result<(), String>, SinkError> {
        let Arriving { mut resources, mut xml, .. } = arriving;
        xml.push(envelope::CLOSING, &self.scratch)?;
        // Metadata in another format is kept as what it is; DIDL that cannot be read is not taken for it.
        let header = resources.header;
        if header.deleted {
            resources.found.clear();
        } else if let Some(fault) = resources.fault.filter(|_| resources.is_didl) {
            return Ok(Err(fault));
        }
        let mut payloads = Vec::new();
        for (component, spool) in resources.found {
            match self.payload(&header, &component, spool)? {
                Ok(Some(payload)) => payloads.push(payload),
                Ok(None) => {}
                Err(reason) => return Ok(Err(reason)),
            }
        }
        if self.archive.roll()? {
            self.write_info()?;
        }
        let mut about = None;
        for payload in payloads {
            let id = self.write_payload(payload)?;
            about.get_or_insert(id);
        }
        let (id, digest) = (new_id(), xml.digest());
        let head = Head {
            kind: "metadata",
            id: &id,
            uri: Some(&header.identifier),
            media_type: "application/xml",
            digest: Some(&digest),
            length: xml.len(),
            refers_to: about.as_deref(),
            ..Head::default()
        };
        let scratch = &self.scratch;
        self.archive.append(&head.to_text(self.date), &mut |out| xml.read(scratch, out))?;
        Ok(Ok(()))
    }

    /// The bytes of a resource, fetched if need be; none if the Component has neither bytes nor a reference.
    fn payload(
        &self,
        header: &Header,
        component: &Component,
        spool: Option<Spool>,
    ) -> Result<Result<Option<Payload>, String>, SinkError> {
        let is_web = |url: &&String| url.starts_with("http://") || url.starts_with("https://");
        let reference = component.references.iter().find(is_web);
        let uri = reference.or(component.identifier.as_ref()).unwrap_or(&header.identifier).clone();
        let mut spool = match (spool, reference) {
            (Some(spool), _) => spool,
            (None, None) => return Ok(Ok(None)),
            (None, Some(url)) => {
                let mut spool = Spool::new(Algorithm::Sha1);
                let known = Known { coding: component.header("Content-Encoding"), ..Known::default() };
                match self.getter.get(url, known, &mut spool, &self.scratch)? {
                    Ok(Got::Whole(_)) => spool,
                    Ok(Got::Unchanged) => return Ok(Err(format!("GET {url}: status 304 without a condition"))),
                    Err(reason) => return Ok(Err(reason)),
                }
            }
        };
        if let Some(fault) = check(component, &mut spool, &self.scratch)? {
            return Ok(Err(fault));
        }
        let media_type = component.header("Content-Type").or(component.media_type.as_deref());
        let media_type = media_type.unwrap_or("application/octet-stream").to_owned();
        Ok(Ok(Some(Payload { uri, media_type, spool })))
    }

    /// A resource, or that it is what it was. Returns the identity of the record.
    fn write_payload(&mut self, mut payload: Payload) -> Result<String, SinkError> {
        let (id, digest) = (new_id(), payload.spool.digest());
        let stored = self.index.stored(&payload.uri)?.filter(|stored| stored.digest == digest.bytes);
        let (uri, media_type) = (Some(payload.uri.as_str()), payload.media_type.as_str());
        let head = Head { id: &id, uri, media_type, payload: Some(&digest), ..Head::default() };
        if let Some(stored) = stored {
            let same_as = Some((payload.uri.as_str(), stored.date.as_str()));
            let head = Head { kind: "revisit", refers_to: Some(&stored.record), same_as, ..head };
            self.archive.append(&head.to_text(self.date), &mut |_| Ok(()))?;
            return Ok(id);
        }
        let length = payload.spool.len();
        let head = Head { kind: "resource", digest: Some(&digest), length, ..head };
        let at = self.archive.position();
        let scratch = &self.scratch;
        self.archive.append(&head.to_text(self.date), &mut |out| payload.spool.read(scratch, out))?;
        let stored = Stored { digest: digest.bytes, record: id.clone(), date: self.date.to_string() };
        self.index.store(&payload.uri, &stored, at)?;
        Ok(id)
    }

    /// The first record of every file: whose it is.
    fn write_info(&mut self) -> Result<(), SinkError> {
        let one_line = |text: &str| text.replace(['\r', '\n'], " ");
        let info = format!(
            "software: modoai/{}\r\nformat: WARC File Format 1.1\r\n\
             conformsTo: http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/\r\n\
             isPartOf: {}\r\ndescription: harvested by OAI-PMH from {}\r\n",
            env!("CARGO_PKG_VERSION"),
            one_line(&self.source.name),
            one_line(&self.source.base_url),
        );
        let (id, file) = (new_id(), self.archive.file_name());
        let mut spool = Spool::new(Algorithm::Sha1);
        spool.push(info.as_bytes(), &self.scratch)?;
        let digest = spool.digest();
        let head = Head {
            kind: "warcinfo",
            id: &id,
            media_type: "application/warc-fields",
            digest: Some(&digest),
            length: spool.len(),
            file: Some(&file),
            ..Head::default()
        };
        self.archive.append(&head.to_text(self.date), &mut |out| out(info.as_bytes()))
    }
}

impl Sink for Warc {
    fn page(&mut self, origin: &Origin) -> Result<(), SinkError> {
        self.date = origin.harvested;
        self.index.begin()
    }

    fn record(&mut self, header: &Header) -> Result<(), SinkError> {
        let mut xml = Spool::new(Algorithm::Sha1);
        xml.push(&envelope::opening(header), &self.scratch)?;
        let resources = Resources::new(header.clone(), Algorithm::Sha1);
        self.record = Some(Arriving { resources, xml, end_tag: String::new() });
        Ok(())
    }

    fn part(&mut self, part: Part, namespaces: &[(&str, &str)]) -> Result<(), SinkError> {
        let Some(arriving) = &mut self.record else { return Ok(()) };
        arriving.resources.part(part, namespaces);
        let Container { open, close } = envelope::RECORD.container(part.name(), namespaces, false, "");
        arriving.end_tag = close;
        arriving.xml.push(open.as_bytes(), &self.scratch)
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result<(), SinkError> {
        let Some(arriving) = &mut self.record else { return Ok(()) };
        arriving.resources.bytes(bytes, &self.scratch)?;
        arriving.xml.push(bytes, &self.scratch)
    }

    fn part_end(&mut self) -> Result<(), SinkError> {
        let Some(arriving) = &mut self.record else { return Ok(()) };
        arriving.resources.part_end();
        arriving.xml.push(arriving.end_tag.as_bytes(), &self.scratch)
    }

    fn end(&mut self, novelty: Novelty) -> Result<Kept, SinkError> {
        let Some(arriving) = self.record.take() else { return Ok(Kept::Yes) };
        if novelty == Novelty::Same {
            return Ok(Kept::Yes);
        }
        Ok(self.write(arriving)?.map_or_else(Kept::No, |()| Kept::Yes))
    }

    fn abandon(&mut self) -> Result<(), SinkError> {
        self.record = None;
        Ok(())
    }

    fn commit(&mut self) -> Result<String, SinkError> {
        self.archive.sync()?;
        self.committed = self.archive.position();
        self.index.commit(self.committed)?;
        Ok(self.committed.to_text())
    }

    fn roll_back(&mut self) -> Result<(), SinkError> {
        self.record = None;
        self.index.roll_back()?;
        self.archive.cut(self.committed)
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        self.archive.sync()?;
        self.archive.sync_folder()
    }
}
