//! Files in which every line is an entry.

use std::io::{self, BufRead, Read as _};
use std::path::PathBuf;
use std::sync::Arc;

use memchr::memchr;

use super::input::{Files, about};
use super::{Entry, Fault, Place, Source};

/// The byte order mark that some programs write at the start.
pub(super) const BOM: &[u8] = b"\xef\xbb\xbf";

/// Splits files into lines.
pub(super) struct Lines {
    files: Files,
    longest: usize,
    current: Option<Current>,
}

struct Current {
    file: Arc<PathBuf>,
    reader: Box<dyn BufRead + Send>,
    line: u64,
}

impl Lines {
    /// Returns the lines of these files. A line that is longer than `longest` bytes is not kept in memory.
    pub(super) fn of(files: Files, longest: usize) -> Self {
        Self { files, longest, current: None }
    }
}

impl Source for Lines {
    fn next(&mut self) -> io::Result<Option<Entry>> {
        loop {
            let Some(current) = &mut self.current else {
                let Some(path) = self.files.next()? else { return Ok(None) };
                let reader = self.files.open(&path).map_err(|error| about(&path, &error))?;
                self.current = Some(Current { file: Arc::new(path), reader, line: 0 });
                continue;
            };
            match current.next(self.longest).map_err(|error| about(&current.file, &error))? {
                Some(entry) => return Ok(Some(entry)),
                None => self.current = None,
            }
        }
    }

    fn progress(&self) -> (u64, Option<u64>) {
        self.files.progress()
    }
}

impl Current {
    /// Returns the next line that is not empty.
    fn next(&mut self, longest: usize) -> io::Result<Option<Entry>> {
        loop {
            // One byte more than the limit, and the line end, identify a line that is too long.
            let mut bytes = Vec::new();
            let limit = longest as u64 + 2;
            if self.reader.by_ref().take(limit).read_until(b'\n', &mut bytes)? == 0 {
                return Ok(None);
            }
            self.line += 1;
            let whole = bytes.ends_with(b"\n") || (bytes.len() as u64) < limit;
            if self.line == 1 && bytes.starts_with(BOM) {
                bytes.drain(..BOM.len());
            }
            let length = bytes.trim_ascii_end().len();
            bytes.truncate(length);
            let place = Place { file: self.file.clone(), line: self.line };
            if !whole {
                self.skip_line()?;
            }
            if !whole || length > longest {
                let fault = Fault(format!("the line is longer than {longest} bytes"));
                return Ok(Some(Entry { place, bytes: Err(fault) }));
            }
            if !bytes.trim_ascii_start().is_empty() {
                return Ok(Some(Entry { place, bytes: Ok(bytes) }));
            }
        }
    }

    /// Skips the rest of the line, without keeping it in memory.
    fn skip_line(&mut self) -> io::Result<()> {
        loop {
            let held = self.reader.fill_buf()?;
            let end = memchr(b'\n', held);
            let length = end.map_or(held.len(), |end| end + 1);
            let at_end = held.is_empty();
            self.reader.consume(length);
            if end.is_some() || at_end {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &[u8], longest: usize) -> Vec<(u64, Result<String, String>)> {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("input.jsonl");
        std::fs::write(&path, text).expect("a file");
        let mut lines = Lines::of(Files::of(&[path], &[]).expect("it is there"), longest);
        let mut met = Vec::new();
        while let Some(entry) = lines.next().expect("it can be read") {
            let bytes = entry.bytes.map(|bytes| String::from_utf8(bytes).expect("text")).map_err(|fault| fault.0);
            met.push((entry.place.line, bytes));
        }
        assert_eq!(lines.progress(), (text.len() as u64, Some(text.len() as u64)));
        met
    }

    #[test]
    fn lines_are_counted_and_empty_ones_left_out() {
        let met = lines(b"\xef\xbb\xbfone\r\n\n  \ntwo \nthree", 100);
        let expected = [(1, "one"), (4, "two"), (5, "three")];
        assert_eq!(met, expected.map(|(line, text)| (line, Ok(text.to_owned()))));
        assert!(lines(b"", 100).is_empty());
    }

    #[test]
    fn what_is_too_long_is_told_and_the_next_line_read() {
        let long = "x".repeat(1_000_000);
        for (text, good) in [(format!("{long}\nok\n"), 2), (format!("ok\n{long}\n"), 1), (format!("ok\n{long}"), 1)] {
            let met = lines(text.as_bytes(), 10);
            assert_eq!(met.len(), 2);
            for (line, bytes) in met {
                assert_eq!(bytes.is_ok(), line == good, "{line}");
            }
        }
        assert_eq!(lines(b"1234567890\n12345678901\n", 10)[0].1, Ok("1234567890".to_owned()));
        assert!(lines(b"1234567890\n12345678901\n1", 10)[1].1.is_err());
    }
}
