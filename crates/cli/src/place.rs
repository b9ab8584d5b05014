//! Default paths of state that belongs to a target.

use std::ffi::OsStr;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use clap::builder::{PathBufValueParser, TypedValueParser};
use modoai_fetch::{Credential, Url};
use modoai_repository::catalogue::Location;
use modoai_repository::catalogue::location::expect_path;
use rustix::fs::Mode;

use crate::config::shown;

/// Reads the path of something that a command makes or opens, and refuses a URL.
pub(crate) fn path() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| expect_path(&path).map(|()| path))
}

/// Reads the location of a catalogue.
pub(crate) fn catalogue() -> impl TypedValueParser<Value = Location> {
    PathBufValueParser::new().try_map(|text| Location::parse(text.as_os_str()))
}

/// Reads the location of a state directory, which contains a catalogue and the files that belong to it.
pub(crate) fn state_dir() -> impl TypedValueParser<Value = PathBuf> {
    catalogue().map(|location| location.path().to_owned())
}

/// From now on, only the owner may read what this process makes. For commands that write nothing but their state: it names
/// files of protected areas, and holds the key of resumption tokens.
pub(crate) fn keep_private() {
    rustix::process::umask(Mode::RWXG | Mode::RWXO);
}

/// Warns if other users may read a file of the state, which an earlier version created or whose permissions were set on
/// purpose.
pub(crate) fn warn_if_readable(file: &Path) {
    let is_open = |metadata: std::fs::Metadata| metadata.permissions().mode() & 0o077 != 0;
    if file.metadata().is_ok_and(is_open)
        && let Some(folder) = file.parent()
        && folder.metadata().is_ok_and(is_open)
    {
        let folder = shown(folder);
        tracing::warn!("other users can read the state in {folder}; to prevent this, run `chmod -R go= {folder}`");
    }
}

/// Returns a path in the user's state directory for this kind of state, with a name that identifies the target. `None`
/// without a home directory.
pub(crate) fn own_place(kind: &str, target: &str) -> Option<PathBuf> {
    let folder = |variable: &str| std::env::var_os(variable).filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let state = folder("XDG_STATE_HOME").or_else(|| Some(folder("HOME")?.join(".local/state")))?;
    let (name, whole) = match web_url(target) {
        Some(mut url) => {
            // The password is not a part of the target's identity.
            let _ = Credential::from_url(&mut url);
            (url.host_str().unwrap_or_default().to_owned(), url.to_string())
        }
        None => {
            let path = std::fs::canonicalize(target).unwrap_or_else(|_| PathBuf::from(target));
            (path.file_stem().map(OsStr::to_string_lossy).unwrap_or_default().into_owned(), path.display().to_string())
        }
    };
    let mut hasher = DefaultHasher::new();
    whole.hash(&mut hasher);
    let name: String = name.chars().filter(|c| c.is_alphanumeric() || matches!(c, '.' | '-')).collect();
    Some(state.join("modoai").join(kind).join(format!("{name}-{:08x}", hasher.finish() as u32)))
}

/// Returns a target as a URL of the web, if it is one.
pub(crate) fn web_url(target: &str) -> Option<Url> {
    Url::parse(target).ok().filter(|url| matches!(url.scheme(), "http" | "https"))
}
