//! Lists give way: whoever looks at the site is waiting for it, and a harvester is not.
//!
//! A list pauses, many times as long as it has computed, for as long as others want the processors. A lower priority
//! would not do: the kernel lets a thread finish its slice when somebody else wakes up, some milliseconds, and that is
//! many times what a file takes; and a thread that hardly runs must not hold a lock that others need.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::thread::sleep;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// A list pauses so many times as long as it has computed. With two lists for each core, they take a hundredth of the
/// machine from those who want all of it; sending takes several times as much again.
const TIMES: u32 = 200;

/// No pause is longer: a harvester must see that there is still somebody.
const LONGEST: Duration = Duration::from_secs(2);

/// The same where nobody knows whether it helps anybody; and whoever pauses does not notice that the harvester has
/// gone.
const LONGEST_GUESS: Duration = Duration::from_millis(50);

/// How often it is looked whether anybody still wants the processors.
const LOOK: Duration = Duration::from_millis(5);

/// A thread that had to wait for a processor for more than this part of what it computed is not alone.
const CROWDED: u64 = 8;

/// What the calling thread has computed since it paused last. For one thread only.
#[derive(Debug)]
pub struct Breath {
    computed: Duration,
    waited: u64,
    /// What the kernel tells about this thread.
    told: Option<File>,
}

impl Breath {
    /// From now on.
    pub fn begin() -> Self {
        let mut breath = Self { computed: computed(), waited: 0, told: File::open("/proc/thread-self/schedstat").ok() };
        breath.waited = breath.waited();
        breath
    }

    /// Pauses for a while, as long as somebody else wants the processors.
    pub fn pause_while(&mut self, is_wanted: impl Fn() -> bool) {
        let mut left = (computed().saturating_sub(self.computed) * TIMES).min(LONGEST);
        while !left.is_zero() && is_wanted() {
            let step = left.min(LOOK);
            sleep(step);
            left -= step;
        }
        self.computed = computed();
    }

    /// Pauses for a while, if this thread had to wait for others to compute. For those who do not know who else there
    /// is.
    pub fn pause_if_crowded(&mut self) {
        let spent = computed().saturating_sub(self.computed);
        let waited = self.waited();
        let crowd = waited.saturating_sub(self.waited);
        self.waited = waited;
        if crowd.saturating_mul(CROWDED) > u64::try_from(spent.as_nanos()).unwrap_or(u64::MAX) {
            sleep((spent * TIMES).min(LONGEST_GUESS));
        }
        self.computed = computed();
    }

    /// Nanoseconds that this thread could have run, and did not.
    fn waited(&self) -> u64 {
        let mut text = [0; 64];
        let length = self.told.as_ref().and_then(|file| file.read_at(&mut text, 0).ok()).unwrap_or(0);
        let text = std::str::from_utf8(&text[..length]).unwrap_or_default();
        text.split_whitespace().nth(1).and_then(|number| number.parse().ok()).unwrap_or(0)
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
