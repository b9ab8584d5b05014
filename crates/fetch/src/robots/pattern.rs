//! The path of a rule: RFC 9309, sections 2.2.2 and 2.2.3.
//!
//! Paths of URLs and of rules are normalised before they are compared, octet by octet. Octets that are not ASCII, or
//! not allowed in a path, are percent-encoded; octets that need no encoding are decoded. Of the reserved characters,
//! the delimiters (`/`, `?`, `&`, `=`, `+`, `;`) differ from their encoded forms, since `/a%2Fb` is not `/a/b`; in a
//! query, where `/` and `?` delimit nothing, they are equivalent, as in the RFC's example. The others mean the same in
//! both forms. `*` and `$` in a URL become `%2A` and `%24`, so that only those of a rule are wildcards.
//!
//! Between wildcards, the leftmost match is as good as any, so matching needs no backtracking: a rule is matched in one
//! pass over the path, regardless of its wildcards.

use memchr::memmem;

/// Characters that are equivalent to their encoded forms, in addition to the unreserved ones.
const ALIKE: &[u8] = b":@!'(),[]";
/// Delimiters, which differ from their encoded forms.
const DIVIDING: &[u8] = b"/&=+;";

/// The path of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pattern {
    /// The normalised path. A `*` in it is a wildcard.
    text: Box<[u8]>,
    /// True if the pattern must match the whole path.
    to_the_end: bool,
}

impl Pattern {
    /// Parses the value of a rule. Returns `None` if it can match nothing: an empty value, or one that begins as no
    /// path does.
    pub(super) fn parse(value: &[u8]) -> Option<Self> {
        if !matches!(value.first(), Some(b'/' | b'*')) {
            return None;
        }
        let (value, to_the_end) = match value {
            [rest @ .., b'$'] => (rest, true),
            _ => (value, false),
        };
        Some(Self { text: comparable(value, true).into(), to_the_end })
    }

    /// Returns the specificity of the pattern: its number of octets, wildcards included.
    pub(super) fn octets(&self) -> usize {
        self.text.len() + usize::from(self.to_the_end)
    }

    /// Returns true if a normalised path begins with this pattern or, with `to_the_end`, equals it.
    pub(super) fn matches(&self, path: &[u8]) -> bool {
        let mut parts = self.text.split(|&octet| octet == b'*');
        let first = parts.next().unwrap_or_default();
        let Some(mut rest) = path.strip_prefix(first) else { return false };
        let mut parts = parts.peekable();
        if parts.peek().is_none() {
            return !self.to_the_end || rest.is_empty();
        }
        while let Some(part) = parts.next() {
            if self.to_the_end && parts.peek().is_none() {
                return rest.ends_with(part);
            }
            match memmem::find(rest, part) {
                Some(at) => rest = &rest[at + part.len()..],
                None => return false,
            }
        }
        true
    }
}

/// Normalises a path for comparison. In the path of a rule, `*` is not encoded.
pub(super) fn comparable(path: &[u8], is_rule: bool) -> Vec<u8> {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    let mut text = Vec::with_capacity(path.len());
    let mut in_query = false;
    let mut rest = path;
    while let [octet, after @ ..] = rest {
        rest = after;
        let (octet, was_encoded) = match (octet, after) {
            (b'%', [high, low, behind @ ..]) if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                rest = behind;
                ((digit(*high) << 4) | digit(*low), true)
            }
            (octet, _) => (*octet, false),
        };
        let stays = match octet {
            b'-' | b'.' | b'_' | b'~' => true,
            _ if octet.is_ascii_alphanumeric() || ALIKE.contains(&octet) => true,
            b'/' | b'?' if in_query => true,
            b'?' => {
                in_query |= !was_encoded;
                !was_encoded
            }
            b'*' => is_rule && !was_encoded,
            _ => DIVIDING.contains(&octet) && !was_encoded,
        };
        if stays {
            text.push(octet);
        } else {
            text.extend_from_slice(&[b'%', HEX[usize::from(octet >> 4)], HEX[usize::from(octet & 15)]]);
        }
    }
    text
}

/// Returns the value of a hexadecimal digit.
fn digit(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        _ => (digit | 0x20) - b'a' + 10,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn matches(rule: &str, path: &str) -> bool {
        let pattern = Pattern::parse(rule.as_bytes()).expect("a pattern");
        pattern.matches(&comparable(path.as_bytes(), false))
    }

    #[test]
    fn paths_are_compared_as_the_rfc_has_it() {
        // The table of section 2.2.2: a rule in each of its spellings, against a URL in each of them.
        for spellings in [
            &["/foo/bar?baz=quz"][..],
            &[
                "/foo/bar?baz=https://foo.bar",
                "/foo/bar?baz=https%3A%2F%2Ffoo.bar",
                "/foo/bar?baz=https%3a%2f%2ffoo.bar",
            ],
            &["/foo/bar/ツ", "/foo/bar/%E3%83%84", "/foo/bar/%e3%83%84"],
            &["/foo/bar/%62%61%7A", "/foo/bar/baz", "/foo/b%61r/baz"],
        ] {
            for rule in spellings {
                for path in spellings {
                    assert!(matches(rule, path), "{rule} and {path}");
                    assert!(matches(&format!("{rule}$"), path), "{rule}$ and {path}");
                }
            }
        }
        assert_eq!(comparable("/foo/bar/%62%61%7A/ツ".as_bytes(), false), b"/foo/bar/baz/%E3%83%84");
    }

    #[test]
    fn wildcards_and_ends() {
        for (rule, yes, no) in [
            (
                "/fish",
                &["/fish", "/fish.html", "/fish/salmon", "/fishheads/yummy", "/fish?id=1"][..],
                &["/Fish", "/catfish", "/"][..],
            ),
            ("/fish*", &["/fish", "/fishheads"], &["/Fish", "/desert/fish"]),
            ("/fish/", &["/fish/", "/fish/salmon"], &["/fish", "/fish.html"]),
            ("/*.php", &["/a.php", "/f/g.php5?x", "/x?y=a.php"], &["/", "/windows.PHP"]),
            ("/*.php$", &["/a.php", "/f/a.php.php"], &["/a.php?x", "/a.php/", "/a.php5"]),
            ("/fish*.php", &["/fish.php", "/fishheads/catfish.php?x"], &["/Fish.PHP"]),
            ("/$", &["/"], &["/a"]),
            ("/a$b", &["/a$b", "/a%24bc"], &["/a", "/ab"]),
            ("/a*$", &["/a", "/ab"], &["/b"]),
            ("/a*b$", &["/ab", "/acb", "/abb"], &["/abc", "/a"]),
            ("/ab*ba$", &["/abba", "/abxba"], &["/aba"]),
            ("*", &["/", "/x"], &[]),
            ("*.pdf$", &["/x/y.pdf"], &["/x/y.pdf?z"]),
            (
                "/path/file-with-a-%2A.html",
                &["/path/file-with-a-*.html", "/path/file-with-a-%2a.html"],
                &["/path/file-with-a-b.html"],
            ),
            ("/path/foo-%24", &["/path/foo-$", "/path/foo-$x"], &["/path/foo-"]),
            ("/*&id=3", &["/x?a=b&id=3"], &["/x?a=b%26id=3"]),
            ("/*/private", &["/x?y=/private", "/a/private"], &["/a%2Fprivate"]),
            ("/a b", &["/a%20bc"], &["/a+b"]),
            ("/100%", &["/100%25", "/100%"], &["/100"]),
            ("/wiki/A:b", &["/wiki/A%3Ab"], &["/wiki/A"]),
        ] {
            for path in yes {
                assert!(matches(rule, path), "{rule} and {path}");
            }
            for path in no {
                assert!(!matches(rule, path), "{rule} and {path}");
            }
        }
    }

    #[test]
    fn what_begins_as_no_path_does_is_none() {
        for value in ["", "$", "private", "http://example.org/", "?x"] {
            assert_eq!(Pattern::parse(value.as_bytes()), None, "{value}");
        }
    }

    #[test]
    fn many_wildcards_take_no_time() {
        let path = comparable(format!("/{}", "a".repeat(100_000)).as_bytes(), false);
        for rule in [format!("/{}b", "*a".repeat(200_000)), format!("/{}b$", "*aa".repeat(30_000)), "/*a".repeat(1000)]
        {
            assert!(!Pattern::parse(rule.as_bytes()).expect("a pattern").matches(&path));
        }
    }

    /// Matches as the RFC describes it, by trying every possibility.
    fn plainly(pattern: &[u8], to_the_end: bool, path: &[u8]) -> bool {
        match pattern {
            [] => !to_the_end || path.is_empty(),
            [b'*', rest @ ..] => (0..=path.len()).any(|skipped| plainly(rest, to_the_end, &path[skipped..])),
            [octet, rest @ ..] => path.first() == Some(octet) && plainly(rest, to_the_end, &path[1..]),
        }
    }

    proptest! {
        #[test]
        fn one_pass_finds_what_every_way_finds(rule in "[/*][ab*]{0,8}\\$?", path in "/[ab]{0,10}") {
            let (text, to_the_end) = rule.strip_suffix('$').map_or((rule.as_str(), false), |text| (text, true));
            prop_assert_eq!(matches(&rule, &path), plainly(text.as_bytes(), to_the_end, path.as_bytes()));
        }

        #[test]
        fn the_form_is_a_form(path in proptest::collection::vec(any::<u8>(), 0..64)) {
            let once = comparable(&path, false);
            prop_assert!(once.iter().all(|octet| octet.is_ascii_graphic() && !b"*$#\"<>".contains(octet)));
            prop_assert_eq!(comparable(&once, false), once);
        }
    }
}
