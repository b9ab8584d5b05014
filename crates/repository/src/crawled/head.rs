//! Selects the headers of a response that are stored, and writes them to a file.
//!
//! The file is text, so that a user can read it: a line about the body, the URL, and a line for each header.

use std::borrow::Cow;
use std::io;

/// The first word of the file: the program and the form.
const MARK: &str = "modoai-kept-1";

/// Headers that describe one exchange and not the resource, and those between the server and modoai only.
const PASSING: [&str; 14] = [
    "age",
    "alt-svc",
    "connection",
    "date",
    "keep-alive",
    "proxy-authenticate",
    "proxy-connection",
    "set-cookie",
    "set-cookie2",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "www-authenticate",
];

/// Returns the headers to store of a resource, given those of the response, and the number of received bytes if that is
/// the whole resource. If an encoding was undone in transit, length and encoding are those of the stored bytes.
pub fn fit_headers<'a>(
    headers: impl Iterator<Item = (&'a str, &'a [u8])>,
    whole: Option<usize>,
) -> Vec<(String, String)> {
    let mut is_decoded = false;
    let mut fit = Vec::new();
    for (name, value) in headers {
        let name = name.to_ascii_lowercase();
        if name == "content-encoding" {
            is_decoded = true;
        } else if !PASSING.contains(&name.as_str()) {
            let value = String::from_utf8_lossy(value);
            let value: String = value.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
            fit.push((usual_case(&name), value));
        }
    }
    if is_decoded {
        fit.retain(|(name, _)| name != "Content-Length");
        fit.extend(whole.map(|bytes| ("Content-Length".to_owned(), bytes.to_string())));
    }
    fit
}

/// Returns the name of a header in its usual case. In HTTP/1.1, case has no meaning.
fn usual_case(name: &str) -> String {
    match name {
        "etag" => return "ETag".to_owned(),
        "content-md5" => return "Content-MD5".to_owned(),
        _ => {}
    }
    let mut begins = true;
    name.chars()
        .map(|c| {
            let cased = if begins { c.to_ascii_uppercase() } else { c };
            begins = c == '-';
            cased
        })
        .collect()
}

/// The stored properties of a response, without its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Head {
    /// The file that has the body. The two files alternate, so that head and body always belong together.
    pub(super) slot: char,
    pub(super) is_whole: bool,
    /// The length of the resource, also if only a part of it is stored.
    pub(super) size: u64,
    /// The digest that detects a change.
    pub(super) digest: String,
    pub(super) url: String,
    pub(super) headers: Vec<(Cow<'static, str>, String)>,
}

impl Head {
    pub(super) fn to_text(&self) -> String {
        let Self { slot, is_whole, size, digest, url, headers } = self;
        let extent = if *is_whole { "whole" } else { "part" };
        let lines: String = headers.iter().map(|(name, value)| format!("{name}: {value}\n")).collect();
        format!("{MARK} {slot} {extent} {size} {digest}\n{url}\n{lines}")
    }

    pub(super) fn from_text(text: &str) -> io::Result<Self> {
        Self::parse(text)
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "the stored response cannot be read"))
    }

    fn parse(text: &str) -> Option<Self> {
        // A truncated file has no final line feed.
        let mut lines = text.strip_suffix('\n')?.lines();
        let mut words = lines.next()?.split(' ');
        if words.next()? != MARK {
            return None;
        }
        let slot = words.next()?.chars().next().filter(|slot| matches!(slot, 'a' | 'b'))?;
        let is_whole = words.next()? == "whole";
        let size = words.next()?.parse().ok()?;
        let digest = words.next()?.to_owned();
        let url = lines.next()?.to_owned();
        let header = |line: &str| {
            let (name, value) = line.split_once(": ")?;
            Some((Cow::Owned(name.to_owned()), value.to_owned()))
        };
        let headers = lines.map(header).collect::<Option<_>>()?;
        Some(Self { slot, is_whole, size, digest, url, headers })
    }
}

#[cfg(test)]
mod checks {
    use super::*;

    #[test]
    fn headers_are_those_of_the_resource() {
        let sent: [(&str, &[u8]); 6] = [
            ("content-type", b"text/html"),
            ("content-encoding", b"gzip"),
            ("content-length", b"17"),
            ("etag", b"\"1\""),
            ("set-cookie", b"secret=1"),
            ("x-odd", b"a\x01\xff"),
        ];
        let fit = fit_headers(sent.into_iter(), Some(40));
        let expected =
            [("Content-Type", "text/html"), ("ETag", "\"1\""), ("X-Odd", "a \u{fffd}"), ("Content-Length", "40")];
        assert_eq!(fit, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }

    #[test]
    fn what_was_written_is_read() {
        let head = Head {
            slot: 'b',
            is_whole: false,
            size: 12,
            digest: "ab".to_owned(),
            url: "http://h/".to_owned(),
            headers: vec![("X".into(), String::new()), ("Y".into(), "a: b".to_owned())],
        };
        let text = head.to_text();
        assert_eq!(Head::from_text(&text).expect("readable"), head);
        assert!(Head::from_text(&text[..text.len() - 1]).is_err());
        assert!(Head::from_text("").is_err());
    }
}
