//! Names of elements and attributes, by XML 1.0 (fifth edition) and Namespaces in XML 1.0: the only definition in the
//! workspace.

/// The namespace of the prefix `xml`.
pub const XML_NAMESPACE: &str = "http://www.w3.org/XML/1998/namespace";
/// The namespace of the prefix `xmlns`.
pub const XMLNS_NAMESPACE: &str = "http://www.w3.org/2000/xmlns/";

/// Returns true for a name without colons (`NCName`).
pub fn is_name(name: &str) -> bool {
    let starts = |character: char| {
        matches!(character,
            'A'..='Z' | 'a'..='z' | '_' | '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}' | '\u{f8}'..='\u{2ff}'
            | '\u{370}'..='\u{37d}' | '\u{37f}'..='\u{1fff}' | '\u{200c}' | '\u{200d}' | '\u{2070}'..='\u{218f}'
            | '\u{2c00}'..='\u{2fef}' | '\u{3001}'..='\u{d7ff}' | '\u{f900}'..='\u{fdcf}' | '\u{fdf0}'..='\u{fffd}'
            | '\u{10000}'..='\u{effff}')
    };
    let follows = |character: char| {
        starts(character)
            || matches!(character,
                '-' | '.' | '0'..='9' | '\u{b7}' | '\u{300}'..='\u{36f}' | '\u{203f}' | '\u{2040}')
    };
    name.starts_with(starts) && name.chars().all(follows)
}

/// Splits a name with at most one colon (`QName`) into its prefix, which may be empty, and its local name.
pub fn qualified(name: &str) -> Option<(&str, &str)> {
    match name.split_once(':') {
        Some((prefix, local)) => (is_name(prefix) && is_name(local)).then_some((prefix, local)),
        None => is_name(name).then_some(("", name)),
    }
}

/// Returns true if a prefix may be declared for a namespace. The default namespace has an empty prefix, and only its
/// declaration may be empty.
pub fn may_be_declared(prefix: &str, uri: &str) -> bool {
    match prefix {
        "xmlns" => false,
        "xml" => uri == XML_NAMESPACE,
        _ => uri != XML_NAMESPACE && uri != XMLNS_NAMESPACE && (prefix.is_empty() || !uri.is_empty()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_at_most_one_colon() {
        for (name, parts) in
            [("a", ("", "a")), ("_-.9", ("", "_-.9")), ("é·ü", ("", "é·ü")), ("dc:title", ("dc", "title"))]
        {
            assert_eq!(qualified(name), Some(parts), "{name}");
        }
        for bad in ["", ":", "a:", ":a", "a:b:c", "1", "a:1", "-a", "a b", "a²", "a×", "×", "a\u{37e}", "²"] {
            assert_eq!(qualified(bad), None, "{bad}");
        }
    }

    #[test]
    fn reserved_namespaces_keep_their_prefixes() {
        assert!(may_be_declared("", "") && may_be_declared("a", "urn:a") && may_be_declared("xml", XML_NAMESPACE));
        for (prefix, uri) in [
            ("a", ""),
            ("xml", "urn:a"),
            ("xmlns", "urn:a"),
            ("a", XML_NAMESPACE),
            ("", XML_NAMESPACE),
            ("", XMLNS_NAMESPACE),
        ] {
            assert!(!may_be_declared(prefix, uri), "{prefix}={uri}");
        }
    }
}
