//! Slow, huge, malformed and hostile clients.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::time::{Duration, Instant};

use crate::bench::{Bench, Folder, Reply};

const FORM: &str = "application/x-www-form-urlencoded";

#[test]
fn a_slow_head_is_given_up() {
    let bench = Folder::new(&[("a", "x")]).serve(|settings, _| settings.header_timeout = Duration::from_secs(1));
    let started = Instant::now();
    let mut silent = bench.connect();
    let mut slow = bench.connect();
    for byte in b"GET /a HTTP/1.1\r\nHost" {
        if slow.write_all(&[*byte]).is_err() {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    slow.shutdown(std::net::Shutdown::Write).expect("open");
    assert_eq!(Reply::read(&mut slow).status, 408);
    assert_eq!(silent.read(&mut [0; 10]).expect("closed"), 0);
    assert!(started.elapsed() < Duration::from_secs(4));
}

#[test]
fn a_slow_form_and_a_reader_that_stalls_are_given_up() {
    let folder = Folder::new(&[]);
    File::create(folder.root().join("large")).and_then(|file| file.set_len(500_000_000)).expect("a sparse file");
    let bench = folder.serve(|settings, _| settings.stall_timeout = Duration::from_secs(1));
    let mut reader = bench.connect();
    reader.write_all(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n").expect("sent");
    let request =
        format!("POST /modoai HTTP/1.1\r\nHost: x\r\nContent-Type: {FORM}\r\nContent-Length: 13\r\n\r\nverb=");
    assert_eq!(bench.raw(&request).status, 408);
    std::thread::sleep(Duration::from_millis(500));
    let mut received = Vec::new();
    let _ = reader.read_to_end(&mut received);
    assert!(received.len() < 100_000_000, "the server went on after {} bytes", received.len());
}

#[test]
fn a_huge_form_is_refused_before_it_is_sent() {
    let bench = Bench::of(&[]);
    let head = format!("POST /modoai HTTP/1.1\r\nHost: x\r\nContent-Type: {FORM}\r\nContent-Length: 104857600\r\n\r\n");
    let started = Instant::now();
    assert_eq!(bench.raw(&head).status, 413);

    // A client that sends all the same can still read why it was refused.
    let mut socket = bench.connect();
    socket.write_all(head.as_bytes()).expect("sent");
    for _ in 0..100 {
        if socket.write_all(&[b'a'; 1 << 20]).is_err() {
            break;
        }
    }
    assert_eq!(Reply::read(&mut socket).status, 413);

    let chunked =
        format!("POST /modoai HTTP/1.1\r\nHost: x\r\nContent-Type: {FORM}\r\nTransfer-Encoding: chunked\r\n\r\n");
    let chunks = "1000\r\n".to_owned() + &"a".repeat(0x1000) + "\r\n";
    assert_eq!(bench.raw(&(chunked + &chunks.repeat(10))).status, 413);
    assert!(started.elapsed() < Duration::from_secs(8));
}

#[test]
fn floods_of_headers_are_refused() {
    let bench = Bench::of(&[("a", "x")]);
    let many: String = (0..10_000).map(|index| format!("X-{index}: y\r\n")).collect();
    assert_eq!(bench.raw(&format!("GET /a HTTP/1.1\r\nHost: x\r\n{many}\r\n")).status, 431);
    let long = "y".repeat(10_000_000);
    assert_eq!(bench.raw(&format!("GET /a HTTP/1.1\r\nHost: x\r\nX: {long}\r\n\r\n")).status, 431);
    assert_eq!(bench.get(&format!("/{}", "a".repeat(40_000))).status, 414);
    assert_eq!(bench.get(&format!("/{}", "a/".repeat(10_000))).status, 404);
    assert_eq!(bench.get("/a").status, 200);
}

#[test]
fn a_thousandfold_of_connections_is_bounded() {
    const MOST: usize = 100;
    let bench = Folder::new(&[("a", "x")]).serve(|settings, _| settings.max_connections = MOST);
    let crowd: Vec<_> = (0..2000).map(|_| bench.connect()).collect();
    std::thread::sleep(Duration::from_millis(500));
    let (mut kept, mut told) = (0, 0);
    for mut socket in &crowd {
        socket.set_nonblocking(true).expect("a socket");
        let mut bytes = [0; 1000];
        match socket.read(&mut bytes) {
            Ok(0) => {}
            Ok(length) => {
                let reply = Reply::parse(&bytes[..length]);
                assert_eq!((reply.status, reply.header("retry-after"), reply.is_whole), (503, Some("10"), true));
                told += 1;
            }
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => kept += 1,
            Err(_) => {}
        }
    }
    assert_eq!(kept, MOST);
    assert!(told > 0, "at least some are told why");
    drop(crowd);
    let started = Instant::now();
    while bench.get("/a").status != 200 {
        assert!(started.elapsed() < Duration::from_secs(5), "the server recovers once the crowd has gone");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn clients_that_leave_do_no_harm() {
    let folder = Folder::new(&[("a", "x")]);
    File::create(folder.root().join("large")).and_then(|file| file.set_len(500_000_000)).expect("a sparse file");
    let bench = folder.serve(|settings, _| settings.max_connections = 20);
    for round in 0..100 {
        let mut socket = bench.connect();
        let target = if round % 2 == 0 { "large" } else { "modoai?verb=ListRecords&metadataPrefix=oai_didl" };
        socket.write_all(format!("GET /{target} HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes()).expect("sent");
        let _ = socket.read(&mut [0; 100]);
        drop(socket);
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(bench.get("/a").status, 200);
}
