//! `modoai man`.
//!
//! clap_mangen writes names, synopses and options. This module adds the other usual sections to each page, and a
//! separate page for the settings in section 5.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::PathBuf;

use clap::{Args, Command};

use crate::config;
use crate::error::{CliError, EXIT_CODES};

/// Environment variables that commands read.
pub(crate) const ENVIRONMENT: &[(&str, &str)] = &[
    ("MODOAI_CONFIG", "Configuration file of serve, index, ask, rules and count; --config overrides it."),
    ("MODOAI_CONTACT", "Email address of the operator, sent in the From header; --contact overrides it."),
    ("MODOAI_PASSWORD", "Password for --user."),
    ("MODOAI_TOKEN", "Bearer token for remote servers."),
    ("MODOAI_SMTP_PASSWORD", "Password for the mail server of a task file."),
    ("NO_PROXY", "Hosts that are contacted without a proxy."),
    ("NO_COLOR", "If set and not empty, no output is coloured; --color overrides it."),
    ("RUST_LOG", "Filter of log records, such as debug or modoai_fetch=trace; overrides -v and -q."),
    ("XDG_STATE_HOME", "Parent directory of catalogues and crawls without a given location [default: ~/.local/state]."),
    ("HOME", "Used to find that directory."),
    ("PATH", "Used to find the programs of Apache httpd."),
    ("COLUMNS", "Width of the report of spider on a terminal."),
];

/// Files that commands read and write.
const FILES: &[(&str, &str)] = &[
    ("~/.local/state/modoai/sites/", "Catalogues of sites, one directory for each, with the harvest log."),
    ("~/.local/state/modoai/crawls/", "Crawled sites of serve --crawl."),
    ("~/.local/state/modoai/spider/", "Results of earlier runs of the spider."),
    ("modoai.toml", "Configuration, given with --config: see modoai.toml(5)."),
    ("archive.toml", "Configuration of an archive, given to import with --config."),
];

/// Write the man pages into a directory.
#[derive(Debug, Args)]
pub(crate) struct Man {
    /// Directory of man pages, such as /usr/local/share/man; man1 and man5 are created in it.
    dir: PathBuf,
}

impl Man {
    pub(crate) fn run(self, app: Command) -> Result<(), CliError> {
        self.write(app).map_err(|error| {
            CliError::failed(format!("failed to write the man pages into {}", self.dir.display())).because(error)
        })
    }

    fn write(&self, app: Command) -> io::Result<()> {
        let [commands, formats] = ["man1", "man5"].map(|section| self.dir.join(section));
        fs::create_dir_all(&commands)?;
        fs::create_dir_all(&formats)?;
        // The exit codes get a section with the usual name instead.
        clap_mangen::generate_to(app.after_long_help(None), &commands)?;
        let more = sections();
        for entry in fs::read_dir(&commands)? {
            let path = entry?.path();
            let is_ours = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"modoai"));
            if is_ours && path.extension().is_some_and(|extension| extension == "1") {
                fs::write(&path, fs::read_to_string(&path)? + &more)?;
            }
        }
        fs::write(formats.join("modoai.toml.5"), settings())
    }
}

/// Returns the sections that every command has.
fn sections() -> String {
    let codes = EXIT_CODES.lines().filter_map(|line| line.strip_prefix("  ")?.split_once(' '));
    let mut text = section("EXIT STATUS", codes);
    text += &section("ENVIRONMENT", ENVIRONMENT.iter().copied());
    text += &section("FILES", FILES.iter().copied());
    text += ".SH \"SEE ALSO\"\n\\fBmodoai\\fR(1), \\fBmodoai.toml\\fR(5)\n";
    text
}

/// Returns `modoai.toml(5)`: every setting with its default and meaning.
fn settings() -> String {
    let version = escaped(env!("CARGO_PKG_VERSION"));
    let mut page = format!(
        ".TH modoai.toml 5 \"\" \"modoai {version}\"\n.SH NAME\nmodoai.toml \\- configuration of modoai\n.SH DESCRIPTION\n\
         A TOML file, given with \\fB\\-\\-config\\fR or the environment variable MODOAI_CONFIG. \\fBmodoai settings\\fR prints a template.\n\
         \\fB\\-\\-option\\fR KEY=VALUE overrides the file, and the flag of a setting overrides both.\n"
    );
    for (title, rows) in config::rows() {
        let rows = rows.iter().map(|row| (format!("{} = {}", row.key, row.default), row.doc));
        let title = title.lines().next().unwrap_or_default();
        page += &section(&title.to_uppercase(), rows);
    }
    page
}

/// Returns a section that explains terms.
fn section<'a>(title: &str, rows: impl Iterator<Item = (impl AsRef<str>, &'a str)>) -> String {
    let mut text = format!(".SH \"{}\"\n", escaped(title));
    for (word, meaning) in rows {
        let word = word.as_ref().lines().map(escaped).collect::<Vec<_>>().join(" ");
        writeln!(text, ".TP\n\\fB{word}\\fR\n{}", escaped(meaning.trim())).expect("a String takes everything");
    }
    text
}

/// Escapes the special characters of roff.
fn escaped(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-");
    if text.starts_with(['.', '\'']) { format!("\\&{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roff_commands_in_text_are_escaped() {
        assert_eq!(escaped(".TH a-b \\fB"), "\\&.TH a\\-b \\efB");
        assert_eq!(section("A", [("w", ".x")].into_iter()), ".SH \"A\"\n.TP\n\\fBw\\fR\n\\&.x\n");
    }
}
