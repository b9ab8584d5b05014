//! A folder as the repository sees it on behalf of one requester.

use std::io;

use modoai_repository::host::{Host, Representation};
use modoai_repository::item::Item;
use modoai_repository::site::{Site, name};

use crate::Health;
use crate::area::{Areas, Requester};

/// A site as one requester sees it: what this server's own GET would return, decided by the same code.
#[derive(Debug)]
pub struct FolderHost<'a> {
    /// The folder.
    pub site: &'a Site,
    /// What needs a password.
    pub areas: &'a Areas,
    /// Who asks.
    pub requester: &'a Requester,
    /// Whether the catalogue can be relied on.
    pub health: Health,
}

impl Host for FolderHost<'_> {
    fn ready(&self) -> io::Result<()> {
        match &self.health {
            Health::Suspended(reason) => Err(io::Error::other(reason.clone())),
            Health::Current | Health::Behind | Health::Filling => self.site.root_folder().map(drop),
        }
    }

    fn sees_all(&self) -> bool {
        self.areas.all_open_to(self.requester)
    }

    fn view(&self) -> String {
        format!("{:?} {:?}", self.health, self.areas.closed_areas(self.requester))
    }

    fn sees(&self, item: &Item) -> io::Result<bool> {
        // What is current holds nothing that the rules hide; and that a name which they hide now was deleted is no secret.
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
        if self.sees(item)? { self.site.get(&item.name) } else { Ok(None) }
    }
}
