//! `modoai validate`: our own servers pass, without exceptions made for them; what is wrong is told, shown and counted.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use modoai_testkit::apache::machine::free_port;
use modoai_testkit::apache::{self, Mpm};
use modoai_testkit::endpoint::{Endpoint, Reply, Script};
use modoai_testkit::http::encode;
use modoai_testkit::process::{Launch, Server};
use modoai_testkit::site::TestSite;
use modoai_testkit::waiting::wait_until;
use modoai_testkit::workspace;

use crate::desk::Desk;
use crate::documents::expect_shown;

const GUIDE: &str = "docs/guide/validate.md";
const BEGIN: &str = "<!-- printed by `modoai validate --list-checks` -->\n";
const END: &str = "<!-- end of what is printed -->\n";

/// An address that is not a placeholder.
const ADDRESS: &str = "oai@library.example.org";

/// A site with several pages of each list, and a deletion.
fn served() -> (TestSite, Server) {
    let site = TestSite::default();
    for number in 0..23 {
        site.write(format!("papers/{number}.txt"), format!("paper {number}"));
        site.write(format!("pages/{number}.html"), format!("<!doctype html><title>Page {number}</title>"));
    }
    let launch = Launch::of(site.path()).set("records_per_page", "9").set("identifiers_per_page", "11");
    let launch = launch.set("repository_name", "Papers").set("admin_email", ADDRESS);
    let server = launch.start();
    site.remove("papers/7.txt");
    let identifier = encode(format!("{}/papers/7.txt", server.url()));
    let question = format!("/modoai?verb=GetRecord&metadataPrefix=oai_dc&identifier={identifier}");
    wait_until("the deletion shows", || {
        server.client().get(&question).expect("an answer").text().contains("status=\"deleted\"")
    });
    (site, server)
}

#[test]
fn our_own_server_conforms() {
    let (_site, server) = served();
    let url = format!("{}/modoai", server.url());
    let text = Desk::new().run(&["validate", &url, "--strict"]).printed();
    assert!(text.starts_with(&format!("{url}: Papers\n\nHTTP")), "{text}");
    assert!(text.contains("  pass       tokens-last-page "), "{text}");
    assert!(text.contains("  pass       deletions-get-record "), "{text}");
    assert!(text.contains(" passed, 0 failed, 0 with warnings, "), "{text}");
}

#[test]
fn default_name_and_email_of_our_own_server_are_warnings() {
    let site = TestSite::with(&[("a.txt", "a")]);
    let server = Server::of(site.path());
    let url = format!("{}/modoai", server.url());
    let ended = Desk::new().run(&["validate", &url, "--json", "--only", "identify"]);
    assert_eq!(ended.status, 0, "{}{}", ended.stdout, ended.stderr);
    let report: serde_json::Value = serde_json::from_str(&ended.stdout).expect("JSON");
    let outcomes = report["outcomes"].as_array().expect("a list");
    let warnings: Vec<_> = outcomes.iter().filter(|outcome| outcome["grade"] == "warning").collect();
    assert_eq!(warnings.len(), 1, "{}", ended.stdout);
    assert_eq!(warnings[0]["id"], "identify-placeholders");
    assert_eq!(warnings[0]["findings"].as_array().map(Vec::len), Some(2), "{}", ended.stdout);
    let ended = Desk::new().run(&["validate", &url, "--strict", "--only", "identify-placeholders"]);
    assert_eq!(ended.status, 2, "{}{}", ended.stdout, ended.stderr);
}

#[test]
fn the_apache_module_conforms() {
    if apache::is_missing() {
        return;
    }
    let launch =
        apache::Launch::new(Mpm::Event).ordinary_site().text("OAIPageSize 7").text(&format!("ServerAdmin {ADDRESS}"));
    for number in 0..23 {
        launch.write(format!("docs/papers/{number}.txt"), format!("paper {number}"));
        launch.write(format!("docs/pages/{number}.html"), format!("<!doctype html><title>Page {number}</title>"));
    }
    let httpd = launch.start();
    httpd.wait_for_index(&mut httpd.client());
    let url = format!("{}/modoai", httpd.url());
    let text = Desk::new().run(&["validate", &url, "--strict"]).printed();
    assert!(text.contains("  pass       tokens-last-page "), "{text}");
    assert!(text.contains(" passed, 0 failed, 0 with warnings, "), "{text}");
}

#[test]
fn what_is_wrong_is_told_with_its_proof_and_ends_with_2() {
    // Behind a proxy that leaves the port out, the base URL is not where it was asked.
    let site = TestSite::with(&[("a.txt", "a")]);
    let launch = Launch::of(site.path()).set("repository_name", "Papers").set("admin_email", ADDRESS);
    let server = launch.argument("--url").argument("http://www.example.org/").start();
    let url = format!("{}/modoai", server.url());
    let desk = Desk::new();
    let ended = desk.run(&["validate", &url, "--junit", "report.xml"]);
    assert_eq!(ended.status, 2, "{}{}", ended.stdout, ended.stderr);
    assert_eq!(ended.stderr, format!("modoai: {url} does not conform: failures: 1, warnings: 0\n"));
    let proof = format!(
        "    failure: baseURL is 'http://www.example.org/modoai', but the requested URL is '{url}'\n      request: {url}?verb=Identify\n"
    );
    assert!(ended.stdout.contains(&proof), "{}", ended.stdout);
    let junit = fs::read_to_string(desk.at("report.xml")).expect("it was written");
    assert!(junit.contains("name=\"identify-base-url\">\n      <failure message=\"baseURL is "), "{junit}");

    let ended = desk.run(&["validate", &url, "--json", "--only", "identify", "--only", "formats-list"]);
    assert_eq!(ended.status, 2, "{}", ended.stderr);
    let report: serde_json::Value = serde_json::from_str(&ended.stdout).expect("JSON");
    assert_eq!((&report["conformant"], &report["counts"]["failure"]), (&false.into(), &1.into()), "{}", ended.stdout);
    let guide = fs::read_to_string(workspace().join(GUIDE)).expect("it is there");
    let parts = [&report, &report["outcomes"][2], &report["outcomes"][2]["findings"][0]];
    for field in parts.iter().flat_map(|part| part.as_object().expect("an object").keys()) {
        assert!(guide.contains(&format!("`{field}`")), "the guide leaves out `{field}`");
    }
    let grades: Vec<_> = report["outcomes"].as_array().expect("a list").iter().map(|it| &it["grade"]).collect();
    assert_eq!((grades.len(), grades[2]), (12, &"failure".into()), "{}", ended.stdout);
}

/// A server that puts everything but Identify off for an hour.
#[test]
fn what_was_never_answered_is_not_judged() {
    let endpoint = Endpoint::start(Script::default().instead(|visit| {
        let busy = || Reply::html(429, "Slow down").with("Retry-After", "3500");
        (visit.verb() != "Identify").then(busy)
    }));
    let ended = Desk::new().run(&["validate", endpoint.url(), "--json"]);
    let report: serde_json::Value = serde_json::from_str(&ended.stdout).expect("JSON");
    assert_eq!(report["counts"]["failure"], 0, "{}", ended.stdout);
    let of_lists = |outcome: &&serde_json::Value| outcome["group"] == "lists";
    let mut lists = report["outcomes"].as_array().expect("a list").iter().filter(of_lists).peekable();
    assert!(lists.peek().is_some(), "{}", ended.stdout);
    assert!(lists.all(|outcome| outcome["grade"] == "not-judged"), "{}", ended.stdout);
}

#[test]
fn our_own_aggregator_conforms() {
    let (_site, server) = served();
    let desk = Desk::new();
    let url = format!("{}/modoai", server.url());
    desk.run(&["harvest", &url, "--into", "copy", "--sink", "catalogue"]).printed();
    let launch = Launch::of_catalogue(desk.at("copy/catalogue.sqlite"));
    let aggregator = launch.set("repository_name", "Papers").set("admin_email", ADDRESS).start();
    let text = desk.run(&["validate", &format!("{}/modoai", aggregator.url()), "--strict"]).printed();
    assert!(text.contains(" passed, 0 failed, 0 with warnings, "), "{text}");
}

#[test]
fn what_cannot_be_judged_ends_with_1() {
    let url = format!("http://127.0.0.1:{}/oai", free_port());
    let ended = Desk::new().run(&["validate", &url]);
    assert_eq!(ended.status, 1, "{}", ended.stdout);
    assert!(ended.stderr.starts_with(&format!("modoai: failed to validate {url}\n")), "{}", ended.stderr);
    assert_eq!(ended.stdout.matches("no response").count(), 1, "{}", ended.stdout);
    let page = Page::serving("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 12\r\n\r\n<html>Hello!");
    let ended = Desk::new().run(&["validate", &page.url]);
    assert_eq!(ended.status, 1, "{}", ended.stdout);
    assert!(ended.stdout.contains("the root element is 'html', not OAI-PMH"), "{}", ended.stdout);
}

#[test]
fn no_check_is_no_conformance() {
    let (_site, server) = served();
    let url = format!("{}/modoai", server.url());
    let ended = Desk::new().run(&["validate", &url, "--only", "dates", "--max-requests", "2"]);
    assert!(ended.stdout.contains("15 checks: 0 passed, 0 failed, 0 with warnings, 15 not judged"), "{}", ended.stdout);
    let said = format!("modoai: failed to validate {url}: the limit of 2 requests is reached\n");
    assert!(ended.status == 1 && ended.stderr.starts_with(&said), "{}", ended.stderr);
    let ended = Desk::new().run(&["validate", &url, "--strict", "--max-requests", "1"]);
    let said = format!("modoai: validation of {url} is incomplete: the limit of 1 requests is reached\n");
    assert!(ended.status == 1 && ended.stderr.starts_with(&said), "{}", ended.stderr);
    let ended = Desk::new().run(&["validate", &url, "--only", "identify-answer"]);
    assert!(ended.status == 0 && ended.stdout.contains("\n1 check: 1 passed"), "{ended:?}");
}

#[test]
fn a_password_is_never_shown() {
    let page = Page::serving("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n");
    let url = page.url.replace("http://", "http://me:geheim@");
    for arguments in [&["validate", &url][..], &["validate", &url, "--json"], &["-vv", "validate", &url]] {
        let ended = Desk::new().run(arguments);
        assert_eq!(ended.status, 1);
        assert!(!ended.stdout.contains("geheim") && !ended.stderr.contains("geheim"), "{ended:?}");
    }
    assert!(page.heard().contains("authorization: Basic bWU6Z2VoZWlt"), "{}", page.heard());
}

#[test]
fn what_is_no_check_is_a_usage_error() {
    for (arguments, said) in [
        (&["validate"][..], "<BASE_URL>"),
        (&["validate", "example.org"], "expected a base URL such as https://example.org/oai"),
        (&["validate", "http://a/", "--max-requests", "0"], "expected a number greater than 0"),
        (&["validate", "http://a/oai?verb=Identify"], "omit the query: http://a/oai\n"),
        (&["validate", "http://a/", "--only", "junk"], "unknown check; --list-checks lists all checks"),
    ] {
        let ended = Desk::new().run(arguments);
        assert_eq!(ended.status, 64, "{arguments:?}");
        assert!(ended.stderr.contains(said), "{arguments:?}:\n{}", ended.stderr);
    }
}

#[test]
fn the_table_in_the_guide_is_that_of_the_checks() {
    let printed = Desk::new().run(&["validate", "--list-checks"]).printed();
    expect_shown(GUIDE, (BEGIN, END), &printed, "`modoai validate --list-checks` prints");
}

/// One answer to everybody, until it is dropped.
struct Page {
    url: String,
    stop: Arc<AtomicBool>,
    heard: Arc<std::sync::Mutex<String>>,
    thread: Option<JoinHandle<()>>,
}

impl Page {
    fn serving(answer: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let (stop, heard) = (Arc::new(AtomicBool::new(false)), Arc::<std::sync::Mutex<String>>::default());
        let thread = thread::spawn({
            let (stop, heard) = (Arc::clone(&stop), Arc::clone(&heard));
            move || {
                for stream in listener.incoming().map_while(Result::ok) {
                    if stop.load(Ordering::Relaxed) {
                        return;
                    }
                    let asked = answer_once(stream, answer);
                    heard.lock().expect("nobody panics with it").push_str(&asked);
                }
            }
        });
        Self { url: format!("http://{address}/oai"), stop, heard, thread: Some(thread) }
    }

    fn heard(&self) -> String {
        self.heard.lock().expect("nobody panics with it").clone()
    }
}

fn answer_once(mut stream: TcpStream, answer: &str) -> String {
    let mut asked = Vec::new();
    let mut piece = [0; 4096];
    while !asked.ends_with(b"\r\n\r\n") {
        match stream.read(&mut piece) {
            Ok(count) if count > 0 => asked.extend_from_slice(&piece[..count]),
            _ => break,
        }
    }
    // Whoever has gone meanwhile needs no answer.
    let _ = stream.write_all(answer.as_bytes());
    String::from_utf8_lossy(&asked).into_owned()
}

impl Drop for Page {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let address = self.url.trim_start_matches("http://").trim_end_matches("/oai");
        let _ = TcpStream::connect(address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
