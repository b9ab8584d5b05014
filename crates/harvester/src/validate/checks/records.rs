//! Checks of records: identifiers, metadata, and about containers.

use super::super::case::{Case, Judged, not_judged};
use super::super::lexical;
use super::super::metadata::is_foreign;
use super::super::report::Verdict;
use super::super::schema::OAI_DC_NAMESPACE;
use super::super::shape::{Kind, Place};
use super::Check;
use super::identify::promised_namespace;

pub(super) const CHECKS: &[Check] = &[
    Check::over_all("records-identifiers", "2.4", "identifiers are URIs", identifiers),
    Check::over_all(
        "records-oai-identifiers",
        "2.4, guidelines",
        "identifiers that begin with oai: have the form and namespace of the oai-identifier description",
        oai_identifiers,
    ),
    Check::over_all(
        "records-metadata",
        "2.5, 3.2.1",
        "every record that is not deleted has metadata: exactly one element of another namespace",
        metadata,
    ),
    Check::over_all(
        "records-oai-dc",
        "5",
        "metadata in oai_dc is oai_dc:dc with the fifteen elements of Dublin Core, unqualified",
        oai_dc,
    ),
    Check::over_all(
        "records-schema-location",
        "3.4",
        "the root element of metadata has xsi:schemaLocation for its namespace",
        schema_location,
    ),
    Check::over_all(
        "records-about",
        "2.5, guidelines",
        "about contains exactly one element of another namespace; provenance and rights are valid by their schemas",
        about,
    ),
];

fn identifiers(case: &Case, verdict: &mut Verdict) -> Judged {
    case.survey_records()?;
    for exchange in case.exchanges() {
        for entry in exchange.answer().map_or(&[][..], |answer| &answer.entries) {
            if !lexical::is_absolute_uri(&entry.identifier) {
                let message = format!("the identifier '{}' is not a URI", entry.identifier);
                verdict.fail_at(exchange, message, &entry.identifier);
            } else if entry.is_padded {
                let message = format!("the identifier '{}' has leading or trailing whitespace", entry.identifier);
                verdict.warn_at(exchange, message, &entry.identifier);
            }
        }
    }
    Ok(())
}

fn oai_identifiers(case: &Case, verdict: &mut Verdict) -> Judged {
    case.survey_records()?;
    let Some(namespace) = promised_namespace(case)? else {
        return not_judged("no oai-identifier description found");
    };
    for exchange in case.exchanges() {
        for entry in exchange.answer().map_or(&[][..], |answer| &answer.entries) {
            let identifier = &entry.identifier;
            let is_own = identifier.starts_with(&format!("oai:{namespace}:")) && lexical::is_oai_identifier(identifier);
            if identifier.starts_with("oai:") && !is_own {
                let message = format!("the identifier '{identifier}' does not have the form oai:{namespace}:LOCAL");
                verdict.fail_at(exchange, message, identifier);
            }
        }
    }
    Ok(())
}

fn metadata(case: &Case, verdict: &mut Verdict) -> Judged {
    case.survey_records()?;
    for exchange in case.exchanges() {
        let Some(answer) = exchange.answer().filter(|answer| answer.verb != Some("ListIdentifiers")) else { continue };
        for entry in answer.entries.iter().filter(|entry| !entry.deleted && entry.metadata.is_none()) {
            let message = format!("'{}' is not deleted, but has no metadata", entry.identifier);
            verdict.fail_at(exchange, message, &entry.identifier);
        }
        for deviation in exchange.deviations() {
            if deviation.kind == Kind::Container && deviation.element == "metadata" {
                verdict.deviation(exchange, deviation);
            }
        }
    }
    Ok(())
}

fn oai_dc(case: &Case, verdict: &mut Verdict) -> Judged {
    case.survey_records()?;
    for exchange in case.exchanges() {
        let Some(answer) = exchange.answer() else { continue };
        // Pages after the first do not contain their format.
        let prefix = exchange.question.argument("metadataPrefix");
        for entry in answer.entries.iter().filter(|_| prefix.as_deref() == Some("oai_dc")) {
            let namespace = entry.metadata.as_ref().map_or(OAI_DC_NAMESPACE, |metadata| &metadata.namespace);
            if namespace != OAI_DC_NAMESPACE && is_foreign(namespace) {
                let message = format!("the metadata of '{}' is in the namespace '{namespace}'", entry.identifier);
                verdict.fail_at(exchange, message, &entry.identifier);
            }
        }
        for deviation in exchange.deviations() {
            let is_shape = matches!(deviation.kind, Kind::Structure | Kind::Value | Kind::Container);
            if deviation.place == Place::Metadata && is_shape {
                verdict.deviation(exchange, deviation);
            }
        }
    }
    Ok(())
}

fn schema_location(case: &Case, verdict: &mut Verdict) -> Judged {
    case.survey_records()?;
    for exchange in case.exchanges() {
        for deviation in exchange.deviations().filter(|it| it.kind == Kind::Location) {
            verdict.deviation(exchange, deviation);
        }
    }
    Ok(())
}

fn about(case: &Case, verdict: &mut Verdict) -> Judged {
    case.survey()?;
    let mut entries = case.exchanges().filter_map(|exchange| exchange.answer()).flat_map(|answer| &answer.entries);
    // An empty container is reported only as a deviation from the schema.
    let mut any = entries.any(|entry| entry.abouts > 0);
    for exchange in case.exchanges() {
        for deviation in exchange.deviations() {
            let is_container = deviation.kind == Kind::Container && deviation.element == "about";
            let is_inside = deviation.place == Place::About && deviation.kind != Kind::IllFormed;
            if is_container || is_inside {
                any = true;
                verdict.deviation(exchange, deviation);
            }
        }
    }
    if any { Ok(()) } else { not_judged("no about container found") }
}
