//! Serving a catalogue of records. Whoever harvests or imports into it writes it; here it is only read.

use std::sync::Arc;

use modoai_archive::offer::Offer;
use modoai_repository::catalogue::Catalogue;
use modoai_repository::{Repository, Settings};
use modoai_server::{Areas, ENCODINGS, Health, Served};

use super::{Ending, bind};
use crate::config::shown;
use crate::error::CliError;
use crate::output;
use crate::source::Records;

pub(super) async fn serve(opened: Records, areas: Areas) -> Result<(), CliError> {
    let Records { config, file, catalogue } = opened;
    let server = bind(&config).await?;
    let (base_url, address) = (server.base_url(), server.address());
    let repository = repository_of(&catalogue, config.repository, &base_url)?;
    let served = Served {
        site: None,
        shelf: None,
        repository: repository.with_compressions(ENCODINGS),
        areas: Arc::new(areas),
        health: Arc::new(move || health(&*catalogue)),
    };
    let mut end = Ending::new()?;
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let running = tokio::spawn(server.run(served, async {
        let _ = stopped.await;
    }));
    let catalogue = shown(&file);
    output::print(&format!("serving {catalogue}\n  repository  {base_url}\nlistening on http://{address}\n"))?;
    end.wait().await;
    tracing::info!("stopping");
    let _ = stop.send(());
    let _ = running.await;
    Ok(())
}

/// The repository in a catalogue: of an archive, or of harvested records.
pub(crate) fn repository_of(
    catalogue: &Arc<dyn Catalogue>,
    settings: Settings,
    base_url: &str,
) -> Result<Repository, CliError> {
    let offer = Offer::of(&**catalogue);
    let offer = offer.map_err(|error| CliError::failed("failed to make ready the archive's formats").because(error))?;
    let Some((offer, terms)) = offer else {
        return Ok(Repository::of_records(Arc::clone(catalogue), settings, base_url));
    };
    let settings = Settings { repository_identifier: terms.repository_identifier, ..settings };
    Ok(Repository::of_archive(Arc::clone(catalogue), settings, base_url, Arc::new(offer)))
}

fn health(catalogue: &dyn Catalogue) -> Health {
    match catalogue.standing() {
        Ok(standing) if standing.ready => Health::Current,
        Ok(_) => Health::Filling,
        Err(error) => Health::Suspended(modoai_repository::with_causes(&error)),
    }
}
