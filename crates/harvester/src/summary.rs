//! How a run went, for people, scripts, and the next run.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::state::Repair;

/// How a run went.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Where the repository is.
    pub source: String,
    /// Where its records went.
    pub sink: String,
    /// In which format.
    pub format: String,
    /// Records that are new or changed.
    pub records: u64,
    /// Deletions.
    pub deleted: u64,
    /// Records that came, and were here already.
    pub unchanged: u64,
    /// Records and deletions that came, and were left to the source of the same catalogue that had them first.
    pub elsewhere: u64,
    /// Records that a mirror did not write because of the names of their resources. They are among the missing ones.
    pub refused: u64,
    /// Bytes received.
    pub bytes: u64,
    /// Requests sent.
    pub requests: u64,
    /// Whether everything that the selection holds is here.
    pub complete: bool,
    /// What was wrong with the server, and was made good.
    pub repaired: Vec<Repair>,
    /// What is not here.
    pub missing: Vec<Gap>,
    /// What the next run will do.
    pub next: NextRun,
}

/// Something that is not here.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    /// `record`, `window`, `list` or `source`.
    pub what: String,
    /// Of a record: of which item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identifier: Option<String>,
    /// Of a window: from when.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Of a window: until when.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// Of which set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set: Option<String>,
    /// Why.
    pub reason: String,
}

/// What the next run will do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NextRun {
    /// Not before: the server asked for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_before: Option<String>,
    /// It will ask for what changed since.
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

/// What tells one window from another.
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
