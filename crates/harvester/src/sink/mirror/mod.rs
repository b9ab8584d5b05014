//! The site itself: every resource a file, byte for byte, under the name it has there.
//!
//! A record's resource is written to a temporary file while it arrives, compared with the digest and the length that the
//! record tells, given its modification time and renamed into place; so a file is either what it was or what it is, and
//! doing it twice does no harm. What is large comes by reference only and is fetched. A record that is deleted takes its
//! file with it. What cannot be kept is told, and nothing is ever written outside the folder, or over what somebody else
//! has put there.
//!
//! | file | what it knows |
//! |---|---|
//! | `path` | where a resource belongs, and which names are refused |
//! | `tree` | files below one folder |
//! | `index` | what is there, whose it is, and what it was when it was written |
//! | `before` | what is at a path already |
//! | `claims` | what is there that the index does not know yet |

mod before;
mod claims;
mod index;
mod path;
mod tree;

use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, Mode, OFlags};

use self::before::Before;
use self::claims::Claims;
use self::index::{Entry, Index};
use self::path::{Path, Site, WebUrl, place};
use self::tree::{Tree, Undone};
use super::reference::{Getter, Got, Known, Validators, http_date};
use super::resources::Resources;
use super::spool::{Scratch, Spool, make_folder};
use super::{Inspected, Kept, Origin, Part, Place, Sink, SinkError};
use crate::clock;
use crate::didl::{Algorithm, Component};
use crate::record::{Header, Novelty};
use crate::state::OWN_FOLDER;

/// Opens the sink.
pub(super) fn open(place: Place<'_>) -> Result<Box<dyn Sink>, SinkError> {
    Ok(Box::new(Mirror::open(place)?))
}

/// Folders for what was put aside: a file may be deleted twice, and a folder may have been a file.
const ASIDE: usize = 100;

/// Records whose files are compared at once.
const INSPECTED: usize = 64;

struct Mirror {
    tree: Tree,
    /// The mirror's own folder.
    own: OwnedFd,
    own_path: PathBuf,
    scratch: Scratch,
    index: Index,
    claims: Claims,
    /// Whether the index is the one that earlier commits went to.
    is_intact: bool,
    /// Whether the index may have forgotten files of ours.
    is_forgetful: bool,
    base_url: String,
    /// What the folder stands for, once a resource is known.
    site: Option<Site>,
    getter: Getter,
    keep_deleted: bool,
    /// Whether names that differ in case only are one file here.
    folds: bool,
    record: Option<Resources>,
}

impl Mirror {
    fn open(place: Place<'_>) -> Result<Self, SinkError> {
        let dir = place.dir;
        let opened = || -> io::Result<(PathBuf, OwnedFd, OwnedFd, bool)> {
            std::fs::create_dir_all(dir)?;
            let path = dir.canonicalize()?;
            let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::RDONLY;
            let root = rustix::fs::open(&path, flags, Mode::empty())?;
            let own = make_folder(&root, OWN_FOLDER.as_bytes())?;
            let folds = folds(&own)?;
            Ok((path, root, own, folds))
        };
        let (path, root, own, folds) = opened().map_err(SinkError::io("open the mirror in", dir))?;
        let own_path = path.join(OWN_FOLDER);
        let (index, is_new) = Index::open(&own_path, folds)?;
        if place.distrusted {
            index.distrust()?;
        }
        Ok(Self {
            tree: Tree::new(root, path),
            scratch: Scratch::open(&own, &own_path)?,
            site: index.site()?.as_deref().and_then(Site::from_text),
            claims: Claims::open(&own, &own_path, &index)?,
            is_intact: !is_new || place.mark.is_none(),
            is_forgetful: place.distrusted,
            own,
            own_path,
            index,
            base_url: place.source.base_url.clone(),
            getter: Getter::new(place.client, place.gauge),
            keep_deleted: place.options.keep_deleted,
            folds,
            record: None,
        })
    }

    /// All resources of a record, and nothing else that came with it before.
    fn keep_all(&mut self, mut record: Resources, novelty: Novelty) -> Result<(), Undone> {
        let header = &record.header;
        let mut kept = Vec::new();
        if !header.deleted {
            if let Some(fault) = record.fault.take() {
                return Err(Undone::Refused(fault));
            }
            for (component, spool) in record.found.drain(..) {
                // What is neither by value nor by reference is metadata, in records with several Components.
                if spool.is_none() && web_url(&component).is_none() {
                    continue;
                }
                let path = self.keep(header, &component, spool, novelty, &kept)?;
                kept.push(path);
            }
            if kept.is_empty() {
                return Err(Undone::Refused("the record holds no resource, by value or by reference".to_owned()));
            }
        }
        for entry in self.index.of(&header.identifier)? {
            if !kept.contains(&entry.path) {
                self.discard(&entry.path)?;
            }
        }
        Ok(())
    }

    /// One resource. Returns where it is.
    fn keep(
        &mut self,
        header: &Header,
        component: &Component,
        spool: Option<Spool>,
        novelty: Novelty,
        others: &[Vec<u8>],
    ) -> Result<Vec<u8>, Undone> {
        let reference = web_url(component);
        let url = reference.or(component.identifier.as_deref()).unwrap_or(&header.identifier);
        let path = self.place(url, component)?;
        let key = path.to_bytes();
        if others.contains(&key) {
            return Err(Undone::Refused(format!("the record has two resources for '{}'", path.display())));
        }
        let before = self.before(&header.identifier, url, &path, &key)?;
        let stated = component.header("Last-Modified").and_then(http_date);
        let mut told = Validators { etag: component.header("ETag").map(str::to_owned), modified: stated };

        let fresh = match (spool, reference) {
            (Some(mut spool), _) => {
                self.check(component, &mut spool)?;
                (!before.holds(&spool.digest().bytes)).then_some(spool)
            }
            (None, _) if before.intact && !before.foreign && novelty == Novelty::Same => None,
            (None, reference) => match component.digest().filter(|stated| stated.algorithm == Algorithm::Sha256) {
                Some(stated) if before.holds(&stated.bytes) => None,
                Some(_) if before.foreign => return Err(not_ours(&path)),
                _ => match reference {
                    Some(reference) => self.fetch(component, reference, &before, &mut told)?,
                    None => None,
                },
            },
        };
        // What came may be what is there.
        let fresh = fresh.filter(|spool| !before.foreign || !before.holds(&spool.digest().bytes));
        if fresh.is_some() && before.foreign {
            return Err(not_ours(&path));
        }
        let modified = match (&fresh, &before.entry) {
            (None, Some(entry)) if told.modified.is_none() => entry.modified,
            _ => told.modified.unwrap_or_else(clock::now).unix(),
        };
        let mut entry = Entry {
            path: key.clone(),
            identifier: header.identifier.clone(),
            url: url.to_owned(),
            etag: told.etag,
            size: 0,
            modified,
            digest: Vec::new(),
        };
        match (fresh, &before.entry) {
            (Some(spool), _) => {
                (entry.size, entry.digest) = (spool.len(), spool.digest().bytes);
                let temporary = spool.into_file(&self.scratch)?;
                tree::date(&temporary.file, modified)
                    .map_err(SinkError::io("set the modification time of a file in", &self.own_path))?;
                if before.entry.is_none() {
                    self.claims.add(&key)?;
                }
                self.tree.put(&path, temporary)?;
            }
            (None, Some(known)) => {
                (entry.size, entry.digest) = (known.size, known.digest.clone());
                entry.etag = entry.etag.or_else(|| known.etag.clone());
                if known.modified != modified {
                    self.tree.touch(&path, modified)?;
                }
            }
            (None, None) => return Err(Undone::Refused(format!("'{url}' holds no resource"))),
        }
        if before.foreign || before.entry.as_ref() != Some(&entry) {
            self.index.put(&entry)?;
        }
        Ok(key)
    }

    fn place(&mut self, url: &str, component: &Component) -> Result<Path, Undone> {
        if self.site.is_none()
            && let Some(site) = Site::of(&self.base_url, url)
        {
            // From here on it stays: a mirror does not move.
            self.index.set_site(&site.to_text())?;
            self.site = Some(site);
        }
        place(self.site.as_ref(), url, component.header("Content-Location")).map_err(Undone::Refused)
    }

    /// Gets what is only referred to; `None` if it is still what is there.
    fn fetch(
        &self,
        component: &Component,
        url: &str,
        before: &Before,
        told: &mut Validators,
    ) -> Result<Option<Spool>, Undone> {
        let known = before.entry.as_ref().filter(|_| before.intact && !before.foreign);
        let known = Known {
            etag: known.and_then(|entry| entry.etag.as_deref()),
            modified: known.and_then(|entry| since_epoch(entry.modified)),
            coding: component.header("Content-Encoding"),
        };
        let mut spool = Spool::new(Algorithm::Sha256);
        let got = self.getter.get(url, known, &mut spool, &self.scratch)?;
        match got.map_err(Undone::Refused)? {
            Got::Unchanged => Ok(None),
            Got::Whole(validators) => {
                self.check(component, &mut spool)?;
                told.etag = validators.etag.or(told.etag.take());
                told.modified = validators.modified.or(told.modified);
                Ok(Some(spool))
            }
        }
    }

    fn check(&self, component: &Component, spool: &mut Spool) -> Result<(), Undone> {
        super::resources::check(component, spool, &self.scratch)?.map_or(Ok(()), |fault| Err(Undone::Refused(fault)))
    }

    /// Deletes a file, or puts it aside.
    fn discard(&mut self, key: &[u8]) -> Result<(), Undone> {
        if let Some(path) = Path::from_bytes(key) {
            if self.keep_deleted {
                self.put_aside(&path)?;
            } else {
                self.tree.remove(&path)?;
            }
        }
        Ok(self.index.remove(key)?)
    }

    fn put_aside(&mut self, path: &Path) -> Result<(), Undone> {
        for number in 1..=ASIDE {
            let name = if number == 1 { "deleted".to_owned() } else { format!("deleted-{number}") };
            let full = self.own_path.join(&name);
            let folder = make_folder(&self.own, name.as_bytes())
                .map_err(|error| SinkError::io("make the folder", &full)(error.into()))?;
            if self.tree.retire(path, &mut Tree::new(folder, full))? {
                return Ok(());
            }
        }
        Err(Undone::Refused(format!("'{}' was put aside {ASIDE} times already", path.display())))
    }
}

impl Sink for Mirror {
    fn is_intact(&self) -> bool {
        self.is_intact
    }

    fn inspect(&mut self, after: &str) -> Result<Option<Inspected>, SinkError> {
        let records = self.index.identifiers(after, INSPECTED)?;
        let Some(last) = records.last().cloned() else { return Ok(None) };
        let mut altered = Vec::new();
        self.index.begin()?;
        for identifier in records {
            for entry in self.index.of(&identifier)? {
                if let Some(reason) = self.alteration(&entry)? {
                    self.index.distrust_at(&entry.path)?;
                    altered.push((identifier.clone(), reason));
                }
            }
        }
        self.index.commit()?;
        Ok(Some(Inspected { last, altered }))
    }

    fn page(&mut self, _origin: &Origin) -> Result<(), SinkError> {
        self.index.begin()
    }

    fn record(&mut self, header: &Header) -> Result<(), SinkError> {
        self.record = Some(Resources::new(header.clone(), Algorithm::Sha256));
        Ok(())
    }

    fn part(&mut self, part: Part, namespaces: &[(&str, &str)]) -> Result<(), SinkError> {
        if let Some(record) = &mut self.record {
            record.part(part, namespaces);
        }
        Ok(())
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result<(), SinkError> {
        self.record.as_mut().map_or(Ok(()), |record| record.bytes(bytes, &self.scratch))
    }

    fn part_end(&mut self) -> Result<(), SinkError> {
        if let Some(record) = &mut self.record {
            record.part_end();
        }
        Ok(())
    }

    fn end(&mut self, novelty: Novelty) -> Result<Kept, SinkError> {
        let Some(record) = self.record.take() else { return Ok(Kept::Yes) };
        match self.keep_all(record, novelty) {
            Ok(()) => Ok(Kept::Yes),
            Err(Undone::Refused(reason)) => Ok(Kept::No(reason)),
            Err(Undone::Failed(error)) => Err(error),
        }
    }

    fn abandon(&mut self) -> Result<(), SinkError> {
        self.record = None;
        Ok(())
    }

    fn commit(&mut self) -> Result<String, SinkError> {
        self.index.commit()?;
        self.claims.clear()?;
        // There is nothing to cut off: every file is whole, and writing it again changes nothing.
        Ok("whole".to_owned())
    }

    fn roll_back(&mut self) -> Result<(), SinkError> {
        self.record = None;
        self.index.commit()?;
        self.claims.clear()
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        self.index.commit()?;
        self.claims.clear()?;
        self.tree.sync()
    }
}

/// Nothing is replaced that somebody else has put there.
fn not_ours(path: &Path) -> Undone {
    Undone::Refused(format!("'{}' is there already, and was not written by this mirror", path.display()))
}

/// The first reference that can be followed.
fn web_url(component: &Component) -> Option<&str> {
    component.references.iter().map(String::as_str).find(|url| WebUrl::split(url).is_some())
}

/// A moment that a condition can name: there the world begins in 1970.
fn since_epoch(seconds: i64) -> Option<SystemTime> {
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(u64::try_from(seconds).ok()?))
}

/// Whether a folder takes two names that differ in case only for one.
fn folds(folder: &OwnedFd) -> io::Result<bool> {
    match rustix::fs::mkdirat(folder, "Folds", Mode::from_raw_mode(0o777)) {
        Ok(()) | Err(rustix::io::Errno::EXIST) => {}
        Err(error) => return Err(error.into()),
    }
    let folds = rustix::fs::statat(folder, "fOLDS", AtFlags::SYMLINK_NOFOLLOW).is_ok();
    rustix::fs::unlinkat(folder, "Folds", AtFlags::REMOVEDIR)?;
    Ok(folds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sink::{SinkOptions, Source};

    /// Few disks here are such, so this mirror is told that its own is.
    #[test]
    fn names_that_a_disk_takes_for_one_are_not_written_over_each_other() {
        let dir = tempfile::tempdir().expect("a folder");
        let source = Source { base_url: "http://h/modoai".to_owned(), ..Source::default() };
        let client = modoai_fetch::Client::new(modoai_fetch::Manners::default()).expect("a client");
        let options = SinkOptions::default();
        let gauge = std::sync::Arc::default();
        let (dir, source, options) = (dir.path(), &source, &options);
        let place = Place { dir, mark: None, distrusted: false, source, client, gauge, options };
        let mut mirror = Mirror::open(place).expect("a mirror");
        assert!(!mirror.folds);
        mirror.folds = true;
        let mut put = |name: &str| {
            let header = Header { identifier: format!("http://h/{name}"), ..Header::default() };
            let mut spool = Spool::new(Algorithm::Sha256);
            spool.push(name.as_bytes(), &mirror.scratch).expect("a disk");
            let component = Component::default();
            mirror.keep(&header, &component, Some(spool), Novelty::New, &[]).is_ok()
        };
        assert!(put("a/Straße"));
        assert!(put("a/Straße"));
        assert!(!put("A/STRAßE"));
        assert!(put("a/other"));
    }
}
