//! Extracts URLs, DOIs and ORCID iDs from user input.

use std::fmt::Write as _;

/// Returns an absolute `http`, `https` or `ftp` URL, with invalid characters percent-encoded; `None` if it is not one.
pub(super) fn url(text: &str) -> Option<String> {
    let (scheme, _) = text.trim().split_once("://")?;
    let known = ["http", "https", "ftp"].iter().any(|known| scheme.eq_ignore_ascii_case(known));
    known.then(|| reference(text)).flatten()
}

/// Returns any URI, or any other text as a relative one; `None` if its host is invalid.
pub(super) fn reference(text: &str) -> Option<String> {
    let text = text.trim();
    let is_scheme = |scheme: &str| {
        scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    };
    let Some((scheme, rest)) = text.split_once(':').filter(|(scheme, _)| is_scheme(scheme)) else {
        // A parser would interpret its first colon as the end of a scheme.
        return Some(encode(text).replace(':', "%3A"));
    };
    let scheme = scheme.to_ascii_lowercase();
    match rest.strip_prefix("//") {
        None => Some(format!("{scheme}:{}", encode(rest))),
        Some(rest) => {
            let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
            let (authority, path) = rest.split_at(end);
            is_authority(authority).then(|| format!("{scheme}://{}{}", encode_all_but(authority, b"[]"), encode(path)))
        }
    }
}

/// Returns true for a valid part between `//` and the path: user, host and port.
fn is_authority(text: &str) -> bool {
    let (somebody, place) = text.rsplit_once('@').unwrap_or(("", text));
    let (host, port) = match place.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, port),
        _ => (place, ""),
    };
    let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let host_is_fine = match address {
        Some(address) => {
            address.contains(':') && address.bytes().all(|byte| byte.is_ascii_hexdigit() || b":.".contains(&byte))
        }
        None => !host.is_empty() && !host.contains(|c: char| c.is_ascii_control() || " <>\"{}|\\^`[]@:".contains(c)),
    };
    host_is_fine && port.bytes().all(|byte| byte.is_ascii_digit()) && !somebody.contains(['[', ']', '@'])
}

/// Percent-encodes characters that are invalid in a path, query or fragment, and no others; a `%` that does not begin
/// an escape is encoded.
pub(super) fn encode(text: &str) -> String {
    encode_all_but(text, b"")
}

fn encode_all_but(text: &str, spared: &[u8]) -> String {
    let bytes = text.as_bytes();
    let mut all = String::with_capacity(text.len());
    let mut fragments = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        let fine = match byte {
            b'%' => bytes.get(at + 1..at + 3).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)),
            b'#' => {
                fragments += 1;
                fragments == 1
            }
            _ => byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/?".contains(&byte) || spared.contains(&byte),
        };
        if fine {
            all.push(char::from(byte));
        } else {
            write!(all, "%{byte:02X}").expect("a String takes everything");
        }
    }
    all
}

/// Returns the bare DOI, `10.1000/182`, from any of its forms; `None` if it is not one.
pub(super) fn doi(text: &str) -> Option<&str> {
    // Some catalogues write several DOIs into one field; the first is that of the document.
    let text = text.trim().trim_start_matches("doi:").trim_start_matches("DOI:").split_whitespace().next()?;
    let text = text.trim_end_matches([',', ';']);
    let lower = |length: usize| text.get(..length).map(str::to_ascii_lowercase);
    let prefixes = [
        "https://doi.org/",
        "http://doi.org/",
        "https://dx.doi.org/",
        "http://dx.doi.org/",
        "info:doi/",
        "doi.org/",
        "doi:",
    ];
    let bare = prefixes.iter().find(|prefix| lower(prefix.len()).as_deref() == Some(**prefix));
    let bare = bare.map_or(text, |prefix| &text[prefix.len()..]);
    let (registrant, suffix) = bare.split_once('/')?;
    let digits = registrant.strip_prefix("10.")?;
    let numbered = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    (numbered && digits.starts_with(|c: char| c.is_ascii_digit()) && !suffix.is_empty()).then_some(bare)
}

/// Returns the bare ORCID iD, `0000-0002-1825-0097`; `None` if it is not one.
pub(super) fn orcid(text: &str) -> Option<&str> {
    let bare = text.trim().trim_end_matches('/').rsplit('/').next()?;
    let fits = |(at, byte): (usize, u8)| match at {
        4 | 9 | 14 => byte == b'-',
        18 => byte.is_ascii_digit() || byte == b'X',
        _ => byte.is_ascii_digit(),
    };
    (bare.len() == 19 && bare.bytes().enumerate().all(fits)).then_some(bare)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_mended_or_refused() {
        let some = |text: &str| url(text).unwrap_or_default();
        assert_eq!(some(" HTTPS://example.org/a b<c>?d=é#f#g "), "https://example.org/a%20b%3Cc%3E?d=%C3%A9#f%23g");
        assert_eq!(some("http://example.org/100%/%7E"), "http://example.org/100%25/%7E");
        for text in [
            "",
            "example.org",
            "http://",
            "http:///x",
            "javascript:alert(1)",
            "http://a b/c",
            "mailto:a@b",
            "http://h:x/",
            "http://[/",
        ] {
            assert_eq!(url(text), None, "{text}");
        }
        assert_eq!(some("http://[::1]:80/[x]"), "http://[::1]:80/%5Bx%5D");
        assert_eq!(some("http://u:p@h:80?x"), "http://u:p@h:80?x");
    }

    #[test]
    fn any_text_can_be_a_reference() {
        assert_eq!(reference("oai:arXiv.org:hep-th/9901001").as_deref(), Some("oai:arXiv.org:hep-th/9901001"));
        assert_eq!(reference("a b:c").as_deref(), Some("a%20b%3Ac"));
        assert_eq!(reference("x://a b/").as_deref(), None);
    }

    #[test]
    fn dois_come_in_many_forms() {
        for text in ["10.1000/182", "doi:10.1000/182", "https://doi.org/10.1000/182", "HTTP://DX.DOI.ORG/10.1000/182"] {
            assert_eq!(doi(text), Some("10.1000/182"), "{text}");
        }
        assert_eq!(doi(" 10.1/a; 10.1/b"), Some("10.1/a"));
        assert_eq!(doi("10.48550/arXiv.2101.00001"), Some("10.48550/arXiv.2101.00001"));
        for text in ["", "10.", "10.1000", "10.1000/", "10.x/y", "11.1/2", "hdl:1/2", "https://example.org/10.1/2"] {
            assert_eq!(doi(text), None, "{text}");
        }
    }

    #[test]
    fn orcids_are_bare() {
        assert_eq!(orcid("https://orcid.org/0000-0002-1825-009X/"), Some("0000-0002-1825-009X"));
        assert_eq!(orcid("0000-0002-1825-0097"), Some("0000-0002-1825-0097"));
        assert_eq!(orcid("0000-0002-1825-00970"), None);
        assert_eq!(orcid("0000 0002 1825 0097"), None);
    }
}
