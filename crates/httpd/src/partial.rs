//! Probes with part of a requester's attributes: headers, address, TLS connection. They show which attributes the access rules
//! of httpd require.

use std::cell::Cell;
use std::ffi::{CStr, CString, c_char, c_void};
use std::io;
use std::ptr::null_mut;
use std::rc::Rc;

use crate::asker::{Asker, Called};
use crate::bindings as ap;
use crate::module;
use crate::request::Request;
use crate::stranger;
use crate::table::Table;
use crate::text;

/// Modules that store the TLS state of a connection in its configuration.
const TLS: [&CStr; 2] = [c"mod_ssl.c", c"mod_tls.c"];

/// The type of mod_ssl's optional function `ssl_var_lookup`.
type Lookup = unsafe extern "C" fn(
    *mut ap::apr_pool_t,
    *mut ap::server_rec,
    *mut ap::conn_rec,
    *mut ap::request_rec,
    *mut c_char,
) -> *mut c_char;

/// A selection of a requester's attributes.
#[derive(Clone, Copy)]
pub struct Part<'a> {
    /// A function that returns true if the header with this name, in lower case, is selected.
    pub headers: &'a dyn Fn(&str) -> bool,
    /// True if the address is selected.
    pub address: bool,
    /// True if the TLS connection is selected.
    pub tls: bool,
}

impl Asker<'_> {
    /// Returns the headers of probes, with names in lower case. Several headers of one name are joined. `Host` is left
    /// out: it is the same for all requesters.
    pub fn header_values(&self) -> Vec<(String, Vec<u8>)> {
        let mut headers: Vec<(String, Vec<u8>)> = Vec::new();
        for (name, value) in self.headers().entries() {
            let name = String::from_utf8_lossy(name).to_ascii_lowercase();
            match headers.iter_mut().find(|(other, _)| *other == name) {
                _ if name == "host" => {}
                Some((_, values)) => values.extend([b", ", value].concat()),
                None => headers.push((name, value.to_vec())),
            }
        }
        headers
    }

    /// Returns issuer and subject of the client certificate, or empty lines without one; `None` if the connection does
    /// not use TLS.
    pub fn tls(&self) -> Option<Vec<u8>> {
        // SAFETY: the connection lasts longer than this requester.
        let uses_tls = unsafe {
            let own = &*self.connection;
            let connections = [Some(own), own.master.as_ref()];
            connections.into_iter().flatten().any(|connection| {
                tls_modules().any(|module| !ap::ap_get_module_config(connection.conn_config, module).is_null())
            })
        };
        uses_tls.then(|| [c"SSL_CLIENT_I_DN", c"SSL_CLIENT_S_DN"].map(|name| self.tls_variable(name)).join(&b'\n'))
    }

    fn tls_variable(&self, name: &CStr) -> Vec<u8> {
        // SAFETY: mod_ssl publishes this function under this name and with this type; it does not write to the name.
        unsafe {
            let Some(lookup) = ap::apr_dynamic_fn_retrieve(c"ssl_var_lookup".as_ptr()) else { return Vec::new() };
            let lookup: Lookup = std::mem::transmute(lookup);
            let value = lookup(self.pool, self.server, self.connection, null_mut(), name.as_ptr().cast_mut());
            text::bytes(value).unwrap_or_default().to_owned()
        }
    }

    /// Returns the same requester with only part of its attributes. The others are those of an anonymous one
    /// ([`crate::stranger`]).
    pub fn with_only(&self, request: &Request<'_>, part: Part<'_>) -> io::Result<Self> {
        // SAFETY: everything is allocated in the requester's pool, which lasts for `'r` and belongs to this thread. So
        // does the request, whose address is that of the requester.
        let (headers, client) = unsafe {
            let headers = ap::apr_table_copy(self.pool, self.headers);
            for (name, _) in self.header_values().iter().filter(|(name, _)| !(part.headers)(name)) {
                Table::new(headers).unset(&CString::new(name.as_str()).unwrap_or_default());
            }
            if !(part.headers)("user-agent") {
                Table::new(headers).set(c"User-Agent", stranger::AGENT);
            }
            let record = &*request.raw();
            let own = (record.useragent_addr, record.useragent_ip);
            (headers, if part.address { own } else { stranger::client(self.pool)? })
        };
        let nothing = Called { host: null_mut(), double_reverse: 0 };
        Ok(Self {
            headers,
            realms: Rc::clone(&self.partial_realms),
            partial_realms: Rc::clone(&self.partial_realms),
            called: if part.address { self.called.clone() } else { Cell::new(nothing) },
            client: Some(client),
            is_elsewhere: !part.address,
            is_plain: !part.tls,
            ..*self
        })
    }
}

/// Removes the TLS state from a connection.
///
/// # Safety
///
/// Connection and configuration are copies that belong to a probe.
pub(crate) unsafe fn remove_tls(connection: &mut ap::conn_rec, config: *mut ap::ap_conf_vector_t) {
    // SAFETY: ensured by the caller. A connection without TLS has an empty slot.
    tls_modules().for_each(|module| unsafe { ap::ap_set_module_config(config, module, null_mut::<c_void>()) });
    connection.master = null_mut();
}

fn tls_modules() -> impl Iterator<Item = *mut ap::module> {
    TLS.into_iter().map(module::find).filter(|module| !module.is_null())
}
