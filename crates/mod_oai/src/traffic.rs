//! URLs that visitors know and we do not.
//!
//! Rewriting, content negotiation and the like give files URLs that nobody can guess from the files. Where `OAITraffic`
//! is on, a URL that was answered with a plain file is noted, if the catalogue does not know it: the path alone, with
//! neither the query nor who asked. Children append to a file; the child that keeps the catalogue reads it. Whether such
//! a URL is listed is decided as for every other one, with every request.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Seek as _, SeekFrom, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use modoai_httpd::request::Request;
use modoai_repository::site::name;
use rustix::fs::{Mode, OFlags};

use crate::Oai;
use crate::house;

/// The file, in the folder of a server.
const FILE: &str = "found-urls";

/// The file does not grow beyond this: a site with more such URLs has none that could be counted.
const MOST_BYTES: u64 = 16 << 20;

/// Notes the URL of a request that has been answered, if it is news.
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
    let (true, Some(file)) = (is_plain, last.file()) else { return };
    // A folder's URL ends with a slash, and so is no name.
    let path = std::str::from_utf8(request.sent_path()).ok().and_then(|path| path.strip_prefix('/'));
    let Some(segments) = path.filter(|path| !path.is_empty()).and_then(name::decode) else { return };
    let item_name = name::encode(&segments);
    let Ok(house) = house::of(&server) else { return };
    let is_news = house.rules.shows(&segments)
        && house.catalogue.item(&item_name).is_ok_and(|item| item.is_none_or(|item| item.deleted));
    if is_news {
        // A URL that could not be noted will be asked for again.
        let _ = note(&house.folder, &item_name, file);
    }
}

fn note(folder: &Path, item_name: &str, file: &Path) -> std::io::Result<()> {
    let mut notes = File::options().create(true).append(true).open(folder.join(FILE))?;
    if notes.metadata()?.len() > MOST_BYTES {
        return Ok(());
    }
    // In one write, so that lines of several children do not mix.
    notes.write_all(format!("{item_name} {}\n", written(file)).as_bytes())
}

/// One file has no more names than this by traffic: with a rule for all URLs of a folder, visitors could make up as many as
/// they like.
const MOST_NAMES: u32 = 16;

/// What has been noted, read as it grows.
pub(crate) struct Found {
    path: PathBuf,
    read: u64,
    /// How many names each file has.
    names: HashMap<PathBuf, u32>,
}

impl Found {
    /// In the folder of a server.
    pub(crate) fn of(folder: &Path) -> Self {
        Self { path: folder.join(FILE), read: 0, names: HashMap::new() }
    }

    /// Calls for every URL noted since the last time: its name, and the file it leads to.
    pub(crate) fn each_new(&mut self, mut each: impl FnMut(&str, &Path)) {
        // Root may read it too, in a folder that is not root's: no link is followed, and nothing waited for.
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

/// The path that was written; none if it is none.
fn read(text: &str) -> Option<PathBuf> {
    let segments = name::decode(text.strip_prefix('/')?)?;
    Some(segments.iter().fold(PathBuf::from("/"), |path, segment| path.join(OsStr::from_bytes(segment))))
}
