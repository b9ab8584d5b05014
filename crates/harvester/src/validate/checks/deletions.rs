//! Checks of deleted records: the promise in Identify, and the content of the records.

use super::super::case::{Case, Judged, not_judged};
use super::super::exchange::Question;
use super::super::report::Verdict;
use super::Check;
use super::dates::includes;

pub(super) const CHECKS: &[Check] = &[
    Check::over_all("deletions-policy", "2.5.1", "deleted records only if deletedRecord is not 'no'", policy),
    Check::over_all("deletions-empty", "2.5.1", "a deleted record without metadata and about", empty),
    Check::new(
        "deletions-get-record",
        "2.5.1, 4.1",
        "GetRecord for a deleted record",
        "its header, with status deleted",
        get_record,
    ),
    Check::new(
        "deletions-by-date",
        "2.5.1, 2.7.1",
        "ListIdentifiers with the datestamp of a deleted record as from and until",
        "that record",
        by_date,
    ),
    Check::new(
        "deletions-formats",
        "2.5.1, 4.4",
        "ListMetadataFormats for a deleted record",
        "formats or noMetadataFormats, because the item is known",
        formats,
    ),
];

fn policy(case: &Case, verdict: &mut Verdict) -> Judged {
    case.survey_records()?;
    let (_, identify) = case.identify()?;
    if identify.field("deletedRecord") != Some("no") {
        return Ok(());
    }
    for exchange in case.exchanges() {
        for entry in exchange.answer().map_or(&[][..], |answer| &answer.entries) {
            if entry.deleted {
                let message = format!("'{}' is deleted, but deletedRecord is 'no'", entry.identifier);
                verdict.fail_at(exchange, message, &entry.identifier);
            }
        }
    }
    Ok(())
}

fn empty(case: &Case, verdict: &mut Verdict) -> Judged {
    case.survey()?;
    let mut any = false;
    for exchange in case.exchanges() {
        let entries = exchange.answer().map_or(&[][..], |answer| &answer.entries);
        for entry in entries.iter().filter(|entry| entry.deleted) {
            any = true;
            if entry.metadata.is_some() || entry.abouts > 0 {
                let message = format!("'{}' is deleted, but has metadata or about", entry.identifier);
                verdict.fail_at(exchange, message, &entry.identifier);
            }
        }
    }
    if any { Ok(()) } else { not_judged("no deleted record found") }
}

fn get_record(case: &Case, verdict: &mut Verdict) -> Judged {
    let deleted = case.deleted()?;
    let exchange = case.record(&deleted.identifier, &case.prefix()?)?;
    match exchange.answer().map(|answer| (answer, answer.entries.first())) {
        Some((_, Some(entry))) if entry.deleted => {}
        Some((_, Some(_))) => {
            verdict.fail_at(exchange, "it is deleted in the list, but not in this response", "<header");
        }
        Some((answer, None)) => {
            let codes = answer.codes().join(", ");
            verdict.fail(exchange, format!("it is deleted in the list, but GetRecord returns '{codes}'"));
        }
        None => verdict.fail(exchange, exchange.trouble()),
    }
    Ok(())
}

fn by_date(case: &Case, verdict: &mut Verdict) -> Judged {
    let deleted = case.deleted()?;
    let stamp = deleted.datestamp.as_str();
    let walk = case.list("ListIdentifiers", &[("from", stamp), ("until", stamp)])?;
    includes(&walk, &deleted.identifier, verdict)
}

fn formats(case: &Case, verdict: &mut Verdict) -> Judged {
    let deleted = case.deleted()?;
    let question = Question::of(&[("verb", "ListMetadataFormats"), ("identifier", &deleted.identifier)]);
    let (exchange, answer) = case.read(question)?;
    if !answer.errors.is_empty() && !answer.is_refused_with("noMetadataFormats") {
        let codes = answer.codes().join(", ");
        verdict.warn_at(exchange, format!("the identifier of a deleted record is refused with {codes}"), "<error");
    }
    Ok(())
}
