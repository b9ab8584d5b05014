//! Tests of rules.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn rules(text: &str) -> Result<SetRules, RuleError> {
    #[derive(serde::Deserialize)]
    struct Archive {
        sets: Vec<Rule>,
    }
    let archive: Archive = toml::from_str(text).expect("the rules are TOML");
    SetRules::compile(archive.sets)
}

fn record(fields: serde_json::Value) -> Record {
    serde_json::from_value(fields).expect("a record")
}

fn of(rules: &SetRules, fields: serde_json::Value) -> Vec<String> {
    let sets = rules.of(&record(fields)).expect("legal sets");
    sets.iter().map(|set| set.as_str().to_owned()).collect()
}

const CATEGORIES: &str = r#"
[[sets]]
field = "categories"
split = " "
spec = """
{% set parts = value|split(".", 1) %}{% set group = tables.group[parts[0]] %}
{% if group %}{{ group }}:{{ parts[0] }}:{{ parts[1] }}{% endif %}"""
name = "{{ levels|last }} of {{ levels|first }}"
tables = { group = { cs = "cs", math = "math", hep-th = "physics" } }
names = { "cs:cs:AI" = "Artificial Intelligence" }
descriptions = { "cs:cs:AI" = "All areas of AI.", "math" = "Pure and applied." }
"#;

#[test]
fn each_value_makes_a_set() {
    let rules = rules(CATEGORIES).expect("good rules");
    let sets = of(&rules, json!({"categories": " math.AG  cs.AI hep-th cs.AI unknown.XX "}));
    assert_eq!(sets, ["cs:cs:AI", "math:math:AG", "physics:hep-th"]);
    assert_eq!(of(&rules, json!({"categories": ["cs.AI", "hep-th"]})), ["cs:cs:AI", "physics:hep-th"]);
    assert!(of(&rules, json!({"categories": ""})).is_empty());
    assert!(of(&rules, json!({})).is_empty());
}

#[test]
fn a_part_of_what_is_missing_is_no_level() {
    let text = "[[sets]]\nfield = 'department'\nspec = 'theses:{{ dates.issued[:4] }}:{{ value|level }}:{{ shelf[:1]|level }}'\nname = \"{{ levels|join(' / ') }}\"";
    let rules = rules(text).expect("good rules");
    let fields = json!({"department": "physics", "dates": {"issued": "2024-05-17"}, "shelf": "b7"});
    assert_eq!(of(&rules, fields), ["theses:2024:physics:b"]);
    for without in [json!({}), json!({"dates": {}, "shelf": null}), json!({"shelf": []})] {
        let mut fields = json!({"department": "physics"});
        fields.as_object_mut().expect("fields").extend(without.as_object().expect("fields").clone());
        assert_eq!(of(&rules, fields), ["theses:physics"], "{without}");
    }
    let names: Vec<_> = rules.named().into_iter().map(|set| set.name).collect();
    let expected =
        ["theses", "theses / 2024", "theses / 2024 / physics", "theses / 2024 / physics / b", "theses / physics"];
    assert_eq!(names, expected);
}

#[test]
fn a_list_is_no_level() {
    for spec in ["{{ subjects }}", "{{ subjects|level }}"] {
        let rules = rules(&format!("[[sets]]\nfield = 'type'\nspec = '{spec}'")).expect("good rules");
        let fault = rules.of(&record(json!({"type": "a", "subjects": ["x", "y"]}))).expect_err("a slip").to_string();
        assert_eq!(
            fault,
            "rule 1 of the sets, spec (its line 1): cannot use a sequence as a level; use `join` or one of its fields"
        );
        assert!(of(&rules, json!({"type": "a"})).is_empty());
    }
}

#[test]
fn names_are_listed_or_made() {
    let rules = rules(CATEGORIES).expect("good rules");
    let info = |spec: &str, name: &str, description: Option<&str>| SetInfo {
        spec: SetSpec::parse(spec).expect("legal"),
        name: name.to_owned(),
        description: description.map(str::to_owned),
    };
    let ai = info("cs:cs:AI", "Artificial Intelligence", Some("All areas of AI."));
    assert_eq!(rules.named(), [ai.clone(), info("math", "math", Some("Pure and applied."))]);
    of(&rules, json!({"categories": "math.AG"}));
    let expected = [
        ai,
        info("math", "math", Some("Pure and applied.")),
        info("math:math", "math of math", None),
        info("math:math:AG", "AG of math", None),
    ];
    assert_eq!(rules.named(), expected);
}

#[test]
fn a_rule_without_names_does_not_hide_those_of_another() {
    let text = "[[sets]]\nfield = 'x'\nspec = 'a:{{ value }}'\n[[sets]]\nfield = 'y'\nspec = 'a:{{ value }}'\nname = 'The {{ spec }}'";
    let rules = rules(text).expect("good rules");
    of(&rules, json!({"x": "1", "y": "2"}));
    let names: Vec<_> = rules.named().into_iter().map(|set| set.name).collect();
    assert_eq!(names, ["The a", "The a:2"]);
}

#[test]
fn a_record_names_sets_itself_and_only_the_narrowest_count() {
    let rules = rules(CATEGORIES).expect("good rules");
    let sets = of(&rules, json!({"categories": "cs.AI", "sets": ["cs", "cs-x", "cs:cs", "theses:2001", "theses"]}));
    assert_eq!(sets, ["cs-x", "cs:cs:AI", "theses:2001"]);
    let fault = rules.of(&record(json!({"sets": ["no such thing"]}))).expect_err("not legal");
    assert_eq!(fault.to_string(), "invalid set spec \"no such thing\" in \"sets\"");
    let long = "x".repeat(LONGEST_SPEC + 1);
    assert!(rules.of(&record(json!({"sets": [long]}))).is_err());
}

#[test]
fn the_value_is_the_level_where_no_template_is() {
    let rules = rules("[[sets]]\nfield = \"subjects\"").expect("good rules");
    assert_eq!(of(&rules, json!({"subjects": ["a:b", "é", "!"]})), ["!21", "!C3!A9", "a!3Ab"]);
    assert!(rules.of(&record(json!({"subjects": ["x".repeat(LONGEST_SPEC + 1)]}))).is_err());
}

#[test]
fn conditions_and_templates_may_look_at_the_record() {
    let text = r#"
        [[sets]]
        field = "creators.affiliations"
        when = "type == 'thesis' and dates.issued"
        spec = "theses:{{ dates.issued[:4] }}:{{ tables.none[value]|level }}:{{ value|level }}"
    "#;
    let rules = rules(text).expect("good rules");
    let thesis = json!({"type": "thesis", "dates": {"issued": "2001-05-06"}, "creators": [{"affiliations": ["A: B"]}]});
    assert_eq!(of(&rules, thesis.clone()), ["theses:2001:A!3A!20B"]);
    let mut later = thesis.clone();
    later["dates"]["issued"] = json!("2002");
    assert_eq!(of(&rules, later), ["theses:2002:A!3A!20B"], "not remembered by value alone");
    let mut article = thesis;
    article["type"] = json!("article");
    assert!(of(&rules, article).is_empty());
}

#[test]
fn no_way_to_look_at_the_record_goes_unnoticed() {
    for spec in [
        "{{ year[:4] }}",
        "{% set year = year %}{{ year }}",
        "{% filter replace('x', year) %}x{% endfilter %}",
        "{% macro show(y=year) %}{{ y }}{% endmacro %}{{ show() }}",
        "{% for y in [year] %}{{ y }}{% endfor %}",
        "{{ value if value != 'v' else year }}",
        "{{ value|replace('v', year) }}",
        "{% with y = year %}{{ y }}{% endwith %}",
    ] {
        let rules = rules(&format!("[[sets]]\nfield = 'x'\nspec = \"{spec}\"")).expect(spec);
        for year in ["2001", "2002"] {
            assert_eq!(of(&rules, json!({"x": "v", "year": year})), [year], "{spec}");
        }
        assert_ne!(of(&rules, json!({"x": "v"})), ["2002"], "{spec}");
    }
    let rules = rules("[[sets]]\nfield = 'x'\nspec = \"{{ range(2)|join('-') }}\"").expect("a function");
    assert_eq!(of(&rules, json!({"x": "v", "range": "no function"})), ["0-1"]);
}

#[test]
fn a_broken_rule_is_refused_with_its_number_and_line() {
    let refused = |rule: &str| {
        let text = format!("{CATEGORIES}\n[[sets]]\n{rule}");
        rules(&text).expect_err(rule).to_string()
    };
    let message = refused("field = \"x\"\nspec = \"\"\"{{ value }}\n{{ value \"\"\"");
    assert!(message.starts_with("rule 2 of the sets, spec (its line 2): "), "{message}");
    assert!(refused("field = 'x'\nspec = '{{ value|nosuch }}'").contains("nosuch"));
    assert!(refused("field = 'x'\nwhen = 'value %}{% if'").starts_with("rule 2 of the sets, when"));
    assert!(refused("field = 'x'\nname = '{% for %}'").starts_with("rule 2 of the sets, name"));
    assert_eq!(refused("names = { 'a b' = 'A' }"), "rule 2 of the sets, names: invalid set spec \"a b\"");
    assert!(refused("field = 'x'\nsplit = ''").starts_with("rule 2 of the sets, split: "));
    assert!(refused("field = 'a..b'").starts_with("rule 2 of the sets, field: "));
    assert!(refused("spec = '{{ value }}'").starts_with("rule 2 of the sets, spec: "));
}

#[test]
fn a_template_that_fails_for_a_record_is_that_records_fault() {
    let rules = rules("[[sets]]\nfield = 'x'\nspec = '{{ value + 1 }}'").expect("good for numbers");
    let fault = rules.of(&record(json!({"x": "text"}))).expect_err("text and number");
    assert!(fault.to_string().starts_with("rule 1 of the sets, spec (its line 1): "), "{fault}");
}

#[test]
fn rules_survive_being_kept() {
    let rule = Rule {
        field: Some("x".to_owned()),
        names: BTreeMap::from([("a".to_owned(), "A".to_owned())]),
        ..Rule::default()
    };
    let kept = serde_json::to_string(&rule).expect("JSON");
    assert_eq!(kept, r#"{"field":"x","names":{"a":"A"}}"#);
    assert_eq!(serde_json::from_str::<Rule>(&kept).expect("the same"), rule);
}

#[test]
fn more_values_than_can_be_remembered_do_no_harm() {
    let rules = rules("[[sets]]\nfield = 'x'\nspec = 'all:{{ value|length }}'").expect("good rules");
    let numbers: Vec<String> = (0..70_000).map(|number| number.to_string()).collect();
    assert_eq!(of(&rules, json!({"x": numbers})), ["all:1", "all:2", "all:3", "all:4", "all:5"]);
    let each = self::rules("[[sets]]\nfield = 'x'").expect("good rules");
    let fault = each.of(&record(json!({"x": numbers}))).expect_err("too many");
    assert_eq!(fault.to_string(), "it would be in 70000 sets; the maximum is 1000");
}

proptest! {
    #[test]
    fn sets_are_always_legal_sorted_and_the_same(
        categories in proptest::collection::vec(".{0,12}", 0..6),
        own in proptest::collection::vec("[a-c](:[a-c-]{1,2}){0,3}", 0..8),
    ) {
        let text = "[[sets]]\nfield = 'c'\nspec = 'a:{{ value }}'\n[[sets]]\nfield = 'c'\nsplit = ','";
        let rules = rules(text).expect("good rules");
        let record = record(json!({"c": categories, "sets": own}));
        let sets = rules.of(&record).expect("legal");
        prop_assert_eq!(&sets, &rules.of(&record).expect("legal"));
        prop_assert_eq!(&sets, &self::rules(text).expect("good rules").of(&record).expect("legal"));
        prop_assert!(sets.is_sorted());
        for set in &sets {
            prop_assert!(SetSpec::parse(set.as_str()).is_some());
            let within = format!("{set}:");
            prop_assert!(sets.iter().all(|other| !other.as_str().starts_with(&within)));
            prop_assert_eq!(sets.iter().filter(|other| other == &set).count(), 1);
        }
        for spec in &own {
            let within = format!("{spec}:");
            prop_assert!(sets.iter().any(|set| set.as_str() == spec || set.as_str().starts_with(&within)));
        }
    }
}
