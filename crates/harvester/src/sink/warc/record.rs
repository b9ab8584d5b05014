//! The head of a WARC record, according to ISO 28500:2017 (WARC 1.1).

use std::fmt::Write as _;

use modoai_protocol::Datestamp;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use rustix::rand::{GetRandomFlags, getrandom};

use super::http::one_line;
use crate::didl::Digest;

/// Characters that are escaped in a URI, which may be between angle brackets or at the end of a line.
const NOT_IN_URI: &AsciiSet = &CONTROLS.add(b' ').add(b'<').add(b'>').add(b'"');

/// The profile of a revisit whose payload is stored already.
const SAME_PAYLOAD: &str = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest";

/// The fields of a record, without its block.
#[derive(Clone, Copy, Default)]
pub(super) struct Head<'a> {
    /// `response`, `request`, `resource`, `metadata`, `revisit` or `warcinfo`.
    pub(super) kind: &'static str,
    pub(super) id: &'a str,
    pub(super) uri: Option<&'a str>,
    pub(super) media_type: &'a str,
    /// The digest of the block, and its length.
    pub(super) digest: Option<&'a Digest>,
    pub(super) length: u64,
    /// The digest of the payload, if the record has one.
    pub(super) payload: Option<&'a Digest>,
    /// Records of the same capture.
    pub(super) concurrent: &'a [String],
    /// The record that has the payload of a revisit.
    pub(super) refers_to: Option<&'a str>,
    /// The URI and the date of the capture that a revisit repeats.
    pub(super) same_as: Option<(&'a str, &'a str)>,
    pub(super) file: Option<&'a str>,
}

impl Head<'_> {
    /// Returns the text of the head.
    pub(super) fn to_text(self, date: Datestamp) -> String {
        let mut head = format!("WARC/1.1\r\nWARC-Type: {}\r\nWARC-Record-ID: <{}>\r\n", self.kind, self.id);
        let mut field = |name: &str, value: &str| {
            // Writing to a String cannot fail. Untrusted values cannot begin another field.
            let _ = write!(head, "{name}: {}\r\n", one_line(value));
        };
        field("WARC-Date", &date.to_string());
        if let Some(uri) = self.uri {
            field("WARC-Target-URI", &legal_uri(uri));
        }
        for concurrent in self.concurrent {
            field("WARC-Concurrent-To", &format!("<{concurrent}>"));
        }
        if let Some(refers_to) = self.refers_to {
            field("WARC-Refers-To", &format!("<{refers_to}>"));
        }
        if let Some((uri, date)) = self.same_as {
            field("WARC-Profile", SAME_PAYLOAD);
            field("WARC-Refers-To-Target-URI", &legal_uri(uri));
            field("WARC-Refers-To-Date", date);
        }
        if let Some(file) = self.file {
            field("WARC-Filename", file);
        }
        if let Some(payload) = self.payload {
            field("WARC-Payload-Digest", &labelled(payload));
        }
        if let Some(digest) = self.digest {
            field("WARC-Block-Digest", &labelled(digest));
        }
        field("Content-Type", self.media_type);
        field("Content-Length", &self.length.to_string());
        head.push_str("\r\n");
        head
    }
}

/// Returns a name as a URI for a field: characters that are not allowed are escaped, the rest is unchanged.
pub(super) fn legal_uri(uri: &str) -> String {
    utf8_percent_encode(uri, NOT_IN_URI).to_string()
}

/// Returns a digest in the form of web archives: SHA-1 in base 32.
pub(super) fn labelled(digest: &Digest) -> String {
    format!("sha1:{}", base32(&digest.bytes))
}

fn base32(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    let mut text = String::new();
    for group in bytes.chunks(5) {
        let bits =
            (0..5).fold(0_u64, |bits, index| bits << 8 | u64::from(group.get(index).copied().unwrap_or_default()));
        let letters = (group.len() * 8).div_ceil(5);
        for index in 0..8 {
            let letter = if index < letters { LETTERS[(bits >> (35 - 5 * index) & 31) as usize] } else { b'=' };
            text.push(char::from(letter));
        }
    }
    text
}

/// Returns the identity of a new record: a random UUID.
pub(super) fn new_id() -> String {
    let mut bytes = [0; 16];
    // A read of 16 bytes is never truncated, and the generator is seeded long before a harvest starts. Without this
    // system call, a distinct value is sufficient.
    if getrandom(&mut bytes, GetRandomFlags::empty()).is_err() {
        fastrand::fill(&mut bytes);
    }
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let mut id = "urn:uuid:".to_owned();
    for (index, byte) in bytes.iter().enumerate() {
        let dash = if matches!(index, 4 | 6 | 8 | 10) { "-" } else { "" };
        let _ = write!(id, "{dash}{byte:02x}");
    }
    id
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of RFC 4648.
    #[test]
    fn base32_is_that_of_the_rfc() {
        for (bytes, text) in [
            ("", ""),
            ("f", "MY======"),
            ("fo", "MZXQ===="),
            ("foo", "MZXW6==="),
            ("foob", "MZXW6YQ="),
            ("fooba", "MZXW6YTB"),
            ("foobar", "MZXW6YTBOI======"),
        ] {
            assert_eq!(base32(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn no_value_begins_a_field_of_its_own() {
        let uri = "http://h/a\r\nWARC-Type: response";
        let text = Head { kind: "resource", uri: Some(uri), media_type: "a\r\nb", ..Head::default() }
            .to_text(Datestamp::from_unix(0));
        assert!(text.contains("WARC-Target-URI: http://h/a%0D%0AWARC-Type:%20response\r\n"), "{text}");
        assert!(text.contains("Content-Type: a  b\r\n"), "{text}");
    }

    #[test]
    fn identities_are_random_uuids() {
        let (one, other) = (new_id(), new_id());
        assert_ne!(one, other);
        assert_eq!((one.len(), &one[..9], &one[23..24]), (45, "urn:uuid:", "4"));
    }
}
