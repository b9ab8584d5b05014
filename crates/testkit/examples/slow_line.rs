//! A line with a delay: `slow_line PORT TO_PORT MILLISECONDS` passes on what comes to one port of loopback to another, half
//! of the delay later in each direction, as fast as it comes. What sees it is a longer way, not a narrower one.
//!
//! Opening a connection takes one more delay, as it does over such a distance.

use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// Pieces that are under way in one direction, of at most 64 KB: more than a fast line holds in any delay that is tried.
const UNDER_WAY: usize = 4096;

type Piece = (Instant, Vec<u8>);

fn main() -> ExitCode {
    let numbers: Vec<u16> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let [port, to, delay] = numbers[..] else {
        eprintln!("usage: slow_line PORT TO_PORT MILLISECONDS");
        return ExitCode::FAILURE;
    };
    match serve(port, to, Duration::from_millis(delay.into())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("slow_line: {error}");
            ExitCode::FAILURE
        }
    }
}

fn serve(port: u16, to: u16, delay: Duration) -> io::Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", port))?;
    println!("listening on http://{}", listener.local_addr()?);
    for client in listener.incoming() {
        let client = client?;
        let opened = Instant::now() + delay;
        let server = TcpStream::connect(("127.0.0.1", to))?;
        for (from, to) in [(client.try_clone()?, server.try_clone()?), (server, client)] {
            to.set_nodelay(true)?;
            let (sender, receiver) = sync_channel(UNDER_WAY);
            // Either end may go away at any time; then the other is told, and that is all.
            thread::spawn(move || take(from, &sender, opened, delay / 2));
            thread::spawn(move || give(to, &receiver));
        }
    }
    Ok(())
}

fn take(mut from: TcpStream, sender: &SyncSender<Piece>, opened: Instant, delay: Duration) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        let due = Instant::now().max(opened) + delay;
        if sender.send((due, buffer[..length].to_vec())).is_err() {
            break;
        }
    }
}

fn give(mut to: TcpStream, receiver: &Receiver<Piece>) {
    for (due, piece) in receiver {
        thread::sleep(due.saturating_duration_since(Instant::now()));
        if to.write_all(&piece).is_err() {
            break;
        }
    }
    // Who shuts down what is already closed loses nothing.
    let _ = to.shutdown(Shutdown::Write);
}
