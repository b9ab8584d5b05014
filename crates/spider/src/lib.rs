//! The multi-owner maintenance spider: one traversal for the webs of many owners, each of whom is told what is broken,
//! moved, changed or about to expire. After MOMspider (Fielding 1994).
//!
//! | module | what it owns |
//! |---|---|
//! | [`task`] | whose webs, how far, who is told what; the task files |
//! | [`traverse`] | the traversal: all tasks at once, every URL at most once |
//! | [`extract`] | what a document says; pure |
//! | [`reference`](mod@reference) | what a document points at, and by which element |
//! | [`anchors`] | what fragments can point at |
//! | [`avoid`] | what is avoided or leafed, and why |
//! | [`verdict`] | what came of testing a URL, and what that means for a link |
//! | [`table`] | every URL that was ever tested, kept between runs |
//! | [`survey`] | what a traversal found |
//! | [`results`] | the same, as reports and mail read it |
//! | [`targets`] | findings grouped by target |
//! | [`report`] | what is told of a run: terminal, JSON, CSV, JUnit, SARIF, index documents |
//! | [`map`] | the picture of the web, and the same graph for other programs |
//! | [`mail`] | messages to owners |
//! | [`count`] | the counting problem: files, crawl, site map and log, side by side |
//! | `foreign` | text of strangers, made harmless for all of these |

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
