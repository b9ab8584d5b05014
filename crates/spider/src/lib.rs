//! The multi-owner maintenance spider: one traversal for the webs of many owners, each of whom is told what is broken,
//! moved, changed or about to expire. After MOMspider (Fielding 1994).
//!
//! | module | what it owns |
//! |---|---|
//! | [`task`] | whose webs, how far, who is told what; the task files |
//! | [`reference`](mod@reference) | what a document points at, and by which element |
//! | [`extract`] | what a document says; pure |
//! | [`anchors`] | what fragments can point at |
//! | [`verdict`] | what came of testing a URL, and what that means for a link |
//! | [`results`] | a finished run, as reports and mail read it |
//! | [`mail`] | messages to owners |
//! | [`report`] | what is told of a run: terminal, JSON, CSV, JUnit, SARIF, index documents |

pub mod anchors;
pub mod extract;
pub mod mail;
pub mod reference;
pub mod report;
pub mod results;
pub mod task;
pub mod verdict;
