//! The module in a real Apache httpd.
//!
//! | file | what it shows |
//! |---|---|
//! | `matrix` | what is listed is what a GET gives: every URL of `site`, for everyone, under every MPM and protocol |
//! | `doors` | doors that close and open, and what is left of what was behind them |
//! | `vhosts` | each virtual host is a repository of its own |
//! | `userdir` | whose folders are listed |
//! | `remote` | requesters behind a proxy |
//! | `certificates` | folders for which a connection would be negotiated anew |
//! | `traffic` | URLs that only visitors know |
//! | `life` | restarts, crashes, clients that leave, files that change, disks that are full |
//! | `large` | files of more than a gigabyte |
//! | `offline` | an index made before httpd runs |
//! | `archive` | catalogues of documents and records, served without a site |
//! | `directives` | what can be set, and what is said to whoever sets it wrongly |
//!
//! The rules of the protocol itself are in `rules.rs`, for both hosts.

use std::collections::BTreeSet;

use modoai_testkit::http::Get;

use crate::oai;

mod archive;
mod certificates;
mod directives;
mod doors;
mod large;
mod life;
mod matrix;
mod offline;
mod programs;
mod remote;
mod site;
mod table;
mod traffic;
mod userdir;
mod vhosts;

/// The paths that a repository lists, without the slash at their beginning; what is deleted is not among them.
pub(crate) fn listed(client: &mut impl Get) -> BTreeSet<String> {
    let records = oai::harvest(client, "verb=ListIdentifiers&metadataPrefix=oai_dc").into_iter();
    let path = |identifier: String| identifier.splitn(4, '/').nth(3).unwrap_or_default().to_owned();
    records.filter(|record| !record.deleted).map(|record| path(record.identifier)).collect()
}

/// A set of paths, to compare with.
pub(crate) fn paths<const N: usize>(paths: [&str; N]) -> BTreeSet<String> {
    paths.map(str::to_owned).into()
}
