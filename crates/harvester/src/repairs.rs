//! Repairs, counted by quirk, each with one example.

use std::collections::BTreeMap;

use crate::quirks::Quirk;
use crate::state::Repair;

/// Repairs that were applied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repairs(BTreeMap<&'static str, (u64, String)>);

impl Repairs {
    /// Counts one more.
    pub fn note(&mut self, quirk: &'static Quirk, example: &str) {
        self.add(quirk, 1, example);
    }

    /// Counts more. The first example is kept.
    pub fn add(&mut self, quirk: &'static Quirk, count: u64, example: &str) {
        let entry = self.0.entry(quirk.name).or_insert_with(|| (0, example.to_owned()));
        entry.0 += count;
    }

    /// Adds those of a page.
    pub fn merge(&mut self, other: Self) {
        for (name, (count, example)) in other.0 {
            self.0.entry(name).or_insert((0, example)).0 += count;
        }
    }

    /// Returns true if that quirk was repaired.
    pub fn has(&self, quirk: &Quirk) -> bool {
        self.0.contains_key(quirk.name)
    }

    /// Returns the repairs in the form that is stored and reported.
    pub fn told(&self) -> Vec<Repair> {
        let tell = |(name, (count, example)): (&&str, &(u64, String))| Repair {
            quirk: (*name).to_owned(),
            count: *count,
            example: example.clone(),
        };
        self.0.iter().map(tell).collect()
    }
}
