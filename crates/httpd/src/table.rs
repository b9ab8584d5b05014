//! Tables of names and values, such as headers.

use std::ffi::{CStr, CString};
use std::marker::PhantomData;

use crate::bindings as ap;
use crate::text;

/// A table, for the lifetime of its pool.
#[derive(Clone, Copy, Debug)]
pub struct Table<'a> {
    raw: *mut ap::apr_table_t,
    _pool: PhantomData<&'a ()>,
}

impl<'a> Table<'a> {
    /// # Safety
    ///
    /// The table is valid for `'a`, and this thread may use it.
    pub(crate) unsafe fn new(raw: *mut ap::apr_table_t) -> Self {
        Self { raw, _pool: PhantomData }
    }

    /// Returns the first value of a name, regardless of case.
    pub fn get(&self, name: &CStr) -> Option<&'a [u8]> {
        // SAFETY: the value lasts as long as the table, or until it is set again, which copies.
        unsafe { text::bytes(ap::apr_table_get(self.raw, name.as_ptr())) }
    }

    /// Sets a value in place of all earlier ones.
    pub fn set(&self, name: &CStr, value: &str) {
        let value = printable(value);
        // SAFETY: APR copies both.
        unsafe { ap::apr_table_set(self.raw, name.as_ptr(), value.as_ptr()) }
    }

    /// Adds a value to those that the name has.
    pub(crate) fn add(&self, name: &CStr, value: &str) {
        let value = printable(value);
        // SAFETY: APR copies both.
        unsafe { ap::apr_table_add(self.raw, name.as_ptr(), value.as_ptr()) }
    }

    /// Removes all values of a name.
    pub(crate) fn unset(&self, name: &CStr) {
        // SAFETY: a valid table.
        unsafe { ap::apr_table_unset(self.raw, name.as_ptr()) }
    }

    /// Returns all names and values in order, in the present state: names and values stay in the pool regardless of
    /// later changes of the table, but the array that contains them does not, so it is not kept.
    pub fn entries(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + use<'a> {
        // SAFETY: the array's elements are entries, and last until the table is added to, which does not happen here.
        // APR marks removed entries by a null key.
        let entries: &[ap::apr_table_entry_t] = unsafe {
            let array = &*ap::apr_table_elts(self.raw);
            if array.nelts == 0 {
                &[]
            } else {
                std::slice::from_raw_parts(array.elts.cast(), usize::try_from(array.nelts).unwrap_or_default())
            }
        };
        // SAFETY: keys and values are C strings in the table's pool.
        let both = |entry: &ap::apr_table_entry_t| unsafe { Some((text::bytes(entry.key)?, text::bytes(entry.val)?)) };
        entries.iter().filter_map(both).collect::<Vec<_>>().into_iter()
    }
}

/// A value as a C string on one line.
fn printable(value: &str) -> CString {
    CString::new(value.replace(['\0', '\r', '\n'], " ")).unwrap_or_default()
}
