//! An hourly budget as one moment.
//!
//! A bucket holds what may be taken within an hour, and fills evenly. Instead of how full it is, it keeps *when it will
//! be full*: then nothing has to be done as time goes by, and nothing is lost to rounding however often it is asked.

const HOUR: u64 = 3_600 * super::SECOND;

/// A budget per hour; 0 is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bucket {
    /// When it will be full if nothing is taken. Later than in an hour: overdrawn.
    pub(crate) full_at: u64,
    /// What fits in, and flows in within an hour.
    pub(crate) limit: u64,
}

impl Bucket {
    /// Applies the limit that counts now. A debt stays as large as it is, and takes less time with a larger limit. With a
    /// smaller one, what was taken counts at most as all of it: it was within the limit of its time. What was overdrawn
    /// then is waited for as long as it would have been.
    pub(crate) fn heed(&mut self, now: u64, limit: u64) {
        if limit == self.limit {
            return;
        }
        let missing = self.full_at.saturating_sub(now);
        let scaled = match limit {
            0 => 0,
            _ => u128::from(missing) * u128::from(self.limit) / u128::from(limit),
        };
        let scaled = scaled.min(u128::from(missing.max(HOUR)));
        self.full_at = now.saturating_add(u64::try_from(scaled).unwrap_or(u64::MAX / 2));
        self.limit = limit;
    }

    /// Takes something out, also if it is not there.
    pub(crate) fn charge(&mut self, now: u64, amount: u64) {
        if self.limit > 0 {
            self.full_at = self.full_at.max(now).saturating_add(self.cost(amount));
        }
    }

    /// How long it takes until so much has flowed in.
    pub(crate) fn cost(&self, amount: u64) -> u64 {
        if self.limit == 0 {
            return 0;
        }
        let cost = (u128::from(amount) * u128::from(HOUR)).div_ceil(u128::from(self.limit));
        u64::try_from(cost).unwrap_or(u64::MAX / 2)
    }

    /// When there is at least one in it.
    pub(crate) fn ready_at(&self) -> u64 {
        if self.limit == 0 {
            return 0;
        }
        // Of a limit of one, one is all there can be: it is there when the bucket is full.
        (self.full_at + self.cost(1)).saturating_sub(HOUR)
    }
}
