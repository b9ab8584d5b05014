//! Lists whose records move while they are read, and verbs that fail altogether: what a harvester cannot get in the ordinary
//! way, it has to look for in another, and not for ever.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{Defect, Outcome, everything, row};
use crate::endpoint::calendar;
use crate::endpoint::holdings::Record;
use crate::endpoint::page::Page;
use crate::endpoint::reply::Reply;
use crate::endpoint::script::{Script, Visit};

pub(super) const DEFECTS: &[Defect] = &[
    row("list-shifted", "two records disappear between pages, without sizes", || removing().page(uncounted)).told(),
    // Sizes of a server whose records are being removed are not reported as wrong.
    row("list-shifted", "two records disappear between pages, with sizes", removing),
    row("list-shifted", "two records disappear and two are added, so that the size stays the same", || {
        removing()
            .holding(|holdings| {
                let added = calendar::now() + 600;
                holdings.records.iter_mut().skip(21).for_each(|record| record.changed = added);
            })
            .arrange(|_, records| {
                // Those that are removed are gone already when those that are added come.
                if records.iter().any(is_removed) {
                    records.retain(|record| !ADDED.contains(&record.identifier.as_str()));
                }
            })
    })
    .told(),
    row("list-shifted", "a record moves to the end between pages, without sizes", || {
        shifting(|records| {
            // Only a list of everything begins with it.
            if records.len() > 2 {
                let moved = records.remove(1);
                records.push(moved);
            }
        })
        .page(uncounted)
    })
    .told(),
    row("list-shifted", "two records disappear, without sizes, and identifiers cannot be listed", || {
        removing().page(uncounted).instead(|visit| fails(visit, "ListIdentifiers"))
    })
    .told(),
    row("list-shifted", "two records disappear, without sizes, and lists of identifiers end after a page", || {
        removing().page(uncounted).page(|visit, page| {
            if visit.verb() == "ListIdentifiers" {
                page.list().into_iter().for_each(|list| list.token = None);
            }
        })
    })
    .told(),
    row("list-shifted", "no list is given twice, without sizes", || {
        Script::default().page(uncounted).instead(|visit| {
            let again = visit.verb() == "ListRecords" && visit.times > 0;
            again.then(out_of_order).or_else(|| fails(visit, "ListIdentifiers"))
        })
    })
    .asked(&["--attempts", "1"])
    .outcome(Outcome::Unproven),
    row("no-identifiers", "with a size that is wrong", || {
        Script::default().instead(|visit| fails(visit, "ListIdentifiers")).page(|_, page| {
            let token = page.list().and_then(|list| list.token.as_mut());
            token.into_iter().for_each(|token| token.size = Some("1000".to_owned()));
        })
    })
    .told(),
    row("no-identifiers", "and no sizes", || {
        Script::default().instead(|visit| fails(visit, "ListIdentifiers")).page(uncounted)
    })
    .told(),
    row("no-records", "500 for every list of records", || {
        Script::default().instead(|visit| fails(visit, "ListRecords"))
    })
    .told(),
    row("no-records", "500 for every list of records, without sizes", || {
        Script::default().page(uncounted).instead(|visit| fails(visit, "ListRecords"))
    })
    .told(),
    row("no-records", "500 for every list that holds a record", || {
        Script::default().instead(|visit| fails(visit, "ListRecords").filter(|_| !visit.matching.is_empty()))
    })
    .told_as(&["bad-record", "unstable"]),
    row("no-records", "500 for every list of records, and for every record", || {
        Script::default().instead(|visit| fails(visit, "ListRecords").or_else(|| fails(visit, "GetRecord")))
    })
    .asked(&["--attempts", "2"])
    .outcome(Outcome::WithoutSome(everything)),
    row("no-identify", "500", || Script::default().instead(|visit| fails(visit, "Identify"))).told(),
    row("no-identify", "a web page with status 200", || {
        Script::default().instead(|visit| (visit.verb() == "Identify").then(|| Reply::html(200, "Welcome")))
    })
    .told(),
    row("no-identify", "badVerb", || {
        Script::default().page(|visit, page| {
            if visit.verb() == "Identify" {
                page.fail("badVerb", "no such verb");
            }
        })
    })
    .told(),
    row("no-identify", "500, and days are what dates are written in", || {
        let days = |holdings: &mut crate::endpoint::Holdings| holdings.granularity = calendar::Granularity::Day;
        Script::default().holding(days).instead(|visit| fails(visit, "Identify"))
    })
    .told(),
    row("no-formats", "500", || Script::default().instead(|visit| fails(visit, "ListMetadataFormats"))).told(),
    row("no-formats", "500, and Identify fails, too", || {
        Script::default().instead(|visit| fails(visit, "ListMetadataFormats").or_else(|| fails(visit, "Identify")))
    })
    .told(),
    row("no-formats", "500, and identifiers cannot be listed", || {
        Script::default()
            .instead(|visit| fails(visit, "ListMetadataFormats").or_else(|| fails(visit, "ListIdentifiers")))
    })
    .told(),
    row("no-formats", "500, and there is no such format", || {
        Script::default().instead(|visit| fails(visit, "ListMetadataFormats"))
    })
    .asked(&["--format", "marc21"])
    .outcome(Outcome::Nothing("500")),
];

/// Records that disappear after the second page was read.
const REMOVED: [&str; 2] = ["oai:endpoint.example:0002", "oai:endpoint.example:0003"];

/// Records that are added at that time, where any are.
const ADDED: [&str; 2] = ["oai:endpoint.example:0021", "oai:endpoint.example:0022"];

fn is_removed(record: &Record) -> bool {
    REMOVED.contains(&record.identifier.as_str())
}

/// An endpoint to whose records something happens when the second page of records was read.
fn shifting(happens: fn(&mut Vec<Record>)) -> Script {
    let happened = Arc::new(AtomicBool::new(false));
    let has_happened = happened.clone();
    Script::default()
        .arrange(move |_, records| {
            if has_happened.load(Ordering::SeqCst) {
                happens(records);
            }
        })
        .reply(move |visit, _| {
            if visit.verb() == "ListRecords" && visit.page() == 2 {
                happened.store(true, Ordering::SeqCst);
            }
        })
}

/// An endpoint that forgets two records when the second page was read.
fn removing() -> Script {
    shifting(|records| records.retain(|record| !is_removed(record)))
        .holding(|holdings| holdings.deleted_record = "no")
        .page(|visit, page| {
            // Nothing asks for them by name before they were listed.
            let named = visit.request.argument("identifier").is_some_and(|name| REMOVED.contains(&name));
            if visit.verb() == "GetRecord" && named {
                page.fail("idDoesNotExist", "there is no such record");
            }
        })
}

fn uncounted(_: &Visit<'_>, page: &mut Page) {
    let token = page.list().and_then(|list| list.token.as_mut());
    token.into_iter().for_each(|token| (token.cursor, token.size) = (None, None));
}

fn fails(visit: &Visit<'_>, verb: &str) -> Option<Reply> {
    (visit.verb() == verb).then(out_of_order)
}

fn out_of_order() -> Reply {
    Reply::html(500, "Internal server error")
}
