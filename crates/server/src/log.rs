//! The access log: one line per request in the Combined Log Format, on the tracing target `access`.
//!
//! A line is written when the response has been sent or given up, so that it tells how many bytes went out. Whatever a
//! client chose is percent-encoded where it could break the line or a terminal; credentials never come near.

use std::fmt;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::SystemTime;

use bytes::Bytes;
use hyper::body::{Frame, SizeHint};
use hyper::header::{HeaderName, REFERER, USER_AGENT};
use hyper::{Request, StatusCode};
use percent_encoding::{AsciiSet, CONTROLS, percent_encode};

use crate::body::Body;

/// Quotes and backslashes would end a field early; bytes beyond ASCII are always encoded.
const UNSAFE: &AsciiSet = &CONTROLS.add(b'"').add(b'\\');

/// A line to be.
#[derive(Debug)]
pub(crate) struct Entry {
    peer: IpAddr,
    user: String,
    at: SystemTime,
    request: String,
    referer: String,
    agent: String,
    status: StatusCode,
    bytes: u64,
}

impl Entry {
    pub(crate) fn new<B>(peer: IpAddr, request: &Request<B>) -> Self {
        let header =
            |name: HeaderName| request.headers().get(name).map_or("-".to_owned(), |value| safe(value.as_bytes()));
        let target = request.uri().path_and_query().map_or("*", |target| target.as_str());
        Self {
            peer,
            user: "-".to_owned(),
            at: SystemTime::now(),
            request: format!("{} {} {:?}", request.method(), safe(target.as_bytes()), request.version()),
            referer: header(REFERER),
            agent: header(USER_AGENT),
            status: StatusCode::OK,
            bytes: 0,
        }
    }

    /// Adds who it was and what came of it.
    pub(crate) fn answered(self, status: StatusCode, user: Option<&str>) -> Self {
        // The user stands in a field without quotes.
        let user = user.map(|user| safe(user.as_bytes()).replace(' ', "%20")).filter(|user| !user.is_empty());
        Self { status, user: user.unwrap_or(self.user), ..self }
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { peer, user, request, referer, agent, bytes, .. } = self;
        let (date, status) = (log_date(self.at), self.status.as_u16());
        write!(f, "{peer} - {user} [{date}] \"{request}\" {status} {bytes} \"{referer}\" \"{agent}\"")
    }
}

fn safe(bytes: &[u8]) -> String {
    percent_encode(bytes, UNSAFE).to_string()
}

/// `06/Nov/1994:08:49:37 +0000`
fn log_date(at: SystemTime) -> String {
    let date = httpdate::fmt_http_date(at);
    let mut words = date.split(' ').skip(1);
    let mut word = || words.next().unwrap_or_default();
    format!("{}/{}/{}:{} +0000", word(), word(), word(), word())
}

/// A body that writes its line when it is done with.
#[derive(Debug)]
pub(crate) struct Logged {
    body: Body,
    entry: Option<Entry>,
}

impl Logged {
    pub(crate) fn new(body: Body, entry: Option<Entry>) -> Self {
        Self { body, entry }
    }
}

impl hyper::body::Body for Logged {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        match (&frame, &mut self.entry) {
            (Poll::Ready(Some(Ok(frame))), Some(entry)) => {
                entry.bytes += frame.data_ref().map_or(0, |data| data.len() as u64);
            }
            (Poll::Ready(Some(Err(error))), _) => tracing::warn!(%error, "a response was aborted"),
            _ => {}
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Logged {
    fn drop(&mut self) {
        if let Some(entry) = &self.entry {
            tracing::info!(target: "access", "{entry}");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_line_cannot_be_broken_by_what_a_client_sends() {
        let request = Request::get("/a%20b?c")
            .header(USER_AGENT, &b"x\" 200 0\t\xff\\"[..])
            .header("Authorization", "Basic c2VjcmV0")
            .body(())
            .expect("a request");
        let mut entry =
            Entry::new(IpAddr::from([127, 0, 0, 1]), &request).answered(StatusCode::NOT_FOUND, Some("a b\n"));
        entry.at = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        assert_eq!(
            entry.to_string(),
            r#"127.0.0.1 - a%20b%0A [06/Nov/1994:08:49:37 +0000] "GET /a%20b?c HTTP/1.1" 404 0 "-" "x%22 200 0%09%FF%5C""#
        );
    }
}
