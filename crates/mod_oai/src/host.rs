//! Decides by probes what the repository may list and return.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};
use std::io;
use std::rc::Rc;
use std::time::{Duration, Instant};

use modoai_endpoint::WrongCredentials;
use modoai_flow::pace::thread_time;
use modoai_httpd::asker::Asker;
use modoai_httpd::probe::{Probe, Verdict};
use modoai_httpd::request::Request;
use modoai_httpd::server;
use modoai_repository::audience::Audience;
use modoai_repository::catalogue::{Detail, PageQuery, Selected};
use modoai_repository::host::{Host, Representation};
use modoai_repository::item::{Item, Publicity};
use modoai_repository::site::folder::fingerprint_of;
use modoai_repository::site::name;
use modoai_settings::Network;

use crate::Oai;
use crate::audience::Requester;
use crate::house::House;

/// Headers that are about a connection, the moment, or the session of the requester.
const NOT_OF_THE_FILE: [&str; 12] = [
    "Authentication-Info",
    "Connection",
    "Date",
    "Keep-Alive",
    "Proxy-Authenticate",
    "Proxy-Authentication-Info",
    "Set-Cookie",
    "Set-Cookie2",
    "Trailer",
    "Transfer-Encoding",
    "Upgrade",
    "WWW-Authenticate",
];

/// The number of hidden items between two checks of whether to continue.
const CHECKED_EVERY: usize = 32;

/// Items in a row that may be hidden from a requester before the time spent on them counts against its allowance.
const FREE: usize = 2_000;

/// Items in a row that may be hidden from a requester, and the time that a request may take to pass over them.
const MOST_HIDDEN: usize = 1_000_000;
const FRUITLESS: Duration = Duration::from_secs(10);

/// The same limit in a child that is stopping.
const STOPPING: Duration = Duration::from_secs(1);

/// The maximum number of items, and of microseconds of processor time, of a search for a realm that accepts credentials
/// which another one refused.
const SEARCHED: usize = 20_000;
const SEARCH: u64 = 50_000;

/// The number of refusals that ends such a search: several realms may query the same directory service, which locks
/// accounts.
const MOST_REFUSALS: usize = 3;

/// The site as one requester sees it.
pub(crate) struct ProbeHost<'r> {
    request: &'r Request<'r>,
    asker: &'r Asker<'r>,
    /// The same requester without credentials.
    nameless: &'r Asker<'r>,
    house: &'r House,
    requester: Requester<'r>,
    view: String,
    /// The last item that was seen, and its probe: the next call is often about the same item.
    last: RefCell<Option<(String, Probe<'r>)>>,
    /// The time at which an item was last listed, and the number of items passed over since.
    since: Cell<Instant>,
    passed_over: Cell<usize>,
    /// The time at which the time spent since then was last counted.
    counted: Cell<Instant>,
    /// True once the response has started, so that it can no longer become a 401.
    begun: Rc<Cell<bool>>,
    /// True if the requester's credentials have been checked.
    is_judged: Cell<bool>,
}

impl<'r> ProbeHost<'r> {
    /// Creates the host for the requester of a request.
    pub(crate) fn new(
        request: &'r Request<'r>,
        asker: &'r Asker<'r>,
        nameless: &'r Asker<'r>,
        house: &'r House,
        begun: Rc<Cell<bool>>,
    ) -> Self {
        let now = Cell::new(Instant::now());
        Self {
            request,
            asker,
            nameless,
            house,
            requester: Requester::new(request, asker, &house.digests),
            view: view(request, asker),
            last: RefCell::new(None),
            since: now.clone(),
            passed_over: Cell::new(0),
            counted: now,
            begun,
            is_judged: Cell::new(false),
        }
    }

    fn probe(&self, item: &Item) -> Option<Probe<'r>> {
        let shown = name::decode(&item.name).is_some_and(|segments| self.house.rules.shows(&segments));
        if !shown {
            return None;
        }
        let probe = self.asker.get(&format!("/{}", item.name));
        (probe.verdict() == Verdict::Untouched).then_some(probe)
    }
}

impl ProbeHost<'_> {
    /// Returns true if a deleted resource that was not public would have been visible to this requester, where its
    /// audiences were not recorded. Only the rules for its path can show that, and only while they still exist: rules
    /// that were removed with the resource admit all clients. So the deletion is reported to requesters whose
    /// credentials make the difference.
    fn could_have_seen(&self, item: &Item) -> bool {
        let path = format!("/{}", item.name);
        let probe = self.asker.enter(&path);
        let is_let_in = probe.verdict() == Verdict::Otherwise && !probe.has_handler();
        is_let_in && matches!(self.nameless.enter(&path).verdict(), Verdict::Refused(401 | 403))
    }

    /// Notes that something is listed.
    fn found(&self) {
        let now = Instant::now();
        self.since.set(now);
        self.counted.set(now);
        self.passed_over.set(0);
    }

    /// Fails if the list must stop. Passing over hidden items takes time, and a client must still be waiting for the
    /// result.
    fn go_on(&self) -> io::Result<()> {
        let passed_over = self.passed_over.get();
        self.passed_over.set(passed_over + 1);
        if passed_over % CHECKED_EVERY != CHECKED_EVERY - 1 {
            return Ok(());
        }
        if self.asker.has_left() {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let now = Instant::now();
        let (elapsed, uncounted) = (now - self.since.get(), now - self.counted.get());
        let mut is_enough = passed_over > MOST_HIDDEN || elapsed > FRUITLESS;
        if passed_over > FREE {
            self.counted.set(now);
            let server = self.request.server();
            let effort = server.config::<Oai>().effort.get();
            let client = self.request.address().parse().map(Network::of_client);
            is_enough |= effort.is_some_and(|effort| effort.spend(client.ok(), uncounted));
        }
        if is_enough || (server::is_stopping() && elapsed > STOPPING) {
            let message = format!("stopped after {passed_over} items that are hidden from this client");
            return Err(io::Error::new(io::ErrorKind::TimedOut, message));
        }
        Ok(())
    }

    /// Fails with 401 if the same request was refused a moment ago because its credentials are wrong, and they still
    /// are. Called before a list is started.
    pub(crate) fn judge_again(&self) -> io::Result<()> {
        let refused = &self.house.refused;
        if let Some(path) = refused.key(self.request).and_then(|key| refused.place(key)) {
            self.asker.enter(&path);
            if self.asker.is_refused() {
                self.asker.report_refusal(self.request);
                return Err(wrong_credentials());
            }
        }
        Ok(())
    }

    /// Fails with 401 if the requester's credentials are wrong: if a realm of the site, that of this item, refused them
    /// and no other one accepts them. This is checked once in a request; also if the credentials were compared with
    /// those that a deleted item was listed for, since otherwise passwords could be tried on it without a log entry.
    fn judge(&self, item: &Item) -> io::Result<()> {
        if self.is_judged.get() || !(self.asker.is_refused() || self.requester.has_guessed()) {
            return Ok(());
        }
        self.is_judged.set(true);
        // The searches of all requesters share one budget of time: passwords can be tried from many addresses.
        let server = self.request.server();
        let spend = |time| {
            let effort = server.config::<Oai>().effort.get();
            effort.is_some_and(|effort| effort.spend("wrong passwords", time))
        };
        let is_used_up = spend(Duration::ZERO);
        let start = Instant::now();
        // Without a refusal, passwords could be tried on deleted items without a log entry.
        self.look_for_another_realm(if is_used_up { 1 } else { MOST_REFUSALS })?;
        if !self.asker.is_refused() {
            return Ok(());
        }
        spend(start.elapsed());
        if let Some(key) = self.house.refused.key(self.request).filter(|_| !is_used_up) {
            self.house.refused.remember(key, &format!("/{}", item.name));
        }
        self.asker.report_refusal(self.request);
        if is_used_up {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "too many wrong passwords"));
        }
        // What has been sent is public; the response continues with public items only.
        if self.begun.get() { Ok(()) } else { Err(wrong_credentials()) }
    }

    /// Searches for a realm that accepts the requester's credentials, among the items that are not public: by one item
    /// of each folder, since most realms are folders. Ends after this many refusals.
    fn look_for_another_realm(&self, refusals: usize) -> io::Result<()> {
        let start = thread_time();
        let is_over = || thread_time() - start > SEARCH || self.asker.refusals() >= refusals;
        let (mut after, mut searched, mut folders) = (None, 0, HashSet::new());
        while searched < SEARCHED && !is_over() {
            let query = PageQuery { selection: Selected::ALL, after, limit: 500, detail: Detail::Header };
            let items = self.house.catalogue.page(&query).map_err(io::Error::other)?;
            let Some(last) = items.last() else { break };
            after = Some((last.datestamp, last.number));
            searched += items.len();
            for item in items.iter().filter(|item| !item.deleted && item.publicity != Publicity::Public) {
                let folder = item.name.rsplit_once('/').map_or("", |(folder, _)| folder);
                if !folders.insert(folder.to_owned()) {
                    continue;
                }
                self.asker.enter(&format!("/{}", item.name));
                if is_over() || self.asker.is_accepted() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

impl Host for ProbeHost<'_> {
    fn sees_all(&self) -> bool {
        false
    }

    fn patience(&self) -> u64 {
        2_000
    }

    fn view(&self) -> String {
        self.view.clone()
    }

    fn sees(&self, item: &Item) -> io::Result<bool> {
        if item.deleted {
            let seen = self.could_have_seen(item);
            if !seen {
                self.judge(item)?;
            }
            return Ok(seen);
        }
        let probe = self.probe(item);
        let seen = probe.is_some();
        if let Some(probe) = &probe {
            self.requester.note(item, probe);
            self.found();
        } else {
            self.judge(item)?;
            self.go_on()?;
        }
        self.last.replace(probe.map(|probe| (item.name.clone(), probe)));
        Ok(seen)
    }

    fn has_changed(&self, item: &Item) -> bool {
        let last = self.last.borrow();
        let Some((_, probe)) = last.as_ref().filter(|(name, _)| *name == item.name) else { return true };
        let known = &item.fingerprint;
        probe.found() != (known.size, known.modified.div_euclid(1_000), known.changed.div_euclid(1_000), known.inode)
    }

    fn has_audiences(&self) -> bool {
        true
    }

    fn audiences(&self, item: &Item, secret: &[u8; 32]) -> io::Result<Vec<Audience>> {
        self.requester.audiences(item, secret)
    }

    fn belongs_to(&self, item: &Item, secret: &[u8; 32]) -> io::Result<bool> {
        let belongs =
            item.listed_for.audiences.iter().any(|audience| self.requester.belongs_to(audience, item, secret));
        if belongs {
            self.found();
        } else if item.deleted {
            self.judge(item)?;
            self.go_on()?;
        }
        Ok(belongs)
    }

    fn get(&self, item: &Item) -> io::Result<Option<Representation>> {
        let last = self.last.take().filter(|(name, _)| *name == item.name).map(|(_, probe)| probe);
        let Some(probe) = last.or_else(|| self.probe(item)) else { return Ok(None) };
        let file = probe.file()?;
        let fingerprint = fingerprint_of(&file)?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let headers = probe.headers().map(|(name, value)| (text(name), text(value)));
        let is_of_the_file = |name: &str| !NOT_OF_THE_FILE.iter().any(|other| name.eq_ignore_ascii_case(other));
        let headers = headers.filter(|(name, _)| is_of_the_file(name)).map(|(name, value)| (Cow::Owned(name), value));
        Ok(Some(Representation { headers: headers.collect(), file, fingerprint }))
    }
}

/// Returns the error by which the endpoint recognises that the response is status 401.
fn wrong_credentials() -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, WrongCredentials)
}

/// Returns a name for the resources that a requester may see, derived from its user, address and headers. It reveals
/// none of them.
fn view(request: &Request<'_>, asker: &Asker<'_>) -> String {
    let mut hasher = DefaultHasher::new();
    (request.address(), request.scheme(), request.user()).hash(&mut hasher);
    asker.headers().entries().for_each(|entry| entry.hash(&mut hasher));
    format!("{:016x}", hasher.finish())
}
