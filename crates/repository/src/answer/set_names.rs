//! What sets are called.
//!
//! Those of a site are media types, and say so themselves, or have a name in the settings. Those of stored records have the
//! names they were given. A set below one that has a name is called by that and its own levels.

use std::collections::HashMap;

use modoai_protocol::SetSpec;

use crate::catalogue::SetTitle;
use crate::error::Failure;
use crate::repository::Visit;
use crate::sets::SetRule;
use crate::site::kind;

/// What sets are called.
#[derive(Debug)]
pub(crate) struct SetNames {
    /// By spec.
    titles: HashMap<String, SetTitle>,
    /// True if sets are also named after media types.
    has_media_types: bool,
}

impl SetNames {
    pub(crate) fn read(visit: &Visit<'_>) -> Result<Self, Failure> {
        let has_media_types = !visit.repository.is_of_records();
        let titles = if has_media_types {
            visit.repository.settings.sets.iter().map(SetRule::title).collect()
        } else {
            visit.repository.catalogue.set_titles()?
        };
        let titles = titles.into_iter().map(|title| (title.set.to_string(), title)).collect();
        Ok(Self { titles, has_media_types })
    }

    /// What belongs into a set, where that was told.
    pub(crate) fn description(&self, set: &SetSpec) -> Option<&str> {
        self.titles.get(set.as_str())?.description.as_deref()
    }

    pub(crate) fn of(&self, set: &SetSpec) -> String {
        if let Some(name) = kind::set_name(set).filter(|_| self.has_media_types) {
            return name;
        }
        let lineage: Vec<&str> = set.lineage().collect();
        let named = lineage
            .iter()
            .enumerate()
            .rev()
            .find_map(|(depth, spec)| Some((depth + 1, &self.titles.get(*spec)?.title)));
        let levels = set.levels();
        match named {
            Some((depth, title)) if depth == levels.len() => title.clone(),
            Some((depth, title)) => format!("{title}: {}", levels[depth..].join(":")),
            None => levels.join(":"),
        }
    }
}
