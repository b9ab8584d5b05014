//! HTTP messages in `request` and `response` records.
//!
//! Headers are those that the repository or the server sent, with two exceptions. Headers that describe a connection,
//! and not the resource, are left out. Length and content coding are those of the stored bytes, so that a replay sends
//! what a GET returned. Names and values are untrusted: none of them can begin a new line.

use std::fmt::Write as _;

use modoai_fetch::{HeaderMap, HeaderName, StatusCode, Url};

/// Headers of a connection (RFC 9110, 7.6.1), cookies, and headers that are computed here.
const LEFT_OUT: &[&str] = &[
    "connection",
    "content-length",
    "keep-alive",
    "proxy-connection",
    "set-cookie",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// The status line and headers of a response.
pub(super) struct ResponseHead {
    pub(super) text: String,
    pub(super) status: u16,
    /// The media type with its parameters.
    pub(super) content_type: Option<String>,
    /// True if the stored bytes have a content coding.
    pub(super) is_coded: bool,
}

impl ResponseHead {
    /// Returns the head of a response with a body of this length.
    pub(super) fn new(status: u16, headers: &[(String, String)], length: u64) -> Self {
        let header = |name: &str| headers.iter().find(|(given, _)| given.eq_ignore_ascii_case(name));
        // A coding that was undone is recognised by the length, which is that of the coded bytes.
        let told_length = header("Content-Length").and_then(|(_, value)| value.trim().parse::<u64>().ok());
        let is_coded = header("Content-Encoding").is_some() && told_length == Some(length);
        let content_type = header("Content-Type").map(|(_, value)| one_line(value)).filter(|value| !value.is_empty());
        let status = if (200..600).contains(&status) { status } else { 200 };
        let reason = StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason()).unwrap_or_default();
        let mut text = format!("HTTP/1.1 {status} {reason}\r\n");
        for (name, value) in headers {
            let lower = name.to_ascii_lowercase();
            let is_wrong = lower == "content-encoding" && !is_coded || lower == "content-type";
            if !is_wrong && !LEFT_OUT.contains(&lower.as_str()) {
                push(&mut text, name, value);
            }
        }
        if let Some(content_type) = &content_type {
            push(&mut text, "Content-Type", content_type);
        }
        push(&mut text, "Content-Length", &length.to_string());
        text.push_str("\r\n");
        Self { text, status, content_type, is_coded }
    }

    /// Returns the media type for indexes: without parameters.
    pub(super) fn media_type(&self) -> Option<&str> {
        let content_type = self.content_type.as_deref()?;
        content_type.split(|letter: char| letter == ';' || letter.is_whitespace()).next()
    }
}

/// Returns the headers of a response that was fetched, whose body has this length. Values that are not text are left
/// out.
pub(super) fn fetched_headers(headers: &HeaderMap, length: u64) -> Vec<(String, String)> {
    let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
    let pairs = headers.iter().map(|(name, value)| (name.as_str().to_owned(), text(value.as_bytes())));
    // The body was not decoded, so it has the coding that the header names.
    pairs
        .filter(|(name, _)| name != "content-length")
        .chain([("content-length".to_owned(), length.to_string())])
        .collect()
}

/// Returns a GET request as the client sends it. Credentials and cookies are not archived.
pub(super) fn request(url: &Url, user_agent: &str, from: Option<&str>) -> String {
    let target = &url[url::Position::BeforePath..url::Position::AfterQuery];
    let host = &url[url::Position::BeforeHost..url::Position::AfterPort];
    let mut text = format!("GET {target} HTTP/1.1\r\n");
    push(&mut text, "Host", host);
    push(&mut text, "User-Agent", user_agent);
    if let Some(from) = from {
        push(&mut text, "From", from);
    }
    push(&mut text, "Accept", "*/*");
    push(&mut text, "Accept-Encoding", "identity");
    text.push_str("\r\n");
    text
}

/// Adds a header, unless its name is not one.
fn push(text: &mut String, name: &str, value: &str) {
    if HeaderName::from_bytes(name.as_bytes()).is_ok() {
        // Writing to a String cannot fail.
        let _ = write!(text, "{name}: {}\r\n", one_line(value));
    }
}

/// Returns foreign text on one line.
pub(super) fn one_line(text: &str) -> String {
    let text: String = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    text.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn whatever_headers_are_given_a_head_is_lines_of_names_and_values(
            headers in proptest::collection::vec(("(?s).{0,9}|[a-zA-Z-]{1,9}", "(?s).{0,20}|\\PC{0,20}"), 0..6),
            status: u16,
            length: u64,
        ) {
            let text = ResponseHead::new(status, &headers, length).text;
            let lines = text.strip_suffix("\r\n\r\n").expect("an empty line at the end").split("\r\n");
            for (number, line) in lines.enumerate() {
                prop_assert!(!line.contains(char::is_control), "{line:?}");
                let is_header = line.split_once(": ").or(line.split_once(":")).is_some_and(|(name, _)| {
                    HeaderName::from_bytes(name.as_bytes()).is_ok()
                });
                prop_assert!(is_header || number == 0, "{line:?}");
            }
        }
    }

    fn head(headers: &[(&str, &str)], length: u64) -> ResponseHead {
        let headers: Vec<_> = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        ResponseHead::new(200, &headers, length)
    }

    #[test]
    fn length_and_coding_are_those_of_the_bytes() {
        let given = [
            ("Transfer-Encoding", "chunked"),
            ("Content-Encoding", "gzip"),
            ("Content-Length", "7"),
            ("ETag", "\"a\""),
            ("connection", "close"),
            ("content-type", "text/plain"),
        ];
        let coded = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nETag: \"a\"\r\nContent-Type: text/plain\r\n\
                     Content-Length: 7\r\n\r\n";
        assert_eq!(head(&given, 7).text, coded);
        assert!(head(&given, 7).is_coded);
        let plain = coded.replace("Content-Encoding: gzip\r\n", "").replace('7', "20");
        assert_eq!(head(&given, 20).text, plain);
    }

    #[test]
    fn no_header_begins_a_line_of_its_own() {
        let given = [
            ("X", "a\r\n\r\nWARC/1.1\r\nWARC-Type: response"),
            ("Y: 1\r\nZ", "b"),
            ("", "c"),
            ("Content-Type", "text/html\r\nContent-Length: 1; charset=utf-8"),
        ];
        let head = head(&given, 3);
        let names: Vec<_> =
            head.text.lines().skip(1).filter_map(|line| line.split_once(": ")).map(|(name, _)| name).collect();
        assert_eq!(names, ["X", "Content-Type", "Content-Length"]);
        assert_eq!(head.text.matches("\r\n\r\n").count(), 1);
        assert_eq!(head.media_type(), Some("text/html"));
    }

    #[test]
    fn a_request_holds_no_credentials() {
        let url = Url::parse("https://user:secret@h:8443/a%20b?c=d#e").expect("a URL");
        let text = request(&url, "modoai/1", Some("a@b.example"));
        assert_eq!(
            text,
            "GET /a%20b?c=d HTTP/1.1\r\nHost: h:8443\r\nUser-Agent: modoai/1\r\nFrom: a@b.example\r\nAccept: */*\r\n\
             Accept-Encoding: identity\r\n\r\n"
        );
    }
}
