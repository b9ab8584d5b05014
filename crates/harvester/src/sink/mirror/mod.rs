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
//! | `keep` | how the resources of a record become files |
//! | `flush` | when files are written to the disk |
//! | `discard` | how files go |
//! | `claims` | what is there that the index does not know yet |
//! | `taken_back` | how the files of pages go that never became true |

mod before;
mod claims;
mod discard;
mod flush;
mod index;
mod keep;
mod path;
mod taken_back;
mod tree;

use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use rustix::fs::{AtFlags, Mode, OFlags};

use self::claims::Claims;
use self::index::Index;
use self::path::Site;
use self::tree::{Tree, Undone};
use super::reference::Getter;
use super::resources::Resources;
use super::spool::{Scratch, Spool, make_folder};
use super::{Inspected, Kept, Origin, Part, Place, STORED_IS_MISSING, Sink, SinkError};
use crate::didl::Algorithm;
use crate::record::{Header, Novelty};
use crate::state::OWN_FOLDER;

/// Opens the sink.
pub(super) fn open(place: Place<'_>) -> Result<Box<dyn Sink>, SinkError> {
    Ok(Box::new(Mirror::open(place)?))
}

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
    allow_dotfiles: bool,
    /// Whether names that differ in case only are one file here.
    folds: bool,
    /// Whether a page was committed since one was taken back: until then, that one is still to be asked for again.
    is_settled: bool,
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
        let mut mirror = Self {
            tree: Tree::new(root, path),
            scratch: Scratch::open(&own, &own_path)?,
            site: index.site()?.as_deref().and_then(Site::from_text),
            claims: Claims::open(&own, &own_path)?,
            is_intact: !is_new || place.mark.is_none(),
            is_forgetful: place.distrusted,
            own,
            own_path,
            index,
            base_url: place.source.base_url.clone(),
            getter: Getter::new(place.client, place.gauge, place.budget),
            keep_deleted: place.options.keep_deleted,
            allow_dotfiles: place.options.allow_dotfiles,
            folds,
            is_settled: false,
            record: None,
        };
        mirror.clear_claims()?;
        Ok(mirror)
    }
}

impl Sink for Mirror {
    fn must_start_over(&self) -> Option<String> {
        (!self.is_intact).then(|| STORED_IS_MISSING.to_owned())
    }

    fn inspect(&mut self, after: &str) -> Result<Option<Inspected>, SinkError> {
        if after.is_empty() {
            self.remove_doubted()?;
        }
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
            for share in self.index.shares_of(&identifier)? {
                if let Some(reason) = self.estrangement(&share)? {
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
        self.record = Some(Resources::new(header.clone(), || Spool::new(Algorithm::Sha256)));
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
        self.tree.begin_sync()?;
        self.is_settled = true;
        // There is nothing to cut off: every file is whole, and writing it again changes nothing.
        Ok("whole".to_owned())
    }

    fn roll_back(&mut self) -> Result<(), SinkError> {
        self.record = None;
        self.is_settled = false;
        // What it replaced or removed stays so: those records come again.
        self.doubt_claims()
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        self.index.commit()?;
        self.claims.clear()?;
        if self.is_settled {
            self.remove_doubted()?;
        }
        self.tree.sync()
    }
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
