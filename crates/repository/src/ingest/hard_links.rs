//! Finds the other names of a file that has changed.
//!
//! A file with several hard links is one inode. A change through one name changes what a GET of the others returns, but
//! the kernel reports it for that one name only. The catalogue has the inode of every file it knows, so the other names
//! are found there. That takes a pass over the catalogue, so the result is remembered for as long as the number of
//! links stays the same; names that are created later are added when they are scanned. Two file systems may use the same
//! inode number: then an unchanged file is scanned as well.

use std::collections::{BTreeSet, HashMap};

use crate::catalogue::{CatalogueError, Writer};

/// The maximum number of remembered inodes: some tens of megabytes.
const MOST: usize = 100_000;

/// A changed file with several links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Changed {
    pub(super) inode: u64,
    /// The number of names of the inode, in the site or elsewhere.
    pub(super) links: u64,
    pub(super) name: String,
}

/// The remembered names of inodes with several links.
#[derive(Debug, Default)]
pub(super) struct HardLinks {
    known: HashMap<u64, Names>,
}

#[derive(Debug)]
struct Names {
    links: u64,
    names: BTreeSet<String>,
}

impl HardLinks {
    /// Returns the names that these files have in addition to the given ones.
    pub(super) fn others(
        &mut self,
        changed: &[Changed],
        writer: &mut dyn Writer,
    ) -> Result<BTreeSet<String>, CatalogueError> {
        if self.known.len() > MOST {
            self.known.clear();
        }
        let is_known = |file: &&Changed| self.known.get(&file.inode).is_some_and(|names| names.links == file.links);
        let unknown: BTreeSet<u64> = changed.iter().filter(|file| !is_known(file)).map(|file| file.inode).collect();
        if !unknown.is_empty() {
            for inode in &unknown {
                self.known.insert(*inode, Names { links: 0, names: BTreeSet::new() });
            }
            for (inode, name) in writer.names_of_inodes(&unknown)? {
                self.known.entry(inode).and_modify(|known| {
                    known.names.insert(name);
                });
            }
        }
        let mut others = BTreeSet::new();
        for Changed { inode, links, name } in changed {
            if let Some(known) = self.known.get_mut(inode) {
                known.links = *links;
                known.names.insert(name.clone());
                others.extend(known.names.iter().cloned());
            }
        }
        changed.iter().for_each(|file| {
            others.remove(&file.name);
        });
        Ok(others)
    }
}
