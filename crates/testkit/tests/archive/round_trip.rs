//! The judge, the harvester and the schemas, on an archive of arXiv's shape.

use std::collections::BTreeMap;
use std::process::Command;

use modoai_testkit::archive::{Shape, Wanted};
use modoai_testkit::process::{Launch, Server, binary};
use modoai_testkit::xsd;

use super::{Archive, told};
use crate::harvest::Harvest;
use crate::harvest::stored;
use crate::oai;
use crate::running::to_its_end;

/// An archive that has changed once: there are tombstones, and datestamps of many days.
fn archive() -> Archive {
    let archive = Archive::preset("arxiv");
    archive.write_generated("snapshot.json", Shape::Snapshot, Wanted::of(300));
    archive.import("snapshot.json").done();
    archive.write_generated("snapshot.json", Shape::Snapshot, Wanted { change: 0.05, remove: 0.03, ..Wanted::of(300) });
    archive.import("snapshot.json").done();
    archive
}

fn serve(archive: &Archive) -> Server {
    Launch::of_catalogue(archive.catalogue()).set("records_per_page", "40").set("identifiers_per_page", "70").start()
}

#[test]
fn the_judge_has_nothing_against_it() {
    let archive = archive();
    let server = serve(&archive);
    let mut judge = Command::new(binary());
    judge.arg("validate").arg(format!("{}/modoai", server.url()));
    let judged = to_its_end(&mut judge).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(judged.status.code(), Some(0), "{}{}", judged.out, judged.err);
}

#[test]
fn our_harvester_gets_all_of_it() {
    let archive = archive();
    let server = serve(&archive);
    let expected = told(&server, "oai_dc");
    let copy = tempfile::tempdir().expect("a folder");
    let url = format!("{}/modoai", server.url());
    let harvest = || Harvest::new(&url, copy.path(), "jsonl").with(["--format", "oai_dc"]).complete();
    harvest();
    // Of what came twice, the later counts.
    let found: BTreeMap<String, stored::Line> =
        stored::lines(copy.path()).into_iter().map(|line| (line.identifier.clone(), line)).collect();
    assert_eq!(found.len(), expected.len());
    for (identifier, line) in &found {
        let record = &expected[identifier];
        assert_eq!((&line.datestamp, line.deleted), (&record.datestamp, record.deleted), "{identifier}");
        assert_eq!(line.sets, record.sets, "{identifier}");
        assert_eq!(line.metadata, record.metadata.as_ref().map(|part| part.bytes.clone()), "{identifier}");
    }
    // It is not the year that the e-prints are of, but what has been imported since, that is asked for again.
    archive.write_generated("snapshot.json", Shape::Snapshot, Wanted { change: 0.01, round: 7, ..Wanted::of(300) });
    archive.import("snapshot.json").done();
    harvest();
    let expected = told(&server, "oai_dc");
    let found: BTreeMap<String, stored::Line> =
        stored::lines(copy.path()).into_iter().map(|line| (line.identifier.clone(), line)).collect();
    for (identifier, record) in &expected {
        let line = &found[identifier];
        assert_eq!((&line.datestamp, line.deleted), (&record.datestamp, record.deleted), "{identifier}");
    }
}

#[test]
fn every_answer_is_as_the_schemas_say() {
    let archive = archive();
    let server = serve(&archive);
    let mut client = server.client();
    let formats = oai::ask(&mut client, "verb=ListMetadataFormats").answer.formats;
    let prefixes: Vec<String> = formats.into_iter().map(|format| format.prefix).collect();
    for expected in ["oai_dc", "arXiv", "arXivRaw", "arXivOld", "oai_rfc1807"] {
        assert!(prefixes.iter().any(|prefix| prefix == expected), "{expected} is not among {prefixes:?}");
    }
    let mut pages = vec![oai::ask(&mut client, "verb=Identify"), oai::ask(&mut client, "verb=ListMetadataFormats")];
    pages.extend(oai::pages(&mut client, "verb=ListSets"));
    for prefix in prefixes {
        pages.extend(oai::pages(&mut client, &format!("verb=ListRecords&metadataPrefix={prefix}")));
    }
    xsd::expect_all_valid(pages.iter().map(|page| (page.query.as_str(), page.xml.as_slice())));
}
