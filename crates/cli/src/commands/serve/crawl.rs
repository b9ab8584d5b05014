//! Serves a site on another host: crawled in the background, and served from the stored responses.

mod crawler;

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use modoai_fetch::{Client, Manners, make_room_for_connections};
use modoai_harvester::limits::Limits;
use modoai_repository::catalogue::{self, Access, Catalogue, CatalogueError, Location};
use modoai_repository::crawled::{Intake, Shelf};
use modoai_repository::{Repository, Settings};
use modoai_server::{Areas, Current, ENCODINGS, Health, Served};
use modoai_spider::task::{Plan, Scope, Task};
use modoai_spider::traverse::Options;

use super::reload::{Configuration, Make, Reload};
use super::subject::Crawl;
use super::{Ending, bind, flow_control, standing};
use crate::config::{Config, shown};
use crate::error::{CliError, Kind};
use crate::output;
use crate::place::own_place;
use crate::remote::unusable;
use crawler::{Crawler, State, Status};

/// The maximum size of a resource in memory; larger ones are referenced, regardless of the settings.
const MOST_BY_VALUE: u64 = 64 * 1024 * 1024;

/// The interval between checks that the first crawl is complete.
const PAUSE: Duration = Duration::from_millis(50);

/// A site on another host, and everything needed to keep a repository of it.
pub(super) struct Opened {
    pub(super) config: Config,
    top: String,
    contact: Option<String>,
    folder: PathBuf,
    catalogue: Arc<dyn Catalogue>,
    shelf: Arc<Shelf>,
    crawler: Crawler,
}

impl Crawl {
    /// Loads the configuration; `flags` are settings that the command's own flags give.
    pub(super) fn config(&self, flags: &[(&str, Option<&str>)]) -> Result<Config, CliError> {
        self.settings.config(flags)
    }

    pub(super) fn open(mut self, flags: &[(&str, Option<&str>)]) -> Result<Opened, CliError> {
        let config = self.config(flags)?;
        let client = self.client()?;
        let top = self.top.to_string();
        let folder = self.data.clone().or_else(|| own_place("crawls", &top)).ok_or_else(|| {
            CliError::new(Kind::Usage, "cannot determine the state directory: HOME is not set")
                .hint("give a directory with --data")
        })?;
        let failed = |what: &str| CliError::failed(format!("failed to open {what} of {top}"));
        let hint = "to use another directory, give it with --data";
        let shelf = Shelf::open(&folder.join("kept"))
            .map_err(|error| failed("the stored resources").because(error).hint(hint))?;
        let catalogue = catalogue::open(&Location::in_directory(&folder), Access::Write);
        let catalogue = catalogue.map_err(|error| failed("the catalogue").because(error).hint(hint))?;
        let shelf = Arc::new(shelf);
        let intake = Intake::new(catalogue.clone(), shelf.clone(), config.site.max_deleted);
        let accepts = self.manner.accept_deletions;
        let intake = intake.map(|intake| intake.with_sets(config.repository.set.clone()).accepting_deletions(accepts));
        let intake = intake.map_err(|error| match error {
            CatalogueError::Locked { .. } => {
                let what = format!("another modoai process is using the catalogue in {}", shown(&folder));
                CliError::failed(what).hint("stop it, or give another directory with --data")
            }
            error => failed("the catalogue").because(error),
        })?;
        let crawler = Crawler {
            plan: self.plan(),
            options: self.options(&config),
            client,
            table: folder.join("crawl.table"),
            intake: Arc::new(Mutex::new(intake)),
            catalogue: catalogue.clone(),
            shelf: shelf.clone(),
            kept: folder.join("kept"),
            limits: Limits { size: self.manner.max_size, total: self.manner.max_total, free: self.manner.min_free },
            every: self.manner.crawl_every,
            status: Arc::new(Status::default()),
        };
        let contact = self.manner.remote.contact().map(str::to_owned);
        Ok(Opened { config, top, contact, folder, catalogue, shelf, crawler })
    }

    fn client(&mut self) -> Result<Client, CliError> {
        let credentials = self.manner.remote.credentials_of([&mut self.top])?;
        let manners = self.manner.remote.spiders_manners(credentials);
        let connections = usize::from(self.manner.per_host);
        let at_once = Some(make_room_for_connections().min(connections));
        let manners = Manners { per_host: connections, at_once, ..manners };
        Client::new(manners).map_err(unusable)
    }

    fn plan(&self) -> Plan {
        let scope = if self.manner.tree { Scope::Tree } else { Scope::Site };
        let name = self.top.host_str().unwrap_or_default();
        Plan { tasks: vec![Task::new(name, scope, self.top.clone())], ..Plan::default() }
    }

    fn options(&self, config: &Config) -> Options {
        let defaults = Options::default();
        let most = config.repository.by_value_limit.min(MOST_BY_VALUE).min(self.manner.max_size);
        Options {
            connections: self.manner.per_host.into(),
            per_host: self.manner.per_host.into(),
            external: false,
            max_depth: self.manner.depth.unwrap_or(defaults.max_depth),
            max_pages: self.manner.max_pages,
            robots: !self.manner.ignore_robots,
            allow_private: self.manner.remote.allow_private,
            bodies: Some(usize::try_from(most).unwrap_or(usize::MAX)),
            ..defaults
        }
    }
}

pub(super) async fn serve(opened: Opened, areas: Areas, configuration: Configuration) -> Result<(), CliError> {
    let Opened { config, top, contact, folder, catalogue, shelf, crawler } = opened;
    let server = bind(&config).await?;
    let (base_url, origin) = (server.base_url(), server.origin());
    let filled = standing(&catalogue)?.ready;
    let make: Make = {
        let (catalogue, base_url) = (catalogue.clone(), base_url.clone());
        Box::new(move |settings| {
            let settings = administered(settings, contact.as_deref());
            Ok(Repository::of_urls(catalogue.clone(), settings, &base_url).with_compressions(ENCODINGS))
        })
    };
    let repository = Current::new(make(config.repository)?);
    let areas = Current::new(areas);
    let certificate = server.certificate();
    let reload = Reload { configuration, repository: repository.clone(), areas: areas.clone(), make, certificate };
    let status = crawler.status.clone();
    let served = Served {
        site: None,
        shelf: Some(shelf),
        repository,
        areas,
        flow: flow_control(&Location::in_directory(&folder).file(), config.flow),
        health: health(filled, status.clone()),
    };
    let mut end = Ending::new(reload)?;
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let running = tokio::spawn(server.run(served, async {
        let _ = stopped.await;
    }));
    let crawling = crawler.start()?;
    if !filled {
        tracing::info!("crawling {top} for the first time; lists are available when the crawl is complete");
    }
    tokio::select! {
        ready = until_ready(&catalogue, &status) => ready?,
        () = end.wait() => {
            crawling.stop().await;
            return Ok(());
        }
    }
    output::print(&format!(
        "serving {top}\n  repository  {base_url}\n  data        {}\nlistening on {origin}\n",
        shown(&folder)
    ))?;
    end.wait().await;
    tracing::info!("stopping");
    let _ = stop.send(());
    crawling.stop().await;
    let _ = running.await;
    Ok(())
}

/// Makes the contact of the crawl the administrator of the repository, unless another one is configured. `adminEmail`
/// needs a domain with a dot.
fn administered(mut settings: Settings, contact: Option<&str>) -> Settings {
    let is_address = |contact: &&str| contact.rsplit_once('@').is_some_and(|(_, domain)| domain.contains('.'));
    if let Some(contact) = contact.filter(is_address)
        && settings.admin_email == Settings::default().admin_email
    {
        settings.admin_email = vec![contact.to_owned()];
    }
    settings
}

/// Waits until lists are available.
async fn until_ready(catalogue: &Arc<dyn Catalogue>, status: &Status) -> Result<(), CliError> {
    loop {
        if standing(catalogue)?.ready {
            return Ok(());
        }
        if let State::Failed(why) = status.state() {
            return Err(CliError::failed(format!("failed to crawl the site: {why}")));
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Returns the health of the server. After a failed crawl, stored responses are served unchanged.
fn health(filled: bool, status: Arc<Status>) -> Arc<dyn Fn() -> Health + Send + Sync> {
    Arc::new(move || match status.state() {
        State::Current => Health::Current,
        State::Begun | State::Failed(_) if filled => Health::Behind,
        State::Begun | State::Failed(_) => Health::Filling,
    })
}
