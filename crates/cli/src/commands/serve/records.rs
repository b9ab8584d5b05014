//! Serves a catalogue of records. Harvests and imports write it; this command only reads it.

use std::sync::Arc;

use modoai_repository::catalogue::Catalogue;
use modoai_server::{Areas, Current, ENCODINGS, Health, Served};

use super::reload::{Configuration, Make, Reload};
use super::{Ending, bind, flow_control};
use crate::config::shown;
use crate::error::CliError;
use crate::output;
use crate::source::{Records, repository_of};

pub(super) async fn serve(opened: Records, areas: Areas, configuration: Configuration) -> Result<(), CliError> {
    let server = bind(&opened.config).await?;
    let (base_url, origin) = (server.base_url(), server.origin());
    let Records { config, location, catalogue } = opened;
    let file = location.file();
    let make: Make = {
        let (catalogue, base_url) = (catalogue.clone(), base_url.clone());
        Box::new(move |settings| Ok(repository_of(&catalogue, settings, &base_url)?.with_compressions(ENCODINGS)))
    };
    let repository = Current::new(make(config.repository)?);
    let areas = Current::new(areas);
    let certificate = server.certificate();
    let reload = Reload { configuration, repository: repository.clone(), areas: areas.clone(), make, certificate };
    let served = Served {
        site: None,
        shelf: None,
        repository,
        areas,
        flow: flow_control(&file, config.flow),
        health: Arc::new(move || health(&*catalogue)),
    };
    let mut end = Ending::new(reload)?;
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let running = tokio::spawn(server.run(served, async {
        let _ = stopped.await;
    }));
    let catalogue = shown(&file);
    output::print(&format!("serving {catalogue}\n  repository  {base_url}\nlistening on {origin}\n"))?;
    end.wait().await;
    tracing::info!("stopping");
    let _ = stop.send(());
    let _ = running.await;
    Ok(())
}

fn health(catalogue: &dyn Catalogue) -> Health {
    match catalogue.standing() {
        Ok(standing) if standing.ready => Health::Current,
        Ok(_) => Health::Filling,
        Err(error) => Health::Suspended(modoai_repository::with_causes(&error)),
    }
}
