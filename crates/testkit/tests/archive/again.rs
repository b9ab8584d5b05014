//! Second imports: what did not change keeps its datestamp, what did moves it, what is gone leaves a tombstone.

use std::collections::BTreeMap;

use modoai_protocol::xml::document::Record;
use modoai_testkit::archive::{Shape, Wanted};
use serde_json::{Value, json};

use super::{Archive, PLAIN, here_and_now, identifiers, metadata, now, record, record_with, told};
use crate::oai;

fn in_set(identifier: &str, title: &str, set: &str) -> Value {
    record_with(identifier, title, json!({ "sets": [set] }))
}

#[test]
fn an_unchanged_file_touches_nothing() {
    let archive = Archive::preset("arxiv");
    archive.write_generated("snapshot.json", Shape::Snapshot, Wanted::of(400));
    archive.import("snapshot.json").done().expect(&[("new", 400)]);
    let before = archive.told();
    for _ in 0..2 {
        archive.import("snapshot.json").done().expect(&[("unchanged", 400)]);
    }
    assert_eq!(archive.told(), before);
}

#[test]
fn a_deleted_paper_in_the_shape_of_arxiv_is_a_tombstone() {
    let archive = Archive::preset("arxiv");
    let paper = |id: &str, title: &str| {
        let versions = json!([{ "version": "v1", "created": "Mon, 2 Apr 2007 19:18:42 GMT" }]);
        json!({ "id": id, "title": title, "categories": "hep-th", "update_date": "2008-11-26", "versions": versions })
    };
    archive.write_lines("snapshot.json", &[paper("0704.0001", r"R\&D by Nguy\~{\^e}n"), paper("0704.0002", "Two")]);
    archive.import("snapshot.json").with(["--as", "arxiv"]).done().expect(&[("new", 2)]);
    let server = archive.serve();
    assert!(metadata(&told(&server, "oai_dc")["oai:arXiv.org:0704.0001"]).contains("R&amp;D by Nguyễn"));
    archive.write_lines(
        "snapshot.json",
        &[
            paper("0704.0001", "One"),
            json!({ "id": "0704.0002", "deleted": true, "title": "Two", "categories": "hep-th" }),
        ],
    );
    archive.import("snapshot.json").with(["--as", "arxiv"]).done().expect(&[("changed", 1), ("gone", 1)]);
    let records = told(&server, "oai_dc");
    assert!(!records["oai:arXiv.org:0704.0001"].deleted && records["oai:arXiv.org:0704.0002"].deleted);
}

#[test]
fn the_order_of_lines_and_of_fields_means_nothing_to_harvesters() {
    let archive = Archive::configured(PLAIN);
    archive.fill(&[record("1", "One"), record("2", "Two"), record("3", "Three")]);
    let before = archive.told();
    archive.fill(&[record("3", "Three"), record("1", "One"), record("2", "Two")]).expect(&[("unchanged", 3)]);
    assert_eq!(archive.told(), before);
    // Other bytes, the same record: nothing that a harvester could see has changed.
    let line = |number: u8, title: &str| {
        format!("{{ \"datestamp\": \"2001-02-03\", \"title\": \"{title}\",  \"identifier\": \"{number}\" }}\n")
    };
    archive.write("records.jsonl", [line(1, "One"), line(2, "Two"), line(3, "Three")].concat());
    let imported = archive.import("records.jsonl").done();
    assert_eq!(imported.count("new") + imported.count("gone"), 0);
    assert_eq!(archive.told(), before);
}

#[test]
fn what_changed_is_new_or_gone_moves_and_nothing_else() {
    let archive = Archive::configured(PLAIN);
    archive.fill(&[
        in_set("1", "One", "a:x"),
        in_set("2", "Two", "a:y"),
        in_set("3", "Three", "b"),
        in_set("4", "Four", "a:x"),
    ]);
    let before = archive.told();
    let moment = here_and_now();
    archive.write_lines(
        "records.jsonl",
        // Its own date does not matter any more: what counts is when harvesters could first see it.
        &[in_set("1", "One", "a:x"), in_set("2", "Two, revised", "a:y"), in_set("5", "Five", "b")],
    );
    let imported = archive.import("records.jsonl").with(["--max-deleted", "60%"]).done();
    imported.expect(&[("new", 1), ("changed", 1), ("unchanged", 1), ("gone", 2)]);

    let server = archive.serve();
    let after = told(&server, "oai_dc");
    assert_eq!(after["oai:example.org:1"], before["oai:example.org:1"]);
    for number in 2..=5 {
        let record = &after[&format!("oai:example.org:{number}")];
        assert!(record.datestamp >= moment, "{record:?} is stamped before {moment}");
    }
    assert!(metadata(&after["oai:example.org:2"]).contains("Two, revised"));
    for (gone, set) in [("oai:example.org:3", "b"), ("oai:example.org:4", "a:x")] {
        let tombstone = &after[gone];
        assert!(tombstone.deleted && tombstone.metadata.is_none() && tombstone.about.is_empty(), "{tombstone:?}");
        assert_eq!(tombstone.sets, [set], "a tombstone keeps its sets");
    }

    // In the right set and range.
    let list =
        |selection: &str| identifiers(&server, &format!("verb=ListIdentifiers&metadataPrefix=oai_dc{selection}"));
    let named = |numbers: &[u8]| numbers.iter().map(|number| format!("oai:example.org:{number}")).collect::<Vec<_>>();
    assert_eq!(list(&format!("&from={moment}")), named(&[2, 3, 4, 5]));
    assert_eq!(list(&format!("&from={moment}&set=a")), named(&[2, 4]));
    assert_eq!(list(&format!("&from={moment}&set=a:x")), named(&[4]));
    assert_eq!(list("&set=b"), named(&[3, 5]));
    assert_eq!(list("&until=2001-02-03"), named(&[1]));
}

#[test]
fn what_is_gone_comes_back() {
    let archive = Archive::configured(PLAIN);
    let all = [record("1", "One"), record("2", "Two")];
    archive.fill(&all);
    archive.write_lines("records.jsonl", &all[..1]);
    archive.import("records.jsonl").with(["--max-deleted", "50%"]).done().expect(&[("unchanged", 1), ("gone", 1)]);
    let tombstone = archive.told().remove("oai:example.org:2").expect("a tombstone");
    assert!(tombstone.deleted);
    // Nobody deletes twice.
    archive.import("records.jsonl").done().expect(&[("unchanged", 1)]);
    assert_eq!(archive.told()["oai:example.org:2"], tombstone);

    archive.fill(&all).expect(&[("unchanged", 1), ("back", 1)]);
    let back = archive.told().remove("oai:example.org:2").expect("it is back");
    assert!(!back.deleted && back.datestamp >= tombstone.datestamp, "{back:?}");
    assert!(metadata(&back).contains("Two"));
}

#[test]
fn a_record_can_say_that_it_is_deleted() {
    let archive = Archive::configured(PLAIN);
    let gone = json!({ "identifier": "2", "deleted": true, "datestamp": "2002-02-02", "sets": ["a"] });
    archive.fill(&[in_set("1", "One", "a"), gone.clone()]);
    let first = archive.told();
    let tombstone = &first["oai:example.org:2"];
    assert!(tombstone.deleted && tombstone.metadata.is_none(), "{tombstone:?}");
    assert_eq!(tombstone.sets, ["a"]);
    archive.fill(&[in_set("1", "One", "a"), gone.clone()]);
    assert_eq!(archive.told(), first, "it is as deleted as it was");

    let moment = here_and_now();
    archive.fill(&[json!({ "identifier": "1", "deleted": true, "sets": ["a"] }), gone]);
    let then = archive.told();
    assert!(then["oai:example.org:1"].deleted && then["oai:example.org:1"].datestamp >= moment);
    assert_eq!(then["oai:example.org:1"].sets, ["a"]);
    assert_eq!(then["oai:example.org:2"], first["oai:example.org:2"]);
}

/// A line of arXiv's snapshot.
fn eprint(versions: &[&str], comments: &str, updated: &str) -> String {
    let versions: Vec<Value> = versions
        .iter()
        .enumerate()
        .map(|(number, created)| json!({ "version": format!("v{}", number + 1), "created": created }))
        .collect();
    json!({
        "id": "0704.0001", "submitter": "A. Author", "authors": "A. Author", "title": "A title", "comments": comments,
        "journal-ref": null, "doi": null, "report-no": null, "categories": "hep-ph", "license": null,
        "abstract": "  An abstract.\n", "versions": versions, "update_date": updated,
        "authors_parsed": [["Author", "A.", ""]],
    })
    .to_string()
}

#[test]
fn withdrawn_is_an_ordinary_new_version() {
    let archive = Archive::preset("arxiv");
    let first = "Mon, 2 Apr 2007 19:18:42 GMT";
    archive.write("snapshot.json", eprint(&[first], "12 pages", "2007-04-03"));
    archive.import("snapshot.json").done();
    let moment = here_and_now();
    let second = "Tue, 24 Jul 2007 20:10:27 GMT";
    let notice = "This paper has been withdrawn by the author";
    archive.write("snapshot.json", eprint(&[first, second], notice, "2007-07-25"));
    archive.import("snapshot.json").done().expect(&[("changed", 1)]);

    let server = archive.serve();
    for prefix in ["oai_dc", "arXiv", "arXivRaw"] {
        let withdrawn = told(&server, prefix).remove("oai:arXiv.org:0704.0001").expect("it is there");
        assert!(!withdrawn.deleted, "{prefix}");
        assert!(withdrawn.datestamp >= moment, "{prefix}: {}", withdrawn.datestamp);
        assert!(metadata(&withdrawn).contains(notice), "{prefix}: {}", metadata(&withdrawn));
    }
    let raw = told(&server, "arXivRaw").remove("oai:arXiv.org:0704.0001").expect("it is there");
    assert!(metadata(&raw).contains("version=\"v2\""), "{}", metadata(&raw));
}

#[test]
fn another_set_moves_the_datestamp() {
    let archive = Archive::configured(PLAIN);
    archive.fill(&[in_set("1", "One", "a"), in_set("2", "Two", "a")]);
    let before = archive.told();
    let moment = here_and_now();
    archive.fill(&[in_set("1", "One", "b"), in_set("2", "Two", "a")]).expect(&[("changed", 1), ("unchanged", 1)]);
    let server = archive.serve();
    let after = told(&server, "oai_dc");
    assert!(after["oai:example.org:1"].datestamp >= moment);
    assert_eq!(after["oai:example.org:1"].sets, ["b"]);
    assert_eq!(after["oai:example.org:2"], before["oai:example.org:2"]);
    let query = format!("verb=ListIdentifiers&metadataPrefix=oai_dc&set=b&from={moment}");
    assert_eq!(identifiers(&server, &query), ["oai:example.org:1"]);
}

#[test]
fn an_update_only_adds_and_changes() {
    let archive = Archive::configured(PLAIN);
    archive.fill(&[record("1", "One"), record("2", "Two")]);
    let before = archive.told();
    archive.write_lines("update.jsonl", &[record("2", "Two, revised"), record("3", "Three")]);
    archive.import("update.jsonl").with(["--update"]).done().expect(&[("new", 1), ("changed", 1)]);
    let after = archive.told();
    assert_eq!(after.len(), 3);
    assert_eq!(after["oai:example.org:1"], before["oai:example.org:1"]);
    assert!(after.values().all(|record| !record.deleted));
}

#[test]
fn each_source_misses_only_its_own() {
    let archive = Archive::configured(PLAIN);
    archive.write_lines("theses.jsonl", &[record("t1", "A thesis"), record("t2", "Another")]);
    archive.write_lines("maps.jsonl", &[record("m1", "A map"), record("m2", "Another")]);
    let import = |name: &str| archive.import(&format!("{name}.jsonl")).with(["--source", name, "--max-deleted", "50%"]);
    import("theses").done().expect(&[("new", 2)]);
    import("maps").done().expect(&[("new", 2)]);
    archive.write_lines("maps.jsonl", &[record("m1", "A map")]);
    import("maps").done().expect(&[("unchanged", 1), ("gone", 1)]);
    import("theses").done().expect(&[("unchanged", 2)]);
    let told = archive.told();
    let deleted: Vec<_> = told.values().filter(|record| record.deleted).map(|record| &record.identifier).collect();
    assert_eq!(deleted, ["oai:example.org:m2"]);
}

#[test]
fn a_server_tells_of_an_import_at_once() {
    let archive = Archive::configured(PLAIN);
    archive.fill(&[record("1", "One")]);
    let server = archive.serve();
    assert_eq!(told(&server, "oai_dc").len(), 1);
    let moment = now(&server);
    archive.fill(&[record("1", "One"), record("2", "Two")]);
    let query = format!("verb=ListRecords&metadataPrefix=oai_dc&from={moment}");
    let fresh = oai::harvest(&mut server.client(), &query);
    assert_eq!(fresh.iter().map(|record| record.identifier.as_str()).collect::<Vec<_>>(), ["oai:example.org:2"]);
}

#[test]
fn an_incremental_harvest_follows_a_changing_archive() {
    let archive = Archive::preset("arxiv");
    let base = Wanted::of(300);
    archive.write_generated("snapshot.json", Shape::Snapshot, base);
    archive.import("snapshot.json").done();
    let server = archive.serve();
    let (mut copy, mut since) = (told(&server, "oai_dc"), now(&server));
    for round in 1..=4 {
        archive.write_generated("snapshot.json", Shape::Snapshot, Wanted { change: 0.05, remove: 0.02, round, ..base });
        archive.import("snapshot.json").done();
        let next = now(&server);
        let query = format!("verb=ListRecords&metadataPrefix=oai_dc&from={since}");
        let news = oai::harvest(&mut server.client(), &query);
        assert!(news.len() < 100, "round {round}: {} records moved", news.len());
        copy.extend(news.into_iter().map(|record| (record.identifier.clone(), record)));
        since = next;
        let whole: BTreeMap<String, Record> = told(&server, "oai_dc");
        assert!(copy == whole, "round {round}: the copy is not the archive");
    }
}

#[test]
fn an_import_that_says_nothing_of_the_archive_goes_by_what_is_remembered() {
    let archive = Archive::configured("repository_identifier = \"example.org\"\nformats = [\"mods\"]\n");
    archive.fill(&[record("1", "One"), record("2", "Two")]);
    let before = archive.told();
    let archive = Archive { options: Vec::new(), ..archive };
    let imported = archive.fill(&[record("1", "One"), record("2", "Two"), record("3", "Three")]);
    imported.expect(&[("new", 1), ("unchanged", 2)]);
    assert_eq!(imported.count("recast"), 0);
    let mods = told(&archive.serve(), "mods");
    assert_eq!(mods.len(), 3);
    assert!(before.iter().all(|(name, record)| mods[name].datestamp == record.datestamp));
}

/// Imports into the same catalogue that say nothing of the archive.
fn unsaid(archive: Archive) -> Archive {
    Archive { options: Vec::new(), ..archive }
}

#[test]
fn a_namespace_alone_changes_nothing_else() {
    let archive = Archive::configured(
        "repository_identifier = \"example.org\"\nformats = [\"mods\"]\n[[sets]]\nfield = \"shelf\"\n",
    );
    archive.fill(&[record_with("1", "One", json!({ "shelf": "a" })), record("2", "Two")]);
    let before = told(&archive.serve(), "mods");
    let archive = unsaid(archive);
    archive.write_lines("more.jsonl", &[record_with("3", "Three", json!({ "shelf": "b" }))]);
    let imported = archive.import("more.jsonl").with(["--update", "--namespace", "other.example.org"]).done();
    imported.expect(&[("new", 1)]);
    assert_eq!(imported.count("recast"), 0, "{}", imported.report);
    assert!(imported.report.get("withdrawn").is_none(), "{}", imported.report);
    let mut after = told(&archive.serve(), "mods");
    let new = after.remove("oai:other.example.org:3").expect("under its new name");
    assert_eq!(new.sets, ["b"]);
    assert_eq!(after, before);
}

#[test]
fn an_import_that_says_nothing_of_its_source_reads_it_as_before() {
    let archive = Archive::configured(
        "repository_identifier = \"example.org\"\n[source]\nas = \"xml\"\nnamespace = \"urn:book\"\nprefix = \"book\"\n\
         schema = \"https://example.org/book.xsd\"\nidentifier = \"number\"\n[source.fields]\ntitle = \"title\"\n",
    );
    let book = |number: u32, title: &str| {
        format!("<book xmlns='urn:book'><number>{number}</number><title>{title}</title></book>")
    };
    archive.write("in/1.xml", book(17, "Rings"));
    archive.write("in/2.xml", book(18, "Fields"));
    archive.import("in").done().expect(&[("new", 2)]);
    let before = told(&archive.serve(), "book");
    assert_eq!(before.keys().collect::<Vec<_>>(), ["oai:example.org:17", "oai:example.org:18"]);
    let archive = unsaid(archive);
    archive.import("in").done().expect(&[("unchanged", 2)]);
    archive.import("in").with(["--namespace", "example.org"]).done().expect(&[("unchanged", 2)]);
    assert_eq!(told(&archive.serve(), "book"), before);
    // Of another source, nothing was ever said.
    archive.write_lines("records.jsonl", &[record("1", "One")]);
    archive.import("records.jsonl").with(["--source", "lines"]).done().expect(&[("new", 1)]);
    archive.import("in").done().expect(&[("unchanged", 2)]);
}
