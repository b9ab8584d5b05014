//! The readers of a site, for the benchmark: `bench_readers URL SECONDS READERS [RATE [new]]` reads paths, one a line, and
//! lets so many readers GET them for so long: one request after the other, or each reader RATE requests a second; with
//! `new`, each on a connection of its own. Prints one line of JSON.

use std::io::{self, BufRead as _};
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use modoai_testkit::http::{Client, Response};
use modoai_testkit::pages::median_ms;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (url, seconds, readers, further) = match arguments.as_slice() {
        [url, seconds, readers, further @ ..] => (url, seconds.parse(), readers.parse::<usize>(), further),
        _ => {
            eprintln!("usage: bench_readers URL SECONDS READERS [RATE [new]] < PATHS");
            return ExitCode::FAILURE;
        }
    };
    let rate = further.first().and_then(|rate| rate.parse::<f64>().ok());
    let pace = Pace { period: rate.map(|rate| Duration::from_secs_f64(1.0 / rate)), is_new: further.len() > 1 };
    let (Ok(seconds), Ok(readers), Ok(paths)) = (seconds, readers, io::stdin().lock().lines().collect()) else {
        eprintln!("bench_readers: SECONDS and READERS are numbers, and paths are text");
        return ExitCode::FAILURE;
    };
    let paths: Arc<Vec<String>> = Arc::new(paths);
    let start = Instant::now();
    let end = start + Duration::from_secs_f64(seconds);
    let reading: Vec<_> = (0..readers)
        .map(|number| {
            let (paths, client) = (paths.clone(), Client::new(url));
            let first = number * paths.len() / readers;
            thread::spawn(move || read(client, paths.iter().cycle().skip(first), end, pace))
        })
        .collect();
    let (mut times, mut failures) = (Vec::new(), 0);
    for reader in reading {
        let (taken, failed) = reader.join().expect("a reader does not panic");
        times.extend(taken);
        failures += failed;
    }
    let seconds = start.elapsed().as_secs_f64();
    let median = median_ms(&times);
    times.sort();
    let slow = times.get(times.len() * 99 / 100).map_or(0.0, |time| time.as_secs_f64() * 1000.0);
    println!(
        "{{\"requests\": {}, \"failures\": {failures}, \"seconds\": {seconds:.3}, \"median_ms\": {median:.4}, \
         \"slow_ms\": {slow:.4}}}",
        times.len(),
    );
    ExitCode::SUCCESS
}

/// How a reader requests.
#[derive(Clone, Copy)]
struct Pace {
    /// The time from one request to the next; none for one after the other.
    period: Option<Duration>,
    /// Whether each request has a connection of its own.
    is_new: bool,
}

/// One reader: how long each answer took from the time at which it was due, and how often there was none.
fn read<'a>(
    mut client: Client,
    paths: impl Iterator<Item = &'a String>,
    end: Instant,
    pace: Pace,
) -> (Vec<Duration>, usize) {
    const CLOSE: &[(&str, &str)] = &[("Connection", "close")];
    let mut response = Response::default();
    let (mut times, mut failures) = (Vec::new(), 0);
    let mut due = Instant::now();
    for path in paths {
        match pace.period {
            Some(period) => {
                due += period;
                thread::sleep(due.saturating_duration_since(Instant::now()));
            }
            None => due = Instant::now(),
        }
        // A server that answers late must not make it run longer.
        if due.max(Instant::now()) >= end {
            break;
        }
        let headers = if pace.is_new { CLOSE } else { &[] };
        match client.send_into("GET", path, headers, b"", &mut response) {
            Ok(()) if response.status == 200 => times.push(due.elapsed()),
            _ => failures += 1,
        }
    }
    (times, failures)
}
