//! An answer as a stream: written in pieces, never held whole.

use std::cell::Cell;
use std::io;
use std::rc::Rc;

use crate::bindings as ap;
use crate::request::Request;
use crate::signals::Signals;

/// The minimum size of a piece that is passed on: each piece costs a system call here and a wake-up in the client.
const PIECE: usize = 192 * 1024;

/// A response in progress. Status and headers are sent with its first piece.
pub struct Reply<'r> {
    request: *mut ap::request_rec,
    brigade: *mut ap::apr_bucket_brigade,
    buffer: Vec<u8>,
    /// True once anything has been passed on.
    begun: Rc<Cell<bool>>,
    /// True once its end has been passed on.
    ended: bool,
    /// So much is kept back before anything is passed on.
    kept_back: usize,
    _request: std::marker::PhantomData<&'r ()>,
}

impl<'r> Reply<'r> {
    /// Begins to answer.
    pub fn new(request: &'r Request<'_>) -> Self {
        let raw = request.raw();
        // SAFETY: the brigade lives in the request's pool, and its buckets in the connection's allocator.
        let brigade = unsafe { ap::apr_brigade_create((*raw).pool, (*(*raw).connection).bucket_alloc) };
        let buffer = Vec::with_capacity(PIECE);
        let (begun, kept_back) = (Rc::default(), PIECE);
        Self { request: raw, brigade, buffer, begun, ended: false, kept_back, _request: std::marker::PhantomData }
    }

    /// Returns true if nothing has been sent yet, so that the response can still become an error.
    pub fn is_unsent(&self) -> bool {
        !self.begun.get()
    }

    /// Returns the flag behind [`Self::is_unsent`], for callers that have no access to the reply.
    pub fn begun(&self) -> Rc<Cell<bool>> {
        Rc::clone(&self.begun)
    }

    /// Holds back this many bytes before the first are sent: until then, the response can still become an error.
    pub fn keep_back(&mut self, bytes: usize) {
        self.kept_back = bytes;
    }

    /// Sends what is left. An answer in one piece gets a Content-Length by that.
    pub fn finish(&mut self) -> io::Result<()> {
        self.pass(&[], true)
    }

    /// Aborts the response so that no client can mistake it for a complete one: the connection is cut, or the stream
    /// reset.
    pub fn break_off(mut self) {
        if self.ended {
            return;
        }
        self.buffer.clear();
        // SAFETY: a good request and its connection. Filters know this error as an answer that broke in the middle.
        unsafe {
            let (request, connection) = (&mut *self.request, &mut *(*self.request).connection);
            connection.keepalive = ap::ap_conn_keepalive_e_AP_CONN_CLOSE;
            let status = ap::HTTP_BAD_GATEWAY.cast_signed();
            let error = ap::ap_bucket_error_create(status, std::ptr::null(), request.pool, connection.bucket_alloc);
            append(self.brigade, error);
        }
        // If it cannot be passed on, the connection is already closed.
        let _ = self.pass(&[], true);
    }

    /// Passes on what waited, and these bytes after it.
    fn pass(&mut self, bytes: &[u8], is_last: bool) -> io::Result<()> {
        self.begun.set(true);
        self.ended |= is_last;
        // SAFETY: the buckets borrow the bytes, which stay until the brigade is emptied; a filter that keeps them
        // longer makes a copy, as buckets of this kind require.
        let status = unsafe {
            let connection = (*self.request).connection;
            let allocator = (*connection).bucket_alloc;
            for bytes in [self.buffer.as_slice(), bytes] {
                if !bytes.is_empty() {
                    let bucket = ap::apr_bucket_transient_create(bytes.as_ptr().cast(), bytes.len(), allocator);
                    append(self.brigade, bucket);
                }
            }
            if is_last {
                append(self.brigade, ap::apr_bucket_eos_create(allocator));
            }
            let passing = Signals::let_through();
            let status = ap::ap_pass_brigade((*self.request).output_filters, self.brigade);
            drop(passing);
            ap::apr_brigade_cleanup(self.brigade.cast());
            if (*connection).aborted != 0 { -1 } else { status }
        };
        self.buffer.clear();
        if status == 0 { Ok(()) } else { Err(io::ErrorKind::BrokenPipe.into()) }
    }
}

impl io::Write for Reply<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let least = if self.begun.get() { PIECE } else { self.kept_back };
        if self.buffer.len() + bytes.len() < least {
            self.buffer.extend_from_slice(bytes);
        } else {
            self.pass(bytes, false)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Puts a bucket at the end of a brigade. The ring's sentinel is the brigade's list itself, seen as the first member of
/// a bucket.
unsafe fn append(brigade: *mut ap::apr_bucket_brigade, bucket: *mut ap::apr_bucket) {
    // SAFETY: both are good; four stores, as APR's own macro does.
    unsafe {
        let sentinel = (&raw mut (*brigade).list).cast::<ap::apr_bucket>();
        let last = (*brigade).list.prev;
        (*bucket).link.next = sentinel;
        (*bucket).link.prev = last;
        (*last).link.next = bucket;
        (*brigade).list.prev = bucket;
    }
}
