//! The log on standard error: messages as text or JSON, and lines of the access log without anything in front of them.
//!
//! The format is a setting, and settings are read after the log has started, so it can be changed while the log is used.

use std::fmt::{self, Write as _};
use std::io::IsTerminal as _;
use std::sync::atomic::{AtomicBool, Ordering};

use modoai_server::{ACCESS_TARGET, LogFormat};
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::{Format, Full, Json, Writer};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

use crate::output::PlainStderr;

static AS_JSON: AtomicBool = AtomicBool::new(false);

/// Logs go to standard error; standard output is for data. `RUST_LOG` overrides the flags.
pub(crate) fn start(verbose: u8, quiet: bool) {
    let level = match (quiet, verbose) {
        (true, _) => "error",
        (false, 0) => "info",
        (false, 1) => "debug",
        (false, _) => "trace",
    };
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(level));
    let ansi = std::io::stderr().is_terminal();
    let writer = move || PlainStderr { has_colours: ansi };
    let lines = Lines { text: Format::default(), json: Format::default().json().flatten_event(true) };
    let subscriber = tracing_subscriber::fmt().with_env_filter(filter).with_writer(writer).with_ansi(ansi);
    // Otherwise it reports on standard error that standard error cannot be written to, which is a panic.
    subscriber.log_internal_errors(false).event_format(lines).init();
}

/// Changes the format of all further lines.
pub(crate) fn set_format(format: LogFormat) {
    AS_JSON.store(format == LogFormat::Json, Ordering::Relaxed);
}

struct Lines {
    text: Format<Full>,
    json: Format<Json>,
}

impl<S, N> FormatEvent<S, N> for Lines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, context: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        if event.metadata().target() == ACCESS_TARGET {
            let mut message = Message(String::new());
            event.record(&mut message);
            return writeln!(writer, "{}", message.0);
        }
        match AS_JSON.load(Ordering::Relaxed) {
            true => self.json.format_event(context, writer, event),
            false => self.text.format_event(context, writer, event),
        }
    }
}

/// The message of an event.
struct Message(String);

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            // Writing to a string does not fail.
            let _ = write!(self.0, "{value:?}");
        }
    }
}
