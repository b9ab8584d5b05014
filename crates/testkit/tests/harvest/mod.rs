//! `modoai harvest`, against everything.
//!
//! | file | what it shows |
//! |---|---|
//! | `endpoint` | the misbehaving endpoint is right where no defect is asked for |
//! | `defects` | whatever an endpoint does wrong, all records arrive or the loss is named |
//! | `doubts` | complete repositories raise no alarm, and one gap is not told as many |
//! | `certificates` | whose certificates are believed |
//! | `folders` | what a harvest finds where it goes: lost, altered, or somebody else's |
//! | `killed` | `kill -9` at any moment costs nothing but time |
//! | `outages` | what a server does not say is not gone, and what is not known is not complete |
//! | `references` | what records only refer to: counted, and not fetched from where only we can reach |
//! | `replay` | what programs for web archives make of an archive: the site, byte for byte |
//! | `round_trip` | a mirror is the site; an aggregator tells what it was told |
//! | `stored` | reads back what harvests left behind |
//! | `trials` | small harvests, quick failures, and what is printed of what is kept |

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use modoai_testkit::process::binary;
use serde_json::Value;

use crate::running::{Told, to_its_end};

mod certificates;
mod defects;
mod doubts;
mod endpoint;
mod folders;
mod killed;
mod outages;
mod references;
mod replay;
mod round_trip;
pub(crate) mod stored;
mod trials;

/// A harvest to be started.
pub(crate) struct Harvest {
    command: Command,
}

/// A harvest that has ended.
pub(crate) struct Ended {
    /// The exit status; none if it was killed.
    pub(crate) code: Option<i32>,
    /// What it said at its end; nothing if it could not even begin.
    pub(crate) report: Value,
    /// All that it said, for people.
    pub(crate) said: String,
    /// The most memory it had at once, in bytes.
    pub(crate) peak: u64,
}

impl Harvest {
    /// Of this repository into this folder, by way of a sink; what must be waited for when something fails is short.
    pub(crate) fn new(url: &str, into: &Path, sink: &str) -> Self {
        let mut command = Command::new(binary());
        command.args(["harvest", url, "--into"]).arg(into).args(["--sink", sink, "--json", "--patience", "0.05"]);
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
        let Told { status, out, err, peak } = to_its_end(&mut self.command)?;
        let said = format!("{out}{err}");
        let last = out.trim_end().lines().last().unwrap_or_default();
        let report = match serde_json::from_str(last) {
            Ok(report) => report,
            Err(_) if out.is_empty() && status.code() == Some(1) => Value::Null,
            Err(error) => return Err(format!("{status}, and no report: {error}\n{said}")),
        };
        Ok(Ended { code: status.code(), report, said, peak })
    }

    /// Runs it, and expects that nothing is missing.
    #[track_caller]
    pub(crate) fn complete(self) -> Ended {
        let ended = self.run().unwrap_or_else(|error| panic!("{error}"));
        assert!(ended.is_complete(), "{}", ended.said);
        ended
    }
}

impl Ended {
    /// Whether it says, in both ways, that nothing is missing.
    pub(crate) fn is_complete(&self) -> bool {
        self.code == Some(0) && self.report["complete"] == true && self.missing().is_empty()
    }

    /// What it says is missing.
    pub(crate) fn missing(&self) -> &[Value] {
        self.report["missing"].as_array().map_or(&[], Vec::as_slice)
    }

    /// Whether it says that a quirk was met.
    pub(crate) fn repaired(&self, quirk: &str) -> bool {
        self.report["repaired"].as_array().is_some_and(|all| all.iter().any(|repair| repair["quirk"] == quirk))
    }
}
