//! Checks of metadata formats: those of the repository and of one item, and if records are available in them.

use std::collections::HashSet;

use super::super::case::{Case, Judged, SELECTIVE, not_judged};
use super::super::exchange::Question;
use super::super::metadata::{Metadata, is_foreign};
use super::super::report::Verdict;
use super::super::schema::OAI_DC_NAMESPACE;
use super::Check;

const OAI_DC_SCHEMA: &str = "http://www.openarchives.org/OAI/2.0/oai_dc.xsd";
/// The number of formats of one item that are requested.
const TRIED: usize = 12;
/// The number of formats whose lists are requested.
const LISTED: usize = 5;

pub(super) const CHECKS: &[Check] = &[
    Check::new("formats-list", "4.4", "ListMetadataFormats", "at least one format, and no error", list),
    Check::new(
        "formats-oai-dc",
        "2.5, 3.4, 5",
        "ListMetadataFormats",
        "oai_dc, with its own namespace and schema",
        oai_dc,
    ),
    Check::new("formats-distinct", "3.4", "ListMetadataFormats", "each metadataPrefix once", distinct),
    Check::new(
        "formats-of-item",
        "4.4",
        "ListMetadataFormats with an identifier from a list",
        "formats of the repository, including oai_dc",
        of_item,
    ),
    Check::new(
        "formats-disseminated",
        "3.4, 4.1",
        "GetRecord in each format of that item",
        "metadata with a root element in the namespace of the format",
        disseminated,
    ),
    Check::new(
        "formats-listed",
        "3.4, 4.3, 4.5",
        "ListRecords and ListIdentifiers in the other formats of that item",
        "a non-empty list, with metadata in the namespace of the format",
        listed,
    ),
];

fn list(case: &Case, verdict: &mut Verdict) -> Judged {
    let (exchange, answer) = case.formats()?;
    if answer.formats.is_empty() || !answer.errors.is_empty() {
        verdict.fail(exchange, format!("received '{}' instead of formats", answer.codes().join(", ")));
    }
    Ok(())
}

fn oai_dc(case: &Case, verdict: &mut Verdict) -> Judged {
    let (exchange, answer) = case.formats()?;
    let Some(format) = answer.formats.iter().find(|format| format.prefix == "oai_dc") else {
        verdict.fail(exchange, "oai_dc is not among the formats");
        return Ok(());
    };
    if format.namespace.trim() != OAI_DC_NAMESPACE {
        let message = format!("the namespace of oai_dc is '{}', not '{OAI_DC_NAMESPACE}'", format.namespace);
        verdict.fail_at(exchange, message, &format.namespace);
    }
    if format.schema.trim() != OAI_DC_SCHEMA {
        let message = format!("the schema of oai_dc is '{}', not '{OAI_DC_SCHEMA}'", format.schema);
        verdict.fail_at(exchange, message, &format.schema);
    }
    Ok(())
}

fn distinct(case: &Case, verdict: &mut Verdict) -> Judged {
    let (exchange, answer) = case.formats()?;
    let mut seen = HashSet::new();
    for format in &answer.formats {
        if !seen.insert(&format.prefix) {
            verdict.fail_at_last(
                exchange,
                format!("the metadataPrefix '{}' is listed twice", format.prefix),
                &format.prefix,
            );
        }
    }
    Ok(())
}

fn of_item(case: &Case, verdict: &mut Verdict) -> Judged {
    let (_, all) = case.formats()?;
    let sample = case.sample()?;
    let question = Question::of(&[("verb", "ListMetadataFormats"), ("identifier", &sample.identifier)]);
    let exchange = case.ask(question)?;
    let Some(answer) = exchange.answer() else {
        verdict.fail(exchange, exchange.trouble());
        return Ok(());
    };
    if !answer.errors.is_empty() {
        verdict.fail(exchange, format!("an identifier from a list is refused with {}", answer.codes().join(", ")));
        return Ok(());
    }
    if answer.formats.iter().all(|format| format.prefix != "oai_dc") {
        verdict.fail(exchange, "oai_dc is not among the formats of an item");
    }
    for format in &answer.formats {
        if !all.formats.iter().any(|other| other.prefix == format.prefix) {
            let message = format!("the item has a format '{}' that the repository does not list", format.prefix);
            verdict.fail_at(exchange, message, &format.prefix);
        }
    }
    Ok(())
}

fn disseminated(case: &Case, verdict: &mut Verdict) -> Judged {
    let sample = case.sample()?;
    let question = Question::of(&[("verb", "ListMetadataFormats"), ("identifier", &sample.identifier)]);
    let (_, answer) = case.read(question)?;
    if answer.formats.is_empty() {
        return not_judged("failed to list the formats of an item");
    }
    for format in answer.formats.iter().take(TRIED) {
        let exchange = case.record(&sample.identifier, &format.prefix)?;
        let Some(answer) = exchange.answer() else {
            verdict.fail(exchange, exchange.trouble());
            continue;
        };
        let metadata = answer.entries.first().and_then(|entry| entry.metadata.as_ref());
        match metadata {
            None if !answer.errors.is_empty() => {
                let codes = answer.codes().join(", ");
                verdict.fail(exchange, format!("the item lists '{}', which is refused with {codes}", format.prefix));
            }
            None => verdict.fail(exchange, format!("the record in '{}' has no metadata", format.prefix)),
            Some(metadata) if metadata.namespace != format.namespace.trim() => {
                let message = format!(
                    "the metadata is in the namespace '{}', but that of the format '{}' is '{}'",
                    metadata.namespace, format.prefix, format.namespace
                );
                verdict.fail_at(exchange, message, "<metadata");
            }
            Some(_) => {}
        }
    }
    if answer.formats.len() > TRIED {
        verdict.note(format!("only the first {TRIED} of {} formats were checked", answer.formats.len()));
    }
    Ok(())
}

fn listed(case: &Case, verdict: &mut Verdict) -> Judged {
    let sample = case.sample()?;
    let question = Question::of(&[("verb", "ListMetadataFormats"), ("identifier", &sample.identifier)]);
    let (_, answer) = case.read(question)?;
    // The format of all lists is checked with those lists.
    let own = case.prefix()?;
    let others: Vec<_> = answer.formats.iter().filter(|format| format.prefix != own).collect();
    if others.is_empty() {
        return not_judged(format!("the item has no format other than {own}"));
    }
    for (format, verb) in others.iter().take(LISTED).flat_map(|it| SELECTIVE.map(|verb| (it, verb))) {
        let prefix = &format.prefix;
        let page = case.ask(Question::of(&[("verb", verb), ("metadataPrefix", prefix)]))?;
        let Some(list) = page.answer() else {
            verdict.fail(page, page.trouble());
            continue;
        };
        if list.entries.is_empty() {
            let codes = list.codes().join(", ");
            verdict.fail(page, format!("an item has the format '{prefix}', but {verb} returns '{codes}'"));
        }
        let promised = format.namespace.trim();
        let other = |metadata: &&Metadata| metadata.namespace != promised && is_foreign(&metadata.namespace);
        for entry in list.entries.iter().filter(|entry| !entry.deleted) {
            if let Some(metadata) = entry.metadata.as_ref().filter(other) {
                let message = format!(
                    "in {verb}, the metadata of '{}' is in the namespace '{}', but that of the format \
                        '{prefix}' is '{promised}'",
                    entry.identifier, metadata.namespace
                );
                verdict.fail_at(page, message, &entry.identifier);
            }
        }
    }
    if others.len() > LISTED {
        verdict.note(format!("only the first {LISTED} of {} formats were checked", others.len()));
    }
    Ok(())
}
