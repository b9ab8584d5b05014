//! A web archive: WARC 1.1, one gzip member per record, and a CDXJ file for each WARC file, as the programs of web
//! archives read them.
//!
//! A resource becomes the `response` that a GET would have returned, so that it can be replayed; its OAI record becomes a
//! `metadata` record under the URL of GetRecord. Length and digest precede the bytes in a record, so the bytes wait in a spool
//! until the OAI record is complete.
//!
//! | file | what it knows |
//! |---|---|
//! | `write` | the WARC records of a capture |
//! | `payload` | the bytes of a resource, fetched if need be |
//! | `http` | requests and responses as records hold them |
//! | `record` | the head of a record |
//! | `envelope` | an OAI record as a field |
//! | `compression` | which payloads are worth compressing |
//! | `gzip` | gzip members, with stored pieces in them |
//! | `archive` | segments, where to cut |
//! | `index` | what is stored already, and the lines of the index |
//! | `cdxj` | one line of the index |
//! | `surt` | the key of a URL |

mod archive;
mod cdxj;
mod compression;
mod envelope;
mod gzip;
mod http;
mod index;
mod payload;
mod record;
mod surt;
mod write;

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use modoai_protocol::Datestamp;
use rustix::fs::{Mode, OFlags};

use self::archive::{Archive, indexes, segments};
use self::envelope::Fold;
use self::index::Index;
use self::payload::new_spool;
use super::container::Container;
use super::log::Position;
use super::reference::Getter;
use super::resources::Resources;
use super::spool::{Scratch, Spool, make_folder, sync_folder};
use super::{Kept, Origin, Part, Place, Sink, SinkError, Source};
use crate::clock;
use crate::didl::Algorithm;
use crate::record::{Header, Novelty};
use crate::state::OWN_FOLDER;

/// Opens the sink.
pub(super) fn open(place: Place<'_>) -> Result<Box<dyn Sink>, SinkError> {
    Ok(Box::new(Warc::open(place)?))
}

struct Warc {
    dir: PathBuf,
    archive: Archive,
    index: Index,
    scratch: Scratch,
    source: Source,
    getter: Getter,
    /// The metadata format of the page.
    prefix: String,
    /// The time of the page, by the clock of this machine.
    date: Datestamp,
    /// True if earlier segments have a form that cannot be replayed.
    has_other_form: bool,
    record: Option<Arriving>,
}

/// A record while it arrives.
struct Arriving {
    resources: Resources,
    /// The block of its `metadata` record.
    block: Spool,
    fold: Fold,
    /// The end tag of the open container.
    end_tag: String,
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
        let at = match place.mark.and_then(|mark| mark.parse().ok()) {
            Some(mark) => mark,
            // Files without state belong to an earlier archive, whose state was lost: they are kept.
            None if is_new => Position { file: Archive::next_free(&dir, name)?, length: 0 },
            None => index.end()?.unwrap_or_default(),
        };
        let archive = Archive::open(&dir, name, at)?;
        index.cut(at)?;
        let has_other_form = index.has_other_form()?;
        if has_other_form {
            // Nothing may refer to records that are not replayed.
            index.forget_payloads()?;
        }
        let warc = Self {
            dir,
            archive,
            index,
            scratch: Scratch::open(&own, &own_path)?,
            source: place.source.clone(),
            getter: Getter::new(place.client, place.gauge, place.budget),
            prefix: String::new(),
            date: Datestamp::from_unix(0),
            has_other_form: has_other_form && !is_new && place.mark.is_some(),
            record: None,
        };
        // A process that was killed after its last page has not listed it.
        if !has_other_form && at.length > 0 {
            let listed = warc.index.listed()?.map_or(0, |listed| listed.file.min(at.file));
            warc.list(listed)?;
        }
        Ok(warc)
    }

    /// Writes the CDXJ files that are missing, and those of the segments from `open` on, which may have grown. There is one
    /// for each segment, so that a run writes its own lines only.
    fn list(&self, open: u32) -> Result<(), SinkError> {
        let (committed, slug) = (self.archive.log.committed(), &self.source.slug);
        let is_listed = self.index.listed()? == Some(committed);
        let mut next = self.index.captured(0)?;
        while let Some(number) = next {
            let path = self.dir.join(indexes(slug).name(number));
            // Segments may have been moved elsewhere, with their files.
            let is_missing = || self.dir.join(segments(slug).name(number)).exists() && !path.exists();
            if (number >= open && !is_listed) || is_missing() {
                self.write_lines(number, &path)?;
            }
            next = self.index.captured(number.saturating_add(1))?;
        }
        if is_listed { Ok(()) } else { self.index.set_listed(committed) }
    }

    /// Writes the CDXJ file of a segment, and puts it in place in one step.
    fn write_lines(&self, number: u32, path: &Path) -> Result<(), SinkError> {
        let (index, scratch) = (&self.index, &self.scratch);
        let mut lines = Spool::new(Algorithm::Sha1);
        index.lines(number, &mut |bytes| lines.push(bytes, scratch))?;
        let temporary = lines.into_file(scratch)?;
        temporary.file.sync_all().map_err(SinkError::io("sync", path))?;
        let (folder, temporary_name) = temporary.place();
        rustix::fs::renameat(folder, temporary_name, rustix::fs::CWD, path)
            .map_err(|error| SinkError::io("write", path)(error.into()))?;
        temporary.kept();
        Ok(())
    }
}

impl Arriving {
    /// More of the OAI record.
    fn push(&mut self, xml: &[u8], scratch: &Scratch) -> Result<(), SinkError> {
        let Self { block, fold, .. } = self;
        fold.push(xml, &mut |folded| block.push(folded, scratch))
    }
}

impl Sink for Warc {
    fn must_start_over(&self) -> Option<String> {
        self.has_other_form.then(|| {
            let next = segments(&self.source.slug).name(self.archive.first);
            format!("the WARC files before {next} cannot be replayed, because modoai 0.1 wrote them in another form")
        })
    }

    fn page(&mut self, origin: &Origin) -> Result<(), SinkError> {
        // The clock of this machine: dates of other servers would put captures into any order.
        self.date = clock::now();
        origin.prefix.clone_into(&mut self.prefix);
        self.index.begin()
    }

    fn record(&mut self, header: &Header) -> Result<(), SinkError> {
        let mut block = Spool::new(Algorithm::Sha1);
        block.push(b"oai-record: ", &self.scratch)?;
        let resources = Resources::new(header.clone(), new_spool);
        let mut arriving = Arriving { resources, block, fold: Fold::default(), end_tag: String::new() };
        arriving.push(&envelope::opening(header), &self.scratch)?;
        self.record = Some(arriving);
        Ok(())
    }

    fn part(&mut self, part: Part, namespaces: &[(&str, &str)]) -> Result<(), SinkError> {
        let Some(arriving) = &mut self.record else { return Ok(()) };
        arriving.resources.part(part, namespaces);
        let Container { open, close } = envelope::RECORD.container(part.name(), namespaces, false, "");
        arriving.end_tag = close;
        arriving.push(open.as_bytes(), &self.scratch)
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result<(), SinkError> {
        let Some(arriving) = &mut self.record else { return Ok(()) };
        let Arriving { resources, block, fold, .. } = arriving;
        let scratch = &self.scratch;
        resources.bytes_without_values(bytes, scratch, &mut |kept| {
            fold.push(kept, &mut |folded| block.push(folded, scratch))
        })
    }

    fn part_end(&mut self) -> Result<(), SinkError> {
        let Some(arriving) = &mut self.record else { return Ok(()) };
        arriving.resources.part_end();
        let end_tag = std::mem::take(&mut arriving.end_tag);
        arriving.push(end_tag.as_bytes(), &self.scratch)
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
        let at = self.archive.log.commit()?;
        self.index.commit(at)?;
        Ok(at.to_string())
    }

    fn roll_back(&mut self) -> Result<(), SinkError> {
        self.record = None;
        self.index.roll_back()?;
        self.archive.log.roll_back()
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        self.list(self.archive.first)?;
        sync_folder(&self.dir)
    }
}
