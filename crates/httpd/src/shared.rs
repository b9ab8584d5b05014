//! Numbers that all processes of httpd share: every child may write them, and all see what was written last.
//!
//! The memory is mapped once in the life of httpd, before there are children, and never given back: threads of a child
//! that ends may still look at it.

use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};

use crate::bindings as ap;
use crate::log::{self, Level};

/// How many there are.
pub const COUNT: usize = 2;

type Numbers = [AtomicU64; COUNT];

/// Set anew whenever the configuration is read.
static NUMBERS: AtomicPtr<Numbers> = AtomicPtr::new(null_mut());

/// The numbers, zero at first. None where there was no memory for them, or the configuration is only tested.
pub fn numbers() -> Option<&'static Numbers> {
    // SAFETY: null, or mapped for ever; zeroes are numbers, and whoever shares them changes them as wholes only.
    unsafe { NUMBERS.load(Ordering::Relaxed).as_ref() }
}

/// Finds the memory, or makes it if httpd has just been started.
///
/// # Safety
///
/// The configuration has just been read, and there are no other threads.
pub(crate) unsafe fn prepare() {
    let key = c"modoai shared numbers".as_ptr();
    // SAFETY: httpd keeps a pointer for us under this name while it unloads the library and loads it again.
    let kept: *mut *mut Numbers = unsafe {
        let kept = ap::ap_retained_data_get(key);
        if kept.is_null() { ap::ap_retained_data_create(key, size_of::<*mut Numbers>()) } else { kept }.cast()
    };
    // SAFETY: it is ours, zeroed when it was made; and what is mapped anew is nobody else's.
    unsafe {
        if (*kept).is_null() {
            let rights = ProtFlags::READ | ProtFlags::WRITE;
            match mmap_anonymous(null_mut(), size_of::<Numbers>(), rights, MapFlags::SHARED) {
                Ok(mapped) => *kept = mapped.cast(),
                Err(error) => log::server(Level::Warning, &format!("children share no memory: {error}")),
            }
        }
        NUMBERS.store(*kept, Ordering::Relaxed);
    }
}
