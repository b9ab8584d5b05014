//! `modoai validate`.

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use modoai_fetch::Url;
use modoai_harvester::validate::{Grade, Options, Report, checks, render};

use crate::config::shown;
use crate::error::{CliError, Kind};
use crate::output::{self, counted};
use crate::remote::{RemoteArgs, base_url};

/// Check an OAI-PMH endpoint for conformance to the specification.
///
/// modoai makes every check in its table, one request at a time: HTTP, response structure, errors, lists and resumption
/// tokens, dates, sets, deletions and records. The report shows each problem with the request and the bytes that prove
/// it. Long lists are sampled, and the report states this. Exit code 2 means that the endpoint does not conform.
#[derive(Debug, Args)]
pub(crate) struct Validate {
    /// Base URL of the endpoint, such as `https://example.org/oai`
    #[arg(value_parser = base_url, required_unless_present = "list_checks")]
    base_url: Option<Url>,
    /// Print the report as one JSON object.
    #[arg(long)]
    json: bool,
    /// Write the report as JUnit XML to this file, for CI servers.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Make only this check, or the checks of this group (repeatable).
    #[arg(long, value_name = "ID", value_parser = known)]
    only: Vec<String>,
    /// Print the table of checks and exit.
    #[arg(long)]
    list_checks: bool,
    /// Treat warnings as failures.
    #[arg(long)]
    strict: bool,
    /// Maximum number of requests, including retries and redirects.
    #[arg(long, value_name = "NUMBER", default_value_t = Options::default().requests, value_parser = at_least_one)]
    max_requests: usize,
    /// Maximum duration of the validation.
    #[arg(long, value_name = "SECONDS", default_value_t = Options::default().time.as_secs())]
    max_time: u64,
    /// Maximum number of records to check per list.
    #[arg(long, value_name = "NUMBER", default_value_t = Options::default().records, value_parser = at_least_one)]
    max_records: usize,
    #[command(flatten)]
    remote: RemoteArgs,
}

impl Validate {
    pub(crate) fn run(self, quiet: bool) -> Result<(), CliError> {
        if self.list_checks {
            return output::print(&checks::table());
        }
        let Some(mut url) = self.base_url else { return Ok(()) };
        if url.query_pairs().any(|(name, _)| name == "verb") {
            let what = "expected a base URL, but the URL is a request with a verb";
            let base = shown_base(&url);
            return Err(CliError::new(Kind::Usage, what).hint(format!("omit the query: {base}")));
        }
        let options = Options {
            requests: self.max_requests,
            records: self.max_records,
            time: Duration::from_secs(self.max_time),
            only: self.only,
            ..Options::default()
        };
        let client = self.remote.client(&mut url)?;
        let client = self.remote.restricted(client, [&url])?;
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime =
            runtime.map_err(|error| CliError::failed("failed to start the asynchronous runtime").because(error))?;
        let bar = bar(quiet);
        let report = runtime.block_on(modoai_harvester::validate::validate(&client, &url, &options, &mut |progress| {
            bar.set_length(progress.of as u64);
            bar.set_position(progress.done as u64);
            bar.set_message(format!(
                "{} ({})",
                progress.check,
                counted(progress.requests as u64, "request", "requests")
            ));
        }));
        bar.finish_and_clear();

        if let Some(file) = &self.junit {
            let written = std::fs::write(file, render::junit(&report, self.strict));
            written.map_err(|error| CliError::failed(format!("failed to write {}", shown(file))).because(error))?;
        }
        if self.json {
            let json = serde_json::to_string_pretty(&render::Judgement::of(&report, self.strict));
            let json = json.map_err(|error| CliError::failed("failed to write the report").because(error))?;
            output::print(&format!("{json}\n"))?;
        } else {
            output::print(&render::text(&report, std::io::stdout().is_terminal()))?;
        }
        conclude(&report, self.strict)
    }
}

fn conclude(report: &Report, strict: bool) -> Result<(), CliError> {
    // The report contains the reason.
    if report.unreachable.is_some() {
        let what = format!("failed to validate {}", report.base_url);
        return Err(CliError::failed(what).hint("check that this is the base URL of an OAI-PMH repository"));
    }
    if let Some(reason) = report.nothing_judged() {
        let what = format!("failed to validate {}: {reason}", report.base_url);
        return Err(
            CliError::failed(what).hint("choose other checks with --only, or allow more requests with --max-requests")
        );
    }
    if report.is_conformant(strict) {
        return Ok(());
    }
    // Findings decide the exit code even if the validation is incomplete; without findings, it is reported as
    // incomplete.
    if let Some(reason) = report.cut_short.as_ref().filter(|_| !report.is_wanting(strict)) {
        let what = format!("validation of {} is incomplete: {reason}", report.base_url);
        return Err(
            CliError::failed(what).hint("raise --max-requests or --max-time, or choose fewer checks with --only")
        );
    }
    let (failed, warned) = (report.count(Grade::Failure), report.count(Grade::Warning));
    let what = format!("{} does not conform: failures: {failed}, warnings: {warned}", report.base_url);
    Err(CliError::new(Kind::Findings, what))
}

/// Returns a progress bar, which is shown on a terminal.
fn bar(quiet: bool) -> ProgressBar {
    let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    let style = ProgressStyle::with_template("{pos}/{len} {wide_msg}");
    let bar = ProgressBar::with_draw_target(None, target);
    bar.with_style(style.expect("a template without mistakes; the tests run it"))
}

/// Checks that a text is the name of a check or of a group.
fn known(text: &str) -> Result<String, String> {
    let is_known = checks::all().any(|(group, check)| group == text || check.id == text);
    if is_known { Ok(text.to_owned()) } else { Err("unknown check; --list-checks lists all checks".to_owned()) }
}

fn at_least_one(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|number| *number > 0).ok_or_else(|| "expected a number greater than 0".to_owned())
}

/// Returns a request without its arguments, and without a password.
fn shown_base(url: &Url) -> Url {
    let mut base = url.clone();
    drop(modoai_fetch::Credential::from_url(&mut base));
    base.set_query(None);
    base.set_fragment(None);
    base
}
