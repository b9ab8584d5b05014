//! Output helpers: data to standard output, messages to standard error, and progress only on a terminal.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write as _};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use clap::{ColorChoice, ValueEnum};
use indicatif::{HumanCount, ProgressBar, ProgressStyle};
use modoai_fetch::is_invisible;

use crate::error::CliError;

/// Prints data. A reader that closes the pipe early (`| head`) is not a failure.
pub(crate) fn print(text: &str) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    tolerate_broken_pipe(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// The condition for coloured output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Colour {
    /// On a terminal, unless NO_COLOR is set.
    #[default]
    Auto,
    Always,
    Never,
}

static COLOUR: OnceLock<Colour> = OnceLock::new();

/// Applies `--color` to everything that is printed from now on.
pub(crate) fn choose_colour(colour: Colour) {
    // Commands choose once; a second choice has no effect.
    let _ = COLOUR.set(colour);
}

/// Returns true if output to this stream may be coloured.
pub(crate) fn has_colours(stream: &impl IsTerminal) -> bool {
    let is_refused = || std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    match COLOUR.get().copied().unwrap_or_default() {
        Colour::Auto => stream.is_terminal() && !is_refused(),
        Colour::Always => true,
        Colour::Never => false,
    }
}

impl Colour {
    /// Returns the value of `--color` in arguments that have not been parsed. The parser reports invalid values.
    pub(crate) fn given(arguments: impl Iterator<Item = OsString>) -> Self {
        let arguments: Vec<String> = arguments.map(|argument| argument.to_string_lossy().into_owned()).collect();
        let options = || arguments.iter().take_while(|argument| *argument != "--");
        let separate = options().zip(arguments.iter().skip(1)).filter(|(name, _)| *name == "--color");
        let values = options().filter_map(|argument| argument.strip_prefix("--color="));
        let last = values.chain(separate.map(|(_, value)| value.as_str())).last();
        last.and_then(|value| Self::from_str(value, false).ok()).unwrap_or_default()
    }
}

impl From<Colour> for ColorChoice {
    fn from(colour: Colour) -> Self {
        match colour {
            Colour::Auto => Self::Auto,
            Colour::Always => Self::Always,
            Colour::Never => Self::Never,
        }
    }
}

/// Returns a count with its unit, singular or plural: `1 entry was`, `2,940 entries were`.
pub(crate) fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", HumanCount(count), if count == 1 { one } else { many })
}

pub(crate) fn tolerate_broken_pipe(result: io::Result<()>) -> Result<(), CliError> {
    match result {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(CliError::failed("failed to write to standard output").because(error))
        }
        _ => Ok(()),
    }
}

/// Makes foreign text safe for a terminal: invisible characters, such as control characters and characters that reverse
/// text, become U+FFFD.
pub(crate) fn plain(text: &str) -> String {
    text.replace(is_invisible, "\u{fffd}")
}

/// Does the same for text of several lines.
pub(crate) fn plain_lines(text: &str) -> String {
    text.replace(|character: char| is_invisible(character) && !matches!(character, '\n' | '\t'), "\u{fffd}")
}

/// Prints a message on standard error. It may quote servers. If standard error is closed, the message is lost:
/// `eprintln!` would panic then, and end the command with exit code 101.
pub(crate) fn warn(message: &str) {
    let _ = writeln!(io::stderr(), "{}", plain_lines(message));
}

/// Standard error for log records, which may quote servers. Colours are the log's own: it escapes those of messages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlainStderr {
    pub(crate) has_colours: bool,
}

impl io::Write for PlainStderr {
    fn write(&mut self, record: &[u8]) -> io::Result<usize> {
        let is_unwanted =
            |c: char| is_invisible(c) && !matches!(c, '\n' | '\t') && !(c == '\u{1b}' && self.has_colours);
        let text = String::from_utf8_lossy(record).replace(is_unwanted, "\u{fffd}");
        io::stderr().write_all(text.as_bytes())?;
        Ok(record.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// Shows a count during an operation, until it is dropped.
pub(crate) struct Counting {
    done: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Counting {
    /// Starts the display, unless standard error is not a terminal. Short operations show nothing.
    pub(crate) fn start(what: &'static str, count: Arc<AtomicU64>) -> Self {
        Self::shown_by(move |done| show(what, &count, done))
    }

    /// Does the same with another display, which ends when the flag is set.
    pub(crate) fn shown_by(show: impl FnOnce(&AtomicBool) + Send + 'static) -> Self {
        let done = Arc::new(AtomicBool::new(false));
        let thread = io::stderr().is_terminal().then(|| {
            let done = done.clone();
            std::thread::spawn(move || show(&done))
        });
        Self { done, thread }
    }
}

impl Drop for Counting {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

fn show(what: &'static str, count: &AtomicU64, done: &AtomicBool) {
    const PATIENCE: Duration = Duration::from_millis(300);
    const FRAME: Duration = Duration::from_millis(100);
    std::thread::park_timeout(PATIENCE);
    if done.load(Ordering::Relaxed) {
        return;
    }
    let style = ProgressStyle::with_template("{spinner} {msg}: {human_pos} files, {per_sec}, {elapsed}");
    let bar = ProgressBar::no_length().with_message(what);
    bar.set_style(style.expect("a template without mistakes; the tests run it"));
    while !done.load(Ordering::Relaxed) {
        bar.set_position(count.load(Ordering::Relaxed));
        bar.tick();
        std::thread::park_timeout(FRAME);
    }
    bar.finish_and_clear();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_is_known_before_the_command_line_is_parsed() {
        let given = |line: &str| Colour::given(line.split(' ').map(OsString::from));
        assert_eq!(given("modoai spider --help"), Colour::Auto);
        assert_eq!(given("modoai --color never spider"), Colour::Never);
        assert_eq!(given("modoai spider --color=always"), Colour::Always);
        assert_eq!(given("modoai spider --color nonsense"), Colour::Auto);
        assert_eq!(given("modoai ask -- --color=always"), Colour::Auto);
    }

    #[test]
    fn one_is_not_many() {
        let entries = |count| counted(count, "entry was", "entries were");
        assert_eq!([entries(0), entries(1), entries(2940)], ["0 entries were", "1 entry was", "2,940 entries were"]);
    }

    #[test]
    fn the_progress_display_starts_and_ends() {
        let done = Arc::new(AtomicBool::new(false));
        let shown = {
            let done = done.clone();
            std::thread::spawn(move || show("testing", &AtomicU64::new(7), &done))
        };
        std::thread::sleep(Duration::from_millis(450));
        done.store(true, Ordering::Relaxed);
        shown.thread().unpark();
        shown.join().expect("no panic");
    }

    #[test]
    fn foreign_text_says_nothing_to_a_terminal() {
        assert_eq!(plain("user \u{1b}[2Jbob\u{9b}\n"), "user \u{fffd}[2Jbob\u{fffd}\u{fffd}");
        assert_eq!(plain_lines("one\u{7}\n\ttwo"), "one\u{fffd}\n\ttwo");
        assert_eq!(plain("gpj\u{202e}exe \u{2066}\u{200b}x"), "gpj\u{fffd}exe \u{fffd}\u{fffd}x");
        assert_eq!(plain("Zoë שלום می\u{200c}خواهم"), "Zoë שלום می\u{200c}خواهم", "spelling is kept");
    }
}
