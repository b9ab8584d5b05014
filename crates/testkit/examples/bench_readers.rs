//! The readers of a site, for the benchmark: `bench_readers URL SECONDS READERS [RATE [new]]` reads paths, one a line, and
//! lets so many readers GET them for so long: one request after the other, or each reader RATE requests a second; with
//! `new`, each on a connection of its own. Prints one line of JSON.
//!
//! With `USER:PASSWORD@` in the URL, each request has these credentials; `*` in the password becomes the number of the
//! request, so that no two have the same.

use std::collections::BTreeMap;
use std::io::{self, BufRead as _};
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
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
    let (credentials, url) = split(url);
    let credentials = credentials.map(Arc::new);
    let start = Instant::now();
    let end = start + Duration::from_secs_f64(seconds);
    let reading: Vec<_> = (0..readers)
        .map(|number| {
            let (paths, client, credentials) = (paths.clone(), Client::new(&url), credentials.clone());
            let first = number * paths.len() / readers;
            let headers = move |count| credentials.as_deref().map(|given| authorization(given, number, count));
            thread::spawn(move || read(client, paths.iter().cycle().skip(first), headers, end, pace))
        })
        .collect();
    let (mut times, mut failures) = (Vec::new(), BTreeMap::<u16, usize>::new());
    for reader in reading {
        let (taken, failed) = reader.join().expect("a reader does not panic");
        times.extend(taken);
        failed.into_iter().for_each(|(status, count)| *failures.entry(status).or_default() += count);
    }
    let seconds = start.elapsed().as_secs_f64();
    let median = median_ms(&times);
    times.sort();
    let slow = times.get(times.len() * 99 / 100).map_or(0.0, |time| time.as_secs_f64() * 1000.0);
    let statuses: Vec<String> = failures.iter().map(|(status, count)| format!("\"{status}\": {count}")).collect();
    println!(
        "{{\"requests\": {}, \"failures\": {}, \"statuses\": {{{}}}, \"seconds\": {seconds:.3}, \
         \"median_ms\": {median:.4}, \"slow_ms\": {slow:.4}}}",
        times.len(),
        failures.values().sum::<usize>(),
        statuses.join(", "),
    );
    ExitCode::SUCCESS
}

/// The credentials in a URL, and the URL without them.
fn split(url: &str) -> (Option<String>, String) {
    match url.split_once("://").and_then(|(scheme, rest)| Some((scheme, rest.rsplit_once('@')?))) {
        Some((scheme, (credentials, rest))) => (Some(credentials.to_owned()), format!("{scheme}://{rest}")),
        None => (None, url.to_owned()),
    }
}

/// The header with the credentials of one request of a reader.
fn authorization(credentials: &str, reader: usize, count: usize) -> String {
    format!("Basic {}", STANDARD.encode(credentials.replace('*', &format!("{reader}-{count}"))))
}

/// How a reader requests.
#[derive(Clone, Copy)]
struct Pace {
    /// The time from one request to the next; none for one after the other.
    period: Option<Duration>,
    /// Whether each request has a connection of its own.
    is_new: bool,
}

/// One reader: how long each answer took from the time at which it was due, and how often it was another status than 200;
/// 0 means that there was no answer.
fn read<'a>(
    mut client: Client,
    paths: impl Iterator<Item = &'a String>,
    authorization: impl Fn(usize) -> Option<String>,
    end: Instant,
    pace: Pace,
) -> (Vec<Duration>, BTreeMap<u16, usize>) {
    let mut response = Response::default();
    let (mut times, mut failures) = (Vec::new(), BTreeMap::new());
    let mut due = Instant::now();
    for (count, path) in paths.enumerate() {
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
        let authorization = authorization(count);
        let mut headers: Vec<(&str, &str)> = Vec::new();
        headers.extend(pace.is_new.then_some(("Connection", "close")));
        headers.extend(authorization.as_deref().map(|value| ("Authorization", value)));
        match client.send_into("GET", path, &headers, b"", &mut response) {
            Ok(()) if response.status == 200 => times.push(due.elapsed()),
            Ok(()) => *failures.entry(response.status).or_default() += 1,
            Err(_) => *failures.entry(0).or_default() += 1,
        }
    }
    (times, failures)
}
