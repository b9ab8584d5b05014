//! What modoai's tests and benchmarks share. Nothing here is part of the product.
//!
//! | module | what it gives |
//! |---|---|
//! | [`site`] | folders of files: awkward names, random trees, the original paper's test bed, millions of files |
//! | [`dice`] | chance that can be repeated |
//! | [`process`] | the real `modoai serve`, started, watched and ended |
//! | [`http`] | a small HTTP client that shares no code with the product |
//! | [`xsd`] | judgement by the official schemas |
//!
//! The end-to-end tests live in `tests/`; the benchmark's client and site maker in `examples/`.

mod content;
pub mod dice;
pub mod http;
pub mod process;
pub mod site;
pub mod xsd;

use std::path::Path;

/// The root of the workspace these sources were built from.
pub fn workspace() -> &'static Path {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    crates.and_then(Path::parent).expect("this crate is two folders below the root")
}
