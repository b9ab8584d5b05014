//! Locations: the names of catalogues in options, directives and stored state.
//!
//! A location is a path, or a URL whose scheme names the engine. A URL of an unknown engine is an error: as a path it would
//! create a directory of that name. Other state (tables, reports) is named by a path only, see [`expect_path`].

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::sqlite::DEFAULT_NAME;

/// The forms of a location that this version supports.
const SUPPORTED: &str = "PATH or sqlite:PATH";

/// Schemes of the file engine.
const FILE_SCHEME: &str = "sqlite";

/// Schemes that are also written without slashes.
const ENGINES: [&str; 10] =
    ["postgres", "postgresql", "mysql", "mariadb", "sqlite", "sqlite3", "jdbc", "mongodb", "s3", "file"];

/// The location of a catalogue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location(Target);

/// The engine of a catalogue, and what it needs to find it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// A database file, or a directory that contains one.
    File(PathBuf),
}

/// A text that is not a location.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LocationError {
    /// The scheme of a URL is not supported here. The rest of the URL may contain a password.
    #[error("unsupported scheme {scheme}: (supported: {supported}); for a file of this name, prefix it with ./")]
    Scheme {
        /// The scheme.
        scheme: String,
        /// The forms that are supported.
        supported: &'static str,
    },
    /// A URL without a usable path.
    #[error("expected a path after {FILE_SCHEME}:, such as {FILE_SCHEME}:/var/lib/modoai/catalogue")]
    Path,
}

impl Location {
    /// Parses a path or a URL. A path that looks like a URL can be written with `./` before it.
    pub fn parse(text: &OsStr) -> Result<Self, LocationError> {
        let Some(scheme) = scheme_of(text) else { return Ok(Self::at(text)) };
        if !scheme.eq_ignore_ascii_case(FILE_SCHEME) {
            return Err(LocationError::Scheme { scheme: scheme.to_owned(), supported: SUPPORTED });
        }
        let rest = &text.as_bytes()[FILE_SCHEME.len() + 1..];
        // A URL may have an authority, which is empty for a file: sqlite:///var/lib/a.
        let path = match rest.strip_prefix(b"//") {
            Some(path) if path.starts_with(b"/") => path,
            Some(_) => return Err(LocationError::Path),
            None => rest,
        };
        if path.is_empty() { Err(LocationError::Path) } else { Ok(Self::at(OsStr::from_bytes(path))) }
    }

    /// Returns the catalogue at a path, which is never parsed as a URL: the path of a file, or of a directory that
    /// contains a catalogue. A path that does not exist yet is a directory unless it has an extension.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self(Target::File(path.into()))
    }

    /// Returns the catalogue in a directory, regardless of the name of the directory.
    pub fn in_directory(directory: &Path) -> Self {
        Self::at(directory.join(DEFAULT_NAME))
    }

    /// Returns the same location with a relative path resolved.
    pub fn resolved<E>(&self, resolve: impl FnOnce(&Path) -> Result<PathBuf, E>) -> Result<Self, E> {
        resolve(self.path()).map(Self::at)
    }

    pub(super) fn target(&self) -> &Target {
        &self.0
    }

    /// Returns the path, unchanged.
    pub fn path(&self) -> &Path {
        let Target::File(path) = &self.0;
        path
    }

    /// Returns the path without the name that a catalogue has in a directory: equal for a directory and for the
    /// catalogue in it.
    pub fn place(&self) -> &Path {
        let path = self.path();
        path.parent().filter(|_| path.ends_with(DEFAULT_NAME)).unwrap_or(path)
    }

    /// Returns the path that the names of the catalogue's other files, such as its budgets and its log, begin with.
    pub fn file(&self) -> PathBuf {
        let path = self.path();
        let is_directory = path.is_dir() || (!path.exists() && path.extension().is_none());
        if is_directory { path.join(DEFAULT_NAME) } else { path.to_owned() }
    }

    /// Returns the directory of the catalogue, which is also the directory of temporary files for large records.
    pub fn directory(&self) -> PathBuf {
        let file = self.file();
        let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty());
        parent.unwrap_or(Path::new(".")).to_owned()
    }

    /// Returns true if a file exists that is, or could be, a catalogue.
    pub fn is_occupied(&self) -> bool {
        self.file().is_file()
    }

    /// Returns the location as text that [`parse`](Self::parse) accepts.
    pub fn to_text(&self) -> OsString {
        let path = self.path().as_os_str();
        match scheme_of(path) {
            Some(_) => Path::new(".").join(path).into_os_string(),
            None => path.to_owned(),
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.path().display().fmt(f)
    }
}

/// An error for a URL where only a path is allowed. A path with such a name can be written with `./` before it.
pub fn expect_path(path: &Path) -> Result<(), String> {
    match scheme_of(path.as_os_str()) {
        // Not the whole URL: it may contain a password.
        Some(scheme) => {
            Err(format!("expected a path, not a URL ({scheme}:); for a file of this name, prefix it with ./"))
        }
        None => Ok(()),
    }
}

/// The scheme of a text that looks like a URL and not like a path.
fn scheme_of(text: &OsStr) -> Option<&str> {
    let bytes = text.as_bytes();
    let end = bytes.iter().position(|byte| *byte == b':')?;
    let (scheme, rest) = (std::str::from_utf8(&bytes[..end]).ok()?, &bytes[end + 1..]);
    let is_scheme = scheme.len() > 1
        && scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    let is_engine = ENGINES.iter().any(|engine| engine.eq_ignore_ascii_case(scheme));
    (is_scheme && (rest.starts_with(b"//") || is_engine)).then_some(scheme)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Location, LocationError> {
        Location::parse(OsStr::new(text))
    }

    #[test]
    fn urls_of_other_engines_are_refused_without_their_passwords() {
        for url in [
            "postgres://user:secret@db/oai",
            "postgresql:oai",
            "mysql://a",
            "s3://bucket/a",
            "https://example.org/",
            "file:///tmp/a",
            "Postgres:a",
            "x+y.z-1://a",
        ] {
            let error = parse(url).expect_err(url);
            assert!(matches!(error, LocationError::Scheme { .. }), "{error:?}");
            let message = error.to_string();
            assert!(message.contains(SUPPORTED) && !message.contains("secret"), "{message}");
            assert!(!expect_path(Path::new(url)).expect_err(url).contains("secret"));
        }
    }

    #[test]
    fn paths_are_not_urls() {
        for path in [
            "a",
            "/a/b",
            "./postgres://a",
            "a/b://c",
            "2024-01-01T10:00",
            "arxiv:2024",
            "C:/a",
            ":a",
            "é://a",
            "-a://b",
        ] {
            assert_eq!(parse(path), Ok(Location::at(path)));
            assert_eq!(expect_path(Path::new(path)), Ok(()), "{path}");
        }
    }

    #[test]
    fn url_of_a_file_is_the_path_in_it() {
        for (url, path) in [
            ("sqlite:a.db", "a.db"),
            ("SQLite:/a/b", "/a/b"),
            ("sqlite:///a/b", "/a/b"),
            ("sqlite:postgres:a", "postgres:a"),
        ] {
            assert_eq!(parse(url), Ok(Location::at(path)), "{url}");
        }
        for url in ["sqlite:", "sqlite://", "sqlite://host/a"] {
            assert_eq!(parse(url), Err(LocationError::Path), "{url}");
        }
        assert!(expect_path(Path::new("sqlite:a.db")).is_err(), "other state is named by a path only");
    }

    #[test]
    fn stored_locations_are_read_back() {
        for path in ["a", "/a/b", "postgres:a", "sqlite:a"] {
            let location = Location::at(path);
            let again = Location::parse(&location.to_text()).expect("a location");
            assert_eq!(again.path().file_name(), location.path().file_name(), "{path}");
        }
    }

    #[test]
    fn directory_stands_for_the_catalogue_in_it() {
        let directory = tempfile::tempdir().expect("a directory");
        let directory = directory.path();
        let inside = Location::in_directory(directory);
        assert_eq!(Location::at(directory).file(), inside.file());
        assert_eq!(Location::at(directory).place(), inside.place());
        assert_eq!(inside.directory(), directory);
        assert!(!inside.is_occupied());
        std::fs::write(inside.file(), "").expect("a file");
        assert!(Location::at(directory).is_occupied());
        assert_eq!(Location::at("a.db").directory(), Path::new("."));
        // A name without an extension is a directory until a file has it.
        assert_eq!(Location::at(directory.join("a")).file().parent(), Some(directory.join("a").as_path()));
    }
}
