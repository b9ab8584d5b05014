//! Reads lines from files that may be damaged, in bounded memory.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};

use crate::line::Line;

/// The maximum length of a line, far above that of valid ones; longer lines are skipped.
const LONGEST: usize = 64 << 10;

/// Reads all lines of a directory, oldest file first; returns the number of invalid lines. A file that is removed
/// meanwhile is skipped.
pub(crate) fn lines(folder: &Path, mut see: impl FnMut(&Line<'_>)) -> io::Result<u64> {
    let mut unreadable = 0;
    for path in files(folder)? {
        match File::open(path) {
            // Lines that are appended meanwhile are not read, because they might be written faster than they are read.
            Ok(file) => {
                let length = file.metadata()?.len();
                unreadable += read(BufReader::with_capacity(128 << 10, file.take(length)), &mut see)?;
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(unreadable)
}

/// Returns the files of a log: `harvests.jsonl`, rotated ones such as `harvests.jsonl.1`, and the numbered ones of
/// earlier versions, except compressed files.
fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut files = Vec::new();
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_log = name.starts_with("harvests") && name.contains(".jsonl") && !name.ends_with(".gz");
        if let (true, Ok(metadata)) = (is_log, entry.metadata()) {
            files.push((metadata.modified()?, entry.path()));
        }
    }
    files.sort();
    Ok(files.into_iter().map(|(_, path)| path).collect())
}

fn read(mut input: impl BufRead, see: &mut impl FnMut(&Line<'_>)) -> io::Result<u64> {
    let (mut unreadable, mut line, mut overlong) = (0, Vec::new(), false);
    loop {
        let piece = match input.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            piece => piece?,
        };
        let (end, taken, is_end) = match piece.iter().position(|byte| *byte == b'\n') {
            Some(at) => (at, at + 1, true),
            None => (piece.len(), piece.len(), piece.is_empty()),
        };
        overlong |= line.len() + end > LONGEST;
        if !overlong {
            line.extend_from_slice(&piece[..end]);
        }
        let is_over = piece.is_empty();
        input.consume(taken);
        if is_end {
            match Line::read(&line) {
                _ if overlong => unreadable += 1,
                Some(line) => see(&line),
                None => unreadable += u64::from(!line.is_empty()),
            }
            line.clear();
            overlong = false;
        }
        if is_over {
            return Ok(unreadable);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damage_costs_the_lines_it_hit_and_no_more() {
        let good = |who: &str| format!("{{\"t\":1,\"w\":\"{who}\",\"o\":\"ok\"}}");
        let long = "x".repeat(3 * LONGEST);
        let text =
            [&good("a"), "", "nonsense", &long, &good("b"), &format!("{{\"t\":1,\"w\":{}", good("c")), "{\"t\":5"];
        let mut seen = Vec::new();
        let input = BufReader::with_capacity(7, io::Cursor::new(text.join("\n")));
        let unreadable = read(input, &mut |line| seen.push(line.w.to_string())).expect("memory can be read");
        assert_eq!((seen.join(""), unreadable), ("abc".to_owned(), 3));
    }
}
