//! Sends messages to owners about their broken, moved, changed or expiring documents and links. One message for each
//! owner and run, and none if nothing is new.
//!
//! ```text
//! results ── gather (findings per recipient; the ledger has those reported before) ── compose ── route ── ledger
//! ```
//!
//! The ledger is written only after a message was accepted, so a message that failed is created again by the next run.

mod address;
mod compose;
mod gather;
mod item;
pub mod ledger;
pub mod route;
mod text;
mod view;

use jiff::Timestamp;
use tracing::debug;

pub use compose::Letter;
pub use ledger::{Ledger, LedgerError, SqliteLedger};
pub use route::{Route, RouteError};

use crate::results::{ReportError, Results};

/// The number of consecutive failures of the route itself after which delivery stops: a thousand owners would otherwise
/// mean a thousand timeouts of an unavailable server, or a thousand wrong passwords.
const ENOUGH: u32 = 3;

/// The result of sending a run's messages.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Delivery {
    /// The messages that were accepted.
    pub written: Vec<Written>,
    /// The failed deliveries.
    pub failed: Vec<Failed>,
    /// The recipients without a message to send.
    pub quiet: Vec<Quiet>,
}

/// A message that was accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The addresses of its recipients.
    pub addresses: Vec<String>,
    /// The subject.
    pub subject: String,
    /// The Message-ID.
    pub id: String,
    /// The number of new findings in it.
    pub news: u64,
}

/// A failed delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// The address.
    pub address: String,
    /// The server or program that was to accept the message; empty if delivery was not attempted.
    pub route: String,
    /// The error.
    pub what: String,
}

/// A recipient without a message to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quiet {
    /// The address.
    pub address: String,
    /// The reason.
    pub why: String,
}

/// Sends messages to all recipients of a run: the owners of tasks, and the owners of pages, whose addresses are in
/// `people` (owner, addresses). Fails only if results or ledger cannot be read, and then before anything is sent. A
/// message that cannot be delivered does not stop the others.
pub fn deliver(
    results: &dyn Results,
    people: &[(String, Vec<String>)],
    route: &mut dyn Route,
    ledger: &mut dyn Ledger,
    now: Timestamp,
) -> Result<Delivery, ReportError> {
    let mut gathered = gather::gather(results, people, ledger, now)?;
    let letters = compose::compose(results, &mut gathered, route.sender(), now)?;
    let gather::Gathered { addressees, quiet, failed } = gathered;
    let mut delivery = Delivery { written: Vec::new(), failed, quiet };

    let mut failures = 0;
    for letter in &letters {
        let everybody = |what: &str| letter.to.iter().map(|one| (one.email.to_string(), what.to_owned())).collect();
        let refused: Vec<route::Refused> = if failures >= ENOUGH {
            everybody("not attempted after several consecutive failures")
        } else {
            match route.send(letter) {
                Ok(refused) => {
                    failures = 0;
                    refused
                }
                Err(error) => {
                    failures = if error.is_of_the_route() { failures + 1 } else { 0 };
                    everybody(&route::causes(&error))
                }
            }
        };
        let mut addresses = Vec::new();
        for (mailbox, place) in letter.to.iter().zip(&letter.places) {
            let address = mailbox.email.to_string();
            if let Some((_, what)) = refused.iter().find(|(refused, _)| *refused == address) {
                delivery.fail(address, route, what.clone());
                continue;
            }
            // The message was sent. If that cannot be recorded, it will be sent again, which must be reported.
            if !route.is_rehearsal()
                && let Err(error) = ledger.record(&addressees[*place].address, &letter.keys)
            {
                let what =
                    format!("sent, but failed to record this, so it will be sent again: {}", route::causes(&error));
                delivery.fail(address.clone(), route, what);
            }
            addresses.push(address);
        }
        if !addresses.is_empty() {
            debug!(to = ?addresses, subject = letter.subject, "message accepted");
            let (subject, id) = (letter.subject.clone(), letter.id.clone());
            delivery.written.push(Written { addresses, subject, id, news: letter.news });
        }
    }

    // An incomplete run cannot determine which findings are fixed.
    if results.run().cut_short.is_none() && !route.is_rehearsal() {
        for addressee in &addressees {
            let found = addressee.found.union(&addressee.unsure).copied().collect();
            if let Err(error) = ledger.keep_only(&addressee.address, &found) {
                delivery.fail(addressee.address.clone(), route, route::causes(&error));
            }
        }
    }
    Ok(delivery)
}

impl Delivery {
    fn fail(&mut self, address: String, route: &dyn Route, what: String) {
        let route = route.name();
        debug!(address, route, what, "no message");
        self.failed.push(Failed { address, route, what });
    }
}
