//! Tables: headers, mostly.

use std::ffi::{CStr, CString};
use std::marker::PhantomData;

use crate::bindings as ap;
use crate::text;

/// A table, for as long as its pool lasts.
#[derive(Clone, Copy, Debug)]
pub struct Table<'a> {
    raw: *mut ap::apr_table_t,
    _pool: PhantomData<&'a ()>,
}

impl<'a> Table<'a> {
    /// # Safety
    ///
    /// The table is good for `'a`, and this thread may use it.
    pub(crate) unsafe fn new(raw: *mut ap::apr_table_t) -> Self {
        Self { raw, _pool: PhantomData }
    }

    /// The first value of a name, in whatever case.
    pub fn get(&self, name: &CStr) -> Option<&'a [u8]> {
        // SAFETY: the value lasts as long as the table, or until it is set anew, which copies.
        unsafe { text::bytes(ap::apr_table_get(self.raw, name.as_ptr())) }
    }

    /// Sets a value in place of all earlier ones.
    pub fn set(&self, name: &CStr, value: &str) {
        let value = CString::new(value.replace(['\0', '\r', '\n'], " ")).unwrap_or_default();
        // SAFETY: APR copies both.
        unsafe { ap::apr_table_set(self.raw, name.as_ptr(), value.as_ptr()) }
    }

    /// Takes all values of a name out.
    pub(crate) fn unset(&self, name: &CStr) {
        // SAFETY: a good table.
        unsafe { ap::apr_table_unset(self.raw, name.as_ptr()) }
    }

    /// All names and values in order, as they are now: names and values stay in the pool whatever becomes of the table,
    /// but the array that holds them does not, so it is not kept.
    pub fn entries(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + use<'a> {
        // SAFETY: the array's elements are entries, and last until the table is added to, which nobody does here. APR marks
        // removed entries by a null key.
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
