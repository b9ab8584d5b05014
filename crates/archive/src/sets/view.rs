//! A record as an object for templates, which notes if they read it.
//!
//! A template that has read only the value and the rule's own tables yields the same result for the same value, in any
//! record; only then may the result be cached. This is observed while it runs: the text of a template does not show
//! reliably what it reads, and only actual reads matter.

use std::cell::OnceCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use minijinja::value::{Object, Serde, Value};

use super::field::look_up;
use crate::record::Record;

/// A borrowed record. Templates need ownership of the record that they read; for most records no template runs.
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

/// The names for `spec` and `when`: `value`, `tables`, and the record's fields.
#[derive(Debug)]
pub(super) struct View {
    record: Arc<Record>,
    value: Value,
    tables: Value,
    /// The names of functions, which fields do not hide.
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

    /// Returns true if a template has read the record, even if it only found a field missing.
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
