//! A request that a handler processes.

use std::ffi::c_int;
use std::io;
use std::marker::PhantomData;
use std::path::Path;

use crate::bindings as ap;
use crate::log::{self, Level};
use crate::module::{self, Module};
use crate::protected::{self, Headers};
use crate::server::Server;
use crate::stage;
use crate::table::Table;
use crate::text;

/// The result of a handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The request is not this module's.
    Declined,
    /// The response has been sent.
    Answered,
    /// httpd must respond with this status.
    Status(u16),
}

impl Outcome {
    pub(crate) fn status(self) -> c_int {
        match self {
            Self::Declined => ap::DECLINED,
            Self::Answered => ap::OK.cast_signed(),
            Self::Status(status) => c_int::from(status),
        }
    }
}

/// A request, for the duration of a callback.
#[derive(Debug)]
pub struct Request<'r> {
    raw: *mut ap::request_rec,
    _callback: PhantomData<&'r ()>,
}

impl<'r> Request<'r> {
    /// # Safety
    ///
    /// The request is valid for `'r`, and used by this thread only.
    pub(crate) unsafe fn new(raw: *mut ap::request_rec) -> Self {
        Self { raw, _callback: PhantomData }
    }

    pub(crate) fn raw(&self) -> *mut ap::request_rec {
        self.raw
    }

    fn record(&self) -> &ap::request_rec {
        // SAFETY: valid for `'r`; httpd writes to it only during calls.
        unsafe { &*self.raw }
    }

    /// Returns the handler in the configuration.
    pub fn handler(&self) -> Option<&'r [u8]> {
        // SAFETY: a C string of the request.
        unsafe { text::bytes(self.record().handler) }
    }

    /// Returns `GET`, `HEAD`, `POST` and so on.
    pub fn method(&self) -> &'r str {
        // SAFETY: a C string of the request.
        unsafe { text::utf8(self.record().method) }.unwrap_or_default()
    }

    /// Returns true if only the head of the response is requested.
    pub fn is_head(&self) -> bool {
        self.record().header_only != 0
    }

    /// Returns the path of its URL, decoded.
    pub fn path(&self) -> &'r [u8] {
        // SAFETY: a C string of the request.
        unsafe { text::bytes(self.record().uri) }.unwrap_or_default()
    }

    /// Returns the part of the path after the file that the URL points to.
    pub fn path_info(&self) -> &'r [u8] {
        // SAFETY: a C string of the request.
        unsafe { text::bytes(self.record().path_info) }.unwrap_or_default()
    }

    /// Returns the query, unmodified.
    pub fn query(&self) -> &'r [u8] {
        // SAFETY: a C string of the request.
        unsafe { text::bytes(self.record().args) }.unwrap_or_default()
    }

    /// Returns the file that the URL points to.
    pub fn file(&self) -> Option<&'r Path> {
        // SAFETY: a C string of the request.
        unsafe { text::path(self.record().filename) }
    }

    /// Returns true if that is a regular file.
    pub fn is_file(&self) -> bool {
        self.record().finfo.filetype == ap::apr_filetype_e_APR_REG
    }

    /// Returns the path of its URL as the client sent it, still encoded.
    pub fn sent_path(&self) -> &'r [u8] {
        // SAFETY: a C string of the request.
        unsafe { text::bytes(self.record().parsed_uri.path) }.unwrap_or_default()
    }

    /// Returns the last internal redirect, or the request itself.
    pub fn last(&self) -> Request<'r> {
        let mut raw = self.raw;
        // SAFETY: internal redirects last as long as the request.
        unsafe {
            while !(*raw).next.is_null() {
                raw = (*raw).next;
            }
            Request::new(raw)
        }
    }

    /// Returns true if a client sent it, and false for internal requests.
    pub fn is_original(&self) -> bool {
        self.record().main.is_null() && self.record().prev.is_null()
    }

    /// Returns true if the head of its response has been sent.
    pub(crate) fn is_answered(&self) -> bool {
        self.record().sent_bodyct != 0
    }

    /// Returns the status of its response.
    pub fn status(&self) -> u16 {
        u16::try_from(self.record().status).unwrap_or_default()
    }

    /// Returns its headers.
    pub fn headers(&self) -> Table<'_> {
        // SAFETY: the request's own table.
        unsafe { Table::new(self.record().headers_in) }
    }

    /// Returns its headers on arrival, before any module changed them.
    pub fn arrived_headers(&self) -> Table<'_> {
        // SAFETY: a table that is kept as long as the request.
        unsafe { Table::new(stage::arrived_headers(self.raw)) }
    }

    /// Returns the headers of its response.
    pub fn reply_headers(&self) -> Table<'_> {
        // SAFETY: the request's own table.
        unsafe { Table::new(self.record().headers_out) }
    }

    /// Returns the headers of its response that are sent also with errors.
    pub fn any_reply_headers(&self) -> Table<'_> {
        // SAFETY: the request's own table.
        unsafe { Table::new(self.record().err_headers_out) }
    }

    /// Sets headers of its response, also if that is an error. No other module can replace or remove them.
    pub fn protect(&mut self, headers: Headers) {
        for (name, value) in headers {
            self.any_reply_headers().set(name, value);
        }
        // SAFETY: a valid request; its handler is exclusively borrowed, so it is not passing on anything.
        unsafe { protected::keep(self.raw, headers) }
    }

    /// Sets the media type of its response.
    pub fn set_content_type(&mut self, media_type: &str) {
        // SAFETY: httpd keeps the pointer, to memory of the request's own pool.
        unsafe { ap::ap_set_content_type(self.raw, text::copy((*self.raw).pool, media_type.as_bytes())) }
    }

    /// Returns the server of the request.
    pub fn server(&self) -> Server<'r> {
        // SAFETY: valid for longer than the request.
        unsafe { Server::new(self.record().server) }
    }

    /// Returns this module's configuration at its URL.
    pub fn directory<M: Module>(&self) -> &M::Directory {
        // SAFETY: created by `module`; the merged one of this request.
        unsafe { &module::section::<M>(self.record().per_dir_config).own }
    }

    /// Returns `http` or `https`.
    pub fn scheme(&self) -> &'r str {
        // SAFETY: a hook that returns a static C string.
        unsafe { text::utf8(ap::ap_run_http_scheme(self.raw)) }.unwrap_or("http")
    }

    /// Returns the default port of this scheme.
    pub fn default_port(&self) -> u16 {
        // SAFETY: a hook that returns a number.
        unsafe { ap::ap_run_default_port(self.raw) }
    }

    /// Returns the local port of the connection.
    pub fn local_port(&self) -> u16 {
        // SAFETY: every connection has a local address.
        unsafe { (*(*self.record().connection).local_addr).port }
    }

    /// Sends the allowed methods to a client that used another one.
    pub fn allow(&mut self, methods: &[&str]) {
        let post = if methods.contains(&"POST") { 1 << ap::M_POST } else { 0 };
        // SAFETY: a good request; the numbers of methods are bits here. GET includes HEAD.
        unsafe { (*(*self.raw).allowed_methods).method_mask |= (1 << ap::M_GET) | post }
    }

    /// Returns the address of the requester.
    pub fn address(&self) -> &'r str {
        // SAFETY: a C string of the request or its connection.
        unsafe { text::utf8(self.record().useragent_ip) }.unwrap_or_default()
    }

    /// Returns the authenticated user.
    pub fn user(&self) -> Option<&'r [u8]> {
        // SAFETY: a C string of the request.
        unsafe { text::bytes(self.record().user) }
    }

    /// Returns the name of the authentication realm at its URL.
    pub fn realm(&self) -> Option<&'r [u8]> {
        // SAFETY: reads a valid request; a C string of its configuration.
        unsafe { text::bytes(ap::ap_auth_name(self.raw)) }
    }

    /// Reads a body of up to `most` bytes; `None` if it is longer.
    pub fn body(&mut self, most: usize) -> io::Result<Option<Vec<u8>>> {
        let mut body = Vec::new();
        let mut room = vec![0_u8; 8 * 1024];
        // SAFETY: httpd's own way of reading a body, with a buffer of the stated size.
        unsafe {
            match ap::ap_setup_client_block(self.raw, ap::REQUEST_CHUNKED_DECHUNK.cast_signed()) {
                0 => {}
                413 => return Ok(None),
                status => return Err(io::Error::other(format!("failed to read the request body: status {status}"))),
            }
            if ap::ap_should_client_block(self.raw) == 0 {
                return Ok(Some(body));
            }
            loop {
                match ap::ap_get_client_block(self.raw, room.as_mut_ptr().cast(), room.len()) {
                    0 => return Ok(Some(body)),
                    count => match usize::try_from(count) {
                        Ok(count) if body.len() + count <= most => body.extend_from_slice(&room[..count]),
                        Ok(_) => return Ok(None),
                        Err(_) => return Err(io::Error::other("the request body is incomplete")),
                    },
                }
            }
        }
    }

    /// Writes to the error log.
    pub fn log(&self, level: Level, message: &str) {
        // SAFETY: a valid request.
        unsafe { log::request(self.raw, level, message) }
    }
}
