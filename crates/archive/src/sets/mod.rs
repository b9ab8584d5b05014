//! The sets a record belongs to, by rules over its fields.
//!
//! A rule takes the values of one field and makes a set spec of each, by a template: arXiv's `cs.AI` becomes
//! `cs:cs:AI`. An archive has millions of records and a few hundred different values, so what a value has once become
//! is remembered, and most records never see a template.
//!
//! | file | what it knows |
//! |---|---|
//! | `rule` | a rule as it is written |
//! | `compiled` | a rule as it is followed: templates, and the memory of their results |
//! | `field` | the values of a field of a record |
//! | `view` | a record as templates see it, and whether they have looked |
//! | `register` | one shared copy of every set spec, and the rule it came from |

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

/// A set spec longer than this is a mistake, such as a rule over abstracts. It would stand in the header of every
/// record of the set.
const LONGEST_SPEC: usize = 1000;

/// A record in more sets than this is a mistake, too, such as a rule over every word.
const MOST_SETS: usize = 1000;

/// All rules of an archive, ready to be followed. Shared by all threads.
#[derive(Debug)]
pub struct SetRules {
    rules: Vec<CompiledRule>,
    register: Register,
}

/// What a set is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetInfo {
    /// The set.
    pub spec: SetSpec,
    /// Its name.
    pub name: String,
    /// What belongs into it, in a sentence or more.
    pub description: Option<String>,
}

impl SetRules {
    /// Makes the rules ready. Whatever can be known to be wrong without a record is refused here.
    pub fn compile(rules: Vec<Rule>) -> Result<Self, RuleError> {
        let compile = |(at, rule)| CompiledRule::compile(at + 1, rule);
        let rules = rules.into_iter().enumerate().map(compile).collect::<Result<_, _>>()?;
        Ok(Self { rules, register: Register::default() })
    }

    /// The sets of a record: those that follow from its fields and those that it names itself. Each is the narrowest
    /// of its branch, since it stands for all that contain it. Sorted, and each once.
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

    /// The rules that have made no set of any record so far, each with its number and field.
    pub fn idle(&self) -> Vec<String> {
        self.rules.iter().filter_map(CompiledRule::idle).collect()
    }

    /// Every set whose name is known: those that rules list, and those met so far, with the sets that contain them,
    /// that a rule has a template of names for. Sorted by spec.
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

    /// What a set is called that this rule has made: as any rule lists it, else by the template of that rule.
    fn info(&self, spec: &SetSpec, maker: Option<usize>) -> Option<SetInfo> {
        let listed = self.rules.iter().find_map(|rule| rule.listed_name(spec)).map(str::to_owned);
        let by_template = || maker.and_then(|at| self.rules[at].name_of(spec));
        let description = self.rules.iter().find_map(|rule| rule.description(spec)).map(str::to_owned);
        // Whoever describes a set without naming it means the name that it has in requests.
        let name = listed.or_else(by_template).or_else(|| description.as_ref().map(|_| spec.as_str().to_owned()))?;
        Some(SetInfo { spec: spec.clone(), name, description })
    }
}
