//! The same requests to both hosts over the same files: status, headers, body and line in the harvest log must be equal.
//!
//! A difference that stays is a row of `differences`, with its reason; a row without a difference fails the test, too.
//!
//! | file | content |
//! |---|---|
//! | `requests` | the requests |
//! | `differences` | what differs, and why |
//! | `hosts` | both hosts, configured alike |
//! | `outcome` | what is compared: an answer and its line, without what every run has of its own |

use std::collections::BTreeSet;

use modoai_testkit::apache;
use modoai_testkit::waiting::wait_for;

use self::differences::{DIFFERENCES, is_logged_differently};
use self::hosts::Hosts;
use self::outcome::Outcome;
use self::requests::Case;

mod differences;
mod hosts;
mod outcome;
mod requests;

#[test]
fn same_request_gets_the_same_response_and_log_line_from_both_hosts() {
    if apache::is_missing() {
        return;
    }
    let hosts = Hosts::start();
    let cases = requests::all();
    assert!(cases.len() >= 60, "only {} requests", cases.len());
    let outcomes = hosts.both(|host| cases.iter().map(|case| host.ask(case)).collect::<Vec<_>>());
    let mut explained = vec![0; DIFFERENCES.len()];
    let mut unexplained = Vec::new();
    for (index, case) in cases.iter().enumerate() {
        let (ours, theirs) = (&outcomes[0][index], &outcomes[1][index]);
        for field in ours.fields_that_differ(theirs) {
            match DIFFERENCES.iter().position(|row| row.explains(case, field, ours)) {
                Some(row) => explained[row] += 1,
                None => unexplained.push(format!("{}: {field}\n{}", case.name, ours.shown_beside(theirs, field))),
            }
        }
    }
    assert!(unexplained.is_empty(), "{} differences\n{}", unexplained.len(), unexplained.join("\n"));
    let stale = DIFFERENCES.iter().zip(&explained).filter(|(row, times)| row.is_in_responses() && **times == 0);
    let stale: Vec<_> = stale.map(|(row, _)| row.reason).collect();
    assert!(stale.is_empty(), "no longer a difference: {stale:?}");
    compare_logs(&hosts, &cases, &outcomes);
}

/// A line is written a moment after its response has arrived, so equality is waited for.
fn compare_logs(hosts: &Hosts, cases: &[Case], outcomes: &[Vec<Outcome>; 2]) {
    // The bytes of all responses of an account, if each was sent whole.
    let sent = |outcomes: &[Outcome], account: &str| {
        let of_account =
            cases.iter().zip(outcomes).filter(|(case, _)| case.is_logged && case.account_name() == account);
        of_account.map(|(_, outcome)| outcome.length).sum::<Option<usize>>()
    };
    let accounts_of = |is_such: fn(&Case) -> bool| -> BTreeSet<String> {
        cases.iter().filter(|case| is_such(case)).map(Case::account_name).collect()
    };
    let others = accounts_of(is_logged_differently);
    let is_compared = |account: &String| account.starts_with("198.18.") && !others.contains(account);
    let accounts = accounts_of(|case| case.is_logged && !is_logged_differently(case));
    wait_for("both logs have the same lines", || {
        let [(mut ours, our_bytes), (mut theirs, their_bytes)] = hosts.both(hosts::Host::log_lines);
        ours.retain(|account, _| is_compared(account));
        theirs.retain(|account, _| is_compared(account));
        let expected = cases.iter().filter(|case| case.is_logged && !is_logged_differently(case)).count();
        for (lines, name) in [(&ours, "serve"), (&theirs, "httpd")] {
            let count = lines.values().flatten().count();
            let unexpected = lines.keys().find(|account| !accounts.contains(*account));
            if count != expected || unexpected.is_some() {
                let missing = accounts.iter().find(|account| !lines.contains_key(*account));
                let problem = format!("{count} lines instead of {expected}; without {missing:?}, with {unexpected:?}");
                return Err(format!("{name}: {problem}"));
            }
        }
        for account in &accounts {
            if ours[account] != theirs[account] {
                return Err(format!("{:#?}\nand {:#?}", ours[account], theirs[account]));
            }
            for (outcomes, bytes) in outcomes.iter().zip([&our_bytes, &their_bytes]) {
                let sent = sent(outcomes, account);
                if sent.is_some_and(|sent| sent != bytes[account]) {
                    return Err(format!("{} bytes, and {sent:?} were sent: {:#?}", bytes[account], ours[account]));
                }
            }
        }
        Ok(())
    });
}

#[test]
fn catalogue_that_is_out_of_reach_is_503_and_a_damaged_one_500_in_both_hosts() {
    if apache::is_missing() {
        return;
    }
    let hosts = Hosts::start();
    let case = Case::get("Identify", "?verb=Identify");
    let statuses =
        || hosts.both(|host| host.ask(&case)).map(|Outcome { status, retry_after, .. }| (status, retry_after));
    assert_eq!(statuses(), [(200, false); 2]);
    // A table that is missing is an error of the engine, and may be back later.
    hosts.in_catalogues("ALTER TABLE standing RENAME TO away");
    assert_eq!(statuses(), [(503, true); 2]);
    hosts.in_catalogues("ALTER TABLE away RENAME TO standing");
    assert_eq!(statuses(), [(200, false); 2]);
    hosts.in_catalogues(
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'damaged' WHERE name = 'standing'; \
         PRAGMA schema_version = 100000",
    );
    assert_eq!(statuses(), [(500, false); 2]);
}
