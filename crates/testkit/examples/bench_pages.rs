//! Single pages of lists, for the benchmark.
//!
//! `bench_pages walk URL QUERY` harvests a list and prints one JSON object: how many records and pages there were, what
//! the first page said there would be, what was asked for each page, and a digest of all records as they came.
//! `bench_pages times URL ROUNDS` reads such targets, one a line, asks for all of them in each round, every time in
//! another order, and prints a JSON list of what each took. A first round is told by itself.

use std::io::{self, BufRead as _};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use memchr::memmem;
use modoai_testkit::dice::Dice;
use modoai_testkit::http::{Client, Response};
use modoai_testkit::pages::{Walk, median_ms};
use serde_json::json;
use sha2::{Digest as _, Sha256};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["walk", url, query] => walk(url, query),
        ["times", url, rounds] => match rounds.parse() {
            Ok(rounds) => times(url, rounds),
            Err(_) => Err(io::Error::other(format!("'{rounds}' is no number"))),
        },
        _ => Err(io::Error::other("usage: bench_pages walk URL QUERY | times URL ROUNDS < TARGETS")),
    };
    match done {
        Ok(told) => {
            println!("{told}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("bench_pages: {error}");
            ExitCode::FAILURE
        }
    }
}

fn walk(url: &str, query: &str) -> io::Result<serde_json::Value> {
    let mut walk = Walk::new(url, query);
    let (mut targets, mut milliseconds, mut size, mut bytes) = (Vec::new(), Vec::new(), None, 0);
    let mut digest = Sha256::new();
    let start = Instant::now();
    while let Some(page) = walk.next_page()? {
        digest.update(listed(page.body));
        bytes += page.body.len();
        milliseconds.push(page.time.as_secs_f64() * 1000.0);
        size = size.or(page.size.filter(|_| targets.is_empty()));
        targets.push(page.target);
    }
    let digest: String = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(json!({
        "records": walk.records(),
        "size": size,
        "bytes": bytes,
        "seconds": start.elapsed().as_secs_f64(),
        "digest": digest,
        "targets": targets,
        "milliseconds": milliseconds,
    }))
}

/// The part of a page that does not depend on when it was asked for.
fn listed(page: &[u8]) -> &[u8] {
    let start = [&b"<record>"[..], b"<header"].iter().filter_map(|tag| memmem::find(page, tag)).min();
    let end = [&b"</record>"[..], b"</header>"].iter().filter_map(|tag| memmem::rfind(page, tag)).max();
    start.zip(end).map_or(&[], |(start, end)| &page[start..end])
}

fn times(url: &str, rounds: usize) -> io::Result<serde_json::Value> {
    let targets = io::stdin().lock().lines().collect::<io::Result<Vec<String>>>()?;
    let (mut client, mut response) = (Client::new(url), Response::default());
    let mut taken: Vec<Vec<Duration>> = vec![Vec::new(); targets.len()];
    let (mut first, mut bytes) = (vec![Duration::ZERO; targets.len()], vec![0; targets.len()]);
    let mut dice = Dice::new(1);
    let mut order: Vec<usize> = (0..targets.len()).collect();
    for round in 0..=rounds {
        for place in (1..order.len()).rev() {
            order.swap(place, dice.below(place as u64 + 1) as usize);
        }
        for &number in &order {
            let asked = Instant::now();
            client.send_into("GET", &targets[number], &[], b"", &mut response)?;
            let time = asked.elapsed();
            if response.status != 200 {
                return Err(io::Error::other(format!("{}: status {}", targets[number], response.status)));
            }
            bytes[number] = response.body.len();
            if round == 0 {
                first[number] = time;
            } else {
                taken[number].push(time);
            }
        }
    }
    let told = taken.iter().zip(first).zip(bytes).map(|((taken, first), bytes)| {
        json!({ "median_ms": median_ms(taken), "first_ms": first.as_secs_f64() * 1000.0, "bytes": bytes })
    });
    Ok(told.collect())
}
