//! A rule in the configuration: one `[[sets]]` table of `archive.toml`.

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
    /// The field whose values are used; dots separate its levels: `creators.family`. Each value of a list counts by
    /// itself. A rule without a field only names sets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// The separator of several values in one string.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split: Option<String>,
    /// A condition: an expression over the same names as `spec`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// A template that generates the set's levels, separated by colons, from `value`, `tables` and the record's fields.
    /// Empty levels are left out, so an empty result means no set. By default the value is the only level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spec: Option<String>,
    /// Tables for lookups: `tables.NAME[value]`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub tables: BTreeMap<String, BTreeMap<String, String>>,
    /// The names of sets, by spec.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub names: BTreeMap<String, String>,
    /// The descriptions of sets, by spec.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub descriptions: BTreeMap<String, String>,
    /// A template for the names of the sets that `names` does not list, over `spec`, `levels` and `tables`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// An error in a rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("rule {rule} of the sets, {part}{}: {what}", line.map(|line| format!(" (its line {line})")).unwrap_or_default())]
pub struct RuleError {
    /// The rule, counted from 1.
    pub rule: usize,
    /// The key of the rule.
    pub part: &'static str,
    /// The line of a template, counted from 1.
    pub line: Option<usize>,
    /// The problem.
    pub what: String,
}
