//! Servers and virtual hosts.

use std::ffi::CStr;
use std::marker::PhantomData;
use std::path::PathBuf;

use crate::bindings as ap;
use crate::module::{self, Module};
use crate::text;

/// The main server or a virtual host.
#[derive(Clone, Copy, Debug)]
pub struct Server<'a> {
    raw: *mut ap::server_rec,
    _configuration: PhantomData<&'a ()>,
}

// SAFETY: in a child, which never reads the configuration again, a server is valid until the process ends and never
// modified. Only `watchdog` returns servers with this lifetime.
unsafe impl Send for Server<'static> {}
// SAFETY: as above.
unsafe impl Sync for Server<'static> {}

impl<'a> Server<'a> {
    /// # Safety
    ///
    /// The server is valid for `'a`.
    pub(crate) unsafe fn new(raw: *mut ap::server_rec) -> Self {
        Self { raw, _configuration: PhantomData }
    }

    pub(crate) fn raw(&self) -> *mut ap::server_rec {
        self.raw
    }

    fn record(&self) -> &'a ap::server_rec {
        // SAFETY: valid for `'a`.
        unsafe { &*self.raw }
    }

    /// Returns this server and all after it: all servers, if this is the main one.
    pub fn all(self) -> impl Iterator<Item = Self> {
        std::iter::successors(Some(self), |server| {
            let next = server.record().next;
            (!next.is_null()).then_some(Self { raw: next, ..*server })
        })
    }

    /// Returns true if both are the same server.
    pub fn is(&self, other: &Server<'_>) -> bool {
        std::ptr::eq(self.raw, other.raw)
    }

    /// Returns true if it is a virtual host.
    pub fn is_virtual(&self) -> bool {
        self.record().is_virtual != 0
    }

    /// Returns `ServerName`, or httpd's default for it.
    pub fn name(&self) -> &'a str {
        // SAFETY: a C string of the configuration.
        unsafe { text::utf8(self.record().server_hostname) }.unwrap_or("localhost")
    }

    /// Returns the port in `ServerName`, if it has one.
    pub fn own_port(&self) -> Option<u16> {
        Some(self.record().port).filter(|port| *port != 0)
    }

    /// Returns that port, or the one of its first address; 0 if both are missing.
    pub fn port(&self) -> u16 {
        let addresses = self.record().addrs;
        // SAFETY: the first of its addresses, if it has any.
        let first = || if addresses.is_null() { 0 } else { unsafe { (*addresses).host_port } };
        self.own_port().unwrap_or_else(first)
    }

    /// Returns its addresses in the form of the configuration, such as `*:80`.
    pub fn addresses(&self) -> Vec<String> {
        // SAFETY: the configuration's own list of addresses.
        let next = |at: *const ap::server_addr_rec| unsafe { at.as_ref() };
        let all = std::iter::successors(next(self.record().addrs), |address| next(address.next));
        // SAFETY: a C string of the configuration.
        let name = |address: &ap::server_addr_rec| unsafe { text::utf8(address.virthost) }.unwrap_or_default();
        all.map(|address| format!("{}:{}", name(address), address.host_port)).collect()
    }

    /// Returns `ServerAdmin`, if it was given.
    pub fn admin(&self) -> Option<&'a str> {
        // SAFETY: a C string of the configuration.
        unsafe { text::utf8(self.record().server_admin) }.filter(|admin| *admin != "[no address given]")
    }

    /// Returns `DocumentRoot`.
    pub fn document_root(&self) -> Option<PathBuf> {
        // SAFETY: the core's own configuration of this server, which it always has.
        unsafe { text::path((*self.core()?).ap_document_root) }.map(PathBuf::from)
    }

    /// Returns the names of files that change the configuration of their directory: `AccessFileName`.
    pub fn access_files(&self) -> Vec<String> {
        // SAFETY: as above; null means the default.
        let names = self.core().and_then(|core| unsafe { text::utf8((*core).access_name) }).unwrap_or(".htaccess");
        names.split_whitespace().map(str::to_owned).collect()
    }

    fn core(&self) -> Option<*const ap::core_server_config> {
        let core = module::find(c"core.c");
        // SAFETY: the core keeps this structure in its slot.
        let config = unsafe { ap::ap_get_module_config(self.record().module_config, core) };
        (!config.is_null()).then(|| config.cast_const().cast())
    }

    /// Returns this module's configuration of it.
    pub fn config<M: Module>(&self) -> &'a M::Server {
        // SAFETY: created by `module`, and not modified once the configuration has been read.
        unsafe { &*module::config(self.record().module_config).cast() }
    }
}

/// Returns the user and group that children run as, if the parent has the privilege to choose.
pub fn run_user() -> (u32, u32) {
    // SAFETY: plain numbers, set while the configuration is read.
    unsafe { (ap::ap_unixd_config.user_id, ap::ap_unixd_config.group_id) }
}

/// Returns true if the MPM of this process is about to end it.
pub fn is_stopping() -> bool {
    let mut state = 0;
    // SAFETY: reads a state.
    let asked = unsafe { ap::ap_mpm_query(ap::AP_MPMQ_MPM_STATE.cast_signed(), &raw mut state) };
    asked != 0 || state == ap::AP_MPMQ_STOPPING.cast_signed()
}

/// Returns the number of requests that all children together can process at the same time.
pub fn workers() -> usize {
    number(ap::AP_MPMQ_MAX_DAEMONS).saturating_mul(threads())
}

/// Returns the number of requests that one child can process at the same time.
pub fn threads() -> usize {
    number(ap::AP_MPMQ_MAX_THREADS)
}

fn number(question: u32) -> usize {
    let mut number = 0;
    // SAFETY: reads numbers that are known before children exist.
    let asked = unsafe { ap::ap_mpm_query(question.cast_signed(), &raw mut number) };
    // A process without threads reports zero threads.
    if asked == 0 { usize::try_from(number).unwrap_or(1).max(1) } else { 1 }
}

/// Returns true if a name matches a pattern with `*` and `?`, by httpd's rules.
pub fn matches(name: &CStr, pattern: &CStr) -> bool {
    // SAFETY: two C strings.
    unsafe { ap::ap_strcmp_match(name.as_ptr(), pattern.as_ptr()) == 0 }
}
