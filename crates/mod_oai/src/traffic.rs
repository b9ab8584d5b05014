//! Records URLs that visitors request and that cannot be derived from the files.
//!
//! Rewriting, content negotiation and the like give files URLs that cannot be guessed from the files. Where
//! `OAITraffic` is on, a URL whose response was a plain file is noted: the path alone, with neither the query nor the
//! client. Whether such a URL is listed is decided as for every other one, with every request.
//!
//! Requests of visitors must not become slower. A child only appends the path to a queue file, and skips paths that it
//! appended recently. The keeper empties the queue every second, searches the catalogue for the paths, and moves
//! unknown ones to a second file, which is permanent.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::fs::File;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use modoai_httpd::request::Request;
use modoai_repository::site::name;
use rustix::fs::{FlockOperation, Mode, OFlags, flock};

use crate::Oai;
use crate::house::{House, lock};

/// The queue file, in the directory of a server.
const QUEUE: &str = "visited-urls";

/// The file of paths that the catalogue did not have.
const FILE: &str = "found-urls";

/// Maximum size of the queue. The keeper processes it in less than 100 ms.
const MAX_QUEUE_BYTES: u64 = 256 << 10;

/// The maximum size of this file. Further URLs are not recorded.
const MOST_BYTES: u64 = 16 << 20;

/// Number of recent paths that a child skips, 8 bytes each. A path that was evicted is appended again.
const RECENT: usize = 16 << 10;

/// Slots in which the hash of a path may be: those of one cache line.
const BUCKET: usize = 8;

/// Seconds after which a path is appended again: the catalogue may have lost it since.
const RECENT_SECONDS: u64 = 600;

/// Attempts of the keeper to lock the queue, one millisecond apart.
const LOCK_ATTEMPTS: u32 = 50;

/// The state of a child for a server.
#[derive(Default)]
pub(crate) struct Visited {
    /// Hashes of recent paths, in buckets.
    recent: OnceLock<Box<[AtomicU64]>>,
    queue: Mutex<Option<File>>,
}

impl Visited {
    /// The slot and hash of a path; `None` if the path was appended recently.
    fn slot_for(&self, path: &[u8]) -> Option<(&AtomicU64, u64)> {
        let recent = self.recent.get_or_init(|| (0..RECENT).map(|_| AtomicU64::new(0)).collect());
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let mut hasher = DefaultHasher::new();
        (path, seconds / RECENT_SECONDS).hash(&mut hasher);
        let hash = hasher.finish();
        let number = usize::try_from(hash % (RECENT / BUCKET) as u64).unwrap_or_default();
        let bucket = recent.chunks_exact(BUCKET).nth(number)?;
        if bucket.iter().any(|slot| slot.load(Ordering::Relaxed) == hash) {
            return None;
        }
        let is_free = |slot: &&AtomicU64| slot.load(Ordering::Relaxed) == 0;
        let slot = bucket.iter().find(is_free).or_else(|| bucket.get((hash >> 60) as usize % BUCKET))?;
        Some((slot, hash))
    }

    /// Appends a line to the queue. Never waits for a lock.
    fn append(&self, folder: &Path, line: &str) -> io::Result<()> {
        let mut open = lock(&self.queue);
        // After an error the file is closed, which releases the lock.
        let mut queue = match open.take() {
            Some(queue) => queue,
            None => open_to_append(&folder.join(QUEUE))?,
        };
        // The keeper holds an exclusive lock between reading and truncating.
        flock(&queue, FlockOperation::NonBlockingLockShared)?;
        if queue.metadata()?.len() >= MAX_QUEUE_BYTES {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        // In one write, so that lines of several children do not mix.
        queue.write_all(line.as_bytes())?;
        flock(&queue, FlockOperation::Unlock)?;
        *open = Some(queue);
        Ok(())
    }
}

/// Opens a file of paths for appending.
fn open_to_append(path: &Path) -> io::Result<File> {
    File::options().create(true).append(true).mode(0o600).open(path)
}

/// Appends the path of a request to the queue, if its response was a plain file.
pub(crate) fn notice(request: &Request<'_>) {
    let server = request.server();
    let config = server.config::<Oai>();
    if !config.traffic.unwrap_or(false) || !config.is_on() {
        return;
    }
    let last = request.last();
    let is_plain = last.status() == 200
        && request.method() == "GET"
        && request.is_original()
        && last.is_file()
        && last.path_info().is_empty();
    let (true, Some(file), Some(folder)) = (is_plain, last.file(), config.door.folder()) else { return };
    let Some((slot, hash)) = config.door.visited.slot_for(request.sent_path()) else { return };
    // A folder's URL ends with a slash, and so is not a name.
    let path = std::str::from_utf8(request.sent_path()).ok().and_then(|path| path.strip_prefix('/'));
    let Some(segments) = path.filter(|path| !path.is_empty()).and_then(name::decode) else { return };
    let line = format!("{} {}\n", name::encode(&segments), written(file));
    // A URL that could not be noted will be requested again.
    if config.door.visited.append(folder, &line).is_ok() {
        slot.store(hash, Ordering::Relaxed);
    }
}

/// The maximum number of names that traffic adds to one file: with a rule for all URLs of a folder, visitors could
/// invent any number of names.
const MOST_NAMES: u32 = 16;

/// The URLs that have been noted, read as the file grows.
pub(crate) struct Found {
    path: PathBuf,
    read: u64,
    /// The number of names of each file.
    names: HashMap<PathBuf, u32>,
}

impl Found {
    /// In the folder of a server.
    pub(crate) fn of(folder: &Path) -> Self {
        Self { path: folder.join(FILE), read: 0, names: HashMap::new() }
    }

    /// Empties the queue, and stores the paths that the catalogue does not have.
    pub(crate) fn empty_queue(&self, house: &House) -> io::Result<()> {
        let queue = house.folder.join(QUEUE);
        let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let Ok(mut queue) = rustix::fs::open(&queue, flags, Mode::empty()).map(File::from) else { return Ok(()) };
        if queue.metadata()?.len() == 0 {
            return Ok(());
        }
        // Children hold their locks for microseconds.
        let mut attempts = 0;
        while let Err(error) = flock(&queue, FlockOperation::NonBlockingLockExclusive) {
            attempts += 1;
            if attempts > LOCK_ATTEMPTS {
                return Err(error.into());
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        let mut lines = Vec::new();
        (&mut queue).take(2 * MAX_QUEUE_BYTES).read_to_end(&mut lines)?;
        queue.set_len(0)?;
        drop(queue);
        let lines = String::from_utf8_lossy(&lines);
        let is_news = |line: &&str| {
            let name = line.split(' ').next().unwrap_or_default();
            name::decode(name).is_some_and(|segments| house.rules.shows(&segments))
                && house.catalogue.item(name).is_ok_and(|item| item.is_none_or(|item| item.deleted))
        };
        // Several children may have appended the same path.
        let lines: BTreeSet<&str> = lines.lines().collect();
        let news: String = lines.into_iter().filter(is_news).flat_map(|line| [line, "\n"]).collect();
        if news.is_empty() {
            return Ok(());
        }
        let mut file = open_to_append(&self.path)?;
        if file.metadata()?.len() < MOST_BYTES { file.write_all(news.as_bytes()) } else { Ok(()) }
    }

    /// Calls `each` for every URL noted since the last call: its name, and the file that it maps to.
    pub(crate) fn each_new(&mut self, mut each: impl FnMut(&str, &Path)) {
        // Root may read it too, in a folder that is not root's: links are not followed, and the open does not block.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let Ok(mut file) = rustix::fs::open(&self.path, flags, Mode::empty()).map(File::from) else { return };
        let grown = file.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() > self.read);
        if !grown || file.seek(SeekFrom::Start(self.read)).is_err() {
            return;
        }
        let mut lines = BufReader::new(file);
        let mut line = Vec::new();
        // A line without an end is still being written.
        while lines.read_until(b'\n', &mut line).is_ok_and(|_| line.ends_with(b"\n")) {
            self.read += line.len() as u64;
            let text = String::from_utf8_lossy(&line);
            if let Some((item_name, path)) = text.trim_end().split_once(' ')
                && name::decode(item_name).is_some_and(|segments| !segments.is_empty())
                && let Some(path) = read(path)
            {
                let names = self.names.entry(path.clone()).or_default();
                *names += 1;
                if *names <= MOST_NAMES {
                    each(item_name, &path);
                }
            }
            line.clear();
        }
    }
}

/// A path is written like a name, with a slash before it.
fn written(path: &Path) -> String {
    let segments = path.components().filter_map(|part| match part {
        Component::Normal(segment) => Some(name::encode_segment(segment.as_bytes())),
        _ => None,
    });
    segments.map(|segment| format!("/{segment}")).collect()
}

/// Returns the path that was written; none if it is invalid.
fn read(text: &str) -> Option<PathBuf> {
    let segments = name::decode(text.strip_prefix('/')?)?;
    Some(segments.iter().fold(PathBuf::from("/"), |path, segment| path.join(OsStr::from_bytes(segment))))
}
