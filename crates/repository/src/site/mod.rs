//! A folder as a web site: which URLs it has, and what a GET of each returns.
//!
//! The server's GET and the indexer's walk both go through [`folder::Folder`], so they cannot disagree: what the walk
//! lists is what GET returns, and the other way round.
//!
//! | module | decides |
//! |---|---|
//! | [`name`] | the one URL of a file |
//! | [`rules`] | what is hidden |
//! | [`folder`] | which links are followed, and where they may lead |
//! | [`kind`] | media types |
//! | [`walk`] | every file, in order, read ahead by several threads |
//! | [`title`] | the title an HTML file carries |

pub mod folder;
pub mod kind;
pub mod name;
pub mod rules;
mod settings;
pub mod title;
pub mod walk;

use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::host::Representation;
use crate::item::Fingerprint;
use folder::{Folder, Thing};
use kind::Kinds;
use rules::Rules;
pub use settings::{Links, SITE_SETTINGS, SiteSettings};

/// A folder served as a site.
#[derive(Debug)]
pub struct Site {
    root: PathBuf,
    links: Links,
    rules: Rules,
    kinds: Kinds,
    index: Option<String>,
}

/// The folder in which the last file was found. Not to be kept for longer than an answer takes: it may be moved away.
#[derive(Debug, Default)]
pub struct Nearby(Option<(String, Folder)>);

/// Why a folder cannot be a site.
#[derive(Debug, thiserror::Error)]
pub enum SiteError {
    /// It is not there, not a folder, or not readable.
    #[error("failed to open the folder {root}")]
    Root {
        /// Which folder.
        root: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// An ignore pattern is not a glob.
    #[error("setting 'ignore' has a pattern that cannot be used")]
    Pattern(#[from] globset::Error),
}

/// What is at a URL path.
#[derive(Debug)]
pub enum Found {
    /// A file: its name and what a GET returns.
    File(String, Representation),
    /// A folder. A GET of its URL (with a slash at the end) returns this file of it, if it has one.
    Folder(Option<(String, Representation)>),
    /// Nothing that this site shows.
    Nothing,
}

impl Site {
    /// Opens a folder as a site. `reserved` are URL paths the server itself answers, such as `/modoai`: files there
    /// could never be had by GET.
    pub fn open(root: &Path, settings: &SiteSettings, reserved: &[&str]) -> Result<Self, SiteError> {
        let problem = |source| SiteError::Root { root: root.to_owned(), source };
        let real = root.canonicalize().map_err(problem)?;
        Folder::open_root(&real, settings.follow_links).map_err(problem)?;
        Ok(Self {
            root: real,
            links: settings.follow_links,
            rules: Rules::new(&settings.ignore, settings.show_dotfiles, reserved)?,
            kinds: Kinds::new(&settings.types, &settings.charset),
            index: Some(settings.index.clone()).filter(|index| !index.is_empty()),
        })
    }

    /// The folder itself, with links resolved.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The outermost folder, opened anew: it may have been replaced since.
    pub fn root_folder(&self) -> io::Result<Folder> {
        Folder::open_root(&self.root, self.links)
    }

    /// Whether what is at this path of the file system would be served, if it is there or once it is.
    pub fn would_serve(&self, path: &Path) -> bool {
        // What is not there yet has no links in it.
        let existing =
            path.ancestors().find_map(|part| Some((part.canonicalize().ok()?, path.strip_prefix(part).ok()?)));
        let Some((real, rest)) = existing else { return false };
        let real = real.join(rest);
        let Ok(inside) = real.strip_prefix(&self.root) else { return false };
        let segments: Vec<Vec<u8>> = inside.iter().map(|segment| segment.as_bytes().to_vec()).collect();
        self.rules.shows(&segments)
    }

    /// What decides on hidden names.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// What decides on media types.
    pub fn kinds(&self) -> &Kinds {
        &self.kinds
    }

    /// What is at the path of a request URL (percent-encoded, beginning with a slash, without the query).
    ///
    /// An error means that the question could not be answered: the root is gone, or the disk fails.
    pub fn find(&self, url_path: &str) -> io::Result<Found> {
        let Some(path) = url_path.strip_prefix('/') else { return Ok(Found::Nothing) };
        let root = self.root_folder()?;
        let (path, wants_folder) = match path.strip_suffix('/') {
            Some(path) => (path, true),
            None => (path, path.is_empty()),
        };
        let Some(segments) = name::decode(path) else { return Ok(Found::Nothing) };
        let canonical = name::encode(&segments);
        if !self.rules.shows(&segments) {
            return Ok(Found::Nothing);
        }
        match root.descend(&segments)? {
            Some(Thing::File(file, fingerprint)) if !wants_folder => {
                Ok(Found::File(canonical.clone(), self.represent(&canonical, file, fingerprint)?))
            }
            Some(Thing::Folder(folder)) => Ok(Found::Folder(self.index_of(&folder, segments)?)),
            _ => Ok(Found::Nothing),
        }
    }

    /// What a GET of the file of this name returns.
    pub fn get(&self, item_name: &str) -> io::Result<Option<Representation>> {
        self.get_near(&mut Nearby::default(), item_name)
    }

    /// The same for one of many files: a list names those of a folder in a row, and the folder stays open between them.
    pub fn get_near(&self, nearby: &mut Nearby, item_name: &str) -> io::Result<Option<Representation>> {
        let Some(segments) = name::decode(item_name) else { return Ok(None) };
        let Some((last, before)) = segments.split_last() else { return Ok(None) };
        let folder_name = item_name.rsplit_once('/').map_or("", |(folder_name, _)| folder_name);
        if nearby.0.as_ref().is_none_or(|(open, _)| open != folder_name) {
            nearby.0 = None;
            if !self.rules.shows(before) {
                return Ok(None);
            }
            let Some(Thing::Folder(folder)) = self.root_folder()?.descend(before)? else { return Ok(None) };
            nearby.0 = Some((folder_name.to_owned(), folder));
        }
        let Some((_, folder)) = &nearby.0 else { return Ok(None) };
        if !self.rules.shows_last(&segments) {
            return Ok(None);
        }
        match folder.look(std::ffi::OsStr::from_bytes(last))? {
            Some(Thing::File(file, fingerprint)) => self.represent(item_name, file, fingerprint).map(Some),
            _ => Ok(None),
        }
    }

    fn index_of(&self, folder: &Folder, mut segments: Vec<Vec<u8>>) -> io::Result<Option<(String, Representation)>> {
        let Some(index) = &self.index else { return Ok(None) };
        segments.push(index.as_bytes().to_vec());
        if !self.rules.shows(&segments) {
            return Ok(None);
        }
        let Some(Thing::File(file, fingerprint)) = folder.look(std::ffi::OsStr::from_bytes(index.as_bytes()))? else {
            return Ok(None);
        };
        let file_name = name::encode(&segments);
        self.represent(&file_name, file, fingerprint).map(|representation| Some((file_name, representation)))
    }

    /// The headers of a GET, all of them: whoever serves this file adds none but Date and hop-by-hop ones.
    fn represent(&self, item_name: &str, file: File, fingerprint: Fingerprint) -> io::Result<Representation> {
        let media_type = match self.kinds.by_name(item_name) {
            Some(media_type) => media_type,
            None => kind::by_content(&file)?,
        };
        let mut headers = vec![
            ("Content-Type", self.kinds.content_type(&media_type)),
            ("Content-Length", fingerprint.size.to_string()),
        ];
        // HTTP dates begin in 1970; a file from before has no Last-Modified.
        if let Ok(seconds) = u64::try_from(fingerprint.modified_at().unix()) {
            let modified = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            headers.push(("Last-Modified", httpdate::fmt_http_date(modified)));
        }
        // Without the change time: a change of permissions does not change what a GET returns.
        let Fingerprint { size, modified, inode, .. } = fingerprint;
        headers.push(("ETag", format!("\"{modified:x}-{inode:x}-{size:x}\"")));
        headers.push(("Accept-Ranges", "bytes".to_owned()));
        Ok(Representation { headers, file, fingerprint })
    }
}

#[cfg(test)]
mod tests;
