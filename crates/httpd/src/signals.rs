//! Defers the signals that end a child during critical work.
//!
//! A child of the prefork MPM ends inside the signal handler, wherever its only thread is: also in the middle of
//! allocating memory, and then it hangs on the allocator's lock until it is killed. So the signals wait while this
//! module works, and are delivered whenever a part of a response is passed on. The threads of other MPMs get no signals
//! at all.

use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::ptr::null_mut;

use crate::bindings as ap;

/// The signals by which the parent ends its children.
const ENDING: [c_int; 3] = [libc::SIGHUP, libc::SIGUSR1, libc::SIGTERM];

/// Blocks or delivers signals for as long as it lives; then the previous mask is restored.
pub(crate) struct Signals {
    before: Option<libc::sigset_t>,
}

impl Signals {
    /// Blocks them.
    pub(crate) fn hold() -> Self {
        Self::mask(libc::SIG_BLOCK)
    }

    /// Delivers them.
    pub(crate) fn let_through() -> Self {
        Self::mask(libc::SIG_UNBLOCK)
    }

    fn mask(how: c_int) -> Self {
        let mut is_threaded = 0;
        // SAFETY: reads a state.
        let asked = unsafe { ap::ap_mpm_query(ap::AP_MPMQ_IS_THREADED.cast_signed(), &raw mut is_threaded) };
        if asked != 0 || is_threaded != 0 {
            return Self { before: None };
        }
        let (mut set, mut before) = (MaybeUninit::uninit(), MaybeUninit::uninit());
        // SAFETY: a set of signals that is emptied before it is filled, and a place for the previous one; this affects
        // only the present thread.
        unsafe {
            libc::sigemptyset(set.as_mut_ptr());
            for signal in ENDING {
                libc::sigaddset(set.as_mut_ptr(), signal);
            }
            let masked = libc::pthread_sigmask(how, set.as_ptr(), before.as_mut_ptr());
            Self { before: (masked == 0).then(|| before.assume_init()) }
        }
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            // SAFETY: the set that was in force.
            unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before, null_mut()) };
        }
    }
}
