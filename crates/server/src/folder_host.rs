//! A folder as the repository sees it on behalf of one requester.

use std::cell::RefCell;
use std::io;

use modoai_repository::host::{Host, Representation};
use modoai_repository::item::Item;
use modoai_repository::site::{Nearby, Site, name};

use crate::Health;
use crate::area::{Areas, Requester};

/// A site as one requester sees it: what this server's own GET would return, decided by the same code.
#[derive(Debug)]
pub struct FolderHost<'a> {
    site: &'a Site,
    areas: &'a Areas,
    requester: &'a Requester,
    health: Health,
    nearby: RefCell<Nearby>,
}

impl<'a> FolderHost<'a> {
    /// For one request of this requester.
    pub fn new(site: &'a Site, areas: &'a Areas, requester: &'a Requester, health: Health) -> Self {
        Self { site, areas, requester, health, nearby: RefCell::default() }
    }
}

impl Host for FolderHost<'_> {
    fn ready(&self) -> io::Result<()> {
        match &self.health {
            Health::Suspended(reason) => Err(io::Error::other(reason.clone())),
            Health::Current | Health::Behind | Health::Filling => self.site.ready(),
        }
    }

    fn sees_all(&self) -> bool {
        self.areas.all_open_to(self.requester)
    }

    fn patience(&self) -> u64 {
        20_000
    }

    fn view(&self) -> String {
        format!("{:?} {:?}", self.health, self.areas.closed_areas(self.requester))
    }

    fn sees(&self, item: &Item) -> io::Result<bool> {
        // A current catalogue contains nothing that the rules hide. The deletion of a name that they hide now is not
        // secret.
        let hides_nothing = self.health == Health::Current || item.deleted;
        if hides_nothing && self.sees_all() {
            return Ok(true);
        }
        let shown = |segments: &Vec<Vec<u8>>| {
            self.areas.closed_to(self.requester, segments).is_none()
                && (hides_nothing || self.site.rules().shows(segments))
        };
        Ok(name::decode(&item.name).as_ref().is_some_and(shown))
    }

    fn get(&self, item: &Item) -> io::Result<Option<Representation>> {
        if self.sees(item)? { self.site.get_near(&mut self.nearby.borrow_mut(), &item.name) } else { Ok(None) }
    }
}
