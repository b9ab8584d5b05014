//! What sets are called.
//!
//! Those of a site are media types, and say so themselves. Those of stored records have the names they were given; a set
//! below one that has a name is called by that and its own levels.

use std::collections::HashMap;

use modoai_protocol::SetSpec;

use crate::catalogue::SetTitle;
use crate::error::Failure;
use crate::repository::Visit;
use crate::site::kind;

/// What sets are called.
#[derive(Debug)]
pub(crate) struct SetNames {
    /// By spec; none of a site.
    titles: Option<HashMap<String, SetTitle>>,
}

impl SetNames {
    pub(crate) fn read(visit: &Visit<'_>) -> Result<Self, Failure> {
        if !visit.repository.is_of_records() {
            return Ok(Self { titles: None });
        }
        let titles = visit.repository.catalogue.set_titles()?;
        Ok(Self { titles: Some(titles.into_iter().map(|title| (title.set.to_string(), title)).collect()) })
    }

    /// What belongs into a set, where that was told.
    pub(crate) fn description(&self, set: &SetSpec) -> Option<&str> {
        self.titles.as_ref()?.get(set.as_str())?.description.as_deref()
    }

    pub(crate) fn of(&self, set: &SetSpec) -> String {
        let Some(titles) = &self.titles else { return kind::set_name(set) };
        let lineage: Vec<&str> = set.lineage().collect();
        let named =
            lineage.iter().enumerate().rev().find_map(|(depth, spec)| Some((depth + 1, &titles.get(*spec)?.title)));
        let levels = set.levels();
        match named {
            Some((depth, title)) if depth == levels.len() => title.clone(),
            Some((depth, title)) => format!("{title}: {}", levels[depth..].join(":")),
            None => levels.join(":"),
        }
    }
}
