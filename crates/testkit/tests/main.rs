//! The end-to-end tests: the real `modoai` command, spoken to through HTTP. One binary, so that it links once.

mod access;
mod any_tree;
mod apache;
mod archive;
mod attack;
mod clients;
mod count;
mod crash;
mod crawl;
mod example_site;
mod fixity;
mod flow;
mod formats;
mod freshness;
mod harvest;
mod hosts;
mod ignored;
mod mounts;
mod oai;
mod own_sets;
mod pages;
mod parity;
mod permissions;
mod rules;
mod running;
mod spider;
mod tls;

#[test]
fn every_file_of_tests_is_part_of_this_binary() {
    modoai_testkit::expect_all_tests_declared(env!("CARGO_MANIFEST_DIR"));
}
