//! Writes the requested reports.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::Path;

use modoai_spider::count::{Count, Listed, page, text};

use super::CountCommand;
use crate::config::shown;
use crate::error::CliError;
use crate::output;

impl CountCommand {
    pub(super) fn render(&self, count: &Count) -> Result<(), CliError> {
        let failed = |file: &Path| {
            let file = shown(file);
            move |error: io::Error| CliError::failed(format!("failed to write {file}")).because(error)
        };
        if let Some(file) = &self.html {
            fs::write(file, page::render(count, jiff::Timestamp::now())).map_err(failed(file))?;
        }
        if let Some(folder) = &self.lists {
            fs::create_dir_all(folder).map_err(failed(folder))?;
            for list in &count.lists {
                let file = folder.join(format!("{}.txt", list.name));
                write(list, &file).map_err(failed(&file))?;
            }
        }
        if !self.json {
            return output::print(&text::render(count));
        }
        let mut out = BufWriter::new(io::stdout().lock());
        let printed = serde_json::to_writer(&mut out, count).map_err(io::Error::from);
        output::tolerate_broken_pipe(printed.and_then(|()| out.write_all(b"\n")).and_then(|()| out.flush()))
    }
}

/// Writes a line for each entry: its URL, or its URLs, and the note, separated by tabs.
fn write(list: &Listed, file: &Path) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(file)?);
    for row in &list.rows {
        out.write_all(row.urls.join("\t").as_bytes())?;
        if !row.note.is_empty() {
            write!(out, "\t{}", row.note)?;
        }
        out.write_all(b"\n")?;
    }
    out.flush()
}
