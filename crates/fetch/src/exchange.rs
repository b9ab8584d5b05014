//! What is asked for, and an answer as its headers tell it.

use std::fmt;
use std::time::{Duration, SystemTime};

use reqwest::header::{self, HeaderMap, HeaderName, HeaderValue};
use url::Url;

use crate::body::Body;
use crate::credentials::without_userinfo;
use crate::error::FetchError;
use crate::redirect::{self, Hop};
use crate::retry::retry_after;

/// How much of an answer is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// All of it.
    #[default]
    Get,
    /// Its headers only. There is no body, and the place at the host is free as soon as they are in.
    Head,
}

/// What is asked for.
#[derive(Clone)]
pub struct Ask {
    /// Where. A user in it is taken out and told to this origin only.
    pub url: Url,
    /// What is sent along, beside what manners demand. On a redirect to another origin, most of it stays behind.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// Whether encodings are undone. If not, none is asked for, and the body comes as it was sent.
    pub decode: bool,
    /// A form to be sent by POST, encoded, whatever the method. It goes along with redirects, since it is the question
    /// itself.
    pub form: Option<String>,
    /// How much of the answer.
    pub method: Method,
    /// Whether redirects are followed. If not, a redirect is the answer, and [`Fetched::location`] says where it leads.
    pub follow: bool,
}

impl Ask {
    /// For what is there, decoded.
    pub fn new(url: Url) -> Self {
        Self { url, headers: Vec::new(), decode: true, form: None, method: Method::Get, follow: true }
    }

    /// For the headers of what is there.
    pub fn head(url: Url) -> Self {
        Self { method: Method::Head, ..Self::new(url) }
    }

    /// With redirects as answers.
    #[must_use]
    pub fn unfollowed(mut self) -> Self {
        self.follow = false;
        self
    }

    /// Sends this along.
    #[must_use]
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    /// Only if it has changed since: 304 says that it has not.
    #[must_use]
    pub fn since(mut self, etag: Option<&str>, modified: Option<SystemTime>) -> Self {
        // A tag that no header can hold is left out; then the answer is merely longer.
        if let Some(etag) = etag.and_then(|etag| HeaderValue::from_str(etag).ok()) {
            self = self.header(header::IF_NONE_MATCH, etag);
        }
        // So is one from before 1970, which cannot be written here.
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
        // Of the headers only the names: any of them may be a secret.
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

/// An answer whose headers are in.
#[derive(Debug)]
pub struct Fetched {
    /// Its status, whatever that is: an error page is an answer.
    pub status: u16,
    /// Its headers.
    pub headers: HeaderMap,
    /// Where it came from at last.
    pub url: Url,
    /// The redirects on the way.
    pub hops: Vec<Hop>,
    /// The rest of it.
    pub body: Body,
}

impl Fetched {
    /// Where this answer leads, if it is a redirect that was not followed: with the fragment of its Location, and without
    /// a user. One that leads nowhere is [`FetchError::BadRedirect`].
    pub fn location(&self) -> Option<Result<Url, FetchError>> {
        redirect::location(self.status, &self.headers, &self.url).transpose()
    }

    /// How long we are asked to wait, if we are.
    pub fn retry_after(&self) -> Option<Duration> {
        asked_to_wait(&self.headers)
    }

    /// The media type, without parameters.
    pub fn content_type(&self) -> Option<&str> {
        media_type(&self.headers)
    }

    /// The charset that Content-Type names.
    pub fn charset(&self) -> Option<&str> {
        let parameters = self.headers.get(header::CONTENT_TYPE)?.to_str().ok()?.split(';').skip(1);
        let mut charsets = parameters.filter_map(|parameter| {
            let (name, value) = parameter.split_once('=')?;
            name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches(['"', '\'']))
        });
        charsets.find(|charset| !charset.is_empty())
    }
}

/// What Retry-After asks for. A date is read by the clock of the one who wrote it, where that is known.
pub(crate) fn asked_to_wait(headers: &HeaderMap) -> Option<Duration> {
    let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let theirs = text(header::DATE).and_then(|date| httpdate::parse_http_date(date).ok());
    retry_after(text(header::RETRY_AFTER)?, theirs.unwrap_or_else(SystemTime::now))
}

pub(crate) fn media_type(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
    value.split(';').next().map(str::trim).filter(|media_type| !media_type.is_empty())
}

/// Whether a compressed body without a label was meant to be undone. A page was; of an archive, the compressed bytes are
/// the thing itself.
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
