//! Paths that lead out of the folder that is served, or into what it hides: none does.

use std::fs;
use std::os::unix::fs::symlink;

use modoai_testkit::http::{Client, encode};
use modoai_testkit::process::{Launch, Server};
use modoai_testkit::site::TestSite;

use crate::oai;

const SECRET: &str = "the secret of the neighbour";

/// A site beside a file that is not part of it.
fn site_and_secret() -> (TestSite, tempfile::TempDir, Server) {
    let outside = tempfile::tempdir().expect("a folder");
    fs::write(outside.path().join("secret.txt"), SECRET).expect("a file");
    let site = TestSite::with(&[("a.txt", "x"), ("folder/index.html", "x"), (".hidden/secret.txt", SECRET)]);
    site.write(".secret.txt", SECRET);
    site.write("folder/.secret.txt", SECRET);
    symlink(outside.path().join("secret.txt"), site.at("link.txt")).expect("a link");
    symlink(outside.path(), site.at("linked")).expect("a link");
    symlink("../../../../../../../../etc/passwd", site.at("passwd")).expect("a link");
    symlink("/proc/self", site.at("self")).expect("a link");
    symlink(".", site.at("folder/loop")).expect("a link");
    symlink("/dev/zero", site.at("zero")).expect("a link");
    let server = Server::of(site.path());
    (site, outside, server)
}

/// The answer holds nothing of what is hidden.
#[track_caller]
fn expect_nothing(what: &str, status: u16, body: &str) {
    assert!(matches!(status, 301 | 302 | 400 | 404 | 405 | 414), "{what}: {status}");
    for secret in [SECRET, "root:", "Name:\tmodoai"] {
        assert!(!body.contains(secret), "{what}: {body}");
    }
}

#[test]
fn no_spelling_of_a_path_leads_out_of_the_folder() {
    let (_site, outside, server) = site_and_secret();
    let client = Client::new(server.url());
    let secret = outside.path().join("secret.txt");
    let secret = secret.to_str().expect("UTF-8").trim_start_matches('/');
    let up = "..";
    for spelling in [
        up,
        "%2e%2e",
        "%2E%2e",
        ".%2e",
        "%2e.",
        "..;",
        "..%00",
        "..%20",
        "..\\",
        "..%5c",
        "..%2f",
        "%2e%2e%2f",
        "%252e%252e",
        "%c0%ae%c0%ae",
        "%e0%80%ae%e0%80%ae",
        "%uff0e%uff0e",
        "．．",
        "....",
        "....//",
        ".../",
        "./..",
        "..//",
        "a.txt/..",
        "folder/..",
        "folder/loop/..",
    ] {
        for depth in [1, 3, 12] {
            for start in ["/", "//", "/folder/", "/modoai/", "/./", "/;/", "/%2f"] {
                for file in ["etc/passwd", secret] {
                    let target = format!("{start}{}{file}", format!("{spelling}/").repeat(depth));
                    let request = format!("GET {target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
                    let answer = client.raw(request.as_bytes()).expect("an answer");
                    let answer = String::from_utf8_lossy(&answer).into_owned();
                    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(400);
                    expect_nothing(&target, status, &answer);
                }
            }
        }
    }
}

#[test]
fn absolute_targets_nul_bytes_and_dotfiles_lead_nowhere() {
    let (_site, outside, server) = site_and_secret();
    let client = Client::new(server.url());
    let secret = outside.path().join("secret.txt");
    let secret = secret.to_str().expect("UTF-8");
    for target in [
        secret,
        "/etc/passwd",
        "//etc/passwd",
        "///etc/passwd",
        "file:///etc/passwd",
        "http://x/../../../etc/passwd",
        "*",
        "etc/passwd",
        "/.secret.txt",
        "/%2esecret.txt",
        "/%2Esecret.txt",
        "/./.secret.txt",
        "/folder/.secret.txt",
        "/folder/%2e%73ecret.txt",
        "/.hidden/secret.txt",
        "/%2ehidden/secret.txt",
        "/a.txt%00",
        "/a.txt%00.html",
        "/%00/etc/passwd",
        "/a.txt/",
        "/a.txt/.",
        "/a.txt%20",
        "/a.txt.",
        "/a.txt::$DATA",
        "/A.TXT",
        "/folder%2f.secret.txt",
        "/folder%5c.secret.txt",
    ] {
        let request = format!("GET {target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        let answer = String::from_utf8_lossy(&client.raw(request.as_bytes()).expect("an answer")).into_owned();
        let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(400);
        expect_nothing(target, status, &answer);
    }
}

#[test]
fn links_that_lead_outside_are_neither_served_nor_listed() {
    let (_site, _outside, server) = site_and_secret();
    let mut client = server.client();
    for target in
        ["/link.txt", "/linked/secret.txt", "/linked/", "/passwd", "/self/status", "/self/environ", "/self/", "/zero"]
    {
        let answer = client.get(target).expect("an answer");
        expect_nothing(target, answer.status, &answer.text());
        let identifier = encode(format!("{}{target}", server.url()));
        for prefix in ["oai_dc", "http_header", "oai_didl"] {
            let query = format!("verb=GetRecord&metadataPrefix={prefix}&identifier={identifier}");
            assert_eq!(oai::ask(&mut client, &query).answer.errors.len(), 1, "{query}");
        }
    }
    let listed = oai::harvest(&mut client, "verb=ListIdentifiers&metadataPrefix=oai_dc");
    let mut listed: Vec<String> = listed.into_iter().map(|record| record.identifier).collect();
    listed.sort();
    assert_eq!(listed, ["a.txt", "folder/index.html"].map(|name| format!("{}/{name}", server.url())));
}

#[test]
fn identifiers_lead_no_further_than_paths() {
    let (_site, outside, server) = site_and_secret();
    let mut client = server.client();
    let secret = outside.path().join("secret.txt");
    for identifier in [
        "/etc/passwd".to_owned(),
        "file:///etc/passwd".to_owned(),
        format!("{}/../../../etc/passwd", server.url()),
        format!("{}/%2e%2e/%2e%2e/etc/passwd", server.url()),
        format!("{}/{}", server.url(), secret.display()),
        format!("{}//a.txt", server.url()),
        format!("{}/.secret.txt", server.url()),
        format!("{}/%2esecret.txt", server.url()),
        format!("{}/a.txt%00", server.url()),
        "http://elsewhere.example/a.txt".to_owned(),
    ] {
        for prefix in ["oai_dc", "http_header", "oai_didl"] {
            let query = format!("verb=GetRecord&metadataPrefix={prefix}&identifier={}", encode(&identifier));
            let page = oai::ask(&mut client, &query);
            assert_eq!(page.answer.errors.len(), 1, "{query}");
            assert!(page.answer.records.is_empty(), "{query}");
        }
    }
}

#[test]
fn redirects_stay_on_the_site() {
    let (_site, _outside, server) = site_and_secret();
    let mut client = server.client();
    for (target, headers) in [
        ("/folder", [("Host", "evil.example")]),
        ("/folder?//evil.example", [("Host", "evil.example")]),
        ("/", [("X-Forwarded-Host", "evil.example")]),
        ("/modoai/", [("Host", "evil.example")]),
        ("/modoai/?verb=Identify", [("X-Forwarded-Proto", "evil")]),
    ] {
        let answer = client.get_with(target, &headers).expect("an answer");
        assert!(matches!(answer.status, 301 | 302), "{target}: {}", answer.status);
        let location = answer.header("Location").expect("a location").to_owned();
        let path = location.split('?').next().unwrap_or_default();
        assert!(path.starts_with('/') && !path.starts_with("//"), "{target}: {location}");
        assert!(!path.contains("evil"), "{target}: {location}");
        client = server.client();
    }
    for target in ["//evil.example/folder", "//evil.example", "/%2f%2fevil.example", "/\\evil.example", "//folder"] {
        let answer = client.get(target).expect("an answer");
        let location = answer.header("Location").unwrap_or("/");
        assert!(location.starts_with('/') && !location.starts_with("//"), "{target}: {location}");
        assert!(!location.contains('\\'), "{target}: {location}");
    }
    // The public URL is the administrator's word, never that of a request.
    let identify = client.get_with("/modoai?verb=Identify", &[("Host", "evil.example")]).expect("an answer");
    assert!(!identify.text().contains("evil.example"), "{}", identify.text());
}

#[test]
fn a_link_that_is_swapped_while_it_is_read_never_leads_outside() {
    let outside = tempfile::tempdir().expect("a folder");
    fs::write(outside.path().join("a.txt"), SECRET).expect("a file");
    let site = TestSite::with(&[("real/a.txt", "x")]);
    let server = Launch::of(site.path()).start();
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                for target in [site.at("real"), outside.path().to_owned()] {
                    let new = site.at("new");
                    symlink(target, &new).and_then(|()| fs::rename(&new, site.at("swap"))).expect("a link");
                }
            }
        });
        let mut client = server.client();
        let mut leaks = |_| client.get("/swap/a.txt").is_ok_and(|answer| answer.text().contains(SECRET));
        let leaked = (0..500).any(&mut leaks);
        // Before anything fails: the other thread waits for it.
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(!leaked);
    });
}
