//! `modoai ask`.

use std::io::Write as _;

use clap::Args;
use modoai_protocol::query;
use modoai_repository::{Failure, Repository};
use modoai_server::{FolderHost, Health, Requester};

use crate::config::SiteArgs;
use crate::error::CliError;
use crate::open::{Opened, not_indexed, open_areas};
use crate::output;

/// Answer one OAI-PMH request on standard output, without a server.
///
/// The folder is looked at first, unless a running `modoai serve` keeps the catalogue current anyway. The answer is what
/// a harvester without credentials gets.
#[derive(Debug, Args)]
pub(crate) struct Ask {
    #[command(flatten)]
    site: SiteArgs,
    /// The request as a query string, such as 'verb=ListRecords&metadataPrefix=oai_dc'.
    query: String,
}

impl Ask {
    pub(crate) fn run(self) -> Result<(), CliError> {
        let opened = Opened::new(&self.site, &[])?;
        if let Some(mut reconciler) = opened.reconciler()? {
            reconciler.everything(&|_, _| {}).map_err(not_indexed)?;
        }
        let areas = open_areas(&opened.config)?;
        let server = &opened.config.server;
        let site_url = server.site_url(server.listen);
        let base_url = server.base_url(server.listen);
        let repository = Repository::new(opened.catalogue, opened.config.repository, &base_url, &site_url);
        let requester = Requester::anonymous();
        let host = FolderHost::new(&opened.site, &areas, &requester, Health::Behind);
        let failed = |failure: Failure| CliError::failed("no answer").because(failure);
        let query = self.query.trim_start_matches('?');
        let answer = repository.answer(query::parse(query.as_bytes()), &host).map_err(failed)?;
        let mut out = std::io::BufWriter::new(std::io::stdout().lock());
        match answer.write_to(&mut out) {
            Err(Failure::Io(error)) => output::tolerate_broken_pipe(Err(error)),
            Err(failure) => Err(failed(failure)),
            Ok(()) => output::tolerate_broken_pipe(out.flush()),
        }
    }
}
