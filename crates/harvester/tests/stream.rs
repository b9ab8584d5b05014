//! The stream of records: everything once, exactly, whatever becomes of whoever asks for it; and no end that only looks like
//! one.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::path::Path;
use std::time::Duration;

use modoai_fetch::{Client, Manners, Patience, Url};
use modoai_harvester::harvest::{Harvest, HarvestError, Options};
use modoai_harvester::record::Novelty;
use modoai_harvester::sink::Part;
use modoai_harvester::state::StateError;
use modoai_harvester::stream::{Record, Records, StreamError};
use modoai_protocol::MaxDeleted;
use modoai_testkit::endpoint::{Body, Delivery, Endpoint, Holdings, Script, dublin_core};
use modoai_testkit::waiting::PATIENCE;
use tokio::runtime::{Builder, Runtime};

/// What is enough for any record but those that are large on purpose.
const ENOUGH: usize = 1 << 20;

fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime")
}

/// Runs something that must come to its end.
fn run<T>(runtime: &Runtime, work: impl Future<Output = T>) -> T {
    runtime.block_on(async { tokio::time::timeout(PATIENCE, work).await.expect("it ends") })
}

fn options(endpoint: &Endpoint) -> Options {
    let mut options = Options::new(Url::parse(endpoint.url()).expect("a URL"));
    options.patience =
        Patience { first: Duration::from_millis(10), most: Duration::from_millis(50), ..options.patience };
    options
}

fn stream(options: Options, dir: Option<&Path>) -> Records {
    Records::of(Harvest::new(Client::new(Manners::default()).expect("a client"), options), dir, "oai_dc")
}

/// The next record; there is one.
async fn one(records: &mut Records) -> Record {
    records.next().await.expect("there is more").unwrap_or_else(|error| panic!("{error}"))
}

/// All that comes up to the end, and the error it ends with, if it does.
async fn drain(records: &mut Records) -> (Vec<Record>, Option<StreamError>) {
    let mut all = Vec::new();
    while let Some(record) = records.next().await {
        match record {
            Ok(record) => all.push(record),
            Err(error) => return (all, Some(error)),
        }
    }
    (all, None)
}

fn names(records: &[Record]) -> Vec<String> {
    records.iter().map(|record| record.header().identifier.clone()).collect()
}

fn all_names(holdings: &Holdings) -> BTreeSet<String> {
    holdings.records.iter().map(|record| record.identifier.clone()).collect()
}

/// The exact bytes of each about container.
fn abouts(record: &mut Record) -> Vec<Vec<u8>> {
    let parts = record.content.parts().iter().map(|part| part.part).enumerate();
    let places: Vec<usize> = parts.filter(|(_, part)| *part == Part::About).map(|(place, _)| place).collect();
    let read = |place| {
        let mut bytes = Vec::new();
        let read = record.content.read(place, |piece| {
            bytes.extend_from_slice(piece);
            Ok(())
        });
        read.map(|()| bytes).expect("it was received")
    };
    places.into_iter().map(read).collect()
}

/// Everything comes once, as it is; then the stream says that this is all.
fn expect_everything(runtime: &Runtime) {
    let endpoint = Endpoint::start(Script::default());
    let holdings = endpoint.holdings();
    run(runtime, async {
        let mut records = stream(options(&endpoint), None);
        let (mut all, error) = drain(&mut records).await;
        assert!(error.is_none(), "{error:?}");
        let received: BTreeSet<String> = names(&all).into_iter().collect();
        assert_eq!((all.len(), received), (holdings.records.len(), all_names(&holdings)));
        for record in &mut all {
            let held = holdings.records.iter().find(|held| held.identifier == record.header().identifier);
            let held = held.expect("it was just found");
            let (header, kept) = (record.header().clone(), |bytes: &Vec<u8>| (!held.deleted).then(|| bytes.clone()));
            assert_eq!((header.deleted, &header.sets), (held.deleted, &held.sets), "{}", held.identifier);
            assert_eq!(record.novelty, Novelty::New);
            assert_eq!((record.origin.prefix.as_str(), record.origin.base_url.as_str()), ("oai_dc", endpoint.url()));
            assert_eq!(record.metadata(ENOUGH).expect("readable"), kept(&held.metadata), "{}", held.identifier);
            let expected: Vec<Vec<u8>> = held.abouts.iter().filter_map(kept).collect();
            assert_eq!(abouts(record), expected, "{}", held.identifier);
        }
        assert!(records.next().await.is_none(), "an end is an end");
        let summary = records.summary().expect("it ended");
        assert!(summary.complete && summary.missing.is_empty(), "{:?}", summary.missing);
        assert_eq!(summary.records + summary.deleted, holdings.records.len() as u64);
    });
}

#[test]
fn everything_comes_once_and_as_it_is() {
    expect_everything(&runtime());
}

#[test]
fn one_thread_is_enough() {
    expect_everything(&Builder::new_current_thread().enable_all().build().expect("a runtime"));
}

/// Wherever somebody stops asking, the next stream goes on with the page that was not dealt with.
#[test]
fn what_is_dropped_in_mid_page_is_taken_up_again() {
    let endpoint = Endpoint::start(Script::default());
    let (all, page) = (endpoint.holdings().records.len(), 5);
    let runtime = runtime();
    for taken in [0, 1, 4, 5, 6, 12, 20, 22, all] {
        let folder = tempfile::tempdir().expect("a folder");
        run(&runtime, async {
            let mut first = stream(options(&endpoint), Some(folder.path()));
            let mut received = Vec::new();
            for _ in 0..taken {
                received.push(one(&mut first).await);
            }
            first.close().await;
            let received = names(&received);
            // Asking for the next record says that the one before was dealt with, so the last one was not.
            let dealt_with = taken.saturating_sub(1) / page * page;
            let mut second = stream(options(&endpoint), Some(folder.path()));
            let (rest, error) = drain(&mut second).await;
            assert!(error.is_none() && second.summary().is_some_and(|summary| summary.complete), "{error:?}");
            let rest = names(&rest);
            assert_eq!(rest.len(), all - dealt_with, "after {taken}");
            let again: Vec<&String> = received.iter().filter(|name| rest.contains(name)).collect();
            assert_eq!(again, received[dealt_with..].iter().collect::<Vec<_>>(), "after {taken}");
            let together: BTreeSet<String> = received.into_iter().chain(rest).collect();
            assert_eq!(together, all_names(&endpoint.holdings()), "after {taken}");
        });
    }
}

/// A server that falls silent must not keep the folder from whoever comes next.
#[test]
fn a_stream_that_is_dropped_lets_go_of_its_folder() {
    let stall = |script: Script| {
        script.reply(|visit, reply| {
            if visit.verb() == "ListRecords" && visit.page() == 2 {
                reply.delivery = Delivery::StallAt(reply.half());
            }
        })
    };
    let endpoint = Endpoint::start(stall(Script::default()));
    let folder = tempfile::tempdir().expect("a folder");
    run(&runtime(), async {
        let mut records = stream(options(&endpoint), Some(folder.path()));
        for _ in 0..6 {
            one(&mut records).await;
        }
        drop(records);
        loop {
            let mut records = stream(options(&endpoint), Some(folder.path()));
            match records.next().await {
                Some(Err(StreamError::Failed(HarvestError::State(StateError::Busy { .. })))) => {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                Some(Ok(record)) => {
                    let held = endpoint.holdings().records;
                    assert_eq!(record.header().identifier, held[5].identifier, "it goes on with the second page");
                    return records.close().await;
                }
                other => panic!("{:?}", other.map(|item| item.map(|record| record.header().clone()))),
            }
        }
    });
}

#[test]
fn the_next_run_brings_what_changed() {
    let endpoint = Endpoint::start(Script::default());
    let folder = tempfile::tempdir().expect("a folder");
    run(&runtime(), async {
        let (all, error) = drain(&mut stream(options(&endpoint), Some(folder.path()))).await;
        assert!(all.len() == 23 && error.is_none(), "{error:?}");
        endpoint.change(|holdings| {
            holdings.change_first("Something else");
            holdings.add();
        });
        let (news, error) = drain(&mut stream(options(&endpoint), Some(folder.path()))).await;
        assert!(error.is_none(), "{error:?}");
        let novelties: BTreeMap<String, Novelty> =
            news.iter().map(|record| (record.header().identifier.clone(), record.novelty)).collect();
        let expected = [("oai:endpoint.example:0000", Novelty::Changed), ("oai:endpoint.example:0023", Novelty::New)];
        assert_eq!(novelties, expected.map(|(name, novelty)| (name.to_owned(), novelty)).into());
    });
}

/// What is gone without a word is found by comparing identifiers, and is told like everything else.
#[test]
fn what_vanished_is_passed_on_as_deleted() {
    let endpoint = Endpoint::start(Script::default());
    let folder = tempfile::tempdir().expect("a folder");
    run(&runtime(), async {
        let (_, error) = drain(&mut stream(options(&endpoint), Some(folder.path()))).await;
        assert!(error.is_none(), "{error:?}");
        let mut vanished = BTreeSet::new();
        endpoint.change(|holdings| {
            let gone = [holdings.records.remove(9), holdings.records.remove(2)];
            vanished.extend(gone.map(|record| record.identifier));
        });
        let options = Options { verify: true, ..options(&endpoint) };
        let mut records = stream(options, Some(folder.path()));
        let (told, error) = drain(&mut records).await;
        assert!(error.is_none(), "{error:?}");
        assert!(told.iter().all(|record| record.header().deleted && record.content.parts().is_empty()));
        assert_eq!(names(&told).into_iter().collect::<BTreeSet<_>>(), vanished);
        assert!(records.summary().is_some_and(|summary| summary.complete && summary.deleted == 2));
    });
}

#[test]
fn mass_deletion_is_withheld_until_it_is_accepted() {
    let endpoint = Endpoint::start(Script::default());
    let folder = tempfile::tempdir().expect("a folder");
    run(&runtime(), async {
        let (_, error) = drain(&mut stream(options(&endpoint), Some(folder.path()))).await;
        assert!(error.is_none(), "{error:?}");
        let mut gone = 0;
        endpoint.change(|holdings| gone = holdings.records.drain(5..).filter(|record| !record.deleted).count());
        for (max_deleted, deleted) in [(options(&endpoint).max_deleted, 0), (MaxDeleted::ALL, gone)] {
            let options = Options { verify: true, max_deleted, ..options(&endpoint) };
            let mut records = stream(options, Some(folder.path()));
            let (told, _) = drain(&mut records).await;
            assert_eq!(told.len(), deleted);
            assert!(records.summary().is_some_and(|summary| summary.complete == (deleted > 0)));
        }
    });
}

/// A page that breaks off is asked for again. What of it was handed on cannot be taken back, but nothing else comes twice.
#[test]
fn a_page_that_breaks_off_costs_nothing_but_its_own_records_twice() {
    let script = Script::default().reply(|visit, reply| {
        if visit.verb() == "ListRecords" && visit.page() == 3 && visit.times == 0 {
            reply.delivery = Delivery::CutAt(reply.body.len() * 3 / 4);
        }
    });
    let endpoint = Endpoint::start(script);
    run(&runtime(), async {
        let mut records = stream(options(&endpoint), None);
        let (all, error) = drain(&mut records).await;
        assert!(error.is_none(), "{error:?}");
        let mut times: BTreeMap<String, usize> = BTreeMap::new();
        names(&all).into_iter().for_each(|name| *times.entry(name).or_default() += 1);
        assert_eq!(times.keys().cloned().collect::<BTreeSet<_>>(), all_names(&endpoint.holdings()));
        let twice: BTreeSet<_> = times.iter().filter(|(_, times)| **times > 1).map(|(name, _)| name.clone()).collect();
        let page: BTreeSet<_> =
            endpoint.holdings().records[10..15].iter().map(|held| held.identifier.clone()).collect();
        assert!(!twice.is_empty() && twice.is_subset(&page) && times.values().all(|times| *times <= 2), "{times:?}");
        let summary = records.summary().expect("it ended");
        assert_eq!((summary.complete, summary.records + summary.deleted), (true, 23), "each is counted once");
    });
}

#[test]
fn an_incomplete_harvest_does_not_just_end() {
    const VICTIM: &str = "oai:endpoint.example:0007";
    let script = Script::default().page(|_, page| {
        let entries = match &mut page.body {
            Body::List(list) => list.entries.as_mut_slice(),
            Body::Record(entry) => std::slice::from_mut(entry),
            _ => return,
        };
        for entry in entries.iter_mut().filter(|entry| entry.identifier.as_deref() == Some(VICTIM)) {
            entry.metadata = None;
        }
    });
    let endpoint = Endpoint::start(script);
    run(&runtime(), async {
        let mut records = stream(options(&endpoint), None);
        let (all, error) = drain(&mut records).await;
        let mut expected = all_names(&endpoint.holdings());
        expected.remove(VICTIM);
        assert_eq!(names(&all).into_iter().collect::<BTreeSet<_>>(), expected, "all the others are here");
        let Some(StreamError::Incomplete(summary)) = error else { panic!("{error:?}") };
        let missing: Vec<_> =
            summary.missing.iter().map(|gap| (gap.what.as_str(), gap.identifier.as_deref())).collect();
        assert_eq!((summary.complete, &missing[..]), (false, &[("record", Some(VICTIM))][..]));
        assert_eq!(records.summary(), Some(&*summary));
        let told = StreamError::Incomplete(summary).to_string();
        assert!(told.contains(VICTIM), "{told}");
        assert!(records.next().await.is_none(), "nothing follows the error");
    });
}

#[test]
fn a_harvest_that_cannot_begin_is_an_error() {
    let script = Script::default().page(|_, page| page.fail("badVerb", "nothing is understood here"));
    let endpoint = Endpoint::start(script);
    run(&runtime(), async {
        let mut records = stream(options(&endpoint), None);
        let (all, error) = drain(&mut records).await;
        assert!(all.is_empty());
        assert!(matches!(error, Some(StreamError::Failed(HarvestError::Refused { .. }))), "{error:?}");
        assert!(records.next().await.is_none() && records.summary().is_none());
    });
}

#[test]
fn large_records_pass_and_whoever_cannot_hold_them_is_told() {
    let large = dublin_core(&"All of it. ".repeat((5 << 20) / 11));
    let metadata = large.clone();
    let script = Script::of(Holdings::of(3)).holding(move |holdings| holdings.records[1].metadata = metadata);
    let endpoint = Endpoint::start(script);
    let folder = tempfile::tempdir().expect("a folder");
    for dir in [None, Some(folder.path())] {
        run(&runtime(), async {
            let (mut all, error) = drain(&mut stream(options(&endpoint), dir)).await;
            assert!(all.len() == 3 && error.is_none(), "{error:?}");
            let record = &mut all[1];
            let refused = record.metadata(large.len() - 1).expect_err("it is longer");
            assert!(refused.to_string().contains(&(large.len() - 1).to_string()), "{refused}");
            // Refusing does no harm, and neither does asking twice.
            for _ in 0..2 {
                assert!(record.metadata(large.len()).expect("it fits").as_ref() == Some(&large), "every byte of it");
            }
        });
    }
}
