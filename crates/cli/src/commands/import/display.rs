//! How an import is told: how far it is, what is wrong with the input, what was done.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use indicatif::{HumanCount, ProgressBar, ProgressStyle};
use modoai_archive::import::{Complaints, Progress, Report};
use modoai_archive::source::{Fault, Place};

use crate::config::shown;
use crate::error::CliError;

/// Faults named on standard error; a file can have them all.
const MOST_NAMED: u64 = 100;

/// Names what is wrong with entries as they are met.
pub(super) struct Grumbler {
    named: u64,
    unnamed: u64,
    file: Option<BufWriter<File>>,
    failed: Option<io::Error>,
}

impl Grumbler {
    pub(super) fn new(file: Option<&Path>) -> Result<Self, CliError> {
        let file = match file {
            Some(path) => Some(BufWriter::new(
                File::create(path)
                    .map_err(|error| CliError::failed(format!("failed to write {}", shown(path))).because(error))?,
            )),
            None => None,
        };
        Ok(Self { named: 0, unnamed: 0, file, failed: None })
    }

    fn name(&mut self, place: &Place, fault: &Fault) {
        if let Some(file) = &mut self.file
            && let Err(error) = writeln!(file, "{place}: {fault}")
        {
            self.failed.get_or_insert(error);
        }
        if self.named < MOST_NAMED {
            self.named += 1;
            eprintln!("modoai: {place}: {fault}");
        } else {
            self.unnamed += 1;
        }
    }

    pub(super) fn finish(mut self) -> Result<(), CliError> {
        if self.unnamed > 0 {
            eprintln!("modoai: and {} more; --faults FILE names them all", self.unnamed);
        }
        let flushed = self.file.as_mut().map_or(Ok(()), Write::flush);
        match self.failed.map_or(flushed, Err) {
            Ok(()) => Ok(()),
            Err(error) => Err(CliError::failed("failed to write the list of faults").because(error)),
        }
    }
}

impl Complaints for Grumbler {
    fn bad(&mut self, place: &Place, fault: &Fault) {
        self.name(place, fault);
    }

    fn remark(&mut self, place: &Place, fault: &Fault) {
        self.name(place, fault);
    }
}

/// Shows how far an import is, until it is told that it is done.
pub(super) fn show(progress: &Progress, done: &AtomicBool) {
    const FRAME: Duration = Duration::from_millis(200);
    let known = "{wide_bar} {bytes}/{total_bytes}, {msg}, {eta} left";
    let unknown = "{spinner} {bytes}, {msg}, {elapsed}";
    let style = |template| ProgressStyle::with_template(template).expect("a template without mistakes");
    let bar = ProgressBar::no_length().with_style(style(unknown));
    std::thread::park_timeout(FRAME);
    let mut seconds = 0.0;
    while !done.load(Ordering::Relaxed) {
        let total = progress.total.load(Ordering::Relaxed);
        if total > 0 && bar.length() != Some(total) {
            bar.set_length(total);
            bar.set_style(style(known));
        }
        let records = progress.done.load(Ordering::Relaxed);
        seconds += FRAME.as_secs_f64();
        bar.set_message(format!("{} records, {:.0}/s", HumanCount(records), records as f64 / seconds));
        bar.set_position(progress.bytes.load(Ordering::Relaxed));
        std::thread::park_timeout(FRAME);
    }
    bar.finish_and_clear();
}

/// What was done, for people.
pub(super) fn told(report: &Report, took: Duration, dry_run: bool) -> String {
    let rows = [
        ("new", report.new),
        ("changed", report.changed),
        ("back", report.back),
        ("gone", report.gone),
        ("unchanged", report.unchanged),
        ("otherwise by new terms", report.recast),
        ("bad", report.bad),
        ("double", report.duplicates),
        ("with a date that cannot be read", report.remarks),
        ("missing but kept", report.spared),
    ];
    let seconds = took.as_secs_f64();
    let verb = if dry_run { "would import" } else { "imported" };
    let rate = report.read as f64 / seconds.max(0.001);
    let mut text = format!("{verb} {} entries in {seconds:.1} s ({rate:.0}/s)\n", HumanCount(report.read));
    for (what, count) in rows.into_iter().filter(|(_, count)| *count > 0) {
        text.push_str(&format!("  {:>12}  {what}\n", HumanCount(count).to_string()));
    }
    text
}
