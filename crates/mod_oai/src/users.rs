//! The folders of users: `UserDir` says where, `OAIUsers` says whose.
//!
//! A name is looked up and a pattern is matched: with the folders there are, where `UserDir` names a place, and with the
//! password database, where it means something in the home of each. Nothing is listed that `OAIUsers` does not name:
//! homes may be mounted only when somebody looks.

use std::path::{Path, PathBuf};

use globset::{Glob, GlobMatcher};
use modoai_httpd::accounts;

use crate::config::ServerConfig;

/// Users and their folders, as far as there are any.
pub(crate) fn folders(config: &ServerConfig) -> Vec<(String, PathBuf)> {
    let (Some(places), Some(wanted)) = (&config.user_dir, &config.users) else { return Vec::new() };
    let matchers = wanted.iter().filter_map(|pattern| Some((pattern, Glob::new(pattern).ok()?.compile_matcher())));
    let mut folders = Vec::new();
    for (pattern, matcher) in matchers {
        let is_pattern = pattern.contains(['*', '?', '[', '{']);
        for place in places {
            let found = if is_pattern { matching(place, &matcher) } else { vec![pattern.clone()] };
            folders.extend(found.into_iter().filter_map(|user| Some((user.clone(), folder(place, &user)?))));
        }
    }
    // httpd takes the first place of a user that is there.
    let mut seen = std::collections::BTreeSet::new();
    folders.retain(|(user, path)| path.is_dir() && seen.insert(user.clone()));
    folders
}

/// The folder of a user at a place as `UserDir` writes it.
fn folder(place: &str, user: &str) -> Option<PathBuf> {
    if user.is_empty() || user.starts_with('.') || user.contains('/') || place.contains(':') {
        return None;
    }
    if !place.starts_with('/') {
        return Some(accounts::home_of(user)?.join(place));
    }
    match place.split_once('*') {
        Some((before, after)) => Some(PathBuf::from(format!("{before}{user}{after}"))),
        None => Some(Path::new(place).join(user)),
    }
}

/// Users that a pattern matches.
fn matching(place: &str, matcher: &GlobMatcher) -> Vec<String> {
    let users: Vec<String> = if place.starts_with('/') {
        let folder = place.split_once('*').map_or(place, |(before, _)| before);
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
    } else {
        accounts::all().into_iter().map(|(user, _)| user).collect()
    };
    users.into_iter().filter(|user| matcher.is_match(user)).collect()
}
