//! Combines the roots of a site.
//!
//! A directory of the site consists of the directories that the roots have at its path, and of the names that deeper
//! roots imply. The nearest root with an entry of a name determines the file of that name. A directory of the same name
//! exists if any root has one: a distant root may have files in a directory whose name is a file in a nearer one.
//!
//! If a root cannot be read, the state of everything below it is unknown.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;

use super::Site;
use super::folder::{Folder, Sight, Thing};
use crate::item::Fingerprint;

/// A directory of a site.
#[derive(Debug, Default)]
pub(crate) struct Overlay {
    /// The directories of its roots, the nearest root's first.
    pub(crate) folders: Vec<Folder>,
    /// The error that prevented reading further roots.
    pub(crate) unknown: Option<io::Error>,
}

/// The entries with one name on a site: a file, a directory, or both.
#[derive(Debug, Default)]
pub(crate) struct Sighting {
    /// The state of the file of this name.
    pub(crate) file: Option<Fingerprint>,
    /// True if a directory of this name exists.
    pub(crate) folder: bool,
    /// True if a link of this name is not followed because it leaves the root.
    pub(crate) leaves_root: bool,
    /// The error that prevented reading further roots.
    pub(crate) unknown: Option<io::Error>,
}

impl Sighting {
    /// Returns an entry of unknown state.
    pub(super) fn unknown(error: io::Error) -> Self {
        Self { unknown: Some(error), ..Self::default() }
    }
}

impl From<io::Result<Option<Sight>>> for Sighting {
    fn from(sight: io::Result<Option<Sight>>) -> Self {
        match sight {
            Ok(Some(Sight::File(fingerprint))) => Self { file: Some(fingerprint), ..Self::default() },
            Ok(Some(Sight::Folder(_))) => Self { folder: true, ..Self::default() },
            Ok(Some(Sight::LeavesRoot)) => Self { leaves_root: true, ..Self::default() },
            Ok(None) => Self::default(),
            Err(error) => Self::unknown(error),
        }
    }
}

impl Site {
    /// Returns the directory at a path, if the rules show it. It has no `folders` if it is missing or only implied.
    pub(crate) fn overlay(&self, segments: &[Vec<u8>]) -> Overlay {
        let mut overlay = Overlay::default();
        for layer in self.roots.layers(segments) {
            match layer.open(segments, self.links) {
                Ok(Some(Thing::Folder(folder))) => overlay.folders.push(folder),
                Ok(_) => {}
                Err(error) => {
                    overlay.unknown = Some(error);
                    break;
                }
            }
        }
        overlay
    }

    /// Returns the entries at a path that the rules show, without opening plain files. An error is one of the main
    /// root.
    pub(crate) fn sight(&self, segments: &[Vec<u8>]) -> io::Result<Sighting> {
        let mut sighting = Sighting::default();
        for layer in self.roots.layers(segments) {
            match layer.glance(segments, self.links) {
                Ok(Some(Sight::File(fingerprint))) => drop(sighting.file.get_or_insert(fingerprint)),
                // It is a directory, and further roots cannot change that or the file of this name.
                Ok(Some(Sight::Folder(_))) => {
                    sighting.folder = true;
                    return Ok(sighting);
                }
                Ok(Some(Sight::LeavesRoot)) => sighting.leaves_root = true,
                Ok(None) => {}
                Err(error) if layer.is_main() => return Err(error),
                Err(error) => {
                    sighting.unknown = Some(error);
                    break;
                }
            }
        }
        sighting.folder |= self.roots.implies(segments);
        Ok(sighting)
    }

    /// Opens the entry at a path, given its parent directory.
    pub(super) fn look_in(&self, overlay: &Overlay, segments: &[Vec<u8>]) -> io::Result<Option<Thing>> {
        for layer in self.roots.layers_at(segments) {
            if let Some(thing) = layer.open(segments, self.links)? {
                return Ok(Some(thing));
            }
        }
        let Some(last) = segments.last() else { return Ok(None) };
        for folder in &overlay.folders {
            if let Some(thing) = folder.look(OsStr::from_bytes(last))? {
                return Ok(Some(thing));
            }
        }
        let again = |error: &io::Error| error.raw_os_error().map_or(error.kind().into(), io::Error::from_raw_os_error);
        overlay.unknown.as_ref().map_or(Ok(None), |error| Err(again(error)))
    }
}
