//! Finds references that most documents have: menus, headers and footers. They are listed once instead of in every
//! entry; otherwise, most of an index would repeat the template of the site.

use std::collections::{HashMap, HashSet};

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::reference::Kind;
use crate::results::{Referenced, ReportError, Results};
use crate::targets::is_on_most;

/// The maximum number of references that are counted at a time. Beyond it, those seen once are dropped, which a
/// reference on most documents survives.
const COUNTED: usize = 1_000_000;
/// The maximum number of missing shared references. An entry that lacks more of them lists all its references itself.
const LACKING: usize = 10;

/// The references that most documents have.
#[derive(Default)]
pub(super) struct Shared {
    keys: HashSet<u64>,
    /// One of each, in the order in which they were found.
    pub examples: Vec<Referenced>,
}

/// The comparison of a document with the shared references.
pub(super) struct Part<'a> {
    /// The number of shared references that the document has; 0 if it lists all of its references itself.
    pub has: usize,
    /// The shared references that it lacks.
    pub lacks: Vec<&'a Referenced>,
}

impl Shared {
    /// Finds the shared references of an infostructure.
    pub(super) fn gather(results: &dyn Results, of: usize) -> Result<Self, ReportError> {
        let (mut counts, mut documents): (HashMap<u64, u64>, u64) = (HashMap::new(), 0);
        results.documents(of, &mut |_, references| {
            documents += 1;
            let distinct: HashSet<u64> = references.iter().map(key).collect();
            for key in distinct {
                *counts.entry(key).or_default() += 1;
            }
            if counts.len() > COUNTED {
                counts.retain(|_, count| *count > 1);
            }
            Ok(())
        })?;
        let keys = counts.into_iter().filter(|(_, count)| is_on_most(*count, documents)).map(|(key, _)| key);
        let mut shared = Self { keys: keys.collect(), examples: Vec::new() };
        if shared.keys.is_empty() {
            return Ok(shared);
        }
        let mut missing = shared.keys.clone();
        results.documents(of, &mut |_, references| {
            if !missing.is_empty() {
                shared.examples.extend(references.iter().filter(|reference| missing.remove(&key(reference))).cloned());
            }
            Ok(())
        })?;
        Ok(shared)
    }

    /// Compares the references of a document with the shared ones.
    pub(super) fn part(&self, references: &[Referenced]) -> Part<'_> {
        let own: HashSet<u64> = references.iter().map(key).filter(|key| self.keys.contains(key)).collect();
        let lacks: Vec<&Referenced> = self.examples.iter().filter(|example| !own.contains(&key(example))).collect();
        match lacks.len() > LACKING {
            true => Part { has: 0, lacks: Vec::new() },
            false => Part { has: own.len(), lacks },
        }
    }

    /// Returns true if most documents have this reference.
    pub(super) fn has(&self, reference: &Referenced) -> bool {
        !self.keys.is_empty() && self.keys.contains(&key(reference))
    }
}

/// Returns the properties by which two references are equal: element, target and fragment.
pub(super) fn identity(reference: &Referenced) -> (Kind, &str, Option<&str>) {
    (reference.kind, &reference.target, reference.fragment.as_deref())
}

fn key(reference: &Referenced) -> u64 {
    let (kind, target, fragment) = identity(reference);
    let seed = xxh3_64_with_seed(fragment.unwrap_or_default().as_bytes(), kind as u64);
    xxh3_64_with_seed(target.as_bytes(), seed)
}
