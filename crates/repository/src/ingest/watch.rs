//! Which parts of a site have changed, as the kernel tells it.
//!
//! inotify is precise about most changes, silent about some (network file systems, memory maps, hard links elsewhere)
//! and loses track under load. So its events are only ever taken as "look here"; what is really there is found out by
//! looking. Whatever means that a look here is not enough becomes [`Part::Everything`].

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use inotify::{EventMask, Inotify, WatchDescriptor, WatchMask, Watches};

use super::reconcile::Part;
use crate::site::folder::Folder;
use crate::site::{Site, name};

/// So many separate places, and looking at everything is the cheaper answer.
const MANY: usize = 5_000;

/// Watches over the folders of a site.
pub(super) struct Watch {
    inotify: Inotify,
    folders: Mutex<Folders>,
    buffer: Vec<u8>,
}

/// Which watch is on which folders. The same folder can have several names (by links), and then has one watch.
struct Folders {
    watches: Watches,
    names: HashMap<WatchDescriptor, BTreeSet<String>>,
    by_name: BTreeMap<String, WatchDescriptor>,
    /// Files met by a link elsewhere: a change of the file is a change of the link's name too.
    links: HashMap<PathBuf, BTreeSet<String>>,
    /// Why not every folder is watched, if so.
    incomplete: Option<io::Error>,
}

impl Watch {
    pub(super) fn new() -> io::Result<Self> {
        let inotify = Inotify::init()?;
        let folders = Folders {
            watches: inotify.watches(),
            names: HashMap::new(),
            by_name: BTreeMap::new(),
            links: HashMap::new(),
            incomplete: None,
        };
        Ok(Self { inotify, folders: Mutex::new(folders), buffer: vec![0; 64 * 1024] })
    }

    pub(super) fn as_fd(&self) -> BorrowedFd<'_> {
        self.inotify.as_fd()
    }

    /// Watches a folder, by the name with a slash at its end that the walk gave it. Called from the walk's threads.
    pub(super) fn add(&self, folder: &Folder, folder_name: &str) {
        let mask = WatchMask::CREATE
            | WatchMask::MODIFY
            | WatchMask::CLOSE_WRITE
            | WatchMask::ATTRIB
            | WatchMask::MOVE
            | WatchMask::DELETE
            | WatchMask::DELETE_SELF
            | WatchMask::MOVE_SELF
            | WatchMask::ONLYDIR
            | WatchMask::EXCL_UNLINK;
        let mut folders = self.folders();
        match folders.watches.add(folder.handle(), mask) {
            Ok(watch) => {
                folders.names.entry(watch.clone()).or_default().insert(folder_name.to_owned());
                folders.by_name.insert(folder_name.to_owned(), watch);
            }
            Err(error) => {
                if folders.incomplete.is_none() {
                    tracing::warn!(
                        folder = %folder_name, %error,
                        "cannot watch every folder; changes there are found by rescans only (is fs.inotify.max_user_watches too low?)"
                    );
                }
                folders.incomplete = Some(error);
            }
        }
    }

    /// Remembers that files have further names by links.
    pub(super) fn add_links(&self, links: Vec<(PathBuf, String)>) {
        let mut folders = self.folders();
        for (real, link_name) in links {
            folders.links.entry(real).or_default().insert(link_name);
        }
    }

    /// Whether every folder is watched. Asked after looking at everything, which tries all again.
    pub(super) fn is_complete(&self) -> bool {
        self.folders().incomplete.take().is_none()
    }

    /// Reads what the kernel has to tell, without waiting, and adds the parts to be looked at.
    pub(super) fn collect(&mut self, site: &Site, parts: &mut BTreeSet<Part>) -> io::Result<()> {
        loop {
            let events = match self.inotify.read_events(&mut self.buffer) {
                Ok(events) => events,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let mut folders = self.folders.lock().unwrap_or_else(PoisonError::into_inner);
            for event in events {
                folders.take(site, event.mask, &event.wd, event.name, parts);
            }
            if parts.len() > MANY {
                parts.clear();
                parts.insert(Part::Everything);
            }
        }
    }

    /// Forgets the folder of this name and all below it: it is not there any more.
    pub(super) fn forget(&self, folder_name: &str) {
        self.folders().forget(folder_name);
    }

    fn folders(&self) -> MutexGuard<'_, Folders> {
        self.folders.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Folders {
    fn take(
        &mut self,
        site: &Site,
        mask: EventMask,
        watch: &WatchDescriptor,
        file: Option<&std::ffi::OsStr>,
        parts: &mut BTreeSet<Part>,
    ) {
        let is_root = self.names.get(watch).is_some_and(|names| names.contains(""));
        let lost_root = is_root && mask.intersects(EventMask::MOVE_SELF | EventMask::DELETE_SELF | EventMask::IGNORED);
        if lost_root || mask.intersects(EventMask::Q_OVERFLOW | EventMask::UNMOUNT) {
            parts.insert(Part::Everything);
        }
        if mask.contains(EventMask::IGNORED) {
            for folder_name in self.names.remove(watch).unwrap_or_default() {
                self.by_name.remove(&folder_name);
            }
            return;
        }
        let Some(file) = file else { return };
        let segment = name::encode_segment(file.as_bytes());
        for folder_name in self.names.get(watch).into_iter().flatten() {
            let changed = format!("{folder_name}{segment}");
            if !self.links.is_empty() {
                let real = name::decode(&changed).map(|segments| site.root().join(os_path(&segments)));
                let aliases = real.and_then(|real| self.links.get(&real));
                parts.extend(aliases.into_iter().flatten().cloned().map(Part::Name));
            }
            parts.insert(Part::Name(changed));
        }
    }

    fn forget(&mut self, folder_name: &str) {
        let below = self.by_name.range(folder_name.to_owned()..);
        let gone: Vec<String> =
            below.map(|(name, _)| name.clone()).take_while(|name| name.starts_with(folder_name)).collect();
        for gone_name in gone {
            let Some(watch) = self.by_name.remove(&gone_name) else { continue };
            let Some(names) = self.names.get_mut(&watch) else { continue };
            names.remove(&gone_name);
            if names.is_empty() {
                self.names.remove(&watch);
                // It may be gone already together with its folder.
                let _ = self.watches.remove(watch);
            }
        }
    }
}

fn os_path(segments: &[Vec<u8>]) -> PathBuf {
    segments.iter().map(|segment| std::ffi::OsStr::from_bytes(segment)).collect()
}
