//! The spider as a library user sees it.

mod made_up_web;
mod mail;
mod map;
mod tasks;

#[test]
fn every_file_of_tests_is_part_of_this_binary() {
    modoai_testkit::expect_all_tests_declared(env!("CARGO_MANIFEST_DIR"));
}
