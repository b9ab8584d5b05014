//! What is listed is what a GET gives, in bytes and headers: for nobody in particular and for two users, under every MPM,
//! over HTTP/1.1 and HTTP/2, in clear and with TLS. The table is in `site.rs`; here each of its lines is first proved by
//! a GET, and then the repository is held against it.

use std::collections::BTreeMap;
use std::fmt::Debug;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use modoai_protocol::xml::document::Record;
use modoai_testkit::apache::{self, Httpd, Mpm};
use modoai_testkit::curl::{Curl, Version};
use modoai_testkit::http::{Client, Dressed, Get, Posting, Response, encode};

use super::site::{BY_VALUE_LIMIT, CASES, launch};
use super::table::{ALICE, BOB, Requester, Row, Site};
use crate::oai;

#[test]
fn prefork() {
    if apache::is_missing() {
        return;
    }
    prove(Mpm::Prefork);
}

#[test]
fn worker() {
    if apache::is_missing() {
        return;
    }
    prove(Mpm::Worker);
}

#[test]
fn event() {
    if apache::is_missing() {
        return;
    }
    prove(Mpm::Event);
}

/// One way to reach the server.
#[derive(Clone, Copy, Debug)]
struct Way {
    tls: bool,
    version: Version,
}

fn prove(mpm: Mpm) {
    let launch = launch(mpm);
    let site = Site::make(&launch, mpm, CASES);
    assert!(site.rows.len() >= 95, "{} rows", site.rows.len());
    launch.write("both.conf", format!("{BOTH}{}", site.conf));
    let httpd = launch.text(VIRTUAL_HOSTS).start();
    let version = if mpm == Mpm::Prefork { Version::Http1 } else { Version::Http2 };
    httpd.wait_for_index(&mut httpd.client());
    httpd.wait_for_index(&mut Curl::new(&httpd.tls_url(), version));
    // Prefork does not speak HTTP/2.
    let ways: &[Way] = match mpm {
        Mpm::Prefork => &[Way { tls: false, version: Version::Http1 }, Way { tls: true, version: Version::Http1 }],
        Mpm::Worker | Mpm::Event => &[
            Way { tls: false, version: Version::Http1 },
            Way { tls: false, version: Version::Http2 },
            Way { tls: true, version: Version::Http2 },
        ],
    };
    // Each fault once, with all who met it.
    let mut faults: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut note = |found: Vec<String>, who: &str| {
        found.into_iter().for_each(|fault| faults.entry(fault).or_default().push(who.to_owned()));
    };
    let mut lines = 0;
    for way in ways {
        for user in [None, Some(ALICE), Some(BOB)] {
            let requester = Requester { user, tls: way.tls };
            let mut see = See { site: &site, httpd: &httpd, requester, lines, faults: Vec::new() };
            see.everything(*way);
            lines = see.lines;
            let name = user.map_or("nobody", |(name, _)| name);
            note(see.faults, &format!("{name} over {:?}{}", way.version, if way.tls { " with TLS" } else { "" }));
        }
    }
    let requester = Requester { user: None, tls: false };
    let mut see = See { site: &site, httpd: &httpd, requester, lines, faults: Vec::new() };
    see.in_other_ways();
    note(see.faults, "nobody in other ways");
    let faults: Vec<String> = faults.iter().map(|(fault, who)| format!("{fault}\n   for {}", who.join(", "))).collect();
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

/// The site twice, because a virtual host speaks either TLS or not. Each is a repository of its own.
const VIRTUAL_HOSTS: &str = r#"
<VirtualHost 127.0.0.1:${PORT}>
    ServerName http://127.0.0.1:${PORT}
    Include both.conf
</VirtualHost>
<VirtualHost 127.0.0.1:${TLS_PORT}>
    ServerName https://127.0.0.1:${TLS_PORT}
    Include tls.conf
    Include both.conf
</VirtualHost>
"#;

/// What both have before the cases come.
const BOTH: &str = r#"
DocumentRoot "${SITE}/docs"
DirectoryIndex index.html
<Directory "${SITE}/docs">
    Require all granted
    AllowOverride All
</Directory>
<Location "/modoai">
    SetHandler oai-handler
</Location>
OAIIndexDir "${SITE}/index"
OAIPageSize 20
OAIByValueLimit 100000
"#;

/// The paths that should be listed, and what a GET of each gave.
type Listed = BTreeMap<Vec<u8>, Response>;

/// What one requester sees.
struct See<'a> {
    site: &'a Site,
    httpd: &'a Httpd,
    requester: Requester,
    /// How many the access log should have by now.
    lines: usize,
    /// What is wrong with what was seen.
    faults: Vec<String>,
}

impl See<'_> {
    /// Looks at everything there is to see.
    fn everything(&mut self, way: Way) {
        let url = if way.tls { self.httpd.tls_url() } else { self.httpd.url() };
        match (way, self.requester.user) {
            (Way { tls: false, version: Version::Http1 }, None) => self.with(&mut Client::new(&url), &url, way.version),
            (Way { tls: false, version: Version::Http1 }, Some((name, password))) => {
                self.with(&mut Client::new(&url).with_password(name, password), &url, way.version);
            }
            (way, None) => self.with(&mut Curl::new(&url, way.version), &url, way.version),
            (way, Some((name, password))) => {
                self.with(&mut Curl::new(&url, way.version).with_password(name, password), &url, way.version);
            }
        }
    }

    /// The same list for other requests of the same requester: by POST, and with headers that would make a GET of a file
    /// answer otherwise but are about the request to the repository. And none for a password that is wrong.
    fn in_other_ways(&mut self) {
        let url = self.httpd.url();
        let mut liar = Client::new(&url).with_password("alice", "wrong");
        let listed = self.prove_rows(&mut liar);
        let headers = [
            ("Accept", "text/xml"),
            ("Accept-Encoding", "gzip, br"),
            ("Accept-Language", "de"),
            ("If-Modified-Since", "Fri, 31 Dec 2100 23:59:59 GMT"),
            ("If-None-Match", "*"),
        ];
        let errors = self.httpd.error_log().len();
        self.compare_list(&mut Posting(Client::new(&url)), &url, &listed);
        let mut dressed = Dressed { client: Client::new(&url), headers: &headers };
        self.compare_list(&mut dressed, &url, &listed);
        self.compare_packages(&mut dressed, &url, &listed);
        self.httpd.expect_clean_log_since(errors, &[]);
        let refused = liar.get("/modoai?verb=ListIdentifiers&metadataPrefix=oai_dc").expect("an answer").status;
        self.expect(&"the status of a list with a wrong password", &refused, &401);
    }

    fn with(&mut self, client: &mut impl Get, url: &str, version: Version) {
        let listed = self.prove_rows(client);
        // From here on nothing is asked for but records: refusals among them must not show in the logs.
        let errors = self.httpd.error_log().len();
        let requests = self.compare_list(client, url, &listed)
            + self.compare_records(client, url, version, &listed)
            + self.compare_packages(client, url, &listed);
        self.httpd.expect_clean_log_since(errors, &[]);
        self.lines += requests;
        self.count_lines();
    }

    /// One line in the access log for each request; what was asked while waiting, and by proxies, does not count.
    fn count_lines(&mut self) {
        let written = || {
            let log = self.httpd.access_log();
            log.lines().filter(|line| line.starts_with("- ") && !line.contains("?verb=Identify ")).count()
        };
        // A line is written after its answer.
        self.httpd.wait("the access log is written", || written() >= self.lines);
        let found = written();
        let expected = self.lines;
        self.expect(&"lines in the access log", &found, &expected);
        self.lines = found;
    }

    /// GETs every row, and so proves that the table tells the truth. Returns what should be listed, and what GET gave.
    fn prove_rows(&mut self, client: &mut impl Get) -> Listed {
        let targets: Vec<String> = self.site.rows.iter().map(|row| row.url.to_owned()).collect();
        let got = client.get_all(&targets).expect("answers");
        self.lines += targets.len();
        let mut listed = Listed::new();
        for (row, answer) in self.site.rows.iter().zip(got) {
            let given = answer.status == 200 && self.site.content(row) == Some(answer.body.as_slice());
            let expected = row.who.includes(self.requester);
            if given != expected {
                let start: String = answer.text().chars().take(200).collect();
                self.faults
                    .push(format!("the table says {:?} to {}, GET {}: {start}", row.who, row.url, answer.status));
            }
            if row.listed && expected {
                listed.insert(decoded(row.url), answer);
            }
        }
        listed
    }

    /// The whole list: no more, no less, each once. Returns how many requests that took.
    fn compare_list(&mut self, client: &mut impl Get, url: &str, expected: &Listed) -> usize {
        let pages = oai::pages(client, "verb=ListIdentifiers&metadataPrefix=oai_dc");
        let mut found = BTreeMap::new();
        for record in pages.iter().flat_map(|page| &page.answer.records) {
            match record.identifier.strip_prefix(url) {
                Some(name) => *found.entry(decoded(name)).or_insert(0) += 1,
                None => self.faults.push(format!("listed with another server's name: {}", record.identifier)),
            }
        }
        for (name, count) in &found {
            if *count > 1 {
                self.faults.push(format!("listed {count} times: {}", shown(name)));
            }
            if !expected.contains_key(name) {
                self.faults.push(format!("listed, but it should not be: {}", shown(name)));
            }
        }
        for name in expected.keys().filter(|name| !found.contains_key(*name)) {
            self.faults.push(format!("not listed, but GET gives it: {}", shown(name)));
        }
        pages.len()
    }

    /// Every row asked for by name, as the headers of a GET.
    fn compare_records(&mut self, client: &mut impl Get, url: &str, version: Version, expected: &Listed) -> usize {
        let query = |row: &Row| {
            let identifier = encode(format!("{url}{}", row.url));
            format!("verb=GetRecord&metadataPrefix=http_header&identifier={identifier}")
        };
        let rows = &self.site.rows;
        let queries: Vec<String> = rows.iter().map(query).collect();
        let targets: Vec<String> = queries.iter().map(|query| format!("/modoai?{query}")).collect();
        let answers = client.get_all(&targets).expect("answers");
        for ((row, query), answer) in rows.iter().zip(&queries).zip(answers) {
            let answer = oai::read(query, answer).answer;
            match (answer.records.first(), expected.get(&decoded(row.url))) {
                (Some(record), Some(got)) => {
                    let (mut told, mut sent) = (told_headers(record), sent_headers(got));
                    if version == Version::Http2 {
                        // Records tell of HTTP/1.1, whose order is another.
                        told.sort_by(|one, other| one.0.cmp(&other.0));
                        sent.sort_by(|one, other| one.0.cmp(&other.0));
                    }
                    self.expect(&format!("headers of {}", row.url), &told, &sent);
                }
                (None, None) => {
                    let codes: Vec<&str> = answer.errors.iter().map(|(code, _)| code.as_str()).collect();
                    self.expect(&format!("no record of {}", row.url), &codes, &vec!["idDoesNotExist"]);
                }
                (Some(_), None) => self.faults.push(format!("a record that should not be: {}", row.url)),
                (None, Some(_)) => self.faults.push(format!("no record of {}", row.url)),
            }
        }
        queries.len()
    }

    /// All packages: the bytes of a GET.
    fn compare_packages(&mut self, client: &mut impl Get, url: &str, expected: &Listed) -> usize {
        let pages = oai::pages(client, "verb=ListRecords&metadataPrefix=oai_didl");
        let records = pages.iter().map(|page| page.answer.records.len()).sum::<usize>();
        if records != expected.len() {
            self.faults.push(format!("not as many packages as there are files: {records}, {}", expected.len()));
        }
        for record in pages.iter().flat_map(|page| &page.answer.records) {
            let name = decoded(record.identifier.strip_prefix(url).unwrap_or_default());
            // That it should not be there has been said already.
            let Some(got) = expected.get(&name) else { continue };
            let package = metadata(record);
            let value = between(&package, " encoding=\"base64\">", "</didl:Resource>");
            let bytes = value.map(|value| STANDARD.decode(value).expect("base64"));
            let small = Some(&got.body).filter(|body| body.len() <= BY_VALUE_LIMIT);
            if bytes.as_ref() != small {
                self.faults.push(format!("a package that does not hold the bytes of GET: {}", shown(&name)));
            }
        }
        pages.len()
    }

    fn expect<T: PartialEq + Debug>(&mut self, what: &dyn std::fmt::Display, found: &T, expected: &T) {
        if found != expected {
            self.faults.push(format!("{what}:\n   found    {found:?}\n   expected {expected:?}"));
        }
    }
}

/// What belongs to the connection and not to the file, and what tells the time.
const PASSING: [&str; 5] = ["connection", "keep-alive", "upgrade", "transfer-encoding", "date"];

/// Headers as they are compared: in their order, names in any case, because HTTP/2 has them in lower case.
fn comparable(headers: impl Iterator<Item = (String, String)>) -> Vec<(String, String)> {
    let headers = headers.map(|(name, value)| (name.to_lowercase(), value));
    headers
        .filter(|(name, _)| !PASSING.contains(&name.as_str()))
        // So long from now: another moment at each request.
        .map(|(name, value)| if name == "expires" { (name, String::from("later")) } else { (name, value) })
        .collect()
}

/// What a GET was sent, but for what belongs to a session and is never told of a file.
fn sent_headers(answer: &Response) -> Vec<(String, String)> {
    comparable(answer.headers.iter().filter(|(name, _)| !name.eq_ignore_ascii_case("Set-Cookie")).cloned())
}

fn told_headers(record: &Record) -> Vec<(String, String)> {
    let told = metadata(record);
    let elements = told.split("<header name=\"").skip(1);
    comparable(elements.map(|element| {
        let (name, rest) = element.split_once("\">").expect("a name");
        let (value, _) = rest.split_once("</header>").expect("a value");
        (name.to_owned(), unescaped(value))
    }))
}

fn metadata(record: &Record) -> String {
    String::from_utf8(record.metadata.as_ref().expect("a live record").bytes.clone()).expect("UTF-8")
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> Option<&'a str> {
    Some(text.split_once(start)?.1.split_once(end)?.0)
}

fn unescaped(text: &str) -> String {
    text.replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

/// The bytes that a path stands for: there are several ways to write one.
fn decoded(path: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        let digits: Vec<u8> = if byte == b'%' { rest.by_ref().take(2).collect() } else { Vec::new() };
        let hex = std::str::from_utf8(&digits).ok().and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(hex.unwrap_or(byte));
    }
    bytes
}

fn shown(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}
