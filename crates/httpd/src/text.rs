//! C strings.

use std::ffi::{CStr, c_char};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use crate::bindings as ap;

/// The bytes of a C string; `None` for a null pointer.
///
/// # Safety
///
/// The pointer is null or leads to a C string that lasts for `'a`.
pub(crate) unsafe fn bytes<'a>(text: *const c_char) -> Option<&'a [u8]> {
    // SAFETY: not null, and a C string by the caller's word.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_bytes())
}

/// The same where it is UTF-8.
///
/// # Safety
///
/// As for [`bytes`].
pub(crate) unsafe fn utf8<'a>(text: *const c_char) -> Option<&'a str> {
    // SAFETY: the caller's word.
    unsafe { bytes(text) }.and_then(|bytes| std::str::from_utf8(bytes).ok())
}

/// The same as a path.
///
/// # Safety
///
/// As for [`bytes`].
pub(crate) unsafe fn path<'a>(text: *const c_char) -> Option<&'a Path> {
    // SAFETY: the caller's word.
    unsafe { bytes(text) }.map(|bytes| Path::new(std::ffi::OsStr::from_bytes(bytes)))
}

/// A C string in a pool. What follows a NUL is cut off.
///
/// # Safety
///
/// The pool is one that this thread may use.
pub(crate) unsafe fn copy(pool: *mut ap::apr_pool_t, text: &[u8]) -> *mut c_char {
    let length = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
    // SAFETY: `length` bytes are there, and the copy gets a NUL of its own.
    unsafe { ap::apr_pstrmemdup(pool, text.as_ptr().cast(), length) }
}
