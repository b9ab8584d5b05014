//! Reports of a run, created from [`Results`]. To add a format, add a file here and a row in [`FORMATS`].
//!
//! Formats write to a stream, one finding after the other; memory contains only the distinct targets
//! ([`Targets`](crate::targets::Targets)). The index document consists of several files, so it has a separate function:
//! [`index::write`]. Every report states whether the run was complete. [`map`] draws diagrams of the web; those that
//! are one stream are formats, too.
//!
//! | file | output |
//! |---|---|
//! | [`terminal`] | the summary on the terminal, of limited length |
//! | [`json`], `csv` | every finding, for programs and spreadsheets |
//! | `junit`, `sarif` | the same for build servers and code scanning |
//! | [`index`] | the index document of one infostructure, in HTML |
//! | `words` | common wording and formats of verdicts, dates and numbers |

/// Appends to a string, which cannot fail.
macro_rules! put {
    ($text:expr, $($what:tt)+) => {
        ::std::fmt::Write::write_fmt(&mut *$text, format_args!($($what)+)).expect("strings take everything")
    };
}

mod csv;
#[cfg(test)]
pub(crate) mod fixture;
pub mod index;
pub mod json;
mod junit;
mod sarif;
pub mod terminal;
pub(crate) mod words;

use std::io::{self, Write};

use crate::map;
use crate::results::{ReportError, Results, Visit};

/// All formats that are one stream, as listed by the command line, its help and the guide.
pub const FORMATS: &[Format] = &[
    Format {
        name: "text",
        about: "all findings, by target and by page, as on the terminal",
        writer: Writer::Run(terminal::write_all),
    },
    Format {
        name: "json",
        about: "one JSON object per finding and line, then a summary object",
        writer: Writer::Run(json::write),
    },
    Format { name: "csv", about: "one row per finding, for spreadsheets", writer: Writer::Run(csv::write) },
    Format {
        name: "junit",
        about: "one test case per page and per site-wide link, for continuous integration",
        writer: Writer::Run(junit::write),
    },
    Format { name: "sarif", about: "SARIF 2.1.0, for code scanning and editors", writer: Writer::Run(sarif::write) },
    Format { name: "dot", about: "the site as a graph, for Graphviz", writer: Writer::Picture(map::write_dot) },
    Format {
        name: "graphml",
        about: "the same graph, for Gephi, yEd and other programs",
        writer: Writer::Picture(map::write_graphml),
    },
];

/// Returns the format of that name.
pub fn named(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}

/// One row of [`FORMATS`].
#[derive(Debug)]
pub struct Format {
    /// The name on the command line.
    pub name: &'static str,
    /// A short description.
    pub about: &'static str,
    /// The function that writes it.
    pub writer: Writer,
}

/// The function that writes a format. Streams should be buffered.
#[derive(Clone, Copy, Debug)]
pub enum Writer {
    /// Writes all findings of a run to one stream.
    Run(fn(&dyn Results, &mut dyn Write) -> Visit),
    /// Writes one infostructure, by its number among those of the run.
    Picture(fn(&dyn Results, usize, &mut dyn Write) -> Visit),
}

/// Creates an error for `map_err`, with the name of the output.
fn writing(what: impl Into<String>) -> impl FnOnce(io::Error) -> ReportError {
    move |source| ReportError::Write { what: what.into(), source }
}

#[cfg(test)]
mod tests {
    use super::fixture::{Fixture, write, written};
    use super::*;

    #[test]
    fn names_are_nobody_elses() {
        for (at, format) in FORMATS.iter().enumerate() {
            assert!(FORMATS[..at].iter().all(|other| other.name != format.name), "{}", format.name);
            assert_eq!(named(format.name).expect("it is there").about, format.about);
        }
        assert!(named("html").is_none(), "that is more than a stream");
    }

    #[test]
    fn every_format_says_that_a_run_was_cut_short() {
        for format in FORMATS {
            let whole = written(format, &Fixture::small());
            let mut fixture = Fixture::small();
            fixture.run.cut_short = Some("interrupted after 200 pages".to_owned());
            let short = written(format, &fixture);
            assert!(!whole.contains("interrupted after 200 pages"), "{}", format.name);
            assert!(short.contains("interrupted after 200 pages"), "{}: {short}", format.name);
        }
    }

    #[test]
    fn a_run_that_found_nothing_is_told_in_every_format() {
        for format in FORMATS {
            assert!(!written(format, &Fixture::clean()).is_empty(), "{}", format.name);
        }
    }

    #[test]
    fn the_guide_shows_what_is_written() {
        const GUIDE: &str = include_str!("../../../../docs/guide/spider-reports.md");
        let blocks = |of: &str| -> Vec<&str> {
            GUIDE.split(&format!("```{of}\n")).skip(1).filter_map(|rest| rest.split("```").next()).collect()
        };
        let fixture = Fixture::small();
        let text = written(named("text").expect("a format"), &fixture);
        let (targets, pages) = text.split_once("Pages\n").expect("targets, then pages");
        let until = |text: &str, end: &str| text.split_once(end).expect("the guide stops before it").0.to_owned();
        assert_eq!(blocks("text")[0], until(targets, "  # fragment"));
        assert_eq!(blocks("text")[1], format!("Pages\n{}", until(pages, "  ? not tested")));
        let json = written(named("json").expect("a format"), &fixture);
        let shown: Vec<serde_json::Value> =
            blocks("json").iter().map(|block| serde_json::from_str(block).expect("JSON")).collect();
        for (shown, line) in shown.iter().zip([json.lines().next(), json.lines().last()]) {
            let line: serde_json::Value = serde_json::from_str(line.expect("a line")).expect("JSON");
            assert_eq!(*shown, line);
        }
        let rows: Vec<_> = GUIDE.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
        assert_eq!(rows, FORMATS.iter().map(|format| format.name).collect::<Vec<_>>());
        for wording in words::VERDICTS {
            assert!(GUIDE.contains(&format!("| {} | {} | ", wording.verdict.name(), wording.sign)), "{}", wording.slug);
        }
    }

    #[test]
    fn whoever_stops_reading_is_heard() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        for format in FORMATS {
            let error = write(format, &Fixture::small(), &mut Full).expect_err("nothing can be written");
            let ReportError::Write { source, .. } = error else { panic!("{}: {error}", format.name) };
            assert_eq!(source.kind(), io::ErrorKind::BrokenPipe, "{}", format.name);
        }
    }
}
