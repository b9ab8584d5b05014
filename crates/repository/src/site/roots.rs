//! Maps the directories and files of a site to its URLs.
//!
//! A site is one directory, or several laid over each other: one for the whole site, others at separate URL prefixes,
//! single files at single URLs. The roots that apply to a path are those at the path itself and at its parent
//! directories, the nearest first. Roots are stored as a tree of names, so the cost of finding them is proportional to
//! the depth of the path, regardless of the number of roots.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use super::folder::{Folder, Sight, Thing};
use super::settings::Links;
use super::{SiteError, name};

/// Files that have their URLs below a prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// The name of the directory or file on the site, without slashes at its ends; empty for the whole site.
    pub prefix: String,
    /// The directory, or the one file.
    pub path: PathBuf,
}

/// All roots of a site. The *main* one is at the empty prefix and is required. The others may be created and removed at
/// any time.
#[derive(Debug, Default)]
pub(super) struct Roots {
    tree: RwLock<Node>,
    /// The configured path of the main root: a link in it may change.
    given: Vec<PathBuf>,
}

/// A name on the path of a root.
#[derive(Debug, Default)]
struct Node {
    pointed: Option<Arc<Path>>,
    paths: Vec<Arc<Path>>,
    inner: BTreeMap<Vec<u8>, Node>,
}

/// A root that applies to a path.
#[derive(Clone, Debug)]
pub(crate) struct Layer {
    /// The directory or file. The main root's path has no links in it.
    pub(crate) path: Arc<Path>,
    /// The number of segments of the path that are its prefix.
    pub(crate) depth: usize,
}

impl Roots {
    /// Merges a root that is given twice. The main root must exist now, the others need not exist.
    pub(super) fn new(roots: Vec<Root>) -> Result<Self, SiteError> {
        let (mut top, mut given) = (Node::default(), Vec::new());
        for Root { prefix, path } in roots {
            let segments = name::decode(prefix.trim_matches('/')).ok_or(SiteError::Prefix { prefix })?;
            let problem = |source| SiteError::Root { root: path.clone(), source };
            let path: Arc<Path> = if segments.is_empty() {
                given.push(std::path::absolute(&path).map_err(problem)?);
                path.canonicalize().map_err(problem)?.into()
            } else {
                // Without a slash at its end, which a file's path must not have.
                std::path::absolute(&path).map_err(problem)?.components().collect::<PathBuf>().into()
            };
            top.make(&segments).add(path);
        }
        Ok(Self { tree: RwLock::new(top), given })
    }

    /// Adds roots other than the main one, if they have absolute paths and prefixes that a file can have.
    pub(super) fn add(&self, roots: Vec<Root>) {
        let mut top = self.tree.write().unwrap_or_else(PoisonError::into_inner);
        for Root { prefix, path } in roots {
            let segments = name::decode(prefix.trim_matches('/')).filter(|segments| !segments.is_empty());
            if let Some(segments) = segments.filter(|_| path.is_absolute()) {
                top.make(&segments).add(path.components().collect::<PathBuf>().into());
            }
        }
    }

    /// Resolves the path of the main root again, if it was given by a link. Returns true if it has changed. A broken
    /// link, as while it is replaced, has no effect.
    pub(super) fn follow(&self) -> bool {
        let mut now: Vec<Arc<Path>> = Vec::new();
        for given in &self.given {
            let Ok(path) = given.canonicalize() else { return false };
            if path.is_dir() && !now.iter().any(|known| **known == *path) {
                now.push(path.into());
            }
        }
        let is_elsewhere = !now.is_empty() && self.layers_at(&[]).iter().map(|layer| &layer.path).ne(&now);
        if is_elsewhere {
            self.tree.write().unwrap_or_else(PoisonError::into_inner).paths = now;
        }
        is_elsewhere
    }

    /// Returns the paths by which the main root was given, if they contain links.
    pub(super) fn links(&self) -> Vec<PathBuf> {
        let has_links = |given: &&PathBuf| given.canonicalize().is_ok_and(|real| real != **given);
        self.given.iter().filter(has_links).cloned().collect()
    }

    /// Maps this path to that file. Returns true if that is a change.
    pub(super) fn point(&self, segments: &[Vec<u8>], file: &Path) -> bool {
        let mut top = self.tree.write().unwrap_or_else(PoisonError::into_inner);
        let before = top.make(segments).pointed.replace(file.into());
        before.as_deref() != Some(file)
    }

    /// Returns the roots that apply to a path, the nearest first.
    pub(super) fn layers(&self, segments: &[Vec<u8>]) -> Vec<Layer> {
        let mut layers = Vec::new();
        self.visit(segments, |depth, node| {
            // In reverse order, which is corrected below.
            let paths = node.paths.iter().rev().chain(&node.pointed);
            layers.extend(paths.map(|path| Layer { path: path.clone(), depth }));
        });
        layers.reverse();
        layers
    }

    /// Returns the roots that have exactly this path.
    pub(super) fn layers_at(&self, segments: &[Vec<u8>]) -> Vec<Layer> {
        let mut layers = Vec::new();
        self.visit(segments, |depth, node| {
            if depth == segments.len() {
                layers = node.all().map(|path| Layer { path: path.clone(), depth }).collect();
            }
        });
        layers
    }

    /// Returns the names in a directory that exist because roots have that name, or a deeper one.
    pub(super) fn implied(&self, segments: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let mut names = Vec::new();
        self.visit(segments, |depth, node| {
            if depth == segments.len() {
                names = node.inner.keys().cloned().collect();
            }
        });
        names
    }

    /// Returns true if a directory of this path exists because roots are in it. The outermost directory always exists.
    pub(super) fn implies(&self, segments: &[Vec<u8>]) -> bool {
        segments.is_empty() || !self.implied(segments).is_empty()
    }

    /// Returns the roots of this path and in the directory of this path, with their paths on the site.
    pub(super) fn within(&self, segments: &[Vec<u8>]) -> Vec<(Vec<Vec<u8>>, Arc<Path>)> {
        let mut found = Vec::new();
        self.visit(segments, |depth, node| {
            if depth == segments.len() {
                node.gather(&mut segments.to_vec(), &mut found);
            }
        });
        found
    }

    /// Returns the main root, if the site has one.
    pub(super) fn main(&self) -> Option<Arc<Path>> {
        self.layers_at(&[]).into_iter().next().map(|layer| layer.path)
    }

    fn visit(&self, segments: &[Vec<u8>], mut each: impl FnMut(usize, &Node)) {
        let top = self.tree.read().unwrap_or_else(PoisonError::into_inner);
        let mut node = &*top;
        each(0, node);
        for (segment, depth) in segments.iter().zip(1..) {
            match node.inner.get(segment) {
                Some(inner) => node = inner,
                None => return,
            }
            each(depth, node);
        }
    }
}

impl Node {
    /// Returns the node of this path, and creates it if it is missing.
    fn make(&mut self, segments: &[Vec<u8>]) -> &mut Self {
        segments.iter().fold(self, |node, segment| node.inner.entry(segment.clone()).or_default())
    }

    fn add(&mut self, path: Arc<Path>) {
        if !self.paths.contains(&path) {
            self.paths.push(path);
        }
    }

    /// Returns the paths in order of precedence: the pointed file first.
    fn all(&self) -> impl Iterator<Item = &Arc<Path>> {
        self.pointed.iter().chain(&self.paths)
    }

    fn gather(&self, at: &mut Vec<Vec<u8>>, found: &mut Vec<(Vec<Vec<u8>>, Arc<Path>)>) {
        found.extend(self.all().map(|path| (at.clone(), path.clone())));
        for (segment, node) in &self.inner {
            at.push(segment.clone());
            node.gather(at, found);
            at.pop();
        }
    }
}

impl Layer {
    /// Returns true if it is the main root.
    pub(crate) fn is_main(&self) -> bool {
        self.depth == 0
    }

    /// Opens the root's entry at the path for which it was found.
    pub(super) fn open(&self, segments: &[Vec<u8>], links: Links) -> io::Result<Option<Thing>> {
        match self.thing(links)? {
            Some(Thing::Folder(folder)) => folder.descend(&segments[self.depth..]),
            thing => Ok(thing.filter(|_| self.depth == segments.len())),
        }
    }

    /// Does the same, without opening a plain file in a directory.
    pub(super) fn glance(&self, segments: &[Vec<u8>], links: Links) -> io::Result<Option<Sight>> {
        use std::os::unix::ffi::OsStrExt as _;
        let Some((last, before)) = segments[self.depth..].split_last() else {
            return Ok(self.thing(links)?.map(Sight::from));
        };
        match self.thing(links)? {
            Some(Thing::Folder(folder)) => match folder.descend(before)? {
                Some(Thing::Folder(folder)) => folder.glance(std::ffi::OsStr::from_bytes(last)),
                _ => Ok(None),
            },
            _ => Ok(None),
        }
    }

    /// Opens the root itself; `None` if it is missing, which is an error for the main root.
    fn thing(&self, links: Links) -> io::Result<Option<Thing>> {
        if self.is_main() {
            Folder::open_root(&self.path, links).map(|folder| Some(Thing::Folder(folder)))
        } else {
            Folder::open_added(&self.path, links)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roots(given: &[(&str, &str)]) -> Roots {
        let root = |(prefix, path): &(&str, &str)| Root { prefix: (*prefix).to_owned(), path: PathBuf::from(path) };
        Roots::new(given.iter().map(root).collect()).expect("good prefixes")
    }

    #[test]
    fn what_bears_on_a_path_comes_nearest_first() {
        let roots = roots(&[
            ("", "/"),
            ("a", "/x"),
            ("/a/b/", "/y"),
            ("a", "/z/"),
            ("a", "/x/"),
            ("a-b", "/w"),
            ("c/d/e", "/v"),
        ]);
        let path = |text: &str| name::decode(text).expect("a path");
        let layers = |text: &str| {
            let layers = roots.layers(&path(text));
            layers.iter().map(|layer| format!("{} {}", layer.path.display(), layer.depth)).collect::<Vec<_>>()
        };
        assert_eq!(layers("a/b/c"), ["/y 2", "/x 1", "/z 1", "/ 0"]);
        assert_eq!(layers("a/c"), ["/x 1", "/z 1", "/ 0"]);
        assert_eq!(layers("c/d"), ["/ 0"]);
        assert_eq!(roots.implied(&[]), [b"a".to_vec(), b"a-b".to_vec(), b"c".to_vec()]);
        assert_eq!(roots.implied(&path("c")), [b"d".to_vec()]);
        assert!(roots.implied(&path("c/d/e")).is_empty() && roots.implied(&path("nowhere")).is_empty());
        assert!(roots.point(&path("a/b"), Path::new("/p")) && !roots.point(&path("a/b"), Path::new("/p")));
        assert!(roots.point(&path("a/b"), Path::new("/q")));
        assert_eq!(layers("a/b/c"), ["/q 2", "/y 2", "/x 1", "/z 1", "/ 0"]);
        assert_eq!(roots.layers_at(&path("a/b")).len(), 2);
        assert_eq!(roots.within(&path("a")).len(), 4);
        assert_eq!(roots.within(&[]).len(), 7);
    }

    #[test]
    fn no_prefix_leads_out_of_the_site() {
        for prefix in ["..", "a//b", "a/../b", "%2f"] {
            let root = Root { prefix: prefix.to_owned(), path: PathBuf::from("/") };
            assert!(matches!(Roots::new(vec![root]), Err(SiteError::Prefix { .. })), "{prefix}");
        }
    }
}
