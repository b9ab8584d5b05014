//! Ends of lists: when is a window complete, what is looked at before, and what follows from it.

use super::*;
use crate::plan::decision::Decision;
use crate::plan::recount::{RecountTask, Round};

/// A decision in a few words.
pub(super) fn told(decision: &Decision) -> String {
    let result = match (&decision.gap, decision.parts.len()) {
        (None, 0) => "complete".to_owned(),
        (None, parts) => format!("{parts} parts"),
        (Some(_), 0) if decision.is_down => "down".to_owned(),
        (Some(_), 0) => "gap".to_owned(),
        (Some(_), parts) => format!("gap and {parts} parts"),
    };
    decision.notes.iter().fold(result, |told, (quirk, _)| format!("{told}, {}", quirk.name))
}

/// A list that ended in some way, what was answered to what was lacking, and the decision.
struct Row {
    name: &'static str,
    open: OpenWindow,
    how: How,
    is_first: bool,
    change: fn(&mut Facts),
    answers: Answers,
    /// What was lacking, besides numbers for listings.
    lacked: &'static [&'static str],
    decision: &'static str,
}

impl Row {
    fn of(name: &'static str, open: OpenWindow, how: How) -> Self {
        Self {
            name,
            open,
            how,
            is_first: false,
            change: |_| {},
            answers: Vec::new(),
            lacked: &[],
            decision: "complete",
        }
    }

    fn first(mut self) -> Self {
        self.is_first = true;
        self
    }

    fn with(mut self, change: fn(&mut Facts)) -> Self {
        self.change = change;
        self
    }

    fn answering(mut self, answers: impl IntoIterator<Item = (&'static str, Report)>) -> Self {
        self.answers.extend(answers);
        self
    }

    fn lacking(mut self, lacked: &'static [&'static str], decision: &'static str) -> Self {
        (self.lacked, self.decision) = (lacked, decision);
        self
    }

    fn check(&self) {
        let mut facts = facts();
        facts.is_first = self.is_first;
        (self.change)(&mut facts);
        let settle = |facts: &mut Facts| facts.settle(&list(), &self.open, self.how);
        let (lacked, decision) = decide(&mut facts, settle, |name, need| {
            let known = self.answers.iter().find(|(known, _)| *known == name);
            known.map_or_else(|| stored(need), |(_, report)| report.clone())
        });
        let lacked: Vec<_> = lacked.iter().map(String::as_str).filter(|name| *name != "NewNumber").collect();
        let told = told(&decision.expect("a decision"));
        assert_eq!((lacked.as_slice(), told.as_str()), (self.lacked, self.decision), "{}", self.name);
    }
}

const ALL: &str = "count everything";
const BELOW: &str = "count until 2020-04-01T12:00:00Z";
const ABOVE: &str = "count from 2020-04-01T12:00:01Z";
const OLDEST: &str = "page until 2020-02-01T00:00:00Z";
const NEWEST: &str = "page from 2020-06-01T00:00:00Z";
const MIDDLE: &str = "page from 2020-04-01T12:00:00Z";
const NEVER: &str = "probe identifiers until 1970-01-01T23:59:59Z";

const EVERYTHING: &str = "probe identifiers everything";

/// A page of identifiers whose token announces a size.
fn sized(size: &str) -> Report {
    let token = modoai_protocol::xml::document::Token { size: Some(size.to_owned()), ..Default::default() };
    document(Response { token: Some(token), ..Response::default() })
}

/// A page of identifiers, so many of which are not stored.
fn spot(unknown: u64) -> Report {
    let found = Differences { unknown, ..Differences::default() };
    let page = crate::page::PageReport { found, ..crate::page::PageReport::default() };
    Report::Page(Arc::new(Ok(page)))
}

/// The same, with a record that is newer than the first page.
fn added(open: OpenWindow) -> OpenWindow {
    OpenWindow { progress: Progress { began: Some(date("2020-06-01").unix()), ..open.progress.clone() }, ..open }
}

/// The same, with sizes that differ from page to page.
fn varying(open: OpenWindow) -> OpenWindow {
    OpenWindow { progress: Progress { size_varies: true, ..open.progress.clone() }, ..open }
}

fn persistent(facts: &mut Facts) {
    facts.identity.deleted_record = "persistent".to_owned();
}

fn prompt(facts: &mut Facts) {
    facts.identity.prompt = true;
}

#[test]
fn announced_size_on_several_pages_proves_a_list() {
    let rows = [
        Row::of("the size came, and items are never removed", listed(9, 3, Some(9)), How::EmptyToken).with(persistent),
        Row::of("without a token", listed(9, 3, Some(9)), How::NoToken).with(persistent),
        Row::of("a prompt server", listed(9, 3, None), How::EmptyToken).with(prompt).first(),
        Row::of("a prompt server, and records change during the list", listed(8, 3, Some(9)), How::EmptyToken)
            .with(prompt),
        Row::of("a first harvest, and no more turns up", listed(9, 3, Some(9)), How::EmptyToken)
            .with(persistent)
            .first()
            .answering([(NEWEST, spot(0)), (OLDEST, spot(0)), (MIDDLE, spot(0))])
            .lacking(&[NEWEST, OLDEST, MIDDLE], "complete"),
        Row::of("a first harvest, and more turns up", listed(9, 3, Some(9)), How::EmptyToken)
            .with(persistent)
            .first()
            .answering([(NEWEST, spot(0)), (OLDEST, spot(2)), (NEVER, records(&[]))])
            .lacking(&[NEWEST, OLDEST, NEVER], "7 parts, deep-paging"),
        Row::of("more turns up where dates are ignored", listed(9, 3, Some(9)), How::EmptyToken)
            .with(persistent)
            .first()
            .answering([(NEWEST, spot(1)), (NEVER, records(&["2020-03-01T00:00:00Z"]))])
            .lacking(&[NEWEST, NEVER], "complete"),
        Row::of("in a circle", listed(9, 3, Some(9)), How::Cycle)
            .with(persistent)
            .lacking(&[], "complete, token-cycle"),
        Row::of("on empty pages", listed(9, 3, Some(9)), How::Empty)
            .with(persistent)
            .lacking(&[], "complete, token-to-empty-page"),
    ];
    rows.iter().for_each(Row::check);
}

#[test]
fn list_that_may_have_shifted_is_compared_with_a_second_one() {
    let rows = [
        Row::of("no size, and the second list agrees", listed(9, 3, None), How::EmptyToken)
            .answering([("recount", Report::Proven(true))])
            .lacking(&["recount"], "complete"),
        Row::of("no size, and the second list fails", listed(9, 3, None), How::EmptyToken)
            .answering([("recount", Report::Proven(false))])
            .lacking(&["recount"], "gap"),
        Row::of("items were removed", varying(listed(9, 3, Some(9))), How::EmptyToken)
            .answering([("recount", Report::Proven(true))])
            .lacking(&["recount"], "complete"),
        Row::of("as many as announced, and one was added", added(listed(9, 3, Some(9))), How::EmptyToken)
            .with(persistent)
            .answering([("recount", Report::Proven(true))])
            .lacking(&["recount"], "complete"),
        Row::of("one page is of one moment", listed(8, 1, Some(8)), How::NoToken),
    ];
    rows.iter().for_each(Row::check);
}

#[test]
fn doubtful_end_is_compared_with_identifiers() {
    let rows = [
        Row::of("only page of a first harvest, and no more", listed(8, 1, None), How::NoToken)
            .first()
            .answering([(ALL, counted(8, 0, How::NoToken))])
            .answering([(BELOW, counted(4, 0, How::NoToken)), (ABOVE, counted(4, 0, How::NoToken))])
            .lacking(&[ALL, BELOW, ABOVE], "complete"),
        Row::of("only page of a first harvest, and more", listed(8, 1, None), How::NoToken)
            .first()
            .answering([(ALL, counted(9, 1, How::NoToken))])
            .lacking(&[ALL], "complete, token-missing"),
        Row::of("short, and as many identifiers as announced", listed(7, 3, Some(9)), How::NoToken)
            .answering([(ALL, counted(9, 2, How::EmptyToken))])
            .lacking(&[ALL], "complete, token-missing"),
        Row::of("short, and the halves hold no more", listed(7, 3, Some(9)), How::EmptyToken)
            .answering([(ALL, counted(7, 0, How::EmptyToken))])
            .answering([(BELOW, counted(4, 0, How::EmptyToken)), (ABOVE, counted(3, 0, How::EmptyToken))])
            .answering([(EVERYTHING, sized("9"))])
            .lacking(&[ALL, BELOW, ABOVE, EVERYTHING], "complete, size-wrong"),
        Row::of("short, and the size is outdated", listed(7, 3, Some(9)), How::EmptyToken)
            .answering([(ALL, counted(7, 0, How::EmptyToken))])
            .answering([(BELOW, counted(4, 0, How::EmptyToken)), (ABOVE, counted(3, 0, How::EmptyToken))])
            .answering([(EVERYTHING, sized("7"))])
            .lacking(&[ALL, BELOW, ABOVE, EVERYTHING], "complete"),
        Row::of("short, and a half holds more", listed(7, 3, Some(9)), How::EmptyToken)
            .answering([(ALL, counted(7, 0, How::EmptyToken)), (BELOW, counted(5, 1, How::EmptyToken))])
            .answering([(NEVER, records(&[]))])
            .lacking(&[ALL, BELOW, NEVER], "7 parts, token-missing"),
        Row::of("short, and identifiers fail", listed(7, 3, Some(9)), How::EmptyToken)
            .answering([
                (ALL, Report::Count(None)),
                (NEVER, failure(500)),
                ("count records everything", Report::Count(None)),
            ])
            .lacking(&[ALL, NEVER, "count records everything"], "7 parts, token-missing"),
        Row::of("both lists are endless", listed(7, 3, Some(9)), How::Idle)
            .answering([(ALL, counted(7, 0, How::Idle)), (NEVER, records(&[]))])
            .lacking(&[ALL, NEVER], "gap"),
        Row::of("short, and dates are ignored", listed(7, 3, Some(9)), How::Cycle)
            .answering([(ALL, counted(7, 0, How::Cycle)), (NEVER, records(&["2020-03-01"]))])
            .lacking(&[ALL, NEVER], "gap"),
    ];
    rows.iter().for_each(Row::check);
}

/// A size is that of the whole repository, whatever the set.
#[test]
fn size_of_the_whole_repository_is_recognised() {
    let of_set = OpenWindow { set: "a".to_owned(), ..listed(7, 3, Some(9)) };
    Row::of("of a set", of_set, How::EmptyToken)
        .answering([(ALL, counted(7, 0, How::EmptyToken)), (EVERYTHING, sized("9"))])
        .lacking(&[ALL, EVERYTHING], "complete, size-of-store")
        .check();
}

/// The rounds of a comparison with a second list: what they lack, and what follows.
#[test]
fn second_list_proves_the_first_if_nothing_was_lost() {
    let lost = |lost| {
        let progress = Progress { pages: 1, fresh: 9, delivered: 9, ..Progress::default() };
        let found = Differences { lost, ..Differences::default() };
        Report::Count(Some(Count { how: How::EmptyToken, progress, found, number: 7 }))
    };
    let unlisted = Report::Names(vec!["oai:x:1".to_owned()]);
    let rows: [(Answers, &[&str], Round); 5] = [
        (vec![(ALL, lost(0))], &[ALL], Round::Agrees),
        (vec![(ALL, lost(2))], &[ALL, "fetch missing"], Round::Lost(2)),
        (vec![(ALL, Report::Count(None))], &[ALL], Round::Fails),
        (
            vec![(ALL, counted(5, 0, How::EmptyToken)), ("LastSeen", unlisted.clone()), ("GetRecord", records(&[NOW]))],
            &[ALL, "LastSeen", "GetRecord"],
            Round::Fails,
        ),
        (
            vec![
                (ALL, counted(5, 0, How::EmptyToken)),
                ("LastSeen", unlisted),
                ("GetRecord", protocol_error("idDoesNotExist")),
            ],
            &[ALL, "LastSeen", "GetRecord", "fetch missing"],
            Round::Moved,
        ),
    ];
    for (answers, expected, round) in rows {
        let task = RecountTask::new(&list(), &listed(9, 3, None));
        let (lacked, found) = decide(
            &mut facts(),
            |facts| facts.round(&task),
            |name, need| {
                let known = answers.iter().find(|(known, _)| *known == name);
                known.map_or_else(|| stored(need), |(_, report)| report.clone())
            },
        );
        assert_eq!(lacked, expected);
        assert_eq!(found.expect("a round").0, round);
    }
}
