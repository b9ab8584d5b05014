//! Flow control: harvesters stay welcome and the site stays up.
//!
//! Synchronous and without HTTP, so that httpd's threads and the standalone server use the same:
//!
//! | module | what it is about |
//! |---|---|
//! | [`who`] | on whose account a request is |
//! | [`settings`] | what each may take |
//! | [`flow`] | the gate: admitted, or when to come back |
//! | `account` | one account: hourly budgets, lists under way, promises |
//! | `ledger` | where accounts are kept, for all processes and after restarts |
//! | `notes` | what is enough to turn away those who will not wait |
//! | [`courtesy`] | lists give way to everything else |
//! | [`readers`] | whether anybody looks at the site, in whichever process |
//! | [`log`] | who harvested what |
//! | [`visitor`] | what is noted there about a request |

mod account;
pub mod courtesy;
pub mod flow;
mod ledger;
pub mod log;
pub mod network;
mod notes;
pub mod readers;
pub mod settings;
pub mod visitor;
pub mod who;

pub use flow::{Errand, Flow, Kind, NotNow, Pass, Refusal};
pub use readers::Readers;
pub use settings::{Budget, FLOW_SETTINGS, FlowSettings, HARVESTER_SETTINGS, HarvesterSettings};
pub use visitor::Visitor;
pub use who::{Asker, Who};
