//! Runs `--all`: harvests many repositories concurrently, each into a separate folder, with limits per host.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use modoai_harvester::gauge::Gauge;
use modoai_harvester::harvest::{Harvest, Options};
use modoai_harvester::limits::Budget;
use modoai_harvester::sink::SinkKind;
use modoai_harvester::state::State;
use modoai_harvester::summary::Summary;
use modoai_repository::catalogue::Location;
use serde_json::json;
use tokio::task::JoinSet;

use super::endpoints::{Endpoints, by_host, named};
use super::progress::Watching;
use super::{HarvestCommand, failed, report};
use crate::config::shown;
use crate::error::{CliError, Kind};
use crate::output::{self, counted};

pub(super) async fn run(
    command: &HarvestCommand,
    file: &Path,
    stop: Arc<AtomicBool>,
    quiet: bool,
) -> Result<(), CliError> {
    let Endpoints { urls, credentials, wrong } = Endpoints::read(file)?;
    let client = command.remote.client_of_many(credentials)?;
    let Some(into) = &command.into else { return Ok(()) };
    let sources = named(urls, &folders(into), |url| command.options(url))?;
    let mut total = Total::default();
    for (line, reason) in wrong {
        total.leave_out(&format!("{} line {line}", shown(file)), &reason, command.json)?;
    }
    // Before the first request: a folder that cannot be created, or options that conflict with those of an existing
    // folder.
    for options in &sources {
        command.kind(&into.join(&options.slug))?;
    }
    let catalogue = shared_catalogue(into, &sources);
    std::fs::create_dir_all(into)
        .map_err(|error| CliError::failed(format!("failed to create {}", shown(into))).because(error))?;
    let sources: Vec<_> = sources.into_iter().map(|options| (options, Arc::new(Gauge::default()))).collect();
    let gauges = sources.iter().map(|(options, gauge)| (options.slug.clone(), gauge.clone())).collect();
    let watching = Watching::start(gauges, quiet || command.json);
    let places = vec![into.clone(), catalogue.directory()];
    let budget = Arc::new(Budget::new(command.limits.limits(), places, 0));
    let mut hosts = by_host(sources, |(options, _)| &options.base_url);
    let mut running = JoinSet::new();
    loop {
        // Each host has at most one place, and is appended to the queue when it leaves it.
        while running.len() < usize::from(command.parallel)
            && !stop.load(Ordering::Relaxed)
            && let Some(mut host) = hosts.pop_front()
        {
            let Some((mut options, gauge)) = host.pop_front() else { continue };
            let (slug, dir) = (options.slug.clone(), into.join(&options.slug));
            let kind = command.kind(&dir)?;
            if kind.name == "catalogue" && options.sink.catalogue.is_none() {
                options.sink.catalogue = remembered_catalogue(&dir).or_else(|| Some(catalogue.clone()));
            }
            let harvest = Harvest::new(client.clone(), options).watched_by(gauge).stopped_by(stop.clone());
            let harvest = harvested(harvest.within(budget.clone()), dir, kind);
            running.spawn(async move {
                // In a separate task: if it panics, the others on this host still get their turn.
                let result = tokio::spawn(harvest).await;
                (
                    host,
                    slug,
                    result.unwrap_or_else(|error| Err(CliError::failed("the harvest was aborted").because(error))),
                )
            });
        }
        let Some(done) = running.join_next().await else { break };
        let (host, slug, result) =
            done.map_err(|error| CliError::failed("a harvest ended unexpectedly").because(error))?;
        if !host.is_empty() {
            hosts.push_back(host);
        }
        total.add(&slug, result, command.json)?;
    }
    drop(watching);
    // Sources that were not started because the user stopped the run.
    total.incomplete += hosts.iter().map(|host| host.len() as u64).sum::<u64>();
    total.close(command.json)
}

/// Returns the existing folders, with the repository of each.
fn folders(into: &Path) -> BTreeMap<String, String> {
    let entries = std::fs::read_dir(into).into_iter().flatten().flatten();
    let known = entries.filter_map(|entry| {
        let contract = State::look(&entry.path()).and_then(|state| state.contract()).ok().flatten()?;
        Some((entry.file_name().into_string().ok()?, contract.base_url))
    });
    known.collect()
}

/// Returns the default catalogue of sources without one: several fill one catalogue, and later ones join it.
fn shared_catalogue(into: &Path, sources: &[Options]) -> Location {
    let known = sources.iter().find_map(|options| remembered_catalogue(&into.join(&options.slug)));
    known.unwrap_or_else(|| Location::in_directory(into))
}

fn remembered_catalogue(dir: &Path) -> Option<Location> {
    State::look(dir).and_then(|state| state.catalogue()).ok().flatten()
}

async fn harvested(harvest: Harvest, dir: PathBuf, kind: &'static SinkKind) -> Result<Summary, CliError> {
    // A folder stays even if the harvest fails: the file lists the source, and `modoai status` reports its result.
    harvest.into_folder(&dir, kind).await.map_err(failed)
}

/// The totals of all harvests.
#[derive(Default)]
struct Total {
    complete: u64,
    incomplete: u64,
    failed: u64,
    summed: Summary,
}

impl Total {
    /// Reports a line that is not a repository.
    fn leave_out(&mut self, line: &str, reason: &str, as_json: bool) -> Result<(), CliError> {
        self.failed += 1;
        output::warn(&format!("modoai: {line}: {reason}"));
        if as_json {
            return output::print(&format!("{}\n", json!({ "line": line, "failed": reason })));
        }
        Ok(())
    }

    fn add(&mut self, slug: &str, result: Result<Summary, CliError>, as_json: bool) -> Result<(), CliError> {
        let summary = match result {
            Ok(summary) => summary,
            Err(error) => {
                self.failed += 1;
                if as_json {
                    return output::print(&format!("{}\n", json!({ "slug": slug, "failed": error.to_string() })));
                }
                output::warn(&format!("{slug}: {error}"));
                return Ok(());
            }
        };
        match summary.complete {
            true => self.complete += 1,
            false => self.incomplete += 1,
        }
        let Summary { records, deleted, unchanged, elsewhere, bytes, requests, .. } = &mut self.summed;
        *records += summary.records;
        *deleted += summary.deleted;
        *unchanged += summary.unchanged;
        *elsewhere += summary.elsewhere;
        *bytes += summary.bytes;
        *requests += summary.requests;
        report::tell(&summary, as_json)
    }

    fn close(self, as_json: bool) -> Result<(), CliError> {
        let Self { complete, incomplete, failed, summed } = self;
        let Summary { records, deleted, unchanged, elsewhere, bytes, requests, .. } = summed;
        output::print(&if as_json {
            let total = json!({
                "sources": complete + incomplete + failed, "complete": incomplete + failed == 0,
                "incomplete": incomplete, "failed": failed, "records": records, "deleted": deleted,
                "unchanged": unchanged, "elsewhere": elsewhere, "bytes": bytes, "requests": requests,
            });
            format!("{total}\n")
        } else {
            let records = counted(records, "record", "records");
            format!("{complete} complete, {incomplete} incomplete, {failed} failed; {records} added or updated\n")
        })?;
        match (incomplete, failed) {
            (0, 0) => Ok(()),
            (0, _) => {
                let failed = counted(failed, "repository", "repositories");
                Err(CliError::failed(format!("{failed} could not be harvested")))
            }
            _ => {
                let incomplete = counted(incomplete, "repository is", "repositories are");
                let what = format!("{incomplete} incomplete, {failed} failed");
                Err(CliError::new(Kind::Incomplete, what).hint("run the same command again to resume"))
            }
        }
    }
}
