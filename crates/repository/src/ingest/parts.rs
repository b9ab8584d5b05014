//! Collects the parts of a site to scan, from many small events.
//!
//! Deletions that are observed as events are accepted; deletions found by a rescan are accepted only up to a share.
//! Therefore, many events are merged by scanning the directories that contain them, never by scanning everything.

use std::collections::BTreeMap;

use super::reconcile::Part;

/// Above this number of separate places, scanning whole directories is cheaper …
const MANY: usize = 5_000;

/// … beginning with those that contain this many places.
const CROWD: usize = 100;

/// The parts to scan.
#[derive(Debug, Default)]
pub(super) struct Parts {
    everything: bool,
    distrusted: bool,
    /// True if everything is to be described again.
    anew: bool,
    /// The names to scan; true if the files they refer to are to be described again.
    names: BTreeMap<String, bool>,
}

/// The collected parts.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    /// Disjoint parts: none is within another.
    pub(super) parts: Vec<Part>,
    /// True if everything is to be scanned afterwards …
    pub(super) everything: bool,
    /// … and all of it to be described again.
    pub(super) anew: bool,
}

impl Parts {
    /// Adds the file or directory of this name.
    pub(super) fn add(&mut self, name: String) {
        self.names.entry(name).or_default();
    }

    /// Adds a change that may give every file of this name, or in the directory of this name, another description. The
    /// empty name is that of everything.
    pub(super) fn add_anew(&mut self, name: String) {
        if name.is_empty() {
            self.everything = true;
            self.anew = true;
        } else {
            self.names.insert(name, true);
        }
    }

    /// Records that events were lost. Other events are the best indication of the place: deletions occur in groups.
    pub(super) fn lost_track(&mut self) {
        self.everything = true;
        self.fold(0);
    }

    /// Adds the site as a whole.
    pub(super) fn look_at_everything(&mut self) {
        self.everything = true;
    }

    /// Records that the root, or a disk in it, is missing: events of its files in the meantime are not reliable.
    pub(super) fn distrust(&mut self) {
        self.everything = true;
        self.distrusted = true;
    }

    /// Merges parts if their number is large.
    pub(super) fn limit(&mut self) {
        if self.names.len() > MANY {
            self.fold(CROWD);
        }
        if self.names.len() > MANY {
            self.rename(|name| name.split('/').next().map(str::to_owned));
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        !self.everything && self.names.is_empty()
    }

    pub(super) fn take(&mut self) -> Gathered {
        let Self { everything, distrusted, anew, names } = std::mem::take(self);
        if distrusted {
            let anew = anew || names.values().any(|anew| *anew);
            return Gathered { parts: Vec::new(), everything: true, anew };
        }
        let mut outermost: BTreeMap<&str, bool> = BTreeMap::new();
        for (name, anew) in &names {
            let folders = name.match_indices('/').map(|(end, _)| &name[..end]);
            let cover = folders.into_iter().find(|folder| names.contains_key(*folder)).unwrap_or(name);
            *outermost.entry(cover).or_default() |= anew;
        }
        let part = |(name, anew): (&str, bool)| match anew {
            true => Part::Anew(name.to_owned()),
            false => Part::Name(name.to_owned()),
        };
        Gathered { parts: outermost.into_iter().map(part).collect(), everything, anew }
    }

    /// Replaces names by their directory, if more than `crowd` of them are in it. Names in the root are kept, because
    /// their directory is everything.
    fn fold(&mut self, crowd: usize) {
        let mut in_folder: BTreeMap<String, usize> = BTreeMap::new();
        for (folder, _) in self.names.keys().filter_map(|name| name.rsplit_once('/')) {
            match in_folder.get_mut(folder) {
                Some(count) => *count += 1,
                None => drop(in_folder.insert(folder.to_owned(), 1)),
            }
        }
        let crowded = |name: &str| {
            let (folder, _) = name.rsplit_once('/')?;
            in_folder.get(folder).is_some_and(|count| *count > crowd).then(|| folder.to_owned())
        };
        self.rename(crowded);
    }

    /// Replaces parts by larger ones.
    fn rename(&mut self, wider: impl Fn(&str) -> Option<String>) {
        for (name, anew) in std::mem::take(&mut self.names) {
            *self.names.entry(wider(&name).unwrap_or(name)).or_default() |= anew;
        }
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
        let Gathered { parts: taken, everything, .. } = parts.take();
        assert!(parts.is_empty());
        let name = |part| match part {
            Part::Name(name) | Part::Anew(name) => name,
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
    #[test]
    fn what_is_to_be_described_anew_stays_so_however_parts_are_gathered() {
        let anew = |parts: &mut Parts| {
            let is_anew = |part: &Part| matches!(part, Part::Anew(_));
            let Gathered { parts, everything, anew } = parts.take();
            (parts.iter().map(is_anew).collect::<Vec<_>>(), everything, anew)
        };
        let mut inner = parts(["a", "b"].map(str::to_owned));
        inner.add_anew("a/b".to_owned());
        inner.add("a/b".to_owned());
        assert_eq!(anew(&mut inner), (vec![true, false], false, false));
        let mut crowd = parts((0..6_000).map(|number| format!("disk/{number}")));
        crowd.add_anew("disk/7".to_owned());
        crowd.limit();
        assert_eq!(anew(&mut crowd), (vec![true], false, false));
        let mut lost = parts([]);
        lost.add_anew("a".to_owned());
        lost.distrust();
        assert_eq!(anew(&mut lost), (vec![], true, true));
        let mut all = parts(["a".to_owned()]);
        all.add_anew(String::new());
        assert_eq!(anew(&mut all), (vec![false], true, true));
    }
}
