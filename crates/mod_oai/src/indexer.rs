//! Keeps the catalogues current, in one of the children.
//!
//! httpd's watchdog chooses the child and calls every second. A keeper per server does the work in separate threads, as
//! in the standalone server. The lock on its catalogue ensures that only one is active, also while two generations of
//! children overlap. The keepers stop as soon as the child is stopped: they work in small transactions, so that ending
//! at any moment, by any signal, loses nothing.

use std::sync::{Arc, Mutex};

use modoai_httpd::server::{self, Server};
use modoai_httpd::stranger::Stranger;
use modoai_repository::catalogue::{CatalogueError, CatalogueKind};
use modoai_repository::ingest::{Keeper, Pace, Reconciler};
use modoai_repository::site::Site;
use modoai_repository::site::walk::Doorkeeper;
use modoai_repository::with_causes;
use rustix::process::{Resource, getrlimit, setrlimit};

use crate::address::Address;
use crate::describer::HttpdDescriber;
use crate::house::{self, House, lock};
use crate::traffic::Found;
use crate::users::Homes;
use crate::{Oai, roots};

/// The servers whose catalogues this child updates.
static KEPT: Mutex<Keeping> = Mutex::new(Keeping { servers: Vec::new(), stopped: false });

struct Keeping {
    servers: Vec<Kept>,
    /// True once stopped; a child never starts again.
    stopped: bool,
}

struct Kept {
    server: Server<'static>,
    keeper: Keeper,
    site: Arc<Site>,
    house: Arc<House>,
    found: Found,
}

/// Starts keepers for servers that have none, and passes on the URLs that traffic has added.
pub(crate) fn beat(main: Server<'static>) {
    if server::is_stopping() {
        return stop();
    }
    for server in main.all().filter(|server| server.config::<Oai>().is_on()) {
        let mut keeping = lock(&KEPT);
        if keeping.stopped {
            return;
        }
        if let Some(kept) = keeping.servers.iter_mut().find(|kept| kept.server.is(&server)) {
            kept.learn();
            continue;
        }
        match keep(server) {
            Ok(Some(kept)) => keeping.servers.push(kept),
            // A keeper of the previous generation, or an index by a user, is active and ends soon.
            Ok(None) => {}
            Err(reason) => {
                let message = format!("the site {} is not indexed: {reason}", server.name());
                server.config::<Oai>().door.say_once(message);
            }
        }
    }
}

/// Stops all keepers, and waits until they have ended.
pub(crate) fn stop() {
    let servers = {
        let mut keeping = lock(&KEPT);
        keeping.stopped = true;
        std::mem::take(&mut keeping.servers)
    };
    drop(servers);
}

/// Starts the keeper of a server; none if another process has one.
fn keep(server: Server<'static>) -> Result<Option<Kept>, String> {
    make_room();
    // A failure to open it is logged there.
    let Ok(house) = house::of(&server) else { return Ok(None) };
    let writer = match house.catalogue.writer_for(CatalogueKind::Site) {
        Ok(writer) => writer,
        Err(CatalogueError::Locked { .. }) => return Ok(None),
        Err(error) => return Err(with_causes(&error)),
    };
    let address = Address::of_server(&server);
    let stranger = || Stranger::at(server, address.scheme(), address.authority()).map_err(|error| error.to_string());
    let site = Site::open_roots(roots::of(&server), &house.site, &[]).map_err(|error| with_causes(&error))?;
    let homes = Homes::of(server);
    let site = site.with_doorkeeper(doorkeeper(stranger()?)).with_root_finder(Box::new(move || homes.find()));
    let site = Arc::new(site);
    let mut found = Found::of(&house.folder);
    found.each_new(|name, path| {
        site.point(name, path);
    });
    let describer = Arc::new(HttpdDescriber::new(stranger()?));
    let reconciler = Reconciler::new(site.clone(), writer, house.site.max_deleted).described_by(describer);
    let reconciler = reconciler.with_sets(house.sets().clone());
    let keeper = Keeper::start(reconciler, house.catalogue.clone(), pace(&server, &house));
    let keeper = keeper.map_err(|error| error.to_string())?;
    Ok(Some(Kept { server, keeper, site, house, found }))
}

/// A link may point anywhere; where httpd does not follow it, its target is not read.
fn doorkeeper(stranger: Stranger<'static>) -> Doorkeeper {
    let stranger = Mutex::new(stranger);
    Box::new(move |folder_name| !lock(&stranger).asks().enter(&format!("/{folder_name}")).is_cut_off())
}

/// Raises the limit of open files: a catalogue and its watches are about a dozen, and visitors need some too.
fn make_room() {
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        limit.current = limit.maximum;
        // On failure the limit stays unchanged, and httpd logs an error when it is reached.
        let _ = setrlimit(Resource::Nofile, limit);
    }
}

fn pace(server: &Server<'_>, house: &House) -> Pace {
    Pace { rescan: house.site.rescan, digests: house.site.read_ahead, access_files: server.access_files() }
}

impl Kept {
    /// Adds URLs that visitors requested.
    fn learn(&mut self) {
        let Self { keeper, site, house, found, .. } = self;
        if let Err(error) = found.empty_queue(house) {
            tracing::debug!(%error, "failed to read the queue of visited URLs");
        }
        found.each_new(|name, path| {
            if site.point(name, path) {
                keeper.look_at(name);
            }
        });
    }
}
