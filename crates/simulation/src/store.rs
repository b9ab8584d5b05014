//! The sink of a simulated harvest, in memory. It is kept when the harvester is killed; what was written after the last mark
//! is then discarded, as a sink in a file does.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use modoai_harvester::record::{Header, Novelty};
use modoai_harvester::sink::{Kept, Origin, Part, Sink, SinkError};

use crate::world::Events;

/// A stored record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// Its metadata.
    pub text: String,
    /// True if it is a deletion.
    pub deleted: bool,
}

/// What is stored: the records of every commit.
#[derive(Debug, Default)]
pub struct Store {
    commits: Vec<Vec<(String, Stored)>>,
}

impl Store {
    /// The last version of every record.
    pub fn records(&self) -> BTreeMap<&str, &Stored> {
        self.commits.iter().flatten().map(|(identifier, stored)| (identifier.as_str(), stored)).collect()
    }
}

/// Locks what a killed harvester may have left in the middle of a call.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The sink.
pub struct StoreSink {
    store: Arc<Mutex<Store>>,
    events: Arc<Events>,
    page: Vec<(String, Stored)>,
    record: Option<(String, Stored)>,
}

impl StoreSink {
    /// Opens the sink with the mark of the last commit: the number of commits before it.
    pub fn open(store: Arc<Mutex<Store>>, events: Arc<Events>, mark: Option<&str>) -> Self {
        let commits = mark.and_then(|mark| mark.parse().ok()).unwrap_or(0);
        lock(&store).commits.truncate(commits);
        Self { store, events, page: Vec::new(), record: None }
    }
}

impl Sink for StoreSink {
    fn page(&mut self, _: &Origin) -> Result<(), SinkError> {
        self.events.happen();
        self.page.clear();
        Ok(())
    }

    fn record(&mut self, header: &Header) -> Result<(), SinkError> {
        let stored = Stored { text: String::new(), deleted: header.deleted };
        self.record = Some((header.identifier.clone(), stored));
        Ok(())
    }

    fn part(&mut self, _: Part, _: &[(&str, &str)]) -> Result<(), SinkError> {
        Ok(())
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result<(), SinkError> {
        if let Some((_, stored)) = &mut self.record {
            stored.text.push_str(&String::from_utf8_lossy(bytes));
        }
        Ok(())
    }

    fn part_end(&mut self) -> Result<(), SinkError> {
        Ok(())
    }

    fn end(&mut self, novelty: Novelty) -> Result<Kept, SinkError> {
        self.events.happen();
        let record = self.record.take();
        if novelty != Novelty::Same {
            self.page.extend(record);
        }
        Ok(Kept::Yes)
    }

    fn abandon(&mut self) -> Result<(), SinkError> {
        self.record = None;
        Ok(())
    }

    fn commit(&mut self) -> Result<String, SinkError> {
        self.events.happen();
        let commits = {
            let mut store = lock(&self.store);
            store.commits.push(std::mem::take(&mut self.page));
            store.commits.len()
        };
        // The state is not committed yet.
        self.events.happen();
        Ok(commits.to_string())
    }

    fn roll_back(&mut self) -> Result<(), SinkError> {
        self.page.clear();
        self.record = None;
        Ok(())
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        self.events.happen();
        Ok(())
    }
}
