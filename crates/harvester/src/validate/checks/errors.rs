//! Checks that invalid requests are refused, with the right code.

use super::super::case::{Case, Judged, not_judged};
use super::super::exchange::Question;
use super::super::report::Verdict;
use super::Check;

/// An identifier that no repository has.
const NOBODY: &str = "oai:nobody.invalid:modoai-validate";

pub(super) const CHECKS: &[Check] = &[
    Check::new("errors-verb-missing", "3.6", "an unknown argument only; no argument", "badVerb", verb_missing),
    Check::new(
        "errors-verb-unknown",
        "3.6",
        "an unknown verb, an empty verb, a verb in lower case",
        "badVerb",
        verb_unknown,
    ),
    Check::new("errors-verb-repeated", "3.6", "verb=Identify twice", "badVerb", verb_repeated),
    Check::new(
        "errors-argument-missing",
        "3.6",
        "GetRecord without identifier, without metadataPrefix; ListRecords and ListIdentifiers alone",
        "badArgument",
        argument_missing,
    ),
    Check::new("errors-argument-unknown", "3.6", "an unknown argument, for each verb", "badArgument", argument_unknown),
    Check::new("errors-argument-repeated", "3.6", "metadataPrefix twice", "badArgument", argument_repeated),
    Check::new(
        "errors-identifier-unknown",
        "3.6",
        "GetRecord and ListMetadataFormats for an unknown identifier",
        "idDoesNotExist",
        identifier_unknown,
    ),
    Check::new(
        "errors-identifier-illegal",
        "3.6",
        "GetRecord for invalid\"id",
        "idDoesNotExist or badArgument, in well-formed XML",
        identifier_illegal,
    ),
    Check::new(
        "errors-format-unknown",
        "3.6",
        "GetRecord, ListRecords and ListIdentifiers in an unknown format",
        "cannotDisseminateFormat",
        format_unknown,
    ),
    Check::over_all("errors-text", "3.6", "every error has a message", text),
];

/// Sends a request that must be refused. `also` contains codes that harvesters can tolerate.
pub(super) fn refused(
    case: &Case,
    verdict: &mut Verdict,
    questions: &[Question],
    codes: &[&str],
    also: &[&str],
) -> Judged {
    for question in questions {
        let exchange = case.ask(question.clone())?;
        let Some(answer) = exchange.answer() else {
            verdict.fail(exchange, format!("expected {}; {}", codes.join(" or "), exchange.trouble()));
            continue;
        };
        if codes.iter().any(|code| answer.is_refused_with(code)) {
            continue;
        }
        let expected = codes.join(" or ");
        match answer.errors.first() {
            Some((code, _)) if also.contains(&code.as_str()) => {
                verdict.warn_at(exchange, format!("expected {expected}, received {code}"), "<error");
            }
            Some((code, _)) => verdict.fail_at(exchange, format!("expected {expected}, received {code}"), "<error"),
            None => {
                let verb = answer.verb.unwrap_or("nothing");
                verdict.fail(exchange, format!("expected {expected}, received {verb}"));
            }
        }
    }
    Ok(())
}

fn verb_missing(case: &Case, verdict: &mut Verdict) -> Judged {
    refused(case, verdict, &[Question::raw("junk"), Question::raw("")], &["badVerb"], &[])
}

fn verb_unknown(case: &Case, verdict: &mut Verdict) -> Judged {
    let questions = ["verb=junk", "verb=", "verb=identify"].map(Question::raw);
    refused(case, verdict, &questions, &["badVerb"], &[])
}

fn verb_repeated(case: &Case, verdict: &mut Verdict) -> Judged {
    refused(case, verdict, &[Question::raw("verb=Identify&verb=Identify")], &["badVerb"], &["badArgument"])
}

fn argument_missing(case: &Case, verdict: &mut Verdict) -> Judged {
    let (sample, prefix) = (case.sample()?, case.prefix()?);
    let questions = [
        Question::of(&[("verb", "GetRecord"), ("metadataPrefix", &prefix)]),
        Question::of(&[("verb", "GetRecord"), ("identifier", &sample.identifier)]),
        Question::of(&[("verb", "ListRecords")]),
        Question::of(&[("verb", "ListIdentifiers")]),
    ];
    refused(case, verdict, &questions, &["badArgument"], &[])
}

fn argument_unknown(case: &Case, verdict: &mut Verdict) -> Judged {
    let (sample, prefix) = (case.sample()?, case.prefix()?);
    let questions = [
        Question::of(&[("verb", "Identify"), ("junk", "1")]),
        Question::of(&[("verb", "ListSets"), ("junk", "1")]),
        Question::of(&[("verb", "ListMetadataFormats"), ("junk", "1")]),
        Question::of(&[("verb", "ListIdentifiers"), ("metadataPrefix", &prefix), ("junk", "1")]),
        Question::of(&[("verb", "ListRecords"), ("metadataPrefix", &prefix), ("junk", "1")]),
        Question::of(&[
            ("verb", "GetRecord"),
            ("identifier", &sample.identifier),
            ("metadataPrefix", &prefix),
            ("from", "2001-01-01"),
        ]),
    ];
    refused(case, verdict, &questions, &["badArgument"], &[])
}

fn argument_repeated(case: &Case, verdict: &mut Verdict) -> Judged {
    let prefix = case.prefix()?;
    let twice = [("verb", "ListIdentifiers"), ("metadataPrefix", prefix.as_str()), ("metadataPrefix", &prefix)];
    refused(case, verdict, &[Question::of(&twice)], &["badArgument"], &[])
}

fn identifier_unknown(case: &Case, verdict: &mut Verdict) -> Judged {
    let prefix = case.prefix()?;
    let questions = [
        Question::of(&[("verb", "GetRecord"), ("identifier", NOBODY), ("metadataPrefix", &prefix)]),
        Question::of(&[("verb", "ListMetadataFormats"), ("identifier", NOBODY)]),
    ];
    refused(case, verdict, &questions, &["idDoesNotExist"], &[])
}

fn identifier_illegal(case: &Case, verdict: &mut Verdict) -> Judged {
    let prefix = case.prefix()?;
    let question = Question::of(&[("verb", "GetRecord"), ("identifier", "invalid\"id"), ("metadataPrefix", &prefix)]);
    refused(case, verdict, &[question], &["idDoesNotExist", "badArgument"], &[])
}

fn format_unknown(case: &Case, verdict: &mut Verdict) -> Judged {
    let sample = case.sample()?;
    let nothing = ("metadataPrefix", "modoai_nothing");
    let questions = [
        Question::of(&[("verb", "GetRecord"), ("identifier", &sample.identifier), nothing]),
        Question::of(&[("verb", "ListRecords"), nothing]),
        Question::of(&[("verb", "ListIdentifiers"), nothing]),
    ];
    refused(case, verdict, &questions, &["cannotDisseminateFormat"], &[])
}

fn text(case: &Case, verdict: &mut Verdict) -> Judged {
    case.survey()?;
    let mut any = false;
    for exchange in case.exchanges() {
        for (code, message) in exchange.answer().map_or(&[][..], |answer| &answer.errors) {
            any = true;
            // The code noSetHierarchy needs no explanation.
            if message.trim().is_empty() && code != "noSetHierarchy" {
                verdict.warn_at(exchange, format!("the error {code} has no message"), "<error");
            }
        }
    }
    if any { Ok(()) } else { not_judged("no error found") }
}
