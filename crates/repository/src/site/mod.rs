//! Serves a directory, or several laid over each other, as a web site: determines its URLs, and the response to a GET
//! of each.
//!
//! The server's GET and the indexer's walk both use [`folder::Folder`], so they cannot disagree: the walk lists exactly
//! the files that a GET returns.
//!
//! | module | decides |
//! |---|---|
//! | [`name`] | the one URL of a file |
//! | [`pattern`] | which paths a pattern of the settings matches |
//! | [`rules`] | which files are hidden, and which are withheld because of their names |
//! | [`folder`] | which directories are entered, which links are followed, and their permitted targets |
//! | [`roots`] | the paths of directories and files on the site |
//! | `overlay` | the content of several roots together |
//! | [`kind`] | media types |
//! | [`describe`] | the source of a file's media type |
//! | [`walk`] | every file, in order, read ahead by several threads |
//! | [`title`] | the title of an HTML file |

pub mod describe;
mod document_headers;
pub mod folder;
mod html_head;
pub mod kind;
pub mod name;
pub(crate) mod overlay;
pub mod pattern;
pub mod roots;
pub mod rules;
mod settings;
pub mod title;
pub mod walk;

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::host::Representation;
use crate::item::Fingerprint;
pub use document_headers::{DocumentHeaders, HeaderSource};
use folder::Thing;
use kind::Kinds;
use overlay::Overlay;
use pattern::PatternError;
pub use roots::Root;
use roots::{Layer, Roots};
use rules::Rules;
pub use settings::{Links, SITE_SETTINGS, SiteSettings};
use walk::Doorkeeper;

/// Directories and files served as a site.
#[derive(Debug)]
pub struct Site {
    roots: Roots,
    links: Links,
    rules: Rules,
    kinds: Kinds,
    index: Option<String>,
    document_headers: Vec<HeaderSource>,
    doorkeeper: Hook<Doorkeeper>,
    root_finder: Hook<RootFinder>,
}

/// Finds roots that can appear at any time.
pub type RootFinder = Box<dyn Fn() -> Vec<Root> + Send + Sync>;

/// A function of the host, if it has one.
struct Hook<T>(Option<T>);

impl<T> fmt::Debug for Hook<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Hook(set)" } else { "Hook(none)" })
    }
}

/// The directory of the last file found. Keep it only for one response: the directory may be moved.
#[derive(Debug, Default)]
pub struct Nearby(Option<(String, Overlay)>);

/// The reason why directories cannot be a site.
#[derive(Debug, thiserror::Error)]
pub enum SiteError {
    /// The directory is missing, not a directory, or not readable.
    #[error("failed to open the directory {root}")]
    Root {
        /// The directory.
        root: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The prefix of a root is a name that no file can have.
    #[error("invalid location '{prefix}' for a directory or file")]
    Prefix {
        /// The prefix.
        prefix: String,
    },
    /// A pattern cannot be used.
    #[error("setting 'ignore' or 'withhold' {0}")]
    Pattern(#[from] PatternError),
}

/// The entry at a URL path.
#[derive(Debug)]
pub enum Found {
    /// A file: its name and the response to a GET.
    File(String, Representation),
    /// A directory. A GET of its URL (with a slash at the end) returns this file of it, if it has one.
    Folder(Option<(String, Representation)>),
    /// No file or directory that this site shows.
    Nothing,
}

impl Site {
    /// Opens a directory as a site. `reserved` are URL paths that the server itself handles, such as `/modoai`: a GET
    /// could never return files there.
    pub fn open(root: &Path, settings: &SiteSettings, reserved: &[&str]) -> Result<Self, SiteError> {
        let root = Root { prefix: String::new(), path: root.to_owned() };
        Self::open_roots(vec![root], settings, reserved)
    }

    /// Opens directories and files, laid over each other, as a site. The root with the empty prefix must exist, others
    /// may be created and removed at any time.
    pub fn open_roots(roots: Vec<Root>, settings: &SiteSettings, reserved: &[&str]) -> Result<Self, SiteError> {
        let mut ignore = settings.ignore.clone();
        if settings.document_headers.contains(&HeaderSource::Metainfo) {
            ignore.push(document_headers::METAINFO.to_owned());
        }
        let site = Self {
            roots: Roots::new(roots)?,
            links: settings.follow_links,
            rules: Rules::new(&ignore, reserved)?.withholding(&settings.withhold)?,
            kinds: Kinds::new(&settings.types, &settings.charset),
            index: Some(settings.index.clone()).filter(|index| !index.is_empty()),
            document_headers: settings.document_headers.clone(),
            doorkeeper: Hook(None),
            root_finder: Hook(None),
        };
        for layer in site.roots.layers_at(&[]) {
            let problem = |source| SiteError::Root { root: layer.path.to_path_buf(), source };
            layer.open(&[], site.links).map_err(problem)?;
        }
        Ok(site)
    }

    /// Calls this function in every walk before it enters a directory that is reached by a symbolic link; a refused
    /// directory is treated as missing. For a host whose decision on links depends on more than their targets: without
    /// the function, a walk would list everything behind a link, perhaps the whole file system, unnecessarily. A GET
    /// does not call it: its host decides.
    pub fn with_doorkeeper(self, doorkeeper: Doorkeeper) -> Self {
        Self { doorkeeper: Hook(Some(doorkeeper)), ..self }
    }

    /// Calls this function before every rescan, and adds the roots that it returns. For directories that can appear at
    /// any time, such as the homes of users.
    pub fn with_root_finder(self, finder: RootFinder) -> Self {
        Self { root_finder: Hook(Some(finder)), ..self }
    }

    /// Adds the roots that the finder returns.
    pub(crate) fn find_roots(&self) {
        if let Some(find) = &self.root_finder.0 {
            self.roots.add(find());
        }
    }

    /// Maps this name to that file, wherever it is. Returns true if that is a change. To update the catalogue
    /// immediately, have the [keeper](crate::ingest::Keeper::look_at) scan the name.
    pub fn point(&self, item_name: &str, file: &Path) -> bool {
        let segments = name::decode(item_name).filter(|segments| !segments.is_empty());
        segments.is_some_and(|segments| self.roots.point(&segments, file))
    }

    /// Returns the main directory, with links resolved; `None` if the site has only other roots.
    pub fn root(&self) -> Option<Arc<Path>> {
        self.roots.main()
    }

    /// Resolves the path of the main directory again, and returns the result: deployments may have changed a symbolic
    /// link in it.
    pub(crate) fn follow_root(&self) -> Option<Arc<Path>> {
        self.roots.follow();
        self.root()
    }

    /// Performs an operation that needs the main directory, and repeats it if the link to that directory has changed.
    fn at_root<T>(&self, work: impl Fn() -> io::Result<T>) -> io::Result<T> {
        match work() {
            Err(error) if error.kind() == io::ErrorKind::NotFound && self.roots.follow() => work(),
            result => result,
        }
    }

    /// Returns the symbolic links by which the main directory was given.
    pub(crate) fn root_links(&self) -> Vec<PathBuf> {
        self.roots.links()
    }

    /// Checks that the main directory can be opened now. It may have been replaced since the site was opened.
    pub fn ready(&self) -> io::Result<()> {
        self.at_root(|| self.roots.layers_at(&[]).iter().try_for_each(|layer| layer.open(&[], self.links).map(drop)))
    }

    /// Returns the roots that apply to a path, the nearest first.
    pub(crate) fn layers(&self, segments: &[Vec<u8>]) -> Vec<Layer> {
        self.roots.layers(segments)
    }

    /// Returns the names in a directory that exist because roots have that name, or a deeper one.
    pub(crate) fn implied(&self, segments: &[Vec<u8>]) -> Vec<Vec<u8>> {
        self.roots.implied(segments)
    }

    /// Returns the names of all roots with this name or within the directory of this name, except the main one.
    pub(crate) fn roots_within(&self, site_name: &str) -> Vec<String> {
        let found = self.roots.within(&name::decode(site_name).unwrap_or_default());
        let mut names: Vec<String> = found.iter().map(|(at, _)| name::encode(at)).filter(|at| !at.is_empty()).collect();
        names.dedup();
        names
    }

    /// Returns the names of all roots, except the main one, at or below this path of the file system.
    pub(crate) fn roots_below(&self, path: &Path) -> Vec<String> {
        let found = self.roots.within(&[]).into_iter();
        let below = found.filter(|(at, root)| !at.is_empty() && root.starts_with(path));
        below.map(|(at, _)| name::encode(&at)).collect()
    }

    /// Returns true if a file at this path of the file system is served, or would be served if it existed.
    pub fn would_serve(&self, path: &Path) -> bool {
        // A missing part of a path contains no links.
        let existing =
            path.ancestors().find_map(|part| Some((part.canonicalize().ok()?, path.strip_prefix(part).ok()?)));
        let Some((real, rest)) = existing else { return false };
        let real = real.join(rest);
        let shows = |(mut segments, root): (Vec<Vec<u8>>, Arc<Path>)| {
            let root = root.canonicalize().unwrap_or_else(|_| root.to_path_buf());
            let Ok(inside) = real.strip_prefix(root) else { return false };
            segments.extend(inside.iter().map(|segment| segment.as_bytes().to_vec()));
            self.rules.shows(&segments)
        };
        self.roots.within(&[]).into_iter().any(shows)
    }

    /// Returns the rules for hidden names.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Returns the function that admits linked directories, if one is set.
    fn doorkeeper(&self) -> Option<&Doorkeeper> {
        self.doorkeeper.0.as_ref()
    }

    /// Returns the media types.
    pub fn kinds(&self) -> &Kinds {
        &self.kinds
    }

    /// Returns the entry at the path of a request URL (percent-encoded, beginning with a slash, without the query).
    ///
    /// An error means that the entry could not be determined: the root is missing, or the disk fails.
    pub fn find(&self, url_path: &str) -> io::Result<Found> {
        self.at_root(|| self.find_at(url_path))
    }

    fn find_at(&self, url_path: &str) -> io::Result<Found> {
        let Some(path) = url_path.strip_prefix('/') else { return Ok(Found::Nothing) };
        let (path, wants_folder) = match path.strip_suffix('/') {
            Some(path) => (path, true),
            None => (path, path.is_empty()),
        };
        let Some(segments) = name::decode(path).filter(|segments| self.rules.shows(segments)) else {
            return self.ready().map(|()| Found::Nothing);
        };
        let mut overlay = Overlay::default();
        for layer in self.roots.layers(&segments) {
            match layer.open(&segments, self.links)? {
                Some(Thing::File(file, fingerprint)) if overlay.folders.is_empty() && !wants_folder => {
                    let canonical = name::encode(&segments);
                    let representation = self.represent(&canonical, file, fingerprint)?;
                    return Ok(Found::File(canonical, representation));
                }
                Some(Thing::Folder(folder)) => overlay.folders.push(folder),
                Some(Thing::File(..)) | None => {}
            }
        }
        if overlay.folders.is_empty() && !self.roots.implies(&segments) {
            return Ok(Found::Nothing);
        }
        self.index_of(&overlay, segments).map(Found::Folder)
    }

    /// Returns the response to a GET of the file of this name.
    pub fn get(&self, item_name: &str) -> io::Result<Option<Representation>> {
        self.get_near(&mut Nearby::default(), item_name)
    }

    /// Does the same for one of many files: a list contains the files of a directory in a row, and the directory stays
    /// open between them.
    pub fn get_near(&self, nearby: &mut Nearby, item_name: &str) -> io::Result<Option<Representation>> {
        let Some(segments) = name::decode(item_name) else { return Ok(None) };
        let Some((_, before)) = segments.split_last() else { return Ok(None) };
        let folder_name = item_name.rsplit_once('/').map_or("", |(folder_name, _)| folder_name);
        if nearby.0.as_ref().is_none_or(|(open, overlay)| open != folder_name || overlay.unknown.is_some()) {
            nearby.0 = None;
            if !self.rules.shows(before) {
                return Ok(None);
            }
            nearby.0 = Some((folder_name.to_owned(), self.overlay(before)));
        }
        let Some((_, overlay)) = &nearby.0 else { return Ok(None) };
        self.get_in(overlay, &segments, item_name)
    }

    fn index_of(&self, overlay: &Overlay, mut segments: Vec<Vec<u8>>) -> io::Result<Option<(String, Representation)>> {
        let Some(index) = &self.index else { return Ok(None) };
        segments.push(index.as_bytes().to_vec());
        let file_name = name::encode(&segments);
        let representation = self.get_in(overlay, &segments, &file_name)?;
        Ok(representation.map(|representation| (file_name, representation)))
    }

    /// Returns the response to a GET of a file in an open directory.
    fn get_in(&self, overlay: &Overlay, segments: &[Vec<u8>], item_name: &str) -> io::Result<Option<Representation>> {
        if !self.rules.shows_last(segments) {
            return Ok(None);
        }
        match self.look_in(overlay, segments)? {
            Some(Thing::File(file, fingerprint)) => self.represent(item_name, file, fingerprint).map(Some),
            _ => Ok(None),
        }
    }

    /// Returns all headers of a GET: the server adds only Date and hop-by-hop headers.
    fn represent(&self, item_name: &str, file: File, fingerprint: Fingerprint) -> io::Result<Representation> {
        let media_type = match self.kinds.by_name(item_name) {
            Some(media_type) => media_type,
            None => kind::by_content(&file)?,
        };
        let mut headers = vec![
            (Cow::Borrowed("Content-Type"), self.kinds.content_type(&media_type)),
            (Cow::Borrowed("Content-Length"), fingerprint.size.to_string()),
        ];
        headers.push((Cow::Borrowed("Last-Modified"), fingerprint.modified_at().to_http_date()));
        // Without the change time: a change of permissions does not change what a GET returns.
        let Fingerprint { size, modified, inode, .. } = fingerprint;
        headers.push((Cow::Borrowed("ETag"), format!("\"{modified:x}-{inode:x}-{size:x}\"")));
        headers.push((Cow::Borrowed("Accept-Ranges"), "bytes".to_owned()));
        let DocumentHeaders { owner, expires } = self.headers_of_document(item_name, &media_type, &file)?;
        headers.extend(owner.map(|owner| (Cow::Borrowed("Owner"), owner)));
        headers.extend(expires.map(|expires| (Cow::Borrowed("Expires"), expires)));
        Ok(Representation { headers, file, fingerprint })
    }

    /// Returns the headers of a file from the administrator's sources.
    fn headers_of_document(&self, item_name: &str, media_type: &str, file: &File) -> io::Result<DocumentHeaders> {
        let mut headers = DocumentHeaders::default();
        for source in &self.document_headers {
            if headers.is_complete() {
                break;
            }
            let found = match source {
                HeaderSource::Meta => document_headers::of_html(file, media_type)?,
                HeaderSource::Metainfo => self.metainfo_of(item_name)?,
                HeaderSource::Row { path, headers } => {
                    let is_covered = path.cover(&name::decode(item_name).unwrap_or_default());
                    if is_covered { headers.clone() } else { DocumentHeaders::default() }
                }
            };
            headers = headers.or(found);
        }
        Ok(headers)
    }

    /// Returns the headers in the file `.metainfo` next to a file.
    fn metainfo_of(&self, item_name: &str) -> io::Result<DocumentHeaders> {
        let mut segments = name::decode(item_name).unwrap_or_default();
        let Some(own) = segments.last_mut() else { return Ok(DocumentHeaders::default()) };
        let own = std::mem::replace(own, document_headers::METAINFO.as_bytes().to_vec());
        for layer in self.roots.layers(&segments) {
            if let Some(Thing::File(file, _)) = layer.open(&segments, self.links)? {
                return document_headers::of_metainfo(&file, Path::new(OsStr::from_bytes(&own)));
            }
        }
        Ok(DocumentHeaders::default())
    }
}

#[cfg(test)]
mod tests;
