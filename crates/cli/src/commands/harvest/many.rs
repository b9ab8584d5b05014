//! `--all`: many repositories at once, each into a folder of its own, politely.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use modoai_fetch::Url;
use modoai_harvester::gauge::Gauge;
use modoai_harvester::harvest::{Harvest, Options};
use modoai_harvester::summary::Summary;
use serde_json::json;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::progress::Watching;
use super::{HarvestCommand, failed, report};
use crate::config::shown;
use crate::error::{CliError, Kind};
use crate::output;
use crate::remote::base_url;

pub(super) async fn run(
    command: &HarvestCommand,
    file: &Path,
    stop: Arc<AtomicBool>,
    quiet: bool,
) -> Result<(), CliError> {
    let mut urls = endpoints(file)?;
    let client = command.remote.client(&mut urls)?;
    let (Some(into), Some(kind)) = (&command.into, command.kind()) else { return Ok(()) };
    let sources = named(urls, |url| command.options(url))?;
    let gauges: Vec<_> = sources.iter().map(|options| (options.slug.clone(), Arc::new(Gauge::default()))).collect();
    let watching = Watching::start(gauges.clone(), quiet || command.json);
    let places = Arc::new(Semaphore::new(usize::from(command.parallel)));
    let mut running = JoinSet::new();
    for (mut options, (slug, gauge)) in sources.into_iter().zip(gauges) {
        // Several sources make one catalogue.
        options.sink.catalogue.get_or_insert_with(|| into.join("catalogue.sqlite"));
        let dir = into.join(&slug);
        let harvest = Harvest::new(client.clone(), options).watched_by(gauge).stopped_by(stop.clone());
        let places = places.clone();
        running.spawn(async move {
            let _place = places.acquire_owned().await;
            (slug, harvest.into_folder(&dir, kind).await.map_err(failed))
        });
    }
    let mut total = Total::default();
    while let Some(done) = running.join_next().await {
        let (slug, result) = done.map_err(|error| CliError::failed("a harvest ended unexpectedly").because(error))?;
        total.add(&slug, result, command.json)?;
    }
    drop(watching);
    total.close(command.json)
}

/// What all of them came to.
#[derive(Default)]
struct Total {
    complete: u64,
    incomplete: u64,
    failed: u64,
    summed: Summary,
}

impl Total {
    fn add(&mut self, slug: &str, result: Result<Summary, CliError>, as_json: bool) -> Result<(), CliError> {
        let summary = match result {
            Ok(summary) => summary,
            Err(error) => {
                self.failed += 1;
                if as_json {
                    return output::print(&format!("{}\n", json!({ "slug": slug, "failed": error.to_string() })));
                }
                eprintln!("{slug}: {error}");
                return Ok(());
            }
        };
        match summary.complete {
            true => self.complete += 1,
            false => self.incomplete += 1,
        }
        let Summary { records, deleted, unchanged, bytes, requests, .. } = &mut self.summed;
        *records += summary.records;
        *deleted += summary.deleted;
        *unchanged += summary.unchanged;
        *bytes += summary.bytes;
        *requests += summary.requests;
        report::tell(&summary, as_json)
    }

    fn close(self, as_json: bool) -> Result<(), CliError> {
        let Self { complete, incomplete, failed, summed } = self;
        let Summary { records, deleted, unchanged, bytes, requests, .. } = summed;
        output::print(&if as_json {
            let total = json!({
                "sources": complete + incomplete + failed, "complete": incomplete + failed == 0,
                "incomplete": incomplete, "failed": failed, "records": records, "deleted": deleted,
                "unchanged": unchanged, "bytes": bytes, "requests": requests,
            });
            format!("{total}\n")
        } else {
            format!("{complete} complete, {incomplete} incomplete, {failed} failed; {records} records new or changed\n")
        })?;
        match (incomplete, failed) {
            (0, 0) => Ok(()),
            (0, _) => Err(CliError::failed(format!("{failed} repositories could not be harvested"))),
            _ => Err(CliError::new(
                Kind::Incomplete,
                format!("{incomplete} repositories are incomplete, {failed} failed"),
            )
            .hint("run the same command again; it goes on where it was")),
        }
    }
}

/// The base URLs of a file: one per line, comments after `#`.
fn endpoints(file: &Path) -> Result<Vec<Url>, CliError> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| CliError::failed(format!("failed to read {}", shown(file))).because(error))?;
    let mut urls = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        let text = text.split_once(" #").map_or(text, |(url, _)| url).trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let url = base_url(text)
            .map_err(|error| CliError::new(Kind::Usage, format!("{} line {line}: {error}", shown(file))))?;
        if !urls.contains(&url) {
            urls.push(url);
        }
    }
    Ok(urls)
}

/// Each source with a name of its own. Names must not depend on what else is in the file, so only those that would be the
/// same get a number.
fn named(urls: Vec<Url>, options: impl Fn(Url) -> Result<Options, CliError>) -> Result<Vec<Options>, CliError> {
    let mut taken = BTreeSet::new();
    let mut sources = Vec::new();
    for url in urls {
        let mut options = options(url)?;
        let (plain, mut number) = (options.slug.clone(), 2);
        while !taken.insert(options.slug.clone()) {
            options.slug = format!("{plain}-{number}");
            number += 1;
        }
        sources.push(options);
    }
    Ok(sources)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_have_names_of_their_own() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let text = "# two on one host\nhttp://a.org/oai\nhttp://a.org/oai?x=1  # with a query\n\nhttps://b.org:8443/\nhttp://a.org/oai\n";
        std::fs::write(file.path(), text).expect("written");
        let urls = endpoints(file.path()).expect("three URLs");
        assert_eq!(urls.len(), 3);
        let sources = named(urls, |url| Ok(Options::new(url))).expect("names");
        let slugs: Vec<_> = sources.iter().map(|options| options.slug.as_str()).collect();
        assert_eq!(slugs, ["a.org-oai", "a.org-oai-2", "b.org-8443"]);
        std::fs::write(file.path(), "http://a.org/\nnot a url\n").expect("written");
        assert!(endpoints(file.path()).expect_err("a bad line").to_string().contains("line 2"));
    }
}
