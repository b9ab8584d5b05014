//! GET by way of curl: HTTP/2 and TLS, which the small client does not speak. Many requests go to one curl, because
//! starting it takes longer than an answer.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::http::{Get, Response};

/// What is spoken below the requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// HTTP/1.1.
    Http1,
    /// HTTP/2; without TLS the server is taken to know it.
    Http2,
}

/// A client of one server. Certificates are not checked: those of tests are worth nothing.
#[derive(Clone, Debug)]
pub struct Curl {
    url: String,
    version: Version,
    user: Option<String>,
    older_tls: bool,
}

impl Curl {
    /// A client of the server at a URL such as `https://127.0.0.1:8443`.
    pub fn new(url: &str, version: Version) -> Self {
        Self { url: url.to_owned(), version, user: None, older_tls: false }
    }

    /// The same with TLS 1.2, in which connections can be negotiated anew.
    #[must_use]
    pub fn with_older_tls(mut self) -> Self {
        self.older_tls = true;
        self
    }

    /// The same, with credentials for Basic authentication in every request.
    #[must_use]
    pub fn with_password(mut self, user: &str, password: &str) -> Self {
        self.user = Some(format!("{user}:{password}"));
        self
    }

    /// One request in curl's own configuration language.
    fn request(&self, number: usize, target: &str, head: &Path, body: &Path) -> String {
        let mut text =
            String::from("silent\nshow-error\npath-as-is\ngloboff\nuser-agent = \"\"\nheader = \"Accept:\"\n");
        let mut set = |name: &str, value: &str| {
            let value = value.replace('\\', "\\\\").replace('"', "\\\"");
            writeln!(text, "{name} = \"{value}\"").expect("memory");
        };
        match (self.version, self.url.strip_prefix("http://")) {
            (Version::Http2, Some(authority)) => {
                // Some curls fail to use an HTTP/2 connection in clear a second time. Another name is another connection.
                set("url", &format!("http://{number}.invalid{target}"));
                set("connect-to", &format!("::{authority}"));
                set("header", &format!("Host: {authority}"));
            }
            _ => set("url", &format!("{}{target}", self.url)),
        }
        set("dump-header", &head.to_string_lossy());
        set("output", &body.to_string_lossy());
        if let Some(user) = &self.user {
            set("user", user);
        }
        if self.older_tls {
            set("tls-max", "1.2");
        }
        let version = match self.version {
            Version::Http1 => "http1.1",
            Version::Http2 if self.url.starts_with("https:") => "http2",
            Version::Http2 => "http2-prior-knowledge",
        };
        write!(text, "{version}\nbasic\ninsecure\nmax-time = 120\n").expect("memory");
        text
    }
}

impl Get for Curl {
    fn get_all(&mut self, targets: &[String]) -> io::Result<Vec<Response>> {
        let folder = tempfile::tempdir()?;
        let place = |number: usize, what: &str| folder.path().join(format!("{number}.{what}"));
        let request = |(number, target): (usize, &String)| {
            self.request(number, target, &place(number, "head"), &place(number, "body"))
        };
        let requests = targets.iter().enumerate().map(request);
        let file = folder.path().join("requests");
        fs::write(&file, requests.collect::<Vec<_>>().join("next\n"))?;
        let done = Command::new("curl").arg("--disable").arg("--config").arg(file).stdin(Stdio::null()).output()?;
        if !done.status.success() {
            let said = String::from_utf8_lossy(&done.stderr).into_owned();
            return Err(io::Error::other(format!("curl: {}: {said}", done.status)));
        }
        let answer = |number| {
            // Nothing is written for a body that is empty.
            let body = fs::read(place(number, "body")).unwrap_or_default();
            read_head(&fs::read(place(number, "head"))?, self.version, body)
        };
        (0..targets.len()).map(answer).collect()
    }
}

fn read_head(bytes: &[u8], version: Version, body: Vec<u8>) -> io::Result<Response> {
    let text: String = bytes.iter().copied().map(char::from).collect();
    // Interim answers come before the one that counts.
    let head = text.trim_end().rsplit("\r\n\r\n").next().unwrap_or_default();
    let mut lines = head.lines();
    let status = lines.next().unwrap_or_default();
    let wanted = match version {
        Version::Http1 => "HTTP/1.1 ",
        Version::Http2 => "HTTP/2 ",
    };
    let code = status.strip_prefix(wanted).and_then(|rest| rest.get(..3)?.parse().ok());
    let code = code.ok_or_else(|| io::Error::other(format!("not an answer in {wanted}: {status:?}")))?;
    let headers = lines.filter_map(|line| line.split_once(':'));
    let headers = headers.map(|(name, value)| (name.to_owned(), value.trim().to_owned())).collect();
    Ok(Response { status: code, headers, body })
}
