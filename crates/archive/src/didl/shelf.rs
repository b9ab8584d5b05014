//! The archive's directory of files. No path can leave it, regardless of the paths in records and of its symbolic
//! links.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use modoai_repository::item::Fingerprint;
use modoai_repository::site::Links;
use modoai_repository::site::folder::{Folder, Thing};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// A directory of files.
#[derive(Debug)]
pub(super) struct Shelf {
    root: PathBuf,
}

impl Shelf {
    pub(super) fn new(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    /// Opens the regular file at a path below the directory, in its present state.
    pub(super) fn open(&self, path: &str) -> io::Result<(File, Fingerprint)> {
        let segments: Vec<Vec<u8>> = path.split('/').map(|segment| segment.as_bytes().to_vec()).collect();
        // Only plain names are followed, so no path leads out of the directory.
        if segments.iter().any(|segment| matches!(&segment[..], b"" | b"." | b"..") || segment.contains(&0)) {
            let problem = format!("{path:?} is not a path below the directory of files");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
        }
        // The directory itself may be reached by symbolic links, and may be created or replaced at any time.
        let root = Folder::open_root(&self.root.canonicalize()?, Links::Inside)?;
        match root.descend(&segments)? {
            Some(Thing::File(file, fingerprint)) => Ok((file, fingerprint)),
            Some(Thing::Folder(_)) => {
                Err(io::Error::new(io::ErrorKind::IsADirectory, format!("{path:?} is a directory")))
            }
            None => Err(io::Error::new(io::ErrorKind::NotFound, format!("file {path:?} not found or not readable"))),
        }
    }
}

/// Returns a path as the fragment of a URI.
pub(super) fn encoded(path: &str) -> String {
    const SET: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');
    utf8_percent_encode(path, SET).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn no_path_leads_out_of_the_folder() {
        let around = tempfile::tempdir().expect("a temporary folder");
        let root = around.path().join("files");
        std::fs::create_dir_all(root.join("a/b")).expect("folders");
        std::fs::write(root.join("a/b/1.pdf"), "pdf").expect("a file");
        std::fs::write(around.path().join("secret"), "secret").expect("a file");
        symlink("../secret", root.join("link")).expect("a link");
        symlink("..", root.join("up")).expect("a link");
        symlink("a/b", root.join("inner")).expect("a link");
        symlink(around.path().join("files"), around.path().join("by-link")).expect("a link");
        for root in [root, around.path().join("by-link")] {
            let shelf = Shelf::new(&root);
            assert_eq!(shelf.open("a/b/1.pdf").expect("there").1.size, 3);
            assert_eq!(shelf.open("inner/1.pdf").expect("there").1.size, 3);
            for wrong in
                ["", "/", "..", "../secret", "a/../../secret", "a//b/1.pdf", "/a/b/1.pdf", "a/b/./1.pdf", "a\0"]
            {
                assert_eq!(shelf.open(wrong).expect_err(wrong).kind(), io::ErrorKind::InvalidInput, "{wrong}");
            }
            for absent in ["link", "up/secret", "nosuch", "a/b/1.pdf/x"] {
                assert_eq!(shelf.open(absent).expect_err(absent).kind(), io::ErrorKind::NotFound, "{absent}");
            }
            assert_eq!(shelf.open("a/b").expect_err("a folder").kind(), io::ErrorKind::IsADirectory);
        }
    }

    #[test]
    fn fragments_are_of_a_uri() {
        assert_eq!(encoded("pdf/a b#é.pdf"), "pdf/a%20b%23%C3%A9.pdf");
    }
}
