//! One shared copy of every set spec, and the rule that made it.
//!
//! Sharing saves memory in the queue of records between reading and writing. The rule is stored for the set's name.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use modoai_protocol::SetSpec;

/// More sets than any archive has. Further sets are not shared, and not named by a template.
const MOST_SETS: usize = 100_000;

/// All set specs produced so far.
#[derive(Debug, Default)]
pub(super) struct Register {
    sets: RwLock<HashMap<Arc<str>, Met>>,
}

/// A set, and the first rule that produced it.
type Met = (Arc<SetSpec>, Option<usize>);

impl Register {
    /// Returns the shared copy of a set spec, if it was produced before.
    pub(super) fn find(&self, spec: &str) -> Option<Arc<SetSpec>> {
        let sets = self.sets.read().unwrap_or_else(PoisonError::into_inner);
        sets.get(spec).map(|(shared, _)| Arc::clone(shared))
    }

    /// Returns the shared copy of a set spec that this rule has produced, or that a record lists.
    pub(super) fn share(&self, spec: SetSpec, maker: Option<usize>) -> Arc<SetSpec> {
        let mut sets = self.sets.write().unwrap_or_else(PoisonError::into_inner);
        let is_full = sets.len() >= MOST_SETS;
        match sets.get_mut(spec.as_str()) {
            Some((shared, first)) => {
                // Of several rules the first counts, regardless of which thread was faster.
                *first = [*first, maker].into_iter().flatten().min();
                Arc::clone(shared)
            }
            None if is_full => Arc::new(spec),
            None => {
                let key = Arc::from(spec.as_str());
                let shared = Arc::new(spec);
                sets.insert(key, (Arc::clone(&shared), maker));
                shared
            }
        }
    }

    /// Returns all sets produced so far, in order.
    pub(super) fn met(&self) -> Vec<Met> {
        let sets = self.sets.read().unwrap_or_else(PoisonError::into_inner);
        let mut met: Vec<_> = sets.values().cloned().collect();
        met.sort_unstable();
        met
    }
}
