//! Checks passwords: areas that need one, and the user that a request is from.
//!
//! An area is a URL path and all below it, compared by decoded segments, so that no spelling of a URL bypasses it.
//! Where areas are nested, the innermost alone decides. A [`Requester`] is the set of areas that the credentials of a
//! request open; the site's GET and the repository use the same one, so a harvester sees exactly the records it could
//! GET.
//!
//! Correct credentials are remembered for a few minutes (as a keyed hash, never in plain text), because bcrypt is slow
//! by design and a harvester sends them with every request. Wrong ones are not, so they cannot crowd others out.

use std::collections::HashMap;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::header::{AUTHORIZATION, HeaderMap};
use modoai_flow::Flow;
use modoai_flow::pace::thread_time;
use modoai_repository::site::name;
use sha2::{Digest as _, Sha256};
use tokio::sync::{AcquireError, Semaphore};

use crate::htpasswd::{HtpasswdError, Users};
use crate::origin::Shares;
use crate::password_file::PasswordFile;
use crate::settings::AreaSettings;

/// The time for which correct credentials are remembered; a change of the password file deletes them immediately.
const REMEMBERED: Duration = Duration::from_secs(300);

/// The maximum number of correct credentials that are remembered.
const MOST_REMEMBERED: usize = 4096;

/// The maximum length of a password; `htpasswd` accepts 255 bytes. The work of a check of an `$apr1$` hash grows with the
/// length: with the longest header that the server reads, it would be five hundred times that of a short password.
const MAX_PASSWORD: usize = 1024;

/// The maximum time that a request waits for others' passwords to be checked before it is refused with Retry-After.
const PATIENCE: Duration = Duration::from_secs(10);

/// All areas of a site.
#[derive(Debug)]
pub struct Areas {
    areas: Vec<Area>,
    files: Vec<Mutex<PasswordFile>>,
    remembered: Mutex<HashMap<[u8; 32], (Instant, Requester)>>,
    secret: [u8; 32],
    /// A client that tries passwords uses one processor core, and the others remain free.
    checks: Semaphore,
    /// For each address, one password is checked or waits for that at a time: regardless of the number one address
    /// sends, those of others wait for no more than one of them.
    shares: Shares,
}

/// The user of a request, and the areas that its credentials open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Requester {
    user: Option<String>,
    /// Indices of the password files that confirm the user.
    confirmed: Vec<usize>,
}

impl Requester {
    /// Returns a requester without credentials.
    pub fn anonymous() -> Self {
        Self::default()
    }

    /// The user's name, confirmed by at least one password file.
    pub fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }
}

/// The reason that the requester is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stranger {
    /// The credentials are wrong.
    Wrong,
    /// Too many other requests are waiting for their passwords to be checked.
    Busy,
}

impl Areas {
    /// Reads the password files of all areas.
    pub fn open(settings: &[AreaSettings]) -> Result<Self, HtpasswdError> {
        let mut paths: Vec<PathBuf> = settings.iter().map(|area| area.htpasswd.clone()).collect();
        paths.sort();
        paths.dedup();
        let areas = settings.iter().map(|area| Area {
            segments: name::decode(area.path.trim_matches('/')).expect("the settings accept only paths"),
            challenge: challenge(&area.realm),
            file: paths.binary_search(&area.htpasswd).expect("all paths are in this list"),
            users: area.users.clone(),
        });
        let areas = areas.collect();
        let files = paths.into_iter().map(|path| PasswordFile::read(path).map(Mutex::new));
        let mut secret = [0; 32];
        rustix::rand::getrandom(&mut secret, rustix::rand::GetRandomFlags::empty())
            .expect("Linux has random bytes for whoever asks for few");
        Ok(Self {
            areas,
            files: files.collect::<Result<_, _>>()?,
            remembered: Mutex::default(),
            secret,
            checks: Semaphore::new(1),
            shares: Shares::new(1),
        })
    }

    /// A site without areas.
    pub fn none() -> Self {
        Self::open(&[]).expect("no file is read")
    }

    /// Returns true if this requester may see everything.
    pub fn all_open_to(&self, requester: &Requester) -> bool {
        self.areas.iter().all(|area| area.is_open_to(requester))
    }

    /// Returns the numbers of the areas that this requester may not see.
    pub(crate) fn closed_areas(&self, requester: &Requester) -> Vec<usize> {
        let closed = self.areas.iter().enumerate().filter(|(_, area)| !area.is_open_to(requester));
        closed.map(|(number, _)| number).collect()
    }

    /// The area that a path is in, if it is closed to this requester: its challenge for `WWW-Authenticate`.
    pub(crate) fn closed_to(&self, requester: &Requester, segments: &[Vec<u8>]) -> Option<&str> {
        let area = self.area_of(segments).filter(|area| !area.is_open_to(requester))?;
        Some(&area.challenge)
    }

    /// Returns the challenge for a client whose credentials are wrong everywhere.
    pub(crate) fn challenge(&self) -> Option<&str> {
        self.areas.first().map(|area| area.challenge.as_str())
    }

    /// Identifies the requester of a request that was sent from this address. While visitors need the processors, the
    /// result of a wrong password is delayed, and the next password of the same address waits.
    pub(crate) async fn identify(
        self: &Arc<Self>,
        flow: &Flow,
        address: IpAddr,
        headers: &HeaderMap,
    ) -> Result<Requester, Stranger> {
        if self.areas.is_empty() || !headers.contains_key(AUTHORIZATION) {
            return Ok(Requester::anonymous());
        }
        let credentials = Credentials::parse(headers).ok_or(Stranger::Wrong)?;
        let everyone: Vec<(Arc<Users>, u64)> = self.files.iter().map(|file| lock(file).users()).collect();
        let key = self.key(&credentials, everyone.iter().map(|(_, generation)| *generation));
        if let Some(requester) = self.recall(&key) {
            return Ok(requester);
        }
        let turn = async {
            let share = self.shares.of(address).acquire_owned().await?;
            Ok::<_, AcquireError>((share, self.checks.acquire().await?))
        };
        let permit = tokio::time::timeout(PATIENCE, turn).await;
        let (_share, turn) = permit.map_err(|_| Stranger::Busy)?.map_err(|_| Stranger::Busy)?;
        let check = move || {
            let start = thread_time();
            let confirms = |(index, (users, _)): (usize, &(Arc<Users>, u64))| {
                users.verify(&credentials.user, &credentials.password).then_some(index)
            };
            let confirmed = everyone.iter().enumerate().filter_map(confirms).collect();
            let used = Duration::from_micros(thread_time().saturating_sub(start));
            (Requester { user: Some(credentials.user), confirmed }, used)
        };
        let (requester, used) = tokio::task::spawn_blocking(check).await.map_err(|_| Stranger::Busy)?;
        drop(turn);
        if requester.confirmed.is_empty() {
            tokio::time::sleep(flow.refused(used)).await;
            return Err(Stranger::Wrong);
        }
        self.remember(key, requester.clone());
        Ok(requester)
    }

    fn area_of(&self, segments: &[Vec<u8>]) -> Option<&Area> {
        let covering = self.areas.iter().filter(|area| segments.starts_with(&area.segments));
        covering.max_by_key(|area| area.segments.len())
    }

    fn key(&self, credentials: &Credentials, generations: impl Iterator<Item = u64>) -> [u8; 32] {
        let mut hash = Sha256::new().chain_update(self.secret);
        for generation in generations {
            hash.update(generation.to_be_bytes());
        }
        // A user name contains no colon, so that no other pair has the same bytes.
        hash.chain_update(&credentials.user).chain_update(b":").chain_update(&credentials.password).finalize().into()
    }

    fn recall(&self, key: &[u8; 32]) -> Option<Requester> {
        let remembered = lock(&self.remembered);
        let (since, requester) = remembered.get(key)?;
        (since.elapsed() < REMEMBERED).then(|| requester.clone())
    }

    fn remember(&self, key: [u8; 32], requester: Requester) {
        let mut remembered = lock(&self.remembered);
        if remembered.len() >= MOST_REMEMBERED {
            remembered.retain(|_, (since, _)| since.elapsed() < REMEMBERED);
        }
        if remembered.len() < MOST_REMEMBERED {
            remembered.insert(key, (Instant::now(), requester));
        }
    }
}

#[derive(Debug)]
struct Area {
    segments: Vec<Vec<u8>>,
    challenge: String,
    file: usize,
    users: Vec<String>,
}

impl Area {
    fn is_open_to(&self, requester: &Requester) -> bool {
        let named = |user: &String| self.users.is_empty() || self.users.contains(user);
        requester.confirmed.contains(&self.file) && requester.user.as_ref().is_some_and(named)
    }
}

fn challenge(realm: &str) -> String {
    let quoted = realm.replace('\\', "\\\\").replace('"', "\\\"");
    format!("Basic realm=\"{quoted}\", charset=\"UTF-8\"")
}

/// A name and password as sent; never logged, never stored.
struct Credentials {
    user: String,
    password: Vec<u8>,
}

impl Credentials {
    fn parse(headers: &HeaderMap) -> Option<Self> {
        let mut values = headers.get_all(AUTHORIZATION).iter();
        let (value, None) = (values.next()?.to_str().ok()?, values.next()) else { return None };
        let (scheme, encoded) = value.split_once(' ')?;
        let decoded = STANDARD.decode(encoded.trim()).ok().filter(|_| scheme.eq_ignore_ascii_case("basic"))?;
        let colon = decoded.iter().position(|&byte| byte == b':')?;
        let password = decoded[colon + 1..].to_vec();
        let user = String::from_utf8(decoded[..colon].to_vec()).ok()?;
        // bcrypt ends at a NUL, so bytes after one would be ignored.
        (password.len() <= MAX_PASSWORD && !password.contains(&0)).then_some(Self { user, password })
    }
}

/// A panic elsewhere leaves nothing half done in these maps.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use modoai_flow::FlowSettings;
    use sha1::Sha1;

    use super::*;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);
    const ALICE: &str = "alice:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=\n";
    const BOB: &str = "bob:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=\n";

    fn area(path: &str, htpasswd: PathBuf, users: &[&str]) -> AreaSettings {
        let users = users.iter().map(|&user| user.to_owned()).collect();
        AreaSettings { path: path.to_owned(), htpasswd, realm: "a \"b\" \\".to_owned(), users }
    }

    fn headers(credentials: &str) -> HeaderMap {
        let value = format!("Basic {}", STANDARD.encode(credentials)).parse().expect("ASCII");
        HeaderMap::from_iter([(AUTHORIZATION, value)])
    }

    fn flow() -> Arc<Flow> {
        Flow::alone(FlowSettings::default(), 1)
    }

    fn segments(path: &str) -> Vec<Vec<u8>> {
        name::decode(path).expect("a path")
    }

    #[tokio::test]
    async fn the_innermost_area_decides_on_segment_boundaries() {
        let folder = tempfile::tempdir().expect("a folder");
        let (both, one) = (folder.path().join("both"), folder.path().join("one"));
        std::fs::write(&both, format!("{ALICE}{BOB}")).expect("written");
        std::fs::write(&one, BOB).expect("written");
        let areas = [
            area("/private", both.clone(), &[]),
            area("/private/alice/", both, &["alice"]),
            area("/private/bob", one, &[]),
        ];
        let areas = Arc::new(Areas::open(&areas).expect("good files"));
        let alice = areas.identify(&flow(), HERE, &headers("alice:secret")).await.expect("known");
        let bob = areas.identify(&flow(), HERE, &headers("bob:secret")).await.expect("known");
        assert_eq!(alice.user(), Some("alice"));
        let open = |requester: &Requester, path: &str| areas.closed_to(requester, &segments(path)).is_none();
        for (path, to_nobody, to_alice, to_bob) in [
            ("", true, true, true),
            ("privateer", true, true, true),
            ("a/private", true, true, true),
            ("private", false, true, true),
            ("private/x", false, true, true),
            ("%70rivate/x", false, true, true),
            ("private/alice/x", false, true, false),
            ("private/bob", false, false, true),
        ] {
            assert_eq!(open(&Requester::anonymous(), path), to_nobody, "{path}");
            assert_eq!((open(&alice, path), open(&bob, path)), (to_alice, to_bob), "{path}");
        }
        assert!(!areas.all_open_to(&alice) && !areas.all_open_to(&bob));
        assert_eq!(areas.challenge(), Some(r#"Basic realm="a \"b\" \\", charset="UTF-8""#));
    }

    #[tokio::test]
    async fn wrong_credentials_are_not_anonymous() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("users");
        std::fs::write(&file, ALICE).expect("written");
        let areas = Arc::new(Areas::open(&[area("/", file, &[])]).expect("a good file"));
        for wrong in ["alice:wrong", "alice", "eve:secret", ":", "alice:secret\0"] {
            assert_eq!(areas.identify(&flow(), HERE, &headers(wrong)).await, Err(Stranger::Wrong), "{wrong}");
        }
        let mut twice = headers("alice:secret");
        twice.append(AUTHORIZATION, "Basic x".parse().expect("ASCII"));
        assert_eq!(areas.identify(&flow(), HERE, &twice).await, Err(Stranger::Wrong));
        assert_eq!(areas.identify(&flow(), HERE, &HeaderMap::new()).await, Ok(Requester::anonymous()));
        let unprotected = Arc::new(Areas::none());
        assert_eq!(unprotected.identify(&flow(), HERE, &headers("a:b")).await, Ok(Requester::anonymous()));
    }

    #[tokio::test]
    async fn long_passwords_are_wrong_without_a_check() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("users");
        for (length, is_checked) in [(MAX_PASSWORD, true), (MAX_PASSWORD + 1, false)] {
            let password = "x".repeat(length);
            std::fs::write(&file, format!("alice:{{SHA}}{}\n", STANDARD.encode(Sha1::digest(&password))))
                .expect("written");
            let areas = Arc::new(Areas::open(&[area("/", file.clone(), &[])]).expect("a good file"));
            let found = areas.identify(&flow(), HERE, &headers(&format!("alice:{password}"))).await;
            assert_eq!(found.is_ok(), is_checked, "{length}");
        }
    }

    #[tokio::test]
    async fn what_was_right_once_counts_only_until_the_file_changes() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("users");
        std::fs::write(&file, ALICE).expect("written");
        let areas = Arc::new(Areas::open(&[area("/", file.clone(), &[])]).expect("a good file"));
        areas.identify(&flow(), HERE, &headers("alice:secret")).await.expect("known");
        assert_eq!(lock(&areas.remembered).len(), 1);
        areas.identify(&flow(), HERE, &headers("alice:secret")).await.expect("remembered");
        std::fs::write(&file, BOB).expect("written");
        lock(&areas.files[0]).look_now();
        assert_eq!(areas.identify(&flow(), HERE, &headers("alice:secret")).await, Err(Stranger::Wrong));
        areas.identify(&flow(), HERE, &headers("bob:secret")).await.expect("known");
    }
}
