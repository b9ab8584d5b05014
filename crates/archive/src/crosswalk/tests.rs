//! Tests of crosswalks: definitions that are rejected, and output.

use serde_json::json;

use super::*;

fn definition(template: &str) -> Definition {
    Definition {
        prefix: "mine".to_owned(),
        schema: "urn:mine.xsd".to_owned(),
        namespace: "urn:mine".to_owned(),
        requires: Vec::new(),
        always: false,
        keep: false,
        file: "mine.xml".to_owned(),
        template: template.to_owned(),
    }
}

fn refused(template: &str) -> String {
    Crosswalks::compile(vec![definition(template)], toml::Table::new()).expect_err(template).to_string()
}

fn record(json: serde_json::Value) -> Arc<Record> {
    Arc::new(serde_json::from_value(json).expect("a record"))
}

fn written(template: &str, json: serde_json::Value) -> Result<String, CrosswalkError> {
    let constants = toml::toml! { landing = "https://example.org/abs/" };
    let crosswalks = Crosswalks::compile(vec![definition(template)], constants).expect(template);
    let described = crosswalks.describe(record(json), "oai:example.org:1");
    let mut out = b"kept".to_vec();
    let result = crosswalks.all()[0].write(&described, &mut out);
    let out = String::from_utf8(out).expect("UTF-8");
    let out = out.strip_prefix("kept").expect("what was there stays").to_owned();
    assert!(result.is_ok() || out.is_empty(), "half-written: {out}");
    result.map(|()| out)
}

#[test]
fn broken_templates_are_refused_with_file_and_line() {
    for (template, message) in [
        ("<a xmlns='urn:mine'>\n{{ title </a>", "mine.xml:2: "),
        ("<a xmlns='urn:mine'>\n{% if title %}</a>", "mine.xml:2: "),
        (
            "<a xmlns='urn:mine'>\n\n{% if false %}{{ title|nosuch }}{% endif %}</a>",
            "mine.xml:3: unknown filter `nosuch`",
        ),
        ("<a xmlns='urn:mine'>\n{% if title is nosuch %}{% endif %}</a>", "mine.xml:2: unknown test `nosuch`"),
        (
            "<a xmlns='urn:mine'>\n<b>\n</a>",
            "mine.xml:2: a sample record that has few fields results in invalid XML: `<b>` is not closed",
        ),
        ("<a xmlns='urn:mine'>\n{% if doi %}<b>{% endif %}\n</a>", "mine.xml:2: a sample record that has all fields"),
        (
            "<a xmlns='urn:other'/>",
            "mine.xml:1: a sample record that has few fields results in invalid XML: the root element is in the namespace urn:other",
        ),
        (
            "\n\n<a xmlns='urn:mine'>\n{% autoescape false %}{{ title }}{% endautoescape %}</a>",
            "mine.xml:4: a sample record that has all fields",
        ),
        ("<a xmlns='urn:mine'>\n<b c='{{ title|safe }}'/></a>", "mine.xml:2: a sample record that has all fields"),
        ("<a xmlns='urn:mine'>\n{{ creators }}</a>", "mine.xml:2: invalid operation: cannot print a sequence"),
        (
            "<a xmlns='urn:mine'>{% for a in range(90000) %}{% for b in range(90000) %}{% endfor %}{% endfor %}</a>",
            "mine.xml:1: it needs more than",
        ),
        ("{% macro m() %}{{ m() }}{% endmacro %}<a xmlns='urn:mine'>{{ m() }}</a>", "mine.xml:1: "),
        ("", "mine.xml:1: a sample"),
    ] {
        let refused = refused(template);
        assert!(refused.starts_with(message), "{template}\n{refused}\n{message}");
    }
    let raw = "<a xmlns='urn:mine'>{% autoescape false %}{{ title }}{% endautoescape %}</a>";
    assert!(refused(raw).contains("<text>"), "the damage is shown");
}

#[test]
fn any_field_may_be_taken_for_markup() {
    for field in ["title", "abstract", "abstract|line", "title|upper", "creators[0].family", "doi", "subjects|first"] {
        let template = format!("<a xmlns='urn:mine'><b>{{{{ {field}|safe }}}}</b>{{{{ comments }}}}</a>");
        let requiring = Definition { requires: vec!["title".to_owned()], ..definition(&template) };
        let compiled = Crosswalks::compile(vec![requiring], toml::Table::new());
        assert!(compiled.is_ok(), "{field}: {compiled:?}");
    }
    let template = "<a xmlns='urn:mine'>{{ abstract|safe }} {{ title }}</a>";
    let out = written(template, json!({"abstract": "a<sub>2</sub> &lt; b", "title": "<&>"})).expect("well-formed");
    assert_eq!(out, "<a xmlns='urn:mine'>a<sub>2</sub> &lt; b &lt;&amp;&gt;</a>");
    assert!(written(template, json!({"abstract": "a < b"})).is_err(), "each document is read before it goes out");
}

#[test]
fn no_field_hides_the_constants() {
    let template = "<a xmlns='urn:mine'>{% if archive.landing %}{{ archive.landing }}{{ title }}{% endif %}</a>";
    for archive in [json!("main"), json!({ "landing": "elsewhere" }), json!(["main"])] {
        let told = written(template, json!({ "identifier": "1", "title": "T", "archive": archive }));
        assert_eq!(told.expect("it can be written"), "<a xmlns='urn:mine'>https://example.org/abs/T</a>");
    }
    let needy = Definition { requires: vec!["archive".to_owned()], ..definition("<a xmlns='urn:mine'/>") };
    let crosswalks = Crosswalks::compile(vec![needy], toml::Table::new()).expect("legal");
    assert!(!crosswalks.all()[0].suits(&record(json!({ "identifier": "1", "archive": "main" }))));
}

#[test]
fn prefixes_are_legal_and_single() {
    let good = definition("<a xmlns='urn:mine'/>");
    let compile = |definitions| Crosswalks::compile(definitions, toml::Table::new()).expect_err("refused").to_string();
    let bad = Definition { prefix: "a b".to_owned(), ..good.clone() };
    assert_eq!(compile(vec![bad]), "mine.xml: `a b` is not a valid metadataPrefix");
    assert_eq!(compile(vec![good.clone(), good.clone()]), "mine.xml: two crosswalks for `mine`");
    let bad = Definition { namespace: String::new(), ..good };
    assert_eq!(compile(vec![bad]), "mine.xml: `` is not a valid namespace of `mine`");
}

#[test]
fn white_space_and_declaration_stay_out() {
    let template = "<?xml version=\"1.0\"?>\n<a xmlns='urn:mine'>\n  {% if title %}\n    <t x=\"{{ title }}\">{{ title }}</t>\n  {% endif %}\n</a>\n";
    let out = written(template, json!({"identifier": "1", "title": " <\"'&\u{1}> "})).expect("it renders");
    let text = "&lt;&quot;&#39;&amp;&gt;";
    assert_eq!(out, format!("<a xmlns='urn:mine'><t x=\"{text}\">{text}</t></a>"));
}

#[test]
fn fields_are_seen_as_documented() {
    let template = "<a xmlns='urn:mine'>{{ identifier }};{{ oai_identifier }};{{ landing }};{{ date }};{{ authors }};\
        {{ creators|map('person')|join('/') }};{{ creators[0].orcid }};{{ title }};{{ dates.issued }};{{ funder.name }};\
        {{ funder.none.at.all }};{{ pages }};{{ licence }}{{ license }};{{ archive.landing }};{{ subjects|join }}</a>";
    let out = written(
        template,
        json!({"identifier": "x y", "title": "  ", "license": "CC", "pages": 12, "funder": {"name": "F", "none": null},
            "creators": [{"family": "Doe", "given": "J.", "suffix": "Jr.", "orcid": "https://orcid.org/0000-0002-1825-0097"},
                {"family": "", "given": "Only"}, {"family": " "}],
            "dates": {"issued": "2024-05-01T00:00:00Z"}, "subjects": ["s", " ", "t"]}),
    );
    let expected = "<a xmlns='urn:mine'>x y;oai:example.org:1;https://example.org/abs/x%20y;2024-05-01;J. Doe Jr., Only;\
        Doe, J., Jr./Only;0000-0002-1825-0097;;2024-05-01T00:00:00Z;F;;12;CCCC;https://example.org/abs/;st</a>";
    assert_eq!(out.expect("it renders"), expected);
}

#[test]
fn what_samples_did_not_show_is_caught_when_it_comes() {
    let template = "<a xmlns='urn:mine'>{{ fragment|safe }}</a>";
    assert_eq!(written(template, json!({"fragment": "<b/>"})).expect("good"), "<a xmlns='urn:mine'><b/></a>");
    let error = written(template, json!({"fragment": "<b>"})).expect_err("bad").to_string();
    assert!(
        error.starts_with("mine.xml: it generates invalid XML") && error.ends_with("(record oai:example.org:1)"),
        "{error}"
    );
    let loops = "<a xmlns='urn:mine'>{% if pages %}{% for a in range(90000) %}{% for b in range(90000) %}{% endfor %}{% endfor %}{% endif %}</a>";
    let error = written(loops, json!({"pages": 1})).expect_err("it never ends").to_string();
    assert!(error.contains("it needs more than"), "{error}");
}

#[test]
fn requirements_are_names_paths_and_alternatives() {
    let requires = |requires: &[&str]| {
        let requires = requires.iter().map(|&name| name.to_owned()).collect();
        let definition = Definition { requires, ..definition("<a xmlns='urn:mine'/>") };
        Crosswalks::compile(vec![definition], toml::Table::new()).expect("good")
    };
    let suits = |names: &[&str], json| requires(names).all()[0].suits(&record(json));
    assert!(suits(&[], json!({})));
    assert!(suits(&["doi"], json!({"doi": "x"})));
    assert!(!suits(&["doi"], json!({"doi": " "})));
    assert!(!suits(&["doi", "title"], json!({"doi": "x"})));
    assert!(suits(&["doi or landing"], json!({"links": [{"url": "http://example.org/"}]})));
    assert!(!suits(&["doi or landing"], json!({"links": [{"url": "x"}]})));
    assert!(suits(&["dates.issued"], json!({"dates": {"issued": "2024"}})));
    assert!(suits(&["a.b.c"], json!({"a": {"b": {"c": 1}}})) && !suits(&["a.b.c"], json!({"a": {"b": {"d": 1}}})));
    assert!(suits(&["date"], json!({"versions": [{"version": "v1", "date": "Mon, 2 Apr 2007 19:18:42 GMT"}]})));
    assert!(!suits(&["date"], json!({"dates": {"issued": "soon"}})));
}

#[test]
fn what_no_sample_has_is_no_reason_to_refuse() {
    let good = "<a xmlns='urn:mine'>{% for name, value in funder|items %}<b>{{ name }}{{ value }}</b>{% endfor %}</a>";
    let compile = |template: &str| {
        let requires = vec!["funder".to_owned()];
        Crosswalks::compile(vec![Definition { requires, ..definition(template) }], toml::Table::new())
    };
    assert!(compile(good).is_ok());
    let bad = compile("<a xmlns='urn:mine'><b>{{ funder }}</a>").expect_err("an element is open").to_string();
    assert!(bad.contains("`<b>` is not closed"), "{bad}");
}

#[test]
fn every_shipped_crosswalk_compiles_together_with_the_others() {
    let all: Vec<_> = shipped_prefixes().map(|prefix| shipped(prefix).expect("it is in the table")).collect();
    let crosswalks = Crosswalks::compile(all, toml::Table::new()).unwrap_or_else(|error| panic!("{error}"));
    assert!(crosswalks.get("oai_dc").is_some_and(|it| it.definition().keep && it.is_shipped));
    assert!(crosswalks.get("nosuch").is_none());
}

#[test]
fn templates_include_the_shipped_ones() {
    let wrapper = "<a xmlns='urn:mine'>{% include 'shipped/oai_dc.xml' %}</a>";
    let out = written(wrapper, json!({"identifier": "1", "title": "T"})).expect("it renders");
    assert!(out.starts_with("<a xmlns='urn:mine'><oai_dc:dc ") && out.contains("<dc:title>T</dc:title>"), "{out}");
    let refused = refused("<a xmlns='urn:mine'>\n{% include 'nosuch.xml' %}</a>");
    assert!(refused.starts_with("mine.xml:2: ") && refused.contains("nosuch.xml"), "{refused}");
}

#[test]
fn crosswalks_are_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Crosswalks>();
    shared::<Described>();
}

#[test]
fn about_tells_rights_and_provenance() {
    let crosswalks = Crosswalks::compile(Vec::new(), toml::Table::new()).expect("nothing to compile");
    let about = |json| {
        let mut out = Vec::new();
        crosswalks.write_about(&crosswalks.describe(record(json), "oai:a:1"), &mut out).expect("it writes");
        String::from_utf8(out).expect("UTF-8")
    };
    assert_eq!(about(json!({})), "");
    assert_eq!(about(json!({"licence": "all rights reserved"})), "");
    let both = about(json!({"licence": "http://example.org/?a&b", "provenance": {"base_url": "http://example.org/oai",
        "identifier": "oai:a:1", "datestamp": "2024-05-01", "metadata_namespace": "urn:a", "harvest_date": "2024-05-02T00:00:00Z"}}));
    assert!(
        both.contains("<rightsReference ref=\"http://example.org/?a&amp;b\"/></rights></about><about><provenance"),
        "{both}"
    );
    assert!(both.contains("<originDescription harvestDate=\"2024-05-02T00:00:00Z\" altered=\"false\">"), "{both}");
    assert_eq!(about(json!({"provenance": {"datestamp": "soon"}})), "", "the schema has no place for it");
}
