//! Admission with accounts, leases and processes.

use std::io::{BufRead as _, BufReader};
use std::net::IpAddr;
use std::process::{Command, Stdio};

use modoai_protocol::query;
use modoai_settings::load;

use super::*;
use crate::settings::FLOW_SETTINGS;

const LIST: &str = "verb=ListRecords&metadataPrefix=oai_dc";

/// Flow control with a clock that moves only when a test moves it.
struct Bench {
    flow: Arc<Flow>,
    clock: Arc<AtomicU64>,
}

impl Bench {
    fn new(settings: &str, file: Option<&Path>) -> Self {
        let clock = Arc::new(AtomicU64::new(1_000 * SECOND));
        let time = clock.clone();
        let now = Box::new(move || time.load(Ordering::Relaxed));
        let flow = Flow::new(parsed(settings), file, None, 8, Arc::new(Processors::new()), now);
        Self { flow, clock }
    }

    fn wait(&self, seconds: u64) {
        self.clock.fetch_add(seconds * SECOND, Ordering::Relaxed);
    }

    fn admit(&self, address: &str, query: &str) -> Result<Permit, Refusal> {
        requesting(address, query, |client, class| self.flow.admit(client, class))
    }

    /// One page, or Retry-After.
    fn harvest(&self, address: &str, query: &str, records: u64) -> Result<(), u64> {
        let mut permit = self.admit(address, query).map_err(|refusal| refusal.seconds)?;
        permit.settle(records, records * 1_000);
        Ok(())
    }
}

fn parsed(settings: &str) -> FlowSettings {
    let mut parsed = FlowSettings::default();
    load(settings, std::path::Path::new(""), &mut (FLOW_SETTINGS, &mut parsed)).expect("settings");
    parsed
}

fn requesting<R>(address: &str, query: &str, admit: impl FnOnce(&Client<'_>, RequestClass) -> R) -> R {
    let address: IpAddr = address.parse().expect("an address");
    let client = Client { user: None, address, agent: "test/1", from: "" };
    let request = Request::parse(&query::parse(query.as_bytes()).expect("arguments")).ok();
    admit(&client, RequestClass::of(request.as_ref(), false))
}

#[test]
fn identify_and_formats_are_always_answered() {
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
fn client_that_follows_tokens_in_pages_for_people_is_a_harvester() {
    let class = |query: &str| {
        let request = Request::parse(&query::parse(query.as_bytes()).expect("arguments")).ok();
        RequestClass::of(request.as_ref(), true)
    };
    for (query, expected) in [
        ("verb=Identify", RequestClass::Free),
        ("verb=ListMetadataFormats", RequestClass::Free),
        ("verb=GetRecord&identifier=x&metadataPrefix=oai_dc", RequestClass::Record),
        (LIST, RequestClass::ListForPeople),
        ("verb=ListSets", RequestClass::ListForPeople),
        ("verb=ListRecords&resumptionToken=x", RequestClass::List),
        ("verb=ListIdentifiers&resumptionToken=x", RequestClass::List),
        ("verb=ListSets&resumptionToken=x", RequestClass::List),
    ] {
        assert_eq!(class(query), expected, "{query}");
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
    let seconds = one.harvest("192.0.2.1", LIST, 60).expect_err("used up");
    assert_eq!(seconds, 21 * 36);
    drop((one, two));
    let again = Bench::new(settings, Some(&file));
    again.wait(seconds - 1);
    assert!(again.harvest("192.0.2.2", LIST, 60).is_err(), "another client of the account");
    again.wait(1);
    assert_eq!(again.harvest("192.0.2.1", LIST, 60), Ok(()), "as told by a process that has ended");
}

/// The kernel's clock cannot be set, but a machine that is restored from a snapshot shows an earlier time.
#[test]
fn after_a_clock_that_goes_back_a_told_time_is_true() {
    let bench = Bench::new("list_delay = '3s'\nrecords_per_hour = 100", None);
    assert_eq!(bench.harvest("192.0.2.1", LIST, 100), Ok(()));
    bench.clock.fetch_sub(900 * SECOND, Ordering::Relaxed);
    assert!(bench.admit("192.0.3.1", LIST).is_ok(), "other accounts are not affected");
    let seconds = bench.harvest("192.0.2.1", LIST, 1).expect_err("used up");
    assert!((900..=940).contains(&seconds), "{seconds}");
    bench.wait(seconds);
    assert_eq!(bench.harvest("192.0.2.1", LIST, 1), Ok(()));
}

#[test]
fn lists_in_progress_are_bounded_for_one_harvester_and_for_all() {
    let bench = Bench::new("lists_at_once = 4", None);
    let mut held: Vec<_> = (0..9).map(|_| bench.admit("192.0.2.1", LIST)).collect();
    assert_eq!(held.iter().filter(|permit| permit.is_ok()).count(), 3, "three quarters");
    assert!(held.iter().flat_map(|permit| permit.as_ref().err()).all(|refusal| refusal.is_own));
    held.push(bench.admit("192.0.3.1", LIST));
    let waiting = |address: &str| requesting(address, LIST, |client, class| bench.flow.admit_or_wait(client, class));
    assert!(matches!(waiting("192.0.5.1"), Err(None)), "it can wait for room");
    let refusal = bench.admit("192.0.4.1", LIST).expect_err("no room");
    assert!(!refusal.is_own && !refusal.is_early);
    for number in 6..12 {
        let refused = waiting(&format!("192.0.{number}.1"));
        assert!(matches!(refused, Err(Some(Refusal { is_early: false, .. }))), "others wait already");
    }
    assert!(matches!(waiting("192.0.11.1"), Err(Some(Refusal { is_early: true, .. }))), "it was told to wait");
    bench.wait(refusal.seconds);
    assert!(matches!(waiting("192.0.4.1"), Err(None)), "its time has come");
    drop(held);
    assert!(bench.admit("192.0.4.1", LIST).is_ok());
}

#[test]
fn killed_process_leaves_no_list_in_progress() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("flow");
    let mut child = Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", "flow::tests::holds_three_lists", "--nocapture", "--include-ignored"])
        .env("MODOAI_FLOW_FILE", &file)
        .stdout(Stdio::piped())
        .spawn()
        .expect("a process");
    let lines = BufReader::new(child.stdout.take().expect("requested")).lines();
    let is_held = lines.map_while(Result::ok).any(|line| line.contains("all lists are held"));
    let settings = parsed("lists_per_harvester = 2\nlists_at_once = 3");
    let flow = Flow::new(settings, Some(&file), None, 8, Arc::new(Processors::new()), since_boot());
    let admit = |address: &str| requesting(address, LIST, |client, class| flow.admit_or_wait(client, class));
    let (before, elsewhere) = (admit("192.0.2.1"), admit("192.0.3.1"));
    child.kill().expect("our own child");
    child.wait().expect("our own child");
    assert!(is_held);
    assert!(matches!(before, Err(Some(Refusal { is_own: true, .. }))), "{before:?}");
    assert!(matches!(elsewhere, Err(None)), "{elsewhere:?}");
    let (after, own) = (admit("192.0.3.1"), admit("192.0.2.1"));
    assert!(after.is_ok() && own.is_ok(), "{after:?} {own:?}");
}

/// The other process of the previous test.
#[test]
#[ignore = "started by another test"]
fn holds_three_lists() {
    let Some(file) = std::env::var_os("MODOAI_FLOW_FILE") else { return };
    let settings = parsed("lists_per_harvester = 2\nlists_at_once = 3");
    let flow = Flow::new(settings, Some(Path::new(&file)), None, 8, Arc::new(Processors::new()), since_boot());
    let addresses = ["192.0.2.1", "192.0.2.1", "192.0.4.1"];
    let held = addresses.map(|address| requesting(address, LIST, |client, class| flow.admit(client, class)));
    assert!(held.iter().all(Result::is_ok));
    println!("all lists are held");
    std::thread::sleep(Duration::from_secs(600));
}
