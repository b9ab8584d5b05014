//! Stores records in a catalogue, so that modoai can serve what it harvested.
//!
//! Many sources share one catalogue. Each is a set: its setSpec is the slug of the source, its name is the repository
//! name, and the source's own sets are below it. Identifiers stay unchanged, datestamps are the catalogue's own, and
//! every record contains its provenance. Decision 009 describes what happens if two sources have the same identifier.
//!
//! | file | contents |
//! |---|---|
//! | `record` | one record while it arrives, until it is compressed |
//! | `fragment` | a fragment of received XML: accepted, repaired or refused |
//! | `scope` | its namespaces, and those that are in force around it |
//! | `provenance` | the origin of a record |
//! | `mark` | the last commit of each harvest in the catalogue |

mod fragment;
mod mark;
mod provenance;
mod record;
mod scope;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use modoai_protocol::xml::is_legal;
use modoai_protocol::{MetadataPrefix, SetSpec};
use modoai_repository::catalogue::stored::{Pieces, StoredFormat};
use modoai_repository::catalogue::{self, Access, Catalogue, CatalogueError, CatalogueKind, Change, Location, Writer};

use super::{Kept, Origin, Part, Place, STORED_IS_MISSING, Sink, SinkError};
use crate::record::{Header, Novelty};
use mark::Mark;
use record::Incoming;

/// The largest number of records in one transaction.
const MOST_RECORDS: usize = 1_000;

/// The largest number of compressed bytes in one transaction.
const MOST_BYTES: usize = 4 * 1024 * 1024;

/// The largest number of large records in one transaction: each has a file open.
const MOST_SPOOLED: usize = 16;

/// More sets than anyone can mean.
const MOST_SETS: usize = 256;

/// The longest time to wait for another writer. A batch is short, but the first list of a large source is completed in
/// one transaction.
const PATIENCE: Duration = Duration::from_secs(1800);

/// The pause before checking again if the other writer has finished.
const PAUSE: Duration = Duration::from_millis(10);

/// Opens the sink.
pub(super) fn open(Place { dir, mark, source, options, .. }: Place<'_>) -> Result<Box<dyn Sink>, SinkError> {
    // Whatever was written after the last mark may stay: to write it once more changes nothing.
    let location = options.catalogue.clone().unwrap_or_else(|| Location::in_directory(dir));
    let path = location.path().to_owned();
    let catalogue = catalogue::open(&location, Access::Write)?;
    CatalogueKind::Records.check(catalogue.kind()?)?;
    let (mark, is_intact) = Mark::compare(mark, &*catalogue)?;
    // Temporary files are next to the catalogue, because that disk has space for its records.
    let incoming =
        Incoming::new(&location.directory()).map_err(SinkError::io("prepare to compress records for", &path))?;
    let name = if source.name.is_empty() { &source.base_url } else { &source.name };
    Ok(Box::new(CatalogueSink {
        catalogue,
        path,
        slug: source.slug.clone(),
        own_set: Arc::new(SetSpec::from_levels([source.slug.as_str()])),
        name: name.clone(),
        is_named: false,
        page: None,
        incoming,
        batch: Batch::default(),
        elsewhere: Vec::new(),
        mark,
        is_intact,
        is_marked: false,
    }))
}

struct CatalogueSink {
    catalogue: Arc<dyn Catalogue>,
    path: PathBuf,
    /// The first level of all sets of this source.
    slug: String,
    /// The set of everything from this source.
    own_set: Arc<SetSpec>,
    /// The name of the source for humans.
    name: String,
    is_named: bool,
    /// The origin of the page, and its format in this catalogue.
    page: Option<(Origin, Arc<StoredFormat>)>,
    incoming: Incoming,
    batch: Batch,
    /// Identifiers of records that were refused since the last query, because other sources have the items.
    elsewhere: Vec<String>,
    /// The last commit.
    mark: Mark,
    /// True if the catalogue contained that commit when it was opened.
    is_intact: bool,
    /// True if nothing was written since that commit.
    is_marked: bool,
}

/// Changes not yet written.
#[derive(Default)]
struct Batch {
    changes: Vec<Change>,
    bytes: usize,
    spooled: usize,
}

/// The reason for writing a batch.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reason {
    /// The batch is full, and more records follow.
    Room,
    /// The page is complete, and is committed.
    Commit,
}

impl Batch {
    fn is_full(&self) -> bool {
        self.changes.len() >= MOST_RECORDS || self.bytes >= MOST_BYTES || self.spooled >= MOST_SPOOLED
    }
}

impl Sink for CatalogueSink {
    fn must_start_over(&self) -> Option<String> {
        (!self.is_intact).then(|| STORED_IS_MISSING.to_owned())
    }

    fn page(&mut self, origin: &Origin) -> Result<(), SinkError> {
        let format = match self.page.take() {
            Some((before, format)) if before.prefix == origin.prefix && before.namespace == origin.namespace => format,
            _ => self.format(origin)?,
        };
        self.page = Some((origin.clone(), format));
        self.elsewhere.clear();
        Ok(())
    }

    fn record(&mut self, header: &Header) -> Result<(), SinkError> {
        self.incoming.begin(header);
        Ok(())
    }

    fn part(&mut self, part: Part, namespaces: &[(&str, &str)]) -> Result<(), SinkError> {
        self.incoming.part(part, namespaces);
        Ok(())
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result<(), SinkError> {
        self.incoming.bytes(bytes).map_err(SinkError::io("compress a record for", &self.path))
    }

    fn part_end(&mut self) -> Result<(), SinkError> {
        self.incoming.part_end().map_err(SinkError::io("compress a record for", &self.path))
    }

    fn end(&mut self, novelty: Novelty) -> Result<Kept, SinkError> {
        if novelty == Novelty::Same {
            self.incoming.clear();
            return Ok(Kept::Yes);
        }
        let (sets, name) = match self.place_of(&self.incoming.header) {
            Ok(place) => place,
            Err(refusal) => {
                self.incoming.clear();
                return Ok(Kept::No(refusal));
            }
        };
        let Some((origin, format)) = &self.page else {
            return Ok(Kept::No("it was received outside of any page".to_owned()));
        };
        let record = if self.incoming.header.deleted {
            self.incoming.clear();
            None
        } else {
            let packed = self.incoming.finish(origin).map_err(SinkError::io("compress a record for", &self.path))?;
            match packed {
                Ok(packed) => Some(packed),
                Err(refusal) => return Ok(Kept::No(refusal)),
            }
        };
        match record.as_ref().map(|record| &record.pieces) {
            Some(Pieces::One(bytes)) => self.batch.bytes += bytes.len(),
            Some(Pieces::Spooled { .. }) => self.batch.spooled += 1,
            None => {}
        }
        self.batch.changes.push(Change::Store { name, sets, format: Arc::clone(format), record });
        if self.batch.is_full() {
            self.write(Reason::Room)?;
        }
        Ok(Kept::Yes)
    }

    fn elsewhere(&mut self) -> Vec<String> {
        std::mem::take(&mut self.elsewhere)
    }

    fn abandon(&mut self) -> Result<(), SinkError> {
        self.incoming.clear();
        Ok(())
    }

    fn commit(&mut self) -> Result<String, SinkError> {
        self.write(Reason::Commit)?;
        Ok(self.mark.to_text())
    }

    fn roll_back(&mut self) -> Result<(), SinkError> {
        self.incoming.clear();
        self.batch = Batch::default();
        self.elsewhere.clear();
        Ok(())
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        self.write(Reason::Commit)?;
        Ok(self.writer()?.complete()?)
    }
}

impl CatalogueSink {
    /// Returns the sets and the name of a record, or the reason why it is refused.
    fn place_of(&self, header: &Header) -> Result<(Vec<Arc<SetSpec>>, String), String> {
        let identifier = header.identifier.trim();
        if identifier.is_empty() {
            return Err("it has no identifier".to_owned());
        }
        if !identifier.chars().all(is_legal) {
            return Err("its identifier contains characters that XML does not allow".to_owned());
        }
        if header.sets.len() > MOST_SETS {
            return Err(format!("it is in {} sets", header.sets.len()));
        }
        // The set of the source comes first: it identifies the source of the record.
        let mut sets = vec![Arc::clone(&self.own_set)];
        for set in header.sets.iter().map(|set| set.trim()).filter(|set| !set.is_empty()) {
            let levels = [self.slug.as_str()].into_iter().chain(set.split(':'));
            let set = Arc::new(SetSpec::from_levels(levels));
            if !sets.contains(&set) {
                sets.push(set);
            }
        }
        Ok((sets, identifier.to_owned()))
    }

    /// Returns the catalogue's format for a page: the one with the same prefix, unless that prefix has another
    /// namespace here.
    fn format(&self, origin: &Origin) -> Result<Arc<StoredFormat>, SinkError> {
        let Origin { prefix, schema, namespace, .. } = origin;
        let legal = match MetadataPrefix::parse(prefix) {
            Some(prefix) => prefix.to_string(),
            None => SetSpec::from_levels([prefix.as_str()]).to_string(),
        };
        let known = self.catalogue.formats()?;
        let mut candidate = legal.clone();
        for number in 2_u32.. {
            match known.iter().find(|known| known.prefix == candidate) {
                Some(known) if known.namespace == *namespace => return Ok(Arc::clone(known)),
                Some(_) => candidate = format!("{legal}.{number}"),
                None => break,
            }
        }
        let (schema, namespace) = (schema.clone(), namespace.clone());
        Ok(Arc::new(StoredFormat { prefix: candidate, schema, namespace }))
    }

    /// Writes what has gathered, and marks it if it is a commit's last.
    fn write(&mut self, reason: Reason) -> Result<(), SinkError> {
        let is_written = self.batch.changes.is_empty() && self.is_named;
        if is_written && (self.is_marked || reason == Reason::Room) {
            return Ok(());
        }
        let mut writer = self.writer()?;
        if !self.is_named {
            writer.name_set(&self.own_set, &self.name, None)?;
            self.is_named = true;
        }
        // In the order of the table. The sort is stable, so that changes of one record keep their order.
        self.batch.changes.sort_by(|one, other| one.name().cmp(other.name()));
        let left = writer.apply(&self.batch.changes)?;
        self.elsewhere.extend(left.into_iter().map(|place| self.batch.changes[place].name().to_owned()));
        (self.batch, self.is_marked) = (Batch::default(), false);
        if reason == Reason::Commit {
            let mark = self.mark.next();
            mark.leave(&mut *writer)?;
            (self.mark, self.is_marked) = (mark, true);
        }
        Ok(())
    }

    /// Returns the only writer of the catalogue, and waits while another process has it: several harvests may share one
    /// catalogue.
    fn writer(&self) -> Result<Box<dyn Writer>, SinkError> {
        let since = Instant::now();
        loop {
            match self.catalogue.writer_for(CatalogueKind::Records) {
                Err(CatalogueError::Locked { .. }) if since.elapsed() < PATIENCE => std::thread::sleep(PAUSE),
                writer => return Ok(writer?),
            }
        }
    }
}
