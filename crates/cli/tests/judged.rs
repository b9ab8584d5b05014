//! Servers that are not ours, judged and harvested: repositories made with PyPI's `oaipmh` and `oai_repo`. What they do
//! wrong is found, all of it and nothing else; and all they have arrives nonetheless, or what does not is named.

use std::collections::BTreeSet;

use modoai_testkit::peer::{DELETED, Peer, RECORDS};
use serde_json::Value;

use crate::desk::Desk;

/// A check that must fail, and the beginning of what it must say first.
type Defect = (&'static str, &'static str);

const OF_OAIPMH: &[Defect] = &[
    // A day that was asked for is echoed as the second that the library makes of it.
    ("shape-request-arguments", "request has from='2005-06-01T00:00:00Z', but the request was sent with '2005-06-01'"),
    // It is given a dictionary; an argument that comes twice cannot be seen in it.
    ("errors-verb-repeated", "expected badVerb, received Identify"),
    ("errors-argument-repeated", "expected badArgument, received ListIdentifiers"),
    // The last page has no token at all, so that it looks like a page that was cut off.
    ("tokens-last-page", "the last of 5 pages of ListIdentifiers has no empty token"),
    // It never compares from with until.
    ("dates-reversed", "expected badArgument, received noRecordsMatch"),
    // Fractions of seconds are cut off without a word.
    ("dates-illegal", "expected badArgument, received ListIdentifiers"),
    // The schema of oai_dc is announced for the namespace of Dublin Core, which is another.
    ("records-schema-location", "the metadata has no xsi:schemaLocation for its namespace"),
];

const OF_OAI_REPO: &[Defect] = &[
    // The verb is taken out of the arguments before these are echoed.
    ("shape-request-arguments", "request lacks the attribute 'verb', which was sent"),
    // A dictionary, here too.
    ("errors-verb-repeated", "expected badVerb, received Identify"),
    ("errors-argument-repeated", "expected badArgument, received ListIdentifiers"),
    // The status of a header is never written: what was deleted is alive in ListIdentifiers, and not in ListRecords.
    ("lists-agree", "'oai:peer.example:item-7' is not in ListRecords"),
    // For the same reason, its cursor counts a record that was left out.
    ("tokens-cursor", "cursor is '10' after 9 of ListRecords"),
    // ListSets ignores its token.
    ("tokens-garbage", "expected badResumptionToken or noSetHierarchy, received ListSets"),
    // A day as the end of a range means its first second, so that all that happened on that day is left out.
    ("dates-by-day", "'oai:peer.example:item-0' is not in the list"),
    // Granularities are never compared, nor are from and until.
    ("dates-mixed", "expected badArgument, received noRecordsMatch"),
    ("dates-reversed", "expected badArgument, received noRecordsMatch"),
    // What was deleted is in the set by its header, and not in ListRecords of the set.
    ("sets-all-members", "'oai:peer.example:item-7' is missing from the list of 'mime:text:html'"),
];

#[test]
fn what_oaipmh_does_wrong_is_found() {
    judge("oaipmh", OF_OAIPMH);
}

#[test]
fn what_oai_repo_does_wrong_is_found() {
    judge("oai_repo", OF_OAI_REPO);
}

/// The libraries are installed in the versions that have these defects, so the list can be compared as a whole: a finding
/// that is not in it is either an injustice or a check that is new.
fn judge(name: &str, defects: &[Defect]) {
    let Some(peer) = Peer::start(name, &[]) else { return };
    let ended = Desk::new().run(&["validate", peer.url(), "--json"]);
    assert_eq!(ended.status, 2, "{}{}", ended.stdout, ended.stderr);
    let report: Value = serde_json::from_str(&ended.stdout).expect("JSON");
    let outcomes = report["outcomes"].as_array().expect("a list");
    let failures: Vec<_> = outcomes.iter().filter(|outcome| outcome["grade"] == "failure").collect();
    let ids: Vec<_> = failures.iter().filter_map(|outcome| outcome["id"].as_str()).collect();
    assert_eq!(ids, defects.iter().map(|(id, _)| *id).collect::<Vec<_>>(), "{}", ended.stdout);
    let said = format!("modoai: {} does not conform: failures: {}, warnings: ", peer.url(), defects.len());
    assert!(ended.stderr.starts_with(&said), "{}", ended.stderr);
    for (outcome, (id, expected)) in failures.iter().zip(defects) {
        let first = &outcome["findings"][0];
        assert!(first["message"].as_str().is_some_and(|it| it.starts_with(expected)), "{id}: {first}");
        assert!(first["request"].as_str().is_some_and(|it| it.starts_with(peer.url())), "{id}: {first}");
    }
    assert_eq!(peer.complaints(), "", "the judge's questions are answered, not stumbled over");
}

#[test]
fn all_that_oaipmh_has_is_harvested() {
    let Some(peer) = Peer::start("oaipmh", &[]) else { return };
    let (status, report, identifiers) = harvest(&peer);
    assert_eq!((status, &report["complete"], &report["deleted"]), (0, &true.into(), &1.into()), "{report}");
    assert_eq!(report["records"], RECORDS);
    assert_eq!(identifiers.len(), RECORDS + 1);
    assert!(identifiers.contains(&(DELETED.to_owned(), true)));
}

#[test]
fn all_that_oai_repo_has_is_harvested() {
    let Some(peer) = Peer::start("oai_repo", &["--without-deletions"]) else { return };
    let (status, report, identifiers) = harvest(&peer);
    assert_eq!((status, &report["complete"]), (0, &true.into()), "{report}");
    assert_eq!((&report["records"], identifiers.len()), (&RECORDS.into(), RECORDS));
}

/// What is listed as alive and never given is missing: nobody can know that it was deleted.
#[test]
fn what_oai_repo_lists_and_does_not_give_is_named() {
    let Some(peer) = Peer::start("oai_repo", &[]) else { return };
    let (status, report, identifiers) = harvest(&peer);
    assert_eq!((status, &report["complete"]), (3, &false.into()), "{report}");
    let missing = report["missing"].as_array().expect("a list");
    assert_eq!((missing.len(), &missing[0]["identifier"]), (1, &DELETED.into()), "{report}");
    assert_eq!((&report["records"], identifiers.len()), (&RECORDS.into(), RECORDS));
}

/// How a harvest ended, what it reported, and the identifiers that arrived, each with whether it was deleted.
fn harvest(peer: &Peer) -> (i32, Value, BTreeSet<(String, bool)>) {
    let desk = Desk::new();
    let ended = desk.run(&["harvest", peer.url(), "--into", "harvest", "--sink", "jsonl", "--json"]);
    let report = serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"));
    let lines = desk.run(&["records", "harvest", "--json", "--versions"]).printed();
    let mut identifiers = BTreeSet::new();
    for line in lines.lines() {
        let record: Value = serde_json::from_str(line).expect("a line is JSON");
        let identifier = record["identifier"].as_str().expect("a record has one").to_owned();
        // The titles have what XML must escape, and more than ASCII, which oai_repo writes as references; all is kept as
        // it came.
        let metadata = record["metadata"].as_str().unwrap_or_default().replace("&#250;", "ú");
        let whole = metadata.contains("<dc:title>Número ") && metadata.contains("&gt; &amp; more</dc:title>");
        let deleted = record["deleted"] == true;
        assert!(deleted || whole, "{line}");
        assert!(identifiers.insert((identifier, deleted)), "twice: {line}");
    }
    assert_eq!(peer.complaints(), "");
    (ended.status, report, identifiers)
}
