//! Windows that cannot be delivered, empty lists, and date arguments: which remedy is tried.

use super::ends::told;
use super::*;
use crate::habits::DateStyle;
use crate::plan::decision::Decision;
use crate::plan::health::Health;
use crate::plan::window::Failure;
use crate::quirks;

const NEVER: &str = "probe identifiers until 1970-01-01T23:59:59Z";
const NEVER_RECORDS: &str = "probe records until 1970-01-01T23:59:59Z";
const LATELY: &str = "probe records from 2020-06-30T00:00:00Z";
const EVERYTHING: &str = "probe identifiers everything";
const ALL: &str = "count everything";

fn answered(answers: &Answers, name: &str, need: &Need) -> Report {
    let known = answers.iter().find(|(known, _)| *known == name);
    known.map_or_else(|| stored(need), |(_, report)| report.clone())
}

#[test]
fn health_is_what_can_be_listed_at_all() {
    let fails = || failure(500);
    let rows: [(Answers, &[&str], Health); 4] = [
        (vec![(NEVER_RECORDS, records(&[]))], &[NEVER_RECORDS], Health::Works),
        (vec![(NEVER_RECORDS, fails()), (LATELY, records(&[]))], &[NEVER_RECORDS, LATELY], Health::Works),
        (
            vec![(NEVER_RECORDS, fails()), (LATELY, fails()), (EVERYTHING, records(&[NOW]))],
            &[NEVER_RECORDS, LATELY, EVERYTHING],
            Health::NoRecords,
        ),
        (
            vec![(NEVER_RECORDS, fails()), (LATELY, fails()), (EVERYTHING, fails())],
            &[NEVER_RECORDS, LATELY, EVERYTHING],
            Health::Down,
        ),
    ];
    for (answers, expected, health) in rows {
        let mut facts = facts();
        let (lacked, found) = decide(&mut facts, |facts| facts.health(""), |name, need| answered(&answers, name, need));
        assert_eq!((lacked.as_slice(), found.expect("an answer")), (expected.map_to_owned().as_slice(), health));
        facts.answers.clear();
        let (lacked, again) = decide(&mut facts, |facts| facts.health(""), |_, _| failure(500));
        assert_eq!((lacked.len(), again.expect("an answer")), (0, Health::Works), "requested once after every page");
    }
}

/// Owned copies, to compare with.
trait MapToOwned {
    fn map_to_owned(&self) -> Vec<String>;
}

impl MapToOwned for [&str] {
    fn map_to_owned(&self) -> Vec<String> {
        self.iter().map(|text| (*text).to_owned()).collect()
    }
}

/// A window that failed: its dates, what the server can list, whether dividing was in vain, answers; then what was lacking, and
/// the decision.
type Row = (Window, Health, bool, Answers, &'static [&'static str], &'static str);

#[test]
fn cheapest_remedy_is_tried_first() {
    let sets = |names: &[&str]| Report::Names(names.map_to_owned());
    let day = Window { from: Some(date("2020-03-01")), until: Some(date("2020-03-01T23:59:59Z")) };
    let second = Window { from: Some(date("2020-03-01")), until: Some(date("2020-03-01")) };
    let heeded = || (NEVER, records(&[]));
    const DAY: &str = "count 2020-03-01T00:00:00Z to 2020-03-01T23:59:59Z";
    const SECOND: &str = "count 2020-03-01T00:00:00Z to 2020-03-01T00:00:00Z";
    const SECOND_RECORDS: &str = "count records 2020-03-01T00:00:00Z to 2020-03-01T00:00:00Z";
    let whole = |how| counted(3, 3, how);
    let rows: [Row; 8] = [
        (Window::ALL, Health::Works, false, vec![heeded()], &[NEVER], "7 parts, unstable"),
        (day, Health::Works, false, vec![heeded(), (DAY, Report::Count(None))], &[NEVER, DAY], "24 parts, unstable"),
        (
            day,
            Health::Works,
            false,
            vec![heeded(), (DAY, whole(How::EmptyToken))],
            &[NEVER, DAY, "MissingCount", "fetch missing"],
            "complete, unstable, bad-record",
        ),
        (
            Window::ALL,
            Health::Works,
            true,
            vec![(ALL, whole(How::EmptyToken))],
            &[ALL, "fetch missing"],
            "complete, bad-record",
        ),
        (
            Window::ALL,
            Health::NoRecords,
            false,
            vec![(ALL, whole(How::EmptyToken))],
            &[ALL, "fetch missing"],
            "complete, no-records",
        ),
        (Window::ALL, Health::NoRecords, false, vec![(ALL, Report::Count(None))], &[ALL], "gap"),
        (
            second,
            Health::Works,
            false,
            vec![
                heeded(),
                (SECOND, Report::Count(None)),
                (SECOND_RECORDS, Report::Count(None)),
                ("sets", sets(&["a", "b"])),
            ],
            &[NEVER, SECOND, "sets"],
            "gap and 2 parts, unstable",
        ),
        (
            second,
            Health::Works,
            false,
            vec![heeded(), (SECOND, Report::Count(None)), ("sets", sets(&[]))],
            &[NEVER, SECOND, "sets"],
            "gap, bad-record",
        ),
    ];
    let failed = Failure { quirk: quirks::UNSTABLE, why: "HTTP 500".to_owned() };
    for (window, health, in_vain, answers, expected, decision) in rows {
        let (mut facts, open) = (facts(), OpenWindow::new(1, window, ""));
        facts.learnt.identifiers_listed = Some(true);
        let divide = |facts: &mut Facts| facts.divide(&list(), &open, &failed, health, in_vain);
        let (lacked, found) = decide(&mut facts, divide, |name, need| answered(&answers, name, need));
        let told = told(&found.expect("a decision"));
        assert_eq!((lacked.as_slice(), told.as_str()), (expected.map_to_owned().as_slice(), decision), "{window}");
    }
}

#[test]
fn records_of_sets_replace_a_window_only_if_every_record_is_in_a_set() {
    let (mut facts, open) = (facts(), OpenWindow::new(1, Window::ALL, ""));
    facts.learnt.in_sets = (5, 0);
    facts.learnt.dates_heeded = Some(false);
    let failed = Failure { quirk: quirks::UNSTABLE, why: "HTTP 500".to_owned() };
    let divide = |facts: &mut Facts| facts.divide(&list(), &open, &failed, Health::Works, false);
    let (_, found) = decide(&mut facts, divide, |name, _| match name {
        "sets" => Report::Names(vec!["a".to_owned()]),
        NEVER => records(&[]),
        _ => Report::Count(None),
    });
    assert_eq!(told(&found.expect("a decision")), "1 parts, unstable");
}

/// An empty list: whether it is the first harvest, whether dates were sent, whether records are stored; what the list of its
/// identifiers, a list with all dates and one without find; then the decision, and how dates are written from then on.
type Empty = (bool, bool, i64, Vec<Report>, Option<&'static str>, DateStyle);

#[test]
fn empty_list_is_trusted_only_where_nothing_is_stored() {
    let nothing = || protocol_error("noRecordsMatch");
    let unknown = || protocol_error("idDoesNotExist");
    let rows: [Empty; 9] = [
        (true, false, 0, vec![nothing()], Some("complete"), DateStyle::AsPromised),
        (true, false, 0, vec![records(&[NOW])], None, DateStyle::Always),
        (false, true, 9, vec![nothing(), records(&[NOW])], Some("complete"), DateStyle::AsPromised),
        (false, true, 9, vec![records(&[NOW])], None, DateStyle::AsPromised),
        (false, true, 99, vec![nothing(), nothing(), nothing()], Some("gap"), DateStyle::AsPromised),
        (false, true, 1, vec![nothing(), nothing(), nothing(), records(&[NOW])], Some("gap"), DateStyle::AsPromised),
        (false, true, 1, vec![nothing(), nothing(), nothing(), unknown()], Some("complete"), DateStyle::AsPromised),
        (false, true, 9, vec![nothing(), nothing(), records(&[NOW])], None, DateStyle::Never),
        (false, true, 9, vec![nothing(), failure(500)], Some("complete"), DateStyle::AsPromised),
    ];
    for (number, (is_first, is_dated, items, found, expected, style)) in rows.into_iter().enumerate() {
        let mut facts = facts();
        facts.is_first = is_first;
        let from = is_dated.then(|| date("2020-06-01"));
        let open = OpenWindow::new(1, Window { from, until: None }, "");
        let found = std::cell::RefCell::new(found.into_iter());
        let (_, decision) = decide(
            &mut facts,
            |facts| facts.empty_list(&open),
            |name, _| match name {
                "ItemCount" => Report::Number(items),
                "Unlisted" => Report::Names((0..items).map(|number| format!("oai:x:{number}")).collect()),
                _ => found.borrow_mut().next().expect("no more is lacking"),
            },
        );
        let decision: Option<Decision> = decision.expect("a decision");
        assert_eq!(decision.as_ref().map(told).as_deref(), expected, "row {number}");
        assert_eq!(facts.habits.dates, style, "row {number}");
    }
}

#[test]
fn other_ways_to_write_dates_are_tried_once_per_run() {
    let mut facts = facts();
    let part = OpenWindow::new(1, Window { from: Some(date("2020-06-01")), until: None }, "");
    let tried: Vec<_> = (0..3).map(|_| (facts.try_other_dates(&part), facts.habits.dates)).collect();
    let expected = [(true, DateStyle::Always), (true, DateStyle::Never), (false, DateStyle::AsPromised)];
    assert_eq!(tried, expected);
    assert!(!facts.try_other_dates(&part), "nothing helped");
    let refused: Vec<_> = (0..3).map(|_| (facts.use_other_dates(&part), facts.habits.dates)).collect();
    let expected = [(true, DateStyle::Days), (true, DateStyle::Never), (false, DateStyle::Never)];
    assert_eq!(refused, expected);
}
