//! Requests that were recently refused because of a wrong password, and the resource that refused each.
//!
//! A list detects a wrong password only at the first resource that requires one, and then searches for other realms
//! that may accept it. If the same request is received again, that resource checks it first, so that a repeated request
//! costs no more than a GET with a wrong password.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use modoai_httpd::request::Request;

/// The time for which a refusal is remembered, and the number of refusals that are.
const REMEMBERED: Duration = Duration::from_secs(10);
const MOST: usize = 1_024;

/// The requests that were refused.
#[derive(Debug, Default)]
pub(crate) struct Refused {
    hasher: RandomState,
    places: Mutex<HashMap<u64, (Instant, String)>>,
}

impl Refused {
    /// Identifies a GET by its credentials and its query; none if it has no credentials.
    pub(crate) fn key(&self, request: &Request<'_>) -> Option<u64> {
        let credentials = [c"Authorization", c"Cookie"].map(|name| request.arrived_headers().get(name));
        let is_known = request.method() == "GET" && credentials.iter().any(Option::is_some);
        is_known.then(|| self.hasher.hash_one((credentials, request.query())))
    }

    /// The path of the resource that refused this request.
    pub(crate) fn place(&self, key: u64) -> Option<String> {
        let places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        places.get(&key).filter(|(since, _)| since.elapsed() < REMEMBERED).map(|(_, path)| path.clone())
    }

    /// Remembers the path of a resource that refused this request.
    pub(crate) fn remember(&self, key: u64, path: &str) {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        if places.len() >= MOST {
            places.retain(|_, (since, _)| since.elapsed() < REMEMBERED);
        }
        if places.len() < MOST {
            places.insert(key, (Instant::now(), path.to_owned()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_remembered_and_their_number_is_bounded() {
        let refused = Refused::default();
        (0..2 * MOST as u64).for_each(|key| refused.remember(key, "/members/1.txt"));
        assert_eq!(refused.place(1).as_deref(), Some("/members/1.txt"));
        assert_eq!(refused.places.lock().expect("not poisoned").len(), MOST);
        assert_eq!(refused.place(u64::MAX), None);
    }
}
