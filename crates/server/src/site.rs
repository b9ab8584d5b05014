//! Serves the site itself: GET and HEAD of files.
//!
//! 1. a path in an area that is closed to the requester: 401, whether there is a file or not;
//! 2. no file, or a hidden one: 404;
//! 3. a folder without the slash: 301 to itself with one; with it: its index file, which is named in Content-Location
//!    because that is the URL the repository lists it under;
//! 4. conditions: 412 or 304;
//! 5. a range of a GET: 206 or 416;
//! 6. the file, with exactly the headers of its [`Representation`]: they are those that the repository reports.
//!
//! Everything here blocks and runs on blocking threads.

use std::io;
use std::time::SystemTime;

use hyper::header::{
    ACCEPT_RANGES, CONTENT_LENGTH, CONTENT_LOCATION, CONTENT_RANGE, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue,
    LOCATION, RANGE,
};
use hyper::{Response, StatusCode};
use modoai_repository::host::Representation;
use modoai_repository::site::{Found, Site, name};

use crate::area::{Areas, Requester};
use crate::body::Body;
use crate::condition::{Outcome, Validators};
use crate::range::{self, Asked};
use crate::{file_body, reply};

/// The number of times that a file which is being rewritten is opened before the client is refused with Retry-After.
const TRIES: usize = 3;

/// A GET or HEAD of something on the site.
pub(crate) struct Visit<'a> {
    pub(crate) site: &'a Site,
    pub(crate) areas: &'a Areas,
    pub(crate) requester: &'a Requester,
    /// Path of the site's public URL, with slashes at both ends: what redirects begin with.
    pub(crate) public_path: &'a str,
    /// Path of the repository, where a visitor of a site without an index page is sent.
    pub(crate) base_path: &'a str,
    pub(crate) path: &'a str,
    pub(crate) query: Option<&'a str>,
    pub(crate) is_head: bool,
    pub(crate) headers: &'a HeaderMap,
}

impl Visit<'_> {
    pub(crate) fn respond(&self) -> Response<Body> {
        for _ in 0..TRIES {
            match self.attempt() {
                Ok(response) => return response,
                Err(error) => tracing::warn!(path = self.path, %error, "failed to send a file"),
            }
        }
        reply::come_back("The site is temporarily unavailable.", 10)
    }

    /// Responds once. An error means that the file changed meanwhile, or that the disk fails.
    fn attempt(&self) -> io::Result<Response<Body>> {
        let inner = self.path.strip_prefix('/').unwrap_or(self.path);
        let Some(segments) = name::decode(inner.strip_suffix('/').unwrap_or(inner)) else {
            return Ok(reply::not_found());
        };
        if let Some(challenge) = self.areas.closed_to(self.requester, &segments) {
            return Ok(reply::unauthorized(challenge));
        }
        match self.site.find(self.path)? {
            Found::File(_, representation) => self.send(representation),
            Found::Folder(_) if !self.path.ends_with('/') => Ok(self.redirect_into(&name::encode(&segments))),
            Found::Folder(Some((file, representation))) => self.send_index(&file, representation),
            Found::Folder(None) if segments.is_empty() => {
                let response = reply::text(StatusCode::FOUND, "This site has no start page. See its repository.");
                Ok(reply::with(response, LOCATION, &self.public(self.base_path.trim_start_matches('/'))))
            }
            Found::Folder(None) | Found::Nothing => Ok(reply::not_found()),
        }
    }

    fn send_index(&self, file: &str, representation: Representation) -> io::Result<Response<Body>> {
        // The file may be a separate area within an open folder.
        let segments = name::decode(file).unwrap_or_default();
        if let Some(challenge) = self.areas.closed_to(self.requester, &segments) {
            return Ok(reply::unauthorized(challenge));
        }
        let response = self.send(representation)?;
        Ok(reply::with(response, CONTENT_LOCATION, &self.public(file)))
    }

    fn redirect_into(&self, folder: &str) -> Response<Body> {
        let query = self.query.map(|query| format!("?{query}")).unwrap_or_default();
        let response = reply::text(StatusCode::MOVED_PERMANENTLY, "This is a directory; its URL ends with a slash.");
        reply::with(response, LOCATION, &format!("{}/{query}", self.public(folder)))
    }

    fn public(&self, path: &str) -> String {
        format!("{}{path}", self.public_path)
    }

    fn send(&self, representation: Representation) -> io::Result<Response<Body>> {
        let mut response = Response::new(Body::Empty);
        for (name, value) in &representation.headers {
            // As bytes: the name of an owner need not be ASCII.
            let value = HeaderValue::from_bytes(value.as_bytes()).map_err(io::Error::other)?;
            response.headers_mut().append(HeaderName::from_bytes(name.as_bytes()).map_err(io::Error::other)?, value);
        }
        let header =
            |wanted| representation.headers.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str());
        let modified = header("Last-Modified").and_then(|value| httpdate::parse_http_date(value).ok());
        let validators = Validators { etag: header("ETag").unwrap_or_default(), modified };
        match validators.judge(self.headers) {
            Outcome::Proceed => {}
            Outcome::Failed => {
                let sentence = "Precondition failed: the file does not match the condition of the request.";
                return Ok(reply::text(StatusCode::PRECONDITION_FAILED, sentence));
            }
            Outcome::NotModified => {
                *response.status_mut() = StatusCode::NOT_MODIFIED;
                for about_the_bytes in [CONTENT_TYPE, CONTENT_LENGTH, ACCEPT_RANGES] {
                    response.headers_mut().remove(about_the_bytes);
                }
                return Ok(response);
            }
        }
        let size = representation.fingerprint.size;
        let range = self.headers.get(RANGE).and_then(|value| value.to_str().ok());
        let range = range.filter(|_| !self.is_head && validators.allow_range(self.headers, SystemTime::now()));
        let part = match range.map_or(Asked::Whole, |range| range::parse(range, size)) {
            Asked::Whole => 0..size,
            Asked::Unsatisfiable => {
                let response =
                    reply::text(StatusCode::RANGE_NOT_SATISFIABLE, "The requested range is outside the file.");
                return Ok(reply::with(response, CONTENT_RANGE, &format!("bytes */{size}")));
            }
            Asked::Part(part) => {
                *response.status_mut() = StatusCode::PARTIAL_CONTENT;
                response.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(part.end - part.start));
                let place = format!("bytes {}-{}/{size}", part.start, part.end - 1);
                response = reply::with(response, CONTENT_RANGE, &place);
                part
            }
        };
        if !self.is_head {
            *response.body_mut() = file_body::open(representation, part)?;
        }
        Ok(response)
    }
}
