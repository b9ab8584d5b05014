//! Waiting for an event. A test waits until something holds, however busy the machine is; it never sleeps for a time that
//! "should be enough", and it never compares times.

use std::fmt::Display;
use std::thread;
use std::time::{Duration, Instant};

/// How long an event may take before a test gives up on it. Much longer than on any machine that works: the tests run beside
/// builds and beside each other.
pub const PATIENCE: Duration = Duration::from_secs(600);

/// How long to pause between two looks.
const PAUSE: Duration = Duration::from_millis(20);

/// Waits until a condition holds.
///
/// # Panics
///
/// If it does not hold within [`PATIENCE`].
#[track_caller]
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    wait_for(what, || if holds() { Ok(()) } else { Err("") });
}

/// Waits until something is there, and returns it. The error says what was there instead.
///
/// # Panics
///
/// If it is not there within [`PATIENCE`].
#[track_caller]
pub fn wait_for<T, E: Display>(what: &str, mut look: impl FnMut() -> Result<T, E>) -> T {
    let start = Instant::now();
    loop {
        match look() {
            Ok(found) => return found,
            Err(instead) if start.elapsed() > PATIENCE => panic!("not within {PATIENCE:?}: {what}\n{instead}"),
            Err(_) => thread::sleep(PAUSE),
        }
    }
}

/// Waits until the next second has begun by the system's clock: datestamps have seconds, and what happens from now on has
/// a later one than what happened before.
pub fn next_second() {
    let second = || std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |now| now.as_secs());
    let now = second();
    wait_until("the clock goes on", || second() > now);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_late_is_found() {
        let mut looks = 0;
        let found = wait_for("the third look", || {
            looks += 1;
            if looks == 3 { Ok(looks) } else { Err("not yet") }
        });
        assert_eq!(found, 3);
        next_second();
    }
}
