//! A folder, or several laid over each other, as a web site: which URLs it has, and what a GET of each returns.
//!
//! The server's GET and the indexer's walk both go through [`folder::Folder`], so they cannot disagree: what the walk
//! lists is what GET returns, and the other way round.
//!
//! | module | decides |
//! |---|---|
//! | [`name`] | the one URL of a file |
//! | [`pattern`] | which paths a pattern of the settings matches |
//! | [`rules`] | what is hidden, and what is withheld because of what it looks like |
//! | [`folder`] | which folders are entered, which links are followed, and where they may lead |
//! | [`roots`] | which folders and files are where on the site |
//! | `overlay` | what they show together |
//! | [`kind`] | media types |
//! | [`describe`] | who tells the media type of a file |
//! | [`walk`] | every file, in order, read ahead by several threads |
//! | [`title`] | the title an HTML file carries |

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

/// Folders and files served as a site.
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

/// The folder in which the last file was found. Not to be kept for longer than an answer takes: it may be moved away.
#[derive(Debug, Default)]
pub struct Nearby(Option<(String, Overlay)>);

/// Why folders cannot be a site.
#[derive(Debug, thiserror::Error)]
pub enum SiteError {
    /// It is not there, not a folder, or not readable.
    #[error("failed to open the directory {root}")]
    Root {
        /// Which folder.
        root: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A root is to have a name that no file can have.
    #[error("invalid location '{prefix}' for a directory or file")]
    Prefix {
        /// Which name.
        prefix: String,
    },
    /// A pattern cannot be used.
    #[error("setting 'ignore' or 'withhold' {0}")]
    Pattern(#[from] PatternError),
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
        let root = Root { prefix: String::new(), path: root.to_owned() };
        Self::open_roots(vec![root], settings, reserved)
    }

    /// Opens folders and files, laid over each other, as a site. What has the empty prefix must be there, the others may
    /// come and go.
    pub fn open_roots(roots: Vec<Root>, settings: &SiteSettings, reserved: &[&str]) -> Result<Self, SiteError> {
        let mut ignore = settings.ignore.clone();
        if settings.document_headers.contains(&HeaderSource::Metainfo) {
            ignore.push(document_headers::METAINFO.to_owned());
        }
        let site = Self {
            roots: Roots::new(roots)?,
            links: settings.follow_links,
            rules: Rules::new(&ignore, settings.show_dotfiles, reserved)?.withholding(&settings.withhold)?,
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

    /// Has every walk ask before it enters a folder that is reached by a symbolic link; one that is refused might as well
    /// not be there. For a host that decides on links by more than where they lead: without it a walk would go through
    /// all that a link leads to, the whole machine perhaps, for nothing. A GET does not ask: its host decides.
    pub fn with_doorkeeper(self, doorkeeper: Doorkeeper) -> Self {
        Self { doorkeeper: Hook(Some(doorkeeper)), ..self }
    }

    /// Has this function called before every look at everything, and adds the roots that it returns. For directories that
    /// can appear at any time, such as the homes of users.
    pub fn with_root_finder(self, finder: RootFinder) -> Self {
        Self { root_finder: Hook(Some(finder)), ..self }
    }

    /// Adds the roots that are found now.
    pub(crate) fn find_roots(&self) {
        if let Some(find) = &self.root_finder.0 {
            self.roots.add(find());
        }
    }

    /// From now on the file of this name is that file, wherever it is. Tells whether that is news. To have the catalogue
    /// follow at once, have the [keeper](crate::ingest::Keeper::look_at) look at the name.
    pub fn point(&self, item_name: &str, file: &Path) -> bool {
        let segments = name::decode(item_name).filter(|segments| !segments.is_empty());
        segments.is_some_and(|segments| self.roots.point(&segments, file))
    }

    /// The main folder, with links resolved; none if the site is made of others only.
    pub fn root(&self) -> Option<Arc<Path>> {
        self.roots.main()
    }

    /// Follows the main folder, if it was given by a symbolic link that has been pointed elsewhere, as deployments do, and
    /// tells where it is now.
    pub(crate) fn follow_root(&self) -> Option<Arc<Path>> {
        self.roots.follow();
        self.root()
    }

    /// Does something that needs the main folder; once more if that is not where it was, but where its link leads now.
    fn at_root<T>(&self, work: impl Fn() -> io::Result<T>) -> io::Result<T> {
        match work() {
            Err(error) if error.kind() == io::ErrorKind::NotFound && self.roots.follow() => work(),
            result => result,
        }
    }

    /// The symbolic links by which the main folder was given.
    pub(crate) fn root_links(&self) -> Vec<PathBuf> {
        self.roots.links()
    }

    /// Whether there is a site: the main folder can be opened now. It may have been replaced since.
    pub fn ready(&self) -> io::Result<()> {
        self.at_root(|| self.roots.layers_at(&[]).iter().try_for_each(|layer| layer.open(&[], self.links).map(drop)))
    }

    /// The roots that bear on a path, the nearest first.
    pub(crate) fn layers(&self, segments: &[Vec<u8>]) -> Vec<Layer> {
        self.roots.layers(segments)
    }

    /// The names in a folder that exist because there are roots of that name, or deeper.
    pub(crate) fn implied(&self, segments: &[Vec<u8>]) -> Vec<Vec<u8>> {
        self.roots.implied(segments)
    }

    /// The names of all roots within the folder of this name, and of this name; the main one aside.
    pub(crate) fn roots_within(&self, site_name: &str) -> Vec<String> {
        let found = self.roots.within(&name::decode(site_name).unwrap_or_default());
        let mut names: Vec<String> = found.iter().map(|(at, _)| name::encode(at)).filter(|at| !at.is_empty()).collect();
        names.dedup();
        names
    }

    /// The names of all roots, the main one aside, at or below this path of the file system.
    pub(crate) fn roots_below(&self, path: &Path) -> Vec<String> {
        let found = self.roots.within(&[]).into_iter();
        let below = found.filter(|(at, root)| !at.is_empty() && root.starts_with(path));
        below.map(|(at, _)| name::encode(&at)).collect()
    }

    /// Whether what is at this path of the file system would be served, if it is there or once it is.
    pub fn would_serve(&self, path: &Path) -> bool {
        // What is not there yet has no links in it.
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

    /// What decides on hidden names.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// What decides on linked folders, if anything does.
    fn doorkeeper(&self) -> Option<&Doorkeeper> {
        self.doorkeeper.0.as_ref()
    }

    /// What decides on media types.
    pub fn kinds(&self) -> &Kinds {
        &self.kinds
    }

    /// What is at the path of a request URL (percent-encoded, beginning with a slash, without the query).
    ///
    /// An error means that the question could not be answered: the root is gone, or the disk fails.
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

    /// What a GET of the file of this name returns.
    pub fn get(&self, item_name: &str) -> io::Result<Option<Representation>> {
        self.get_near(&mut Nearby::default(), item_name)
    }

    /// The same for one of many files: a list names those of a folder in a row, and the folder stays open between them.
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

    /// What a GET returns of a file in an open folder.
    fn get_in(&self, overlay: &Overlay, segments: &[Vec<u8>], item_name: &str) -> io::Result<Option<Representation>> {
        if !self.rules.shows_last(segments) {
            return Ok(None);
        }
        match self.look_in(overlay, segments)? {
            Some(Thing::File(file, fingerprint)) => self.represent(item_name, file, fingerprint).map(Some),
            _ => Ok(None),
        }
    }

    /// The headers of a GET, all of them: whoever serves this file adds none but Date and hop-by-hop ones.
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

    /// The headers that the administrator's sources have for a file.
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

    /// The headers in the file `.metainfo` next to a file.
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
