//! Writing the log: one line for each request, appended with one write. A request never fails because of the log.
//!
//! Any number of processes append to the same file. Rotation is left to logrotate: when the file of that name is
//! another one, or none, it is opened again.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::line::Line;
use crate::repeats::Repeats;
use crate::{Event, FILE};

/// How often the file is looked up by its name, and how long it is left alone after a failure.
const LOOKUP: Duration = Duration::from_secs(1);

/// The log of a repository.
#[derive(Debug)]
pub struct Log {
    state: Mutex<Writing>,
}

#[derive(Debug)]
struct Writing {
    folder: PathBuf,
    /// None before the first line and after a failure.
    file: Option<File>,
    looked_up: Option<Instant>,
    repeats: Repeats,
    /// Lines that could not be written since the last success.
    lost: u64,
}

impl Log {
    /// The log in this folder. Nothing is created before the first line, so that a process which forks shares nothing.
    pub fn open(folder: impl Into<PathBuf>) -> Self {
        let folder = folder.into();
        Self {
            state: Mutex::new(Writing { folder, file: None, looked_up: None, repeats: Repeats::default(), lost: 0 }),
        }
    }

    /// Logs a request.
    pub fn note(&self, event: &Event) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        for (event, times) in state.repeats.note(event) {
            state.put(&event, times);
        }
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        for (event, times) in state.repeats.rest() {
            state.put(&event, times);
        }
    }
}

impl Writing {
    fn put(&mut self, event: &Event, times: u64) {
        let folder = self.folder.display().to_string();
        match self.append(&Line::of(event, times).to_bytes()) {
            Ok(()) if self.lost > 0 => {
                tracing::info!("the harvest log {folder} can be written again; {} lines are missing", self.lost);
                self.lost = 0;
            }
            Ok(()) => {}
            Err(error) => {
                if self.lost == 0 {
                    tracing::warn!("failed to write the harvest log {folder}: {error}; requests are not affected");
                }
                self.file = None;
                self.lost += 1;
            }
        }
    }

    fn append(&mut self, line: &[u8]) -> io::Result<()> {
        if self.looked_up.is_none_or(|at| at.elapsed() >= LOOKUP) {
            self.looked_up = Some(Instant::now());
            self.look_up()?;
        }
        let Some(file) = &mut self.file else { return Err(io::ErrorKind::NotConnected.into()) };
        // In one write: pieces would be torn apart by the lines of other processes.
        if file.write(line)? == line.len() { Ok(()) } else { Err(io::ErrorKind::StorageFull.into()) }
    }

    /// Opens the file unless it is the one that is open.
    fn look_up(&mut self) -> io::Result<()> {
        let path = self.folder.join(FILE);
        let inode = |metadata: io::Result<std::fs::Metadata>| metadata.ok().map(|it| (it.dev(), it.ino()));
        let open = self.file.as_ref().and_then(|file| inode(file.metadata()));
        if open.is_none() || open != inode(path.metadata()) {
            DirBuilder::new().recursive(true).mode(0o750).create(&self.folder)?;
            self.file = Some(OpenOptions::new().append(true).create(true).mode(0o640).open(path)?);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use modoai_protocol::Datestamp;

    use super::*;
    use crate::{Outcome, summary};

    fn event(who: &str, at: i64) -> Event {
        Event {
            at: Datestamp::from_unix(at),
            who: who.to_owned(),
            agent: "test/1".to_owned(),
            verb: Some("ListRecords"),
            list: Some("oai_dc".to_owned()),
            outcome: Outcome::Answered,
            records: 1,
            bytes: 10,
        }
    }

    /// Lets the next line look the file up.
    fn forget_lookup(log: &Log) {
        log.state.lock().expect("not poisoned").looked_up = None;
    }

    fn requests(folder: &Path) -> Vec<(String, u64)> {
        let summary = summary(folder, None).expect("a summary");
        assert_eq!(summary.unreadable, 0);
        summary.harvesters.into_iter().map(|harvester| (harvester.who, harvester.requests)).collect()
    }

    #[test]
    fn no_line_is_lost_or_torn_when_many_write_and_the_file_is_rotated() {
        let folder = tempfile::tempdir().expect("a folder");
        let log = || Log::open(folder.path());
        log().note(&event("writer 0", 1));
        std::thread::scope(|scope| {
            for writer in 0..8 {
                scope.spawn(move || {
                    let log = log();
                    (0..1000).for_each(|number| {
                        if number % 100 == 0 {
                            forget_lookup(&log);
                        }
                        log.note(&event(&format!("writer {writer}"), number));
                    });
                });
            }
            for rotation in (1..5).rev() {
                std::fs::rename(folder.path().join(FILE), folder.path().join(format!("{FILE}.{rotation}"))).ok();
                std::thread::yield_now();
            }
        });
        let counted = requests(folder.path());
        assert_eq!(counted.iter().map(|(_, requests)| requests).sum::<u64>(), 8001, "{counted:?}");
    }

    #[test]
    fn unwritable_log_is_retried_and_does_not_fail_requests() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().join("file");
        std::fs::write(&place, "not a folder").expect("a file");
        let log = Log::open(&place);
        log.note(&event("a", 1));
        log.note(&event("a", 2));
        assert_eq!(log.state.lock().expect("not poisoned").lost, 2);
        std::fs::remove_file(&place).expect("it exists");
        forget_lookup(&log);
        log.note(&event("a", 3));
        assert_eq!(log.state.lock().expect("not poisoned").lost, 0);
        assert_eq!(requests(&place), [("a".to_owned(), 1)]);
    }

    #[test]
    fn removed_log_is_created_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().join("log");
        let log = Log::open(&place);
        log.note(&event("a", 1));
        std::fs::remove_dir_all(&place).expect("it exists");
        forget_lookup(&log);
        log.note(&event("b", 2));
        assert_eq!(requests(&place), [("b".to_owned(), 1)]);
    }

    #[test]
    fn counted_repetitions_are_written_at_the_end() {
        let folder = tempfile::tempdir().expect("a folder");
        let log = Log::open(folder.path());
        for _ in 0..100 {
            log.note(&Event { outcome: Outcome::Refused, ..event("a", 1) });
        }
        assert!(folder.path().join(FILE).metadata().expect("a file").len() < 200);
        drop(log);
        assert_eq!(requests(folder.path()), [("a".to_owned(), 100)]);
    }
}
