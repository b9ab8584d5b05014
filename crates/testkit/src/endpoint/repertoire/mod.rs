//! All that endpoints were ever seen to do wrong: one row for each way, named after the row of the harvester's `quirks`
//! that it provokes. A row says what a harvester has to make of it; the tests take it at its word.
//!
//! Rows are sorted by where a defect shows: in lists and tokens, in dates and identity, in HTTP, in XML; those that take a
//! search for a remedy are in `remedies`.

mod dates;
mod http;
mod lists;
mod remedies;
mod tokens;
mod xml;

use super::holdings::{Holdings, Record};
use super::script::Script;

/// Every group of rows, by its name.
pub const REPERTOIRE: &[(&str, &[Defect])] = &[
    ("lists", lists::DEFECTS),
    ("tokens", tokens::DEFECTS),
    ("dates", dates::DEFECTS),
    ("http", http::DEFECTS),
    ("remedies", remedies::DEFECTS),
    ("xml", xml::DEFECTS),
];

/// One way to be wrong.
pub struct Defect {
    /// The quirk it is a case of.
    pub quirk: &'static str,
    /// Which case of it.
    pub variant: &'static str,
    /// An endpoint that has it.
    pub script: fn() -> Script,
    /// What the harvest is to be asked for, beyond the ordinary.
    pub arguments: &'static [&'static str],
    /// What a first harvest comes to.
    pub outcome: Outcome,
    /// Whether the quirk is named in the report of one of the two harvests.
    pub told: bool,
    /// Names that are as good.
    pub told_as: &'static [&'static str],
    /// Another form in which metadata may arrive, where what was sent is in no encoding at all.
    pub also: Option<fn(&Record) -> Vec<u8>>,
    /// What happens before the second harvest.
    pub meanwhile: fn(&mut Holdings),
    /// What the second harvest is asked for beyond what the first was.
    pub again: &'static [&'static str],
}

/// What a harvest comes to.
#[derive(Clone, Copy)]
pub enum Outcome {
    /// Everything arrives.
    Whole,
    /// Everything arrives but these, and each of them is named.
    WithoutRecords(fn(&Record) -> bool),
    /// Everything arrives but these, and it is said where something is missing.
    WithoutSome(fn(&Record) -> bool),
    /// All arrives, but nobody could prove it, so that something is named as missing.
    Unproven,
    /// The first harvest may be incomplete, and says so; the second makes it whole.
    Later,
    /// Nothing can be had, and this word is in what is said about it.
    Nothing(&'static str),
    /// Nothing can be had before a time that is told, and nothing is asked until then.
    Postponed,
}

/// A row in which all arrives and nothing needs telling.
const fn row(quirk: &'static str, variant: &'static str, script: fn() -> Script) -> Defect {
    Defect {
        quirk,
        variant,
        script,
        arguments: &[],
        outcome: Outcome::Whole,
        told: false,
        told_as: &[],
        also: None,
        meanwhile: ordinary_changes,
        again: &[],
    }
}

impl Defect {
    const fn told(mut self) -> Self {
        self.told = true;
        self
    }

    /// Told, by its own name or by one of these.
    const fn told_as(mut self, names: &'static [&'static str]) -> Self {
        self.told_as = names;
        self.told()
    }

    const fn asked(mut self, arguments: &'static [&'static str]) -> Self {
        self.arguments = arguments;
        self
    }

    const fn outcome(mut self, outcome: Outcome) -> Self {
        self.outcome = outcome;
        self
    }

    const fn or_as(mut self, also: fn(&Record) -> Vec<u8>) -> Self {
        self.also = Some(also);
        self
    }

    const fn meanwhile(mut self, meanwhile: fn(&mut Holdings)) -> Self {
        self.meanwhile = meanwhile;
        self
    }

    const fn again(mut self, arguments: &'static [&'static str]) -> Self {
        self.again = arguments;
        self
    }

    /// The set that is asked for, if one is.
    pub fn set(&self) -> Option<&'static str> {
        let at = self.arguments.iter().position(|argument| *argument == "--set")?;
        self.arguments.get(at + 1).copied()
    }
}

/// One record changes, one goes, one comes.
fn ordinary_changes(holdings: &mut Holdings) {
    if holdings.live(None).count() > 1 {
        holdings.change_first("A new edition");
        holdings.delete_last();
    }
    holdings.add();
}

/// Nothing happens.
fn nothing(_: &mut Holdings) {}

/// The records are of one second, so that no date tells them apart.
fn of_one_second(holdings: &mut Holdings) {
    holdings.records.iter_mut().for_each(|record| record.changed = 1_500_000_000);
}

/// The record that is singled out where one is.
const VICTIM: &str = "oai:endpoint.example:0007";

fn is_victim(record: &Record) -> bool {
    record.identifier == VICTIM
}

fn everything(_: &Record) -> bool {
    true
}

/// Replaces bytes wherever they stand.
fn swap(xml: &mut Vec<u8>, old: &[u8], new: &[u8]) {
    let mut swapped = Vec::with_capacity(xml.len());
    let mut rest = &xml[..];
    while let Some(at) = rest.windows(old.len()).position(|bytes| bytes == old) {
        swapped.extend_from_slice(&rest[..at]);
        swapped.extend_from_slice(new);
        rest = &rest[at + old.len()..];
    }
    swapped.extend_from_slice(rest);
    *xml = swapped;
}
