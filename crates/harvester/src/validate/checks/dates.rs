//! Checks of datestamps, and of harvesting by them: records that must be listed, records that must not, and dates that
//! must be refused.

use std::collections::{BTreeSet, HashSet};

use modoai_protocol::Datestamp;

use super::super::case::{Case, End, Judged, SELECTIVE, Stop, Walk, moment, not_judged};
use super::super::exchange::Question;
use super::super::report::Verdict;
use super::Check;
use super::errors::refused;
use crate::window::Granularity;

pub(super) const CHECKS: &[Check] = &[
    Check::over_all(
        "dates-granularity",
        "2.7.1, 3.3.2",
        "every datestamp has the granularity of Identify",
        granularity,
    ),
    Check::over_all("dates-earliest", "4.2", "no datestamp is earlier than earliestDatestamp", earliest),
    Check::over_all("dates-future", "2.7.1", "no datestamp is later than the responseDate", future),
    Check::over_all("dates-clock", "3.2", "responseDate is UTC: within ten minutes of the local clock", clock),
    Check::new(
        "dates-inclusive",
        "2.7.1",
        "ListRecords and ListIdentifiers with the datestamp of a record as from, as until, and as both",
        "that record",
        inclusive,
    ),
    Check::new(
        "dates-nothing-else",
        "2.7.1",
        "ListRecords and ListIdentifiers with from, with until, and with both, page after page",
        "no record outside the range",
        nothing_else,
    ),
    Check::new(
        "dates-halves",
        "2.7.1",
        "each list in two parts: until a date, and from the next",
        "together the complete list, without overlap",
        halves,
    ),
    Check::new(
        "dates-from-earliest",
        "2.7.1, 4.2",
        "ListRecords and ListIdentifiers from earliestDatestamp",
        "the same as without a date",
        from_earliest,
    ),
    Check::new(
        "dates-before-earliest",
        "2.7.1, 3.6",
        "ListRecords until a year before earliestDatestamp",
        "noRecordsMatch",
        before_earliest,
    ),
    Check::new(
        "dates-after-newest",
        "2.7.1, 3.6",
        "ListRecords from a date after the newest record",
        "noRecordsMatch",
        after_newest,
    ),
    Check::new(
        "dates-by-day",
        "2.7.1, 3.3.1",
        "ListIdentifiers from and until the day of a record",
        "that record, and none of other days",
        by_day,
    ),
    Check::new("dates-finer", "2.7.1, 3.3.1", "from with seconds, if the granularity is days", "badArgument", finer),
    Check::new("dates-mixed", "2.7.1, 3.3.1", "from as a day and until with seconds", "badArgument", mixed),
    Check::new("dates-reversed", "2.7.1", "from later than until", "badArgument", reversed),
    Check::new(
        "dates-illegal",
        "3.3.1, 3.6",
        "invalid from and until: text, 30 February, fractions, offsets, empty",
        "badArgument",
        illegal,
    ),
];

/// Calls `judge` for the datestamps in all responses.
fn each_datestamp(case: &Case, mut judge: impl FnMut(&super::super::exchange::Exchange, &str, &str)) -> Judged {
    case.survey_records()?;
    for exchange in case.exchanges() {
        for entry in exchange.answer().map_or(&[][..], |answer| &answer.entries) {
            judge(exchange, &entry.identifier, entry.datestamp.trim());
        }
    }
    Ok(())
}

fn granularity(case: &Case, verdict: &mut Verdict) -> Judged {
    let granularity = case.granularity()?;
    each_datestamp(case, |exchange, identifier, datestamp| {
        if !granularity.fits(datestamp) {
            let message = format!("the datestamp of '{identifier}' is '{datestamp}'");
            verdict.fail_at(exchange, message, datestamp);
        }
    })
}

fn earliest(case: &Case, verdict: &mut Verdict) -> Judged {
    let (_, identify) = case.identify()?;
    let Some(earliest) = identify.field("earliestDatestamp").and_then(moment) else {
        return not_judged("earliestDatestamp is invalid");
    };
    each_datestamp(case, |exchange, identifier, datestamp| {
        if moment(datestamp).is_some_and(|moment| moment < earliest) {
            let message = format!("'{identifier}' of {datestamp} is earlier than earliestDatestamp");
            verdict.fail_at(exchange, message, datestamp);
        }
    })
}

fn future(case: &Case, verdict: &mut Verdict) -> Judged {
    each_datestamp(case, |exchange, identifier, datestamp| {
        let now = exchange.answer().and_then(|answer| Datestamp::parse(answer.response_date.trim()));
        if now.zip(moment(datestamp)).is_some_and(|(now, moment)| moment > now) {
            verdict.warn_at(exchange, format!("'{identifier}' of {datestamp} is in the future"), datestamp);
        }
    })
}

fn clock(case: &Case, verdict: &mut Verdict) -> Judged {
    const TOLERANCE: i64 = 600;
    case.survey()?;
    for exchange in case.exchanges() {
        let Some(answer) = exchange.answer() else { continue };
        let Some(told) = Datestamp::parse(answer.response_date.trim()) else { continue };
        let ahead = told.unix() - exchange.at;
        if ahead.abs() > TOLERANCE {
            let way = if ahead > 0 { "ahead of" } else { "behind" };
            let message = format!("responseDate {told} is {} minutes {way} the local clock", ahead.abs() / 60);
            verdict.warn_at(exchange, message, "<responseDate");
        }
    }
    Ok(())
}

fn inclusive(case: &Case, verdict: &mut Verdict) -> Judged {
    let stamp = middle(case)?;
    let headers = case.headers()?;
    let of_that_moment = headers.entries().filter(|(_, entry)| moment(&entry.datestamp) == Some(stamp));
    let Some((_, sample)) = of_that_moment.min_by_key(|(_, entry)| entry.deleted) else {
        return not_judged("no datestamp found");
    };
    let date = sample.datestamp.trim();
    for verb in SELECTIVE {
        let one = case.list(verb, &[("from", date), ("until", date)])?;
        includes(&one, &sample.identifier, verdict)?;
        for bound in ["from", "until"] {
            let walk = case.list(verb, &[(bound, date)])?;
            // A record may be anywhere in a list that is too long to read.
            if walk.end == End::Sampled {
                verdict.note(format!("the lists with only {bound} are too long to search for the record"));
            } else {
                includes(&walk, &sample.identifier, verdict)?;
            }
        }
    }
    Ok(())
}

/// Checks that the list contains a record; an incomplete list is reported as unverified.
pub(super) fn includes(walk: &Walk<'_>, identifier: &str, verdict: &mut Verdict) -> Judged {
    if walk.entries().any(|(_, entry)| entry.identifier == identifier) {
        return Ok(());
    }
    match &walk.end {
        End::Complete => verdict.fail(walk.first(), format!("'{identifier}' is not in the list")),
        End::Broken(reason) => verdict.fail(walk.last(), format!("'{identifier}' was not found: {reason}")),
        End::Sampled => return not_judged("the list is too long to search for the record"),
    }
    Ok(())
}

fn nothing_else(case: &Case, verdict: &mut Verdict) -> Judged {
    let stamp = middle(case)?;
    let granularity = case.granularity()?;
    let date = granularity.write(stamp);
    let (from, until) = (("from", date.as_str()), ("until", date.as_str()));
    let ranges = [(&[from][..], true, false), (&[until][..], false, true), (&[from, until][..], true, true)];
    for (verb, (arguments, least, most)) in SELECTIVE.iter().flat_map(|verb| ranges.map(|range| (verb, range))) {
        let walk = case.list(verb, arguments)?;
        for (page, entry) in walk.entries() {
            let Some(moment) = moment(&entry.datestamp) else { continue };
            // With day granularity, the range includes the whole day.
            let past_it = moment >= granularity.later(stamp, 1);
            if (least && moment < stamp) || (most && past_it) {
                let message = format!("'{}' of {} is outside the range", entry.identifier, entry.datestamp);
                verdict.fail_at(page, message, &entry.identifier);
            }
        }
        if let Some(shortfall) = walk.shortfall() {
            verdict.note(shortfall);
        }
    }
    Ok(())
}

/// Returns a datestamp with others before and after it, if possible.
fn middle(case: &Case) -> Result<Datestamp, Stop> {
    let headers = case.headers()?;
    // That of a deletion only if all records are deleted: a server may list deletions on some days and not on others.
    let (gone, there): (Vec<_>, Vec<_>) = headers.entries().map(|(_, entry)| entry).partition(|entry| entry.deleted);
    let seen = if there.is_empty() { gone } else { there };
    let stamps: BTreeSet<_> = seen.iter().filter_map(|entry| moment(&entry.datestamp)).collect();
    match stamps.iter().nth(stamps.len().saturating_sub(1) / 2) {
        Some(stamp) => Ok(*stamp),
        None => not_judged("no datestamp found"),
    }
}

fn halves(case: &Case, verdict: &mut Verdict) -> Judged {
    SELECTIVE.iter().try_for_each(|verb| halves_of(case, verb, verdict))
}

fn halves_of(case: &Case, verb: &str, verdict: &mut Verdict) -> Judged {
    let granularity = case.granularity()?;
    let stamp = middle(case)?;
    let (until, from) = (granularity.write(stamp), granularity.write(granularity.later(stamp, 1)));
    let whole = case.list(verb, &[])?;
    if whole.is_complete() {
        let early = case.list(verb, &[("until", &until)])?;
        let late = case.list(verb, &[("from", &from)])?;
        return add_up(case, &whole, &early, &late, verdict);
    }
    if granularity == Granularity::Day {
        return not_judged("the list is too long, and its datestamps are days");
    }
    // One day of a long list, in two parts.
    let (first, last) = (format!("{}T00:00:00Z", &until[..10]), format!("{}T23:59:59Z", &until[..10]));
    verdict.note(format!("the list is long; only {} was checked", &until[..10]));
    let whole = case.list(verb, &[("from", &first), ("until", &last)])?;
    if !whole.is_complete() || until == last {
        return not_judged("the list of one day is too long as well");
    }
    let early = case.list(verb, &[("from", &first), ("until", &until)])?;
    let late = case.list(verb, &[("from", &from), ("until", &last)])?;
    add_up(case, &whole, &early, &late, verdict)
}

fn add_up(case: &Case, whole: &Walk<'_>, early: &Walk<'_>, late: &Walk<'_>, verdict: &mut Verdict) -> Judged {
    for walk in [early, late] {
        if let Some(shortfall) = walk.shortfall() {
            return not_judged(shortfall);
        }
    }
    let names = |walk: &Walk<'_>| walk.entries().map(|(_, entry)| entry.identifier.clone()).collect::<BTreeSet<_>>();
    let (all, one, two) = (names(whole), names(early), names(late));
    for (page, entry) in whole.entries() {
        let identifier = &entry.identifier;
        if !one.contains(identifier) && !two.contains(identifier) {
            let message = format!("'{identifier}' of {} is in neither part", entry.datestamp);
            verdict.fail_at(page, message, identifier);
        }
    }
    let page = late.first();
    for identifier in one.intersection(&two) {
        verdict.fail_at(page, format!("'{identifier}' is in both parts"), identifier);
    }
    for (page, entry) in early.entries().chain(late.entries()) {
        if !all.contains(&entry.identifier) && !case.may_lack(whole, entry) {
            let message =
                format!("'{}' of {} is in a part, but not in the complete list", entry.identifier, entry.datestamp);
            verdict.fail_at(page, message, &entry.identifier);
        }
    }
    Ok(())
}

fn from_earliest(case: &Case, verdict: &mut Verdict) -> Judged {
    let (_, identify) = case.identify()?;
    let Some(earliest) = identify.field("earliestDatestamp").filter(|text| moment(text).is_some()) else {
        return not_judged("earliestDatestamp is invalid");
    };
    let prefix = case.prefix()?;
    for verb in SELECTIVE {
        let whole = case.list(verb, &[])?;
        let first = case.ask(Question::of(&[("verb", verb), ("metadataPrefix", &prefix), ("from", earliest)]))?;
        if let Some(code) = first.answer().and_then(|answer| answer.codes().first().copied()) {
            if whole.entries().next().is_some() {
                verdict.fail_at(first, format!("from earliestDatestamp is refused with {code}"), "<error");
            }
            continue;
        }
        if !whole.is_complete() {
            verdict.note("the list is too long to compare; the request is accepted");
            continue;
        }
        let ranged = case.list(verb, &[("from", earliest)])?;
        if let Some(shortfall) = ranged.shortfall() {
            verdict.note(shortfall);
            continue;
        }
        let held: HashSet<_> = ranged.entries().map(|(_, entry)| &entry.identifier).collect();
        for (_, entry) in whole.entries().filter(|(_, entry)| !held.contains(&entry.identifier)) {
            verdict.fail(ranged.first(), format!("'{}' is missing", entry.identifier));
        }
    }
    Ok(())
}

fn before_earliest(case: &Case, verdict: &mut Verdict) -> Judged {
    let (_, identify) = case.identify()?;
    let Some(earliest) = identify.field("earliestDatestamp").and_then(moment) else {
        return not_judged("earliestDatestamp is invalid");
    };
    let until = case.granularity()?.write(Datestamp::from_unix(earliest.unix() - 366 * 86_400));
    let prefix = case.prefix()?;
    let question = Question::of(&[("verb", "ListRecords"), ("metadataPrefix", &prefix), ("until", &until)]);
    refused(case, verdict, &[question], &["noRecordsMatch"], &[])
}

fn after_newest(case: &Case, verdict: &mut Verdict) -> Judged {
    let granularity = case.granularity()?;
    let headers = case.headers()?;
    let newest = headers.entries().filter_map(|(_, entry)| moment(&entry.datestamp)).max();
    let date = headers.first().answer().map(|answer| answer.response_date.trim().to_owned()).unwrap_or_default();
    // The newest datestamp of an incomplete list is unknown; no record is newer than now.
    let after = match (newest.filter(|_| headers.is_complete()), moment(&date)) {
        (Some(newest), _) => newest,
        (None, Some(now)) => Datestamp::from_unix(now.unix() + 86_400),
        (None, None) => return not_judged("no datestamp found"),
    };
    let from = granularity.write(granularity.later(after, 1));
    let prefix = case.prefix()?;
    let question = Question::of(&[("verb", "ListRecords"), ("metadataPrefix", &prefix), ("from", &from)]);
    let exchange = case.ask(question.clone())?;
    if let Some(answer) = exchange.answer() {
        // An incremental harvest must include records that were added since.
        let is_new = |stamp: &str| moment(stamp).is_some_and(|moment| moment > after);
        if !answer.entries.is_empty() && answer.entries.iter().all(|entry| is_new(&entry.datestamp)) {
            return not_judged("records changed in the meantime");
        }
    }
    refused(case, verdict, &[question], &["noRecordsMatch"], &["badArgument"])
}

fn by_day(case: &Case, verdict: &mut Verdict) -> Judged {
    let sample = case.sample()?;
    let Some(stamp) = moment(&sample.datestamp) else { return not_judged("no datestamp found") };
    let day = Granularity::Day.write(stamp);
    let walk = case.list("ListIdentifiers", &[("from", &day), ("until", &day)])?;
    for (page, entry) in walk.entries() {
        if !entry.datestamp.trim().starts_with(&day) {
            let message = format!("'{}' of {} is not from {day}", entry.identifier, entry.datestamp);
            verdict.fail_at(page, message, &entry.identifier);
        }
    }
    includes(&walk, &sample.identifier, verdict)
}

fn finer(case: &Case, verdict: &mut Verdict) -> Judged {
    if case.granularity()? == Granularity::Seconds {
        return not_judged("the granularity of the repository is seconds");
    }
    let prefix = case.prefix()?;
    let from = ("from", "2001-01-01T00:00:00Z");
    let question = Question::of(&[("verb", "ListIdentifiers"), ("metadataPrefix", &prefix), from]);
    refused(case, verdict, &[question], &["badArgument"], &[])
}

fn mixed(case: &Case, verdict: &mut Verdict) -> Judged {
    let prefix = case.prefix()?;
    let range = [("from", "2002-02-05"), ("until", "2002-02-06T05:35:00Z")];
    let question = Question::of(&[("verb", "ListRecords"), ("metadataPrefix", &prefix), range[0], range[1]]);
    refused(case, verdict, &[question], &["badArgument"], &[])
}

fn reversed(case: &Case, verdict: &mut Verdict) -> Judged {
    let prefix = case.prefix()?;
    let range = [("from", "2002-02-06"), ("until", "2002-02-05")];
    let question = Question::of(&[("verb", "ListRecords"), ("metadataPrefix", &prefix), range[0], range[1]]);
    refused(case, verdict, &[question], &["badArgument"], &[])
}

fn illegal(case: &Case, verdict: &mut Verdict) -> Judged {
    let prefix = case.prefix()?;
    let list =
        |verb: &str, name: &str, date: &str| Question::of(&[("verb", verb), ("metadataPrefix", &prefix), (name, date)]);
    let dates = ["2002-02-30", "2002-13-01", "2002", "2002-02-05T05:35:00", "2002-02-05T05:35:00.5Z", ""];
    let mut questions: Vec<_> = dates.iter().map(|date| list("ListIdentifiers", "from", date)).collect();
    questions.extend(["ListIdentifiers", "ListRecords"].map(|verb| list(verb, "from", "junk")));
    questions.extend(["ListIdentifiers", "ListRecords"].map(|verb| list(verb, "until", "junk")));
    questions.push(list("ListRecords", "until", "2002-02-05T05:35:00+01:00"));
    refused(case, verdict, &questions, &["badArgument"], &[])
}
