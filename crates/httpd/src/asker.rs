//! On whose behalf probes are made, and how one is prepared: a request as httpd's own reader would make it, on a private
//! copy of the requester's connection.

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::marker::PhantomData;
use std::ptr::null_mut;

use crate::bindings as ap;
use crate::capture::{self, Captured};
use crate::module;
use crate::pool::{self, OwnPool};
use crate::probe::Probe;
use crate::request::Request;
use crate::stage;
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

/// By which a requester can be told from others, besides its address.
const CREDENTIALS: &[&CStr] = &[c"Authorization", c"Cookie", c"Proxy-Authorization"];

/// MSG_PEEK and MSG_DONTWAIT.
const PEEK: c_int = 0x42;

/// Larger than what any MPM keeps about a connection: the event MPM, the only one that does, some 200 bytes.
type Blank = [u64; 128];

/// A connection with room behind it: later releases may add fields at its end, which are left empty in a copy.
#[repr(C)]
struct Roomy {
    connection: ap::conn_rec,
    room: [u64; 32],
}

/// A look-up of the requester's name is dear and the same for all probes.
#[derive(Clone, Copy)]
struct Called {
    host: *mut c_char,
    /// As httpd notes whether the name leads back to the address.
    double_reverse: c_int,
}

/// On whose behalf probes are made.
pub struct Asker<'r> {
    pool: *mut ap::apr_pool_t,
    connection: *mut ap::conn_rec,
    pub(crate) server: *mut ap::server_rec,
    hostname: *const c_char,
    headers: *mut ap::apr_table_t,
    pub(crate) address: *mut ap::apr_sockaddr_t,
    pub(crate) ip: *mut c_char,
    /// What the requester's address is called, once that has been looked up.
    called: Cell<Called>,
    slots: usize,
    http2: *mut ap::module,
    event: *mut ap::module,
    _request: PhantomData<&'r ()>,
}

impl<'r> Asker<'r> {
    /// Whoever sent this request, asking for URLs with this authority (`www.example.org:8080`): by which name the
    /// repository itself was asked does not matter.
    pub fn behind(request: &'r Request<'_>, authority: &str) -> Self {
        Self::with_headers(request, authority, NOT_HANDED_ON)
    }

    /// The same one, without anything that tells who it is.
    pub fn nameless(request: &'r Request<'_>, authority: &str) -> Self {
        Self::with_headers(request, authority, &[NOT_HANDED_ON, CREDENTIALS].concat())
    }

    fn with_headers(request: &'r Request<'_>, authority: &str, not_handed_on: &[&CStr]) -> Self {
        // SAFETY: everything here lasts as long as the request, and is this thread's alone.
        unsafe {
            let record = &*request.raw();
            let headers = ap::apr_table_copy(record.pool, record.headers_in);
            not_handed_on.iter().for_each(|name| Table::new(headers).unset(name));
            Table::new(headers).set(c"Host", authority);
            let hostname = text::copy(record.pool, host_of(authority).as_bytes());
            let client = (record.useragent_addr, record.useragent_ip);
            Self::new(record.pool, record.connection, record.server, hostname, headers, client)
        }
    }

    /// Whether the client has gone away, so that nobody waits for an answer.
    pub fn has_left(&self) -> bool {
        // SAFETY: the connection lasts longer than we do. Its socket is in the core's slot, unless it is one of several
        // within another; looking at it takes nothing out of it.
        unsafe {
            let connection = &*self.connection;
            if connection.aborted != 0 || !connection.master.is_null() {
                return connection.aborted != 0;
            }
            let socket = ap::ap_get_module_config(connection.conn_config, module::find(c"core.c"));
            let mut descriptor = -1;
            if socket.is_null() || ap::apr_os_sock_get(&raw mut descriptor, socket.cast()) != 0 {
                return false;
            }
            let mut byte = 0_u8;
            ap::recv(descriptor, (&raw mut byte).cast(), 1, PEEK) == 0
        }
    }

    /// # Safety
    ///
    /// All pointers are good for `'r`, and this thread's alone.
    pub(crate) unsafe fn new(
        pool: *mut ap::apr_pool_t,
        connection: *mut ap::conn_rec,
        server: *mut ap::server_rec,
        hostname: *const c_char,
        headers: *mut ap::apr_table_t,
        (address, ip): (*mut ap::apr_sockaddr_t, *mut c_char),
    ) -> Self {
        let (http2, event) = (module::find(c"mod_http2.c"), module::find(c"event.c"));
        let called = Cell::new(Called { host: null_mut(), double_reverse: 0 });
        Self {
            called,
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
            probe.invoke();
        }
        probe
    }

    /// Asks whether the requester would be let through to the URL of this path, whatever is there.
    pub fn enter(&self, path: &str) -> Probe<'_> {
        let mut probe = self.prepare(path);
        probe.passes();
        probe
    }

    fn prepare(&self, path: &str) -> Probe<'_> {
        // SAFETY: a request as httpd's own reader would make it, in a pool of its own, on a copy of the connection: what
        // the phases write there is gone with the pool. Slots of other modules are copied, so that they find what they
        // need; mod_http2's is left empty, because it would answer on its stream; the event MPM gets a blank of its own.
        unsafe {
            let pool = OwnPool::within(self.pool, c"oai_probe");
            let at = pool.raw();
            let connection = &raw mut (*pool::zeroed::<Roomy>(at)).connection;
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
            (*connection).log = stage::silence();
            let captured = pool::keep(at, Captured::default());
            ap::ap_add_output_filter_handle(capture::filter(), captured.cast(), null_mut(), connection);
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
            let Called { host, double_reverse } = self.called.get();
            record.useragent_host = host;
            record.double_reverse = double_reverse;
            record.log = stage::silence();
            ap::ap_set_module_config(record.request_config, module::raw(), captured.cast());
            ap::ap_parse_uri(request, text::copy(at, path.as_bytes()));
            Probe::new(request, captured, self, pool)
        }
    }

    /// Remembers what the requester's address is called, if it has been looked up.
    pub(crate) fn remember_name(&self, record: &ap::request_rec) {
        // SAFETY: a C string of the request; the copy is in our pool, which outlives all probes.
        unsafe {
            if self.called.get().host.is_null()
                && let Some(host) = text::bytes(record.useragent_host)
            {
                let host = text::copy(self.pool, host);
                self.called.set(Called { host, double_reverse: record.double_reverse });
            }
        }
    }
}

/// The host in an authority, without its port.
pub(crate) fn host_of(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
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
