//! What takes the place of the network: a filter that looks at an answer and lets nothing out.

use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::bindings as ap;
use crate::guard::guard;
use crate::realms::Realms;

/// The filter that takes the place of the network. Set anew whenever httpd registers our hooks.
static FILTER: AtomicPtr<ap::ap_filter_rec_t> = AtomicPtr::new(null_mut());

/// Registers the filter.
///
/// # Safety
///
/// It is the time to register hooks.
pub(crate) unsafe fn register() {
    // SAFETY: the caller's word; the function has the type wanted.
    let filter = unsafe {
        let network = ap::ap_filter_type_AP_FTYPE_NETWORK;
        ap::ap_register_output_filter(c"OAI_CAPTURE".as_ptr(), Some(capture), None, network)
    };
    FILTER.store(filter, Ordering::Relaxed);
}

/// The filter.
pub(crate) fn filter() -> *mut ap::ap_filter_rec_t {
    FILTER.load(Ordering::Relaxed)
}

/// Room for most heads.
const HEAD: usize = 512;

/// What reached the network, and what the hooks need to know of a probe.
pub(crate) struct Captured {
    /// What is known of the requester's credentials.
    pub(crate) realms: *const Realms,
    /// The log that the request would have; null for that of its server.
    pub(crate) log: *const ap::ap_logconf,
    /// Whether the way to the file was open, links and all, so that it came to the question who may go it.
    pub(crate) is_on_its_way: bool,
    /// Whether a handler was kept from running.
    pub(crate) is_barred: bool,
    /// The status line and the headers.
    pub(crate) head: Vec<u8>,
    head_is_whole: bool,
    pub(crate) body: Body,
}

impl Captured {
    /// Nothing yet.
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

/// What followed the head.
#[derive(Clone, Copy)]
pub(crate) enum Body {
    /// Nothing.
    Nothing,
    /// One piece of a file that nobody has read from.
    File { file: *mut ap::apr_file_t, start: i64, length: u64 },
    /// More than one piece, or one that is not an unread file.
    Touched,
}

/// Takes the place of the network.
unsafe extern "C" fn capture(filter: *mut ap::ap_filter_t, brigade: *mut ap::apr_bucket_brigade) -> ap::apr_status_t {
    guard(-1, || {
        // SAFETY: the context is what `prepare` gave; the brigade is ours to empty. Its sentinel is its own list, seen as
        // a bucket.
        unsafe {
            let captured = &mut *(*filter).ctx.cast::<Captured>();
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
    /// The bucket is good.
    unsafe fn take(&mut self, bucket: *mut ap::apr_bucket) {
        // SAFETY: a good bucket, whose kind tells what its data is.
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
