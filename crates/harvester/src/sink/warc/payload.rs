//! A resource to be archived: its bytes, and the HTTP messages around them.

use modoai_protocol::Datestamp;

use super::http::{self, ResponseHead};
use super::record::legal_uri;
use crate::didl::{Algorithm, Component};
use crate::record::Header;
use crate::sink::SinkError;
use crate::sink::reference::{Getter, Got, Known, Response};
use crate::sink::resources::check;
use crate::sink::spool::{Scratch, Spool};

/// The file that web servers return for the URL of its directory.
const INDEX_FILE: &str = "index.html";

/// A resource that is to be written.
pub(super) struct Payload {
    /// The value of `WARC-Target-URI`.
    pub(super) uri: String,
    pub(super) date: Datestamp,
    pub(super) form: Form,
    pub(super) spool: Spool,
    /// The HTTP exchange, if the resource was fetched.
    pub(super) fetched: Option<Box<Response>>,
}

/// The kind of record that the bytes become.
pub(super) enum Form {
    /// The headers of a GET: a `response` record.
    Response(ResponseHead),
    /// The media type only: a `resource` record.
    Resource(String),
}

/// Returns a spool for a payload. Indexes contain SHA-1; SHA-256 is stored with the OAI record, and most repositories
/// state it.
pub(super) fn new_spool() -> Spool {
    Spool::new(Algorithm::Sha1).also(Algorithm::Sha256)
}

impl Payload {
    /// Returns a Component's resource, fetched if the record does not contain its bytes. `None` if the Component has
    /// neither bytes nor a reference; the inner error is the reason why the resource cannot be stored.
    pub(super) fn of(
        header: &Header,
        component: &Component,
        value: Option<Spool>,
        date: Datestamp,
        getter: &Getter,
        scratch: &Scratch,
    ) -> Result<Result<Option<Self>, String>, SinkError> {
        let is_web = |url: &&String| url.starts_with("http://") || url.starts_with("https://");
        let reference = component.references.iter().find(is_web);
        let uri = reference.or(component.identifier.as_ref()).unwrap_or(&header.identifier);
        let (mut spool, fetched) = match (value, reference) {
            (Some(spool), _) => (spool, None),
            (None, None) => return Ok(Ok(None)),
            (None, Some(url)) => {
                let mut spool = new_spool();
                let known = Known { coding: component.header("Content-Encoding"), ..Known::default() };
                match getter.get(url, known, &mut spool, scratch)? {
                    Ok(Got::Whole(response)) => (spool, Some(response)),
                    Ok(Got::Unchanged) => return Ok(Err(format!("GET {url}: status 304 without a condition"))),
                    Err(reason) => return Ok(Err(reason)),
                }
            }
        };
        if let Some(fault) = check(component, &mut spool, scratch)? {
            return Ok(Err(fault));
        }
        let (length, media_type) = (spool.len(), component.media_type.as_deref());
        let form = match &fetched {
            Some(response) => {
                let headers = http::fetched_headers(&response.headers, length);
                Form::Response(ResponseHead::new(response.status, &headers, length))
            }
            // A resource without a URL of the web cannot be the response to a GET.
            None if component.headers.is_empty() || !is_web(&uri) => {
                let media_type = component.header("Content-Type").or(media_type);
                Form::Resource(http::one_line(media_type.unwrap_or("application/octet-stream")))
            }
            None => {
                let status = component.status.unwrap_or(200);
                Form::Response(ResponseHead::new(status, &component.headers, length))
            }
        };
        let uri = fetched.as_ref().map_or_else(|| legal_uri(uri), |response| response.url.to_string());
        let date = fetched.as_ref().map_or(date, |response| response.requested);
        Ok(Ok(Some(Self { uri, date, form, spool, fetched })))
    }

    /// Returns the URL of the directory whose index file this is.
    pub(super) fn folder(&self) -> Option<&str> {
        let is_page = matches!(&self.form, Form::Response(head) if head.status == 200);
        let folder = self.uri.strip_suffix(INDEX_FILE).filter(|folder| folder.ends_with('/'))?;
        // A path begins after the scheme and the host.
        let path = folder.split_once("://")?.1.find('/');
        (is_page && path.is_some() && !folder.contains(['?', '#'])).then_some(folder)
    }
}
