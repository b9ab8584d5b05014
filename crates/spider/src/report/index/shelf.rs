//! Manages the files of an index: incomplete versions stay hidden, and previous versions are kept.
//!
//! ```text
//! report.html                            the newest
//! report-2026-11-16T054512Z/             its further pages, if it is large
//! report-2026-11-09T054503Z.html         the previous version
//! report-2026-11-09T054503Z/             and its further pages
//! .report.unfinished/                    the version that is being written
//! ```
//!
//! Every version has its date from the start, so its further pages never move. A further page without changes since the
//! previous version is not written again: both versions have the same file (a hard link), so that ten versions of a
//! large index take little more space than one. The existing file gets a second name with its own date before the new
//! one replaces it atomically: an index exists at any time, and a crash leaves either the old or the new one. Files are
//! not synced to the disk; after a power failure an index can be created again.

use std::cell::Cell;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};

use super::super::writing;
use crate::results::{ReportError, Visit};

/// The number of previous versions to keep.
const KEPT: usize = 10;
/// The element in which an index names its version; it is searched in the first few kilobytes of a file.
const MARK: &str = "<meta name=\"modoai-version\" content=\"";

const IN_LINKS: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The files of one index.
pub(super) struct Shelf {
    path: PathBuf,
    folder: PathBuf,
    stem: OsString,
    extension: OsString,
    version: String,
    unfinished: PathBuf,
    /// The version of the existing file, if any.
    present: Option<String>,
    /// The versions before that, newest first.
    past: Vec<String>,
    pages: Cell<usize>,
}

impl Shelf {
    /// Finds the existing versions, and prepares the directory for a new one.
    pub(super) fn open(path: &Path, began: Timestamp) -> Result<Self, ReportError> {
        let folder =
            path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")).to_path_buf();
        let stem = path.file_stem().unwrap_or(OsStr::new("index")).to_owned();
        let extension = path.extension().map(OsStr::to_owned).unwrap_or_default();
        let unfinished = folder.join(format!(".{}.unfinished", stem.to_string_lossy()));
        let mut shelf = Self {
            path: path.to_path_buf(),
            folder,
            stem,
            extension,
            version: String::new(),
            unfinished,
            present: None,
            past: Vec::new(),
            pages: Cell::new(0),
        };
        let failed = |path: &Path| writing(path.display().to_string());
        fs::create_dir_all(&shelf.folder).map_err(failed(&shelf.folder))?;
        shelf.past = shelf.versions().map_err(failed(&shelf.folder))?;
        let own = stamp(began);
        match version_of(path).map_err(failed(path))? {
            Found::Nothing => shelf.version = shelf.unused(&own, &[]),
            Found::Version(present) => {
                shelf.version = shelf.unused(&own, &[&present]);
                // An earlier run may have created the second name already, if it was interrupted here.
                shelf.past.retain(|past| *past != present);
                shelf.present = Some(present);
            }
            Found::Foreign(modified) => {
                let present = shelf.unused(&stamp(modified), &[]);
                shelf.version = shelf.unused(&own, &[&present]);
                shelf.present = Some(present);
            }
        }
        if shelf.unfinished.exists() {
            fs::remove_dir_all(&shelf.unfinished).map_err(failed(&shelf.unfinished))?;
        }
        fs::create_dir(&shelf.unfinished).map_err(failed(&shelf.unfinished))?;
        Ok(shelf)
    }

    /// Returns the name of the version that is being written.
    pub(super) fn version(&self) -> &str {
        &self.version
    }

    /// Returns the path to which the index is written at first.
    pub(super) fn unfinished_index(&self) -> PathBuf {
        self.unfinished.join("index")
    }

    /// Writes a further page, unless the previous version has the same.
    pub(super) fn write_page(&self, name: &str, html: &str) -> Visit {
        let pages = self.unfinished.join("pages");
        fs::create_dir_all(&pages).map_err(writing(pages.display().to_string()))?;
        let page = pages.join(name);
        self.pages.set(self.pages.get() + 1);
        let before = self.present.as_ref().map(|version| self.folder_of(version).join(name));
        // If the file system has no hard links, the page is written like any other.
        let is_linked = |before: &PathBuf| is_same(before, html) && fs::hard_link(before, &page).is_ok();
        if before.as_ref().is_some_and(is_linked) {
            return Ok(());
        }
        fs::write(&page, html).map_err(writing(page.display().to_string()))
    }

    /// Returns the number of further pages.
    pub(super) fn pages_written(&self) -> usize {
        self.pages.get()
    }

    /// Returns the final directory of further pages.
    pub(super) fn folder(&self) -> PathBuf {
        self.folder_of(&self.version)
    }

    /// Returns the link from the index to that directory.
    pub(super) fn folder_href(&self) -> String {
        in_link(self.folder().file_name().unwrap_or_default())
    }

    /// Returns the link from that directory to the newest index.
    pub(super) fn index_href(&self) -> String {
        format!("../{}", in_link(self.path.file_name().unwrap_or_default()))
    }

    /// Returns links to previous versions, newest first, with their dates.
    pub(super) fn priors(&self) -> impl Iterator<Item = (String, String)> {
        self.present
            .iter()
            .chain(&self.past)
            .take(KEPT)
            .map(|version| (in_link(self.file_of(version).file_name().unwrap_or_default()), spoken(version)))
    }

    /// Moves everything to its final path. Returns the new path of the previous version.
    pub(super) fn publish(&self) -> Result<Option<PathBuf>, ReportError> {
        let pages = self.unfinished.join("pages");
        if pages.exists() {
            let folder = self.folder();
            fs::rename(&pages, &folder).map_err(writing(folder.display().to_string()))?;
        }
        let prior = self.present.as_ref().map(|version| self.file_of(version));
        if let Some(prior) = &prior {
            second_name(&self.path, prior).map_err(writing(prior.display().to_string()))?;
        }
        fs::rename(self.unfinished_index(), &self.path).map_err(writing(self.path.display().to_string()))?;
        // The index is complete now; only the removal of old files remains.
        if let Err(error) = fs::remove_dir_all(&self.unfinished).and_then(|()| self.clear_away()) {
            tracing::warn!(index = %self.path.display(), %error, "failed to remove old versions of the index");
        }
        Ok(prior)
    }

    /// Removes versions that are too old, and directories whose index was never finished. Other files are not touched.
    fn clear_away(&self) -> io::Result<()> {
        for version in self.versions()?.into_iter().skip(KEPT) {
            let file = self.file_of(&version);
            if matches!(version_of(&file)?, Found::Version(ours) if ours == version) {
                fs::remove_file(file)?;
            }
        }
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            let name = entry.file_name();
            let Some(version) = self.version_in(&name, "").filter(|version| *version != self.version) else { continue };
            if entry.file_type()?.is_dir() && !self.file_of(&version).exists() {
                remove_pages(&entry.path())?;
            }
        }
        Ok(())
    }

    /// Returns the versions that have a file with their date, newest first.
    fn versions(&self) -> io::Result<Vec<String>> {
        let mut versions = Vec::new();
        let extension = self.extension.to_string_lossy();
        let suffix = if extension.is_empty() { String::new() } else { format!(".{extension}") };
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            if entry.file_type()?.is_file() {
                versions.extend(self.version_in(&entry.file_name(), &suffix));
            }
        }
        versions.sort_unstable_by(|a, b| b.cmp(a));
        Ok(versions)
    }

    fn version_in(&self, name: &OsStr, suffix: &str) -> Option<String> {
        let stem = self.stem.to_str()?;
        let version = name.to_str()?.strip_prefix(stem)?.strip_prefix('-')?.strip_suffix(suffix)?;
        is_version(version).then(|| version.to_owned())
    }

    fn file_of(&self, version: &str) -> PathBuf {
        let mut name = self.folder_of(version).into_os_string();
        if !self.extension.is_empty() {
            name.push(".");
            name.push(&self.extension);
        }
        name.into()
    }

    fn folder_of(&self, version: &str) -> PathBuf {
        let mut name = self.stem.clone();
        name.push("-");
        name.push(version);
        self.folder.join(name)
    }

    /// Returns that name, with a number appended if it is in use.
    fn unused(&self, version: &str, others: &[&str]) -> String {
        let mut unused = version.to_owned();
        let mut next = 2_u64;
        while others.contains(&unused.as_str()) || self.file_of(&unused).exists() || self.folder_of(&unused).exists() {
            unused = format!("{version}-{next}");
            next += 1;
        }
        unused
    }
}

/// The kind of an existing file.
enum Found {
    Nothing,
    /// An index by modoai, of that version.
    Version(String),
    /// Another file, with its time of modification.
    Foreign(Timestamp),
}

fn version_of(path: &Path) -> io::Result<Found> {
    let file = match fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Nothing),
        Err(error) => return Err(error),
    };
    let modified = file.metadata()?.modified()?;
    let mut start = Vec::new();
    file.take(4096).read_to_end(&mut start)?;
    let start = String::from_utf8_lossy(&start);
    let version = start.split_once(MARK).and_then(|(_, rest)| rest.split_once('"')).map(|(version, _)| version);
    Ok(match version.filter(|version| is_version(version)) {
        Some(version) => Found::Version(version.to_owned()),
        None => Found::Foreign(Timestamp::try_from(modified).unwrap_or_default()),
    })
}

/// Returns true if a file has exactly this content.
fn is_same(path: &Path, html: &str) -> bool {
    let is_as_long = fs::metadata(path).is_ok_and(|file| file.len() == html.len() as u64);
    is_as_long && fs::read(path).is_ok_and(|bytes| bytes == html.as_bytes())
}

/// Creates a second name for a file, or a copy if the file system has no hard links. An existing one is the same file.
fn second_name(path: &Path, name: &Path) -> io::Result<()> {
    match fs::hard_link(path, name) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(_) => {
            let mut copy = fs::File::create_new(name)?;
            io::copy(&mut fs::File::open(path)?, &mut copy).map(drop)
        }
        Ok(()) => Ok(()),
    }
}

/// Removes a directory of further pages, unless it contains other files.
fn remove_pages(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let is_page = entry.file_name().to_str().and_then(|name| name.strip_suffix(".html")).is_some_and(|name| {
            name.rsplit_once('-').is_some_and(|(_, number)| number.bytes().all(|byte| byte.is_ascii_digit()))
        });
        if !is_page {
            return Ok(());
        }
    }
    fs::remove_dir_all(folder)
}

fn stamp(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H%M%SZ").to_string()
}

/// Returns true for `2026-11-16T054512Z`, or `2026-11-16T054512Z-2` for a second version of the same second.
fn is_version(text: &str) -> bool {
    const SHAPE: &[u8] = b"0000-00-00T000000Z";
    let (stamp, rest) = text.as_bytes().split_at(text.len().min(SHAPE.len()));
    let fits = |(byte, shape): (&u8, &u8)| if *shape == b'0' { byte.is_ascii_digit() } else { byte == shape };
    let is_number = |digits: &[u8]| !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    stamp.len() == SHAPE.len()
        && stamp.iter().zip(SHAPE).all(fits)
        && (rest.is_empty() || rest.strip_prefix(b"-").is_some_and(is_number))
}

/// Formats a version's date for display.
fn spoken(version: &str) -> String {
    match (version.get(..10), version.get(11..13), version.get(13..15)) {
        (Some(day), Some(hour), Some(minute)) => format!("{day} {hour}:{minute} UTC"),
        _ => version.to_owned(),
    }
}

fn in_link(name: &OsStr) -> String {
    percent_encode(name.as_encoded_bytes(), IN_LINKS).to_string()
}
