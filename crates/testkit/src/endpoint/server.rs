//! The sockets: a thread for each connection, connections that are kept, and every way to break one.

use std::collections::HashMap;
use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::reply::{Delivery, Reply};
use super::request::Request;

/// How often whoever waits looks whether it is still wanted.
const GLANCE: Duration = Duration::from_millis(10);

/// No request of a harvester has a longer head.
const LONGEST_HEAD: usize = 64 * 1024;

/// The connections there are. One that has ended is taken out: as long as a handle is left here, it is not closed.
type Open = Mutex<HashMap<usize, TcpStream>>;

/// A listener and its connections; all of it ends when it is dropped.
pub(crate) struct Server {
    address: String,
    stopping: Arc<AtomicBool>,
    open: Arc<Open>,
    listening: Option<JoinHandle<()>>,
}

impl Server {
    /// Answers requests on a free port of this machine until it is dropped.
    pub(crate) fn start(listener: TcpListener, answer: impl Fn(Request) -> Reply + Send + Sync + 'static) -> Self {
        let address = listener.local_addr().expect("it is bound").to_string();
        let stopping = Arc::new(AtomicBool::new(false));
        let open = Arc::new(Open::default());
        let listening = thread::spawn({
            let (stopping, open) = (stopping.clone(), open.clone());
            move || listen(&listener, &stopping, &open, &Arc::new(answer))
        });
        Self { address, stopping, open, listening: Some(listening) }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stopping.store(true, Ordering::SeqCst);
        shut(&self.open);
        // Wakes the listener; if nobody listens any more, there is nobody to wake.
        let _ = TcpStream::connect(&self.address);
        let ended = self.listening.take().is_none_or(|listening| listening.join().is_ok());
        assert!(ended || thread::panicking(), "an endpoint panicked");
    }
}

fn shut(open: &Open) {
    for (_, stream) in open.lock().unwrap_or_else(PoisonError::into_inner).drain() {
        // It may have been closed by the other side long ago.
        let _ = stream.shutdown(Shutdown::Both);
    }
}

fn listen<F>(listener: &TcpListener, stopping: &Arc<AtomicBool>, open: &Arc<Open>, answer: &Arc<F>)
where
    F: Fn(Request) -> Reply + Send + Sync + 'static,
{
    let mut connections = Vec::new();
    for (number, stream) in listener.incoming().enumerate() {
        if stopping.load(Ordering::SeqCst) {
            break;
        }
        let Ok((stream, handle)) = stream.and_then(|stream| Ok((stream.try_clone()?, stream))) else { continue };
        open.lock().unwrap_or_else(PoisonError::into_inner).insert(number, handle);
        let (stopping, open, answer) = (stopping.clone(), open.clone(), answer.clone());
        connections.push(thread::spawn(move || {
            // A connection that fails is one that the other side has left.
            let _ = converse(&stream, &stopping, &*answer);
            open.lock().unwrap_or_else(PoisonError::into_inner).remove(&number);
        }));
    }
    shut(open);
    for connection in connections {
        connection.join().expect("hooks do not panic");
    }
}

fn converse(mut stream: &TcpStream, stopping: &AtomicBool, answer: &dyn Fn(Request) -> Reply) -> io::Result<()> {
    stream.set_nodelay(true)?;
    while let Some(request) = read(stream)? {
        let head_only = request.method == "HEAD";
        let reply = answer(request);
        let until = Instant::now() + reply.delay;
        while Instant::now() < until {
            if stopping.load(Ordering::SeqCst) {
                return Ok(());
            }
            thread::sleep(GLANCE.min(reply.delay));
        }
        if !send(stream, &reply, head_only, stopping)? {
            break;
        }
        // The last byte of the request is taken only now: to close a connection with something unread resets it.
        stream.read_exact(&mut [0])?;
    }
    Ok(())
}

/// The next request, all but its last byte; none if the other side is done.
fn read(mut stream: &TcpStream) -> io::Result<Option<Request>> {
    let mut seen = vec![0; LONGEST_HEAD];
    let (head, request, body) = loop {
        let length = stream.peek(&mut seen)?;
        if length == 0 {
            return Ok(None);
        }
        let Some(end) = seen[..length].windows(4).position(|bytes| bytes == b"\r\n\r\n") else {
            thread::sleep(Duration::from_millis(1));
            continue;
        };
        let text = String::from_utf8_lossy(&seen[..end + 4]);
        let request = Request::read(&text).ok_or_else(|| io::Error::other("not a request"))?;
        let body = request.header("Content-Length").and_then(|value| value.parse().ok()).unwrap_or(0);
        break (end + 4, request, body);
    };
    let mut request = request;
    let mut bytes = vec![0; head + body - 1];
    stream.read_exact(&mut bytes)?;
    if body > 0 {
        // The last byte is seen and left.
        let mut last = [0];
        stream.peek(&mut last)?;
        bytes.extend(last);
        request.form(&bytes[head..]);
    }
    Ok(Some(request))
}

/// Sends an answer; tells whether the connection goes on.
fn send(mut stream: &TcpStream, reply: &Reply, head_only: bool, stopping: &AtomicBool) -> io::Result<bool> {
    if reply.delivery == Delivery::Bare {
        stream.write_all(&reply.body)?;
        return finish(stream);
    }
    let mut head = format!("HTTP/1.1 {} Said\r\n", reply.status);
    for (name, value) in &reply.headers {
        head.extend([name, ": ", value, "\r\n"]);
    }
    match reply.delivery {
        Delivery::Chunked | Delivery::ChunkedWithoutEnd => head.push_str("Transfer-Encoding: chunked\r\n"),
        Delivery::UntilClose => head.push_str("Connection: close\r\n"),
        // Such an answer has no body, so that there is nothing to tell the length of.
        Delivery::Length if reply.status == 304 => {}
        Delivery::LengthTooLarge => head.push_str(&format!("Content-Length: {}\r\n", reply.body.len() + 100)),
        Delivery::Repeated(times) => {
            head.push_str(&format!("Content-Length: {}\r\n", reply.body.len() as u64 * times));
        }
        _ => head.push_str(&format!("Content-Length: {}\r\n", reply.body.len())),
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes())?;
    if head_only || reply.status == 304 {
        return Ok(reply.delivery != Delivery::UntilClose);
    }
    let whole = &reply.body[..];
    let up_to = |end: usize| &whole[..end.min(whole.len())];
    match reply.delivery {
        Delivery::Length => stream.write_all(whole).map(|()| true),
        Delivery::Repeated(times) => (0..times).try_for_each(|_| stream.write_all(whole)).map(|()| true),
        Delivery::Bare => Ok(false),
        Delivery::UntilClose | Delivery::LengthTooLarge => {
            stream.write_all(whole)?;
            finish(stream)
        }
        Delivery::CutAt(end) => {
            stream.write_all(up_to(end))?;
            finish(stream)
        }
        Delivery::ResetAt(end) => stream.write_all(up_to(end)).map(|()| false),
        Delivery::StallAt(end) => {
            stream.write_all(up_to(end))?;
            wait_until_left(stream, stopping)
        }
        Delivery::Chunked => {
            chunks(stream, whole)?;
            stream.write_all(b"0\r\n\r\n").map(|()| true)
        }
        Delivery::ChunkedWithoutEnd => {
            chunks(stream, whole)?;
            finish(stream)
        }
    }
}

fn chunks(mut stream: &TcpStream, body: &[u8]) -> io::Result<()> {
    for chunk in body.chunks(1_000) {
        stream.write_all(format!("{:x}\r\n", chunk.len()).as_bytes())?;
        stream.write_all(chunk)?;
        stream.write_all(b"\r\n")?;
    }
    Ok(())
}

/// Ends the connection in good order, with nothing left unread.
fn finish(mut stream: &TcpStream) -> io::Result<bool> {
    stream.read_exact(&mut [0])?;
    stream.shutdown(Shutdown::Write)?;
    Ok(false)
}

/// Says nothing more until the other side has given up.
fn wait_until_left(mut stream: &TcpStream, stopping: &AtomicBool) -> io::Result<bool> {
    stream.read_exact(&mut [0])?;
    stream.set_read_timeout(Some(GLANCE))?;
    while !stopping.load(Ordering::SeqCst) {
        match stream.read(&mut [0; 64]) {
            Ok(0) => break,
            Ok(_) => {}
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(false)
}
