//! Waiting one's turn, pausing, and going away when asked to.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use modoai_fetch::{Ask, Client, FetchError, Manners};

use crate::responder::{Reply, Responder, client, read};

/// Long enough for whatever should happen to have happened.
const A_WHILE: Duration = Duration::from_millis(300);

#[tokio::test]
async fn the_place_is_held_until_the_body_is_read_or_dropped() {
    let server = Responder::always(Reply::new(200, &[], vec![b'x'; 100_000])).await;
    let client = client();
    let mut first = client.get(Ask::new(server.url("/1"))).await.expect("an answer");
    let second = tokio::spawn({
        let (client, url) = (client.clone(), server.url("/2"));
        async move { client.get(Ask::new(url)).await.expect("an answer") }
    });
    tokio::time::sleep(A_WHILE).await;
    assert_eq!(server.seen().len(), 1, "the second waits for the first one's body");
    while first.body.chunk().await.expect("a piece").is_some() {}
    // The body is still there, but at its end.
    let second = second.await.expect("no panic");
    assert_eq!(server.seen().len(), 2);
    drop(second);
    client.get(Ask::new(server.url("/3"))).await.expect("an answer");
    assert_eq!(first.body.wire_bytes(), 100_000);
}

#[tokio::test]
async fn two_places_are_two_places() {
    let server = Responder::always(Reply::new(200, &[], "x")).await;
    let client = Client::new(Manners { per_host: 2, ..Manners::default() }).expect("a client");
    let _first = client.get(Ask::new(server.url("/1"))).await.expect("an answer");
    let _second = client.get(Ask::new(server.url("/2"))).await.expect("an answer");
}

#[tokio::test]
async fn hosts_do_not_wait_for_one_another() {
    let hurried = Arc::new(AtomicBool::new(false));
    let server = Responder::start({
        let hurried = Arc::clone(&hurried);
        move |_| {
            hurried.store(true, Ordering::SeqCst);
            Reply::new(200, &[], "x")
        }
    })
    .await;
    let client = client();
    let until = SystemTime::now() + Duration::from_secs(60);
    client.hold("LOCALHOST", until);
    let held = tokio::spawn({
        let (client, url) = (client.clone(), server.at("localhost", "/held"));
        async move { client.get(Ask::new(url)).await.map(|_| ()) }
    });
    tokio::task::yield_now().await;
    read(&client, server.url("/free")).await.expect("another host");
    assert!(hurried.load(Ordering::SeqCst));
    assert_eq!(server.seen().len(), 1, "nothing was sent to the host on hold");
    assert_eq!(client.held_until("localhost"), Some(until));
    held.abort();
}

#[tokio::test]
async fn requests_to_one_host_are_apart() {
    let server = Responder::always(Reply::new(200, &[], "x")).await;
    let delay = Duration::from_millis(100);
    let client = Client::new(Manners { delay, ..Manners::default() }).expect("a client");
    let began = Instant::now();
    for _ in 0..3 {
        read(&client, server.url("/")).await.expect("an answer");
    }
    assert!(began.elapsed() >= 2 * delay);
    assert!(client.traffic().waited >= 2 * delay - Duration::from_millis(10));
}

#[tokio::test]
async fn redirects_wait_their_turn() {
    let server = Responder::start(|seen| match seen.target() {
        "/a" => Reply::new(302, &[("Location", "/b")], ""),
        _ => Reply::new(200, &[], "x"),
    })
    .await;
    let delay = Duration::from_millis(150);
    let client = Client::new(Manners { delay, ..Manners::default() }).expect("a client");
    let began = Instant::now();
    read(&client, server.url("/a")).await.expect("an answer");
    assert!(began.elapsed() >= delay);
    assert_eq!(client.traffic().requests, 2);
}

#[tokio::test]
async fn whoever_is_asked_to_wait_waits() {
    for status in [429, 503] {
        let server = Responder::start(move |seen| match seen.target() {
            "/busy" => Reply::new(status, &[("Retry-After", "1")], "busy"),
            _ => Reply::new(200, &[], "x"),
        })
        .await;
        let client = client();
        let answer = client.get(Ask::new(server.url("/busy"))).await.expect("an answer");
        assert_eq!((answer.status, answer.retry_after()), (status, Some(Duration::from_secs(1))));
        drop(answer);
        let until = client.held_until("127.0.0.1").expect("a hold");
        read(&client, server.url("/other")).await.expect("an answer, later");
        assert!(SystemTime::now() >= until);
        assert_eq!(client.held_until("127.0.0.1"), None);
    }
}

#[tokio::test]
async fn a_long_hold_is_told_and_nothing_is_sent() {
    let server = Responder::always(Reply::new(503, &[("Retry-After", "86400")], "tomorrow")).await;
    let client = client();
    read(&client, server.url("/")).await.expect("an answer");
    let error = client.get(Ask::new(server.url("/"))).await.expect_err("on hold");
    let FetchError::Held { until, .. } = &error else { panic!("{error:?}") };
    assert_eq!(Some(*until), client.held_until("127.0.0.1"));
    assert!(error.is_transient());
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn a_date_is_read_by_the_clock_that_wrote_it() {
    let headers = [("Date", "Sun, 06 Nov 1994 08:49:37 GMT"), ("Retry-After", "Sunday, 06-Nov-94 08:59:37 GMT")];
    let server = Responder::always(Reply::new(503, &headers, "")).await;
    let client = client();
    let answer = client.get(Ask::new(server.url("/"))).await.expect("an answer");
    assert_eq!(answer.retry_after(), Some(Duration::from_secs(600)));
    assert!(client.held_until("127.0.0.1").is_some());
}

#[tokio::test]
async fn other_statuses_hold_nobody() {
    let server = Responder::always(Reply::new(500, &[("Retry-After", "600")], "")).await;
    let client = client();
    read(&client, server.url("/")).await.expect("an answer");
    assert_eq!(client.held_until("127.0.0.1"), None);
}

#[tokio::test]
async fn whoever_leaves_the_queue_leaves_no_gap() {
    let server = Responder::always(Reply::new(200, &[], "x")).await;
    let client = client();
    let first = client.get(Ask::new(server.url("/1"))).await.expect("an answer");
    let impatient = client.get(Ask::new(server.url("/2")));
    assert!(tokio::time::timeout(Duration::from_millis(50), impatient).await.is_err());
    drop(first);
    read(&client, server.url("/3")).await.expect("an answer");
    let targets: Vec<_> = server.seen().iter().map(|seen| seen.target().to_owned()).collect();
    assert_eq!(targets, ["/1", "/3"]);
}
