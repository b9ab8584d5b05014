//! Asking for headers only, for redirects as answers, and for the beginning of a body.

use modoai_fetch::{Ask, Client, FetchError, Hop, Manners, Method, ReadTo};

use crate::responder::{Reply, Responder, client};

/// An answer to HEAD: a length, and nothing of it.
fn head(status: u16, headers: &[(&str, &str)]) -> Reply {
    Reply::head(status, &[headers, &[("Content-Length", "100000")]].concat())
}

#[tokio::test]
async fn a_head_has_no_body_and_keeps_nobody_waiting() {
    let server =
        Responder::always(head(200, &[("Content-Type", "text/html; charset=utf-8"), ("Content-Encoding", "gzip")]))
            .await;
    let client = client();
    let mut kept = Vec::new();
    for _ in 0..3 {
        let mut answer = client.get(Ask::head(server.url("/x"))).await.expect("an answer");
        assert_eq!((answer.status, answer.content_type()), (200, Some("text/html")));
        assert!(answer.body.chunk().await.expect("an end").is_none());
        // With one place at the host, the next one would wait for ever if this one held it.
        kept.push(answer);
    }
    let seen = server.seen();
    assert!(seen.iter().all(|seen| seen.head.starts_with("HEAD /x HTTP/1.1\r\n")), "{seen:?}");
    assert!(seen.iter().all(|seen| seen.connection == 0), "one connection is used again: {seen:?}");
}

#[tokio::test]
async fn a_body_that_follows_a_head_all_the_same_is_no_answer_to_the_next() {
    // Such servers exist. What they send too much must not be taken for what is asked for next.
    let server = Responder::start(|seen| match seen.head.starts_with("HEAD") {
        true => Reply::new(404, &[], "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
        false => Reply::new(200, &[], "x"),
    })
    .await;
    let client = client();
    for number in 0..20 {
        let answer = client.get(Ask::head(server.url(&format!("/{number}")))).await;
        // The connection is of no use any more; that can come to light while it is being used again.
        let status = answer.map_or_else(|error| error.is_transient().then_some(404), |answer| Some(answer.status));
        assert_eq!(status, Some(404), "{number}");
    }
}

#[tokio::test]
async fn a_head_follows_redirects_as_a_head() {
    let server = Responder::start(|seen| match seen.target() {
        "/a" => head(303, &[("Location", "/b")]),
        _ => head(200, &[]),
    })
    .await;
    let answer = client().get(Ask::head(server.url("/a"))).await.expect("an answer");
    assert_eq!((answer.status, answer.hops.len()), (200, 1));
    assert!(server.seen().iter().all(|seen| seen.head.starts_with("HEAD ")));
}

#[tokio::test]
async fn a_redirect_can_be_the_answer() {
    for method in [Method::Get, Method::Head] {
        let server = Responder::start(move |_| match method {
            Method::Get => Reply::new(301, &[("Location", "../new?x#part")], "moved"),
            Method::Head => head(301, &[("Location", "../new?x#part")]),
        })
        .await;
        let ask = Ask { method, ..Ask::new(server.url("/a/old#other")).unfollowed() };
        let answer = client().get(ask).await.expect("an answer");
        assert_eq!((answer.status, &answer.url, answer.hops.len()), (301, &server.url("/a/old"), 0));
        let to = answer.location().expect("a redirect").expect("one that leads somewhere");
        assert_eq!(to, server.url("/new?x#part"));
        assert!(!Hop { status: 301, from: answer.url.clone(), to }.is_downgrade());
        let body = answer.body.read_to(100).await.expect("a body");
        assert_eq!(body.bytes, if method == Method::Get { "moved" } else { "" });
        assert_eq!(server.seen().len(), 1, "nothing else was asked for");
    }
}

#[tokio::test]
async fn a_redirect_to_nowhere_is_an_answer_too() {
    for (reply, to) in [
        (Reply::new(302, &[("Location", "mailto:me@example.org")], ""), "mailto:me@example.org"),
        (Reply::new(308, &[], ""), ""),
        (Reply::new(301, &[("Location", "http://me:geheim@[/")], ""), ""),
    ] {
        let server = Responder::always(reply).await;
        let answer = client().get(Ask::new(server.url("/")).unfollowed()).await.expect("an answer");
        let error = answer.location().expect("a redirect").expect_err("nowhere to go");
        let FetchError::BadRedirect { to: found, .. } = &error else { panic!("{error:?}") };
        assert_eq!(found, to);
    }
    let server = Responder::always(Reply::new(200, &[("Location", "/x")], "")).await;
    let answer = client().get(Ask::new(server.url("/")).unfollowed()).await.expect("an answer");
    assert!(answer.location().is_none(), "no redirect");
}

#[tokio::test]
async fn as_much_of_a_body_as_is_wanted() {
    let pieces = Reply::head(200, &[("Transfer-Encoding", "chunked")])
        .then("5\r\nfirst\r\n")
        .then_pause(std::time::Duration::from_millis(30))
        .then("6\r\nsecond\r\n")
        .then_pause(std::time::Duration::from_millis(30))
        .then("5\r\nthird\r\n0\r\n\r\n");
    for (reply, whole) in [(Reply::new(200, &[], "0123456789abcdef"), "0123456789abcdef"), (pieces, "firstsecondthird")]
    {
        let server = Responder::always(reply).await;
        let client = Client::new(Manners { per_host: 2, ..Manners::default() }).expect("a client");
        for limit in [0, 1, 5, 6, 11, 15, 16, 17, 1000, usize::MAX] {
            let body = client.get(Ask::new(server.url("/"))).await.expect("an answer").body;
            let read = body.read_to(limit).await.expect("a body");
            let expected = &whole[..whole.len().min(limit)];
            assert_eq!(read, ReadTo { bytes: expected.into(), is_whole: limit >= whole.len() }, "{limit}");
        }
    }
}

#[tokio::test]
async fn a_part_of_a_body_that_breaks_off_is_no_whole() {
    let reply = Reply::head(200, &[("Content-Length", "10")]).then("five!").then_close();
    let server = Responder::always(reply).await;
    let answer = client().get(Ask::new(server.url("/"))).await.expect("an answer");
    assert!(matches!(answer.body.read_to(100).await, Err(FetchError::CutShort { received: 5, .. })));
    let server = Responder::always(Reply::new(204, &[], "")).await;
    let answer = client().get(Ask::new(server.url("/"))).await.expect("an answer");
    assert_eq!(answer.body.read_to(0).await.expect("nothing"), ReadTo { bytes: "".into(), is_whole: true });
}
