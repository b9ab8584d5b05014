//! `modoai ask`.

use std::io::Write as _;

use clap::Args;
use modoai_protocol::query;
use modoai_repository::host::{CatalogueHost, Host};
use modoai_repository::{Failure, Repository};
use modoai_server::{FolderHost, Health, Requester};

use crate::config::SiteArgs;
use crate::error::CliError;
use crate::open::{Opened, not_indexed, open_areas};
use crate::output;
use crate::source::{RecordsArgs, Source};

/// Answer one OAI-PMH request on standard output, without a server.
///
/// The folder is looked at first, unless a running `modoai serve` keeps the catalogue current anyway. The answer is what
/// a harvester without credentials gets.
///
/// With --catalogue it is a catalogue of harvested records that answers.
#[derive(Debug, Args)]
#[command(allow_missing_positional = true)]
pub(crate) struct Ask {
    #[command(flatten)]
    source: Source,
    /// The request as a query string, such as 'verb=ListRecords&metadataPrefix=oai_dc'.
    #[arg(required = true)]
    query: String,
}

impl Ask {
    pub(crate) fn run(self) -> Result<(), CliError> {
        let query = self.query.trim_start_matches('?');
        match self.source {
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
    let repository = Repository::of_records(opened.catalogue, opened.config.repository, &base_url);
    answer(&repository, &CatalogueHost, query)
}

fn answer(repository: &Repository, host: &dyn Host, query: &str) -> Result<(), CliError> {
    let failed = |failure: Failure| CliError::failed("no answer").because(failure);
    let answer = repository.answer(query::parse(query.as_bytes()), host).map_err(failed)?;
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    match answer.write_to(&mut out) {
        Err(Failure::Io(error)) => output::tolerate_broken_pipe(Err(error)),
        Err(failure) => Err(failed(failure)),
        Ok(()) => output::tolerate_broken_pipe(out.flush()),
    }
}
