//! The one URL of a file.
//!
//! An item's name is its path below the root, every segment percent-encoded in one canonical way: letters, digits and
//! the other characters that RFC 3986 allows in a path segment are not encoded, every other byte is `%XX` in upper
//! case. File names are bytes, not text, so any name has a URL, and no two names share one.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, percent_encode};

/// All characters except `pchar` in RFC 3986.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'!')
    .remove(b'$')
    .remove(b'&')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b'+')
    .remove(b',')
    .remove(b';')
    .remove(b'=')
    .remove(b':')
    .remove(b'@');

/// Returns one segment, canonically encoded.
pub fn encode_segment(segment: &[u8]) -> String {
    percent_encode(segment, ENCODED).to_string()
}

/// Returns the name of the path with these segments.
pub fn encode(segments: &[Vec<u8>]) -> String {
    segments.iter().map(|segment| encode_segment(segment)).collect::<Vec<_>>().join("/")
}

/// Returns the segments of a URL path (without its leading slash), or `None` if no file can have it: an empty segment,
/// `.`, `..`, NUL, or an encoded slash. Any encoding of a character is accepted, not only the canonical one.
pub fn decode(path: &str) -> Option<Vec<Vec<u8>>> {
    if path.is_empty() {
        return Some(Vec::new());
    }
    let decoded = path.split('/').map(|segment| percent_decode_str(segment).collect::<Vec<u8>>());
    decoded.map(|segment| is_file_name(&segment).then_some(segment)).collect()
}

fn is_file_name(segment: &[u8]) -> bool {
    !matches!(segment, b"" | b"." | b"..") && !segment.iter().any(|byte| matches!(byte, 0 | b'/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_canonical_and_reversible() {
        for (segments, name) in [
            (vec![&b"a b"[..], b"c%d"], "a%20b/c%25d"),
            (vec![b"\xff\n<&>"], "%FF%0A%3C&%3E"),
            (vec!["é".as_bytes(), b"x:y@z"], "%C3%A9/x:y@z"),
            (vec![b"100% [sure]?#"], "100%25%20%5Bsure%5D%3F%23"),
        ] {
            let segments: Vec<Vec<u8>> = segments.into_iter().map(<[u8]>::to_vec).collect();
            assert_eq!(encode(&segments), name);
            assert_eq!(decode(name), Some(segments));
        }
        assert_eq!(decode("%61"), Some(vec![b"a".to_vec()]));
    }

    #[test]
    fn no_path_leaves_the_root() {
        for path in ["..", "a/..", "../a", "%2e%2e/a", "a//b", "a/", "/a", ".", "a%00", "a%2fb", "..%2fa"] {
            assert_eq!(decode(path), None, "{path}");
        }
    }
}
