//! Hierarchies of sets by configuration, and what it means to be in one.

use std::collections::BTreeMap;

use modoai_testkit::archive::{self, Shape, Wanted, sets_of};
use serde_json::json;

use super::{Archive, identifiers, record, record_with};
use crate::oai;

const CONFIG: &str = r#"
repository_identifier = "example.org"
[[sets]]
field = "categories"
split = " "
spec = "{{ tables.group[value] }}:{{ value }}"
names = { "physics" = "Physics", "physics:hep-th" = "High Energy Physics" }
descriptions = { "physics" = "All of physics" }
[sets.tables.group]
hep-th = "physics"
hep-ph = "physics"
math = "maths"
"#;

#[test]
fn a_set_includes_its_descendants() {
    let archive = Archive::configured(CONFIG);
    let of = |number: &str, categories: &str| record_with(number, number, json!({ "categories": categories }));
    archive.fill(&[
        of("1", "hep-th"),
        of("2", "hep-ph hep-th"),
        of("3", "math"),
        of("4", "hep-ph math"),
        record("5", "5"),
    ]);
    let server = archive.serve();
    let list = |set: &str| {
        let query = format!("verb=ListIdentifiers&metadataPrefix=oai_dc&set={set}");
        identifiers(&server, &query)
            .iter()
            .map(|identifier| identifier.replace("oai:example.org:", ""))
            .collect::<String>()
    };
    assert_eq!(list("physics"), "124");
    assert_eq!(list("physics:hep-th"), "12");
    assert_eq!(list("physics:hep-ph"), "24");
    assert_eq!(list("maths"), "34");
    let told = super::told(&server, "oai_dc");
    assert_eq!(told["oai:example.org:2"].sets, ["physics:hep-ph", "physics:hep-th"]);
    assert_eq!(told["oai:example.org:4"].sets, ["maths:math", "physics:hep-ph"]);
    assert_eq!(told["oai:example.org:5"].sets, [] as [&str; 0]);
}

#[test]
fn an_archive_without_sets_says_so_whatever_is_asked() {
    let archive = Archive::configured(super::PLAIN);
    archive.fill(&[record("1", "One")]);
    let server = archive.serve();
    for query in ["verb=ListSets", "verb=ListRecords&metadataPrefix=oai_dc&set=a"] {
        let answer = oai::ask(&mut server.client(), query).answer;
        let said = [("noSetHierarchy".to_owned(), "this repository has no sets".to_owned())];
        assert_eq!(answer.errors, said, "{query}");
    }
}

#[test]
fn sets_have_names_and_descriptions() {
    let archive = Archive::configured(CONFIG);
    archive.fill(&[record_with("1", "One", json!({ "categories": "hep-th math" }))]);
    let server = archive.serve();
    let listed = oai::pages(&mut server.client(), "verb=ListSets");
    let sets: BTreeMap<_, _> =
        listed.into_iter().flat_map(|page| page.answer.sets).map(|set| (set.spec.clone(), set)).collect();
    for spec in ["physics", "physics:hep-th", "maths", "maths:math"] {
        assert!(sets.contains_key(spec), "{spec} is not among {:?}", sets.keys());
    }
    assert_eq!(sets["physics"].name, "Physics");
    assert_eq!(sets["physics:hep-th"].name, "High Energy Physics");
    let description = sets["physics"].descriptions.first().expect("a description");
    assert!(String::from_utf8_lossy(&description.bytes).contains("All of physics"));
}

#[test]
fn arxivs_hierarchy_counts_everybody_once() {
    let wanted = Wanted::of(900);
    let archive = Archive::preset("arxiv");
    archive.write_generated("snapshot.json", Shape::Snapshot, wanted);
    archive.import("snapshot.json").done();
    // Every set, and every set above it, has who is in it.
    let mut expected: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for eprint in archive::Archive::new(wanted).eprints() {
        for narrow in sets_of(&eprint.categories) {
            let ends = narrow.match_indices(':').map(|(place, _)| place).chain([narrow.len()]);
            for end in ends {
                expected.entry(narrow[..end].to_owned()).or_default().push(format!("oai:arXiv.org:{}", eprint.id));
            }
        }
    }
    let server = archive.serve();
    let sets = oai::harvest_sets(&mut server.client());
    for (set, mut members) in expected {
        members.sort();
        members.dedup();
        let query = format!("verb=ListIdentifiers&metadataPrefix=oai_dc&set={set}");
        assert_eq!(identifiers(&server, &query), members, "{set}");
        assert!(sets.contains(&set), "{set} is not listed");
    }
}
