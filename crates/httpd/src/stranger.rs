//! Probes without a client, for the indexer.
//!
//! The indexer has no client, but only httpd can determine which file a URL points to and its type. The probe is that
//! of an anonymous client: without credentials, from an address that is reserved and is not one of this machine. Its
//! result is never used to decide on the access of other clients.

use std::ffi::c_char;
use std::io;
use std::ptr::null_mut;

use crate::asker::Asker;
use crate::bindings as ap;
use crate::module;
use crate::pool::{self, OwnPool};
use crate::server::Server;
use crate::table::Table;
use crate::text;

/// An address reserved for documentation, so that no rule about real addresses matches it.
const ADDRESS: &std::ffi::CStr = c"192.0.2.1";

/// Another such address, because the anonymous client is not the server itself.
const SERVER_ADDRESS: &std::ffi::CStr = c"192.0.2.2";

/// The User-Agent of the anonymous client.
pub(crate) const AGENT: &str = "mod_oai";

/// An anonymous client. For one thread at a time.
pub struct Stranger<'s> {
    pool: OwnPool,
    connection: *mut ap::conn_rec,
    server: Server<'s>,
    authority: String,
    headers: *mut ap::apr_table_t,
}

// SAFETY: the pool has a separate allocator, and only the owner of this value uses it.
unsafe impl Send for Stranger<'static> {}

impl<'s> Stranger<'s> {
    /// Returns an anonymous client of this server, for URLs of this scheme and authority.
    pub fn at(server: Server<'s>, scheme: &str, authority: &str) -> io::Result<Self> {
        let pool = OwnPool::alone(c"oai_stranger");
        // SAFETY: a new connection in a separate pool, with all fields that the phases of a request read.
        unsafe {
            let at = pool.raw();
            let connection = pool::zeroed::<ap::conn_rec>(at);
            let address = socket_address(at, ADDRESS)?;
            let own_address = socket_address(at, SERVER_ADDRESS)?;
            let record = &mut *connection;
            record.pool = at;
            record.base_server = server.raw();
            record.client_addr = address;
            record.client_ip = text::copy(at, ADDRESS.to_bytes());
            record.local_addr = own_address;
            record.local_ip = text::copy(at, SERVER_ADDRESS.to_bytes());
            record.notes = ap::apr_table_make(at, 4);
            record.bucket_alloc = ap::apr_bucket_alloc_create(at);
            record.id = -1;
            record.conn_config = ap::ap_create_conn_config(at);
            // The core keeps the socket in its slot; this one is never connected.
            let mut socket = null_mut();
            let created = ap::apr_socket_create(&raw mut socket, libc::AF_INET, libc::SOCK_STREAM, 0, at);
            expect(created, "create a socket")?;
            ap::ap_set_module_config(record.conn_config, module::find(c"core.c"), socket.cast());
            introduce(connection, socket.cast());
            let headers = ap::apr_table_make(at, 4);
            Table::new(headers).set(c"Accept", "*/*");
            Table::new(headers).set(c"User-Agent", AGENT);
            // This is the only indication of TLS that can be synthesised here.
            Table::new(headers).set(c"X-Forwarded-Proto", scheme);
            Ok(Self { pool, connection, server, authority: authority.to_owned(), headers })
        }
    }

    /// Returns the anonymous client as a requester of probes.
    pub fn asks(&mut self) -> Asker<'_> {
        // SAFETY: everything lives in our pool, which is not used elsewhere meanwhile.
        unsafe { Asker::new(self.pool.raw(), self.connection, self.server.raw(), &self.authority, self.headers) }
    }
}

/// Returns the address of the anonymous client, as structure and as text.
///
/// # Safety
///
/// This thread may use the pool.
pub(crate) unsafe fn client(pool: *mut ap::apr_pool_t) -> io::Result<(*mut ap::apr_sockaddr_t, *mut c_char)> {
    // SAFETY: ensured by the caller.
    unsafe { Ok((socket_address(pool, ADDRESS)?, text::copy(pool, ADDRESS.to_bytes()))) }
}

/// Modules of httpd that prepare connections. They work without their data for a connection; with it, they would start
/// TLS, or wait for the first data of a proxy.
const OF_HTTPD: [&[u8]; 11] = [
    b"core.c",
    b"http_core.c",
    b"mod_dumpio.c",
    b"mod_echo.c",
    b"mod_http2.c",
    b"mod_logio.c",
    b"mod_proxy.c",
    b"mod_proxy_connect.c",
    b"mod_remoteip.c",
    b"mod_reqtimeout.c",
    b"mod_ssl.c",
];

/// Lets all other modules prepare the connection: during a request they may expect the data that they store for its
/// connection.
unsafe fn introduce(connection: *mut ap::conn_rec, socket: *mut std::ffi::c_void) {
    // SAFETY: httpd's list of hooks, which does not change while children exist, and a complete connection. Filters
    // that are added here do not affect a probe, which has only modoai's filter.
    unsafe {
        let Some(hooks) = ap::ap_hook_get_pre_connection().as_ref() else { return };
        for at in 0..usize::try_from(hooks.nelts).unwrap_or_default() {
            let hook = &*hooks.elts.cast::<ap::ap_LINK_pre_connection_t>().add(at);
            let is_of_httpd = text::bytes(hook.szName).is_some_and(|name| OF_HTTPD.contains(&name));
            if let (Some(prepare), false) = (hook.pFunc, is_of_httpd) {
                prepare(connection, socket);
            }
        }
    }
}

unsafe fn socket_address(
    pool: *mut ap::apr_pool_t,
    address: &'static std::ffi::CStr,
) -> io::Result<*mut ap::apr_sockaddr_t> {
    let mut found = null_mut();
    // SAFETY: a numeric address needs no look-up; the result is in the pool.
    let status = unsafe { ap::apr_sockaddr_info_get(&raw mut found, address.as_ptr(), libc::AF_INET, 40_000, 0, pool) };
    expect(status, "create an address")?;
    Ok(found)
}

fn expect(status: ap::apr_status_t, what: &str) -> io::Result<()> {
    if status == 0 { Ok(()) } else { Err(io::Error::other(format!("failed to {what}: {status}"))) }
}
