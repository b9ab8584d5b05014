//! An operator who changes the terms: formats that come, go, become rare or common, and minds that are changed again.

use modoai_testkit::waiting::wait_until;
use serde_json::json;

use super::{Archive, here_and_now, identifiers, metadata, record, record_with, told};
use crate::oai;

const OLD: &str = "2001-02-03T00:00:00Z";

/// A configuration with the format `mine`, and more lines for its table.
fn mine(more: &str) -> String {
    format!(
        "repository_identifier = \"example.org\"\n{more}\n[[format]]\nprefix = \"mine\"\ntemplate = \"mine.xml\"\n\
         schema = \"https://example.org/mine.xsd\"\nnamespace = \"urn:mine\"\n"
    )
}

fn template(text: &str) -> String {
    format!("<mine xmlns=\"urn:mine\">{text}</mine>\n")
}

/// Three records, of which the first has a DOI and the third is deleted, in a format that every record has.
fn archive() -> Archive {
    let archive = Archive::configured(&mine(""));
    archive.write("mine.xml", template("{{ title }} {{ doi }}"));
    let records = [record_with("1", "One", json!({ "doi": "10.5555/one" })), record("2", "Two"), record("3", "Three")];
    archive.fill(&records);
    archive.write_lines("records.jsonl", &records[..2]);
    archive.import("records.jsonl").with(["--accept-deletions"]).done().expect(&[("gone", 1), ("unchanged", 2)]);
    archive
}

#[test]
fn a_format_that_becomes_rare_loses_no_deletion() {
    let archive = archive();
    let before = told(&archive.serve(), "mine");
    let moment = here_and_now();
    archive.write("archive.toml", mine("") + "requires = [\"doi\"]\n");
    archive.import("records.jsonl").done();
    let after = told(&archive.serve(), "mine");
    assert_eq!(after["oai:example.org:1"], before["oai:example.org:1"], "nothing changed for it");
    assert!(after["oai:example.org:2"].deleted && after["oai:example.org:2"].datestamp >= moment);
    assert_eq!(after["oai:example.org:3"], before["oai:example.org:3"], "it was deleted before, and still is");

    // And back: what has it all the time does not move.
    archive.write("archive.toml", mine(""));
    archive.import("records.jsonl").done();
    let again = told(&archive.serve(), "mine");
    assert_eq!(again["oai:example.org:1"], before["oai:example.org:1"]);
    assert!(!again["oai:example.org:2"].deleted && again["oai:example.org:2"].datestamp >= moment);
    assert!(again["oai:example.org:3"].deleted);
}

#[test]
fn a_format_that_is_taken_away_is_deleted_in_every_record_and_can_come_back() {
    // Whether it has lists of its own makes no difference.
    for requires in ["", "requires = [\"title\"]\n"] {
        let archive = Archive::configured(&(mine("") + requires));
        archive.write("mine.xml", template("{{ title }}"));
        let (one, two, three, four) =
            (record("1", "One"), record("2", "Two"), record("3", "Three"), record("4", "Four"));
        archive.fill(&[one.clone(), two.clone(), three]);
        archive.write_lines("records.jsonl", &[one.clone(), two.clone()]);
        archive.import("records.jsonl").with(["--accept-deletions"]).done();
        let before = told(&archive.serve(), "mine");
        let moment = here_and_now();
        archive.write("archive.toml", super::PLAIN);
        let tried = archive.import("records.jsonl").with(["--dry-run"]).done();
        assert_eq!(tried.report["withdrawn"], json!(["mine"]), "{}", tried.report);
        let imported = archive.import("records.jsonl").done();
        assert_eq!(imported.report["withdrawn"], json!(["mine"]), "{}", imported.report);
        archive.write_lines("records.jsonl", &[one.clone(), two.clone(), four.clone()]);
        assert!(archive.import("records.jsonl").done().report.get("withdrawn").is_none(), "told once");

        let server = archive.serve();
        let after = told(&server, "mine");
        assert_eq!(after.len(), 3, "what was never in it is not deleted in it: {after:?}");
        for number in ["1", "2"] {
            let record = &after[&format!("oai:example.org:{number}")];
            assert!(record.deleted && record.datestamp >= moment, "{record:?}");
        }
        assert_eq!(after["oai:example.org:3"], before["oai:example.org:3"], "it was deleted before");
        let ask = |query: &str| oai::ask(&mut server.client(), query).answer;
        let single = ask("verb=GetRecord&metadataPrefix=mine&identifier=oai:example.org:1");
        assert!(single.records[0].deleted);
        let prefixes = |query: &str| ask(query).formats.into_iter().map(|format| format.prefix).collect::<Vec<_>>();
        assert_eq!(prefixes("verb=ListMetadataFormats"), ["oai_dc", "mine"], "or nobody would hear of the deletions");
        assert_eq!(prefixes("verb=ListMetadataFormats&identifier=oai:example.org:1"), ["oai_dc"]);
        assert!(!told(&server, "oai_dc")["oai:example.org:1"].deleted);

        let moment = here_and_now();
        archive.write("archive.toml", mine("") + requires);
        archive.import("records.jsonl").done().expect(&[("unchanged", 3)]);
        let again = told(&server, "mine");
        for number in ["1", "2", "4"] {
            let record = &again[&format!("oai:example.org:{number}")];
            assert!(!record.deleted && record.datestamp >= moment, "{record:?}");
        }
        assert!(again["oai:example.org:3"].deleted);
    }
}

#[test]
fn packages_that_are_taken_away_are_deleted() {
    let archive = Archive::configured("repository_identifier = \"example.org\"\nfiles = \"files\"\n");
    archive.write("files/a.txt", "text");
    archive.fill(&[record_with("1", "One", json!({ "files": [{ "path": "a.txt" }] })), record("2", "Two")]);
    assert!(!told(&archive.serve(), "oai_didl")["oai:example.org:1"].deleted);
    let moment = here_and_now();
    archive.write("archive.toml", super::PLAIN);
    let imported = archive.import("records.jsonl").done();
    assert_eq!(imported.report["withdrawn"], json!(["oai_didl"]), "{}", imported.report);
    let after = told(&archive.serve(), "oai_didl");
    assert_eq!(after.len(), 1);
    assert!(after["oai:example.org:1"].deleted && after["oai:example.org:1"].datestamp >= moment);
}

#[test]
fn a_format_that_nobody_can_have_seen_leaves_nothing_behind() {
    let archive = Archive::configured(&mine(""));
    archive.write("mine.xml", template("{{ title }}"));
    archive.write("records.jsonl.gz", "not what it is called");
    // It fails, and harvesters are still asked to wait.
    assert_eq!(archive.import("records.jsonl.gz").with(["--as", "jsonl"]).run().code, Some(1));
    archive.write("archive.toml", super::PLAIN);
    let imported = archive.fill(&[record("1", "One")]);
    assert!(imported.report.get("withdrawn").is_none(), "{}", imported.report);
    let formats = oai::ask(&mut archive.serve().client(), "verb=ListMetadataFormats").answer.formats;
    assert_eq!(formats.len(), 1, "{formats:?}");
}

#[test]
fn a_format_that_not_every_record_can_have_is_refused_before_anything_is_touched() {
    let archive = archive();
    let before = archive.told();
    archive.write("archive.toml", mine("always = [\"mine\"]") + "requires = [\"doi\"]\n");
    let refused = archive.import("records.jsonl").run();
    assert_eq!(refused.code, Some(78), "{}", refused.said);
    assert!(refused.said.contains("oai:example.org:2") && refused.said.contains("doi"), "{}", refused.said);
    assert_eq!(archive.told(), before);
    assert_eq!(told(&archive.serve(), "mine").len(), 3, "by the old terms");
    // With a configuration that can be kept, everything goes on.
    archive.write("archive.toml", mine(""));
    archive.import("records.jsonl").done().expect(&[("unchanged", 2)]);
}

#[test]
fn a_record_that_every_format_needs_more_of_is_bad() {
    let archive = Archive::configured(&(mine("always = [\"mine\"]") + "requires = [\"doi\"]\n"));
    archive.write("mine.xml", template("{{ doi }}"));
    archive
        .write_lines("records.jsonl", &[record_with("1", "One", json!({ "doi": "10.5555/one" })), record("2", "Two")]);
    let imported = archive.import("records.jsonl").run();
    assert_eq!(imported.code, Some(2), "{}", imported.said);
    imported.expect(&[("new", 1), ("bad", 1)]);
    let said = &imported.said;
    assert!(said.contains("records.jsonl:2: mine: missing doi, which every record must have"), "{said}");
    assert!(said.contains("1 entry was not imported"), "{said}");
    assert_eq!(identifiers(&archive.serve(), "verb=ListIdentifiers&metadataPrefix=mine"), ["oai:example.org:1"]);
}

#[test]
fn a_mind_that_is_changed_back_in_the_middle_hides_nothing() {
    let archive = Archive::configured(&mine(""));
    archive.write("mine.xml", template("{{ title }}"));
    let records: Vec<_> = (0..20_000).map(|number| record(&number.to_string(), &format!("Number {number}"))).collect();
    archive.fill(&records);
    let first = archive.path("mine.xml");
    archive.write("mine.xml", template("{{ title }}!"));
    let mut import = archive.import("records.jsonl").start();
    // Until the new terms hold; then it is killed, somewhere between the first and the last record.
    let server = archive.serve();
    let is_new = || {
        let query = "verb=GetRecord&metadataPrefix=mine&identifier=oai:example.org:19999";
        metadata(&oai::ask(&mut server.client(), query).answer.records[0]).contains('!')
    };
    wait_until("the new terms hold", || is_new() || import.try_wait().expect("its state").is_some());
    let moment = here_and_now();
    import.kill().expect("killed");
    import.wait().expect("gone");
    std::fs::write(first, template("{{ title }}")).expect("written");
    archive.import("records.jsonl").done();
    let after = told(&server, "mine");
    assert!(after.values().all(|record| !metadata(record).contains('!')));
    // Whoever asked in between has got the other words; so everything is news once more.
    assert!(after.values().all(|record| record.datestamp >= moment), "some kept their datestamps");
}

#[test]
fn what_came_as_xml_outlives_the_crosswalk_of_its_format() {
    let config = "repository_identifier = \"example.org\"\nformats = [\"oai_dc\", \"mods\"]\n";
    let archive = Archive::configured(config);
    let mods = "<mods xmlns=\"http://www.loc.gov/mods/v3\"><titleInfo><title>As it came</title></titleInfo><note>kept</note></mods>";
    archive.write("xml/a.xml", mods);
    archive.import("xml").done();
    let before = told(&archive.serve(), "mods");
    assert!(metadata(&before["oai:example.org:a"]).contains("<note>kept</note>"));
    archive.write("archive.toml", "repository_identifier = \"example.org\"\n");
    archive.import("xml").done();
    let after = told(&archive.serve(), "mods");
    assert!(metadata(&after["oai:example.org:a"]).contains("<note>kept</note>"));
    archive.write("archive.toml", config);
    archive.import("xml").done();
    assert!(metadata(&told(&archive.serve(), "mods")["oai:example.org:a"]).contains("<note>kept</note>"));
}

#[test]
fn what_is_added_does_not_make_up_for_what_is_lost() {
    let archive = Archive::configured("repository_identifier = \"example.org\"\n");
    let records = |prefix: &str, count: usize| -> Vec<_> {
        (0..count).map(|number| record(&format!("{prefix}{number}"), "Title")).collect()
    };
    archive.fill(&records("old-", 50));
    archive.write_lines("records.jsonl", &records("new-", 1000));
    for arguments in [&["--dry-run"] as &[&str], &[]] {
        let stopped = archive.import("records.jsonl").with(arguments).run();
        assert_eq!(stopped.code, Some(3), "{}", stopped.said);
        assert_eq!(stopped.count("spared"), 50, "{}", stopped.report);
    }
    assert_eq!(archive.told().values().filter(|record| record.deleted).count(), 0);
}

#[test]
fn what_is_gone_is_gone_even_if_its_files_are() {
    let archive = Archive::configured("repository_identifier = \"example.org\"\nfiles = \"files\"\n");
    archive.write("files/a.txt", "text");
    archive.fill(&[record_with("1", "One", json!({ "files": [{ "path": "a.txt" }] })), record("2", "Two")]);
    std::fs::remove_file(archive.path("files/a.txt")).expect("removed");
    let gone = record_with("1", "One", json!({ "files": [{ "path": "a.txt" }], "deleted": true }));
    archive.write_lines("records.jsonl", &[gone, record("2", "Two")]);
    archive.import("records.jsonl").done().expect(&[("gone", 1), ("unchanged", 1)]);
    let told = archive.told();
    assert!(told["oai:example.org:1"].deleted);
    assert_eq!(told["oai:example.org:2"].datestamp, OLD);
}
