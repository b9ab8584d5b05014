//! Many requests of one address: others still get their logins checked, and their connections.

use std::fs::{self, File};
use std::io::Write as _;
use std::net::TcpStream;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use modoai_testkit::http::Client;
use modoai_testkit::process::{Launch, Server};
use modoai_testkit::site::TestSite;
use modoai_testkit::waiting::{PATIENCE, wait_for, wait_until};

/// alice: secret.
const HTPASSWD: &str = "alice:$2y$08$O5s2obNommhXBsf138IWQOuaPgbiN0wsjCbPnuD/LfrD62fa5TP4m\n";

#[test]
fn wrong_passwords_of_one_address_delay_only_that_address() {
    const CROWD: usize = 60;
    let site = TestSite::with(&[("private/a.txt", "x"), ("open.txt", "x")]);
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("users"), HTPASSWD).expect("a password file");
    let config = folder.path().join("modoai.toml");
    // The proxy says whose request it is.
    let text = "trusted_proxies = [\"127.0.0.1\"]\n[[area]]\npath = \"/private\"\nhtpasswd = \"users\"\n";
    fs::write(&config, text).expect("a configuration");
    let server = Launch::of(site.path()).argument("--config").argument(&config).start();
    let login = |from: &str, password: &str| {
        let mut client = Client::new(server.url()).with_password("alice", password);
        client.get_with("/private/a.txt", &[("X-Forwarded-For", from)]).expect("an answer").status
    };
    // The number of wrong passwords that were checked while a public file and then a protected one were requested. It is larger, if the machine
    // keeps this client waiting: hence some attempts, each from another address.
    let attempt = |number: usize| {
        let checked = AtomicUsize::new(0);
        thread::scope(|scope| {
            for wrong in 0..CROWD {
                let (login, checked) = (&login, &checked);
                scope.spawn(move || {
                    // 503 for those who waited for too long.
                    let status = login("203.0.113.9", &format!("wrong {number} {wrong}"));
                    assert!(matches!(status, 401 | 503));
                    checked.fetch_add(usize::from(status == 401), Ordering::SeqCst);
                });
            }
            wait_until("a password is checked", || checked.load(Ordering::SeqCst) > 0);
            let before = checked.load(Ordering::SeqCst);
            // A file outside the area does not wait for any of them, although the address has used its share of checks.
            let mut wrong = Client::new(server.url()).with_password("alice", "wrong, too");
            let open = wrong.get_with("/open.txt", &[("X-Forwarded-For", "203.0.113.9")]).expect("an answer");
            assert_eq!(open.status, 200);
            assert_eq!(login(&format!("198.51.100.{number}"), "secret"), 200);
            checked.load(Ordering::SeqCst) - before
        })
    };
    let meanwhile: Vec<usize> = (1..=10).map(attempt).take_while(|meanwhile| *meanwhile > 10).collect();
    assert!(meanwhile.len() < 10, "{meanwhile:?} of {CROWD} wrong passwords were checked before a right one");
}

/// The status that a client at another address of this machine gets: all of 127.0.0.0/8 is.
fn status_from(address: &str, url: &str) -> String {
    let seconds = PATIENCE.as_secs().to_string();
    let mut curl = Command::new("curl");
    curl.args(["--silent", "--output", "/dev/null", "--write-out", "%{http_code}", "--max-time", &seconds]);
    let done = curl.args(["--interface", address, url]).output().expect("curl runs");
    String::from_utf8_lossy(&done.stdout).into_owned()
}

/// Connections of clients that do not read the response.
fn held(server: &Server, count: usize) -> Vec<TcpStream> {
    let open = |_| {
        let mut stream = Client::new(server.url()).connect().expect("a connection");
        // It may have been closed already.
        let _ = stream.write_all(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n");
        stream
    };
    (0..count).map(open).collect()
}

#[test]
fn one_address_cannot_hold_all_connections() {
    const MOST: usize = 40;
    let site = TestSite::with(&[("a.txt", "x")]);
    File::create(site.path().join("large")).and_then(|file| file.set_len(100_000_000)).expect("a sparse file");
    let launch = || {
        let launch = Launch::of(site.path()).set("read_ahead", "false").set("stall_timeout", "10m");
        launch.set("max_connections", &MOST.to_string())
    };
    let server = launch().start();
    let held = held(&server, 2 * MOST);
    // Those beyond its share are refused; the others have a response that is not read.
    let is_refused = |stream: &TcpStream| {
        stream.set_nonblocking(true).expect("a socket");
        let mut answer = [0; 13];
        match stream.peek(&mut answer) {
            Ok(0) => true,
            Ok(_) => answer.starts_with(b"HTTP/1.1 503 "),
            Err(error) => error.kind() != std::io::ErrorKind::WouldBlock,
        }
    };
    wait_for("all but its share are refused", || match held.iter().filter(|stream| is_refused(stream)).count() {
        refused if refused == 2 * MOST - MOST / 2 => Ok(()),
        refused => Err(format!("{refused} of {} are refused", held.len())),
    });
    let url = format!("{}/a.txt", server.url());
    assert_eq!(status_from("127.0.0.1", &url), "503");
    for other in ["127.0.0.2", "127.0.0.3", "127.0.0.4"] {
        assert_eq!(status_from(other, &url), "200", "{other}");
    }
    // Its share is its own again when it is given back.
    drop(held);
    wait_until("its connections are given back", || status_from("127.0.0.1", &url) == "200");
}

#[test]
fn a_trusted_proxy_may_hold_all_connections() {
    const MOST: usize = 40;
    let site = TestSite::with(&[("a.txt", "x")]);
    let server = Launch::of(site.path())
        .set("max_connections", &MOST.to_string())
        .set("trusted_proxies", "[\"127.0.0.0/24\"]")
        .start();
    let mut clients: Vec<Client> = (0..MOST - 5).map(|_| server.client()).collect();
    for client in &mut clients {
        assert_eq!(client.get("/a.txt").expect("an answer").status, 200);
    }
}
