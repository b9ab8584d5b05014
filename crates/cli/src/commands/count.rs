//! `modoai count`.

mod files;
mod render;
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

/// Count the resources of a site from several sources: files, repository, crawl, sitemap and access log.
///
/// The sources rarely agree. modoai lists resources that no page links to (orphans), URLs that are linked or listed but
/// do not exist (ghosts), URLs that robots.txt excludes, and duplicates. Give at least two sources. The crawl only
/// follows links; sitemaps are read, but the crawl does not follow their URLs.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  modoai count --files /var/www/html --crawl https://example.org/ --log /var/log/apache2/access.log
  modoai count --repository https://example.org/modoai --crawl https://example.org/ --html count.html
  modoai count --crawl https://example.org/ --lists lists   # compared with the sitemap that robots.txt lists")]
pub(crate) struct CountCommand {
    /// Directory of the site: count its files.
    #[arg(long, value_name = "DIR")]
    files: Option<PathBuf>,
    /// URL of the site that --files contains [default: the site of --crawl or --repository]
    #[arg(long, value_name = "URL", value_parser = base_url)]
    base: Option<Url>,
    /// Base URL of an OAI-PMH repository whose identifiers are the URLs of the site: count its records.
    #[arg(long, value_name = "BASE_URL", value_parser = base_url)]
    repository: Option<Url>,
    /// Start page of a crawl: count the resources that links point to.
    #[arg(long, value_name = "URL", value_parser = base_url)]
    crawl: Option<Url>,
    /// Table of crawl results to resume from; without --crawl, a table written by `modoai spider`.
    #[arg(long, value_name = "FILE")]
    table: Option<PathBuf>,
    /// Maximum number of links to follow from the start page.
    #[arg(long, value_name = "N")]
    depth: Option<u16>,
    /// Sitemap, as a URL or a file (repeatable) [default: the sitemaps that robots.txt lists]
    #[arg(long, value_name = "URL|FILE")]
    sitemap: Vec<String>,
    /// Do not request sitemap URLs that are missing from the files, the repository and the crawl.
    #[arg(long)]
    no_confirm: bool,
    /// Access log in the common or combined format, also compressed: count the URLs that clients requested
    /// (repeatable).
    #[arg(long, value_name = "FILE")]
    log: Vec<PathBuf>,

    /// Print the counts and the lists as one JSON object.
    #[arg(long, help_heading = "Report options")]
    json: bool,
    /// Write each list to a separate file in this directory.
    #[arg(long, value_name = "DIR", help_heading = "Report options", value_parser = crate::place::path())]
    lists: Option<PathBuf>,
    /// Write an HTML page with the table, a diagram and the lists.
    #[arg(long, value_name = "FILE", help_heading = "Report options", value_parser = crate::place::path())]
    html: Option<PathBuf>,

    #[command(flatten)]
    settings: SettingsArgs,
    /// Maximum number of concurrent requests.
    #[arg(long, value_name = "N", default_value = "4", value_parser = clap::value_parser!(u16).range(1..=256), help_heading = "HTTP options")]
    per_host: u16,
    /// Ignore robots.txt; use only for your own site.
    #[arg(long, help_heading = "HTTP options")]
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
        let runtime =
            runtime.map_err(|error| CliError::failed("failed to start the asynchronous runtime").because(error))?;
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
            return Err(CliError::new(Kind::Usage, "no source given")
                .hint("give at least two of --files, --repository, --crawl, --sitemap and --log"));
        }
        self.render(&count)
    }

    /// Returns the site that is counted, from the first source that states it.
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
            CliError::new(Kind::Usage, "missing site URL")
                .hint("give a source such as --crawl URL, or the URL of the site with --base")
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
    let failed = |error| CliError::failed(format!("failed to read the access log {}", shown(file))).because(error);
    ledger.ask(Source::Log);
    let lines = log::read(File::open(file).map_err(failed)?, |target| ledger.add(Source::Log, target, None, None));
    let lines = lines.map_err(failed)?;
    if lines.odd > 0 {
        tracing::warn!("{} of {} lines of {} cannot be parsed", lines.odd, lines.all, shown(file));
    }
    Ok(())
}
