//! Makes the archives that the benchmark imports, in arXiv's shape, on standard output or in a file:
//! `make_archive --records 3000000 [--seed N] [--change SHARE] [--remove SHARE] [--round N] [--shape SHAPE] [--into PLACE]`.
//!
//! In a file or folder, it says at the end what there is: `{"records": …, "changed": …, "gone": …}`.
//!
//! Shapes: `snapshot` (the default) and `model` are lines of JSON; of `abs`, each e-print is a file below the folder PLACE.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use modoai_testkit::archive::{Archive, Shape, Wanted};

const USAGE: &str = "usage: make_archive --records N [--seed N] [--change SHARE] [--remove SHARE] [--round N] \
    [--shape snapshot|model|abs] [--into PLACE]";

fn main() -> ExitCode {
    let (wanted, shape, place) = match options(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(problem) => {
            eprintln!("make_archive: {problem}\n{USAGE}");
            return ExitCode::FAILURE;
        }
    };
    let archive = Archive::new(wanted);
    let is_file = place.is_some();
    let made = match (shape, place) {
        (Shape::Abs, None) => Err(io::Error::other("abs files need a folder: --into PLACE")),
        (Shape::Abs, Some(folder)) => files(&archive, &folder),
        (_, None) => lines(&archive, shape, io::stdout().lock()),
        (_, Some(file)) => File::create(file).and_then(|file| lines(&archive, shape, file)),
    };
    match made {
        Ok(()) if is_file => {
            let gone = (0..wanted.records).filter(|number| archive.is_gone(*number)).count();
            let changed = |number: &u64| archive.is_changed(*number) && !archive.is_gone(*number);
            let changed = (0..wanted.records).filter(changed).count();
            let records = wanted.records - gone as u64;
            println!("{{\"records\": {records}, \"changed\": {changed}, \"gone\": {gone}}}");
            ExitCode::SUCCESS
        }
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("make_archive: {error}");
            ExitCode::FAILURE
        }
    }
}

fn options(mut words: impl Iterator<Item = String>) -> Result<(Wanted, Shape, Option<PathBuf>), String> {
    let (mut wanted, mut shape, mut place) = (Wanted::of(0), Shape::Snapshot, None);
    while let Some(option) = words.next() {
        let value = words.next().ok_or_else(|| format!("{option} needs a value"))?;
        match option.as_str() {
            "--records" => wanted.records = parsed(&value)?,
            "--seed" => wanted.seed = parsed(&value)?,
            "--change" => wanted.change = parsed(&value)?,
            "--remove" => wanted.remove = parsed(&value)?,
            "--round" => wanted.round = parsed(&value)?,
            "--shape" => shape = value.parse()?,
            "--into" => place = Some(PathBuf::from(value)),
            _ => return Err(format!("there is no option {option}")),
        }
    }
    if wanted.records == 0 { Err("how many records?".to_owned()) } else { Ok((wanted, shape, place)) }
}

fn parsed<T: std::str::FromStr>(value: &str) -> Result<T, String> {
    value.parse().map_err(|_| format!("'{value}' is no number"))
}

fn lines(archive: &Archive, shape: Shape, out: impl Write) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 20, out);
    let mut line = Vec::new();
    for eprint in archive.eprints() {
        line.clear();
        shape.write(&eprint, &mut line);
        out.write_all(&line)?;
    }
    out.flush()
}

fn files(archive: &Archive, folder: &Path) -> io::Result<()> {
    let mut content = Vec::new();
    for eprint in archive.eprints() {
        content.clear();
        Shape::Abs.write(&eprint, &mut content);
        let path = folder.join(format!("{}.abs", eprint.id));
        std::fs::create_dir_all(path.parent().unwrap_or(folder))?;
        std::fs::write(path, &content)?;
    }
    Ok(())
}
