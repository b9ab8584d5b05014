//! Transfers the observations of a crawl into the catalogue.
//!
//! New and changed resources are stored as they arrive. Deletions wait until the crawl is complete: resources
//! that the server reports as missing, and those to which no link remains. They are withheld if a document that may
//! contain links could not be read, if a limit ended the crawl early, or if more resources than allowed are missing.

use std::collections::{BTreeSet, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use modoai_protocol::{MaxDeleted, SetSpec};
use percent_encoding::percent_decode_str;

use super::{Sent, Shelf};
use crate::catalogue::{Catalogue, CatalogueError, CatalogueKind, Change, Known, Writer};
use crate::item::Publicity;
use crate::sets::SetRules;
use crate::site::kind;

/// The number of changes written in one transaction, and the longest time that a change waits for others.
const BATCH: usize = 256;
const PATIENCE: Duration = Duration::from_secs(1);

/// A number of deletions that is always accepted, regardless of the share.
const FEW: u64 = 10;

/// Stores the observations of crawls in the catalogue. One per site for as long as it is served: it holds the write
/// lock.
pub struct Intake {
    shelf: Arc<Shelf>,
    catalogue: Arc<dyn Catalogue>,
    writer: Box<dyn Writer>,
    max_deleted: MaxDeleted,
    /// True if the next complete crawl may delete everything that it did not find.
    accepts_deletions: bool,
    rules: SetRules,
    changes: Vec<Change>,
    written: Instant,
    /// Hashes of all URLs found. If two collide, a deleted resource stays listed for longer.
    seen: HashSet<u64>,
    gone: BTreeSet<String>,
    taken: Taken,
    failure: Option<IntakeError>,
}

/// The result of a crawl.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// The number of existing resources.
    pub resources: u64,
    /// The number of new or changed ones.
    pub put: u64,
    /// The number of deleted ones.
    pub deleted: u64,
    /// The number of resources whose state could not be determined; they are unchanged in the catalogue.
    pub untested: u64,
    /// The reason why deletions were withheld, if they were.
    pub reprieve: Option<String>,
}

/// The reason why observations cannot be stored.
#[derive(Debug, thiserror::Error)]
pub enum IntakeError {
    /// An error of the catalogue.
    #[error(transparent)]
    Catalogue(#[from] CatalogueError),
    /// A resource cannot be stored.
    #[error("failed to store {url}")]
    Shelf {
        /// Its URL.
        url: String,
        /// The cause.
        source: io::Error,
    },
}

impl Intake {
    /// Returns an intake for this catalogue and this store. A crawl in which more than `max_deleted` percent of the
    /// resources are missing deletes nothing.
    pub fn new(catalogue: Arc<dyn Catalogue>, shelf: Arc<Shelf>, max_deleted: u64) -> Result<Self, CatalogueError> {
        Ok(Self {
            writer: catalogue.writer_for(CatalogueKind::Crawl)?,
            shelf,
            catalogue,
            max_deleted: MaxDeleted::new(max_deleted, FEW),
            accepts_deletions: false,
            rules: SetRules::default(),
            changes: Vec::new(),
            written: Instant::now(),
            seen: HashSet::new(),
            gone: BTreeSet::new(),
            taken: Taken::default(),
            failure: None,
        })
    }

    /// Accepts all resources that the next complete crawl does not find as deleted.
    pub fn accepting_deletions(self, accepts_deletions: bool) -> Self {
        Self { accepts_deletions, ..self }
    }

    /// Adds resources to the sets of these rules, in addition to those by media type.
    pub fn with_sets(self, rules: SetRules) -> Self {
        Self { rules, ..self }
    }

    /// Starts a crawl, or resumes an interrupted one: in both cases every resource is reported.
    pub fn begin(&mut self) {
        self.changes.clear();
        self.seen.clear();
        self.gone.clear();
        (self.taken, self.failure) = (Taken::default(), None);
    }

    /// Returns true if the catalogue and the store have the last state of this URL.
    pub fn has(&mut self, url: &str) -> bool {
        let Ok(Some(representation)) = self.shelf.get(url) else { return false };
        let item = self.catalogue.item(url).ok().flatten();
        item.is_some_and(|item| !item.deleted && item.fingerprint == representation.fingerprint)
    }

    /// Stores a response. [`finish`](Self::finish) returns the error if it cannot be stored.
    pub fn keep(&mut self, url: &str, sent: &Sent<'_>) {
        self.come_upon(url);
        if self.failure.is_none()
            && let Err(error) = self.try_keep(url, sent)
        {
            self.failure = Some(error);
        }
    }

    /// Records that a resource has not changed.
    pub fn same(&mut self, url: &str) {
        self.come_upon(url);
    }

    /// Records that a resource is missing.
    pub fn gone(&mut self, url: &str) {
        self.come_upon(url);
        self.gone.insert(url.to_owned());
    }

    /// Records that the state of a resource is unknown. If it may contain links (`is_blind`), resources that were not
    /// found are not deleted.
    pub fn untested(&mut self, url: &str, is_blind: bool) {
        self.come_upon(url);
        self.taken.untested += 1;
        if is_blind {
            self.doubt(format!("{url} could not be read, and may link to the missing resources"));
        }
    }

    /// Completes the crawl. `is_cut` is true if a limit ended it early.
    pub fn finish(&mut self, is_cut: bool) -> Result<Taken, IntakeError> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        self.write()?;
        if is_cut {
            self.doubt("the crawl stopped at a limit".to_owned());
        }
        let missing = self.missing()?;
        let live = self.writer.live()?;
        let count = missing.len() as u64;
        let accepts_all = !is_cut && std::mem::take(&mut self.accepts_deletions);
        if accepts_all || self.max_deleted.allows(count, live) {
            self.delete(&missing)?;
        } else {
            let share = self.max_deleted.percent();
            self.doubt(format!("{count} of {live} resources are missing, more than {share} percent (max_deleted)"));
        }
        self.regroup()?;
        self.taken.resources = self.writer.live()?;
        if self.taken.resources > 0 {
            self.writer.complete()?;
        }
        self.seen.clear();
        Ok(std::mem::take(&mut self.taken))
    }

    /// Returns the names that are in the catalogue and no longer on the site.
    fn missing(&mut self) -> Result<Vec<String>, IntakeError> {
        let sees_all = self.taken.reprieve.is_none();
        let (mut missing, mut after) = (Vec::new(), String::new());
        loop {
            let known = self.writer.known("", &after, 1_000)?;
            let Some(last) = known.last() else { return Ok(missing) };
            after.clone_from(&last.name);
            for known in known {
                let is_lost = sees_all && !self.seen.contains(&hash(&known.name));
                if is_lost || self.gone.contains(&known.name) {
                    missing.push(known.name);
                }
            }
        }
    }

    /// Updates the sets of unchanged resources if the rules have changed since they were stored.
    fn regroup(&mut self) -> Result<(), IntakeError> {
        let mut after = String::new();
        loop {
            let known = self.writer.known("", &after, BATCH)?;
            let Some(last) = known.last() else { return Ok(()) };
            after.clone_from(&last.name);
            for Known { name, media_type, sets: before, publicity, fingerprint, .. } in known {
                let sets = self.sets_of(&name, &media_type);
                if *sets != *before {
                    self.taken.put += 1;
                    self.changes.push(Change::Put { name, fingerprint, media_type, sets, publicity });
                }
            }
            self.write()?;
        }
    }

    fn sets_of(&self, url: &str, media_type: &str) -> Vec<Arc<SetSpec>> {
        self.rules.of(&Arc::new(kind::set_of(media_type)), || path_of(url))
    }

    fn delete(&mut self, missing: &[String]) -> Result<(), IntakeError> {
        self.taken.deleted = missing.len() as u64;
        for part in missing.chunks(BATCH) {
            let changes: Vec<_> = part.iter().map(|name| Change::Delete { name: name.clone() }).collect();
            self.writer.apply(&changes)?;
            for url in part {
                self.shelf.remove(url).map_err(|source| IntakeError::Shelf { url: url.clone(), source })?;
            }
        }
        Ok(())
    }

    fn come_upon(&mut self, url: &str) {
        self.seen.insert(hash(url));
        self.gone.remove(url);
        if self.written.elapsed() > PATIENCE
            && let Err(error) = self.write()
        {
            self.failure.get_or_insert(error);
        }
    }

    fn try_keep(&mut self, url: &str, sent: &Sent<'_>) -> Result<(), IntakeError> {
        let kept = self.shelf.put(url, sent);
        let fingerprint = kept.map_err(|source| IntakeError::Shelf { url: url.to_owned(), source })?;
        let media_type = media_type(sent);
        let known = self.catalogue.item(url)?;
        let is_known = known
            .is_some_and(|item| !item.deleted && item.fingerprint == fingerprint && *item.media_type == *media_type);
        // Sets are compared when the crawl is complete, as for all resources that were not sent again.
        if is_known {
            return Ok(());
        }
        self.taken.put += 1;
        self.changes.push(Change::Put {
            name: url.to_owned(),
            fingerprint,
            sets: self.sets_of(url, &media_type),
            media_type: media_type.into(),
            publicity: Publicity::Public,
        });
        if self.changes.len() < BATCH { Ok(()) } else { self.write() }
    }

    fn write(&mut self) -> Result<(), IntakeError> {
        self.written = Instant::now();
        let mut changes = std::mem::take(&mut self.changes);
        // In the order of the table's key.
        changes.sort_by(|one, other| one.name().cmp(other.name()));
        self.writer.apply(&changes)?;
        Ok(())
    }

    /// Records a reason against deletions; the first one is kept.
    fn doubt(&mut self, reason: String) {
        self.taken.reprieve.get_or_insert(reason);
    }
}

/// Returns the media type of a response, without parameters.
fn media_type(sent: &Sent<'_>) -> String {
    let said = sent.header("content-type").unwrap_or_default();
    let said = said.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if kind::is_media_type(&said) { said } else { "application/octet-stream".to_owned() }
}

/// Returns the path of a URL in decoded segments, without the query.
fn path_of(url: &str) -> Vec<Vec<u8>> {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let path = rest.split(['?', '#']).next().unwrap_or_default().split('/').skip(1);
    path.filter(|segment| !segment.is_empty()).map(|segment| percent_decode_str(segment).collect()).collect()
}

fn hash(url: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    url.hash(&mut hasher);
    hasher.finish()
}
