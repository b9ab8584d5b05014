//! What the roots of a site show together.
//!
//! A folder of the site is made of the folders that the roots have at its path, and of the names that deeper roots imply. Of
//! a name in it, the nearest root that has anything there decides whether there is a file, and which. There is a folder
//! of the same name if any root has one: a root far away may show files in what a nearer one calls a file.
//!
//! Where a root cannot be read, nothing can be said of what lies under it.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;

use super::Site;
use super::folder::{Folder, Sight, Thing};
use crate::item::Fingerprint;

/// A folder of a site.
#[derive(Debug, Default)]
pub(crate) struct Overlay {
    /// What it is made of, the nearest root's first.
    pub(crate) folders: Vec<Folder>,
    /// Why it could not be looked any deeper.
    pub(crate) unknown: Option<io::Error>,
}

/// What has a name on a site. It can be a file and a folder.
#[derive(Debug, Default)]
pub(crate) struct Sighting {
    /// The state of the file of this name.
    pub(crate) file: Option<Fingerprint>,
    /// Whether there is a folder of this name.
    pub(crate) folder: bool,
    /// Whether a link of this name is not followed because it leaves the root.
    pub(crate) leaves_root: bool,
    /// Why it could not be looked any deeper.
    pub(crate) unknown: Option<io::Error>,
}

impl Sighting {
    /// Nothing can be said of it.
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
    /// The folder at a path, if the rules show it. It has no folders if there is none, or if it is only implied.
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

    /// What is at a path that the rules show, without opening plain files. An error is one of the main root.
    pub(crate) fn sight(&self, segments: &[Vec<u8>]) -> io::Result<Sighting> {
        let mut sighting = Sighting::default();
        for layer in self.roots.layers(segments) {
            match layer.glance(segments, self.links) {
                Ok(Some(Sight::File(fingerprint))) => drop(sighting.file.get_or_insert(fingerprint)),
                // Whatever is further away, it is a folder, and whether it is a file is decided.
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

    /// Opens what is at a path, given the folder it is in.
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
