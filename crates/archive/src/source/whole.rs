//! Files each of which is an entry.

use std::io::{self, Read as _};
use std::sync::Arc;

use super::input::Files;
use super::{Entry, Fault, Place, Source};

/// Returns whole files as entries.
pub(super) struct Whole {
    files: Files,
    longest: usize,
}

impl Whole {
    /// Returns these files. A file that is longer than `longest` bytes is not kept in memory.
    pub(super) fn of(files: Files, longest: usize) -> Self {
        Self { files, longest }
    }
}

impl Source for Whole {
    fn next(&mut self) -> io::Result<Option<Entry>> {
        let Some(path) = self.files.next()? else { return Ok(None) };
        let mut bytes = Vec::new();
        let limit = self.longest as u64 + 1;
        let read = self.files.open(&path).and_then(|file| file.take(limit).read_to_end(&mut bytes));
        let bytes = match read {
            // The other files can still be read, and the path identifies this one.
            Err(error) => Err(Fault(format!("failed to read it: {error}"))),
            Ok(_) if bytes.len() > self.longest => {
                Err(Fault(format!("the file is longer than {} bytes", self.longest)))
            }
            Ok(_) => Ok(bytes),
        };
        Ok(Some(Entry { place: Place { file: Arc::new(path), line: 0 }, bytes }))
    }

    fn progress(&self) -> (u64, Option<u64>) {
        self.files.progress()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_an_entry_even_if_it_cannot_be_one() {
        let dir = tempfile::tempdir().expect("a folder");
        for (name, text) in [("a.xml", "<a/>"), ("b.xml", ""), ("c.xml", "<much-too-long/>"), ("d.xml.gz", "no gzip")] {
            std::fs::write(dir.path().join(name), text).expect("a file");
        }
        let files = Files::of(&[dir.path().to_owned()], &["xml"]).expect("it is there");
        let mut source = Whole::of(files, 10);
        let mut met = Vec::new();
        while let Some(entry) = source.next().expect("the folder can be read") {
            assert_eq!(entry.place.line, 0);
            met.push(entry.bytes.map_err(|fault| fault.0));
        }
        assert_eq!(met[..2], [Ok(b"<a/>".to_vec()), Ok(Vec::new())]);
        assert_eq!(met[2], Err("the file is longer than 10 bytes".to_owned()));
        assert!(met[3].as_ref().is_err_and(|fault| fault.contains("failed to read it")), "{met:?}");
    }
}
