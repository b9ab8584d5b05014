//! Decides whether two URLs are the same resource.
//!
//! The count covers one site, so the host is ignored. The scheme is ignored too, since sites move to https and their
//! sitemaps follow later. Unnecessary escapes are decoded. `/a/` and `/a/index.html` are one resource with two names.

use std::borrow::Cow;

use url::Url;

/// The site that is counted.
#[derive(Clone, Debug)]
pub struct Place {
    base: Url,
    index: String,
}

/// A URL of the site: its path and query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) name: String,
    /// True if the URL contained the index file of its directory.
    pub(super) is_index: bool,
}

impl Place {
    /// Creates a place of all URLs below the directory of this URL. A request for a directory returns its file `index`.
    pub fn new(base: &Url, index: &str) -> Self {
        let mut base = base.join(".").unwrap_or_else(|_| base.clone());
        base.set_query(None);
        base.set_fragment(None);
        // Credentials are not part of a URL's name. Removing them fails only for URLs without a host.
        let _ = base.set_username("").and_then(|()| base.set_password(None));
        Self { base, index: index.to_owned() }
    }

    /// Returns the site's URL.
    pub fn base(&self) -> &Url {
        &self.base
    }

    /// Returns the name of the file that a request for a directory returns.
    pub fn index(&self) -> &str {
        &self.index
    }

    /// Returns the key of a URL, which may be relative to the site's; `None` if it is on another site.
    pub(super) fn key(&self, url: &str) -> Option<Key> {
        let url = self.base.join(url).ok()?;
        let is_web = matches!(url.scheme(), "http" | "https");
        let is_same_port = url.port() == self.base.port();
        if !is_web || url.host_str() != self.base.host_str() || !is_same_port {
            return None;
        }
        let path = tidy(url.path());
        if !path.starts_with(&*tidy(self.base.path())) {
            return None;
        }
        if let Some(query) = url.query() {
            return Some(Key { name: format!("{path}?{query}"), is_index: false });
        }
        let folder = path.strip_suffix(self.index.as_str()).filter(|folder| folder.ends_with('/'));
        let is_index = !self.index.is_empty() && folder.is_some();
        let name = folder.filter(|_| is_index).map_or_else(|| path.clone().into_owned(), str::to_owned);
        Some(Key { name, is_index })
    }

    /// Returns the URL of a key.
    pub(super) fn url(&self, name: &str) -> String {
        format!("{}{name}", self.base.origin().ascii_serialization())
    }
}

/// Decodes unnecessary escapes in a path.
fn tidy(path: &str) -> Cow<'_, str> {
    if !path.contains('%') {
        return Cow::Borrowed(path);
    }
    let mut tidied = String::with_capacity(path.len());
    let mut rest = path;
    while let Some(at) = rest.find('%') {
        tidied.push_str(&rest[..at]);
        rest = &rest[at..];
        let code = rest.get(1..3).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match code {
            Some(byte) if byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@".contains(&byte) => {
                tidied.push(byte.into());
            }
            Some(byte) => tidied.push_str(&format!("%{byte:02X}")),
            // A percent sign without two digits is literal, as servers read it.
            None => {
                tidied.push_str("%25");
                rest = &rest[1..];
                continue;
            }
        }
        rest = &rest[3..];
    }
    tidied.push_str(rest);
    Cow::Owned(tidied)
}

#[cfg(test)]
mod checks {
    use super::*;

    #[test]
    fn names_of_the_same_resource_are_one() {
        let place = Place::new(&Url::parse("http://me:secret@h/docs/x").expect("a URL"), "index.html");
        let key = |url| place.key(url).map(|key| (key.name, key.is_index));
        for (url, name, is_index) in [
            ("http://h/docs/a%7eb%2fc%20d#x", "/docs/a~b%2Fc%20d", false),
            ("https://h/docs/index.html", "/docs/", true),
            ("https://h/docs/", "/docs/", false),
            ("/docs/a?b=c", "/docs/a?b=c", false),
            ("/docs/100%", "/docs/100%25", false),
            ("/docs/operator%.html", "/docs/operator%25.html", false),
            ("/docs/operator%25.html", "/docs/operator%25.html", false),
            ("/docs/myindex.html", "/docs/myindex.html", false),
        ] {
            assert_eq!(key(url), Some((name.to_owned(), is_index)), "{url}");
        }
        for elsewhere in ["http://other/docs/", "http://h:81/docs/", "http://h/", "mailto:a@h"] {
            assert_eq!(key(elsewhere), None, "{elsewhere}");
        }
        assert_eq!(place.url("/docs/a"), "http://h/docs/a");
        assert_eq!(place.base().as_str(), "http://h/docs/");
    }
}
