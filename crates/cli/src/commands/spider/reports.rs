//! Writes reports to files and to standard output.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use modoai_spider::map;
use modoai_spider::report::{self, FORMATS, Format, Writer, index, json, terminal};
use modoai_spider::results::{ReportError, Results, Visit};
use modoai_spider::survey::Survey;

use super::ending::Failures;
use super::{SpiderCommand, report_failed};
use crate::error::CliError;
use crate::output::{has_colours, tolerate_broken_pipe};
use crate::place::web_url;

/// A report for machines, and its file.
#[derive(Clone, Debug)]
pub(crate) struct ReportFile {
    format: &'static Format,
    path: PathBuf,
}

impl ReportFile {
    /// Returns the short help of `--report`.
    pub(super) fn help() -> String {
        format!("Write a report (repeatable). Formats: {}", names())
    }

    /// Returns the long help, with the content of each format.
    pub(super) fn long_help() -> String {
        let rows = FORMATS.iter().map(|format| format!("\n- {}: {}", format.name, format.about));
        format!("Write a report (repeatable). Formats:\n{}", rows.collect::<String>())
    }
}

impl FromStr for ReportFile {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, path) = text.split_once('=').ok_or("expected FORMAT=FILE, such as junit=links.xml")?;
        let format =
            report::named(name).ok_or_else(|| format!("unknown format {name:?}; the formats are {}", names()))?;
        Ok(Self { format, path: path.into() })
    }
}

fn names() -> String {
    FORMATS.iter().map(|format| format.name).collect::<Vec<_>>().join(", ")
}

impl SpiderCommand {
    /// Writes the requested reports, and prints the summary on the terminal. A report that cannot be written is among
    /// the failures.
    pub(super) fn write_reports(&self, survey: &Survey, failures: &mut Failures) {
        for (of, infostructure) in survey.infostructures().iter().enumerate() {
            if let Some(file) = &infostructure.task.index_file {
                let written = index::write(survey, of, file).map_err(report_failed);
                failures.note(written.map(|written| {
                    tracing::info!("wrote the index of {} to {}", infostructure.task.name, written.index.display());
                }));
            }
        }
        if let Some(file) = &self.map {
            pictures(survey, file, map::write_map, failures);
        }
        for report in &self.reports {
            match report.format.writer {
                Writer::Run(write) => failures.note(into_file(&report.path, |out| write(survey, out))),
                Writer::Picture(write) => pictures(survey, &report.path, write, failures),
            }
        }
        if self.json {
            failures.note(on_stdout(|out| json::write(survey, out)));
        } else {
            failures.note(on_stdout(|out| terminal::write(survey, &self.style(), out)));
        }
    }

    fn style(&self) -> terminal::ReportStyle {
        let is_seen = io::stdout().is_terminal();
        let width = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
        terminal::ReportStyle {
            colour: has_colours(&io::stdout()),
            width: width.unwrap_or(if is_seen { 100 } else { 160 }),
            next: Some(self.next()),
            ..terminal::ReportStyle::default()
        }
    }

    /// Returns the name of the file with all findings, or a hint to write one.
    fn next(&self) -> String {
        match (&self.html, web_url(&self.target)) {
            (Some(file), _) => format!("{} contains all findings", file.display()),
            (None, Some(_)) => "For the full report, use --html FILE or --json".to_owned(),
            (None, None) => "For the full report, use --report text=FILE or --json".to_owned(),
        }
    }
}

/// Writes one map for each infostructure; if there are several, the name of the task is added to that of the file.
fn pictures(
    survey: &Survey,
    path: &Path,
    write: impl Fn(&dyn Results, usize, &mut dyn Write) -> Visit,
    failures: &mut Failures,
) {
    let all = survey.infostructures();
    let paths = match all {
        [_] => vec![path.to_owned()],
        several => named_after(path, several.iter().map(|infostructure| infostructure.task.name.as_str())),
    };
    for (of, path) in paths.iter().enumerate() {
        failures.note(into_file(path, |out| write(survey, of, out)));
    }
}

/// Returns a file for each task, named after it. If another task has the same name, the number of the task is added.
fn named_after<'a>(path: &Path, tasks: impl Iterator<Item = &'a str>) -> Vec<PathBuf> {
    let part = |part: Option<&OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
    let (stem, extension) = (part(path.file_stem()), part(path.extension()));
    let mut taken = HashSet::new();
    let names = tasks.zip(1..).map(|(task, number)| {
        let safe = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' };
        let mut name: String = task.chars().map(safe).collect();
        // Some file systems ignore case.
        while !taken.insert(name.to_lowercase()) {
            name = format!("{name}-{number}");
        }
        name
    });
    let file = |name: String| {
        let name = if extension.is_empty() { format!("{stem}-{name}") } else { format!("{stem}-{name}.{extension}") };
        path.with_file_name(name)
    };
    names.map(file).collect()
}

/// Writes a file, and creates its directory if it is missing.
fn into_file(path: &Path, write: impl FnOnce(&mut dyn Write) -> Visit) -> Result<(), CliError> {
    let failed = |source| report_failed(ReportError::Write { what: path.display().to_string(), source });
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.map_or(Ok(()), fs::create_dir_all).map_err(failed)?;
    let mut out = BufWriter::new(File::create(path).map_err(failed)?);
    write(&mut out).map_err(report_failed)?;
    out.flush().map_err(failed)
}

/// Writes to standard output. A reader that closes the pipe early (`| head`) is not a failure.
fn on_stdout(write: impl FnOnce(&mut dyn Write) -> Visit) -> Result<(), CliError> {
    let mut out = BufWriter::new(io::stdout().lock());
    match write(&mut out) {
        Ok(()) => tolerate_broken_pipe(out.flush()),
        Err(ReportError::Write { source, .. }) => tolerate_broken_pipe(Err(source)),
        Err(error) => Err(report_failed(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_task_gets_the_file_of_another() {
        let named = |path: &str, tasks: &[&str]| -> Vec<String> {
            let files = named_after(Path::new(path), tasks.iter().copied());
            files.iter().map(|file| file.display().to_string()).collect()
        };
        assert_eq!(named("out/web.dot", &["a", "../b"]), ["out/web-a.dot", "out/web-.._b.dot"]);
        assert_eq!(named("web", &["a b", "a_b", "A_b"]), ["web-a_b", "web-a_b-2", "web-A_b-3"]);
        assert_eq!(named("web", &["a", "a", "a-2"]), ["web-a", "web-a-2", "web-a-2-3"]);
    }
}
