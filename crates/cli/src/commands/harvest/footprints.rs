//! Removes the directories that a failed harvest has created, so that a mistyped URL leaves nothing behind.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use modoai_harvester::state::{OWN_FOLDER, State, StateError};
use rustix::fs::{FlockOperation, flock};

/// The folders that a harvest is about to create.
pub(super) struct Footprints {
    dir: PathBuf,
    /// The innermost first.
    new: Vec<PathBuf>,
}

impl Footprints {
    /// Notes which directories are missing; call it before the harvest.
    pub(super) fn of(dir: &Path) -> Self {
        let own = dir.join(OWN_FOLDER);
        let new = own.ancestors().take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists());
        Self { dir: dir.to_path_buf(), new: new.map(Path::to_path_buf).collect() }
    }

    /// Removes the new directories; call it if the harvest failed. A folder with a recorded harvest stays, and so do
    /// files of other programs.
    pub(super) fn remove(&self) {
        let Some(own) = self.new.first() else { return };
        // The lock of a harvest: another process may have started one here.
        let lock = own.join("lock");
        let free = |file: &File| flock(file, FlockOperation::NonBlockingLockExclusive).is_ok();
        let Some(_locked) = File::open(&lock).ok().filter(free) else { return };
        match State::look(&self.dir).and_then(|state| state.contract()) {
            Ok(None) | Err(StateError::Absent { .. }) => {}
            Ok(Some(_)) | Err(_) => return,
        }
        for file in ["harvest.sqlite", "harvest.sqlite-wal", "harvest.sqlite-shm", "reserve"] {
            // Some of them may not exist.
            let _ = fs::remove_file(own.join(file));
        }
        let _ = fs::remove_file(lock);
        for folder in &self.new {
            if fs::remove_dir(folder).is_err() {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use modoai_harvester::state::Contract;

    use super::*;

    #[test]
    fn only_what_is_new_and_empty_is_removed() {
        let place = tempfile::tempdir().expect("a folder");
        let dir = place.path().join("a/b");
        let footprints = Footprints::of(&dir);
        let mut state = State::open(&dir).expect("a new state");
        footprints.remove();
        assert!(dir.exists(), "a harvest is running");
        let contract = Contract { base_url: "http://a/".into(), sink: "records".into(), prefix: "oai_dc".into() };
        state.agree(&contract, false).expect("an agreement");
        drop(state);
        footprints.remove();
        Footprints::of(&dir).remove();
        assert!(State::look(&dir).is_ok(), "it is known what belongs here");

        let dir = place.path().join("c/d");
        let footprints = Footprints::of(&dir);
        drop(State::open(&dir).expect("a new state"));
        fs::write(place.path().join("c/notes"), "mine").expect("written");
        footprints.remove();
        assert!(!dir.exists() && place.path().join("c/notes").exists());
    }
}
