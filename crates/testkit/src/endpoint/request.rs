//! What was asked: one HTTP request, and what a repository makes of it.

use std::fmt;
use std::time::Duration;

/// One request as it came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// GET, most often.
    pub method: String,
    /// Path and query, undecoded.
    pub target: String,
    /// The headers in the order sent.
    pub headers: Vec<(String, String)>,
    /// The decoded arguments, of the query or of a form.
    pub arguments: Vec<(String, String)>,
}

impl Request {
    /// Reads a head; a form's body is added by [`Self::form`].
    pub(super) fn read(head: &str) -> Option<Self> {
        let mut lines = head.split("\r\n");
        let mut words = lines.next()?.split(' ');
        let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
        let header = |line: &str| line.split_once(':').map(|(name, value)| (name.to_owned(), value.trim().to_owned()));
        let headers = lines.map_while(header).collect();
        let mut request = Self { method, target, headers, arguments: Vec::new() };
        request.arguments = pairs(request.query());
        Some(request)
    }

    /// Adds the arguments of a form.
    pub(super) fn form(&mut self, body: &[u8]) {
        self.arguments.extend(pairs(&String::from_utf8_lossy(body)));
    }

    /// The path, undecoded.
    pub fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    /// The query, undecoded.
    pub fn query(&self) -> &str {
        self.target.split_once('?').map_or("", |(_, query)| query)
    }

    /// The value of a header, by its name in any case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(given, _)| given.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// The value of an argument; the first if it is repeated.
    pub fn argument(&self, name: &str) -> Option<&str> {
        self.arguments.iter().find(|(given, _)| given == name).map(|(_, value)| value.as_str())
    }

    /// Gives an argument another value, or adds it.
    pub fn set_argument(&mut self, name: &str, value: &str) {
        match self.arguments.iter_mut().find(|(given, _)| given == name) {
            Some((_, old)) => value.clone_into(old),
            None => self.arguments.push((name.to_owned(), value.to_owned())),
        }
    }

    /// Forgets an argument.
    pub fn remove_argument(&mut self, name: &str) {
        self.arguments.retain(|(given, _)| given != name);
    }

    /// The undecoded value of an argument in the query.
    pub fn raw_argument(&self, name: &str) -> Option<&str> {
        self.query().split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
    }
}

/// A line of the log: what was asked when, and what came of it.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Since the endpoint was started.
    pub at: Duration,
    /// The request.
    pub request: Request,
    /// The status it was answered with.
    pub status: u16,
    /// How much of the answer was to be sent.
    pub length: usize,
}

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, request, status, length } = self;
        write!(f, "{:8.3} s  {} {}  {status}  {length}", at.as_secs_f64(), request.method, request.target)
    }
}

/// The pairs of a query, decoded.
fn pairs(query: &str) -> Vec<(String, String)> {
    let pair = |pair: &str| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (decode(name), decode(value))
    };
    query.split('&').filter(|part| !part.is_empty()).map(pair).collect()
}

/// Undoes percent-encoding and plus signs.
pub fn decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let escaped = text.get(at + 1..at + 3).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match (bytes[at], escaped) {
            (b'%', Some(byte)) => {
                decoded.push(byte);
                at += 2;
            }
            (b'+', _) => decoded.push(b' '),
            (byte, _) => decoded.push(byte),
        }
        at += 1;
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_taken_apart() {
        let request = Request::read("GET /oai?verb=X&a=b%26c+d%2 HTTP/1.1\r\nHost: h\r\n\r\n").expect("a request");
        assert_eq!((request.path(), request.query()), ("/oai", "verb=X&a=b%26c+d%2"));
        assert_eq!(request.argument("a"), Some("b&c d%2"));
        assert_eq!(request.raw_argument("a"), Some("b%26c+d%2"));
        assert_eq!(request.header("HOST"), Some("h"));
    }
}
