//! Slow, huge, malformed and hostile clients.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::time::Duration;

use modoai_testkit::waiting::{PATIENCE, wait_for, wait_until};

use crate::bench::{Bench, Folder, Reply};

const FORM: &str = "application/x-www-form-urlencoded";

#[test]
fn a_slow_head_is_given_up() {
    let bench = Folder::new(&[("a", "x")]).serve(|settings, _| settings.stall_timeout = Duration::from_secs(1));
    let mut silent = bench.connect();
    let mut slow = bench.connect();
    for byte in b"GET /a HTTP/1.1\r\nHost" {
        if slow.write_all(&[*byte]).is_err() {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    // The server may have closed it already.
    let _ = slow.shutdown(std::net::Shutdown::Write);
    assert_eq!(Reply::read(&mut slow).status, 408);
    assert_eq!(silent.read(&mut [0; 10]).expect("closed"), 0);
}

#[test]
fn a_slow_form_and_a_reader_that_stalls_are_given_up() {
    let folder = Folder::new(&[]);
    File::create(folder.root().join("large")).and_then(|file| file.set_len(500_000_000)).expect("a sparse file");
    let bench = folder.serve(|settings, _| settings.stall_timeout = Duration::from_secs(1));
    let request =
        format!("POST /modoai HTTP/1.1\r\nHost: x\r\nContent-Type: {FORM}\r\nContent-Length: 13\r\n\r\nverb=");
    assert_eq!(bench.raw(&request).status, 408);
    // A server that is kept from its work notices a stall later, so that a second reader stalls for longer.
    let mut stall = Duration::from_secs(2);
    loop {
        let mut reader = bench.connect();
        reader.write_all(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n").expect("sent");
        std::thread::sleep(stall);
        let mut received = Vec::new();
        let _ = reader.take(100_000_000).read_to_end(&mut received);
        if received.len() < 100_000_000 {
            break;
        }
        stall *= 3;
        assert!(stall < PATIENCE, "the server goes on after a stall");
    }
}

#[test]
fn a_huge_form_is_refused_before_it_is_sent() {
    let bench = Bench::of(&[]);
    let head = format!("POST /modoai HTTP/1.1\r\nHost: x\r\nContent-Type: {FORM}\r\nContent-Length: 104857600\r\n\r\n");
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
    let bench = Folder::new(&[("a", "x")]).serve(|settings, _| {
        settings.max_connections = MOST;
        settings.max_connections_per_address = MOST;
    });
    let mut crowd: Vec<_> = (0..2000).map(|_| bench.connect()).collect();
    let mut told = 0;
    wait_for("all but so many are sent away", || {
        crowd.retain_mut(|socket| {
            socket.set_nonblocking(true).expect("a socket");
            let mut bytes = [0; 1000];
            match socket.read(&mut bytes) {
                Ok(length) if length > 0 => {
                    let reply = Reply::parse(&bytes[..length]);
                    assert_eq!((reply.status, reply.header("retry-after"), reply.is_whole), (503, Some("10"), true));
                    told += 1;
                    false
                }
                result => result.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock),
            }
        });
        if crowd.len() <= MOST { Ok(()) } else { Err(format!("{} are left", crowd.len())) }
    });
    // Whoever would be sent away wrongly has been accepted by now, and would be told soon.
    std::thread::sleep(Duration::from_millis(200));
    crowd.retain_mut(|socket| socket.read(&mut [0; 1]).is_err());
    assert_eq!(crowd.len(), MOST);
    assert!(told > 0, "at least some are told why");
    drop(crowd);
    wait_until("the server recovers once the crowd has gone", || bench.get("/a").status == 200);
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
    wait_until("there is room again", || bench.get("/a").status == 200);
}
