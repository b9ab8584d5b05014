//! Writing the log: a request costs one look at the open file and one write, and never fails because of it.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::Event;
use super::line::Line;
use super::repeats::Repeats;
use super::segments::{Bounds, Segments, State};

/// After a failure the disk is left alone for a while.
const REST: Duration = Duration::from_secs(10);

/// The log of a repository. Any number of processes may have it open, and write.
#[derive(Debug)]
pub struct Log {
    state: Mutex<Writing>,
}

#[derive(Debug)]
struct Writing {
    segments: Segments,
    file: Option<File>,
    repeats: Repeats,
    line: Vec<u8>,
    trouble: Option<Trouble>,
}

/// Why nothing is written.
#[derive(Debug)]
struct Trouble {
    /// Not to be tried again before.
    until: Instant,
    /// Lines that were not written.
    lost: u64,
}

impl Log {
    /// The log in this folder, which is made with the first line. Nothing is touched before, so that a process which
    /// forks shares nothing.
    pub fn open(folder: impl Into<PathBuf>) -> Self {
        Self::bounded(folder, Bounds::default())
    }

    /// The same with other bounds.
    pub fn bounded(folder: impl Into<PathBuf>, bounds: Bounds) -> Self {
        let segments = Segments { folder: folder.into(), bounds };
        let writing = Writing { segments, file: None, repeats: Repeats::default(), line: Vec::new(), trouble: None };
        Self { state: Mutex::new(writing) }
    }

    /// Notes a request. When that is impossible a warning says so, once, and the request is none the worse for it.
    pub fn note(&self, event: &Event) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let Writing { segments, file, repeats, line, trouble } = &mut *state;
        repeats.note(event, |event, times| put(segments, file, line, trouble, event, times));
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        let Writing { segments, file, repeats, line, trouble } = state;
        repeats.rest(|event, times| put(segments, file, line, trouble, event, times));
    }
}

fn put(
    segments: &Segments,
    file: &mut Option<File>,
    line: &mut Vec<u8>,
    trouble: &mut Option<Trouble>,
    event: &Event,
    times: u64,
) {
    if let Some(trouble) = trouble
        && Instant::now() < trouble.until
    {
        trouble.lost += 1;
        return;
    }
    line.clear();
    Line::of(event, times).write(line);
    let folder = segments.folder.display();
    match append(segments, file, line) {
        Ok(()) => {
            if let Some(Trouble { lost, .. }) = trouble.take() {
                tracing::info!("the harvest log {folder} can be written again; {lost} lines are missing");
            }
        }
        Err(error) => {
            *file = None;
            let lost = trouble.as_ref().map_or(0, |trouble| trouble.lost);
            if lost == 0 {
                tracing::warn!(%error, "the harvest log {folder} cannot be written; requests are answered all the same");
            }
            *trouble = Some(Trouble { until: Instant::now() + REST, lost: lost + 1 });
        }
    }
}

/// One line at the end of the file that is written to now.
fn append(segments: &Segments, file: &mut Option<File>, line: &[u8]) -> io::Result<()> {
    let state = file.as_ref().map_or(Ok(State::Gone), |file| segments.state(file))?;
    if state != State::Good {
        match segments.current()? {
            Some(newer) => *file = Some(newer),
            None if state == State::Full => {}
            None => return Err(io::Error::new(io::ErrorKind::WouldBlock, "another process holds its lock")),
        }
    }
    let file = file.as_mut().expect("it was good, or was replaced");
    // All at once: what comes in pieces would be torn apart by the lines of others.
    let written = file.write(line)?;
    if written == line.len() { Ok(()) } else { Err(io::ErrorKind::WriteZero.into()) }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use modoai_protocol::Datestamp;

    use super::super::{Outcome, segments, summary};
    use super::*;

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

    fn size(folder: &Path) -> u64 {
        let numbers = segments::numbers(folder).expect("a list");
        numbers.iter().map(|number| segments::path(folder, *number).metadata().expect("there").len()).sum()
    }

    /// Each with files of its own open, as processes have.
    fn write_at_once(folder: &Path, bounds: Bounds, writers: usize, lines: i64) {
        std::thread::scope(|scope| {
            for writer in 0..writers {
                scope.spawn(move || {
                    let log = Log::bounded(folder, bounds);
                    for number in 0..lines {
                        log.note(&event(&format!("writer {writer}"), 1000 + number));
                    }
                });
            }
        });
    }

    #[test]
    fn no_line_is_lost_or_torn_when_many_write_and_turn_pages() {
        let folder = tempfile::tempdir().expect("a folder");
        write_at_once(folder.path(), Bounds { bytes: 20_000, files: 10_000 }, 8, 1000);
        let summary = summary(folder.path(), None).expect("a summary");
        assert_eq!(summary.unreadable, 0);
        let counted: Vec<_> = summary.harvesters.iter().map(|harvester| harvester.requests).collect();
        assert_eq!(counted, [1000; 8]);
        assert!(segments::numbers(folder.path()).expect("a list").len() > 10);
    }

    #[test]
    fn the_log_does_not_outgrow_its_bounds() {
        let folder = tempfile::tempdir().expect("a folder");
        let bounds = Bounds { bytes: 2_000, files: 4 };
        write_at_once(folder.path(), bounds, 6, 1000);
        let numbers = segments::numbers(folder.path()).expect("a list");
        assert!(numbers.len() <= bounds.files, "{numbers:?}");
        // Each may be over by what everybody wrote before they saw it.
        assert!(size(folder.path()) <= bounds.files as u64 * 2 * bounds.bytes, "{}", size(folder.path()));
        let summary = summary(folder.path(), None).expect("a summary");
        assert_eq!(summary.unreadable, 0);
        assert!(summary.harvesters.iter().map(|harvester| harvester.requests).sum::<u64>() > 10);
    }

    #[test]
    fn a_log_that_cannot_be_written_does_not_matter() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().join("file");
        std::fs::write(&place, "no folder").expect("a file");
        let log = Log::open(&place);
        log.note(&event("a", 1));
        log.note(&event("a", 2));
        let lost = log.state.lock().expect("not poisoned").trouble.as_ref().expect("it is in trouble").lost;
        assert_eq!(lost, 2);
        std::fs::remove_file(&place).expect("it is there");
        log.state.lock().expect("not poisoned").trouble.as_mut().expect("in trouble").until = Instant::now();
        log.note(&event("a", 3));
        assert!(log.state.lock().expect("not poisoned").trouble.is_none());
        assert_eq!(summary(&place, None).expect("a summary").harvesters[0].requests, 1);
    }

    #[test]
    fn a_log_that_was_removed_begins_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().join("log");
        let log = Log::open(&place);
        log.note(&event("a", 1));
        std::fs::remove_dir_all(&place).expect("it was there");
        log.note(&event("b", 2));
        let summary = summary(&place, None).expect("a summary");
        assert_eq!(summary.harvesters.len(), 1);
        assert_eq!(summary.harvesters[0].who, "b");
    }

    #[test]
    fn what_was_counted_is_written_in_the_end() {
        let folder = tempfile::tempdir().expect("a folder");
        let log = Log::open(folder.path());
        for _ in 0..100 {
            log.note(&Event { outcome: Outcome::Refused, ..event("a", 1) });
        }
        assert!(size(folder.path()) < 200);
        drop(log);
        assert_eq!(summary(folder.path(), None).expect("a summary").harvesters[0].refused, 100);
    }
}
