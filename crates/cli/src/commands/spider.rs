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

/// Test the links of a web: what is broken, moved, changed or about to expire, and tell those who own it.
///
/// TARGET is a URL, and then its whole site is traversed and reported on the terminal; or a file of tasks for many owners
/// (TOML, or MOMspider's instruction file), each of whom gets an index document and mail; or a folder of HTML files, which are
/// checked without a server, all of them. Every URL is asked for once,
/// whoever links to it. What was found is kept in a table, so that the next run asks only for what changed, and knows what
/// is new, what is still broken, and what was fixed or removed. An interrupted run goes on where it was.
///
/// A link is called broken only if its server says so. What could not be tested is told apart, with the reason.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  modoai spider https://example.org/
  modoai spider https://example.org/docs/ --tree --no-external --html report.html
  modoai spider public/ --no-external --report junit=links.xml
  modoai spider tasks.toml --mail-dry-run drafts
  modoai spider https://example.org/ --json | jq 'select(.verdict == \"broken\")'")]
pub(crate) struct SpiderCommand {
    /// A URL, a folder, or a file of tasks.
    #[arg(value_name = "TARGET")]
    target: String,
    /// With a folder: the URL that it is served as, for links that name the host [default: http://localhost/]
    #[arg(long, value_name = "URL", value_parser = base_url)]
    base: Option<Url>,
    /// With a URL: only what is at or below its folder.
    #[arg(long)]
    tree: bool,
    /// Where everything tested is kept between runs. By default in the user's state folder, one table for each target.
    #[arg(long, value_name = "FILE", conflicts_with = "no_table", value_parser = crate::place::path())]
    table: Option<PathBuf>,
    /// Keep nothing: every run is the first.
    #[arg(long)]
    no_table: bool,

    /// Write the index document of a URL's site here, as HTML; tasks say themselves where theirs go.
    #[arg(long, value_name = "FILE", help_heading = "Reports", value_parser = crate::place::path())]
    html: Option<PathBuf>,
    /// Write an interactive map of the web here, as one HTML page. With several tasks, their names are added.
    #[arg(long, value_name = "FILE", help_heading = "Reports", value_parser = crate::place::path())]
    map: Option<PathBuf>,
    #[arg(
        long = "report",
        value_name = "FORMAT=FILE",
        help = ReportFile::help(),
        long_help = ReportFile::long_help(),
        help_heading = "Reports"
    )]
    reports: Vec<ReportFile>,
    /// Print an object for each finding on standard output, one to a line, and a summary at the end.
    #[arg(long, help_heading = "Reports")]
    json: bool,
    /// Do not tell of moves that only add a slash or lead from http to https.
    #[arg(long, help_heading = "Reports")]
    mute_small_moves: bool,
    /// Mark documents, and other targets of links, that changed within so many days.
    #[arg(long, value_name = "DAYS", help_heading = "Reports")]
    changed: Option<u32>,
    /// Mark documents that expire within so many days.
    #[arg(long, value_name = "DAYS", help_heading = "Reports")]
    expiring: Option<u32>,
    /// What makes the exit code 2.
    #[arg(
        long,
        value_name = "VERDICTS",
        value_delimiter = ',',
        default_value = "broken,fragment",
        value_enum,
        help_heading = "Reports"
    )]
    fail_on: Vec<Failing>,

    /// Write to nobody, whatever the tasks say.
    #[arg(long, conflicts_with = "mail_dry_run", help_heading = "Mail")]
    no_mail: bool,
    /// Write messages into this folder instead of sending them; they stay new.
    #[arg(long, value_name = "FOLDER", help_heading = "Mail")]
    mail_dry_run: Option<PathBuf>,
    /// Trust the certificates in this PEM file as well when mail is handed over.
    #[arg(long, value_name = "FILE", help_heading = "Mail")]
    mail_ca: Option<PathBuf>,

    /// Do not test what lies outside.
    #[arg(long, help_heading = "How far")]
    no_external: bool,
    /// Read documents outside, too, if a link refers to a part of them.
    #[arg(long, conflicts_with = "no_external", help_heading = "How far")]
    external_fragments: bool,
    /// Hosts of documents in an owner's task: any host whose documents name the owner, or only the host of the task.
    #[arg(long, value_enum, value_name = "HOSTS", default_value = "any", help_heading = "How far")]
    owner_hosts: OwnerHosts,
    /// How many links from the top are followed.
    #[arg(long, value_name = "N", help_heading = "How far")]
    depth: Option<u16>,
    /// Most documents to read; 0 for no limit [default: 100000]
    #[arg(long, value_name = "N", help_heading = "How far")]
    max_pages: Option<u64>,
    /// Most documents to read of URLs that differ only in numbers or in values of the query; 0 for no limit [default: 10000, and
    /// 200 of URLs that have a path segment three times]
    #[arg(long, value_name = "N", help_heading = "How far")]
    max_similar: Option<u64>,
    /// Never ask for what begins with this URL; may be given several times.
    #[arg(long, value_name = "PREFIX", help_heading = "How far")]
    avoid: Vec<String>,
    /// Test what begins with this URL, but do not go on from there; may be given several times.
    #[arg(long, value_name = "PREFIX", help_heading = "How far")]
    leaf: Vec<String>,
    /// Print the URL prefixes that are avoided or leafed and why, by the tasks and by robots.txt as far as it is known, and
    /// make no request.
    #[arg(long, help_heading = "How far")]
    show_avoid: bool,

    /// How many requests at once, over all hosts.
    #[arg(long, value_name = "N", default_value = "64", value_parser = value_parser!(u16).range(1..=4096), help_heading = "How the server is asked")]
    connections: u16,
    /// How many requests at once at one host.
    #[arg(long, value_name = "N", default_value = "4", value_parser = value_parser!(u16).range(1..=4096), help_heading = "How the server is asked")]
    per_host: u16,
    /// Do not obey robots.txt. Only for webs that are all your own.
    #[arg(long, help_heading = "How the server is asked")]
    ignore_robots: bool,
    /// Connect to public addresses only, even if TARGET has a private one, and use no proxy.
    #[arg(long, conflicts_with = "allow_private", help_heading = "How the server is asked")]
    public_only: bool,
    #[command(flatten)]
    remote: RemoteArgs,
}

/// Where an owner's documents may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OwnerHosts {
    Any,
    Same,
}

/// The name that rules in robots.txt address.
const AGENT: &str = "modoai";

/// How long a connection is kept that nobody needs: most hosts outside are asked once.
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
        let runtime = runtime.map_err(|error| CliError::failed("failed to start").because(error))?;
        let survey = {
            // Dropped after the traversal: signals that come later end the process.
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
        self.tell(&survey, &mut failures);
        let told = self.write_to_owners(&survey, &plan, quiet, &mut failures);
        failures.note(told);
        let judged = self.judge(survey.run());
        failures.note(survey.close().map_err(report_failed));
        failures.end(judged)
    }

    /// Traverses the web, and draws up what was found.
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
            tracing::info!("going on with the run that was interrupted");
        }
        let watching = Watching::start(quiet || self.json);
        let cut_short = traversal.run(stop, &mut |progress| watching.show(progress)).await.map_err(Stopped::Table)?;
        drop(watching);
        Survey::of(traversal, cut_short, self.mute_small_moves).map_err(Stopped::Report)
    }

    fn client(&self, plan: &Plan, credentials: Vec<Credential>, quiet: bool) -> Result<Client, CliError> {
        let manners = self.remote.spiders_manners(credentials);
        let contact = manners.contact.or_else(|| plan.contact());
        if contact.is_none() && !quiet {
            tracing::info!("requests have no From header: set the address of the operator with --contact");
        }
        let manners = Manners {
            contact,
            per_host: self.per_host.into(),
            // Each connection is an open file; a thousand hosts must not use them up.
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
        // A folder has an end.
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
        error @ BeginError::Owners(_) => CliError::new(Kind::Config, "the tasks cannot be used").because(error),
    }
}

fn table_failed(error: TableError) -> CliError {
    let hint = match &error {
        TableError::Busy { .. } => "wait for it, or give another table with --table",
        TableError::Foreign { .. } | TableError::Damaged { .. } => "give another file with --table",
        TableError::Io { .. } | TableError::Engine { .. } => "give another file with --table, or --no-table",
    };
    CliError::failed("the table cannot be used").because(error).hint(hint)
}

fn report_failed(error: ReportError) -> CliError {
    CliError::failed("the report could not be made").because(error)
}
