//! The names of sets.
//!
//! Sets of a site are media types, and are named after them, or have a name in the settings. Sets of stored records
//! have the names that were stored with them. A set below one with a name is called by that name and its own levels.

use std::collections::HashMap;

use modoai_protocol::SetSpec;

use crate::catalogue::SetTitle;
use crate::error::Failure;
use crate::repository::Visit;
use crate::sets::SetRule;
use crate::site::kind;

/// The names of the repository's sets.
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
            visit.repository.settings.set.iter().map(SetRule::title).collect()
        } else {
            visit.repository.catalogue.set_titles()?
        };
        let titles = titles.into_iter().map(|title| (title.set.to_string(), title)).collect();
        Ok(Self { titles, has_media_types })
    }

    /// Returns the description of a set, if it has one.
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
