//! Dates that are wrong, refused or demanded; records that are not all there; repositories that moved.

use super::{Defect, Outcome, VICTIM, is_victim, row};
use crate::endpoint::calendar::{self, Granularity};
use crate::endpoint::holdings::{Holdings, Record};
use crate::endpoint::page::{Body, Entry, Page};
use crate::endpoint::reply::Reply;
use crate::endpoint::script::{Script, Visit};

/// Five hours.
const ZONE: i64 = 5 * 3_600;

pub(super) const DEFECTS: &[Defect] = &[
    row("earliest-wrong", "now", || identify("earliestDatestamp", || calendar::datestamp(calendar::now()))).told(),
    row("earliest-wrong", "in the future", || identify("earliestDatestamp", || "2100-01-01T00:00:00Z".to_owned()))
        .told(),
    row("earliest-wrong", "a day, where seconds are promised", || {
        identify("earliestDatestamp", || "2015-03-01".to_owned())
    }),
    row("earliest-wrong", "no date at all", || identify("earliestDatestamp", || "0000-00-00 00:00:00".to_owned())),
    row("earliest-wrong", "missing", || without("earliestDatestamp")),
    row("granularity-misspelt", "in capitals", || identify("granularity", || "YYYY-MM-DDTHH:MM:SSZ".to_owned())).told(),
    row("granularity-misspelt", "in small letters", || identify("granularity", || "yyyy-mm-ddthh:mm:ssz".to_owned()))
        .told(),
    row("granularity-misspelt", "days in small letters", || {
        identify("granularity", || "yyyy-mm-dd".to_owned()).holding(|holdings| holdings.granularity = Granularity::Day)
    })
    .told(),
    row("granularity-misspelt", "with spaces around", || {
        identify("granularity", || "\n YYYY-MM-DDThh:mm:ssZ ".to_owned())
    }),
    row("granularity-misspelt", "by a word", || identify("granularity", || "seconds".to_owned())).told(),
    row("granularity-misspelt", "missing", || without("granularity")).told(),
    row("granularity-mixed", "days promised, seconds in records", || {
        datestamps(calendar::datestamp).holding(|holdings| holdings.granularity = Granularity::Day)
    }),
    row("granularity-mixed", "seconds promised, days in records", || {
        datestamps(|changed| Granularity::Day.format(changed))
    }),
    row("granularity-mixed", "seconds promised and refused", || {
        refusing(|date| date.contains('T'), |page| page.fail("badArgument", "Invalid date"))
    })
    .told(),
    row("granularity-mixed", "days promised and refused", || {
        refusing(|date| !date.contains('T'), |page| page.fail("badArgument", "Invalid date"))
            .page(|_, page| page.identify("granularity").into_iter().for_each(|text| "YYYY-MM-DD".clone_into(text)))
    })
    .told(),
    row("granularity-mixed", "fractions of seconds in records", || {
        datestamps(|changed| calendar::datestamp(changed).replace('Z', ".123Z"))
    }),
    row("granularity-mixed", "a zone in records", || {
        datestamps(|changed| calendar::datestamp(changed).replace('Z', "+00:00"))
    }),
    row("dates-refused", "with badArgument", || {
        refusing(|_| true, |page| page.fail("badArgument", "from and until are not supported"))
    })
    .told(),
    row("dates-refused", "with 500", || {
        Script::default().instead(|visit| dates(visit).next().map(|_| Reply::html(500, "Internal server error")))
    })
    .told(),
    row("dates-refused", "by ignoring them", || ignoring(Script::default())),
    row("dates-refused", "by ignoring them, and one record has no metadata", || {
        ignoring(victims(|entry| entry.metadata = None).pages_of(100))
    })
    .outcome(Outcome::WithoutRecords(is_victim))
    .told(),
    row("dates-refused", "by ignoring them, and the only page fails", || {
        ignoring(Script::default().pages_of(100))
            .instead(|visit| (visit.verb() == "ListRecords").then(|| Reply::html(500, "Internal server error")))
    })
    .told_as(&["no-records"]),
    row("dates-refused", "by finding nothing", || {
        refusing(|_| true, |page| page.fail("noRecordsMatch", "nothing matches"))
    })
    .again(&["--verify"]),
    row("dates-required", "badArgument without from", || {
        undated(&["from"], |page| page.fail("badArgument", "Missing argument: from"))
    })
    .told(),
    row("dates-required", "badArgument without either", || {
        undated(&["from", "until"], |page| page.fail("badArgument", "Missing argument: from, until"))
    })
    .told(),
    row("dates-required", "500 without either", || {
        Script::default().instead(|visit| {
            (visit.is_list() && visit.page() == 1 && dates(visit).count() < 2)
                .then(|| Reply::html(500, "Internal server error"))
        })
    })
    .told(),
    row("dates-required", "nothing is found without either", || {
        undated(&["from", "until"], |page| page.fail("noRecordsMatch", "nothing matches"))
    })
    .told(),
    row("local-time", "the first list is from the next century", || {
        Script::default().page(|visit, page| {
            if visit.number == 2 {
                page.response_date = "2099-01-01T00:00:00Z".to_owned();
            }
        })
    }),
    row("local-time", "responseDate is five hours ahead", || {
        Script::default().page(|_, page| page.response_date = calendar::datestamp(calendar::now() + ZONE))
    })
    .told(),
    row("local-time", "everything is five hours ahead", || {
        local(ZONE).page(|_, page| page.response_date = calendar::datestamp(calendar::now() + ZONE))
    })
    .told(),
    row("local-time", "everything is five hours behind", || {
        local(-ZONE).page(|_, page| page.response_date = calendar::datestamp(calendar::now() - ZONE))
    })
    .told(),
    row("local-time", "only datestamps are five hours behind", || local(-ZONE)),
    row("vanished", "without a trace", || {
        Script::default().holding(|holdings| {
            holdings.records.retain(|record| !record.deleted);
            holdings.deleted_record = "no";
        })
    })
    .meanwhile(|holdings| {
        holdings.change_first("A new edition");
        holdings.records.retain(|record| !is_victim(record));
        holdings.add();
    })
    .again(&["--verify"]),
    row("vanished", "without a trace, though deletions are promised", Script::default)
        .meanwhile(|holdings| holdings.records.retain(|record| !is_victim(record)))
        .again(&["--verify"]),
    row("many-deletions", "before everything else", || {
        Script::of(Holdings::of(3_010)).pages_of(500).holding(|holdings| {
            holdings.records.iter_mut().enumerate().for_each(|(number, record)| record.deleted = number < 3_000);
        })
    }),
    row("header-incomplete", "no datestamp", || victims(|entry| entry.datestamp = None)).told(),
    row("header-incomplete", "an empty datestamp", || victims(|entry| entry.datestamp = Some(String::new()))).told(),
    row("header-incomplete", "no identifier", || victims(|entry| entry.identifier = None))
        .outcome(Outcome::WithoutSome(is_victim))
        .told(),
    row("header-incomplete", "an empty identifier", || victims(|entry| entry.identifier = Some("  ".to_owned())))
        .outcome(Outcome::WithoutSome(is_victim))
        .told(),
    row("header-incomplete", "no header", || {
        victims(|entry| entry.identifier = Some("HEADLESS".to_owned())).xml(|_, xml| {
            let text = String::from_utf8_lossy(xml).into_owned();
            let Some(at) = text.find("HEADLESS") else { return };
            let (Some(start), Some(end)) = (text[..at].rfind("<header"), text[at..].find("</header>")) else { return };
            *xml = [&text[..start], &text[at + end + "</header>".len()..]].concat().into_bytes();
        })
    })
    .outcome(Outcome::WithoutSome(is_victim))
    .told(),
    row("metadata-missing", "in lists", || victims_in("ListRecords", |entry| entry.metadata = None)).told(),
    row("metadata-missing", "empty in lists", || {
        victims_in("ListRecords", |entry| entry.metadata = Some(b"\n  ".to_vec()))
    })
    .told(),
    row("metadata-missing", "everywhere", || victims(|entry| entry.metadata = None))
        .outcome(Outcome::WithoutRecords(is_victim))
        .told(),
    row("metadata-missing", "empty everywhere", || victims(|entry| entry.metadata = Some(Vec::new())))
        .outcome(Outcome::WithoutRecords(is_victim))
        .told(),
    row("base-url-moved", "for good, to another path", || moved(301, |_| "/new/place".to_owned())).told(),
    row("base-url-moved", "for now, to another host", || {
        moved(302, |visit| {
            let host = visit.request.header("Host").unwrap_or_default();
            format!("http://{}/new/place", host.replace("127.0.0.1", "localhost"))
        })
    })
    .told(),
    row("base-url-moved", "for now, to a relative path", || moved(307, |_| "new/place".to_owned())).told(),
    row("base-url-moved", "for good, as it is", || moved(308, |_| "/new/place".to_owned())).told(),
    row("base-url-moved", "in Identify only", || identify("baseURL", || "http://localhost:1/elsewhere".to_owned()))
        .told(),
];

/// A script whose Identify says something else.
fn identify(name: &'static str, text: fn() -> String) -> Script {
    Script::default().page(move |_, page| page.identify(name).into_iter().for_each(|old| *old = text()))
}

/// A script whose Identify lacks something.
fn without(name: &'static str) -> Script {
    Script::default().page(move |_, page| {
        if let Body::Identify(texts) = &mut page.body {
            texts.retain(|(given, _)| *given != name);
        }
    })
}

/// The same, whatever dates are asked for.
fn ignoring(script: Script) -> Script {
    script.understand(|request| {
        request.remove_argument("from");
        request.remove_argument("until");
    })
}

/// The dates of a request.
fn dates<'a>(visit: &'a Visit<'_>) -> impl Iterator<Item = &'a str> {
    ["from", "until"].into_iter().filter_map(|name| visit.request.argument(name))
}

/// A script in which some dates are not taken.
fn refusing(wrong: fn(&str) -> bool, answer: fn(&mut Page)) -> Script {
    Script::default().page(move |visit, page| {
        if dates(visit).any(wrong) {
            answer(page);
        }
    })
}

/// A script in which lists must have dates.
fn undated(names: &'static [&'static str], answer: fn(&mut Page)) -> Script {
    Script::default().page(move |visit, page| {
        if visit.page() == 1 && names.iter().any(|name| visit.request.argument(name).is_none()) {
            answer(page);
        }
    })
}

/// A script that writes the dates of records in its own way.
fn datestamps(write: fn(i64) -> String) -> Script {
    Script::default().page(move |_, page| {
        each_entry(page, |entry| {
            let number = entry.identifier.as_deref().and_then(|name| name.rsplit(':').next()?.parse().ok());
            let known = entry.datestamp.as_deref().and_then(calendar::parse);
            // Days have lost the hour; records that nobody has touched still have theirs.
            let (Some(number), Some((start, end, _))) = (number, known) else { return };
            let changed = Record::numbered(number).changed;
            entry.datestamp = Some(write(if (start..=end).contains(&changed) { changed } else { start }));
        });
    })
}

/// A script whose clock is wrong by so many seconds, which its changes tell.
fn local(ahead: i64) -> Script {
    Script::default().holding(|holdings| holdings.clock = ahead)
}

fn each_entry(page: &mut Page, mut change: impl FnMut(&mut Entry)) {
    match &mut page.body {
        Body::Record(entry) => change(entry),
        Body::List(list) => list.entries.iter_mut().for_each(change),
        _ => {}
    }
}

/// A script in which one record is told differently, wherever it is told.
fn victims(change: fn(&mut Entry)) -> Script {
    Script::default().page(move |_, page| victim(page, change))
}

/// The same in the answers to one verb.
fn victims_in(verb: &'static str, change: fn(&mut Entry)) -> Script {
    Script::default().page(move |visit, page| {
        if visit.verb() == verb {
            victim(page, change);
        }
    })
}

fn victim(page: &mut Page, change: fn(&mut Entry)) {
    each_entry(page, |entry| {
        if entry.identifier.as_deref() == Some(VICTIM) {
            change(entry);
        }
    });
}

/// A script that answers at `/new/place` only.
fn moved(status: u16, to: fn(&Visit<'_>) -> String) -> Script {
    Script::default().instead(move |visit| {
        let there = visit.request.path() == "/new/place";
        let location = || format!("{}?{}", to(visit), visit.request.query());
        (!there).then(|| Reply::html(status, "Moved").with("Location", &location()))
    })
}
