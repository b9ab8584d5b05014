//! Computes the target of a redirect and the headers that may be sent to it. Without I/O.

use percent_encoding::{AsciiSet, percent_encode};
use reqwest::header::{self, HeaderMap, HeaderName};
use url::Url;

use crate::credentials::without_userinfo;
use crate::error::FetchError;

/// One redirect that was followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hop {
    /// The status: 301 and 308 are permanent, 302, 303 and 307 temporary.
    pub status: u16,
    /// The URL that redirected.
    pub from: Url,
    /// The target.
    pub to: Url,
}

impl Hop {
    /// Returns true if it redirects from HTTPS to HTTP.
    pub fn is_downgrade(&self) -> bool {
        self.from.scheme() == "https" && self.to.scheme() == "http"
    }
}

/// The headers that may be sent to another origin: those that describe the request and not the client. Any other header
/// of the caller may contain a secret, including headers unknown to this crate.
const HARMLESS: [HeaderName; 8] = [
    header::ACCEPT,
    header::ACCEPT_ENCODING,
    header::ACCEPT_LANGUAGE,
    header::CACHE_CONTROL,
    header::IF_MODIFIED_SINCE,
    header::IF_NONE_MATCH,
    header::IF_RANGE,
    header::RANGE,
];

/// Returns true if a header of the caller may be sent to an origin other than the intended one.
pub(crate) fn is_harmless(name: &HeaderName) -> bool {
    HARMLESS.contains(name)
}

/// Returns the URL to request next, if this response is a redirect.
pub(crate) fn target(status: u16, headers: &HeaderMap, from: &Url) -> Result<Option<Url>, FetchError> {
    let mut to = location(status, headers, from)?;
    if let Some(to) = &mut to {
        to.set_fragment(None);
    }
    Ok(to)
}

/// Returns the target of this response, if it is a redirect.
pub(crate) fn location(status: u16, headers: &HeaderMap, from: &Url) -> Result<Option<Url>, FetchError> {
    if !matches!(status, 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let location = headers.get(header::LOCATION).map_or(&[][..], |value| value.as_bytes());
    // Non-ASCII bytes should have been percent-encoded. In any charset, the server receives the same bytes that it has
    // sent.
    let location = percent_encode(location.trim_ascii(), const { &AsciiSet::EMPTY }).to_string();
    let bad = |to: String, reason| Err(FetchError::BadRedirect { url: from.to_string(), to, reason });
    if location.is_empty() {
        return bad(location, "missing Location header");
    }
    let Ok(to) = from.join(&location) else {
        // It may contain a password, and cannot be parsed to remove it.
        return bad(String::new(), "invalid URL in the Location header");
    };
    let to = without_userinfo(&to);
    if !matches!(to.scheme(), "http" | "https") || to.host_str().is_none() {
        return bad(to.to_string(), "not an HTTP URL");
    }
    Ok(Some(to))
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

    use super::*;

    fn leads(status: u16, location: &[u8]) -> Result<Option<String>, FetchError> {
        let mut headers = HeaderMap::new();
        headers.insert(header::LOCATION, HeaderValue::from_bytes(location).expect("a value"));
        let from = Url::parse("https://example.org/a/b?c=d").expect("a URL");
        target(status, &headers, &from).map(|to| to.map(String::from))
    }

    #[test]
    fn relative_locations_are_joined() {
        for (location, to) in [
            (&b"../x?y"[..], "https://example.org/x?y"),
            (b"//other/z", "https://other/z"),
            (b"?e=f", "https://example.org/a/b?e=f"),
            (b" http://other:81/#part ", "http://other:81/"),
            (b"http://me:secret@other/", "http://other/"),
            ("/é".as_bytes(), "https://example.org/%C3%A9"),
            (b"/\xe9", "https://example.org/%E9"),
        ] {
            assert_eq!(leads(302, location).expect("good").as_deref(), Some(to));
        }
    }

    #[test]
    fn a_fragment_is_told_and_not_asked_for() {
        let mut headers = HeaderMap::new();
        headers.insert(header::LOCATION, HeaderValue::from_static("/x#part"));
        let from = Url::parse("https://example.org/a").expect("a URL");
        let to = |found: Result<Option<Url>, FetchError>| found.expect("good").map(String::from);
        assert_eq!(to(location(301, &headers, &from)).as_deref(), Some("https://example.org/x#part"));
        assert_eq!(to(target(301, &headers, &from)).as_deref(), Some("https://example.org/x"));
    }

    #[test]
    fn a_downgrade_is_seen() {
        let hop = |from: &str, to: &str| Hop {
            status: 301,
            from: Url::parse(from).expect("a URL"),
            to: Url::parse(to).expect("a URL"),
        };
        assert!(hop("https://a/", "http://a/").is_downgrade());
        assert!(!hop("http://a/", "https://a/").is_downgrade() && !hop("http://a/", "http://b/").is_downgrade());
    }

    #[test]
    fn other_statuses_do_not_redirect() {
        for status in [200, 201, 300, 304, 305, 404] {
            assert_eq!(leads(status, b"/x").expect("no redirect"), None);
        }
    }

    #[test]
    fn leading_nowhere_is_an_error_without_secrets() {
        for location in [
            &b""[..],
            b"mailto:me@example.org",
            b"ftp://me:secret@example.org/",
            b"http://me:secret@[/",
            b"file:///etc/passwd",
        ] {
            let error = leads(301, location).expect_err("nowhere to go").to_string();
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
