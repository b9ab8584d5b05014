//! What modoai's tests and benchmarks share. Nothing here is part of the product.
//!
//! | module | what it gives |
//! |---|---|
//! | [`site`] | folders of files: awkward names, random trees, the original paper's test bed, millions of files |
//! | [`archive`] | e-prints in arXiv's shape, millions of them |
//! | [`dice`] | chance that can be repeated |
//! | [`process`] | the real `modoai serve`, started, watched and ended |
//! | [`apache`] | a real Apache httpd with our module in it |
//! | [`http`] | a small HTTP client that shares no code with the product |
//! | [`curl`] | the same by way of curl, for HTTP/2 and TLS |
//! | [`pages`] | a harvester that does as little as possible, for those who measure |
//! | [`effort`] | processor time, which does not grow with the load of the machine |
//! | [`endpoint`] | an OAI-PMH endpoint that does everything wrong that real ones do |
//! | [`web`] | webs for spiders: every verdict, redirect, way to refer, robots.txt and trap |
//! | [`network`] | addresses and names of a test's own |
//! | [`peer`] | repositories made with the libraries of others |
//! | [`waiting`] | waiting for events, whatever else the machine does |
//! | [`xsd`] | validation against the official schemas |
//!
//! The end-to-end tests live in `tests/`; the benchmark's client and site maker in `examples/`.

pub mod apache;
pub mod archive;
mod content;
pub mod curl;
pub mod dice;
pub mod effort;
pub mod endpoint;
pub mod http;
pub mod network;
pub mod pages;
pub mod peer;
pub mod process;
pub mod site;
pub mod waiting;
pub mod web;
pub mod xsd;

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The root of the workspace these sources were built from.
pub fn workspace() -> &'static Path {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    crates.and_then(Path::parent).expect("this crate is two folders below the root")
}

/// Says that this machine cannot test something, in one line that is seen also if the test passes. The lines of a program are
/// numbered; `tools/test` counts them all.
///
/// This is for what nothing can be installed for, such as the right to mount; [`not_installed`] for everything else.
/// A test that skips the same thing several times prints it once.
pub fn skipped(what: &str) {
    static PRINTED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let line = format!("{}: {what}", std::thread::current().name().unwrap_or_default());
    let mut printed = PRINTED.lock().unwrap_or_else(PoisonError::into_inner);
    if printed.insert(line.clone()) {
        // `eprintln!` is captured in tests that pass. With standard error closed, there is nowhere to print.
        let _ = writeln!(std::io::stderr(), "SKIPPED {}: {line}", printed.len());
    }
}

/// Says that something is not tested because a tool is missing; see [`skipped`].
///
/// # Panics
///
/// On a CI, where nothing may be skipped that `tools/install-test-tools` makes possible.
pub fn not_installed(what: &str) {
    let what = format!("{what}: run tools/install-test-tools");
    assert!(std::env::var_os("CI").is_none(), "SKIPPED: {what}");
    skipped(&what);
}

/// What `tools/install-test-tools` put at `place`, or what a variable of the environment names instead. Says what is
/// skipped if there is neither: [`not_installed`].
pub fn installed(variable: &str, place: &str, what: &str) -> Option<PathBuf> {
    let installed = workspace().join("tools/.installed").join(place);
    let found = std::env::var_os(variable).map(PathBuf::from).or_else(|| installed.is_file().then_some(installed));
    if found.is_none() {
        not_installed(what);
    }
    found
}

/// A command in the path or in `/usr/sbin`, where Debian keeps those of servers out of an ordinary user's path; the first of
/// these names that is there.
pub fn command(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders = std::env::split_paths(&path).chain([PathBuf::from("/usr/sbin")]);
    folders.find_map(|folder| names.iter().map(|name| folder.join(name)).find(|place| place.is_file()))
}

/// Whether one of these commands is missing, which is then said: [`not_installed`].
pub fn lacks(commands: &[&str]) -> bool {
    let missing = commands.iter().find(|name| command(&[name]).is_none());
    if let Some(name) = missing {
        not_installed(&format!("no {name}"));
    }
    missing.is_some()
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
        // Data of tests, and sources of modules that tests compile.
        if path.extension().is_some_and(|extension| extension != "rs") || is_data(&path) {
            continue;
        }
        let module = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let declared = module == by || declarations.contains(&format!("mod {module};\n"));
        assert!(declared, "{} is not declared in {by}.rs, so its tests never run", path.display());
    }
}

/// Returns true for a directory without Rust files.
fn is_data(path: &Path) -> bool {
    let is_rust = |entry: std::io::Result<std::fs::DirEntry>| {
        entry.is_ok_and(|entry| entry.path().extension().is_some_and(|extension| extension == "rs"))
    };
    std::fs::read_dir(path).is_ok_and(|mut entries| !entries.any(is_rust))
}
