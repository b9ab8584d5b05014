//! What the repository asks about items, answered by probes.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};
use std::io;

use modoai_httpd::probe::{Asker, Probe, Verdict};
use modoai_httpd::request::Request;
use modoai_httpd::server::Server;
use modoai_httpd::stranger::Stranger;
use modoai_repository::host::{Host, Representation};
use modoai_repository::item::Item;
use modoai_repository::site::folder::fingerprint_of;
use modoai_repository::site::name;

use crate::house::House;

/// Headers that are about a connection, or about the moment.
const NOT_OF_THE_FILE: [&str; 5] = ["Connection", "Keep-Alive", "Upgrade", "Transfer-Encoding", "Date"];

/// The site as one requester sees it.
pub(crate) struct ProbeHost<'r> {
    asker: &'r Asker<'r>,
    server: Server<'r>,
    house: &'r House,
    view: String,
    /// The last item that was seen, and its probe: what is seen is often wanted next.
    last: RefCell<Option<(String, Probe<'r>)>>,
}

impl<'r> ProbeHost<'r> {
    /// For the requester behind a request.
    pub(crate) fn new(request: &'r Request<'_>, asker: &'r Asker<'r>, house: &'r House) -> Self {
        Self { asker, server: request.server(), house, view: view(request), last: RefCell::new(None) }
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
    /// can tell now, and only while it is still guarded: rules that went with it let everybody through.
    fn could_have_seen(&self, item: &Item) -> io::Result<bool> {
        let path = format!("/{}", item.name);
        let is_open = |probe: &Probe<'_>| probe.verdict() == Verdict::Otherwise && !probe.has_handler();
        if !is_open(&self.asker.enter(&path)) {
            return Ok(false);
        }
        let mut stranger = Stranger::at(self.server)?;
        Ok(!is_open(&stranger.asks().enter(&path)))
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
            return self.could_have_seen(item);
        }
        let probe = self.probe(item);
        let seen = probe.is_some();
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
