//! Lists give way: whoever looks at the site is waiting for it, and a harvester is not.
//!
//! A list pauses, many times as long as it has computed, for as long as others want the processors. A lower priority
//! would not do: the kernel lets a thread finish its slice when somebody else wakes up, some milliseconds, and that is
//! many times what a file takes; and a thread that hardly runs must not hold a lock that others need.

use std::num::NonZero;
use std::thread::{available_parallelism, sleep};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// A list pauses so many times as long as it has computed. With two lists for each core, they take a hundredth of the
/// machine from those who want all of it; sending takes several times as much again.
const TIMES: u32 = 200;

/// Lists for each core that this is meant for. If more compute at the same time, they pause for longer.
const FOR_EACH_CORE: usize = 2;

/// No pause is longer: a harvester must see that there is still somebody.
const LONGEST: Duration = Duration::from_secs(2);

/// How often it is looked whether anybody still wants the processors.
const LOOK: Duration = Duration::from_millis(5);

/// What the calling thread has computed since it paused last. For one thread only.
#[derive(Debug)]
pub struct Breath {
    times: u32,
    computed: Duration,
}

impl Breath {
    /// From now on, where no more lists compute at the same time than the cores bear.
    pub fn begin() -> Self {
        Self::among(0)
    }

    /// From now on, where so many lists compute at the same time.
    pub fn among(lists: usize) -> Self {
        let cores = available_parallelism().map_or(1, NonZero::get);
        let share = u32::try_from(lists / (FOR_EACH_CORE * cores)).unwrap_or(u32::MAX);
        Self { times: TIMES.saturating_mul(share.max(1)), computed: computed() }
    }

    /// Pauses for a while, as long as somebody else wants the processors.
    pub fn pause_while(&mut self, is_wanted: impl Fn() -> bool) {
        let mut left = computed().saturating_sub(self.computed).saturating_mul(self.times).min(LONGEST);
        while !left.is_zero() && is_wanted() {
            let step = left.min(LOOK);
            sleep(step);
            left -= step;
        }
        self.computed = computed();
    }
}

/// What the calling thread has computed in its life.
fn computed() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.cast_unsigned(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    /// Computes for so long.
    fn compute(time: Duration) {
        let begun = computed();
        while computed() - begun < time {
            std::hint::spin_loop();
        }
    }

    #[test]
    fn a_pause_is_as_long_as_others_want_it() {
        let mut breath = Breath::begin();
        compute(Duration::from_millis(2));
        let begun = Instant::now();
        breath.pause_while(|| true);
        assert!(begun.elapsed() >= Duration::from_millis(100), "{:?}", begun.elapsed());
        // Nothing was computed since, or nobody is there: no pause worth the name.
        breath.pause_while(|| true);
        compute(Duration::from_millis(10));
        let begun = Instant::now();
        breath.pause_while(|| false);
        assert!(begun.elapsed() < Duration::from_millis(500), "{:?}", begun.elapsed());
    }
}
