//! The requester of probes, and the preparation of a probe: a request as httpd's own parser would create it, on a
//! private copy of the requester's connection.

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::marker::PhantomData;
use std::ptr::null_mut;
use std::rc::Rc;

use crate::bindings as ap;
use crate::capture::{self, Captured};
use crate::module;
use crate::partial;
use crate::pool::{self, OwnPool};
use crate::probe::Probe;
use crate::realms::Realms;
use crate::request::Request;
use crate::stage;
use crate::table::Table;
use crate::text;

/// Headers that apply only to the requester's own request, or would select another representation. For `Accept`, see
/// [`ANYTHING`].
const NOT_HANDED_ON: &[&CStr] = &[
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

/// The `Accept` header of a probe if the requester's request has one: that header applies to the repository's response.
const ANYTHING: &str = "*/*";

/// Headers that distinguish a requester from others, in addition to its address.
const CREDENTIALS: &[&CStr] = &[c"Authorization", c"Cookie", c"Proxy-Authorization"];

/// Larger than the data that any MPM stores for a connection: only the event MPM stores any, about 200 bytes.
type Blank = [u64; 128];

/// A connection with space after it: later releases may add fields at its end, which are left empty in a copy.
#[repr(C)]
struct Roomy {
    connection: ap::conn_rec,
    room: [u64; 32],
}

/// The result of looking up the requester's host name, which is slow, and the same for all probes.
#[derive(Clone, Copy)]
pub(crate) struct Called {
    pub(crate) host: *mut c_char,
    /// The result of httpd's check that the name resolves to the address.
    pub(crate) double_reverse: c_int,
}

/// The requester of probes.
pub struct Asker<'r> {
    pub(crate) pool: *mut ap::apr_pool_t,
    pub(crate) connection: *mut ap::conn_rec,
    pub(crate) server: *mut ap::server_rec,
    pub(crate) hostname: *const c_char,
    /// The port in the authority, and its number; null and 0 if it has none.
    pub(crate) port: (*mut c_char, u16),
    pub(crate) headers: *mut ap::apr_table_t,
    /// The version of HTTP, and its number.
    pub(crate) protocol: (*mut c_char, c_int),
    /// The known results of checking its credentials.
    pub(crate) realms: Rc<Realms>,
    /// The same for probes with part of its attributes: what these refuse is not the requester's error.
    pub(crate) partial_realms: Rc<Realms>,
    /// The host name of the requester's address, once it has been looked up.
    pub(crate) called: Cell<Called>,
    /// The address of the requester, if it does not follow from the connection and the headers.
    pub(crate) client: Option<(*mut ap::apr_sockaddr_t, *mut c_char)>,
    /// True if that is the address of the connection, too.
    pub(crate) is_elsewhere: bool,
    /// True if probes hide the TLS state of the connection.
    pub(crate) is_plain: bool,
    pub(crate) slots: usize,
    pub(crate) http2: *mut ap::module,
    pub(crate) event: *mut ap::module,
    pub(crate) _request: PhantomData<&'r ()>,
}

impl<'r> Asker<'r> {
    /// Returns the sender of this request as a requester of URLs with this authority (`www.example.org:8080`). The name
    /// in the request to the repository itself has no effect.
    pub fn behind(request: &'r Request<'_>, authority: &str) -> Self {
        Self::with_headers(request, authority, NOT_HANDED_ON)
    }

    /// Returns the same requester without any credentials.
    pub fn nameless(request: &'r Request<'_>, authority: &str) -> Self {
        Self::with_headers(request, authority, &[NOT_HANDED_ON, CREDENTIALS].concat())
    }

    fn with_headers(request: &'r Request<'_>, authority: &str, not_handed_on: &[&CStr]) -> Self {
        // SAFETY: everything here lasts as long as the request, and is used by this thread only.
        unsafe {
            let record = &*request.raw();
            let headers = ap::apr_table_copy(record.pool, stage::arrived_headers(record));
            let table = Table::new(headers);
            not_handed_on.iter().for_each(|name| table.unset(name));
            if table.get(c"Accept").is_some() {
                table.set(c"Accept", ANYTHING);
            }
            let mut asker = Self::new(record.pool, record.connection, record.server, authority, headers);
            asker.protocol = (record.protocol, record.proto_num);
            asker.realms = Rc::new(Realms::new(!record.user.is_null()));
            asker.partial_realms = Rc::new(Realms::after(&asker.realms));
            asker
        }
    }

    /// Returns the headers of its probes.
    pub fn headers(&self) -> Table<'_> {
        // SAFETY: our own table.
        unsafe { Table::new(self.headers) }
    }

    /// Returns true if a realm of the site refused the requester's credentials as wrong, and none has accepted them so
    /// far.
    pub fn is_refused(&self) -> bool {
        self.realms.have_refused()
    }

    /// Returns true if a realm of the site has accepted the requester's credentials.
    pub fn is_accepted(&self) -> bool {
        self.realms.have_accepted()
    }

    /// Returns the number of realms of the site that have refused the requester's credentials as wrong.
    pub fn refusals(&self) -> usize {
        self.realms.refusals()
    }

    /// Writes the messages of httpd about these credentials to the error log, and adds the challenge of the realm that
    /// refused them to a response.
    pub fn report_refusal(&self, request: &Request<'_>) {
        self.realms.report(request);
    }

    /// Returns true if the client has closed the connection, so that a response is not needed.
    pub fn has_left(&self) -> bool {
        // SAFETY: the connection lasts longer than this requester. Its socket is in the core's slot, unless it is one
        // of several within another; the check reads nothing from it.
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
            libc::recv(descriptor, (&raw mut byte).cast(), 1, libc::MSG_PEEK | libc::MSG_DONTWAIT) == 0
        }
    }

    /// # Safety
    ///
    /// All pointers are valid for `'r`, and used by this thread only.
    pub(crate) unsafe fn new(
        pool: *mut ap::apr_pool_t,
        connection: *mut ap::conn_rec,
        server: *mut ap::server_rec,
        authority: &str,
        headers: *mut ap::apr_table_t,
    ) -> Self {
        let (host, port) = parts_of(authority);
        // SAFETY: ensured by the caller.
        let (hostname, port) = unsafe {
            Table::new(headers).set(c"Host", authority);
            let number = port.and_then(|port| port.parse().ok()).unwrap_or(0);
            let port = port.map_or(null_mut(), |port| text::copy(pool, port.as_bytes()));
            (text::copy(pool, host.to_ascii_lowercase().as_bytes()), (port, number))
        };
        let (http2, event) = (module::find(c"mod_http2.c"), module::find(c"event.c"));
        let called = Cell::new(Called { host: null_mut(), double_reverse: 0 });
        Self {
            called,
            client: None,
            is_elsewhere: false,
            is_plain: false,
            pool,
            connection,
            server,
            hostname,
            port,
            headers,
            protocol: (c"HTTP/1.1".as_ptr().cast_mut(), 1001),
            realms: Rc::default(),
            partial_realms: Rc::default(),
            slots: slots(),
            http2,
            event,
            _request: PhantomData,
        }
    }

    /// Requests the URL of this path (percent-encoded, beginning with a slash).
    pub fn get(&self, path: &str) -> Probe<'_> {
        let mut probe = self.prepare(path);
        if probe.passes() {
            probe.invoke();
        }
        probe
    }

    /// Checks that the requester has access to the URL of this path, whether a file exists there or not.
    pub fn enter(&self, path: &str) -> Probe<'_> {
        let mut probe = self.prepare(path);
        probe.passes();
        probe
    }

    fn prepare(&self, path: &str) -> Probe<'_> {
        // SAFETY: a request as httpd's own parser would create it, in a separate pool, on a copy of the connection:
        // data that the phases write there is deleted with the pool. Slots of other modules are copied, because they
        // need their data; mod_http2's is left empty, because it would respond on its stream; the event MPM gets a
        // separate blank.
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
            if let (true, Some((address, ip))) = (self.is_elsewhere, self.client) {
                (*connection).client_addr = address;
                (*connection).client_ip = ip;
                (*connection).remote_host = null_mut();
            }
            if self.is_plain {
                partial::remove_tls(&mut *connection, config);
            }
            (*connection).pool = at;
            (*connection).conn_config = config;
            (*connection).notes = ap::apr_table_copy(at, (*connection).notes);
            (*connection).input_filters = null_mut();
            (*connection).output_filters = null_mut();
            (*connection).keepalive = ap::ap_conn_keepalive_e_AP_CONN_CLOSE;
            (*connection).log = stage::silence();
            let captured = pool::keep(at, Captured::new(Rc::as_ptr(&self.realms)));
            ap::ap_add_output_filter_handle(capture::filter(), captured.cast(), null_mut(), connection);
            let request = ap::ap_create_request(connection);
            let record = &mut *request;
            let version = text::utf8(self.protocol.0).unwrap_or("HTTP/1.1");
            record.the_request = text::copy(at, format!("GET {path} {version}").as_bytes());
            record.method = c"GET".as_ptr();
            record.method_number = ap::M_GET.cast_signed();
            (record.protocol, record.proto_num) = self.protocol;
            record.status = ap::HTTP_OK.cast_signed();
            // A file that changed a moment ago has a weak ETag.
            record.request_time = now();
            record.hostname = self.hostname;
            record.server = self.server;
            record.per_dir_config = (*self.server).lookup_defaults;
            record.headers_in = ap::apr_table_copy(at, self.headers);
            record.useragent_addr = (*connection).client_addr;
            record.useragent_ip = (*connection).client_ip;
            let Called { host, double_reverse } = self.called.get();
            record.useragent_host = host;
            record.double_reverse = double_reverse;
            record.log = stage::silence();
            stage::mark(request, captured);
            ap::ap_parse_uri(request, text::copy(at, path.as_bytes()));
            // As httpd's parser takes it from the Host header.
            (record.parsed_uri.port_str, record.parsed_uri.port) = self.port;
            Probe::new(request, captured, self, pool)
        }
    }

    /// Stores the host name of the requester's address, if it has been looked up.
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

/// Returns the host in an authority, and the port if it has one.
fn parts_of(authority: &str) -> (&str, Option<&str>) {
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => (host, Some(port)),
        _ => (authority, None),
    }
}

/// Returns microseconds since 1970.
fn now() -> ap::apr_time_t {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    ap::apr_time_t::try_from(since.as_micros()).unwrap_or_default()
}

/// Returns the number of slots that may be in use in a vector of configurations.
fn slots() -> usize {
    // SAFETY: a module that is loaded.
    let slots = module::all().map(|module| unsafe { (*module).module_index } + 1);
    usize::try_from(slots.max().unwrap_or_default()).unwrap_or_default()
}
