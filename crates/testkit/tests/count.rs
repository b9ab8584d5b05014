//! `modoai count`: files, crawl, site map, log and repository, side by side.

use std::path::Path;
use std::process::Command;

use modoai_testkit::process::{Server, binary};
use modoai_testkit::site::TestSite;
use serde_json::Value;

fn count(arguments: &[&str]) -> (Option<i32>, String, String) {
    let done = Command::new(binary()).arg("count").args(arguments).output().expect("the command runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (done.status.code(), text(&done.stdout), text(&done.stderr))
}

/// The lines of a list, without the site's URL and without notes.
fn list(folder: &Path, name: &str, base: &str) -> Vec<String> {
    let text = std::fs::read_to_string(folder.join(format!("{name}.txt"))).expect(name);
    text.lines().filter_map(|line| Some(line.split('\t').next()?.strip_prefix(base)?.to_owned())).collect()
}

#[test]
fn everybody_is_asked_and_every_difference_listed() {
    let site = TestSite::with(&[
        (
            "index.html",
            "<a href=a.html>a</a><a href=/index.html>home</a><a href=gone.html>g</a><a href=/closed/x.html>c</a>",
        ),
        ("a.html", "<img src=p.png><a href='s.css?v=1'>s</a>"),
        ("s.css", "p {}"),
        ("p.png", "picture"),
        ("copy.png", "picture"),
        ("orphan.html", "nobody leads here"),
        ("closed/x.html", "closed"),
    ]);
    let server = Server::of(site.path());
    let base = format!("{}/", server.url());
    let map = "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>";
    site.write(
        "map.xml",
        format!("{map}<url><loc>{base}orphan.html</loc></url><url><loc>{base}never.html</loc></url></urlset>"),
    );
    let index = "<sitemapindex xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>";
    site.write("maps.xml", format!("{index}<sitemap><loc>{base}map.xml</loc></sitemap></sitemapindex>"));
    site.write("robots.txt", format!("User-agent: *\nDisallow: /closed/\nSitemap: {base}maps.xml\n"));
    let state = tempfile::tempdir().expect("a folder");
    let (log, lists, page) = (state.path().join("log"), state.path().join("lists"), state.path().join("count.html"));
    let line = |target: &str, status: u16| {
        format!("::1 - - [16/Nov/2026:07:00:00 +0000] \"GET {target} HTTP/1.1\" {status} 1\n")
    };
    std::fs::write(&log, [line("/", 200), line("/a.html", 304), line("/copy.png", 404)].concat()).expect("room");
    let text = |path: &Path| path.to_str().expect("our own names").to_owned();
    let repository = format!("{base}modoai");
    let (folder, log, lists_in, html) = (text(site.path()), text(&log), text(&lists), text(&page));
    let arguments = [
        "--files",
        &folder,
        "--crawl",
        &base,
        "--log",
        &log,
        "--repository",
        &repository,
        "--lists",
        &lists_in,
        "--html",
        &html,
    ];
    let (code, told, said) = count(&arguments);
    assert_eq!(code, Some(0), "{said}");
    assert!(told.contains("reaches 4 of the 10 resources of the site (40.0 %)"), "{told}");
    assert_eq!(list(&lists, "orphans", &base), ["copy.png", "map.xml", "maps.xml", "orphan.html", "robots.txt"]);
    assert_eq!(list(&lists, "ghosts", &base), ["gone.html", "never.html"]);
    assert_eq!(list(&lists, "forbidden", &base), ["closed/x.html"]);
    assert_eq!(list(&lists, "duplicates", &base), ["", "copy.png"]);
    assert_eq!(list(&lists, "nowhere", &base), ["copy.png", "map.xml", "maps.xml", "robots.txt"]);
    let html = std::fs::read_to_string(&page).expect("the page");
    assert!(html.contains("<svg") && html.contains("orphan.html") && !html.contains("<script"));

    let (code, told, said) = count(&["--files", &folder, "--crawl", &base, "--json"]);
    assert_eq!(code, Some(0), "{said}");
    let told: Value = serde_json::from_str(&told).expect("JSON");
    assert_eq!(told["sources"], serde_json::json!(["files", "crawl", "sitemap"]));
    assert_eq!(told["totals"], serde_json::json!([10, 4, 2]));
}

#[test]
fn claims_of_a_sitemap_are_requested_and_forbidden_ones_listed_apart() {
    let host = modoai_testkit::web::Web::default()
        .page("/", r#"<a href="/operator%.html">x</a>"#)
        .page("/operator%.html", "x")
        .page("/operator%25.html", "x")
        .page("/program", "made by a program")
        .status("/login", 401)
        .status("/closed", 403)
        .page("/robots-only", "x")
        .start();
    let url = host.url().to_owned();
    let paths = ["/", "/program", "/login", "/closed", "/robots-only", "/missing", "/operator%25.html"];
    let claims: String = paths.map(|path| format!("{url}{path}\n")).concat();
    host.change(|web| {
        let rules = format!("User-agent: *\nDisallow: /robots-only\nSitemap: {url}/list.txt\n");
        web.robots(&rules).file("/list.txt", "text/plain", claims)
    });
    let site = TestSite::with(&[("index.html", "home"), ("operator%.html", "x")]);
    let state = tempfile::tempdir().expect("a folder");
    let (folder, lists) = (site.path().to_str().expect("our own name"), state.path().to_str().expect("our own name"));
    let base = format!("{url}/");
    let arguments = ["--files", folder, "--crawl", &base, "--lists", lists];
    let (code, told, said) = count(&arguments);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(list(state.path(), "forbidden", &base), ["closed", "login", "robots-only"], "{told}");
    assert_eq!(list(state.path(), "ghosts", &base), ["missing"], "{told}");
    assert_eq!(list(state.path(), "orphans", &base), Vec::<String>::new(), "{told}");
    assert_eq!(host.times("/robots-only"), 0);
    assert_eq!(host.times("/program"), 1);
    host.take_log();
    let (_, _, said) = count(&[&arguments[..], &["--no-confirm"]].concat());
    assert_eq!(host.times("/program"), 0, "{said}");
}

#[test]
fn what_cannot_be_counted_is_an_error() {
    assert_eq!(count(&["--log", "/nonexistent"]).0, Some(64));
    assert_eq!(count(&["--base", "http://h/", "--log", "/nonexistent"]).0, Some(1));
    assert_eq!(count(&["--crawl", "http://127.0.0.1:9/"]).0, Some(1));
    assert_eq!(count(&["--base", "http://h/"]).0, Some(64));
}
