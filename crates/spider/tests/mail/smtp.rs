//! Messages through a real server on loopback, read back by a library that is not ours.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::time::Duration;

use modoai_spider::mail::Delivery;
use modoai_spider::mail::route::{Means, Route, open};
use modoai_spider::task::{MailRoute, Tell};
use modoai_spider::verdict::Verdict;
use modoai_testkit::apache::machine::free_port;
use modoai_testkit::waiting::{PATIENCE, wait_until};
use rusqlite::Connection;
use serde_json::{Value, json};

use super::fixture::{Made, broken};
use super::server::{Certificates, PASSWORD, Server, USER};

/// A route to a port of loopback.
fn route(scheme: &str, port: u16, password: Option<&str>, authority: Option<PathBuf>) -> Box<dyn Route> {
    let route = MailRoute::Smtp {
        url: format!("{scheme}://127.0.0.1:{port}").parse().expect("a URL"),
        user: password.map(|_| USER.to_owned()),
        password_file: None,
        from: "Die Spinne für alle <spider@example.org>".to_owned(),
    };
    let means = Means { password: password.map(str::to_owned), authority, patience: PATIENCE };
    open(&route, means).expect("a route")
}

fn table() -> Connection {
    Connection::open_in_memory().expect("a database")
}

/// One finding for each of these.
fn made(addresses: &[&str]) -> Made {
    let names: Vec<String> = (0..addresses.len()).map(|n| format!("web{n}")).collect();
    let tasks: Vec<_> =
        names.iter().zip(addresses).map(|(name, to)| (&name[..], std::slice::from_ref(to), broken())).collect();
    let mut made = Made::new(&tasks);
    for name in &names {
        made = made.with(name, name, "https://x.example/gone", Verdict::Broken);
    }
    made
}

fn header<'v>(message: &'v Value, name: &str) -> &'v str {
    let headers = message["headers"].as_array().expect("headers");
    let found = headers.iter().find(|pair| pair[0] == name).unwrap_or_else(|| panic!("no {name}"));
    found[1].as_str().expect("text")
}

#[test]
fn a_message_arrives_as_it_was_meant() {
    let Some(server) = Server::start(json!({})) else { return };
    let mut made = Made::new(&[("ics", &["Ann Öther <ann@example.org>"], Tell { redirected: true, ..broken() })])
        .with("ics", "a", "https://x.example/gone", Verdict::Broken)
        .with("ics", "a", "https://x.example/moved", Verdict::Moved);
    made.webs[0].task.index_title = Some("Überblick: 連結".to_owned());
    made.findings[0].title = Some("Ένα δύο τρία <b>".to_owned());
    made.findings[0].text = ".\r\n.\r\nQUIT".to_owned();
    let delivery = made.deliver(&mut *route("smtp", server.port, None, None), &table());
    assert_eq!(delivery.written.len(), 1, "{delivery:?}");

    let received = server.received();
    let [message] = &received[..] else { panic!("{received:?}") };
    assert_eq!(message["defects"], json!([]));
    assert_eq!(message["sender"], "spider@example.org");
    assert_eq!(message["to"], json!(["ann@example.org"]));
    assert_eq!(header(message, "To"), "Ann Öther <ann@example.org>");
    assert_eq!(header(message, "From"), "Die Spinne für alle <spider@example.org>");
    assert_eq!(header(message, "Subject"), "1 new broken target and 1 moved target in 'Überblick: 連結'");
    assert_eq!(header(message, "Message-ID"), delivery.written[0].id);
    assert_eq!(header(message, "Auto-Submitted"), "auto-generated");
    assert_eq!(header(message, "Date"), "Mon, 16 Nov 2026 06:00:00 +0000");
    assert_eq!(message["kind"], "multipart/alternative");
    assert_eq!(message["kinds"], json!(["text/plain", "text/html"]));
    let (text, html) = (message["text"].as_str().expect("text"), message["html"].as_str().expect("HTML"));
    for piece in
        ["on “Ένα δύο τρία <b>”\n", "Überblick: 連結\n", "“. . QUIT”, a href, line 12", "New URL: https://new.example/"]
    {
        assert!(text.contains(piece), "{piece} is not in {text}");
    }
    assert!(html.contains("Ένα δύο τρία &lt;b&gt;"), "{html}");
    assert!(text.ends_with("run 3 of 16 November 2026\n"), "the end is missing: {text}");
}

#[test]
fn starttls_and_a_password_from_a_file() {
    let certificates = Certificates::new();
    let Some(server) = Server::start(json!({
        "certificate": certificates.path("certificate.pem"), "key": certificates.path("key.pem"),
        "user": USER, "password": PASSWORD, "without": ["LOGIN"],
    })) else {
        return;
    };
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), format!("{PASSWORD}\n")).expect("written");
    let by_file = MailRoute::Smtp {
        url: format!("smtp+starttls://localhost:{}", server.port).parse().expect("a URL"),
        user: Some(USER.to_owned()),
        password_file: Some(file.path().to_owned()),
        from: "spider@example.org".to_owned(),
    };
    let means = Means { authority: Some(certificates.path("authority.pem")), ..Means::default() };
    let delivery = made(&["ann@example.org"]).deliver(&mut *open(&by_file, means).expect("a route"), &table());
    assert_eq!(delivery.written.len(), 1, "{delivery:?}");
    let received = server.received();
    assert_eq!((&received[0]["tls"], &received[0]["login"]), (&json!(true), &json!(["PLAIN", USER])));
}

#[test]
fn self_signed_certificate_is_trusted_if_it_is_in_the_file() {
    let certificates = Certificates::new();
    for wrapped in [false, true] {
        let Some(server) = Server::start(json!({
            "certificate": certificates.path("self-signed.pem"), "key": certificates.path("self-signed-key.pem"),
            "wrapped": wrapped, "user": USER, "password": PASSWORD,
        })) else {
            return;
        };
        let scheme = if wrapped { "smtps" } else { "smtp+starttls" };
        let mut trusting = route(scheme, server.port, Some(PASSWORD), Some(certificates.path("self-signed.pem")));
        let delivery = made(&["ann@example.org"]).deliver(&mut *trusting, &table());
        assert_eq!(delivery.written.len(), 1, "{scheme}: {delivery:?}");
        let mut other = route(scheme, server.port, Some(PASSWORD), Some(certificates.path("authority.pem")));
        let delivery = made(&["ann@example.org"]).deliver(&mut *other, &table());
        assert!(delivery.written.is_empty() && delivery.failed.len() == 1, "{scheme}: {delivery:?}");
        assert_eq!(server.received().len(), 1, "nothing is sent to a server that is not known");
    }
}

#[test]
fn tls_from_the_first_byte_and_the_other_way_to_log_in() {
    let certificates = Certificates::new();
    let Some(server) = Server::start(json!({
        "certificate": certificates.path("certificate.pem"), "key": certificates.path("key.pem"), "wrapped": true,
        "user": USER, "password": PASSWORD, "without": ["PLAIN"],
    })) else {
        return;
    };
    let authority = Some(certificates.path("authority.pem"));
    let delivery =
        made(&["ann@example.org"]).deliver(&mut *route("smtps", server.port, Some(PASSWORD), authority), &table());
    assert_eq!(delivery.written.len(), 1, "{delivery:?}");
    assert_eq!(server.received()[0]["login"], json!(["LOGIN", USER]));
}

/// Nothing was sent, and the failure names who and where.
fn expect_failure(delivery: &Delivery, server: &str, what: &str) {
    assert!(delivery.written.is_empty(), "{delivery:?}");
    let [failed] = &delivery.failed[..] else { panic!("{delivery:?}") };
    assert_eq!(failed.address, "ann@example.org");
    assert_eq!(failed.route, server);
    assert!(failed.what.contains(what) && failed.what.contains(server), "{}", failed.what);
    assert!(!format!("{delivery:?}").contains("pa ss") && !format!("{delivery:?}").contains("wrong-password"));
}

#[test]
fn strangers_and_wrong_passwords_are_named_and_tried_again() {
    let certificates = Certificates::new();
    let Some(server) = Server::start(json!({
        "certificate": certificates.path("certificate.pem"), "key": certificates.path("key.pem"),
        "user": USER, "password": PASSWORD,
    })) else {
        return;
    };
    let (table, made) = (table(), made(&["ann@example.org"]));
    let authority = || Some(certificates.path("authority.pem"));
    let name = format!("smtp+starttls://127.0.0.1:{}", server.port);
    let delivery = made.deliver(&mut *route("smtp+starttls", server.port, Some(PASSWORD), None), &table);
    expect_failure(&delivery, &name, "certificate");
    let delivery = made.deliver(&mut *route("smtp+starttls", server.port, Some("wrong-password"), authority()), &table);
    expect_failure(&delivery, &name, "535");
    let delivery = made.deliver(&mut *route("smtp+starttls", server.port, None, authority()), &table);
    expect_failure(&delivery, &name, "530");
    assert!(server.received().is_empty());
    let delivery = made.deliver(&mut *route("smtp+starttls", server.port, Some(PASSWORD), authority()), &table);
    assert_eq!(delivery.written.len(), 1, "{delivery:?}");
}

#[test]
fn no_password_goes_to_a_server_without_tls() {
    let Some(server) = Server::start(json!({})) else { return };
    let delivery =
        made(&["ann@example.org"]).deliver(&mut *route("smtp+starttls", server.port, Some(PASSWORD), None), &table());
    expect_failure(&delivery, &format!("smtp+starttls://127.0.0.1:{}", server.port), "STARTTLS");
}

#[test]
fn one_refusal_harms_nobody_else() {
    let Some(server) = Server::start(json!({})) else { return };
    let table = table();
    let mut made = made(&["ann@example.org", "refused@example.org", "busy@example.org", "zoe@example.org"]);
    made.webs[0].task.addresses.push("refused-too@example.org".to_owned());
    let delivery = made.deliver(&mut *route("smtp", server.port, None, None), &table);
    let written: Vec<_> = delivery.written.iter().flat_map(|one| &one.addresses).collect();
    assert_eq!(written, ["ann@example.org", "zoe@example.org"]);
    let failed: Vec<_> =
        delivery.failed.iter().map(|one| (&one.address[..], one.what.contains("nobody of that name"))).collect();
    assert_eq!(failed, [("refused-too@example.org", true), ("refused@example.org", true), ("busy@example.org", false)]);
    assert!(delivery.failed[2].what.contains("come back later"), "{delivery:?}");
    assert_eq!(server.received().len(), 2);
    // The next run tries those that failed, and only those.
    let delivery = made.deliver(&mut *route("smtp", server.port, None, None), &table);
    assert_eq!((delivery.written.len(), delivery.failed.len(), delivery.quiet.len()), (0, 3, 2));
}

#[test]
fn many_messages_share_a_connection_and_outlive_it() {
    for hang_up in [false, true] {
        let Some(server) = Server::start(json!({ "hang_up": hang_up })) else { return };
        let addresses: Vec<String> = (0..5).map(|n| format!("owner{n}@example.org")).collect();
        let addresses: Vec<_> = addresses.iter().map(|address| &address[..]).collect();
        let mut route = route("smtp", server.port, None, None);
        for (place, address) in addresses.iter().enumerate() {
            let delivery = made(&[address]).deliver(&mut *route, &table());
            assert_eq!(delivery.written.len(), 1, "{delivery:?}");
            assert_eq!(server.received().len(), place + 1);
            if hang_up {
                // The server closes the connection between two messages, as those do that have a limit.
                wait_until("the connection is closed", || server.hung_up() == place + 1);
            }
        }
    }
}

#[test]
fn servers_that_are_silent_or_absent_end_in_a_failure() {
    let route = |port, patience| {
        let url = format!("smtp://127.0.0.1:{port}");
        let route = MailRoute::Smtp {
            url: url.parse().expect("a URL"),
            user: None,
            password_file: None,
            from: "spider@example.org".to_owned(),
        };
        (url, open(&route, Means { patience, ..Means::default() }).expect("a route"))
    };
    let silent = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    let port = silent.local_addr().expect("an address").port();
    let (url, mut to_silent) = route(port, Duration::from_millis(300));
    expect_failure(&made(&["ann@example.org"]).deliver(&mut *to_silent, &table()), &url, "");
    let (url, mut to_absent) = route(free_port(), PATIENCE);
    expect_failure(&made(&["ann@example.org"]).deliver(&mut *to_absent, &table()), &url, "refused");
}

#[test]
fn a_server_that_is_away_is_not_asked_for_everybody() {
    let port = free_port();
    let addresses: Vec<String> = (0..6).map(|n| format!("owner{n}@example.org")).collect();
    let addresses: Vec<_> = addresses.iter().map(|address| &address[..]).collect();
    let delivery = made(&addresses).deliver(&mut *route("smtp", port, None, None), &table());
    let tried: Vec<_> = delivery.failed.iter().map(|failed| !failed.what.contains("not attempted")).collect();
    assert_eq!(tried, [true, true, true, false, false, false], "{delivery:?}");
    assert!(delivery.failed[0].what.contains("refused"), "{delivery:?}");
}

#[test]
fn routes_that_cannot_work_are_refused_before_anything_is_sent() {
    let smtp = |url: &str, password_file: Option<&Path>, from: &str| MailRoute::Smtp {
        url: url.parse().expect("a URL"),
        user: password_file.map(|_| USER.to_owned()),
        password_file: password_file.map(Path::to_owned),
        from: from.to_owned(),
    };
    for (route, expected) in [
        (smtp("http://example.org", None, "a@example.org"), "use smtp://"),
        (smtp("smtp://example.org", None, "a@example.org\r\nBcc: b@example.org"), "invalid sender"),
        (
            smtp("smtps://example.org", Some(Path::new("/nonexistent/password")), "a@example.org"),
            "/nonexistent/password",
        ),
    ] {
        let error = open(&route, Means::default()).err().expect("refused");
        assert!(error.to_string().contains(expected), "{error}");
    }
    let means = Means { authority: Some("/nonexistent/authority.pem".into()), ..Means::default() };
    let error = open(&smtp("smtps://example.org", None, "a@example.org"), means).err().expect("refused");
    assert!(error.to_string().contains("/nonexistent/authority.pem"), "{error}");
}
