//! The requests that both hosts get: every verb and error, every method and form, browsers, credentials, tokens, encodings,
//! and lists beyond the budget.

use modoai_testkit::http::BROWSER;

const FORM: (&str, &str) = ("Content-Type", "application/x-www-form-urlencoded");
const ALICE: (&str, &str) = ("Authorization", "Basic YWxpY2U6c2VjcmV0");
const WRONG: (&str, &str) = ("Authorization", "Basic YWxpY2U6d3Jvbmc=");
const LIST: &str = "?verb=ListIdentifiers&metadataPrefix=oai_dc";
const RECORD: &str = "?verb=GetRecord&metadataPrefix=oai_dc&identifier={SITE}%2Fa.txt";

/// A request.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) method: &'static str,
    /// What follows the base URL. `{SITE}` is the site's URL, and `{TOKEN}` a token, both encoded.
    pub(super) target: String,
    pub(super) headers: Vec<(&'static str, &'static str)>,
    pub(super) body: String,
    /// The request whose answer had the token.
    pub(super) token_of: Option<&'static str>,
    /// Requests of one account share a budget.
    pub(super) account: usize,
    pub(super) is_logged: bool,
}

impl Case {
    pub(super) fn get(name: &'static str, target: &str) -> Self {
        let (headers, body, target) = (Vec::new(), String::new(), target.to_owned());
        Self { name, method: "GET", target, headers, body, token_of: None, account: 0, is_logged: true }
    }

    /// The account as the log names it.
    pub(super) fn account_name(&self) -> String {
        format!("198.18.{}.0/24", self.account)
    }

    fn post(name: &'static str, body: &str) -> Self {
        Self { method: "POST", body: body.to_owned(), ..Self::get(name, "") }.with(FORM)
    }

    fn with(mut self, header: (&'static str, &'static str)) -> Self {
        self.headers.push(header);
        self
    }

    fn by(self, method: &'static str) -> Self {
        Self { method, ..self }
    }

    fn with_token_of(self, name: &'static str) -> Self {
        Self { token_of: Some(name), ..self }
    }

    /// People's pages, and what is no request to the repository.
    fn not_logged(self) -> Self {
        Self { is_logged: false, ..self }
    }
}

/// All of them, each from an account of its own.
pub(super) fn all() -> Vec<Case> {
    let groups = [verbs(), errors(), methods(), forms(), browsers(), requesters(), encodings()];
    let mut cases: Vec<Case> = groups.into_iter().flatten().collect();
    for (index, case) in cases.iter_mut().enumerate() {
        case.account = index;
    }
    cases.extend(budgets(cases.len()));
    assert!(cases.iter().all(|case| case.account < 256), "an account is a byte of an address");
    cases
}

fn verbs() -> Vec<Case> {
    vec![
        Case::get("Identify", "?verb=Identify"),
        Case::get("formats", "?verb=ListMetadataFormats"),
        Case::get("formats of a file", "?verb=ListMetadataFormats&identifier={SITE}%2Fa.txt"),
        Case::get("sets", "?verb=ListSets"),
        Case::get("record", RECORD),
        Case::get("record in http_header", "?verb=GetRecord&metadataPrefix=http_header&identifier={SITE}%2Fa.txt"),
        Case::get("headers", LIST),
        Case::get("headers, page 2", "?verb=ListIdentifiers&resumptionToken={TOKEN}").with_token_of("headers"),
        Case::get("headers, last page", "?verb=ListIdentifiers&resumptionToken={TOKEN}")
            .with_token_of("headers, page 2"),
        Case::get("records", "?verb=ListRecords&metadataPrefix=oai_dc"),
        Case::get("records, page 2", "?verb=ListRecords&resumptionToken={TOKEN}").with_token_of("records"),
        Case::get("records of a set", "?verb=ListRecords&metadataPrefix=oai_dc&set=mime:text"),
        Case::get("records of a year", "?verb=ListRecords&metadataPrefix=oai_dc&from=2001-01-01&until=2001-12-31"),
        Case::get("records in oai_didl", "?verb=ListRecords&metadataPrefix=oai_didl&set=mime:text:html"),
    ]
}

fn errors() -> Vec<Case> {
    let long = format!("?verb=GetRecord&metadataPrefix=oai_dc&identifier={}", "x".repeat(20_000));
    let many = format!("?verb=Identify{}", "&a=1".repeat(70));
    vec![
        Case::get("no query", ""),
        Case::get("empty query", "?"),
        Case::get("no verb", "?metadataPrefix=oai_dc"),
        Case::get("unknown verb", "?verb=Nonsense"),
        Case::get("wrong case", "?verb=identify"),
        Case::get("two verbs", "?verb=Identify&verb=ListSets"),
        Case::get("unknown argument", "?verb=Identify&color=red"),
        Case::get("missing argument", "?verb=ListRecords"),
        Case::get("empty argument", "?verb=ListRecords&metadataPrefix=oai_dc&set="),
        Case::get("bad dates", "?verb=ListRecords&metadataPrefix=oai_dc&from=x&until=2023-02-29"),
        Case::get("mixed dates", "?verb=ListRecords&metadataPrefix=oai_dc&from=2001-01-01&until=2001-01-02T00:00:00Z"),
        Case::get("unknown format", "?verb=ListRecords&metadataPrefix=marcxml"),
        Case::get("unknown set", "?verb=ListRecords&metadataPrefix=oai_dc&set=none"),
        Case::get("unknown record", "?verb=GetRecord&metadataPrefix=oai_dc&identifier={SITE}%2Fnone"),
        Case::get("no URI", "?verb=GetRecord&metadataPrefix=oai_dc&identifier=%25zz"),
        Case::get("markup", "?verb=%3Cscript%3E&identifier=%22%3E%3Cx"),
        Case::get("no UTF-8", "?verb=GetRecord&metadataPrefix=oai_dc&identifier=%FF%FE"),
        Case::get("half an escape", "?verb=Identify%2"),
        Case::get("NUL", "?verb=GetRecord&metadataPrefix=oai_dc&identifier=%00"),
        Case::get("too long", &long),
        Case::get("too many arguments", &many),
        Case::get("forged token", "?verb=ListIdentifiers&resumptionToken=forged"),
        Case::get("altered token", "?verb=ListIdentifiers&resumptionToken={TOKEN}x").with_token_of("headers"),
        Case::get("token of another verb", "?verb=ListRecords&resumptionToken={TOKEN}").with_token_of("headers"),
        Case::get("token and more", "?verb=ListRecords&resumptionToken={TOKEN}&set=a").with_token_of("records"),
        Case::get("token of sets", "?verb=ListSets&resumptionToken=x"),
    ]
}

fn methods() -> Vec<Case> {
    let too_large = format!("verb=Identify&{}", "x".repeat(20_000));
    let header = ("Content-Type", "application/json");
    vec![
        Case::get("HEAD Identify", "?verb=Identify").by("HEAD"),
        Case::get("HEAD list", LIST).by("HEAD"),
        Case::get("HEAD error", "?verb=Nonsense").by("HEAD"),
        Case::get("HEAD page", "?verb=Identify").by("HEAD").with(BROWSER).not_logged(),
        Case::get("HEAD download", "/csv?verb=ListRecords&metadataPrefix=oai_dc").by("HEAD"),
        Case::post("POST Identify", "verb=Identify"),
        Case::post("POST list", "verb=ListIdentifiers&metadataPrefix=oai_dc"),
        Case::post("POST token", "verb=ListIdentifiers&resumptionToken={TOKEN}").with_token_of("POST list"),
        Case::post("POST nothing", ""),
        Case::post("POST error", "verb=Nonsense&a=%FF"),
        Case { target: "?verb=Identify".to_owned(), ..Case::post("POST with a query", "verb=ListSets") },
        Case { headers: vec![header], ..Case::post("POST JSON", "{}") }.not_logged(),
        Case { headers: Vec::new(), ..Case::post("POST without a media type", "verb=Identify") },
        Case {
            headers: vec![("Content-Type", "application/X-WWW-form-urlencoded; charset=UTF-8")],
            ..Case::post("POST with a character set", "verb=Identify")
        },
        Case::post("POST from a browser", "verb=Identify").with(BROWSER),
        Case::post("POST too large", &too_large).not_logged(),
        Case::get("PUT", "?verb=Identify").by("PUT").not_logged(),
        Case::get("DELETE", "").by("DELETE").not_logged(),
        Case::get("PROPFIND", "").by("PROPFIND").not_logged(),
    ]
}

fn forms() -> Vec<Case> {
    vec![
        Case::get("XML by name", "/xml?verb=Identify").with(BROWSER),
        Case::get("CSV", "/csv?verb=ListRecords&metadataPrefix=oai_dc"),
        Case::get("CSV of headers", "/csv?verb=ListIdentifiers&metadataPrefix=oai_dc&set=mime:text"),
        Case::get("CSV of nothing", "/csv?verb=ListRecords&metadataPrefix=oai_dc&set=none"),
        Case::get("CSV of an error", "/csv?verb=ListRecords&metadataPrefix=marcxml"),
        Case::get("CSV of no list", "/csv?verb=Identify"),
        Case::get("JSON lines", "/jsonl?verb=ListRecords&metadataPrefix=oai_dc"),
        Case::get("JSON lines of a bad request", "/jsonl?verb=ListRecords"),
        Case {
            target: "/jsonl".to_owned(),
            ..Case::post("POST for JSON lines", "verb=ListIdentifiers&metadataPrefix=oai_dc")
        },
        Case::get("schema", "/http_header.xsd").not_logged(),
        Case::get("HEAD schema", "/http_header.xsd").by("HEAD").not_logged(),
        Case { target: "/http_header.xsd".to_owned(), ..Case::post("POST schema", "a=b") }.not_logged(),
        Case::get("unknown name", "/none.xsd").not_logged(),
        Case::get("slash", "/?verb=Identify").not_logged(),
    ]
}

fn browsers() -> Vec<Case> {
    let page = |name, target: &str| Case::get(name, target).with(BROWSER).not_logged();
    let navigates = ("Sec-Fetch-Mode", "navigate");
    vec![
        page("page: front", ""),
        page("page: Identify", "?verb=Identify"),
        page("page: list", LIST),
        Case::get("page: page 2", "?verb=ListIdentifiers&resumptionToken={TOKEN}")
            .with(BROWSER)
            .with_token_of("headers"),
        page("page: record", RECORD),
        page("page: sets", "?verb=ListSets"),
        page("page: empty fields", "?verb=ListRecords&metadataPrefix=oai_dc&set=&from=&until="),
        page("page: search", "?verb=ListRecords&metadataPrefix=oai_dc&search=a"),
        page("page: error", "?verb=Nonsense"),
        page("page: no UTF-8", "?verb=%ff"),
        Case::get("page: navigation", "?verb=Identify").with(navigates).not_logged(),
        Case::get("script in a browser", "?verb=Identify").with(BROWSER).with(("Sec-Fetch-Mode", "cors")),
        Case::get("frame", "?verb=Identify").with(BROWSER).with(navigates).with(("Sec-Fetch-Dest", "iframe")),
        Case::get("Java", "?verb=Identify").with(("Accept", "text/html, image/gif, *; q=.2, */*; q=.2")),
        Case::get("two Accept headers", "?verb=Identify")
            .with(("Accept", "text/html"))
            .with(("Accept", "application/xhtml+xml"))
            .not_logged(),
    ]
}

fn requesters() -> Vec<Case> {
    let private = "?verb=GetRecord&metadataPrefix=oai_dc&identifier={SITE}%2Fprivate%2Ff.txt";
    vec![
        Case::get("private record without a password", private),
        Case::get("password: record", private).with(ALICE),
        Case::get("password: CSV", "/csv?verb=ListIdentifiers&metadataPrefix=oai_dc").with(ALICE),
        Case::get("password: Identify", "?verb=Identify").with(ALICE),
        Case::get("wrong password for a list", "?verb=ListIdentifiers&metadataPrefix=oai_dc&from=2001-01-01")
            .with(WRONG)
            .not_logged(),
        Case::get("wrong password for Identify", "?verb=Identify").with(WRONG).not_logged(),
        Case::get("cookie", "?verb=Identify").with(("Cookie", "a=b")),
        Case::get("named program", "?verb=Identify").with(("User-Agent", "Harvester/1.0 (+http://example.org/)")),
        Case::get("condition", "?verb=Identify").with(("If-Modified-Since", "Fri, 31 Dec 2100 23:59:59 GMT")),
        Case::get("entity tag", "?verb=Identify").with(("If-None-Match", "*")),
        Case::get("range", "?verb=Identify").with(("Range", "bytes=0-9")),
    ]
}

fn encodings() -> Vec<Case> {
    let coded = |name, value| Case::get(name, "?verb=ListMetadataFormats").with(("Accept-Encoding", value));
    vec![
        coded("coding: gzip", "gzip"),
        coded("coding: identity", "identity"),
        coded("coding: none allowed", "identity;q=0, *;q=0"),
        coded("coding: unknown", "sdch"),
        coded("coding: zstd", "zstd"),
        Case::get("coding: page", "?verb=Identify").with(BROWSER).with(("Accept-Encoding", "gzip")).not_logged(),
        Case::get("coding: CSV", "/csv?verb=ListRecords&metadataPrefix=oai_dc").with(("Accept-Encoding", "gzip")),
        Case::get("coding: HEAD", "?verb=Identify").by("HEAD").with(("Accept-Encoding", "gzip")),
    ]
}

/// With an hour between lists, the second list of an account is refused in every form, and nothing else is.
fn budgets(first: usize) -> Vec<Case> {
    let again = [
        Case::get("list again", LIST),
        Case::get("list again by HEAD", LIST).by("HEAD"),
        Case::post("list again by POST", "verb=ListRecords&metadataPrefix=oai_dc"),
        Case::get("download again", "/jsonl?verb=ListRecords&metadataPrefix=oai_dc"),
        Case::get("page 2 in a browser again", "?verb=ListIdentifiers&resumptionToken={TOKEN}")
            .with(BROWSER)
            .with_token_of("headers"),
        Case::get("Identify again", "?verb=Identify"),
        Case::get("record again", RECORD),
        Case::get("page again", LIST).with(BROWSER).not_logged(),
    ];
    let cases = again.into_iter().enumerate().flat_map(|(index, case)| {
        [Case::get("first list", LIST), case].map(|case| Case { account: first + index, ..case })
    });
    cases.collect()
}
