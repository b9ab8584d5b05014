//! What is listed is what a GET with the same headers gives, also where modules change headers before or after access is
//! decided, and where rules look at the port, the version of HTTP, or whether there is an `Accept` header.

use std::collections::BTreeSet;

use modoai_testkit::apache::{self, Httpd, Launch, Mpm};
use modoai_testkit::curl::{Curl, Version};
use modoai_testkit::http::{Client, Dressed, Get};

use crate::oai;

/// Paths of a listing, and paths of these that a GET gives.
fn compare(client: &mut impl Get, names: &[&str]) -> (BTreeSet<String>, BTreeSet<String>) {
    let records = oai::harvest(client, "verb=ListIdentifiers&metadataPrefix=oai_dc").into_iter();
    let path = |identifier: String| identifier.splitn(4, '/').nth(3).unwrap_or_default().to_owned();
    let listed = records.filter(|record| !record.deleted).map(|record| path(record.identifier)).collect();
    let given = names.iter().filter(|name| client.get(&format!("/{name}")).expect("an answer").status == 200);
    (listed, given.map(|name| (*name).to_owned()).collect())
}

fn start(launch: Launch, names: &[&str]) -> Httpd {
    for name in names {
        launch.write(format!("docs/{name}"), "x");
    }
    let httpd = launch.start();
    httpd.wait_for_index(&mut httpd.client());
    httpd
}

fn set<const N: usize>(names: [&str; N]) -> BTreeSet<String> {
    names.map(str::to_owned).into()
}

#[test]
fn headers_are_those_that_arrived_and_not_those_that_modules_made_of_them() {
    if apache::is_missing() {
        return;
    }
    let names = ["late.txt", "early.txt", "appended.txt", "private/x.txt", "x.txt"];
    let launch = Launch::new(Mpm::Event).modules(&["mod_headers"]).ordinary_site().text(
        r#"RequestHeader set X-Late yes
        RequestHeader set X-Early yes early
        RequestHeader append X-Appended b early
        <Location "/late.txt">
            Require expr "%{HTTP:X-Late} == 'yes'"
        </Location>
        <Location "/early.txt">
            Require expr "%{HTTP:X-Early} == 'yes'"
        </Location>
        <Location "/appended.txt">
            Require expr "%{HTTP:X-Appended} == 'a, b'"
        </Location>
        <Location "/modoai">
            RequestHeader unset Authorization
        </Location>
        <Directory "${SITE}/docs/private">
            AuthType Basic
            AuthName Members
            AuthUserFile users
            Require valid-user
        </Directory>"#,
    );
    // alice: secret
    launch.write("users", "alice:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=\n");
    let httpd = start(launch, &names);
    let client = httpd.client().with_password("alice", "secret");
    let (listed, given) = compare(&mut Dressed { client, headers: &[("X-Appended", "a")] }, &names);
    assert_eq!(given, set(["appended.txt", "early.txt", "private/x.txt", "x.txt"]));
    assert_eq!(listed, given);
    let (listed, given) = compare(&mut httpd.client(), &names);
    assert_eq!(given, set(["early.txt", "x.txt"]));
    assert_eq!(listed, given);
}

#[test]
fn rules_about_the_port_hold_for_a_site_at_any_port() {
    if apache::is_missing() {
        return;
    }
    let text = r#"<VirtualHost 127.0.0.1:${PORT}>
        ServerName 127.0.0.1
        UseCanonicalName Off
        DocumentRoot "${SITE}/docs"
        RewriteEngine On
        RewriteCond %{SERVER_PORT} !=${PORT}
        RewriteRule ^ https://127.0.0.1:${PORT}/ [R=301,L]
        <Directory "${SITE}/docs">
            Require all granted
        </Directory>
        OAIIndexDir "${SITE}/index"
        <Location "/modoai">
            SetHandler oai-handler
        </Location>
    </VirtualHost>"#;
    let httpd = start(Launch::new(Mpm::Event).modules(&["mod_rewrite"]).text(text), &["x.txt"]);
    let (listed, given) = compare(&mut httpd.client(), &["x.txt"]);
    assert_eq!(given, set(["x.txt"]));
    assert_eq!(listed, given);
}

/// A client of HTTP/1.0.
struct Old(Client);

impl Get for Old {
    fn get_all(&mut self, targets: &[String]) -> std::io::Result<Vec<modoai_testkit::http::Response>> {
        let ask = |target: &String| {
            let answer = self.0.raw(format!("GET {target} HTTP/1.0\r\n\r\n").as_bytes())?;
            let text = String::from_utf8_lossy(&answer).into_owned();
            let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
            let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default();
            let body = body.as_bytes().to_vec();
            let headers = head.lines().filter_map(|line| line.split_once(": "));
            let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
            Ok(modoai_testkit::http::Response { status, headers, body })
        };
        targets.iter().map(ask).collect()
    }
}

#[test]
fn rules_about_the_version_of_http_see_that_of_the_request() {
    if apache::is_missing() {
        return;
    }
    let names = ["0.txt", "1.txt", "2.txt"];
    let launch = Launch::new(Mpm::Event).modules(&["mod_http2"]).ordinary_site().text(
        r#"Protocols h2c http/1.1
        <Location "/0.txt">
            Require expr "%{SERVER_PROTOCOL} == 'HTTP/1.0'"
        </Location>
        <Location "/1.txt">
            Require expr "%{SERVER_PROTOCOL} == 'HTTP/1.1'"
        </Location>
        <Location "/2.txt">
            Require expr "%{SERVER_PROTOCOL} == 'HTTP/2.0'"
        </Location>"#,
    );
    let httpd = start(launch, &names);
    let compared = [
        ("0.txt", compare(&mut Old(httpd.client()), &names)),
        ("1.txt", compare(&mut httpd.client(), &names)),
        ("2.txt", compare(&mut Curl::new(&httpd.url(), Version::Http2), &names)),
    ];
    for (expected, (listed, given)) in compared {
        assert_eq!(given, set([expected]));
        assert_eq!(listed, given);
    }
    httpd.expect_clean_log(&["AH01630"]);
}

#[test]
fn a_requester_that_says_what_it_accepts_is_not_taken_for_one_that_does_not() {
    if apache::is_missing() {
        return;
    }
    let names = ["any.txt", "none.txt", "x.txt"];
    let launch = Launch::new(Mpm::Event).ordinary_site().text(
        r#"<Location "/any.txt">
            Require expr "-n %{HTTP_ACCEPT}"
        </Location>
        <Location "/none.txt">
            Require expr "-z %{HTTP_ACCEPT}"
        </Location>"#,
    );
    let httpd = start(launch, &names);
    for (headers, expected) in [
        (&[("Accept", "text/xml")][..], set(["any.txt", "x.txt"])),
        (&[("Accept", "*/*")], set(["any.txt", "x.txt"])),
        (&[], set(["none.txt", "x.txt"])),
    ] {
        let (listed, given) = compare(&mut Dressed { client: httpd.client(), headers }, &names);
        assert_eq!(given, expected, "{headers:?}");
        assert_eq!(listed, given, "{headers:?}");
    }
}
