//! What must be true after a run.

use std::fmt;

use crate::case::Fault;
use crate::run::{End, Outcome};
use crate::store::{Stored, lock};
use crate::truth::Item;

/// A violation: the rule, and how it was violated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    /// The rule.
    pub rule: &'static str,
    /// The number of the run.
    pub run: usize,
    /// What was found.
    pub why: String,
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in run {}: {}", self.rule, self.run, self.why)
    }
}

/// Checks a run.
pub fn check(outcome: &Outcome<'_>) -> Result<(), Complaint> {
    let complain = |rule, why: String| Err(Complaint { rule, run: outcome.number, why });
    let case = outcome.case;
    let (most, longest) = bounds(outcome);
    match &outcome.end {
        End::Endless => return complain("endless", format!("{} requests", outcome.requests)),
        _ if outcome.requests > most => return complain("requests", format!("{} of {most}", outcome.requests)),
        _ if outcome.seconds > longest => return complain("time", format!("{} s of {longest} s", outcome.seconds)),
        End::Killed => return Ok(()),
        End::Failed(_) if may_fail(outcome) => return Ok(()),
        End::Failed(error) => return complain("failed", error.to_string()),
        End::Summary(_) => {}
    }
    let End::Summary(summary) = &outcome.end else { return Ok(()) };
    let store = lock(&outcome.store);
    let stored = store.records();
    let lacking: Vec<String> = outcome
        .truth
        .items
        .iter()
        .filter(|item| is_due(outcome, item))
        .filter(|item| !is_stored(item, stored.get(item.identifier().as_str()).copied()))
        .map(Item::identifier)
        .collect();
    if summary.complete && !lacking.is_empty() && !case.hides_records() {
        return complain("silent loss", format!("{lacking:?}"));
    }
    let named = |identifier: &str| summary.missing.iter().any(|gap| gap.identifier.as_deref() == Some(identifier));
    let is_wide = summary.missing.iter().any(|gap| gap.what != "record");
    if let Some(unnamed) = lacking.iter().find(|identifier| !is_wide && !named(identifier)) {
        return complain("unnamed", format!("{unnamed} is neither stored nor reported as missing"));
    }
    let present = outcome.truth.items.iter().filter(|item| is_due(outcome, item)).map(Item::identifier);
    let is_kept = |identifier: &String| stored.contains_key(identifier.as_str()) && !lacking.contains(identifier);
    if let Some(wrong) = present.into_iter().find(|identifier| named(identifier) && is_kept(identifier)) {
        return complain("false gap", format!("{wrong} is stored and reported as missing"));
    }
    if case.is_correct() {
        if !summary.complete {
            return complain("needlessly incomplete", format!("{:?}", summary.missing));
        }
        if !summary.repaired.is_empty() {
            return complain("false report", format!("{:?}", summary.repaired));
        }
    }
    Ok(())
}

/// True if an item belongs to what is harvested, and did not change during the run.
fn is_due(outcome: &Outcome<'_>, item: &Item) -> bool {
    let in_set = !outcome.case.one_set || item.set() == Some("a");
    in_set && item.changed_in < outcome.number && outcome.truth.is_listed(item, outcome.now)
}

/// True if the present version of an item is stored. A deletion may be unknown if the record is.
fn is_stored(item: &Item, stored: Option<&Stored>) -> bool {
    match stored {
        None => item.deleted,
        Some(stored) if item.deleted => stored.deleted,
        Some(stored) => !stored.deleted && stored.text.contains(&format!(">{}.{}<", item.number, item.version)),
    }
}

/// True if a run may end with an error instead of a summary.
fn may_fail(outcome: &Outcome<'_>) -> bool {
    let case = outcome.case;
    !case.fails.is_empty() || !case.faults.is_empty() || case.dates == crate::case::Dates::Required || case.limit > 0
}

/// The largest number of requests of a run, and the longest time.
fn bounds(outcome: &Outcome<'_>) -> (u64, u64) {
    let case = outcome.case;
    let items = outcome.truth.items.len() as u64;
    let requests = 400 + 40 * items;
    let slowest = if case.failure == Fault::Timeout { 300 } else { 60 };
    (requests, requests * (u64::from(case.latency) / 1000 + slowest))
}
