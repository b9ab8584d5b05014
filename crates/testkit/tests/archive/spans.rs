//! A harvest during which the archive changes, again and again, misses nothing: what it has at its end and what the next
//! one brings are together what the archive holds.

use std::collections::BTreeMap;

use modoai_protocol::xml::document::Record;
use modoai_testkit::archive::{Shape, Wanted};
use modoai_testkit::http;
use modoai_testkit::process::{Launch, Server};

use super::{Archive, told};
use crate::oai;

const BASE: u64 = 400;

/// Changes the archive: other e-prints than before have got a new version, others are gone, some are back.
fn change(archive: &Archive, round: u64) {
    let wanted = Wanted { change: 0.1, remove: 0.03, round, ..Wanted::of(BASE) };
    archive.write_generated("snapshot.json", Shape::Snapshot, wanted);
    archive.import("snapshot.json").done();
}

/// Harvests a list page by page, with something done after each page. Returns the first responseDate, from which the next
/// harvest goes on.
fn harvest(server: &Server, query: &str, copy: &mut BTreeMap<String, Record>, mut between: impl FnMut()) -> String {
    let mut client = server.client();
    let mut page = oai::ask(&mut client, query).answer;
    let since = page.response_date.clone();
    loop {
        assert!(page.errors.iter().all(|(code, _)| code == "noRecordsMatch"), "{:?}", page.errors);
        copy.extend(page.records.drain(..).map(|record| (record.identifier.clone(), record)));
        let Some(token) = page.token.take().map(|token| token.value).filter(|token| !token.is_empty()) else {
            return since;
        };
        between();
        page = oai::ask(&mut client, &format!("verb=ListRecords&resumptionToken={}", http::encode(token))).answer;
    }
}

fn filled() -> (Archive, Server) {
    let archive = Archive::preset("arxiv");
    archive.write_generated("snapshot.json", Shape::Snapshot, Wanted::of(BASE));
    archive.import("snapshot.json").done();
    let server = Launch::of_catalogue(archive.catalogue()).set("records_per_page", "60").start();
    (archive, server)
}

#[test]
fn all_of_it() {
    let (archive, server) = filled();
    let mut copy = BTreeMap::new();
    let mut round = 0;
    let query = "verb=ListRecords&metadataPrefix=oai_dc";
    let since = harvest(&server, query, &mut copy, || {
        round += 1;
        change(&archive, round);
    });
    assert!(round >= 5, "it changed {round} times");
    harvest(&server, &format!("{query}&from={since}"), &mut copy, || {});
    let whole = told(&server, "oai_dc");
    assert!(copy == whole, "{}", difference(&copy, &whole));
    assert!(whole.values().any(|record| record.deleted), "something was deleted");
}

#[test]
fn while_the_second_harvest_runs() {
    let (archive, server) = filled();
    let mut copy = BTreeMap::new();
    let mut round = 0;
    let query = "verb=ListRecords&metadataPrefix=oai_dc";
    let mut since = harvest(&server, query, &mut copy, || {});
    // Each harvest is overtaken by changes; only the last is not.
    for _ in 0..3 {
        change(&archive, 100 + round);
        since = harvest(&server, &format!("{query}&from={since}"), &mut copy, || {
            round += 1;
            change(&archive, round);
        });
    }
    harvest(&server, &format!("{query}&from={since}"), &mut copy, || {});
    let whole = told(&server, "oai_dc");
    assert!(copy == whole, "{}", difference(&copy, &whole));
}

#[test]
fn of_one_set() {
    let (archive, server) = filled();
    let mut copy = BTreeMap::new();
    let mut round = 0;
    let query = "verb=ListRecords&metadataPrefix=oai_dc&set=physics";
    let since = harvest(&server, query, &mut copy, || {
        round += 1;
        change(&archive, round);
    });
    assert!(round >= 1, "it changed {round} times");
    harvest(&server, &format!("{query}&from={since}"), &mut copy, || {});
    let mut whole = told(&server, "oai_dc");
    whole.retain(|_, record| record.sets.iter().any(|set| set.starts_with("physics:")));
    assert!(copy == whole, "{}", difference(&copy, &whole));
}

/// In a few words, how a copy differs from the archive.
fn difference(copy: &BTreeMap<String, Record>, whole: &BTreeMap<String, Record>) -> String {
    let lacking = whole.keys().filter(|name| !copy.contains_key(*name)).map(|name| format!("lacks {name}"));
    let extra = copy.keys().filter(|name| !whole.contains_key(*name)).map(|name| format!("has {name} too"));
    let other = whole.iter().filter_map(|(name, record)| {
        let mine = copy.get(name).filter(|mine| *mine != record)?;
        Some(format!("{name} is of {} (deleted: {}), not of {}", mine.datestamp, mine.deleted, record.datestamp))
    });
    lacking.chain(extra).chain(other).take(10).collect::<Vec<_>>().join("\n")
}
