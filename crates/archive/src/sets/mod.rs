//! The sets of a record, by rules over its fields.
//!
//! A rule converts each value of one field to a set spec, by a template: arXiv's `cs.AI` becomes `cs:cs:AI`. An archive
//! has millions of records and a few hundred different values, so the results are cached by value, and for most records
//! no template runs.
//!
//! | file | content |
//! |---|---|
//! | `rule` | a rule in the configuration |
//! | `compiled` | a compiled rule: its templates, and a cache of their results |
//! | `field` | the values of a field of a record |
//! | `view` | a record as an object for templates, which notes if they read it |
//! | `register` | one shared copy of every set spec, and the rule that made it |

mod compiled;
mod field;
mod register;
mod rule;
#[cfg(test)]
mod tests;
mod view;

use std::collections::BTreeMap;
use std::sync::Arc;

use modoai_protocol::SetSpec;

use crate::record::Record;
use crate::source::Fault;
use compiled::CompiledRule;
use register::Register;
pub use rule::{Rule, RuleError};
use view::Lent;

/// A longer set spec is a mistake, such as a rule over abstracts. The header of every record of the set would contain
/// it.
const LONGEST_SPEC: usize = 1000;

/// A record in more sets is a mistake, too, such as a rule over every word.
const MOST_SETS: usize = 1000;

/// All rules of an archive, compiled. Shared by all threads.
#[derive(Debug)]
pub struct SetRules {
    rules: Vec<CompiledRule>,
    register: Register,
}

/// The name and description of a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetInfo {
    /// The set.
    pub spec: SetSpec,
    /// The name.
    pub name: String,
    /// The description of its content, in a sentence or more.
    pub description: Option<String>,
}

impl SetRules {
    /// Compiles the rules, and rejects all errors that can be found without a record.
    pub fn compile(rules: Vec<Rule>) -> Result<Self, RuleError> {
        let compile = |(at, rule)| CompiledRule::compile(at + 1, rule);
        let rules = rules.into_iter().enumerate().map(compile).collect::<Result<_, _>>()?;
        Ok(Self { rules, register: Register::default() })
    }

    /// Returns the sets of a record: those that are derived from its fields and those that it lists. Each is the
    /// narrowest of its branch, because it implies all sets that contain it. Sorted, without duplicates.
    pub fn of(&self, record: &Record) -> Result<Vec<Arc<SetSpec>>, Fault> {
        let mut sets = Vec::new();
        let lent = Lent::new(record);
        for (at, rule) in self.rules.iter().enumerate() {
            rule.apply(&lent, &mut sets, |spec| self.register.share(spec, Some(at)))?;
        }
        for spec in &record.sets {
            let legal = self.register.find(spec).or_else(|| Some(self.register.share(SetSpec::parse(spec)?, None)));
            let legal = legal.filter(|spec| spec.as_str().len() <= LONGEST_SPEC);
            sets.push(legal.ok_or_else(|| Fault(format!("invalid set spec {spec:?} in \"sets\"")))?);
        }
        SetSpec::keep_narrowest(&mut sets);
        if sets.len() > MOST_SETS {
            return Err(Fault(format!("it would be in {} sets; the maximum is {MOST_SETS}", sets.len())));
        }
        Ok(sets)
    }

    /// Returns the rules that have produced no set so far, each with its number and field.
    pub fn idle(&self) -> Vec<String> {
        self.rules.iter().filter_map(CompiledRule::idle).collect()
    }

    /// Returns every set whose name is known, sorted by spec: those that rules list, and those produced so far, with
    /// the sets that contain them, if a rule has a template for names.
    pub fn named(&self) -> Vec<SetInfo> {
        let mut found = BTreeMap::new();
        let mut find = |spec: SetSpec, maker| {
            if !found.contains_key(&spec)
                && let Some(info) = self.info(&spec, maker)
            {
                found.insert(spec, info);
            }
        };
        for spec in self.rules.iter().flat_map(CompiledRule::listed) {
            find(spec.clone(), None);
        }
        for (spec, maker) in self.register.met() {
            spec.lineage().filter_map(SetSpec::parse).for_each(|spec| find(spec, maker));
        }
        found.into_values().collect()
    }

    /// Returns the name of a set that this rule has produced: as any rule lists it, else by the template of that rule.
    fn info(&self, spec: &SetSpec, maker: Option<usize>) -> Option<SetInfo> {
        let listed = self.rules.iter().find_map(|rule| rule.listed_name(spec)).map(str::to_owned);
        let by_template = || maker.and_then(|at| self.rules[at].name_of(spec));
        let description = self.rules.iter().find_map(|rule| rule.description(spec)).map(str::to_owned);
        // For a set with a description and no name, the name is its spec.
        let name = listed.or_else(by_template).or_else(|| description.as_ref().map(|_| spec.as_str().to_owned()))?;
        Some(SetInfo { spec: spec.clone(), name, description })
    }
}
