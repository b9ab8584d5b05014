use std::sync::Arc;

use super::*;

const INPUT: &str = include_str!("../../../tests/input/arxiv.jsonl");

fn place() -> Place {
    Place { file: Arc::new("arxiv.jsonl".into()), line: 1 }
}

fn read(line: &str, options: &Options) -> Result<Record, String> {
    let content = Snapshot::new(options).read(line.as_bytes(), &place());
    content.map(|content| content.record).map_err(|fault| fault.0)
}

fn sample(number: usize) -> Record {
    read(INPUT.lines().nth(number).expect("there are two"), &Options::default()).expect("legal")
}

#[test]
fn a_line_becomes_a_record() {
    let record = sample(0);
    assert_eq!(record.identifier, "0704.0001");
    let title = "Calculation of prompt diphoton production cross sections at Tevatron and LHC energies";
    assert_eq!(record.title.as_deref(), Some(title));
    assert_eq!(record.creators[0], Agent::named("Balázs, C."));
    assert_eq!(record.further["authors"], "C. Balázs, E. L. Berger, P. M. Nadolsky, C.-P. Yuan");
    assert_eq!(record.further["journal_ref"], "Phys.Rev.D76:013009,2007");
    assert_eq!(record.further["categories"], serde_json::json!(["hep-ph"]));
    assert_eq!(record.subjects, ["High Energy Physics - Phenomenology"]);
    assert_eq!((record.dates["created"].as_str(), record.dates["updated"].as_str()), ("2007-04-02", "2008-11-26"));
    assert_eq!(record.versions[1].date, "Tue, 24 Jul 2007 20:10:27 GMT");
    assert_eq!(record.links[0].url, "https://arxiv.org/abs/0704.0001");
    assert_eq!(record.links[1].url, "https://arxiv.org/pdf/0704.0001");
    assert!(
        record.abstract_.as_deref().is_some_and(|text| text.starts_with("A fully") && text.ends_with("colliders."))
    );
    assert_eq!(record.licence, None);
}

#[test]
fn old_and_withdrawn_papers_are_ordinary() {
    let record = sample(1);
    assert_eq!(record.title.as_deref(), Some(r"The Schrödinger operator at $\alpha=1$"));
    assert!(!record.deleted);
    assert_eq!(record.further["comments"], "This paper has been withdrawn by the author");
    assert_eq!(record.further["submitter"], "Jürgen Müller");
    assert_eq!(record.subjects, ["High Energy Physics - Theory", "Mathematical Physics"]);
    let first = &record.creators[0];
    assert_eq!(
        (first.suffix.as_deref(), first.affiliations.as_slice()),
        (Some("Jr."), &["Universität X".to_owned()][..])
    );
    assert_eq!(record.abstract_.as_deref(), Some("First paragraph of\nlines.\n  Second paragraph."));
    assert_eq!(record.further["msc_class"], "81Q10");
    assert_eq!(record.further["new_thing"], serde_json::json!([1]));
    let line = INPUT.lines().nth(1).expect("there are two");
    assert_eq!(
        Snapshot::new(&Options::default()).identifier(line.as_bytes(), &place()).as_deref(),
        Ok("hep-th/9901001")
    );
}

#[test]
fn fields_that_we_have_otherwise_are_kept_apart() {
    let record = read(r#"{"id":"a","subjects":["x"],"Some-Thing":1}"#, &Options::default()).expect("legal");
    assert!(record.subjects.is_empty());
    assert_eq!(record.further["arxiv_subjects"], serde_json::json!(["x"]));
    assert_eq!(record.further["some_thing"], 1);
}

#[test]
fn a_paper_can_be_deleted() {
    for (line, deleted) in [
        (r#"{"id":"a","deleted":true}"#, true),
        (r#"{"id":"a","deleted":false,"title":"x"}"#, false),
        (r#"{"id":"a","deleted":null}"#, false),
        (r#"{"id":"a"}"#, false),
    ] {
        let record = read(line, &Options::default()).expect("legal");
        assert_eq!((record.deleted, record.further.contains_key("arxiv_deleted")), (deleted, false), "{line}");
    }
    let error = read(r#"{"id":"a","deleted":"yes"}"#, &Options::default()).expect_err("not a truth");
    assert!(error.contains("field `deleted`: invalid type: string \"yes\", expected a boolean"), "{error}");
}

#[test]
fn tex_can_be_left_as_it_is() {
    let options = Options { tex: Some(false), ..Options::default() };
    let record = read(INPUT.lines().nth(1).expect("there are two"), &options).expect("legal");
    assert_eq!(record.title.as_deref(), Some(r#"The Schr\"odinger operator at $\alpha=1$"#));
    assert_ne!(Snapshot::new(&options).fingerprint(), Snapshot::new(&Options::default()).fingerprint());
}

#[test]
fn bad_lines_are_told_what_is_wrong() {
    for (line, said) in [
        (r#"{"title":"x"}"#, "missing field `id`"),
        (r#"{"id":704.0001}"#, "field `id`: invalid type: floating point `704.0001`"),
        (r#"{"id":"a","versions":[{"version":"v1","created":"soon"}]}"#, "field `versions`: invalid date \"soon\""),
        (r#"{"id":"a","versions":[{"version":"v1"}]}"#, "field `versions`: missing field `created`"),
        (
            r#"{"id":"a","authors_parsed":"x"}"#,
            "field `authors_parsed`: invalid type: string \"x\", expected a sequence",
        ),
        (r#"{"id":"a","update_date":"2008-26-11"}"#, "field `update_date`: invalid date"),
    ] {
        let error = read(line, &Options::default()).expect_err(line);
        assert!(error.contains(said), "{line}: {error}");
    }
}
