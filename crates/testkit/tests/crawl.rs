//! `modoai serve --crawl`: a site that somebody else serves, as a repository.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use modoai_testkit::apache::machine::free_port;
use modoai_testkit::process::{Launch, Server, binary};
use modoai_testkit::site::TestSite;
use modoai_testkit::waiting::wait_until;

use crate::harvest::Harvest;

fn site() -> TestSite {
    let site = TestSite::with(&[
        (
            "index.html",
            "<title>Home</title><a href=a.html>a</a> <a href=sub/>sub</a> <img src=p.png> <a href=none.html>x</a>",
        ),
        (
            "a.html",
            "<title>A</title><a href=large.pdf>large</a><a href='a%20b.txt'>space</a><a href=/private/x.html>p</a>",
        ),
        ("a b.txt", "a name with a space"),
        ("sub/index.html", "<title>Sub</title><link rel=stylesheet href=s.css><a href=../leaf.txt>leaf</a>"),
        ("sub/s.css", "p { background: url(bg.gif) }"),
        ("leaf.txt", "leaf"),
        ("private/x.html", "robots keep out"),
        ("robots.txt", "User-agent: *\nDisallow: /private/\n"),
        ("orphan.html", "nobody leads here"),
    ]);
    site.write("p.png", (0..=255).collect::<Vec<u8>>());
    site.write("sub/bg.gif", b"GIF89a");
    site.write("large.pdf", vec![b'%'; 300_000]);
    for file in ["index.html", "a.html", "leaf.txt"] {
        site.date(file, Duration::from_secs(1_546_300_800));
    }
    site
}

/// The files that links lead to.
const REACHED: [&str; 8] =
    ["index.html", "a.html", "a b.txt", "sub/index.html", "sub/s.css", "sub/bg.gif", "leaf.txt", "p.png"];

fn crawl(origin: &Server, state: &Path) -> Server {
    Launch::of_crawl(&format!("{}/", origin.url())).state(state).argument("--crawl-every").argument("1s").start()
}

/// The identifiers in a list, without the site's URL; those of deleted records have an exclamation mark in front.
fn listed(server: &Server, origin: &str) -> Vec<String> {
    let answer = server.client().get("/modoai?verb=ListIdentifiers&metadataPrefix=oai_dc").expect("an answer");
    assert_eq!(answer.status, 200, "{}", answer.text());
    let text = answer.text();
    let mut listed: Vec<String> = text
        .split("<header")
        .skip(1)
        .filter_map(|header| {
            let name = header.split_once("<identifier>")?.1.split_once('<')?.0.strip_prefix(origin)?;
            let mark = if header.starts_with(" status=\"deleted\"") { "!" } else { "" };
            Some(format!("{mark}{name}"))
        })
        .collect();
    listed.sort();
    listed
}

fn crawls(server: &Server) -> usize {
    server.said().matches("crawled in").count() + server.said().matches("crawl failed").count()
}

/// Waits until whatever has happened so far must have been seen: the crawl after the one that may be under way.
fn wait_for_a_crawl(server: &Server) {
    let before = crawls(server);
    wait_until("a further crawl", || crawls(server) >= before + 2);
}

#[test]
fn a_mirror_of_a_crawl_is_what_links_lead_to() {
    let site = site();
    let (origin, state, mirror) = (Server::of(site.path()), tempfile::tempdir(), tempfile::tempdir());
    let (state, mirror) = (state.expect("a folder"), mirror.expect("a folder"));
    let launch = Launch::of_crawl(&format!("{}/", origin.url())).state(state.path()).set("by_value_limit", "100K");
    let server = launch.start();
    let url = format!("{}/modoai", server.url());

    let judged = Command::new(binary()).args(["validate", &url]).output().expect("the command runs");
    assert!(judged.status.success(), "{}", String::from_utf8_lossy(&judged.stdout));

    Harvest::new(&url, mirror.path(), "mirror").complete();
    let host = origin.url().trim_start_matches("http://");
    for file in REACHED.into_iter().chain(["large.pdf"]) {
        let found = std::fs::read(mirror.path().join(host).join(file));
        assert_eq!(found.expect(file), std::fs::read(site.at(file)).expect("our own file"), "{file}");
    }
    for file in ["orphan.html", "private/x.html", "none.html"] {
        assert!(!mirror.path().join(host).join(file).exists(), "{file}");
    }

    // The large one is there by reference only; dates are those of the site.
    let record = |prefix: &str, name: &str| {
        let target = format!("/modoai?verb=GetRecord&metadataPrefix={prefix}&identifier={}/{name}", origin.url());
        server.client().get(&target).expect("an answer").text()
    };
    assert!(!record("oai_didl", "large.pdf").contains("base64"));
    assert!(record("oai_didl", "leaf.txt").contains("base64"));
    assert!(record("oai_dc", "a.html").contains("<datestamp>2019-01-01T00:00:00Z</datestamp>"));
    assert!(record("oai_dc", "a.html").contains("<dc:title>A</dc:title>"));
    assert!(
        record("http_header", "leaf.txt").contains("<header name=\"Content-Type\">text/plain; charset=utf-8</header>")
    );
}

#[test]
fn changes_are_told_and_only_what_is_gone_is_deleted() {
    let site = site();
    // While the site is down, nobody else may get its port.
    let address = format!("127.0.0.1:{}", free_port());
    let origin = Launch::of(site.path()).listen(&address).start();
    let base = format!("{}/", origin.url());
    let state = tempfile::tempdir().expect("a folder");
    let server = crawl(&origin, state.path());
    let all = ["", "a%20b.txt", "a.html", "large.pdf", "leaf.txt", "p.png", "sub/", "sub/bg.gif", "sub/s.css"];
    assert_eq!(listed(&server, &base), all);

    // Gone, and led to no more; changed, and led to only now.
    site.remove("p.png");
    site.replace("a.html", "<title>Anew</title><a href=orphan.html>found</a><a href='a%20b.txt'>space</a>");
    let expected = [
        "",
        "!large.pdf",
        "!p.png",
        "a%20b.txt",
        "a.html",
        "leaf.txt",
        "orphan.html",
        "sub/",
        "sub/bg.gif",
        "sub/s.css",
    ];
    wait_until("the changes are listed", || listed(&server, &base) == expected);
    let anew = server.client().get(&format!("/modoai?verb=GetRecord&metadataPrefix=oai_dc&identifier={base}a.html"));
    let anew = anew.expect("an answer").text();
    assert!(anew.contains("<dc:title>Anew</dc:title>") && !anew.contains("<datestamp>2019"), "{anew}");

    // While nobody answers, nothing is gone.
    origin.kill();
    wait_for_a_crawl(&server);
    assert_eq!(listed(&server, &base), expected);

    // Killed and started again while its site is down, it answers at once from what it has.
    server.kill();
    let server = Launch::of_crawl(&base).state(state.path()).argument("--crawl-every").argument("1s").start();
    wait_for_a_crawl(&server);
    assert_eq!(listed(&server, &base), expected);

    // What is back is told again.
    site.write("p.png", b"again");
    let _origin = Launch::of(site.path()).listen(&address).start();
    wait_until("the picture is listed again", || listed(&server, &base).contains(&"p.png".to_owned()));
}

#[test]
fn sitemaps_of_every_form_are_followed_and_the_contact_is_the_administrator() {
    let host = crate::spider::mapped();
    let state = tempfile::tempdir().expect("a folder");
    let server =
        Launch::of_crawl(&host.at("/docs/")).state(state.path()).argument("--contact").argument("ann@example.org");
    let server = server.start();
    let base = host.at("/docs/");
    let pages: Vec<_> = listed(&server, &base).into_iter().filter(|name| !name.starts_with("../")).collect();
    assert_eq!(pages, ["", "a", "b", "c"]);
    let identify = server.client().get("/modoai?verb=Identify").expect("an answer").text();
    assert!(identify.contains("<adminEmail>ann@example.org</adminEmail>"), "{identify}");
}

#[test]
fn a_site_that_is_not_there_is_no_repository() {
    let state = tempfile::tempdir().expect("a folder");
    let done = Command::new(binary())
        .args(["serve", "--listen", "127.0.0.1:0", "--crawl", "http://127.0.0.1:9/", "--data"])
        .arg(state.path())
        .output()
        .expect("the command runs");
    assert_eq!(done.status.code(), Some(1), "{}", String::from_utf8_lossy(&done.stderr));
}
