//! Memory pools.

use std::ffi::c_void;
use std::ptr::{NonNull, null_mut};

use crate::bindings as ap;
use crate::guard::guard;

/// A pool that is destroyed when it is dropped, with everything allocated in it.
#[derive(Debug)]
pub(crate) struct OwnPool(NonNull<ap::apr_pool_t>);

impl OwnPool {
    /// Creates a pool within another.
    ///
    /// # Safety
    ///
    /// The parent outlives this one, and only this thread uses it meanwhile.
    pub(crate) unsafe fn within(parent: *mut ap::apr_pool_t, tag: &'static std::ffi::CStr) -> Self {
        // SAFETY: the caller ensures that the parent is valid.
        unsafe { Self::create(parent, null_mut(), tag) }
    }

    /// Creates a pool with a separate allocator, which one thread at a time may use, regardless of other threads.
    pub(crate) fn alone(tag: &'static std::ffi::CStr) -> Self {
        let mut allocator = null_mut();
        // SAFETY: plain creation; the allocator is destroyed with the pool that owns it. A null parent is the global
        // pool, whose list of children APR guards by a lock.
        unsafe {
            let status = ap::apr_allocator_create(&raw mut allocator);
            assert!(status == 0, "out of memory: cannot create an allocator");
            let pool = Self::create(null_mut(), allocator, tag);
            ap::apr_allocator_owner_set(allocator, pool.raw());
            pool
        }
    }

    unsafe fn create(
        parent: *mut ap::apr_pool_t,
        allocator: *mut ap::apr_allocator_t,
        tag: &'static std::ffi::CStr,
    ) -> Self {
        let mut pool = null_mut();
        // SAFETY: the caller ensures that the parent is valid; without memory httpd ends the process by itself.
        unsafe {
            let status = ap::apr_pool_create_ex(&raw mut pool, parent, None, allocator);
            assert!(status == 0, "out of memory: cannot create a pool");
            ap::apr_pool_tag(pool, tag.as_ptr());
        }
        Self(NonNull::new(pool).expect("a pool that was created"))
    }

    pub(crate) fn raw(&self) -> *mut ap::apr_pool_t {
        self.0.as_ptr()
    }
}

impl Drop for OwnPool {
    fn drop(&mut self) {
        // SAFETY: this value owns the pool, and is dropped once.
        unsafe { ap::apr_pool_destroy(self.raw()) }
    }
}

/// Allocates a `T` in a pool, all zeros.
///
/// # Safety
///
/// The pool is one that this thread may use, and zeros are a `T`.
pub(crate) unsafe fn zeroed<T>(pool: *mut ap::apr_pool_t) -> *mut T {
    // SAFETY: APR aligns for every type; the allocation is as large as a `T`.
    unsafe {
        let room = ap::apr_palloc(pool, size_of::<T>()).cast::<T>();
        room.write_bytes(0, 1);
        room
    }
}

/// Copies plain values to a pool.
///
/// # Safety
///
/// The pool is one that this thread may use.
pub(crate) unsafe fn copy<T: Copy>(pool: *mut ap::apr_pool_t, values: &[T]) -> *mut T {
    // SAFETY: APR aligns for every type; the allocation is as large as the values are.
    unsafe {
        let room = ap::apr_palloc(pool, size_of_val(values)).cast::<T>();
        room.copy_from_nonoverlapping(values.as_ptr(), values.len());
        room
    }
}

/// Moves a value into a pool, which drops it when it is destroyed.
///
/// # Safety
///
/// The pool is one that this thread may use.
pub(crate) unsafe fn keep<T>(pool: *mut ap::apr_pool_t, value: T) -> *mut T {
    let kept = Box::into_raw(Box::new(value));
    // SAFETY: the box is dropped by this cleanup and nowhere else.
    unsafe { ap::apr_pool_cleanup_register(pool, kept.cast(), Some(let_go::<T>), Some(ap::apr_pool_cleanup_null)) };
    kept
}

unsafe extern "C" fn let_go<T>(kept: *mut c_void) -> ap::apr_status_t {
    // SAFETY: `keep` created this box and registered it once.
    guard((), || drop(unsafe { Box::from_raw(kept.cast::<T>()) }));
    0
}

/// Calls a function when a pool is about to be destroyed, before anything in it is.
///
/// # Safety
///
/// The pool is one that this thread may use.
pub(crate) unsafe fn before_the_end(pool: *mut ap::apr_pool_t, work: fn()) {
    // SAFETY: a function pointer is converted to a data pointer and back, which all platforms of httpd allow.
    unsafe { ap::apr_pool_pre_cleanup_register(pool, work as *const c_void, Some(call)) };
}

unsafe extern "C" fn call(work: *mut c_void) -> ap::apr_status_t {
    // SAFETY: `before_the_end` registered a `fn()`.
    let work: fn() = unsafe { std::mem::transmute(work) };
    guard((), work);
    0
}
