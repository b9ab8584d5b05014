//! The guard against accidental mass deletion, for everything that records deletions: rescans of a site, crawls,
//! imports and harvests.
//!
//! Deletions are permanent for harvesters. If most items are missing at the same time, a disk, a server or an input is
//! more likely to be broken than they are to be deleted, so none is recorded until the user accepts them.

/// The largest share of items that may be deleted at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaxDeleted {
    percent: u64,
    few: u64,
}

impl MaxDeleted {
    /// The default percentage.
    pub const PERCENT: u64 = 50;
    /// Every deletion is accepted: the user has confirmed them.
    pub const ALL: Self = Self { percent: 100, few: u64::MAX };

    /// Accepts up to this percentage of the items; up to `few` items can be deleted regardless of their share.
    pub const fn new(percent: u64, few: u64) -> Self {
        Self { percent, few }
    }

    /// Returns the percentage.
    pub const fn percent(self) -> u64 {
        self.percent
    }

    /// Returns true if this number of deletions is accepted, of this number of items.
    pub const fn allows(self, deleted: u64, items: u64) -> bool {
        deleted <= self.few || deleted.saturating_mul(100) <= items.saturating_mul(self.percent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_the_share_is_withheld() {
        let half = MaxDeleted::new(MaxDeleted::PERCENT, 10);
        assert!(half.allows(10, 10) && half.allows(50, 100) && half.allows(0, 0));
        assert!(!half.allows(51, 100) && !half.allows(11, 11));
        assert!(MaxDeleted::ALL.allows(u64::MAX, 0));
    }
}
