//! Flow control of `modoai serve`.

use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use modoai_testkit::http::{BROWSER, Client};
use modoai_testkit::process::{Launch, Server, binary};
use modoai_testkit::site::TestSite;
use modoai_testkit::waiting::wait_for;

use super::{Story, ask_politely, expect_a_delay_for_every_kind, harvest, told};
use crate::harvest::Harvest;

const LIST: &str = "/modoai?verb=ListIdentifiers&metadataPrefix=oai_dc";

fn site(files: usize) -> TestSite {
    let site = TestSite::default();
    for number in 0..files {
        site.write(format!("{number}.txt"), format!("file {number}"));
    }
    site
}

/// What is noted of harvesters, once the first of them got so many records: it is noted when all of a page has been sent, which is
/// a moment after it has arrived.
fn noted(server: &Server, records: u64) -> serde_json::Value {
    wait_for("the records are noted", || {
        let told = Command::new(binary()).arg("harvesters").arg("--data").arg(server.state()).arg("--json").output();
        let told: serde_json::Value = serde_json::from_slice(&told.expect("it can be run").stdout).expect("JSON");
        if told["harvesters"][0]["records"].as_u64() == Some(records) { Ok(told) } else { Err(told) }
    })
}

/// So many harvesters at once, so many pages each.
fn at_once(url: &str, harvesters: usize, pages: usize) -> Vec<Story> {
    thread::scope(|scope| {
        let one = || harvest(&mut Client::new(url), pages);
        let all: Vec<_> = (0..harvesters).map(|_| scope.spawn(one)).collect();
        all.into_iter().map(|one| one.join().expect("no panic")).collect()
    })
}

#[test]
fn delay_is_kept_by_clients_that_share_an_account() {
    let site = site(40);
    let server = Launch::of(site.path()).set("list_delay", "1s").set("identifiers_per_page", "20").start();
    let begun = Instant::now();
    let stories = at_once(server.url(), 6, 2);
    assert!(stories.iter().all(|story| (story.pages, story.records) == (2, 40)), "{stories:?}");
    // Twelve pages at one second each, of which some may come together.
    assert!(begun.elapsed() > Duration::from_secs(3), "{:?}: {stories:?}", begun.elapsed());
}

#[test]
fn every_client_gets_all_records_while_few_lists_may_be_in_progress() {
    let site = site(400);
    let launch = Launch::of(site.path()).set("identifiers_per_page", "100");
    let server = launch.set("lists_per_harvester", "2").set("lists_at_once", "3").start();
    let stories = at_once(server.url(), 24, 4);
    assert!(stories.iter().all(|story| story.records == 400), "{stories:?}");
}

#[test]
fn what_every_harvester_needs_first_is_always_answered() {
    let site = site(3);
    let server = Launch::of(site.path()).set("list_delay", "1h").set("records_per_hour", "1").start();
    let mut client = server.client();
    assert_eq!(client.get(LIST).expect("an answer").status, 200);
    let seconds = told(&client.get(LIST).expect("an answer")).expect("too early");
    assert!((3_500..=11_000).contains(&seconds), "{seconds}");
    for query in ["verb=Identify", "verb=ListMetadataFormats", "verb=Nonsense", ""] {
        assert_eq!(client.get(&format!("/modoai?{query}")).expect("an answer").status, 200, "{query}");
    }
    assert_eq!(client.get("/0.txt").expect("an answer").text(), "file 0");
    // By POST it is the same request.
    let posted = client.post_form("/modoai", "verb=ListIdentifiers&metadataPrefix=oai_dc").expect("an answer");
    assert!(told(&posted).is_some());
}

#[test]
fn delay_between_requests_holds_for_every_kind() {
    let site = site(3);
    let rows = r#"[{ name = "BASE", agent = "base", request_delay = 0 }]"#;
    let server = Launch::of(site.path()).set("request_delay", "1h").set("harvester", rows).start();
    let mut client = server.client();
    assert_eq!(client.get("/modoai?verb=Identify").expect("an answer").status, 200);
    expect_a_delay_for_every_kind(server.url());
    let status = |_| client.get_with(LIST, &[("User-Agent", "BASE/2")]).expect("an answer").status;
    assert_eq!([0, 1].map(status), [200, 200], "a known harvester has a delay of its own");
}

#[test]
fn budgets_outlive_the_server_that_kept_them() {
    const OTHER_LIST: &str = "/modoai?verb=ListIdentifiers&metadataPrefix=http_header";
    let (site, state) = (site(100), tempfile::tempdir().expect("a folder"));
    let launch = |key: &str, value: &str| Launch::of(site.path()).state(state.path()).set(key, value).start();
    let ask = |server: &Server, list: &str| server.client().get(list).expect("an answer");
    let server = launch("list_delay", "1h");
    assert_eq!(ask(&server, LIST).status, 200);
    server.kill();
    let server = launch("list_delay", "1h");
    let seconds = told(&ask(&server, LIST)).expect("another process knows");
    assert!((3_000..=3_600).contains(&seconds), "{seconds}");
    server.kill();
    // A shorter delay applies at once.
    let server = launch("list_delay", "1s");
    let mut waits = Vec::new();
    ask_politely(&mut server.client(), LIST, &mut waits);
    assert!(waits.iter().all(|seconds| *seconds <= 2), "{waits:?}");
    server.kill();
    // A hundred records at ten an hour.
    let server = launch("records_per_hour", "10");
    assert_eq!(ask(&server, OTHER_LIST).status, 200);
    server.kill();
    let server = launch("records_per_hour", "10");
    let seconds = told(&ask(&server, OTHER_LIST)).expect("another process knows");
    assert!((30_000..=32_760).contains(&seconds), "{seconds}");
    server.kill();
    // What was taken counts at most as the whole new budget.
    let mut waits = Vec::new();
    ask_politely(&mut launch("records_per_hour", "1000000").client(), OTHER_LIST, &mut waits);
    assert!(waits.iter().all(|seconds| *seconds == 1), "{waits:?}");
}

#[test]
fn client_that_ignores_retry_after_is_answered_slowly() {
    let site = site(3);
    let server = Launch::of(site.path()).set("list_delay", "1h").start();
    let mut client = server.client();
    assert_eq!(client.get(LIST).expect("an answer").status, 200);
    assert!(told(&client.get(LIST).expect("an answer")).is_some());
    let begun = Instant::now();
    for _ in 0..10 {
        assert!(told(&client.get(LIST).expect("an answer")).is_some());
    }
    assert!(begun.elapsed() >= Duration::from_secs(1), "{:?}", begun.elapsed());
    // Other requests are not delayed by that.
    assert_eq!(client.get("/modoai?verb=Identify").expect("an answer").status, 200);
}

#[test]
fn budgets_hold_in_one_process_if_the_ledger_cannot_be_used() {
    let (site, state) = (site(10), tempfile::tempdir().expect("a folder"));
    std::fs::create_dir(state.path().join("catalogue.sqlite-flow")).expect("a folder in its place");
    let server = Launch::of(site.path()).state(state.path()).set("list_delay", "1h").start();
    let mut client = server.client();
    assert_eq!(client.get(LIST).expect("an answer").status, 200);
    assert!(told(&client.get(LIST).expect("an answer")).is_some());
    let said = server.said();
    assert!(said.contains("limits apply to each process separately"), "{said}");
}

#[test]
fn modoai_harvest_gets_everything_on_a_tight_budget() {
    let (site, copy) = (site(60), tempfile::tempdir().expect("a folder"));
    let server = Launch::of(site.path()).set("list_delay", "1s").set("records_per_page", "20").start();
    let begun = Instant::now();
    Harvest::new(&format!("{}/modoai", server.url()), copy.path(), "mirror").complete();
    assert!(begun.elapsed() >= Duration::from_secs(2), "{:?}", begun.elapsed());
    assert_eq!(std::fs::read_to_string(copy.path().join("59.txt")).expect("a copy"), "file 59");
}

#[test]
fn a_proxy_is_believed_if_it_is_trusted_and_rows_are_heeded() {
    let site = site(3);
    let rows = r#"[{ name = "BASE", agent = "base", networks = "192.0.2.0/24", list_delay = 0 }]"#;
    let launch = || Launch::of(site.path()).set("list_delay", "1h").set("harvester", rows);
    let server = launch().set("trusted_proxies", "127.0.0.1").start();
    let mut client = server.client();
    let mut status = |from: &str, agent: &str| {
        let headers = [("X-Forwarded-For", from), ("User-Agent", agent)];
        client.get_with(LIST, &headers).expect("an answer").status
    };
    assert_eq!((status("198.51.100.1", "x"), status("198.51.100.2", "x")), (200, 503));
    assert_eq!(status("203.0.113.1, 127.0.0.1", "x"), 200);
    assert_eq!((status("192.0.2.1", "BASE/2"), status("192.0.2.9", "BASE/2")), (200, 200));
    assert_eq!((status("192.0.2.1", "other"), status("192.0.2.1", "other")), (200, 503));
    let server = launch().start();
    let mut client = server.client();
    let mut status = |from: &str| client.get_with(LIST, &[("X-Forwarded-For", from)]).expect("an answer").status;
    assert_eq!((status("198.51.100.1"), status("203.0.113.1")), (200, 503), "anybody could say that");
}

#[test]
fn pages_for_people_are_no_way_around() {
    let site = site(120);
    let server = Launch::of(site.path()).set("list_delay", "1h").start();
    let mut client = server.client();
    let mut open = |query: &str| client.get_with(&format!("/modoai?{query}"), &[BROWSER]).expect("an answer");
    let begun = "verb=ListIdentifiers&metadataPrefix=oai_dc";
    let first = open(begun);
    let link = first.text().split_once("resumptionToken=").map(|(_, rest)| rest.to_owned()).expect("a next page");
    let token = link.split('"').next().expect("its end").to_owned();
    let next = format!("verb=ListIdentifiers&resumptionToken={token}");
    // A person may look at the beginning of as many lists as they like.
    assert_eq!([open(begun).status, open("verb=ListSets").status], [200; 2]);
    // Who goes on is a harvester, also if a form has sent what was left empty.
    assert_eq!([open(&next).status, open(&next).status, open(&format!("{next}&from=")).status], [200, 503, 503]);
    noted(&server, 50);
    drop(server);

    // What is shown is charged.
    let server = Launch::of(site.path()).set("records_per_hour", "90").start();
    let mut client = server.client();
    let mut status = || client.get_with(&format!("/modoai?{begun}"), &[BROWSER]).expect("an answer").status;
    assert_eq!([status(), status(), status()], [200, 200, 503]);
}

#[test]
fn who_harvested_what_is_noted() {
    let site = site(50);
    // Longer than a client takes from one page to the next on any machine.
    let server = Launch::of(site.path()).set("list_delay", "5s").set("identifiers_per_page", "25").start();
    let story = harvest(&mut server.client(), 9);
    assert_eq!((story.pages, story.records), (2, 50));
    // Pages for people are nobody's business.
    server.client().get_with("/modoai?verb=Identify", &[BROWSER]).expect("an answer");
    let told = noted(&server, 50);
    let one = &told["harvesters"][0];
    assert_eq!(one["harvester"], "127.0.0.0/24", "{told}");
    assert_eq!(one["refused"].as_u64(), Some(story.waits.len() as u64), "{told}");
    assert!(!story.waits.is_empty(), "{story:?}");
    assert_eq!(told["harvesters"].as_array().map(Vec::len), Some(1), "{told}");
}
