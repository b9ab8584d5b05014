//! Ends that are none, and waits that have one.

use std::time::Duration;

use modoai_fetch::{Ask, Client, FetchError, Manners, Wait};

use crate::responder::{Reply, Responder, client, read};

async fn outcome(reply: Reply) -> Result<Vec<u8>, FetchError> {
    let server = Responder::always(reply).await;
    read(&client(), server.url("/")).await
}

#[tokio::test]
async fn a_short_body_is_cut_short() {
    for reply in [
        Reply::head(200, &[("Content-Length", "10")]).then("five!").then_close(),
        Reply::head(200, &[("Transfer-Encoding", "chunked")]).then("5\r\nfive!\r\n").then_close(),
        Reply::head(200, &[("Transfer-Encoding", "chunked")]).then("a\r\nfive!").then_close(),
    ] {
        let error = outcome(reply).await.expect_err("cut short");
        assert!(matches!(error, FetchError::CutShort { received: 5, .. }) && error.is_transient(), "{error:?}");
    }
}

#[tokio::test]
async fn cut_short_stays_cut_short() {
    let server = Responder::always(Reply::head(200, &[("Content-Length", "10")]).then("five!").then_close()).await;
    let mut body = client().get(Ask::new(server.url("/"))).await.expect("an answer").body;
    assert_eq!(body.chunk().await.expect("a piece").expect("a piece"), "five!");
    for _ in 0..3 {
        assert!(matches!(body.chunk().await, Err(FetchError::CutShort { .. })), "never an end");
    }
}

#[tokio::test]
async fn whole_bodies_are_whole() {
    assert_eq!(outcome(Reply::new(200, &[], "five!")).await.expect("a body"), b"five!");
    let chunked = Reply::head(200, &[("Transfer-Encoding", "chunked")]).then("5\r\nfive!\r\n0\r\n\r\n");
    assert_eq!(outcome(chunked).await.expect("a body"), b"five!");
    // Without a length the end of the connection is the only end there is.
    let until_the_end = Reply::default().then("HTTP/1.0 200 OK\r\n\r\nfive!").then_close();
    assert_eq!(outcome(until_the_end).await.expect("a body"), b"five!");
}

#[tokio::test]
async fn no_answer_at_all() {
    let silent = outcome(Reply::default().then_close()).await.expect_err("nothing");
    assert!(matches!(silent, FetchError::CutShort { received: 0, .. }), "{silent:?}");
    let gibberish = outcome(Reply::default().then("220 mail.example.org ESMTP\r\n\r\n").then_close()).await;
    assert!(matches!(gibberish, Err(FetchError::Other { .. })), "{gibberish:?}");
}

#[tokio::test]
async fn every_wait_has_an_end() {
    // The one limit is short; the other one is so long that a busy machine does not reach it.
    let (short, long) = (Duration::from_millis(100), Duration::from_secs(600));
    let head = Reply::head(200, &[("Content-Length", "10")]);
    for (reply, first_byte_timeout, idle_timeout, what) in [
        (Reply::default().then_pause(long), short, long, Wait::FirstByte),
        (head.clone().then_pause(long), 5 * short, long, Wait::FirstByte),
        (head.then("five!").then_pause(long), long, short, Wait::NextByte),
    ] {
        let client = Client::new(Manners { first_byte_timeout, idle_timeout, ..Manners::default() }).expect("a client");
        let server = Responder::always(reply).await;
        let error = read(&client, server.url("/")).await.expect_err("too slow");
        assert!(matches!(error, FetchError::TimedOut { what: found, .. } if found == what), "{error:?}");
        assert!(error.is_timeout() && error.is_transient());
    }
}

#[tokio::test]
async fn slow_is_not_dead() {
    let manners = Manners { idle_timeout: Duration::from_secs(60), ..Manners::default() };
    let mut reply = Reply::head(200, &[("Content-Length", "10")]);
    for _ in 0..10 {
        reply = reply.then("x").then_pause(Duration::from_millis(20));
    }
    let server = Responder::always(reply).await;
    let body = read(&Client::new(manners).expect("a client"), server.url("/")).await.expect("a body");
    assert_eq!(body, b"xxxxxxxxxx");
}

#[tokio::test]
async fn a_trickle_is_given_up() {
    let manners = Manners { first_byte_timeout: Duration::from_secs(2), least_rate: 1000, ..Manners::default() };
    let mut reply = Reply::head(200, &[("Content-Length", "10000")]);
    for _ in 0..10_000 {
        reply = reply.then("x").then_pause(Duration::from_millis(50));
    }
    let server = Responder::always(reply).await;
    let error = read(&Client::new(manners).expect("a client"), server.url("/")).await.expect_err("too slow");
    assert!(matches!(error, FetchError::TimedOut { what: Wait::MoreThanATrickle, .. }), "{error:?}");
    assert!(error.is_timeout() && error.is_transient());
}

#[tokio::test]
async fn a_slow_reader_does_not_blame_the_server() {
    let manners = Manners { first_byte_timeout: Duration::from_secs(2), least_rate: 10_000, ..Manners::default() };
    let mut reply = Reply::head(200, &[("Content-Length", "12")]);
    for _ in 0..12 {
        reply = reply.then("x").then_pause(Duration::from_millis(10));
    }
    let server = Responder::always(reply).await;
    let answer = Client::new(manners).expect("a client").get(Ask::new(server.url("/"))).await;
    let mut body = answer.expect("an answer").body;
    let mut length = 0;
    while let Some(piece) = body.chunk().await.expect("a piece") {
        length += piece.len();
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    assert_eq!(length, 12);
}

#[tokio::test]
async fn a_limit_is_a_limit() {
    let server = Responder::always(Reply::new(200, &[], "0123456789")).await;
    let body = || async { client().get(Ask::new(server.url("/"))).await.expect("an answer").body };
    assert_eq!(body().await.read_to_end(10).await.expect("a body"), b"0123456789");
    let error = body().await.read_to_end(9).await.expect_err("too large");
    assert!(matches!(error, FetchError::TooLarge { limit: 9, .. }) && !error.is_transient(), "{error:?}");
}

#[tokio::test]
async fn headers_that_others_forgive_are_forgiven() {
    let reply = "HTTP/1.1 200 OK\r\nX-Bad \u{1}: x\r\nServer : old\r\nX-Folded: a\r\n b\r\nContent-Length: 2\r\n\r\nok";
    assert_eq!(outcome(Reply::default().then(reply)).await.expect("a body"), b"ok");
}
