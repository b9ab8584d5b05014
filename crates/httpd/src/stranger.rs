//! Probes on behalf of nobody.
//!
//! The indexer has no client, but httpd still knows best which file a URL leads to and what kind it is. So it is asked by
//! a stranger: somebody without credentials, from an address that belongs to nobody and is not this machine's. What a
//! stranger is told decides on nobody's access.

use std::ffi::{c_char, c_int};
use std::io;
use std::ptr::null_mut;

use crate::asker::{Asker, host_of};
use crate::bindings as ap;
use crate::module;
use crate::pool::{self, OwnPool};
use crate::server::Server;
use crate::table::Table;
use crate::text;

/// Of the addresses that are set aside for documentation, so it is nobody's and no rule about real ones is met by it.
const ADDRESS: &std::ffi::CStr = c"192.0.2.1";

/// Of the same kind, and another one: the stranger does not ask from the server itself.
const SERVER_ADDRESS: &std::ffi::CStr = c"192.0.2.2";

/// Somebody about whom nothing is known. For one thread at a time.
pub struct Stranger<'s> {
    pool: OwnPool,
    connection: *mut ap::conn_rec,
    server: Server<'s>,
    hostname: *mut c_char,
    headers: *mut ap::apr_table_t,
    address: *mut ap::apr_sockaddr_t,
}

// SAFETY: the pool has an allocator of its own, and whoever has the stranger is the only one to use it.
unsafe impl Send for Stranger<'static> {}

impl<'s> Stranger<'s> {
    /// A stranger at the door of this server, asking for URLs of this scheme and authority.
    pub fn at(server: Server<'s>, scheme: &str, authority: &str) -> io::Result<Self> {
        let pool = OwnPool::alone(c"oai_stranger");
        // SAFETY: a connection made from nothing, in a pool of its own, with all that the phases of a request look at.
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
            let created = ap::apr_socket_create(&raw mut socket, INET, STREAM, 0, at);
            expect(created, "make a socket")?;
            ap::ap_set_module_config(record.conn_config, module::find(c"core.c"), socket.cast());
            let hostname = text::copy(at, host_of(authority).as_bytes());
            let headers = ap::apr_table_make(at, 4);
            Table::new(headers).set(c"Host", authority);
            Table::new(headers).set(c"User-Agent", "mod_oai");
            // Of the ways to have come by TLS it is the one that can be made up here.
            Table::new(headers).set(c"X-Forwarded-Proto", scheme);
            Ok(Self { pool, connection, server, hostname, headers, address })
        }
    }

    /// The stranger as somebody who asks.
    pub fn asks(&mut self) -> Asker<'_> {
        // SAFETY: everything lives in our pool, which nobody else uses meanwhile.
        unsafe {
            let (at, server, ip) = (self.pool.raw(), self.server.raw(), (*self.connection).client_ip);
            Asker::new(at, self.connection, server, self.hostname, self.headers, (self.address, ip))
        }
    }
}

const INET: c_int = 2;
const STREAM: c_int = 1;

unsafe fn socket_address(
    pool: *mut ap::apr_pool_t,
    address: &'static std::ffi::CStr,
) -> io::Result<*mut ap::apr_sockaddr_t> {
    let mut found = null_mut();
    // SAFETY: a numeric address needs no look-up; the result is in the pool.
    let status = unsafe { ap::apr_sockaddr_info_get(&raw mut found, address.as_ptr(), INET, 40_000, 0, pool) };
    expect(status, "make an address")?;
    Ok(found)
}

fn expect(status: ap::apr_status_t, what: &str) -> io::Result<()> {
    if status == 0 { Ok(()) } else { Err(io::Error::other(format!("cannot {what}: {status}"))) }
}
