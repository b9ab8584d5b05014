//! The parts of a response that are compared, without those that differ in every run: URLs, dates, tokens, codings.

use std::io::Read as _;

use flate2::read::GzDecoder;
use modoai_testkit::http::Response;

/// The headers that are compared. `Vary` and `Allow` are compared as sets of words; what is said of codings in `Vary`, as the field
/// [`CODING`], since it depends on who encodes.
const HEADERS: [&str; 9] = [
    "Allow",
    "Cache-Control",
    "Content-Disposition",
    "Content-Encoding",
    "Content-Security-Policy",
    "Content-Type",
    "Location",
    "Vary",
    "X-Content-Type-Options",
];

/// Whether `Vary` has `Accept-Encoding`.
pub(super) const CODING: &str = "Vary: Accept-Encoding";

/// The encodings that Identify announces.
pub(super) const COMPRESSIONS: &str = "compressions";

/// What a host made of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    pub(super) status: u16,
    /// Whether it says when to come back.
    pub(super) retry_after: bool,
    headers: Vec<(&'static str, String)>,
    body: String,
    /// The length of the whole body, decoded.
    pub(super) length: Option<usize>,
    /// The first token, as the next request of its list needs it.
    pub(super) token: Option<String>,
}

impl Outcome {
    pub(super) fn of(url: &str, response: &Response) -> Self {
        let mut body = Vec::new();
        match response.header("Content-Encoding") {
            _ if response.body.is_empty() => {}
            Some("gzip") => GzDecoder::new(&response.body[..]).read_to_end(&mut body).map(drop).expect("gzip"),
            Some("zstd") => body = zstd::decode_all(&response.body[..]).expect("zstd"),
            _ => body.clone_from(&response.body),
        }
        let length = (response.status != 206).then_some(if response.status == 200 { body.len() } else { 0 });
        let body = String::from_utf8_lossy(&body).into_owned();
        let token = body.split_once("</resumptionToken>").map(|(before, _)| before.rsplit('>').next());
        let token = token.flatten().filter(|token| !token.is_empty()).map(str::to_owned);
        let header = |name: &'static str| {
            let values = response.headers.iter().filter(|(given, _)| given.eq_ignore_ascii_case(name));
            let text = values.map(|(_, value)| value.as_str()).collect::<Vec<_>>().join(", ");
            (name, normal_header(name, &text.replace(url, "")))
        };
        let mut headers = HEADERS.map(header).to_vec();
        let (body, compressions) = without_compressions(&normal_body(&body, url));
        headers.push((COMPRESSIONS, compressions));
        let vary = &mut headers.iter_mut().find(|(name, _)| *name == "Vary").expect("one of them").1;
        let (coding, rest): (Vec<_>, Vec<_>) = vary.split(", ").partition(|word| *word == "Accept-Encoding");
        let coding = coding.concat();
        *vary = rest.join(", ");
        headers.push((CODING, coding));
        let retry_after = response.header("Retry-After").is_some_and(|value| value.parse::<u64>().is_ok());
        Self { status: response.status, retry_after, headers, body, length, token }
    }

    /// The names of what differs.
    pub(super) fn fields_that_differ(&self, other: &Self) -> Vec<&'static str> {
        let mut fields = Vec::new();
        let mut field = |name, differs: bool| {
            if differs {
                fields.push(name);
            }
        };
        field("status", self.status != other.status);
        field("Retry-After", self.retry_after != other.retry_after);
        for ((name, ours), (_, theirs)) in self.headers.iter().zip(&other.headers) {
            field(name, ours != theirs);
        }
        field("body", self.body != other.body);
        fields
    }

    /// A field of both, for people; of bodies, the first lines that differ.
    pub(super) fn shown_beside(&self, other: &Self, field: &str) -> String {
        let show = |outcome: &Self| match field {
            "status" => outcome.status.to_string(),
            "Retry-After" => outcome.retry_after.to_string(),
            "body" => {
                let mut lines = self.body.lines().zip(other.body.lines());
                let first = lines.position(|(ours, theirs)| ours != theirs).unwrap_or_default();
                outcome.body.lines().skip(first).take(3).collect::<Vec<_>>().join("\n")
            }
            name => outcome.headers.iter().find(|(given, _)| *given == name).map_or("", |(_, value)| value).to_owned(),
        };
        format!("  modoai serve: {:.500}\n  httpd:        {:.500}", show(self), show(other))
    }
}

fn normal_header(name: &str, value: &str) -> String {
    if !["Vary", "Allow"].contains(&name) {
        return value.to_owned();
    }
    let mut words: Vec<&str> = value.split(',').map(str::trim).collect();
    words.sort_unstable();
    words.dedup();
    words.join(", ")
}

/// Everything that is not a date of this millennium's first year, which the files have, is a date of this run.
fn normal_body(body: &str, url: &str) -> String {
    let host = url.trim_start_matches("http://");
    let mut text = body.replace(url, "http://HOST").replace(&host.replace(':', "%3A"), "HOST").replace(host, "HOST");
    let is_date = |part: &[u8]| {
        part.len() == 20 && part[4] == b'-' && part[10] == b'T' && part[19] == b'Z' && !part.starts_with(b"2001")
    };
    while let Some(at) = text.as_bytes().windows(20).position(is_date) {
        text.replace_range(at..at + 20, "NOW");
    }
    without_tokens(&text)
}

/// The encodings that a host applies by itself stand in Identify, and on its page.
fn without_compressions(body: &str) -> (String, String) {
    let mut found = String::new();
    let mut rest = body.to_owned();
    for (start, end) in [("<compression>", "</compression>"), ("<div>\n<dt>Compression</dt>", "</div>\n")] {
        while let Some(at) = rest.find(start) {
            let length = rest[at..].find(end).expect("its end") + end.len();
            found.push_str(&rest[at..at + length]);
            rest.replace_range(at..at + length, "");
        }
    }
    (rest, found)
}

/// Tokens are made with the secret of a catalogue. They stand in elements, and in links.
fn without_tokens(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("resumptionToken") {
        let (before, found) = rest.split_at(at + "resumptionToken".len());
        out.push_str(before);
        let (start, end) = match found.bytes().next() {
            Some(b'=') => {
                let start = if found.starts_with("=\"") { 2 } else { 1 };
                (start, found[start..].find(['"', '\'', '&', '<']).map(|end| start + end))
            }
            Some(b'>' | b' ') => (found.find('>').map_or(0, |start| start + 1), found.find("</")),
            _ => (0, None),
        };
        let end = end.unwrap_or(0);
        let value = start.min(end);
        out.push_str(&found[..value]);
        if end > value {
            out.push_str("TOKEN");
        }
        rest = &found[end..];
    }
    out + rest
}

#[test]
fn what_every_run_has_of_its_own_is_left_out() {
    let body = "<responseDate>2026-01-01T00:00:00Z</responseDate><request resumptionToken=\"abc\"/><a href=\"?resumptionToken=abc&amp;b\">\
        <resumptionToken cursor=\"0\">abc</resumptionToken>2001-02-03T04:05:06Z http://127.0.0.1:8080/x";
    let expected = "<responseDate>NOW</responseDate><request resumptionToken=\"TOKEN\"/><a href=\"?resumptionToken=TOKEN&amp;b\">\
        <resumptionToken cursor=\"0\">TOKEN</resumptionToken>2001-02-03T04:05:06Z http://HOST/x";
    assert_eq!(normal_body(body, "http://127.0.0.1:8080"), expected);
}
