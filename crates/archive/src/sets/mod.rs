//! The sets a record belongs to, by rules over its fields.
