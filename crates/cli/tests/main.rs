//! The command line as a person or a script meets it: the real binary, what it says on both outputs, and how it ends.

mod aggregate;
mod app;
mod ask;
mod desk;
mod documents;
mod harvest;
mod harvesters;
mod index;
mod judged;
mod locations;
mod packaging;
mod records;
mod remembered;
mod rules;
mod serve;
mod settings;
mod spider;
mod upgrade;
mod validate;

#[test]
fn every_file_of_tests_is_part_of_this_binary() {
    modoai_testkit::expect_all_tests_declared(env!("CARGO_MANIFEST_DIR"));
}
