//! Sets of tasks, stored as small numbers. A web of a million URLs has few different sets, regardless of the number of
//! tasks.

use std::collections::HashMap;

/// The number of a set of tasks. Equal sets have the same number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct SetId(u32);

impl SetId {
    /// The empty set.
    pub(crate) const EMPTY: Self = Self(0);

    pub(crate) fn is_empty(self) -> bool {
        self == Self::EMPTY
    }
}

/// All sets in use.
pub(crate) struct Sets {
    members: Vec<Box<[u32]>>,
    numbers: HashMap<Box<[u32]>, SetId>,
    /// Unions (`true`) and intersections (`false`) that were computed before.
    combined: HashMap<(bool, SetId, SetId), SetId>,
}

impl Default for Sets {
    fn default() -> Self {
        let none: Box<[u32]> = Box::default();
        let numbers = HashMap::from([(none.clone(), SetId::EMPTY)]);
        Self { members: vec![none], numbers, combined: HashMap::new() }
    }
}

impl Sets {
    /// Returns the set of these tasks.
    pub(crate) fn of(&mut self, tasks: impl IntoIterator<Item = usize>) -> SetId {
        let mut tasks: Vec<u32> = tasks.into_iter().map(|task| task as u32).collect();
        tasks.sort_unstable();
        tasks.dedup();
        self.number(tasks.into())
    }

    /// Returns the tasks of a set, in order.
    pub(crate) fn tasks(&self, set: SetId) -> impl Iterator<Item = usize> {
        self.members[set.0 as usize].iter().map(|task| *task as usize)
    }

    pub(crate) fn has(&self, set: SetId, task: usize) -> bool {
        self.members[set.0 as usize].binary_search(&(task as u32)).is_ok()
    }

    /// Returns the union of two sets.
    pub(crate) fn union(&mut self, a: SetId, b: SetId) -> SetId {
        match (a.is_empty(), b.is_empty()) {
            (_, true) => a,
            (true, false) => b,
            (false, false) => self.combined(true, a, b),
        }
    }

    /// Returns the intersection of two sets.
    pub(crate) fn meet(&mut self, a: SetId, b: SetId) -> SetId {
        if a.is_empty() || b.is_empty() { SetId::EMPTY } else { self.combined(false, a, b) }
    }

    fn combined(&mut self, is_union: bool, a: SetId, b: SetId) -> SetId {
        if a == b {
            return a;
        }
        let key = (is_union, a.min(b), a.max(b));
        if let Some(known) = self.combined.get(&key) {
            return *known;
        }
        let tasks: Vec<usize> = self
            .tasks(a)
            .filter(|task| is_union || self.has(b, *task))
            .chain(self.tasks(b).filter(|_| is_union))
            .collect();
        let combined = self.of(tasks);
        self.combined.insert(key, combined);
        combined
    }

    fn number(&mut self, tasks: Box<[u32]>) -> SetId {
        if let Some(known) = self.numbers.get(&tasks) {
            return *known;
        }
        let number = SetId(self.members.len() as u32);
        self.members.push(tasks.clone());
        self.numbers.insert(tasks, number);
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_behave_like_sets() {
        let mut sets = Sets::default();
        let (a, b) = (sets.of([3, 1, 3]), sets.of([1, 2]));
        assert_eq!(a, sets.of([1, 3]));
        let (union, meet) = (sets.union(a, b), sets.meet(b, a));
        assert_eq!(sets.tasks(union).collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(sets.tasks(meet).collect::<Vec<_>>(), [1]);
        assert_eq!(sets.union(SetId::EMPTY, a), a);
        let none = sets.of([9]);
        assert!(sets.meet(none, a).is_empty() && sets.meet(SetId::EMPTY, a).is_empty());
        assert!(sets.has(a, 3) && !sets.has(a, 2));
    }
}
