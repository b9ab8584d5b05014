//! Every kind of input, told by looking at it, and what becomes of it.

use std::fs;
use std::time::{Duration, SystemTime};

use modoai_protocol::xml::document::Record;
use modoai_testkit::archive::{self, CROWDED_DAY, Shape, Wanted, sets_of};
use serde_json::json;

use super::{Archive, PLAIN, identifiers, metadata, record, record_with, told};
use crate::oai;

#[test]
fn lines_of_our_own_model() {
    let archive = Archive::configured(PLAIN);
    let whole = record_with(
        "theses/42",
        "On <counting> & being counted",
        json!({
            "creators": [{ "family": "Noether", "given": "Emmy" }, "Ramanujan, Srinivasa"],
            "abstract": "Nothing is lost.",
            "subjects": ["Algebra"],
            "dates": { "created": "1999-01-01" },
            "licence": "https://creativecommons.org/licenses/by/4.0/",
            "links": ["https://example.org/theses/42"],
            "sets": ["theses:maths"],
            "language": "en",
        }),
    );
    let imported = archive.fill(&[whole, record("2", "Two")]);
    imported.expect(&[("new", 2)]);
    assert_eq!(imported.count("read"), 2);

    let told = archive.told();
    assert_eq!(told.keys().collect::<Vec<_>>(), ["oai:example.org:2", "oai:example.org:theses/42"]);
    let thesis = &told["oai:example.org:theses/42"];
    assert_eq!(thesis.datestamp, "2001-02-03T00:00:00Z");
    assert_eq!(thesis.sets, ["theses:maths"]);
    let text = metadata(thesis);
    for part in [
        "<dc:title>On &lt;counting&gt; &amp; being counted</dc:title>",
        "<dc:creator>Noether, Emmy</dc:creator>",
        "<dc:creator>Ramanujan, Srinivasa</dc:creator>",
        "<dc:description>Nothing is lost.</dc:description>",
        "<dc:subject>Algebra</dc:subject>",
        "<dc:identifier>https://example.org/theses/42</dc:identifier>",
        "<dc:language>en</dc:language>",
        "https://creativecommons.org/licenses/by/4.0/",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
}

#[test]
fn an_identifier_that_is_whole_already_stays() {
    let archive = Archive::configured(PLAIN);
    archive.fill(&[record("oai:elsewhere.org:1", "From elsewhere"), record("1", "From here")]);
    let told = archive.told();
    assert_eq!(told.keys().collect::<Vec<_>>(), ["oai:elsewhere.org:1", "oai:example.org:1"]);
}

#[test]
fn modification_times_of_files_are_the_datestamps_of_a_first_import() {
    let archive = Archive::configured(
        "repository_identifier = \"example.org\"\n[source]\nas = \"xml\"\nnamespace = \"urn:note\"\n\
         prefix = \"note\"\nschema = \"https://example.org/note.xsd\"\ndatestamp = \"mtime\"\n",
    );
    let touch = |name: &str, text: &str, seconds: u64| {
        let path = archive.write(name, text);
        let file = fs::File::options().write(true).open(path).expect("a file");
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)).expect("its time is set");
    };
    touch("notes/a.xml", "<note xmlns='urn:note'>a</note>", 946_684_800);
    touch("notes/b.xml", "<note xmlns='urn:note'>b</note>", 978_307_199);
    archive.import("notes").done().expect(&[("new", 2)]);
    let server = archive.serve();
    let first = told(&server, "note");
    assert_eq!(first["oai:example.org:a"].datestamp, "2000-01-01T00:00:00Z");
    assert_eq!(first["oai:example.org:b"].datestamp, "2000-12-31T23:59:59Z");
    // A touched file is no change, and a changed one is stamped with the time at which that became visible.
    touch("notes/a.xml", "<note xmlns='urn:note'>a</note>", 1_000_000_000);
    touch("notes/b.xml", "<note xmlns='urn:note'>changed</note>", 978_307_199);
    archive.import("notes").done().expect(&[("unchanged", 1), ("changed", 1)]);
    let second = told(&server, "note");
    assert_eq!(second["oai:example.org:a"].datestamp, "2000-01-01T00:00:00Z");
    assert!(second["oai:example.org:b"].datestamp > first["oai:example.org:b"].datestamp);
    archive.write(
        "archive.toml",
        "repository_identifier = \"example.org\"\n[source]\nas = \"jsonl\"\ndatestamp = \"mtime\"\n",
    );
    archive.write_lines("records.jsonl", &[record("1", "One")]);
    let refused = archive.import("records.jsonl").run();
    assert!(refused.code == Some(1) && refused.said.contains("option `datestamp`"), "{}", refused.said);
}

#[test]
fn tables_as_spreadsheets_export_them() {
    let table = "identifier;title;dates.issued\r\n1;Müller: Straße;1994\r\n2;Zwei;1994-03\r\n";
    let cp1252: Vec<u8> = table.chars().map(|character| u8::try_from(character).expect("Latin-1")).collect();
    let utf16: Vec<u8> = format!("\u{feff}{table}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    let tabs = table.replace(';', "\t").into_bytes();
    for (bytes, named) in [
        (cp1252, "windows-1252, columns separated by ';'"),
        (utf16, "UTF-16LE, columns separated by ';'"),
        (tabs, "UTF-8, columns separated by '\\t'"),
    ] {
        let archive = Archive::configured(PLAIN);
        archive.write("list.csv", bytes);
        let imported = archive.import("list.csv").done();
        imported.expect(&[("new", 2)]);
        assert!(imported.said.contains(named), "{}", imported.said);
        let told = archive.told();
        assert!(metadata(&told["oai:example.org:1"]).contains("<dc:title>Müller: Straße</dc:title>"), "{named}");
        assert_eq!(told["oai:example.org:1"].datestamp, "1994-01-01T00:00:00Z");
        assert_eq!(told["oai:example.org:2"].datestamp, "1994-03-01T00:00:00Z");
    }
}

#[test]
fn a_table_with_a_map_of_its_columns() {
    let archive = Archive::configured(
        r#"
repository_identifier = "example.org"
[source]
as = "csv"
separator = ";"
list_separator = "|"
[source.columns]
identifier = "Nummer"
title = "Titel"
creators = "Autoren"
datestamp = "Stand"
"#,
    );
    archive.write(
        "katalog.csv",
        "Nummer;Titel;Autoren;Stand\n7;\"Ein \"\"Titel\"\"; mit Semikolon\";Noether, Emmy|Hilbert, David\
         ;2001-02-03\n8;Zwei;;2002-02-03\n",
    );
    archive.import("katalog.csv").done().expect(&[("new", 2)]);
    let told = archive.told();
    let text = metadata(&told["oai:example.org:7"]);
    for part in [
        "Ein \"Titel\"; mit Semikolon</dc:title>",
        "<dc:creator>Noether, Emmy</dc:creator>",
        "<dc:creator>Hilbert, David</dc:creator>",
    ] {
        assert!(text.replace("&quot;", "\"").contains(part), "{part} is not in {text}");
    }
    assert_eq!(told["oai:example.org:8"].datestamp, "2002-02-03T00:00:00Z");
    assert!(!metadata(&told["oai:example.org:8"]).contains("dc:creator"));
}

#[test]
fn a_folder_of_xml_is_served_as_it_is() {
    let archive = Archive::configured(
        r#"
repository_identifier = "example.org"
[source]
as = "xml"
namespace = "urn:note"
prefix = "note"
schema = "https://example.org/note.xsd"
[source.fields]
title = "head/title"
creators = ["head/by"]
"#,
    );
    let note = |title: &str| {
        format!(
            "<?xml version=\"1.0\"?>\n<!-- kept? not outside the root -->\n<n:note xmlns:n=\"urn:note\" \
             xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"><n:head><n:title>{title}</n:title>\
             <n:by>Noether, Emmy</n:by></n:head>\n  <n:body  a='1'>caf&#233; &amp; <![CDATA[<raw>]]></n:body></n:note>\n"
        )
    };
    archive.write("notes/a.xml", note("First"));
    archive.write("notes/deep/b.xml", note("Second"));
    archive.import("notes").done().expect(&[("new", 2)]);

    let server = archive.serve();
    let as_it_is = told(&server, "note");
    assert_eq!(as_it_is.keys().collect::<Vec<_>>(), ["oai:example.org:a", "oai:example.org:deep/b"]);
    for (identifier, title) in [("oai:example.org:a", "First"), ("oai:example.org:deep/b", "Second")] {
        let text = metadata(&as_it_is[identifier]);
        assert!(text.starts_with("<n:note ") && text.ends_with("</n:note>"), "{text}");
        let body = "<n:body  a='1'>caf&#233; &amp; <![CDATA[<raw>]]></n:body>";
        assert!(text.contains(body), "bytes are not as they were: {text}");
        assert!(text.contains(title), "{text}");
    }
    let formats = oai::ask(&mut server.client(), "verb=ListMetadataFormats").answer.formats;
    let note = formats.iter().find(|format| format.prefix == "note").expect("the files' own format");
    assert_eq!((note.schema.as_str(), note.namespace.as_str()), ("https://example.org/note.xsd", "urn:note"));
    let dublin_core = metadata(&told(&server, "oai_dc")["oai:example.org:a"]);
    assert!(dublin_core.contains("<dc:title>First</dc:title>"), "{dublin_core}");
    assert!(dublin_core.contains("<dc:creator>Noether, Emmy</dc:creator>"), "{dublin_core}");
}

const STATIC: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<Repository xmlns="http://www.openarchives.org/OAI/2.0/static-repository"
            xmlns:oai="http://www.openarchives.org/OAI/2.0/"
            xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
            xsi:schemaLocation="http://www.openarchives.org/OAI/2.0/static-repository http://www.openarchives.org/OAI/2.0/static-repository.xsd">
  <Identify>
    <oai:repositoryName>A shelf</oai:repositoryName>
    <oai:baseURL>http://gateway.example.org/shelf.xml</oai:baseURL>
    <oai:protocolVersion>2.0</oai:protocolVersion>
    <oai:adminEmail>shelf@example.org</oai:adminEmail>
    <oai:earliestDatestamp>2002-09-19</oai:earliestDatestamp>
    <oai:deletedRecord>no</oai:deletedRecord>
    <oai:granularity>YYYY-MM-DD</oai:granularity>
  </Identify>
  <ListMetadataFormats>
    <oai:metadataFormat>
      <oai:metadataPrefix>oai_dc</oai:metadataPrefix>
      <oai:schema>http://www.openarchives.org/OAI/2.0/oai_dc.xsd</oai:schema>
      <oai:metadataNamespace>http://www.openarchives.org/OAI/2.0/oai_dc/</oai:metadataNamespace>
    </oai:metadataFormat>
    <oai:metadataFormat>
      <oai:metadataPrefix>note</oai:metadataPrefix>
      <oai:schema>https://example.org/note.xsd</oai:schema>
      <oai:metadataNamespace>urn:note</oai:metadataNamespace>
    </oai:metadataFormat>
  </ListMetadataFormats>
  <ListRecords metadataPrefix="oai_dc">
    <oai:record>
      <oai:header><oai:identifier>oai:shelf.example.org:1</oai:identifier><oai:datestamp>2002-09-19</oai:datestamp></oai:header>
      <oai:metadata>
        <oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" xmlns:dc="http://purl.org/dc/elements/1.1/"
            xsi:schemaLocation="http://www.openarchives.org/OAI/2.0/oai_dc/ http://www.openarchives.org/OAI/2.0/oai_dc.xsd">
          <dc:title>Of the shelf</dc:title>
        </oai_dc:dc>
      </oai:metadata>
    </oai:record>
    <oai:record>
      <oai:header><oai:identifier>oai:shelf.example.org:2</oai:identifier><oai:datestamp>2003-01-01</oai:datestamp></oai:header>
      <oai:metadata>
        <oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" xmlns:dc="http://purl.org/dc/elements/1.1/"
            xsi:schemaLocation="http://www.openarchives.org/OAI/2.0/oai_dc/ http://www.openarchives.org/OAI/2.0/oai_dc.xsd">
          <dc:title>Another</dc:title>
        </oai_dc:dc>
      </oai:metadata>
    </oai:record>
  </ListRecords>
  <ListRecords metadataPrefix="note">
    <oai:record>
      <oai:header><oai:identifier>oai:shelf.example.org:1</oai:identifier><oai:datestamp>2002-09-20</oai:datestamp></oai:header>
      <oai:metadata><note xmlns="urn:note">noted</note></oai:metadata>
    </oai:record>
  </ListRecords>
</Repository>
"#;

#[test]
fn a_static_repository() {
    let archive = Archive::configured(PLAIN);
    archive.write("shelf.xml", STATIC);
    archive.import("shelf.xml").done().expect(&[("new", 2)]);
    let server = archive.serve();
    let dublin_core = told(&server, "oai_dc");
    assert_eq!(dublin_core.keys().collect::<Vec<_>>(), ["oai:shelf.example.org:1", "oai:shelf.example.org:2"]);
    assert!(metadata(&dublin_core["oai:shelf.example.org:2"]).contains("<dc:title>Another</dc:title>"));
    assert_eq!(dublin_core["oai:shelf.example.org:2"].datestamp, "2003-01-01T00:00:00Z");
    let notes = told(&server, "note");
    assert_eq!(notes.keys().collect::<Vec<_>>(), ["oai:shelf.example.org:1"]);
    assert_eq!(metadata(&notes["oai:shelf.example.org:1"]), r#"<note xmlns="urn:note">noted</note>"#);
}

#[test]
fn arxivs_snapshot() {
    let wanted = Wanted::of(600);
    let archive = Archive::preset("arxiv");
    archive.write_generated("snapshot.json", Shape::Snapshot, wanted);
    archive.import("snapshot.json").done().expect(&[("new", 600)]);

    let server = archive.serve();
    let all = told(&server, "oai_dc");
    assert_eq!(all.len(), 600);
    for eprint in archive::Archive::new(wanted).eprints() {
        let record = &all[&format!("oai:arXiv.org:{}", eprint.id)];
        assert_eq!(record.datestamp, format!("{}T00:00:00Z", eprint.updated), "{}", eprint.id);
        assert_eq!(record.sets, sets_of(&eprint.categories), "{}", eprint.id);
        // Formulae stay as they are; everything else becomes characters.
        let text = metadata(record);
        assert!(text.split('$').step_by(2).all(|words| !words.contains('\\')), "TeX is left: {text}");
    }
    let day = format!("verb=ListIdentifiers&metadataPrefix=oai_dc&from={CROWDED_DAY}&until={CROWDED_DAY}");
    assert_eq!(identifiers(&server, &day).len(), 20);
    for prefix in ["arXiv", "arXivRaw", "arXivOld", "oai_rfc1807"] {
        assert_eq!(told(&server, prefix).len(), 600, "{prefix}");
    }
}

#[test]
fn arxivs_snapshot_word_for_word() {
    let archive = Archive::preset("arxiv");
    archive.write(
        "snapshot.json",
        concat!(
            r#"{"id":"hep-th/9901001","submitter":"Erwin Schr\\\"odinger","authors":"Erwin Schr\\\"odinger and Paul \\'Elie","#,
            r#""title":"Cats and the \\\"other\\\" {\\o}: $\\alpha$\n  decay","comments":"12 pages, 3 figures","#,
            r#""journal-ref":"Phys.Rev. D76 (2007) 013009","doi":"10.1103/PhysRevD.76.013009","report-no":"TH-1","#,
            r#""categories":"hep-th cond-mat.str-el","license":"http://arxiv.org/licenses/nonexclusive-distrib/1.0/","#,
            r#""abstract":"  We ask whether\na cat is.\n","versions":[{"version":"v1","created":"Fri, 1 Jan 1999 10:11:12 GMT"},"#,
            r#"{"version":"v2","created":"Tue, 2 Feb 1999 20:10:27 GMT"}],"update_date":"2009-10-31","#,
            r#""authors_parsed":[["Schr\u00f6dinger","Erwin",""],["\u00c9lie","Paul","Jr"]]}"#,
            "\n"
        ),
    );
    archive.import("snapshot.json").done().expect(&[("new", 1)]);
    let server = archive.serve();
    let of = |prefix: &str| told(&server, prefix).remove("oai:arXiv.org:hep-th/9901001").expect("it is there");
    let expect = |record: &Record, parts: &[&str]| {
        let text = metadata(record);
        for part in parts {
            assert!(text.contains(part), "{part} is not in {text}");
        }
    };
    assert_eq!(of("oai_dc").sets, ["physics:cond-mat:str-el", "physics:hep-th"]);
    expect(
        &of("oai_dc"),
        &[
            "<dc:creator>Schrödinger, Erwin</dc:creator>",
            "<dc:date>1999-01-01</dc:date>",
            "<dc:date>1999-02-02</dc:date>",
            "arxiv.org/abs/hep-th/9901001</dc:identifier>",
            "<dc:identifier>doi:10.1103/PhysRevD.76.013009</dc:identifier>",
            "<dc:description>12 pages, 3 figures</dc:description>",
        ],
    );
    expect(
        &of("arXiv"),
        &[
            "<id>hep-th/9901001</id>",
            "<created>1999-01-01</created>",
            "<updated>1999-02-02</updated>",
            "<keyname>Schrödinger</keyname>",
            "<forenames>Erwin</forenames>",
            "<suffix>Jr</suffix>",
            "<categories>hep-th cond-mat.str-el</categories>",
            "<report-no>TH-1</report-no>",
            "<doi>10.1103/PhysRevD.76.013009</doi>",
        ],
    );
    expect(
        &of("arXivRaw"),
        &[
            "<id>hep-th/9901001</id>",
            "<version version=\"v1\">",
            "<date>Fri, 1 Jan 1999 10:11:12 GMT</date>",
            "<version version=\"v2\">",
            "<categories>hep-th cond-mat.str-el</categories>",
            "<license>http://arxiv.org/licenses/nonexclusive-distrib/1.0/</license>",
        ],
    );
}

#[test]
fn arxivs_abs_files() {
    let wanted = Wanted::of(120);
    let archive = Archive::preset("arxiv");
    for eprint in archive::Archive::new(wanted).eprints() {
        let mut file = Vec::new();
        Shape::Abs.write(&eprint, &mut file);
        archive.write(&format!("papers/{}.abs", eprint.id), file);
    }
    archive.import("papers").done().expect(&[("new", 120)]);
    let server = archive.serve();
    let all = told(&server, "oai_dc");
    assert_eq!(all.len(), 120);
    for eprint in archive::Archive::new(wanted).eprints() {
        let record = &all[&format!("oai:arXiv.org:{}", eprint.id)];
        assert_eq!(record.sets, sets_of(&eprint.categories), "{}", eprint.id);
    }
    let raw = told(&server, "arXivRaw");
    assert!(raw.values().all(|record| metadata(record).contains("kb</size>")), "sizes are lost");
}

#[test]
fn several_files_are_one_input() {
    let archive = Archive::configured(PLAIN);
    archive.write_lines("lines/1.jsonl", &[record("1", "One")]);
    archive.write_lines("lines/2.jsonl", &[record("2", "Two"), record("3", "Three")]);
    archive.import("lines").done().expect(&[("new", 3)]);
    // The files one by one are the same input.
    let more = archive.path("lines/2.jsonl");
    archive.import("lines/1.jsonl").with([more]).done().expect(&[("unchanged", 3)]);
    fs::remove_file(archive.path("lines/2.jsonl")).expect("it was there");
    let rest = archive.import("lines").with(["--accept-deletions"]).done();
    rest.expect(&[("unchanged", 1), ("gone", 2)]);
}

#[test]
fn a_folder_of_several_kinds_waits_for_a_word() {
    let archive = Archive::configured(PLAIN);
    archive.write("mixed/a.csv", "identifier,title\n1,One\n");
    archive.write_lines("mixed/b.jsonl", &[record("2", "Two")]);
    archive.write_lines("mixed/deep/C.JSONL", &[record("3", "Three")]);
    let imported = archive.import("mixed").run();
    assert_eq!(imported.code, Some(3), "{}", imported.said);
    assert!(imported.said.contains("b.jsonl and 1 more"), "{}", imported.said);
    archive.import("mixed").with(["--as", "csv", "--source", "tables"]).done().expect(&[("new", 1)]);
    archive.import("mixed").with(["--as", "jsonl"]).done().expect(&[("new", 2)]);
    assert_eq!(archive.told().len(), 3);
}

#[test]
fn standard_input_is_an_input() {
    let archive = Archive::configured(PLAIN);
    let file = archive.write_lines("records.jsonl", &[record("1", "One"), record("2", "Two")]);
    let lines = || fs::File::open(&file).expect("just written");
    archive.import_from(lines()).with(["--as", "jsonl"]).done().expect(&[("new", 2)]);
    // What was looked at to tell what it is is not lost.
    archive.import_from(lines()).done().expect(&[("unchanged", 2)]);
    // The same records from the file are the same records.
    archive.import("records.jsonl").done().expect(&[("unchanged", 2)]);
    // More than is looked at, too.
    let wanted = Wanted::of(100);
    let papers = Archive::preset("arxiv");
    let snapshot = papers.write_generated("snapshot.json", Shape::Snapshot, wanted);
    assert!(fs::metadata(&snapshot).expect("just written").len() > 64 * 1024, "as much as is looked at");
    let snapshot = fs::File::open(snapshot).expect("just written");
    papers.import_from(snapshot).done().expect(&[("new", 100)]);
    // A table is told by its name only, and an XML record called by it.
    let table = fs::File::open(archive.write("table.csv", "identifier\n1\n")).expect("just written");
    let unknown = archive.import_from(table).run();
    assert_eq!(unknown.code, Some(1), "{}", unknown.said);
    assert!(unknown.said.contains("set it with --as"), "{}", unknown.said);
    let note = fs::File::open(archive.write("note.xml", "<note xmlns='urn:note'/>")).expect("just written");
    let nameless = archive.import_from(note).with(["--update"]).run();
    assert_eq!(nameless.code, Some(2), "{}", nameless.said);
    assert!(nameless.said.contains("standard input has no file name"), "{}", nameless.said);
}

#[test]
fn rights_and_provenance_go_with_every_format() {
    let archive = Archive::configured(PLAIN);
    let licence = "https://creativecommons.org/licenses/by/4.0/";
    let provenance = json!({
        "base_url": "https://elsewhere.example.org/oai", "identifier": "oai:elsewhere.example.org:1",
        "datestamp": "2001-01-01", "metadata_namespace": "http://www.openarchives.org/OAI/2.0/oai_dc/",
        "harvest_date": "2002-02-02T02:02:02Z", "altered": true,
    });
    archive
        .fill(&[record_with("1", "One", json!({ "licence": licence, "provenance": provenance })), record("2", "Two")]);
    let told = archive.told();
    let about: String =
        told["oai:example.org:1"].about.iter().map(|part| String::from_utf8_lossy(&part.bytes).into_owned()).collect();
    for part in [
        &format!("<rightsReference ref=\"{licence}\"/>"),
        "harvestDate=\"2002-02-02T02:02:02Z\" altered=\"true\"",
        "<identifier>oai:elsewhere.example.org:1</identifier>",
    ] {
        assert!(about.contains(part), "{part} is not in {about}");
    }
    assert!(told["oai:example.org:2"].about.is_empty());
}

#[test]
fn the_repository_says_how_its_identifiers_are_made() {
    let archive = Archive::configured(PLAIN);
    archive.fill(&[record("1", "One")]);
    let server = archive.serve();
    let identify = oai::ask(&mut server.client(), "verb=Identify");
    let described = String::from_utf8_lossy(&identify.xml).into_owned();
    for part in [
        "<repositoryIdentifier>example.org</repositoryIdentifier>",
        "<sampleIdentifier>oai:example.org:",
        "<deletedRecord>persistent</deletedRecord>",
    ] {
        assert!(described.contains(part), "{part} is not in {described}");
    }
}
