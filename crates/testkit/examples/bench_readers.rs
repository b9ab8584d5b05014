//! The readers of a site, for the benchmark: `bench_readers URL SECONDS READERS` reads paths, one a line, and lets so
//! many readers GET them, one after the other, for so long. Prints one line of JSON.

use std::io::{self, BufRead as _};
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use modoai_testkit::http::{Client, Response};
use modoai_testkit::pages::median_ms;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (url, seconds, readers) = match arguments.as_slice() {
        [url, seconds, readers] => (url, seconds.parse(), readers.parse::<usize>()),
        _ => {
            eprintln!("usage: bench_readers URL SECONDS READERS < PATHS");
            return ExitCode::FAILURE;
        }
    };
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
            thread::spawn(move || read(client, paths.iter().cycle().skip(first), end))
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

/// One reader: how long each answer took, and how often there was none.
fn read<'a>(mut client: Client, paths: impl Iterator<Item = &'a String>, end: Instant) -> (Vec<Duration>, usize) {
    let mut response = Response::default();
    let (mut times, mut failures) = (Vec::new(), 0);
    for path in paths {
        let asked = Instant::now();
        if asked >= end {
            break;
        }
        match client.send_into("GET", path, &[], b"", &mut response) {
            Ok(()) if response.status == 200 => times.push(asked.elapsed()),
            _ => failures += 1,
        }
    }
    (times, failures)
}
