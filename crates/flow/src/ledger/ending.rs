//! The end of an answer: what it has cost, and the lease that it gives back.
//!
//! Unlike a question, it must not get lost when the file cannot be had for a moment: a budget would not be charged, and
//! a list would count as under way long after it has ended. So it is a value that can be kept for later.

use super::Site;
use crate::account::{Account, SECOND};
use crate::settings::Budget;

/// An answer that has ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ending {
    pub(crate) key: u64,
    pub(crate) budget: Budget,
    pub(crate) records: u64,
    pub(crate) bytes: u64,
    /// Of a list.
    pub(crate) list: Option<EndedList>,
}

/// A list that has ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EndedList {
    /// The number of its lease.
    pub(crate) number: u64,
    /// How long it took, in microseconds.
    pub(crate) time: u64,
    /// Whether it was only a small part of what lists are.
    pub(crate) is_cut_short: bool,
}

/// How long a list takes, at least, where others are cut short: it gives way. Otherwise room would be promised at the
/// pace at which small parts are made, and those who come back for them would take the processors instead.
const WHOLE: u64 = 10 * SECOND;

impl Ending {
    pub(super) fn apply(&self, now: u64, site: &mut Site, account: &mut Account) {
        let Self { budget, records, bytes, list, .. } = *self;
        account.charge(now, &budget, records, bytes);
        if let Some(EndedList { number, time, is_cut_short }) = list {
            let time = if is_cut_short { time.max(WHOLE) } else { time };
            if !is_cut_short {
                account.typical.learn(records, bytes, time);
            }
            account.leases.give_back(number);
            site.leases.give_back(number);
            site.time = if site.time == 0 { time } else { site.time - site.time / 8 + time / 8 };
        }
    }
}
