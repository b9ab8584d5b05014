//! Where things are kept that are about a target and for which no place was given.

use std::ffi::OsStr;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::PathBuf;

use modoai_fetch::{Credential, Url};

/// In the user's state folder, among things of this kind, under a name that tells whose it is. None without a home.
pub(crate) fn own_place(kind: &str, target: &str) -> Option<PathBuf> {
    let folder = |variable: &str| std::env::var_os(variable).filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let state = folder("XDG_STATE_HOME").or_else(|| Some(folder("HOME")?.join(".local/state")))?;
    let (name, whole) = match web_url(target) {
        Some(mut url) => {
            // Another password is no other web.
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

/// A target as a URL of the web, if it is one.
pub(crate) fn web_url(target: &str) -> Option<Url> {
    Url::parse(target).ok().filter(|url| matches!(url.scheme(), "http" | "https"))
}
