//! What a plain GET of a URL by the same requester would return.
//!
//! A probe is a request of its own: on a private copy of the requester's connection, with the requester's headers, run
//! through every phase of httpd and into the handler that a GET would end in. Only its answer goes nowhere: a filter at
//! the place of the network looks at it. So whatever decides on a GET (access, aliases, rewriting, filters, types)
//! decides on the probe, and nothing is re-implemented here.
//!
//! An untouched file reaches the network as exactly one bucket of the kind FILE that nobody has read from. That bucket is
//! the proof; no byte of the file is read for it.
//!
//! No probe runs a program. Handlers are let run that send files or only lead to another URL of this server; whatever such
//! a one leads to is judged in the same way before its own handler runs.

use std::ffi::{CStr, c_int, c_void};
use std::fs::File;
use std::io;
use std::marker::PhantomData;
use std::os::fd::BorrowedFd;
use std::path::Path;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::bindings as ap;
use crate::guard::guard;
use crate::module::{self, Module};
use crate::pool::{self, OwnPool};
use crate::request::Request;
use crate::table::Table;
use crate::text;

/// Headers of the requester that are about its own request, or would choose another representation.
const NOT_HANDED_ON: &[&CStr] = &[
    c"Accept",
    c"Accept-Charset",
    c"Accept-Encoding",
    c"Accept-Language",
    c"Connection",
    c"Content-Encoding",
    c"Content-Length",
    c"Content-Type",
    c"Expect",
    c"HTTP2-Settings",
    c"If-Match",
    c"If-Modified-Since",
    c"If-None-Match",
    c"If-Range",
    c"If-Unmodified-Since",
    c"Keep-Alive",
    c"Range",
    c"TE",
    c"Trailer",
    c"Transfer-Encoding",
    c"Upgrade",
];

/// Larger than what any MPM keeps about a connection.
type Blank = [u64; 128];

/// The filter that takes the place of the network. Set anew whenever httpd registers our hooks.
static CAPTURE: AtomicPtr<ap::ap_filter_rec_t> = AtomicPtr::new(null_mut());

/// A log that takes nothing: what is denied to a probe is no error of anybody.
struct Silence(ap::ap_logconf);
// SAFETY: only read.
unsafe impl Sync for Silence {}
static SILENCE: Silence = Silence(ap::ap_logconf { module_levels: null_mut(), level: 0 });

/// What the handler for files is called: by people, and by httpd itself.
const FOR_FILES: [&[u8]; 2] = [b"default-handler", b""];

/// Handlers that only lead to another URL: a rewritten one, or a variant.
const POINTERS: [&[u8]; 2] = [b"redirect-handler", b"type-map"];

/// Registers the filter and the hooks that keep probes out of the error log.
///
/// # Safety
///
/// It is the time to register hooks.
pub(crate) unsafe fn register<M: Module>() {
    // SAFETY: the caller's word; the functions have the types wanted.
    unsafe {
        let network = ap::ap_filter_type_AP_FTYPE_NETWORK;
        let filter = ap::ap_register_output_filter(c"OAI_CAPTURE".as_ptr(), Some(capture), None, network);
        CAPTURE.store(filter, Ordering::Relaxed);
        // Each walk through the sections of the configuration sets a request's log anew.
        let (first, last) = (ap::APR_HOOK_FIRST.cast_signed(), ap::APR_HOOK_LAST.cast_signed());
        ap::ap_hook_translate_name(Some(hush), null(), null(), first);
        ap::ap_hook_map_to_storage(Some(hush), null(), null(), first);
        ap::ap_hook_post_perdir_config(Some(go_on::<M>), null(), null(), last);
        ap::ap_hook_handler(Some(stand_guard::<M>), null(), null(), ap::APR_HOOK_REALLY_FIRST);
    }
}

/// On whose behalf probes are made.
pub struct Asker<'r> {
    pool: *mut ap::apr_pool_t,
    connection: *mut ap::conn_rec,
    server: *mut ap::server_rec,
    hostname: *const std::ffi::c_char,
    headers: *mut ap::apr_table_t,
    address: *mut ap::apr_sockaddr_t,
    ip: *mut std::ffi::c_char,
    slots: usize,
    http2: *mut ap::module,
    event: *mut ap::module,
    _request: PhantomData<&'r ()>,
}

impl<'r> Asker<'r> {
    /// Whoever sent this request.
    pub fn behind(request: &'r Request<'_>) -> Self {
        // SAFETY: everything here lasts as long as the request, and is this thread's alone.
        unsafe {
            let record = &*request.raw();
            let headers = ap::apr_table_copy(record.pool, record.headers_in);
            NOT_HANDED_ON.iter().for_each(|name| Table::new(headers).unset(name));
            Self::new(
                record.pool,
                record.connection,
                record.server,
                record.hostname,
                headers,
                (record.useragent_addr, record.useragent_ip),
            )
        }
    }

    /// # Safety
    ///
    /// All pointers are good for `'r`, and this thread's alone.
    pub(crate) unsafe fn new(
        pool: *mut ap::apr_pool_t,
        connection: *mut ap::conn_rec,
        server: *mut ap::server_rec,
        hostname: *const std::ffi::c_char,
        headers: *mut ap::apr_table_t,
        (address, ip): (*mut ap::apr_sockaddr_t, *mut std::ffi::c_char),
    ) -> Self {
        let (http2, event) = (module::find(c"mod_http2.c"), module::find(c"event.c"));
        Self {
            pool,
            connection,
            server,
            hostname,
            headers,
            address,
            ip,
            slots: slots(),
            http2,
            event,
            _request: PhantomData,
        }
    }

    /// Asks for the URL of this path (percent-encoded, beginning with a slash).
    pub fn get(&self, path: &str) -> Probe<'_> {
        let mut probe = self.prepare(path);
        if probe.passes() {
            probe.verdict = probe.invoke();
        }
        probe
    }

    /// Asks whether the requester would be let through to the URL of this path, whatever is there.
    pub fn enter(&self, path: &str) -> Probe<'_> {
        let mut probe = self.prepare(path);
        if probe.passes() {
            probe.verdict = Verdict::Otherwise;
        }
        probe
    }

    fn prepare(&self, path: &str) -> Probe<'_> {
        // SAFETY: a request as httpd's own reader would make it, in a pool of its own, on a copy of the connection: what
        // the phases write there is gone with the pool. Slots of other modules are copied, so that they find what they
        // need; mod_http2's is left empty, because it would answer on its stream; the event MPM gets a blank of its own.
        unsafe {
            let pool = OwnPool::within(self.pool, c"oai_probe");
            let at = pool.raw();
            let connection = pool::zeroed::<ap::conn_rec>(at);
            *connection = *self.connection;
            let config = ap::ap_create_conn_config(at);
            std::ptr::copy_nonoverlapping(
                (*self.connection).conn_config.cast::<*mut c_void>(),
                config.cast::<*mut c_void>(),
                self.slots,
            );
            if !self.http2.is_null() {
                ap::ap_set_module_config(config, self.http2, null_mut());
            }
            if !self.event.is_null() {
                ap::ap_set_module_config(config, self.event, pool::zeroed::<Blank>(at).cast());
            }
            (*connection).pool = at;
            (*connection).conn_config = config;
            (*connection).notes = ap::apr_table_copy(at, (*connection).notes);
            (*connection).input_filters = null_mut();
            (*connection).output_filters = null_mut();
            (*connection).keepalive = ap::ap_conn_keepalive_e_AP_CONN_CLOSE;
            (*connection).log = &raw const SILENCE.0;
            let captured = pool::keep(at, Captured::default());
            ap::ap_add_output_filter_handle(CAPTURE.load(Ordering::Relaxed), captured.cast(), null_mut(), connection);
            let request = ap::ap_create_request(connection);
            let record = &mut *request;
            record.the_request = text::copy(at, format!("GET {path} HTTP/1.1").as_bytes());
            record.method = c"GET".as_ptr();
            record.method_number = ap::M_GET.cast_signed();
            record.protocol = c"HTTP/1.1".as_ptr().cast_mut();
            record.proto_num = 1001;
            record.status = ap::HTTP_OK.cast_signed();
            // A file that changed a moment ago has a weak ETag.
            record.request_time = now();
            record.hostname = self.hostname;
            record.server = self.server;
            record.per_dir_config = (*self.server).lookup_defaults;
            record.headers_in = ap::apr_table_copy(at, self.headers);
            record.useragent_addr = self.address;
            record.useragent_ip = self.ip;
            record.log = &raw const SILENCE.0;
            ap::ap_set_module_config(record.request_config, module::raw(), captured.cast());
            ap::ap_parse_uri(request, text::copy(at, path.as_bytes()));
            Probe { request, captured, verdict: Verdict::Refused(0), asker: self, _pool: pool }
        }
    }
}

/// Microseconds since 1970.
fn now() -> ap::apr_time_t {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    ap::apr_time_t::try_from(since.as_micros()).unwrap_or_default()
}

/// How many slots a vector of configurations has that may be in use.
fn slots() -> usize {
    let mut most = 0;
    // SAFETY: httpd's list of modules, which only changes while the configuration is read.
    unsafe {
        let mut module = ap::ap_top_module;
        while !module.is_null() {
            most = most.max((*module).module_index + 1);
            module = (*module).next;
        }
    }
    usize::try_from(most).unwrap_or_default()
}

/// What came of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Status 200 and a file, untouched.
    Untouched,
    /// The request was let through, and ended in something else than an untouched file.
    Otherwise,
    /// A phase before the handler answered with this status.
    Refused(u16),
    /// The handler failed with this status: the file cannot be opened, now or ever.
    Failed(u16),
}

/// A request that was made up. Its file stays open for as long as this lives.
pub struct Probe<'a> {
    request: *mut ap::request_rec,
    captured: *mut Captured,
    verdict: Verdict,
    asker: &'a Asker<'a>,
    /// Everything above is in it.
    _pool: OwnPool,
}

impl Probe<'_> {
    /// What came of it.
    pub fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// Where the request ended: it may have been led on within the server.
    fn record(&self) -> &ap::request_rec {
        // SAFETY: it lives in our pool, and so does everything it was led on to.
        let first = unsafe { &*self.request };
        // SAFETY: as above.
        std::iter::successors(Some(first), |record| unsafe { record.next.as_ref() }).last().unwrap_or(first)
    }

    /// How far it has come.
    fn stage(&self) -> Stage<'_> {
        Stage(self.record())
    }

    fn captured(&self) -> &Captured {
        // SAFETY: it lives in our pool, and the filter that writes to it runs only inside `invoke`.
        unsafe { &*self.captured }
    }

    /// The file that the URL leads to.
    pub fn path(&self) -> Option<&Path> {
        self.stage().path()
    }

    /// Whether there is a regular file.
    pub fn is_file(&self) -> bool {
        self.stage().is_file()
    }

    /// Whether a handler other than the one for files was chosen by name.
    pub fn has_handler(&self) -> bool {
        self.stage().named_handler().is_some()
    }

    /// The media type that was found, with its parameters.
    pub fn content_type(&self) -> Option<&str> {
        self.stage().content_type()
    }

    /// Makes httpd find the media type of a file whose request was refused before it came to that.
    pub fn find_type(&mut self) {
        if self.is_file() && self.record().content_type.is_null() {
            // SAFETY: the phase only looks at the file's name, and perhaps its contents.
            unsafe { ap::ap_run_type_checker(self.request) };
        }
    }

    /// The headers of the answer, in the order they would be sent.
    pub fn headers(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let lines = self.captured().head.split(|byte| *byte == b'\n').skip(1);
        lines.filter_map(|line| {
            let colon = line.iter().position(|byte| *byte == b':')?;
            Some((line[..colon].trim_ascii(), line[colon + 1..].trim_ascii()))
        })
    }

    /// The file itself, opened anew through the descriptor that would have been sent, so that it has a position of its
    /// own.
    pub fn file(&self) -> io::Result<File> {
        let Body::File { file, .. } = self.captured().body else {
            // An empty file need not have been passed on at all.
            return File::open(self.path().ok_or(io::ErrorKind::NotFound)?);
        };
        let mut descriptor = -1;
        // SAFETY: the file was opened in our pool, or for longer; the descriptor is good as long as it is.
        let descriptor = unsafe {
            if ap::apr_os_file_get(&raw mut descriptor, file) != 0 {
                return Err(io::ErrorKind::NotFound.into());
            }
            BorrowedFd::borrow_raw(descriptor)
        };
        let handle = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&descriptor));
        File::open(handle).or_else(|_| Ok(File::from(descriptor.try_clone_to_owned()?)))
    }

    /// Runs every phase before the handler; false if one of them refused.
    fn passes(&mut self) -> bool {
        // SAFETY: a whole request, as after reading one from a connection.
        let status = unsafe {
            let read = ap::ap_run_post_read_request(self.request);
            // The requester is known already; what forwarding proxies said of it may have been used up.
            (*self.request).useragent_addr = self.asker.address;
            (*self.request).useragent_ip = self.asker.ip;
            if read == 0 || read == ap::DECLINED { ap::ap_process_request_internal(self.request) } else { read }
        };
        self.verdict = Verdict::Refused(u16::try_from(status).unwrap_or_default());
        status == 0
    }

    fn invoke(&mut self) -> Verdict {
        // SAFETY: all phases have passed, and the answer ends in our filter. An answer that would come more slowly is the
        // same answer, and nobody waits for it.
        let status = unsafe {
            Table::new((*self.request).subprocess_env).unset(c"rate-limit");
            ap::ap_invoke_handler(self.request)
        };
        let record = self.record();
        let captured = self.captured();
        let whole = match captured.body {
            Body::Nothing => record.finfo.size == 0,
            Body::File { file, start: 0, length } => {
                u64::try_from(record.finfo.size).is_ok_and(|size| size == length) && self.is_named(file)
            }
            Body::File { .. } | Body::Touched => false,
        };
        if captured.is_barred {
            return Verdict::Otherwise;
        }
        if status != 0 {
            return Verdict::Failed(u16::try_from(status).unwrap_or_default());
        }
        let is_answer = record.status == ap::HTTP_OK.cast_signed();
        let is_ok = captured.head.split(|byte| *byte == b' ').nth(1) == Some(b"200");
        if is_answer && is_ok && whole { Verdict::Untouched } else { Verdict::Otherwise }
    }

    fn is_named(&self, file: *mut ap::apr_file_t) -> bool {
        let mut name = null();
        // SAFETY: the file is open; its name is a C string that lasts as long.
        unsafe {
            ap::apr_file_name_get(&raw mut name, file);
            text::bytes(name) == text::bytes(self.record().filename)
        }
    }
}

/// A request that has come as far as its handler.
#[derive(Clone, Copy)]
pub struct Stage<'a>(&'a ap::request_rec);

impl<'a> Stage<'a> {
    /// The file that the URL leads to.
    pub fn path(&self) -> Option<&'a Path> {
        // SAFETY: a C string of the request.
        unsafe { text::path(self.0.filename) }
    }

    /// Whether there is a regular file.
    pub fn is_file(&self) -> bool {
        self.0.finfo.filetype == ap::apr_filetype_e_APR_REG
    }

    /// The media type that was found, with its parameters.
    pub fn content_type(&self) -> Option<&'a str> {
        // SAFETY: a C string of the request.
        unsafe { text::utf8(self.0.content_type) }
    }

    /// This module's configuration at its URL.
    pub fn directory<M: Module>(&self) -> &'a M::Directory {
        // SAFETY: made by `module`; the merged one of this request.
        unsafe { &*module::config(self.0.per_dir_config).cast() }
    }

    /// The handler that was chosen by name, if it is not the one for files. httpd puts the media type there where none was.
    fn named_handler(&self) -> Option<&'a [u8]> {
        // SAFETY: a C string of the request.
        let handler = unsafe { text::bytes(self.0.handler) }.filter(|handler| !FOR_FILES.contains(handler))?;
        let media_type = self.content_type().and_then(|text| text.split([';', ' ', '\t']).next());
        (Some(handler) != media_type.map(str::as_bytes)).then_some(handler)
    }

    /// Whether what runs next sends a file, or only leads to another URL.
    fn is_harmless<M: Module>(&self) -> bool {
        match self.named_handler() {
            Some(handler) => POINTERS.contains(&handler) && self.0.proxyreq == 0,
            None => {
                // SAFETY: a C string of the request.
                let path_info = unsafe { text::bytes(self.0.path_info) }.unwrap_or_default();
                self.is_file() && path_info.is_empty() && self.0.proxyreq == 0 && !M::forbids(*self)
            }
        }
    }
}

/// What reached the network.
#[derive(Default)]
struct Captured {
    /// Whether a handler was kept from running.
    is_barred: bool,
    head: Vec<u8>,
    head_is_whole: bool,
    body: Body,
}

#[derive(Clone, Copy, Default)]
enum Body {
    #[default]
    Nothing,
    File {
        file: *mut ap::apr_file_t,
        start: i64,
        length: u64,
    },
    /// More than one piece, or one that is not an unread file.
    Touched,
}

/// Takes the place of the network.
unsafe extern "C" fn capture(filter: *mut ap::ap_filter_t, brigade: *mut ap::apr_bucket_brigade) -> ap::apr_status_t {
    guard(-1, || {
        // SAFETY: the context is what `prepare` gave; the brigade is ours to empty. Its sentinel is its own list, seen as
        // a bucket.
        unsafe {
            let captured = &mut *(*filter).ctx.cast::<Captured>();
            let sentinel = (&raw mut (*brigade).list).cast::<ap::apr_bucket>();
            let mut bucket = (*brigade).list.next;
            while bucket != sentinel {
                captured.take(bucket);
                bucket = (*bucket).link.next;
            }
            ap::apr_brigade_cleanup(brigade.cast())
        }
    })
}

impl Captured {
    /// # Safety
    ///
    /// The bucket is good.
    unsafe fn take(&mut self, bucket: *mut ap::apr_bucket) {
        // SAFETY: a good bucket, whose kind tells what its data is.
        unsafe {
            let kind = (*bucket).type_;
            if (*kind).is_metadata == ap::apr_bucket_type_t_APR_BUCKET_METADATA {
                return;
            }
            if !self.head_is_whole {
                let (mut data, mut length) = (null(), 0);
                let Some(read) = (*kind).read else { return };
                if read(bucket, &raw mut data, &raw mut length, ap::apr_read_type_e_APR_BLOCK_READ) == 0 && length > 0 {
                    self.head.extend_from_slice(std::slice::from_raw_parts(data.cast(), length));
                }
                self.head_is_whole = self.head.ends_with(b"\r\n\r\n");
                return;
            }
            let is_file = std::ptr::eq(kind, &raw const ap::apr_bucket_type_file);
            self.body = match self.body {
                Body::Nothing if is_file => {
                    let file = (*(*bucket).data.cast::<ap::apr_bucket_file>()).fd;
                    Body::File { file, start: (*bucket).start, length: (*bucket).length as u64 }
                }
                body if (*bucket).length == 0 => body,
                _ => Body::Touched,
            };
        }
    }
}

/// Keeps probes silent.
unsafe extern "C" fn hush(request: *mut ap::request_rec) -> c_int {
    // SAFETY: a good request.
    unsafe {
        if !captured_of(request).is_null() {
            (*request).log = &raw const SILENCE.0;
        }
    }
    ap::DECLINED
}

/// Keeps probes silent, and ends those that must go no further.
unsafe extern "C" fn go_on<M: Module>(request: *mut ap::request_rec) -> c_int {
    // SAFETY: a good request, whose sections have just been put together.
    let barred = guard(true, || unsafe {
        hush(request);
        !captured_of(request).is_null() && M::bars(&*module::config((*request).per_dir_config).cast())
    });
    if barred { ap::HTTP_FORBIDDEN.cast_signed() } else { ap::DECLINED }
}

/// Keeps everything from running for a probe that is not known to be harmless. First of all handlers.
unsafe extern "C" fn stand_guard<M: Module>(request: *mut ap::request_rec) -> c_int {
    // SAFETY: a good request that has come to its handler; what is captured lives as long as the probe it belongs to.
    let barred = guard(true, || unsafe {
        let captured = captured_of(request);
        let is_barred = !captured.is_null() && !Stage(&*request).is_harmless::<M>();
        if is_barred {
            (*captured).is_barred = true;
        }
        is_barred
    });
    if barred { ap::HTTP_FORBIDDEN.cast_signed() } else { ap::DECLINED }
}

/// What is captured of the probe that a request is, or is part of; null for all others.
///
/// # Safety
///
/// The request is good.
unsafe fn captured_of(request: *const ap::request_rec) -> *mut Captured {
    let mut request = request;
    // SAFETY: only we put something into our slot; a request within the server knows the one before it.
    unsafe {
        while !(*request).prev.is_null() {
            request = (*request).prev;
        }
        module::config((*request).request_config).cast()
    }
}
