//! Work in the background: httpd's mod_watchdog calls a function about every second, in one child of all.
//!
//! If that child ends, another takes its place some seconds later. After a graceful restart the children of both
//! generations may be called for a while; a function that writes must therefore hold a lock.

use std::ffi::{c_char, c_int, c_void};
use std::ptr::null_mut;

use crate::bindings as ap;
use crate::guard::guard;
use crate::log::{self, Level};
use crate::module::Module;
use crate::server::Server;

/// The interval between calls in microseconds.
const INTERVAL: ap::apr_interval_time_t = 1_000_000;

type GetInstance = unsafe extern "C" fn(
    *mut *mut ap::ap_watchdog_t,
    *const c_char,
    c_int,
    c_int,
    *mut ap::apr_pool_t,
) -> ap::apr_status_t;

type RegisterCallback = unsafe extern "C" fn(
    *mut ap::ap_watchdog_t,
    ap::apr_interval_time_t,
    *const c_void,
    ap::ap_watchdog_callback_fn_t,
) -> ap::apr_status_t;

/// Arranges for [`Module::beat`] to be called.
///
/// # Safety
///
/// The configuration has just been read; pool and server are those of it.
pub(crate) unsafe fn register<M: Module>(pool: *mut ap::apr_pool_t, main: *mut ap::server_rec) {
    // SAFETY: mod_watchdog publishes these functions under these names and with these types.
    let registered = unsafe {
        let get = ap::apr_dynamic_fn_retrieve(c"ap_watchdog_get_instance".as_ptr());
        let add = ap::apr_dynamic_fn_retrieve(c"ap_watchdog_register_callback".as_ptr());
        match (get, add) {
            (Some(get), Some(add)) => {
                let get: GetInstance = std::mem::transmute(get);
                let add: RegisterCallback = std::mem::transmute(add);
                let mut watchdog = null_mut();
                let (in_parent, alone) = (0, 1);
                match get(&raw mut watchdog, c"_oai_".as_ptr(), in_parent, alone, pool) {
                    0 => add(watchdog, INTERVAL, main.cast(), Some(called::<M>)) == 0,
                    _ => false,
                }
            }
            _ => false,
        }
    };
    if !registered {
        log::server(
            Level::Error,
            "mod_watchdog is not loaded; changes of the site are not detected: load mod_watchdog",
        );
    }
}

unsafe extern "C" fn called<M: Module>(state: c_int, main: *mut c_void, _: *mut ap::apr_pool_t) -> ap::apr_status_t {
    guard((), || {
        if state == ap::AP_WATCHDOG_STATE_STARTING.cast_signed() {
            // SAFETY: this affects only the present thread. httpd's signals are for its main thread: neither this one
            // nor threads started from it, which inherit this, may end the process in the middle of their work.
            unsafe { ap::apr_setup_signal_thread() };
        } else if state == ap::AP_WATCHDOG_STATE_RUNNING.cast_signed() {
            // SAFETY: the main server as registered; in a child it is valid until the process ends.
            M::beat(unsafe { Server::<'static>::new(main.cast()) });
        } else if state == ap::AP_WATCHDOG_STATE_STOPPING.cast_signed() {
            M::stop();
        }
    });
    0
}
