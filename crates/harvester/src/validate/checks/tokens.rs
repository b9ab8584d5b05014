//! Checks of resumption tokens: their position, their counts, the pages that they return, and tokens that must be
//! refused.

use modoai_protocol::Datestamp;
use modoai_protocol::text::shortened;
use modoai_protocol::xml::document::Token;

use super::super::case::{Case, End, Judged, Stop, Walk, not_judged};
use super::super::exchange::{Answer, Exchange, Question};
use super::super::report::Verdict;
use super::super::shape::MAX_QUOTED;
use super::Check;
use super::errors::refused;

const LISTS: &str = "ListIdentifiers, ListRecords, ListSets, page after page";

pub(super) const CHECKS: &[Check] = &[
    Check::new("tokens-single-page", "3.5", LISTS, "no token in a list of one page", single_page),
    Check::new("tokens-last-page", "3.5", LISTS, "an empty token on the last of several pages", last_page),
    Check::new("tokens-lead-on", "3.5", LISTS, "a token returns a non-empty page", lead_on),
    Check::new("tokens-end", "3.5", LISTS, "no token and no page is repeated: lists end", end),
    Check::new("tokens-cursor", "3.5", LISTS, "cursor is the number of records on earlier pages, from 0", cursor),
    Check::new("tokens-size", "3.5", LISTS, "completeListSize is the number of records, or a fair estimate", size),
    Check::new("tokens-expiration", "3.5", LISTS, "expirationDate as YYYY-MM-DDThh:mm:ssZ, in the future", expiration),
    Check::new("tokens-reusable", "3.5.1", "the same token twice", "the same page", reusable),
    Check::new("tokens-garbage", "3.5, 3.6", "an invalid token, for each list", "badResumptionToken", garbage),
    Check::new("tokens-damaged", "3.5, 3.6", "a valid token with appended characters", "badResumptionToken", damaged),
    Check::new(
        "tokens-of-another-verb",
        "3.5, 3.6",
        "a token of ListIdentifiers sent with ListRecords",
        "badResumptionToken",
        another_verb,
    ),
    Check::new(
        "tokens-exclusive",
        "3.5, 3.6",
        "a token together with metadataPrefix, and together with until",
        "badArgument (badResumptionToken is tolerated)",
        exclusive,
    ),
];

/// Returns every page of a list that could be read.
fn pages<'a>(walk: &Walk<'a>) -> Vec<(&'a Exchange, &'a Answer)> {
    walk.pages.iter().filter_map(|page| Some((*page, page.answer()?))).collect()
}

fn count(answer: &Answer) -> usize {
    answer.entries.len() + answer.sets.len()
}

fn single_page(case: &Case, verdict: &mut Verdict) -> Judged {
    let mut any = false;
    for (verb, walk) in case.lists()? {
        let [page] = walk.pages[..] else { continue };
        let Some(answer) = page.answer().filter(|answer| answer.errors.is_empty()) else { continue };
        any = true;
        if answer.token.as_ref().is_some_and(|token| token.value.is_empty()) {
            verdict.fail_at(page, format!("{verb} has one page, but an empty token on it"), "<resumptionToken");
        }
    }
    if any { Ok(()) } else { not_judged("no list has a single page") }
}

fn last_page(case: &Case, verdict: &mut Verdict) -> Judged {
    let mut any = false;
    for (verb, walk) in case.lists()? {
        if walk.pages.len() > 1 && walk.is_complete() {
            any = true;
            let last = walk.last();
            if last.answer().is_some_and(|answer| answer.token.is_none()) {
                verdict.fail(last, format!("the last of {} pages of {verb} has no empty token", walk.pages.len()));
            }
        }
    }
    if any { Ok(()) } else { not_judged("no list of several pages could be read completely") }
}

fn lead_on(case: &Case, verdict: &mut Verdict) -> Judged {
    let mut any = false;
    for (verb, walk) in case.lists()? {
        for page in walk.pages.iter().skip(1) {
            any = true;
            match page.answer() {
                None => verdict.fail(page, page.trouble()),
                Some(answer) if !answer.errors.is_empty() => {
                    let codes = answer.codes().join(", ");
                    verdict.fail_at(page, format!("the token issued by {verb} is refused: {codes}"), "<error");
                }
                Some(answer) if count(answer) == 0 => {
                    verdict.fail(page, format!("a token of {verb} returns an empty page"));
                }
                Some(_) => {}
            }
        }
    }
    if any { Ok(()) } else { not_judged("no list has more than one page") }
}

fn end(case: &Case, verdict: &mut Verdict) -> Judged {
    let mut any = false;
    for (verb, walk) in case.lists()? {
        let pages = pages(&walk);
        any |= pages.len() > 1;
        let mut seen = std::collections::HashMap::new();
        for (number, (page, answer)) in pages.iter().enumerate() {
            let token = answer.token.as_ref().map_or("", |token| token.value.as_str());
            if let Some(before) = seen.insert(token, number).filter(|_| !token.is_empty()) {
                let message =
                    format!("page {} of {verb} has the token of page {}: the list never ends", number + 1, before + 1);
                verdict.fail_at(page, message, "<resumptionToken");
            }
        }
        let first = |answer: &Answer| {
            let entry = answer.entries.first().map(|entry| entry.identifier.clone());
            entry.or_else(|| answer.sets.first().map(|set| set.spec.clone()))
        };
        for pair in pages.windows(2) {
            if first(pair[0].1).is_some() && first(pair[0].1) == first(pair[1].1) {
                verdict.fail(pair[1].0, format!("two pages of {verb} begin with the same entry"));
            }
        }
        if walk.end == End::Sampled {
            verdict.note(format!("only the first {} pages of {verb} were checked", pages.len()));
        }
    }
    if any { Ok(()) } else { not_judged("no list has more than one page") }
}

/// Calls `judge` for each token with a list's name, its page, the number of records before it, and the list.
fn each_token<'a>(
    case: &'a Case,
    mut judge: impl FnMut(&'static str, &'a Exchange, &'a Token, usize, &Walk<'a>),
) -> Result<(), Stop> {
    for (verb, walk) in case.lists()? {
        let mut before = 0;
        for (page, answer) in pages(&walk) {
            if let Some(token) = &answer.token {
                judge(verb, page, token, before, &walk);
            }
            before += count(answer);
        }
    }
    Ok(())
}

fn cursor(case: &Case, verdict: &mut Verdict) -> Judged {
    let mut any = false;
    each_token(case, |verb, page, token, before, walk| {
        let Some(cursor) = token.cursor.as_deref() else { return };
        any = true;
        if cursor.trim().parse() != Ok(before) && !matches!(walk.end, End::Broken(_)) {
            verdict.fail_at(page, format!("cursor is '{cursor}' after {before} of {verb}"), "<resumptionToken");
        }
    })?;
    if any { Ok(()) } else { not_judged("no token has a cursor") }
}

fn size(case: &Case, verdict: &mut Verdict) -> Judged {
    let mut any = false;
    for (verb, walk) in case.lists()? {
        let total: usize = pages(&walk).iter().map(|(_, answer)| count(answer)).sum();
        for (page, answer) in pages(&walk) {
            let size = answer.token.as_ref().and_then(|token| token.size.as_deref());
            let Some(size) = size.and_then(|size| size.trim().parse::<usize>().ok()) else { continue };
            any = true;
            // It may be an estimate; a wrong one prevents harvesters from detecting missing records.
            if (walk.is_complete() && size != total) || size < total {
                let message = format!(
                    "completeListSize is {size}; {verb} has {total}{}",
                    match walk.end {
                        End::Complete => "",
                        End::Sampled | End::Broken(_) => " or more",
                    }
                );
                // Half or double may be an estimate; a size that differs more is wrong, or most of the list is missing.
                let is_estimate = size <= total.saturating_mul(2) && total <= size.saturating_mul(2);
                match walk.is_complete() && !is_estimate {
                    true => verdict.fail_at(page, message, "<resumptionToken"),
                    false => verdict.warn_at(page, message, "<resumptionToken"),
                }
                break;
            }
        }
    }
    if any { Ok(()) } else { not_judged("no token has a completeListSize") }
}

fn expiration(case: &Case, verdict: &mut Verdict) -> Judged {
    let mut any = false;
    each_token(case, |_, page, token, _, _| {
        let Some(date) = token.expiration.as_deref() else { return };
        any = true;
        let now = page.answer().and_then(|answer| Datestamp::parse(answer.response_date.trim()));
        match (Datestamp::parse(date.trim()), now) {
            (None, _) => verdict.fail_at(page, format!("expirationDate is '{date}'"), "<resumptionToken"),
            (Some(expires), Some(now)) if expires <= now => {
                verdict.fail_at(page, format!("the token expired at {date}, before it was issued"), "<resumptionToken");
            }
            (Some(expires), Some(now)) if expires.unix() - now.unix() < 60 => {
                verdict.warn_at(
                    page,
                    format!("the token expires at {date}, in less than a minute"),
                    "<resumptionToken",
                );
            }
            _ => {}
        }
    })?;
    if any { Ok(()) } else { not_judged("no token has an expirationDate") }
}

/// Returns the first token found, and its verb.
fn some_token(case: &Case) -> Result<(&'static str, String), Stop> {
    for (verb, walk) in case.lists()? {
        let token = walk.first().answer().and_then(|answer| answer.token.as_ref());
        if let Some(token) = token.filter(|token| !token.value.is_empty()) {
            return Ok((verb, token.value.clone()));
        }
    }
    not_judged("no list has more than one page")
}

fn reusable(case: &Case, verdict: &mut Verdict) -> Judged {
    let (verb, token) = some_token(case)?;
    let question = Question::of(&[("verb", verb), ("resumptionToken", &token)]);
    let (_, one) = case.read(question.clone())?;
    let again = case.ask(question.again().again())?;
    let Some(two) = again.answer() else {
        verdict.fail(again, format!("the response to a repeated token cannot be read: {}", again.trouble()));
        return Ok(());
    };
    let names = |answer: &Answer| {
        let entries = answer.entries.iter().map(|entry| entry.identifier.clone());
        entries.chain(answer.sets.iter().map(|set| set.spec.clone())).collect::<Vec<_>>()
    };
    if !two.errors.is_empty() && one.errors.is_empty() {
        verdict.fail_at(again, format!("a repeated token is refused: {}", two.codes().join(", ")), "<error");
    } else if names(one) != names(two) {
        verdict.fail(again, format!("the repeated token '{}' returns another page", shortened(&token, MAX_QUOTED)));
    }
    Ok(())
}

fn garbage(case: &Case, verdict: &mut Verdict) -> Judged {
    let junk = ("resumptionToken", "junk");
    let lists = ["ListIdentifiers", "ListRecords"].map(|verb| Question::of(&[("verb", verb), junk]));
    refused(case, verdict, &lists, &["badResumptionToken"], &[])?;
    let sets = [Question::of(&[("verb", "ListSets"), junk])];
    // A repository without sets, or without pages of sets, may not recognise any token.
    refused(case, verdict, &sets, &["badResumptionToken", "noSetHierarchy"], &["badArgument"])
}

fn damaged(case: &Case, verdict: &mut Verdict) -> Judged {
    let (verb, token) = some_token(case)?;
    let question = Question::of(&[("verb", verb), ("resumptionToken", &format!("{token}~junk"))]);
    let exchange = case.ask(question.clone())?;
    if exchange.answer().is_some_and(|answer| answer.errors.is_empty()) {
        verdict.warn(exchange, "a modified token is accepted");
        return Ok(());
    }
    refused(case, verdict, &[question], &["badResumptionToken"], &[])
}

fn another_verb(case: &Case, verdict: &mut Verdict) -> Judged {
    let walk = case.headers()?;
    let token = walk.first().answer().and_then(|answer| answer.token.as_ref());
    let Some(token) = token.filter(|token| !token.value.is_empty()) else {
        return not_judged("ListIdentifiers has a single page");
    };
    let question = Question::of(&[("verb", "ListRecords"), ("resumptionToken", &token.value)]);
    // If ListRecords has issued the same token, the token is valid there.
    let records = case.records()?;
    let is_own = |answer: &Answer| answer.token.as_ref().is_some_and(|other| other.value == token.value);
    if records.pages.iter().filter_map(|page| page.answer()).any(is_own) {
        return not_judged("both lists issue the same tokens");
    }
    let exchange = case.ask(question.clone())?;
    if exchange.answer().is_some_and(|answer| answer.errors.is_empty()) {
        verdict.warn(exchange, "the token of another verb is accepted");
        return Ok(());
    }
    refused(case, verdict, &[question], &["badResumptionToken"], &["badArgument"])
}

fn exclusive(case: &Case, verdict: &mut Verdict) -> Judged {
    let prefix = case.prefix()?;
    // A list of sets has no further argument in any case. An invented token would be refused as invalid, and would
    // prove nothing.
    let (verb, token) = match some_token(case)? {
        ("ListSets", _) => return not_judged("no list of records has more than one page"),
        found => found,
    };
    let asked = [("verb", verb), ("resumptionToken", token.as_str())];
    let questions = [("metadataPrefix", prefix.as_str()), ("until", "2000-02-05")]
        .map(|company| Question::of(&[asked[0], asked[1], company]));
    refused(case, verdict, &questions, &["badArgument", "badResumptionToken"], &[])
}
