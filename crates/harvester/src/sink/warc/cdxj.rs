//! Lines of a CDXJ index: the key of a URL, the time of the capture, and the location of its record, as JSON.
//!
//! Fields and their order are those of cdxj-indexer. A line is always ASCII without line ends: keys are escaped, and
//! JSON escapes the rest.

use std::fmt::Write as _;

use modoai_protocol::Datestamp;

use super::archive::Member;
use super::surt::surt;

/// A capture that can be replayed.
pub(super) struct Capture<'a> {
    /// The value of `WARC-Target-URI`.
    pub(super) uri: &'a str,
    pub(super) date: Datestamp,
    pub(super) media_type: Option<&'a str>,
    pub(super) status: Option<u16>,
    /// The value of `WARC-Payload-Digest`.
    pub(super) digest: &'a str,
    pub(super) file: &'a str,
}

impl Capture<'_> {
    /// Returns the line of the record, without its end.
    pub(super) fn line(&self, member: &Member) -> String {
        let timestamp: String = self.date.to_string().chars().filter(char::is_ascii_digit).collect();
        let mut line = format!("{} {timestamp} {{", key(self.uri));
        let status = self.status.map(|status| status.to_string());
        let (length, offset) = (member.length.to_string(), member.at.length.to_string());
        let fields = [
            ("url", Some(self.uri)),
            ("mime", self.media_type),
            ("status", status.as_deref()),
            ("digest", Some(self.digest)),
            ("length", Some(&length)),
            ("offset", Some(&offset)),
            ("filename", Some(self.file)),
        ];
        let mut separator = "";
        for (name, value) in fields {
            if let Some(value) = value {
                // Writing to a String cannot fail.
                let _ = write!(line, "{separator}\"{name}\": ");
                push_json(&mut line, value);
                separator = ", ";
            }
        }
        line.push('}');
        line
    }
}

/// Returns the key, with characters escaped that would end it.
fn key(uri: &str) -> String {
    surt(uri).replace(|letter: char| !letter.is_ascii_graphic(), "%20")
}

/// Appends a JSON string in ASCII.
fn push_json(line: &mut String, text: &str) {
    line.push('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => line.extend(['\\', letter]),
            '\n' => line.push_str("\\n"),
            '\r' => line.push_str("\\r"),
            '\t' => line.push_str("\\t"),
            ' '..='~' => line.push(letter),
            _ => {
                for unit in letter.encode_utf16(&mut [0; 2]) {
                    // Writing to a String cannot fail.
                    let _ = write!(line, "\\u{unit:04x}");
                }
            }
        }
    }
    line.push('"');
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::sink::log::Position;

    fn line(uri: &str, media_type: &str) -> String {
        let date = Datestamp::from_unix(1_700_000_000);
        let (media_type, status) = (Some(media_type), Some(200));
        let capture = Capture { uri, date, media_type, status, digest: "sha1:A", file: "a-00000.warc.gz" };
        capture.line(&Member { at: Position { file: 0, length: 7 }, length: 9 })
    }

    #[test]
    fn a_line_is_that_of_cdxj_indexer() {
        assert_eq!(
            line("http://www.example.org/A%20b", "text/html"),
            "org,example)/a%20b 20231114221320 {\"url\": \"http://www.example.org/A%20b\", \"mime\": \"text/html\", \
             \"status\": \"200\", \"digest\": \"sha1:A\", \"length\": \"9\", \"offset\": \"7\", \"filename\": \
             \"a-00000.warc.gz\"}"
        );
    }

    proptest! {
        #[test]
        fn whatever_is_in_a_line_it_is_one_line(uri in "\\PC*|(?s).*", media_type in "(?s).*") {
            let line = line(&uri, &media_type);
            prop_assert!(line.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{line}");
            let mut parts = line.splitn(3, ' ');
            prop_assert!(parts.next().is_some_and(|key| !key.is_empty()));
            prop_assert_eq!(parts.next(), Some("20231114221320"));
            let json: serde_json::Value = serde_json::from_str(parts.next().unwrap_or_default()).expect("JSON");
            prop_assert_eq!(json["url"].as_str(), Some(uri.as_str()));
            prop_assert_eq!(json["mime"].as_str(), Some(media_type.as_str()));
        }
    }
}
