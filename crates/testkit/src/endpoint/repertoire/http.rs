//! What goes wrong between two machines: statuses, waits, walls, broken connections, codings, labels.

use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder};

use super::{Defect, Outcome, VICTIM, is_victim, nothing, row};
use crate::endpoint::calendar;
use crate::endpoint::holdings::{Holdings, dublin_core};
use crate::endpoint::reply::{Delivery, Reply};
use crate::endpoint::script::{Script, Visit};

pub(super) const DEFECTS: &[Defect] = &[
    row("error-with-status", "422 for noRecordsMatch", || errors_with(422)).meanwhile(nothing).told(),
    row("error-with-status", "404 for noRecordsMatch", || errors_with(404)).meanwhile(nothing).told(),
    row("error-with-status", "400 for noRecordsMatch", || errors_with(400)).meanwhile(nothing).told(),
    row("error-with-status", "500 for noRecordsMatch", || errors_with(500)).meanwhile(nothing).told(),
    row("error-with-status", "422 where there is nothing at all", || {
        errors_with(422).holding(|holdings| holdings.records.clear())
    })
    .told(),
    row("too-many-requests", "429 once, with a wait of a second", || {
        once(|| Reply::html(429, "Slow down").with("Retry-After", "1"))
    })
    .told(),
    row("too-many-requests", "429 once, with a wait of nothing", || {
        once(|| Reply::html(429, "Slow down").with("Retry-After", "0"))
    })
    .told(),
    row("too-many-requests", "429 once, without a wait", || once(|| Reply::html(429, "Slow down"))).told(),
    row("too-many-requests", "429 once, with a wait that is none", || {
        once(|| Reply::html(429, "Slow down").with("Retry-After", "soon"))
    })
    .told(),
    row("too-many-requests", "503 once, until a date", || {
        once(|| Reply::html(503, "Busy").with("Retry-After", &calendar::http_date(calendar::now() + 2)))
    })
    .told(),
    row("too-many-requests", "503 once, until a date that has passed", || {
        once(|| Reply::html(503, "Busy").with("Retry-After", "Sun, 06 Nov 1994 08:49:37 GMT"))
    })
    .told(),
    row("too-many-requests", "503 once, without a wait", || once(|| Reply::html(503, "Busy"))),
    row("too-many-requests", "429 now and then", || {
        Script::default().instead(|visit| {
            (visit.number % 3 == 2).then(|| Reply::of(429, "text/plain", "slow").with("Retry-After", "0"))
        })
    })
    .told(),
    row("too-many-requests", "429 for a day", || {
        Script::default().instead(|_| Some(Reply::html(429, "Slow down").with("Retry-After", "86400")))
    })
    .outcome(Outcome::Postponed),
    row("too-many-requests", "503 until tomorrow", || {
        let tomorrow = || calendar::http_date(calendar::now() + 86_400);
        Script::default().instead(move |_| Some(Reply::html(503, "Closed").with("Retry-After", &tomorrow())))
    })
    .outcome(Outcome::Postponed),
    row("too-many-requests", "429 for ever, without a wait", || {
        Script::default().instead(|_| Some(Reply::html(429, "Slow down")))
    })
    .outcome(Outcome::Nothing("429")),
    row("bot-wall", "a challenge for everyone", || Script::default().instead(|_| Some(challenge())))
        .outcome(Outcome::Nothing("bot challenge page")),
    row("bot-wall", "a challenge, once", || once(challenge)).outcome(Outcome::Later),
    row("bot-wall", "an empty answer with 202 for everyone", || Script::default().instead(|_| Some(empty_challenge())))
        .outcome(Outcome::Nothing("bot challenge page")),
    row("bot-wall", "an empty answer with 202, once", || once(empty_challenge)).outcome(Outcome::Later),
    row("bot-wall", "browsers only", || {
        Script::default().instead(|visit| {
            let browser = visit.request.header("User-Agent").is_some_and(|agent| agent.starts_with("Mozilla/"));
            (!browser).then(|| Reply::html(403, "Forbidden"))
        })
    })
    .outcome(Outcome::Nothing("403")),
    row("bad-record", "500 for its page and for itself, but not for headers", || {
        broken(|visit| visit.verb() != "ListIdentifiers", || Reply::html(500, "Internal server error"))
    })
    .outcome(Outcome::WithoutRecords(is_victim))
    .told(),
    row("bad-record", "500 for everything about it", || broken(|_| true, || Reply::html(500, "Internal server error")))
        .outcome(Outcome::WithoutSome(is_victim))
        .told(),
    row("bad-record", "500 for its page only", || {
        broken(|visit| visit.verb() == "ListRecords", || Reply::html(500, "Internal server error"))
    }),
    row("bad-record", "500 for its page only, and it changes", || {
        broken(|visit| visit.verb() == "ListRecords", || Reply::html(500, "Internal server error"))
    })
    .meanwhile(|holdings| {
        let victim = holdings.record(VICTIM).expect("it is there");
        (victim.metadata, victim.changed) = (dublin_core("A new edition"), calendar::now());
    }),
    row("bad-record", "half of an answer for its page and for itself", || {
        Script::default().reply(|visit, reply| {
            if visit.concerns(VICTIM) && visit.verb() != "ListIdentifiers" {
                reply.body.truncate(reply.half());
            }
        })
    })
    .outcome(Outcome::WithoutRecords(is_victim))
    .told(),
    row("unstable", "500 eight times, for the first list", || {
        Script::default().instead(|visit| {
            (visit.verb() == "ListRecords" && visit.number < 10).then(|| Reply::html(500, "An outage"))
        })
    })
    .told(),
    row("unstable", "500, 502 and 504 now and then", || {
        Script::default().instead(|visit| match visit.number % 9 {
            2 => Some(Reply::html(500, "Internal server error")),
            5 => Some(Reply::html(502, "Bad gateway")),
            8 => Some(Reply::html(504, "Gateway time-out")),
            _ => None,
        })
    })
    .told(),
    row("unstable", "a redirect loop in place of the third page", || {
        Script::default().instead(|visit| {
            let target = visit.request.target.clone();
            (visit.verb() == "ListRecords" && visit.page() == 3)
                .then(|| Reply::html(302, "Found").with("Location", &target))
        })
    })
    .told_as(&["deep-paging"]),
    row("slow-page", "slower than is waited for, in longer lists", || {
        Script::default().reply(|visit, reply| {
            if visit.matching.len() > 12 {
                reply.delay = Duration::from_secs(60);
            }
        })
    })
    .asked(&["--timeout", "2"])
    .told(),
    row("slow-page", "slow, but not too slow", || {
        Script::default().reply(|visit, reply| {
            if visit.is_list() {
                reply.delay = Duration::from_millis(400);
            }
        })
    }),
    row("cut-short", "closed in the middle, once", || delivered_once(|reply| Delivery::CutAt(reply.half()))).told(),
    row("cut-short", "reset in the middle, once", || delivered_once(|reply| Delivery::ResetAt(reply.half()))).told(),
    row("cut-short", "reset before the first byte, once", || delivered_once(|_| Delivery::ResetAt(0))).told(),
    row("length-wrong", "no last chunk, once", || delivered_once(|_| Delivery::ChunkedWithoutEnd)).told(),
    row("length-wrong", "no last chunk, always", || {
        Script::default().reply(|_, reply| reply.delivery = Delivery::ChunkedWithoutEnd)
    })
    .told(),
    row("length-wrong", "a Content-Length that is too large, always", || {
        Script::default().reply(|_, reply| reply.delivery = Delivery::LengthTooLarge)
    })
    .told(),
    row("slow-page", "silent in the middle, once", || delivered_once(|reply| Delivery::StallAt(reply.half())))
        .asked(&["--timeout", "2"])
        .told(),
    row("cut-short", "half of the XML with half of the length, once", || {
        Script::default().reply(|visit, reply| {
            if is_first_time(visit) {
                reply.body.truncate(reply.half());
            }
        })
    })
    .told(),
    row("cut-short", "whole XML until the connection closes", || {
        Script::default().reply(|_, reply| reply.delivery = Delivery::UntilClose)
    }),
    row("cut-short", "half of the XML until the connection closes, once", || {
        Script::default().reply(|visit, reply| {
            if is_first_time(visit) {
                reply.body.truncate(reply.half());
                reply.delivery = Delivery::UntilClose;
            }
        })
    })
    .told(),
    row("cut-short", "half of a compressed answer, once", || {
        Script::default().reply(|visit, reply| {
            if is_first_time(visit) {
                reply.body = gzip(&reply.body);
                reply.body.truncate(reply.half());
                reply.set_header("Content-Encoding", "gzip");
            }
        })
    })
    .told(),
    row("cut-short", "always, with more than two records", || {
        Script::default().reply(|visit, reply| {
            if visit.on_page().len() > 2 {
                reply.delivery = Delivery::CutAt(reply.half());
            }
        })
    })
    .meanwhile(|holdings| holdings.change_first("A new edition"))
    .told(),
    row("coding-mislabelled", "gzip, labelled", || coded(gzip, Some("gzip"))),
    row("coding-mislabelled", "gzip, unlabelled", || coded(gzip, None)).told(),
    row("coding-mislabelled", "plain, labelled as gzip", || coded(<[u8]>::to_vec, Some("gzip"))).told(),
    row("coding-mislabelled", "plain, labelled as br", || coded(<[u8]>::to_vec, Some("br"))).told(),
    row("coding-mislabelled", "gzip, labelled as compress", || coded(gzip, Some("compress"))).told(),
    row("coding-mislabelled", "gzip, labelled as deflate", || coded(gzip, Some("deflate"))).told(),
    row("coding-mislabelled", "raw deflate", || coded(deflate, Some("deflate"))),
    row("coding-mislabelled", "zstd, unlabelled", || coded(zstd, None)).told(),
    row("html-with-200", "for everything", || {
        Script::default().instead(|_| Some(Reply::html(200, "Welcome to our library")))
    })
    .outcome(Outcome::Nothing("HTML page")),
    row("html-with-200", "for the page of one record and for itself", || {
        broken(|visit| visit.verb() != "ListIdentifiers", || Reply::html(200, "An OAI-PMH error has occurred"))
    })
    .outcome(Outcome::WithoutRecords(is_victim))
    .told(),
    row("content-type", "HTML", || labelled("text/html")),
    row("content-type", "plain text in another encoding", || labelled("text/plain; charset=ISO-8859-1")),
    row("content-type", "anything", || labelled("application/octet-stream")),
    row("content-type", "none", || Script::default().reply(|_, reply| reply.headers.clear())),
    row("content-type", "nonsense", || labelled("xml;;charset")),
    row("verb-first", "or it is not found", || {
        Script::default().page(|visit, page| {
            if !visit.request.query().starts_with("verb=") {
                page.fail("badVerb", "the first argument is not a verb");
            }
        })
    }),
    row("empty-set", "breaks the answer", || {
        Script::default().instead(|visit| {
            (visit.request.argument("set") == Some("")).then(|| Reply::html(500, "Internal server error"))
        })
    }),
    row("empty-set", "where there are no sets", || Script::default().holding(|holdings| holdings.sets.clear())),
    row("huge-page", "of 48 MB", || {
        Script::of(Holdings::of(40)).pages_of(50).holding(|holdings| {
            for record in &mut holdings.records {
                let text = "every record is larger than a page. ".repeat(33_333);
                record.metadata = format!("<large xmlns=\"urn:example:large\">{text}</large>").into_bytes();
            }
        })
    }),
];

fn errors_with(status: u16) -> Script {
    Script::default().reply(move |_, reply| {
        if reply.body.windows(7).any(|bytes| bytes == b"<error ") {
            reply.status = status;
        }
    })
}

/// Whether this is the first request for a third page.
fn is_first_time(visit: &Visit<'_>) -> bool {
    visit.page() == 3 && visit.times == 0
}

/// A script that answers something else once, in the middle of the list.
fn once(answer: fn() -> Reply) -> Script {
    let given = AtomicBool::new(false);
    Script::default().instead(move |visit| (visit.page() == 3 && !given.swap(true, Ordering::SeqCst)).then(answer))
}

fn delivered_once(delivery: fn(&Reply) -> Delivery) -> Script {
    Script::default().reply(move |visit, reply| {
        if is_first_time(visit) {
            reply.delivery = delivery(reply);
        }
    })
}

/// A script in which one record breaks every answer of these that would hold it.
fn broken(which: fn(&Visit<'_>) -> bool, answer: fn() -> Reply) -> Script {
    Script::default().instead(move |visit| (which(visit) && visit.concerns(VICTIM)).then(answer))
}

fn challenge() -> Reply {
    let page = "<!DOCTYPE html><html lang=\"en-US\"><head><title>Just a moment...</title></head><body>\
        <noscript>Enable JavaScript and cookies to continue</noscript>\
        <script src=\"/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1\"></script></body></html>";
    Reply::of(403, "text/html; charset=UTF-8", page)
        .with("Server", "cloudflare")
        .with("cf-mitigated", "challenge")
        .with("CF-RAY", "0123456789abcdef-FRA")
}

fn empty_challenge() -> Reply {
    Reply::of(202, "text/html", "").with("Server", "CloudFront").with("x-amzn-waf-action", "challenge")
}

/// A script whose answers are in a coding, under a label or none.
fn coded(code: fn(&[u8]) -> Vec<u8>, label: Option<&'static str>) -> Script {
    Script::default().reply(move |_, reply| {
        reply.body = code(&reply.body);
        if let Some(label) = label {
            reply.set_header("Content-Encoding", label);
        }
    })
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("memory takes everything")
}

fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("memory takes everything")
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).expect("memory takes everything")
}

fn labelled(media_type: &'static str) -> Script {
    Script::default().reply(move |_, reply| reply.set_header("Content-Type", media_type))
}
