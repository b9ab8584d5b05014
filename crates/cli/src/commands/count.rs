//! `modoai count`.

mod files;
mod told;
mod web;

use std::fs::File;
use std::path::PathBuf;

use clap::Args;
use modoai_fetch::{Client, Manners, Url};
use modoai_spider::count::{Count, Ledger, Place, Source, log};

use crate::config::{Config, SettingsArgs, shown};
use crate::error::{CliError, Kind};
use crate::place::web_url;
use crate::remote::{RemoteArgs, base_url, unusable};

/// Count the resources of a site, by everybody who should know: its files, a crawl, its site map, its log.
///
/// No two of them agree. What is there and nobody links to (orphans), what is linked or claimed and is not there (ghosts),
/// what programs are kept away from, what is there twice: each has its list. Give as many sources as there are; two are
/// enough. The crawl follows links alone, as a stranger would; site maps are read, but do not lead on.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  modoai count --files /var/www/html --crawl https://example.org/ --log /var/log/apache2/access.log
  modoai count --repository https://example.org/modoai --crawl https://example.org/ --html count.html
  modoai count --crawl https://example.org/ --lists lists   # against the site map that robots.txt names")]
pub(crate) struct CountCommand {
    /// The folder that is served: what the files say.
    #[arg(long, value_name = "DIR")]
    files: Option<PathBuf>,
    /// The URL that the folder is served as; that of the crawl's site if none is given.
    #[arg(long, value_name = "URL", value_parser = base_url)]
    base: Option<Url>,
    /// An OAI-PMH repository whose identifiers are the site's URLs: what the server says.
    #[arg(long, value_name = "BASE_URL", value_parser = base_url)]
    repository: Option<Url>,
    /// Where a crawl begins: what links lead to.
    #[arg(long, value_name = "URL", value_parser = base_url)]
    crawl: Option<Url>,
    /// The table of the crawl, to go on with; without --crawl, one that `modoai spider` has left.
    #[arg(long, value_name = "FILE")]
    table: Option<PathBuf>,
    /// How many links from the top are followed.
    #[arg(long, value_name = "N")]
    depth: Option<u16>,
    /// A site map, by URL or as a file; may be given several times. If none is given, those that robots.txt names.
    #[arg(long, value_name = "URL|FILE")]
    sitemap: Vec<String>,
    /// Do not request the URLs of a sitemap that neither files, repository nor crawl confirm.
    #[arg(long)]
    no_confirm: bool,
    /// An access log in the common or combined format, packed or not: what was asked for, and sent. May be given several
    /// times.
    #[arg(long, value_name = "FILE")]
    log: Vec<PathBuf>,

    /// Print everything, the lists too, as one JSON object.
    #[arg(long, help_heading = "Reports")]
    json: bool,
    /// Write each list into a file of its own in this folder.
    #[arg(long, value_name = "DIR", help_heading = "Reports", value_parser = crate::place::path())]
    lists: Option<PathBuf>,
    /// Write a page with the table, a picture and the lists.
    #[arg(long, value_name = "FILE", help_heading = "Reports", value_parser = crate::place::path())]
    html: Option<PathBuf>,

    #[command(flatten)]
    settings: SettingsArgs,
    /// How many requests at once.
    #[arg(long, value_name = "N", default_value = "4", value_parser = clap::value_parser!(u16).range(1..=256), help_heading = "How the server is asked")]
    per_host: u16,
    /// Do not obey robots.txt. Only for a site that is your own.
    #[arg(long, help_heading = "How the server is asked")]
    ignore_robots: bool,
    #[command(flatten)]
    remote: RemoteArgs,
}

impl CountCommand {
    pub(crate) fn run(mut self, quiet: bool) -> Result<(), CliError> {
        let config = self.settings.config(&[])?;
        let place = Place::new(&self.site(&config)?, &config.site.index);
        let mut ledger = Ledger::new(place);
        if let Some(folder) = &self.files {
            files::add(&mut ledger, folder, &config)?;
        }
        let client = self.client()?;
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        let runtime = runtime.map_err(|error| CliError::failed("failed to start").because(error))?;
        let remarks = runtime.block_on(async {
            self.ask_repository(&mut ledger).await?;
            let remarks = self.crawl(&mut ledger, &client, quiet).await?;
            self.read_sitemaps(&mut ledger, &client).await?;
            self.confirm_claims(&mut ledger, &client, quiet).await;
            Ok(remarks)
        })?;
        for file in &self.log {
            read_log(&mut ledger, file)?;
        }
        let mut count = Count::of(ledger);
        count.remarks.extend(remarks);
        if count.sources.is_empty() {
            return Err(CliError::new(Kind::Usage, "nobody was asked")
                .hint("give at least two of --files, --repository, --crawl, --sitemap and --log"));
        }
        self.tell(&count)
    }

    /// The site that is counted, by the first who says.
    fn site(&self, config: &Config) -> Result<Url, CliError> {
        let configured = config.server.url.as_deref().and_then(web_url);
        let root = |url: &Url| url.join("/").ok();
        let sitemap = || self.sitemap.iter().find_map(|sitemap| web_url(sitemap));
        let site = self
            .base
            .clone()
            .or(configured)
            .or_else(|| self.crawl.as_ref().and_then(root))
            .or_else(|| self.repository.as_ref().and_then(root))
            .or_else(|| sitemap().as_ref().and_then(root));
        site.ok_or_else(|| {
            CliError::new(Kind::Usage, "it is not known which site this is").hint("give its URL with --base")
        })
    }

    fn client(&mut self) -> Result<Client, CliError> {
        let connections = usize::from(self.per_host);
        let credentials = self.remote.credentials_of(self.crawl.iter_mut().chain(&mut self.base))?;
        let manners = self.remote.spiders_manners(credentials);
        let manners = Manners { per_host: connections, at_once: Some(connections), ..manners };
        let sitemaps: Vec<Url> = self.sitemap.iter().filter_map(|sitemap| web_url(sitemap)).collect();
        let starts = self.crawl.iter().chain(&self.base).chain(&sitemaps);
        self.remote.restricted(Client::new(manners).map_err(unusable)?, starts)
    }
}

fn read_log(ledger: &mut Ledger, file: &PathBuf) -> Result<(), CliError> {
    let failed = |error| CliError::failed(format!("failed to read the log {}", shown(file))).because(error);
    ledger.ask(Source::Log);
    let lines = log::read(File::open(file).map_err(failed)?, |target| ledger.add(Source::Log, target, None, None));
    let lines = lines.map_err(failed)?;
    if lines.odd > 0 {
        tracing::warn!("{} of {} lines of {} make no sense", lines.odd, lines.all, shown(file));
    }
    Ok(())
}
