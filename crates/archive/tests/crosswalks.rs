//! Every shipped crosswalk over records as they come: judged by the official schemas, and compared with documents that
//! were written by hand after the formats' own rules.
//!
//! The schema of `oai_datacite` could not be had; it is an envelope of three elements, and its payload is judged.
//! OpenAIRE's schema cannot be installed from a package (and declares DataCite's namespace anew, so that it could not be
//! loaded beside the real one): of that format, what its guidelines make mandatory is checked here, element by element.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use modoai_archive::config::Config;
use modoai_archive::crosswalk::{Crosswalks, Definition, shipped, shipped_prefixes};
use modoai_archive::record::{Agent, File, Link, Provenance, Record, Version};
use modoai_testkit::xsd;
use quick_xml::NsReader;
use quick_xml::escape::unescape;
use quick_xml::events::Event;
use quick_xml::name::ResolveResult;
use serde_json::{Value, json};

fn crosswalks(constants: toml::Table) -> Crosswalks {
    let all = shipped_prefixes().filter_map(shipped).collect();
    Crosswalks::compile(all, constants).unwrap_or_else(|error| panic!("{error}"))
}

/// The constants of arXiv's preset.
fn arxiv() -> toml::Table {
    let preset: toml::Table = include_str!("../src/preset/arxiv.toml").parse().expect("TOML");
    preset["constants"].as_table().expect("a table").clone()
}

fn written(crosswalks: &Crosswalks, prefix: &str, record: &Record) -> Option<String> {
    let crosswalk = crosswalks.get(prefix).expect("a shipped format");
    crosswalk.suits(record).then(|| {
        let described =
            crosswalks.describe(Arc::new(record.clone()), &format!("oai:example.org:{}", record.identifier));
        let mut out = Vec::new();
        crosswalk.write(&described, &mut out).unwrap_or_else(|error| panic!("{error}\n{record:?}"));
        String::from_utf8(out).expect("UTF-8")
    })
}

#[test]
fn every_format_of_every_record_is_valid() {
    let mut documents = Vec::new();
    for constants in [toml::Table::new(), arxiv()] {
        let crosswalks = crosswalks(constants);
        for (name, record) in awkward().into_iter().chain(generated()) {
            for prefix in shipped_prefixes() {
                documents.extend(
                    written(&crosswalks, prefix, &record).map(|xml| (prefix, format!("{prefix} of {name}"), xml)),
                );
            }
        }
    }
    // The envelope's own schema is not to be had; what is in it is judged by DataCite's.
    for (prefix, _, xml) in documents.iter_mut().filter(|(prefix, _, _)| *prefix == "oai_datacite") {
        let (_, payload) = xml.split_once("<payload>").expect("an envelope");
        let (payload, end) = payload.split_once("</payload>").expect("an envelope");
        assert_eq!(end, "</oai_datacite>");
        (*prefix, *xml) = ("datacite", payload.to_owned());
    }
    // Those without a schema here are at least well-formed, in their namespace, and have what is mandatory.
    for (prefix, name, xml) in &documents {
        let outline = outline(xml);
        let namespace = shipped(prefix).expect("a shipped format").namespace;
        assert!(outline[0].starts_with(&format!("{{{namespace}}}")), "{name}: {}", outline[0]);
        if *prefix == "oai_openaire" {
            expect_openaire(name, &outline);
        }
    }
    let unknown: Vec<_> = shipped_prefixes()
        .filter(|prefix| !["oai_openaire", "oai_datacite"].contains(prefix))
        .filter(|prefix| !xsd::knows(&shipped(prefix).expect("a shipped format").namespace))
        .collect();
    assert!(unknown.is_empty(), "add the schemas of {unknown:?} to crates/testkit/src/xsd.rs");
    // OpenAIRE's schema is in no package; `expect_openaire` has checked what it requires.
    let judged = documents.iter().filter(|(prefix, _, _)| *prefix != "oai_openaire");
    xsd::expect_all_valid(judged.map(|(_, name, xml)| (name.as_str(), xml.as_bytes())));
}

#[test]
fn about_is_valid_in_its_place() {
    let crosswalks = crosswalks(arxiv());
    let mut documents = Vec::new();
    for (name, record) in awkward().into_iter().chain(generated().take(50)) {
        let described = crosswalks.describe(Arc::new(record.clone()), "oai:example.org:1");
        let mut about = Vec::new();
        crosswalks.write_about(&described, &mut about).expect("it writes");
        let about = String::from_utf8(about).expect("UTF-8");
        let metadata = written(&crosswalks, "oai_dc", &record).expect("every record has it");
        documents.push((
            name,
            format!(
                "<OAI-PMH xmlns=\"http://www.openarchives.org/OAI/2.0/\"><responseDate>2024-01-01T00:00:00Z</responseDate>\
                 <request>http://example.org/oai</request><GetRecord><record><header>\
                 <identifier>oai:example.org:1</identifier><datestamp>2024-01-01</datestamp></header>\
                 <metadata>{metadata}</metadata>{about}</record></GetRecord></OAI-PMH>"
            ),
        ));
    }
    assert!(documents.iter().any(|(_, xml)| xml.contains("<rightsReference")));
    assert!(documents.iter().any(|(_, xml)| xml.contains("<originDescription")));
    xsd::expect_all_valid(documents.iter().map(|(name, xml)| (name.as_str(), xml.as_bytes())));
}

#[test]
fn a_record_is_offered_only_where_it_suits() {
    let suited = |constants: toml::Table, record: Value| -> Vec<&'static str> {
        let (crosswalks, record) = (crosswalks(constants), read(record));
        shipped_prefixes().filter(|prefix| crosswalks.get(prefix).expect("shipped").suits(&record)).collect()
    };
    let always = ["oai_dc", "arXiv", "arXivOld", "marcxml", "mods"];
    assert_eq!(suited(toml::Table::new(), json!({"identifier": "1"})), always);
    let whole =
        json!({"identifier": "1", "title": "T", "categories": "a", "versions": [{"version": "v1", "date": "2024"}]});
    assert_eq!(suited(arxiv(), whole), shipped_prefixes().collect::<Vec<_>>());
}

#[test]
fn dublin_core_has_a_url_and_rights_for_aggregators() {
    let dc = |constants: toml::Table, record: Value| {
        written(&crosswalks(constants), "oai_dc", &read(record)).expect("every record has it")
    };
    let identifiers = |xml: &str| -> Vec<String> {
        let all = outline(xml);
        all.iter().filter_map(|line| line.split_once("}identifier → ")).map(|(_, text)| text.to_owned()).collect()
    };
    let landing = toml::toml! { landing = "https://example.org/" };
    assert_eq!(identifiers(&dc(landing, json!({"identifier": "a/é b"}))), ["https://example.org/a/%C3%A9%20b"]);
    let links = json!({"identifier": "1", "links": [{"url": "https://example.org/1.pdf", "rel": "pdf"},
        {"url": "https://example.org/1", "rel": "landing"}]});
    assert_eq!(identifiers(&dc(arxiv(), links))[..1], ["https://example.org/1"]);
    assert_eq!(identifiers(&dc(toml::Table::new(), json!({"identifier": "1"}))), ["1"]);
    let rights = dc(toml::Table::new(), json!({"identifier": "1", "licence": "https://example.org/l"}));
    assert!(rights.contains("<dc:rights>https://example.org/l</dc:rights>"), "{rights}");
}

#[test]
fn samples_come_out_as_the_rules_have_it() {
    let crosswalks = crosswalks(arxiv());
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples");
    let mut compared = 0;
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(&folder).expect("samples").map(|entry| entry.expect("readable").path()).collect();
    files.sort();
    for file in files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "xml")) {
        let name = file.file_name().and_then(|name| name.to_str()).expect("a plain name");
        let [sample, prefix, _] = name.split('.').collect::<Vec<_>>()[..] else { panic!("{name}: SAMPLE.PREFIX.xml") };
        let json = std::fs::read_to_string(folder.join(format!("{sample}.json"))).expect("its record");
        let record: Record = serde_json::from_str(&json).expect("a record");
        let expected = std::fs::read_to_string(file).expect("readable");
        let written = written(&crosswalks, prefix, &record).expect("it suits");
        assert_eq!(outline(&written), outline(&expected), "{name}");
        compared += 1;
    }
    assert!(compared >= 10, "only {compared} samples were found");
}

const GUIDE: &str = include_str!("../../../docs/guide/crosswalks.md");

/// The first columns of the table that follows a mark.
fn table(text: &str, mark: &str) -> Vec<Vec<String>> {
    let (_, rest) = text.split_once(mark).expect("the mark is there");
    let rows = rest.lines().map(|line| line.trim_start_matches("//!").trim()).skip_while(|line| !line.starts_with('|'));
    let rows = rows.take_while(|line| line.starts_with('|')).skip(2);
    rows.map(|row| row.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned()).collect()).collect()
}

#[test]
fn the_guide_knows_every_format_and_filter() {
    let formats = table(GUIDE, "## Included formats");
    let told: Vec<_> = formats.iter().map(|row| row[0].trim_matches('`')).collect();
    assert_eq!(told, shipped_prefixes().collect::<Vec<_>>());
    for row in &formats {
        let requires = shipped(row[0].trim_matches('`')).expect("shipped").requires;
        let told = row.get(2).map(String::as_str).unwrap_or_default().trim_end_matches('|').trim();
        assert_eq!(told, requires.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "), "{row:?}");
    }
    let module = include_str!("../src/crosswalk/mod.rs");
    assert_eq!(table(GUIDE, "<!-- filters -->"), table(module, "//! # Filters"));
    let code = include_str!("../src/crosswalk/filters.rs");
    for row in table(GUIDE, "<!-- filters -->") {
        let name = row[0].trim_matches('`').split('(').next().expect("a name");
        assert!(code.contains(&format!("add_filter(\"{name}\"")), "{name}");
    }
    let names = |text: &str, mark: &str| table(text, mark).into_iter().map(|row| row[0].clone()).collect::<Vec<_>>();
    assert_eq!(names(GUIDE, "<!-- names -->"), names(module, "//! # What templates see"));
}

#[test]
fn the_example_in_the_guide_works() {
    let block = |mark: &str| {
        let (_, rest) = GUIDE.split_once(mark).expect("the example is there");
        let (_, rest) = rest.split_once("```").expect("a block");
        let (_, rest) = rest.split_once('\n').expect("a language");
        rest.split_once("```").expect("its end").0.to_owned()
    };
    let dir = tempfile::tempdir().expect("a folder");
    let (config, template) = (dir.path().join("archive.toml"), dir.path().join("thesis.xml"));
    std::fs::write(&template, block("<!-- example: template -->")).expect("a template");
    let load = |text: &str| {
        std::fs::write(&config, text).expect("a file");
        let terms = Config::load(Some(&config), None).unwrap_or_else(|error| panic!("{error}")).terms;
        let kept = terms.crosswalks.iter().filter(|definition| definition.keep).map(|definition| &*definition.prefix);
        let kept = kept.collect::<Vec<_>>().join(" ");
        let mut thesis = terms.crosswalks.iter().filter(|definition| definition.prefix == "thesis");
        (thesis.next().expect("it is defined").clone(), kept)
    };
    let shown = block("<!-- example: definition -->");
    assert_eq!(load(&shown.replace("keep = false", "keep = true")).1, "oai_dc thesis");
    let (mut definition, kept) = load(&shown);
    assert_eq!(kept, "oai_dc");
    assert_eq!(definition.file, template.display().to_string());
    // As the messages in the guide call it.
    definition.file = "thesis.xml".to_owned();
    let crosswalks = Crosswalks::compile(vec![definition.clone()], arxiv()).unwrap_or_else(|error| panic!("{error}"));
    let record = read(json!({"identifier": "1", "title": "T", "creators": [{"family": "Doe", "given": "Jane"}],
        "dates": {"defended": "2024-05-01"}, "keywords": ["a", "b"]}));
    let written = written(&crosswalks, "thesis", &record).expect("it suits");
    assert!(written.ends_with(
        "<title>T</title><author>Doe, Jane</author><defended>2024-05-01</defended><keyword>a</keyword><keyword>b</keyword>\
         <page>https://arxiv.org/abs/1</page></thesis>"
    ));
    // The messages that the guide shows.
    let refused = |from: &str, to: &str| {
        let template = definition.template.replacen(from, to, 1);
        let broken = Definition { template, ..definition.clone() };
        Crosswalks::compile(vec![broken], arxiv()).expect_err("it is broken").to_string()
    };
    let (_, shown) = GUIDE.split_once("```text\n").expect("messages");
    let shown: Vec<_> =
        shown.lines().take_while(|line| *line != "```").map(|line| line.split('…').next().expect("a text")).collect();
    let filter = refused("dates.defended|date %}", "dates.defended|dat %}");
    let element =
        refused("</keyword>{% endfor %}\n  <page>", "</keyword>{% endfor %}\n  {% if doi %}<x>{% endif %}<page>");
    assert!(filter.starts_with(shown[0]), "{filter}\n{}", shown[0]);
    assert!(element.starts_with(shown[1]), "{element}\n{}", shown[1]);
}

/// A document as a list of its elements, attributes and texts, without the white space between tags.
fn outline(xml: &str) -> Vec<String> {
    let mut reader = NsReader::from_str(xml);
    let mut lines: Vec<String> = Vec::new();
    let mut text = String::new();
    let put = |text: &mut String, lines: &mut Vec<String>| {
        if !text.trim().is_empty() {
            lines.last_mut().expect("text is in an element").push_str(&format!(" → {text}"));
        }
        text.clear();
    };
    loop {
        let event = reader.read_event().unwrap_or_else(|error| panic!("{error}\n{xml}"));
        match &event {
            Event::Start(tag) | Event::Empty(tag) => {
                put(&mut text, &mut lines);
                let (ResolveResult::Bound(namespace), local) = reader.resolver().resolve_element(tag.name()) else {
                    panic!("an element without a namespace: {xml}")
                };
                let mut line = format!("{{{}}}{}", namespace.as_ref(), local.as_ref());
                let attributes: BTreeMap<String, String> = tag
                    .attributes()
                    .map(|attribute| attribute.expect("an attribute"))
                    .map(|it| (it.key.as_ref().to_owned(), unescape(&it.value).expect("escaped").into_owned()))
                    .filter(|(name, _)| !name.starts_with("xmlns"))
                    .collect();
                for (name, value) in attributes {
                    line.push_str(&format!(" {name}=\"{value}\""));
                }
                lines.push(line);
            }
            Event::End(_) => put(&mut text, &mut lines),
            Event::Text(piece) => text.push_str(piece),
            Event::GeneralRef(reference) => {
                text.push_str(&unescape(&format!("&{};", &**reference)).expect("a known entity"));
            }
            Event::Eof => return lines,
            other => panic!("{other:?} in {xml}"),
        }
    }
}

/// The mandatory elements of OpenAIRE's guidelines 4, once each, with values of the vocabularies.
fn expect_openaire(name: &str, outline: &[String]) {
    let one = |element: &str| {
        let mut found = outline.iter().filter(|line| line.split(' ').next() == Some(element));
        let line = found.next().unwrap_or_else(|| panic!("{name}: no {element}"));
        assert!(found.next().is_none(), "{name}: two of {element}");
        assert!(line.contains(" → "), "{name}: {line} is empty");
        line.as_str()
    };
    const DATACITE: &str = "{http://datacite.org/schema/kernel-4}";
    const OAIRE: &str = "{http://namespace.openaire.eu/schema/oaire/}";
    one(&format!("{DATACITE}title"));
    let identifier = one(&format!("{DATACITE}identifier"));
    assert!(
        identifier.contains("identifierType=\"DOI\" → 10.") || identifier.contains("identifierType=\"URL\" → http"),
        "{identifier}"
    );
    let kind = one(&format!("{OAIRE}resourceType"));
    assert!(kind.contains("uri=\"http://purl.org/coar/resource_type/c_"), "{kind}");
    assert!(
        ["literature", "dataset", "software", "other research product"].iter().any(|general| kind.contains(general))
    );
    let rights = one(&format!("{DATACITE}rights"));
    let known = ["c_abf2\" → open access", "c_f1cf\" → embargoed", "c_16ec\" → restricted", "c_14cb\" → metadata only"];
    assert!(known.iter().any(|known| rights.contains(known)), "{rights}");
    let issued: Vec<_> = outline.iter().filter(|line| line.contains("dateType=\"Issued\"")).collect();
    let [date] = issued[..] else { panic!("{name}: {issued:?}") };
    let date = date.split_once(" → ").unwrap_or_else(|| panic!("{name}: no date of issue")).1;
    let digits = date.split('-').all(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
    assert!(digits && [4, 7, 10].contains(&date.len()), "{name}: {date}");
    let named = |line: &&String| line.contains("}creatorName") || line.contains("}contributorName");
    assert!(outline.iter().filter(named).all(|line| line.contains(" → ")), "{name}: a name is empty");
}

fn read(json: Value) -> Record {
    serde_json::from_value(json).expect("a record")
}

/// Records that break things.
fn awkward() -> Vec<(String, Record)> {
    let markup = "<b>&amp; \"quotes\" 'too' ]]> <![CDATA[x]]> <!-- --> &nosuch; {{ title }}";
    let controls = "\u{0}a\u{1}\u{8}\u{b}\u{c}\u{1f}\u{7f}\u{85}\u{fffe}\u{ffff}b";
    let far = "𝕬stral 𐍈 \u{10ffff} 😀 שָׁלוֹם \u{202e}مرحبا\u{202c} \u{200f}ＣＪＫ漢字 e\u{301}";
    let mut all: Vec<(String, Record)> = vec![
        ("nothing but an identifier".into(), read(json!({"identifier": "1"}))),
        ("an empty identifier".into(), Record::default()),
        (
            "an odd identifier".into(),
            read(json!({"identifier": "a b<c>&\"d\"%zz#x#y é\u{1}", "title": "t", "dates": {"issued": "2024"}})),
        ),
        ("a URL as identifier".into(), read(json!({"identifier": "https://example.org/a?b&c"}))),
        ("empty strings everywhere".into(), everything("")),
        ("white space everywhere".into(), everything(" \t\r\n\u{a0}\u{2003} ")),
        ("markup everywhere".into(), everything(markup)),
        ("control characters everywhere".into(), everything(controls)),
        ("only control characters".into(), everything("\u{1}\u{ffff}")),
        ("the far ends of Unicode".into(), everything(far)),
        ("a long text".into(), everything(&"Lorem ipsum & ".repeat(20_000))),
        ("line ends of all kinds".into(), everything("a\r\nb\rc\nd\u{2028}e")),
        ("ordinary text".into(), everything("Ordinary text")),
        (
            "3,000 authors".into(),
            Record {
                creators: (0..3000).map(|n| agent(&format!("Author{n}"), Some(&format!("G. <{n}>")))).collect(),
                ..everything("x")
            },
        ),
        (
            "lists and maps where texts are usual".into(),
            read(
                json!({"identifier": "1", "title": "T", "date": {"a": 1}, "doi": ["10.1/a", "10.1/b", {}], "type": ["Article", 1, null],
                "language": ["en", "x y", []], "publisher": {"name": "P"}, "categories": ["a", {"b": 1}], "comments": ["c", "d"],
                "journal_ref": [], "report_no": [1, 2.5, true], "submitter": ["s"], "authors": ["A", {"b": 1}, "C"], "landing": 1,
                "proxy": {"a": "b"}, "msc_class": ["m"], "acm_class": ["n", "o"], "rights": [markup, {"a": 1}], "pages": [1, 2],
                "access": ["open"], "versions": [{"version": "v1", "date": "2024"}]}),
            ),
        ),
        (
            "numbers where texts are usual".into(),
            read(
                json!({"identifier": "1", "title": "T", "doi": 10.1, "type": 1, "language": 2, "publisher": 3, "categories": 4,
                "comments": 5, "journal_ref": 6, "report_no": 7, "submitter": 8, "authors": 9, "landing": 1, "proxy": 10, "date": 2024,
                "dates": {"issued": "2024"}, "access": 1, "versions": [{"version": "1", "date": "x"}]}),
            ),
        ),
        (
            "no versions worth the name".into(),
            read(
                json!({"identifier": "1", "categories": "a", "versions": [{}, {"version": "latest"}, {"version": "V3"}]}),
            ),
        ),
        ("agents of all kinds".into(), Record { creators: agents(), contributors: agents(), ..everything("x") }),
    ];
    let dates = [
        "2024",
        "2024-05",
        "2024-05-01",
        "2024-05-01T10:00:00Z",
        "2024-05-01T10:00:00.123+02:00",
        "20240501",
        "Mon, 2 Apr 2007 19:18:42 GMT",
        "0001",
        "9999-12-31",
        "2024-02-30",
        "May 2024",
        "c. 1850",
        "-0044",
        "12024",
        "1850/1860",
    ];
    for date in dates {
        let named = ["created", "updated", "issued", "available", "submitted", "accepted"];
        let record = Record {
            dates: named.iter().map(|&name| (name.to_owned(), date.to_owned())).collect(),
            versions: vec![version("v1", date), version("v2", date)],
            datestamp: Some(date.to_owned()),
            ..everything("x")
        };
        all.push((format!("dates like {date}"), record));
    }
    let licences = [
        "",
        "all rights reserved",
        "http://creativecommons.org/licenses/by/4.0/",
        "https://example.org/a b<c>{d}\"|^`\\é",
        "HTTP://EXAMPLE.ORG",
        "http://",
        "http://exa mple.org/",
        "javascript:alert(1)",
        "urn:x",
        "http://[::1]:80/x",
        "http://h/%",
        "http://h/#a#b",
        "http://u@h:x/",
        "http://[/",
    ];
    for licence in licences {
        let links = vec![Link {
            url: licence.to_owned(),
            rel: Some("pdf".to_owned()),
            media_type: Some("application/pdf".to_owned()),
        }];
        let files = vec![File {
            path: "a.pdf".to_owned(),
            url: Some(licence.to_owned()),
            media_type: None,
            state: Some((1, 2)),
        }];
        let further = BTreeMap::from([("doi".to_owned(), json!(licence))]);
        let record = Record { licence: Some(licence.to_owned()), links, files, further, ..everything("x") };
        all.push((format!("a licence like {licence}"), record));
    }
    all
}

/// A record with this text wherever there is text.
fn everything(text: &str) -> Record {
    let further = [
        "doi",
        "language",
        "publisher",
        "type",
        "comments",
        "journal_ref",
        "report_no",
        "submitter",
        "categories",
        "msc_class",
        "acm_class",
        "proxy",
        "authors",
        "rights",
        "pages",
        "access",
    ];
    Record {
        identifier: "2101.00001".to_owned(),
        deleted: false,
        datestamp: Some(text.to_owned()),
        title: Some(text.to_owned()),
        creators: vec![agent(text, Some(text)), agent(text, None)],
        contributors: vec![agent(text, None)],
        abstract_: Some(text.to_owned()),
        subjects: vec![text.to_owned(), text.to_owned()],
        dates: BTreeMap::from([
            ("issued".to_owned(), "2024-05-01".to_owned()),
            ("created".to_owned(), text.to_owned()),
        ]),
        versions: vec![Version {
            version: text.to_owned(),
            date: text.to_owned(),
            size: Some(text.to_owned()),
            source_type: Some(text.to_owned()),
        }],
        licence: Some(text.to_owned()),
        links: vec![Link { url: text.to_owned(), rel: Some(text.to_owned()), media_type: Some(text.to_owned()) }],
        files: vec![File {
            path: text.to_owned(),
            url: Some(text.to_owned()),
            media_type: Some(text.to_owned()),
            state: None,
        }],
        sets: vec![text.to_owned()],
        provenance: Some(Provenance {
            base_url: text.to_owned(),
            identifier: text.to_owned(),
            datestamp: "2024-05-01".to_owned(),
            metadata_namespace: text.to_owned(),
            harvest_date: "2024-05-01T10:00:00Z".to_owned(),
            altered: true,
        }),
        further: further.iter().map(|&name| (name.to_owned(), json!(text))).collect(),
    }
}

fn agent(family: &str, given: Option<&str>) -> Agent {
    Agent {
        family: family.to_owned(),
        given: given.map(str::to_owned),
        suffix: given.map(str::to_owned),
        affiliations: vec![family.to_owned()],
        orcid: Some(family.to_owned()),
    }
}

fn agents() -> Vec<Agent> {
    let orcid = Some("https://orcid.org/0000-0002-1825-0097".to_owned());
    vec![
        Agent { orcid, ..agent("Doe", Some("Jane")) },
        agent("", Some("Only Given")),
        agent(" ", Some("\u{1}")),
        Agent::default(),
        agent("A Body of\nPeople", None),
    ]
}

fn version(name: &str, date: &str) -> Version {
    Version { version: name.to_owned(), date: date.to_owned(), ..Version::default() }
}

/// Records made by chance, the same in every run: each field there or not, of words, signs and odd characters.
fn generated() -> impl Iterator<Item = (String, Record)> {
    let mut chance = fastrand::Rng::with_seed(6);
    (0..200).map(move |number| {
        let mut text = |longest: usize| -> String {
            let words = [
                "α",
                "the",
                "<i>",
                "&",
                "\"",
                "'",
                "]]>",
                "\n",
                "\t",
                "\u{2}",
                "𝔸",
                "ع",
                "10.1000/x",
                "https://example.org/x",
                "2024-05-01",
                "{%",
                "}}",
                "v2",
                "en",
                "article",
                "0000-0002-1825-0097",
                "\u{ffff}",
                ";",
                ",",
                "--",
                "%",
                "é",
            ];
            let count = chance.usize(0..=longest);
            let glue = if chance.bool() { " " } else { "" };
            (0..count).map(|_| words[chance.usize(..words.len())]).collect::<Vec<_>>().join(glue)
        };
        let mut record = everything("");
        record.identifier = format!("{number}{}", text(2));
        record.title = Some(text(12));
        record.abstract_ = Some(text(60));
        record.licence = Some(text(1));
        record.subjects = (0..3).map(|_| text(4)).collect();
        record.creators = (0..4).map(|_| agent(&text(3), Some(&text(2)))).collect();
        record.contributors = (0..2).map(|_| agent(&text(3), None)).collect();
        record.dates =
            ["issued", "created", "updated", "available"].iter().map(|&name| (name.to_owned(), text(1))).collect();
        record.versions = (0..3).map(|_| version(&text(1), &text(2))).collect();
        record.links =
            (0..2).map(|_| Link { url: text(2), rel: Some("pdf".to_owned()), media_type: Some(text(2)) }).collect();
        record.files = (0..2)
            .map(|_| File { path: text(2), url: Some(text(2)), media_type: Some(text(2)), state: None })
            .collect();
        record.further.values_mut().for_each(|value| *value = json!(text(3)));
        (format!("record {number} by chance"), record)
    })
}
