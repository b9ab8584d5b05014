//! Every file of a site, in order of names, read ahead by several threads.
//!
//! The order is what makes everything after it simple: a walk and the catalogue are two sorted lists, and comparing them
//! is one merge. Reading folders ahead in parallel is what makes it fast on disks and network file systems that answer
//! slowly. The reader of the walk goes depth first; helpers list the folders it will need next. How far they may run
//! ahead is bounded, and a folder that no helper has begun the reader lists itself, so the two can never wait for each
//! other.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use super::folder::Folder;
use super::overlay::{Overlay, Sighting};
use super::{Site, name};
use crate::item::Fingerprint;

/// Helpers pause while so many entries are listed and not yet asked for: some tens of megabytes at most.
const AHEAD: usize = 100_000;

/// More helpers than this do not make local disks faster, and network ones not much.
const MOST_HELPERS: usize = 8;

/// A file met on the walk.
#[derive(Debug)]
pub struct Met {
    /// Its name: the canonical path below the root.
    pub name: String,
    /// Its state.
    pub fingerprint: Fingerprint,
}

/// What happens on a walk.
#[derive(Debug)]
pub enum Step {
    /// A file.
    File(Met),
    /// Something that is hidden because of what it looks like; its name.
    Withheld(String),
    /// A symbolic link that is not followed because it leaves the root; its name.
    LeavesRoot(String),
    /// Something that could not be looked at, for a reason that is not its permissions. What it is, and what is in it, is
    /// not known, so nothing of it may be taken for gone.
    Unknown {
        /// Its name, with a slash at the end if it is a folder; empty for the main root.
        name: String,
        /// Why.
        error: io::Error,
    },
}

/// Told of every folder just before it is listed, so that no change between listing and watching is missed. Called from
/// several threads.
pub type OnFolder<'a> = &'a (dyn Fn(&Folder, &str) + Sync);

/// Decides, by its name with a slash at the end, whether a walk enters a folder that is reached by a symbolic link. Asked
/// once of every such folder on a walk, from several threads.
pub type Doorkeeper = Box<dyn Fn(&str) -> bool + Send + Sync>;

/// Walks the folder of this name (empty for the root), calling `each` for every file in byte order of names, until it
/// returns an error. A folder that is not there has no files.
pub fn walk<E>(
    site: &Site,
    folder_name: &str,
    on_folder: OnFolder<'_>,
    each: &mut dyn FnMut(Step) -> Result<(), E>,
) -> Result<(), E>
where
    E: From<io::Error>,
{
    let Some(segments) = name::decode(folder_name.trim_end_matches('/')) else { return Ok(()) };
    if !site.rules().shows(&segments) {
        return Ok(());
    }
    // If not even the main root can be opened, nothing is known of anything.
    site.ready()?;
    let ahead = Ahead {
        site,
        on_folder,
        admitted: Mutex::default(),
        state: Mutex::new(State::default()),
        changed: Condvar::new(),
    };
    let helpers = std::thread::available_parallelism().map_or(2, |cores| (cores.get() * 2).min(MOST_HELPERS));
    std::thread::scope(|scope| {
        for _ in 0..helpers {
            scope.spawn(|| ahead.help());
        }
        let result = ahead.read(&Task::new(segments), each);
        ahead.finish();
        result
    })
}

/// One folder to be listed.
struct Task {
    segments: Vec<Vec<u8>>,
    stage: Mutex<Stage>,
}

/// A folder is opened when its turn comes, from the root down: a walk that held all it has yet to list would run out of
/// descriptors.
enum Stage {
    Waiting,
    Running,
    Listed(Listing),
}

/// What is in a folder, and whether that is all.
#[derive(Default)]
struct Listing {
    entries: Vec<Entry>,
    unknown: Option<io::Error>,
}

impl Task {
    fn new(segments: Vec<Vec<u8>>) -> Arc<Self> {
        Arc::new(Self { segments, stage: Mutex::new(Stage::Waiting) })
    }

    /// Takes the folder for listing, unless another has.
    fn claim(&self) -> bool {
        let mut stage = lock(&self.stage);
        let waiting = matches!(*stage, Stage::Waiting);
        if waiting {
            *stage = Stage::Running;
        }
        waiting
    }
}

/// One name in a folder, with the name's canonical encoding; a folder's ends with a slash, so that sorting by it is
/// sorting by full names.
struct Entry {
    key: String,
    thing: EntryThing,
}

enum EntryThing {
    Unknown(io::Error),
    Withheld,
    LeavesRoot,
    File(Fingerprint),
    Folder(Arc<Task>),
}

impl Entry {
    fn is_known(&self) -> bool {
        !matches!(self.thing, EntryThing::Unknown(_))
    }
}

#[derive(Default)]
struct State {
    /// Folders nobody has begun, the one needed first last.
    waiting: Vec<Arc<Task>>,
    /// Entries listed and not yet taken.
    listed: usize,
    finished: bool,
}

/// What the reader and its helpers share.
struct Ahead<'a> {
    site: &'a Site,
    on_folder: OnFolder<'a>,
    /// What the doorkeeper said of linked folders, by their names.
    admitted: Mutex<HashMap<String, bool>>,
    state: Mutex<State>,
    changed: Condvar,
}

impl Ahead<'_> {
    fn help(&self) {
        let mut state = lock(&self.state);
        while !state.finished {
            let task = if state.listed < AHEAD { state.waiting.pop() } else { None };
            let Some(task) = task else {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            drop(state);
            if task.claim() {
                self.list(&task);
            }
            state = lock(&self.state);
        }
    }

    fn finish(&self) {
        lock(&self.state).finished = true;
        self.changed.notify_all();
    }

    /// Lists a claimed folder and queues the folders in it.
    fn list(&self, task: &Task) {
        // The reader waits for this folder and would wait for ever if a panic ended the matter here.
        let listing = std::panic::catch_unwind(AssertUnwindSafe(|| self.listing(task)));
        let listing = listing.unwrap_or_else(|_| {
            let unknown = Some(io::Error::other("internal error while listing the directory"));
            Listing { unknown, ..Listing::default() }
        });
        let mut state = lock(&self.state);
        state.listed += listing.entries.len();
        let inner = listing.entries.iter().rev().filter_map(|entry| match &entry.thing {
            EntryThing::Folder(task) => Some(task.clone()),
            EntryThing::File(_) | EntryThing::Withheld | EntryThing::LeavesRoot | EntryThing::Unknown(_) => None,
        });
        state.waiting.extend(inner);
        // Under the lock, so that a reader who found it running cannot miss the wake-up.
        *lock(&task.stage) = Stage::Listed(listing);
        drop(state);
        self.changed.notify_all();
    }

    fn listing(&self, task: &Task) -> Listing {
        // What was a folder a moment ago and is none now has no files.
        let Overlay { mut folders, mut unknown } = self.site.overlay(&task.segments);
        folders.retain(|folder| self.admits(folder, &task.segments));
        let mut names: Vec<(OsString, usize)> = Vec::new();
        for (at, folder) in folders.iter().enumerate() {
            (self.on_folder)(folder, &folder_name(&task.segments));
            let nearer = names.len();
            if let Err(error) = folder.names(|name| names.push((name.to_owned(), at))) {
                names.truncate(nearer);
                unknown = Some(error);
                break;
            }
        }
        let shared = self.shared(task, &names, folders.len());
        let mut path = task.segments.clone();
        let mut entries = Vec::with_capacity(names.len());
        for (name, at) in &names {
            let name = name.as_bytes();
            if shared.is_empty() || !shared.contains(name) {
                let glance = || folders[*at].glance(OsStr::from_bytes(name)).into();
                self.enter(&mut path, name, |_| glance(), &mut entries);
            }
        }
        for name in &shared {
            let sight = |path: &[Vec<u8>]| self.site.sight(path).unwrap_or_else(Sighting::unknown);
            self.enter(&mut path, name, sight, &mut entries);
        }
        entries.sort_unstable_by(|a, b| a.key.cmp(&b.key).then_with(|| a.is_known().cmp(&b.is_known())));
        Listing { entries, unknown }
    }

    /// Whether the doorkeeper lets this walk through every link on the way to a folder. All links are gone through, not
    /// only one to the folder itself: the walk may have begun behind others, and where a root's folder is not entered,
    /// another root's folder of the same name may lead to the same path.
    fn admits(&self, folder: &Folder, segments: &[Vec<u8>]) -> bool {
        let Some(doorkeeper) = self.site.doorkeeper() else { return true };
        folder.linked().into_iter().all(|up| {
            let linked = folder_name(&segments[..segments.len() - up]);
            let known = lock(&self.admitted).get(&linked).copied();
            // Not under the lock, for this may take long. Nobody else is asking: a folder is listed once, by one thread, and
            // before those in it.
            known.unwrap_or_else(|| {
                let admitted = doorkeeper(&linked);
                lock(&self.admitted).insert(linked, admitted);
                admitted
            })
        })
    }

    /// The names that more than one root has a say in.
    fn shared(&self, task: &Task, names: &[(OsString, usize)], folders: usize) -> BTreeSet<Vec<u8>> {
        let mut shared: BTreeSet<Vec<u8>> = self.site.implied(&task.segments).into_iter().collect();
        if folders > 1 {
            let mut met = HashSet::new();
            let again = names.iter().filter(|(name, _)| !met.insert(name));
            shared.extend(again.map(|(name, _)| name.as_bytes().to_vec()));
        }
        shared
    }

    /// Lists what has this name in a folder, if the name is shown.
    fn enter(
        &self,
        path: &mut Vec<Vec<u8>>,
        name: &[u8],
        sight: impl FnOnce(&[Vec<u8>]) -> Sighting,
        entries: &mut Vec<Entry>,
    ) {
        path.push(name.to_vec());
        if self.site.rules().shows_last(path) {
            let Sighting { file, folder, leaves_root, unknown } = sight(path);
            let key = || name::encode_segment(name);
            if let Some(error) = unknown {
                // Where there is a file, only the folder of the same name is in doubt.
                let key = if file.is_some() { key() + "/" } else { key() };
                entries.push(Entry { key, thing: EntryThing::Unknown(error) });
            }
            entries.extend(file.map(|fingerprint| Entry { key: key(), thing: EntryThing::File(fingerprint) }));
            if folder {
                let thing = EntryThing::Folder(Task::new(path.clone()));
                entries.push(Entry { key: key() + "/", thing });
            }
            if leaves_root && file.is_none() && !folder {
                entries.push(Entry { key: key(), thing: EntryThing::LeavesRoot });
            }
        } else if self.site.rules().withholds_last(path) {
            entries.push(Entry { key: name::encode_segment(name), thing: EntryThing::Withheld });
        }
        path.pop();
    }

    /// Goes through the files in order.
    fn read<E>(&self, root: &Task, each: &mut dyn FnMut(Step) -> Result<(), E>) -> Result<(), E> {
        let mut open = vec![(folder_name(&root.segments), self.take(root, each)?.into_iter())];
        while let Some((prefix, entries)) = open.last_mut() {
            let Some(entry) = entries.next() else {
                open.pop();
                continue;
            };
            let name = format!("{prefix}{}", entry.key);
            match entry.thing {
                EntryThing::File(fingerprint) => each(Step::File(Met { name, fingerprint }))?,
                EntryThing::Folder(task) => open.push((name, self.take(&task, each)?.into_iter())),
                EntryThing::Withheld => each(Step::Withheld(name))?,
                EntryThing::LeavesRoot => each(Step::LeavesRoot(name))?,
                EntryThing::Unknown(error) => each(Step::Unknown { name, error })?,
            }
        }
        Ok(())
    }

    /// The entries of a folder, listed here and now if no helper has begun.
    fn take<E>(&self, task: &Task, each: &mut dyn FnMut(Step) -> Result<(), E>) -> Result<Vec<Entry>, E> {
        if task.claim() {
            self.list(task);
        }
        let mut state = lock(&self.state);
        loop {
            let mut stage = lock(&task.stage);
            if matches!(*stage, Stage::Listed(_)) {
                let Stage::Listed(listing) = std::mem::replace(&mut *stage, Stage::Running) else { unreachable!() };
                drop(stage);
                state.listed -= listing.entries.len();
                drop(state);
                self.changed.notify_all();
                if let Some(error) = listing.unknown {
                    each(Step::Unknown { name: folder_name(&task.segments), error })?;
                }
                return Ok(listing.entries);
            }
            drop(stage);
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

fn folder_name(segments: &[Vec<u8>]) -> String {
    segments.iter().map(|segment| name::encode_segment(segment) + "/").collect()
}

/// A thread that panicked left plain data behind; it is still good.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
