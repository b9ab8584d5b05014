//! What modoai's tests and benchmarks share. Nothing here is part of the product.
//!
//! | module | what it gives |
//! |---|---|
//! | [`site`] | folders of files: awkward names, random trees, the original paper's test bed, millions of files |
//! | [`dice`] | chance that can be repeated |
//! | [`process`] | the real `modoai serve`, started, watched and ended |
//! | [`apache`] | a real Apache httpd with our module in it |
//! | [`http`] | a small HTTP client that shares no code with the product |
//! | [`curl`] | the same by way of curl, for HTTP/2 and TLS |
//! | [`endpoint`] | an OAI-PMH endpoint that does everything wrong that real ones do |
//! | [`xsd`] | judgement by the official schemas |
//!
//! The end-to-end tests live in `tests/`; the benchmark's client and site maker in `examples/`.

pub mod apache;
mod content;
pub mod curl;
pub mod dice;
pub mod endpoint;
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

/// Fails if a file in the `tests` folder of a crate is not declared in its `main.rs`, or one in a folder there not in that
/// folder's `mod.rs`: its tests would never run.
///
/// # Panics
///
/// If there is such a file.
pub fn expect_all_tests_declared(manifest_dir: &str) {
    let tests = Path::new(manifest_dir).join("tests");
    expect_declared(&tests, "main");
    for entry in std::fs::read_dir(&tests).expect("a folder of tests") {
        let path = entry.expect("readable").path();
        if path.join("mod.rs").exists() {
            expect_declared(&path, "mod");
        }
    }
}

fn expect_declared(folder: &Path, by: &str) {
    let declarations =
        std::fs::read_to_string(folder.join(format!("{by}.rs"))).expect("a file that declares the others");
    for entry in std::fs::read_dir(folder).expect("a folder of tests") {
        let path = entry.expect("readable").path();
        let module = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let declared = module == by || declarations.contains(&format!("mod {module};\n"));
        assert!(declared, "{} is not declared in {by}.rs, so its tests never run", path.display());
    }
}
