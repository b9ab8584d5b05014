//! Asking through a proxy, and around it.

use std::sync::{Arc, Mutex};

use modoai_fetch::{Client, Manners, Url};
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};

use crate::responder::{Reply, Responder, read, read_head};
use crate::safety::{certificate, trusting};

/// A proxy for CONNECT only, which leads wherever it is asked to, and notes what it was asked.
async fn tunnel() -> (Url, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://user:geheim@{}/", listener.local_addr().expect("an address"));
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    tokio::spawn(async move {
        while let Ok((mut near, _)) = listener.accept().await {
            let head = read_head(&mut near).await.expect("a request");
            log.lock().expect("not poisoned").push(head.clone());
            let to = head.strip_prefix("CONNECT ").and_then(|rest| rest.split(' ').next()).expect("CONNECT");
            let mut far = TcpStream::connect(to).await.expect("the other side");
            near.write_all(b"HTTP/1.1 200 Go ahead\r\n\r\n").await.expect("written");
            tokio::spawn(async move { tokio::io::copy_bidirectional(&mut near, &mut far).await });
        }
    });
    (Url::parse(&url).expect("a URL"), seen)
}

#[tokio::test]
async fn http_is_asked_of_the_proxy() {
    let proxy = Responder::always(Reply::new(200, &[], "from the proxy")).await;
    let mut url = proxy.url("/");
    url.set_username("user").and_then(|()| url.set_password(Some("geheim"))).expect("a host");
    let client = Client::new(Manners { proxy: Some(url), ..Manners::default() }).expect("a client");
    let body = read(&client, Url::parse("http://repository.example/oai?verb=Identify").expect("a URL")).await;
    assert_eq!(body.expect("an answer"), b"from the proxy");
    let seen = &proxy.seen()[0];
    assert_eq!(seen.target(), "http://repository.example/oai?verb=Identify");
    assert_eq!(seen.header("Proxy-Authorization"), Some("Basic dXNlcjpnZWhlaW0="));
    assert_eq!(seen.header("Authorization"), None);
}

#[tokio::test]
async fn https_goes_through_a_tunnel() {
    let (pem, tls) = certificate(&[]);
    let server = Responder::start_tls(tls, |_| Reply::new(200, &[], "safe")).await;
    let (proxy, seen) = tunnel().await;
    let client = trusting(&pem, Manners { proxy: Some(proxy), ..Manners::default() });
    assert_eq!(read(&client, server.url("/")).await.expect("an answer"), b"safe");
    let asked = seen.lock().expect("not poisoned").join("");
    assert!(asked.starts_with(&format!("CONNECT {} ", server.address)), "{asked}");
    assert!(asked.to_ascii_lowercase().contains("proxy-authorization: basic"), "{asked}");
    assert_eq!(server.seen()[0].header("Proxy-Authorization"), None);
}

/// The environment belongs to the process, so this runs in one of its own: this test binary, asked for the test below.
async fn in_environment(url: &Url, variables: &[(&str, &str)]) -> bool {
    let mut child = std::process::Command::new(std::env::current_exe().expect("this program"));
    child.args(["--exact", "proxies::asked_from_another_process", "--ignored"]).env("TEST_URL", url.as_str());
    for name in
        ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy"]
    {
        child.env_remove(name);
    }
    child.envs(variables.iter().copied());
    let output = tokio::task::spawn_blocking(move || child.output()).await.expect("no panic").expect("a process");
    output.status.success()
}

#[tokio::test]
#[ignore = "run by the test of the environment, in a process of its own"]
async fn asked_from_another_process() {
    let url = std::env::var("TEST_URL").expect("what to ask for").parse().expect("a URL");
    let proxy = std::env::var("TEST_PROXY").ok().map(|proxy| proxy.parse().expect("a URL"));
    let client = Client::new(Manners { proxy, ..Manners::default() }).expect("a client");
    assert_eq!(read(&client, url).await.expect("an answer"), b"ok");
}

#[tokio::test]
async fn the_environment_is_heeded() {
    let proxy = Responder::always(Reply::new(200, &[], "ok")).await;
    let server = Responder::always(Reply::new(200, &[], "ok")).await;
    let (through, target) = (proxy.url("/").to_string(), server.url("/x"));
    let asked = || (proxy.seen().len(), server.seen().len());

    assert!(in_environment(&target, &[("http_proxy", &through)]).await);
    assert_eq!(asked(), (1, 0), "through the proxy");
    assert!(in_environment(&target, &[("http_proxy", &through), ("NO_PROXY", "example.org,127.0.0.1")]).await);
    assert_eq!(asked(), (1, 1), "around it");
    assert!(in_environment(&target, &[("TEST_PROXY", &through)]).await);
    assert_eq!(asked(), (2, 1), "through the one in the settings");
    assert!(in_environment(&target, &[("TEST_PROXY", &through), ("NO_PROXY", "127.0.0.0/8")]).await);
    assert_eq!(asked(), (2, 2), "around that one too");
}

#[tokio::test]
async fn without_certificates_http_still_works() {
    let server = Responder::always(Reply::new(200, &[], "ok")).await;
    let bare = [("SSL_CERT_FILE", "/dev/null"), ("SSL_CERT_DIR", "/nowhere")];
    assert!(in_environment(&server.url("/"), &bare).await, "a small container has none, and needs none for this");
    let (_, tls) = certificate(&[]);
    let safe = Responder::start_tls(tls, |_| Reply::new(200, &[], "ok")).await;
    assert!(!in_environment(&safe.url("/"), &bare).await, "and https is refused there");
    assert!(safe.seen().is_empty());
}
