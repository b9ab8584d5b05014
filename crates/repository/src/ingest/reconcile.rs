//! Compares parts of the site with the same parts of the catalogue.
//!
//! Both sides are sorted by byte order of names and are compared by one [merge](super::merge). Memory holds the names
//! listed ahead, a batch of changes, and the names that are deleted or not settled, but never the whole site. Two
//! observations are not accepted without a check:
//!
//! - *Absence.* A root that is missing or empty, a directory that the disk could not read, a mount point without its
//!   file system, or the absence of more than a set share of everything: all of these look like deletions and hardly
//!   ever are. They are reported, and nothing is deleted on their account.
//! - *Sameness.* A file whose change time is younger than a clock tick may change again without a visible difference.
//!   It is stored with a state that no file has, and scanned again a moment later.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex, PoisonError};

use modoai_protocol::{MaxDeleted, SetSpec};

use super::hard_links::{Changed, HardLinks};
use super::large::LARGE;
use super::merge::Merge;
use super::read::Stoppable;
use crate::catalogue::{CatalogueError, Known, Writer};
use crate::formats::steady;
use crate::item::{Fingerprint, TICK};
use crate::sets::SetRules;
use crate::site::describe::{Describer, Description};
use crate::site::folder::{Folder, Thing, fingerprint_of, is_mount_point};
use crate::site::overlay::{Overlay, Sighting};
use crate::site::walk::{Met, OnFolder, Step, walk};
use crate::site::{Links, Site, kind, name};

/// A part of a site.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// All of it.
    Everything,
    /// The file of this name, or the directory of this name with its content, whichever exists or existed.
    Name(String),
    /// The same, and every file in it is to be described again: it may have another media type now.
    Anew(String),
}

/// The result of a comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// The number of existing files.
    pub files: u64,
    /// The number of files that are new or changed.
    pub put: u64,
    /// The names of some of them. Empty if everything was scanned.
    pub named: Vec<String>,
    /// The number of deleted files.
    pub deleted: u64,
    /// The number of files and directories that could not be read; their entries are kept.
    pub unknown: u64,
    /// The number of files and directories that are hidden because of their names.
    pub withheld: u64,
    /// The first of them.
    pub withheld_example: Option<String>,
    /// The number of symbolic links that were not followed because they leave the root.
    pub outside_links: u64,
    /// The first of them.
    pub outside_link_example: Option<String>,
    /// Files that changed so recently that they could change again unnoticed. Read them again a little later.
    pub unsettled: Vec<String>,
    /// Names that were found to refer to files elsewhere, which are not watched yet.
    pub pointed: Vec<String>,
    /// Other names of files that have changed, by hard links: they have changed, too. Empty if everything was scanned.
    pub linked: BTreeSet<String>,
}

/// The reason why a comparison was stopped.
#[derive(Debug, thiserror::Error)]
pub enum IngestError {
    /// The root could not be read.
    #[error("failed to read the directory of the site")]
    Root(#[from] io::Error),
    /// The root is empty, and the catalogue is not.
    #[error(
        "the directory of the site is empty, but the catalogue has {live} resources; check that the disk is \
        mounted"
    )]
    Emptied {
        /// The number of known resources.
        live: u64,
    },
    /// Too many resources are missing.
    #[error(
        "more than {share} % of the {live} resources in the catalogue are missing; check that all disks are \
        mounted"
    )]
    TooManyDeletions {
        /// The accepted share, in percent.
        share: u64,
        /// The number of known resources.
        live: u64,
    },
    /// The catalogue could not be written.
    #[error("failed to write the catalogue")]
    Catalogue(#[from] CatalogueError),
    /// The caller requested a stop.
    #[error("stopped before the comparison was complete")]
    Stopped,
}

/// Up to this number, deletions are accepted regardless of their share: somebody may have cleaned up.
const FEW: u64 = 1_000;

/// A media type and its set.
type Kind = (Arc<str>, Arc<SetSpec>);

/// Compares the site with the catalogue, and writes the differences.
pub struct Reconciler {
    site: Arc<Site>,
    pub(super) describer: Arc<dyn Describer>,
    pub(super) writer: Box<dyn Writer>,
    kinds: HashMap<String, Kind>,
    rules: SetRules,
    /// The directories on which something is mounted, once they are known.
    mounts: Option<BTreeSet<String>>,
    /// The directories that were reported as no longer mounted at the last rescan.
    unmounted: BTreeSet<String>,
    hard_links: HardLinks,
    /// True if files whose media type does not follow from their names are described again although they are unchanged:
    /// the settings may have changed.
    pub(super) asks_content: bool,
    pub(super) max_deleted: MaxDeleted,
    pub(super) stop: Arc<AtomicBool>,
    pub(super) seen: Arc<AtomicU64>,
}

impl Reconciler {
    /// Returns a reconciler for this site and this catalogue. If more than `max_deleted` percent are missing, nothing
    /// is deleted.
    pub fn new(site: Arc<Site>, writer: Box<dyn Writer>, max_deleted: u64) -> Self {
        Self {
            describer: site.clone(),
            site,
            writer,
            kinds: HashMap::new(),
            rules: SetRules::default(),
            mounts: None,
            unmounted: BTreeSet::new(),
            hard_links: HardLinks::default(),
            asks_content: true,
            max_deleted: MaxDeleted::new(max_deleted, FEW),
            stop: Arc::default(),
            seen: Arc::default(),
        }
    }

    /// Accepts all missing files as deleted.
    pub fn accepting_deletions(self) -> Self {
        Self { max_deleted: MaxDeleted::ALL, ..self }
    }

    /// Uses this describer instead of the site.
    pub fn described_by(self, describer: Arc<dyn Describer>) -> Self {
        Self { describer, ..self }
    }

    /// Adds files to the sets of these rules, in addition to those by media type.
    pub fn with_sets(self, rules: SetRules) -> Self {
        Self { rules, ..self }
    }

    /// Describes every file again, until everything has been scanned once more.
    pub(super) fn ask_anew(&mut self) {
        self.asks_content = true;
    }

    /// Returns a flag; setting it to true stops the comparison in progress.
    pub fn stopper(&self) -> Arc<AtomicBool> {
        self.stop.clone()
    }

    /// Returns the number of files scanned since the start, to show progress.
    pub fn seen(&self) -> Arc<AtomicU64> {
        self.seen.clone()
    }

    /// Returns the site.
    pub fn site(&self) -> &Arc<Site> {
        &self.site
    }

    /// Makes parts of the catalogue equal to the same parts of the site, in one transaction unless there are very many
    /// changes. No part may be within another. `on_folder` is called for every directory before it is read.
    pub fn reconcile(&mut self, parts: &[Part], on_folder: OnFolder<'_>) -> Result<Tally, IngestError> {
        let site = self.site.clone();
        site.ready()?;
        let everything = parts.contains(&Part::Everything);
        let before = self.mounts()?;
        let accepts_all = self.max_deleted == MaxDeleted::ALL;
        let unmounted_of = |mounts| if accepts_all { Vec::new() } else { unmounted(&site, mounts) };
        let guarded = unmounted_of(&before);
        if everything {
            let before = std::mem::replace(&mut self.unmounted, guarded.iter().cloned().collect());
            for folder in self.unmounted.difference(&before) {
                tracing::warn!(
                    %folder, "a file system is no longer mounted here; keeping its catalogue entries (if the \
                        deletions are intended, stop the server and run `modoai index` with --accept-deletions)"
                );
            }
        }
        let mounted = Mutex::new(BTreeSet::new());
        let note = |folder: &Folder, name: &str| {
            if folder.is_mounted() {
                mounted.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned());
            }
            if let Some(point) = folder.mount_point().and_then(|point| point.into_os_string().into_string().ok()) {
                mounted.lock().unwrap_or_else(PoisonError::into_inner).insert(point);
            }
            on_folder(folder, name);
        };
        let live = if everything { self.writer.live()? } else { 0 };
        let mut merge = Merge::new(self, guarded, live);
        for part in parts {
            merge.begin(part);
            match part {
                Part::Everything => walk(&site, "", &note, &mut |step| merge.step(step))?,
                Part::Name(at) | Part::Anew(at) => {
                    let Sighting { file, folder, unknown, .. } = sight(&site, at)?;
                    if let Some(error) = unknown {
                        let name = if file.is_some() { format!("{at}/") } else { at.clone() };
                        merge.step(Step::Unknown { name, error })?;
                    }
                    if let Some(fingerprint) = file {
                        merge.step(Step::File(Met { name: at.clone(), fingerprint }))?;
                    }
                    if folder {
                        walk(&site, at, &note, &mut |step| merge.step(step))?;
                    }
                }
            }
            merge.end()?;
        }
        let mut mounts = mounted.into_inner().unwrap_or_else(PoisonError::into_inner);
        // Checked again: a disk may have been unmounted during the walk.
        merge.guard(unmounted_of(&before.union(&mounts).cloned().collect()));
        let (mut tally, guarded, changed) = merge.finish()?;
        if !changed.is_empty() {
            tally.linked = self.hard_links.others(&changed, &mut *self.writer)?;
        }
        let unseen = |folder: &&String| {
            let is_kept = || guarded.iter().any(|kept| folder.starts_with(kept.as_str()));
            !everything || if folder.starts_with('/') { !is_mount_point(Path::new(folder)) } else { is_kept() }
        };
        mounts.extend(before.iter().filter(unseen).cloned());
        if mounts != before {
            self.writer.set_mounts(&mounts)?;
            self.mounts = Some(mounts);
        }
        Ok(tally)
    }

    /// Makes the whole catalogue equal to the site, waits a little for files that are being written, and declares a
    /// first filling complete.
    pub fn everything(&mut self, on_folder: OnFolder<'_>) -> Result<Tally, IngestError> {
        let tally = self.beforehand(on_folder)?;
        self.asks_content = false;
        self.writer.complete()?;
        Ok(tally)
    }

    /// Does the same, but leaves a first filling incomplete, for a caller that runs before the describer with the final
    /// decision on media types. Until that one has run, nothing is listed, and a correction is not reported as a
    /// change.
    pub fn beforehand(&mut self, on_folder: OnFolder<'_>) -> Result<Tally, IngestError> {
        const PATIENCE: usize = 10;
        let mut tally = self.reconcile(&[Part::Everything], on_folder)?;
        for _ in 0..PATIENCE {
            if tally.unsettled.is_empty() {
                break;
            }
            std::thread::sleep(TICK);
            let unsettled: Vec<Part> = std::mem::take(&mut tally.unsettled).into_iter().map(Part::Name).collect();
            let again = self.reconcile(&unsettled, on_folder)?;
            tally.deleted += again.deleted;
            tally.unsettled = again.unsettled;
            tally.pointed.extend(again.pointed);
        }
        Ok(tally)
    }

    fn mounts(&mut self) -> Result<BTreeSet<String>, IngestError> {
        if self.mounts.is_none() {
            self.mounts = Some(self.writer.mounts()?);
        }
        Ok(self.mounts.clone().unwrap_or_default())
    }

    /// Returns the media type of a file, and if a client without credentials may GET it, if that was determined; `None`
    /// if the file was deleted meanwhile. If a GET returns another file, `met` has the fingerprint of that file
    /// afterwards.
    pub(super) fn describe(
        &mut self,
        met: &mut Met,
        tally: &mut Tally,
    ) -> io::Result<Option<(Arc<str>, Option<bool>)>> {
        if let Some(media_type) = self.describer.at_a_glance(&met.name).map(Cow::into_owned) {
            return Ok(Some((self.kind_of(Cow::Owned(media_type)).0, None)));
        }
        let Some(description) = self.describer.look(met)? else { return Ok(None) };
        let Description { media_type, elsewhere, is_public } = description;
        if let Some(file) = elsewhere
            && let Ok(Some(Thing::File(_, fingerprint))) = Folder::open_added(&file, Links::Never)
        {
            met.fingerprint = fingerprint;
            if self.site.point(&met.name, &file) {
                tally.pointed.push(met.name.clone());
            }
        }
        Ok(Some((self.kind_of(Cow::Owned(media_type)).0, is_public)))
    }

    /// Returns a changed file that has several links.
    pub(super) fn links_of(&self, name: &str, fingerprint: &Fingerprint) -> Option<Changed> {
        let representation = self.site.get(name).ok().flatten()?;
        let links = representation.file.metadata().ok()?.nlink();
        (links > 1).then(|| Changed { inode: fingerprint.inode, links, name: name.to_owned() })
    }

    /// Returns the sets of a file: by its media type and by its name.
    pub(super) fn sets_of(&mut self, name: &str, media_type: &str) -> Vec<Arc<SetSpec>> {
        let (_, by_media_type) = self.kind_of(Cow::Borrowed(media_type));
        self.rules.of(&by_media_type, || name::decode(name).unwrap_or_default())
    }

    fn kind_of(&mut self, media_type: Cow<'_, str>) -> Kind {
        if let Some(kind) = self.kinds.get(&*media_type) {
            return kind.clone();
        }
        let kind = (Arc::from(&*media_type), Arc::new(kind::set_of(&media_type)));
        self.kinds.insert(media_type.into_owned(), kind.clone());
        kind
    }

    /// Returns true if a file with a new fingerprint still has the bytes whose digests are stored. Checked only if
    /// nothing but the change time differs, as after a change of owner or a new hard link. Large files are not
    /// compared, because changes of other files would have to wait.
    pub(super) fn same_bytes(&self, known: &Known, met: &Met) -> bool {
        let Some(digests) = known.facts.digests else { return false };
        let alike = |other: &Fingerprint| Fingerprint { changed: other.changed, ..known.fingerprint } == *other;
        if !alike(&met.fingerprint) || met.fingerprint.size > LARGE {
            return false;
        }
        let Ok(Some(representation)) = self.site.get(&met.name) else { return false };
        let before = representation.fingerprint;
        let now = steady::digests_of(&mut Stoppable { file: &representation.file, stop: &self.stop });
        let held_still = fingerprint_of(&representation.file).is_ok_and(|after| after == before);
        alike(&before) && held_still && now.is_ok_and(|now| now == digests)
    }
}

/// Returns the mount points without a mounted file system, and those that cannot be checked; and added roots below such
/// a point. A result that begins with a slash is the path of a mount point, any other is the name of a directory.
fn unmounted(site: &Site, mounts: &BTreeSet<String>) -> Vec<String> {
    let (points, folders): (Vec<_>, Vec<_>) = mounts.iter().partition(|at| at.starts_with('/'));
    let lost = points.into_iter().map(Path::new).filter(|point| !is_mount_point(point));
    let roots = lost.flat_map(|point| site.roots_below(point));
    let is_unmounted = |at: &&String| {
        let Some(segments) = shown(site, at.trim_end_matches('/')) else { return false };
        let Overlay { folders, unknown } = site.overlay(&segments);
        unknown.is_some() || (!folders.is_empty() && !folders.iter().any(Folder::is_mounted))
    };
    folders.into_iter().filter(is_unmounted).cloned().chain(roots).collect()
}

/// Returns the entry to which a name resolves, wherever it is.
fn sight(site: &Site, at: &str) -> io::Result<Sighting> {
    shown(site, at).map_or(Ok(Sighting::default()), |segments| site.sight(&segments))
}

/// Returns the path of a name, if the site shows it.
fn shown(site: &Site, at: &str) -> Option<Vec<Vec<u8>>> {
    name::decode(at).filter(|segments| site.rules().shows(segments))
}
