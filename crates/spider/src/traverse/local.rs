//! Serves a site from a directory instead of from its server. URLs get the response of a server, with the headers of a
//! GET, so that conditional requests, verdicts and reports work unchanged.

use std::fmt;
use std::io::{self, Read};
use std::sync::Arc;

use bytes::Bytes;
use modoai_fetch::{HeaderMap, HeaderName, HeaderValue, Url};

/// A directory of files, with the responses of a server.
pub trait Folder: Send + Sync {
    /// Returns the entry at a path: percent-encoded, relative to the directory, beginning with a slash.
    fn find(&self, path: &str) -> io::Result<Found>;
}

/// The entry at a path.
pub enum Found {
    /// A file.
    File {
        /// The headers of a GET.
        headers: Vec<(String, String)>,
        /// Its bytes.
        content: Box<dyn Read + Send>,
    },
    /// A directory, whose URL ends with a slash.
    Folder,
    /// Nothing at this path.
    Missing,
}

/// A site in a directory.
#[derive(Clone)]
pub struct LocalSite {
    /// The URL under which the directory is served.
    pub base: Url,
    /// The directory.
    pub folder: Arc<dyn Folder>,
    /// The documents where the traversal begins, as paths relative to the base.
    pub documents: Vec<String>,
}

/// A response created from a file.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    pub(super) is_whole: bool,
    /// The target of a redirect.
    pub(super) location: Option<Url>,
}

impl LocalSite {
    /// Returns true if a URL belongs to the directory: at or below the base, by http or https.
    pub(super) fn has(&self, url: &Url) -> bool {
        let is_same = url.host_str() == self.base.host_str() && url.port() == self.base.port();
        is_same && matches!(url.scheme(), "http" | "https") && url.path().starts_with(self.base.path())
    }

    /// Responds to a request for a URL of the directory. `etag` is that of the last response. At most `limit` bytes of
    /// the body are read, and none without a limit.
    pub(super) fn answer(&self, url: &Url, etag: Option<&str>, limit: Option<usize>) -> io::Result<Answer> {
        let without = |status, location| Answer {
            status,
            headers: HeaderMap::new(),
            body: Bytes::new(),
            is_whole: true,
            location,
        };
        let path = &url.path()[self.base.path().len() - 1..];
        let (headers, content) = match self.folder.find(path)? {
            Found::File { headers, content } => (headers, content),
            Found::Missing => return Ok(without(404, None)),
            Found::Folder => {
                let mut to = url.clone();
                to.set_path(&format!("{}/", url.path()));
                return Ok(without(301, Some(to)));
            }
        };
        let headers: HeaderMap = headers
            .iter()
            .filter_map(|(name, value)| Some((name.parse::<HeaderName>().ok()?, value.parse::<HeaderValue>().ok()?)))
            .collect();
        if etag.is_some_and(|etag| headers.get("etag").is_some_and(|now| now.as_bytes() == etag.as_bytes())) {
            return Ok(Answer { headers, ..without(304, None) });
        }
        let Some(limit) = limit else { return Ok(Answer { headers, ..without(200, None) }) };
        let mut body = Vec::new();
        content.take(limit as u64 + 1).read_to_end(&mut body)?;
        let is_whole = body.len() <= limit;
        body.truncate(limit);
        Ok(Answer { headers, body: body.into(), is_whole, ..without(200, None) })
    }
}

impl fmt::Debug for LocalSite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalSite").field("base", &self.base.as_str()).finish_non_exhaustive()
    }
}
