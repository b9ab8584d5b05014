//! The access log: one line per request, in the Combined Log Format or as a JSON object, to a file or to the log of the
//! program. There it is the whole message of an event with the target [`ACCESS_TARGET`], to be printed without a prefix.
//!
//! A line is written when the response has been sent or given up, so that it has the number of bytes sent. Whatever a
//! client chose is percent-encoded where it could break the line or a terminal; credentials are never logged.

use std::fmt;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::SystemTime;

use bytes::Bytes;
use hyper::body::{Frame, SizeHint};
use hyper::header::{HeaderName, REFERER, USER_AGENT};
use hyper::{Method, Request, StatusCode, Version};
use modoai_harvest_log::LogFile;
use modoai_protocol::Datestamp;
use percent_encoding::{AsciiSet, CONTROLS, percent_encode};
use serde_json::json;

use crate::body::Body;
use crate::settings::{AccessLog, LogFormat};
use crate::streams::Stream;

/// The tracing target of access log lines.
pub const ACCESS_TARGET: &str = "access";

/// Quotes and backslashes would end a field early; bytes beyond ASCII are always encoded.
const UNSAFE: &AsciiSet = &CONTROLS.add(b'"').add(b'\\');

/// Writes the lines.
#[derive(Debug)]
pub(crate) struct Logger {
    format: LogFormat,
    /// The file; None for the log of the program.
    file: Option<Mutex<LogFile>>,
}

impl Logger {
    /// None if requests are not logged.
    pub(crate) fn new(destination: &AccessLog, format: LogFormat) -> Option<Arc<Self>> {
        let file = match destination {
            AccessLog::Off => return None,
            AccessLog::Messages => None,
            AccessLog::File(path) => Some(Mutex::new(LogFile::new("access log", path))),
        };
        Some(Arc::new(Self { format, file }))
    }

    fn write(&self, entry: &Entry) {
        let line = match self.format {
            LogFormat::Text => entry.to_string(),
            LogFormat::Json => entry.to_json().to_string(),
        };
        match &self.file {
            Some(file) => file.lock().unwrap_or_else(PoisonError::into_inner).write(format!("{line}\n").as_bytes()),
            None => tracing::info!(target: ACCESS_TARGET, "{line}"),
        }
    }
}

/// A line that is not complete yet.
#[derive(Debug)]
pub(crate) struct Entry {
    peer: IpAddr,
    user: String,
    at: SystemTime,
    method: Method,
    target: String,
    version: Version,
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
            method: request.method().clone(),
            target: safe(target.as_bytes()),
            version: request.version(),
            referer: header(REFERER),
            agent: header(USER_AGENT),
            status: StatusCode::OK,
            bytes: 0,
        }
    }

    /// Adds the user and the status of the response.
    pub(crate) fn answered(self, status: StatusCode, user: Option<&str>) -> Self {
        // The user is written in a field without quotes.
        let user = user.map(|user| safe(user.as_bytes()).replace(' ', "%20")).filter(|user| !user.is_empty());
        Self { status, user: user.unwrap_or(self.user), ..self }
    }

    fn to_json(&self) -> serde_json::Value {
        let given = |field: &str| (field != "-").then(|| field.to_owned());
        let seconds = self.at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
        json!({
            "timestamp": Datestamp::from_unix(i64::try_from(seconds).unwrap_or(i64::MAX)).to_string(),
            "level": "INFO",
            "target": ACCESS_TARGET,
            "client": self.peer.to_string(),
            "user": given(&self.user),
            "method": self.method.as_str(),
            "path": self.target,
            "protocol": format!("{:?}", self.version),
            "status": self.status.as_u16(),
            "bytes": self.bytes,
            "referer": given(&self.referer),
            "user_agent": given(&self.agent),
        })
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { peer, user, method, target, version, referer, agent, bytes, .. } = self;
        let (date, status) = (log_date(self.at), self.status.as_u16());
        write!(
            f,
            "{peer} - {user} [{date}] \"{method} {target} {version:?}\" {status} {bytes} \"{referer}\" \"{agent}\""
        )
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

/// A body that writes its line when it is finished or dropped.
#[derive(Debug)]
pub(crate) struct Logged {
    body: Body,
    line: Option<(Arc<Logger>, Entry)>,
    /// The request, on a connection of HTTP/2.
    stream: Option<Stream>,
    has_sent: bool,
}

impl Logged {
    pub(crate) fn new(body: Body, line: Option<(Arc<Logger>, Entry)>) -> Self {
        Self { body, line, stream: None, has_sent: false }
    }

    /// Reports to the connection when the client takes something of this body.
    pub(crate) fn on(mut self, stream: Stream) -> Self {
        self.stream = Some(stream);
        self
    }
}

impl hyper::body::Body for Logged {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        match (&frame, &mut self.line) {
            (Poll::Ready(Some(Ok(frame))), Some((_, entry))) => {
                entry.bytes += frame.data_ref().map_or(0, |data| data.len() as u64);
            }
            (Poll::Ready(Some(Err(error))), _) => tracing::warn!(%error, "a response was aborted"),
            _ => {}
        }
        if let Some(stream) = &self.stream {
            if frame.is_ready() {
                stream.gave();
            } else {
                stream.waits_for_server();
            }
            self.has_sent = true;
        }
        frame
    }

    /// With HTTP/2, a body that has sent something ends only when more is requested from it: that is when the client
    /// has room for it, and has taken the last frame.
    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream() && !self.has_sent
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Logged {
    fn drop(&mut self) {
        if let Some((logger, entry)) = &self.line {
            logger.write(entry);
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
        let object = entry.to_json();
        assert_eq!(object["timestamp"], "1994-11-06T08:49:37Z");
        assert_eq!(object["user"], "a%20b%0A");
        assert_eq!(object["user_agent"], "x%22 200 0%09%FF%5C");
        assert_eq!((&object["referer"], &object["status"]), (&serde_json::Value::Null, &json!(404)));
    }
}
