//! Those who look at the site while very many harvest it.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use modoai_testkit::http::Client;
use modoai_testkit::process::Launch;
use modoai_testkit::site::TestSite;

use super::told;

/// Harvesters at once.
const HARVESTERS: usize = 200;

/// Ends the threads of a test, also when the test fails.
pub(super) struct Stop<'a>(pub(super) &'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn readers_and_harvesters_get_along() {
    let site = TestSite::default();
    for number in 0..300 {
        site.write(format!("{number}.html"), format!("<title>{number}</title>").repeat(20));
    }
    let server = Launch::of(site.path()).set("access_log", "false").set("lists_per_harvester", "0").start();
    let (stop, harvesting) = (AtomicBool::new(false), AtomicBool::new(false));
    let (read, pages, refused, broken) =
        (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    let (alone, together) = thread::scope(|scope| {
        let _stop = Stop(&stop);
        for reader in 0..2 {
            let (server, stop, read) = (&server, &stop, &read);
            scope.spawn(move || {
                let mut client = server.client();
                for number in (reader..300).cycle() {
                    if stop.load(Ordering::Relaxed) {
                        break;
                    }
                    let answer = client.get(&format!("/{number}.html")).expect("an answer");
                    assert_eq!(answer.status, 200, "{}", answer.text());
                    read.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let throughput = || {
            let before = read.load(Ordering::Relaxed);
            thread::sleep(Duration::from_secs(3));
            read.load(Ordering::Relaxed) - before
        };
        let alone = throughput();
        for number in 0..HARVESTERS {
            let (server, stop, pages, refused, broken, harvesting) =
                (&server, &stop, &pages, &refused, &broken, &harvesting);
            scope.spawn(move || {
                let mut client = Client::new(server.url());
                // Not all of them for the same.
                let day = 1 + number % 28;
                let target = format!("/modoai?verb=ListRecords&metadataPrefix=oai_dc&from=2001-01-{day:02}");
                let mut was_told = false;
                while !stop.load(Ordering::Relaxed) {
                    let answer = client.get(&target).expect("an answer");
                    harvesting.store(true, Ordering::Relaxed);
                    match told(&answer) {
                        None => {
                            pages.fetch_add(1, Ordering::Relaxed);
                            was_told = false;
                        }
                        Some(seconds) => {
                            refused.fetch_add(1, Ordering::Relaxed);
                            broken.fetch_add(usize::from(was_told), Ordering::Relaxed);
                            was_told = true;
                            for _ in 0..seconds * 10 {
                                thread::sleep(Duration::from_millis(100));
                                if stop.load(Ordering::Relaxed) {
                                    break;
                                }
                            }
                        }
                    }
                }
            });
        }
        while !harvesting.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(10));
        }
        (alone, throughput())
    });
    println!("read alone {alone}, beside {HARVESTERS} harvesters {together}; {pages:?} pages, {refused:?} refusals");
    assert!(pages.load(Ordering::Relaxed) > 0, "harvesters get something, too");
    assert_eq!(broken.load(Ordering::Relaxed), 0, "whoever waited as told was let in");
    // How much of the machine is left for readers is for `bench/` to measure.
    assert!(alone > 0 && together > 0, "alone {alone}, together {together}");
}
