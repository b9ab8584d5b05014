//! Any tree of files with any names: the listed URLs equal the URLs that can be had, once each, across page boundaries.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;

use modoai_testkit::process::Launch;
use modoai_testkit::site::TestSite;
use proptest::prelude::*;

use crate::oai;

fn name() -> impl Strategy<Value = Vec<u8>> {
    let bytes = prop::collection::vec(any::<u8>().prop_filter("legal", |byte| !matches!(byte, 0 | b'/')), 1..20);
    let words = prop::sample::select(vec![
        "a",
        "b.html",
        "a~",
        ".x",
        "index.html",
        "modoai",
        "healthz",
        "é.txt",
        "%41",
        "a b",
        "<&>\"'",
    ]);
    prop_oneof![bytes, words.prop_map(|word: &str| word.as_bytes().to_vec())]
        .prop_filter("a name", |name| !matches!(name.as_slice(), b"." | b".."))
}

proptest! {
    // Each case starts a server.
    #![proptest_config(ProptestConfig { cases: 12, max_shrink_iters: 50, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn listed_is_what_can_be_had(
        paths in prop::collection::vec(prop::collection::vec(name(), 1..4), 1..40),
        page in 1_usize..9,
    ) {
        let site = TestSite::with(&[]);
        let mut made = 0;
        for path in &paths {
            let path = path.iter().fold(site.path().to_owned(), |at, name| at.join(OsStr::from_bytes(name)));
            if fs::create_dir_all(path.parent().expect("below the root")).is_ok() && !path.exists() {
                made += usize::from(fs::write(&path, b"x").is_ok());
            }
        }
        let server = Launch::of(site.path()).set("identifiers_per_page", &page.to_string()).start();
        let mut client = server.client();
        let records = oai::harvest(&mut client, "verb=ListIdentifiers&metadataPrefix=oai_dc");
        let listed: BTreeSet<String> = records.iter().map(|record| record.identifier.clone()).collect();
        prop_assert_eq!(listed.len(), records.len(), "once each");
        for identifier in &listed {
            let path = identifier.strip_prefix(server.url()).expect("our own");
            prop_assert_eq!(client.get(path).expect("an answer").status, 200, "{}", path);
        }
        // Every file that is not listed cannot be had either.
        let mut missing = 0;
        for file in modoai_testkit::site::files_below(site.path()).expect("readable") {
            let encoded: Vec<String> = file.iter().map(|name| modoai_testkit::http::encode(name.as_bytes())).collect();
            let target = format!("/{}", encoded.join("/"));
            // At these paths the server itself answers.
            let reserved = encoded[0] == "modoai" || encoded[0] == "healthz";
            if reserved || client.get(&target).expect("an answer").status != 200 {
                missing += 1;
            }
        }
        prop_assert_eq!(listed.len() + missing, made);
    }
}
