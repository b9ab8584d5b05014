//! Following redirects, and what does not follow along.

use modoai_fetch::{Ask, Client, Credential, FetchError, HeaderValue, Manners, Origin, Secret};

use crate::responder::{Reply, Responder, client};

fn to(status: u16, location: &str) -> Reply {
    Reply::new(status, &[("Location", location)], "moved")
}

#[tokio::test]
async fn every_kind_is_followed_and_told() {
    for status in [301, 302, 303, 307, 308] {
        let server = Responder::start(move |seen| match seen.target() {
            "/a/old?verb=Identify" => to(status, "../new?verb=Identify"),
            _ => Reply::new(200, &[], "here"),
        })
        .await;
        let answer = client().get(Ask::new(server.url("/a/old?verb=Identify"))).await.expect("an answer");
        assert_eq!((answer.status, &answer.url), (200, &server.url("/new?verb=Identify")));
        let hop = &answer.hops[0];
        assert_eq!((hop.status, &hop.from, &hop.to), (status, &server.url("/a/old?verb=Identify"), &answer.url));
        assert_eq!(answer.body.read_to_end(10).await.expect("a body"), b"here");
        let connections: Vec<_> = server.seen().iter().map(|seen| seen.connection).collect();
        assert_eq!(connections, [0, 0], "the redirect's connection is used again");
    }
}

#[tokio::test]
async fn a_loop_has_an_end() {
    let server = Responder::start(|seen| to(302, if seen.target() == "/a" { "/b" } else { "/a" })).await;
    let manners = Manners { redirects: 4, ..Manners::default() };
    let error = Client::new(manners).expect("a client").get(Ask::new(server.url("/a"))).await.expect_err("a loop");
    assert!(matches!(error, FetchError::TooManyRedirects { limit: 4, .. }) && !error.is_transient(), "{error:?}");
    assert_eq!(server.seen().len(), 5);
}

#[tokio::test]
async fn a_redirect_to_itself_with_a_cookie_is_no_loop() {
    let server = Responder::start(|seen| match seen.header("Cookie") {
        None => Reply::new(302, &[("Location", "/a"), ("Set-Cookie", "seen=1")], ""),
        Some(_) => Reply::new(200, &[], "here"),
    })
    .await;
    assert_eq!(client().get(Ask::new(server.url("/a"))).await.expect("an answer").status, 200);
}

#[tokio::test]
async fn leading_nowhere_is_told() {
    for reply in [to(301, "mailto:me@example.org"), to(302, "http://["), Reply::new(307, &[], "")] {
        let server = Responder::always(reply).await;
        let error = client().get(Ask::new(server.url("/"))).await.expect_err("nowhere to go");
        assert!(matches!(error, FetchError::BadRedirect { .. }) && !error.is_transient(), "{error:?}");
    }
}

#[tokio::test]
async fn a_status_that_only_looks_like_one_is_an_answer() {
    let server = Responder::always(to(300, "/x")).await;
    assert_eq!(client().get(Ask::new(server.url("/"))).await.expect("an answer").status, 300);
}

#[tokio::test]
async fn secrets_stay_with_their_origin() {
    let other_port = Responder::always(Reply::new(200, &[], "here")).await;
    let elsewhere = other_port.url("/").to_string();
    let server = Responder::start(move |seen| match seen.target() {
        "/same" => to(307, "/end"),
        "/port" => to(307, &elsewhere),
        "/host" => {
            let host = seen.header("Host").expect("a host").replace("127.0.0.1", "localhost");
            to(307, &format!("http://{host}/end"))
        }
        _ => Reply::new(200, &[], "here"),
    })
    .await;
    let origin = Origin::of(&server.url("/")).expect("an origin");
    let manners = Manners {
        credentials: vec![Credential { origin, secret: Secret::Bearer("abc".into()) }],
        ..Manners::default()
    };
    let client = Client::new(manners).expect("a client");
    for path in ["/same", "/port", "/host"] {
        let ask = Ask::new(server.url(path))
            .header(modoai_fetch::HeaderName::from_static("x-api-key"), HeaderValue::from_static("def"))
            .header(modoai_fetch::HeaderName::from_static("accept"), HeaderValue::from_static("text/xml"));
        assert_eq!(client.get(ask).await.expect("an answer").status, 200);
    }
    let told = |seen: &crate::responder::Seen| {
        (
            seen.header("Authorization").is_some(),
            seen.header("X-Api-Key").is_some(),
            seen.header("Accept").map(str::to_owned),
        )
    };
    let accept = Some("text/xml".to_owned());
    let (all, nothing) = ((true, true, accept.clone()), (false, false, accept));
    assert_eq!(other_port.seen().iter().map(told).collect::<Vec<_>>(), vec![nothing.clone()]);
    let here: Vec<_> = server.seen().iter().map(told).collect();
    assert_eq!(here, [all.clone(), all.clone(), all.clone(), all, nothing]);
}
