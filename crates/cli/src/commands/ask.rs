//! `modoai ask`.

use std::io::Write as _;
use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use modoai_protocol::{Request, query};
use modoai_repository::host::{CatalogueHost, Host};
use modoai_repository::{Failure, Repository, Sent};
use modoai_server::{FolderHost, Health, Requester};

use crate::config::SiteArgs;
use crate::error::CliError;
use crate::open::{Opened, not_indexed, open_areas};
use crate::output;
use crate::source::{RecordsArgs, Source, contradiction, nothing_given};

/// Print the response to one OAI-PMH request, without a server.
///
/// The directory is scanned first, unless a running `modoai serve` keeps its catalogue current. The response is the one
/// that a harvester without credentials gets.
///
/// With --catalogue, the response is that of a catalogue of imported or harvested records.
///
/// The exit code is 1 if the response is an OAI-PMH error, such as noRecordsMatch.
#[derive(Debug, Args)]
#[command(override_usage = "modoai ask [OPTIONS] <DIR> <QUERY>
       modoai ask [OPTIONS] --catalogue <FILE> <QUERY>")]
pub(crate) struct Ask {
    #[command(flatten)]
    asked: Asked,
}

/// The source and the request. Without a directory the request is the first positional argument, and not the second.
#[derive(Debug)]
struct Asked {
    source: Source,
    query: String,
}

impl Args for Asked {
    fn augment_args(command: Command) -> Command {
        let query = Arg::new("query")
            .value_name("QUERY")
            .help("Request as a query string, such as 'verb=ListRecords&metadataPrefix=oai_dc'");
        Source::augment_args(command).arg(query)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Asked {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let first = matches.get_one::<PathBuf>("dir").and_then(|first| first.to_str());
        let second = matches.get_one::<String>("query").cloned();
        match (Source::records(matches)?, first, second) {
            (Some(_), _, Some(_)) => Err(contradiction("DIR")),
            (Some(records), Some(query), None) => {
                Ok(Self { source: Source::Records(records), query: query.to_owned() })
            }
            (None, _, Some(query)) => {
                SiteArgs::from_arg_matches(matches).map(|site| Self { source: Source::Folder(site), query })
            }
            // One argument is the directory, or the request, and the other is missing.
            (None, Some(request), None) if request.contains("verb=") => Err(nothing_given()),
            _ => {
                let what = "missing QUERY: give a request such as 'verb=Identify'";
                Err(clap::Error::raw(ErrorKind::MissingRequiredArgument, what))
            }
        }
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Ask {
    pub(crate) fn run(self) -> Result<(), CliError> {
        let query = self.asked.query.trim_start_matches('?');
        match self.asked.source {
            Source::Folder(site) => ask_folder(&site, query),
            Source::Records(records) => ask_records(records, query),
        }
    }
}

fn ask_folder(site: &SiteArgs, query: &str) -> Result<(), CliError> {
    let opened = Opened::new(site, &[])?;
    if let Some(mut reconciler) = opened.reconciler()? {
        reconciler.everything(&|_, _| {}).map_err(not_indexed)?;
    }
    let areas = open_areas(&opened.config)?;
    let server = &opened.config.server;
    let site_url = server.site_url(server.listen);
    let base_url = server.base_url(server.listen);
    let repository = Repository::new(opened.catalogue, opened.config.repository, &base_url, &site_url);
    let requester = Requester::anonymous();
    answer(&repository, &FolderHost::new(&opened.site, &areas, &requester, Health::Behind), query)
}

fn ask_records(records: RecordsArgs, query: &str) -> Result<(), CliError> {
    let opened = records.open(&[])?;
    let server = &opened.config.server;
    let base_url = server.base_url(server.listen);
    let repository = opened.repository(&base_url)?;
    answer(&repository, &CatalogueHost, query)
}

fn answer(repository: &Repository, host: &dyn Host, query: &str) -> Result<(), CliError> {
    let failed = |failure: Failure| CliError::failed("failed to generate the response").because(failure);
    let answer = repository.answer(Request::read(query::parse(query.as_bytes())), host).map_err(failed)?;
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let mut sent = Sent::default();
    match answer.write_and_tell(&mut out, &mut sent) {
        Err(Failure::Io(error)) => output::tolerate_broken_pipe(Err(error))?,
        Err(failure) => return Err(failed(failure)),
        Ok(()) => output::tolerate_broken_pipe(out.flush())?,
    }
    if sent.is_error { Err(CliError::failed("the response is an OAI-PMH error")) } else { Ok(()) }
}
