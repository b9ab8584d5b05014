//! A harvester that does as little as possible, so that what is measured is the server: it asks for page after page on
//! one connection, counts records, and finds the token by a byte search.
//!
//! `bench_client URL QUERY [PID]` prints one line of JSON; with a process id it also watches that process's memory.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use memchr::memmem;
use modoai_testkit::http::{self, Client, Response};
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
    let rest = url.strip_prefix("http://").unwrap_or(url);
    let path = rest.find('/').map_or("/", |slash| &rest[slash..]);
    let verb = query.split('&').next().unwrap_or_default();
    let mut client = Client::new(url);
    let mut response = Response::default();
    let mut target = format!("{path}?{query}");
    let (mut records, mut bytes, mut resident) = (0, 0, 0);
    let mut times = Vec::new();
    let start = Instant::now();
    loop {
        let asked = Instant::now();
        client.send_into("GET", &target, &[], b"", &mut response)?;
        times.push(asked.elapsed());
        if response.status != 200 {
            return Err(std::io::Error::other(format!("status {}", response.status)));
        }
        bytes += response.body.len();
        // Who says how many came before need not be counted after, but for the last page.
        let resumption = resumption(&response.body);
        match resumption.cursor {
            Some(before) if resumption.token.is_some() => records = before,
            Some(before) => records = before + items(&response.body),
            None => records += items(&response.body),
        }
        if let Some(pid) = pid.filter(|_| times.len() % 16 == 1) {
            resident = resident.max(process::resident(pid)?);
        }
        match resumption.token {
            Some(token) => {
                target = format!("{path}?{verb}&resumptionToken={}", http::encode(token));
            }
            None => break,
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{{\"records\": {records}, \"bytes\": {bytes}, \"pages\": {}, \"seconds\": {seconds:.6}, \
         \"opening_ms\": {:.4}, \"first_page_ms\": {:.4}, \"last_page_ms\": {:.4}, \"resident\": {resident}}}",
        times.len(),
        milliseconds(times.iter().take(1)),
        milliseconds(times.iter().take(EDGE)),
        // The very last page may hold a single record, which would flatter.
        milliseconds(times.iter().rev().skip(1).take(EDGE)),
    );
    Ok(())
}

/// Every item has one of these, in headers and in records, whatever the metadata.
const ITEM: &[u8] = b"<datestamp>";

/// One page alone is noise: the first and the last page are the medians of this many.
const EDGE: usize = 20;

fn milliseconds<'a>(times: impl Iterator<Item = &'a Duration>) -> f64 {
    let mut times: Vec<_> = times.collect();
    times.sort();
    times.get(times.len() / 2).map_or(0.0, |time| time.as_secs_f64() * 1000.0)
}

fn items(page: &[u8]) -> usize {
    memmem::find_iter(page, ITEM).count()
}

/// Where a list goes on, and how many came before this page.
#[derive(Default)]
struct Resumption<'a> {
    token: Option<&'a str>,
    cursor: Option<usize>,
}

fn resumption(page: &[u8]) -> Resumption<'_> {
    // It stands near the end.
    let tail = &page[page.len().saturating_sub(8192)..];
    let start = memmem::find(tail, b"<resumptionToken").unwrap_or(tail.len());
    let text = std::str::from_utf8(&tail[start..]).unwrap_or_default();
    let Some((tag, rest)) = text.split_once('>') else { return Resumption::default() };
    let token = rest.split('<').next().filter(|token| !token.is_empty());
    let cursor = tag.split_once("cursor=\"").and_then(|(_, rest)| rest.split('"').next()?.parse().ok());
    Resumption { token, cursor }
}
