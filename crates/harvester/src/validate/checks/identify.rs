//! Checks of the Identify response.

use modoai_protocol::Datestamp;

use super::super::case::{Case, Judged, moment, not_judged};
use super::super::exchange::Question;
use super::super::lexical;
use super::super::report::Verdict;
use super::super::schema::OAI_IDENTIFIER_NAMESPACE;
use super::super::shape::{Kind, Place};
use super::Check;

const IDENTIFY: &str = "Identify";
const CONTAINERS: [&str; 2] = ["description", "setDescription"];

/// repositoryName of `modoai serve` until the operator sets `repository_name`.
const DEFAULT_NAME: &str = "A modoai repository";

/// Domains that RFC 2606 reserves for examples: default settings contain them, and mail to them is not delivered.
const EXAMPLE_DOMAINS: [&str; 3] = ["example.com", "example.net", "example.org"];

pub(super) const CHECKS: &[Check] = &[
    Check::new("identify-answer", "4.2", IDENTIFY, "an Identify element, and no error", answer),
    Check::new("identify-repository-name", "4.2", IDENTIFY, "a non-empty repositoryName", repository_name),
    Check::new("identify-base-url", "4.2", IDENTIFY, "baseURL equals the requested base URL, byte for byte", base_url),
    Check::new("identify-protocol-version", "4.2", IDENTIFY, "protocolVersion 2.0", protocol_version),
    Check::new("identify-admin-email", "4.2", IDENTIFY, "adminEmail is an email address, without mailto:", admin_email),
    Check::new(
        "identify-placeholders",
        "4.2",
        IDENTIFY,
        "repositoryName is not the default of modoai, and adminEmail is not in the domain example.com, example.net or example.org",
        placeholders,
    ),
    Check::new("identify-granularity", "4.2", IDENTIFY, "granularity YYYY-MM-DD or YYYY-MM-DDThh:mm:ssZ", granularity),
    Check::new(
        "identify-earliest-datestamp",
        "4.2, 3.3.2",
        IDENTIFY,
        "earliestDatestamp has the announced granularity, and is not in the future",
        earliest,
    ),
    Check::new("identify-deleted-record", "4.2, 2.5.1", IDENTIFY, "deletedRecord no, transient or persistent", deleted),
    Check::new(
        "identify-oai-identifier",
        "2.4, guidelines",
        IDENTIFY,
        "at most one oai-identifier description, valid by its schema, with a sample in its namespace",
        oai_identifier,
    ),
    Check::new(
        "identify-descriptions",
        "4.2, guidelines",
        "Identify, ListSets",
        "each description contains one element of another namespace; known ones (friends, branding, gateway, eprints, rights) are valid by their schemas",
        descriptions,
    ),
];

fn answer(case: &Case, verdict: &mut Verdict) -> Judged {
    let exchange = case.ask(Question::of(&[("verb", "Identify")]))?;
    let Some(answer) = exchange.answer() else {
        if !exchange.is_of_the_protocol() {
            return not_judged(exchange.trouble());
        }
        verdict.fail(exchange, exchange.trouble());
        return Ok(());
    };
    if answer.verb != Some("Identify") || !answer.errors.is_empty() {
        verdict.fail(exchange, format!("received {} instead of Identify", answer.codes().join(", ")));
    }
    Ok(())
}

fn repository_name(case: &Case, verdict: &mut Verdict) -> Judged {
    let (exchange, answer) = case.identify()?;
    if answer.field("repositoryName").is_some_and(str::is_empty) {
        verdict.fail_at(exchange, "repositoryName is empty", "<repositoryName");
    }
    Ok(())
}

fn base_url(case: &Case, verdict: &mut Verdict) -> Judged {
    let (exchange, answer) = case.identify()?;
    let told = answer.field("baseURL");
    if told.is_some_and(|told| !case.is_base_url(told)) {
        let message =
            format!("baseURL is '{}', but the requested URL is '{}'", told.unwrap_or_default(), case.base_url);
        verdict.fail_at(exchange, message, "<baseURL");
    }
    Ok(())
}

fn protocol_version(case: &Case, verdict: &mut Verdict) -> Judged {
    let (exchange, answer) = case.identify()?;
    match answer.texts("protocolVersion").next() {
        Some("2.0") | None => {}
        Some(other) => verdict.fail_at(exchange, format!("protocolVersion is '{other}'"), "<protocolVersion"),
    }
    Ok(())
}

fn admin_email(case: &Case, verdict: &mut Verdict) -> Judged {
    let (exchange, answer) = case.identify()?;
    for address in answer.texts("adminEmail") {
        match address.strip_prefix("mailto:") {
            Some(rest) if lexical::is_email(rest) => {
                verdict.warn_at(
                    exchange,
                    format!("adminEmail '{address}' is a URL, not an email address"),
                    "<adminEmail",
                );
            }
            _ if !lexical::is_email(address) => {
                verdict.fail_at(exchange, format!("adminEmail '{address}' is not an email address"), "<adminEmail");
            }
            _ => {}
        }
    }
    Ok(())
}

fn placeholders(case: &Case, verdict: &mut Verdict) -> Judged {
    let (exchange, answer) = case.identify()?;
    if answer.field("repositoryName") == Some(DEFAULT_NAME) {
        let message = format!("repositoryName is '{DEFAULT_NAME}', the default: set repository_name");
        verdict.warn_at(exchange, message, "<repositoryName");
    }
    for address in answer.texts("adminEmail").filter(|address| is_example_address(address)) {
        let message = format!("adminEmail '{address}' is in a domain for examples: set an address that receives mail");
        verdict.warn_at(exchange, message, "<adminEmail");
    }
    Ok(())
}

fn is_example_address(address: &str) -> bool {
    let is_example = |domain: &str| EXAMPLE_DOMAINS.iter().any(|example| domain.eq_ignore_ascii_case(example));
    address.trim().rsplit_once('@').is_some_and(|(_, domain)| is_example(domain))
}

fn granularity(case: &Case, verdict: &mut Verdict) -> Judged {
    let (exchange, answer) = case.identify()?;
    match answer.texts("granularity").next() {
        Some("YYYY-MM-DD" | "YYYY-MM-DDThh:mm:ssZ") | None => {}
        Some(other) => verdict.fail_at(exchange, format!("granularity is '{other}'"), "<granularity"),
    }
    Ok(())
}

fn earliest(case: &Case, verdict: &mut Verdict) -> Judged {
    let (exchange, answer) = case.identify()?;
    let Some(text) = answer.field("earliestDatestamp") else { return Ok(()) };
    let granularity = case.granularity()?;
    let Some(earliest) = moment(text) else {
        verdict.fail_at(exchange, format!("earliestDatestamp '{text}' is not a datestamp"), "<earliestDatestamp");
        return Ok(());
    };
    if !granularity.fits(text) {
        verdict.fail_at(
            exchange,
            format!("earliestDatestamp '{text}' does not have the announced granularity"),
            "<earliestDatestamp",
        );
    }
    if Datestamp::parse(answer.response_date.trim()).is_some_and(|now| earliest > now) {
        verdict.fail_at(exchange, format!("earliestDatestamp '{text}' is in the future"), "<earliestDatestamp");
    }
    Ok(())
}

fn deleted(case: &Case, verdict: &mut Verdict) -> Judged {
    let (exchange, answer) = case.identify()?;
    match answer.texts("deletedRecord").next() {
        Some("no" | "transient" | "persistent") | None => {}
        Some(other) => verdict.fail_at(exchange, format!("deletedRecord is '{other}'"), "<deletedRecord"),
    }
    Ok(())
}

fn oai_identifier(case: &Case, verdict: &mut Verdict) -> Judged {
    let (exchange, answer) = case.identify()?;
    let found: Vec<_> = answer.descriptions.iter().filter(|part| is_oai_identifier(part)).collect();
    if found.is_empty() {
        return not_judged("no oai-identifier description found");
    }
    if found.len() > 1 {
        verdict.fail_at(exchange, format!("found {} oai-identifier descriptions", found.len()), "oai-identifier");
    }
    for deviation in exchange.deviations().filter(|it| it.namespace == OAI_IDENTIFIER_NAMESPACE) {
        verdict.deviation(exchange, deviation);
    }
    for part in found {
        let text = String::from_utf8_lossy(&part.bytes);
        let (domain, sample) = (text_of(&text, "repositoryIdentifier"), text_of(&text, "sampleIdentifier"));
        if let (Some(domain), Some(sample)) = (domain, sample)
            && !sample.starts_with(&format!("oai:{domain}:"))
        {
            let message =
                format!("the sampleIdentifier '{sample}' does not belong to the repositoryIdentifier '{domain}'");
            verdict.fail_at(exchange, message, sample);
        }
    }
    Ok(())
}

/// Returns the namespace in the oai-identifier description, if the response has one.
pub(super) fn promised_namespace(case: &Case) -> Result<Option<String>, super::super::case::Stop> {
    let (_, answer) = case.identify()?;
    let part = answer.descriptions.iter().find(|part| is_oai_identifier(part));
    Ok(part.and_then(|part| text_of(&String::from_utf8_lossy(&part.bytes), "repositoryIdentifier").map(str::to_owned)))
}

fn is_oai_identifier(part: &modoai_protocol::xml::document::Part) -> bool {
    super::super::metadata::look(part).namespace == OAI_IDENTIFIER_NAMESPACE
}

/// Returns the text of a simple element.
fn text_of<'a>(xml: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = xml.split_once(&format!("{name}>"))?;
    rest.split('<').next().map(str::trim)
}

fn descriptions(case: &Case, verdict: &mut Verdict) -> Judged {
    let (identify, answer) = case.identify()?;
    let sets = case.sets()?;
    let has_sets = sets.pages.iter().filter_map(|page| page.answer()).flat_map(|it| &it.sets);
    if answer.descriptions.is_empty() && has_sets.into_iter().all(|set| set.descriptions.is_empty()) {
        return not_judged("no description found");
    }
    for exchange in std::iter::once(identify).chain(sets.pages) {
        for deviation in exchange.deviations() {
            let is_container = deviation.kind == Kind::Container && CONTAINERS.contains(&deviation.element);
            let is_inside = deviation.place == Place::Description && deviation.kind != Kind::IllFormed;
            if is_container || (is_inside && deviation.namespace != OAI_IDENTIFIER_NAMESPACE) {
                verdict.deviation(exchange, deviation);
            }
        }
    }
    Ok(())
}
