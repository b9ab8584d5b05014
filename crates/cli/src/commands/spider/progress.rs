//! The progress display, and the end that a person may ask for.

use std::cell::Cell;
use std::io::{self, IsTerminal as _};
use std::time::{Duration, Instant};

use indicatif::{HumanBytes, HumanCount, ProgressBar, ProgressStyle};
use modoai_spider::traverse::Progress;

use crate::error::CliError;

const FRAME: Duration = Duration::from_millis(150);

/// Shows how far a traversal has come, until it is dropped.
pub(super) struct Watching {
    bar: Option<ProgressBar>,
    drawn: Cell<Instant>,
}

impl Watching {
    /// Nothing is shown where nobody looks.
    pub(super) fn start(quiet: bool) -> Self {
        let bar = (!quiet && io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::no_length();
            let style = ProgressStyle::with_template("{spinner} {elapsed}  {wide_msg}");
            bar.set_style(style.expect("a template without mistakes; the tests run it"));
            bar
        });
        Self { bar, drawn: Cell::new(Instant::now()) }
    }

    /// Called after every visit; drawn now and then.
    pub(super) fn show(&self, progress: &Progress) {
        let Some(bar) = &self.bar else { return };
        if self.drawn.get().elapsed() < FRAME {
            return;
        }
        self.drawn.set(Instant::now());
        let per_second = progress.traffic.requests as f64 / bar.elapsed().as_secs_f64().max(0.1);
        bar.set_message(format!(
            "{} documents, {} URLs tested, {} to go, {} broken; {:.0} requests/s, {}",
            HumanCount(progress.pages),
            HumanCount(progress.tested),
            HumanCount(progress.waiting),
            HumanCount(progress.broken),
            per_second,
            HumanBytes(progress.traffic.bytes),
        ));
        bar.tick();
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Ready at the first interrupt, with what to say; the second ends the process at once, which does no harm either.
pub(super) fn interrupted() -> Result<impl Future<Output = String>, CliError> {
    use tokio::signal::unix::{SignalKind, signal};
    let listen = |kind| signal(kind).map_err(|error| CliError::failed("failed to listen for signals").because(error));
    let (mut interrupt, mut terminate) = (listen(SignalKind::interrupt())?, listen(SignalKind::terminate())?);
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        tokio::spawn(async move {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            std::process::exit(130);
        });
        "it was interrupted".to_owned()
    })
}
