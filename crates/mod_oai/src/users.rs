//! The directories of users: `UserDir` sets the location, `OAIUsers` the users.
//!
//! A name is looked up and a pattern is matched: with the directories that exist, where `UserDir` names a place, and
//! with the password database, where it means something in the home of each. Nothing is listed that `OAIUsers` does not
//! name: homes may be mounted only on access.
//!
//! Homes can be created or mounted at any time. They are looked up before every rescan, on the thread of the keeper: an
//! automounter or a directory service can take long to respond. The directory of a named user is a root of the site
//! whether it exists or not.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use globset::{Glob, GlobMatcher};
use modoai_httpd::accounts;
use modoai_httpd::log::{self, Level};
use modoai_httpd::server::Server;
use modoai_repository::site::Root;

use crate::config::ServerConfig;
use crate::house::lock;
use crate::{Oai, roots};

/// The directory of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Directory {
    user: String,
    path: PathBuf,
}

impl From<Directory> for Root {
    fn from(Directory { user, path }: Directory) -> Self {
        Self { prefix: roots::prefix(&format!("/~{user}")), path }
    }
}

/// Finds the directories of the users of a server repeatedly.
pub(crate) struct Homes {
    server: Server<'static>,
    /// Named users that had no directory at the last search.
    missing: Mutex<BTreeSet<String>>,
}

impl Homes {
    pub(crate) fn of(server: Server<'static>) -> Self {
        Self { server, missing: Mutex::default() }
    }

    /// Finds the directories. Logs each named user without one, once until it exists.
    pub(crate) fn find(&self) -> Vec<Root> {
        let config = self.server.config::<Oai>();
        let directories = directories(config);
        let missing: BTreeSet<String> = missing(config, &directories).map(ToOwned::to_owned).collect();
        let mut known = lock(&self.missing);
        for user in missing.difference(&known) {
            let places = directories.iter().filter(|directory| directory.user == *user);
            let places: Vec<String> = places.map(|directory| directory.path.display().to_string()).collect();
            let cause = match places.as_slice() {
                [] => "the user has no home in the password database".to_owned(),
                places => format!("{} does not exist", places.join(" or ")),
            };
            let message =
                format!("user {user} of OAIUsers has no directory yet: {cause}; checking again at every rescan");
            log::server(Level::Warning, &message);
        }
        *known = missing;
        directories.into_iter().map(Root::from).collect()
    }
}

/// The directories of users, in the order in which httpd tries them. Those of named users need not exist.
pub(crate) fn directories(config: &ServerConfig) -> Vec<Directory> {
    let (Some(places), Some(wanted)) = (&config.user_dir, &config.users) else { return Vec::new() };
    let matchers = wanted.iter().filter_map(|pattern| Some((pattern, Glob::new(pattern).ok()?.compile_matcher())));
    let mut directories = Vec::new();
    for (pattern, matcher) in matchers {
        for place in places {
            let users = if is_pattern(pattern) { matching(place, &matcher) } else { vec![pattern.clone()] };
            let found = users.into_iter().filter_map(|user| Some(Directory { path: path(place, &user)?, user }));
            directories.extend(found.filter(|directory| !is_pattern(pattern) || directory.path.is_dir()));
        }
    }
    directories
}

/// Returns the named users without a directory. Checking for a directory makes an automounter mount it.
fn missing<'a>(config: &'a ServerConfig, directories: &'a [Directory]) -> impl Iterator<Item = &'a str> {
    let named = config.users.iter().flatten().filter(|user| config.user_dir.is_some() && !is_pattern(user));
    let exists = |user: &str| directories.iter().any(|directory| directory.user == user && directory.path.is_dir());
    named.map(String::as_str).filter(move |user| !exists(user))
}

fn is_pattern(user: &str) -> bool {
    user.contains(['*', '?', '[', '{'])
}

/// The directory of a user at a place as `UserDir` writes it.
fn path(place: &str, user: &str) -> Option<PathBuf> {
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
