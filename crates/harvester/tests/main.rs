//! Tests of the crate from outside: one binary, so that it links once.

mod mangled;
mod sinks;
mod stream;
mod world;

#[test]
fn every_file_of_tests_is_part_of_this_binary() {
    modoai_testkit::expect_all_tests_declared(env!("CARGO_MANIFEST_DIR"));
}
