//! Checks that lists agree with each other and with single records.

use std::collections::{BTreeMap, HashSet};

use super::super::case::{Case, End, Judged, Stop, Walk, not_judged};
use super::super::exchange::{Entry, Exchange, Question};
use super::super::report::Verdict;
use super::Check;

/// The number of records of a list that are requested individually.
const COMPARED: usize = 5;

pub(super) const CHECKS: &[Check] = &[
    Check::new("lists-identifiers", "4.3", "ListIdentifiers in oai_dc", "headers, page after page", identifiers),
    Check::new("lists-records", "4.5", "ListRecords in oai_dc", "records, page after page", records),
    Check::new("lists-unique", "2.4, 3.5", "ListIdentifiers, ListRecords", "each identifier once per list", unique),
    Check::new(
        "lists-steady",
        "2.4, 3.5",
        "ListIdentifiers again",
        "the same identifiers, unless their records changed in the meantime",
        steady,
    ),
    Check::new(
        "lists-agree",
        "4.3, 4.5",
        "ListIdentifiers and ListRecords; for long lists, a part selected by date",
        "the same headers",
        agree,
    ),
    Check::over_all(
        "lists-whole",
        "2.7, 3.5",
        "a list by date or set contains only records of the complete list, unless they changed in the meantime",
        whole,
    ),
    Check::new(
        "lists-get-record",
        "4.1",
        "GetRecord for some records of ListRecords",
        "the same header, and equivalent metadata",
        get_record,
    ),
];

fn identifiers(case: &Case, verdict: &mut Verdict) -> Judged {
    goes_through(&case.headers()?, verdict)
}

fn records(case: &Case, verdict: &mut Verdict) -> Judged {
    goes_through(&case.records()?, verdict)
}

fn goes_through(walk: &Walk<'_>, verdict: &mut Verdict) -> Judged {
    let first = walk.first();
    match &walk.end {
        // Errors on later pages are reported by the checks of tokens.
        End::Broken(reason) if walk.pages.len() == 1 && first.answer().is_none_or(|it| it.token.is_none()) => {
            verdict.fail(first, reason.clone());
        }
        _ if first.answer().is_some_and(|answer| answer.is_refused_with("noRecordsMatch")) => {
            return not_judged("the repository has no records");
        }
        _ => {}
    }
    if let Some(shortfall) = walk.shortfall() {
        verdict.note(shortfall);
    }
    Ok(())
}

fn unique(case: &Case, verdict: &mut Verdict) -> Judged {
    for walk in [case.headers()?, case.records()?] {
        let mut seen = HashSet::new();
        // A list that loops repeats everything; another check reports that.
        if matches!(walk.end, End::Broken(_)) {
            continue;
        }
        for (page, entry) in walk.entries() {
            if !seen.insert(&entry.identifier) {
                verdict.fail_at_last(page, format!("'{}' is in the list twice", entry.identifier), &entry.identifier);
            }
        }
        if let Some(shortfall) = walk.shortfall() {
            verdict.note(shortfall);
        }
    }
    Ok(())
}

fn steady(case: &Case, verdict: &mut Verdict) -> Judged {
    let prefix = case.prefix()?;
    let before = case.headers()?;
    let question = Question::of(&[("verb", "ListIdentifiers"), ("metadataPrefix", &prefix)]);
    let after = case.walk(question.again())?;
    let (one, two) = comparable(&before, &after, verdict)?;
    for (identifier, (page, entry)) in &one {
        match two.get(identifier) {
            None if before.is_complete() => {
                let message = format!("'{identifier}' was in the list, but no longer is");
                verdict.fail_at(page, message, identifier);
            }
            Some((_, other)) if other.datestamp < entry.datestamp => {
                let message = format!("the datestamp of '{identifier}' changed back to {}", other.datestamp);
                verdict.fail_at(page, message, identifier);
            }
            _ => {}
        }
    }
    // A record that only the second list has must be newer than the first.
    for (identifier, (page, entry)) in two.iter().filter(|_| before.is_complete()) {
        if !one.contains_key(identifier) && !case.may_lack(&before, entry) {
            let message = format!("'{identifier}' of {} was not in the previous list", entry.datestamp);
            verdict.fail_at(page, message, identifier);
        }
    }
    Ok(())
}

fn agree(case: &Case, verdict: &mut Verdict) -> Judged {
    let (headers, records) = (case.headers()?, case.records()?);
    let (headers, records) = if headers.is_complete() && records.is_complete() {
        (headers, records)
    } else {
        let stamp = case.sample()?.datestamp.clone();
        let window = [("from", stamp.as_str()), ("until", stamp.as_str())];
        verdict.note(format!("compared only the records of {stamp}"));
        (case.list("ListIdentifiers", &window)?, case.list("ListRecords", &window)?)
    };
    if !headers.is_complete() || !records.is_complete() {
        return not_judged("the lists are too long to compare, even those of one datestamp");
    }
    let (one, two) = comparable(&headers, &records, verdict)?;
    for (identifier, (page, entry)) in &one {
        match two.get(identifier) {
            None => verdict.fail_at(page, format!("'{identifier}' is not in ListRecords"), identifier),
            Some((other, record)) => {
                if let Some(difference) = difference(entry, record) {
                    verdict.fail_at(other, format!("in ListRecords, {difference}"), identifier);
                }
            }
        }
    }
    for (identifier, (page, _)) in two.iter().filter(|(identifier, _)| !one.contains_key(*identifier)) {
        verdict.fail_at(page, format!("'{identifier}' is not in ListIdentifiers"), identifier);
    }
    Ok(())
}

/// Compares lists with all others, because a truncated list without a token looks complete by itself.
fn whole(case: &Case, verdict: &mut Verdict) -> Judged {
    case.survey()?;
    let prefix = case.prefix()?;
    let mut judged = false;
    for (verb, whole) in [("ListIdentifiers", case.headers()?), ("ListRecords", case.records()?)] {
        if !whole.is_complete() {
            verdict.note("the complete list is too long, or stops early");
            continue;
        }
        judged = true;
        let known: HashSet<_> = whole.entries().map(|(_, entry)| &entry.identifier).collect();
        // Later pages do not contain their format; a repeated request is a separate list.
        let is_part = |it: &&Exchange| {
            it.question.take == 0
                && it.question.argument("verb").as_deref() == Some(verb)
                && it.question.argument("metadataPrefix").as_deref() == Some(prefix.as_str())
        };
        let mut told = HashSet::new();
        for exchange in case.exchanges().filter(is_part) {
            for entry in exchange.answer().map_or(&[][..], |answer| &answer.entries) {
                let is_lacking = !known.contains(&entry.identifier) && !case.may_lack(&whole, entry);
                if is_lacking && told.insert(&entry.identifier) {
                    let message =
                        format!("'{}' of {} is not in the complete list of {verb}", entry.identifier, entry.datestamp);
                    verdict.fail_at(exchange, message, &entry.identifier);
                }
            }
        }
    }
    if judged { Ok(()) } else { not_judged("no list could be read completely") }
}

type ByIdentifier<'a> = BTreeMap<&'a str, (&'a Exchange, &'a Entry)>;

/// Returns two lists by identifier, if both could be read.
fn comparable<'a>(
    one: &Walk<'a>,
    two: &Walk<'a>,
    verdict: &mut Verdict,
) -> Result<(ByIdentifier<'a>, ByIdentifier<'a>), Stop> {
    for walk in [one, two] {
        if let End::Broken(reason) = &walk.end {
            return not_judged(format!("the list stops early: {reason}"));
        }
        if let Some(shortfall) = walk.shortfall() {
            verdict.note(shortfall);
        }
    }
    let by_identifier = |walk: &Walk<'a>| -> ByIdentifier<'a> {
        walk.entries().map(|(page, entry)| (entry.identifier.as_str(), (page, entry))).collect()
    };
    Ok((by_identifier(one), by_identifier(two)))
}

/// Returns the difference between two headers of the same item. A later datestamp explains any difference: the record
/// was changed between the two.
fn difference(one: &Entry, two: &Entry) -> Option<String> {
    if two.datestamp > one.datestamp && one.datestamp.len() == two.datestamp.len() {
        return None;
    }
    let sorted = |sets: &[String]| {
        let mut sets = sets.to_vec();
        sets.sort();
        sets
    };
    let identifier = &one.identifier;
    if one.datestamp != two.datestamp {
        return Some(format!("the datestamp of '{identifier}' is {}, not {}", two.datestamp, one.datestamp));
    }
    if one.deleted != two.deleted {
        let word = if two.deleted { "deleted" } else { "not deleted" };
        return Some(format!("'{identifier}' is {word}"));
    }
    (sorted(&one.sets) != sorted(&two.sets)).then(|| format!("'{identifier}' has other sets"))
}

fn get_record(case: &Case, verdict: &mut Verdict) -> Judged {
    let prefix = case.prefix()?;
    let records = case.records()?;
    let listed: Vec<_> = records.entries().filter(|(_, entry)| !entry.deleted).collect();
    if listed.is_empty() {
        return not_judged("no existing record found");
    }
    // From the whole list, because on some servers only some records differ.
    let step = listed.len().div_ceil(COMPARED);
    for (_, entry) in listed.iter().step_by(step) {
        let exchange = case.record(&entry.identifier, &prefix)?;
        let Some(answer) = exchange.answer() else {
            verdict.fail(exchange, exchange.trouble());
            continue;
        };
        let Some(record) = answer.entries.first() else {
            let codes = answer.codes().join(", ");
            verdict.fail(exchange, format!("'{}' is listed, but GetRecord returns '{codes}'", entry.identifier));
            continue;
        };
        if record.identifier != entry.identifier {
            let message = format!("requested '{}', received '{}'", entry.identifier, record.identifier);
            verdict.fail_at(exchange, message, &record.identifier);
        } else if let Some(difference) = difference(entry, record) {
            verdict.fail_at(exchange, format!("in GetRecord, {difference}"), "<header");
        } else if record.datestamp == entry.datestamp
            && record.metadata.as_ref().map(|it| it.fingerprint) != entry.metadata.as_ref().map(|it| it.fingerprint)
        {
            let message = format!("the metadata of '{}' differs from ListRecords", entry.identifier);
            verdict.warn_at(exchange, message, "<metadata");
        }
    }
    Ok(())
}
