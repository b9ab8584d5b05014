//! What programs for web archives make of an archive: pywb replays every URL as a GET returned it, cdxj-indexer makes the
//! same index, warcio finds no wrong digest, py-wacz finds the pages, and a browser shows them.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::bufread::GzDecoder;
use modoai_testkit::apache::{self, Mpm};
use modoai_testkit::http::Client;
use modoai_testkit::peer::{Peer, archive_tool};
use modoai_testkit::process::{Launch, Server};
use modoai_testkit::site::{TestSite, files_below};
use modoai_testkit::waiting::{next_second, wait_for};
use modoai_testkit::workspace;
use rusqlite::Connection;

use super::round_trip::open_to_all;
use super::{Harvest, stored};
use crate::oai;
use crate::running::to_its_end;

/// What a GET returns: the status, the media type, and the body.
#[derive(PartialEq, Eq)]
struct Answer {
    status: u16,
    media_type: Option<String>,
    body: Vec<u8>,
}

impl Answer {
    fn of(client: &mut Client, target: &str) -> Self {
        let response = client.get(target).unwrap_or_else(|error| panic!("{target}: {error}"));
        let media_type = response.header("Content-Type").map(str::to_owned);
        Self { status: response.status, media_type, body: response.body }
    }

    /// In a few words.
    fn outline(&self) -> String {
        let text = String::from_utf8_lossy(&self.body[..self.body.len().min(200)]);
        format!("{} {:?}, {} bytes: {text}", self.status, self.media_type, self.body.len())
    }
}

/// The example site, in a folder that can be changed.
fn example() -> TestSite {
    let (site, original) = (TestSite::default(), workspace().join("examples/site"));
    for file in files_below(&original).expect("the example is here") {
        site.write(&file, fs::read(original.join(&file)).expect("readable"));
    }
    site
}

/// The URLs of what a repository lists, and of their folders, with what a GET returns of each.
fn captured(client: &mut Client, origin: &str) -> BTreeMap<String, Answer> {
    let records = oai::harvest(client, "verb=ListIdentifiers&metadataPrefix=oai_dc");
    let mut urls: Vec<String> =
        records.into_iter().filter(|record| !record.deleted).map(|record| record.identifier).collect();
    urls.extend(urls.clone().iter().filter_map(|url| url.strip_suffix("index.html")).map(str::to_owned));
    let answer = |url: String| {
        let answer = Answer::of(client, url.strip_prefix(origin).expect("a URL of the site"));
        assert_eq!(answer.status, 200, "{url}");
        (url, answer)
    };
    urls.into_iter().map(answer).collect()
}

/// Replays all of these URLs, and compares.
fn expect_replayed(folder: &Path, expected: &BTreeMap<String, Answer>) {
    let Some(pywb) = Peer::replay(folder) else { return };
    let (origin, collection) = pywb.url().rsplit_once('/').expect("a collection");
    let mut client = Client::new(origin);
    for (url, expected) in expected {
        let replayed = Answer::of(&mut client, &format!("/{collection}/id_/{url}"));
        assert!(replayed == *expected, "{url} is {}\nand replayed {}", expected.outline(), replayed.outline());
    }
}

/// The files of an archive with this extension, in their order.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let all = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("readable").path());
    let mut files: Vec<_> = all.filter(|path| path.to_string_lossy().ends_with(extension)).collect();
    files.sort();
    files
}

/// The first record of a segment.
fn first_record(segment: &Path) -> String {
    let (bytes, mut text) = (fs::read(segment).expect("readable"), String::new());
    GzDecoder::new(&bytes[..]).read_to_string(&mut text).expect("text");
    text
}

/// What a program for web archives prints about files; nothing if it is not installed.
fn printed(tool: &str, arguments: &[&str], files: &[PathBuf]) -> Option<String> {
    let mut command = Command::new(archive_tool(tool)?);
    let told = to_its_end(command.args(arguments).args(files)).unwrap_or_else(|error| panic!("{error}"));
    assert!(told.status.success(), "{tool}: {}{}", told.out, told.err);
    Some(told.out)
}

/// Checks what other programs make of the files: digests, the index, and the pages.
fn expect_understood(folder: &Path, pages: &[&String]) {
    let segments = files(folder, ".warc.gz");
    if let Some(checked) = printed("warcio", &["check", "-v"], &segments) {
        assert!(!checked.contains("failed"), "{checked}");
    }
    if let Some(index) = printed("cdxj-indexer", &["--sort"], &segments) {
        let indexes = files(folder, ".cdxj");
        assert_eq!(indexes.len(), segments.len(), "one for each segment");
        let own: String = indexes.iter().map(|path| fs::read_to_string(path).expect("readable")).collect();
        let mut own: Vec<_> = own.lines().collect();
        own.sort_unstable();
        let differing = index.lines().zip(&own).find(|(theirs, ours)| theirs != *ours);
        assert!(index.lines().eq(own.iter().copied()), "{differing:?}");
    }
    let package = folder.join("site.wacz");
    let arguments = ["create", "--detect-pages", "-o", package.to_str().expect("a path in UTF-8")];
    if printed("wacz", &arguments, &segments).is_some() {
        let python = archive_tool("python").expect("what has just been run");
        let mut list = Command::new(python);
        list.args([
            "-c",
            "import sys, zipfile; print(zipfile.ZipFile(sys.argv[1]).read('pages/pages.jsonl').decode())",
        ]);
        let told = to_its_end(list.arg(&package)).unwrap_or_else(|error| panic!("{error}"));
        for page in pages {
            assert!(told.out.contains(&format!("\"url\": \"{page}\"")), "{page} is not a page\n{}", told.out);
        }
    }
}

/// What a repository lists: identifiers with their datestamps, and whether they are deleted.
fn listed(client: &mut Client) -> BTreeMap<String, (String, bool)> {
    let records = oai::harvest(client, "verb=ListIdentifiers&metadataPrefix=oai_dc");
    records.into_iter().map(|record| (record.identifier, (record.datestamp, record.deleted))).collect()
}

/// Changes the site, and waits until the repository lists that.
fn change(site: &TestSite, round: usize, origin: &str, client: &mut Client) {
    // Captures and datestamps have seconds.
    next_second();
    let before = listed(client);
    let changed = ["about/index.html", "pictures/tide.png", "media/bell.wav"];
    for name in changed {
        site.replace(name, format!("<title>Round {round}</title><p>{}", "changed ".repeat(1_000 * round)));
    }
    let (added, removed) = (format!("new/{round}/index.html"), ["about/untitled.html", "style.css"][round - 1]);
    site.write(&added, format!("<title>New in round {round}</title>"));
    site.remove(removed);
    open_to_all(site.path());
    wait_for("the repository lists the changes", || {
        let now = listed(client);
        let state =
            |list: &BTreeMap<String, (String, bool)>, name: &str| list.get(&format!("{origin}/{name}")).cloned();
        let is_changed = |name: &&str| state(&now, name) != state(&before, name);
        let is_done = changed.iter().all(is_changed) && state(&now, &added).is_some() && is_changed(&removed);
        if is_done { Ok(()) } else { Err(format!("{now:?}")) }
    });
}

/// Harvests a site three times, with changes and deletions between, and replays all of it after each harvest.
fn expect_three_harvests_replayed(site: &TestSite, origin: &str, mut client: Client) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut expected = BTreeMap::new();
    let mut earlier: Vec<(PathBuf, Vec<u8>)> = Vec::new();
    for round in 0..3 {
        if round > 0 {
            change(site, round, origin, &mut client);
        }
        let harvest = Harvest::new(&format!("{origin}/modoai"), folder.path(), "warc");
        harvest.with(["--contact", "librarian@example.org"]).complete();
        // What is deleted is replayed as it was last.
        expected.extend(captured(&mut client, origin));
        expect_replayed(folder.path(), &expected);
        let segments = files(folder.path(), ".warc.gz");
        assert_eq!(segments.len(), round + 1, "every harvest adds a segment");
        assert!(first_record(&segments[round]).contains("\r\noperator: librarian@example.org\r\n"));
        for (path, bytes) in &earlier {
            assert!(fs::read(path).expect("readable") == *bytes, "{} was changed", path.display());
        }
        let files = segments.into_iter().chain(files(folder.path(), ".cdxj"));
        earlier = files.map(|path| (path.clone(), fs::read(path).expect("readable"))).collect();
    }
    let is_page = |answer: &Answer| answer.media_type.as_deref().is_some_and(|name| name.starts_with("text/html"));
    let pages: Vec<_> = expected.iter().filter(|(_, answer)| is_page(answer)).map(|(url, _)| url).collect();
    assert!(pages.len() > 5, "{pages:?}");
    expect_understood(folder.path(), &pages);
    stored::warc(folder.path());
}

#[test]
fn a_site_of_modoai_serve_is_replayed_after_every_harvest() {
    let site = example();
    // Some resources are fetched by reference.
    let server = Launch::of(site.path()).set("by_value_limit", "3000").set("records_per_page", "5").start();
    expect_three_harvests_replayed(&site, server.url(), server.client());
}

#[test]
fn a_site_of_apache_is_replayed_after_every_harvest() {
    if apache::is_missing() {
        return;
    }
    let site = example();
    open_to_all(site.path());
    let httpd = apache::Launch::new(Mpm::Event).site_at(site.path()).start();
    let mut client = httpd.client();
    httpd.wait_for_index(&mut client);
    expect_three_harvests_replayed(&site, &httpd.url(), client);
}

/// Archives of version 0.1 have no note of their form.
#[test]
fn an_archive_of_the_previous_version_is_harvested_again() {
    let site = TestSite::with(&[("index.html", "<p>front page"), ("a.txt", "a")]);
    let server = Server::of(site.path());
    let folder = tempfile::tempdir().expect("a folder");
    let harvest = || Harvest::new(&format!("{}/modoai", server.url()), folder.path(), "warc").complete();
    harvest();
    let ledger = Connection::open(folder.path().join(".modoai/warc.sqlite")).expect("a ledger");
    assert_eq!(ledger.execute("DELETE FROM fact WHERE name = 'form'", []).expect("writable"), 1);
    drop(ledger);
    next_second();
    let ended = harvest();
    assert!(ended.said.contains("starting a full harvest"), "{}", ended.said);
    let kinds: Vec<String> = stored::warc(folder.path()).into_iter().map(|[kind, ..]| kind).collect();
    assert_eq!(kinds.iter().filter(|kind| *kind == "response").count(), 4, "{kinds:?}");
    expect_replayed(folder.path(), &captured(&mut server.client(), server.url()));
    let ended = harvest();
    assert!(!ended.said.contains("starting a full harvest"), "{}", ended.said);
    assert_eq!(files(folder.path(), ".warc.gz").len(), 2);
}

#[test]
fn a_browser_shows_a_replayed_page_with_its_picture_and_style() {
    let Some(browser) = modoai_testkit::command(&["chromium", "chromium-browser", "google-chrome"]) else {
        return modoai_testkit::not_installed("no browser for replayed pages");
    };
    let site = example();
    let page = "<!DOCTYPE html><title>loading</title><link rel=stylesheet href=colour.css><p id=text>text</p>\
        <img id=picture src=\"/pictures/tide.png\"><script>onload = () => { document.title = 'width ' + \
        picture.naturalWidth + ', colour ' + getComputedStyle(text).color; }</script>";
    site.write("replay/index.html", page);
    site.write("replay/colour.css", "p { color: rgb(1, 2, 3) }");
    let server = Server::of(site.path());
    let folder = tempfile::tempdir().expect("a folder");
    Harvest::new(&format!("{}/modoai", server.url()), folder.path(), "warc").complete();
    let original = server.url().to_owned();
    // Nothing can come from the site itself any more.
    server.kill();
    let Some(pywb) = Peer::replay(folder.path()) else { return };
    let profile = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(browser);
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]);
    command.args(["--disable-component-update", "--disable-sync", "--dump-dom", "--virtual-time-budget=20000"]);
    command.arg(format!("--user-data-dir={}", profile.path().display()));
    let told = to_its_end(command.arg(format!("{}/mp_/{original}/replay/", pywb.url())));
    let told = told.unwrap_or_else(|error| panic!("{error}"));
    let title = told.out.split("<title>").nth(1).and_then(|rest| rest.split("</title>").next()).unwrap_or_default();
    let width = title.strip_prefix("width ").and_then(|rest| rest.strip_suffix(", colour rgb(1, 2, 3)"));
    assert!(width.is_some_and(|width| width.parse::<u32>().is_ok_and(|width| width > 1)), "{title}\n{}", told.out);
}
