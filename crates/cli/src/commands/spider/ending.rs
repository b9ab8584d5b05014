//! The end of a run: failures of reports and mail, and the exit code.

use clap::ValueEnum;
use clap::builder::PossibleValue;
use modoai_spider::results::{Run, Summary};
use modoai_spider::verdict::Verdict;

use super::SpiderCommand;
use crate::error::{CliError, Kind};
use crate::output::counted;

/// A verdict that can be selected to cause exit code 2.
#[derive(Clone, Debug)]
pub(crate) struct Failing {
    /// Its name in `--fail-on`, which contains no spaces, so that it needs no quotes.
    name: &'static str,
    /// The singular and the plural of a finding in messages.
    nouns: (&'static str, &'static str),
    verdict: Verdict,
    counted: fn(&Summary) -> u64,
}

/// All such verdicts.
const FAILING: &[Failing] = &[
    Failing {
        name: "broken",
        nouns: ("broken target", "broken targets"),
        verdict: Verdict::Broken,
        counted: |summary| summary.broken,
    },
    Failing {
        name: "fragment",
        nouns: ("missing fragment", "missing fragments"),
        verdict: Verdict::Fragment,
        counted: |summary| summary.fragments,
    },
    Failing {
        name: "moved",
        nouns: ("moved target", "moved targets"),
        verdict: Verdict::Moved,
        counted: |summary| summary.moved,
    },
    Failing {
        name: "changed",
        nouns: ("changed document", "changed documents"),
        verdict: Verdict::Changed,
        counted: |summary| summary.changed,
    },
    Failing {
        name: "expiring",
        nouns: ("expiring document", "expiring documents"),
        verdict: Verdict::Expiring,
        counted: |summary| summary.expiring,
    },
    Failing {
        name: "not-tested",
        nouns: ("target not tested", "targets not tested"),
        verdict: Verdict::NotTested,
        counted: |summary| summary.not_tested,
    },
];

impl ValueEnum for Failing {
    fn value_variants<'a>() -> &'a [Self] {
        FAILING
    }

    /// Accepts the name in reports as well.
    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name).alias(self.verdict.name()))
    }
}

impl SpiderCommand {
    /// Returns an error for an incomplete run, a run without documents, and selected findings.
    pub(super) fn check(&self, run: &Run) -> Result<(), CliError> {
        if let Some(why) = run.incomplete() {
            let hint = match run.cut_short {
                Some(_) => "run the same command again to resume",
                None => "run the same command again later, or exclude these pages with --avoid PREFIX",
            };
            return Err(CliError::new(Kind::Incomplete, format!("incomplete: {why}")).hint(hint));
        }
        if run.summary.pages == 0 {
            let why = run.remarks.last().map_or("nothing was read", String::as_str);
            return Err(CliError::failed(why));
        }
        // In the order of the table, and each once, regardless of the order of the options.
        let asked = FAILING.iter().filter(|row| self.fail_on.iter().any(|asked| asked.verdict == row.verdict));
        let found: Vec<String> = asked
            .map(|row| (row.nouns, (row.counted)(&run.summary)))
            .filter(|(_, count)| *count > 0)
            .map(|((one, many), count)| counted(count, one, many))
            .collect();
        if found.is_empty() {
            Ok(())
        } else {
            Err(CliError::new(Kind::Findings, format!("found {}", found.join(", "))))
        }
    }
}

/// Failures after the traversal. A report that cannot be written must not prevent other reports, mail to owners, or
/// closing the run; but in the end it takes precedence over findings.
#[derive(Debug, Default)]
pub(super) struct Failures {
    count: usize,
}

impl Failures {
    /// Logs a failure immediately.
    pub(super) fn note(&mut self, done: Result<(), CliError>) {
        if let Err(error) = done {
            tracing::error!("{}", error.what_happened());
            self.count += 1;
        }
    }

    /// Returns the result of the command.
    pub(super) fn end(self, checked: Result<(), CliError>) -> Result<(), CliError> {
        if self.count == 0 {
            return checked;
        }
        if let Err(error) = checked {
            tracing::error!("{}", error.what_happened());
        }
        let failures = counted(self.count as u64, "operation", "operations");
        Err(CliError::failed(format!("{failures} failed; see the errors above")))
    }
}
