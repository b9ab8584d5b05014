//! A request, and a response as of its headers.

use std::fmt;
use std::time::{Duration, SystemTime};

use reqwest::header::{self, HeaderMap, HeaderName, HeaderValue};
use url::Url;

use crate::body::Body;
use crate::credentials::without_userinfo;
use crate::error::FetchError;
use crate::redirect::{self, Hop};
use crate::retry::retry_after;

/// The part of a response that is requested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// Headers and body.
    #[default]
    Get,
    /// The headers only. The response has no body, and frees its place at the host as soon as the headers were
    /// received.
    Head,
}

/// A request.
#[derive(Clone)]
pub struct Ask {
    /// The URL. User and password are removed from it and sent to its origin only.
    pub url: Url,
    /// Headers in addition to those of the settings. On a redirect to another origin, most of them are not sent.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// True if content encodings are decoded. If false, no encoding is requested, and the body is returned unchanged.
    pub decode: bool,
    /// A form that is sent by POST, encoded, regardless of `method`. Redirected requests repeat it, because it is the
    /// content of the request.
    pub form: Option<String>,
    /// The part of the response that is requested.
    pub method: Method,
    /// True if redirects are followed. If false, a redirect is returned as the response, and [`Fetched::location`]
    /// returns its target.
    pub follow: bool,
}

impl Ask {
    /// Creates a GET request whose response is decoded.
    pub fn new(url: Url) -> Self {
        Self { url, headers: Vec::new(), decode: true, form: None, method: Method::Get, follow: true }
    }

    /// Creates a HEAD request.
    pub fn head(url: Url) -> Self {
        Self { method: Method::Head, ..Self::new(url) }
    }

    /// Returns redirects as responses.
    #[must_use]
    pub fn unfollowed(mut self) -> Self {
        self.follow = false;
        self
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    /// Requests the resource only if it has changed since: the status 304 reports that it has not.
    #[must_use]
    pub fn since(mut self, etag: Option<&str>, modified: Option<SystemTime>) -> Self {
        // An ETag that is not a valid header value is left out; the response is then longer.
        if let Some(etag) = etag.and_then(|etag| HeaderValue::from_str(etag).ok()) {
            self = self.header(header::IF_NONE_MATCH, etag);
        }
        // So is a date before 1970, which HTTP dates cannot express here.
        let date = modified.filter(|date| *date >= SystemTime::UNIX_EPOCH).map(httpdate::fmt_http_date);
        let date = date.and_then(|date| HeaderValue::from_str(&date).ok());
        match date {
            Some(date) => self.header(header::IF_MODIFIED_SINCE, date),
            None => self,
        }
    }
}

impl fmt::Debug for Ask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Only the names of the headers: any of their values may be a secret.
        f.debug_struct("Ask")
            .field("url", &without_userinfo(&self.url).as_str())
            .field("headers", &self.headers.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>())
            .field("decode", &self.decode)
            .field("is_form", &self.form.is_some())
            .field("method", &self.method)
            .field("follow", &self.follow)
            .finish()
    }
}

/// A response whose headers were received. Its body is that of a [`Client`](crate::Client), unless a caller replaces the network.
#[derive(Debug)]
pub struct Fetched<B = Body> {
    /// The status. Any status is a response, including those of error pages.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The URL of the response, after redirects.
    pub url: Url,
    /// The redirects that were followed.
    pub hops: Vec<Hop>,
    /// The body.
    pub body: B,
}

impl<B> Fetched<B> {
    /// Returns the target of a redirect that was not followed: with the fragment of its Location, and without a user.
    /// An invalid target is [`FetchError::BadRedirect`].
    pub fn location(&self) -> Option<Result<Url, FetchError>> {
        redirect::location(self.status, &self.headers, &self.url).transpose()
    }

    /// Returns the delay of Retry-After, if the header is present.
    pub fn retry_after(&self) -> Option<Duration> {
        asked_to_wait(&self.headers)
    }

    /// Returns the media type, without parameters.
    pub fn content_type(&self) -> Option<&str> {
        media_type(&self.headers)
    }

    /// Returns the charset of Content-Type.
    pub fn charset(&self) -> Option<&str> {
        let parameters = self.headers.get(header::CONTENT_TYPE)?.to_str().ok()?.split(';').skip(1);
        let mut charsets = parameters.filter_map(|parameter| {
            let (name, value) = parameter.split_once('=')?;
            name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches(['"', '\'']))
        });
        charsets.find(|charset| !charset.is_empty())
    }
}

/// Returns the delay of Retry-After. A date is compared with the server's clock, if the response contains its time.
pub(crate) fn asked_to_wait(headers: &HeaderMap) -> Option<Duration> {
    let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let theirs = text(header::DATE).and_then(|date| httpdate::parse_http_date(date).ok());
    retry_after(text(header::RETRY_AFTER)?, theirs.unwrap_or_else(SystemTime::now))
}

pub(crate) fn media_type(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
    value.split(';').next().map(str::trim).filter(|media_type| !media_type.is_empty())
}

/// Returns true if a compressed body without a label is to be decoded. A page is; the compressed bytes of an archive
/// are its content.
pub(crate) fn expects_text(media_type: Option<&str>, url: &Url) -> bool {
    match media_type.map(str::to_ascii_lowercase).as_deref() {
        Some(media_type) => {
            media_type.starts_with("text/") || ["xml", "json", "html"].iter().any(|kind| media_type.ends_with(kind))
        }
        None => {
            let path = url.path().to_ascii_lowercase();
            ![".gz", ".tgz", ".svgz", ".zst", ".tzst"].iter().any(|ending| path.ends_with(ending))
        }
    }
}
