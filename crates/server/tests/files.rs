//! The site: files, folders, conditions, ranges, and what is not shown.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::symlink;
use std::time::Duration;

use crate::bench::{Bench, Folder, Reply};
use modoai_server::Health;

#[test]
fn a_file_comes_with_its_headers_and_no_others() {
    let bench = Bench::of(&[("a.txt", "hello"), ("empty", ""), ("ä b.html", "<title>x</title>")]);
    let reply = bench.get("/a.txt");
    assert_eq!((reply.status, reply.text(), reply.is_whole), (200, "hello", true));
    let names: Vec<_> = reply.lasting_headers().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["content-type", "content-length", "last-modified", "etag", "accept-ranges"]);
    assert_eq!(reply.header("content-type"), Some("text/plain; charset=utf-8"));

    let head = bench.ask("HEAD", "/a.txt", &[], "");
    assert_eq!(head.lasting_headers(), reply.lasting_headers());
    assert!(head.body.is_empty());

    assert_eq!(bench.get("/empty").header("content-length"), Some("0"));
    assert_eq!(bench.get("/%C3%A4%20b.html").status, 200);
    assert_eq!(bench.get("/%61.txt?query").text(), "hello");
    assert_eq!(bench.get("http://elsewhere.example/a.txt").text(), "hello");
    assert_eq!(bench.raw("GET /a.txt HTTP/1.0\r\n\r\n").text(), "hello");
}

#[test]
fn conditions_are_honoured() {
    let bench = Bench::of(&[("a.txt", "hello")]);
    let reply = bench.get("/a.txt");
    let (etag, modified) = (reply.header("etag").expect("a tag"), reply.header("last-modified").expect("a date"));
    let long_ago = "Sun, 06 Nov 1994 08:49:37 GMT";
    for (headers, status) in [
        (&[("If-None-Match", etag)][..], 304),
        (&[("If-None-Match", "\"x\"")], 200),
        (&[("If-None-Match", "\"x\""), ("If-Modified-Since", modified)], 200),
        (&[("If-None-Match", etag), ("Range", "bytes=0-0")], 304),
        (&[("If-Modified-Since", modified)], 304),
        (&[("If-Modified-Since", long_ago)], 200),
        (&[("If-Match", "\"x\"")], 412),
        (&[("If-Match", etag)], 200),
        (&[("If-Unmodified-Since", long_ago)], 412),
    ] {
        let reply = bench.get_with("/a.txt", headers);
        assert_eq!(reply.status, status, "{headers:?}");
        if status == 304 {
            assert_eq!(reply.header("etag"), Some(etag));
            assert!(reply.body.is_empty() && reply.header("content-length").is_none(), "{reply:?}");
        }
    }
}

#[test]
fn ranges_are_honoured() {
    let bench = Bench::of(&[("a.txt", "0123456789")]);
    for (range, status, place, text) in [
        ("bytes=0-0", 206, Some("bytes 0-0/10"), "0"),
        ("bytes=2-4", 206, Some("bytes 2-4/10"), "234"),
        ("bytes=7-", 206, Some("bytes 7-9/10"), "789"),
        ("bytes=-3", 206, Some("bytes 7-9/10"), "789"),
        ("bytes=5-99", 206, Some("bytes 5-9/10"), "56789"),
        ("bytes=0-1,3-4", 200, None, "0123456789"),
        ("bytes=4-2", 200, None, "0123456789"),
        ("bytes=10-", 416, Some("bytes */10"), "The requested range is outside the file.\n"),
    ] {
        let reply = bench.get_with("/a.txt", &[("Range", range)]);
        assert_eq!((reply.status, reply.header("content-range"), reply.text()), (status, place, text), "{range}");
        assert!(reply.is_whole);
    }
    let etag = bench.get("/a.txt").header("etag").expect("a tag").to_owned();
    let part = |if_range: &str| bench.get_with("/a.txt", &[("Range", "bytes=0-0"), ("If-Range", if_range)]).status;
    assert_eq!((part(&etag), part("\"x\"")), (206, 200));
    assert_eq!(bench.ask("HEAD", "/a.txt", &[("Range", "bytes=0-0")], "").status, 200);
}

#[test]
fn a_folder_has_a_slash_and_shows_its_index() {
    let bench = Bench::of(&[("a b/index.html", "<p>index"), ("plain/x", "x")]);
    let redirect = bench.get("/a%20b?q=1");
    assert_eq!((redirect.status, redirect.header("location")), (301, Some("/a%20b/?q=1")));
    assert_eq!(bench.get("/plain?ü").header("location"), Some("/plain/?ü"));
    let index = bench.get("/a%20b/");
    assert_eq!((index.status, index.header("content-location")), (200, Some("/a%20b/index.html")));
    let file = bench.get("/a%20b/index.html");
    assert_eq!((index.text(), index.header("etag")), (file.text(), file.header("etag")));
    assert_eq!(file.header("content-location"), None);
    let unchanged = bench.get_with("/a%20b/", &[("If-None-Match", file.header("etag").expect("a tag"))]);
    assert_eq!((unchanged.status, unchanged.header("content-location")), (304, Some("/a%20b/index.html")));

    assert_eq!(bench.get("/plain/").status, 404);
    assert_eq!(bench.get("/plain/x/").status, 404);
    let root = bench.get("/");
    assert_eq!((root.status, root.header("location")), (302, Some("/modoai")));
    bench.folder.put("index.html", b"<p>start");
    assert_eq!(bench.get("/").text(), "<p>start");
}

#[test]
fn behind_a_proxy_redirects_stay_below_the_public_url() {
    let bench = Folder::new(&[("a/x", "x")]).serve(|settings, _| {
        settings.url = Some("https://example.org/site/".to_owned());
    });
    assert_eq!(bench.get("/a").header("location"), Some("/site/a/"));
    assert_eq!(bench.get("/").header("location"), Some("/site/modoai"));
}

#[test]
fn a_proxy_may_forward_the_path_of_the_public_url_or_remove_it() {
    let files = [("a/x", "x"), ("index.html", "start"), ("site/a/x", "inner"), ("site/only", "only")];
    let bench = Folder::new(&files).serve(|settings, _| {
        settings.url = Some("https://example.org/site/".to_owned());
    });
    for (path, text) in [
        ("/a/x", "x"),
        ("/", "start"),
        ("/site/site/a/x", "inner"),
        ("/site/only", "only"),
        ("/site/index.html", "start"),
        // Of two files that it could be, it is the one whose path it is.
        ("/site/a/x", "inner"),
    ] {
        assert_eq!(bench.get(path).text(), text, "{path}");
    }
    let bench = Folder::new(&files[..2]).serve(|settings, _| {
        settings.url = Some("https://example.org/site/".to_owned());
    });
    for path in ["/modoai?verb=Identify", "/site/modoai?verb=Identify", "/site/modoai/xml?verb=Identify"] {
        assert!(bench.get(path).text().contains("<baseURL>https://example.org/site/modoai</baseURL>"), "{path}");
    }
    assert_eq!(bench.get("/site/a/x").text(), "x");
    assert_eq!(bench.get("/site/").text(), "start");
    assert_eq!(bench.get("/site").header("location"), Some("/site/"));
    assert_eq!(bench.get("/site/a").header("location"), Some("/site/a/"));
    assert_eq!(bench.get("/site//a//x?q").header("location"), Some("/site/a/x?q"));
    assert_eq!(bench.get("/site/nothing").status, 404);
    assert_eq!(bench.get("/sites/a").status, 404);
}

#[test]
fn slashes_without_a_name_between_them_are_removed() {
    let bench = Bench::of(&[("a/b", "x")]);
    for (path, location) in [
        ("//a/b", "/a/b"),
        ("/a//b?q=//", "/a/b?q=//"),
        ("/a//", "/a/"),
        ("///", "/"),
        ("//example.org/a", "/example.org/a"),
        ("//modoai?verb=Identify", "/modoai?verb=Identify"),
    ] {
        let reply = bench.get(path);
        assert_eq!((reply.status, reply.header("location")), (301, Some(location)), "{path}");
    }
}

#[test]
fn what_is_hidden_or_outside_is_not_there() {
    let folder = Folder::new(&[
        (".htpasswd", "x"),
        (".git/config", "x"),
        ("a~", "x"),
        ("a/.b", "x"),
        ("healthz/x", "x"),
        ("modoai/y", "x"),
        (".well-known/z", "shown"),
    ]);
    fs::write(folder.outside("secret"), "x").expect("written");
    symlink("../secret", folder.root().join("link")).expect("a link");
    symlink("..", folder.root().join("up")).expect("a link");
    let bench = folder.serve(|_, _| {});
    for path in [
        "/.htpasswd",
        "/%2ehtpasswd",
        "/.git/config",
        "/.git/",
        "/.git",
        "/a~",
        "/a%7e",
        "/a/.b",
        "/healthz/x",
        "/modoai/y",
        "/link",
        "/up/secret",
        "/../secret",
        "/%2e%2e/secret",
        "/a/../../secret",
        "/..%2fsecret",
        "/a/./b",
        "/a%00",
        "/nothing",
        "/nothing/",
        "/%",
        "/%zz",
    ] {
        assert_eq!(bench.get(path).status, 404, "{path}");
    }
    assert_eq!(bench.get("/.well-known/z").text(), "shown");
}

#[test]
fn other_methods_and_malformed_requests_are_refused() {
    let bench = Bench::of(&[("a", "x")]);
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "JUNK"] {
        let reply = bench.ask(method, "/a", &[], "");
        assert_eq!((reply.status, reply.header("allow")), (405, Some("GET, HEAD")), "{method}");
    }
    for request in [
        "GET /a HTTP/1.1\r\nConnection: close\r\n\r\n",
        "GET /a HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n",
        "GET a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
        "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /a HTTP/1.1\r\nHost: a\r\nbad header\r\n\r\n",
        "\u{16}\u{3}\u{1} TLS here\r\n\r\n",
    ] {
        assert_eq!(bench.raw(request).status, 400, "{request:?}");
    }
    assert!(matches!(bench.raw("OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").status, 400 | 405));
}

#[test]
fn a_connection_serves_many_requests_in_order() {
    let bench = Bench::of(&[("a", "first"), ("b", "second")]);
    let mut socket = bench.connect();
    let request = "GET /a HTTP/1.1\r\nHost: x\r\n\r\nGET /none HTTP/1.1\r\nHost: x\r\n\r\n\
                   GET /b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    socket.write_all(request.as_bytes()).expect("sent");
    let mut text = String::new();
    socket.read_to_string(&mut text).expect("received");
    let places: Vec<_> = ["first", "404 Not Found", "second"].iter().map(|part| text.find(part)).collect();
    assert!(places.is_sorted() && places[0].is_some(), "{text}");
}

#[test]
fn a_large_file_arrives_whole() {
    let folder = Folder::new(&[]);
    let bytes: Vec<u8> = (0..5_000_011_u32).map(|index| (index % 251) as u8).collect();
    folder.put("large", &bytes);
    let bench = folder.serve(|_, _| {});
    assert!(bench.get("/large").body == bytes);
    let part = bench.get_with("/large", &[("Range", "bytes=1000001-4000000")]);
    assert!(part.body == bytes[1_000_001..=4_000_000] && part.is_whole);
}

#[test]
fn a_file_that_shrinks_is_never_completed() {
    let folder = Folder::new(&[]);
    let path = folder.root().join("large");
    File::create(&path).and_then(|file| file.set_len(200_000_000)).expect("a sparse file");
    let bench = folder.serve(|_, _| {});
    let mut socket = bench.connect();
    socket.write_all(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n").expect("sent");
    let mut beginning = [0; 10_000];
    socket.read_exact(&mut beginning).expect("a beginning");
    File::options().write(true).open(&path).and_then(|file| file.set_len(1000)).expect("shrunk");
    let mut rest = beginning.to_vec();
    let _ = socket.read_to_end(&mut rest);
    let reply = Reply::parse(&rest);
    assert_eq!(reply.header("content-length"), Some("200000000"));
    assert!(!reply.is_whole);
    assert_eq!(bench.get("/large").body.len(), 1000);
}

#[test]
fn health_is_told() {
    let bench = Bench::of(&[]);
    assert_eq!((bench.get("/healthz").status, bench.get("/healthz").text()), (200, "ok\n"));
    *bench.health.lock().expect("not poisoned") = Health::Suspended("The catalogue is being filled.".to_owned());
    let reply = bench.get("/healthz");
    assert_eq!((reply.status, reply.text()), (503, "The catalogue is being filled.\n"));
    assert!(reply.header("retry-after").is_some());
    let repository = bench.get("/modoai?verb=Identify");
    assert_eq!(repository.status, 503);
    assert!(repository.header("retry-after").is_some_and(|seconds| seconds.parse::<u64>().is_ok()));
}

#[test]
fn a_site_that_vanishes_is_an_outage() {
    let bench = Bench::of(&[("a", "x")]);
    fs::remove_dir_all(bench.folder.root()).expect("removed");
    assert_eq!(bench.get("/a").status, 503);
    assert_eq!(bench.get("/modoai?verb=ListIdentifiers&metadataPrefix=oai_dc").status, 503);
}

#[test]
fn requests_in_flight_are_finished_before_the_server_stops() {
    let folder = Folder::new(&[]);
    folder.put("large", &vec![b'x'; 30_000_000]);
    let mut bench = folder.serve(|_, _| {});
    let mut idle = bench.connect();
    let mut socket = bench.connect();
    socket.write_all(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n").expect("sent");
    let mut beginning = [0; 1000];
    socket.read_exact(&mut beginning).expect("a beginning");
    bench.stop();
    std::thread::sleep(Duration::from_millis(50));
    let mut all = beginning.to_vec();
    socket.read_to_end(&mut all).expect("the rest");
    assert!(Reply::parse(&all).is_whole);
    assert_eq!(idle.read(&mut beginning).expect("closed"), 0);
    drop((idle, socket));
    bench.join();
    assert!(std::net::TcpStream::connect(bench.address).is_err());
}

#[test]
fn owner_and_expires_come_from_the_chosen_sources() {
    let files = [
        ("a.html", "<meta name=owner content='Zo\u{eb}'><title>a</title>"),
        ("b.txt", "b"),
        (".metainfo", "Owner: Web team\n[a.html]\nExpires: Thu, 31 Dec 2026 23:59:59 GMT\n"),
        ("docs/c.txt", "c"),
    ];
    let sources = "document_headers = ['meta', 'metainfo', { path = '/docs/**', owner = 'Row' }]";
    let bench = Folder::new(&files).serve_site(sources);
    let owner = |path: &str| bench.get(path).header("owner").map(str::to_owned);
    assert_eq!(owner("/a.html").as_deref(), Some("Zo\u{eb}"));
    assert_eq!(bench.get("/a.html").header("expires"), Some("Thu, 31 Dec 2026 23:59:59 GMT"));
    assert_eq!(owner("/b.txt").as_deref(), Some("Web team"));
    assert_eq!(bench.ask("HEAD", "/b.txt", &[], "").header("owner"), Some("Web team"));
    assert_eq!(owner("/docs/c.txt").as_deref(), Some("Row"));
    assert_eq!(bench.get("/.metainfo").status, 404);
    let list = bench.get("/modoai?verb=ListRecords&metadataPrefix=http_header");
    assert!(list.text().contains("<header name=\"Owner\">Web team</header>"), "{}", list.text());
    let bench = Folder::new(&files).serve(|_, _| {});
    assert_eq!(bench.get("/b.txt").header("owner"), None, "off by default");
}
