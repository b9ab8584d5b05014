//! Who is told what, when, and in which words.

use std::collections::HashSet;

use modoai_spider::mail::route::Dry;
use modoai_spider::mail::{Ledger, LedgerError, SqliteLedger, deliver};
use modoai_spider::results::State;
use modoai_spider::task::Tell;
use modoai_spider::verdict::Verdict;
use rusqlite::Connection;

use super::fixture::{Kept, Made, broken, document, earlier, finding, moment, now, referenced};

fn table() -> Connection {
    Connection::open_in_memory().expect("a database")
}

/// Delivers into a new box.
fn delivered(made: &Made, table: &Connection) -> Kept {
    let mut kept = Kept::default();
    made.deliver(&mut kept, table);
    kept
}

#[test]
fn a_message_says_page_link_reason_and_new_address() {
    let made = Made::new(&[("ics", &["ann@example.org"], Tell { broken: true, redirected: true, ..Tell::default() })])
        .with("ics", "a.html", "https://example.org/gone", Verdict::Broken)
        .with("ics", "a.html", "https://example.org/b.html#part", Verdict::Fragment)
        .with("ics", "b.html", "http://old.example/", Verdict::Moved);
    let kept = delivered(&made, &table());
    let (to, subject, parts) = kept.only();
    assert_eq!(to, ["ann@example.org"]);
    assert_eq!(subject, "1 new broken target, 1 missing fragment and 1 moved target in 'All of ICS'");
    assert_eq!(parts.header("Subject"), subject);
    assert_eq!(parts.header("To"), "ann@example.org");
    assert_eq!(parts.header("Auto-Submitted"), "auto-generated");
    assert_eq!(parts.header("Date"), "Mon, 16 Nov 2026 06:00:00 +0000");
    assert_eq!(parts.header("MIME-Version"), "1.0");
    let guide = include_str!("../../../../docs/guide/spider-mail.md");
    // A release does not make the guide wrong.
    let text = parts.text.replace(env!("CARGO_PKG_VERSION"), "0.1.0");
    assert!(guide.contains(&text), "the guide shows another message than this one:\n{text}");
    let html = parts.html.replace("&#x2f;", "/");
    for piece in [
        r#"<a href="https://example.org/gone" style="word-break:break-all">https://example.org/gone</a>"#,
        "404 not found, since 12 November 2026 (new)",
        "New URL: <a href=\"https://new.example/\"",
        "Full index: <a href=\"https://example.org/index/ics.html\"",
    ] {
        assert!(html.contains(piece), "{piece} is not in {html}");
    }
}

#[test]
fn each_owner_gets_one_message_for_all_tasks() {
    let made = Made::new(&[
        ("one", &["ann@example.org", "bob@example.org"], broken()),
        ("two", &["Ann <ann@EXAMPLE.org>", "bob@example.org"], broken()),
        ("three", &["bob@example.org"], broken()),
        ("four", &["cyd@example.org"], broken()),
    ])
    .with("one", "a", "https://x.example/1", Verdict::Broken)
    .with("two", "b", "https://x.example/2", Verdict::Broken)
    .with("four", "c", "https://x.example/3", Verdict::Broken);
    let kept = delivered(&made, &table());
    let all: Vec<_> = kept.letters.iter().map(|(to, subject, _)| (to.join(" "), &subject[..])).collect();
    assert_eq!(
        all,
        [
            ("ann@example.org bob@example.org".to_owned(), "2 new broken targets in 'All of ONE' and 'All of TWO'"),
            ("cyd@example.org".to_owned(), "1 new broken target in 'All of FOUR'"),
        ]
    );
    // Once bob has something of his own, it is a message of his own.
    let made = made.with("three", "d", "https://x.example/4", Verdict::Broken);
    let kept = delivered(&made, &table());
    assert_eq!(kept.letters.len(), 3);
    assert_eq!(kept.letters[1].1, "3 new broken targets in 'All of ONE' and 2 others");
}

#[test]
fn a_finding_of_two_webs_is_told_once() {
    let mut made = Made::new(&[("one", &["ann@example.org"], broken()), ("two", &["ann@example.org"], broken())])
        .with("one", "a", "https://x.example/1", Verdict::Broken)
        // The same link twice on the page.
        .with("one", "a", "https://x.example/1", Verdict::Broken);
    made.findings[0].tasks.push("two".to_owned());
    let kept = delivered(&made, &table());
    assert_eq!(kept.only().1, "1 new broken target in 'All of ONE'");
}

#[test]
fn only_news_is_told() {
    let table = table();
    let made = Made::new(&[("ics", &["ann@example.org"], broken())]);
    let mut kept = Kept::default();
    let delivery = made.deliver(&mut kept, &table);
    assert!(delivery.written.is_empty() && delivery.quiet[0].why == "no findings", "{delivery:?}");

    let made = made.with("ics", "a", "https://x.example/1", Verdict::Broken);
    assert_eq!(delivered(&made, &table).letters.len(), 1);
    let delivery = made.deliver(&mut kept, &table);
    assert!(delivery.written.is_empty() && kept.letters.is_empty());
    assert_eq!(delivery.quiet[0].why, "nothing new (1 finding was reported before)");

    let made = made.with("ics", "b", "https://x.example/2", Verdict::Broken);
    let kept = delivered(&made, &table);
    let (_, subject, parts) = kept.only();
    assert_eq!(subject, "1 new broken target in 'All of ICS'");
    assert!(!parts.text.contains("x.example/1") && parts.text.contains("x.example/2"), "{}", parts.text);
    assert!(parts.text.contains("Reported before and not fixed: 1 broken target."), "{}", parts.text);
}

#[test]
fn whoever_wants_everything_gets_everything() {
    let table = table();
    let tell = Tell { always: true, ..broken() };
    let made =
        Made::new(&[("ics", &["ann@example.org"], tell)]).with("ics", "a", "https://x.example/1", Verdict::Broken);
    assert_eq!(delivered(&made, &table).only().1, "1 new broken target in 'All of ICS'");
    let kept = delivered(&made, &table);
    let (_, subject, parts) = kept.only();
    assert_eq!(subject, "1 broken target in 'All of ICS', none of them new");
    assert!(parts.text.contains("404 not found, since 12 November 2026 (reported before)"), "{}", parts.text);
}

#[test]
fn what_was_fixed_is_news_when_it_breaks_again() {
    let table = table();
    let empty = Made::new(&[("ics", &["ann@example.org"], broken())]);
    let made = empty.clone().with("ics", "a", "https://x.example/1#x", Verdict::Broken);
    assert_eq!(delivered(&made, &table).letters.len(), 1);
    // It could not be tested: neither fixed nor news.
    let unsure = empty.clone().with("ics", "a", "https://x.example/1#x", Verdict::NotTested);
    assert_eq!(delivered(&unsure, &table).letters.len(), 0);
    assert_eq!(delivered(&made, &table).letters.len(), 0);
    // A run that was cut short does not know.
    let mut cut = empty.clone();
    cut.run.cut_short = Some("interrupted".to_owned());
    assert_eq!(delivered(&cut, &table).letters.len(), 0);
    assert_eq!(delivered(&made, &table).letters.len(), 0);
    // Fixed, and broken again.
    assert_eq!(delivered(&empty, &table).letters.len(), 0);
    assert_eq!(delivered(&made, &table).letters.len(), 1);
}

#[test]
fn a_cut_short_run_says_so() {
    let mut made =
        Made::new(&[("ics", &["ann@example.org"], broken())]).with("ics", "a", "https://x.example/1", Verdict::Broken);
    made.run.cut_short = Some("the limit of pages was reached".to_owned());
    let kept = delivered(&made, &table());
    let (_, _, parts) = kept.only();
    assert!(
        parts.text.contains("Incomplete: the run stopped early: the limit of pages was reached."),
        "{}",
        parts.text
    );
    assert!(parts.html.contains("may lack links on other pages"), "{}", parts.html);
    assert!(!parts.text.contains("Fixed"), "{}", parts.text);
}

#[test]
fn a_message_that_was_refused_is_sent_by_the_next_run() {
    let table = table();
    let made = Made::new(&[
        ("one", &["ann@example.org", "bob@example.org"], broken()),
        ("two", &["cyd@example.org", "not an address"], broken()),
    ])
    .with("one", "a", "https://x.example/1", Verdict::Broken)
    .with("two", "b", "https://x.example/2", Verdict::Broken);
    let mut kept = Kept::default();
    kept.refuses.insert("ann@example.org".to_owned());
    let delivery = made.deliver(&mut kept, &table);
    assert_eq!(delivery.written.len(), 2);
    assert_eq!(delivery.written[0].addresses, ["bob@example.org"]);
    let failed: Vec<_> = delivery.failed.iter().map(|one| (&one.address[..], &one.route[..])).collect();
    assert_eq!(failed, [("not an address", ""), ("ann@example.org", "a box")]);

    let mut kept = Kept::default();
    let delivery = made.deliver(&mut kept, &table);
    assert_eq!(kept.only().0, ["ann@example.org"]);
    assert_eq!(delivery.quiet.len(), 2);
}

#[test]
fn tasks_are_told_what_they_ask_for() {
    let all = |tell| {
        Made::new(&[("ics", &["ann@example.org"], tell)])
            .with("ics", "a", "https://x.example/1", Verdict::Broken)
            .with("ics", "a", "https://x.example/2#x", Verdict::Fragment)
            .with("ics", "a", "https://x.example/3", Verdict::Moved)
            .with("ics", "a", "https://x.example/4", Verdict::NotTested)
    };
    let kept = delivered(&all(Tell { redirected: true, ..Tell::default() }), &table());
    assert_eq!(kept.only().1, "1 new moved target in 'All of ICS'");
    let kept = delivered(&all(broken()), &table());
    assert_eq!(kept.only().1, "1 new broken target and 1 missing fragment in 'All of ICS'");
    let mut kept = Kept::default();
    let delivery = all(Tell::default()).deliver(&mut kept, &table());
    assert!(kept.letters.is_empty());
    let [quiet] = &delivery.quiet[..] else { panic!("{delivery:?}") };
    assert_eq!(quiet.why, "the task ics requests no mail");
}

#[test]
fn changes_and_expiries_are_told_by_days() {
    let table = table();
    let tell = Tell { changed: Some(7), expired: Some(14), ..Tell::default() };
    let mut made = Made::new(&[("ics", &["ann@example.org"], tell)]);
    let mut add = |name: &str, modified: &str, changed: Option<&str>, expires: &str| {
        let mut one = document(&format!("https://example.org/{name}"));
        one.last_modified = Some(moment(modified));
        one.changed = changed.map(moment);
        one.expires = Some(moment(expires));
        made.documents.push((0, one, Vec::new()));
    };
    let (long_ago, far_away) = ("2020-01-01T00:00:00Z", "2030-01-01T00:00:00Z");
    add("old", long_ago, None, far_away);
    add("fresh", "2026-11-10T00:00:00Z", None, far_away);
    // Its server says that it is always new; its content has not changed.
    add("boaster", "2026-11-16T00:00:00Z", Some(long_ago), far_away);
    add("soon", long_ago, None, "2026-11-29T00:00:00Z");
    add("gone", long_ago, None, "2026-11-01T00:00:00Z");
    add("later", long_ago, None, "2026-12-01T00:00:00Z");
    let mut elsewhere = referenced("https://other.example/");
    elsewhere.last_modified = Some(moment("2026-11-15T00:00:00Z"));
    made.documents[0].2 = vec![elsewhere.clone()];
    made.documents[1].2 = vec![elsewhere];

    let kept = delivered(&made, &table);
    let (_, subject, parts) = kept.only();
    assert_eq!(subject, "2 new changed documents and targets and 2 expired or expiring documents in 'All of ICS'");
    for (page, line) in [
        ("https://example.org/fresh\n", "* Changed: https://example.org/fresh\n  on 10 November 2026 (new)"),
        ("https://example.org/soon\n", "* Expires: https://example.org/soon\n  on 29 November 2026 (new)"),
        ("https://example.org/gone\n", "on 1 November 2026 (new)"),
        ("https://example.org/old\n", "* Changed: https://other.example/"),
    ] {
        assert!(parts.text.contains(page) && parts.text.contains(line), "{page} {}", parts.text);
    }
    assert!(!parts.text.contains("boaster") && !parts.text.contains("later"), "{}", parts.text);

    // Another change of the same document is news; the same one is not.
    assert_eq!(delivered(&made, &table).letters.len(), 0);
    made.documents[1].1.changed = Some(moment("2026-11-16T05:00:00Z"));
    let kept = delivered(&made, &table);
    assert_eq!(kept.only().1, "1 new changed document or target in 'All of ICS'");
}

#[test]
fn owners_of_pages_are_told_of_their_pages() {
    let mut made =
        Made::new(&[("ics", &["ann@example.org"], Tell::default()), ("two", &["bob@example.org"], broken())])
            .with("ics", "a", "https://x.example/1", Verdict::Broken)
            .with("ics", "b", "https://x.example/2", Verdict::Moved)
            .with("ics", "c", "https://x.example/3", Verdict::Broken)
            .with("two", "d", "https://x.example/4", Verdict::Broken)
            .with("two", "d", "https://x.example/5", Verdict::Moved)
            .person("physics", &["phys@example.org", "bob@example.org"])
            .person("nobody", &["nobody@example.org"]);
    for (place, owner) in [(0, "physics"), (1, " Physics "), (3, "physics"), (4, "physics")] {
        made.findings[place].owner = Some(owner.to_owned());
    }
    // A page names owners, not addresses.
    made.findings[2].owner = Some("victim@example.net".to_owned());
    let mut kept = Kept::default();
    let delivery = made.deliver(&mut kept, &table());
    let all: Vec<_> = kept.letters.iter().map(|(to, subject, _)| (&to[0][..], &subject[..])).collect();
    assert_eq!(
        all,
        [
            ("phys@example.org", "2 new broken targets and 1 moved target in 'All of ICS' and 'All of TWO'"),
            ("bob@example.org", "2 new broken targets and 1 moved target in 'All of ICS' and 'All of TWO'"),
        ]
    );
    let text = |place: usize| super::received::Parts::read(&kept.letters[place].2).text;
    assert!(text(0).contains("Pages of physics in All of ICS\n"), "{}", text(0));
    assert!(text(0).contains("pages name \u{201c}physics\u{201d} as their"), "{}", text(0));
    // Bob has the second web whole, because its task names him.
    assert!(text(1).contains("Pages of physics in All of ICS\n") && text(1).contains("\nAll of TWO\n"), "{}", text(1));
    assert!(delivery.quiet.iter().any(|one| one.address == "nobody@example.org"), "{delivery:?}");
}

#[test]
fn long_lists_are_cut_and_counted() {
    let large =
        |index: bool| {
            let mut made =
                Made::new(&[("large", &["ann@example.org"], broken()), ("small", &["ann@example.org"], broken())])
                    .with("small", "z", "https://x.example/small", Verdict::Broken);
            made.findings.extend(
                (0..200).map(|n| finding("large", "a", &format!("https://x.example/gone/{n}"), Verdict::Broken)),
            );
            if !index {
                made.webs[0].task.index_url = None;
            }
            made
        };
    let with_index = table();
    let kept = delivered(&large(true), &with_index);
    let (_, subject, parts) = kept.only();
    assert_eq!(subject, "201 new broken targets in 'All of LARGE' and 'All of SMALL'");
    assert_eq!(parts.text.matches("* Broken: ").count(), 50);
    assert!(parts.text.contains("https://x.example/small"), "the small one was crowded out");
    assert!(parts.text.contains("151 more targets do not fit into this message: see the index."), "{}", parts.text);
    assert_eq!(delivered(&large(true), &with_index).letters.len(), 0);

    // Nowhere to look it up: the next messages go on.
    let without = table();
    let mut listed = 0;
    for _ in 0..6 {
        let kept = delivered(&large(false), &without);
        let Some((_, _, bytes)) = kept.letters.first() else { break };
        listed += super::received::Parts::read(bytes).text.matches("* Broken: ").count();
    }
    assert_eq!(listed, 201);
}

#[test]
fn a_dead_link_in_the_template_is_listed_once() {
    let tell = Tell { always: true, ..broken() };
    let mut made = Made::new(&[("ics", &["ann@example.org"], tell)]);
    let page = |n: u32| finding("ics", &format!("{n:04}"), "https://x.example/imprint", Verdict::Broken);
    made.findings.extend((0..300).map(page));
    let table = table();
    let kept = delivered(&made, &table);
    let (_, subject, parts) = kept.only();
    assert_eq!(subject, "1 new broken target in 'All of ICS'");
    assert_eq!(parts.text.matches("https://x.example/imprint").count(), 1, "{}", parts.text);
    assert!(parts.text.contains("  On 300 of 312 pages: in the site's template; the first:\n"), "{}", parts.text);
    assert_eq!(parts.text.matches("https://example.org/0").count(), 3, "{}", parts.text);
    assert!(parts.text.lines().count() < 40, "{}", parts.text);
    // Every link counts as told, and one on another page is news.
    made.findings.push(page(300));
    let kept = delivered(&made, &table);
    let (_, _, parts) = kept.only();
    assert!(parts.text.contains("(new on 1 page)"), "{}", parts.text);
}

#[test]
fn findings_on_pages_that_were_not_read_stay_told() {
    let table = table();
    let empty = Made::new(&[("ics", &["ann@example.org"], broken())]);
    let made = empty.clone().with("ics", "a", "https://x.example/1", Verdict::Broken);
    assert_eq!(delivered(&made, &table).letters.len(), 1);
    let mut unread = empty.clone();
    unread.earlier = made.findings.iter().map(|finding| earlier(finding, State::Unchecked)).collect();
    assert_eq!(delivered(&unread, &table).letters.len(), 0);
    assert_eq!(delivered(&made, &table).letters.len(), 0, "it was told before");
}

#[test]
fn messages_of_one_web_make_a_thread() {
    let table = table();
    let made = Made::new(&[("ics", &["ann@example.org"], broken()), ("two", &["ann@example.org"], broken())]).with(
        "ics",
        "a",
        "https://x.example/1",
        Verdict::Broken,
    );
    let first = delivered(&made, &table);
    let again = delivered(&made, &self::table());
    let mut made = made.with("ics", "a", "https://x.example/2", Verdict::Broken).with(
        "two",
        "b",
        "https://x.example/3",
        Verdict::Broken,
    );
    made.run.number += 1;
    let second = delivered(&made, &table);
    let (first, again, second) = (first.only().2, again.only().2, second.only().2);
    assert_eq!(first.header("Message-ID"), again.header("Message-ID"), "the same message is the same message");
    assert_ne!(first.header("Message-ID"), second.header("Message-ID"));
    assert_eq!(first.header("In-Reply-To"), second.header("In-Reply-To"));
    assert!(second.header("References").starts_with(first.header("References")));
    assert_eq!(second.header("References").split(' ').count(), 2);
    assert!(first.header("References").ends_with("@example.org>"));
}

/// A ledger on a full disk.
struct Full<'l>(SqliteLedger<'l>);

impl Ledger for Full<'_> {
    fn was_reported(&self, address: &str, key: u64) -> Result<bool, LedgerError> {
        self.0.was_reported(address, key)
    }

    fn record(&mut self, _: &str, _: &[u64]) -> Result<(), LedgerError> {
        Err(LedgerError("the disk is full".into()))
    }

    fn keep_only(&mut self, _: &str, _: &HashSet<u64>) -> Result<(), LedgerError> {
        Ok(())
    }
}

#[test]
fn a_message_that_cannot_be_remembered_goes_out_twice_rather_than_never() {
    let table = table();
    let made =
        Made::new(&[("ics", &["ann@example.org"], broken())]).with("ics", "a", "https://x.example/1", Verdict::Broken);
    let mut kept = Kept::default();
    let mut full = Full(SqliteLedger::open(&table).expect("a ledger"));
    let delivery = deliver(&made, &[], &mut kept, &mut full, now()).expect("readable results");
    assert_eq!((delivery.written.len(), delivery.failed.len()), (1, 1));
    assert!(delivery.failed[0].what.contains("sent again") && delivery.failed[0].what.contains("the disk is full"));
    let again = delivered(&made, &table);
    assert_eq!(again.only().2.header("Message-ID"), kept.only().2.header("Message-ID"));
}

#[test]
fn a_rehearsal_writes_files_and_tells_nobody() {
    let table = table();
    let folder = tempfile::tempdir().expect("a folder");
    let made =
        Made::new(&[("ics", &["ann@example.org"], broken())]).with("ics", "a", "https://x.example/1", Verdict::Broken);
    let mut dry = Dry::new(&folder.path().join("out"), "spider@example.org".parse().expect("an address"));
    assert_eq!(made.deliver_at(&mut dry, &table, now()).written.len(), 1);
    let bytes = std::fs::read(folder.path().join("out/0001-ann@example.org.eml")).expect("a file");
    assert_eq!(super::received::Parts::read(&bytes).header("Subject"), "1 new broken target in 'All of ICS'");
    assert_eq!(delivered(&made, &table).letters.len(), 1, "nobody had been told");
}
