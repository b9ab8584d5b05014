//! Files of bounded size, of which a bounded number is kept.
//!
//! They are numbered, and the one with the highest number is written to. Every process finds out for itself, from the
//! file it has open, that it is full or was removed, and takes the next; who makes a new one holds a lock meanwhile, so
//! that nobody makes it from what was true a moment ago. Appending needs no lock: a line is one write to a file opened
//! for appending, which on local file systems nobody's other line can get into.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

/// How much is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// A file that has reached this many bytes is full.
    pub bytes: u64,
    /// How many files are kept.
    pub files: usize,
}

impl Default for Bounds {
    /// Some 100 MB, or 800,000 requests: years of an ordinary repository, a month of a besieged one.
    fn default() -> Self {
        Self { bytes: 8 << 20, files: 12 }
    }
}

/// Others make a new file within this: a listing, an open, a removal.
const PATIENCE: Duration = Duration::from_millis(50);
const NAP: Duration = Duration::from_millis(1);

const START: &str = "harvests-";
const END: &str = ".jsonl";

/// The files in a folder.
#[derive(Debug)]
pub(super) struct Segments {
    pub(super) folder: PathBuf,
    pub(super) bounds: Bounds,
}

/// What can be done with a file that was opened earlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It takes another line.
    Good,
    /// There should be a new one. If that cannot be had now, it takes another line yet.
    Full,
    /// It is of no use: removed, or far too large.
    Gone,
}

impl Segments {
    /// How an open file stands. One call to the system.
    pub(super) fn state(&self, file: &File) -> io::Result<State> {
        let metadata = file.metadata()?;
        Ok(match (metadata.nlink(), metadata.len()) {
            (0, _) => State::Gone,
            (_, size) if size >= 2 * self.bounds.bytes => State::Gone,
            (_, size) if size >= self.bounds.bytes => State::Full,
            _ => State::Good,
        })
    }

    /// The file to write to now, made if need be; files beyond the number that is kept are removed. `None` if others
    /// are at it and do not come to an end.
    pub(super) fn current(&self) -> io::Result<Option<File>> {
        DirBuilder::new().recursive(true).mode(0o750).create(&self.folder)?;
        let Some(_lock) = self.lock()? else { return Ok(None) };
        let mut numbers = numbers(&self.folder)?;
        let number = match numbers.last() {
            Some(newest) if path(&self.folder, *newest).metadata()?.len() < self.bounds.bytes => *newest,
            newest => {
                let next = newest.map_or(1, |newest| newest.saturating_add(1));
                numbers.push(next);
                next
            }
        };
        let file = appending().open(path(&self.folder, number))?;
        let surplus = numbers.len().saturating_sub(self.bounds.files.max(1));
        for old in &numbers[..surplus] {
            std::fs::remove_file(path(&self.folder, *old))?;
        }
        Ok(Some(file))
    }

    /// The right to make and remove files, until it is dropped.
    fn lock(&self) -> io::Result<Option<File>> {
        let file = appending().open(self.folder.join("lock"))?;
        let mut waited = Duration::ZERO;
        loop {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Some(file)),
                Err(Errno::WOULDBLOCK | Errno::INTR) if waited < PATIENCE => {
                    std::thread::sleep(NAP);
                    waited += NAP;
                }
                Err(Errno::WOULDBLOCK | Errno::INTR) => return Ok(None),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// It says who harvests: not for everybody.
fn appending() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.append(true).create(true).mode(0o640);
    options
}

/// The numbers of the files there are, in order. A folder that is not there has none.
pub(super) fn numbers(folder: &Path) -> io::Result<Vec<u64>> {
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut numbers = Vec::new();
    for entry in entries {
        let name = entry?.file_name();
        let digits = name.to_str().and_then(|name| name.strip_prefix(START)?.strip_suffix(END));
        // Only names that are ours: what somebody has copied beside them stays.
        let is_plain = |digits: &&str| digits.len() >= WIDTH && digits.bytes().all(|byte| byte.is_ascii_digit());
        numbers.extend(digits.filter(is_plain).and_then(|digits| digits.parse::<u64>().ok()));
    }
    numbers.sort_unstable();
    Ok(numbers)
}

const WIDTH: usize = 8;

/// The file with this number.
pub(super) fn path(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("{START}{number:0WIDTH$}{END}"))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn fill(file: &mut File, bytes: usize) {
        file.write_all(&vec![b'x'; bytes]).expect("room");
    }

    #[test]
    fn a_full_file_is_followed_by_the_next_and_old_ones_go() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path().join("new");
        let segments = Segments { folder: folder.clone(), bounds: Bounds { bytes: 100, files: 3 } };
        std::fs::create_dir(&folder).expect("a folder");
        std::fs::write(folder.join("harvests-copy.jsonl"), "of somebody").expect("a file");
        for number in 1..=5 {
            let mut file = segments.current().expect("a file").expect("no other");
            assert_eq!(segments.state(&file).expect("known"), State::Good);
            fill(&mut file, 100);
            assert_eq!(segments.state(&file).expect("known"), State::Full);
            fill(&mut file, 100);
            assert_eq!(segments.state(&file).expect("known"), State::Gone);
            let kept: Vec<u64> = (1..=number).filter(|old| old + 3 > number).collect();
            assert_eq!(numbers(&folder).expect("a list"), kept);
        }
        assert!(folder.join("harvests-copy.jsonl").exists());
    }

    #[test]
    fn a_file_that_somebody_removed_is_noticed() {
        let folder = tempfile::tempdir().expect("a folder");
        let segments = Segments { folder: folder.path().join("log"), bounds: Bounds::default() };
        let file = segments.current().expect("a file").expect("no other");
        std::fs::remove_dir_all(&segments.folder).expect("it was there");
        assert_eq!(segments.state(&file).expect("known"), State::Gone);
        let file = segments.current().expect("a file").expect("no other");
        assert_eq!(segments.state(&file).expect("known"), State::Good);
    }

    #[test]
    fn nobody_waits_long_for_a_process_that_holds_on() {
        let folder = tempfile::tempdir().expect("a folder");
        let segments = Segments { folder: folder.path().to_owned(), bounds: Bounds::default() };
        let _held = segments.lock().expect("a lock").expect("nobody has it");
        assert!(segments.current().expect("no failure").is_none());
    }
}
