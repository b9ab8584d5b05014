//! `modoai spider`.

mod ending;
mod folder;
mod mail;
mod plan;
pub(crate) mod progress;
mod reports;
pub(crate) mod table;

use std::future::Future;
use std::path::PathBuf;
use std::pin::pin;
use std::time::Duration;

use clap::{Args, ValueEnum, value_parser};
use modoai_fetch::{Client, Credential, Manners, Url, make_room_for_connections};
use modoai_spider::avoid;
use modoai_spider::results::{ReportError, Results as _};
use modoai_spider::survey::Survey;
use modoai_spider::table::TableError;
use modoai_spider::task::Plan;
use modoai_spider::traverse::{BeginError, LocalSite, Options, Traversal};

use crate::error::{CliError, Kind};
use crate::output;
use crate::remote::{RemoteArgs, base_url, unusable};
use ending::{Failing, Failures};
use progress::Watching;
use reports::ReportFile;
use table::Stopped;

/// Check the links of a web site and report broken, moved, changed and expiring targets to their owners.
///
/// TARGET is a URL, a task file or a directory. For a URL, modoai checks the whole site and prints the findings. A task
/// file (TOML, or a MOMspider instruction file) defines sites for several owners; each owner gets an index document and
/// mail. For a directory, modoai checks all HTML and Markdown files in it without a server.
///
/// Each URL is requested once per run, regardless of how many pages link to it. Results are stored in a table: later
/// runs request only what changed and report what is new, still broken or fixed. An interrupted run is resumed.
///
/// A link is reported as broken only if the server confirms it. Links that could not be checked are listed separately,
/// with the reason.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  modoai spider https://example.org/
  modoai spider https://example.org/docs/ --tree --no-external --html report.html
  modoai spider public/ --no-external --report junit=links.xml
  modoai spider tasks.toml --mail-dry-run drafts
  modoai spider https://example.org/ --json | jq 'select(.verdict == \"broken\")'")]
pub(crate) struct SpiderCommand {
    /// URL, directory or task file.
    #[arg(value_name = "TARGET")]
    target: String,
    /// URL of the site that the directory contains, for links with a host name (directory only) [default:
    /// http://localhost/]
    #[arg(long, value_name = "URL", value_parser = base_url)]
    base: Option<Url>,
    /// Check only URLs at or below the directory of TARGET (URL only).
    #[arg(long)]
    tree: bool,
    /// Table of results, kept between runs [default: one per target in the state directory]
    #[arg(long, value_name = "FILE", conflicts_with = "no_table", value_parser = crate::place::path())]
    table: Option<PathBuf>,
    /// Do not keep results; treat every run as the first.
    #[arg(long)]
    no_table: bool,

    /// Write the index document as HTML (URL only; tasks configure their own).
    #[arg(long, value_name = "FILE", help_heading = "Report options", value_parser = crate::place::path())]
    html: Option<PathBuf>,
    /// Write an interactive map as one HTML page; with several tasks, one file per task, named after it.
    #[arg(long, value_name = "FILE", help_heading = "Report options", value_parser = crate::place::path())]
    map: Option<PathBuf>,
    #[arg(
        long = "report",
        value_name = "FORMAT=FILE",
        help = ReportFile::help(),
        long_help = ReportFile::long_help(),
        help_heading = "Report options"
    )]
    reports: Vec<ReportFile>,
    /// Print one JSON object per finding and line, then a summary object.
    #[arg(long, help_heading = "Report options")]
    json: bool,
    /// Do not report redirects that only add a slash or change http to https.
    #[arg(long, help_heading = "Report options")]
    mute_small_moves: bool,
    /// Report documents and other link targets that changed within this number of days.
    #[arg(long, value_name = "DAYS", help_heading = "Report options")]
    changed: Option<u32>,
    /// Report documents that expire within this number of days.
    #[arg(long, value_name = "DAYS", help_heading = "Report options")]
    expiring: Option<u32>,
    /// Verdicts that cause exit code 2.
    #[arg(
        long,
        value_name = "VERDICTS",
        value_delimiter = ',',
        default_value = "broken,fragment",
        value_enum,
        help_heading = "Report options"
    )]
    fail_on: Vec<Failing>,

    /// Send no mail, regardless of the task file.
    #[arg(long, conflicts_with = "mail_dry_run", help_heading = "Mail options")]
    no_mail: bool,
    /// Write messages to this directory instead of sending them; their findings are not marked as reported.
    #[arg(long, value_name = "DIR", help_heading = "Mail options")]
    mail_dry_run: Option<PathBuf>,
    /// Former option.
    #[arg(long, value_name = "FILE", hide = true, value_parser = former_mail_ca)]
    mail_ca: Option<PathBuf>,

    /// Do not check links to other sites.
    #[arg(long, help_heading = "Scope options")]
    no_external: bool,
    /// Also fetch external documents to check fragments in them.
    #[arg(long, conflicts_with = "no_external", help_heading = "Scope options")]
    external_fragments: bool,
    /// Hosts of the documents in an owner's task: any host whose documents name the owner, or only the host of the
    /// task.
    #[arg(long, value_enum, value_name = "HOSTS", default_value = "any", help_heading = "Scope options")]
    owner_hosts: OwnerHosts,
    /// Maximum number of links to follow from the start page.
    #[arg(long, value_name = "N", help_heading = "Scope options")]
    depth: Option<u16>,
    /// Maximum number of documents to read; 0 for no limit [default: 100000]
    #[arg(long, value_name = "N", help_heading = "Scope options")]
    max_pages: Option<u64>,
    /// Maximum number of documents to read among URLs that differ only in numbers or in query values; 0 for no limit
    /// [default: 10000, and 200 for URLs that contain a path segment three times]
    #[arg(long, value_name = "N", help_heading = "Scope options")]
    max_similar: Option<u64>,
    /// Never request URLs with this prefix (repeatable).
    #[arg(long, value_name = "PREFIX", help_heading = "Scope options")]
    avoid: Vec<String>,
    /// Check URLs with this prefix, but do not follow their links (repeatable).
    #[arg(long, value_name = "PREFIX", help_heading = "Scope options")]
    leaf: Vec<String>,
    /// Print the URL prefixes that are avoided or leafed, with the reason (tasks, or robots.txt if already fetched),
    /// and send no request.
    #[arg(long, help_heading = "Scope options")]
    show_avoid: bool,

    /// Maximum number of concurrent requests in total.
    #[arg(long, value_name = "N", default_value = "64", value_parser = value_parser!(u16).range(1..=4096), help_heading = "HTTP options")]
    connections: u16,
    /// Maximum number of concurrent requests per host.
    #[arg(long, value_name = "N", default_value = "4", value_parser = value_parser!(u16).range(1..=4096), help_heading = "HTTP options")]
    per_host: u16,
    /// Ignore robots.txt; use only for sites that are entirely your own.
    #[arg(long, help_heading = "HTTP options")]
    ignore_robots: bool,
    /// Connect only to public addresses, even if TARGET has a private one, and use no proxy.
    #[arg(long, conflicts_with = "allow_private", help_heading = "HTTP options")]
    public_only: bool,
    #[command(flatten)]
    remote: RemoteArgs,
}

fn former_mail_ca(file: &str) -> Result<PathBuf, String> {
    Err(format!("use --ca {file}, which applies to the mail server as well"))
}

/// The permitted hosts of an owner's documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OwnerHosts {
    Any,
    Same,
}

/// The name that rules in robots.txt address.
const AGENT: &str = "modoai";

/// The time for which an idle connection is kept open: most external hosts receive only one request.
const IDLE: Duration = Duration::from_secs(10);

impl SpiderCommand {
    pub(crate) fn run(self, quiet: bool) -> Result<(), CliError> {
        let (plan, credentials) = self.plan()?;
        for remark in &plan.remarks {
            tracing::warn!("{remark}");
        }
        if self.show_avoid {
            let table = self.open_table().map_err(Stopped::into_error)?;
            let listed = avoid::list(&plan, &table, AGENT, jiff::Timestamp::now()).map_err(table_failed)?;
            return output::print(&listed);
        }
        let local = self.folder().map(|folder| folder::open(folder, &plan.tasks[0].top)).transpose()?;
        let client = self.client(&plan, credentials, quiet)?;
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        let runtime =
            runtime.map_err(|error| CliError::failed("failed to start the asynchronous runtime").because(error))?;
        let survey = {
            // Dropped after the traversal: later signals end the process.
            let mut stop = pin!(progress::interrupted(runtime.handle())?);
            let survey = runtime.block_on(self.traverse(&plan, local.as_ref(), &client, stop.as_mut(), quiet));
            match survey {
                Err(stopped) => {
                    self.set_table_aside(stopped)?;
                    runtime.block_on(self.traverse(&plan, local.as_ref(), &client, stop, quiet))
                }
                survey => survey,
            }
        };
        let survey = survey.map_err(Stopped::into_error)?;
        let mut failures = Failures::default();
        self.write_reports(&survey, &mut failures);
        let sent = self.write_to_owners(&survey, &plan, quiet, &mut failures);
        failures.note(sent);
        let checked = self.check(survey.run());
        failures.note(survey.close().map_err(report_failed));
        failures.end(checked)
    }

    /// Traverses the web, and returns the survey of the results.
    async fn traverse(
        &self,
        plan: &Plan,
        local: Option<&LocalSite>,
        client: &Client,
        stop: impl Future<Output = String>,
        quiet: bool,
    ) -> Result<Survey, Stopped> {
        let (table, now) = (self.open_table()?, jiff::Timestamp::now());
        let options = Options { local: local.cloned(), ..self.options(plan) };
        let begun = Traversal::begin(plan.clone(), options, table, client.clone(), now);
        let mut traversal = begun.map_err(Stopped::Begin)?;
        if traversal.begun().is_resumed && !quiet {
            tracing::info!("resuming the interrupted run");
        }
        let watching = Watching::start(quiet || self.json);
        let cut_short = traversal.run(stop, &mut |progress| watching.show(progress)).await.map_err(Stopped::Table)?;
        drop(watching);
        Survey::of(traversal, cut_short, self.mute_small_moves).map_err(Stopped::Report)
    }

    fn client(&self, plan: &Plan, credentials: Vec<Credential>, quiet: bool) -> Result<Client, CliError> {
        let manners = self.remote.spiders_manners(credentials);
        let contact = manners.contact.or_else(|| plan.contact());
        let sends_none = self.no_external && self.folder().is_some();
        if contact.is_none() && !quiet && !sends_none {
            tracing::info!("requests have no From header: set the address of the operator with --contact");
        }
        let manners = Manners {
            contact,
            per_host: self.per_host.into(),
            // Each connection is an open file; a thousand hosts must not exhaust the limit.
            at_once: Some(make_room_for_connections().min(self.connections.into())),
            keep_alive: IDLE,
            holds_on_503: false,
            public_only: self.public_only,
            ..manners
        };
        Client::new(manners).map_err(unusable)
    }

    fn options(&self, plan: &Plan) -> Options {
        let defaults = Options::default();
        // A directory is finite.
        let endless = self.folder().map(|_| 0);
        let depth = self.depth.or(plan.max_depth.map(|depth| u16::try_from(depth).unwrap_or(u16::MAX)));
        Options {
            connections: self.connections.into(),
            per_host: self.per_host.into(),
            external: !self.no_external,
            external_fragments: self.external_fragments,
            max_depth: depth.unwrap_or(defaults.max_depth),
            max_pages: self.max_pages.or(endless),
            max_similar: self.max_similar.or(endless),
            robots: !self.ignore_robots,
            allow_private: self.remote.allow_private,
            ..defaults
        }
    }
}

fn not_begun(error: BeginError) -> CliError {
    match error {
        BeginError::Table(error) => table_failed(error),
        BeginError::Client(error) => unusable(error),
        error @ BeginError::Owners(_) => CliError::new(Kind::Config, "invalid tasks").because(error),
    }
}

fn table_failed(error: TableError) -> CliError {
    let hint = match &error {
        TableError::Busy { .. } => "wait until it ends, or give another table with --table",
        error if error.is_damage() => "give another file with --table",
        _ => "give another file with --table, or --no-table",
    };
    CliError::failed("failed to open the table").because(error).hint(hint)
}

fn report_failed(error: ReportError) -> CliError {
    CliError::failed("failed to create the report").because(error)
}
