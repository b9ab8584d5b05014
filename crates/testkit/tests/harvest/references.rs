//! What records only refer to: it is fetched and counted, and a repository out there cannot make us fetch what only we can
//! reach.

use std::path::Path;

use modoai_testkit::endpoint::{Endpoint, Script};
use modoai_testkit::process::{Launch, Server};
use modoai_testkit::site::{TestSite, files_below};

use super::Harvest;

#[test]
fn what_is_fetched_by_reference_is_counted() {
    let large = "x".repeat(300_000);
    let site = TestSite::with(&[("large.txt", &large), ("small.txt", "small")]);
    let server = Launch::of(site.path()).set("by_value_limit", "1000").start();
    for sink in ["mirror", "warc"] {
        let folder = tempfile::tempdir().expect("a folder");
        let ended = Harvest::new(&format!("{}/modoai", server.url()), folder.path(), sink).complete();
        assert!(ended.report["bytes"].as_u64().is_some_and(|bytes| bytes > 300_000), "{}", ended.said);
        // Identify, the formats, the list, and the file.
        assert_eq!(ended.report["requests"], 4, "{}", ended.said);
    }
}

/// An endpoint whose one record refers to this URL.
fn referring_to(url: &str) -> Endpoint {
    let didl = format!(
        "<d:DIDL xmlns:d=\"urn:mpeg:mpeg21:2002:02-DIDL-NS\"><d:Item><d:Component>\
         <d:Resource mimeType=\"text/plain\" ref=\"{url}\"/></d:Component></d:Item></d:DIDL>"
    );
    Endpoint::start(Script::default().holding(|holdings| {
        holdings.records.retain(|record| !record.deleted);
        holdings.records.truncate(1);
        holdings.records[0].metadata = didl.into_bytes();
    }))
}

fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut files = files_below(folder).expect("a folder");
    files.retain(|file| !file.starts_with(".modoai"));
    files
}

#[test]
fn a_repository_out_there_cannot_refer_to_what_is_at_home() {
    let site = TestSite::with(&[("secret.txt", "secret")]);
    let home = Server::of(site.path());
    let endpoint = referring_to(&format!("{}/secret.txt", home.url()));
    let harvest = |url: &str, folder: &Path, sink: &str| Harvest::new(url, folder, sink).with(["--format", "oai_dc"]);

    let folder = tempfile::tempdir().expect("a folder");
    harvest(endpoint.url(), folder.path(), "mirror").complete();
    assert_eq!(files(folder.path()).len(), 1, "a repository at home may");

    // The same endpoint under a name that is nowhere here, by way of a proxy.
    let (origin, path) = endpoint.url().split_at(endpoint.url().rfind('/').expect("a path"));
    for sink in ["mirror", "warc"] {
        let folder = tempfile::tempdir().expect("a folder");
        let harvest = harvest(&format!("http://repository.invalid{path}"), folder.path(), sink);
        let ended = harvest.with(["--proxy", origin]).run().expect("an end");
        assert_eq!(ended.code, Some(3), "{}", ended.said);
        let [missing] = ended.missing() else { panic!("{}", ended.said) };
        assert!(missing["reason"].as_str().is_some_and(|reason| reason.contains("public")), "{missing}");
        assert!(sink == "warc" || files(folder.path()).is_empty(), "{:?}", files(folder.path()));
    }
    assert_eq!(home.said().matches("GET /secret.txt").count(), 1, "{}", home.said());
}
