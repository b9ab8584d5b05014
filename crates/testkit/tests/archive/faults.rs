//! Bad input, broken configuration, too much gone: what is said about it, and what is left alone.

use serde_json::{Value, json};

use super::{Archive, PLAIN, metadata, record};

/// So many plain records.
fn records(count: usize) -> Vec<Value> {
    (1..=count).map(|number| record(&number.to_string(), &format!("Number {number}"))).collect()
}

#[test]
fn bad_lines_are_named_and_the_rest_is_imported() {
    let archive = Archive::configured(PLAIN);
    let lines = [
        record("1", "One").to_string(),
        "{ this is not JSON".to_owned(),
        record("3", "Three").to_string(),
        json!({ "title": "nameless" }).to_string(),
        json!({ "identifier": "5", "title": ["not", "a", "text"] }).to_string(),
        json!({ "identifier": "6", "title": "Six", "datestamp": "last Tuesday" }).to_string(),
        record("7", "Seven").to_string(),
    ];
    archive.write("records.jsonl", lines.join("\n"));
    let imported = archive.import("records.jsonl").run();
    assert_eq!(imported.code, Some(2), "{}", imported.said);
    imported.expect(&[("new", 3), ("bad", 4)]);
    for place in ["records.jsonl:2", "records.jsonl:4", "records.jsonl:5", "records.jsonl:6"] {
        assert!(imported.said.contains(place), "{place} is not in {}", imported.said);
    }
    for place in ["records.jsonl:1:", "records.jsonl:3:", "records.jsonl:7:"] {
        assert!(!imported.said.contains(place), "{place} is in {}", imported.said);
    }
    let told = archive.told();
    assert_eq!(told.keys().collect::<Vec<_>>(), ["oai:example.org:1", "oai:example.org:3", "oai:example.org:7"]);
}

/// An archive with a format of its own that is made when it is asked for, and lists nothing but this.
fn with_format_of(expression: &str) -> Archive {
    let format = "[[format]]\nprefix = \"mine\"\ntemplate = \"mine.xml\"\nschema = \"https://example.org/mine.xsd\"\n\
                  namespace = \"urn:mine\"\n";
    let archive = Archive::configured(&format!("{PLAIN}{format}"));
    archive.write("mine.xml", format!("<mine xmlns=\"urn:mine\">{{{{ {expression} }}}}</mine>"));
    archive
}

#[test]
fn a_record_on_which_a_template_fails_is_bad_also_if_the_format_is_not_kept() {
    for (expression, good, bad) in
        [("shelf", json!("a"), json!(["a", "b"])), ("shelf|safe", json!("<b/>"), json!("<b>"))]
    {
        let archive = with_format_of(expression);
        let mut lines = records(5);
        for (number, line) in lines.iter_mut().enumerate() {
            line["shelf"] = if number == 2 { bad.clone() } else { good.clone() };
        }
        archive.write_lines("records.jsonl", &lines);
        let imported = archive.import("records.jsonl").run();
        assert_eq!(imported.code, Some(2), "{}", imported.said);
        imported.expect(&[("new", 4), ("bad", 1)]);
        let said = &imported.said;
        assert!(said.contains("records.jsonl:3: ") && said.contains("mine.xml"), "{said}");
        let server = archive.serve();
        let told = super::told(&server, "mine");
        assert_eq!(told.len(), 4, "the format is whole without it: {told:?}");
        assert!(!told.contains_key("oai:example.org:3"));
    }
}

#[test]
fn a_new_format_that_fails_on_a_stored_record_is_refused_before_anything_is_touched() {
    let archive = Archive::configured(PLAIN);
    let mut lines = records(3);
    lines[1]["shelf"] = json!(["a", "b"]);
    archive.fill(&lines);
    let before = archive.told();
    let config = std::fs::read_to_string(with_format_of("shelf").path("archive.toml")).expect("a configuration");
    archive.write("archive.toml", config);
    archive.write("mine.xml", "<mine xmlns=\"urn:mine\">{{ shelf }}</mine>");
    let refused = archive.import("records.jsonl").run();
    assert_eq!(refused.code, Some(78), "{}", refused.said);
    assert!(refused.said.contains("oai:example.org:2") && refused.said.contains("mine.xml"), "{}", refused.said);
    assert_eq!(archive.told(), before);
    archive.write("mine.xml", "<mine xmlns=\"urn:mine\">{{ shelf|texts|join(' ') }}</mine>");
    archive.import("records.jsonl").done().expect(&[("unchanged", 3)]);
    assert_eq!(super::told(&archive.serve(), "mine").len(), 3);
}

#[test]
fn a_rule_of_sets_that_fails_on_a_stored_record_is_refused_before_anything_is_touched() {
    let archive = Archive::configured(PLAIN);
    let mut lines = records(2);
    lines[1]["subjects"] = json!(["a", "b"]);
    archive.fill(&lines);
    let before = archive.told();
    archive.write("archive.toml", format!("{PLAIN}[[sets]]\nfield = \"title\"\nspec = \"{{{{ subjects }}}}\"\n"));
    let refused = archive.import("records.jsonl").run();
    assert_eq!(refused.code, Some(78), "{}", refused.said);
    assert!(refused.said.contains("oai:example.org:2") && refused.said.contains("rule 1"), "{}", refused.said);
    assert_eq!(archive.told(), before);
}

#[test]
fn a_bad_file_is_named_and_the_rest_is_imported() {
    let archive = Archive::configured(
        "repository_identifier = \"example.org\"\n[source]\nas = \"xml\"\nnamespace = \"urn:note\"\n\
         prefix = \"note\"\nschema = \"https://example.org/note.xsd\"\n",
    );
    archive.write("notes/a.xml", "<note xmlns='urn:note'>good</note>");
    archive.write("notes/b.xml", "<note xmlns='urn:note'>cut off");
    archive.write("notes/c.xml", "<note xmlns='urn:note'>good, too</note>");
    let imported = archive.import("notes").run();
    assert_eq!(imported.code, Some(2), "{}", imported.said);
    imported.expect(&[("new", 2), ("bad", 1)]);
    assert!(imported.said.contains("b.xml"), "{}", imported.said);
    let server = archive.serve();
    let told = super::told(&server, "note");
    assert_eq!(told.keys().collect::<Vec<_>>(), ["oai:example.org:a", "oai:example.org:c"]);
    // As a full disk leaves it behind: what was there stays.
    archive.write("notes/a.xml", "");
    let imported = archive.import("notes").run();
    assert_eq!(imported.code, Some(2), "{}", imported.said);
    imported.expect(&[("unchanged", 1), ("bad", 2)]);
    assert!(imported.said.contains("a.xml: the file is empty"), "{}", imported.said);
    assert_eq!(super::told(&server, "note"), told);
}

#[test]
fn date_in_a_field_of_that_name_is_kept_as_text_with_one_remark() {
    let lines = [
        json!({ "identifier": "1", "title": "One", "date": "o. J." }),
        json!({ "identifier": "2", "title": "Two", "date": "um 1920" }),
        json!({ "identifier": "3", "title": "Three", "date": 1994 }),
    ];
    let table = "identifier;title;date\n1;One;o. J.\n2;Two;um 1920\n3;Three;1994\n";
    let of_json = Archive::configured(PLAIN);
    of_json.write_lines("list.jsonl", &lines);
    let of_table = Archive::configured(PLAIN);
    of_table.write("list.csv", table);
    for (archive, input) in [(of_json, "list.jsonl"), (of_table, "list.csv")] {
        let imported = archive.import(input).done();
        imported.expect(&[("new", 3)]);
        assert_eq!(imported.count("remarks"), 2, "{}", imported.said);
        assert_eq!(imported.said.matches("field `date`: invalid date \"o. J.\"").count(), 1, "{}", imported.said);
        let told = archive.told();
        for (number, date) in [("1", "o. J."), ("2", "um 1920"), ("3", "1994")] {
            let record = metadata(&told[&format!("oai:example.org:{number}")]);
            assert!(record.contains(&format!("<dc:date>{date}</dc:date>")), "{input}: {record}");
        }
    }
}

#[test]
fn date_that_cannot_be_parsed_is_kept_as_text_with_one_remark() {
    let archive = Archive::configured(PLAIN);
    let dated = |id: &str, date: &str| json!({ "identifier": id, "title": "One", "dates": { "issued": date } });
    archive.write_lines("records.jsonl", &[dated("1", "o. J."), dated("2", "um 1920"), record("3", "Three")]);
    let imported = archive.import("records.jsonl").done();
    imported.expect(&[("new", 3)]);
    assert_eq!(imported.count("remarks"), 2);
    assert_eq!(imported.said.matches("invalid date").count(), 1, "{}", imported.said);
    assert!(
        imported.said.contains("records.jsonl:1: field `dates.issued`: invalid date \"o. J.\""),
        "{}",
        imported.said
    );
    let again = archive.import("records.jsonl").done();
    again.expect(&[("unchanged", 3)]);
    assert_eq!(again.count("remarks"), 0);
    assert!(metadata(&archive.told()["oai:example.org:1"]).contains("<dc:date>o. J.</dc:date>"));
    archive.write_lines("records.jsonl", &[dated("1", "2020-05-05"), dated("2", "um 1920"), record("3", "Three")]);
    archive.import("records.jsonl").done().expect(&[("changed", 1), ("unchanged", 2)]);
    assert!(metadata(&archive.told()["oai:example.org:1"]).contains("<dc:date>2020-05-05</dc:date>"));
}

#[test]
fn quiet_import_prints_its_report_and_no_remark() {
    let archive = Archive::configured(PLAIN);
    let lines = [json!({ "identifier": "1", "dates": { "issued": "o. J." } }), json!({ "title": "no identifier" })];
    archive.write_lines("records.jsonl", &lines);
    let imported = archive.import("records.jsonl").with(["-q"]).run();
    assert_eq!((imported.code, imported.count("bad"), imported.count("remarks")), (Some(2), 1, 1));
    assert!(!imported.said.contains("o. J.") && imported.said.contains("records.jsonl:2"), "{}", imported.said);
}

#[test]
fn records_without_a_format_and_rules_without_a_record_are_reported() {
    let archive = Archive::configured(
        "repository_identifier = \"example.org\"\nformats = [\"datacite\"]\n\
         [[sets]]\nfield = \"subjects\"\n[[sets]]\nfield = \"faculty\"\n",
    );
    let whole = json!({ "identifier": "1", "title": "One", "subjects": ["a"], "dates": { "issued": "1994" } });
    archive.write_lines("records.jsonl", &[whole.clone(), json!({ "identifier": "2", "title": "Two" })]);
    let imported = archive.import("records.jsonl").done();
    assert_eq!(imported.report["lacking"], json!({ "datacite": { "records": 1, "fields": ["date"] } }));
    assert_eq!(imported.report["idle_rules"], json!(["rule 2 (field `faculty`)"]));
    // Nothing was evaluated, so nothing is known.
    let again = archive.import("records.jsonl").done();
    assert_eq!((&again.report["lacking"], &again.report["idle_rules"]), (&Value::Null, &Value::Null));
}

#[test]
fn of_two_with_one_identifier_one_counts_and_the_other_is_named() {
    let archive = Archive::configured(PLAIN);
    archive.write_lines("records.jsonl", &[record("1", "First"), record("2", "Two"), record("1", "Second")]);
    let imported = archive.import("records.jsonl").run();
    assert_eq!(imported.code, Some(2), "{}", imported.said);
    imported.expect(&[("new", 2), ("duplicates", 1)]);
    assert!(imported.said.contains("records.jsonl:3"), "{}", imported.said);
    let before = archive.told();
    assert_eq!(before.len(), 2);
    // And so it stays: two that differ do not take turns.
    let again = archive.import("records.jsonl").run();
    again.expect(&[("unchanged", 2), ("duplicates", 1)]);
    assert_eq!(archive.told(), before);
}

#[test]
fn a_good_entry_counts_whatever_was_wrong_with_those_before() {
    let archive = Archive::configured(PLAIN);
    let bad = |title: &str| json!({ "identifier": "1", "title": title, "sets": ["no such spec"] });
    let lines = [bad("Bad"), bad("Worse"), record("1", "Good"), bad("Too late"), record("1", "Twice")];
    for expected in [[("new", 1), ("bad", 2), ("duplicates", 2)], [("unchanged", 1), ("bad", 2), ("duplicates", 2)]] {
        archive.write_lines("records.jsonl", &lines);
        let imported = archive.import("records.jsonl").run();
        assert_eq!(imported.code, Some(2), "{}", imported.said);
        imported.expect(&expected);
        let told = archive.told();
        assert!(metadata(&told["oai:example.org:1"]).contains("<dc:title>Good</dc:title>"));
    }
    // While there is none, what was there before stays.
    archive.write_lines("records.jsonl", &[bad("Bad"), record("2", "Two")]);
    archive.import("records.jsonl").run().expect(&[("new", 1), ("bad", 1)]);
    assert!(archive.told().values().all(|record| !record.deleted));
}

#[test]
fn what_became_unreadable_is_not_taken_for_gone() {
    let archive = Archive::configured(PLAIN);
    archive.fill(&records(20));
    let before = archive.told();
    let mut lines: Vec<String> = records(20).iter().map(Value::to_string).collect();
    lines[4] = "\u{0}\u{0}\u{0}".to_owned();
    lines[9] = json!({ "identifier": "10", "title": { "no": "text" } }).to_string();
    archive.write("records.jsonl", lines.join("\n"));
    let imported = archive.import("records.jsonl").run();
    assert_eq!(imported.code, Some(2), "{}", imported.said);
    imported.expect(&[("unchanged", 18), ("bad", 2)]);
    assert_eq!(archive.told(), before, "they are served as they were");
}

#[test]
fn too_much_gone_deletes_nothing() {
    let archive = Archive::configured(PLAIN);
    archive.fill(&records(20));
    let before = archive.told();
    for few in [9, 1, 0] {
        archive.write_lines("records.jsonl", &records(few));
        let imported = archive.import("records.jsonl").with(["--as", "jsonl"]).run();
        assert_eq!(imported.code, Some(3), "{few}: {}", imported.said);
        assert_eq!(imported.count("gone"), 0);
        assert_eq!(imported.report["complete"], false);
        assert_eq!(archive.told(), before, "{few}");
    }
    // Up to half is deleted without a confirmation.
    archive.write_lines("records.jsonl", &records(18));
    archive.import("records.jsonl").done().expect(&[("unchanged", 18), ("gone", 2)]);
    archive.write_lines("records.jsonl", &records(6));
    archive.import("records.jsonl").with(["--max-deleted", "70%"]).done().expect(&[("unchanged", 6), ("gone", 12)]);
    let deleted = archive.told().values().filter(|record| record.deleted).count();
    assert_eq!(deleted, 14);
}

#[test]
fn input_that_cannot_be_read_deletes_nothing() {
    let archive = Archive::configured(PLAIN);
    archive.fill(&records(3));
    let before = archive.told();
    let imported = archive.import("nowhere.jsonl").run();
    assert!(imported.code.is_some_and(|code| code != 0), "{}", imported.said);
    assert_eq!(imported.said.matches("nowhere.jsonl").count(), 1, "{}", imported.said);
    // Running the same again would not help.
    archive.write("table.csv", "number,title\n1,One\n");
    let imported = archive.import("table.csv").run();
    assert_eq!(imported.code, Some(1), "{}", imported.said);
    assert!(imported.said.contains("missing column `identifier`"), "{}", imported.said);
    assert!(
        imported.said.contains("correct the input") && !imported.said.contains("run the same command again"),
        "{}",
        imported.said
    );
    assert_eq!(archive.told(), before);
}

#[test]
fn a_table_that_breaks_off_deletes_nothing() {
    let archive = Archive::configured(PLAIN);
    let rows = |count: usize| -> String {
        let rows = (1..=count).map(|number| format!("{number},Title {number},\"text {number}\"\n"));
        std::iter::once("identifier,title,abstract\n".to_owned()).chain(rows).collect()
    };
    let whole = rows(40);
    archive.write("table.csv", &whole);
    archive.import("table.csv").done().expect(&[("new", 40)]);
    let before = archive.told();
    archive.write("table.csv", &whole[..whole.len() - 25]);
    let imported = archive.import("table.csv").run();
    assert_eq!(imported.code, Some(1), "{}", imported.said);
    assert!(imported.said.contains("table.csv: line 40: the file is truncated"), "{}", imported.said);
    assert_eq!(archive.told(), before, "no record is cut, and none gone");
}

#[test]
fn a_dry_run_says_what_would_be_done_and_does_nothing() {
    let archive = Archive::configured(PLAIN);
    archive.fill(&records(20));
    let before = archive.told();
    let mut changed = records(21);
    changed[0]["title"] = json!("Another title");
    changed.remove(5);
    archive.write_lines("records.jsonl", &changed);
    let dry = archive.import("records.jsonl").with(["--dry-run"]).run();
    assert_eq!(dry.code, Some(0), "{}", dry.said);
    dry.expect(&[("new", 1), ("changed", 1), ("unchanged", 18), ("gone", 1)]);
    assert_eq!(archive.told(), before);
    archive.import("records.jsonl").done().expect(&[("new", 1), ("changed", 1), ("unchanged", 18), ("gone", 1)]);
}

#[test]
fn a_dry_run_makes_no_catalogue() {
    let archive = Archive::configured(PLAIN);
    archive.write_lines("records.jsonl", &records(3));
    for place in ["folder", "deep/folder", "catalogue.sqlite"] {
        let dry = archive.import_into("records.jsonl", &archive.path(place)).with(["--dry-run"]).done();
        dry.expect(&[("new", 3)]);
        assert!(!archive.path(place.split('/').next().expect("a name")).exists(), "{place}");
    }
    // A folder that is there stays as it is.
    std::fs::create_dir(archive.path("empty")).expect("a folder");
    archive.import_into("records.jsonl", &archive.path("empty")).with(["--dry-run"]).done();
    assert_eq!(std::fs::read_dir(archive.path("empty")).expect("a folder").count(), 0);
}

#[test]
fn a_broken_template_is_refused_with_file_and_line() {
    let good = "<mine xmlns=\"urn:mine\">\n<title>{{ title }}</title>\n</mine>\n";
    let archive = Archive::configured(
        "repository_identifier = \"example.org\"\n[[format]]\nprefix = \"mine\"\ntemplate = \"mine.xml\"\n\
         schema = \"https://example.org/mine.xsd\"\nnamespace = \"urn:mine\"\n",
    );
    archive.write("mine.xml", good);
    archive.fill(&records(3));
    let before = archive.told();
    let broken = [
        "<mine xmlns=\"urn:mine\">\n<title>{{ title </title>\n</mine>\n",
        "<mine xmlns=\"urn:mine\">\n<title>{% if title %}</title>\n</mine>\n",
        "<mine xmlns=\"urn:mine\">\n<title>{{ title|no_such_filter }}</title>\n</mine>\n",
        "<mine xmlns=\"urn:mine\">\n<title>{{ title }}</tilte>\n</mine>\n",
    ];
    for template in broken {
        archive.write("mine.xml", template);
        let imported = archive.import("records.jsonl").run();
        assert_eq!(imported.code, Some(78), "{template}: {}", imported.said);
        assert!(imported.said.contains("mine.xml:"), "{template}: {}", imported.said);
    }
    assert_eq!(archive.told(), before, "what was there is served on");
}

#[test]
fn a_broken_configuration_is_refused() {
    for toml in [
        "repository_identifier = ",
        "repository_identifier = \"Institute X\"",
        "formats = [\"no_such_format\"]",
        "no_such_key = 1",
        "preset = \"no such\"",
    ] {
        let archive = Archive::configured(toml);
        archive.write_lines("records.jsonl", &records(1));
        let imported = archive.import("records.jsonl").run();
        assert_eq!(imported.code, Some(78), "{toml}: {}", imported.said);
        assert!(imported.said.contains("archive.toml"), "{toml}: {}", imported.said);
    }
}

#[test]
fn nonsense_on_the_command_line_is_refused() {
    let archive = Archive::configured(PLAIN);
    archive.write_lines("records.jsonl", &records(1));
    for arguments in [["--as", "telepathy"], ["--max-deleted", "a lot"], ["--max-deleted", "200%"]] {
        let imported = archive.import("records.jsonl").with(arguments).run();
        assert_eq!(imported.code, Some(64), "{arguments:?}: {}", imported.said);
    }
}
