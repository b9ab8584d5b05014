//! Requests that no client should send: smuggled ones, forged tokens, methods that are not for clients.

use std::fs;

use modoai_testkit::http::{Client, encode};
use modoai_testkit::process::{Launch, Server};
use modoai_testkit::site::TestSite;
use modoai_testkit::waiting::wait_until;

use crate::oai;

fn server() -> (TestSite, Server) {
    let site = TestSite::with(&[("a.txt", "the file"), ("b.txt", "x"), ("c.txt", "x"), ("d.txt", "x")]);
    let server = Launch::of(site.path()).set("identifiers_per_page", "1").start();
    (site, server)
}

/// The status lines in what a server sent.
fn statuses(answer: &[u8]) -> Vec<u16> {
    let text = String::from_utf8_lossy(answer).into_owned();
    let starts = text.match_indices("HTTP/1.1 ").map(|(at, start)| &text[at + start.len()..]);
    starts.filter_map(|rest| rest.get(..3)?.parse().ok()).collect()
}

#[test]
fn a_request_is_never_two() {
    let (_site, server) = server();
    let client = Client::new(server.url());
    // What a lenient proxy in front could have taken for the body of the first is a second request to nobody.
    const SMUGGLED: &str = "GET /a.txt HTTP/1.1\r\nHost: x\r\n\r\n";
    let length = SMUGGLED.len();
    let start = "POST /modoai HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\n";
    for (what, head) in [
        ("two lengths", format!("Content-Length: 0\r\nContent-Length: {length}\r\n")),
        ("a list of lengths", format!("Content-Length: 0, {length}\r\n")),
        ("a signed length", format!("Content-Length: +{length}\r\n")),
        ("a negative length", "Content-Length: -1\r\n".to_owned()),
        ("a hexadecimal length", "Content-Length: 0x10\r\n".to_owned()),
        ("a length beyond numbers", "Content-Length: 99999999999999999999999\r\n".to_owned()),
        ("a space before the colon", format!("Content-Length : {length}\r\n")),
        ("an unknown coding", "Transfer-Encoding: xchunked\r\n".to_owned()),
        ("chunked, and then not", "Transfer-Encoding: chunked, identity\r\n".to_owned()),
        ("chunked in quotes", "Transfer-Encoding: \"chunked\"\r\n".to_owned()),
        ("a folded header", "Transfer-Encoding:\r\n chunked\r\n".to_owned()),
        ("a vertical tab", "Transfer-Encoding: \x0bchunked\r\n".to_owned()),
        ("a NUL in a value", "X: a\0b\r\n".to_owned()),
        ("a bare CR in a value", "X: a\rTransfer-Encoding: chunked\r\n".to_owned()),
        ("two hosts", "Host: y\r\n".to_owned()),
    ] {
        let answer = client.raw(format!("{start}{head}\r\n{SMUGGLED}").as_bytes()).unwrap_or_default();
        let text = String::from_utf8_lossy(&answer).into_owned();
        assert!(!text.contains("the file"), "{what}: {text}");
        // Refused, or without any answer.
        assert!(statuses(&answer).iter().all(|status| (400..500).contains(status)), "{what}: {text}");
        assert!(statuses(&answer).len() <= 1, "{what}: {text}");
    }
}

#[test]
fn a_length_and_a_transfer_coding_end_the_connection() {
    let (_site, server) = server();
    let client = Client::new(server.url());
    for head in [
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
        "Content-Length: 0\r\nTransfer-Encoding: Chunked\r\n",
    ] {
        let request = format!(
            "POST /modoai HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\n{head}\r\n\
             0\r\n\r\nGET /a.txt HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        );
        let answer = client.raw(request.as_bytes()).unwrap_or_default();
        let text = String::from_utf8_lossy(&answer).into_owned();
        // By RFC 9112 the coding overrides the length, so what follows the last chunk may be answered as a request of its
        // own, in the order sent; it is never part of the form, and the form never part of it.
        assert!(statuses(&answer).len() <= 2, "{head}: {text}");
        assert!(!text.contains("GET /a.txt"), "{head}: {text}");
    }
}

#[test]
fn hosts_line_ends_and_methods_are_taken_strictly() {
    let (_site, server) = server();
    let client = Client::new(server.url());
    for (request, expected) in [
        ("GET /a.txt HTTP/1.1\r\nHost: x\r\nHost: x\r\nConnection: close\r\n\r\n", 400),
        ("GET /a.txt HTTP/1.1\r\nConnection: close\r\n\r\n", 400),
        ("TRACE /a.txt HTTP/1.1\r\nHost: x\r\nCookie: secret\r\nConnection: close\r\n\r\n", 405),
        ("TRACK /a.txt HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 405),
        ("CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 400),
        ("PUT /a.txt HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx", 405),
        ("DELETE /a.txt HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 405),
        ("PROPFIND / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 405),
        ("OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 400),
        ("GET /a.txt HTTP/9.9\r\nHost: x\r\nConnection: close\r\n\r\n", 400),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
        (" GET /a.txt HTTP/1.1\r\nHost: x\r\n\r\n", 400),
        ("GET /a.txt HTTP/1.1\r\n Host: x\r\n\r\n", 400),
    ] {
        let answer = client.raw(request.as_bytes()).unwrap_or_default();
        let text = String::from_utf8_lossy(&answer).into_owned();
        assert!(matches!(statuses(&answer)[..], [] | [_]), "{request:?}: {text}");
        assert!(statuses(&answer).first().is_none_or(|status| *status == expected), "{request:?}: {text}");
        assert!(!text.contains("the file") && !text.contains("secret"), "{request:?}: {text}");
    }
    // RFC 9112 lets a server take a bare LF for the end of a line; it ends nothing earlier than CR LF would.
    let answer = client.raw(b"GET /b.txt HTTP/1.1\nHost: x\nX: a\r\nConnection: close\n\n").unwrap_or_default();
    assert!(statuses(&answer).len() <= 1);
    let answer = client
        .raw(b"GET /b.txt HTTP/1.1\r\nHost: x\r\nX: a\n\nGET /a.txt HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    let answer = answer.unwrap_or_default();
    assert!(statuses(&answer).len() <= 2, "{}", String::from_utf8_lossy(&answer));
}

#[test]
fn the_file_system_is_not_written() {
    let (site, server) = server();
    let mut client = server.client();
    for method in ["PUT", "DELETE", "PATCH", "MOVE", "COPY", "MKCOL", "LOCK", "PROPPATCH", "POST"] {
        let answer = client.send(method, "/a.txt", &[("Destination", "/evil.txt")], b"evil").expect("an answer");
        assert_eq!(answer.status, 405, "{method}");
        client = server.client();
    }
    assert_eq!(fs::read_to_string(site.at("a.txt")).expect("it is still there"), "the file");
    assert!(!site.at("evil.txt").exists());
}

#[test]
fn the_health_check_shows_no_path() {
    let (site, server) = server();
    let path = site.path().to_str().expect("UTF-8").to_owned();
    let mut client = server.client();
    let well = client.get("/healthz").expect("an answer");
    assert_eq!((well.status, well.text().trim()), (200, "ok"));
    // Neither does it, nor a list, when the folder is gone.
    fs::remove_dir_all(site.path()).expect("a folder to remove");
    wait_until("the check reports it", || server.client().get("/healthz").expect("an answer").status == 503);
    let ill = client.get("/healthz").expect("an answer");
    let list = client.get("/modoai?verb=ListIdentifiers&metadataPrefix=oai_dc").expect("an answer");
    let file = client.get("/a.txt").expect("an answer");
    let name = site.path().file_name().expect("a name").to_str().expect("UTF-8");
    for answer in [ill, list, file] {
        let all = format!("{:?} {}", answer.headers, answer.text());
        assert!(!all.contains(&path) && !all.contains(name), "{all}");
        assert!(!all.contains(server.state().to_str().expect("UTF-8")), "{all}");
    }
    fs::create_dir(site.path()).expect("something to tidy up");
}

#[test]
fn a_forged_token_is_refused() {
    let (_site, server) = server();
    let mut client = server.client();
    let list = "verb=ListIdentifiers&metadataPrefix=oai_dc";
    let token = oai::ask(&mut client, list).answer.token.expect("a list of several pages").value;
    let resume = |client: &mut Client, verb: &str, token: &str| {
        oai::ask(client, &format!("verb={verb}&resumptionToken={}", encode(token))).answer
    };
    assert!(resume(&mut client, "ListIdentifiers", &token).errors.is_empty());
    let is_refused = |answer: &modoai_protocol::xml::Response| {
        answer.errors.first().is_some_and(|(code, _)| code == "badResumptionToken") && answer.records.is_empty()
    };
    // Every character of it counts, and so do its length and its verb.
    for at in 0..token.len() {
        let mut forged = token.clone().into_bytes();
        forged[at] = if forged[at] == b'A' { b'B' } else { b'A' };
        let forged = String::from_utf8(forged).expect("ASCII");
        let answer = resume(&mut client, "ListIdentifiers", &forged);
        assert!(is_refused(&answer), "byte {at} of {token}: {:?}", answer.errors);
    }
    for forged in [
        &token[..token.len() - 1],
        &token[1..],
        &format!("{token}A"),
        &format!("{token}="),
        &format!("{token}\0"),
        &format!(" {token}"),
        "",
        "A",
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "' OR 1=1 --",
        "../../etc/passwd",
    ] {
        let answer = resume(&mut client, "ListIdentifiers", forged);
        assert!(!answer.errors.is_empty() && answer.records.is_empty(), "{forged}: {:?}", answer.errors);
    }
    for verb in ["ListRecords", "ListSets"] {
        assert!(is_refused(&resume(&mut client, verb, &token)), "{verb}");
    }
    // One of another repository has another key.
    let other = TestSite::with(&[("a.txt", "the file"), ("b.txt", "x"), ("c.txt", "x")]);
    let other = Launch::of(other.path()).set("identifiers_per_page", "1").start();
    assert!(is_refused(&resume(&mut other.client(), "ListIdentifiers", &token)));
}
