//! What a crawl's observations mean for the catalogue.
//!
//! New and changed resources are told as they come. Deletions wait until the crawl has come to its end, and happen only then:
//! what its server calls gone, and what nothing leads to any more. They are not believed if something could not be read that may
//! lead to others, if a limit kept the crawl from seeing everything, or if too much would vanish at once.

use std::collections::{BTreeSet, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use modoai_protocol::SetSpec;
use percent_encoding::percent_decode_str;

use super::{Sent, Shelf};
use crate::catalogue::{Catalogue, CatalogueError, Change, Known, Writer};
use crate::item::Publicity;
use crate::sets::SetRules;
use crate::site::kind;

/// Changes written at once; and how long one waits for others.
const BATCH: usize = 256;
const PATIENCE: Duration = Duration::from_secs(1);

/// So few may go however many there are.
const FEW: u64 = 10;

/// Takes what a crawl sees into the catalogue. One for as long as the site is kept: it holds the right to write.
pub struct Intake {
    shelf: Arc<Shelf>,
    catalogue: Arc<dyn Catalogue>,
    writer: Box<dyn Writer>,
    max_vanished: u64,
    rules: SetRules,
    changes: Vec<Change>,
    written: Instant,
    /// Hashes of all that was come upon. Should two collide, something gone stays for longer.
    seen: HashSet<u64>,
    gone: BTreeSet<String>,
    taken: Taken,
    failure: Option<IntakeError>,
}

/// What a crawl brought.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// Resources that are there.
    pub resources: u64,
    /// How many of them are new or changed.
    pub put: u64,
    /// Those that are gone.
    pub deleted: u64,
    /// Those whose state nobody could find out; they stay as they were.
    pub untested: u64,
    /// Why what seems to be gone was kept, if so.
    pub reprieve: Option<String>,
}

/// Why nothing can be taken in.
#[derive(Debug, thiserror::Error)]
pub enum IntakeError {
    /// The catalogue cannot be written.
    #[error(transparent)]
    Catalogue(#[from] CatalogueError),
    /// A resource cannot be kept.
    #[error("failed to store {url}")]
    Shelf {
        /// Which resource.
        url: String,
        /// Why it failed.
        source: io::Error,
    },
}

impl Intake {
    /// Into this catalogue and on this shelf. More than `max_vanished` percent gone at once is not believed.
    pub fn new(catalogue: Arc<dyn Catalogue>, shelf: Arc<Shelf>, max_vanished: u64) -> Result<Self, CatalogueError> {
        Ok(Self {
            writer: catalogue.writer()?,
            shelf,
            catalogue,
            max_vanished,
            rules: SetRules::default(),
            changes: Vec::new(),
            written: Instant::now(),
            seen: HashSet::new(),
            gone: BTreeSet::new(),
            taken: Taken::default(),
            failure: None,
        })
    }

    /// Puts resources into the sets of these rules, in addition to those by media type.
    pub fn with_sets(self, rules: SetRules) -> Self {
        Self { rules, ..self }
    }

    /// A crawl begins, or goes on after it was interrupted: either way it tells of everything.
    pub fn begin(&mut self) {
        self.changes.clear();
        self.seen.clear();
        self.gone.clear();
        (self.taken, self.failure) = (Taken::default(), None);
    }

    /// Whether the last state of this URL is in the catalogue and at hand.
    pub fn has(&mut self, url: &str) -> bool {
        let Ok(Some(representation)) = self.shelf.get(url) else { return false };
        let item = self.catalogue.item(url).ok().flatten();
        item.is_some_and(|item| !item.deleted && item.fingerprint == representation.fingerprint)
    }

    /// It was sent. What cannot be kept is told by [`finish`](Self::finish).
    pub fn keep(&mut self, url: &str, sent: &Sent<'_>) {
        self.come_upon(url);
        if self.failure.is_none()
            && let Err(error) = self.try_keep(url, sent)
        {
            self.failure = Some(error);
        }
    }

    /// It is what it was.
    pub fn same(&mut self, url: &str) {
        self.come_upon(url);
    }

    /// It is not there.
    pub fn gone(&mut self, url: &str) {
        self.come_upon(url);
        self.gone.insert(url.to_owned());
    }

    /// Nobody knows. If it may lead to others, nothing that was not come upon is gone.
    pub fn untested(&mut self, url: &str, is_blind: bool) {
        self.come_upon(url);
        self.taken.untested += 1;
        if is_blind {
            self.doubt(format!("{url} could not be read, and may link to the missing resources"));
        }
    }

    /// The crawl has come to its end. `is_cut` if a limit kept it from seeing everything.
    pub fn finish(&mut self, is_cut: bool) -> Result<Taken, IntakeError> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        self.write()?;
        if is_cut {
            self.doubt("the crawl stopped at a limit".to_owned());
        }
        let vanished = self.vanished()?;
        let live = self.writer.live()?;
        let count = vanished.len() as u64;
        if count > FEW && count.saturating_mul(100) > live.saturating_mul(self.max_vanished) {
            let share = self.max_vanished;
            self.doubt(format!("{count} of {live} resources are missing, more than {share} percent"));
        } else {
            self.delete(&vanished)?;
        }
        self.regroup()?;
        self.taken.resources = self.writer.live()?;
        if self.taken.resources > 0 {
            self.writer.complete()?;
        }
        self.seen.clear();
        Ok(std::mem::take(&mut self.taken))
    }

    /// The names that are in the catalogue, and no longer on the site.
    fn vanished(&mut self) -> Result<Vec<String>, IntakeError> {
        let sees_all = self.taken.reprieve.is_none();
        let (mut vanished, mut after) = (Vec::new(), String::new());
        loop {
            let known = self.writer.known("", &after, 1_000)?;
            let Some(last) = known.last() else { return Ok(vanished) };
            after.clone_from(&last.name);
            for known in known {
                let is_lost = sees_all && !self.seen.contains(&hash(&known.name));
                if is_lost || self.gone.contains(&known.name) {
                    vanished.push(known.name);
                }
            }
        }
    }

    /// Puts resources that have not changed into other sets, where the rules are others than when they were stored.
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

    fn delete(&mut self, vanished: &[String]) -> Result<(), IntakeError> {
        self.taken.deleted = vanished.len() as u64;
        for part in vanished.chunks(BATCH) {
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
        // Whether its sets are others now is compared when the crawl is complete, as for all that was not sent again.
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
        // In the order of the table they go into.
        changes.sort_by(|one, other| one.name().cmp(other.name()));
        self.writer.apply(&changes)?;
        Ok(())
    }

    /// The first reason stands.
    fn doubt(&mut self, reason: String) {
        self.taken.reprieve.get_or_insert(reason);
    }
}

/// The media type of what was sent, without parameters.
fn media_type(sent: &Sent<'_>) -> String {
    let said = sent.header("content-type").unwrap_or_default();
    let said = said.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if kind::is_media_type(&said) { said } else { "application/octet-stream".to_owned() }
}

/// The path of a URL in segments, decoded, without the query.
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
