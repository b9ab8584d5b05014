//! What sort of failure it was, and whether it was ours; and hosts that are not public.

use std::time::Duration;

use modoai_fetch::{Ask, Client, FetchError, Kind, Manners, Start, Url};
use tokio::io::AsyncWriteExt as _;

use crate::responder::{Reply, Responder, client, closed_port, read};
use crate::safety::certificate;

async fn kind(client: &Client, url: &str) -> (Kind, FetchError) {
    let error = client.get(Ask::head(Url::parse(url).expect("a URL"))).await.expect_err("no answer");
    (error.kind(), error)
}

#[tokio::test]
async fn what_went_wrong_is_told_apart() {
    let (found, error) = kind(&client(), "http://no-such-host.invalid/").await;
    assert!(matches!(found, Kind::NoSuchHost | Kind::Resolver), "{error:?}");
    // What the resolver said decides; a machine without any says that it is for now.
    let said = format!("{error:?}");
    assert_eq!(found == Kind::Resolver, said.contains("Temporary failure") || said.contains("Try again"), "{said}");

    let (_closed, port) = closed_port();
    let (found, error) = kind(&client(), &format!("http://127.0.0.1:{port}/")).await;
    assert_eq!(found, Kind::Refused, "{error:?}");
    let (found, error) = kind(&client(), "ftp://example.org/").await;
    assert_eq!(found, Kind::NotAskable, "{error:?}");

    let (_, tls) = certificate(&[]);
    let strange = Responder::start_tls(tls, |_| Reply::new(200, &[], "safe")).await;
    let (found, error) = kind(&client(), strange.url("/").as_str()).await;
    assert_eq!(found, Kind::Certificate, "{error:?}");
    let plain = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("https://{}/", plain.local_addr().expect("an address"));
    let outspoken = tokio::spawn(async move {
        let (mut stream, _) = plain.accept().await.expect("a connection");
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.expect("written");
        stream
    });
    let (found, error) = kind(&client(), &url).await;
    assert_eq!(found, Kind::Tls, "{error:?}");
    outspoken.await.expect("no panic");

    for (reply, expected) in [
        (Reply::default().then_close(), Kind::CutShort),
        (Reply::default().then("220 mail.example.org\r\n\r\n").then_close(), Kind::Garbled),
        (Reply::new(301, &[("Location", "/")], ""), Kind::RedirectLoop),
        (Reply::new(301, &[], ""), Kind::RedirectNowhere),
    ] {
        let server = Responder::always(reply).await;
        let error = read(&client(), server.url("/")).await.expect_err("no answer");
        assert_eq!(error.kind(), expected, "{error:?}");
        assert!(!error.is_ours());
    }
}

#[tokio::test]
async fn a_connection_that_does_not_come_is_waited_for_in_vain() {
    // A queue of one that is full: whoever comes next is not answered at all.
    let listener = tokio::net::TcpSocket::new_v4().expect("a socket");
    listener.bind("127.0.0.1:0".parse().expect("an address")).expect("a free port");
    let listener = listener.listen(1).expect("listening");
    let address = listener.local_addr().expect("an address");
    let mut waiting = Vec::new();
    for _ in 0..8 {
        waiting.push(tokio::time::timeout(Duration::from_millis(100), tokio::net::TcpStream::connect(address)).await);
    }
    if waiting.iter().all(Result::is_ok) {
        // This system takes them all.
        return;
    }
    let manners = Manners { connect_timeout: Duration::from_millis(300), ..Manners::default() };
    let client = Client::new(manners).expect("a client");
    let (found, error) = kind(&client, &format!("http://{address}/")).await;
    assert_eq!(found, Kind::TimedOut, "{error:?}");
}

/// The limit of files belongs to the process, so this runs in one of its own, with few files.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn too_many_open_files_are_our_own_failure() {
    let program = std::env::current_exe().expect("this program");
    let script = format!("ulimit -n 40; exec '{}' --exact kinds::asked_with_few_files --ignored", program.display());
    let run = tokio::task::spawn_blocking(move || std::process::Command::new("sh").args(["-c", &script]).output());
    let output = run.await.expect("no panic").expect("a process");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[tokio::test]
#[ignore = "run by the test of too many open files, in a process of its own"]
async fn asked_with_few_files() {
    let server =
        Responder::always(Reply::head(200, &[("Content-Length", "10")]).then_pause(Duration::from_secs(5))).await;
    let greedy = Client::new(Manners { per_host: 512, ..Manners::default() }).expect("a client");
    let asked = |client: &Client| {
        let asking: Vec<_> = (0..60)
            .map(|_| {
                let (client, url) = (client.clone(), server.url("/"));
                tokio::spawn(async move { client.get(Ask::new(url)).await })
            })
            .collect();
        asking
    };
    let mut answers = Vec::new();
    let mut ours = 0;
    for asking in asked(&greedy) {
        match asking.await.expect("no panic") {
            Ok(answer) => answers.push(answer),
            // What the server could not take up, for want of files of its own, is lost; it lives here, too.
            Err(error) => ours += usize::from(matches!(error, FetchError::Exhausted { .. }) && error.is_ours()),
        }
    }
    assert!(ours > 0, "60 connections do not fit into 40 files");
}

#[tokio::test]
async fn only_public_hosts_are_asked_if_so_told() {
    let server = Responder::start(|seen| match seen.target() {
        "/home" => Reply::new(302, &[("Location", "http://localhost/")], ""),
        _ => Reply::new(200, &[], "x"),
    })
    .await;
    let client = Client::new(Manners { public_only: true, ..Manners::default() }).expect("a client");
    let port = server.address.port();
    for host in [
        "127.0.0.1",
        "localhost",
        "2130706433",
        "0x7f.1",
        "0x7f000001",
        "017700000001",
        "127.1",
        "0",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[64:ff9b::7f00:1]",
        "10.0.0.1",
        "169.254.169.254",
        "192.168.0.1",
        "100.64.0.1",
        "[fe80::1]",
        "[fd00::1]",
        "[2001:db8::1]",
        "224.0.0.1",
        "127.0.0.1.",
    ] {
        let (found, error) = kind(&client, &format!("http://{host}:{port}/")).await;
        assert_eq!(found, Kind::PrivateAddress, "{host}: {error:?}");
        assert!(!error.is_transient() && !error.is_ours());
    }
    assert!(server.seen().is_empty(), "nothing was sent");
    assert_eq!(read(&self::client(), server.url("/x")).await.expect("an answer"), b"x", "unless told otherwise");
    let proxy = Manners { public_only: true, proxy: Some(server.url("/")), ..Manners::default() };
    assert!(matches!(Client::new(proxy), Err(FetchError::Setup { .. })), "a proxy would ask whom it likes");
}

#[tokio::test]
async fn a_restricted_client_is_not_led_home_by_urls_or_redirects() {
    let server = Responder::start(|_| Reply::new(200, &[], "secret")).await;
    let secret = format!("http://{}/", server.address);
    let plain = self::client();
    let public = Url::parse("http://public.example/").expect("a URL");
    let wary = plain.restricted_to([Start::from(&public)]).expect("a client");
    let named = format!("http://localhost:{}/", server.address.port());
    for url in [&secret, &named, "http://169.254.169.254/", "http://[::1]/"] {
        assert_eq!(kind(&wary, url).await.0, Kind::PrivateAddress, "{url}");
    }
    assert!(server.seen().is_empty(), "nothing was sent");
    assert_eq!(read(&plain, server.url("/")).await.expect("an answer"), b"secret", "the other one is as it was");

    // A proxy stands for the public internet here: names are its business, addresses and redirects are ours.
    let location = secret.clone();
    let proxy = Responder::start(move |seen| match seen.target() {
        "http://public.example/led" => Reply::new(302, &[("Location", &location)], ""),
        _ => Reply::new(200, &[], "public"),
    })
    .await;
    let manners = Manners { proxy: Some(proxy.url("/")), ..Manners::default() };
    let wary = Client::new(manners).and_then(|client| client.restricted_to([Start::from(&public)])).expect("a client");
    let url = |text: &str| Url::parse(text).expect("a URL");
    assert_eq!(read(&wary, url("http://public.example/")).await.expect("an answer"), b"public");
    for url in ["http://public.example/led", &secret, &named] {
        assert_eq!(kind(&wary, url).await.0, Kind::PrivateAddress, "{url}");
    }
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn a_private_start_leads_to_itself_and_not_to_other_private_hosts() {
    let server = Responder::start(|seen| match seen.target() {
        "/away" => Reply::new(302, &[("Location", "http://10.255.255.1/")], ""),
        _ => Reply::new(200, &[], "x"),
    })
    .await;
    for start in [server.url("/"), server.at("localhost", "/")] {
        let client = self::client().restricted_to([Start::from(&start)]).expect("a client");
        assert_eq!(read(&client, server.url("/")).await.expect("an answer"), b"x");
        assert_eq!(read(&client, server.at("localhost", "/")).await.expect("an answer"), b"x");
        for url in [server.url("/away").as_str(), "http://10.255.255.1/", "http://169.254.169.254/", "http://0.0.0.0/"]
        {
            assert_eq!(kind(&client, url).await.0, Kind::PrivateAddress, "{url}");
        }
        assert!(client.public_starts().is_empty());
    }
}
