//! The subject of `modoai serve`: a local source, or a site on another host.

use std::path::PathBuf;
use std::time::Duration;

use clap::error::ErrorKind;
use clap::{ArgMatches, Args, Command, FromArgMatches};
use modoai_fetch::Url;
use modoai_settings::Value;

use crate::config::SettingsArgs;
use crate::limits::bytes;
use crate::remote::{RemoteArgs, base_url};
use crate::source::Source;

/// The subject of the server.
#[derive(Debug)]
pub(crate) enum Subject {
    /// A directory, or a catalogue of records.
    Here(Source),
    /// A site on another host.
    Elsewhere(Box<Crawl>),
}

/// A site on another host, and the options of its crawl.
#[derive(Debug)]
pub(crate) struct Crawl {
    pub(crate) top: Url,
    pub(crate) data: Option<PathBuf>,
    pub(crate) settings: SettingsArgs,
    pub(crate) manner: CrawlArgs,
}

/// The options of a crawl.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Crawl options")]
pub(crate) struct CrawlArgs {
    /// Crawl and serve the site at URL (all of its host) instead of a directory.
    #[arg(long = "crawl", value_name = "URL", value_parser = base_url)]
    top: Option<Url>,
    /// Crawl only URLs at or below the directory of URL.
    #[arg(long, requires = "top")]
    pub(crate) tree: bool,
    /// Time between crawls: 30m, 12h, 7d.
    #[arg(long, value_name = "SPAN", default_value = "1d", value_parser = span, requires = "top")]
    pub(crate) crawl_every: Duration,
    /// Accept all resources that the first crawl does not find as deleted, regardless of their number.
    #[arg(long, requires = "top")]
    pub(crate) accept_deletions: bool,
    /// Maximum number of concurrent requests.
    #[arg(long, value_name = "N", default_value = "4", value_parser = clap::value_parser!(u16).range(1..=256), requires = "top")]
    pub(crate) per_host: u16,
    /// Maximum number of links to follow from the start page.
    #[arg(long, value_name = "N", requires = "top")]
    pub(crate) depth: Option<u16>,
    /// Maximum number of documents to read; 0 for no limit [default: 100000]
    #[arg(long, value_name = "N", requires = "top")]
    pub(crate) max_pages: Option<u64>,
    /// Maximum size of a stored resource; larger ones are listed by reference.
    #[arg(long, value_name = "SIZE", default_value = "64M", value_parser = bytes, requires = "top")]
    pub(crate) max_size: u64,
    /// Maximum number of bytes to store of the site; the crawl stops there, and the stored part is served.
    #[arg(long, value_name = "SIZE", default_value = "100G", value_parser = bytes, requires = "top")]
    pub(crate) max_total: u64,
    /// Minimum free disk space; the crawl stops when less is free.
    #[arg(long, value_name = "SIZE", default_value = "500M", value_parser = bytes, requires = "top")]
    pub(crate) min_free: u64,
    /// Ignore robots.txt; use only for your own site.
    #[arg(long, requires = "top")]
    pub(crate) ignore_robots: bool,
    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

/// Parses a duration, in the form used by settings.
fn span(text: &str) -> Result<Duration, String> {
    Value::from(text).interval().map_err(|problem| problem.what)
}

impl Args for Subject {
    fn augment_args(command: Command) -> Command {
        CrawlArgs::augment_args(Source::augment_args(command))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Subject {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let manner = CrawlArgs::from_arg_matches(matches)?;
        let Some(top) = manner.top.clone() else { return Source::from_arg_matches(matches).map(Self::Here) };
        for (id, name) in [("dir", "DIR"), ("catalogue", "--catalogue")] {
            if matches.contains_id(id) {
                let what = format!("{name} cannot be used with --crawl: the site is elsewhere");
                return Err(clap::Error::raw(ErrorKind::ArgumentConflict, what));
            }
        }
        let data = matches.get_one::<PathBuf>("data").cloned();
        let settings = SettingsArgs::from_arg_matches(matches)?;
        Ok(Self::Elsewhere(Box::new(Crawl { top, data, settings, manner })))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
