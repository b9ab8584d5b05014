//! Those who look at the site, served by any child: whether there are any right now, so that lists can give way to them.

use std::sync::atomic::Ordering;
use std::time::Duration;

use modoai_httpd::request::Request;
use modoai_httpd::shared::{self, COUNT};
use rustix::time::{ClockId, clock_gettime};

use crate::directives::HANDLERS;

/// Whoever has just got something will want the next.
const JUST_NOW: Duration = Duration::from_millis(10);

/// Whoever is still being served after this has got a page already, and is given the rest at their own pace; or their
/// child has died.
const BEING_SERVED: Duration = Duration::from_millis(500);

/// Which of the shared numbers is which: when somebody was last begun with, and done with.
const BEGUN: usize = 0;
const DONE: usize = 1;
const _: () = assert!(COUNT > DONE);

/// Somebody's request has come to its handler.
pub(crate) fn begins(request: &Request<'_>) {
    note(BEGUN, request);
}

/// Somebody has been answered.
pub(crate) fn is_done(request: &Request<'_>) {
    note(DONE, request);
}

fn note(which: usize, request: &Request<'_>) {
    let is_ours = request.last().handler().is_some_and(|handler| HANDLERS.contains(&handler));
    if let (false, Some(numbers)) = (is_ours, shared::numbers()) {
        numbers[which].store(now(), Ordering::Relaxed);
    }
}

/// Whether somebody is being served, or was a moment ago.
pub(crate) fn are_there() -> bool {
    let Some(numbers) = shared::numbers() else { return false };
    let [begun, done] = [BEGUN, DONE].map(|which| numbers[which].load(Ordering::Relaxed));
    let now = now();
    let is_within =
        |moment: u64, time: Duration| moment > 0 && u128::from(now.saturating_sub(moment)) < time.as_micros();
    is_within(begun.max(done), JUST_NOW) || (begun > done && is_within(begun, BEING_SERVED))
}

/// Microseconds by a clock that is the same in all processes.
fn now() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec.cast_unsigned() * 1_000_000 + time.tv_nsec.cast_unsigned() / 1_000
}
