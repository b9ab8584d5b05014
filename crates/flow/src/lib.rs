//! Flow control: limits for each harvester, the time at which a refused request may be repeated, and pauses of lists
//! while visitors use the site.
//!
//! Synchronous and without HTTP, so that httpd's threads and the standalone server use the same code:
//!
//! | module | content |
//! |---|---|
//! | [`client`] | the account of a request |
//! | [`settings`] | the limits |
//! | [`flow`] | admission of requests |
//! | `gcra` | the algorithm of every budget |
//! | `account`, `site` | the decision: budgets and queue of one account, lists in progress of all |
//! | `ledger` | the file that processes share |
//! | [`pace`] | the share of the processors that lists get while readers need them |
//! | [`effort`] | the time spent on items that are hidden from a requester |

mod account;
pub mod client;
pub mod effort;
pub mod flow;
mod gcra;
mod ledger;
pub mod pace;
pub mod settings;
mod site;

pub use client::Client;
pub use effort::Effort;
pub use flow::{Flow, Permit, Refusal, RequestClass};
pub use pace::Processors;
pub use settings::{Budget, FLOW_SETTINGS, FlowSettings, HARVESTER_SETTINGS, HarvesterSettings};
