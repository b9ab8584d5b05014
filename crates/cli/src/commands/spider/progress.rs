//! The progress display, and the orderly end of a traversal on a signal.

use std::cell::Cell;
use std::io::{self, IsTerminal as _};
use std::time::{Duration, Instant};

use indicatif::{HumanBytes, HumanCount, ProgressBar, ProgressStyle};
use modoai_spider::traverse::Progress;
use tokio::runtime::Handle;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;

use crate::error::CliError;

const FRAME: Duration = Duration::from_millis(150);

/// The exit code that shells expect of commands ended by Ctrl-C.
const INTERRUPTED: i32 = 130;

/// Shows the progress of a traversal, until it is dropped.
pub(crate) struct Watching {
    bar: Option<ProgressBar>,
    drawn: Cell<Instant>,
}

impl Watching {
    /// Starts the display, if standard error is a terminal.
    pub(crate) fn start(quiet: bool) -> Self {
        let bar = (!quiet && io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::no_length();
            let style = ProgressStyle::with_template("{spinner} {elapsed}  {wide_msg}");
            bar.set_style(style.expect("a template without mistakes; the tests run it"));
            bar
        });
        Self { bar, drawn: Cell::new(Instant::now()) }
    }

    /// Called after every visit; redraws periodically.
    pub(crate) fn show(&self, progress: &Progress) {
        let Some(bar) = &self.bar else { return };
        if self.drawn.get().elapsed() < FRAME {
            return;
        }
        self.drawn.set(Instant::now());
        let per_second = progress.traffic.requests as f64 / bar.elapsed().as_secs_f64().max(0.1);
        bar.set_message(format!(
            "{} documents, {} URLs tested, {} waiting, {} broken; {:.0} requests/s, {}",
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

/// Handles signals until the process ends. The returned future is ready at the first signal, with a message, so that a
/// traversal can end in order. Any further signal, or one after the traversal, ends the process immediately, which does
/// no harm: the next run repeats unfinished work.
pub(crate) fn interrupted(runtime: &Handle) -> Result<impl Future<Output = String> + use<>, CliError> {
    let _inside = runtime.enter();
    let listen = |kind| signal(kind).map_err(|error| CliError::failed("failed to listen for signals").because(error));
    let (mut interrupt, mut terminate) = (listen(SignalKind::interrupt())?, listen(SignalKind::terminate())?);
    let (send, received) = oneshot::channel();
    runtime.spawn(async move {
        let mut send = Some(send);
        loop {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            let is_heard = send.take().is_some_and(|send| send.send("interrupted".to_owned()).is_ok());
            if !is_heard {
                std::process::exit(INTERRUPTED);
            }
        }
    });
    Ok(async {
        match received.await {
            Ok(why) => why,
            // The receiver was dropped, so the future never becomes ready.
            Err(_) => std::future::pending().await,
        }
    })
}
