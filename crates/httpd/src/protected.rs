//! Headers of a response that no other module can replace or remove.
//!
//! A handler sets its headers before it writes. mod_headers changes them later, in an output filter: `Header always set`
//! replaces a header of that name, `Header always unset` removes it. The filter here runs after that one and before httpd
//! writes the headers. An error response begins with a new chain of filters, so a hook adds it again.

use std::ffi::CStr;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::bindings as ap;
use crate::guard::guard;
use crate::module::{self, Module};
use crate::pool;
use crate::table::Table;

/// Names and values of headers.
pub type Headers = &'static [(&'static CStr, &'static str)];

/// The header that may occur more than once.
const POLICY: &CStr = c"Content-Security-Policy";

/// Our filter. Set with every registration of hooks.
static FILTER: AtomicPtr<ap::ap_filter_rec_t> = AtomicPtr::new(null_mut());

/// Registers the filter.
///
/// # Safety
///
/// Called while httpd registers hooks.
pub(crate) unsafe fn register<M: Module>() {
    // SAFETY: ensured by the caller; the functions have the types of an output filter and of this hook.
    let filter = unsafe {
        // After mod_headers (AP_FTYPE_CONTENT_SET), before the filter that writes the headers (AP_FTYPE_PROTOCOL).
        let place = ap::ap_filter_type_AP_FTYPE_PROTOCOL - 1;
        ap::ap_hook_insert_error_filter(Some(refuse::<M>), null(), null(), ap::APR_HOOK_LAST.cast_signed());
        ap::ap_register_output_filter(c"OAI_PROTECTED_HEADERS".as_ptr(), Some(protect), None, place)
    };
    FILTER.store(filter, Ordering::Relaxed);
}

/// Makes the filter add these headers to the response, in place of those of an earlier call.
///
/// # Safety
///
/// The request is valid, and no part of its response has been passed on.
pub(crate) unsafe fn keep(request: *mut ap::request_rec, headers: Headers) {
    let own = FILTER.load(Ordering::Relaxed);
    // SAFETY: the filters of the request and its pool. The context of our filter is what is stored here, or null if the
    // configuration named the filter.
    unsafe {
        let first = (*request).output_filters;
        let filters = std::iter::successors(first.as_ref(), |filter| filter.next.as_ref());
        let mut present = filters.filter(|filter| std::ptr::eq(filter.frec, own) && !filter.ctx.is_null());
        match present.next().map(|filter| filter.ctx.cast::<Headers>()) {
            Some(kept) => *kept = headers,
            None => {
                let kept = pool::copy((*request).pool, &[headers]);
                ap::ap_add_output_filter_handle(own, kept.cast(), request, (*request).connection);
            }
        }
    }
}

/// Protects the headers of an error response at a section that has some.
unsafe extern "C" fn refuse<M: Module>(request: *mut ap::request_rec) {
    guard((), || {
        // SAFETY: a valid request with its configuration, whose error response has not been passed on.
        unsafe {
            let headers = M::headers(&module::section::<M>((*request).per_dir_config).own);
            if !headers.is_empty() {
                keep(request, headers);
            }
        }
    });
}

/// Adds the headers that are missing to a response, and removes itself.
unsafe extern "C" fn protect(filter: *mut ap::ap_filter_t, brigade: *mut ap::apr_bucket_brigade) -> ap::apr_status_t {
    // Without the headers, nothing is sent.
    guard(-1, || {
        // SAFETY: a filter of a valid request, with the context that `keep` gave it; null if the configuration named the
        // filter. httpd keeps the memory of a filter that was removed until the request ends.
        unsafe {
            let request = (*filter).r;
            let tables = [(*request).headers_out, (*request).err_headers_out].map(|table| Table::new(table));
            let headers = (*filter).ctx.cast::<Headers>().as_ref().copied().unwrap_or_default();
            for (name, value) in headers {
                complete(tables, name, value);
            }
            ap::ap_remove_output_filter(filter);
            ap::ap_pass_brigade((*filter).next, brigade)
        }
    })
}

/// Makes a response have a header. Other policies stay, because a browser applies all of them; of other headers it reads
/// the first.
fn complete(tables: [Table<'_>; 2], name: &CStr, value: &str) {
    let [headers, always] = tables;
    if name != POLICY {
        tables.iter().for_each(|table| table.unset(name));
        always.set(name, value);
        return;
    }
    let is_it = |(other, set): (&[u8], &[u8])| other.eq_ignore_ascii_case(name.to_bytes()) && set == value.as_bytes();
    if !headers.entries().chain(always.entries()).any(is_it) {
        always.add(name, value);
    }
}
