//! What the repository asks about items, answered by probes.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};
use std::io;
use std::time::{Duration, Instant};

use modoai_httpd::asker::Asker;
use modoai_httpd::probe::{Probe, Verdict};
use modoai_httpd::request::Request;
use modoai_httpd::server;
use modoai_repository::host::{Host, Representation};
use modoai_repository::item::Item;
use modoai_repository::site::folder::fingerprint_of;
use modoai_repository::site::name;

use crate::house::House;

/// Headers that are about a connection, or about the moment.
const NOT_OF_THE_FILE: [&str; 5] = ["Connection", "Keep-Alive", "Upgrade", "Transfer-Encoding", "Date"];

/// So often it is asked whether to go on.
const CHECKED_EVERY: usize = 32;

/// So long a request may go without finding anything to tell: a minute's rest is then better for everybody. Only passwords
/// that are dear to check make it so long.
const FRUITLESS: Duration = Duration::from_secs(20);

/// And so long in a child that is to end.
const STOPPING: Duration = Duration::from_secs(1);

/// The site as one requester sees it.
pub(crate) struct ProbeHost<'r> {
    asker: &'r Asker<'r>,
    /// The same requester, not telling who it is.
    nameless: &'r Asker<'r>,
    house: &'r House,
    view: String,
    /// The last item that was seen, and its probe: what is seen is often wanted next.
    last: RefCell<Option<(String, Probe<'r>)>>,
    /// When something was last seen, and how many items have been passed over since.
    since: Cell<Instant>,
    passed_over: Cell<usize>,
}

impl<'r> ProbeHost<'r> {
    /// For the requester behind a request.
    pub(crate) fn new(request: &Request<'_>, asker: &'r Asker<'r>, nameless: &'r Asker<'r>, house: &'r House) -> Self {
        let (view, last) = (view(request), RefCell::new(None));
        Self { asker, nameless, house, view, last, since: Cell::new(Instant::now()), passed_over: Cell::new(0) }
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
    /// Whether a resource that is gone, and was not for everybody, would have been for this requester. Only the way to it
    /// can tell now, and only while it is still guarded: rules that went with it let everybody through. So it is told to
    /// those whose credentials make the difference.
    fn could_have_seen(&self, item: &Item) -> bool {
        let path = format!("/{}", item.name);
        let probe = self.asker.enter(&path);
        let is_let_in = probe.verdict() == Verdict::Otherwise && !probe.has_handler();
        is_let_in && matches!(self.nameless.enter(&path).verdict(), Verdict::Refused(401 | 403))
    }

    /// Whether it is worth while to go on. Passing over what is hidden takes time, and somebody must want to wait for it.
    fn go_on(&self) -> io::Result<()> {
        let passed_over = self.passed_over.get();
        self.passed_over.set(passed_over + 1);
        if passed_over % CHECKED_EVERY != CHECKED_EVERY - 1 {
            return Ok(());
        }
        if self.asker.has_left() {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        if self.since.get().elapsed() > FRUITLESS || (server::is_stopping() && self.since.get().elapsed() > STOPPING) {
            let message = format!("gave up after {passed_over} items that are hidden from this requester");
            return Err(io::Error::new(io::ErrorKind::TimedOut, message));
        }
        Ok(())
    }
}

impl Host for ProbeHost<'_> {
    fn ready(&self) -> io::Result<()> {
        Ok(())
    }

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
            return Ok(self.could_have_seen(item));
        }
        let probe = self.probe(item);
        let seen = probe.is_some();
        if seen {
            self.since.set(Instant::now());
            self.passed_over.set(0);
        } else {
            self.go_on()?;
        }
        self.last.replace(probe.map(|probe| (item.name.clone(), probe)));
        Ok(seen)
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

/// A name for what a requester may see: who asks, from where, and with which headers. Nothing can be read out of it.
fn view(request: &Request<'_>) -> String {
    let mut hasher = DefaultHasher::new();
    (request.address(), request.scheme(), request.user()).hash(&mut hasher);
    request.headers().entries().for_each(|entry| entry.hash(&mut hasher));
    format!("{:016x}", hasher.finish())
}
