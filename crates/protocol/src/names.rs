//! The protocol's restricted names: set specs and metadata prefixes.
//!
//! A value of these types exists only if it is legal, so it can be written into a response without a check.

use std::fmt;
use std::sync::Arc;

/// Returns true for the schema's character class for prefixes and for each level of a set spec: RFC 2396's unreserved
/// characters.
fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.!~*'()".contains(&byte)
}

/// The short name of a metadata format, such as `oai_dc`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MetadataPrefix(String);

impl MetadataPrefix {
    /// Returns the prefix, if it is legal.
    pub fn parse(text: &str) -> Option<Self> {
        (!text.is_empty() && text.bytes().all(is_name_byte)).then(|| Self(text.to_owned()))
    }

    /// Returns the prefix as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for MetadataPrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The position of a set in the hierarchy: one or more levels joined by colons, such as `mime:text:html`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SetSpec(String);

impl SetSpec {
    /// Returns the set spec, if it is legal.
    pub fn parse(text: &str) -> Option<Self> {
        let legal = |level: &str| !level.is_empty() && level.bytes().all(is_name_byte);
        text.split(':').all(legal).then(|| Self(text.to_owned()))
    }

    /// Joins levels of any text into a set spec. Bytes that are illegal in a level are written as `!` and two hex
    /// digits, as is `!` itself, so that different levels remain different: `svg+xml` becomes `svg!2Bxml`.
    ///
    /// ```
    /// # use modoai_protocol::SetSpec;
    /// assert_eq!(SetSpec::from_levels(["mime", "image", "svg+xml"]).as_str(), "mime:image:svg!2Bxml");
    /// ```
    pub fn from_levels<'a>(levels: impl IntoIterator<Item = &'a str>) -> Self {
        use fmt::Write as _;
        let mut spec = String::new();
        for (depth, level) in levels.into_iter().enumerate() {
            if depth > 0 {
                spec.push(':');
            }
            if level.is_empty() {
                spec.push('!'); // An empty level is illegal; a lone `!` cannot result from an escape.
            }
            for byte in level.bytes() {
                if is_name_byte(byte) && byte != b'!' {
                    spec.push(char::from(byte));
                } else {
                    write!(spec, "!{byte:02X}").expect("writing to a String cannot fail");
                }
            }
        }
        Self(spec)
    }

    /// Returns the set spec as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the levels that [`SetSpec::from_levels`] has joined.
    pub fn levels(&self) -> Vec<String> {
        let unescaped = |level: &str| {
            let mut bytes = Vec::with_capacity(level.len());
            let mut rest = level.as_bytes();
            while let Some((&byte, after)) = rest.split_first() {
                let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
                match digits.filter(|_| byte == b'!').and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
                    Some(escaped) => {
                        bytes.push(escaped);
                        rest = &after[2..];
                    }
                    None => {
                        bytes.extend(Some(byte).filter(|_| level != "!"));
                        rest = after;
                    }
                }
            }
            String::from_utf8_lossy(&bytes).into_owned()
        };
        self.0.split(':').map(unescaped).collect()
    }

    /// Returns this set and every set that contains it, widest first: `mime`, `mime:text`, `mime:text:html`.
    pub fn lineage(&self) -> impl Iterator<Item = &str> {
        let ends = self.0.match_indices(':').map(|(at, _)| at).chain([self.0.len()]);
        ends.map(|end| &self.0[..end])
    }

    /// Sorts sets, and removes duplicates and sets that contain another one.
    pub fn keep_narrowest(sets: &mut Vec<Arc<Self>>) {
        if sets.len() < 2 {
            return;
        }
        // Sorted level by level, a set is directly followed by the sets that it contains. (By bytes, `a-b` sorts
        // between `a` and `a:b`.)
        sets.sort_unstable_by(|a, b| a.as_str().split(':').cmp(b.as_str().split(':')));
        sets.dedup();
        let mut narrower: Option<Arc<Self>> = None;
        let kept = sets.drain(..).rev().filter(|set| {
            let contains = narrower.replace(Arc::clone(set)).is_some_and(|narrower| {
                narrower.as_str().strip_prefix(set.as_str()).is_some_and(|rest| rest.starts_with(':'))
            });
            !contains
        });
        *sets = kept.collect();
        sets.sort_unstable();
    }
}

impl fmt::Display for SetSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_schema_legal_names_exist() {
        for legal in ["a", "mime:text:html", "a-b_c.d!e~f*g'(h)"] {
            assert!(SetSpec::parse(legal).is_some(), "{legal}");
        }
        for illegal in ["", ":", "a:", ":a", "a::b", "a+b", "a/b", "a b", "é", "a%20b"] {
            assert!(SetSpec::parse(illegal).is_none(), "{illegal}");
            assert!(MetadataPrefix::parse(illegal).is_none(), "{illegal}");
        }
        assert!(MetadataPrefix::parse("a:b").is_none());
    }

    #[test]
    fn escaping_is_legal_and_reversible() {
        for level in ["svg+xml", "svg!2Bxml", "", "!", "é", "a:b"] {
            let spec = SetSpec::from_levels(["x", level]);
            assert!(SetSpec::parse(spec.as_str()).is_some(), "{spec}");
            assert_eq!(spec.levels(), ["x", level]);
        }
    }

    #[test]
    fn of_sets_within_each_other_the_narrowest_stay() {
        let specs = ["b", "a:b:c", "a", "a-b", "b", "a:b"].map(|spec| Arc::new(SetSpec::parse(spec).expect("legal")));
        let mut sets = specs.to_vec();
        SetSpec::keep_narrowest(&mut sets);
        assert_eq!(sets.iter().map(|set| set.as_str()).collect::<Vec<_>>(), ["a-b", "a:b:c", "b"]);
    }

    #[test]
    fn lineage_runs_from_the_root() {
        let spec = SetSpec::parse("mime:text:html").expect("legal");
        assert_eq!(spec.lineage().collect::<Vec<_>>(), ["mime", "mime:text", "mime:text:html"]);
    }
}
