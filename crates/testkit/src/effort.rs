//! How much work something takes, in processor time of the thread that does it: unlike the time on the clock, it does not grow
//! when the machine is busy with something else. For tests of what must not grow with the square of its input; how fast
//! things are is for benchmarks to say.

use std::time::Duration;

/// Does something, and returns its result and the processor time it took in this thread.
///
/// # Panics
///
/// If the system does not tell the processor time of a thread.
pub fn effort<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let before = processor_time();
    let result = work();
    (result, processor_time() - before)
}

/// The processor time of this thread so far, to a hundredth of a second.
fn processor_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/stat").expect("Linux tells it here");
    ticks(&stat).map(|ticks| Duration::from_millis(10 * ticks)).expect("numbers at their places")
}

/// User and system time in "pid (name) state …", where the name may contain anything.
fn ticks(stat: &str) -> Option<u64> {
    let mut fields = stat.rsplit(") ").next()?.split(' ').skip(11);
    Some(fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_is_no_effort() {
        let (_, idle) = effort(|| std::thread::sleep(Duration::from_millis(100)));
        assert!(idle < Duration::from_millis(100), "{idle:?}");
        let stat = "7 (a ) b) R 1 7 7 0 -1 0 1 2 3 4 50 60 0 0 20 0 1 0";
        assert_eq!(ticks(stat), Some(110));
    }
}
