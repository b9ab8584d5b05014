//! The log on standard error: sentences for a user at a terminal; full records with time, level and source as text or
//! JSON; and lines of the access log without a prefix.
//!
//! A command that ends prints sentences. A server, `-v` and `RUST_LOG` print full records, which are read later or in
//! search of a cause. Their format is a setting, and settings are read after the log has started, so it can be changed
//! while the log is used.

use std::fmt::{self, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

use modoai_server::{ACCESS_TARGET, LogFormat};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::{Format, Full, Json, Writer};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

use crate::output::{self, PlainStderr};

static AS_JSON: AtomicBool = AtomicBool::new(false);

/// Starts the log. `RUST_LOG` overrides the level.
pub(crate) fn start(verbose: u8, quiet: bool, is_server: bool) {
    let level = match (quiet, verbose) {
        (true, _) => "error",
        (false, 0) => "info",
        (false, 1) => "debug",
        (false, _) => "trace",
    };
    let from_environment = EnvFilter::try_from_default_env();
    let is_full = is_server || verbose > 0 || from_environment.is_ok();
    let filter = from_environment.unwrap_or_else(|_| EnvFilter::new(level));
    let has_colours = output::has_colours(&std::io::stderr());
    let writer = move || PlainStderr { has_colours };
    let subscriber = tracing_subscriber::fmt().with_env_filter(filter).with_writer(writer).with_ansi(has_colours);
    // Otherwise it would report on standard error that writing to standard error failed, which would panic.
    let subscriber = subscriber.log_internal_errors(false);
    if is_full {
        let records = Records { text: Format::default(), json: Format::default().json().flatten_event(true) };
        subscriber.event_format(records).init();
    } else {
        subscriber.event_format(Sentences).init();
    }
}

/// Changes the format of all further records.
pub(crate) fn set_format(format: LogFormat) {
    AS_JSON.store(format == LogFormat::Json, Ordering::Relaxed);
}

/// Full records, and lines of the access log.
struct Records {
    text: Format<Full>,
    json: Format<Json>,
}

impl<S, N> FormatEvent<S, N> for Records
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, context: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        if event.metadata().target() == ACCESS_TARGET {
            let mut line = Sentence::default();
            event.record(&mut line);
            return writeln!(writer, "{}", line.message);
        }
        match AS_JSON.load(Ordering::Relaxed) {
            true => self.json.format_event(context, writer, event),
            false => self.text.format_event(context, writer, event),
        }
    }
}

/// `modoai: warning: failed to read a.html (error: permission denied)`.
struct Sentences;

impl<S, N> FormatEvent<S, N> for Sentences
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, _: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let mut sentence = Sentence::default();
        event.record(&mut sentence);
        let (level, colour) = match *event.metadata().level() {
            Level::ERROR => ("error: ", "\x1b[31m"),
            Level::WARN => ("warning: ", "\x1b[33m"),
            _ => ("", ""),
        };
        if writer.has_ansi_escapes() && !colour.is_empty() {
            write!(writer, "modoai: {colour}{level}\x1b[0m")?;
        } else {
            write!(writer, "modoai: {level}")?;
        }
        match sentence.fields.is_empty() {
            true => writeln!(writer, "{}", sentence.message),
            false => writeln!(writer, "{} ({})", sentence.message, sentence.fields),
        }
    }
}

/// The message of a record, and its fields as `name: value, name: value`.
#[derive(Default)]
struct Sentence {
    message: String,
    fields: String,
}

impl Sentence {
    fn put(&mut self, field: &Field, value: fmt::Arguments<'_>) {
        let written = match field.name() {
            "message" => write!(self.message, "{value}"),
            name => {
                let between = if self.fields.is_empty() { "" } else { ", " };
                write!(self.fields, "{between}{}: {value}", name.replace('_', " "))
            }
        };
        written.expect("a String takes everything");
    }
}

impl Visit for Sentence {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, format_args!("{value}"));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.put(field, format_args!("{value:?}"));
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("one thread").write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn record_becomes_a_sentence_with_its_fields() {
        let kept = Kept::default();
        let writer = kept.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_writer(move || writer.clone())
            .with_ansi(false)
            .event_format(Sentences)
            .finish();
        tracing::subscriber::with_default(subscriber, || {
            tracing::info!("reading a.csv as UTF-16LE");
            tracing::warn!(status = 500, wait_time = %"1 s", host = "a.example", "retrying");
        });
        let text = String::from_utf8(kept.0.lock().expect("one thread").clone()).expect("UTF-8");
        assert_eq!(
            text,
            "modoai: reading a.csv as UTF-16LE\n\
             modoai: warning: retrying (status: 500, wait time: 1 s, host: a.example)\n"
        );
    }
}
