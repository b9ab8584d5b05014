//! Lists that do not say where they end, how long they are, or what is in them.

use super::{Defect, Outcome, everything, of_one_second, row};
use crate::endpoint::calendar::Granularity;
use crate::endpoint::holdings::{Holdings, Record, dublin_core};
use crate::endpoint::page::{Body, Page, Token};
use crate::endpoint::reply::Reply;
use crate::endpoint::script::{Script, Visit};

pub(super) const DEFECTS: &[Defect] = &[
    row("empty-token", "with cursor and size, as it should be", Script::default),
    row("empty-token", "without attributes", || {
        tokens(|_, token| {
            if token.value.is_empty() {
                *token = Token::default();
            }
        })
    }),
    row("empty-token", "of white space", || {
        tokens(|_, token| {
            if token.value.is_empty() {
                token.value = "\n    ".to_owned();
            }
        })
    }),
    row("empty-token", "left out at the end", || {
        Script::default().page(|visit, page| {
            if visit.page() == visit.pages() {
                page.list().into_iter().for_each(|list| list.token = None);
            }
        })
    }),
    row("empty-token", "in a list of one page", || {
        Script::of(Holdings::of(4)).page(|_, page| {
            page.list().into_iter().for_each(|list| list.token = Some(Token::default()));
        })
    }),
    row("empty-token", "without cursors and sizes anywhere", || tokens(uncounted)),
    row("token-to-empty-page", "after a full last page, without a token", || {
        multiple().page(|visit, page| {
            if beyond(visit) {
                page.list().into_iter().for_each(|list| list.token = None);
            }
        })
    }),
    row("token-to-empty-page", "after a full last page, with an empty token", multiple),
    row("token-to-empty-page", "before every page", || {
        tokens(uncounted).page(|visit, page| {
            let (Some(place), Some(list)) = (visit.place, page.list()) else { return };
            // A token that was handed out with a page has two parts, one that was handed out with nothing has three.
            let parts = visit.request.argument("resumptionToken").map_or(3, |token| token.split('.').count());
            if parts == 2 {
                list.entries.clear();
                list.token = Some(Token { value: visit.fresh_token(place.offset), ..Token::default() });
            }
        })
    }),
    row("token-to-empty-page", "for ever, with new tokens", || Script::default().page(endless)),
    row("token-to-empty-page", "for ever, with new tokens and without sizes", || tokens(uncounted).page(endless))
        .outcome(Outcome::Unproven),
    row("token-to-no-records", "after a full last page", || multiple().page(none_match)),
    row("token-to-no-records", "after a full last page, without sizes", || {
        multiple().page(none_match).page(|_, page| each_token(page, |token| token.size = None))
    }),
    row("token-to-no-records", "in the middle, although the size says more", || {
        Script::default().page(|visit, page| {
            if visit.page() == 3 {
                page.fail("noRecordsMatch", "nothing matches");
            }
        })
    }),
    row("cursor-at-size", "on every page", || tokens(|_, token| token.cursor.clone_from(&token.size))),
    row("cursor-counts-pages", "from zero", || {
        tokens(|visit, token| token.cursor = Some((visit.page() - 1).to_string()))
    }),
    row("cursor-counts-pages", "or is always zero", || tokens(|_, token| token.cursor = Some("0".to_owned()))),
    row("cursor-counts-pages", "or is no number", || tokens(|_, token| token.cursor = Some("first".to_owned()))),
    row("cursor-counts-pages", "or is empty", || tokens(|_, token| token.cursor = Some(String::new()))),
    row("size-of-store", "for a set", || tokens(|visit, token| token.size = Some(visit.store.to_string())))
        .asked(&["--set", "a"]),
    row("size-wrong", "too small", || tokens(|_, token| token.size = Some("3".to_owned()))),
    row("size-wrong", "too large", || tokens(|_, token| token.size = Some("1000".to_owned()))).told(),
    row("size-wrong", "too large by one", || {
        tokens(|visit, token| token.size = Some((visit.matching.len() + 1).to_string()))
    })
    .told(),
    row("size-wrong", "zero", || tokens(|_, token| token.size = Some("0".to_owned()))),
    row("size-wrong", "minus one", || tokens(|_, token| token.size = Some("-1".to_owned()))),
    row("size-wrong", "no number", || tokens(|_, token| token.size = Some("many".to_owned()))),
    row("size-wrong", "that of what is left", || {
        tokens(|visit, token| {
            let offset = visit.place.map_or(0, |place| place.offset);
            token.size = Some(visit.matching.len().saturating_sub(offset).to_string());
        })
    }),
    row("token-missing", "on every page, without sizes", || {
        Script::default().page(|_, page| page.list().into_iter().for_each(|list| list.token = None))
    })
    .told(),
    row("token-missing", "after one page of twelve, without a size", || {
        Script::default().pages_of(12).page(|_, page| page.list().into_iter().for_each(|list| list.token = None))
    })
    .told(),
    row("token-missing", "on every page, with the size of the page", || {
        Script::default().page(|_, page| {
            let Some(list) = page.list() else { return };
            let size = Some(list.entries.len().to_string());
            list.token = list.token.take().map(|_| Token { value: String::new(), cursor: None, size });
        })
    })
    .told(),
    row("token-missing", "empty on the first page, with the true size", || tokens(|_, token| token.value.clear()))
        .told(),
    row("token-missing", "empty from the second page on, without sizes", || {
        tokens(|visit, token| {
            uncounted(visit, token);
            if visit.page() == 2 {
                token.value.clear();
            }
        })
    })
    .told(),
    row("token-missing", "with records of one second, but not in lists of identifiers", || {
        Script::default().holding(of_one_second).page(|visit, page| {
            if visit.verb() == "ListRecords" {
                page.list().into_iter().for_each(|list| list.token = None);
            }
        })
    })
    .told(),
    row("deep-paging", "502 after ten records", || too_deep(|| Reply::html(502, "Bad gateway"))).told_as(&["unstable"]),
    row("deep-paging", "504 after ten records", || too_deep(|| Reply::html(504, "Gateway time-out")))
        .told_as(&["unstable"]),
    row("deep-paging", "an empty answer after ten records", || too_deep(|| Reply::xml(Vec::new())))
        .told_as(&["cut-short"]),
    row("deep-paging", "an error of its own after ten records", || {
        Script::default().page(|visit, page| {
            if visit.page() > 2 {
                page.fail("internalError", "Result window is too large");
            }
        })
    })
    .told_as(&["unknown-error"]),
    row("deep-paging", "every list ends after eleven records, whatever its size says", || {
        Script::default().page(|visit, page| {
            let offset = visit.place.map_or(0, |place| place.offset);
            let Some(list) = page.list().filter(|_| offset + visit.page_size > 11) else { return };
            list.entries.truncate(11_usize.saturating_sub(offset));
            let size = Some(visit.matching.len().to_string());
            list.token = Some(Token { value: String::new(), cursor: None, size });
        })
    })
    .told_as(&["token-missing"]),
    row("window-too-large", "413 for more than six records", || too_large().instead(refuse)).told(),
    row("window-too-large", "413 for more than six records, all of one day", || {
        too_large().instead(refuse).holding(|holdings| {
            for (number, record) in holdings.records.iter_mut().enumerate() {
                record.changed = 1_500_000_000 + number as i64 * 61;
            }
        })
    })
    .told(),
    row("window-too-large", "413 for more than six records, all of one second in four sets", || {
        too_large().instead(refuse).holding(of_one_second).holding(|holdings| {
            holdings.sets = ["q0", "q1", "q2", "q3"].map(str::to_owned).into();
            for (number, record) in holdings.records.iter_mut().enumerate() {
                record.sets = vec![format!("q{}", number % 4)];
            }
        })
    })
    .outcome(Outcome::Unproven)
    .told(),
    row("window-too-large", "413 for more than six records of one second, but not for identifiers", || {
        too_large().holding(of_one_second).instead(|visit| refuse(visit).filter(|_| visit.verb() == "ListRecords"))
    })
    .told(),
    row("window-too-large", "413 for more than six records of one second", || {
        too_large().holding(of_one_second).holding(|holdings| holdings.sets.clear()).instead(refuse)
    })
    .outcome(Outcome::WithoutSome(everything)),
    row("window-too-large", "413 by days only", || {
        too_large().instead(refuse).holding(|holdings| holdings.granularity = Granularity::Day)
    })
    .told(),
    row("unordered", "newest first", || Script::default().arrange(|_, records| records.reverse())),
    row("unordered", "in no order", || {
        Script::default()
            .arrange(|_, records| records.sort_by_key(|record| record.changed.wrapping_mul(0x9e37_79b9) & 0xffff))
    }),
    row("duplicates", "every third record twice", || Script::default().arrange(twice)),
    row("duplicates", "every third record twice, which the size does not count", || {
        Script::default().arrange(twice).page(|visit, page| {
            let mut names: Vec<&str> = visit.matching.iter().map(|record| record.identifier.as_str()).collect();
            names.sort_unstable();
            names.dedup();
            each_token(page, |token| token.size = Some(names.len().to_string()));
        })
    }),
    row("duplicates", "every third record twice, with other metadata and the same datestamp", || {
        Script::default().arrange(|_, records| {
            let again: Vec<Record> = records.iter().step_by(3).filter(|record| !record.deleted).cloned().collect();
            let other = |record: Record| Record { metadata: dublin_core("Another version"), ..record };
            records.extend(again.into_iter().map(other));
        })
    })
    .told(),
    row("duplicates", "all deletions on every page", || {
        Script::default().page(|visit, page| {
            let Some(list) = page.list() else { return };
            let gone = visit.matching.iter().filter(|record| record.deleted);
            list.entries.extend(gone.map(|record| crate::endpoint::Entry::of(record, visit.granularity)));
        })
    }),
    row("duplicates", "an older deletion after the record", || {
        Script::default().page(|visit, page| {
            let Some(list) = page.list() else { return };
            let Some(first) = list.entries.iter().find(|entry| !entry.deleted).cloned() else { return };
            let datestamp = Some(visit.granularity.format(1_000_000_000));
            list.entries.push(crate::endpoint::Entry { datestamp, deleted: true, metadata: None, ..first });
        })
    }),
    row("set-forgotten", "from the second page on", || {
        // A record that names no set at all may be in any.
        let named = |holdings: &mut Holdings| {
            let without = holdings.records.iter_mut().filter(|record| record.sets.is_empty());
            without.for_each(|record| record.sets.push("c".to_owned()));
        };
        Script::default().holding(named).page(|visit, page| {
            let Some(place) = visit.place.filter(|place| place.selection.set.is_some()) else { return };
            let mut elsewhere = place.clone();
            elsewhere.selection.set = None;
            elsewhere.offset += visit.page_size;
            each_token(page, |token| {
                if !token.value.is_empty() {
                    token.value = visit.token_to(elsewhere.clone());
                }
            });
        })
    })
    .asked(&["--set", "a"])
    .told(),
    row("verb-changed", "to Identify on the third page, once", || {
        Script::default().page(|visit, page| {
            if visit.page() == 3 && visit.times == 0 {
                page.body =
                    Body::Identify(vec![("repositoryName", "a cache that does not look at queries".to_owned())]);
            }
        })
    }),
    row("verb-changed", "to Identify on the third page of every list, without sizes", || {
        tokens(uncounted).page(|visit, page| {
            if visit.page() == 3 {
                page.body =
                    Body::Identify(vec![("repositoryName", "a cache that does not look at queries".to_owned())]);
            }
        })
    }),
    row("verb-changed", "from the second page on", || {
        Script::default().page(|visit, page| {
            if visit.page() > 1 {
                page.list().into_iter().for_each(|list| list.headers_only = true);
            }
        })
    })
    .told(),
];

/// A script that changes tokens, those of lists of identifiers too.
fn tokens(change: fn(&Visit<'_>, &mut Token)) -> Script {
    Script::default().page(move |visit, page| each_token(page, |token| change(visit, token)))
}

fn each_token(page: &mut Page, change: impl FnMut(&mut Token)) {
    page.list().and_then(|list| list.token.as_mut()).into_iter().for_each(change);
}

fn uncounted(_: &Visit<'_>, token: &mut Token) {
    (token.cursor, token.size) = (None, None);
}

/// Whether a token led beyond the end of the list.
fn beyond(visit: &Visit<'_>) -> bool {
    visit.place.is_some_and(|place| place.offset >= visit.matching.len())
}

/// A list whose last page is full, and hands out a token nevertheless.
fn multiple() -> Script {
    Script::of(Holdings::of(20)).page(|visit, page| {
        if visit.on_page().len() == visit.page_size && visit.page() == visit.pages() {
            let value = visit.token(visit.matching.len());
            let size = Some(visit.matching.len().to_string());
            page.list()
                .into_iter()
                .for_each(|list| list.token = Some(Token { value: value.clone(), cursor: None, size: size.clone() }));
        }
    })
}

fn none_match(visit: &Visit<'_>, page: &mut Page) {
    if beyond(visit) {
        page.fail("noRecordsMatch", "nothing matches");
    }
}

/// After the end come pages without records, each with a token that was never seen.
fn endless(visit: &Visit<'_>, page: &mut Page) {
    let Some(list) = page.list() else { return };
    if visit.page() >= visit.pages() {
        let value = visit.fresh_token(visit.matching.len() + visit.page_size);
        list.token = Some(Token { value, ..list.token.take().unwrap_or_default() });
    }
}

fn too_deep(answer: fn() -> Reply) -> Script {
    Script::default().instead(move |visit| (visit.page() > 2).then(answer))
}

fn too_large() -> Script {
    Script::default().pages_of(6)
}

fn refuse(visit: &Visit<'_>) -> Option<Reply> {
    (visit.matching.len() > 6).then(|| Reply::html(413, "Request entity too large"))
}

/// Every third record comes again at the end.
fn twice(_: &crate::endpoint::Selection, records: &mut Vec<Record>) {
    let again: Vec<Record> = records.iter().step_by(3).cloned().collect();
    records.extend(again);
}
