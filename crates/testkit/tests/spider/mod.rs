//! `modoai spider`, against everything.
//!
//! | file | what it shows |
//! |---|---|
//! | `cases` | whatever is behind a link, what is said about it is right, and nothing else is said |
//! | `references` | every way to refer is known, and nothing is taken for one that is none |
//! | `robots` | what robots.txt forbids is not asked for, and all else is |
//! | `manners` | who we say we are, and how often we ask |
//! | `traps` | webs and pages without an end |
//! | `runs` | the second run, what is new, fixed or removed; interrupted, killed, gone on with |
//! | `owners` | many owners, one web; the task files of 1994 |
//! | `reach` | sitemaps of every form, drawings, other schemes, changed targets, damaged tables |
//! | `reports` | what reports say: the same in all of them, each target once |

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use modoai_testkit::process::binary;
use serde_json::Value;

use crate::running::{Told, to_its_end, to_its_end_while};

mod cases;
mod manners;
mod owners;
mod reach;
mod references;
mod reports;
mod robots;
mod runs;
mod traps;

pub(crate) use reach::mapped;

/// A run to be started.
pub(crate) struct Spider {
    command: Command,
}

/// A run that has ended.
#[derive(Debug)]
pub(crate) struct Ended {
    /// The exit status; none if it was killed.
    pub(crate) code: Option<i32>,
    /// The findings, as they were told.
    pub(crate) findings: Vec<Value>,
    /// What was counted; nothing if it could not even begin.
    pub(crate) summary: Value,
    /// All that it said, for people.
    pub(crate) said: String,
    /// The most memory it had at once, in bytes.
    pub(crate) peak: u64,
}

impl Spider {
    /// Of a web, or of the tasks of a file, with a table that is kept.
    pub(crate) fn new(what: impl AsRef<OsStr>, table: &Path) -> Self {
        let mut command = Command::new(binary());
        command.arg("spider").arg(what).arg("--table").arg(table).arg("--json");
        command.stdin(Stdio::null());
        Self { command }
    }

    /// With more arguments.
    pub(crate) fn with<A: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.command.args(arguments);
        self
    }

    /// Starts it without listening to it, for those who will end it.
    pub(crate) fn start(mut self) -> Child {
        self.command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the command runs")
    }

    /// Runs it to its end. One that does not end is killed, and that is the error.
    pub(crate) fn run(mut self) -> Result<Ended, String> {
        Ended::of(to_its_end(&mut self.command)?)
    }

    /// The same, while something is done to it again and again: it is told the number of the process.
    pub(crate) fn run_while(mut self, meanwhile: impl FnMut(u32)) -> Result<Ended, String> {
        Ended::of(to_its_end_while(&mut self.command, meanwhile)?)
    }

    /// Runs it, and expects that everything was visited.
    #[track_caller]
    pub(crate) fn complete(self) -> Ended {
        let ended = self.run().unwrap_or_else(|error| panic!("{error}"));
        assert!(ended.is_complete(), "{}", ended.said);
        ended
    }
}

impl Ended {
    /// Reads what was told. The exit status must fit to it.
    pub(crate) fn of(told: Told) -> Result<Self, String> {
        let Told { status, out, err, peak } = told;
        let said = format!("{out}{err}");
        let mut lines = Vec::new();
        for line in out.lines() {
            let line: Value =
                serde_json::from_str(line).map_err(|error| format!("{status}; {error}: {line}\n{said}"))?;
            lines.push(line);
        }
        let summary = lines.pop().map(|mut last| last["summary"].take()).unwrap_or_default();
        let ended = Self { code: status.code(), findings: lines, summary, said, peak };
        let is_wrong =
            ended.findings.iter().any(|finding| finding["verdict"] == "broken" || finding["verdict"] == "fragment");
        match ended.code {
            Some(0) if is_wrong => Err(format!("exit status 0, with findings\n{}", ended.said)),
            Some(2) if !is_wrong => Err(format!("exit status 2, and nothing is wrong\n{}", ended.said)),
            Some(0 | 2) if ended.summary["complete"] != true => Err(format!("not complete\n{}", ended.said)),
            _ => Ok(ended),
        }
    }

    /// Whether it says, in both ways, that everything was visited.
    pub(crate) fn is_complete(&self) -> bool {
        matches!(self.code, Some(0 | 2)) && self.summary["complete"] == true
    }

    /// The targets of a verdict, with their fragments, each once.
    pub(crate) fn targets(&self, verdict: &str) -> BTreeSet<String> {
        let of_it = self.findings.iter().filter(|finding| finding["verdict"] == verdict);
        of_it.map(whole).collect()
    }

    /// The remarks of the run.
    pub(crate) fn remarks(&self) -> Vec<String> {
        let remarks = self.summary["remarks"].as_array().into_iter().flatten();
        remarks.filter_map(|remark| remark.as_str().map(str::to_owned)).collect()
    }

    /// A number of the summary.
    #[track_caller]
    pub(crate) fn count(&self, name: &str) -> u64 {
        self.summary[name].as_u64().unwrap_or_else(|| panic!("no {name}\n{}", self.said))
    }
}

/// The target of a finding with its fragment.
pub(crate) fn whole(finding: &Value) -> String {
    let target = finding["target"].as_str().unwrap_or_default();
    match finding["fragment"].as_str() {
        Some(fragment) => format!("{target}#{fragment}"),
        None => target.to_owned(),
    }
}
