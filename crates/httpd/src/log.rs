//! The error log.

use std::ffi::{CString, c_int};

use crate::bindings as ap;
use crate::module;

/// The severity of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// An error in the module itself.
    Critical,
    /// A failure of one function.
    Error,
    /// A condition that may cause a failure.
    Warning,
    /// A normal but significant event.
    Notice,
    /// A normal event.
    Info,
    /// Details for finding a cause.
    Debug,
    /// All details.
    Trace,
}

impl Level {
    fn number(self) -> c_int {
        let number = match self {
            Self::Critical => ap::APLOG_CRIT,
            Self::Error => ap::APLOG_ERR,
            Self::Warning => ap::APLOG_WARNING,
            Self::Notice => ap::APLOG_NOTICE,
            Self::Info => ap::APLOG_INFO,
            Self::Debug => ap::APLOG_DEBUG,
            Self::Trace => ap::APLOG_TRACE1,
        };
        number.cast_signed()
    }
}

/// Returns true if the main server's log accepts messages of this level from this module.
pub fn is_on(level: Level) -> bool {
    // SAFETY: httpd sets its main server before the first hook runs, and only replaces it between callbacks.
    unsafe {
        let server = ap::ap_server_conf;
        server.is_null() || ap::ap_get_server_module_loglevel(server, module::index()) >= level.number()
    }
}

/// Writes to the main server's log, from any thread.
pub fn server(level: Level, message: &str) {
    let text = c_text(message);
    // SAFETY: as above; a null server means standard error. The format takes one C string.
    unsafe {
        let (file, server) = (c"mod_oai".as_ptr(), ap::ap_server_conf);
        ap::ap_log_error_(file, 0, module::index(), level.number(), 0, server, c"%s".as_ptr(), text.as_ptr());
    }
}

/// Writes to the log of a request's server.
///
/// # Safety
///
/// The request is valid.
pub(crate) unsafe fn request(request: *const ap::request_rec, level: Level, message: &str) {
    let text = c_text(message);
    // SAFETY: the caller ensures a valid request. The format takes one C string.
    unsafe {
        if ap::ap_get_request_module_loglevel(request, module::index()) >= level.number() {
            let file = c"mod_oai".as_ptr();
            ap::ap_log_rerror_(file, 0, module::index(), level.number(), 0, request, c"%s".as_ptr(), text.as_ptr());
        }
    }
}

fn c_text(message: &str) -> CString {
    CString::new(message.replace('\0', " ")).unwrap_or_default()
}
