//! Where reports go.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use modoai_spider::map;
use modoai_spider::report::{self, FORMATS, index, terminal};
use modoai_spider::results::{ReportError, Results, Visit};
use modoai_spider::survey::Survey;

use super::{SpiderCommand, report_failed};
use crate::error::CliError;
use crate::output::tolerate_broken_pipe;

/// A report for machines, and its file.
#[derive(Clone, Debug)]
pub(crate) struct ReportFile {
    format: Writer,
    path: PathBuf,
}

/// Formats of a whole run, and pictures of one infostructure each.
#[derive(Clone, Copy, Debug)]
enum Writer {
    Run(fn(&dyn Results, &mut dyn Write) -> Visit),
    Picture(fn(&dyn Results, usize, &mut dyn Write) -> Visit),
}

impl FromStr for ReportFile {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, path) =
            text.split_once('=').ok_or("a report is asked for as FORMAT=FILE, such as junit=links.xml")?;
        let format = match name {
            "dot" => Writer::Picture(map::write_dot),
            "graphml" => Writer::Picture(map::write_graphml),
            _ => match report::named(name) {
                Some(format) => Writer::Run(format.write),
                None => {
                    let known: Vec<_> = FORMATS.iter().map(|format| format.name).chain(["dot", "graphml"]).collect();
                    return Err(format!("there is no format {name:?}; there are {}", known.join(", ")));
                }
            },
        };
        Ok(Self { format, path: path.into() })
    }
}

impl SpiderCommand {
    /// Writes everything that was asked for, and tells the rest on the terminal.
    pub(super) fn tell(&self, survey: &Survey, quiet: bool) -> Result<(), CliError> {
        for (of, infostructure) in survey.infostructures().iter().enumerate() {
            if let Some(file) = &infostructure.task.index_file {
                let written = index::write(survey, of, file).map_err(report_failed)?;
                tracing::info!("the index of {} is in {}", infostructure.task.name, written.index.display());
            }
        }
        if let Some(file) = &self.map {
            pictures(survey, file, map::write_map)?;
        }
        for report in &self.reports {
            match report.format {
                Writer::Run(write) => into_file(&report.path, |out| write(survey, out))?,
                Writer::Picture(write) => pictures(survey, &report.path, write)?,
            }
        }
        if self.json {
            let json = report::named("json").expect("a row of the table");
            return on_stdout(|out| (json.write)(survey, out));
        }
        if quiet { Ok(()) } else { on_stdout(|out| terminal::write(survey, &self.look(), out)) }
    }

    fn look(&self) -> terminal::Look {
        let is_seen = io::stdout().is_terminal();
        let width = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
        terminal::Look {
            colour: is_seen && std::env::var_os("NO_COLOR").is_none(),
            width: width.unwrap_or(if is_seen { 100 } else { 160 }),
            ..terminal::Look::default()
        }
    }
}

/// One picture for each infostructure; if there are several, the name of the task is added to that of the file.
fn pictures(
    survey: &Survey,
    path: &Path,
    write: impl Fn(&dyn Results, usize, &mut dyn Write) -> Visit,
) -> Result<(), CliError> {
    let all = survey.infostructures();
    for (of, infostructure) in all.iter().enumerate() {
        let path = if all.len() > 1 { named_after(path, &infostructure.task.name) } else { path.to_owned() };
        into_file(&path, |out| write(survey, of, out))?;
    }
    Ok(())
}

fn named_after(path: &Path, task: &str) -> PathBuf {
    let part = |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
    let task: String = task.chars().map(|c| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' }).collect();
    let (stem, extension) = (part(path.file_stem()), part(path.extension()));
    let name = if extension.is_empty() { format!("{stem}-{task}") } else { format!("{stem}-{task}.{extension}") };
    path.with_file_name(name)
}

fn into_file(path: &Path, write: impl FnOnce(&mut dyn Write) -> Visit) -> Result<(), CliError> {
    let failed = |source| report_failed(ReportError::Write { what: path.display().to_string(), source });
    let mut out = BufWriter::new(File::create(path).map_err(failed)?);
    write(&mut out).map_err(report_failed)?;
    out.flush().map_err(failed)
}

/// A reader that has seen enough (`| head`) is not a failure.
fn on_stdout(write: impl FnOnce(&mut dyn Write) -> Visit) -> Result<(), CliError> {
    let mut out = BufWriter::new(io::stdout().lock());
    match write(&mut out) {
        Ok(()) => tolerate_broken_pipe(out.flush()),
        Err(ReportError::Write { source, .. }) => tolerate_broken_pipe(Err(source)),
        Err(error) => Err(report_failed(error)),
    }
}
