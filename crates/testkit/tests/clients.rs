//! Which clients get XML and which an HTML page, by the headers that they really send, in both hosts.
//!
//! Only browsers may get HTML: a harvester that does dies in its XML parser. A few programs send a browser's Accept header
//! unchanged (wget2, Scrapy) and get what a browser gets; they are in the table so that this stays known.

use modoai_testkit::http::Client;
use modoai_testkit::site::TestSite;

use crate::hosts::Host;

/// What a client gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gets {
    Xml,
    Html,
}
use Gets::{Html, Xml};

type Headers = &'static [(&'static str, &'static str)];

const fn agent(value: &'static str) -> (&'static str, &'static str) {
    ("User-Agent", value)
}

const fn accept(value: &'static str) -> (&'static str, &'static str) {
    ("Accept", value)
}

const ANY: (&str, &str) = accept("*/*");
const FIREFOX_ACCEPT: (&str, &str) = accept("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8");
const CHROME_ACCEPT: (&str, &str) = accept(
    "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,\
     application/signed-exchange;v=b3;q=0.7",
);
const CHROME: (&str, &str) =
    agent("Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36");
const FIREFOX: (&str, &str) = agent("Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0");

const CLIENTS: &[(&str, Headers, Gets)] = &[
    // Java.
    ("Java 17, URLConnection", &[agent("Java/17.0.15"), accept("text/html, image/gif, image/jpeg, */*; q=0.2")], Xml),
    (
        "Java 8, URLConnection",
        &[agent("Java/1.8.0_292"), accept("text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2")],
        Xml,
    ),
    (
        "OCLC harvester2",
        &[agent("OAIHarvester/2.0"), accept("text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2")],
        Xml,
    ),
    ("Java 17, HttpClient", &[agent("Java-http-client/17.0.15")], Xml),
    ("Apache HttpClient 4", &[agent("Apache-HttpClient/4.5.13 (Java/11.0.22)")], Xml),
    ("OkHttp 4", &[agent("okhttp/4.12.0")], Xml),
    (
        "Spring RestTemplate",
        &[agent("Java/17.0.15"), accept("text/plain, application/json, application/*+json, */*")],
        Xml,
    ),
    (
        "Spring RestTemplate, JAXB",
        &[agent("Java/17.0.15"), accept("application/xml, text/xml, application/*+xml")],
        Xml,
    ),
    // .NET.
    (".NET HttpClient", &[], Xml),
    (
        "PowerShell 5",
        &[agent("Mozilla/5.0 (Windows NT; Windows NT 10.0; en-GB) WindowsPowerShell/5.1.19041.1682")],
        Xml,
    ),
    ("PowerShell 7", &[agent("Mozilla/5.0 (Linux; Debian GNU/Linux 12 (bookworm); ) PowerShell/7.4.2")], Xml),
    // Go and Rust.
    ("Go net/http", &[agent("Go-http-client/1.1")], Xml),
    ("Rust reqwest", &[ANY], Xml),
    ("Rust ureq", &[agent("ureq/2.9.7"), ANY], Xml),
    // Python.
    ("Python urllib", &[agent("Python-urllib/3.11")], Xml),
    ("Python requests, Sickle", &[agent("python-requests/2.32.3"), ANY], Xml),
    ("Python httpx, Scythe", &[agent("oaipmh-scythe/0.13.0"), ANY], Xml),
    ("Python aiohttp", &[agent("Python/3.11 aiohttp/3.9.5"), ANY], Xml),
    (
        "Python feedparser",
        &[
            agent("feedparser/6.0.11"),
            accept(
                "application/atom+xml,application/rdf+xml,application/rss+xml,application/x-netcdf,application/xml;q=0.9,text/xml;q=0.2,*/*;q=0.1",
            ),
        ],
        Xml,
    ),
    (
        "Python rdflib",
        &[
            agent("rdflib-6.3.2"),
            accept("application/rdf+xml,text/rdf+n3;q=0.9,application/xhtml+xml;q=0.5, */*;q=0.1"),
        ],
        Xml,
    ),
    ("Scrapy", &[agent("Scrapy/2.11.2 (+https://scrapy.org)"), FIREFOX_ACCEPT], Html),
    // Ruby, PHP, Perl, R.
    ("Ruby Net::HTTP", &[agent("Ruby"), ANY], Xml),
    ("Ruby Faraday, ruby-oai", &[agent("Faraday v2.9.0"), ANY], Xml),
    ("PHP streams", &[], Xml),
    ("PHP Guzzle", &[agent("GuzzleHttp/7")], Xml),
    ("PHP cURL", &[ANY], Xml),
    ("Perl LWP", &[("TE", "deflate,gzip;q=0.3"), agent("libwww-perl/6.67")], Xml),
    ("Perl HTTP::OAI", &[agent("HTTP-OAI/4.12 libwww-perl/6.67"), ("From", "admin@example.org")], Xml),
    ("Perl HTTP::Tiny", &[agent("HTTP-Tiny/0.080")], Xml),
    (
        "R httr",
        &[agent("libcurl/7.88.1 r-curl/5.2.1 httr/1.4.7"), accept("application/json, text/xml, application/xml, */*")],
        Xml,
    ),
    // Commands.
    ("curl", &[agent("curl/7.88.1"), ANY], Xml),
    ("Wget", &[agent("Wget/1.21.3"), ANY], Xml),
    ("Wget2", &[FIREFOX_ACCEPT, agent("wget2/1.99.1")], Html),
    ("HTTPie", &[agent("HTTPie/3.2.2"), ANY], Xml),
    ("xmllint", &[], Xml),
    // Scripts in browsers, and outside.
    ("Node fetch", &[ANY, ("sec-fetch-mode", "cors"), agent("node")], Xml),
    ("Node axios", &[accept("application/json, text/plain, */*"), agent("axios/1.7.2")], Xml),
    ("fetch in Chrome", &[CHROME, ANY, ("Sec-Fetch-Mode", "cors"), ("Sec-Fetch-Dest", "empty")], Xml),
    ("jQuery for XML", &[CHROME, accept("application/xml, text/xml, */*; q=0.01"), ("Sec-Fetch-Mode", "cors")], Xml),
    (
        "jQuery for HTML, plain HTTP",
        &[FIREFOX, accept("text/html, */*; q=0.01"), ("X-Requested-With", "XMLHttpRequest")],
        Xml,
    ),
    (
        "a script that copies Accept",
        &[CHROME, CHROME_ACCEPT, ("Sec-Fetch-Mode", "cors"), ("Sec-Fetch-Dest", "empty")],
        Xml,
    ),
    ("a frame in Chrome", &[CHROME, CHROME_ACCEPT, ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "iframe")], Xml),
    // Browsers.
    (
        "Chrome 126",
        &[
            CHROME,
            CHROME_ACCEPT,
            ("Sec-Fetch-Site", "none"),
            ("Sec-Fetch-Mode", "navigate"),
            ("Sec-Fetch-User", "?1"),
            ("Sec-Fetch-Dest", "document"),
        ],
        Html,
    ),
    ("Chrome 126, plain HTTP", &[CHROME, CHROME_ACCEPT], Html),
    (
        "Firefox 128",
        &[
            FIREFOX,
            FIREFOX_ACCEPT,
            ("Sec-Fetch-Dest", "document"),
            ("Sec-Fetch-Mode", "navigate"),
            ("Sec-Fetch-Site", "none"),
        ],
        Html,
    ),
    (
        "Firefox 128, plain HTTP",
        &[
            FIREFOX,
            accept(
                "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/png,image/svg+xml,*/*;q=0.8",
            ),
        ],
        Html,
    ),
    (
        "Firefox 2",
        &[
            agent("Mozilla/5.0 (X11; U; Linux i686; en-US; rv:1.8.1.20) Gecko/20081217 Firefox/2.0.0.20"),
            accept(
                "text/xml,application/xml,application/xhtml+xml,text/html;q=0.9,text/plain;q=0.8,image/png,*/*;q=0.5",
            ),
        ],
        Html,
    ),
    (
        "Safari 12",
        &[
            agent(
                "Mozilla/5.0 (iPhone; CPU iPhone OS 12_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/12.1.2 Mobile/15E148 Safari/604.1",
            ),
            FIREFOX_ACCEPT,
        ],
        Html,
    ),
    (
        "Safari 17",
        &[
            agent(
                "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Safari/605.1.15",
            ),
            FIREFOX_ACCEPT,
            ("Sec-Fetch-Site", "none"),
            ("Sec-Fetch-Mode", "navigate"),
            ("Sec-Fetch-Dest", "document"),
        ],
        Html,
    ),
    (
        "Android 4",
        &[
            agent(
                "Mozilla/5.0 (Linux; U; Android 4.0.3; de-de) AppleWebKit/534.30 (KHTML, like Gecko) Version/4.0 Mobile Safari/534.30",
            ),
            accept("application/xml,application/xhtml+xml,text/html;q=0.9,text/plain;q=0.8,image/png,*/*;q=0.5"),
        ],
        Html,
    ),
    (
        "Edge 18",
        &[
            agent(
                "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/64.0.3282.140 Safari/537.36 Edge/18.17763",
            ),
            accept("text/html, application/xhtml+xml, application/xml; q=0.9, */*; q=0.8"),
        ],
        Html,
    ),
    (
        "Internet Explorer 11",
        &[
            agent("Mozilla/5.0 (Windows NT 6.1; WOW64; Trident/7.0; rv:11.0) like Gecko"),
            accept("text/html, application/xhtml+xml, */*"),
        ],
        Html,
    ),
    (
        "Internet Explorer 8",
        &[
            agent("Mozilla/4.0 (compatible; MSIE 8.0; Windows NT 6.1; Trident/4.0)"),
            accept(
                "image/gif, image/jpeg, image/pjpeg, application/x-ms-application, application/xaml+xml, application/x-ms-xbap, */*",
            ),
        ],
        Xml,
    ),
    (
        "Opera 12",
        &[
            agent("Opera/9.80 (X11; Linux x86_64) Presto/2.12.388 Version/12.16"),
            accept(
                "text/html, application/xml;q=0.9, application/xhtml+xml, image/png, image/webp, image/jpeg, image/gif, image/x-xbitmap, */*;q=0.1",
            ),
        ],
        Html,
    ),
    // Text browsers do not name themselves in Accept, and so get XML.
    (
        "Lynx",
        &[
            accept("text/html, text/plain, text/sgml, text/css, */*;q=0.01"),
            agent("Lynx/2.9.0dev.12 libwww-FM/2.14 SSL-MM/1.4.1 GNUTLS/3.7.8"),
        ],
        Xml,
    ),
    (
        "w3m",
        &[
            agent("w3m/0.5.3+git20230121"),
            accept("text/html, text/*;q=0.5, image/*, application/*, x-scheme-handler/*"),
        ],
        Xml,
    ),
    ("Links", &[agent("Links (2.28; Linux x86_64; GNU C 12.2; dump)"), ANY], Xml),
    ("ELinks", &[agent("ELinks/0.13.2 (textmode; Linux x86_64; -)"), ANY], Xml),
];

fn received(client: &mut Client, method: &str, target: &str, headers: Headers, body: &str) -> Gets {
    let form = ("Content-Type", "application/x-www-form-urlencoded");
    let headers: Vec<_> = headers.iter().copied().chain((method == "POST").then_some(form)).collect();
    let answer = client.send(method, target, &headers, body.as_bytes()).expect("an answer");
    let vary = answer.header("Vary").unwrap_or_default().to_owned();
    assert!(["Accept", "Sec-Fetch-Mode", "Sec-Fetch-Dest"].iter().all(|name| vary.contains(name)), "{vary}");
    match (answer.status, answer.header("Content-Type")) {
        (200, Some("text/xml; charset=UTF-8")) => Xml,
        (200, Some("text/html; charset=UTF-8")) => Html,
        other => panic!("{other:?}"),
    }
}

fn only_browsers_get_html(host: Host) {
    const QUERY: &str = "verb=ListIdentifiers&metadataPrefix=oai_dc";
    let site = TestSite::with(&[("a.txt", "x")]);
    let running = host.serve(&site, &[]);
    let mut client = running.client();
    assert!(CLIENTS.len() >= 40);
    for (name, headers, expected) in CLIENTS {
        for target in ["/modoai".to_owned(), format!("/modoai?{QUERY}"), "/modoai?verb=Nonsense".to_owned()] {
            assert_eq!(received(&mut client, "GET", &target, headers, ""), *expected, "{name} at {target}");
        }
        assert_eq!(received(&mut client, "HEAD", "/modoai", headers, ""), *expected, "HEAD by {name}");
        assert_eq!(received(&mut client, "POST", "/modoai", headers, QUERY), Xml, "POST by {name}");
        assert_eq!(received(&mut client, "GET", &format!("/modoai/xml?{QUERY}"), headers, ""), Xml, "{name}");
    }

    // The page says what it is, and leads to the XML: the same response as without "/xml".
    let page = client.get_with(&format!("/modoai?{QUERY}"), &[FIREFOX_ACCEPT]).expect("a page").text();
    let page = page.replace("&#x2f;", "/").replace("&amp;", "&");
    assert!(page.contains("This is the HTML page for browsers"), "{page}");
    let link = page.split_once("<a href=\"/modoai/xml").and_then(|(_, rest)| rest.split_once('"')).expect("a link").0;
    let xml = client.get_with(&format!("/modoai/xml{link}"), &[FIREFOX_ACCEPT]).expect("an answer").text();
    let undated = |text: &str| text.split_once("<request").map(|(_, rest)| rest.to_owned());
    assert_eq!(undated(&xml), undated(&client.get(&format!("/modoai?{QUERY}")).expect("an answer").text()));
}

#[test]
fn only_browsers_get_html_from_the_server() {
    only_browsers_get_html(Host::Standalone);
}

#[test]
fn only_browsers_get_html_from_httpd() {
    if !modoai_testkit::apache::is_missing() {
        only_browsers_get_html(Host::Apache);
    }
}
