use std::io::{BufRead as _, BufReader};
use std::net::IpAddr;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicU64;

use modoai_protocol::query;
use modoai_repository::settings::load;

use super::*;
use crate::settings::FLOW_SETTINGS;

const LIST: &str = "verb=ListRecords&metadataPrefix=oai_dc";

/// Flow control with a clock that stands still until it is told to go on.
struct Bench {
    flow: Arc<Flow>,
    clock: Arc<AtomicU64>,
}

impl Bench {
    fn new(settings: &str, file: Option<&Path>) -> Self {
        let clock = Arc::new(AtomicU64::new(1_000 * SECOND));
        let ticks = clock.clone();
        let flow = Flow::new(parsed(settings), file, None, 8, Box::new(move || ticks.load(Ordering::Relaxed)));
        Self { flow, clock }
    }

    fn pass(&self, seconds: u64) {
        self.clock.fetch_add(seconds * SECOND, Ordering::Relaxed);
    }

    fn ask(&self, address: &str, query: &str) -> Result<Pass, Refusal> {
        asking(address, query, |asker, errand| self.flow.ask(asker, errand))
    }

    /// The page, or how long to wait.
    fn harvest(&self, address: &str, query: &str, records: u64) -> Result<(), u64> {
        let mut pass = self.ask(address, query).map_err(|refusal| refusal.seconds)?;
        pass.settle(records, records * 1_000);
        Ok(())
    }
}

fn parsed(settings: &str) -> FlowSettings {
    let mut parsed = FlowSettings::default();
    load(settings, &mut (FLOW_SETTINGS, &mut parsed)).expect("settings");
    parsed
}

/// Asks as somebody at this address, for this.
fn asking<R>(address: &str, query: &str, ask: impl FnOnce(&Asker<'_>, Errand) -> R) -> R {
    let address: IpAddr = address.parse().expect("an address");
    let asker = Asker { user: None, address, agent: "test/1", from: "" };
    let request = Request::parse(&query::parse(query.as_bytes()).expect("arguments")).ok();
    ask(&asker, Errand::of(request.as_ref(), false))
}

/// Asks as somebody who can wait for a moment.
fn ask_patiently(flow: &Arc<Flow>, address: &str, query: &str) -> Result<Pass, NotNow> {
    asking(address, query, |asker, errand| flow.ask_patiently(asker, errand))
}

#[test]
fn what_every_harvester_needs_first_is_always_answered() {
    let bench = Bench::new("list_delay = '1h'\nrecords_per_hour = 1\nbytes_per_hour = 1", None);
    assert_eq!(bench.harvest("192.0.2.1", LIST, 100), Ok(()));
    for query in ["verb=Identify", "verb=ListMetadataFormats", "verb=Nonsense"] {
        assert_eq!(bench.harvest("192.0.2.1", query, 1), Ok(()), "{query}");
    }
    for query in [LIST, "verb=ListSets", "verb=GetRecord&identifier=x&metadataPrefix=oai_dc"] {
        assert!(bench.harvest("192.0.2.1", query, 1).is_err(), "{query}");
    }
    // Another block is another account.
    assert_eq!(bench.harvest("192.0.3.1", LIST, 1), Ok(()));
}

#[test]
fn whoever_goes_through_pages_for_people_is_a_harvester() {
    let kind = |query: &str| {
        let request = Request::parse(&query::parse(query.as_bytes()).expect("arguments")).ok();
        Errand::of(request.as_ref(), true).kind
    };
    for (query, expected) in [
        ("verb=Identify", Kind::Free),
        ("verb=ListMetadataFormats", Kind::Free),
        ("verb=GetRecord&identifier=x&metadataPrefix=oai_dc", Kind::Record),
        (LIST, Kind::Record),
        ("verb=ListSets", Kind::Record),
        ("verb=ListRecords&resumptionToken=x", Kind::List),
        ("verb=ListIdentifiers&resumptionToken=x", Kind::List),
        ("verb=ListSets&resumptionToken=x", Kind::List),
    ] {
        assert_eq!(kind(query), expected, "{query}");
    }
}

#[test]
fn budgets_hold_across_processes_and_restarts() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("flow");
    let settings = "records_per_hour = 100";
    let (one, two) = (Bench::new(settings, Some(&file)), Bench::new(settings, Some(&file)));
    assert_eq!(one.harvest("192.0.2.1", LIST, 60), Ok(()));
    assert_eq!(two.harvest("192.0.2.1", LIST, 60), Ok(()));
    let told = one.harvest("192.0.2.1", LIST, 60).expect_err("used up");
    assert_eq!(told, 21 * 36);
    drop((one, two));
    let again = Bench::new(settings, Some(&file));
    again.pass(told - 1);
    assert!(again.harvest("192.0.2.2", LIST, 60).is_err(), "somebody else of the account");
    again.pass(1);
    assert_eq!(again.harvest("192.0.2.1", LIST, 60), Ok(()), "as it was told, by a process that is no more");
}

#[test]
fn a_thousand_behind_one_address_who_all_ask_for_the_same_are_all_let_in_as_told() {
    for settings in ["list_delay = 1", "lists_per_harvester = 2", "lists_at_once = 2", "records_per_hour = 100000"] {
        let bench = Bench::new(settings, None);
        // When each comes back; all of them at first.
        let mut waiting: Vec<(u64, bool)> = vec![(0, false); 1_000];
        let mut passes: Vec<Pass> = Vec::new();
        let mut answered = 0;
        for second in 0..2_000_u64 {
            for (at, was_told) in waiting.iter_mut().filter(|(at, _)| *at == second) {
                match bench.ask("192.0.2.1", LIST) {
                    Ok(pass) => {
                        passes.push(pass);
                        *at = u64::MAX;
                        answered += 1;
                    }
                    Err(refusal) => {
                        assert!(!*was_told, "{settings}: told to come at {second}, turned away for {refusal:?}");
                        (*at, *was_told) = (second + refusal.seconds, true);
                    }
                }
            }
            bench.pass(1);
            for mut pass in passes.drain(..) {
                pass.settle(500, 500_000);
            }
        }
        assert_eq!(answered, 1_000, "{settings}");
    }
}

#[test]
fn those_who_do_not_wait_cost_less_and_less_and_wait_longer() {
    let bench = Bench::new("list_delay = 10", None);
    assert_eq!(bench.harvest("192.0.2.1", LIST, 1), Ok(()));
    let patient = bench.harvest("192.0.2.2", LIST, 1).expect_err("too early");
    let mut longest = 0;
    for _ in 0..5_000 {
        longest = longest.max(bench.harvest("192.0.2.1", LIST, 1).expect_err("too early"));
    }
    assert!((600..=5_000).contains(&longest), "{longest}");
    // Somebody new is told when it is their turn, and not after all of those.
    assert!(bench.harvest("192.0.2.3", LIST, 1).expect_err("too early") <= 40);
    bench.pass(patient);
    assert_eq!(bench.harvest("192.0.2.2", LIST, 1), Ok(()));
}

#[test]
fn a_crowd_is_told_to_come_back_one_after_the_other() {
    let bench = Bench::new("lists_at_once = 2\nlists_per_harvester = 0", None);
    let held: Vec<_> = (1..=2).map(|number| bench.ask(&format!("192.0.{number}.1"), LIST)).collect();
    assert!(matches!(ask_patiently(&bench.flow, "192.0.9.1", LIST), Err(NotNow::Crowded)));
    let told: Vec<u64> =
        (10..60).map(|number| bench.harvest(&format!("192.0.{number}.1"), LIST, 1).expect_err("full")).collect();
    drop(held);
    // Nobody is there, and nobody is expected at once: whoever comes by chance is let in.
    assert_eq!(bench.harvest("192.0.200.1", LIST, 1), Ok(()));
    for (number, told) in (10..60).zip(told) {
        bench.clock.store((1_000 + told) * SECOND, Ordering::Relaxed);
        assert_eq!(bench.harvest(&format!("192.0.{number}.1"), LIST, 1), Ok(()), "{number} after {told}");
    }
    bench.pass(60);
    assert_eq!(bench.harvest("192.0.200.1", LIST, 1), Ok(()));
}

#[test]
fn room_is_kept_for_those_who_are_expected_soon() {
    let bench = Bench::new("lists_at_once = 8\nlists_per_harvester = 0", None);
    bench.flow.ledger.visit(None, |_, site, _| site.time = 4 * SECOND);
    let mut held: Vec<_> = (1..=8).map(|number| bench.ask(&format!("192.0.{number}.1"), LIST)).collect();
    for number in 10..60 {
        assert!(bench.harvest(&format!("192.0.{number}.1"), LIST, 1).is_err());
    }
    held.pop();
    bench.flow.ledger.visit(None, |_, site, _| site.time = 4 * SECOND);
    // Two each second come back: two of the eight places are for them.
    assert!(bench.harvest("192.0.200.1", LIST, 1).is_err());
    held.truncate(5);
    bench.flow.ledger.visit(None, |_, site, _| site.time = 4 * SECOND);
    assert_eq!(bench.harvest("192.0.201.1", LIST, 1), Ok(()));
}

#[test]
fn those_who_never_come_back_do_not_close_the_door() {
    let bench = Bench::new("lists_at_once = 4\nlists_per_harvester = 0", None);
    let held: Vec<_> = (1..=4).map(|number| bench.ask(&format!("192.0.{number}.1"), LIST)).collect();
    bench.flow.ledger.visit(None, |_, site, _| site.time = 4 * SECOND);
    for _ in 0..5_000 {
        assert!(bench.harvest("192.0.9.1", LIST, 1).is_err());
    }
    // One of many who cannot wait has not used up the time of the others.
    let told = bench.harvest("192.0.10.1", LIST, 1).expect_err("full");
    assert!(told <= MOST_HELD + 2, "{told}");
    // Nor have many of them, once there is room.
    for number in 0..200 {
        for _ in 0..20 {
            assert!(bench.harvest(&format!("198.51.{number}.1"), LIST, 1).is_err());
        }
    }
    drop(held);
    bench.pass(told);
    assert_eq!(bench.harvest("192.0.10.1", LIST, 1), Ok(()));
    assert_eq!(bench.harvest("203.0.113.1", LIST, 1), Ok(()), "nobody else is there");
}

#[test]
fn a_time_is_kept_only_when_it_is_promised_anew() {
    let bench = Bench::new("lists_at_once = 1\nlists_per_harvester = 0", None);
    let _held = bench.ask("192.0.2.1", LIST);
    bench.flow.ledger.visit(None, |_, site, _| site.time = SECOND);
    let ask = |_: u64| bench.harvest("192.0.3.1", LIST, 1).expect_err("full");
    (0..100_000).map(ask).for_each(drop);
    let horizon = bench.flow.ledger.visit(None, |now, site, _| site.horizon - now);
    assert!(horizon <= (MOST_HELD + 1) * SECOND, "{horizon}");
}

#[test]
fn one_harvester_does_not_get_all_the_room() {
    let bench = Bench::new("lists_at_once = 4", None);
    let held: Vec<_> = (0..9).map(|_| bench.ask("192.0.2.1", LIST)).collect();
    assert_eq!(held.iter().filter(|pass| pass.is_ok()).count(), 3);
    assert_eq!(bench.harvest("192.0.3.1", LIST, 1), Ok(()));
}

#[test]
fn a_killed_process_leaves_no_list_under_way() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("flow");
    let settings = "lists_per_harvester = 2\nlists_at_once = 3";
    let mut child = Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", "flow::tests::holds_three_lists", "--nocapture", "--include-ignored"])
        .env("MODOAI_FLOW_FILE", &file)
        .stdout(Stdio::piped())
        .spawn()
        .expect("a process");
    let lines = BufReader::new(child.stdout.take().expect("asked for")).lines();
    let is_held = lines.map_while(Result::ok).any(|line| line.contains("all lists are held"));
    let flow = Flow::new(parsed(settings), Some(&file), None, 8, since_boot());
    let before = ask_patiently(&flow, "192.0.2.1", LIST);
    let elsewhere = ask_patiently(&flow, "192.0.3.1", LIST);
    child.kill().expect("our own child");
    child.wait().expect("our own child");
    assert!(is_held);
    assert!(matches!(before, Err(NotNow::Later(_))), "{before:?}");
    assert!(matches!(elsewhere, Err(NotNow::Crowded)), "{elsewhere:?}");
    let after = ask_patiently(&flow, "192.0.3.1", LIST);
    assert!(after.is_ok(), "{after:?}");
    let own = ask_patiently(&flow, "192.0.2.1", "verb=ListSets");
    assert!(own.is_ok(), "{own:?}");
}

/// The other process of the test before.
#[test]
#[ignore = "it is started by another test"]
fn holds_three_lists() {
    let Some(file) = std::env::var_os("MODOAI_FLOW_FILE") else { return };
    let settings = parsed("lists_per_harvester = 2\nlists_at_once = 3");
    let flow = Flow::new(settings, Some(Path::new(&file)), None, 8, since_boot());
    let addresses = ["192.0.2.1", "192.0.2.1", "192.0.4.1"];
    let held = addresses.map(|address| asking(address, LIST, |asker, errand| flow.ask(asker, errand)));
    assert!(held.iter().all(Result::is_ok));
    println!("all lists are held");
    std::thread::sleep(Duration::from_secs(60));
}

#[test]
fn parts_of_lists_do_not_make_those_who_wait_come_back_sooner() {
    let bench = Bench::new("lists_at_once = 1", None);
    let under_way = bench.ask("192.0.2.1", LIST).expect("room");
    assert!(!under_way.is_squeezed_in());
    let refusal = bench.ask("198.51.100.1", LIST).expect_err("no room");
    bench.pass(refusal.seconds);
    let mut promised = bench.ask("198.51.100.1", LIST).expect("what was promised");
    assert!(promised.is_squeezed_in());
    promised.cut_short();
    promised.settle(10, 10_000);
    // It took next to no time; but whoever comes back next needs room for a whole list.
    let first = bench.ask("203.0.113.1", LIST).expect_err("no room").seconds;
    let second = bench.ask("203.0.114.1", LIST).expect_err("no room").seconds;
    assert!(second >= first + 9, "{first} s, then {second} s");
    drop(under_way);
}
