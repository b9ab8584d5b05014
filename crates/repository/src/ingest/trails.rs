//! Stores the paths through which symbolic links are resolved.
//!
//! A name that is a link changes with files elsewhere: its target, a directory on the path to the target, another link
//! on that path. These paths are the link's *trail*. It is known for every link, also for a broken one, so that an
//! event at or above one of its paths is known to affect the link. A root that was added to a site is a link in this
//! sense: its name on the site resolves to its path.
//!
//! Paths are written like names, canonically encoded, and begin with a slash, which names of the site never do.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use crate::site::name;

/// The kernel's limit on links in one path.
const MOST_LINKS: usize = 40;

/// The trails of all links.
#[derive(Debug, Default)]
pub(super) struct Trails {
    by_link: BTreeMap<String, Vec<String>>,
    links: BTreeMap<String, BTreeSet<String>>,
}

impl Trails {
    /// Stores the trail of the link of this name.
    pub(super) fn note(&mut self, link: &str, trail: Vec<String>) {
        self.forget_one(link);
        for path in &trail {
            self.links.entry(path.clone()).or_default().insert(link.to_owned());
        }
        self.by_link.insert(link.to_owned(), trail);
    }

    /// Removes the link of this name and all links in the directory of this name.
    pub(super) fn forget(&mut self, name: &str) {
        let inner = format!("{name}/");
        let mut gone: Vec<String> = range_of(&self.by_link, &inner).map(|(link, _)| link.clone()).collect();
        gone.push(name.to_owned());
        gone.iter().for_each(|link| self.forget_one(link));
    }

    fn forget_one(&mut self, link: &str) {
        for path in self.by_link.remove(link).unwrap_or_default() {
            if let Some(links) = self.links.get_mut(&path) {
                links.remove(link);
                if links.is_empty() {
                    self.links.remove(&path);
                }
            }
        }
    }

    /// Returns the links whose trail contains this path.
    pub(super) fn through(&self, path: &str) -> impl Iterator<Item = &String> {
        let here = self.links.get(path);
        let below = range_of(&self.links, &format!("{path}/")).map(|(_, links)| links).collect::<Vec<_>>();
        here.into_iter().chain(below).flatten()
    }
}

/// Returns the entries whose keys begin with this prefix.
pub(super) fn range_of<'a, T>(map: &'a BTreeMap<String, T>, prefix: &str) -> impl Iterator<Item = (&'a String, &'a T)> {
    let prefix = prefix.to_owned();
    map.range(prefix.clone()..).take_while(move |(key, _)| key.starts_with(&prefix))
}

/// Returns the trail of a path below a root that has no links in it, and its target. `on_folder` is called for every
/// directory before a name is looked up in it, so that no change in between is missed.
pub(super) fn follow(root: &Path, below: &Path, on_folder: &mut dyn FnMut(&Path)) -> (Vec<String>, PathBuf) {
    let mut at = root.to_owned();
    let mut trail = Vec::new();
    let mut ahead: Vec<PathBuf> = steps(below);
    while let Some(step) = ahead.pop() {
        match step.components().next() {
            Some(Component::RootDir) => at = PathBuf::from("/"),
            Some(Component::ParentDir) => drop(at.pop()),
            Some(Component::Normal(_)) => {
                on_folder(&at);
                let next = at.join(step);
                match next.read_link() {
                    Ok(target) if trail.len() < MOST_LINKS => {
                        ahead.extend(steps(&target));
                        trail.push(written(&next));
                    }
                    _ => at = next,
                }
            }
            _ => {}
        }
    }
    trail.push(written(&at));
    (trail, at)
}

/// Returns the components of a path, the first one last.
fn steps(path: &Path) -> Vec<PathBuf> {
    path.components().rev().map(|step| PathBuf::from(step.as_os_str())).collect()
}

/// Returns a path from the outermost directory on, in the form used in trails.
pub(super) fn written(path: &Path) -> String {
    let segments = path.components().filter(|component| matches!(component, Component::Normal(_)));
    segments.map(|segment| format!("/{}", name::encode_segment(segment.as_os_str().as_bytes()))).collect()
}

/// Returns the segments of a name as a path below a root.
pub(super) fn path_of(segments: &[Vec<u8>]) -> PathBuf {
    segments.iter().map(|segment| OsStr::from_bytes(segment)).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_trail_has_every_link_on_the_way_and_the_end() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("a real path");
        std::fs::create_dir_all(root.join("a/b")).expect("folders");
        symlink("a/b", root.join("short")).expect("a link");
        symlink("../short/../b/./not yet/there", root.join("a/link")).expect("a link");
        symlink("circle", root.join("circle")).expect("a link");
        let mut asked = Vec::new();
        let (trail, end) = follow(&root, Path::new("a/link"), &mut |folder| asked.push(folder.to_owned()));
        let at = |below: &str| written(&root.join(below));
        assert_eq!(trail, [at("a/link"), at("short"), at("a/b/not yet/there")]);
        assert!(trail[2].ends_with("/a/b/not%20yet/there"));
        assert_eq!(end, root.join("a/b/not yet/there"));
        assert!(asked.contains(&root.join("a/b")) && asked.contains(&root.join("a/b/not yet")));
        assert_eq!(follow(&root, Path::new("circle"), &mut |_| {}).0.len(), MOST_LINKS + 1);

        let mut trails = Trails::default();
        trails.note("a/link", trail);
        let through = |trails: &Trails, below: &str| trails.through(&at(below)).count() > 0;
        assert!(["a", "a/b", "short", "a/b/not yet", "a/b/not yet/there"].iter().all(|path| through(&trails, path)));
        assert!(!["b", "a/b/not", "a/b/not yet/there/file"].iter().any(|path| through(&trails, path)));
        trails.forget("a");
        assert!(!through(&trails, "a") && trails.by_link.is_empty() && trails.links.is_empty());
    }
}
