//! Sets of tasks, stored as small numbers. A web of a million URLs has few different sets, regardless of the number of
//! tasks.

use std::collections::HashMap;

/// The number of a set of tasks. Equal sets have the same number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
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
    unions: HashMap<(SetId, SetId), SetId>,
    meets: HashMap<(SetId, SetId), SetId>,
}

impl Default for Sets {
    fn default() -> Self {
        let none: Box<[u32]> = Box::default();
        let numbers = HashMap::from([(none.clone(), SetId::EMPTY)]);
        Self { members: vec![none], numbers, unions: HashMap::new(), meets: HashMap::new() }
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
        if a == b || b.is_empty() {
            return a;
        }
        if a.is_empty() {
            return b;
        }
        let key = if a.0 < b.0 { (a, b) } else { (b, a) };
        if let Some(known) = self.unions.get(&key) {
            return *known;
        }
        let both: Vec<usize> = self.tasks(a).chain(self.tasks(b)).collect();
        let union = self.of(both);
        self.unions.insert(key, union);
        union
    }

    /// Returns the intersection of two sets.
    pub(crate) fn meet(&mut self, a: SetId, b: SetId) -> SetId {
        if a == b {
            return a;
        }
        if a.is_empty() || b.is_empty() {
            return SetId::EMPTY;
        }
        let key = if a.0 < b.0 { (a, b) } else { (b, a) };
        if let Some(known) = self.meets.get(&key) {
            return *known;
        }
        let both: Vec<usize> = self.tasks(a).filter(|task| self.has(b, *task)).collect();
        let meet = self.of(both);
        self.meets.insert(key, meet);
        meet
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
