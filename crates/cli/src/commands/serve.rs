//! `modoai serve`.

mod crawl;
mod records;
mod reload;
mod subject;

use std::io::IsTerminal as _;
use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use modoai_flow::{Flow, FlowSettings, Processors};
use modoai_repository::Repository;
use modoai_repository::catalogue::{Catalogue, Location, Standing};
use modoai_repository::ingest::{Keeper, Pace, Status};
use modoai_server::{Areas, Current, ENCODINGS, Health, LISTS_AT_ONCE, Served, Server, StartError};
use tokio::signal::unix::{SignalKind, signal};

use crate::config::{Config, SettingsArgs, shown};
use crate::error::{CliError, Kind};
use crate::open::{Opened, open_areas, open_site};
use crate::output::{self, Counting};
use crate::source::Source;
use reload::{Configuration, Make, Reload};
use subject::Subject;

/// The time for which the first rescan may delay the ready line, so that a small site is current when it is printed.
const SETTLING: Duration = Duration::from_millis(500);

/// Serve a directory as a web site and as an OAI-PMH repository.
///
/// The first start indexes the directory. Later starts respond immediately from the catalogue and rescan the directory
/// in the background. While the server runs, the catalogue follows changes in the directory. The server is ready when
/// it prints a line with "listening on".
///
/// With --catalogue, serve the records that `modoai import` or `modoai harvest` stored. New records appear immediately.
///
/// With --crawl, serve a site hosted elsewhere: modoai crawls it periodically and serves the result. The identifiers
/// are its URLs; additions, changes and deletions are those that the crawls detect.
#[derive(Debug, Args)]
#[command(override_usage = "modoai serve [OPTIONS] <DIR>
       modoai serve [OPTIONS] --catalogue <FILE>
       modoai serve [OPTIONS] --crawl <URL>")]
pub(crate) struct Serve {
    #[command(flatten)]
    subject: Subject,
    /// Address and port to listen on; port 0 selects a free port.
    #[arg(long, value_name = "ADDR:PORT", help_heading = None)]
    listen: Option<String>,
    /// Check the configuration and exit.
    #[arg(long, help_heading = None)]
    check_config: bool,
}

impl Serve {
    pub(crate) fn run(self) -> Result<(), CliError> {
        let flags = [("listen", self.listen.as_deref())];
        if self.check_config {
            let config = match &self.subject {
                Subject::Here(Source::Folder(site)) => open_site(site, &flags)?.0,
                Subject::Here(Source::Records(records)) => records.check(&flags)?,
                Subject::Elsewhere(crawl) => crawl.config(&flags)?,
            };
            open_areas(&config)?;
            Server::check(&config.server).map_err(not_started)?;
            return output::print("the configuration is valid\n");
        }
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        let runtime =
            runtime.map_err(|error| CliError::failed("failed to start the asynchronous runtime").because(error))?;
        let configuration = |settings: &SettingsArgs| Configuration::new(settings, self.listen.as_deref());
        match self.subject {
            Subject::Here(Source::Folder(site)) => {
                let configuration = configuration(&site.settings);
                let opened = Opened::new(&site, &flags)?;
                let areas = open_areas(&opened.config)?;
                runtime.block_on(serve(opened, areas, configuration))
            }
            Subject::Here(Source::Records(records)) => {
                let configuration = configuration(&records.settings);
                let opened = records.open(&flags)?;
                let areas = open_areas(&opened.config)?;
                runtime.block_on(records::serve(opened, areas, configuration))
            }
            Subject::Elsewhere(crawl) => {
                let configuration = configuration(&crawl.settings);
                let opened = crawl.open(&flags)?;
                let areas = open_areas(&opened.config)?;
                runtime.block_on(crawl::serve(opened, areas, configuration))
            }
        }
    }
}

async fn serve(opened: Opened, areas: Areas, configuration: Configuration) -> Result<(), CliError> {
    let Opened { config, root, site, catalogue, state_dir } = &opened;
    let server = bind(config).await?;
    let Some(reconciler) = opened.reconciler()? else {
        let what = format!("another modoai process is using the catalogue in {}", shown(state_dir));
        return Err(CliError::failed(what).hint("stop it, or give another directory with --data"));
    };
    let filled = standing(catalogue)?.ready;
    let (base_url, site_url) = (server.base_url(), server.site_url());
    let make: Make = {
        let (catalogue, base_url, site_url) = (catalogue.clone(), base_url.clone(), site_url.clone());
        Box::new(move |settings| {
            let repository = Repository::new(catalogue.clone(), settings, &base_url, &site_url);
            Ok(repository.with_compressions(ENCODINGS))
        })
    };
    let repository = Current::new(make(config.repository.clone())?);
    let areas = Current::new(areas);
    let counting = Counting::start("looking", reconciler.seen());
    let pace = Pace { rescan: config.site.rescan, digests: config.site.read_ahead, access_files: Vec::new() };
    let keeper = Keeper::start(reconciler, catalogue.clone(), pace)
        .map_err(|error| CliError::failed("failed to start watching the directory").because(error))?;
    let status = keeper.status();

    let certificate = server.certificate();
    let reload = Reload { configuration, repository: repository.clone(), areas: areas.clone(), make, certificate };
    let mut end = Ending::new(reload)?;
    let origin = server.origin();
    let served = Served {
        site: Some(site.clone()),
        shelf: None,
        repository,
        areas,
        flow: flow_control(&Location::in_directory(state_dir).file(), config.flow.clone()),
        health: health(filled, status.clone()),
    };
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let running = tokio::spawn(server.run(served, async {
        let _ = stopped.await;
    }));
    let ready = tokio::select! {
        ready = until_ready(catalogue, &status) => ready,
        () = end.wait() => return Ok(()),
    };
    drop(counting);
    ready?;
    output::print(&format!(
        "serving {}\n  site        {site_url}\n  repository  {base_url}\n  catalogue   {}\nlistening on {origin}\n",
        shown(root),
        shown(state_dir),
    ))?;
    end.wait().await;
    tracing::info!("stopping");
    let _ = stop.send(());
    let _ = running.await;
    // Dropping the keeper waits for the change it is writing, which must not block the runtime's own threads.
    let _ = tokio::task::spawn_blocking(move || drop(keeper)).await;
    Ok(())
}

async fn bind(config: &Config) -> Result<Server, CliError> {
    let server = Server::bind(config.server.clone()).await.map_err(not_started)?;
    let left = config.left_at_default();
    if !left.is_empty() && is_public(&server.site_url(), server.address().ip()) {
        tracing::warn!("harvesters will see default values in Identify; set {}", left.join(" and "));
    }
    Ok(server)
}

/// Returns true if clients on other machines are expected.
fn is_public(site_url: &str, address: IpAddr) -> bool {
    let is_local = |host: &str| host == "localhost" || host.parse().is_ok_and(|address: IpAddr| address.is_loopback());
    let url = modoai_fetch::Url::parse(site_url).ok();
    let host = url.as_ref().and_then(|url| url.host_str()).map(|host| host.trim_matches(['[', ']']));
    !address.is_loopback() || host.is_some_and(|host| !is_local(host))
}

fn not_started(error: StartError) -> CliError {
    match error {
        StartError::Listen { address, source } => CliError::failed(format!("failed to listen on {address}"))
            .because(source)
            .hint("give another address with --listen; port 0 selects a free port"),
        error => CliError::new(Kind::Config, "invalid configuration").because(error),
    }
}

/// Waits until lists are available, and a little longer if that makes them current.
async fn until_ready(catalogue: &Arc<dyn Catalogue>, status: &Status) -> Result<(), CliError> {
    const PAUSE: Duration = Duration::from_millis(10);
    let start = Instant::now();
    loop {
        match (standing(catalogue)?.ready, status.suspended()) {
            (false, Some(reason)) => return Err(CliError::failed(format!("failed to index the site: {reason}"))),
            (true, Some(_)) => return Ok(()),
            (true, None) if status.is_settled() || start.elapsed() > SETTLING => return Ok(()),
            (_, None) => {}
        }
        tokio::time::sleep(PAUSE).await;
    }
}

fn standing(catalogue: &Arc<dyn Catalogue>) -> Result<Standing, CliError> {
    catalogue.standing().map_err(|error| CliError::failed("failed to read the catalogue").because(error))
}

fn health(filled: bool, status: Arc<Status>) -> Arc<dyn Fn() -> Health + Send + Sync> {
    Arc::new(move || match status.suspended() {
        Some(reason) => Health::Suspended(reason),
        None if status.is_settled() => Health::Current,
        None if filled => Health::Behind,
        None => Health::Filling,
    })
}

/// Returns flow control with its files next to the catalogue.
fn flow_control(catalogue: &Path, settings: FlowSettings) -> Arc<Flow> {
    Flow::beside(catalogue, settings, LISTS_AT_ONCE, Arc::new(Processors::with_other_senders()))
}

/// The signals that end a server, and the one that reloads the configuration.
struct Ending {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
    hangup: tokio::signal::unix::Signal,
    /// True if it was started on a terminal.
    on_terminal: bool,
    reload: Reload,
}

impl Ending {
    fn new(reload: Reload) -> Result<Self, CliError> {
        let listen =
            |kind| signal(kind).map_err(|error| CliError::failed("failed to listen for signals").because(error));
        Ok(Self {
            terminate: listen(SignalKind::terminate())?,
            interrupt: listen(SignalKind::interrupt())?,
            hangup: listen(SignalKind::hangup())?,
            on_terminal: std::io::stderr().is_terminal(),
            reload,
        })
    }

    async fn wait(&mut self) {
        loop {
            tokio::select! {
                _ = self.terminate.recv() => return,
                _ = self.interrupt.recv() => return,
                // Closing the terminal sends this signal, too, and standard error is then not a terminal.
                _ = self.hangup.recv() => match self.on_terminal && !std::io::stderr().is_terminal() {
                    true => return,
                    false => self.reload.run(),
                },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_public_by_its_address_or_its_url() {
        let local = IpAddr::from([127, 0, 0, 1]);
        for (url, address, expected) in [
            ("http://127.0.0.1:8080/", local, false),
            ("http://localhost:8080/", local, false),
            ("http://[::1]:8080/", "::1".parse().expect("an address"), false),
            ("https://www.example.org/", local, true),
            ("http://localhost:80/", IpAddr::from([0, 0, 0, 0]), true),
            ("http://192.0.2.1/", IpAddr::from([192, 0, 2, 1]), true),
        ] {
            assert_eq!(is_public(url, address), expected, "{url} {address}");
        }
    }
}
