//! How fast the embedded catalogue is: `cargo run --release -p modoai-repository --example catalogue_speed [ITEMS]`.
//!
//! Fills a new catalogue as the first scan of a site would, then reads pages and counts at its beginning, middle and
//! end. Modification times are scattered at random over eight years, which is the worst case: nothing that is listed
//! together lies together. Three items in ten share one datestamp, as after an import.

use std::error::Error;
use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use modoai_protocol::{Datestamp, Range, SetSpec};
use modoai_repository::catalogue::{Access, Change, Detail, Location, PageQuery, Selected, open};
use modoai_repository::item::{Fingerprint, Publicity};

const BATCH: usize = 20_000;
const PAGE: usize = 500;
const IMPORT: i64 = 1_600_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let items: usize = std::env::args().nth(1).map_or(Ok(100_000), |items| items.parse())?;
    let directory = tempfile::tempdir()?;
    let catalogue = open(&Location::at(directory.path()), Access::Write)?;

    let mut site = Site::new();
    let mut writer = catalogue.writer()?;
    let mut applied = Duration::ZERO;
    for first in (0..items).step_by(BATCH) {
        let batch: Vec<_> = (first..items.min(first + BATCH)).map(|n| site.put(n)).collect();
        let began = Instant::now();
        writer.apply(&batch)?;
        applied += began.elapsed();
    }
    let began = Instant::now();
    writer.complete()?;
    let completed = began.elapsed();
    let rate = items as f64 / (applied + completed).as_secs_f64();
    println!("{items} items applied in {applied:.0?}, completed in {completed:.0?} ({rate:.0}/s)");
    println!("memory after filling: {}", memory());

    let changes: Vec<_> = (0..1000).map(|n| site.put(n)).collect();
    let renewed = time(5, || writer.apply(&changes).map(drop))?;
    println!("1000 changes: {renewed}");
    let began = Instant::now();
    let (mut known, mut after) = (0, String::new());
    loop {
        let some = writer.known("", &after, 5000)?;
        let Some(last) = some.last() else { break };
        known += some.len();
        after.clone_from(&last.name);
    }
    println!("{known} known items compared in {:.0?}", began.elapsed());
    drop(writer);

    let html = SetSpec::parse("mime:text:t00").ok_or("not a set spec")?;
    let all = SetSpec::parse("mime").ok_or("not a set spec")?;
    for (label, set) in [("all", None), ("set of all", Some(&all)), ("set of 1/30", Some(&html))] {
        let total = time(100, || catalogue.count(Selected { format: None, set, range: Range::ALL }).map(drop))?;
        let cut = Range { first: Datestamp::from_unix(1_500_000_000), last: Datestamp::from_unix(1_650_000_000) };
        let part = time(100, || catalogue.count(Selected { format: None, set, range: cut }).map(drop))?;
        println!(
            "{label}: {}; counted in {total}, a part in {part}",
            catalogue.count(Selected { format: None, set, range: Range::ALL })?
        );
        let starts = [
            ("beginning", (Datestamp::MIN, 0)),
            ("middle", (Datestamp::from_unix(1_570_000_000), 0)),
            ("among ties", (Datestamp::from_unix(IMPORT), items as i64 / 2)),
            ("end", (Datestamp::from_unix(1_680_000_000), 0)),
        ];
        for (place, after) in starts {
            let query = PageQuery {
                selection: Selected { format: None, set, range: Range::ALL },
                after: Some(after),
                limit: PAGE,
                detail: Detail::Whole,
            };
            let mut found = 0;
            let same = time(50, || catalogue.page(&query).map(|page| found = page.len()))?;
            let mut after = after;
            let walk = time(20, || -> Result<(), Box<dyn Error>> {
                let page = catalogue.page(&PageQuery { after: Some(after), ..query.clone() })?;
                after = page.last().map_or(after, |item| (item.datestamp, item.number));
                Ok(())
            })?;
            println!("  page of {found} at the {place}: {same} again and again, {walk} walking on");
        }
    }
    let began = Instant::now();
    let mut query = PageQuery { selection: Selected::ALL, after: None, limit: PAGE, detail: Detail::Whole };
    let mut walked = 0;
    loop {
        let page = catalogue.page(&query)?;
        let Some(last) = page.last() else { break };
        walked += page.len();
        query.after = Some((last.datestamp, last.number));
    }
    println!("{walked} items listed in {:.0?}", began.elapsed());
    for entry in fs::read_dir(directory.path())? {
        let entry = entry?;
        println!("{}: {} KB", entry.file_name().to_string_lossy(), entry.metadata()?.len() / 1024);
    }
    println!("memory: {}", memory());
    Ok(())
}

/// The median of several runs, and the best: on a busy machine only the latter says what the code costs.
fn time<E>(runs: usize, mut work: impl FnMut() -> Result<(), E>) -> Result<String, E> {
    let mut times = Vec::with_capacity(runs);
    for _ in 0..runs {
        let began = Instant::now();
        work()?;
        times.push(began.elapsed());
    }
    times.sort_unstable();
    Ok(format!("{:.1?} (best {:.1?})", times[runs / 2], times[0]))
}

/// A site in byte order of its names.
struct Site {
    sets: Vec<Arc<SetSpec>>,
    media_types: Vec<Arc<str>>,
    random: u64,
}

impl Site {
    fn new() -> Self {
        let leaf = |n: usize| SetSpec::from_levels(["mime", ["text", "image", "video"][n % 3], &format!("t{n:02}")]);
        Self {
            sets: (0..30).map(|n| Arc::new(leaf(n))).collect(),
            media_types: (0..30).map(|n| format!("text/t{n:02}").into()).collect(),
            random: 0x9e37_79b9_7f4a_7c15,
        }
    }

    fn put(&mut self, n: usize) -> Change {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        let random = self.random;
        let seconds = if random % 10 < 3 { IMPORT } else { 1_450_000_000 + (random >> 20) as i64 % 250_000_000 };
        let modified = seconds * 1_000_000_000 + (random % 1_000_000_000) as i64;
        let kind = (random >> 11) as usize % 30;
        Change::Put {
            name: format!("department-{:03}/year-{:04}/page-{n:07}.html", n / 10_000, n / 100 % 100),
            fingerprint: Fingerprint { size: random % 100_000, modified, changed: modified + 7, inode: n as u64 },
            media_type: Arc::clone(&self.media_types[kind]),
            sets: vec![Arc::clone(&self.sets[kind])],
            publicity: Publicity::Untold,
        }
    }
}

/// What the kernel says of this process's memory.
fn memory() -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let lines = status.lines().filter(|line| line.starts_with("VmRSS") || line.starts_with("VmHWM"));
    lines.map(|line| line.split_ascii_whitespace().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>().join(", ")
}
