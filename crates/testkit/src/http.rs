//! A small HTTP/1.1 client, so that what the server says is judged by code that shares nothing with it.
//!
//! It blocks, keeps one connection open, follows no redirects, decodes no content coding, and takes nothing on trust: a
//! body that ends early, or a head that is not HTTP, is an error.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::waiting::{PATIENCE, wait_for};

/// Whoever can GET: the client here, or [`crate::curl`] for the protocols that it does not speak.
pub trait Get {
    /// GETs each of these, one after the other; each begins with a slash and is sent as it is.
    fn get_all(&mut self, targets: &[String]) -> io::Result<Vec<Response>>;

    /// GETs one.
    fn get(&mut self, target: &str) -> io::Result<Response> {
        let mut answers = self.get_all(&[target.to_owned()])?;
        answers.pop().ok_or_else(|| bad("no answer".to_owned()))
    }
}

impl Get for Client {
    fn get_all(&mut self, targets: &[String]) -> io::Result<Vec<Response>> {
        targets.iter().map(|target| Client::get(self, target)).collect()
    }
}

/// A client that sends more headers with each request.
#[derive(Debug)]
pub struct Dressed<'a> {
    /// The client.
    pub client: Client,
    /// The headers.
    pub headers: &'a [(&'a str, &'a str)],
}

impl Get for Dressed<'_> {
    fn get_all(&mut self, targets: &[String]) -> io::Result<Vec<Response>> {
        targets.iter().map(|target| self.client.get_with(target, self.headers)).collect()
    }
}

/// A client for tests that kill processes of the server: a request that a killed process was serving, so that its connection
/// was reset or its answer ended early, is sent again.
#[derive(Debug)]
pub struct Persistent(pub Client);

impl Get for Persistent {
    fn get_all(&mut self, targets: &[String]) -> io::Result<Vec<Response>> {
        targets.iter().map(|target| self.get_again(target)).collect()
    }
}

impl Persistent {
    fn get_again(&mut self, target: &str) -> io::Result<Response> {
        wait_for("an answer that no killed process cuts", || match self.0.get(target) {
            Err(error) if before_the_answer(&error) || error.kind() == io::ErrorKind::UnexpectedEof => Err(error),
            result => Ok(result),
        })
    }
}

/// A client that sends queries as forms, by POST.
#[derive(Debug)]
pub struct Posting(pub Client);

impl Get for Posting {
    fn get_all(&mut self, targets: &[String]) -> io::Result<Vec<Response>> {
        let parts = targets.iter().map(|target| target.split_once('?').unwrap_or((target, "")));
        parts.map(|(path, query)| self.0.post_form(path, query)).collect()
    }
}

/// A client of one server.
#[derive(Debug)]
pub struct Client {
    authority: String,
    authorization: Option<String>,
    connection: Option<BufReader<TcpStream>>,
}

/// The header by which a browser is known over plain HTTP.
pub const BROWSER: (&str, &str) = ("Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8");

/// What a server answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// The headers in the order sent.
    pub headers: Vec<(String, String)>,
    /// The body, as sent: still compressed, if it was.
    pub body: Vec<u8>,
}

impl Response {
    /// The value of a header, by its name in any case; the first if there are several.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(given, _)| given.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// The body as text, with whatever is not UTF-8 replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

impl Client {
    /// A client of the server at a URL such as `http://127.0.0.1:8080`; a path in it does not matter.
    pub fn new(url: &str) -> Self {
        let rest = url.strip_prefix("http://").unwrap_or(url);
        let authority = rest.split('/').next().unwrap_or_default().to_owned();
        Self { authority, authorization: None, connection: None }
    }

    /// The same, with credentials for Basic authentication in every request.
    #[must_use]
    pub fn with_password(mut self, user: &str, password: &str) -> Self {
        let credentials = STANDARD.encode(format!("{user}:{password}"));
        self.authorization = Some(format!("Basic {credentials}"));
        self
    }

    /// GET; `target` begins with a slash and is sent as it is.
    pub fn get(&mut self, target: &str) -> io::Result<Response> {
        self.send("GET", target, &[], b"")
    }

    /// GET with more headers.
    pub fn get_with(&mut self, target: &str, headers: &[(&str, &str)]) -> io::Result<Response> {
        self.send("GET", target, headers, b"")
    }

    /// HEAD.
    pub fn head(&mut self, target: &str) -> io::Result<Response> {
        self.send("HEAD", target, &[], b"")
    }

    /// POST of a form body, already encoded.
    pub fn post_form(&mut self, target: &str, form: &str) -> io::Result<Response> {
        let headers = [("Content-Type", "application/x-www-form-urlencoded")];
        self.send("POST", target, &headers, form.as_bytes())
    }

    /// Any request.
    pub fn send(&mut self, method: &str, target: &str, headers: &[(&str, &str)], body: &[u8]) -> io::Result<Response> {
        let mut response = Response::default();
        self.send_into(method, target, headers, body, &mut response)?;
        Ok(response)
    }

    /// Any request, into the memory of an earlier response: for those who measure.
    pub fn send_into(
        &mut self,
        method: &str,
        target: &str,
        headers: &[(&str, &str)],
        body: &[u8],
        response: &mut Response,
    ) -> io::Result<()> {
        let request = self.request(method, target, headers, body);
        let kept = self.connection.is_some();
        match self.exchange(method, &request, response) {
            // A server may close a kept connection at any time; only then is a second attempt fair.
            Err(error) if kept && before_the_answer(&error) => self.exchange(method, &request, response),
            result => result,
        }
    }

    /// Opens a connection, for requests that no client should send.
    pub fn connect(&self) -> io::Result<TcpStream> {
        let stream = TcpStream::connect(&self.authority)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(stream)
    }

    /// Sends exactly these bytes on a fresh connection and returns all that comes until the server closes it. A server
    /// that refuses may close before it has read everything; what it said until then is the answer.
    pub fn raw(&self, bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut stream = self.connect()?;
        let sent = stream.write_all(bytes);
        let mut answer = Vec::new();
        match stream.read_to_end(&mut answer) {
            Ok(_) => Ok(answer),
            Err(_) if !answer.is_empty() => Ok(answer),
            Err(error) => sent.and(Err(error)),
        }
    }

    fn request(&self, method: &str, target: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
        let mut head = format!("{method} {target} HTTP/1.1\r\n");
        let mut push = |name: &str, value: &str| head.extend([name, ": ", value, "\r\n"]);
        let given = |name: &str| headers.iter().any(|(other, _)| other.eq_ignore_ascii_case(name));
        if !given("Host") {
            push("Host", &self.authority);
        }
        if let Some(authorization) = self.authorization.as_ref().filter(|_| !given("Authorization")) {
            push("Authorization", authorization);
        }
        if (method == "POST" || !body.is_empty()) && !given("Content-Length") && !given("Transfer-Encoding") {
            push("Content-Length", &body.len().to_string());
        }
        for (name, value) in headers {
            push(name, value);
        }
        head.push_str("\r\n");
        [head.as_bytes(), body].concat()
    }

    /// One request and its answer. The connection is kept only if everything went well and the server keeps it too.
    fn exchange(&mut self, method: &str, request: &[u8], response: &mut Response) -> io::Result<()> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => BufReader::with_capacity(64 * 1024, self.connect()?),
        };
        connection.get_mut().write_all(request)?;
        if read_response(&mut connection, method, response)? {
            self.connection = Some(connection);
        }
        Ok(())
    }
}

/// Percent-encodes a value for a query or a form.
pub fn encode(value: impl AsRef<[u8]>) -> String {
    let mut encoded = String::new();
    for byte in value.as_ref() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                encoded.push(char::from(*byte));
            }
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

fn before_the_answer(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, NotConnected};
    matches!(error.kind(), ConnectionReset | ConnectionAborted | BrokenPipe | NotConnected)
}

/// Reads one answer; tells whether the connection can be used again.
fn read_response(connection: &mut BufReader<TcpStream>, method: &str, response: &mut Response) -> io::Result<bool> {
    response.body.clear();
    let persistent = loop {
        let line = read_line(connection)?;
        let (version, status) = status_line(&line).ok_or_else(|| bad(format!("not a status line: {line:?}")))?;
        response.status = status;
        response.headers.clear();
        loop {
            let line = read_line(connection)?;
            if line.is_empty() {
                break;
            }
            let (name, value) = line.split_once(':').ok_or_else(|| bad(format!("not a header: {line:?}")))?;
            response.headers.push((name.to_owned(), value.trim().to_owned()));
        }
        if response.status >= 200 {
            break version == "HTTP/1.1";
        }
    };
    let close = response.header("Connection").is_some_and(|value| value.eq_ignore_ascii_case("close"));
    let chunked = response.header("Transfer-Encoding").is_some_and(|value| value.eq_ignore_ascii_case("chunked"));
    let length = response.header("Content-Length").map(str::to_owned);
    if method == "HEAD" || matches!(response.status, 204 | 304) {
        return Ok(persistent && !close);
    }
    if chunked {
        read_chunks(connection, &mut response.body)?;
    } else if let Some(length) = length {
        let length = length.parse().map_err(|_| bad(format!("not a length: {length}")))?;
        read_exactly(connection, length, &mut response.body)?;
    } else {
        connection.read_to_end(&mut response.body)?;
        return Ok(false);
    }
    Ok(persistent && !close)
}

fn status_line(line: &str) -> Option<(&str, u16)> {
    let (version, rest) = line.split_once(' ')?;
    let status = rest.get(..3)?.parse().ok()?;
    version.starts_with("HTTP/1.").then_some((version, status))
}

fn read_chunks(connection: &mut BufReader<TcpStream>, body: &mut Vec<u8>) -> io::Result<()> {
    loop {
        let line = read_line(connection)?;
        let digits = line.split(';').next().unwrap_or_default().trim();
        let size = u64::from_str_radix(digits, 16).map_err(|_| bad(format!("not a chunk size: {line:?}")))?;
        if size == 0 {
            // Trailers, of which there are none that anyone would miss.
            while !read_line(connection)?.is_empty() {}
            return Ok(());
        }
        read_exactly(connection, size, body)?;
        if !read_line(connection)?.is_empty() {
            return Err(bad("a chunk is longer than it said".to_owned()));
        }
    }
}

fn read_exactly(connection: &mut BufReader<TcpStream>, length: u64, body: &mut Vec<u8>) -> io::Result<()> {
    match connection.take(length).read_to_end(body)? as u64 {
        read if read == length => Ok(()),
        read => Err(cut(format!("{read} of {length} bytes, then the end"))),
    }
}

fn read_line(connection: &mut BufReader<TcpStream>) -> io::Result<String> {
    let mut line = Vec::new();
    connection.take(64 * 1024).read_until(b'\n', &mut line)?;
    match line.strip_suffix(b"\r\n") {
        Some(line) => Ok(line.iter().copied().map(char::from).collect()),
        None if line.is_empty() => Err(io::Error::new(io::ErrorKind::ConnectionAborted, "closed without an answer")),
        None => Err(cut("a line without an end".to_owned())),
    }
}

fn bad(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}

fn cut(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::thread;

    /// A server that gives these answers, one for each request, on as many connections as it takes: an empty answer
    /// closes the connection. Returns the requests it got.
    fn serve(answers: &'static [&'static str]) -> (String, thread::JoinHandle<Vec<String>>) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}/modoai", listener.local_addr().expect("bound"));
        let server = thread::spawn(move || {
            let mut requests = Vec::new();
            let mut connection = None;
            for answer in answers {
                let stream = connection.get_or_insert_with(|| BufReader::new(listener.accept().expect("a client").0));
                let mut request = String::new();
                while !request.ends_with("\r\n\r\n") && stream.read_line(&mut request).expect("a line") > 0 {}
                requests.push(request);
                stream.get_mut().write_all(answer.as_bytes()).expect("a listener");
                if answer.is_empty() || answer.contains("close") || !answer.contains("ength") {
                    connection = None;
                }
            }
            requests
        });
        (url, server)
    }

    #[test]
    fn bodies_end_where_they_say() {
        let (url, server) = serve(&[
            "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc",
            "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n",
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nX-Length: no\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 500\r\nConnection: close\r\n\r\n",
            "HTTP/1.0 200 OK\r\n\r\nuntil the end",
        ]);
        let mut client = Client::new(&url).with_password("Aladdin", "open sesame");
        assert_eq!(client.get("/a").expect("an answer").text(), "abc");
        assert_eq!(client.post_form("/b", "").expect("an answer").status, 404);
        assert_eq!(client.get_with("/c", &[("Accept", "text/html")]).expect("an answer").text(), "abc0123456789");
        assert_eq!(client.head("/d").expect("an answer").header("CONTENT-length"), Some("500"));
        assert_eq!(client.get("/e").expect("an answer").text(), "until the end");
        let requests = server.join().expect("it served all");
        assert!(requests[0].starts_with("GET /a HTTP/1.1\r\nHost: 127.0.0.1:"));
        assert!(requests[0].contains("\r\nAuthorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n"));
        assert!(requests[1].contains("\r\nContent-Length: 0\r\n"));
        assert!(requests[2].contains("\r\nAccept: text/html\r\n"));
    }

    #[test]
    fn a_kept_connection_that_was_closed_is_opened_again_and_a_fresh_one_is_not() {
        let (url, server) = serve(&["HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "", "HTTP/1.1 204 \r\nlength\r\n"]);
        let mut client = Client::new(&url);
        client.get("/1").expect("an answer");
        client.get("/2").expect_err("the third answer is not HTTP");
        assert_eq!(server.join().expect("it served all").len(), 3);
    }

    #[test]
    fn a_body_that_is_cut_is_an_error() {
        for answer in [
            &["HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nabc"] as &'static [&'static str],
            &["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n5\r\nabc"],
            &["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n3\r\nabc\r\n"],
        ] {
            let (url, server) = serve(answer);
            Client::new(&url).get("/").expect_err(answer[0]);
            server.join().expect("it served all");
        }
    }

    #[test]
    fn values_are_encoded_for_queries() {
        assert_eq!(encode("a b&c=é~"), "a%20b%26c%3D%C3%A9~");
    }
}
