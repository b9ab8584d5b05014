//! robots.txt from a server: redirects, refusals, and one request for all who want to know.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use modoai_fetch::{Bytes, Client, FetchError, Gate, Kind, Manners, Origin, Permission, Remembered, Unknown, Url};

use crate::responder::{Reply, Responder, client, closed_port, read};

const CLOSED: &str = "User-agent: *\nDisallow: /private/\n";

fn gate() -> Gate {
    Gate::new(client())
}

async fn allows(gate: &Gate, url: &Url) -> bool {
    gate.robots(url).await.expect("an answer").allows_url(url) == Permission::Allowed
}

fn remembered(server: &Responder, age: Duration) -> Remembered {
    let origin = Origin::of(&server.url("/")).expect("an origin");
    Remembered { origin, status: 200, body: CLOSED.into(), fetched_at: SystemTime::now() - age }
}

#[tokio::test]
async fn one_request_for_all_who_ask() {
    let slow = Reply::head(200, &[("Content-Length", &CLOSED.len().to_string())])
        .then_pause(Duration::from_millis(200))
        .then(CLOSED);
    let server = Responder::always(slow).await;
    let gate = Arc::new(gate());
    let asking: Vec<_> = (0..50)
        .map(|number| {
            let (gate, url) = (Arc::clone(&gate), server.url(&format!("/private/{number}?x#y")));
            tokio::spawn(async move { allows(&gate, &url).await })
        })
        .collect();
    for asked in asking {
        assert!(!asked.await.expect("no panic"));
    }
    assert!(allows(&gate, &server.url("/")).await);
    let seen = server.seen();
    assert_eq!(seen.len(), 1, "{seen:?}");
    assert_eq!(seen[0].target(), "/robots.txt");
    // Another name is another origin.
    assert!(!allows(&gate, &server.at("localhost", "/private/")).await);
    assert_eq!(server.seen().len(), 2);
}

#[tokio::test]
async fn whoever_gives_up_leaves_it_to_the_next() {
    // The first request is never answered.
    let is_first = AtomicBool::new(true);
    let server = Responder::start(move |_| match is_first.swap(false, Ordering::Relaxed) {
        true => Reply::default().then_pause(Duration::from_secs(600)),
        false => Reply::new(200, &[], CLOSED),
    })
    .await;
    let gate = gate();
    let url = server.url("/private/");
    assert!(tokio::time::timeout(Duration::from_millis(50), gate.robots(&url)).await.is_err());
    assert!(!allows(&gate, &url).await);
}

#[tokio::test]
async fn redirects_are_followed_five_times_and_elsewhere() {
    let elsewhere = Responder::always(Reply::new(200, &[], CLOSED)).await;
    let there = elsewhere.url("/rules.txt").to_string();
    // A way of so many steps, then there.
    let server = Responder::start(move |seen| {
        let left = match seen.target() {
            "/robots.txt" => 4,
            target => target.trim_start_matches('/').parse::<usize>().expect("a number") - 1,
        };
        let to = if left == 0 { there.clone() } else { format!("/{left}") };
        Reply::new(302, &[("Location", &to)], "moved")
    })
    .await;
    assert!(!allows(&gate(), &server.url("/private/")).await, "the rules at the fifth are those of the first");
    assert_eq!((server.seen().len(), elsewhere.seen().len()), (5, 1));

    let circle = Responder::start(|_| Reply::new(301, &[("Location", "/robots.txt")], "")).await;
    assert!(allows(&gate(), &circle.url("/private/")).await, "no rules can be had");
    assert_eq!(circle.seen().len(), 6);
    let nowhere = Responder::always(Reply::new(301, &[("Location", "mailto:me@example.org")], "")).await;
    assert!(allows(&gate(), &nowhere.url("/private/")).await);
}

#[tokio::test]
async fn none_is_none_and_trouble_is_trouble() {
    for (status, allowed) in
        [(404, true), (403, true), (401, true), (410, true), (500, false), (503, false), (429, false)]
    {
        let server = Responder::always(Reply::new(status, &[], CLOSED)).await;
        let gate = gate();
        let url = server.url("/public/");
        assert_eq!(allows(&gate, &url).await, allowed, "{status}");
        assert_eq!(allows(&gate, &url).await, allowed, "{status}");
        assert_eq!(server.seen().len(), 1, "{status} is asked for once");
        let robots = gate.robots(&url).await.expect("an answer");
        assert_eq!(robots.unknown(), (!allowed).then_some(Unknown::Status(status)));
        assert_eq!(gate.news().len(), usize::from(allowed), "trouble is not kept for the next run");
    }
}

#[tokio::test]
async fn nobody_there_is_trouble_too() {
    let (_closed, port) = closed_port();
    let closed = Url::parse(&format!("http://127.0.0.1:{port}/x")).expect("a URL");
    let robots = gate().robots(&closed).await.expect("an answer");
    assert_eq!(robots.allows("/x"), Permission::Unknown(Unknown::Failed(Kind::Refused)));
    let cut =
        Responder::always(Reply::head(200, &[("Content-Length", "100")]).then("User-agent: *\n").then_close()).await;
    let robots = gate().robots(&cut.url("/")).await.expect("an answer");
    assert_eq!(robots.unknown(), Some(Unknown::Failed(Kind::CutShort)), "half of the rules are no rules");
    assert_eq!(cut.seen().len(), 2, "tried twice");
}

#[tokio::test]
async fn a_host_on_hold_is_asked_later() {
    let server = Responder::always(Reply::new(200, &[], CLOSED)).await;
    let client = client();
    let gate = Gate::new(client.clone());
    client.hold("127.0.0.1", SystemTime::now() + Duration::from_secs(86_400));
    let error = gate.robots(&server.url("/")).await.expect_err("on hold");
    assert!(matches!(error, FetchError::Held { .. }), "{error:?}");
    assert!(!allows(&gate, &server.at("localhost", "/private/")).await);
    let error = gate.robots(&Url::parse("mailto:me@example.org").expect("a URL")).await.expect_err("no HTTP");
    assert!(matches!(error, FetchError::InvalidUrl { .. }), "{error:?}");
}

#[tokio::test]
async fn what_is_remembered_serves_for_a_day() {
    let server = Responder::always(Reply::new(200, &[], "User-agent: *\nDisallow: /new/\n")).await;
    let hour = Duration::from_secs(3600);
    let gate = gate();
    gate.remember(remembered(&server, 23 * hour));
    assert!(!allows(&gate, &server.url("/private/")).await);
    assert!(server.seen().is_empty() && gate.news().is_empty());

    let gate = self::gate();
    gate.remember(remembered(&server, 25 * hour));
    assert!(allows(&gate, &server.url("/private/")).await && !allows(&gate, &server.url("/new/")).await);
    assert_eq!(server.seen().len(), 1);
    let news = gate.news();
    assert_eq!(news.len(), 1);
    assert!(news[0].is_fresh(SystemTime::now()) && gate.news().is_empty());
    let again = self::gate();
    let origin = Origin::of(&Url::parse(&news[0].origin.to_string()).expect("a URL")).expect("an origin");
    again.remember(Remembered { origin, ..news[0].clone() });
    assert!(!allows(&again, &server.url("/new/")).await);
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn a_copy_that_grows_old_during_a_run_is_renewed() {
    let server = Responder::always(Reply::new(404, &[], "")).await;
    let gate = gate();
    // It has four seconds to live.
    gate.remember(remembered(&server, Duration::from_secs(24 * 3600 - 4)));
    assert!(!allows(&gate, &server.url("/private/")).await);
    let began = Instant::now();
    while !allows(&gate, &server.url("/private/")).await {
        assert!(began.elapsed() < Duration::from_secs(120), "still the old one");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn half_a_megabyte_is_read_and_no_more() {
    let mut text = format!("{CLOSED}Disallow: /public/\n");
    while text.len() < 500 * 1024 - 100 {
        text.push_str("# nothing to see here, and that in many words\n");
    }
    let inside = text.clone() + "Disallow: /inside/\n";
    let outside = text + &"#\n".repeat(500) + "Disallow: /outside/\n";
    // More than anybody would want to read.
    let endless = Bytes::from(outside.clone() + &"#\n".repeat(4_000_000));
    for (text, closed, open) in [
        (Bytes::from(inside), "/inside/", "/"),
        (Bytes::from(outside), "/public/", "/outside/"),
        (endless, "/public/", "/outside/"),
    ] {
        let server = Responder::always(Reply::new(200, &[("Content-Type", "text/plain")], text)).await;
        let client = client();
        let gate = Gate::new(client.clone());
        assert!(!allows(&gate, &server.url(closed)).await && allows(&gate, &server.url(open)).await);
        assert!(client.traffic().bytes < 2_000_000);
        assert!(gate.news()[0].body.len() <= 500 * 1024 + 1);
    }
}

#[tokio::test]
async fn a_pause_that_is_asked_for_is_kept() {
    let server = Responder::start(|seen| match seen.target() {
        "/robots.txt" => Reply::new(200, &[], "User-agent: modoai\nCrawl-delay: 0.3\n"),
        _ => Reply::new(200, &[], "x"),
    })
    .await;
    let client = Client::new(Manners { per_host: 8, ..Manners::default() }).expect("a client");
    let gate = Gate::new(client.clone());
    let robots = gate.robots(&server.url("/")).await.expect("an answer");
    assert_eq!(robots.crawl_delay(), Some(Duration::from_millis(300)));
    let began = Instant::now();
    let asking: Vec<_> = (0..3)
        .map(|number| {
            let (client, url) = (client.clone(), server.url(&format!("/{number}")));
            tokio::spawn(async move { read(&client, url).await.expect("an answer") })
        })
        .collect();
    for asked in asking {
        asked.await.expect("no panic");
    }
    assert!(began.elapsed() >= Duration::from_millis(850), "{:?}", began.elapsed());
}

#[tokio::test]
async fn users_in_urls_are_not_told_to_the_gate() {
    let server = Responder::always(Reply::new(404, &[], "")).await;
    let url = Url::parse(&server.url("/x").as_str().replace("://", "://me:geheim@")).expect("a URL");
    assert!(allows(&gate(), &url).await);
    assert_eq!(server.seen()[0].header("Authorization"), None);
}
