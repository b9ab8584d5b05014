//! C strings.

use std::ffi::{CStr, c_char};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use crate::bindings as ap;

/// Returns the bytes of a C string; `None` for a null pointer.
///
/// # Safety
///
/// The pointer is null or points to a C string that lasts for `'a`.
pub(crate) unsafe fn bytes<'a>(text: *const c_char) -> Option<&'a [u8]> {
    // SAFETY: not null, and the caller ensures a C string.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_bytes())
}

/// Returns the same if it is UTF-8.
///
/// # Safety
///
/// As for [`bytes`].
pub(crate) unsafe fn utf8<'a>(text: *const c_char) -> Option<&'a str> {
    // SAFETY: ensured by the caller.
    unsafe { bytes(text) }.and_then(|bytes| std::str::from_utf8(bytes).ok())
}

/// Returns the same as a path.
///
/// # Safety
///
/// As for [`bytes`].
pub(crate) unsafe fn path<'a>(text: *const c_char) -> Option<&'a Path> {
    // SAFETY: ensured by the caller.
    unsafe { bytes(text) }.map(|bytes| Path::new(std::ffi::OsStr::from_bytes(bytes)))
}

/// Copies text to a pool as a C string. Text after a NUL is cut off.
///
/// # Safety
///
/// The pool is one that this thread may use.
pub(crate) unsafe fn copy(pool: *mut ap::apr_pool_t, text: &[u8]) -> *mut c_char {
    let length = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
    // SAFETY: `length` bytes are readable, and the copy gets a separate NUL.
    unsafe { ap::apr_pstrmemdup(pool, text.as_ptr().cast(), length) }
}
