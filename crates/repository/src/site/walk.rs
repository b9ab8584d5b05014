//! Lists every file of a site, in order of names, read ahead by several threads.
//!
//! Because of the order, a walk and the catalogue are two sorted lists, and comparing them is one merge. Listing
//! directories ahead in parallel makes the walk fast on disks and network file systems with a high latency. The reader
//! of the walk proceeds depth first; helpers list the directories that it will need next. The number of entries listed
//! ahead is bounded, and the reader itself lists a directory that no helper has started, so the two can never wait for
//! each other.

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

/// Helpers pause while this many entries are listed and not yet read: some tens of megabytes at most.
const AHEAD: usize = 100_000;

/// The maximum number of helpers: more do not make local disks faster, and network ones only a little.
const MOST_HELPERS: usize = 8;

/// A file found by the walk.
#[derive(Debug)]
pub struct Met {
    /// Its name: the canonical path below the root.
    pub name: String,
    /// Its state.
    pub fingerprint: Fingerprint,
}

/// An item of the walk.
#[derive(Debug)]
pub enum Step {
    /// A file.
    File(Met),
    /// A name that is hidden because it matches a pattern of `withhold`.
    Withheld(String),
    /// The name of a symbolic link that is not followed because it leaves the root.
    LeavesRoot(String),
    /// An entry that could not be read, for a reason other than its permissions. Its state and its content are unknown,
    /// so none of it may be treated as deleted.
    Unknown {
        /// Its name, with a slash at the end if it is a directory; empty for the main root.
        name: String,
        /// The cause.
        error: io::Error,
    },
}

/// A function that is called for every directory just before it is listed, so that no change between listing and
/// watching is missed. Called from several threads.
pub type OnFolder<'a> = &'a (dyn Fn(&Folder, &str) + Sync);

/// Decides, by the name with a slash at the end, if a walk enters a directory that is reached by a symbolic link.
/// Called once for every such directory on a walk, from several threads.
pub type Doorkeeper = Box<dyn Fn(&str) -> bool + Send + Sync>;

/// Walks the directory of this name (empty for the root), calling `each` for every file in byte order of names, until
/// it returns an error. A missing directory has no files.
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
    // If the main root cannot be opened, the state of all files is unknown.
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

/// A directory to be listed.
struct Task {
    segments: Vec<Vec<u8>>,
    stage: Mutex<Stage>,
}

/// The stage of a directory. It is opened when it is listed, from the root down: if a walk held all directories that it
/// has yet to list, it would run out of descriptors.
enum Stage {
    Waiting,
    Running,
    Listed(Listing),
}

/// The entries of a directory. `unknown` is set if they are incomplete.
#[derive(Default)]
struct Listing {
    entries: Vec<Entry>,
    unknown: Option<io::Error>,
}

impl Task {
    fn new(segments: Vec<Vec<u8>>) -> Arc<Self> {
        Arc::new(Self { segments, stage: Mutex::new(Stage::Waiting) })
    }

    /// Claims the directory for listing, unless another thread has.
    fn claim(&self) -> bool {
        let mut stage = lock(&self.stage);
        let waiting = matches!(*stage, Stage::Waiting);
        if waiting {
            *stage = Stage::Running;
        }
        waiting
    }
}

/// A name in a directory, with its canonical encoding; a directory's ends with a slash, so that sorting by it is
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
    /// Directories that no thread has started, in reverse order of need.
    waiting: Vec<Arc<Task>>,
    /// The number of entries that are listed and not yet read.
    listed: usize,
    finished: bool,
}

/// The state shared by the reader and its helpers.
struct Ahead<'a> {
    site: &'a Site,
    on_folder: OnFolder<'a>,
    /// The doorkeeper's decisions on linked directories, by their names.
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

    /// Lists a claimed directory and queues its subdirectories.
    fn list(&self, task: &Task) {
        // The reader waits for this directory, and would wait indefinitely if a panic ended this thread.
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
        // Under the lock, so that a reader that found the stage running cannot miss the wake-up.
        *lock(&task.stage) = Stage::Listed(listing);
        drop(state);
        self.changed.notify_all();
    }

    fn listing(&self, task: &Task) -> Listing {
        // A directory that was removed in the meantime has no files.
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

    /// Returns true if the doorkeeper admits this walk through every link in the path of a directory. All links are
    /// checked, not only one to the directory itself: the walk may have started behind others, and if one root's
    /// directory is not entered, another root's directory of the same name may have the same path.
    fn admits(&self, folder: &Folder, segments: &[Vec<u8>]) -> bool {
        let Some(doorkeeper) = self.site.doorkeeper() else { return true };
        folder.linked().into_iter().all(|up| {
            let linked = folder_name(&segments[..segments.len() - up]);
            let known = lock(&self.admitted).get(&linked).copied();
            // Not under the lock, because this may take long. No other thread makes this call at the same time: a
            // directory is listed once, by one thread, and before its subdirectories.
            known.unwrap_or_else(|| {
                let admitted = doorkeeper(&linked);
                lock(&self.admitted).insert(linked, admitted);
                admitted
            })
        })
    }

    /// Returns the names that more than one root contains or implies.
    fn shared(&self, task: &Task, names: &[(OsString, usize)], folders: usize) -> BTreeSet<Vec<u8>> {
        let mut shared: BTreeSet<Vec<u8>> = self.site.implied(&task.segments).into_iter().collect();
        if folders > 1 {
            let mut met = HashSet::new();
            let again = names.iter().filter(|(name, _)| !met.insert(name));
            shared.extend(again.map(|(name, _)| name.as_bytes().to_vec()));
        }
        shared
    }

    /// Lists the entry of this name in a directory, if the name is shown.
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
                // If the file is known, only the directory of the same name is uncertain.
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

    /// Passes the files to `each` in order.
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

    /// Returns the entries of a directory, which this thread lists itself if no helper has started.
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

/// Locks a mutex. A thread that panicked leaves plain data behind, which is still valid.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
