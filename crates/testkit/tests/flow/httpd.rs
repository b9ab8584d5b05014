//! Flow control in Apache: several children, one ledger.

use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use modoai_testkit::apache::{self, Httpd, Launch, Mpm};
use modoai_testkit::http::Client;

use super::{expect_a_delay_for_every_kind, harvest, told};

const LIST: &str = "/modoai?verb=ListIdentifiers&metadataPrefix=oai_dc";

#[test]
fn delay_between_requests_holds_for_every_kind() {
    if apache::is_missing() {
        return;
    }
    let launch = Launch::new(Mpm::Event).ordinary_site();
    let launch = launch.text("OAIRequestDelay 1h\nOAIHarvester BASE agent=base request_delay=0");
    launch.write("docs/0.txt", "file 0");
    let httpd = launch.start();
    let mut client = httpd.client();
    // The one without a delay waits for the index, so that the other has asked nothing yet.
    let known = [("User-Agent", "BASE/2")];
    httpd.wait("the repository answers", || client.get_with(LIST, &known).expect("an answer").status == 200);
    assert_eq!(client.get_with(LIST, &known).expect("an answer").status, 200);
    assert_eq!(client.get("/modoai?verb=Identify").expect("an answer").status, 200);
    expect_a_delay_for_every_kind(&httpd.url());
}

/// A server with so many small files and these directives, indexed.
fn serving(mpm: Mpm, files: usize, directives: &str) -> Httpd {
    let launch = Launch::new(mpm).ordinary_site().text(directives);
    for number in 0..files {
        launch.write(format!("docs/{number}.txt"), format!("file {number}"));
    }
    let httpd = launch.start();
    // Identify waits for no budget, but an index that is not there yet is not there for it, either.
    let mut client = httpd.client();
    httpd.wait("the repository answers", || {
        client.get("/modoai?verb=Identify").is_ok_and(|answer| answer.status == 200)
    });
    httpd
}

#[test]
fn a_budget_holds_across_children_and_a_restart() {
    if apache::is_missing() {
        return;
    }
    for mpm in [Mpm::Prefork, Mpm::Event] {
        let httpd = serving(mpm, 30, "OAIListDelay 1h\nOAIHarvester friend agent=friend list_delay=0");
        // Each connection may come to another child.
        let statuses: Vec<u16> =
            (0..24).map(|_| Client::new(&httpd.url()).get(LIST).expect("an answer").status).collect();
        assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "{statuses:?}");
        assert!(statuses.iter().all(|status| matches!(status, 200 | 503)), "{statuses:?}");
        httpd.graceful();
        httpd.wait("it has been restarted", || {
            let answer = Client::new(&httpd.url()).get("/modoai?verb=Identify");
            answer.is_ok_and(|answer| answer.status == 200)
        });
        let answer = Client::new(&httpd.url()).get(LIST).expect("an answer");
        assert!(told(&answer).is_some_and(|seconds| seconds > 3_000), "{answer:?}");
        // A harvester with a row of its own is not concerned.
        for _ in 0..5 {
            let answer = Client::new(&httpd.url()).get_with(LIST, &[("User-Agent", "My friend/1")]);
            assert_eq!(answer.expect("an answer").status, 200);
        }
        httpd.expect_clean_log(&[]);
    }
}

#[test]
fn client_that_waits_as_told_is_admitted_by_any_child() {
    if apache::is_missing() {
        return;
    }
    let httpd = serving(Mpm::Prefork, 40, "OAIListDelay 1s\nOAIPageSize 20");
    let begun = Instant::now();
    let stories: Vec<_> = thread::scope(|scope| {
        let one = || harvest(&mut Client::new(&httpd.url()), 2);
        let all: Vec<_> = (0..5).map(|_| scope.spawn(one)).collect();
        all.into_iter().map(|one| one.join().expect("no panic")).collect()
    });
    assert!(stories.iter().all(|story| story.records == 40), "{stories:?}");
    assert!(begun.elapsed() > Duration::from_secs(2), "{:?}: {stories:?}", begun.elapsed());
    httpd.expect_clean_log(&[]);
}

/// A server with room for one list, and somebody who takes a long one and reads no more of it than that it comes.
fn full(mpm: Mpm) -> (Httpd, TcpStream) {
    let directives = "OAIListsAtOnce 1\nOAIListsPerHarvester 1\nOAIPageBytes 1G";
    let launch = Launch::new(mpm).ordinary_site().text(directives);
    for number in 0..40 {
        launch.write(format!("docs/{number}.bin"), vec![b'x'; 1_000_000]);
    }
    let httpd = launch.start();
    httpd.wait_for_index(&mut httpd.client());
    let slow = httpd.client().connect().expect("a connection");
    let request = "GET /modoai?verb=ListRecords&metadataPrefix=oai_didl HTTP/1.1\r\nHost: x\r\n\r\n";
    std::io::Write::write_all(&mut &slow, request.as_bytes()).expect("a request");
    let mut status = [0; 12];
    std::io::Read::read_exact(&mut &slow, &mut status).expect("the beginning of an answer");
    assert_eq!(&status, b"HTTP/1.1 200");
    httpd
        .wait("the list is under way", || Client::new(&httpd.url()).get(LIST).is_ok_and(|answer| answer.status == 503));
    (httpd, slow)
}

#[test]
fn a_killed_child_leaves_no_list_under_way() {
    if apache::is_missing() {
        return;
    }
    let (httpd, slow) = full(Mpm::Prefork);
    for child in httpd.children() {
        httpd.kill_child(child);
    }
    httpd
        .wait("another list is given", || Client::new(&httpd.url()).get(LIST).is_ok_and(|answer| answer.status == 200));
    drop(slow);
}

#[test]
fn directives_are_checked() {
    if apache::is_missing() {
        return;
    }
    let launch = Launch::new(Mpm::Event).ordinary_site();
    for (directive, needed) in [
        ("OAIListDelay soon", "duration"),
        ("OAIRecordsPerHour many", "whole number"),
        ("OAIListsAtOnce 501", "from 0 to 500"),
        ("OAIListShare 101", "from 1 to 100"),
        ("OAIRequestDelay soon", "duration"),
        ("OAIHarvester agent=x", "needs a name"),
        ("OAIHarvester BASE", "to identify BASE"),
        ("OAIHarvester BASE agnet=x", "did you mean 'agent'"),
        ("OAIHarvester BASE networks=home", "invalid network"),
    ] {
        let (is_good, said) = launch.config_test(directive);
        assert!(!is_good && said.contains(needed), "{directive}: {said}");
    }
    let good = "OAIListDelay 3s\nOAIBytesPerHour 4G\nOAIListShare 20\nOAIRequestDelay 1s\n\
        OAIHarvester BASE \"agent=BASE harvester\" networks=192.0.2.0/24,2001:db8::/32 records_per_hour=0 list_delay=1s";
    let (is_good, said) = launch.config_test(good);
    assert!(is_good, "{said}");
}
