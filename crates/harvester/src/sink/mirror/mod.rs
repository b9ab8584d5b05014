//! Stores the site itself: every resource as a file, byte for byte, under its name on the site.
//!
//! A record's resource is written to a temporary file while it arrives, compared with the digest and the length in the
//! record, given its modification time and renamed into place. A file therefore always has either its old or its new
//! content, and writing it twice does no harm. Large resources are only referenced, and are fetched. A deleted record
//! takes its file with it. Resources that cannot be stored are reported. Nothing is ever written outside the directory,
//! or over a file that another program has put there.
//!
//! | file | contents |
//! |---|---|
//! | `path` | the path of a resource, and the names that are refused |
//! | `tree` | files below one directory |
//! | `index` | the files of the mirror, their owners, and their properties when they were written |
//! | `before` | the file that a path already has |
//! | `keep` | storing the resources of a record as files |
//! | `flush` | writing files to the disk |
//! | `discard` | deleting files |
//! | `claims` | files that the index does not contain yet |
//! | `taken_back` | removing the files of pages that were rolled back |

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

/// The number of records whose files are compared in one step.
const INSPECTED: usize = 64;

struct Mirror {
    tree: Tree,
    /// The mirror's own directory.
    own: OwnedFd,
    own_path: PathBuf,
    scratch: Scratch,
    index: Index,
    claims: Claims,
    /// True if the index is the one that earlier commits were written to.
    is_intact: bool,
    /// True if the index may have lost files of this mirror.
    is_forgetful: bool,
    base_url: String,
    /// The site that the directory represents, once a resource is known.
    site: Option<Site>,
    getter: Getter,
    keep_deleted: bool,
    allow_dotfiles: bool,
    /// True if the file system treats names that differ in case only as one.
    folds: bool,
    /// True if a page was committed since one was rolled back. Until then, the page that was rolled back is to be
    /// requested again.
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
        // Nothing is to be cut off: every file is complete, and writing it again changes nothing.
        Ok("whole".to_owned())
    }

    fn roll_back(&mut self) -> Result<(), SinkError> {
        self.record = None;
        self.is_settled = false;
        // Files that it replaced or removed stay so: those records are received again.
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

/// Returns true if a directory treats two names that differ in case only as one.
fn folds(folder: &OwnedFd) -> io::Result<bool> {
    match rustix::fs::mkdirat(folder, "Folds", Mode::from_raw_mode(0o777)) {
        Ok(()) | Err(rustix::io::Errno::EXIST) => {}
        Err(error) => return Err(error.into()),
    }
    let folds = rustix::fs::statat(folder, "fOLDS", AtFlags::SYMLINK_NOFOLLOW).is_ok();
    rustix::fs::unlinkat(folder, "Folds", AtFlags::REMOVEDIR)?;
    Ok(folds)
}
