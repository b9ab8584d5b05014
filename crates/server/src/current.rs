//! The parts of a running server that a reload of its configuration can exchange.

use std::sync::{Arc, PoisonError, RwLock};

/// A value that all requests share and that can be replaced while they run. A request keeps the one it started with.
#[derive(Debug)]
pub struct Current<T>(Arc<RwLock<Arc<T>>>);

impl<T> Current<T> {
    /// Creates the holder with a first value.
    pub fn new(value: T) -> Self {
        Self(Arc::new(RwLock::new(Arc::new(value))))
    }

    /// Returns the value for requests that start now.
    pub fn get(&self) -> Arc<T> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Replaces the value for requests that start from now on.
    pub fn replace(&self, value: T) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(value);
    }
}

impl<T> Clone for Current<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}
