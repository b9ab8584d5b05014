//! Prefixes of URLs, as used for restrictions, exclusions and owners; and a search for those that match a URL.
//!
//! URLs are compared by their [`key`]: without scheme, user and fragment, and with unnecessary escapes decoded. So
//! `http://h:80/~a/` and `https://h/%7Ea/` are equal: a restriction applies to all spellings of a URL.

use std::borrow::Cow;

/// Returns `host[:port]/path[?query]` of an http or https URL as `Url` writes it; `None` for other URLs.
pub(super) fn key(url: &str) -> Option<Cow<'_, str>> {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"))?;
    let rest = rest.split('#').next().unwrap_or_default();
    let (authority, _) = rest.split_once('/')?;
    let user = authority.rfind('@').map_or(0, |at| at + 1);
    Some(plain(&rest[user..]))
}

/// Returns the path and query of a key.
pub(super) fn path_of(key: &str) -> &str {
    key.find('/').map_or("/", |slash| &key[slash..])
}

/// Decodes escapes of characters that need none, and writes the others in capitals (RFC 3986, 6.2.2).
pub(super) fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut pieces = text.split('%');
    plain.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        let digits = piece.get(..2).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match (byte, digits) {
            (Some(byte), _) if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) => plain.push(char::from(byte)),
            (Some(_), Some(digits)) => {
                plain.push('%');
                plain.push_str(&digits.to_ascii_uppercase());
            }
            _ => plain.push('%'),
        }
        plain.push_str(if byte.is_some() { &piece[2..] } else { piece });
    }
    Cow::Owned(plain)
}

/// Prefixes, each with a value, prepared for searches: the cost of a search grows with the depth of their nesting, and
/// hardly with their number.
#[derive(Clone, Debug)]
pub(super) struct Prefixes<T> {
    /// In byte order, so that each follows those it begins with.
    entries: Vec<Entry<T>>,
}

#[derive(Clone, Debug)]
struct Entry<T> {
    prefix: Box<str>,
    value: T,
    /// The longest other entry that this one begins with.
    parent: Option<usize>,
}

impl<T> Default for Prefixes<T> {
    fn default() -> Self {
        Self { entries: Vec::new() }
    }
}

impl<T> Prefixes<T> {
    pub(super) fn new(prefixes: impl IntoIterator<Item = (String, T)>) -> Self {
        let mut sorted: Vec<(String, T)> = prefixes.into_iter().collect();
        sorted.sort_by(|a, b| a.0.cmp(&b.0));
        let mut entries: Vec<Entry<T>> = Vec::with_capacity(sorted.len());
        for (prefix, value) in sorted {
            let mut parent = entries.len().checked_sub(1);
            while let Some(at) = parent.filter(|at| !prefix.starts_with(&*entries[*at].prefix)) {
                parent = entries[at].parent;
            }
            entries.push(Entry { prefix: prefix.into(), value, parent });
        }
        Self { entries }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the prefixes of a text, the longest first.
    pub(super) fn of<'a>(&'a self, text: &'a str) -> impl Iterator<Item = (&'a str, &'a T)> {
        // Every string that sorts between a prefix of the text and the text itself begins with that prefix. So all
        // prefixes are among the nearest entry before the text and its parents, and once one matches, its parents do.
        let before = self.entries.partition_point(|entry| &*entry.prefix <= text).checked_sub(1);
        let chain = std::iter::successors(before, |at| self.entries[*at].parent).map(|at| &self.entries[at]);
        chain.skip_while(|entry| !text.starts_with(&*entry.prefix)).map(|entry| (&*entry.prefix, &entry.value))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_place_has_one_key() {
        for (url, expected) in [
            ("http://h/", "h/"),
            ("https://h/a?b#c", "h/a?b"),
            ("https://me:secret@h:8080/a@b", "h:8080/a@b"),
            ("http://h/%7ea%2fb%41%", "h/~a%2FbA%"),
            ("http://h/%é%zz", "h/%é%zz"),
        ] {
            assert_eq!(key(url).as_deref(), Some(expected), "{url}");
        }
        assert_eq!(key("ftp://h/"), None);
        assert_eq!(key("http://h"), None);
        assert_eq!(path_of("h:80/a?b"), "/a?b");
    }

    #[test]
    fn the_longest_comes_first_and_twins_are_both_there() {
        let prefixes = Prefixes::new([("a/", 1), ("a/b", 2), ("a/b", 3), ("a/c", 4)].map(|(p, n)| (p.to_owned(), n)));
        let of = |text| prefixes.of(text).map(|(_, n)| *n).collect::<Vec<_>>();
        assert_eq!(of("a/bz"), [3, 2, 1]);
        assert_eq!(of("a/bb/c"), [3, 2, 1]);
        assert_eq!(of("a/"), [1]);
        assert_eq!(of("a/d"), [1]);
        assert_eq!(of("b"), [] as [i32; 0]);
    }

    proptest! {
        #[test]
        fn the_search_finds_what_looking_at_each_would(all in prop::collection::vec("[ab/]{0,6}", 0..40), text in "[ab/]{0,10}") {
            let prefixes = Prefixes::new(all.iter().cloned().map(|prefix| (prefix, ())));
            let found: Vec<&str> = prefixes.of(&text).map(|(prefix, ())| prefix).collect();
            let mut expected: Vec<&str> = all.iter().map(String::as_str).filter(|prefix| text.starts_with(prefix)).collect();
            expected.sort_by_key(|prefix| std::cmp::Reverse(prefix.len()));
            prop_assert_eq!(found, expected);
        }
    }
}
