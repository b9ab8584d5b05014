//! Tokens that lead back, expire, or must be sent in one form only.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::{Defect, row};
use crate::endpoint::page::{Page, Token};
use crate::endpoint::reply::{Delivery, Reply};
use crate::endpoint::script::{Script, Visit};

pub(super) const DEFECTS: &[Defect] = &[
    row("token-self-loop", "on the last page", || leading(|visit| last(visit).then(|| own(visit)))),
    row("token-self-loop", "on the last page, without sizes", || {
        leading(|visit| last(visit).then(|| own(visit))).page(uncount)
    }),
    row("token-self-loop", "on the second page of longer lists", || {
        leading(|visit| (visit.page() == 2 && visit.pages() > 2).then(|| own(visit)))
    })
    .told(),
    row("token-self-loop", "on the second page of longer lists, without sizes", || {
        leading(|visit| (visit.page() == 2 && visit.pages() > 2).then(|| own(visit))).page(uncount)
    })
    .told(),
    row("token-self-loop", "on the first page of longer lists", || {
        leading(|visit| (visit.page() == 1 && visit.pages() > 1).then(|| visit.token(0)))
    })
    .told(),
    row("token-cycle", "of two pages in longer lists", || {
        leading(|visit| (visit.page() == 3 && visit.pages() > 3).then(|| visit.token(visit.page_size)))
    })
    .told(),
    row("token-cycle", "of two pages in longer lists, with new tokens", || {
        leading(|visit| match visit.page() {
            3 if visit.pages() > 3 => Some(visit.fresh_token(visit.page_size)),
            2 if visit.pages() > 3 => Some(visit.fresh_token(2 * visit.page_size)),
            _ => None,
        })
    })
    .told(),
    row("token-cycle", "from the last page to the first", || leading(|visit| last(visit).then(|| visit.token(0)))),
    row("token-cycle", "from the last page to the first, without sizes", || {
        leading(|visit| last(visit).then(|| visit.token(0))).page(uncount)
    }),
    row("token-cycle", "from the last page to the first, with new tokens and without sizes", || {
        let next = |visit: &Visit<'_>| if last(visit) { 0 } else { visit.page() * visit.page_size };
        Script::default().page(uncount).page(move |visit, page| {
            // A token that leads back to the first page begins the list anew.
            set_token(page, |_| (visit.pages() > 1).then(|| visit.fresh_token(next(visit))));
        })
    }),
    row("last-token-twice", "on the last page", || leading(|visit| last(visit).then(|| own(visit)))),
    row("last-token-twice", "and it leads on when it is used again", || {
        Script::default().page(|visit, page| {
            let (Some(place), pages) = (visit.place, visit.pages()) else { return };
            if pages < 3 || visit.page() + 1 != pages {
                return;
            }
            if visit.times % 2 == 0 {
                set_token(page, |_| Some(own(visit)));
            } else if let Some(list) = page.list() {
                list.entries = visit.entries(place.offset + visit.page_size);
                list.token = Some(Token::default());
            }
        })
    }),
    row("token-expired", "once, on the third page", || {
        Script::default().page(|visit, page| {
            if visit.page() == 3 && visit.times == 0 {
                expired(page);
            }
        })
    })
    .told(),
    row("token-expired", "always, from the third page on", || {
        Script::default().page(|visit, page| {
            if visit.page() > 2 {
                expired(page);
            }
        })
    })
    .told(),
    row("token-expired", "with its first use, and an answer is lost", || {
        let lost = AtomicBool::new(false);
        Script::default()
            .page(|visit, page| {
                if visit.times > 0 && visit.request.argument("resumptionToken").is_some() {
                    return expired(page);
                }
                set_token(page, |token| (!token.is_empty()).then(|| visit.fresh_token(visit.page() * visit.page_size)));
            })
            .reply(move |visit, reply| {
                if visit.page() == 3 && !lost.swap(true, Ordering::SeqCst) {
                    reply.delivery = Delivery::CutAt(reply.half());
                }
            })
    })
    .told(),
    row("token-expired", "in less than a second, and pages are slow", || {
        Script::default()
            .page(|visit, page| {
                if visit.page() > 1 && visit.since_first_page() > Duration::from_millis(700) {
                    expired(page);
                }
            })
            .reply(|visit, reply| {
                if visit.is_list() {
                    reply.delay = Duration::from_millis(300);
                }
            })
    })
    .told(),
    row("token-expired", "always, from the third page on, with status 404", || {
        Script::default()
            .page(|visit, page| {
                if visit.page() > 2 {
                    expired(page);
                }
            })
            .reply(|visit, reply| {
                if visit.page() > 2 {
                    reply.status = 404;
                }
            })
    })
    .told(),
    row("token-needs-encoding", "with every character that means something", || {
        Script::default().tokens(|text| format!("{text}+a&b=c%2Fd/e|f g#h?i;j\"k<l>é"))
    }),
    row("token-needs-encoding", "with percent signs that are none", || {
        Script::default().tokens(|text| format!("{text}%zz100%"))
    }),
    row("token-raw", "with colons, slashes and equals signs", || {
        Script::default().tokens(|text| format!("{text}:a/b,c!d=")).understand(|request| {
            if let Some(raw) = request.raw_argument("resumptionToken").map(str::to_owned) {
                request.set_argument("resumptionToken", &raw);
            }
        })
    })
    .told(),
    row("token-encoded-already", "with a slash", || {
        Script::default().tokens(|text| format!("{text}%2Fa%3Db")).understand(|request| {
            if let Some(token) = request.argument("resumptionToken").map(str::to_owned) {
                // What it decodes must be what it meant; a token that still has escapes was encoded twice.
                let meant = token.replace('/', "%2F").replace('=', "%3D");
                request.set_argument("resumptionToken", if token.contains('%') { "unknown" } else { &meant });
            }
        })
    })
    .told(),
    row("token-with-query", "verb and all", || {
        Script::default().tokens(|text| format!("verb=ListRecords&metadataPrefix=oai_dc&resumptionToken={text}"))
    }),
    row("token-with-query", "with what looks like a selection", || {
        Script::default().tokens(|text| format!("metadataPrefix=oai_dc&from=1900-01-01&set=none/{text}"))
    }),
    row("prefix-with-token", "badArgument without", || {
        Script::default()
            .understand(|request| {
                if request.argument("resumptionToken").is_some() {
                    request.remove_argument("metadataPrefix");
                }
            })
            .page(|visit, page| {
                let request = visit.request;
                if request.argument("resumptionToken").is_some() && request.raw_argument("metadataPrefix").is_none() {
                    page.fail("badArgument", "Missing required argument: metadataPrefix");
                }
            })
    })
    .told(),
    row("session-cookie", "holds the tokens", || {
        Script::default()
            .page(|visit, page| {
                let known = visit.request.header("Cookie").is_some_and(|cookie| cookie.contains("session=7"));
                if visit.page() > 1 && !known {
                    expired(page);
                }
            })
            .reply(|_, reply| reply.set_header("Set-Cookie", "session=7; Path=/; HttpOnly"))
    }),
    row("unknown-error", "once, on the third page", || {
        Script::default().page(|visit, page| {
            if visit.page() == 3 && visit.times == 0 {
                page.fail("InternalException", "something broke");
            }
        })
    })
    .told(),
    row("unknown-error", "always, from the third page on", || {
        Script::default().page(|visit, page| {
            if visit.page() > 2 {
                page.fail("unknownError", "All open scroll contexts are in use");
            }
        })
    })
    .told(),
    row("html-with-200", "once, on the third page", || {
        Script::default().instead(|visit| (visit.page() == 3 && visit.times == 0).then(|| Reply::html(200, "Sorry")))
    })
    .told(),
    row("html-with-200", "always, from the third page on", || {
        Script::default().instead(|visit| (visit.page() > 2).then(|| Reply::html(200, "An error has occurred")))
    })
    .told(),
];

/// A script in which tokens lead elsewhere where this says so.
fn leading(elsewhere: fn(&Visit<'_>) -> Option<String>) -> Script {
    Script::default().page(move |visit, page| set_token(page, |_| elsewhere(visit)))
}

/// Gives a page's token another value, if there is one; a page that has no token gets one.
fn set_token(page: &mut Page, value: impl FnOnce(&str) -> Option<String>) {
    let Some(list) = page.list() else { return };
    let old = list.token.clone().unwrap_or_default();
    if let Some(value) = value(&old.value) {
        list.token = Some(Token { value, ..old });
    }
}

fn uncount(_: &Visit<'_>, page: &mut Page) {
    if let Some(token) = page.list().and_then(|list| list.token.as_mut()) {
        (token.cursor, token.size) = (None, None);
    }
}

fn last(visit: &Visit<'_>) -> bool {
    visit.pages() > 1 && visit.page() == visit.pages()
}

/// The token that led here.
fn own(visit: &Visit<'_>) -> String {
    visit.token(visit.place.map_or(0, |place| place.offset))
}

fn expired(page: &mut Page) {
    page.fail("badResumptionToken", "this token has expired");
}
