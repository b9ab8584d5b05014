//! The catalogue sink, judged by what is answered from it: an aggregator.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use modoai_fetch::{Client, Manners};
use modoai_harvester::record::{Header, Novelty};
use modoai_harvester::sink::{self, Kept, Origin, Part, Place, Sink, SinkOptions, Source};
use modoai_protocol::xml::document::{Part as Fragment, Record};
use modoai_protocol::xml::{OAI_NAMESPACE, Response, XSI_NAMESPACE};
use modoai_protocol::{Datestamp, Request, query};
use modoai_repository::catalogue::sqlite::system_clock;
use modoai_repository::catalogue::{Access, Location, open};
use modoai_repository::host::CatalogueHost;
use modoai_repository::{Failure, PageRequest, Repository, Sent, Settings};
use modoai_testkit::waiting::wait_until;
use modoai_testkit::xsd;

use super::item::{Item, ItemPart};

const DC: &str = "http://www.openarchives.org/OAI/2.0/oai_dc/";

/// A folder with the catalogue of an aggregator in it.
struct Aggregator(tempfile::TempDir);

impl Aggregator {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    fn file(&self) -> PathBuf {
        self.0.path().join("all.sqlite")
    }

    fn sink(&self, slug: &str) -> Box<dyn Sink> {
        let source = Source {
            base_url: format!("https://{slug}.example/oai"),
            name: format!("The library of {slug}"),
            slug: slug.to_owned(),
        };
        let options = SinkOptions { catalogue: Some(Location::at(self.file())), ..SinkOptions::default() };
        let client = Client::new(Manners::default()).expect("a client");
        let (dir, source, options, gauge) = (self.0.path(), &source, &options, Arc::default());
        let place = Place {
            dir,
            mark: None,
            distrusted: false,
            source,
            client,
            gauge,
            budget: std::sync::Arc::default(),
            options,
        };
        (sink::named("catalogue").expect("it is registered").open)(place).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Harvests these records from a source, all of them, and finishes. Returns those that were left to others.
    fn harvest(&self, slug: &str, items: &[Item]) -> Vec<String> {
        let mut sink = self.sink(slug);
        assert_eq!(feed(&mut *sink, &origin(slug, "oai_dc"), items), vec![Kept::Yes; items.len()]);
        let elsewhere = sink.elsewhere();
        sink.finish().expect("finished");
        assert!(sink.elsewhere().is_empty(), "each is told once");
        elsewhere
    }

    fn repository(&self) -> Repository {
        let catalogue = open(&Location::at(self.file()), Access::Write).expect("a catalogue");
        let settings = Settings {
            repository_name: "All libraries".to_owned(),
            admin_email: vec!["all@example.org".to_owned()],
            ..Settings::default()
        };
        Repository::of_records(catalogue, settings, "https://all.example/oai")
    }

    fn ask(&self, request: &str) -> Vec<u8> {
        let repository = self.repository();
        let answer =
            repository.answer(Request::read(query::parse(request.as_bytes())), &CatalogueHost).expect("an answer");
        let mut out = Vec::new();
        answer.write_to(&mut out).expect("written");
        out
    }

    fn read(&self, request: &str) -> Response {
        let answer = self.ask(request);
        Response::read(&answer).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&answer)))
    }

    fn records(&self) -> Vec<Record> {
        self.read("verb=ListRecords&metadataPrefix=oai_dc").records
    }

    fn record(&self, identifier: &str) -> Record {
        let mut records = self.read(&format!("verb=GetRecord&metadataPrefix=oai_dc&identifier={identifier}")).records;
        assert_eq!(records.len(), 1, "{identifier}");
        records.remove(0)
    }

    fn listed(&self, rest: &str) -> Vec<String> {
        let response = self.read(&format!("verb=ListIdentifiers&metadataPrefix=oai_dc{rest}"));
        let mut found: Vec<_> = response.records.into_iter().map(|record| record.identifier).collect();
        found.sort();
        found
    }
}

fn page_of(repository: &Repository, request: &str) -> String {
    let request = PageRequest::read(query::parse(request.as_bytes()));
    repository.page(request, &CatalogueHost, &mut Sent::default()).expect("a page")
}

fn origin(slug: &str, prefix: &str) -> Origin {
    Origin {
        base_url: format!("https://{slug}.example/oai"),
        prefix: prefix.to_owned(),
        schema: "http://www.openarchives.org/OAI/2.0/oai_dc.xsd".to_owned(),
        namespace: DC.to_owned(),
        harvested: Datestamp::from_unix(1_717_243_200),
    }
}

fn feed(sink: &mut dyn Sink, origin: &Origin, items: &[Item]) -> Vec<Kept> {
    sink.page(origin).expect("taken");
    let kept = items.iter().map(|item| item.send(sink, 100, Novelty::New)).collect();
    sink.commit().expect("committed");
    kept
}

fn owned(namespaces: &[(&str, &str)]) -> Vec<(String, String)> {
    namespaces.iter().map(|(prefix, uri)| ((*prefix).to_owned(), (*uri).to_owned())).collect()
}

fn usual() -> Vec<(String, String)> {
    owned(&[("", OAI_NAMESPACE), ("xsi", XSI_NAMESPACE)])
}

fn dublin_core(title: &str) -> String {
    format!(
        "<oai_dc:dc xmlns:oai_dc=\"{DC}\" xmlns:dc=\"http://purl.org/dc/elements/1.1/\" xsi:schemaLocation=\"{DC} \
         http://www.openarchives.org/OAI/2.0/oai_dc.xsd\"><dc:title>{title}</dc:title></oai_dc:dc>"
    )
}

fn book(identifier: &str, title: &str, sets: &[&str]) -> Item {
    let sets = sets.iter().map(|set| (*set).to_owned()).collect();
    let header = Header {
        identifier: identifier.to_owned(),
        datestamp: "2024-05-01T10:00:00Z".to_owned(),
        sets,
        deleted: false,
    };
    Item { header, parts: vec![(Part::Metadata, usual(), dublin_core(title).into_bytes())] }
}

fn gone(identifier: &str) -> Item {
    let mut item = book(identifier, "", &[]);
    item.header.deleted = true;
    item.parts.clear();
    item
}

fn with_about(mut item: Item, about: &str) -> Item {
    item.parts.push((Part::About, usual(), about.as_bytes().to_vec()));
    item
}

fn rights(what: &str) -> String {
    format!(
        "<rights xmlns=\"http://www.openarchives.org/OAI/2.0/rights/\"><rightsReference ref=\"http://e.org/{what}\"/></rights>"
    )
}

fn text(fragment: &Fragment) -> String {
    String::from_utf8(fragment.bytes.clone()).expect("UTF-8")
}

/// What a harvester of ours would hand to its sink.
fn harvested(record: &Record) -> Item {
    let header = Header {
        identifier: record.identifier.clone(),
        datestamp: record.datestamp.clone(),
        sets: record.sets.clone(),
        deleted: record.deleted,
    };
    let part = |kind: Part, part: &Fragment| -> ItemPart { (kind, part.namespaces.clone(), part.bytes.clone()) };
    let metadata = record.metadata.iter().map(|metadata| part(Part::Metadata, metadata));
    let about = record.about.iter().map(|about| part(Part::About, about));
    Item { header, parts: metadata.chain(about).collect() }
}

#[test]
fn every_answer_is_valid_and_says_where_things_come_from() {
    let all = Aggregator::new();
    all.harvest(
        "bonn",
        &[with_about(book("oai:bonn:1", "Eins &amp; zwei", &["a:b", "c+d"]), &rights("by")), gone("oai:bonn:2")],
    );
    all.harvest("oslo", &[book("http://oslo.example/1", "En", &[])]);
    let answers: Vec<_> = [
        "verb=Identify",
        "verb=ListSets",
        "verb=ListMetadataFormats",
        "verb=ListMetadataFormats&identifier=oai:bonn:1",
        "verb=ListIdentifiers&metadataPrefix=oai_dc",
        "verb=ListRecords&metadataPrefix=oai_dc",
        "verb=GetRecord&metadataPrefix=oai_dc&identifier=oai:bonn:1",
        "verb=GetRecord&metadataPrefix=oai_dc&identifier=oai:bonn:2",
        "verb=GetRecord&metadataPrefix=oai_dc&identifier=oai:bonn:3",
        "verb=ListRecords&metadataPrefix=mods",
    ]
    .into_iter()
    .map(|request| (request, all.ask(request)))
    .collect();
    xsd::expect_all_valid(answers.iter().map(|(request, answer)| (*request, answer.as_slice())));

    let identify = all.read("verb=Identify");
    assert_eq!(identify.identify("repositoryName"), Some("All libraries"));
    assert_eq!(identify.identify("deletedRecord"), Some("persistent"));
    let sets: Vec<_> = all.read("verb=ListSets").sets.into_iter().map(|set| (set.spec, set.name)).collect();
    let expected = [
        ("bonn", "The library of bonn"),
        ("bonn:a", "The library of bonn: a"),
        ("bonn:a:b", "The library of bonn: a:b"),
        ("bonn:c!2Bd", "The library of bonn: c+d"),
        ("oslo", "The library of oslo"),
    ];
    assert_eq!(sets, expected.map(|(spec, name)| (spec.to_owned(), name.to_owned())));

    let record = all.record("oai:bonn:1");
    assert_eq!(record.sets, ["bonn:a:b", "bonn:c!2Bd"]);
    assert_eq!(record.about.len(), 2);
    assert_eq!(text(&record.about[0]), rights("by"), "what came along comes first, as it came");
    let provenance = text(&record.about[1]);
    for told in [
        "harvestDate=\"2024-06-01T12:00:00Z\" altered=\"false\"",
        "<baseURL>https://bonn.example/oai</baseURL>",
        "<identifier>oai:bonn:1</identifier>",
        "<datestamp>2024-05-01T10:00:00Z</datestamp>",
        "<metadataNamespace>http://www.openarchives.org/OAI/2.0/oai_dc/</metadataNamespace>",
    ] {
        assert!(provenance.contains(told), "{told}: {provenance}");
    }
    assert_eq!(all.listed("&set=bonn"), ["oai:bonn:1", "oai:bonn:2"]);
    assert_eq!(all.listed("&set=bonn:a"), ["oai:bonn:1"]);
    assert_eq!(all.listed("&set=oslo"), ["http://oslo.example/1"]);
}

#[test]
fn what_is_harvested_from_here_is_what_was_harvested() {
    let all = Aggregator::new();
    let odd = "<a  b = '1'\n\tc=\"&#10;\"><!-- é --><![CDATA[<&>]]><x:y xmlns:x='urn:x'/></a >";
    let cases = [
        ("usual", usual(), dublin_core("A")),
        ("odd", usual(), odd.to_owned()),
        (
            "outer",
            owned(&[("", OAI_NAMESPACE), ("p", "urn:p&q"), ("xsi", XSI_NAMESPACE)]),
            "<p:a p:b='1'><c/></p:a>".to_owned(),
        ),
        ("none", owned(&[("oai", OAI_NAMESPACE), ("xsi", XSI_NAMESPACE)]), "<a>in no namespace</a>".to_owned()),
        ("other", owned(&[("", "urn:other"), ("o", OAI_NAMESPACE), ("xsi", XSI_NAMESPACE)]), "<a/>".to_owned()),
        ("own", owned(&[("xsi", XSI_NAMESPACE)]), "<a xmlns='urn:own'><b/></a>".to_owned()),
    ];
    let items: Vec<_> = cases
        .iter()
        .map(|(name, namespaces, bytes)| {
            let mut item = with_about(book(name, "", &[]), &rights(name));
            item.parts[0] = (Part::Metadata, namespaces.clone(), bytes.clone().into_bytes());
            item.parts[1].1.clone_from(namespaces);
            item
        })
        .collect();
    all.harvest("x", &items);
    for (item, (name, namespaces, bytes)) in items.iter().zip(&cases) {
        let record = all.record(name);
        let metadata = record.metadata.as_ref().expect("metadata");
        assert_eq!(text(metadata), *bytes);
        let sorted = |namespaces: &[(String, String)]| {
            let mut sorted = namespaces.to_vec();
            sorted.sort();
            sorted
        };
        assert_eq!(sorted(&metadata.namespaces), sorted(namespaces), "{name}");
        assert_eq!(record.about[0].bytes, item.parts[1].2);
    }
}

#[test]
fn a_chain_of_aggregators_names_every_hand() {
    let (first, second) = (Aggregator::new(), Aggregator::new());
    first.harvest("bonn", &[with_about(book("oai:bonn:1", "Eins", &[]), &rights("by")), gone("oai:bonn:2")]);
    let there: Vec<_> = first.records().iter().map(harvested).collect();
    let inner = text(&first.record("oai:bonn:1").about[1]);
    let inner = &inner[inner.find("<originDescription").expect("one")..inner.find("</provenance>").expect("an end")];
    second.harvest("all", &there);
    let answer = second.ask("verb=ListRecords&metadataPrefix=oai_dc");
    xsd::expect_valid("a chain", &answer);
    let record = second.record("oai:bonn:1");
    assert_eq!(record.sets, ["all:bonn"]);
    assert_eq!(record.about.len(), 2, "one of rights, one of provenance");
    let provenance = text(&record.about[1]);
    assert_eq!(provenance.matches("<originDescription").count(), 2);
    assert!(
        provenance.contains(&format!("</metadataNamespace>{inner}</originDescription></provenance>")),
        "{provenance}"
    );
    assert!(
        provenance.find("https://all.example/oai") < provenance.find("https://bonn.example/oai"),
        "ours is outermost"
    );
    assert!(second.record("oai:bonn:2").deleted);

    // With prefixes of its own, it is nested as well.
    let third = Aggregator::new();
    let prefixed = "<p:provenance xmlns:p=\"http://www.openarchives.org/OAI/2.0/provenance\"><p:originDescription \
        harvestDate=\"2020-01-01\" altered=\"true\"><p:baseURL>http://a/</p:baseURL><p:identifier>a</p:identifier>\
        <p:datestamp>2020-01-01</p:datestamp><p:metadataNamespace>b</p:metadataNamespace></p:originDescription></p:provenance>";
    third.harvest("bonn", &[with_about(book("a", "A", &[]), prefixed)]);
    xsd::expect_valid("prefixed provenance", third.ask("verb=ListRecords&metadataPrefix=oai_dc"));
    assert_eq!(text(&third.record("a").about[0]).matches("<p:originDescription").count(), 2);
}

#[test]
fn only_what_changed_is_new() {
    let all = Aggregator::new();
    all.harvest("bonn", &[book("a", "A", &["s"]), book("b", "B", &["s"]), book("c", "C", &[])]);
    let stamp = |identifier: &str| Datestamp::parse(&all.record(identifier).datestamp).expect("a datestamp");
    let (a, b) = (stamp("a"), stamp("b"));
    // Datestamps have seconds; the next must be another one.
    wait_until("the next second", || system_clock()() > a.max(b));
    let mut sink = all.sink("bonn");
    let later = Origin { harvested: Datestamp::from_unix(1_800_000_000), ..origin("bonn", "oai_dc") };
    let mut restamped = book("a", "A", &["s"]);
    restamped.header.datestamp = "2025-01-01".to_owned();
    feed(&mut *sink, &later, &[restamped, book("b", "B, 2nd edition", &["s"]), gone("c"), gone("never seen")]);
    sink.finish().expect("finished");

    assert_eq!(stamp("a"), a, "the same bytes, whatever their date");
    assert!(stamp("b") > b);
    assert!(text(all.record("b").metadata.as_ref().expect("metadata")).contains("2nd edition"));
    let from = format!("&from={}", stamp("b"));
    assert_eq!(all.listed(&from), ["b", "c", "never seen"]);
    for identifier in ["c", "never%20seen"] {
        let record = all.record(identifier);
        assert!(record.deleted && record.metadata.is_none() && record.about.is_empty());
        assert_eq!(record.sets, ["bonn"]);
    }
    // A record of which the harvester knows that it is the same is not even looked at.
    let mut sink = all.sink("bonn");
    sink.page(&later).expect("taken");
    let mut ill_formed = book("b", "<", &[]);
    ill_formed.header.identifier.clear();
    assert_eq!(ill_formed.send(&mut *sink, 10, Novelty::Same), Kept::Yes);
    book("d", "D", &[]).send_parts(&mut *sink, 10);
    sink.abandon().expect("abandoned");
    book("e", "E", &[]).send(&mut *sink, 10, Novelty::New);
    sink.roll_back().expect("rolled back");
    sink.commit().expect("committed");
    assert_eq!(all.listed("").len(), 4);
}

#[test]
fn an_identifier_belongs_to_the_source_that_brought_it_first() {
    let all = Aggregator::new();
    assert!(all.harvest("bonn", &[book("a", "of Bonn", &[])]).is_empty());
    assert_eq!(all.harvest("oslo", &[book("a", "of Oslo", &[]), book("b", "B", &[])]), ["a"]);
    let title = |identifier: &str| text(all.record(identifier).metadata.as_ref().expect("metadata"));
    assert!(title("a").contains("of Bonn"));
    assert_eq!(all.listed("&set=oslo"), ["b"]);
    assert_eq!(all.harvest("oslo", &[gone("a")]), ["a"]);
    assert!(title("a").contains("of Bonn"), "what others delete is not theirs");
    // Once its owner has given it up, it is whoever's has it.
    all.harvest("bonn", &[gone("a")]);
    assert!(all.record("a").deleted);
    assert!(all.harvest("oslo", &[book("a", "of Oslo", &[])]).is_empty());
    assert!(title("a").contains("of Oslo"));
    assert_eq!(all.record("a").sets, ["oslo"]);
    assert_eq!(all.listed("&set=bonn").len(), 0);
}

#[test]
fn an_item_is_listed_in_the_formats_it_has() {
    let all = Aggregator::new();
    all.harvest("bonn", &[book("a", "A", &[]), book("b", "B", &[])]);
    let mut sink = all.sink("bonn");
    let marc = Origin { namespace: "urn:marc".to_owned(), ..origin("bonn", "marc") };
    feed(&mut *sink, &marc, &[book("a", "A in MARC", &[]), book("c", "C in MARC", &[])]);
    sink.finish().expect("finished");
    let formats = |rest: &str| {
        let formats = all.read(&format!("verb=ListMetadataFormats{rest}")).formats;
        formats.into_iter().map(|format| format.prefix).collect::<Vec<_>>()
    };
    assert_eq!(formats(""), ["oai_dc", "marc"]);
    assert_eq!(formats("&identifier=a"), ["oai_dc", "marc"]);
    assert_eq!(formats("&identifier=b"), ["oai_dc"]);
    assert_eq!(formats("&identifier=c"), ["marc"]);
    assert_eq!(all.listed(""), ["a", "b"]);
    let in_marc = || {
        let records = all.read("verb=ListRecords&metadataPrefix=marc&set=bonn").records;
        let mut found: Vec<_> = records.into_iter().map(|record| (record.identifier, record.deleted)).collect();
        found.sort();
        found
    };
    assert_eq!(in_marc(), [("a".to_owned(), false), ("c".to_owned(), false)]);
    let error = &all.read("verb=GetRecord&metadataPrefix=marc&identifier=b").errors[0];
    assert_eq!(error.0, "cannotDisseminateFormat", "{error:?}");

    // Gone in one format, it is still there in the other.
    let mut sink = all.sink("bonn");
    feed(&mut *sink, &marc, &[gone("a")]);
    assert_eq!(in_marc(), [("a".to_owned(), true), ("c".to_owned(), false)]);
    assert!(!all.record("a").deleted);
    assert_eq!(formats("&identifier=a"), ["oai_dc"]);
    all.harvest("bonn", &[gone("a")]);
    assert_eq!(all.read("verb=ListMetadataFormats&identifier=a").errors[0].0, "noMetadataFormats");

    // The same word for something else is another format here.
    let other = Origin { namespace: "urn:other".to_owned(), ..origin("oslo", "marc") };
    let mut sink = all.sink("oslo");
    feed(&mut *sink, &other, &[book("z", "Z", &[])]);
    assert_eq!(formats("&identifier=z"), ["marc.2"]);
    let mut sink = all.sink("oslo");
    feed(&mut *sink, &other, &[book("y", "Y", &[])]);
    assert_eq!(formats("&identifier=y"), ["marc.2"]);
}

#[test]
fn what_would_spoil_an_answer_is_mended_or_refused() {
    let all = Aggregator::new();
    let spoilt = |identifier: &str, metadata: &[u8]| {
        let mut item = book(identifier, "", &[]);
        item.parts[0].2 = metadata.to_vec();
        item
    };
    let mut twice = book("twice", "", &[]);
    twice.parts.push(twice.parts[0].clone());
    let mut without = book("without", "", &[]);
    without.parts.clear();
    let mut late = with_about(book("late", "L", &[]), &rights("late"));
    late.parts.reverse();
    let items = [
        spoilt("bytes", b"<a>caf\xe9 \x01 R&D &nbsp;</a>"),
        spoilt("undeclared", b"<dc:title xsi:nil='true'/>"),
        late,
        spoilt("unbalanced", b"<a><b></a>"),
        spoilt("prefix", b"<p:a/>"),
        spoilt("attribute", b"<a b='1' b='2'/>"),
        with_about(book("about", "A", &[]), "<a>"),
        twice,
        without,
        book("", "nameless", &[]),
        book("con\u{1}trol", "C", &[]),
        book("many", "M", &vec!["s"; 1000]),
    ];
    let mut sink = all.sink("bonn");
    let kept = feed(&mut *sink, &origin("bonn", "oai_dc"), &items);
    sink.finish().expect("finished");
    let refused = kept.iter().skip(3).map(|kept| match kept {
        Kept::Yes => panic!("kept: {kept:?}"),
        Kept::No(reason) => reason.as_str(),
    });
    println!("{:?}", refused.collect::<Vec<_>>());
    assert!(kept[..3].iter().all(|kept| *kept == Kept::Yes), "{kept:?}");
    assert_eq!(all.listed(""), ["bytes", "late", "undeclared"]);
    let mended = all.record("bytes");
    assert_eq!(text(mended.metadata.as_ref().expect("metadata")), "<a>café \u{fffd} R&amp;D \u{a0}</a>");
    assert!(text(&mended.about[0]).contains("altered=\"true\""));
    let undeclared = all.record("undeclared").metadata.expect("metadata");
    assert!(undeclared.namespaces.contains(&("dc".to_owned(), "http://purl.org/dc/elements/1.1/".to_owned())));
    let late = all.record("late");
    assert_eq!((text(&late.about[0]), late.about.len()), (rights("late"), 2));
}

#[test]
fn a_large_record_goes_through_in_pieces() {
    let all = Aggregator::new();
    let mut noise = 1_u64;
    let mut random = || {
        noise ^= noise << 13;
        noise ^= noise >> 7;
        noise ^= noise << 17;
        noise
    };
    let mut large = b"<a xmlns='urn:a'>".to_vec();
    while large.len() < 9_000_000 {
        large.extend_from_slice(format!("é{:x} &amp; ", random()).as_bytes());
    }
    large.extend_from_slice(b"<b/></a>");
    let mut item = with_about(book("large", "", &[]), &rights("large"));
    item.parts[0] = (Part::Metadata, owned(&[("xsi", XSI_NAMESPACE)]), large.clone());
    let mut broken = item.clone();
    broken.header.identifier = "broken".to_owned();
    broken.parts[0].2.truncate(8_000_000);
    let mut sink = all.sink("bonn");
    let kept = feed(&mut *sink, &origin("bonn", "oai_dc"), &[item, broken, book("small", "S", &[])]);
    assert!(kept[0] == Kept::Yes && kept[2] == Kept::Yes && kept[1] != Kept::Yes, "{kept:?}");
    sink.finish().expect("finished");
    let record = all.record("large");
    assert!(record.metadata.expect("metadata").bytes == large);
    assert_eq!(record.about.len(), 2);
    assert_eq!(all.listed(""), ["large", "small"]);
    // A person is told how large it is.
    let page = "verb=GetRecord&metadataPrefix=oai_dc&identifier=large";
    let page = page_of(&all.repository(), page);
    assert!(page.len() < 100_000 && page.contains("Too large to show"), "{page}");
    // Replaced by something small, it leaves nothing behind.
    all.harvest("bonn", &[book("large", "no longer", &[])]);
    let left = rusqlite::Connection::open(all.file()).expect("the database");
    assert_eq!(left.query_row("SELECT count(*) FROM piece", [], |row| row.get(0)), Ok(0));
}

#[test]
fn nothing_is_told_before_the_first_list_is_complete_and_everything_after() {
    let all = Aggregator::new();
    let mut sink = all.sink("bonn");
    feed(&mut *sink, &origin("bonn", "oai_dc"), &[book("a", "A", &[])]);
    let repository = all.repository();
    let identify = || repository.answer(Ok(Request::Identify), &CatalogueHost).map(drop);
    assert!(matches!(identify(), Err(Failure::Unavailable { .. })));
    sink.finish().expect("finished");
    identify().expect("an answer");
    // The same repository sees what comes later.
    feed(&mut *sink, &origin("bonn", "oai_dc"), &[book("b", "B", &["new"])]);
    let page = page_of(&repository, "verb=ListRecords&metadataPrefix=oai_dc&set=bonn:new");
    assert!(page.contains("The library of bonn: new"), "{page}");
}

#[test]
fn sources_take_turns_at_the_catalogue() {
    let all = Aggregator::new();
    all.harvest("bonn", &[]);
    assert_eq!(all.read("verb=ListRecords&metadataPrefix=oai_dc").errors[0].0, "noRecordsMatch");
    let catalogue = open(&Location::at(all.file()), Access::Write).expect("a catalogue");
    let other = catalogue.writer().expect("nobody writes");
    std::thread::scope(|scope| {
        let sources: Vec<_> = ["oslo", "rome", "kyiv"]
            .into_iter()
            .map(|slug| {
                let all = &all;
                scope.spawn(move || {
                    let items: Vec<_> = (0..1500).map(|n| book(&format!("{slug}:{n}"), "T", &[])).collect();
                    all.harvest(slug, &items);
                })
            })
            .collect();
        std::thread::sleep(std::time::Duration::from_millis(100));
        assert!(sources.iter().all(|source| !source.is_finished()), "they wait");
        drop(other);
    });
    let total = catalogue.count(modoai_repository::catalogue::Selected::ALL).expect("a count");
    assert_eq!(total, 4500);
}

#[test]
fn the_folder_has_a_catalogue_of_its_own_unless_told_otherwise() {
    let dir = tempfile::tempdir().expect("a folder");
    let source = Source { slug: "x".to_owned(), ..Source::default() };
    let client = Client::new(Manners::default()).expect("a client");
    let place = Place {
        dir: dir.path(),
        mark: Some(""),
        distrusted: false,
        source: &source,
        client,
        gauge: Arc::default(),
        budget: std::sync::Arc::default(),
        options: &SinkOptions::default(),
    };
    drop((sink::named("catalogue").expect("it is registered").open)(place));
    assert!(Path::new(&dir.path().join("catalogue.sqlite")).exists());
}
