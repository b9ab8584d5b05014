//! Harvests while visitors read the site and all processors are busy: how fast is measured by `bench/flow`, here they
//! must complete.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use modoai_testkit::apache::{self, Mpm};
use modoai_testkit::http::Client;
use modoai_testkit::process::Launch;
use modoai_testkit::site::TestSite;

use crate::harvest::Harvest;

const FILES: usize = 200;

/// Ends the threads of a test, also when the test fails.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn content(number: usize) -> String {
    format!("<title>{number}</title>").repeat(500)
}

/// Mirrors a site beside readers and busy threads, and compares one file.
fn harvest_beside_readers(url: &str) {
    let copy = tempfile::tempdir().expect("a folder");
    let (stop, read) = (AtomicBool::new(false), AtomicUsize::new(0));
    thread::scope(|scope| {
        let _stop = Stop(&stop);
        for _ in 0..thread::available_parallelism().map_or(2, std::num::NonZero::get) {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        scope.spawn(|| {
            let mut client = Client::new(url);
            for number in (0..FILES).cycle().take_while(|_| !stop.load(Ordering::Relaxed)) {
                let answer = client.get(&format!("/{number}.html")).expect("an answer");
                assert_eq!(answer.status, 200, "{}", answer.text());
                read.fetch_add(1, Ordering::Relaxed);
            }
        });
        Harvest::new(&format!("{url}/modoai"), copy.path(), "mirror").complete();
    });
    assert!(read.load(Ordering::Relaxed) > 0, "readers are served");
    let copied = std::fs::read_to_string(copy.path().join("7.html")).expect("a copy");
    assert_eq!(copied, content(7));
}

#[test]
fn harvest_of_the_standalone_server_completes_beside_readers() {
    let site = TestSite::default();
    for number in 0..FILES {
        site.write(format!("{number}.html"), content(number));
    }
    let server = Launch::of(site.path()).set("access_log", "false").start();
    harvest_beside_readers(server.url());
}

#[test]
fn harvest_of_httpd_completes_beside_readers() {
    if apache::is_missing() {
        return;
    }
    let launch = apache::Launch::new(Mpm::Event).ordinary_site();
    for number in 0..FILES {
        launch.write(format!("docs/{number}.html"), content(number));
    }
    let httpd = launch.start();
    httpd.wait_for_index(&mut httpd.client());
    harvest_beside_readers(&httpd.url());
    httpd.expect_clean_log(&[]);
}
