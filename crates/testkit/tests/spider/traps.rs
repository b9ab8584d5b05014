//! Webs and pages without an end: a run ends, its memory has bounds, and what is after the trap is found.

use modoai_testkit::web::{Web, traps};

use super::{Ended, Spider};

/// What a run may need, whatever is sent to it. A test's build is not a release, and others are measured in `bench/`.
const MEMORY: u64 = 300 << 20;

fn traverse(web: Web, arguments: &[&str]) -> (Ended, Vec<String>) {
    let host = web.start();
    let folder = tempfile::tempdir().expect("a folder");
    let ended = Spider::new(host.at("/"), &folder.path().join("table")).with(arguments).run();
    let ended = ended.unwrap_or_else(|error| panic!("{error}"));
    assert!(ended.peak < MEMORY, "it took {} MB of memory", ended.peak >> 20);
    let broken = ended.targets("broken").into_iter().map(|target| target.replace(host.url(), "")).collect();
    (ended, broken)
}

#[test]
fn calendars_end_by_depth_or_by_pages() {
    let (ended, broken) = traverse(traps::calendar(), &["--depth", "15"]);
    assert_eq!(broken, ["/missing"]);
    assert!(ended.count("pages") < 40, "{}", ended.said);
    let (ended, broken) = traverse(traps::calendar(), &["--max-pages", "10"]);
    assert_eq!(broken, ["/missing"]);
    assert!(ended.count("pages") <= 10, "{}", ended.said);
    let (ended, _) = traverse(traps::calendar(), &[]);
    assert!(ended.count("pages") < 100, "{}", ended.said);
}

#[test]
fn webs_that_branch_end_with_a_reason() {
    let (ended, broken) = traverse(traps::branches(), &["--max-similar", "50"]);
    assert_eq!(broken, ["/missing"]);
    assert!(ended.count("pages") < 500, "{}", ended.said);
    let remarks = ended.remarks();
    for pattern in ["/tree/…,", "/numbers/#/…/,"] {
        assert!(remarks.iter().any(|remark| remark.contains(pattern)), "{pattern}: {remarks:?}");
    }
}

#[test]
fn folders_in_folders_end() {
    let (ended, broken) = traverse(traps::ever_deeper(), &[]);
    assert!(broken.is_empty());
    assert!(ended.count("pages") < 100, "{}", ended.said);
}

#[test]
fn a_million_links_on_a_page() {
    let (ended, broken) = traverse(traps::link_bomb(1_000_000), &["--quiet"]);
    assert!(broken.contains(&"/missing".to_owned()), "{broken:?}");
    assert!(ended.count("requests") < 10, "what is forbidden was asked for");
}

#[test]
fn a_page_of_a_gigabyte() {
    let (_, broken) = traverse(traps::large_page(1_024), &[]);
    assert!(broken.contains(&"/missing-2".to_owned()), "{broken:?}");
    assert!(!broken.contains(&"/large".to_owned()), "it is there: {broken:?}");
}

#[test]
fn a_page_that_unpacks_to_a_gigabyte() {
    let (_, broken) = traverse(traps::gzip_bomb(1_024), &[]);
    assert_eq!(broken, ["/missing"]);
}

#[test]
fn a_million_elements_in_each_other() {
    let (_, broken) = traverse(traps::nesting(1_000_000), &[]);
    assert_eq!(broken, ["/missing"]);
}

#[test]
fn names_and_texts_without_an_end() {
    let (_, broken) = traverse(traps::without_end(), &[]);
    assert!(broken.contains(&"/missing".to_owned()), "{broken:?}");
}

#[test]
fn who_may_ask_only_public_hosts_asks_no_other() {
    let host = Web::default().page("/", r#"<a href="/x">x</a>"#).start();
    let folder = tempfile::tempdir().expect("a folder");
    let ended = Spider::new(host.at("/"), &folder.path().join("table")).with(["--public-only"]).run();
    assert!(host.log().is_empty(), "{ended:?}");
    let ended = ended.unwrap_or_else(|error| panic!("{error}"));
    assert!(ended.targets("broken").is_empty(), "{}", ended.said);
}
