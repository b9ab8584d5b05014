//! Detects changes of a site by inotify.
//!
//! inotify reports most changes precisely, some not at all (network file systems, memory maps, hard links elsewhere),
//! and loses events under load. So an event only selects a place to scan; the scan determines the actual state.
//! Directories are watched for two reasons: they belong to the site, or the [trail](super::trails) of a link or of an
//! added root contains them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use inotify::{EventMask, Inotify, WatchDescriptor, WatchMask, Watches};

use super::parts::Parts;
use super::trails::{Trails, follow, path_of, range_of, written};
use crate::site::folder::Folder;
use crate::site::{Site, name};

/// Creation, deletion and renaming of entries in a directory, and of the directory itself.
const STRUCTURE: WatchMask = WatchMask::CREATE
    .union(WatchMask::MOVE)
    .union(WatchMask::DELETE)
    .union(WatchMask::DELETE_SELF)
    .union(WatchMask::MOVE_SELF)
    .union(WatchMask::ONLYDIR);

/// The same, and changes of its files.
const EVERYTHING: WatchMask = STRUCTURE
    .union(WatchMask::MODIFY)
    .union(WatchMask::CLOSE_WRITE)
    .union(WatchMask::ATTRIB)
    .union(WatchMask::EXCL_UNLINK);

/// The name of the main root's trail.
const MAIN_ROOT: &str = "";

/// Watches the directories of a site.
pub(super) struct Watch {
    site: Arc<Site>,
    inotify: Inotify,
    folders: Mutex<Folders>,
    buffer: Vec<u8>,
}

/// The directories of each watch. The same directory can have several names, and then has one watch: names of the site
/// (by links or roots), and, beginning with a slash, its path as a part of a trail. All end with a slash; the main
/// root's is empty. Several directories, of different roots, can also have one name.
struct Folders {
    watches: Watches,
    names: HashMap<WatchDescriptor, BTreeSet<String>>,
    by_name: BTreeMap<String, Vec<WatchDescriptor>>,
    trails: Trails,
    /// Names of files that determine the description of the other files in their directory.
    access_files: Vec<String>,
    /// True if some directory could not be watched since the last rescan.
    incomplete: bool,
}

impl Watch {
    pub(super) fn new(site: Arc<Site>, access_files: Vec<String>) -> io::Result<Self> {
        let inotify = Inotify::init()?;
        let folders = Folders {
            watches: inotify.watches(),
            names: HashMap::new(),
            by_name: BTreeMap::new(),
            trails: Trails::default(),
            access_files,
            incomplete: false,
        };
        Ok(Self { site, inotify, folders: Mutex::new(folders), buffer: vec![0; 64 * 1024] })
    }

    pub(super) fn as_fd(&self) -> BorrowedFd<'_> {
        self.inotify.as_fd()
    }

    /// Watches a directory, by the name with a slash at its end that the walk gave it, and the targets of the links in
    /// it. Called from the walk's threads.
    pub(super) fn add(&self, folder: &Folder, folder_name: &str) {
        self.folders().watch(&folder.handle(), folder_name.to_owned(), EVERYTHING);
        let Some(mut segments) = name::decode(folder_name.trim_end_matches('/')) else { return };
        let mut links = Vec::new();
        let listed = folder.links(|link| {
            segments.push(link.as_bytes().to_vec());
            if self.site.rules().shows_last(&segments) {
                links.push(name::encode(&segments));
            }
            segments.pop();
        });
        // The walk is about to list the same directory, and reports the error.
        if listed.is_ok() {
            links.iter().for_each(|link| self.folders().note(&self.site, link));
        }
    }

    /// Prepares a rescan of everything.
    pub(super) fn begin_anew(&self) {
        let mut folders = self.folders();
        folders.trails = Trails::default();
        folders.forget("/");
        folders.incomplete = false;
        self.site.roots_within("").iter().for_each(|root| folders.note(&self.site, root));
        for given in self.site.root_links() {
            let trail = folders.trail_of_root(&given);
            folders.trails.note(MAIN_ROOT, trail);
        }
    }

    /// Removes all directories: the main root is another directory now.
    pub(super) fn forget_all(&self) {
        self.folders().forget("");
    }

    /// Prepares for scanning this name again. If it is a directory, the scan starts a new watch.
    pub(super) fn begin_anew_at(&self, site_name: &str) {
        let mut folders = self.folders();
        folders.forget(&format!("{site_name}/"));
        folders.trails.forget(site_name);
        folders.note(&self.site, site_name);
        // Also missing ones: the walk visits only existing directories.
        self.site.roots_within(site_name).iter().for_each(|root| folders.note(&self.site, root));
    }

    /// Returns true if every directory found since the last rescan is watched.
    pub(super) fn is_complete(&self) -> bool {
        !self.folders().incomplete
    }

    /// Simulates that the kernel has no watch left.
    #[cfg(test)]
    pub(super) fn run_out(&self) {
        self.folders().miss("a/", &io::ErrorKind::StorageFull.into());
    }

    /// Reads the kernel's events, without waiting, and adds the parts to be scanned.
    pub(super) fn collect(&mut self, parts: &mut Parts) -> io::Result<()> {
        loop {
            let events = match self.inotify.read_events(&mut self.buffer) {
                Ok(events) => events,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let mut folders = self.folders.lock().unwrap_or_else(PoisonError::into_inner);
            for event in events {
                folders.take(event.mask, &event.wd, event.name, parts);
            }
            parts.limit();
        }
    }

    fn folders(&self) -> MutexGuard<'_, Folders> {
        self.folders.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Folders {
    fn take(&mut self, mask: EventMask, watch: &WatchDescriptor, file: Option<&OsStr>, parts: &mut Parts) {
        if mask.contains(EventMask::Q_OVERFLOW) {
            parts.lost_track();
            if !self.access_files.is_empty() {
                parts.add_anew(String::new());
            }
        }
        let Some(names) = self.names.get(watch).cloned() else { return };
        let gone = mask.intersects(EventMask::MOVE_SELF | EventMask::DELETE_SELF);
        let lost_root = names.contains("") && (gone || mask.contains(EventMask::IGNORED));
        if lost_root || mask.contains(EventMask::UNMOUNT) {
            parts.distrust();
        }
        if mask.contains(EventMask::IGNORED) {
            self.names.remove(watch);
            for folder in &names {
                self.unname(folder, watch);
            }
            return;
        }
        if let Some(file) = file
            && self.access_files.iter().any(|access_file| OsStr::new(access_file) == file)
        {
            names.iter().for_each(|folder| self.describe_anew(folder.trim_end_matches('/'), parts));
        }
        let segment = file.map(|file| name::encode_segment(file.as_bytes()));
        let comes_or_goes =
            mask.intersects(EventMask::CREATE | EventMask::DELETE | EventMask::MOVED_FROM | EventMask::MOVED_TO);
        for folder in &names {
            let changed = match &segment {
                Some(segment) => format!("{folder}{segment}"),
                None if gone => folder.trim_end_matches('/').to_owned(),
                None => continue,
            };
            if changed.starts_with('/') {
                for link in self.trails.through(&changed) {
                    match link.as_str() {
                        MAIN_ROOT => parts.look_at_everything(),
                        link => parts.add(link.to_owned()),
                    }
                }
                if gone || comes_or_goes {
                    // Other directories may have these paths now; the links are about to be followed again.
                    self.forget(&format!("{changed}/"));
                }
            } else if !changed.is_empty() {
                parts.add(changed);
            }
        }
    }

    fn watch(&mut self, path: &Path, folder_name: String, mask: WatchMask) {
        match self.watches.add(path, mask | WatchMask::MASK_ADD) {
            Ok(watch) => {
                if self.names.entry(watch.clone()).or_default().insert(folder_name.clone()) {
                    self.by_name.entry(folder_name).or_default().push(watch);
                }
            }
            // A directory on a trail that is missing or unreadable cannot be watched.
            Err(error) if folder_name.starts_with('/') && error.kind() != io::ErrorKind::StorageFull => {}
            Err(error) => self.miss(&folder_name, &error),
        }
    }

    fn miss(&mut self, folder_name: &str, error: &io::Error) {
        if !self.incomplete {
            tracing::warn!(
                folder = %folder_name, %error,
                "failed to watch a directory; changes there are found only by rescans (check \
                    fs.inotify.max_user_watches)"
            );
        }
        self.incomplete = true;
    }

    /// Watches what affects a name from elsewhere, if anything: the target of a link, or the path of an added root.
    fn note(&mut self, site: &Site, site_name: &str) {
        let Some(segments) = name::decode(site_name) else { return };
        let mut trail = Vec::new();
        for layer in site.layers(&segments) {
            let below = path_of(&segments[layer.depth..]);
            if layer.is_main() {
                trail.extend(self.trail_of_link(&layer.path, &below));
            } else if below.as_os_str().is_empty() {
                trail.extend(self.trail_of_root(&layer.path));
            } else if let Ok(root) = layer.path.canonicalize() {
                trail.extend(self.trail_of_link(&root, &below));
            }
        }
        if !trail.is_empty() {
            self.trails.note(site_name, trail);
        }
    }

    /// Returns the trail of a path below a root that has no links in it; empty if the path is not a link.
    fn trail_of_link(&mut self, root: &Path, below: &Path) -> Vec<String> {
        if root.join(below).read_link().is_err() {
            return Vec::new();
        }
        let (trail, end) = follow(root, below, &mut |folder| {
            // When a directory around the root is removed, the root is removed, too.
            let around_root = root.starts_with(folder) && root != folder;
            if !around_root {
                self.watch_on_trail(folder);
            }
        });
        if let Some(folder) = end.parent().filter(|folder| folder.starts_with(root) || !root.starts_with(folder)) {
            self.watch(folder, written(folder) + "/", EVERYTHING);
        }
        trail
    }

    /// Returns the trail of an added root. Unlike the main root it may be removed and created, so the directories
    /// around it are watched.
    fn trail_of_root(&mut self, root: &Path) -> Vec<String> {
        let (trail, end) = follow(Path::new("/"), root, &mut |folder| self.watch_on_trail(folder));
        // A directory is watched by itself.
        if let Some(folder) = end.parent().filter(|_| end.is_file()) {
            self.watch(folder, written(folder) + "/", EVERYTHING);
        }
        trail
    }

    fn watch_on_trail(&mut self, folder: &Path) {
        let folder_name = written(folder) + "/";
        if !self.by_name.contains_key(&folder_name) {
            self.watch(folder, folder_name, STRUCTURE);
        }
    }

    /// Has everything in a directory described again. The directory is one of the site, or elsewhere and on a trail.
    fn describe_anew(&self, folder: &str, parts: &mut Parts) {
        if folder.starts_with('/') {
            self.trails.through(folder).cloned().for_each(|name| parts.add_anew(name));
        } else {
            parts.add_anew(folder.to_owned());
        }
    }

    /// Removes the directory of this name and all below it: it no longer exists.
    fn forget(&mut self, folder_name: &str) {
        let gone: Vec<String> = range_of(&self.by_name, folder_name).map(|(name, _)| name.clone()).collect();
        for gone_name in gone {
            for watch in self.by_name.remove(&gone_name).unwrap_or_default() {
                let Some(names) = self.names.get_mut(&watch) else { continue };
                names.remove(&gone_name);
                if names.is_empty() {
                    self.names.remove(&watch);
                    // The watch may have been removed together with its directory.
                    let _ = self.watches.remove(watch);
                }
            }
        }
    }

    /// Removes the name of a directory from a watch.
    fn unname(&mut self, folder_name: &str, watch: &WatchDescriptor) {
        if let Some(watches) = self.by_name.get_mut(folder_name) {
            watches.retain(|other| other != watch);
            if watches.is_empty() {
                self.by_name.remove(folder_name);
            }
        }
    }
}
