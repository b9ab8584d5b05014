use std::time::Duration;

use proptest::prelude::*;

use super::leases::{Lease, TERM};
use super::promises::{GRACE, MOST_RUNS, Ticket};
use super::*;

const START: u64 = 1_000_000 * SECOND;

fn budget(delay: u64, records: u64, lists: usize) -> Budget {
    Budget { delay: Duration::from_secs(delay), records, bytes: 0, lists }
}

/// An address asks for the next page of its own list: never twice for the same, unless it was turned away.
fn list(now: u64, address: u32, budget: &Budget) -> Ask<'_> {
    page(now, address, 1, budget)
}

fn page(now: u64, address: u32, request: u32, budget: &Budget) -> Ask<'_> {
    Ask { now, kind: Kind::List, budget, ticket: Ticket { address, request }, room: true, squeeze: true }
}

/// Asks; if it is too early, makes a promise and tells how long to wait.
fn asked(account: &mut Account, ask: &Ask<'_>) -> Result<(), u64> {
    match account.ask(ask) {
        Verdict::Admitted => Ok(()),
        Verdict::Crowded => Err(account.promise(ask, ask.now + SECOND, 0, 1).first - ask.now),
        Verdict::Later(ready_at) => Err(account.promise(ask, ready_at, 0, 1).first - ask.now),
    }
}

#[test]
fn a_delay_is_kept_and_waiting_for_it_is_enough() {
    let (mut account, budget) = (Account::default(), budget(5, 0, 0));
    assert_eq!(asked(&mut account, &list(START, 1, &budget)), Ok(()));
    assert_eq!(asked(&mut account, &list(START + SECOND, 1, &budget)), Err(4 * SECOND));
    assert_eq!(asked(&mut account, &list(START + 5 * SECOND, 1, &budget)), Ok(()));
    // Who comes late owes nothing.
    assert_eq!(asked(&mut account, &list(START + 100 * SECOND, 1, &budget)), Ok(()));
}

#[test]
fn an_hourly_budget_is_earned_again_evenly() {
    let (mut account, budget) = (Account::default(), budget(0, 100, 0));
    assert_eq!(asked(&mut account, &list(START, 1, &budget)), Ok(()));
    account.charge(START, &budget, 60, 0);
    assert_eq!(asked(&mut account, &list(START, 1, &budget)), Ok(()));
    account.charge(START, &budget, 60, 0);
    // Twenty too many, and one to begin with: at 36 seconds each.
    let wait = asked(&mut account, &list(START, 1, &budget)).expect_err("used up");
    assert_eq!(wait, 21 * 36 * SECOND);
    assert_eq!(asked(&mut account, &list(START + wait, 1, &budget)), Ok(()));
    // After an hour and a bit, all is forgotten.
    let later = START + 2 * 3_600 * SECOND;
    account.charge(later, &budget, 99, 0);
    assert_eq!(asked(&mut account, &list(later, 1, &budget)), Ok(()));
}

#[test]
fn a_larger_limit_makes_a_debt_shorter_at_once() {
    let (mut account, tight) = (Account::default(), budget(3_600, 10, 0));
    assert_eq!(asked(&mut account, &list(START, 1, &tight)), Ok(()));
    account.charge(START, &tight, 1_000, 0);
    assert!(asked(&mut account, &list(START, 1, &tight)).expect_err("deep in debt") > 90 * 3_600 * SECOND);
    let wide = budget(0, 10_000, 0);
    assert_eq!(asked(&mut account, &list(START, 2, &wide)), Ok(()));
    let unlimited = budget(0, 0, 0);
    account.charge(START, &tight, 1_000_000, 0);
    assert_eq!(asked(&mut account, &list(START, 3, &unlimited)), Ok(()));
}

#[test]
fn a_smaller_limit_does_not_punish_what_was_allowed() {
    let (mut account, wide, tight) = (Account::default(), budget(0, 100_000, 0), budget(0, 4_000, 0));
    account.charge(START, &wide, 35_000, 0);
    // As if the hour's 4,000 had just been taken: the next one comes in a second later.
    let wait = asked(&mut account, &list(START, 1, &tight)).expect_err("used up");
    assert_eq!(wait, SECOND);
    assert_eq!(asked(&mut account, &list(START + wait, 1, &tight)), Ok(()));

    // Who had overdrawn waits for it, and no longer than before.
    let mut account = Account::default();
    account.charge(START, &wide, 300_000, 0);
    let before = asked(&mut account, &list(START, 1, &wide)).expect_err("deep in debt");
    let after = asked(&mut account, &list(START, 2, &tight)).expect_err("deep in debt");
    assert!(after.abs_diff(before) < 2 * SECOND && before > 7_000 * SECOND, "{before} and {after}");
}

#[test]
fn nobody_can_use_up_what_was_promised_to_another() {
    let (mut account, budget) = (Account::default(), budget(10, 0, 0));
    assert_eq!(asked(&mut account, &list(START, 1, &budget)), Ok(()));
    let wait = asked(&mut account, &list(START, 2, &budget)).expect_err("too early");
    // Another one asks a hundred times a second, for all that time, and on.
    let mut longest = 0;
    for step in 0..wait / SECOND * 100 {
        let now = START + step * SECOND / 100;
        if let Err(wait) = asked(&mut account, &list(now, 9, &budget)) {
            longest = longest.max(wait);
        }
    }
    assert_eq!(asked(&mut account, &list(START + wait, 2, &budget)), Ok(()));
    assert!((60 * SECOND..=3_700 * SECOND).contains(&longest), "{} s", longest / SECOND);
    // A new one waits for a turn, and not for all that was promised to the one that does not wait.
    let wait = asked(&mut account, &list(START + wait, 3, &budget)).expect_err("too early");
    assert!(wait <= 30 * SECOND, "{} s", wait / SECOND);
}

#[test]
fn promises_that_nobody_comes_for_are_forgotten() {
    let (mut account, budget) = (Account::default(), budget(10, 0, 0));
    assert_eq!(asked(&mut account, &list(START, 1, &budget)), Ok(()));
    for _ in 0..20 {
        assert!(asked(&mut account, &list(START, 1, &budget)).is_err());
    }
    let later = START + 20 * 10 * SECOND + GRACE + SECOND;
    assert_eq!(asked(&mut account, &list(later, 1, &budget)), Ok(()));
    assert_eq!(account.promises.0, []);
}

#[test]
fn many_addresses_of_one_account_are_all_promised_something() {
    let (mut account, budget) = (Account::default(), budget(2, 0, 0));
    assert_eq!(asked(&mut account, &list(START, 1, &budget)), Ok(()));
    let waits: Vec<u64> =
        (2..200).map(|ticket| asked(&mut account, &list(START, ticket, &budget)).expect_err("too early")).collect();
    assert!(account.promises.0.len() <= MOST_RUNS);
    let mut order: Vec<(u64, u32)> = waits.iter().zip(2..200).map(|(wait, ticket)| (*wait, ticket)).collect();
    order.sort_unstable();
    for (wait, ticket) in order {
        assert_eq!(asked(&mut account, &list(START + wait, ticket, &budget)), Ok(()), "{ticket} after {wait}");
    }
}

#[test]
fn a_patient_client_beside_an_impatient_one_of_its_address_is_let_in_as_told() {
    let (mut account, budget) = (Account::default(), budget(10, 0, 0));
    assert_eq!(asked(&mut account, &page(START, 1, 1, &budget)), Ok(()));
    // So often that its times reach further than any promise does.
    for _ in 0..5_000 {
        assert!(asked(&mut account, &page(START, 1, 2, &budget)).is_err());
    }
    let told: Vec<u64> =
        (3..20).map(|request| asked(&mut account, &page(START, 1, request, &budget)).expect_err("too early")).collect();
    for (wait, request) in told.into_iter().zip(3..) {
        assert!(wait <= 4_000 * SECOND, "{} s", wait / SECOND);
        // The other one goes on, up to the last moment.
        let _ = asked(&mut account, &page(START + wait, 1, 2, &budget));
        assert_eq!(asked(&mut account, &page(START + wait, 1, request, &budget)), Ok(()), "{request} after {wait}");
    }
}

#[test]
fn what_is_told_is_promised_however_full_the_account_is() {
    let (mut account, budget) = (Account::default(), budget(10, 0, 0));
    assert_eq!(asked(&mut account, &page(START, 1, 1, &budget)), Ok(()));
    for number in 0..20_000_u32 {
        // Few addresses that ask for ever other things, and then many of them; what is owed grows.
        let (address, request) = if number < 10_000 { (number % 3 + 1, number) } else { (number, 1) };
        account.free_at = START + u64::from(number % 60) * SECOND;
        let ask = page(START, address, request.max(1), &budget);
        if let Err(wait) = asked(&mut account, &ask) {
            assert!(account.promises.0.len() <= MOST_RUNS);
            let mut then = account.promises.clone();
            then.expire(START + wait);
            assert!(then.redeem(START + wait, ask.ticket, false), "{number}: {wait}");
        }
    }
}

#[test]
fn what_is_left_over_for_those_who_may_have_been_meant_has_its_bounds() {
    let (mut account, budget) = (Account::default(), budget(10, 0, 2));
    assert_eq!(asked(&mut account, &list(START, 1, &budget)), Ok(()));
    let waits: Vec<u64> =
        (0..3).map(|_| asked(&mut account, &list(START, 1, &budget)).expect_err("too early")).collect();
    let now = START + waits[2];
    for _ in 0..3 {
        assert_eq!(asked(&mut account, &list(now, 1, &budget)), Ok(()), "promised");
    }
    let full = Ask { room: false, squeeze: false, ..list(now, 1, &budget) };
    assert!(account.clone().ask(&full) != Verdict::Admitted, "no room");
    let full = Ask { room: false, ..list(now, 1, &budget) };
    assert_eq!(account.clone().ask(&full), Verdict::Admitted, "it may have been promised");
    let mut busy = account.clone();
    (0..24).for_each(|number| busy.leases.give(now, number, MOST_LISTS_OF_ONE));
    assert!(busy.ask(&list(now, 1, &budget)) != Verdict::Admitted, "very many are under way");
    let spares = (0..200).take_while(|_| account.ask(&list(now, 1, &budget)) == Verdict::Admitted).count();
    assert_eq!(spares, 32);
}

#[test]
fn lists_under_way_are_counted_until_they_end_or_their_process_does() {
    let (mut account, budget) = (Account::default(), budget(0, 0, 2));
    for number in 0..2 {
        assert_eq!(asked(&mut account, &list(START, 1, &budget)), Ok(()));
        account.leases.give(START, number, 24);
    }
    let wait = asked(&mut account, &list(START, 2, &budget)).expect_err("two are under way");
    // The promise holds although both are still under way.
    assert_eq!(asked(&mut account, &list(START + wait, 2, &budget)), Ok(()));
    assert!(asked(&mut account, &list(START + wait, 3, &budget)).is_err());
    account.leases.give_back(0);
    assert_eq!(asked(&mut account, &list(START + wait, 4, &budget)), Ok(()));
    // A process that was killed: there is none with this number.
    account.leases.0 =
        vec![Lease { number: 7, holder: Holder { process: 0x7fff_fff0, ..Holder::own() }, until: u64::MAX }; 2];
    assert_eq!(asked(&mut account, &list(START + wait, 5, &budget)), Ok(()));
    // One that nobody can see: until it has said nothing for too long.
    let elsewhere = Holder { process: 1, container: Holder::own().container.wrapping_add(1) };
    account.leases.0 = vec![Lease { number: 7, holder: elsewhere, until: START + TERM }; 2];
    assert!(asked(&mut account, &list(START + TERM - 1, 6, &budget)).is_err());
    assert_eq!(asked(&mut account, &list(START + TERM, 7, &budget)), Ok(()));
}

#[test]
fn a_single_record_waits_for_no_delay() {
    let (mut account, budget) = (Account::default(), budget(60, 0, 1));
    assert_eq!(asked(&mut account, &list(START, 1, &budget)), Ok(()));
    let record = Ask { kind: Kind::Record, ..list(START, 1, &budget) };
    assert_eq!(asked(&mut account, &record), Ok(()));
}

/// Somebody who harvests: one page after the other, and waits as told. Whole seconds, as clients do.
#[derive(Clone, Debug)]
struct Harvester {
    address: u32,
    page: u32,
    next: u64,
    was_told: bool,
}

proptest! {
    /// Whatever the budget, however many share an account and an address, and whoever hammers at the door meanwhile:
    /// whoever waits as told is let in.
    #[test]
    fn whoever_waits_as_told_is_let_in(
        delay in 0_u64..20,
        records in prop_oneof![Just(0_u64), 50_u64..100_000],
        lists in 0_usize..4,
        addresses in prop::collection::vec(1_u32..6, 1..12),
        pages in prop::collection::vec((1_u64..200, 0_u64..3_000, 0_u64..800), 1..40),
        hammers in any::<bool>(),
    ) {
        let (mut account, budget) = (Account::default(), budget(delay, records, lists));
        let mut harvesters: Vec<Harvester> = addresses
            .iter()
            .zip(0..)
            .map(|(&address, index)| Harvester {
                address,
                // Each has a list of its own.
                page: index * 1_000 + 1,
                next: START + u64::from(index) * 7_919,
                was_told: false,
            })
            .collect();
        let mut under_way: Vec<(u64, u64)> = Vec::new();
        for number in 0..400_u64 {
            let (size, lateness, time) = pages[number as usize % pages.len()];
            let one = harvesters.iter_mut().min_by_key(|one| one.next).expect("at least one");
            let now = one.next;
            under_way.retain(|(end, number)| {
                let is_over = *end <= now;
                if is_over {
                    account.leases.give_back(*number);
                }
                !is_over
            });
            if hammers {
                let _ = asked(&mut account, &page(now, 99, number as u32 % 10 + 1, &budget));
            }
            match asked(&mut account, &page(now, one.address, one.page, &budget)) {
                Ok(()) => {
                    account.leases.give(now, number, 24);
                    let end = now + time * 1_000;
                    under_way.push((end, number));
                    account.typical.learn(size, size * 100, time * 1_000);
                    account.charge(now, &budget, size, size * 100);
                    // It asks for the next page when it has this one.
                    one.next = end + lateness * 100;
                    one.page += 1;
                    one.was_told = false;
                }
                Err(wait) => {
                    prop_assert!(!one.was_told, "told to come at {now}, and turned away again for {wait}: {one:?}");
                    // Whole seconds, rounded up, and somewhat late.
                    one.next = now + wait.div_ceil(SECOND).max(1) * SECOND + lateness * 1_000;
                    one.was_told = true;
                }
            }
        }
    }

    /// Over any time, an account gets what its budget says, and what was saved up, and a little too much if those who
    /// share it come early.
    #[test]
    fn nobody_gets_more_than_the_budget(
        records in 10_u64..10_000,
        size in 1_u64..500,
        clients in 1_u64..5,
        early in 0_u64..3,
    ) {
        let (mut account, budget) = (Account::default(), budget(0, records, 0));
        let mut next: Vec<u64> = (0..clients).map(|client| START + client).collect();
        let (mut taken, mut now, mut pages) = (0, START, 1);
        for _ in 0..2_000 {
            let (client, at) = next.iter().copied().enumerate().min_by_key(|(_, at)| *at).expect("some");
            now = at;
            match asked(&mut account, &page(now, client as u32 + 1, pages, &budget)) {
                Ok(()) => {
                    account.typical.learn(size, 0, 1_000);
                    account.charge(now, &budget, size, 0);
                    taken += size;
                    pages += 1;
                    next[client] = now + 10_000;
                }
                // Those who come early get no more.
                Err(wait) => next[client] = now + if early == 0 { wait } else { (wait / (early + 1)).max(SECOND / 2) },
            }
        }
        let hours = (now - START) as f64 / (3_600.0 * SECOND as f64);
        let allowed = records as f64 * (hours + 1.0) * 1.1 + (size * clients * 8) as f64;
        prop_assert!(taken as f64 <= allowed, "{taken} in {hours} hours, of {allowed}");
    }
}
