//! What is sent, and what an answer tells.

use std::time::{Duration, SystemTime};

use modoai_fetch::{Ask, Client, Credential, FetchError, HeaderName, HeaderValue, Manners, Origin, Secret, Url};

use crate::responder::{Reply, Responder, client, closed_port, read};

fn ok() -> Reply {
    Reply::new(200, &[], "ok")
}

#[tokio::test]
async fn we_say_who_we_are() {
    let server = Responder::always(ok()).await;
    let manners = Manners { contact: Some("me@example.org".into()), compressed_at_home: true, ..Manners::default() };
    read(&Client::new(manners).expect("a client"), server.url("/")).await.expect("an answer");
    read(&client(), server.url("/")).await.expect("an answer");
    let seen = server.seen();
    let agent = concat!("modoai/", env!("CARGO_PKG_VERSION"));
    assert_eq!(seen[0].header("User-Agent"), Some(format!("{agent} (+me@example.org)").as_str()));
    assert_eq!(seen[0].header("From"), Some("me@example.org"));
    assert_eq!(seen[0].header("Accept-Encoding"), Some("gzip, deflate, br, zstd"));
    assert_eq!((seen[1].header("User-Agent"), seen[1].header("From")), (Some(agent), None));
    assert_eq!(seen[1].header("Accept-Encoding"), Some("identity"), "there is no line to spare");
}

#[tokio::test]
async fn an_agent_that_no_header_can_hold_is_refused() {
    let manners = Manners { agent: "two\nlines".into(), ..Manners::default() };
    assert!(matches!(Client::new(manners), Err(FetchError::Setup { .. })));
}

#[tokio::test]
async fn cookies_are_returned() {
    let server = Responder::always(Reply::new(200, &[("Set-Cookie", "session=7; Path=/oai")], "ok")).await;
    let client = client();
    for path in ["/oai", "/oai?resumptionToken=1", "/elsewhere"] {
        read(&client, server.url(path)).await.expect("an answer");
    }
    let cookies: Vec<_> = server.seen().iter().map(|seen| seen.header("Cookie").map(str::to_owned)).collect();
    assert_eq!(cookies, [None, Some("session=7".to_owned()), None]);
}

#[tokio::test]
async fn one_connection_is_used_again() {
    let server = Responder::always(ok()).await;
    let client = client();
    for _ in 0..3 {
        read(&client, server.url("/")).await.expect("an answer");
    }
    assert_eq!(server.seen().iter().map(|seen| seen.connection).collect::<Vec<_>>(), [0, 0, 0]);
    let traffic = client.traffic();
    assert_eq!((traffic.requests, traffic.bytes), (3, 6));
}

#[tokio::test]
async fn secrets_are_told_to_their_origin() {
    let server = Responder::always(ok()).await;
    let origin = |url: &Url| Origin::of(url).expect("an origin");
    let basic = Secret::Basic { user: "Aladdin".into(), password: "open sesame".into() };
    let manners = Manners {
        credentials: vec![
            Credential { origin: origin(&server.url("/")), secret: basic },
            Credential { origin: origin(&server.at("localhost", "/")), secret: Secret::Bearer("abc".into()) },
        ],
        ..Manners::default()
    };
    let client = Client::new(manners).expect("a client");
    read(&client, server.url("/")).await.expect("an answer");
    read(&client, server.at("localhost", "/")).await.expect("an answer");
    read(&client, server.at("127.0.0.2", "/")).await.expect_err("nobody listens there");
    let mut with_user = server.url("/");
    with_user.set_username("me").expect("a host");
    with_user.set_password(Some("abc")).expect("a host");
    let ask = Ask::new(with_user);
    let asked = format!("{ask:?}");
    let answer = client.get(ask).await.expect("an answer");
    assert_eq!(answer.url.username(), "");
    let heads: Vec<_> = server.seen().iter().map(|seen| seen.header("Authorization").map(str::to_owned)).collect();
    let expected = ["Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "Bearer abc", "Basic bWU6YWJj"];
    assert_eq!(heads, expected.map(|head| Some(head.to_owned())));
    let shown = format!("{asked} {client:?} {answer:?}");
    assert!(!shown.contains("sesame") && !shown.contains("abc"), "{shown}");
}

#[tokio::test]
async fn what_the_caller_says_stands() {
    let server = Responder::always(ok()).await;
    let mut url = server.url("/");
    url.set_username("me").expect("a host");
    let name = HeaderName::from_static;
    let ask = Ask::new(url)
        .header(name("authorization"), HeaderValue::from_static("Digest x"))
        .header(name("accept-encoding"), HeaderValue::from_static("br"))
        .header(name("x-many"), HeaderValue::from_static("1"))
        .header(name("x-many"), HeaderValue::from_static("2"));
    client().get(ask).await.expect("an answer");
    let head = server.seen()[0].head.to_ascii_lowercase();
    for (line, times) in
        [("authorization: digest x", 1), ("authorization:", 1), ("accept-encoding: br", 1), ("x-many:", 2)]
    {
        assert_eq!(head.matches(line).count(), times, "{line} in {head}");
    }
}

#[tokio::test]
async fn errors_keep_secrets() {
    let (_closed, port) = closed_port();
    for url in [format!("http://me:geheim@127.0.0.1:{port}/x"), "ftp://me:geheim@example.org/".to_owned()] {
        let error = client().get(Ask::new(Url::parse(&url).expect("a URL"))).await.expect_err("no answer");
        let mut shown = format!("{error} {error:?}");
        let mut cause: Option<&dyn std::error::Error> = std::error::Error::source(&error);
        while let Some(inner) = cause {
            shown += &format!(" {inner} {inner:?}");
            cause = inner.source();
        }
        assert!(!shown.contains("geheim") && shown.contains("://"), "{shown}");
    }
}

#[tokio::test]
async fn names_and_ports_that_are_not_there() {
    let nowhere = Url::parse("http://no-such-host.invalid/").expect("a URL");
    let error = client().get(Ask::new(nowhere)).await.expect_err("no such host");
    assert!(matches!(error, FetchError::Resolve { .. }) && error.is_transient(), "{error:?}");
    let (_closed, port) = closed_port();
    let closed = Url::parse(&format!("http://127.0.0.1:{port}/")).expect("a URL");
    let error = client().get(Ask::new(closed)).await.expect_err("nobody there");
    assert!(matches!(error, FetchError::Connect { .. }) && error.is_transient(), "{error:?}");
}

#[tokio::test]
async fn only_what_changed() {
    let server = Responder::always(Reply::head(304, &[("Content-Encoding", "gzip")])).await;
    let modified = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
    let ask = Ask::new(server.url("/")).since(Some("W/\"1\""), Some(modified));
    let mut answer = client().get(ask).await.expect("an answer");
    assert_eq!(answer.status, 304);
    assert!(answer.body.chunk().await.expect("an end").is_none());
    let seen = &server.seen()[0];
    assert_eq!(seen.header("If-None-Match"), Some("W/\"1\""));
    assert_eq!(seen.header("If-Modified-Since"), Some("Sun, 06 Nov 1994 08:49:37 GMT"));
}

#[tokio::test]
async fn what_an_answer_tells() {
    let server = Responder::start(|seen| {
        let kind = seen.header("X-Kind").unwrap_or_default();
        Reply::new(404, &[("Content-Type", kind), ("Retry-After", "7")], "gone")
    })
    .await;
    for (kind, media_type, charset) in [
        ("text/xml; charset=\"UTF-8\"", Some("text/xml"), Some("UTF-8")),
        ("text/html;a=b; Charset = latin1 ", Some("text/html"), Some("latin1")),
        ("text/html; charset=", Some("text/html"), None),
        ("application/xml", Some("application/xml"), None),
    ] {
        let value = HeaderValue::from_str(kind).expect("a value");
        let ask = Ask::new(server.url("/")).header(HeaderName::from_static("x-kind"), value);
        let answer = client().get(ask).await.expect("an answer");
        assert_eq!((answer.status, answer.content_type(), answer.charset()), (404, media_type, charset), "{kind}");
        assert_eq!(answer.retry_after(), Some(Duration::from_secs(7)));
    }
}
