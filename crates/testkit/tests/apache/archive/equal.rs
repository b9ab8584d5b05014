//! The same catalogue in httpd and in the standalone server: whatever is asked, the same is said.

use std::path::Path;

use modoai_testkit::apache::{self, Httpd, Mpm};
use modoai_testkit::archive::{Shape, Wanted};
use modoai_testkit::http::{BROWSER, Client, encode};
use modoai_testkit::process::{self, Server};

use super::{launch, opened_to_all, small};
use crate::archive::Archive;
use crate::harvest::Harvest;
use crate::oai;

/// An answer without what differs by right: when and where it was given, and how it may be packed on the way.
fn plain(text: &str, base_url: &str) -> String {
    let in_pages = base_url.replace('/', "&#x2f;");
    let mut text = text.replace(base_url, "BASE").replace(&encode(base_url), "BASE").replace(&in_pages, "BASE");
    for name in ["responseDate", "compression"] {
        let (open, close) = (format!("<{name}>"), format!("</{name}>"));
        while let Some((before, rest)) = text.split_once(&open) {
            text = format!("{}{}", before.trim_end(), rest.split_once(&close).expect("an end").1);
        }
    }
    text.lines().filter(|line| !line.starts_with("<p>As of ")).collect::<Vec<_>>().join("\n")
}

/// The two hosts, with the same catalogue.
struct Both {
    server: Server,
    httpd: Httpd,
}

impl Both {
    fn of(catalogue: &Path) -> Self {
        let server = process::Launch::of_catalogue(catalogue)
            .set("repository_name", "Theses & more")
            .set("admin_email", "[\"theses@example.org\"]")
            .set("records_per_page", "40")
            .set("identifiers_per_page", "40");
        let directives = "OAIRepositoryName \"Theses & more\"\nOAIAdminEmail theses@example.org\nOAIPageSize 40";
        Self { server: server.start(), httpd: launch(Mpm::Event, catalogue, directives).start() }
    }

    /// What both say to a request, which must be the same.
    #[track_caller]
    fn say(&self, method: &str, query: &str, headers: &[(&str, &str)], body: &str) -> String {
        let url = format!("/modoai{query}");
        let [one, other] = [self.server.url().to_owned(), self.httpd.url()].map(|host| {
            let answer = Client::new(&host).send(method, &url, headers, body.as_bytes()).expect("an answer");
            let kind = answer.header("Content-Type").unwrap_or_default().to_ascii_lowercase();
            (answer.status, kind, plain(&answer.text(), &format!("{host}/modoai")))
        });
        let asked = format!("{method} {query} {headers:?} {body}");
        assert_eq!((one.0, &one.1), (other.0, &other.1), "{asked}");
        assert_eq!(one.0, 200, "{asked}: {}", one.2);
        // The first line that differs says more than two long texts.
        let lines = one.2.lines().zip(other.2.lines());
        assert_eq!(lines.filter(|(one, other)| one != other).collect::<Vec<_>>(), [], "{asked}");
        assert_eq!(one.2.lines().count(), other.2.lines().count(), "{asked}");
        one.2
    }

    /// All pages of a list, which must be the same.
    #[track_caller]
    fn list(&self, query: &str) -> usize {
        let (mut one, mut other) = (self.server.client(), self.httpd.client());
        let (pages, others) = (oai::pages(&mut one, query), oai::pages(&mut other, query));
        assert_eq!(pages.len(), others.len(), "{query}");
        let (here, there) = (format!("{}/modoai", self.server.url()), format!("{}/modoai", self.httpd.url()));
        for (page, other) in pages.iter().zip(&others) {
            let [page, other] = [(page, &here), (other, &there)].map(|(page, url)| {
                let token = page.answer.token.as_ref().map(|token| token.value.as_str()).unwrap_or_default();
                let text = plain(&String::from_utf8_lossy(&page.xml), url);
                // A token has the moment in it at which the list was begun.
                if token.is_empty() { text } else { text.replace(token, "TOKEN") }
            });
            assert_eq!(page, other, "{query}");
        }
        // A list that one has begun the other can go on with.
        if let Some(token) = pages[0].answer.token.as_ref().filter(|token| !token.value.is_empty()) {
            let verb = query.split('&').next().expect("a verb");
            self.say("GET", &format!("?{verb}&resumptionToken={}", encode(&token.value)), &[], "");
        }
        pages.iter().map(|page| page.answer.records.len()).sum()
    }

    /// Everything that can be asked, and some things that cannot.
    fn compare(&self) {
        let form = [("Content-Type", "application/x-www-form-urlencoded")];
        let person = [BROWSER];
        let sample = oai::ask(&mut self.server.client(), "verb=ListIdentifiers&metadataPrefix=oai_dc");
        let sample = encode(&sample.answer.records[0].identifier);
        let formats = oai::ask(&mut self.server.client(), "verb=ListMetadataFormats").answer.formats;
        assert!(!formats.is_empty());
        let mut queries: Vec<String> = ["Identify", "ListSets", "ListMetadataFormats", "Nonsense"]
            .iter()
            .map(|verb| format!("verb={verb}"))
            .collect();
        queries.extend(
            ["", "verb=Identify&verb=Identify", "verb=ListRecords", "verb=ListRecords&resumptionToken=no"]
                .map(str::to_owned),
        );
        queries.push(format!("verb=ListMetadataFormats&identifier={sample}"));
        queries.push("verb=GetRecord&metadataPrefix=oai_dc&identifier=oai:nobody:1".to_owned());
        for format in &formats {
            let prefix = &format.prefix;
            queries.push(format!("verb=GetRecord&metadataPrefix={prefix}&identifier={sample}"));
            let list = format!("verb=ListRecords&metadataPrefix={prefix}");
            for more in ["", "&from=2010-01-01&until=2015-12-31", "&set=physics", "&set=no:such", "&from=2100-01-01"] {
                queries.push(format!("{list}{more}"));
            }
            assert!(self.list(&list) > 0, "{prefix}");
        }
        assert!(self.list("verb=ListIdentifiers&metadataPrefix=oai_dc") > 0);
        for query in &queries {
            let told = self.say("GET", &format!("?{query}"), &[], "");
            assert_eq!(self.say("POST", "", &form, query), told);
            self.say("HEAD", &format!("?{query}"), &[], "");
            // The page of Identify tells of compression in words of its own.
            if !query.starts_with("verb=Identify") && !query.is_empty() {
                self.say("GET", &format!("?{query}"), &person, "");
            }
        }
        self.httpd.expect_clean_log(&[]);
    }
}

#[test]
fn an_archive_is_told_as_by_the_standalone_server() {
    if apache::is_missing() {
        return;
    }
    let archive = opened_to_all(Archive::preset("arxiv"));
    archive.write_generated("snapshot.json", Shape::Snapshot, Wanted::of(200));
    archive.import("snapshot.json").done();
    archive.write_generated("snapshot.json", Shape::Snapshot, Wanted { change: 0.05, remove: 0.05, ..Wanted::of(200) });
    archive.import("snapshot.json").done();
    Both::of(&archive.catalogue()).compare();
}

#[test]
fn so_are_files_of_documents_and_records_of_other_repositories() {
    if apache::is_missing() {
        return;
    }
    let archive = small();
    let both = Both::of(&archive.catalogue());
    both.compare();
    let package = both.say("GET", "?verb=GetRecord&metadataPrefix=oai_didl&identifier=oai:example.org:1", &[], "");
    assert!(
        package.contains("ref=\"https://example.org/1.pdf\"") && package.contains("encoding=\"base64\""),
        "{package}"
    );

    let folder = archive.path("aggregated");
    let url = format!("{}/modoai", both.server.url());
    Harvest::new(&url, &folder, "catalogue").with(["--format", "oai_dc"]).complete();
    Both::of(&folder.join("catalogue.sqlite")).compare();
}
