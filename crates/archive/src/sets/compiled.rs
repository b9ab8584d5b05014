//! A compiled rule: its templates, and a cache of their results.
//!
//! A result is cached for its value if the templates did not read the record (see `view`).

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use minijinja::value::{Serde, Value, ValueKind};
use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior};
use modoai_protocol::SetSpec;
use modoai_protocol::text::shortened;

use super::LONGEST_SPEC;
use super::field::Field;
use super::rule::{Rule, RuleError};
use super::view::{Lent, View};
use crate::record::Record;
use crate::source::Fault;

/// The number of values whose sets are cached. When it is reached, the cache is cleared: values that are frequent
/// enough to matter are cached again soon.
const MOST_REMEMBERED: usize = 1 << 16;
/// The longest value that is cached.
const LONGEST_REMEMBERED: usize = 256;

/// Represents a colon inside a level until the levels are split: a noncharacter, intended for such use.
const COLON_WITHIN: char = '\u{FDD0}';

const SPEC: &str = "spec";
const WHEN: &str = "when";
const NAME: &str = "name";

/// One compiled rule.
#[derive(Debug)]
pub(super) struct CompiledRule {
    number: usize,
    field: Option<Field>,
    split: Option<String>,
    templates: Environment<'static>,
    tables: Value,
    functions: Arc<[String]>,
    remembered: RwLock<HashMap<Box<str>, Option<Arc<SetSpec>>>>,
    names: BTreeMap<SetSpec, String>,
    descriptions: BTreeMap<SetSpec, String>,
    /// True if the rule has produced a set.
    has_matched: AtomicBool,
}

impl CompiledRule {
    /// Compiles the rule with this number.
    pub(super) fn compile(number: usize, rule: Rule) -> Result<Self, RuleError> {
        let refuse = |part, what: String| RuleError { rule: number, part, line: None, what };
        let mut field = None;
        if let Some(path) = &rule.field {
            let parsed = Field::parse(path).ok_or_else(|| refuse("field", format!("{path:?} has an empty part")))?;
            field = Some(parsed);
        } else if let Some(part) = idle_without_field(&rule) {
            return Err(refuse(part, "missing \"field\", the source of the values".to_owned()));
        }
        if rule.split.as_ref().is_some_and(String::is_empty) {
            return Err(refuse("split", "the separator is empty; omit it".to_owned()));
        }
        let templates = environment();
        let mut compiled = Self {
            number,
            field,
            split: rule.split,
            functions: templates.globals().map(|(name, _)| name.to_owned()).collect(),
            templates,
            tables: Value::from(Serde(&rule.tables)),
            remembered: RwLock::default(),
            names: by_spec(rule.names).map_err(|spec| refuse("names", illegal(&spec)))?,
            descriptions: by_spec(rule.descriptions).map_err(|spec| refuse("descriptions", illegal(&spec)))?,
            has_matched: AtomicBool::new(false),
        };
        let spec = rule.spec.unwrap_or_else(|| "{{ value|level }}".to_owned());
        compiled.add(SPEC, spec)?;
        if let Some(when) = rule.when {
            // Compiled by itself, so that only an expression is accepted.
            let whole = compiled.templates.compile_expression(&when).map(drop);
            whole.map_err(|error| compiled.broken(WHEN, &error))?;
            compiled.add(WHEN, format!("{{% if {when} %}}yes{{% endif %}}"))?;
        }
        if let Some(name) = rule.name {
            compiled.add(NAME, name)?;
        }
        compiled.rehearse()?;
        Ok(compiled)
    }

    /// Adds the sets of the record's values.
    pub(super) fn apply(
        &self,
        lent: &Lent<'_>,
        sets: &mut Vec<Arc<SetSpec>>,
        share: impl Fn(SetSpec) -> Arc<SetSpec>,
    ) -> Result<(), Fault> {
        let Some(field) = &self.field else { return Ok(()) };
        let mut add = |value: &str| {
            let value = value.trim();
            if !value.is_empty()
                && let Some(set) = self.set_of(value, lent, &share)?
            {
                sets.push(set);
                // An unconditional store for every record would contend between all threads.
                if !self.has_matched.load(Ordering::Relaxed) {
                    self.has_matched.store(true, Ordering::Relaxed);
                }
            }
            Ok(())
        };
        field.each(lent.record, &mut |text| match &self.split {
            Some(split) => text.split(split.as_str()).try_for_each(&mut add),
            None => add(text),
        })
    }

    /// Returns the number and the field of the rule, if it has a field and has produced no set.
    pub(super) fn idle(&self) -> Option<String> {
        let field = self.field.as_ref().filter(|_| !self.has_matched.load(Ordering::Relaxed))?;
        Some(format!("rule {} (field `{field}`)", self.number))
    }

    /// Returns the sets that the rule names or describes.
    pub(super) fn listed(&self) -> impl Iterator<Item = &SetSpec> {
        self.names.keys().chain(self.descriptions.keys())
    }

    /// Returns the name that the rule lists.
    pub(super) fn listed_name(&self, spec: &SetSpec) -> Option<&str> {
        self.names.get(spec).map(String::as_str)
    }

    /// Returns the description that the rule lists.
    pub(super) fn description(&self, spec: &SetSpec) -> Option<&str> {
        self.descriptions.get(spec).map(String::as_str)
    }

    /// Returns the name that the rule's template generates. A template that fails for one set must not hide the others.
    pub(super) fn name_of(&self, spec: &SetSpec) -> Option<String> {
        let template = self.templates.get_template(NAME).ok()?;
        match template.render(self.context_of_name(spec)) {
            Ok(name) => Some(name.trim().to_owned()).filter(|name| !name.is_empty()),
            Err(error) => {
                tracing::warn!(set = spec.as_str(), "{}", self.broken(NAME, &error));
                None
            }
        }
    }

    fn set_of(
        &self,
        value: &str,
        lent: &Lent<'_>,
        share: &impl Fn(SetSpec) -> Arc<SetSpec>,
    ) -> Result<Option<Arc<SetSpec>>, Fault> {
        let is_short = value.len() <= LONGEST_REMEMBERED;
        if is_short {
            let remembered = self.remembered.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(set) = remembered.get(value) {
                return Ok(set.clone());
            }
        }
        let view = View::new(lent, value, &self.tables, &self.functions);
        let made = self.make(&view).map_err(|error| Fault(error.to_string()))?;
        if let Some(spec) = made.as_ref().filter(|spec| spec.as_str().len() > LONGEST_SPEC) {
            let start = shortened(spec.as_str(), 60);
            return Err(Fault(format!(
                "rule {} of the sets generates a set spec that is too long: {start}",
                self.number
            )));
        }
        let set = made.map(share);
        if is_short && !view.has_looked() {
            let mut remembered = self.remembered.write().unwrap_or_else(PoisonError::into_inner);
            if remembered.len() >= MOST_REMEMBERED {
                remembered.clear();
            }
            remembered.insert(value.into(), set.clone());
        }
        Ok(set)
    }

    fn make(&self, view: &Arc<View>) -> Result<Option<SetSpec>, RuleError> {
        let context = Value::from_dyn_object(Arc::clone(view));
        if let Ok(when) = self.templates.get_template(WHEN) {
            let holds = when.render(&context).map_err(|error| self.broken(WHEN, &error))?;
            if holds.is_empty() {
                return Ok(None);
            }
        }
        let template = self.templates.get_template(SPEC).expect("added when the rule was compiled");
        let text = template.render(&context).map_err(|error| self.broken(SPEC, &error))?;
        Ok(spec_of(&text))
    }

    fn context_of_name(&self, spec: &SetSpec) -> Value {
        let levels: Value = spec.levels().into_iter().map(Value::from).collect();
        let own = [("spec", Value::from(spec.as_str())), ("levels", levels), ("tables", self.tables.clone())];
        Value::from_pairs(own)
    }

    fn add(&mut self, part: &'static str, text: String) -> Result<(), RuleError> {
        let added = self.templates.add_template_owned(part, text);
        added.map_err(|error| self.broken(part, &error))
    }

    /// Runs the template once, because unknown filters and functions are only detected when it runs; that it has no
    /// fields to read does not matter.
    fn rehearse(&self) -> Result<(), RuleError> {
        let unknown = |error: &Error| {
            use ErrorKind::{TooManyArguments, UnknownFilter, UnknownFunction, UnknownMethod, UnknownTest};
            matches!(error.kind(), UnknownFilter | UnknownFunction | UnknownTest | UnknownMethod | TooManyArguments)
        };
        let nothing = Record::default();
        let view = View::new(&Lent::new(&nothing), "a", &self.tables, &self.functions);
        let view = Value::from_dyn_object(view);
        let name = self.context_of_name(&SetSpec::from_levels(["a", "b"]));
        let contexts = [(WHEN, view.clone()), (SPEC, view), (NAME, name)];
        for (part, context) in contexts {
            if let Ok(template) = self.templates.get_template(part)
                && let Err(error) = template.render(context)
                && unknown(&error)
            {
                return Err(self.broken(part, &error));
            }
        }
        Ok(())
    }

    fn broken(&self, part: &'static str, error: &Error) -> RuleError {
        let what = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
        RuleError { rule: self.number, part, line: error.line(), what }
    }
}

/// Returns the first key that has no effect in a rule without a field.
fn idle_without_field(rule: &Rule) -> Option<&'static str> {
    let given = [
        ("spec", rule.spec.is_some()),
        ("split", rule.split.is_some()),
        ("when", rule.when.is_some()),
        ("name", rule.name.is_some()),
    ];
    given.into_iter().find_map(|(part, is_given)| is_given.then_some(part))
}

fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    // A value that is missing from a table, or a field that is missing from the record, is empty.
    environment.set_undefined_behavior(UndefinedBehavior::Chainable);
    environment.set_formatter(|out, _, value| Ok(out.write_str(&text_of(value)?)?));
    // Marks a value that may contain colons as one level.
    environment
        .add_filter("level", |value: &Value| Ok::<_, Error>(text_of(value)?.replace(':', &COLON_WITHIN.to_string())));
    environment
}

/// Returns the text of a value in a spec or a name. A missing value is empty, and so is a part of it: for the engine,
/// `dates.issued[:4]` of a missing date is an empty list.
fn text_of(value: &Value) -> Result<String, Error> {
    match value.kind() {
        ValueKind::Undefined | ValueKind::None => Ok(String::new()),
        ValueKind::Seq | ValueKind::Map | ValueKind::Iterable if value.len() == Some(0) => Ok(String::new()),
        ValueKind::Seq | ValueKind::Map | ValueKind::Iterable => {
            let what = format!("cannot use a {} as a level; use `join` or one of its fields", value.kind());
            Err(Error::new(ErrorKind::InvalidOperation, what))
        }
        _ => Ok(value.to_string()),
    }
}

/// Returns the set spec that a template has generated, if it has any level.
fn spec_of(text: &str) -> Option<SetSpec> {
    let levels = text.split(':').map(str::trim).filter(|level| !level.is_empty());
    let levels: Vec<String> = levels.map(|level| level.replace(COLON_WITHIN, ":")).collect();
    (!levels.is_empty()).then(|| SetSpec::from_levels(levels.iter().map(String::as_str)))
}

fn by_spec(texts: BTreeMap<String, String>) -> Result<BTreeMap<SetSpec, String>, String> {
    texts.into_iter().map(|(spec, text)| SetSpec::parse(&spec).map(|legal| (legal, text)).ok_or(spec)).collect()
}

fn illegal(spec: &str) -> String {
    format!("invalid set spec {spec:?}")
}
