//! Counts resources by requests: a repository's list, a crawl, sitemaps.

use std::sync::{Arc, Mutex, PoisonError};

use modoai_fetch::Client;
use modoai_harvester::harvest::{Harvest, Options as HarvestOptions};
use modoai_spider::count::{Fate, Ledger, Source, confirm, sitemap};
use modoai_spider::results::Results as _;
use modoai_spider::survey::Survey;
use modoai_spider::table::{Table, TableError};
use modoai_spider::task::{Plan, Scope, Task};
use modoai_spider::traverse::{Options, Traversal};
use tokio::runtime::Handle;

use super::CountCommand;
use crate::commands::harvest::names::Names;
use crate::commands::spider::progress::{Watching, interrupted};
use crate::error::{CliError, Kind};
use crate::place::web_url;

impl CountCommand {
    /// Adds the identifiers of the repository.
    pub(super) async fn ask_repository(&self, ledger: &mut Ledger) -> Result<(), CliError> {
        let Some(mut url) = self.repository.clone() else { return Ok(()) };
        let client = self.remote.client(&mut url)?;
        ledger.ask(Source::Repository);
        let listed = Arc::new(Mutex::new(Vec::new()));
        let sink = Names::told_to({
            let listed = listed.clone();
            move |names| {
                let mut listed = listed.lock().unwrap_or_else(PoisonError::into_inner);
                listed.extend(names.lines().map(str::to_owned));
                Ok(())
            }
        });
        let options =
            HarvestOptions { headers_only: true, allow_private: self.remote.allow_private, ..HarvestOptions::new(url) };
        let summary = Harvest::new(client, options).into_sink(None, "list", "oai_dc", sink).await;
        let summary = summary.map_err(|error| CliError::failed("failed to list the repository").because(error))?;
        if !summary.complete {
            return Err(CliError::new(Kind::Incomplete, "failed to list the repository completely"));
        }
        for name in listed.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            ledger.add(Source::Repository, name, None, None);
        }
        Ok(())
    }

    /// Adds the results of a crawl, or those of an earlier one. Returns notes about it.
    pub(super) async fn crawl(
        &self,
        ledger: &mut Ledger,
        client: &Client,
        quiet: bool,
    ) -> Result<Vec<String>, CliError> {
        let mut remarks = Vec::new();
        let table = match (&self.table, &self.crawl) {
            (None, None) => return Ok(remarks),
            (None, Some(_)) => Table::temporary(),
            (Some(file), _) => Table::open(file),
        };
        let mut table = table.map_err(failed)?;
        if let Some(top) = &self.crawl {
            let task = Task::new(top.host_str().unwrap_or_default(), Scope::Site, top.clone());
            let plan = Plan { tasks: vec![task], ..Plan::default() };
            let begun = Traversal::begin(plan, self.options(), table, client.clone(), jiff::Timestamp::now());
            let mut traversal = begun.map_err(|error| CliError::failed("failed to start the crawl").because(error))?;
            let watching = Watching::start(quiet || self.json);
            let stop = interrupted(&Handle::current())?;
            let cut_short = traversal.run(stop, &mut |progress| watching.show(progress)).await.map_err(failed)?;
            drop(watching);
            if let Some(why) = cut_short {
                return Err(CliError::new(Kind::Incomplete, format!("the crawl stopped early: {why}")));
            }
            let survey = Survey::of(traversal, None, true);
            let survey = survey.map_err(|error| CliError::failed("failed to read the crawl results").because(error))?;
            if survey.run().summary.pages == 0 {
                let why = survey
                    .run()
                    .remarks
                    .last()
                    .cloned()
                    .unwrap_or_else(|| format!("failed to read the start page {top}"));
                return Err(CliError::failed(why));
            }
            remarks.clone_from(&survey.run().remarks);
            table = survey
                .close_into_table()
                .map_err(|error| CliError::failed("failed to store the crawl results").because(error))?;
        }
        ledger.ask(Source::Crawl);
        table
            .last_tested(|tested| {
                ledger.crawled(tested.url, Fate::from(&tested.outcome), tested.media_type, tested.digest);
            })
            .map_err(failed)?;
        Ok(remarks)
    }

    fn options(&self) -> Options {
        Options {
            connections: self.per_host.into(),
            per_host: self.per_host.into(),
            external: false,
            robots: !self.ignore_robots,
            max_depth: self.depth.unwrap_or(Options::default().max_depth),
            sitemaps: false,
            allow_private: self.remote.allow_private,
            ..Options::default()
        }
    }

    /// Requests URLs that only a sitemap lists. A sitemap in a file alone is read without a network.
    pub(super) async fn confirm_claims(&self, ledger: &mut Ledger, client: &Client, quiet: bool) {
        let is_online = self.crawl.is_some() || self.sitemap.iter().any(|sitemap| web_url(sitemap).is_some());
        if self.no_confirm || !is_online {
            return;
        }
        let requested = confirm(ledger, client, &self.options()).await;
        if requested > 0 && !quiet {
            tracing::info!("requested {requested} URLs that only the sitemap lists");
        }
    }

    /// Reads the given sitemaps, or those that robots.txt lists.
    pub(super) async fn read_sitemaps(&self, ledger: &mut Ledger, client: &Client) -> Result<(), CliError> {
        let mut urls = Vec::new();
        for given in &self.sitemap {
            ledger.ask(Source::Sitemap);
            match web_url(given) {
                Some(url) => urls.push(url),
                None => {
                    let failed = |why: String| CliError::failed(format!("failed to read the sitemap {given}: {why}"));
                    let body = std::fs::read(given).map_err(|error| failed(error.to_string()))?;
                    let base = ledger.place().base().clone();
                    let others = sitemap::parse(&base, &body, &mut |url| ledger.add(Source::Sitemap, url, None, None));
                    urls.extend(others.map_err(failed)?);
                }
            }
        }
        if self.sitemap.is_empty()
            && let Some(top) = &self.crawl
        {
            urls = sitemap::named_by_robots(client, top).await;
        }
        if urls.is_empty() {
            return Ok(());
        }
        ledger.ask(Source::Sitemap);
        let read = sitemap::fetch(client, urls, &mut |url| ledger.add(Source::Sitemap, url, None, None)).await;
        for (map, why) in &read.failed {
            tracing::warn!("failed to read the sitemap {map}: {why}");
        }
        // A sitemap that cannot be read differs from an empty one.
        if read.maps == 0 && !self.sitemap.is_empty() {
            return Err(CliError::failed("failed to read any sitemap"));
        }
        Ok(())
    }
}

fn failed(error: TableError) -> CliError {
    CliError::failed("failed to open the table").because(error)
}
