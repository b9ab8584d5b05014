//! Displays an import: its progress, the problems of the input, and the result.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use indicatif::{HumanCount, ProgressBar, ProgressStyle};
use modoai_archive::import::{Complaints, Lacking, Progress, Report};
use modoai_archive::source::{Fault, Place};

use crate::config::shown;
use crate::error::CliError;
use crate::output::{self, counted};

/// The maximum number of problems that are listed on standard error; every entry of a file can have one.
const MOST_NAMED: u64 = 100;

/// Reports problems of entries while they are read: each one that is rejected, and the first of those with dates that
/// cannot be parsed.
pub(super) struct Grumbler {
    named: u64,
    unnamed: u64,
    remarks: u64,
    first_remark: Option<String>,
    quiet: bool,
    file: Option<BufWriter<File>>,
    failed: Option<io::Error>,
}

impl Grumbler {
    pub(super) fn new(file: Option<&Path>, quiet: bool) -> Result<Self, CliError> {
        let file = match file {
            Some(path) => Some(BufWriter::new(
                File::create(path)
                    .map_err(|error| CliError::failed(format!("failed to write {}", shown(path))).because(error))?,
            )),
            None => None,
        };
        Ok(Self { named: 0, unnamed: 0, remarks: 0, first_remark: None, quiet, file, failed: None })
    }

    fn write(&mut self, place: &Place, fault: &Fault) {
        if let Some(file) = &mut self.file
            && let Err(error) = writeln!(file, "{place}: {fault}")
        {
            self.failed.get_or_insert(error);
        }
    }

    fn name(&mut self, place: &Place, fault: &Fault) {
        self.write(place, fault);
        if self.named < MOST_NAMED {
            self.named += 1;
            output::warn(&format!("modoai: {place}: {fault}"));
        } else {
            self.unnamed += 1;
        }
    }

    pub(super) fn finish(mut self) -> Result<(), CliError> {
        if self.unnamed > 0 {
            output::warn(&format!("modoai: and {} more; use --faults FILE to list all", self.unnamed));
        }
        if let Some(first) = self.first_remark.filter(|_| !self.quiet) {
            let one = "entry has a date that cannot be parsed and is kept as text";
            let many = "entries have dates that cannot be parsed and are kept as text";
            output::warn(&format!("modoai: {first}; {}", counted(self.remarks, one, many)));
        }
        let flushed = self.file.as_mut().map_or(Ok(()), Write::flush);
        match self.failed.map_or(flushed, Err) {
            Ok(()) => Ok(()),
            Err(error) => Err(CliError::failed("failed to write the list of rejected entries").because(error)),
        }
    }
}

impl Complaints for Grumbler {
    fn bad(&mut self, place: &Place, fault: &Fault) {
        self.name(place, fault);
    }

    fn remark(&mut self, place: &Place, fault: &Fault) {
        self.write(place, fault);
        self.remarks += 1;
        self.first_remark.get_or_insert_with(|| format!("{place}: {fault}"));
    }
}

/// Shows the progress of an import until `done` is set.
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
        let so_many = counted(records, "record", "records");
        bar.set_message(format!("{so_many}, {:.0}/s", records as f64 / seconds));
        bar.set_position(progress.bytes.load(Ordering::Relaxed));
        std::thread::park_timeout(FRAME);
    }
    bar.finish_and_clear();
}

/// Returns the result as text. `has_input` is true if there was input to import, in addition to the configuration.
pub(super) fn told(report: &Report, took: Duration, dry_run: bool, has_input: bool) -> String {
    let rows = [
        ("added", report.new),
        ("changed", report.changed),
        ("restored", report.back),
        ("deleted", report.gone),
        ("unchanged", report.unchanged),
        ("updated by new configuration", report.recast),
        ("invalid", report.bad),
        ("duplicate", report.duplicates),
        ("with unparsable dates, kept as text", report.remarks),
        ("missing from the input; deletion withheld", report.spared),
    ];
    let seconds = took.as_secs_f64();
    let mut text = if has_input {
        let verb = if dry_run { "would be imported" } else { "imported" };
        let entries = counted(report.read, "entry", "entries");
        let rejected = report.bad + report.duplicates;
        let imported = HumanCount(report.read.saturating_sub(rejected));
        format!("read {entries} in {seconds:.1} s: {imported} {verb}, {} rejected\n", HumanCount(rejected))
    } else {
        let verb = if dry_run { "would apply" } else { "applied" };
        format!("{verb} the configuration to the archive in {seconds:.1} s\n")
    };
    for (what, count) in rows.into_iter().filter(|(_, count)| *count > 0) {
        text.push_str(&format!("  {:>12}  {what}\n", HumanCount(count).to_string()));
    }
    for (prefix, Lacking { records, fields }) in &report.lacking {
        let fields = fields.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        text.push_str(&format!(
            "  {:>12}  without format {prefix}: missing {fields}\n",
            HumanCount(*records).to_string()
        ));
    }
    if !report.idle_rules.is_empty() {
        text.push_str(&format!("  [[sets]] rules that match no record: {}\n", report.idle_rules.join(", ")));
    }
    if !report.withdrawn.is_empty() {
        let formats = report.withdrawn.join(", ");
        text.push_str(&format!("  withdrawn formats: {formats}; all their records are deleted\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_entry_is_one_and_what_is_withdrawn_is_named() {
        let second = Duration::from_secs(1);
        let one = Report { read: 1, new: 1, ..Report::default() };
        assert_eq!(
            told(&one, second, false, true),
            "read 1 entry in 1.0 s: 1 imported, 0 rejected\n             1  added\n"
        );
        let none = Report { read: 50, bad: 49, duplicates: 1, ..Report::default() };
        assert!(told(&none, second, false, true).starts_with("read 50 entries in 1.0 s: 0 imported, 50 rejected\n"));
        let many = Report { read: 2940, unchanged: 2940, ..Report::default() };
        assert!(
            told(&many, second, true, true)
                .starts_with("read 2,940 entries in 1.0 s: 2,940 would be imported, 0 rejected\n")
        );
        let withdrawn = Report { recast: 2, withdrawn: vec!["mods".to_owned()], ..Report::default() };
        assert_eq!(
            told(&withdrawn, second, false, false),
            "applied the configuration to the archive in 1.0 s\n             2  updated by new configuration\n  \
             withdrawn formats: mods; all their records are deleted\n"
        );
    }
}
