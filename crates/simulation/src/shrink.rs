//! Reduces a failing case to the smallest one that fails in the same way: fields get their default values, lists lose elements,
//! numbers become smaller, as long as the same rule is violated.

use serde_json::Value;

use crate::case::{Case, Run};
use crate::run::Simulator;

/// Cases that are tried; the smallest until then is good enough.
const MAX_ATTEMPTS: u32 = 1000;

/// Numbers above this are only halved.
const SMALL: u64 = 16;

/// Returns the smallest case found that violates the same rule.
pub fn shrink(simulator: &Simulator, case: &Case, rule: &'static str) -> Case {
    let fails = |case: &Case| simulator.execute(case, None).1.is_err_and(|complaint| complaint.rule == rule);
    let (mut best, mut attempts) = (case.clone(), 0);
    loop {
        let smaller = candidates(&best).into_iter().find(|other| {
            attempts += 1;
            attempts <= MAX_ATTEMPTS && fails(other)
        });
        match smaller {
            Some(smaller) => best = smaller,
            None => return best,
        }
    }
}

/// Cases that are a step smaller.
fn candidates(case: &Case) -> Vec<Case> {
    let value = |case: &Case| serde_json::to_value(case).unwrap_or_default();
    let run = serde_json::to_value(Run::default()).unwrap_or_default();
    let smaller = smaller(&value(case), Some(&value(&Case::default())), &run);
    smaller.into_iter().filter_map(|value| serde_json::from_value(value).ok()).filter(|other| other != case).collect()
}

/// Values that are a step smaller, the largest steps first. Objects in lists are runs.
fn smaller(value: &Value, default: Option<&Value>, run: &Value) -> Vec<Value> {
    let mut found: Vec<Value> =
        default.filter(|default| *default != value && !value.is_object()).cloned().into_iter().collect();
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                for other in smaller(field, default.and_then(|default| default.get(name)), run) {
                    let mut fields = fields.clone();
                    fields.insert(name.clone(), other);
                    found.push(Value::Object(fields));
                }
            }
        }
        Value::Array(items) => {
            // The elements of a tuple, which begins with a number, cannot be removed.
            let is_tuple = items.len() == 2 && items[0].is_number();
            for index in 0..items.len() {
                if !is_tuple {
                    let mut fewer = items.clone();
                    fewer.remove(index);
                    found.push(Value::Array(fewer));
                }
                let default = items[index].is_object().then_some(run);
                for other in smaller(&items[index], default, run) {
                    let mut items = items.clone();
                    items[index] = other;
                    found.push(Value::Array(items));
                }
            }
        }
        Value::Number(number) => {
            if let Some(number) = number.as_u64().filter(|number| *number > 0) {
                found.push(Value::from(number / 2));
                found.extend((number <= SMALL).then(|| Value::from(number - 1)));
            }
        }
        _ => {}
    }
    found
}
