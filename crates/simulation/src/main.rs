//! Runs simulated harvests: many seeds in parallel, or one case with a trace.

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use modoai_simulation::case::{Case, from_text, to_text};
use modoai_simulation::oracle::Complaint;
use modoai_simulation::run::{Figures, Simulator};
use modoai_simulation::shrink::shrink;

const HELP: &str = "\
Usage: modoai-simulation [COUNT | FIRST..END]  run the cases of these seeds
       modoai-simulation --seconds SECONDS     run the cases of new seeds for that time
       modoai-simulation --trace SEED|CASE     run one case, and print every request
       modoai-simulation --corpus FILE         run the cases of a file, one in each line
       modoai-simulation --print SEED          print the case of a seed
Cases that fail are reduced, and printed as a line of JSON for tests/corpus.txt.";

/// Failures that are reduced and printed, for each rule.
const SHOWN: usize = 3;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        [] => run_seeds(0, 10_000, None),
        ["--trace", case] => trace(case),
        ["--corpus", file] => run_corpus(file),
        ["--print", seed] => seed.parse().map_or_else(
            |_| help(),
            |seed| {
                println!("{}", to_text(&Case::generate(seed)));
                ExitCode::SUCCESS
            },
        ),
        ["--seconds", seconds] => seconds.parse().map_or_else(
            |_| help(),
            |seconds| {
                let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
                let first = now.as_secs() * 1_000_000;
                run_seeds(first, u64::MAX, Some(Duration::from_secs(seconds)))
            },
        ),
        [range] => {
            let (first, end) = range.split_once("..").unwrap_or(("0", range));
            match (first.parse(), end.parse()) {
                (Ok(first), Ok(end)) => run_seeds(first, end, None),
                _ => help(),
            }
        }
        _ => help(),
    }
}

fn help() -> ExitCode {
    println!("{HELP}");
    ExitCode::from(2)
}

/// Runs seeds on all processors, and reports those that fail.
fn run_seeds(first: u64, end: u64, time: Option<Duration>) -> ExitCode {
    let (next, began) = (AtomicU64::new(first), Instant::now());
    let (figures, failures) = (Mutex::new(Figures::default()), Mutex::new(Vec::<(u64, Complaint)>::new()));
    let is_over = || time.is_some_and(|time| began.elapsed() > time);
    let work = || {
        let (simulator, mut sum) = (Simulator::new(), Figures::default());
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= end || is_over() {
                break;
            }
            let (figures, result) = simulator.execute(&Case::generate(seed), None);
            sum.add(&figures);
            if let Err(complaint) = result {
                failures.lock().expect("no panic").push((seed, complaint));
            }
        }
        figures.lock().expect("no panic").add(&sum);
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    let (figures, failures) = (figures.into_inner().expect("no panic"), failures.into_inner().expect("no panic"));
    report(&figures, failures, began.elapsed())
}

/// Prints the figures, and the failures by rule.
fn report(figures: &Figures, mut failures: Vec<(u64, Complaint)>, time: Duration) -> ExitCode {
    let per_second = figures.runs as f64 / time.as_secs_f64();
    println!("{figures}; {:.1} s, {per_second:.0} harvests per second", time.as_secs_f64());
    failures.sort_by_key(|(seed, complaint)| (complaint.rule, *seed));
    let simulator = Simulator::new();
    for of_rule in failures.chunk_by(|(_, one), (_, other)| one.rule == other.rule) {
        println!("{}: {} cases", of_rule[0].1.rule, of_rule.len());
        for (seed, complaint) in of_rule.iter().take(SHOWN) {
            let small = shrink(&simulator, &Case::generate(*seed), complaint.rule);
            println!("  seed {seed}: {complaint}\n  {}", to_text(&small));
        }
    }
    ExitCode::from(u8::from(!failures.is_empty()))
}

/// Runs the cases of a file.
fn run_corpus(file: &str) -> ExitCode {
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) => {
            eprintln!("failed to read {file}: {error}");
            return ExitCode::from(2);
        }
    };
    let simulator = Simulator::new();
    let mut failed = false;
    for line in text.lines().filter(|line| line.starts_with('{')) {
        let result = from_text(line).map_err(|error| format!("invalid case: {error}"));
        let result =
            result.and_then(|case| simulator.execute(&case, None).1.map_err(|complaint| complaint.to_string()));
        if let Err(why) = result {
            println!("{why}\n  {line}");
            failed = true;
        }
    }
    ExitCode::from(u8::from(failed))
}

/// Runs one case, and prints every request.
fn trace(text: &str) -> ExitCode {
    let case = match text.parse() {
        Ok(seed) => Ok(Case::generate(seed)),
        Err(_) => from_text(text),
    };
    let case = match case {
        Ok(case) => case,
        Err(error) => {
            eprintln!("invalid case: {error}");
            return ExitCode::from(2);
        }
    };
    println!("{}", to_text(&case));
    let mut log = Vec::new();
    let (_, result) = Simulator::new().execute(&case, Some(&mut log));
    log.iter().for_each(|line| println!("{line}"));
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(complaint) => {
            println!("{complaint}");
            ExitCode::FAILURE
        }
    }
}
