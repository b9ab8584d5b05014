//! Comparing a part of the site with the same part of the catalogue.
//!
//! Both sides come in byte order of names, so memory stays constant however large the site is. Two things are never
//! believed too easily:
//!
//! - *Absence.* A root that is missing or empty, a folder the disk could not read, a place where something was mounted
//!   and no longer is, or more than a set share of everything gone at once: all of these look like deletions and hardly
//!   ever are. They are reported, and nothing is deleted on their account.
//! - *Sameness.* A file whose change time is younger than a clock tick may change again without looking different. It is
//!   noted in a way that equals no real state, and looked at again a moment later.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use modoai_protocol::SetSpec;

use crate::catalogue::{CatalogueError, Change, Known, Writer};
use crate::formats::steady;
use crate::item::{Fingerprint, TICK};
use crate::site::folder::{Folder, Sight, Thing, fingerprint_of};
use crate::site::walk::{Met, OnFolder, Step, walk};
use crate::site::{Site, kind, name};

/// Rows asked of the catalogue at once.
const KNOWN_ROWS: usize = 2_000;

/// Changes written at once: enough that a first index is bound by neither commits nor memory.
const BATCH: usize = 20_000;

/// Fewer deletions than this are believed whatever their share.
const FEW: u64 = 1_000;

/// A change time that no file has: whatever is noted with it will be seen to differ at the next look.
const UNSETTLED: i64 = i64::MIN;

/// Which part of a site.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// All of it.
    Everything,
    /// The file of this name, or the folder of this name with all that is in it, whichever is or was there.
    Name(String),
}

/// What a comparison found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Files there are.
    pub files: u64,
    /// Files that are new or changed.
    pub put: u64,
    /// Files that are gone.
    pub deleted: u64,
    /// Files that changed so recently that they could change again unnoticed. Look at them a little later.
    pub unsettled: Vec<String>,
    /// Symbolic links to files: where the file really is, and the name it has here.
    pub links: Vec<(std::path::PathBuf, String)>,
}

/// Why a comparison was given up.
#[derive(Debug, thiserror::Error)]
pub enum IngestError {
    /// The root could not be read.
    #[error("failed to read the site's folder")]
    Root(#[from] io::Error),
    /// There is nothing where there was something.
    #[error("the site's folder is empty, but {live} resources are known; is the disk mounted?")]
    Emptied {
        /// How many resources are known.
        live: u64,
    },
    /// Too much is gone at once.
    #[error("more than {share} % of the {live} known resources are gone at once; is a disk missing?")]
    Vanished {
        /// The share that would have been believed, in percent.
        share: u64,
        /// How many resources are known.
        live: u64,
    },
    /// The catalogue could not be written.
    #[error("failed to write the catalogue")]
    Catalogue(#[from] CatalogueError),
    /// Someone asked to stop.
    #[error("stopped before the comparison was complete")]
    Stopped,
}

/// Compares and writes.
pub struct Reconciler {
    site: Arc<Site>,
    writer: Box<dyn Writer>,
    kinds: HashMap<String, (Arc<str>, Arc<SetSpec>)>,
    mounts: BTreeMap<String, u64>,
    /// In percent; none believes everything.
    max_vanished: Option<u64>,
    stop: Arc<AtomicBool>,
    seen: Arc<AtomicU64>,
}

impl Reconciler {
    /// Of this site, into this catalogue. More than `max_vanished` percent gone at once is not believed.
    pub fn new(site: Arc<Site>, writer: Box<dyn Writer>, max_vanished: u64) -> Self {
        Self {
            site,
            writer,
            kinds: HashMap::new(),
            mounts: BTreeMap::new(),
            max_vanished: Some(max_vanished),
            stop: Arc::default(),
            seen: Arc::default(),
        }
    }

    /// Believes that whatever is not there has been deleted.
    pub fn believing_all(self) -> Self {
        Self { max_vanished: None, ..self }
    }

    /// Set it to true, and the comparison under way is given up.
    pub fn stopper(&self) -> Arc<AtomicBool> {
        self.stop.clone()
    }

    /// How many files have been met, ever: for showing progress.
    pub fn seen(&self) -> Arc<AtomicU64> {
        self.seen.clone()
    }

    /// The site.
    pub fn site(&self) -> &Arc<Site> {
        &self.site
    }

    /// Makes a part of the catalogue equal to that part of the site. `on_folder` is told of every folder before it is
    /// read.
    pub fn reconcile(&mut self, part: &Part, on_folder: OnFolder<'_>) -> Result<Tally, IngestError> {
        let site = self.site.clone();
        let mounts = std::sync::Mutex::new(BTreeMap::new());
        let root_device = site.root_folder()?.device();
        let guarded = if *part == Part::Everything { self.unmounted(root_device)? } else { Vec::new() };
        let note = |folder: &Folder, name: &str| {
            if folder.device() != root_device
                && let Ok(mut mounts) = mounts.lock()
            {
                mounts.insert(name.to_owned(), folder.device());
            }
            on_folder(folder, name);
        };
        let live = if *part == Part::Everything { self.writer.live()? } else { 0 };
        let mut merge = Merge::new(self, part, guarded, live);
        match part {
            Part::Everything => walk(&site, "", &note, &mut |step| merge.step(step))?,
            Part::Name(at) => match sight(&site, at)? {
                Some(Sight::File { fingerprint, real }) => {
                    merge.step(Step::File(Met { name: at.clone(), fingerprint, real }))?;
                }
                Some(Sight::Folder(_)) => walk(&site, at, &note, &mut |step| merge.step(step))?,
                None => {}
            },
        }
        let tally = merge.finish()?;
        self.mounts.extend(mounts.into_inner().unwrap_or_default());
        Ok(tally)
    }

    /// Makes the whole catalogue equal to the site, waits a little for files that are being written, and declares a
    /// first filling complete.
    pub fn everything(&mut self, on_folder: OnFolder<'_>) -> Result<Tally, IngestError> {
        const PATIENCE: usize = 10;
        let mut tally = self.reconcile(&Part::Everything, on_folder)?;
        for _ in 0..PATIENCE {
            if tally.unsettled.is_empty() {
                break;
            }
            std::thread::sleep(TICK);
            for at in std::mem::take(&mut tally.unsettled) {
                let one = self.reconcile(&Part::Name(at), on_folder)?;
                tally.deleted += one.deleted;
                tally.unsettled.extend(one.unsettled);
            }
        }
        self.writer.complete()?;
        Ok(tally)
    }

    /// Folders in which something was mounted and is no longer.
    fn unmounted(&mut self, root_device: u64) -> Result<Vec<String>, IngestError> {
        let mut unmounted = Vec::new();
        for (at, device) in &self.mounts {
            let Some(Sight::Folder(folder)) = sight(&self.site, at.trim_end_matches('/'))? else { continue };
            if folder.device() == root_device && *device != root_device {
                tracing::warn!(folder = %at, "something was mounted here and is no longer; nothing in it is taken for deleted");
                unmounted.push(at.clone());
            }
        }
        Ok(unmounted)
    }

    /// The media type of a file that is new or changed, and its set; `None` if it is gone again.
    fn kind(&mut self, met: &Met) -> io::Result<Option<(Arc<str>, Arc<SetSpec>)>> {
        let media_type = match self.site.kinds().by_name(&met.name) {
            Some(media_type) => media_type,
            None => match self.site.get(&met.name)? {
                Some(representation) => kind::by_content(&representation.file)?,
                None => return Ok(None),
            },
        };
        if let Some(kind) = self.kinds.get(&*media_type) {
            return Ok(Some(kind.clone()));
        }
        let kind = (Arc::from(&*media_type), Arc::new(kind::set_of(&media_type)));
        self.kinds.insert(media_type.into_owned(), kind.clone());
        Ok(Some(kind))
    }

    /// Whether a file with a new fingerprint still has the bytes whose digests are remembered. Only asked where size
    /// and modification time are the same, as after a change of owner or a new hard link.
    fn same_bytes(&self, known: &Known, met: &Met) -> bool {
        let Some(digests) = known.facts.digests else { return false };
        let alike =
            |other: &Fingerprint| known.fingerprint.size == other.size && known.fingerprint.modified == other.modified;
        if !alike(&met.fingerprint) {
            return false;
        }
        let Ok(Some(mut representation)) = self.site.get(&met.name) else { return false };
        let before = representation.fingerprint;
        let now = steady::digests_of(&mut representation.file);
        let held_still = fingerprint_of(&representation.file).is_ok_and(|after| after == before);
        alike(&before) && held_still && now.is_ok_and(|now| now == digests)
    }
}

/// What a name stands for, wherever it is.
fn sight(site: &Site, at: &str) -> io::Result<Option<Sight>> {
    use std::os::unix::ffi::OsStrExt as _;
    let Some(segments) = name::decode(at) else { return Ok(None) };
    let Some((last, before)) = segments.split_last() else { return Ok(Some(Sight::Folder(site.root_folder()?))) };
    if !site.rules().shows(&segments) {
        return Ok(None);
    }
    match site.root_folder()?.descend(before)? {
        Some(Thing::Folder(folder)) => folder.glance(std::ffi::OsStr::from_bytes(last)),
        _ => Ok(None),
    }
}

/// One comparison under way.
struct Merge<'a> {
    reconciler: &'a mut Reconciler,
    part: &'a Part,
    /// Known names not yet compared, and how to get more of them.
    known: VecDeque<Known>,
    stage: KnownStage,
    changes: Vec<Change>,
    gone: Vec<String>,
    /// Folders in which nothing may be taken for gone.
    guarded: Vec<String>,
    live: u64,
    tally: Tally,
}

/// Known names come in byte order: for a name, first the file of that name, then what is in the folder of that name.
enum KnownStage {
    File,
    Below { prefix: String, after: String },
    Done,
}

impl<'a> Merge<'a> {
    fn new(reconciler: &'a mut Reconciler, part: &'a Part, guarded: Vec<String>, live: u64) -> Self {
        let stage = match part {
            Part::Everything => KnownStage::Below { prefix: String::new(), after: String::new() },
            Part::Name(_) => KnownStage::File,
        };
        let (known, changes, gone, tally) = (VecDeque::new(), Vec::new(), Vec::new(), Tally::default());
        Self { reconciler, part, known, stage, changes, gone, guarded, live, tally }
    }

    fn step(&mut self, step: Step) -> Result<(), IngestError> {
        if self.reconciler.stop.load(Ordering::Relaxed) {
            return Err(IngestError::Stopped);
        }
        match step {
            Step::File(met) => self.file(met),
            Step::Unknown { name, error } if name.is_empty() => Err(IngestError::Root(error)),
            Step::Unknown { name, error } => {
                tracing::warn!(folder = %name, %error, "a folder cannot be read; what is known of it is kept");
                self.guarded.push(name);
                Ok(())
            }
        }
    }

    fn file(&mut self, mut met: Met) -> Result<(), IngestError> {
        self.tally.files += 1;
        self.reconciler.seen.fetch_add(1, Ordering::Relaxed);
        self.tally.links.extend(met.real.take().map(|real| (real, met.name.clone())));
        while let Some(known) = self.next_known_before(&met.name)? {
            self.absent(known)?;
        }
        let known = match self.known.front() {
            Some(front) if front.name == met.name => self.known.pop_front(),
            _ => None,
        };
        // Files keep their state when a setting gives their names another media type.
        let told = self.reconciler.site.kinds().by_name(&met.name);
        let known = known.filter(|known| told.is_none_or(|told| *told == *known.media_type));
        if known.as_ref().is_some_and(|known| known.fingerprint == met.fingerprint) {
            return Ok(());
        }
        if met.fingerprint.is_fresh() {
            self.tally.unsettled.push(met.name.clone());
            met.fingerprint.changed = UNSETTLED;
        }
        match known {
            Some(known) if known.fingerprint == met.fingerprint => Ok(()),
            Some(known) if self.reconciler.same_bytes(&known, &met) => {
                self.change(Change::Same { number: known.number, fingerprint: met.fingerprint })
            }
            _ => self.put(met),
        }
    }

    fn put(&mut self, met: Met) -> Result<(), IngestError> {
        match self.reconciler.kind(&met) {
            Ok(Some((media_type, set))) => {
                self.tally.put += 1;
                let Met { name, fingerprint, .. } = met;
                self.change(Change::Put { name, fingerprint, media_type, sets: vec![set] })
            }
            // Gone again, or not readable after all: the next look will tell.
            Ok(None) => Ok(()),
            Err(error) => {
                tracing::warn!(file = %met.name, %error, "a file cannot be read; it is left as it was");
                Ok(())
            }
        }
    }

    fn absent(&mut self, known: Known) -> Result<(), IngestError> {
        if self.guarded.iter().any(|folder| known.name.starts_with(folder.as_str())) {
            return Ok(());
        }
        self.gone.push(known.name);
        let Some(share) = self.reconciler.max_vanished else { return Ok(()) };
        let gone = self.gone.len() as u64;
        let too_many = gone > FEW && gone.saturating_mul(100) > self.live.saturating_mul(share);
        if *self.part == Part::Everything && too_many {
            return Err(IngestError::Vanished { share, live: self.live });
        }
        Ok(())
    }

    fn change(&mut self, change: Change) -> Result<(), IngestError> {
        self.changes.push(change);
        if self.changes.len() < BATCH { Ok(()) } else { self.write() }
    }

    fn write(&mut self) -> Result<(), IngestError> {
        self.reconciler.writer.apply(&self.changes)?;
        self.changes.clear();
        Ok(())
    }

    fn finish(mut self) -> Result<Tally, IngestError> {
        let emptied = *self.part == Part::Everything && self.tally.files == 0 && self.live > 0;
        if emptied && self.reconciler.max_vanished.is_some() {
            return Err(IngestError::Emptied { live: self.live });
        }
        while let Some(known) = self.next_known()? {
            self.absent(known)?;
        }
        self.tally.deleted = self.gone.len() as u64;
        for name in std::mem::take(&mut self.gone) {
            self.change(Change::Delete { name })?;
        }
        self.write()?;
        Ok(self.tally)
    }

    /// The next known name, if it comes before this one.
    fn next_known_before(&mut self, name: &str) -> Result<Option<Known>, IngestError> {
        self.fetch_known()?;
        match self.known.front() {
            Some(front) if front.name.as_str() < name => Ok(self.known.pop_front()),
            _ => Ok(None),
        }
    }

    fn next_known(&mut self) -> Result<Option<Known>, IngestError> {
        self.fetch_known()?;
        Ok(self.known.pop_front())
    }

    fn fetch_known(&mut self) -> Result<(), IngestError> {
        while self.known.is_empty() {
            let writer = &mut self.reconciler.writer;
            match (&mut self.stage, self.part) {
                (KnownStage::File, Part::Name(name)) => {
                    let first = writer.known(name, "", 1)?;
                    self.known.extend(first.into_iter().filter(|known| known.name == *name));
                    self.stage = KnownStage::Below { prefix: format!("{name}/"), after: String::new() };
                }
                (KnownStage::Below { prefix, after }, _) => {
                    let rows = writer.known(prefix, after, KNOWN_ROWS)?;
                    match rows.last() {
                        Some(last) if rows.len() == KNOWN_ROWS => *after = last.name.clone(),
                        _ => self.stage = KnownStage::Done,
                    }
                    self.known.extend(rows);
                }
                _ => return Ok(()),
            }
        }
        Ok(())
    }
}
