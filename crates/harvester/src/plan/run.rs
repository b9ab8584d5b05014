//! The order of a run: the server, the selected lists, missing records, deletions.

use super::list::ListTask;
use super::records::{ChosenTask, FetchTask, MAX_FETCHED};
use super::{Facts, Op, Report, Step, Task};
use crate::plan::facts::Lacking;

/// The states of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Run {
    /// Identify is requested.
    Identify,
    /// Schema and namespace of the format are looked up.
    Formats,
    /// The sink is opened.
    Open,
    /// The stored records are compared with what was written.
    Inspect,
    /// The stored items are deleted, because too many records were altered.
    StartOver,
    /// The lists are harvested, beginning with the one of this index; then what is missing.
    List(usize),
    /// All identifiers are compared with what is stored.
    Verify,
}

impl Facts {
    pub(super) fn run(&mut self, run: &mut Run) -> Lacking<Step> {
        let sets = if self.options.sets.is_empty() { vec![String::new()] } else { self.options.sets.clone() };
        let begin = Run::List(0);
        *run = match run {
            Run::Identify => {
                self.identify()?;
                Run::Formats
            }
            Run::Formats => {
                self.find_format()?;
                Run::Open
            }
            Run::Open => {
                self.store(Op::Open(Box::new(self.identity.clone())))?;
                if self.options.verify { Run::Inspect } else { begin }
            }
            Run::Inspect => {
                let altered = self.number(Op::Inspect)?.cast_unsigned();
                if altered > MAX_FETCHED { Run::StartOver } else { begin }
            }
            Run::StartOver => {
                self.store(Op::StartOver)?;
                begin
            }
            Run::List(_) if !self.options.identifiers.is_empty() => {
                self.task(Task::Chosen(ChosenTask::default()))?;
                return Ok(Step::Done(Report::Done));
            }
            Run::List(index) => match sets.get(*index) {
                Some(set) => {
                    self.task(Task::List(ListTask::new(set)))?;
                    Run::List(*index + 1)
                }
                None => {
                    self.task(Task::Fetch(FetchTask::default()))?;
                    if !self.options.verify {
                        return Ok(Step::Done(Report::Done));
                    }
                    Run::Verify
                }
            },
            Run::Verify => {
                self.verify(&sets)?;
                return Ok(Step::Done(Report::Done));
            }
        };
        Ok(Step::Next)
    }
}
