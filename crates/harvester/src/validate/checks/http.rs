//! HTTP: methods, status, headers, compression, redirects and flow control.

use super::super::case::{Case, Judged, not_judged};
use super::super::exchange::{Answer, Exchange, Question};
use super::super::report::Verdict;
use super::Check;

pub(super) const CHECKS: &[Check] = &[
    Check::over_all("http-status", "3.1.2.2", "status 200, also when the protocol reports an error", status),
    Check::over_all("http-content-type", "3.1.2.1", "Content-Type text/xml", content_type),
    Check::over_all("http-charset", "3.1.2.1, 3.2", "no charset in Content-Type except UTF-8", charset),
    Check::over_all("http-redirects", "3.1.2.2", "redirects, if any, are temporary (302, 303, 307)", redirects),
    Check::over_all(
        "http-flow-control",
        "3.1.2.2",
        "503 with Retry-After in whole seconds, up to an hour",
        flow_control,
    ),
    Check::over_all(
        "http-identity",
        "3.1.3",
        "no Content-Encoding if identity was requested, and no unlabelled one",
        identity,
    ),
    Check::new("http-post-identify", "3.1.1.2", "POST verb=Identify", "the same response as for GET", post_identify),
    Check::new(
        "http-post-arguments",
        "3.1.1.2",
        "POST GetRecord with its arguments",
        "the same record as for GET",
        post_arguments,
    ),
    Check::new(
        "http-gzip",
        "3.1.3",
        "Identify with Accept-Encoding: gzip",
        "gzip if Identify announces it; header and bytes agree; the same content",
        gzip,
    ),
    Check::new(
        "http-deflate",
        "3.1.3",
        "Identify with Accept-Encoding: deflate, if Identify announces it",
        "deflate, in zlib format; header and bytes agree; the same content",
        deflate,
    ),
    Check::new(
        "http-compression",
        "3.1.3",
        "Identify",
        "compression contains HTTP content codings other than identity",
        compression,
    ),
];

fn status(case: &Case, verdict: &mut Verdict) -> Judged {
    case.survey()?;
    for exchange in case.exchanges() {
        match &exchange.outcome {
            Err(reason) => verdict.fail(exchange, format!("no response: {reason}")),
            Ok(reply) if reply.status != 200 && reply.answer.is_ok() => {
                verdict.fail(exchange, format!("an OAI-PMH response has HTTP status {}", reply.status));
            }
            Ok(reply) if reply.status != 200 => verdict.fail(exchange, format!("status {}", reply.status)),
            Ok(_) => {}
        }
    }
    Ok(())
}

fn content_type(case: &Case, verdict: &mut Verdict) -> Judged {
    case.survey()?;
    for (exchange, reply) in case.exchanges().filter_map(|exchange| Some((exchange, exchange.reply()?))) {
        let value = reply.header("content-type").unwrap_or_default();
        let media_type = value.split(';').next().unwrap_or_default().trim();
        if reply.answer.is_ok() && !media_type.eq_ignore_ascii_case("text/xml") {
            verdict.fail(exchange, format!("Content-Type is '{value}', not text/xml"));
        }
    }
    Ok(())
}

fn charset(case: &Case, verdict: &mut Verdict) -> Judged {
    case.survey()?;
    for (exchange, reply) in case.exchanges().filter_map(|exchange| Some((exchange, exchange.reply()?))) {
        let value = reply.header("content-type").unwrap_or_default();
        let parameters = value.split(';').skip(1).filter_map(|parameter| parameter.split_once('='));
        let charset = parameters.into_iter().find(|(name, _)| name.trim().eq_ignore_ascii_case("charset"));
        let charset = charset.map(|(_, charset)| charset.trim().trim_matches('"'));
        if charset.is_some_and(|charset| !charset.eq_ignore_ascii_case("utf-8")) {
            verdict.fail(exchange, format!("Content-Type is '{value}', but responses must be UTF-8"));
        }
    }
    Ok(())
}

fn redirects(case: &Case, verdict: &mut Verdict) -> Judged {
    case.survey()?;
    let mut any = false;
    for exchange in case.exchanges() {
        for hop in exchange.reply().map_or(&[][..], |reply| &reply.hops) {
            any = true;
            if [301, 308].contains(&hop.status) {
                let message = format!("a permanent redirect ({}) to {}: use that URL as base URL", hop.status, hop.to);
                verdict.warn(exchange, message);
            }
        }
    }
    if any { Ok(()) } else { not_judged("no redirect found") }
}

fn flow_control(case: &Case, verdict: &mut Verdict) -> Judged {
    case.survey()?;
    let mut any = false;
    for exchange in case.asked() {
        for wait in &exchange.waits {
            any = true;
            let seconds = wait.retry_after.as_deref().map(str::parse::<u64>);
            match (&wait.retry_after, seconds) {
                (Some(_), Some(Ok(seconds))) if seconds > 3600 => {
                    verdict.warn(exchange, format!("Retry-After is {seconds}: more than an hour"));
                }
                (Some(_), Some(Ok(_))) => {}
                (Some(value), _) => {
                    verdict.fail(exchange, format!("Retry-After is '{value}', not a number of seconds"));
                }
                (None, _) => verdict.fail(exchange, format!("status {} without Retry-After", wait.status)),
            }
            if wait.status == 429 {
                verdict.warn(exchange, "status 429: harvesters of this protocol expect 503");
            }
        }
    }
    if any { Ok(()) } else { not_judged("the server never sent Retry-After") }
}

fn identity(case: &Case, verdict: &mut Verdict) -> Judged {
    case.survey()?;
    for exchange in case.exchanges().filter(|exchange| exchange.question.coding == "identity") {
        let Some(reply) = exchange.reply() else { continue };
        let label = reply.header("content-encoding").unwrap_or("identity");
        if reply.coding != Some("identity") || !label.eq_ignore_ascii_case("identity") {
            let is = reply.coding.unwrap_or("not decodable");
            verdict.fail(exchange, format!("requested identity; the response is labelled '{label}' and is {is}"));
        }
    }
    Ok(())
}

fn post_identify(case: &Case, verdict: &mut Verdict) -> Judged {
    let question = Question::of(&[("verb", "Identify")]);
    let (_, got) = case.read(question.clone())?;
    let posted = case.ask(question.posted())?;
    compare_posted(posted, verdict, |answer| answer.verb == Some("Identify") && answer.identify == got.identify);
    Ok(())
}

fn post_arguments(case: &Case, verdict: &mut Verdict) -> Judged {
    let (sample, prefix) = (case.sample()?, case.prefix()?);
    let arguments = [("verb", "GetRecord"), ("identifier", sample.identifier.as_str()), ("metadataPrefix", &prefix)];
    let question = Question::of(&arguments);
    let (_, got) = case.read(question.clone())?;
    let posted = case.ask(question.posted())?;
    compare_posted(posted, verdict, |answer| answer.entries == got.entries && answer.codes() == got.codes());
    Ok(())
}

fn compare_posted(posted: &Exchange, verdict: &mut Verdict, is_same: impl Fn(&Answer) -> bool) {
    match posted.answer() {
        None => verdict.fail(posted, posted.trouble()),
        Some(answer) if !answer.errors.is_empty() => {
            verdict.fail(posted, format!("the POST request is refused with {}", answer.codes().join(", ")));
        }
        Some(answer) if !is_same(answer) => verdict.fail(
            posted,
            "the response to POST differs from the \
            response to GET",
        ),
        Some(_) => {}
    }
}

fn gzip(case: &Case, verdict: &mut Verdict) -> Judged {
    coded(case, verdict, "gzip")
}

fn deflate(case: &Case, verdict: &mut Verdict) -> Judged {
    let (_, plain) = case.identify()?;
    if !is_advertised(plain, "deflate") {
        return not_judged("Identify does not announce deflate");
    }
    coded(case, verdict, "deflate")
}

fn is_advertised(identify: &Answer, coding: &str) -> bool {
    identify.texts("compression").any(|name| name.trim().eq_ignore_ascii_case(coding))
}

fn coded(case: &Case, verdict: &mut Verdict, coding: &'static str) -> Judged {
    let (_, plain) = case.identify()?;
    let advertised = is_advertised(plain, coding);
    let packed = case.ask(Question::of(&[("verb", "Identify")]).coded(coding))?;
    let Some(reply) = packed.reply() else {
        verdict.fail(packed, packed.trouble());
        return Ok(());
    };
    let label = reply.header("content-encoding").unwrap_or("identity").to_ascii_lowercase();
    let named = if label == "x-gzip" { "gzip" } else { label.as_str() };
    if reply.coding != Some(named) || (named != coding && named != "identity") {
        let is = reply.coding.unwrap_or("not decodable");
        verdict.fail(packed, format!("requested {coding}; the response is labelled '{label}' and is {is}"));
    }
    if advertised && reply.coding == Some("identity") {
        verdict.warn(packed, format!("Identify announces {coding}, but the response is not compressed"));
    }
    if !advertised && reply.coding == Some(coding) && named == coding {
        verdict.warn(packed, format!("the response is compressed with {coding}, which Identify does not announce"));
    }
    if reply.answer.as_ref().is_ok_and(|answer| answer.identify != plain.identify) {
        verdict.fail(packed, "the decoded response differs from the uncompressed one");
    }
    Ok(())
}

fn compression(case: &Case, verdict: &mut Verdict) -> Judged {
    const CODINGS: [&str; 7] = ["gzip", "x-gzip", "deflate", "compress", "x-compress", "br", "zstd"];
    let (exchange, answer) = case.identify()?;
    for name in answer.texts("compression").map(str::trim) {
        if name.eq_ignore_ascii_case("identity") {
            verdict.warn_at(exchange, "compression contains identity, which is always supported", "<compression");
        } else if !CODINGS.iter().any(|coding| name.eq_ignore_ascii_case(coding)) {
            verdict.warn_at(exchange, format!("compression '{name}' is not an HTTP content coding"), "<compression");
        }
    }
    Ok(())
}
