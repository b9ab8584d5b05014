//! One file per command: its arguments, whose comments are its help, and its implementation.

pub(crate) mod ask;
pub(crate) mod completions;
pub(crate) mod count;
pub(crate) mod harvest;
pub(crate) mod harvesters;
pub(crate) mod import;
pub(crate) mod index;
pub(crate) mod man;
pub(crate) mod records;
pub(crate) mod rules;
pub(crate) mod serve;
pub(crate) mod settings;
pub(crate) mod spider;
pub(crate) mod status;
pub(crate) mod validate;
