//! The checked-in bindings are what bindgen makes of the installed headers: see build.rs.

use std::io::Write as _;

#[test]
fn the_bindings_are_what_bindgen_makes_of_the_headers() {
    let made = include_str!(concat!(env!("OUT_DIR"), "/bindings.rs"));
    let kept = include_str!("../src/bindings.rs");
    let release = |text: &str| text.lines().find(|line| line.contains("MODULE_MAGIC_NUMBER_MINOR")).map(str::to_owned);
    if made.is_empty() {
        assert!(std::env::var_os("CI").is_none(), "no apxs, so no headers of httpd: run tools/install-test-tools");
        skipped("no apxs, so no headers of httpd: run tools/install-test-tools");
    } else if release(made) != release(kept) {
        skipped("the installed headers are of another release of httpd than the bindings");
    } else {
        assert!(
            made == kept,
            "write them anew: MODOAI_WRITE_BINDINGS=1 cargo check -p modoai-httpd --features bindgen"
        );
    }
}

/// As the other tests say it, past the capture of output.
fn skipped(why: &str) {
    // A closed stderr has no one to tell.
    let _ = writeln!(std::io::stderr(), "SKIPPED 1: bindings: {why}");
}
