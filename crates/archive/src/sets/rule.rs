//! A rule as it is written: one `[[sets]]` table of `archive.toml`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// One `[[sets]]` table.
///
/// ```toml
/// [[sets]]
/// field = "categories"
/// split = " "
/// spec = "{{ tables.group[value] }}:{{ value }}"
/// names = { "physics" = "Physics" }
/// [sets.tables.group]
/// hep-th = "physics"
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rule {
    /// The field whose values are looked at; levels below it are told by dots: `creators.family`. Each value of a list
    /// counts by itself. A rule without a field only names sets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// What separates several values in one text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split: Option<String>,
    /// An expression that must hold, over the same names as `spec`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// A template that makes the set's levels, separated by colons, of `value`, `tables` and the record's fields. Empty
    /// levels are left out, so where nothing results, there is no set. By default the value is the one level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spec: Option<String>,
    /// Tables to look things up in: `tables.NAME[value]`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub tables: BTreeMap<String, BTreeMap<String, String>>,
    /// Names of sets, by spec.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub names: BTreeMap<String, String>,
    /// Descriptions of sets, by spec.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub descriptions: BTreeMap<String, String>,
    /// A template for the names of the sets that `names` does not list, over `spec`, `levels` and `tables`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// Why a rule cannot be followed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("rule {rule} of the sets, {part}{}: {what}", line.map(|line| format!(" (its line {line})")).unwrap_or_default())]
pub struct RuleError {
    /// Which rule, counted from 1.
    pub rule: usize,
    /// Which key of it.
    pub part: &'static str,
    /// Which line of a template, counted from 1.
    pub line: Option<usize>,
    /// What is wrong.
    pub what: String,
}
