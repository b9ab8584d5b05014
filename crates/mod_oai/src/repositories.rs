//! The repositories in use, by their URLs.

use std::collections::HashMap;
use std::sync::Mutex;

use modoai_repository::Repository;

use crate::house::lock;

/// A repository may be reached by several URLs (http and https, two Locations), but not by very many.
const MOST: usize = 16;

/// Repositories by their URLs, each with a mark of the state that it was built from.
pub(crate) struct Repositories<M> {
    made: Mutex<HashMap<String, (M, Repository)>>,
}

impl<M> Default for Repositories<M> {
    fn default() -> Self {
        Self { made: Mutex::default() }
    }
}

impl<M: PartialEq> Repositories<M> {
    /// Returns the repository for a key; it is created again if its mark differs.
    pub(crate) fn at<E>(
        &self,
        key: String,
        mark: M,
        make: impl FnOnce() -> Result<Repository, E>,
    ) -> Result<Repository, E> {
        let mut made = lock(&self.made);
        if let Some((known, repository)) = made.get(&key)
            && *known == mark
        {
            return Ok(repository.clone());
        }
        let repository = make()?;
        if made.len() >= MOST {
            made.clear();
        }
        made.insert(key, (mark, repository.clone()));
        Ok(repository)
    }
}
