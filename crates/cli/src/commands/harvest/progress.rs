//! Displays progress: the amount received, the rate and, where servers report it, the rest.

use std::io::{self, IsTerminal as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use indicatif::{HumanBytes, HumanCount, MultiProgress, ProgressBar, ProgressStyle};
use modoai_harvester::gauge::Gauge;

use crate::output::plain;

/// Shows gauges until it is dropped.
pub(super) struct Watching {
    done: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Watching {
    /// Starts the display, unless `quiet` is set or standard error is not a terminal.
    pub(super) fn start(gauges: Vec<(String, Arc<Gauge>)>, quiet: bool) -> Self {
        let done = Arc::new(AtomicBool::new(false));
        let thread = (!quiet && io::stderr().is_terminal()).then(|| {
            let done = done.clone();
            std::thread::spawn(move || show(&gauges, &done))
        });
        Self { done, thread }
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

/// The maximum number of lines; further ones would scroll away.
const MOST_LINES: usize = 20;

fn show(gauges: &[(String, Arc<Gauge>)], done: &AtomicBool) {
    const FRAME: Duration = Duration::from_millis(150);
    let all = MultiProgress::new();
    let lines: Vec<_> = gauges.iter().take(MOST_LINES).map(|(name, gauge)| (line(&all, name), gauge)).collect();
    while !done.load(Ordering::Relaxed) {
        std::thread::park_timeout(FRAME);
        for (bar, gauge) in &lines {
            draw(bar, gauge);
        }
    }
    for (bar, _) in &lines {
        bar.finish_and_clear();
    }
}

fn line(all: &MultiProgress, name: &str) -> ProgressBar {
    let bar = all.add(ProgressBar::no_length().with_prefix(name.to_owned()));
    bar.set_style(style("{spinner} {prefix}  {elapsed}  {wide_msg}"));
    bar
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("a template without mistakes; the tests run it")
}

fn draw(bar: &ProgressBar, gauge: &Gauge) {
    let (received, expected) = (Gauge::read(&gauge.received), Gauge::read(&gauge.expected));
    if expected > 0 && bar.length() != Some(expected) {
        bar.set_length(expected.max(received));
        bar.set_style(style("{spinner} {prefix}  [{bar:16}] {pos}/{len}  {eta} left  {wide_msg}"));
    }
    bar.set_position(received);
    bar.set_message(format!(
        "{:.0}/s  {} records, {} deleted, {}; {}",
        bar.per_sec(),
        HumanCount(Gauge::read(&gauge.records)),
        HumanCount(Gauge::read(&gauge.deleted)),
        HumanBytes(Gauge::read(&gauge.bytes)),
        plain(&gauge.activity()),
    ));
    bar.tick();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gauges_are_drawn_with_and_without_an_end_in_sight() {
        let bar = line(&MultiProgress::new(), "example.org");
        let gauge = Gauge::default();
        draw(&bar, &gauge);
        gauge.expected.store(10, Ordering::Relaxed);
        gauge.received.store(4, Ordering::Relaxed);
        draw(&bar, &gauge);
        assert_eq!((bar.position(), bar.length()), (4, Some(10)));
    }
}
