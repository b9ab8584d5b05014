//! One rate limit as one timestamp: the generic cell rate algorithm (GCRA).
//!
//! A budget of `units` per `period` is the moment at which it would be full again if nothing more were used. Using `n`
//! units moves that moment by `n × period / units`. The budget accepts a request while the moment is at most `burst`
//! ahead, so the time at which a refused request becomes acceptable follows from the timestamp, and is its Retry-After.

/// Microseconds since the machine was started, or a number of them.
pub(crate) type Micros = u64;

pub(crate) const SECOND: Micros = 1_000_000;
pub(crate) const HOUR: Micros = 3_600 * SECOND;

/// A rate limit. Its state is one [`Micros`], stored elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rate {
    /// Units per period; 0 for no limit.
    pub(crate) units: u64,
    pub(crate) period: Micros,
    /// The maximum time by which the state may be ahead of now: the unused budget that is saved.
    pub(crate) burst: Micros,
}

impl Rate {
    /// Returns a budget of this many units per hour, of which an hour's worth may be saved.
    pub(crate) fn hourly(units: u64) -> Self {
        Self { units, period: HOUR, burst: HOUR }
    }

    /// Returns a rate of one unit per `period`, of which none is saved; no limit if the period is 0.
    pub(crate) fn every(period: Micros) -> Self {
        Self { units: u64::from(period > 0), period, burst: period }
    }

    /// Returns the time in which this many units become available.
    pub(crate) fn cost(&self, units: u64) -> Micros {
        if self.units == 0 {
            return 0;
        }
        let cost = (u128::from(units) * u128::from(self.period)).div_ceil(u128::from(self.units));
        u64::try_from(cost).unwrap_or(u64::MAX / 4)
    }

    /// The time from which one unit is available.
    pub(crate) fn ready_at(&self, state: Micros) -> Micros {
        if self.units == 0 { 0 } else { state.saturating_add(self.cost(1)).saturating_sub(self.burst) }
    }

    /// Charges this many units even if they are not available: the deficit delays the next request.
    pub(crate) fn charge(&self, state: &mut Micros, now: Micros, units: u64) {
        if self.units > 0 {
            *state = (*state).max(now).saturating_add(self.cost(units));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn hourly_budget_saves_an_hour_and_no_more() {
        let rate = Rate::hourly(3_600);
        let (mut state, now) = (0, 10 * HOUR);
        rate.charge(&mut state, now, 3_600);
        assert_eq!(rate.ready_at(state), now + SECOND);
        // After two idle hours there is one hour's worth.
        let now = now + 2 * HOUR;
        rate.charge(&mut state, now, 3_599);
        assert!(rate.ready_at(state) <= now);
        rate.charge(&mut state, now, 1);
        assert_eq!(rate.ready_at(state), now + SECOND);
    }

    #[test]
    fn zero_units_are_no_limit() {
        let rate = Rate::hourly(0);
        let mut state = 0;
        rate.charge(&mut state, 5, u64::MAX);
        assert_eq!((state, rate.ready_at(state)), (0, 0));
        assert_eq!(Rate::every(0).ready_at(u64::MAX), 0);
    }

    proptest! {
        /// Whatever the times between requests: over any span, the units used by requests that were accepted one at a
        /// time are at most the burst, the rate times the span, and one request. And a request is accepted exactly from
        /// `ready_at` on.
        #[test]
        fn usage_never_exceeds_the_rate(
            units in 1_u64..10_000,
            requests in prop::collection::vec((0_u64..2 * HOUR, 1_u64..500), 1..200),
        ) {
            let rate = Rate::hourly(units);
            let (mut state, mut now, mut used) = (0, HOUR, 0_u128);
            let begin = now;
            for (pause, size) in requests {
                now += pause;
                let ready = rate.ready_at(state);
                if ready > now {
                    prop_assert!(rate.ready_at(state) > ready - 1);
                    continue;
                }
                rate.charge(&mut state, now, size);
                used += u128::from(size);
                let span = u128::from(now - begin) + u128::from(HOUR);
                let most = (span * u128::from(units)).div_ceil(u128::from(HOUR)) + u128::from(size);
                prop_assert!(used <= most, "{used} of {most}");
            }
        }
    }
}
