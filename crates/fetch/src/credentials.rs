//! Credentials that are sent to one origin only.

use std::fmt;

use percent_encoding::percent_decode_str;
use url::Url;

/// Scheme, host and port: the scope of a secret.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Origin {
    scheme: String,
    host: String,
    port: u16,
}

impl Origin {
    /// Returns the origin of an http or https URL. Other URLs have no origin that this client can connect to.
    pub fn of(url: &Url) -> Option<Self> {
        if !matches!(url.scheme(), "http" | "https") {
            return None;
        }
        let host = url.host_str()?.trim_end_matches('.').to_owned();
        Some(Self { scheme: url.scheme().to_owned(), host, port: url.port_or_known_default()? })
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}:{}", self.scheme, self.host, self.port)
    }
}

/// A secret and the one origin that it is sent to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credential {
    /// The origin that receives the secret.
    pub origin: Origin,
    /// The secret.
    pub secret: Secret,
}

impl Credential {
    /// Removes user and password from a URL, as in `http://user:password@host/`. The URL can then be shown.
    ///
    /// ```
    /// # use modoai_fetch::{Credential, Url};
    /// let mut url = Url::parse("https://me:s%33cret@example.org/oai").expect("a URL");
    /// let credential = Credential::from_url(&mut url).expect("a user");
    /// assert_eq!(url.as_str(), "https://example.org/oai");
    /// assert_eq!(format!("{:?}", credential.secret), "Basic(***)");
    /// ```
    pub fn from_url(url: &mut Url) -> Option<Self> {
        if url.username().is_empty() && url.password().is_none() {
            return None;
        }
        let decode = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
        let (user, password) = (decode(url.username()), url.password().map(decode));
        *url = without_userinfo(url);
        let secret = Secret::Basic { user, password: password.unwrap_or_default() };
        Some(Self { origin: Origin::of(url)?, secret })
    }
}

/// The proof of identity.
#[derive(Clone, PartialEq, Eq)]
pub enum Secret {
    /// A user and a password.
    Basic {
        /// The user.
        user: String,
        /// The password.
        password: String,
    },
    /// A token.
    Bearer(String),
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Basic { .. } => "Basic(***)",
            Self::Bearer(_) => "Bearer(***)",
        })
    }
}

/// Returns the URL without user and password, as it may be shown.
pub(crate) fn without_userinfo(url: &Url) -> Url {
    let mut plain = url.clone();
    // This fails only for URLs that cannot have a user.
    let _ = plain.set_username("");
    let _ = plain.set_password(None);
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(url: &str) -> Option<Origin> {
        Origin::of(&Url::parse(url).expect("a URL"))
    }

    #[test]
    fn an_origin_is_scheme_host_and_port() {
        assert_eq!(origin("http://Example.org/a"), origin("http://example.org:80/b?c"));
        assert_eq!(origin("http://example.org./"), origin("http://example.org/"));
        assert_ne!(origin("http://example.org/"), origin("https://example.org/"));
        assert_ne!(origin("http://example.org/"), origin("http://example.org:8080/"));
        assert_ne!(origin("http://example.org/"), origin("http://www.example.org/"));
        assert_eq!(origin("ftp://example.org/"), None);
        assert_eq!(origin("mailto:me@example.org"), None);
    }

    #[test]
    fn users_are_taken_out_of_urls() {
        let mut url = Url::parse("http://m%C3%A9:p%40ss@h:81/x").expect("a URL");
        let credential = Credential::from_url(&mut url).expect("a user");
        assert_eq!(url.as_str(), "http://h:81/x");
        assert_eq!(credential.secret, Secret::Basic { user: "mé".into(), password: "p@ss".into() });
        assert_eq!(credential.origin.to_string(), "http://h:81");
        assert_eq!(Credential::from_url(&mut url), None);
    }

    #[test]
    fn secrets_are_not_shown() {
        let shown = format!(
            "{:?} {:?}",
            Secret::Bearer("abc".into()),
            Secret::Basic { user: "abc".into(), password: "abc".into() }
        );
        assert!(!shown.contains("abc") && shown.contains("***"), "{shown}");
    }
}
