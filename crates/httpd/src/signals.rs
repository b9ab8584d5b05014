//! Signals that end a child, put off while it matters.
//!
//! A child of the prefork MPM that is told to end does so inside the signal handler, wherever its only thread is: also in
//! the middle of allocating memory, and then it hangs on the allocator's lock until it is killed. So the signals wait
//! while we work, and are let through whenever an answer is handed on. The threads of other MPMs get no signals at all.

use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::ptr::null_mut;

use crate::bindings as ap;

/// SIGHUP, SIGUSR1 and SIGTERM.
const ENDING: [c_int; 3] = [1, 10, 15];

/// Signals wait, or come through, for as long as this lives; then it is as it was before.
pub(crate) struct Signals {
    before: Option<ap::sigset_t>,
}

impl Signals {
    /// They wait.
    pub(crate) fn hold() -> Self {
        Self::mask(BLOCK)
    }

    /// They come through.
    pub(crate) fn let_through() -> Self {
        Self::mask(UNBLOCK)
    }

    fn mask(how: c_int) -> Self {
        let mut is_threaded = 0;
        // SAFETY: a question.
        let asked = unsafe { ap::ap_mpm_query(ap::AP_MPMQ_IS_THREADED.cast_signed(), &raw mut is_threaded) };
        if asked != 0 || is_threaded != 0 {
            return Self { before: None };
        }
        let (mut set, mut before) = (MaybeUninit::uninit(), MaybeUninit::uninit());
        // SAFETY: a set of signals that is emptied before it is filled, and room for the one before; about this thread
        // only.
        unsafe {
            ap::sigemptyset(set.as_mut_ptr());
            for signal in ENDING {
                ap::sigaddset(set.as_mut_ptr(), signal);
            }
            let masked = ap::pthread_sigmask(how, set.as_ptr(), before.as_mut_ptr());
            Self { before: (masked == 0).then(|| before.assume_init()) }
        }
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            // SAFETY: the set that was in force.
            unsafe { ap::pthread_sigmask(SET, before, null_mut()) };
        }
    }
}

const BLOCK: c_int = 0;
const UNBLOCK: c_int = 1;
const SET: c_int = 2;
