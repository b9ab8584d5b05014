//! Harvests a list for the benchmark and says how long it took.
//!
//! `bench_client URL QUERY [PID]` prints one line of JSON; with a process id it also watches that process's memory.

use std::process::ExitCode;
use std::time::Instant;

use modoai_testkit::pages::{Walk, median_ms};
use modoai_testkit::process;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (url, query, pid) = match arguments.as_slice() {
        [url, query] => (url, query, None),
        [url, query, pid] => (url, query, pid.parse().ok()),
        _ => {
            eprintln!("usage: bench_client URL QUERY [PID]");
            return ExitCode::FAILURE;
        }
    };
    match harvest(url, query, pid) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench_client: {url}?{query}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn harvest(url: &str, query: &str, pid: Option<u32>) -> std::io::Result<()> {
    let mut walk = Walk::new(url, query);
    let (mut bytes, mut resident) = (0, 0);
    let mut times = Vec::new();
    let start = Instant::now();
    while let Some(page) = walk.next_page()? {
        times.push(page.time);
        bytes += page.body.len();
        if let Some(pid) = pid.filter(|_| times.len() % 16 == 1) {
            resident = resident.max(process::resident(pid)?);
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{{\"records\": {}, \"bytes\": {bytes}, \"pages\": {}, \"seconds\": {seconds:.6}, \
         \"opening_ms\": {:.4}, \"first_page_ms\": {:.4}, \"last_page_ms\": {:.4}, \"resident\": {resident}}}",
        walk.records(),
        times.len(),
        median_ms(times.iter().take(1)),
        median_ms(times.iter().take(EDGE)),
        // The very last page may hold a single record, which would flatter.
        median_ms(times.iter().rev().skip(1).take(EDGE)),
    );
    Ok(())
}

/// One page alone is noise: the first and the last page are the medians of this many.
const EDGE: usize = 20;
