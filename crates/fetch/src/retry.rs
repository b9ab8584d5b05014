//! Computes the delay before the next attempt. Without I/O: clock and random numbers are parameters.

use std::time::{Duration, SystemTime};

/// The longest delay that is accepted. Some servers really require a day; more than a week is an error.
const LONGEST: Duration = Duration::from_secs(7 * 24 * 3600);

/// Returns the delay of `Retry-After`: seconds, or a date in any of the three forms of HTTP. The delay of a date in the
/// past is zero, that of one in the far future a week, and an unreadable value is `None`.
///
/// ```
/// # use std::time::{Duration, SystemTime};
/// # use modoai_fetch::retry_after;
/// let now = SystemTime::UNIX_EPOCH;
/// assert_eq!(retry_after("120", now), Some(Duration::from_secs(120)));
/// assert_eq!(retry_after("Thu, 01 Jan 1970 00:01:00 GMT", now), Some(Duration::from_secs(60)));
/// assert_eq!(retry_after("soon", now), None);
/// ```
pub fn retry_after(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    seconds(value).or_else(|| until(value, now)).map(|wait| wait.min(LONGEST))
}

/// Parses a number of seconds; negative ones are zero, and fractions of a second are rounded up.
fn seconds(value: &str) -> Option<Duration> {
    let (negative, digits) = match value.as_bytes().first()? {
        b'-' => (true, &value[1..]),
        b'+' => (false, &value[1..]),
        _ => (false, value),
    };
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_number(whole) || !is_number(part) {
        return None;
    }
    if negative {
        return Some(Duration::ZERO);
    }
    // Only a number too large for the type fails here.
    let whole = whole.parse::<u64>().unwrap_or(u64::MAX);
    Some(Duration::from_secs(whole.saturating_add(u64::from(part.bytes().any(|digit| digit != b'0')))))
}

/// Returns the time until a date. `UTC` and `+0000` are not HTTP but mean GMT.
fn until(value: &str, now: SystemTime) -> Option<Duration> {
    let other = value.strip_suffix("UTC").or_else(|| value.strip_suffix("+0000"));
    let date = match other {
        Some(rest) => httpdate::parse_http_date(&format!("{rest}GMT")),
        None => httpdate::parse_http_date(value),
    };
    Some(date.ok()?.duration_since(now).unwrap_or(Duration::ZERO))
}

/// The number of attempts and the delays between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// The number of attempts in all. Six: with the delays below they outlast a restart of the server.
    pub attempts: u32,
    /// The maximum delay after the first failure. One second: most failures have ended by then.
    pub first: Duration,
    /// The maximum of the doubled delays. A minute: a longer delay does not help where a minute did not.
    pub most: Duration,
    /// The longest delay that a caller waits for. Five minutes: beyond that, the request is postponed.
    pub longest_wait: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            attempts: 6,
            first: Duration::from_secs(1),
            most: Duration::from_secs(60),
            longest_wait: Duration::from_secs(300),
        }
    }
}

/// The action after a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Retry after this time.
    Wait(Duration),
    /// Postpone until after this time, which is too long to wait for.
    Postpone(Duration),
    /// Make no further attempts.
    GiveUp,
}

impl Patience {
    /// Returns the action after the attempt of this number (the first is 1) failed, with or without a Retry-After of
    /// the server.
    ///
    /// The delays double, and each is chosen at random from its whole range, so that clients that failed together do
    /// not retry together. A delay that the server requires is kept and slightly extended, for the same reason. A delay
    /// that is too long to wait for is postponed even after the last attempt, because it shows when a retry may
    /// succeed.
    pub fn next(&self, attempt: u32, asked_to_wait: Option<Duration>, dice: &mut fastrand::Rng) -> Next {
        let doubled = self.first.saturating_mul(1_u32.checked_shl(attempt.saturating_sub(1)).unwrap_or(u32::MAX));
        let own = drawn(doubled.min(self.most), dice);
        let wait = match asked_to_wait {
            Some(asked) => {
                // A tenth more at most, between a second and a minute.
                let margin = (asked / 10).clamp(Duration::from_secs(1), Duration::from_secs(60));
                asked.saturating_add(drawn(margin, dice)).max(own)
            }
            None => own,
        };
        if asked_to_wait.is_some_and(|asked| asked > self.longest_wait) {
            Next::Postpone(wait)
        } else if attempt >= self.attempts {
            Next::GiveUp
        } else {
            Next::Wait(wait)
        }
    }
}

/// Returns a random duration up to this one.
fn drawn(most: Duration, dice: &mut fastrand::Rng) -> Duration {
    most.mul_f64(dice.f64())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    fn waits(value: &str, now: SystemTime) -> Option<u64> {
        retry_after(value, now).map(|wait| wait.as_secs())
    }

    #[test]
    fn seconds_are_understood() {
        for (value, wait) in [("0", 0), (" 120 ", 120), ("+7", 7), ("1.2", 2), ("3.0", 3), ("-5", 0), ("-0.5", 0)] {
            assert_eq!(waits(value, at(0)), Some(wait), "{value:?}");
        }
    }

    #[test]
    fn absurd_waits_are_a_week() {
        for value in ["604801", "99999999999999999999999999", "18446744073709551615.9", "Fri, 31 Dec 9999 23:59:59 GMT"]
        {
            assert_eq!(retry_after(value, at(0)), Some(LONGEST), "{value}");
        }
        assert_eq!(waits("86400", at(0)), Some(86_400));
    }

    #[test]
    fn every_form_of_date_is_understood() {
        let now = at(784_111_777 - 30);
        for value in [
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
            "Sun, 06 Nov 1994 08:49:37 UTC",
            "Sun, 06 Nov 1994 08:49:37 +0000",
        ] {
            assert_eq!(waits(value, now), Some(30), "{value}");
            assert_eq!(waits(value, at(784_111_778)), Some(0), "{value}, past");
        }
    }

    #[test]
    fn garbage_says_nothing() {
        for value in [
            "",
            " ",
            "soon",
            "-",
            "+",
            ".",
            "1.",
            ".5",
            "12 seconds",
            "1e3",
            "0x10",
            "١٢",
            "Sun, 99 Nov 1994",
            "GMT",
            "UTC",
        ] {
            // "1." is a number without digits after the point and may be accepted.
            let expected = (value == "1.").then_some(1);
            assert_eq!(waits(value, at(0)), expected, "{value:?}");
        }
    }

    #[test]
    fn a_long_wait_is_postponed_at_any_attempt() {
        let patience = Patience::default();
        let asked = Duration::from_secs(86_400);
        for attempt in [1, 6, 100] {
            let next = patience.next(attempt, Some(asked), &mut fastrand::Rng::with_seed(1));
            assert!(
                matches!(next, Next::Postpone(wait) if wait >= asked && wait <= asked + Duration::from_secs(60)),
                "{next:?}"
            );
        }
    }

    #[test]
    fn there_is_an_end() {
        let mut dice = fastrand::Rng::with_seed(1);
        let patience = Patience::default();
        assert!(matches!(patience.next(5, None, &mut dice), Next::Wait(_)));
        assert_eq!(patience.next(6, None, &mut dice), Next::GiveUp);
        assert_eq!(patience.next(6, Some(Duration::from_secs(10)), &mut dice), Next::GiveUp);
    }

    proptest! {
        #[test]
        fn waits_stay_within_their_bounds(attempt in 0_u32..100, asked in proptest::option::of(0_u64..=300), seed: u64) {
            let patience = Patience { attempts: u32::MAX, ..Patience::default() };
            let asked = asked.map(Duration::from_secs);
            let next = patience.next(attempt, asked, &mut fastrand::Rng::with_seed(seed));
            let Next::Wait(wait) = next else { panic!("{next:?}") };
            let own = Duration::from_secs(1 << attempt.saturating_sub(1).min(6)).min(patience.most);
            let margin = asked.map_or(Duration::ZERO, |asked| (asked / 10).max(Duration::from_secs(1)));
            prop_assert!(wait >= asked.unwrap_or_default());
            prop_assert!(wait <= own.max(asked.unwrap_or_default() + margin));
        }

        #[test]
        fn any_header_is_a_sane_wait_or_none(value in "\\PC*", now in 0_u64..5_000_000_000) {
            prop_assert!(retry_after(&value, at(now)).is_none_or(|wait| wait <= LONGEST));
        }
    }

    #[test]
    fn waits_are_spread() {
        let mut dice = fastrand::Rng::with_seed(7);
        let patience = Patience { attempts: 100, ..Patience::default() };
        let waits: Vec<f64> = (0..1000)
            .map(|_| match patience.next(3, None, &mut dice) {
                Next::Wait(wait) => wait.as_secs_f64(),
                other => panic!("{other:?}"),
            })
            .collect();
        let mean = waits.iter().sum::<f64>() / 1000.0;
        assert!((1.8..2.2).contains(&mean), "full jitter over 4 s has its middle at 2 s, not {mean}");
    }
}
