//! A catalogue of harvested records, served and asked: an aggregator by the command line.

use modoai_testkit::process::Launch;
use modoai_testkit::waiting::wait_until;
use modoai_testkit::xsd;

use crate::desk::Desk;

const RECORDS: &str = "verb=ListRecords&metadataPrefix=oai_dc";

fn harvest(desk: &Desk, url: &str, into: &str) {
    let base_url = format!("{url}/modoai");
    let ended = desk.run(&["--quiet", "harvest", &base_url, "--into", into, "--sink", "catalogue", "--json"]);
    assert_eq!(ended.status, 0, "{}{}", ended.stdout, ended.stderr);
}

#[test]
fn what_was_harvested_is_served_and_asked_and_harvested_again() {
    let desk = Desk::new();
    let site = desk.serve();
    harvest(&desk, site.url(), "all");
    let mut server = Launch::of_catalogue(desk.at("all/catalogue.sqlite")).start();
    let url = server.url().to_owned();
    let expected = format!(
        "serving {}\n  repository  {url}/modoai\nlistening on {url}\n",
        desk.at("all/catalogue.sqlite").display()
    );
    assert!(server.said().contains(&expected), "{}", server.said());

    let mut client = server.client();
    let mut get = |path: &str| client.get(path).expect("an answer");
    let records = get(&format!("/modoai?{RECORDS}")).text();
    xsd::expect_valid("records", &records);
    assert_eq!(records.matches("<provenance ").count(), 3, "{records}");
    assert!(records.contains(&format!("<identifier>{}/docs/b.txt</identifier>", site.url())), "{records}");
    assert_eq!(get("/healthz").status, 200);
    assert_eq!(get("/").status, 302);
    assert_eq!(get("/a.txt").status, 404, "there is no site");

    // A harvest into it is seen at once.
    desk.write("site/new.txt", "new");
    let changed = || site.client().get(&format!("/modoai?{RECORDS}")).expect("an answer").text().contains("/new.txt<");
    wait_until("the new file is listed", changed);
    harvest(&desk, site.url(), "all");
    assert!(get(&format!("/modoai?{RECORDS}")).text().contains("/new.txt</identifier>"));

    // And an aggregator of the aggregator knows both.
    harvest(&desk, &url, "chain");
    let chain = desk.run(&["ask", "--catalogue", "chain/catalogue.sqlite", RECORDS]).printed();
    xsd::expect_valid("a chain", &chain);
    assert_eq!(chain.matches("<originDescription ").count(), 8, "{chain}");

    server.signal("TERM");
    assert_eq!(server.wait().code(), Some(0), "{}", server.said());
}

#[test]
fn a_folder_and_a_catalogue_are_told_apart() {
    let desk = Desk::new();
    desk.run_on_site("index", &[]);
    for (arguments, status, words) in [
        (&["serve", "site", "--catalogue", "x"][..], 64, "DIR cannot be used with --catalogue"),
        (&["serve", "--data", "state", "--catalogue", "x"], 64, "--data cannot be used with --catalogue"),
        (&["ask", "site", "--catalogue", "x", "verb=Identify"], 64, "DIR cannot be used with --catalogue"),
        (&["serve"], 64, "give the directory DIR, or a catalogue of records with --catalogue FILE"),
        (&["ask", "verb=Identify"], 64, "give the directory DIR, or a catalogue"),
        (&["serve", "--catalogue", "nowhere.sqlite"], 1, "catalogue nowhere.sqlite not found"),
        (&["ask", "--catalogue", "state/catalogue.sqlite", "verb=Identify"], 1, "contains the files of a directory"),
    ] {
        let ended = desk.run(arguments);
        assert_eq!(ended.status, status, "{arguments:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(words), "{arguments:?}: {}", ended.stderr);
    }
    // What cannot be served is no good configuration either.
    let check = |catalogue: &str| {
        desk.run(&["serve", "--catalogue", catalogue, "--option", "repository_name=\"All\"", "--check-config"])
    };
    let missing = "modoai: catalogue nope not found\n  hint: create one with `modoai import`, or with `modoai \
        harvest --sink catalogue`";
    check("nope").failed(1, missing);
    assert!(check("state/catalogue.sqlite").stderr.contains("contains the files of a directory"));
    desk.write("a.jsonl", "{\"identifier\":\"1\",\"title\":\"One\"}\n");
    assert_eq!(desk.run(&["import", "a.jsonl", "--namespace", "example.org", "--into", "archive"]).status, 0);
    assert_eq!(check("archive").printed(), "the configuration is valid\n");
}
