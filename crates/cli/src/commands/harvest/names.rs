//! `--list-only`: the identifiers of a repository, one per line. For a site these are its URLs, which is all that a
//! crawler needs to know.

use std::io::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use modoai_harvester::harvest::Harvest;
use modoai_harvester::record::{Header, Novelty};
use modoai_harvester::sink::{Kept, Origin, Part, Sink, SinkError};

use super::footprints::Footprints;
use super::{HarvestCommand, failed, incomplete};
use crate::error::CliError;

pub(super) async fn run(command: &HarvestCommand, stop: Arc<AtomicBool>) -> Result<(), CliError> {
    let (client, options) = command.asked()?;
    let footprints = command.into.as_deref().map(Footprints::of);
    let harvest = Harvest::new(client, options).stopped_by(stop);
    let summary = harvest.into_sink(command.into.as_deref(), "list", "oai_dc", Names::told_to(print)).await;
    if let (Err(_), Some(footprints)) = (&summary, footprints) {
        footprints.remove();
    }
    let summary = summary.map_err(failed)?;
    if summary.complete { Ok(()) } else { Err(incomplete(&summary)) }
}

/// Prints them on standard output.
fn print(names: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(names.as_bytes())?;
    out.flush()
}

/// Receives identifiers, a page at a time.
type Tell = Box<dyn FnMut(&str) -> io::Result<()> + Send>;

/// Passes on the identifiers of a page when it is complete: a line for each.
pub(crate) struct Names {
    page: String,
    current: String,
    tell: Tell,
}

impl Names {
    /// Returns a sink that passes identifiers to this function.
    pub(crate) fn told_to(tell: impl FnMut(&str) -> io::Result<()> + Send + 'static) -> Box<Self> {
        Box::new(Self { page: String::new(), current: String::new(), tell: Box::new(tell) })
    }
}

impl Sink for Names {
    fn page(&mut self, _origin: &Origin) -> Result<(), SinkError> {
        Ok(())
    }

    fn record(&mut self, header: &Header) -> Result<(), SinkError> {
        self.current.clear();
        if !header.deleted {
            // An identifier that contains a line end would look like two.
            self.current.extend(header.identifier.chars().filter(|character| !character.is_control()));
            self.current.push('\n');
        }
        Ok(())
    }

    fn part(&mut self, _part: Part, _namespaces: &[(&str, &str)]) -> Result<(), SinkError> {
        Ok(())
    }

    fn bytes(&mut self, _bytes: &[u8]) -> Result<(), SinkError> {
        Ok(())
    }

    fn part_end(&mut self) -> Result<(), SinkError> {
        Ok(())
    }

    fn end(&mut self, novelty: Novelty) -> Result<Kept, SinkError> {
        if novelty != Novelty::Same {
            self.page.push_str(&self.current);
        }
        Ok(Kept::Yes)
    }

    fn abandon(&mut self) -> Result<(), SinkError> {
        Ok(())
    }

    fn commit(&mut self) -> Result<String, SinkError> {
        let told = (self.tell)(&self.page);
        self.page.clear();
        told.map(|()| String::new()).map_err(SinkError::io("write to", "standard output".as_ref()))
    }

    fn roll_back(&mut self) -> Result<(), SinkError> {
        self.page.clear();
        Ok(())
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        Ok(())
    }
}
