//! What to look at, gathered from many small signs.
//!
//! Deletions that are seen as they happen are believed, deletions found by looking at everything only up to a share. So
//! however many signs there are, they are made fewer by looking at the folders they are in, never by looking at
//! everything instead.

use std::collections::{BTreeMap, BTreeSet};

use super::reconcile::Part;

/// So many separate places, and looking at whole folders is the cheaper answer …
const MANY: usize = 5_000;

/// … first at those with so many places in them.
const CROWD: usize = 100;

/// What to look at.
#[derive(Debug, Default)]
pub(super) struct Parts {
    everything: bool,
    distrusted: bool,
    names: BTreeSet<String>,
}

impl Parts {
    /// Something happened to the file or folder of this name.
    pub(super) fn add(&mut self, name: String) {
        self.names.insert(name);
    }

    /// Something happened and nobody can tell what. What else has happened is the best clue where: deletions come in
    /// crowds.
    pub(super) fn lost_track(&mut self) {
        self.everything = true;
        self.fold(0);
    }

    /// The root, or a disk in it, is gone: what seemed to happen to files meanwhile is not to be trusted.
    pub(super) fn distrust(&mut self) {
        self.everything = true;
        self.distrusted = true;
    }

    /// Makes many parts fewer.
    pub(super) fn limit(&mut self) {
        if self.names.len() > MANY {
            self.fold(CROWD);
        }
        if self.names.len() > MANY {
            let outermost = |name: String| name.split('/').next().unwrap_or_default().to_owned();
            self.names = std::mem::take(&mut self.names).into_iter().map(outermost).collect();
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        !self.everything && self.names.is_empty()
    }

    /// What was gathered: the names, none of them in a folder that is named too, and whether to look at everything then.
    pub(super) fn take(&mut self) -> (Vec<Part>, bool) {
        let Self { everything, distrusted, names } = std::mem::take(self);
        if distrusted {
            return (Vec::new(), true);
        }
        let folders = |name: &str| name.match_indices('/').map(|(at, _)| at).collect::<Vec<_>>();
        let covered = |name: &str| folders(name).into_iter().any(|end| names.contains(&name[..end]));
        let parts = names.iter().filter(|name| !covered(name)).cloned().map(Part::Name).collect();
        (parts, everything)
    }

    /// Replaces names by the folder they are in, where there are more than `crowd` of them. What is in the root stays:
    /// the folder it is in is everything.
    fn fold(&mut self, crowd: usize) {
        let mut in_folder: BTreeMap<String, usize> = BTreeMap::new();
        for (folder, _) in self.names.iter().filter_map(|name| name.rsplit_once('/')) {
            match in_folder.get_mut(folder) {
                Some(count) => *count += 1,
                None => drop(in_folder.insert(folder.to_owned(), 1)),
            }
        }
        let crowded = |name: &str| {
            let (folder, _) = name.rsplit_once('/')?;
            in_folder.get(folder).is_some_and(|count| *count > crowd).then(|| folder.to_owned())
        };
        let names = std::mem::take(&mut self.names).into_iter();
        self.names = names.map(|name| crowded(&name).unwrap_or(name)).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(names: impl IntoIterator<Item = String>) -> Parts {
        let mut parts = Parts::default();
        names.into_iter().for_each(|name| parts.add(name));
        parts
    }

    fn taken(mut parts: Parts) -> (Vec<String>, bool) {
        let (taken, everything) = parts.take();
        assert!(parts.is_empty());
        let name = |part| match part {
            Part::Name(name) => name,
            Part::Everything => unreachable!("told by the second value"),
        };
        (taken.into_iter().map(name).collect(), everything)
    }

    #[test]
    fn many_parts_become_their_folders_and_never_everything() {
        let crowd = (0..6_000).map(|number| format!("disk/deep/{number}"));
        let mut one_folder = parts(crowd.chain(["disk/other".to_owned(), "top".to_owned()]));
        one_folder.limit();
        assert_eq!(taken(one_folder), (vec!["disk/deep".to_owned(), "disk/other".to_owned(), "top".to_owned()], false));
        let mut scattered = parts((0..6_000).map(|number| format!("disk/{number}/file")));
        scattered.limit();
        assert_eq!(taken(scattered), (vec!["disk".to_owned()], false));
        let mut few = parts((0..200).map(|number| format!("disk/{number}")));
        few.limit();
        assert_eq!(taken(few).0.len(), 200);
    }

    #[test]
    fn what_is_in_a_part_is_no_part_of_its_own() {
        let names = ["a", "a-b", "a/b/c", "a0/b", "b/c"].map(str::to_owned);
        assert_eq!(taken(parts(names)).0, ["a", "a-b", "a0/b", "b/c"]);
    }

    #[test]
    fn a_lost_track_is_sought_near_the_last_signs_and_a_lost_disk_nowhere() {
        let names = ["a/b/c", "top"].map(str::to_owned);
        let mut lost = parts(names.clone());
        lost.lost_track();
        assert_eq!(taken(lost), (vec!["a/b".to_owned(), "top".to_owned()], true));
        let mut unmounted = parts(names);
        unmounted.distrust();
        assert_eq!(taken(unmounted), (vec![], true));
    }
}
