//! The maintenance spider for several owners: one traversal of the webs of many owners, who receive separate reports
//! of broken, moved, changed and expiring documents. After MOMspider (Fielding 1994).
//!
//! | module | what it does |
//! |---|---|
//! | [`task`] | tasks: sites, limits, recipients of mail; the task files |
//! | [`traverse`] | the traversal: tests the URLs of all tasks in one pass, each URL at most once |
//! | [`extract`] | extracts the contents of a document, without requests |
//! | [`reference`](mod@reference) | the references of a document, and their elements |
//! | [`anchors`] | the possible targets of fragments |
//! | [`avoid`] | lists avoided and leafed prefixes, with the reasons |
//! | [`verdict`] | the outcome of testing a URL, and the verdict of a link |
//! | [`table`] | every URL that was ever tested, kept between runs |
//! | [`survey`] | the results of a traversal |
//! | [`results`] | the interface through which reports and mail read them |
//! | [`targets`] | findings grouped by target |
//! | [`report`] | reports of a run: terminal, JSON, CSV, JUnit, SARIF, index documents |
//! | [`map`] | the map of the web, and the same graph for other programs |
//! | [`mail`] | messages to owners |
//! | [`count`] | the counting problem: compares files, crawl, sitemap and log |
//! | `foreign` | sanitises untrusted text for all of these |

pub mod anchors;
pub mod avoid;
pub mod count;
pub mod extract;
mod foreign;
pub mod mail;
pub mod map;
pub mod reference;
pub mod report;
pub mod results;
pub mod survey;
pub mod table;
pub mod targets;
pub mod task;
pub mod traverse;
pub mod verdict;
