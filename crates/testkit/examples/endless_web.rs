//! A web of as many URLs as one likes, made while it is asked for: `endless_web COUNT [PORT]`.
//!
//! The URLs are `/0`, `/1` … `/COUNT-1`. A fifth of them are pages with some twenty links: five to the next of their kind, so
//! that everything can be reached from `/0`, and the rest to anywhere. The others are small files of text without any. Every
//! page whose number is divisible by a thousand has one link that leads nowhere. It is the same web at every start, with an
//! ETag on everything.
//!
//! `/statistics` tells as JSON what was asked for so far, and how often more than once.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use modoai_testkit::dice::Dice;

/// Links of a page to the next URLs: enough of them that a fifth being pages reaches all.
const CHILDREN: u64 = 5;

/// Links of a page to anywhere.
const OTHERS: u64 = 15;

/// One page in so many has a link that leads nowhere.
const MISSING: u64 = 1_000;

fn main() -> ExitCode {
    let numbers: Vec<u64> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let (count, port) = match numbers[..] {
        [count] if count > 0 => (count, 0),
        [count, port] if count > 0 => (count, u16::try_from(port).unwrap_or(0)),
        _ => {
            eprintln!("usage: endless_web COUNT [PORT]");
            return ExitCode::FAILURE;
        }
    };
    match serve(count, port) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("endless_web: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The web, and what was asked of it.
struct Web {
    count: u64,
    seen: Vec<AtomicBool>,
    requests: AtomicU64,
    urls: AtomicU64,
    repeated: AtomicU64,
    unchanged: AtomicU64,
}

fn serve(count: u64, port: u16) -> io::Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", port))?;
    let seen = (0..count).map(|_| AtomicBool::new(false)).collect();
    let zero = AtomicU64::default;
    let web = Arc::new(Web { count, seen, requests: zero(), urls: zero(), repeated: zero(), unchanged: zero() });
    println!("listening on http://{}", listener.local_addr()?);
    for connection in listener.incoming() {
        let (connection, web) = (connection?, web.clone());
        // A client that goes away in the middle of an answer has had enough.
        std::thread::spawn(move || converse(&connection, &web).unwrap_or_default());
    }
    Ok(())
}

/// Answers request after request of one connection.
fn converse(connection: &TcpStream, web: &Web) -> io::Result<()> {
    connection.set_nodelay(true)?;
    let mut requests = BufReader::new(connection);
    let mut answer = Vec::new();
    loop {
        let mut request = String::new();
        if requests.read_line(&mut request)? == 0 {
            return Ok(());
        }
        let mut condition = None;
        loop {
            let mut line = String::new();
            if requests.read_line(&mut line)? <= 2 {
                break;
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("if-none-match")
            {
                condition = Some(value.trim().to_owned());
            }
        }
        let mut words = request.split(' ');
        let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        answer.clear();
        web.answer(target, method == "HEAD", condition.as_deref(), &mut answer);
        (&mut &*connection).write_all(&answer)?;
    }
}

impl Web {
    fn answer(&self, target: &str, head_only: bool, condition: Option<&str>, answer: &mut Vec<u8>) {
        if target == "/statistics" {
            let body = self.statistics();
            return reply(answer, 200, "application/json", None, &body, head_only);
        }
        self.requests.fetch_add(1, Ordering::Relaxed);
        let number = target.strip_prefix('/').and_then(|number| number.parse().ok());
        let Some(number) = number.filter(|number| *number < self.count) else {
            return reply(answer, 404, "text/plain", None, "not found\n", head_only);
        };
        let seen = usize::try_from(number).ok().and_then(|number| self.seen.get(number));
        match seen.is_some_and(|seen| seen.swap(true, Ordering::Relaxed)) {
            true => self.repeated.fetch_add(1, Ordering::Relaxed),
            false => self.urls.fetch_add(1, Ordering::Relaxed),
        };
        let tag = format!("\"{number}\"");
        if condition == Some(&*tag) {
            self.unchanged.fetch_add(1, Ordering::Relaxed);
            return reply(answer, 304, "text/html", Some(&tag), "", true);
        }
        match self.is_page(number) {
            true => reply(answer, 200, "text/html; charset=utf-8", Some(&tag), &self.page(number), head_only),
            false => reply(answer, 200, "text/plain", Some(&tag), "nothing but text\n", head_only),
        }
    }

    fn is_page(&self, number: u64) -> bool {
        number == 0 || number * CHILDREN + 1 < self.count
    }

    fn page(&self, number: u64) -> String {
        let mut page =
            format!("<!DOCTYPE html>\n<html lang=en><title>Page {number}</title>\n<h1>Page {number}</h1>\n<ul>\n");
        let mut link = |to: u64| page.push_str(&format!("<li><a href=\"/{to}\">number {to}</a>\n"));
        (number * CHILDREN + 1..=number * CHILDREN + CHILDREN).filter(|to| *to < self.count).for_each(&mut link);
        let mut dice = Dice::new(number);
        (0..OTHERS).map(|_| dice.below(self.count)).for_each(&mut link);
        if number.is_multiple_of(MISSING) {
            page.push_str(&format!("<li><a href=\"/missing/{number}\">nothing</a>\n"));
        }
        page.push_str("</ul>\n");
        page
    }

    fn statistics(&self) -> String {
        let [requests, urls, repeated, unchanged] = [&self.requests, &self.urls, &self.repeated, &self.unchanged]
            .map(|counter| counter.load(Ordering::Relaxed));
        let pages = (0..self.count).take_while(|number| self.is_page(*number)).count() as u64;
        let missing = pages.div_ceil(MISSING);
        format!(
            "{{\"requests\":{requests},\"urls\":{urls},\"repeated\":{repeated},\"unchanged\":{unchanged},\"pages\":{pages},\"missing\":{missing}}}\n"
        )
    }
}

fn reply(answer: &mut Vec<u8>, status: u16, media_type: &str, tag: Option<&str>, body: &str, head_only: bool) {
    let tag = tag.map(|tag| format!("ETag: {tag}\r\n")).unwrap_or_default();
    let length = if status == 304 { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
    let head = format!("HTTP/1.1 {status} Said\r\nContent-Type: {media_type}\r\n{tag}{length}\r\n");
    answer.extend_from_slice(head.as_bytes());
    if !head_only {
        answer.extend_from_slice(body.as_bytes());
    }
}
