//! The result of a run, for humans, scripts, and the next run.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::state::Repair;

/// The result of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// The base URL of the repository.
    pub source: String,
    /// The sink that received its records.
    pub sink: String,
    /// The format of the records.
    pub format: String,
    /// Records that are new or changed.
    pub records: u64,
    /// Deletions.
    pub deleted: u64,
    /// Received records that were already stored.
    pub unchanged: u64,
    /// Received records and deletions that belong to another source of the same catalogue, which had them first.
    pub elsewhere: u64,
    /// Records that a mirror did not write because of the names of their resources. They are among the missing ones.
    pub refused: u64,
    /// Bytes received.
    pub bytes: u64,
    /// Requests sent.
    pub requests: u64,
    /// True if everything that the selection holds is stored.
    pub complete: bool,
    /// Errors of the server that were repaired.
    pub repaired: Vec<Repair>,
    /// The gaps of the harvest.
    pub missing: Vec<Gap>,
    /// The plan of the next run.
    pub next: NextRun,
}

/// A gap of the harvest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    /// `record`, `window`, `list` or `source`.
    pub what: String,
    /// The identifier of a missing record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identifier: Option<String>,
    /// The start of a missing window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The end of a missing window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// The set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set: Option<String>,
    /// The reason.
    pub reason: String,
}

/// The plan of the next run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NextRun {
    /// The date before which the server requested a pause.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_before: Option<String>,
    /// The date from which it requests changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
}

/// Leaves out windows of sets below a set of which the same window is missing: their records are among those of the wider set.
pub(crate) fn without_nested(gaps: Vec<Gap>) -> Vec<Gap> {
    let windows: HashSet<_> = gaps.iter().filter(|gap| gap.what == "window").map(key).collect();
    let is_nested = |gap: &Gap| {
        let Some(set) = gap.set.as_deref().filter(|_| gap.what == "window") else { return false };
        let mut wider = set.match_indices(':').map(|(at, _)| Some(set[..at].to_owned())).chain([None]);
        wider.any(|set| windows.contains(&key(&Gap { set, ..gap.clone() })))
    };
    let nested: Vec<bool> = gaps.iter().map(is_nested).collect();
    gaps.into_iter().zip(nested).filter(|(_, nested)| !nested).map(|(gap, _)| gap).collect()
}

/// Returns the dates and the set, which identify a window.
fn key(gap: &Gap) -> (Option<String>, Option<String>, Option<String>) {
    (gap.from.clone(), gap.until.clone(), gap.set.clone())
}

impl std::fmt::Display for Gap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self.what.as_str() {
            "window" if self.from.is_none() && self.until.is_none() => "all dates",
            "window" => "date range",
            what => what,
        })?;
        if let Some(identifier) = &self.identifier {
            write!(f, " {identifier}")?;
        }
        match (&self.from, &self.until) {
            (Some(from), Some(until)) => write!(f, " {from} to {until}")?,
            (Some(from), None) => write!(f, " from {from}")?,
            (None, Some(until)) => write!(f, " until {until}")?,
            (None, None) => {}
        }
        if let Some(set) = &self.set {
            write!(f, " of set {set}")?;
        }
        write!(f, ": {}", self.reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn window_without_limits_is_all_dates() {
        let gap = Gap { what: "window".to_owned(), reason: "not yet harvested".to_owned(), ..Gap::default() };
        assert_eq!(gap.to_string(), "all dates: not yet harvested");
        let gap = Gap { from: Some("2020-01-01".to_owned()), ..gap };
        assert_eq!(gap.to_string(), "date range from 2020-01-01: not yet harvested");
    }

    #[test]
    fn window_is_named_once_and_not_for_every_nested_set() {
        let window = |set: &str, from: &str| Gap {
            what: "window".to_owned(),
            from: Some(from.to_owned()),
            set: (!set.is_empty()).then(|| set.to_owned()),
            ..Gap::default()
        };
        let record = Gap { what: "record".to_owned(), identifier: Some("a".to_owned()), ..Gap::default() };
        let gaps = vec![
            window("physics:hep:th", "2020"),
            window("physics", "2020"),
            window("physics:hep", "2020"),
            window("physics:hep", "2021"),
            window("physics-x", "2020"),
            record.clone(),
        ];
        let expected =
            vec![window("physics", "2020"), window("physics:hep", "2021"), window("physics-x", "2020"), record];
        assert_eq!(without_nested(gaps), expected);
        let all = vec![window("", "2020"), window("a", "2020")];
        assert_eq!(without_nested(all), [window("", "2020")]);
    }
}
