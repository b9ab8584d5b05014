//! Serves a catalogue of documents or records without a site: `OAICatalogue`.
//!
//! `modoai import` or `modoai harvest` write the catalogue as a different user, also while httpd runs. Children only
//! read: they open it on the first request, change nothing in it, and create no files next to it; their own data,
//! budgets and log, is in `OAIIndexDir`. A catalogue that is missing or not readable is opened again with every
//! request.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use modoai_archive::holdings;
use modoai_flow::Flow;
use modoai_httpd::log::{self, Level};
use modoai_httpd::server::Server;
use modoai_repository::catalogue::{
    self, Access, Catalogue, CatalogueError, CatalogueKind, Location, Presence, Standing,
};
use modoai_repository::{Failure, Repository, Settings, with_causes};

use crate::Oai;
use crate::config::{All, CatalogueConfig};
use crate::house::{self, lock};
use crate::repositories::Repositories;
use crate::roots;

/// The directory in `OAIIndexDir` for data about catalogues. Folders of servers have a port in their names.
const FOLDER: &str = "archives";

/// The open state of a catalogue.
pub(crate) struct Archive {
    /// The limits of each harvester.
    pub(crate) flow: Arc<Flow>,
    location: Location,
    catalogue: Arc<dyn Catalogue>,
    settings: Settings,
    repositories: Repositories<Mark>,
}

/// The state of a catalogue in a child.
#[derive(Default)]
pub(crate) struct Slot {
    config: Arc<CatalogueConfig>,
    opened: Option<Arc<Archive>>,
    /// The last message about it in the error log, which would otherwise be repeated with every request.
    said: Option<String>,
}

/// The state of the catalogue that the repository was built for; while it is equal, the repository is reused.
#[derive(PartialEq)]
struct Mark {
    epoch: u64,
    revision: i64,
    ready: bool,
}

impl From<Standing> for Mark {
    fn from(standing: Standing) -> Self {
        Self { epoch: standing.epoch, revision: standing.revision, ready: standing.ready }
    }
}

/// Checks the catalogues of all servers, and returns a message about the first invalid one.
pub(crate) fn check(main: Server<'_>) -> Result<(), String> {
    let mut seen = Vec::new();
    for server in main.all().filter(|server| server.config::<Oai>().is_enabled()) {
        let config = server.config::<Oai>();
        if let Some((section, directive)) = config.settings_without_a_catalogue() {
            let advice = "without OAICatalogue: set it outside of <Location> for the repository of the site";
            return Err(format!("{directive} is not allowed in {section} {advice}"));
        }
        for (_, location) in &config.catalogues {
            if !seen.contains(&location) {
                check_place(main, location)?;
                seen.push(location);
            }
        }
    }
    Ok(())
}

fn check_place(main: Server<'_>, location: &Location) -> Result<(), String> {
    let shown = location;
    if let Some(folder) = main.all().find_map(|server| roots::serves(&server, location.path())) {
        let folder = folder.display();
        return Err(format!(
            "OAICatalogue {shown} is inside {folder}, which is served: choose a location outside every document root"
        ));
    }
    // Not opened: files that this process creates would belong to root.
    match catalogue::check(location) {
        Presence::Possible => Ok(()),
        Presence::Other(what) => Err(format!("OAICatalogue {shown} is {what}")),
        // A disk that is not mounted must not keep httpd from starting.
        Presence::Missing(error) => {
            log::server(
                Level::Warning,
                &format!("catalogue {shown} not found ({error}); its repository is unavailable until it exists"),
            );
            Ok(())
        }
    }
}

/// Returns the catalogue of a section, opened if necessary, and its repository at a URL. The error log contains the
/// reason of a failure.
pub(crate) fn of(
    server: &Server<'_>,
    config: &Arc<CatalogueConfig>,
    base_url: &str,
) -> Result<(Arc<Archive>, Repository), Failure> {
    let archives = &server.config::<Oai>().door.archives;
    let is_it = |slot: &Slot| Arc::ptr_eq(&slot.config, config) || slot.config == *config;
    let known = lock(archives).iter().find(|slot| is_it(slot)).and_then(|slot| slot.opened.clone());
    // Opened without a lock, so that a slow disk delays only requests for this catalogue. If the file was replaced, the
    // new one is opened.
    let open = || Archive::open(server, config).map(Arc::new);
    let archive = known.filter(|archive| archive.catalogue.is_in_place()).map_or_else(open, Ok);
    let visited = archive.and_then(|archive| archive.repository(base_url).map(|repository| (archive, repository)));
    let mut slots = lock(archives);
    let at = slots.iter().position(is_it).unwrap_or_else(|| {
        slots.push(Slot { config: Arc::clone(config), ..Slot::default() });
        slots.len() - 1
    });
    let Slot { opened, said, .. } = &mut slots[at];
    match &visited {
        Ok((archive, _)) => (*opened, *said) = (Some(Arc::clone(archive)), None),
        Err(failure) => {
            let reason = with_causes(failure);
            if said.as_ref() != Some(&reason) {
                log::server(Level::Error, &format!("failed to open the repository at {base_url}: {reason}"));
            }
            (*opened, *said) = (None, Some(reason));
        }
    }
    visited
}

impl Archive {
    fn open(server: &Server<'_>, config: &CatalogueConfig) -> Result<Self, Failure> {
        let location =
            config.location.clone().ok_or_else(|| Failure::outage("OAICatalogue is not set".to_owned(), None))?;
        let All { settings, flow, .. } = server.config::<Oai>().settings_of(server, config);
        let catalogue = catalogue::open(&location, Access::Read)?;
        let folder = folder(server, &location);
        // Without it budgets hold for each child alone, and nothing is logged; both are reported where they are
        // detected.
        let _ = fs::DirBuilder::new().recursive(true).mode(0o750).create(&folder);
        let settings = house::with_temporary_directory(settings, &folder);
        let processors = server.config::<Oai>().processors();
        let flow = Flow::beside(&Location::in_directory(&folder).file(), flow, house::lists_at_once(), processors);
        Ok(Self { flow, location, catalogue, settings, repositories: Repositories::default() })
    }

    /// Returns the repository at a URL. The first documents, or their terms, may have been added since the catalogue
    /// was opened.
    fn repository(&self, base_url: &str) -> Result<Repository, Failure> {
        let mark = self.catalogue.standing()?.into();
        self.repositories.at(base_url.to_owned(), mark, || {
            let place = self.location.file().display().to_string();
            match self.catalogue.kind()? {
                None => {
                    let reason = "nothing has been imported into it".to_owned();
                    return Err(CatalogueError::NotReady { place, reason }.into());
                }
                Some(kind @ (CatalogueKind::Site | CatalogueKind::Crawl)) => {
                    let reason = format!("it contains {}, not records", kind.contents());
                    return Err(CatalogueError::Foreign { place, reason }.into());
                }
                Some(CatalogueKind::Records | CatalogueKind::Archive) => {}
            }
            Ok(holdings::repository(&self.catalogue, self.settings.clone(), base_url)?)
        })
    }
}

/// Returns the directory for budgets and log of a catalogue: one directory, regardless of the number of servers that
/// have it.
fn folder(server: &Server<'_>, location: &Location) -> PathBuf {
    let place = location.place();
    let name = house::plain(&place.file_name().unwrap_or_default().to_string_lossy());
    let number = house::number(&place.display().to_string());
    house::index_dir(server).join(FOLDER).join(format!("{name}-{number:08x}"))
}

/// Returns the directories for budgets and log of all catalogues, each with the directory of its catalogue.
pub(crate) fn folders(main: Server<'_>) -> BTreeMap<PathBuf, PathBuf> {
    let servers = main.all().filter(|server| server.config::<Oai>().is_enabled());
    let of = |server: Server<'_>| {
        let catalogues = server.config::<Oai>().catalogues.iter();
        catalogues.map(|(_, location)| (folder(&server, location), location.path().to_owned())).collect::<Vec<_>>()
    };
    servers.flat_map(of).collect()
}
