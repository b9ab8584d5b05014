//! Gives visitors of the site priority: while they are active and the processors are busy, all lists together get a
//! share of the processors.
//!
//! The share is one more GCRA budget: processor time of lists, in all processes. A list measures what its thread has
//! used and sleeps until that much has become available. Idle processors are used in full, because the budget applies
//! only while
//!
//! 1. a visitor requested something other than the repository within the last second, and
//! 2. the kernel reports that threads wait for a processor most of the time (`/proc/pressure/cpu`).
//!
//! Both are facts about the machine, so processes share them: the time of the last visitor and the state of the budget
//! are in a file in memory that httpd's children inherit from their parent.

use std::fs::File;
use std::num::NonZero;
use std::os::unix::fs::FileExt as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread::{available_parallelism, sleep};
use std::time::Duration;

use rustix::fs::{FlockOperation, MemfdFlags, fcntl_lock, memfd_create};
use rustix::time::{ClockId, clock_gettime};

use crate::gcra::{Micros, Rate, SECOND};

/// The minimum interval at which a process reports readers and reads the pressure.
const SAMPLE: Micros = SECOND / 10;

/// The processors are busy when threads have waited for one during this part of the time, in per cent.
const BUSY: u64 = 60;

/// The number of bytes that a list writes between two measurements.
const STEP: usize = 32 << 10;

/// The longest pause for one step; a harvester must see that the list continues.
const LONGEST_PAUSE: Micros = 5 * SECOND;

/// The processor time that every refused request is charged, and the longest pause before its refusal. httpd takes about
/// half of it to read, refuse and log a request.
const REFUSAL: Micros = 400;
const LONGEST_DELAY: Micros = SECOND;

/// The position of a number in the shared file.
#[derive(Clone, Copy, Debug)]
enum Shared {
    LastReader = 0,
    Budget = 8,
}

static CORES: LazyLock<u64> = LazyLock::new(|| available_parallelism().map_or(1, NonZero::get) as u64);

/// The processors of this machine: who needs them.
#[derive(Debug)]
pub struct Processors {
    /// Without it, readers and budget are unknown and lists never pause.
    shared: Option<File>,
    /// The time at which this process last reported a reader.
    reported: AtomicU64,
    /// The factor by which the measured processor time of a list's thread is multiplied.
    factor: u64,
    pressure: Mutex<Pressure>,
}

impl Default for Processors {
    fn default() -> Self {
        Self::new()
    }
}

impl Processors {
    /// Creates the shared file. Call it before a process forks, so that its children share it.
    pub fn new() -> Self {
        let shared = memfd_create("modoai", MemfdFlags::CLOEXEC).map(File::from);
        let shared = shared
            .inspect_err(|error| tracing::warn!("failed to share memory: {error}; lists do not yield to readers"));
        Self { shared: shared.ok(), reported: AtomicU64::new(0), factor: 1, pressure: Mutex::default() }
    }

    /// Returns the state for a host that generates lists and sends them on different threads. Sending costs about as
    /// much as generating, so the processor time of the generating thread is charged twice.
    pub fn with_other_senders() -> Self {
        Self { factor: 2, ..Self::new() }
    }

    /// Reports that a visitor reads the site.
    pub fn reader_seen(&self) {
        let now = now();
        if now.saturating_sub(self.reported.load(Ordering::Relaxed)) >= SAMPLE {
            self.reported.store(now, Ordering::Relaxed);
            self.write(Shared::LastReader, now);
        }
    }

    /// Returns true if lists must stay within their share now.
    fn are_wanted(&self) -> bool {
        let now = now();
        let is_read = now.saturating_sub(self.read(Shared::LastReader)) < SECOND + SAMPLE;
        is_read && lock(&self.pressure).is_high(now)
    }

    /// Charges processor time to the budget of lists; returns the pause until it has become available.
    fn charge(&self, used: Micros, share: u64) -> Micros {
        // The lock of the file excludes other processes, that of the pressure other threads of this one.
        let _threads = lock(&self.pressure);
        let Some(file) = &self.shared else { return 0 };
        let _ = fcntl_lock(file, FlockOperation::LockExclusive);
        let now = now();
        let mut state = self.read(Shared::Budget).min(now + LONGEST_PAUSE);
        Rate { units: share * *CORES, period: 100, burst: 0 }.charge(&mut state, now, used * self.factor);
        self.write(Shared::Budget, state);
        let _ = fcntl_lock(file, FlockOperation::Unlock);
        state - now
    }

    /// Charges a refused request; returns the pause until that has become available, if readers need the processors.
    pub(crate) fn refused(&self, used: Micros, share: u64) -> Micros {
        if share >= 100 || !self.are_wanted() {
            return 0;
        }
        self.charge(REFUSAL + used, share).min(LONGEST_DELAY)
    }

    fn read(&self, at: Shared) -> u64 {
        let mut number = [0; 8];
        let read = self.shared.as_ref().map(|file| file.read_exact_at(&mut number, at as u64));
        if matches!(read, Some(Ok(()))) { u64::from_le_bytes(number) } else { 0 }
    }

    fn write(&self, at: Shared, number: u64) {
        // Eight bytes in memory can be written; if not, lists do not pause.
        let _ = self.shared.as_ref().map(|file| file.write_at(&number.to_le_bytes(), at as u64));
    }
}

/// The share of the time in which threads wait for a processor, as the kernel counts it for the whole machine.
#[derive(Debug, Default)]
struct Pressure {
    at: Micros,
    /// Microseconds during which at least one thread waited.
    total: u64,
    is_high: bool,
}

impl Pressure {
    fn is_high(&mut self, now: Micros) -> bool {
        let passed = now.saturating_sub(self.at);
        if passed >= SAMPLE {
            // A kernel that does not report pressure counts as busy: readers come first.
            let (total, recent) = read_pressure().unwrap_or((self.total + passed, 100));
            let percent = if passed < SECOND { total.saturating_sub(self.total) * 100 / passed } else { recent };
            *self = Self { at: now, total, is_high: percent >= BUSY };
        }
        self.is_high
    }
}

/// The total of `/proc/pressure/cpu`, and its average of the last ten seconds in per cent.
fn read_pressure() -> Option<(u64, u64)> {
    let text = std::fs::read_to_string("/proc/pressure/cpu").ok()?;
    let line = text.lines().next()?;
    let field = |name: &str| line.split(' ').find_map(|word| word.strip_prefix(name));
    let recent = field("avg10=")?.split('.').next()?.parse().ok()?;
    Some((field("total=")?.parse().ok()?, recent))
}

/// One list, on one thread.
#[derive(Debug)]
pub(crate) struct Pace {
    processors: Arc<Processors>,
    /// The share of all processors, in per cent.
    share: u64,
    written: usize,
    /// The processor time of the thread at the last measurement.
    used: Option<Micros>,
}

impl Pace {
    pub(crate) fn new(processors: Arc<Processors>, share: u64) -> Self {
        Self { processors, share, written: 0, used: None }
    }

    /// Pauses if all lists together have used more than their share while readers need the processors. Call it on the
    /// list's thread after each write. The first call pauses for the use of earlier lists.
    pub(crate) fn wrote(&mut self, bytes: usize) {
        self.written += bytes;
        if self.used.is_some() && self.written < STEP {
            return;
        }
        self.written = 0;
        let mut wait = self.charge();
        while wait > 0 && self.processors.are_wanted() {
            let step = wait.min(SAMPLE);
            sleep(Duration::from_micros(step));
            wait -= step;
        }
    }

    /// Charges the thread's use since the last call, if readers need the processors; returns the duration of the pause.
    pub(crate) fn charge(&mut self) -> Micros {
        let now = thread_time();
        // A list that is aborted ends on another thread, whose time is unrelated to it.
        let used = now.saturating_sub(self.used.replace(now).unwrap_or(now)).min(SAMPLE);
        if self.share < 100 && self.processors.are_wanted() { self.processors.charge(used, self.share) } else { 0 }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A thread that panicked left valid numbers.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the time of a clock that all processes share and that cannot be set.
pub(crate) fn now() -> Micros {
    micros_of(ClockId::Monotonic)
}

/// Returns the processor time that the calling thread has used since it was started. Unlike elapsed time, it does not
/// depend on the load of the machine.
pub fn thread_time() -> Micros {
    micros_of(ClockId::ThreadCPUTime)
}

fn micros_of(clock: ClockId) -> Micros {
    let time = clock_gettime(clock);
    time.tv_sec.cast_unsigned() * SECOND + time.tv_nsec.cast_unsigned() / 1_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_all_threads_share_one_budget() {
        let processors = Processors::new();
        let first = processors.charge(1_000, 10);
        let second = processors.charge(1_000, 10);
        // One millisecond at a tenth of all cores.
        let one = 10_000 / *CORES;
        assert!(first <= one, "{first}");
        assert!(second > first && second <= 2 * one, "{first}, then {second}");
        // A pause is bounded, regardless of the amount charged.
        assert!(processors.charge(60 * SECOND, 1) > 0);
        assert!(processors.charge(1, 1) <= LONGEST_PAUSE + SECOND);
    }

    #[test]
    fn refusals_are_delayed_by_the_budget_of_lists_while_readers_need_the_processors() {
        let processors = Processors::new();
        *lock(&processors.pressure) = Pressure { at: u64::MAX, total: 0, is_high: true };
        assert_eq!(processors.refused(SECOND, 10), 0, "no reader has been seen");
        processors.reader_seen();
        assert_eq!(processors.refused(SECOND, 100), 0, "lists are not limited");
        let cheap = processors.refused(0, 10);
        assert!(cheap > 0 && cheap <= 10 * REFUSAL, "{cheap}");
        assert!(processors.refused(0, 10) > cheap);
        // A pause is bounded, regardless of the work.
        assert_eq!(processors.refused(60 * SECOND, 10), LONGEST_DELAY);
        assert!(processors.charge(0, 10) > LONGEST_DELAY, "lists wait for it, too");
    }

    #[test]
    fn reader_is_seen_by_all_and_forgotten_after_the_window() {
        let processors = Processors::new();
        assert!(!processors.are_wanted());
        processors.reader_seen();
        assert!(now().saturating_sub(processors.read(Shared::LastReader)) < 60 * SECOND);
        processors.write(Shared::LastReader, now() - 2 * SECOND);
        assert!(!processors.are_wanted());
    }

    #[test]
    fn pressure_is_the_part_of_the_time_in_which_threads_waited() {
        let mut pressure = Pressure { at: 1, total: 0, is_high: true };
        // Too early for a new sample.
        assert!(pressure.is_high(SAMPLE / 2));
        if let Some((total, recent)) = read_pressure() {
            assert!(recent <= 100);
            // As if nothing had waited since the last sample, and then as if everything had.
            let (at, later) = (now(), now() + SAMPLE);
            assert!(!Pressure { at, total, is_high: true }.is_high(later) || read_pressure() != Some((total, recent)));
            assert!(Pressure { at, total: total - total.min(SAMPLE), is_high: false }.is_high(later));
        }
    }
}
