//! Tests of the crate from outside: one binary, so that it links once.

mod audiences;
mod battery;
mod descriptions;
mod sqlite;
