//! The store for a crawled site: the response to a GET of each URL, as files.
//!
//! A URL has a head (its headers, and the name of the file with the body) and a body, whose modification time is that
//! of the resource. A new state is written next to the old one, and takes effect when its head replaces the old head. A
//! reader, or a process that is killed, therefore finds one complete state at any moment. A file that a power failure
//! has truncated is treated as missing.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sha2::{Digest as _, Sha256};

use super::Sent;
use super::head::Head;
use crate::host::{Host, Representation};
use crate::item::{Fingerprint, Item};
use crate::site::folder::fingerprint_of;

/// Web pages are not older: servers without a date send 1970.
const FIRST_YEAR: Duration = Duration::from_secs(20 * 365 * 86_400);

/// The number of attempts of a reader if the state is replaced while it reads.
const ATTEMPTS: usize = 5;

/// The store, by URL.
#[derive(Debug)]
pub struct Shelf {
    folder: PathBuf,
}

impl Shelf {
    /// Opens the store in this directory, and creates it if it is missing.
    pub fn open(folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        Ok(Self { folder: folder.to_path_buf() })
    }

    /// Returns the last stored response for this URL.
    pub fn get(&self, url: &str) -> io::Result<Option<Representation>> {
        let place = self.place(url);
        for _ in 0..ATTEMPTS {
            let Some(head) = self.head(url)? else { return Ok(None) };
            match File::open(place.body(head.slot)) {
                Ok(file) => {
                    let found = fingerprint_of(&file)?;
                    // If only a part is stored, the length differs from that of the file, so the part is never mistaken
                    // for the whole.
                    let fingerprint = Fingerprint { size: head.size, ..found };
                    let is_short = head.is_whole && found.size != head.size;
                    return Ok((!is_short).then_some(Representation { headers: head.headers, file, fingerprint }));
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// Stores a response, unless its bytes are stored already: then the headers that were received with them are kept.
    pub(super) fn put(&self, url: &str, sent: &Sent<'_>) -> io::Result<Fingerprint> {
        let digest = digest(sent);
        let old = self.head(url)?;
        if let Some(old) = &old
            && old.digest == digest
            && let Some(representation) = self.get(url)?
        {
            return Ok(representation.fingerprint);
        }
        let place = self.place(url);
        fs::create_dir_all(&place.folder)?;
        let slot = if old.as_ref().is_some_and(|old| old.slot == 'a') { 'b' } else { 'a' };
        let beside = place.with(".new");
        let mut file = File::create(&beside)?;
        // No bytes of a part are stored: such a resource is referenced.
        file.write_all(if sent.is_whole { sent.body } else { &[] })?;
        file.set_modified(modified(sent))?;
        fs::rename(&beside, place.body(slot))?;
        let announced = sent.header("content-length").and_then(|length| length.parse().ok());
        let size = match announced {
            Some(length) if !sent.is_whole => length,
            _ => sent.body.len() as u64 + u64::from(!sent.is_whole),
        };
        let headers = sent.headers.iter().map(|(name, value)| (name.clone().into(), value.clone())).collect();
        let head = Head { slot, is_whole: sent.is_whole, size, digest, url: url.to_owned(), headers };
        fs::write(&beside, head.to_text())?;
        fs::rename(&beside, place.with(""))?;
        if let Some(old) = old {
            remove(&place.body(old.slot))?;
        }
        Ok(Fingerprint { size, ..fingerprint_of(&file)? })
    }

    /// Removes the stored response.
    pub(super) fn remove(&self, url: &str) -> io::Result<()> {
        let place = self.place(url);
        // The head first: without it, bodies are ignored.
        ["", ".a", ".b", ".new"].iter().try_for_each(|end| remove(&place.with(end)))
    }

    fn head(&self, url: &str) -> io::Result<Option<Head>> {
        match fs::read_to_string(self.place(url).with("")) {
            // One that cannot be read, or belongs to another URL, is treated as missing: the resource is requested
            // again.
            Ok(text) => Ok(Head::from_text(&text).ok().filter(|head| head.url == url)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn place(&self, url: &str) -> Place {
        let name: String = Sha256::digest(url)[..16].iter().map(|byte| format!("{byte:02x}")).collect();
        Place { folder: self.folder.join(&name[..2]), name }
    }
}

/// The location of a URL's files.
struct Place {
    folder: PathBuf,
    name: String,
}

impl Place {
    fn with(&self, end: &str) -> PathBuf {
        self.folder.join(format!("{}{end}", &self.name[2..]))
    }

    fn body(&self, slot: char) -> PathBuf {
        self.with(&format!(".{slot}"))
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Returns the digest that detects a change: of the bytes and their description, and for a part also of the server's
/// statements about the whole.
fn digest(sent: &Sent<'_>) -> String {
    let mut hash = Sha256::new();
    let mut add = |text: &str| {
        hash.update(text);
        hash.update([0]);
    };
    add(sent.header("content-type").unwrap_or_default());
    if !sent.is_whole {
        for name in ["content-length", "etag", "last-modified"] {
            add(sent.header(name).unwrap_or_default());
        }
    }
    hash.update(sent.body);
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the modification time of the resource if the server's statement is plausible, otherwise the present time.
fn modified(sent: &Sent<'_>) -> SystemTime {
    let now = SystemTime::now();
    let said = sent.header("last-modified").and_then(|date| httpdate::parse_http_date(date).ok());
    said.filter(|said| (UNIX_EPOCH + FIRST_YEAR..=now).contains(said)).unwrap_or(now)
}

impl Host for Shelf {
    fn ready(&self) -> io::Result<()> {
        fs::metadata(&self.folder).map(drop)
    }

    fn sees_all(&self) -> bool {
        true
    }

    fn patience(&self) -> u64 {
        u64::MAX
    }

    fn view(&self) -> String {
        String::new()
    }

    fn sees(&self, _item: &Item) -> io::Result<bool> {
        Ok(true)
    }

    fn get(&self, item: &Item) -> io::Result<Option<Representation>> {
        self.get(&item.name)
    }
}
