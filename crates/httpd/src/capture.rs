//! Replaces the network for probes: an output filter that captures a response instead of sending it.

use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::bindings as ap;
use crate::guard::guard;
use crate::realms::Realms;

/// The filter that replaces the network. Set again whenever httpd registers the hooks of this module.
static FILTER: AtomicPtr<ap::ap_filter_rec_t> = AtomicPtr::new(null_mut());

/// Registers the filter.
///
/// # Safety
///
/// Must be called while hooks are registered.
pub(crate) unsafe fn register() {
    // SAFETY: ensured by the caller; the function has the required type.
    let filter = unsafe {
        let network = ap::ap_filter_type_AP_FTYPE_NETWORK;
        ap::ap_register_output_filter(c"OAI_CAPTURE".as_ptr(), Some(capture), None, network)
    };
    FILTER.store(filter, Ordering::Relaxed);
}

/// Returns the filter.
pub(crate) fn filter() -> *mut ap::ap_filter_rec_t {
    FILTER.load(Ordering::Relaxed)
}

/// The initial capacity for a head, enough for most.
const HEAD: usize = 512;

/// The captured response, and the data of a probe that hooks need.
pub(crate) struct Captured {
    /// The known results of checking the requester's credentials.
    pub(crate) realms: *const Realms,
    /// The log that the request would have; null for that of its server.
    pub(crate) log: *const ap::ap_logconf,
    /// True if links and directories permit access to the file, so that authorisation was checked.
    pub(crate) is_on_its_way: bool,
    /// True if a handler was prevented from running.
    pub(crate) is_barred: bool,
    /// The status line and the headers.
    pub(crate) head: Vec<u8>,
    head_is_whole: bool,
    pub(crate) body: Body,
}

impl Captured {
    /// Returns an empty capture.
    pub(crate) fn new(realms: *const Realms) -> Self {
        Self {
            realms,
            log: null(),
            is_on_its_way: false,
            is_barred: false,
            head: Vec::with_capacity(HEAD),
            head_is_whole: false,
            body: Body::Nothing,
        }
    }
}

/// The content after the head.
#[derive(Clone, Copy)]
pub(crate) enum Body {
    /// No content.
    Nothing,
    /// One piece of a file from which nothing was read.
    File { file: *mut ap::apr_file_t, start: i64, length: u64 },
    /// More than one piece, or one that is not an unread file.
    Touched,
}

/// Replaces the network.
unsafe extern "C" fn capture(filter: *mut ap::ap_filter_t, brigade: *mut ap::apr_bucket_brigade) -> ap::apr_status_t {
    guard(-1, || {
        // SAFETY: the context was set by `prepare`, or is null if the configuration of the site names the filter; the brigade
        // may be emptied here. Its sentinel is its own list, treated as a bucket.
        unsafe {
            let Some(captured) = (*filter).ctx.cast::<Captured>().as_mut() else {
                ap::ap_remove_output_filter(filter);
                return ap::ap_pass_brigade((*filter).next, brigade);
            };
            let sentinel = (&raw mut (*brigade).list).cast::<ap::apr_bucket>();
            let mut bucket = (*brigade).list.next;
            while bucket != sentinel {
                captured.take(bucket);
                bucket = (*bucket).link.next;
            }
            ap::apr_brigade_cleanup(brigade.cast())
        }
    })
}

impl Captured {
    /// # Safety
    ///
    /// The bucket is valid.
    unsafe fn take(&mut self, bucket: *mut ap::apr_bucket) {
        // SAFETY: a valid bucket, whose type determines the type of its data.
        unsafe {
            let kind = (*bucket).type_;
            if (*kind).is_metadata == ap::apr_bucket_type_t_APR_BUCKET_METADATA {
                return;
            }
            if !self.head_is_whole {
                let (mut data, mut length) = (null(), 0);
                let Some(read) = (*kind).read else { return };
                if read(bucket, &raw mut data, &raw mut length, ap::apr_read_type_e_APR_BLOCK_READ) == 0 && length > 0 {
                    self.head.extend_from_slice(std::slice::from_raw_parts(data.cast(), length));
                }
                self.head_is_whole = self.head.ends_with(b"\r\n\r\n");
                return;
            }
            let is_file = std::ptr::eq(kind, &raw const ap::apr_bucket_type_file);
            self.body = match self.body {
                Body::Nothing if is_file => {
                    let file = (*(*bucket).data.cast::<ap::apr_bucket_file>()).fd;
                    Body::File { file, start: (*bucket).start, length: (*bucket).length as u64 }
                }
                body if (*bucket).length == 0 => body,
                _ => Body::Touched,
            };
        }
    }
}
