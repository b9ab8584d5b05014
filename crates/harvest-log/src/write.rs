//! Writes the log: one line for each request. Refusals that are repeated quickly share a line.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use crate::line::Line;
use crate::log_file::LogFile;
use crate::repeats::Repeats;
use crate::{Event, FILE};

/// The log of a repository.
#[derive(Debug)]
pub struct Log {
    state: Mutex<Writing>,
}

#[derive(Debug)]
struct Writing {
    file: LogFile,
    repeats: Repeats,
}

impl Log {
    /// Opens the log in this directory. The file is created with the first line, so that processes after a fork share
    /// no handle.
    pub fn open(folder: impl Into<PathBuf>) -> Self {
        let file = LogFile::new("harvest log", folder.into().join(FILE));
        Self { state: Mutex::new(Writing { file, repeats: Repeats::default() }) }
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
        self.file.write(&Line::of(event, times).to_bytes());
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

    fn forget_lookup(log: &Log) {
        log.state.lock().expect("not poisoned").file.forget_lookup();
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
        assert_eq!(log.state.lock().expect("not poisoned").file.lost(), 2);
        std::fs::remove_file(&place).expect("it exists");
        forget_lookup(&log);
        log.note(&event("a", 3));
        assert_eq!(log.state.lock().expect("not poisoned").file.lost(), 0);
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
