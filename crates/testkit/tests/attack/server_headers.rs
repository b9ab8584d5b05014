//! Every answer that is not a file of the site tells browsers to run nothing, in both hosts.

use modoai_testkit::apache::{self, Launch, Mpm};
use modoai_testkit::http::{BROWSER, Client, Response};
use modoai_testkit::site::TestSite;

use crate::hosts::Host;

const POLICY: &str = "default-src 'none'; sandbox";

/// What the protecting headers of an answer are, each of them once.
#[track_caller]
fn expect_protected(what: &str, answer: &Response, policy: &str) {
    for (name, expected) in [("Content-Security-Policy", policy), ("X-Content-Type-Options", "nosniff")] {
        let given = answer.headers.iter().filter(|(given, _)| given.eq_ignore_ascii_case(name));
        let given: Vec<&str> = given.map(|(_, value)| value.as_str()).collect();
        assert_eq!(given, [expected], "{name} of {what}: {answer:?}");
    }
}

fn every_answer_is_protected(host: Host) {
    let site = TestSite::with(&[("a.txt", "x"), ("b.html", "<title>x</title>")]);
    let running = host.serve(&site, &[]);
    let mut client = running.client();
    let identifier = format!("{}/a.txt", running.url());
    for query in [
        "verb=Identify",
        "verb=ListMetadataFormats",
        "verb=ListSets",
        "verb=ListIdentifiers&metadataPrefix=oai_dc",
        "verb=ListRecords&metadataPrefix=oai_didl",
        &format!("verb=GetRecord&metadataPrefix=http_header&identifier={identifier}"),
        "verb=GetRecord&metadataPrefix=oai_dc&identifier=nothing",
        "verb=Nonsense",
        "verb=ListRecords&resumptionToken=x",
        "",
    ] {
        let target = format!("/modoai?{query}");
        let answer = client.get(&target).expect("an answer");
        assert!(answer.header("Content-Type").is_some_and(|kind| kind.starts_with("text/xml")), "{answer:?}");
        expect_protected(&target, &answer, POLICY);
        expect_protected(&target, &client.head(&target).expect("an answer"), POLICY);
        expect_protected(&target, &client.post_form("/modoai", query).expect("an answer"), POLICY);
    }
    for schema in ["http_header.xsd", "fixity.xsd", "datestamps.xsd"] {
        let answer = client.get(&format!("/modoai/{schema}")).expect("an answer");
        assert_eq!(answer.status, 200, "{schema}");
        expect_protected(schema, &answer, POLICY);
    }
    let refused = [
        ("405", client.send("DELETE", "/modoai?verb=Identify", &[], b"")),
        ("415", client.send("POST", "/modoai", &[("Content-Type", "text/plain")], b"verb=Identify")),
        ("413", client.post_form("/modoai", &"a".repeat(100_000))),
        ("404", client.get("/modoai/nothing.xsd")),
    ];
    for (status, answer) in refused {
        let answer = answer.expect("an answer");
        assert_eq!(answer.status.to_string(), status);
        expect_protected(status, &answer, POLICY);
        client = running.client();
    }
    let page = client.get_with("/modoai", &[BROWSER]).expect("an answer");
    assert!(page.header("Content-Type").is_some_and(|kind| kind.starts_with("text/html")), "{page:?}");
    let policy = page.header("Content-Security-Policy").expect("a policy").to_owned();
    for part in ["default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"] {
        assert!(policy.contains(part), "{policy}");
    }
    assert!(!policy.contains("script-src"), "{policy}");
    expect_protected("the page", &page, &policy);

    // What the site itself sends is the site's business, and what records say of it stays true.
    let file = client.get("/a.txt").expect("an answer");
    assert_eq!((file.status, file.header("Content-Security-Policy")), (200, None));
}

#[test]
fn every_answer_of_the_server_is_protected() {
    every_answer_is_protected(Host::Standalone);
}

#[test]
fn every_answer_in_httpd_is_protected() {
    every_answer_is_protected(Host::Apache);
}

/// httpd refuses these before the handler runs.
#[test]
fn refusals_of_httpd_at_the_repository_are_protected() {
    if apache::is_missing() {
        return;
    }
    let launch = Launch::new(Mpm::Event).ordinary_site().text(
        r#"ErrorDocument 401 /page.html
        <Location "/closed">
            SetHandler oai-handler
            AuthType Basic
            AuthName Members
            AuthUserFile users
            Require valid-user
        </Location>
        <Location "/denied">
            SetHandler oai-handler
            Require all denied
        </Location>
        <Location "/modoai/files">
            SetHandler None
        </Location>"#,
    );
    launch.write("users", "");
    launch.write("docs/page.html", "x");
    let httpd = launch.start();
    let mut client = httpd.client();
    for (target, status) in [("/closed?verb=Identify", 401), ("/denied", 403)] {
        let answer = client.get(target).expect("an answer");
        assert_eq!(answer.status, status, "{target}");
        expect_protected(target, &answer, POLICY);
    }
    for target in ["/page.html", "/modoai/files", "/missing"] {
        assert_eq!(client.get(target).expect("an answer").header("Content-Security-Policy"), None, "{target}");
    }
}

/// Directives of mod_headers at a repository.
const HEADER_RULES: &[(&str, &str)] = &[
    ("always-set", "Header always set Content-Security-Policy \"default-src * 'unsafe-inline'\""),
    ("always-unset", "Header always unset Content-Security-Policy\nHeader always unset X-Content-Type-Options"),
    ("set", "Header set Content-Security-Policy \"default-src 'self'\"\nHeader set X-Content-Type-Options nosniff"),
    ("unset", "Header unset Content-Security-Policy\nHeader unset X-Content-Type-Options"),
    ("edit", "Header always edit Content-Security-Policy sandbox \"sandbox allow-scripts allow-same-origin\""),
    (
        "edit-all",
        "Header always edit* Content-Security-Policy .+ \"\"\nHeader always edit X-Content-Type-Options nosniff x",
    ),
    ("append", "Header always append Content-Security-Policy \"script-src *\""),
    ("merge", "Header always merge Content-Security-Policy \"script-src *\""),
    ("add", "Header always add Content-Security-Policy \"script-src *\""),
    ("early", "Header always set X-Content-Type-Options x early"),
];

/// `Header always` changes the headers after the handler.
#[test]
fn header_directives_do_not_remove_the_policy_in_httpd() {
    if apache::is_missing() {
        return;
    }
    let mut launch = Launch::new(Mpm::Event).modules(&["mod_headers"]).ordinary_site();
    for (name, rules) in HEADER_RULES {
        let rules = if rules.ends_with("early") {
            format!("</Location>\n{rules}\n<Location \"/{name}\">")
        } else {
            (*rules).to_owned()
        };
        launch = launch.text(&format!("<Location \"/{name}\">\nSetHandler oai-handler\n{rules}\n</Location>"));
        launch = launch.text(&format!("<Location \"/{name}/denied\">\nRequire all denied\n</Location>"));
    }
    launch.write("docs/a.txt", "x");
    let httpd = launch.start();
    httpd.wait_for_index(&mut httpd.client());
    let page = httpd.client().get_with("/modoai", &[BROWSER]).expect("an answer");
    let page_policy = page.header("Content-Security-Policy").expect("a policy");
    for (name, _) in HEADER_RULES {
        let requests = [
            ("?verb=ListRecords&metadataPrefix=oai_didl", 200),
            ("?verb=Nonsense", 200),
            ("/csv?verb=ListRecords&metadataPrefix=oai_dc", 200),
            ("/fixity.xsd", 200),
            ("/nothing.xsd", 404),
            ("/denied", 403),
        ];
        for (target, status) in requests {
            let target = format!("/{name}{target}");
            let answer = httpd.client().get(&target).expect("an answer");
            assert_eq!(answer.status, status, "{target}");
            expect_among(&target, &answer, POLICY);
            expect_among(&target, &httpd.client().head(&target).expect("an answer"), POLICY);
        }
        let refused = httpd.client().send("DELETE", &format!("/{name}"), &[], b"").expect("an answer");
        assert_eq!(refused.status, 405);
        expect_among(name, &refused, POLICY);
        let page = httpd.client().get_with(&format!("/{name}"), &[BROWSER]).expect("an answer");
        expect_among(name, &page, page_policy);
        assert!(!page.headers.iter().any(|(_, value)| value == POLICY), "{page:?}");
    }
}

/// Fails unless one of the policies of a response is this one: a browser applies all of them. Of X-Content-Type-Options, it
/// reads only the first value.
#[track_caller]
fn expect_among(what: &str, answer: &Response, policy: &str) {
    let values = |name: &str| {
        let given = answer.headers.iter().filter(|(given, _)| given.eq_ignore_ascii_case(name));
        given.flat_map(|(_, value)| value.split(',').map(str::trim)).collect::<Vec<_>>()
    };
    assert!(values("Content-Security-Policy").contains(&policy), "{what}: {answer:?}");
    assert_eq!(values("X-Content-Type-Options"), ["nosniff"], "{what}: {answer:?}");
}

#[test]
fn refusals_of_the_server_are_protected() {
    let site = TestSite::with(&[("a.txt", "x"), ("folder/b.txt", "x")]);
    let running = Host::Standalone.serve(&site, &[]);
    let mut client = running.client();
    for (target, status) in
        [("/missing", 404), ("/folder", 301), ("/", 302), ("/modoai/", 302), ("/healthz", 200), ("/%00", 404)]
    {
        let answer = client.get(target).expect("an answer");
        assert_eq!(answer.status, status, "{target}");
        expect_protected(target, &answer, POLICY);
    }
    let long = client.get(&format!("/{}", "a".repeat(40_000))).expect("an answer");
    assert_eq!(long.status, 414);
    expect_protected("a long address", &long, POLICY);
    let range = client.get_with("/a.txt", &[("Range", "bytes=100-")]).expect("an answer");
    assert_eq!(range.status, 416);
    expect_protected("a range", &range, POLICY);
    let condition = client.get_with("/a.txt", &[("If-Match", "\"x\"")]).expect("an answer");
    assert_eq!(condition.status, 412);
    expect_protected("a condition", &condition, POLICY);
    let twice = client.send("GET", "/a.txt", &[("Host", "a"), ("Host", "b")], b"").expect("an answer");
    assert_eq!(twice.status, 400);
    expect_protected("two hosts", &twice, POLICY);
}

#[test]
fn a_503_of_the_server_is_protected() {
    let site = TestSite::with(&[("a.txt", "x")]);
    let server = modoai_testkit::process::Launch::of(site.path()).set("list_delay", "1h").start();
    let list = "/modoai?verb=ListIdentifiers&metadataPrefix=oai_dc";
    let mut client = Client::new(server.url());
    assert_eq!(client.get(list).expect("an answer").status, 200);
    let refused = client.get(list).expect("an answer");
    assert_eq!(refused.status, 503);
    expect_protected("503", &refused, POLICY);
}
