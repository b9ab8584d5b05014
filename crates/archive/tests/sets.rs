//! What the guide says about sets is true.

use modoai_archive::record::Record;
use modoai_archive::sets::{Rule, SetRules};
use modoai_testkit::workspace;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
struct Archive {
    sets: Vec<Rule>,
}

fn guide() -> String {
    std::fs::read_to_string(workspace().join("docs/guide/sets.md")).expect("the guide")
}

/// The rules of every configuration that the guide shows.
fn shown() -> Vec<SetRules> {
    let text = guide();
    let blocks = text.split("\n```toml archive.toml\n").skip(1);
    let rules = |block: &str| {
        let block = block.split("\n```").next().expect("there is always one");
        let archive: Archive = toml::from_str(block).unwrap_or_else(|error| panic!("{block}\n{error}"));
        SetRules::compile(archive.sets).unwrap_or_else(|error| panic!("{block}\n{error}"))
    };
    blocks.map(rules).collect()
}

fn of(rules: &SetRules, fields: Value) -> Vec<String> {
    let record: Record = serde_json::from_value(fields).expect("a record");
    rules.of(&record).expect("legal").iter().map(ToString::to_string).collect()
}

#[test]
fn every_rule_that_is_shown_does_what_is_said() {
    let shown = shown();
    let [subjects, theses, arxiv] = &shown[..] else { panic!("three configurations, not {}", shown.len()) };
    assert_eq!(of(subjects, json!({"subjects": ["Fine arts", "Law"]})), ["Fine!20arts", "Law"]);

    let thesis = |department: &str, kind: &str| json!({"department": department, "type": kind, "dates": {"issued": "2001-02-03"}});
    assert_eq!(of(theses, thesis("Department of Physics", "thesis")), ["theses:2001:physics"]);
    assert_eq!(of(theses, thesis("Law: Roman", "thesis")), ["theses:2001:Law!3A!20Roman"]);
    assert!(of(theses, thesis("Department of Physics", "article")).is_empty());
    let names: Vec<_> = theses.named().into_iter().map(|set| set.name).collect();
    assert_eq!(names, ["Theses", "theses / 2001", "theses / 2001 / Law: Roman", "theses / 2001 / physics"]);

    let text = guide();
    let (_, table) = text.split_once("| categories | sets |\n|---|---|\n").expect("a table");
    let rows: Vec<&str> = table.lines().take_while(|line| line.starts_with('|')).collect();
    assert_eq!(rows.len(), 3);
    for row in rows {
        let codes: Vec<&str> = row.split('`').skip(1).step_by(2).collect();
        assert_eq!(of(arxiv, json!({"categories": codes[0]})), codes[1..], "{row}");
    }
}

#[test]
fn the_message_that_is_shown_is_what_is_said() {
    let good = Rule { field: Some("x".to_owned()), ..Rule::default() };
    let broken = Rule { spec: Some("{% if value %}\n{{ value }}\n{{ value".to_owned()), ..good.clone() };
    let message = SetRules::compile(vec![good, broken]).expect_err("broken").to_string();
    assert!(guide().contains(&format!("```text\n{message}\n```")), "{message}");
}
