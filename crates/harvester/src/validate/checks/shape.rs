//! Compares all responses with XML, with the schemas, and with their requests.

use modoai_protocol::ErrorCode;

use super::super::case::{Case, Judged};
use super::super::exchange::{Exchange, Question, Reply};
use super::super::report::Verdict;
use super::super::shape::{Kind, Place};
use super::Check;

pub(super) const CHECKS: &[Check] = &[
    Check::over_all("shape-well-formed", "3.2", "well-formed XML with declared namespaces", well_formed),
    Check::over_all("shape-encoding", "3.2", "valid UTF-8", encoding),
    Check::over_all("shape-characters", "3.2", "only characters that XML allows", characters),
    Check::over_all(
        "shape-declaration",
        "3.2",
        "an XML declaration with version 1.0 and encoding UTF-8, and no DOCTYPE",
        declaration,
    ),
    Check::over_all(
        "shape-root",
        "3.2",
        "the root element OAI-PMH, without a prefix, in the protocol's namespace, with its xsi:schemaLocation",
        root,
    ),
    Check::over_all(
        "shape-elements",
        "3.2.1",
        "the elements of the schema, in the specified order and number, and no empty lists",
        elements,
    ),
    Check::over_all("shape-values", "3.2.1", "text and attributes that are valid by the schema", values),
    Check::over_all(
        "shape-response-date",
        "3.2",
        "responseDate as YYYY-MM-DDThh:mm:ssZ, regardless of the granularity",
        response_date,
    ),
    Check::over_all("shape-verb", "3.2", "an element with the name of the requested verb, or errors", verb),
    Check::over_all("shape-request-url", "3.2", "request contains the base URL", request_url),
    Check::over_all(
        "shape-request-arguments",
        "3.2",
        "request has the arguments as attributes; none with badVerb or badArgument",
        request_arguments,
    ),
];

/// Returns all responses except error pages of the HTTP server, which another check reports.
fn answers(case: &Case) -> impl Iterator<Item = &Exchange> {
    let is_answer = |reply: &Reply| reply.status == 200 || reply.answer.is_ok();
    case.exchanges().filter(move |exchange| exchange.reply().is_some_and(is_answer))
}

fn tell(case: &Case, verdict: &mut Verdict, kind: Kind) -> Judged {
    case.survey()?;
    for exchange in answers(case) {
        for deviation in exchange.deviations().filter(|it| it.kind == kind && it.place == Place::Envelope) {
            verdict.deviation(exchange, deviation);
        }
    }
    Ok(())
}

/// Reports all deviations of a kind. Unlike deviations from schemas, these are also reported in metadata.
fn tell_everywhere(case: &Case, verdict: &mut Verdict, kind: Kind) -> Judged {
    case.survey()?;
    for exchange in answers(case) {
        for deviation in exchange.deviations().filter(|it| it.kind == kind) {
            verdict.deviation(exchange, deviation);
        }
    }
    Ok(())
}

fn well_formed(case: &Case, verdict: &mut Verdict) -> Judged {
    tell_everywhere(case, verdict, Kind::IllFormed)
}

fn encoding(case: &Case, verdict: &mut Verdict) -> Judged {
    tell_everywhere(case, verdict, Kind::Encoding)
}

fn characters(case: &Case, verdict: &mut Verdict) -> Judged {
    tell_everywhere(case, verdict, Kind::Character)
}

fn declaration(case: &Case, verdict: &mut Verdict) -> Judged {
    tell(case, verdict, Kind::Declaration)
}

fn root(case: &Case, verdict: &mut Verdict) -> Judged {
    tell(case, verdict, Kind::Root)
}

fn elements(case: &Case, verdict: &mut Verdict) -> Judged {
    tell(case, verdict, Kind::Structure)
}

fn values(case: &Case, verdict: &mut Verdict) -> Judged {
    tell(case, verdict, Kind::Value)
}

fn response_date(case: &Case, verdict: &mut Verdict) -> Judged {
    case.survey()?;
    for exchange in case.exchanges() {
        let Some(answer) = exchange.answer() else { continue };
        let date = answer.response_date.trim();
        if modoai_protocol::Datestamp::parse(date).is_none() {
            verdict.fail_at(exchange, format!("responseDate is '{date}'"), "<responseDate");
        }
    }
    Ok(())
}

fn verb(case: &Case, verdict: &mut Verdict) -> Judged {
    case.survey()?;
    for exchange in case.exchanges() {
        let (Some(answer), asked) = (exchange.answer(), exchange.question.argument("verb")) else { continue };
        let told = answer.verb;
        if told.is_some() && told != asked.as_deref() {
            let message = format!("requested '{}', received '{}'", asked.unwrap_or_default(), told.unwrap_or_default());
            verdict.fail(exchange, message);
        }
    }
    Ok(())
}

fn request_url(case: &Case, verdict: &mut Verdict) -> Judged {
    case.survey()?;
    // A wrong base URL in Identify is one error, and is reported by another check.
    let identify = case.ask(Question::of(&[("verb", "Identify")]))?;
    let own = identify.answer().and_then(|answer| answer.field("baseURL")).unwrap_or_default();
    for exchange in case.exchanges() {
        let Some(answer) = exchange.answer() else { continue };
        let told = answer.url.trim();
        if !case.is_base_url(told) && told != own {
            verdict.fail_at(exchange, format!("request contains '{told}', not '{}'", case.base_url), "<request");
        }
    }
    Ok(())
}

fn request_arguments(case: &Case, verdict: &mut Verdict) -> Judged {
    case.survey()?;
    for exchange in case.exchanges() {
        let Some(answer) = exchange.answer() else { continue };
        let told = |name: &str| answer.arguments.iter().find(|(given, _)| given == name).map(|(_, value)| value);
        let hides = |(code, _): &(String, String)| ErrorCode::from_name(code).is_some_and(ErrorCode::hides_arguments);
        if answer.errors.iter().any(hides) {
            if let Some((name, _)) = answer.arguments.first() {
                let codes = answer.codes().join(", ");
                verdict.fail_at(
                    exchange,
                    format!("with {codes}, request must not have attributes: '{name}'"),
                    "<request",
                );
            }
            continue;
        }
        let asked = exchange.question.arguments();
        for (name, value) in &asked {
            // An error response may omit attributes, but those that it has must be correct.
            if told(name) != Some(value) && (answer.errors.is_empty() || told(name).is_some()) {
                let message = match told(name) {
                    Some(told) => format!("request has {name}='{told}', but the request was sent with '{value}'"),
                    None => format!("request lacks the attribute '{name}', which was sent"),
                };
                verdict.fail_at(exchange, message, "<request");
            }
        }
        if let Some((name, _)) = answer.arguments.iter().find(|(name, _)| asked.iter().all(|(asked, _)| asked != name))
        {
            verdict.fail_at(exchange, format!("request has an attribute '{name}' that was not sent"), "<request");
        }
    }
    Ok(())
}
