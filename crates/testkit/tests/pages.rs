//! Pages, searches and downloads: one implementation, tested in both hosts.

use modoai_testkit::http::Client;
use modoai_testkit::site::TestSite;

use crate::hosts::Host;

const BROWSER: (&str, &str) = ("Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8");

/// A request of a browser; the text without escapes that are only for caution.
fn page(client: &mut Client, query: &str) -> String {
    let response = client.get_with(&format!("/modoai?{query}"), &[BROWSER]).expect("a response");
    assert_eq!(response.status, 200, "{query}");
    response.text().replace("&#x2f;", "/").replace("&#x27;", "'")
}

#[test]
fn a_person_finds_counts_and_downloads_records() {
    let site = TestSite::with(&[
        ("cheese/gouda.html", "<title>On Gouda and <i>wine</i></title>"),
        ("cheese/brie.html", "<title>On Brie</title>"),
        ("wine list.txt", "none"),
    ]);
    for host in [Host::Standalone, Host::Apache] {
        let running = host.serve(&site, &[]);
        let mut client = running.client();
        let front = page(&mut client, "");
        assert!(front.contains("<p>The datestamp of a record is"), "{host:?}: {front}");

        let list = "verb=ListRecords&metadataPrefix=oai_dc";
        let found = page(&mut client, &format!("{list}&search=GOUDA+wine"));
        assert!(found.contains("1 record found among 3.") && found.contains("gouda.html"), "{host:?}: {found}");
        assert!(!found.contains("brie.html"), "{host:?}: {found}");
        let found = page(&mut client, &format!("{list}&search=wine+list"));
        assert!(found.contains("1 record found among 3."), "names are searched as people read them: {host:?}: {found}");

        let found = page(&mut client, "verb=ListRecords&metadataPrefix=oai_didl");
        assert!(found.contains("On Brie</a></h2>"), "titles are headings in every format: {host:?}: {found}");
        assert!(found.contains("This page leaves them out"), "{host:?}: {found}");

        let csv = client.get(&format!("/modoai/csv?{list}&set=mime:text:html")).expect("a response");
        assert_eq!(
            (csv.status, csv.header("Content-Disposition")),
            (200, Some("attachment; filename=\"records.csv\""))
        );
        assert_eq!(csv.text().lines().count(), 3, "{host:?}: {}", csv.text());
        let lines = client.get(&format!("/modoai/jsonl?{list}")).expect("a response");
        let records: Vec<serde_json::Value> =
            lines.text().lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        assert_eq!(records.len(), 3, "{host:?}: {}", lines.text());
        assert!(records.iter().any(|record| record["metadata"]["title"][0] == "On Brie"), "{host:?}: {records:?}");
        let head = client.head(&format!("/modoai/csv?{list}")).expect("a response");
        assert_eq!((head.status, head.text().as_str()), (200, ""));

        // OAI-PMH has no search: for a harvester it is an error.
        let xml = client.get(&format!("/modoai?{list}&search=wine")).expect("a response").text();
        assert!(xml.contains("code=\"badArgument\""), "{host:?}: {xml}");
        let xml = client.get("/modoai/csv?verb=Identify").expect("a response").text();
        assert!(xml.contains("<repositoryName>"), "{host:?}: {xml}");
    }
}
