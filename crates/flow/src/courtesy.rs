//! Lists give way: whoever looks at the site is waiting for it, and a harvester is not.
//!
//! A list pauses, many times as long as it has computed, for as long as others want the processors. A lower priority
//! would not do: the kernel lets a thread finish its slice when somebody else wakes up, some milliseconds, and that is
//! many times what a file takes; and a thread that hardly runs must not hold a lock that others need.

use std::fs::File;
use std::num::NonZero;
use std::os::unix::fs::FileExt as _;
use std::sync::LazyLock;
use std::thread::{available_parallelism, sleep};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// A list pauses so many times as long as it has computed. With two lists for each core, they take a hundredth of the
/// machine from those who want all of it; sending takes several times as much again.
const TIMES: u32 = 200;

/// So many lists for each core. If more may compute beside each other, they pause longer.
const BESIDE: usize = 2;

/// No pause is longer: a harvester must see that there is still somebody.
const LONGEST: Duration = Duration::from_secs(2);

/// How often it is looked whether anybody still wants the processors, at most; and how often within a pause.
const LOOK: Duration = Duration::from_millis(5);
const LOOKS: u32 = 20;

/// A thread that had to wait for a processor for more than this part of what it computed is not alone.
const CROWDED: u64 = 8;

/// Asked once: to find out, the files of control groups are read.
static CORES: LazyLock<usize> = LazyLock::new(|| available_parallelism().map_or(1, NonZero::get));

/// What the calling thread has computed since it paused last. For one thread only.
#[derive(Debug)]
pub struct Breath {
    times: u32,
    computed: Duration,
    waited: u64,
    was_crowded: bool,
    /// What the kernel tells about this thread.
    told: Option<File>,
}

impl Breath {
    /// From now on, where so many lists may compute beside each other.
    pub fn among(lists: usize) -> Self {
        let more = u32::try_from(lists / (BESIDE * *CORES)).unwrap_or(u32::MAX).max(1);
        let told = File::open("/proc/thread-self/schedstat").ok();
        let times = TIMES.saturating_mul(more);
        let mut breath = Self { times, computed: computed(), waited: 0, was_crowded: false, told };
        breath.waited = breath.waited();
        breath
    }

    /// Pauses for a while, as long as somebody else wants the processors.
    pub fn pause_while(&mut self, is_wanted: impl Fn() -> bool) {
        let mut left = computed().saturating_sub(self.computed).saturating_mul(self.times).min(LONGEST);
        let look = LOOK.max(left / LOOKS);
        while !left.is_zero() && is_wanted() {
            let step = left.min(look);
            sleep(step);
            left -= step;
        }
        self.computed = computed();
    }

    /// The same, but only if this thread had to wait for a processor: where others are served by other processes, it takes
    /// nothing from them as long as there are processors enough.
    pub fn pause_if_crowded(&mut self, is_wanted: impl Fn() -> bool) {
        let spent = computed().saturating_sub(self.computed);
        let waited = self.waited();
        let crowd = waited.saturating_sub(self.waited);
        self.waited = waited;
        let is_crowded = crowd.saturating_mul(CROWDED) > u64::try_from(spent.as_nanos()).unwrap_or(u64::MAX);
        // Whoever has slept is let in at once, and learns little: what was found before counts, too.
        let was_crowded = std::mem::replace(&mut self.was_crowded, is_crowded);
        self.pause_while(|| (is_crowded || was_crowded) && is_wanted());
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
        let mut breath = Breath::among(1);
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

    #[test]
    fn the_more_lists_there_may_be_the_longer_each_pauses() {
        let mut breath = Breath::among(64 * *CORES);
        compute(Duration::from_micros(200));
        let begun = Instant::now();
        breath.pause_while(|| true);
        // A list that is one of two for each core would have paused for 40 ms.
        assert!(begun.elapsed() >= Duration::from_millis(400), "{:?}", begun.elapsed());
    }

    #[test]
    fn nobody_pauses_for_those_who_are_not_there() {
        let mut breath = Breath::among(1);
        let mut paused = |is_wanted: bool| {
            breath.was_crowded = true;
            compute(Duration::from_millis(20));
            let begun = Instant::now();
            breath.pause_if_crowded(|| is_wanted);
            begun.elapsed()
        };
        assert!(paused(false) < LONGEST / 2);
        assert!(paused(true) >= LONGEST / 2);
    }
}
