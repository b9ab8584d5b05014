//! Checks whether XML Schema accepts a text as a URI.
//!
//! Identifiers are of the type anyURI, which allows nearly every text, because a reader first escapes the characters
//! that a URI must not contain. Some errors remain that escaping cannot remove. A response that repeated such a value
//! in an attribute would be invalid.

/// Returns true if XML Schema allows this text as a URI.
pub fn is_any_uri(text: &str) -> bool {
    let (before_fragment, fragment) = text.split_once('#').unwrap_or((text, ""));
    let first_end = before_fragment.find(['/', '?']).unwrap_or(before_fragment.len());
    let (scheme, hierarchy) = match before_fragment[..first_end].find(':') {
        Some(colon) => (Some(&before_fragment[..colon]), &before_fragment[colon + 1..]),
        None => (None, before_fragment),
    };
    let (authority, rest) = match hierarchy.strip_prefix("//") {
        Some(hierarchy) => hierarchy.split_at(hierarchy.find(['/', '?']).unwrap_or(hierarchy.len())),
        None => ("", hierarchy),
    };
    has_whole_escapes(text)
        && !fragment.contains('#')
        && scheme.is_none_or(is_scheme)
        && is_authority(authority)
        && !rest.contains(['[', ']'])
        && !fragment.contains(['[', ']'])
}

/// Returns true if two hexadecimal digits follow each `%`.
fn has_whole_escapes(text: &str) -> bool {
    let is_whole = |piece: &str| piece.bytes().take(2).filter(u8::is_ascii_hexdigit).count() == 2;
    text.split('%').skip(1).all(is_whole)
}

fn is_scheme(scheme: &str) -> bool {
    scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

/// Returns true for a host, with or without user and port.
fn is_authority(authority: &str) -> bool {
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let (host, port) = match host.strip_prefix('[') {
        Some(literal) => match literal.split_once(']') {
            Some((address, port)) if !address.is_empty() => {
                ("", port.strip_prefix(':').or(port.is_empty().then_some("0")))
            }
            _ => return false,
        },
        None => host.split_once(':').map_or((host, Some("0")), |(host, port)| (host, Some(port))),
    };
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    !host.contains(['[', ']']) && port.is_some_and(is_port)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_escaping_cannot_mend_is_refused() {
        for text in [
            "",
            "a",
            "a b",
            "invalid\"id",
            "é<>{}|\\^`",
            "oai:example.org:1%20a",
            "oai:arXiv.org:math/0001",
            "urn:nbn:de:101:1-2",
            "http://example.org:8080/a?b=c#d",
            "http://user@[::1]:80/",
            "http://[::1]",
            "doi:10.1000/182",
            "#",
            "a/b:c",
            "\u{1}",
        ] {
            assert!(is_any_uri(text), "{text}");
        }
        for text in [
            "%",
            "%zz",
            "a%2",
            "%é0",
            "a#b#c",
            "[",
            "a]",
            "http://[",
            "http://[]/",
            "http://a/[x]",
            "a#[",
            "1:2",
            ":a",
            "é:x",
            "a@b:c",
            "http://a:b/",
            "http://a:/",
            "http://[::1]x/",
            "http://%zz/",
        ] {
            assert!(!is_any_uri(text), "{text}");
        }
    }
}
