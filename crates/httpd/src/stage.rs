//! The stage that a request has reached, and the stage at which a probe must stop.
//!
//! modoai's hooks run in every request and recognise those that belong to a probe: they keep them out of the error log,
//! and keep handlers and filters from running that would run a program or write to the client. Of all other requests
//! they save the headers as received, before any module changes them: a probe begins with the same ones.

use std::ffi::{CStr, c_int};
use std::path::Path;
use std::ptr::{null, null_mut};

use crate::bindings as ap;
use crate::capture::Captured;
use crate::guard::guard;
use crate::module::{self, Module};
use crate::pool;
use crate::server::Server;
use crate::table::Table;
use crate::text;

/// The content of modoai's slot of a request.
#[derive(Clone, Copy)]
enum Slot {
    /// The request is a probe.
    Probe(*mut Captured),
    /// The headers with which a client's request arrived.
    Arrived(*mut ap::apr_table_t),
}

/// Earlier than [`ap::APR_HOOK_REALLY_FIRST`], which other modules use to change headers.
const BEFORE_ALL: c_int = -1_000;

/// The messages that a log takes, whatever the configuration says.
struct Taken(ap::ap_logconf);
// SAFETY: only read.
unsafe impl Sync for Taken {}
/// Logs nothing: denying something to a probe is not an error.
static SILENCE: Taken = Taken(ap::ap_logconf { module_levels: null_mut(), level: 0 });
/// Everything.
static ALL: Taken = Taken(ap::ap_logconf { module_levels: null_mut(), level: ap::APLOG_TRACE1.cast_signed() + 7 });

/// The log of probes.
pub(crate) fn silence() -> *const ap::ap_logconf {
    &raw const SILENCE.0
}

/// A log for messages that have passed the configured levels already.
pub(crate) fn every_message() -> *const ap::ap_logconf {
    &raw const ALL.0
}

/// The names of the handler for files: in configurations, and in httpd itself.
const FOR_FILES: [&[u8]; 2] = [b"default-handler", b""];

/// Handlers that only redirect to another URL: a rewritten one, or a variant.
const POINTERS: [&[u8]; 2] = [b"redirect-handler", b"type-map"];

/// Registers the hooks.
///
/// # Safety
///
/// It is the time to register hooks.
pub(crate) unsafe fn register<M: Module>() {
    // SAFETY: the caller's word; the functions have the types wanted.
    unsafe {
        // Each walk through the sections of the configuration sets a request's log again.
        let (first, last) = (ap::APR_HOOK_FIRST.cast_signed(), ap::APR_HOOK_LAST.cast_signed());
        ap::ap_hook_post_read_request(Some(arrive), null(), null(), BEFORE_ALL);
        ap::ap_hook_translate_name(Some(hush), null(), null(), first);
        ap::ap_hook_map_to_storage(Some(hush), null(), null(), first);
        ap::ap_hook_post_perdir_config(Some(go_on::<M>), null(), null(), last);
        ap::ap_hook_handler(Some(stand_guard::<M>), null(), null(), ap::APR_HOOK_REALLY_FIRST);
    }
}

/// A request that has come as far as its handler.
#[derive(Clone, Copy)]
pub struct Stage<'a>(pub(crate) &'a ap::request_rec);

impl<'a> Stage<'a> {
    /// The file that the URL maps to.
    pub fn path(&self) -> Option<&'a Path> {
        // SAFETY: a C string of the request.
        unsafe { text::path(self.0.filename) }
    }

    /// Returns true if the file is a regular file.
    pub fn is_file(&self) -> bool {
        self.0.finfo.filetype == ap::apr_filetype_e_APR_REG
    }

    /// The media type that was found, with its parameters.
    pub fn content_type(&self) -> Option<&'a str> {
        // SAFETY: a C string of the request.
        unsafe { text::utf8(self.0.content_type) }
    }

    /// This module's configuration at its URL.
    pub fn directory<M: Module>(&self) -> &'a M::Directory {
        // SAFETY: made by `module`; the merged one of this request.
        unsafe { &module::section::<M>(self.0.per_dir_config).own }
    }

    /// The handler that was chosen by name, if it is not the one for files. httpd puts the media type there where none was.
    pub(crate) fn named_handler(&self) -> Option<&'a [u8]> {
        // SAFETY: a C string of the request.
        let handler = unsafe { text::bytes(self.0.handler) }.filter(|handler| !FOR_FILES.contains(handler))?;
        let media_type = self.content_type().and_then(|text| text.split([';', ' ', '\t']).next());
        (Some(handler) != media_type.map(str::as_bytes)).then_some(handler)
    }

    /// The names of the filters that its answer goes through, in lower case.
    pub fn filters(&self) -> impl Iterator<Item = &'a CStr> {
        // SAFETY: the request's own chain of filters; their names are C strings that last as long as the configuration.
        let next = |filter: *mut ap::ap_filter_t| unsafe { filter.as_ref() };
        let all = std::iter::successors(next(self.0.output_filters), move |filter| next(filter.next));
        // SAFETY: as above.
        all.map(|filter| unsafe { CStr::from_ptr((*filter.frec).name) })
    }

    /// Returns true if `Options` allows files here to include others and to run programs.
    pub fn allows_includes(&self) -> bool {
        // SAFETY: the request is valid, and the call only reads it.
        let options = unsafe { ap::ap_allow_options(std::ptr::from_ref(self.0).cast_mut()) };
        options.cast_unsigned() & ap::OPT_INCLUDES != 0
    }

    /// The server that it is for.
    pub fn server(&self) -> Server<'a> {
        // SAFETY: good for longer than the request.
        unsafe { Server::new(self.0.server) }
    }

    /// Returns true if the next handler sends a file, or only redirects to another URL. Requests of a filter within a
    /// response are not harmless.
    fn is_harmless<M: Module>(&self) -> bool {
        if !self.0.main.is_null() {
            return false;
        }
        match self.named_handler() {
            Some(handler) => POINTERS.contains(&handler) && self.0.proxyreq == 0,
            None => {
                // SAFETY: a C string of the request.
                let path_info = unsafe { text::bytes(self.0.path_info) }.unwrap_or_default();
                self.is_file() && path_info.is_empty() && self.0.proxyreq == 0 && !M::forbids(*self)
            }
        }
    }
}

/// Marks a request as a probe.
///
/// # Safety
///
/// The request is good, and what is captured lives as long.
pub(crate) unsafe fn mark(request: *mut ap::request_rec, captured: *mut Captured) {
    // SAFETY: the slot belongs to this module.
    unsafe { put(request, Slot::Probe(captured)) }
}

/// The headers with which the request arrived that this one is, or is part of.
///
/// # Safety
///
/// The request is good.
pub(crate) unsafe fn arrived_headers(request: *const ap::request_rec) -> *mut ap::apr_table_t {
    // SAFETY: a good request and its headers.
    unsafe {
        let origin = origin(request);
        match slot(origin) {
            Some(Slot::Arrived(headers)) => headers,
            _ => (*origin).headers_in,
        }
    }
}

/// Keeps the headers of a client's request. First of all hooks.
unsafe extern "C" fn arrive(request: *mut ap::request_rec) -> c_int {
    // SAFETY: a good request and its pool. Names and values are never changed in place, so copying the table is enough.
    unsafe {
        if (*request).main.is_null() && (*request).prev.is_null() && slot(request).is_none() {
            put(request, Slot::Arrived(ap::apr_table_copy((*request).pool, (*request).headers_in)));
        }
    }
    ap::DECLINED
}

/// # Safety
///
/// The request is good.
unsafe fn put(request: *mut ap::request_rec, slot: Slot) {
    // SAFETY: the slot belongs to this module, and its content lives as long as the request.
    unsafe {
        let kept = pool::copy((*request).pool, &[slot]);
        ap::ap_set_module_config((*request).request_config, module::raw(), kept.cast());
    }
}

/// # Safety
///
/// The request is good.
unsafe fn slot(request: *const ap::request_rec) -> Option<Slot> {
    // SAFETY: only `put` puts something into our slot.
    unsafe { module::config((*request).request_config).cast::<Slot>().as_ref().copied() }
}

/// Returns the request that caused a request within the server; for all others, the request itself.
///
/// # Safety
///
/// The request is valid.
unsafe fn origin(request: *const ap::request_rec) -> *const ap::request_rec {
    let mut request = request;
    // SAFETY: a request within the server refers to the one that caused it.
    unsafe {
        loop {
            let from = if (*request).prev.is_null() { (*request).main } else { (*request).prev };
            if from.is_null() {
                return request;
            }
            request = from;
        }
    }
}

/// Keeps probes silent.
unsafe extern "C" fn hush(request: *mut ap::request_rec) -> c_int {
    // SAFETY: a good request.
    unsafe {
        if !captured_of(request).is_null() {
            (*request).log = silence();
        }
    }
    ap::DECLINED
}

/// Keeps probes silent, and ends those that must go no further. Gives responses the headers of their section.
unsafe extern "C" fn go_on<M: Module>(request: *mut ap::request_rec) -> c_int {
    // SAFETY: a good request, whose sections have just been put together.
    let barred = guard(true, || unsafe {
        let captured = captured_of(request);
        let own = &module::section::<M>((*request).per_dir_config).own;
        if captured.is_null() {
            let headers = Table::new((*request).err_headers_out);
            M::headers(own).iter().for_each(|(name, value)| headers.set(name, value));
            return false;
        }
        let log = std::mem::replace(&mut (*request).log, silence());
        (*captured).log = if std::ptr::eq(log, silence()) { null() } else { log };
        (*captured).is_on_its_way = true;
        M::bars(own)
    });
    if barred { ap::HTTP_FORBIDDEN.cast_signed() } else { ap::DECLINED }
}

/// Keeps everything from running for a probe that is not known to be harmless. First of all handlers.
unsafe extern "C" fn stand_guard<M: Module>(request: *mut ap::request_rec) -> c_int {
    // SAFETY: a good request that has come to its handler; what is captured lives as long as the probe it belongs to.
    let barred = guard(true, || unsafe {
        let captured = captured_of(request);
        let is_barred = !captured.is_null() && !Stage(&*request).is_harmless::<M>();
        if is_barred {
            (*captured).is_barred = true;
        }
        is_barred
    });
    if barred { ap::HTTP_FORBIDDEN.cast_signed() } else { ap::DECLINED }
}

/// Returns the captured response of the probe that a request is, or is part of; null for all others.
///
/// # Safety
///
/// The request is valid.
pub(crate) unsafe fn captured_of(request: *const ap::request_rec) -> *mut Captured {
    // SAFETY: the caller's word.
    match unsafe { slot(origin(request)) } {
        Some(Slot::Probe(captured)) => captured,
        _ => null_mut(),
    }
}
