//! A record as templates see it, and whether they have looked.
//!
//! A template that has looked at nothing but the value and the rule's own tables gives the same for the same value,
//! whatever the record; only then may its result be remembered. That is seen while it runs: what a template could look
//! at cannot be told reliably from its text, and whether it looked is all that counts.

use std::cell::OnceCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use minijinja::value::{Object, Serde, Value};

use super::field::look_up;
use crate::record::Record;

/// A record that is lent out. Templates want to own what they look at; most records never meet a template.
pub(super) struct Lent<'r> {
    pub(super) record: &'r Record,
    shared: OnceCell<Arc<Record>>,
}

impl<'r> Lent<'r> {
    pub(super) fn new(record: &'r Record) -> Self {
        Self { record, shared: OnceCell::new() }
    }

    fn share(&self) -> Arc<Record> {
        Arc::clone(self.shared.get_or_init(|| Arc::new(self.record.clone())))
    }
}

/// The names of `spec` and `when`: `value`, `tables`, and the record's fields.
#[derive(Debug)]
pub(super) struct View {
    record: Arc<Record>,
    value: Value,
    tables: Value,
    /// Names of functions, which fields do not hide.
    functions: Arc<[String]>,
    looked: AtomicBool,
}

impl View {
    pub(super) fn new(lent: &Lent<'_>, value: &str, tables: &Value, functions: &Arc<[String]>) -> Arc<Self> {
        Arc::new(Self {
            record: lent.share(),
            value: Value::from(value),
            tables: tables.clone(),
            functions: Arc::clone(functions),
            looked: AtomicBool::new(false),
        })
    }

    /// Whether a template has looked at the record, if only to find a field missing.
    pub(super) fn has_looked(&self) -> bool {
        self.looked.load(Ordering::Relaxed)
    }
}

impl Object for View {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        match key.as_str()? {
            "value" => Some(self.value.clone()),
            "tables" => Some(self.tables.clone()),
            name if self.functions.iter().any(|function| function == name) => None,
            name => {
                self.looked.store(true, Ordering::Relaxed);
                look_up(&self.record, name).map(|field| Value::from(Serde(field.as_ref())))
            }
        }
    }
}
