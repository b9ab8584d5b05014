//! A catalogue of documents or records in httpd: the same answers as by the standalone server, without a right to write.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use modoai_testkit::apache::{Httpd, Launch, Mpm};
use modoai_testkit::archive::{Shape, Wanted};
use modoai_testkit::http::{Client, encode};
use modoai_testkit::process::{self, Server};
use serde_json::json;

use super::{listed, paths};
use crate::archive::{Archive, record, record_with};
use crate::harvest::Harvest;
use crate::oai;

const ARCHIVE: &str = "repository_identifier = \"example.org\"\nfiles = \"files\"\n";

/// Only whoever made the folder may enter it, and that is not the user that httpd runs as.
fn opened_to_all(archive: Archive) -> Archive {
    set_mode(&archive.path(""), 0o755);
    archive
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("permissions set");
}

/// A few documents; the first has files.
fn small() -> Archive {
    let archive = opened_to_all(Archive::configured(ARCHIVE));
    archive.write("files/1/paper.pdf", b"%PDF-1.4\nnothing but a test\n");
    archive.write("files/1/source.tex", r"\bye");
    let files = json!([{ "path": "1/paper.pdf", "url": "https://example.org/1.pdf" }, { "path": "1/source.tex" }]);
    archive.fill(&[record_with("1", "With files", json!({ "files": files })), record("2", "Ω & <tags>")]);
    archive
}

/// httpd with a catalogue, and nothing else, at `/modoai`.
fn launch(mpm: Mpm, catalogue: &Path, directives: &str) -> Launch {
    let catalogue = catalogue.display();
    Launch::new(mpm).text("OAIIndexDir \"${SITE}/index\"").text(&format!(
        "<Location \"/modoai\">\nSetHandler oai-handler\nRequire all granted\nOAICatalogue \"{catalogue}\"\n{directives}\n</Location>"
    ))
}

/// Waits for a status at a path.
#[track_caller]
fn wait_for(httpd: &Httpd, path: &str, status: u16) {
    httpd.wait(&format!("{status} at {path}"), || {
        Client::new(&httpd.url()).get(path).is_ok_and(|answer| answer.status == status)
    });
}

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
        let person = [("Accept", "text/html")];
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

/// The names in a folder, sorted.
fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<String> = entries.map(|name| name.to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn an_archive_is_told_as_by_the_standalone_server() {
    let archive = opened_to_all(Archive::preset("arxiv"));
    archive.write_generated("snapshot.json", Shape::Snapshot, Wanted::of(200));
    archive.import("snapshot.json").done();
    archive.write_generated("snapshot.json", Shape::Snapshot, Wanted { change: 0.05, remove: 0.05, ..Wanted::of(200) });
    archive.import("snapshot.json").done();
    Both::of(&archive.catalogue()).compare();
}

#[test]
fn so_are_files_of_documents_and_records_of_other_repositories() {
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

#[test]
fn imports_show_while_httpd_runs_and_nothing_is_written_but_by_them() {
    let archive = small();
    let before = names_in(&archive.path(""));
    let httpd = launch(Mpm::Prefork, &archive.catalogue(), "").start();
    let told = |query: &str| {
        // Each connection may come to another child.
        let answers = (0..6).map(|_| oai::harvest(&mut httpd.client(), query));
        let answers: Vec<Vec<_>> = answers.collect();
        assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
        answers.into_iter().next().expect("six of them")
    };
    let list = "verb=ListRecords&metadataPrefix=oai_dc";
    assert_eq!(told(list).len(), 2);
    archive.fill(&[record("2", "Another title"), record("3", "A third")]);
    let now = told(list);
    let find = |number: &str| now.iter().find(|record| record.identifier.ends_with(number)).expect("it is listed");
    assert!(find(":1").deleted && !find(":2").deleted && !find(":3").deleted, "{now:?}");
    assert!(String::from_utf8_lossy(&find(":2").metadata.as_ref().expect("a record").bytes).contains("Another title"));
    // A format that was not there before.
    archive.write("archive.toml", format!("formats = [\"mods\"]\n{ARCHIVE}"));
    archive.import("records.jsonl").done();
    assert_eq!(told("verb=ListRecords&metadataPrefix=mods").iter().filter(|record| !record.deleted).count(), 2);
    assert_eq!(names_in(&archive.path("")), before);
    // There is no site, and so nothing of one.
    assert_eq!(names_in(&httpd.path().join("index")), ["archives"]);
    httpd.expect_clean_log(&[]);
}

#[test]
fn what_cannot_be_read_is_waited_for() {
    let archive = opened_to_all(Archive::configured("repository_identifier = \"example.org\"\n"));
    let httpd = launch(Mpm::Event, &archive.catalogue(), "").start();
    let identify = "/modoai?verb=Identify";
    let refused = httpd.client().get(identify).expect("an answer");
    assert_eq!(refused.status, 503);
    assert!(refused.header("Retry-After").is_some_and(|seconds| seconds.parse::<u64>().is_ok()), "{refused:?}");
    httpd.wait("it is said why", || {
        httpd.error_log().contains("cannot be opened") && httpd.error_log().contains("No such file")
    });

    archive.fill(&[record("1", "One")]);
    wait_for(&httpd, identify, 200);
    // Taken away, and given back to others only.
    let catalogue = archive.catalogue();
    let beside = |suffix: &str| PathBuf::from(format!("{}{suffix}", catalogue.display()));
    for suffix in ["", "-wal", "-shm"] {
        fs::rename(beside(suffix), beside(&format!("{suffix}.away"))).expect("it is there");
    }
    wait_for(&httpd, identify, 503);
    fs::copy(beside(".away"), &catalogue).expect("a copy");
    set_mode(&catalogue, 0o200);
    wait_for(&httpd, identify, 503);
    httpd.wait("it is said why", || httpd.error_log().contains("Permission denied"));
    // A copy alone, in a folder where nothing can be made beside it.
    set_mode(&catalogue, 0o444);
    set_mode(&archive.path(""), 0o555);
    wait_for(&httpd, identify, 503);
    httpd.wait("it is said why", || httpd.error_log().contains("its -wal and -shm"));
    set_mode(&archive.path(""), 0o755);
    set_mode(&catalogue, 0o644);
    archive.fill(&[record("1", "One"), record("2", "Two")]);
    wait_for(&httpd, identify, 200);
    assert_eq!(oai::harvest(&mut httpd.client(), "verb=ListRecords&metadataPrefix=oai_dc").len(), 2);
    httpd.expect_clean_log(&["cannot be opened", "there is no catalogue"]);
}

#[test]
fn budgets_hold_across_children_and_where_nothing_can_be_kept_it_serves_all_the_same() {
    let archive = small();
    let list = "/modoai?verb=ListIdentifiers&metadataPrefix=oai_dc";
    let httpd = launch(Mpm::Prefork, &archive.catalogue(), "OAIListDelay 1h").start();
    let ask = || Client::new(&httpd.url()).get(list).expect("an answer").status;
    let statuses: Vec<u16> = (0..24).map(|_| ask()).collect();
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "{statuses:?}");
    assert!(statuses.iter().all(|status| matches!(status, 200 | 503)), "{statuses:?}");
    httpd.graceful();
    wait_for(&httpd, "/modoai?verb=Identify", 200);
    assert_eq!(ask(), 503);
    let kept = httpd.path().join("index/archives");
    let [folder] = &names_in(&kept)[..] else { panic!("{:?}", names_in(&kept)) };
    assert!(names_in(&kept.join(folder)).contains(&"harvest-log".to_owned()), "{:?}", names_in(&kept.join(folder)));
    httpd.expect_clean_log(&[]);

    let launch = launch(Mpm::Event, &archive.catalogue(), "");
    launch.write("index-dir/file", "in the way");
    let httpd = launch.text("OAIIndexDir \"${SITE}/index-dir/file\"").start();
    assert_eq!(oai::harvest(&mut httpd.client(), "verb=ListRecords&metadataPrefix=oai_dc").len(), 2);
}

#[test]
fn a_site_and_an_archive_share_a_host() {
    let archive = small();
    let theses = format!(
        "OAIRepositoryName \"The site\"\nOAIAdminEmail site@example.org\nOAISampleIdentifier a.txt\n\
         <Location \"/theses\">\nSetHandler oai-handler\nRequire all granted\nOAIRepositoryName \"The theses\"\n\
         OAICatalogue \"{}\"\n</Location>",
        archive.catalogue().display()
    );
    let launch = Launch::new(Mpm::Worker).ordinary_site().text(&theses);
    launch.write("docs/a.txt", "a");
    let httpd = launch.start();
    let mut client = httpd.client();
    httpd.wait_for_index(&mut client);
    assert_eq!(listed(&mut client), paths(["a.txt"]));
    let identify = oai::ask(&mut client, "verb=Identify").answer;
    assert_eq!(identify.identify("repositoryName"), Some("The site"));
    let answer = client.get("/theses?verb=Identify").expect("an answer").text();
    for part in [
        "<repositoryName>The theses</repositoryName>",
        "<adminEmail>site@example.org</adminEmail>",
        &format!("<baseURL>{}/theses</baseURL>", httpd.url()),
        "oai:example.org:1",
    ] {
        assert!(answer.contains(part), "{part}: {answer}");
    }
    let answer = client.get("/theses?verb=ListIdentifiers&metadataPrefix=oai_dc").expect("an answer").text();
    assert!(answer.contains("oai:example.org:2") && !answer.contains("a.txt"), "{answer}");
    httpd.expect_clean_log(&[]);
}
