//! The users of the system, from all of its sources.

use std::path::PathBuf;
use std::ptr::null_mut;
use std::sync::{Mutex, PoisonError};

use crate::bindings as ap;
use crate::pool::OwnPool;
use crate::text;

/// Returns the home of a user.
pub fn home_of(user: &str) -> Option<PathBuf> {
    let pool = OwnPool::alone(c"oai_account");
    let mut home = null_mut();
    // SAFETY: the name is copied to our pool, and so is the result.
    unsafe {
        let name = text::copy(pool.raw(), user.as_bytes());
        let status = ap::apr_uid_homepath_get(&raw mut home, name, pool.raw());
        if status == 0 { text::path(home).map(PathBuf::from) } else { None }
    }
}

/// Returns all users and their homes.
pub fn all() -> Vec<(String, PathBuf)> {
    // The C library has one position in the list for the whole process.
    static PLACE: Mutex<()> = Mutex::new(());
    let _place = PLACE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut accounts = Vec::new();
    // SAFETY: an entry is valid until the next is read, and copied before that. Nothing else in httpd lists users.
    unsafe {
        ap::setpwent();
        loop {
            let entry = ap::getpwent();
            if entry.is_null() {
                break;
            }
            if let (Some(user), Some(home)) = (text::utf8((*entry).pw_name), text::path((*entry).pw_dir)) {
                accounts.push((user.to_owned(), home.to_owned()));
            }
        }
        ap::endpwent();
    }
    accounts
}
