//! Decides what a harvest does next: a pure state machine without clock, network, files or threads.
//!
//! [`Planner::next`] returns an [`Action`]: a document or a page to request, something to read or change in the stored state, or the
//! end of the run. The driver (`harvest/driver.rs`) executes it and passes the result to [`Planner::take`] as a [`Report`]. Nothing
//! else is an input except the time; so a test or a simulation can replace the driver.
//!
//! The planner keeps a stack of *tasks*; the one on top is in progress:
//!
//! | task | states | its result |
//! |---|---|---|
//! | `Run` | identify, formats, open, inspect, chosen records, lists, missing records, verify | the end of the run |
//! | `ListTask` | open, resume, begin, windows, complete | the list is up to date, or its windows are gaps |
//! | `WindowTask` | listing, received, restart, empty, ended, failed, dividing, decided | complete, divided, or given up |
//! | `CountTask` | the next page of a list that is only compared | how it ended, how many it holds, how many are not stored |
//! | `RecountTask` | a round of comparing a list with a second one | proven complete, or not |
//! | `FetchTask`, `ChosenTask` | the next record to get by its identifier | none |
//! | `SetsTask` | the next page of ListSets | the names of all sets |
//!
//! A *step* of a task is a function that runs from its first line, and either finishes or returns the first thing that it lacks
//! ([`Need`]): a report that the driver has to deliver, or the result of another task. The report is added to the `answers` of the
//! task, and the step runs again from its first line; this time it finds the report. When a step finishes, the task is in its next
//! state, and its answers are dropped. So decisions are read, and tested, as functions of what is known and what was reported
//! ([decision 010](../../../../docs/decisions/010-ends-are-proven-gaps-are-kept.md)); `modoai validate` works in the same way.
//!
//! Because a step runs more than once, it changes what is known of the server ([`Facts`]) only after the last thing that it may
//! lack, or where it remembers that it has. The time is that of the beginning of the step.
//!
//! | file | what it decides |
//! |---|---|
//! | `action`, `facts` | inputs and outputs; what is known, and how a step requests more |
//! | `identify`, `run`, `list` | the order of things: server, lists, passes |
//! | `window`, `decision` | the next page, errors, tokens; the result for a window and how it is stored |
//! | `end`, `recount`, `count` | whether an end is trusted: comparing identifiers, halves and second lists |
//! | `divide`, `health`, `dates`, `sets` | fallbacks: smaller windows, other date arguments, sets; outages |
//! | `records`, `verify` | records by identifier; deletions that no list reported |

mod action;
mod count;
mod dates;
mod decision;
mod divide;
mod end;
mod facts;
mod health;
mod identify;
mod list;
mod records;
mod recount;
mod run;
mod sets;
#[cfg(test)]
mod tests;
mod verify;
mod window;

use modoai_protocol::Datestamp;

use crate::habits::Habits;
use crate::harvest::Options;
use crate::state::{Contract, Identity};
pub(crate) use action::{Action, Attempts, Cost, DocumentRequest, End, Op, PageRequest, Report};
use count::CountTask;
pub(crate) use facts::Facts;
use facts::{Answers, Need, Pause};
use list::ListTask;
use records::{ChosenTask, FetchTask};
use recount::RecountTask;
use run::Run;
use sets::SetsTask;
use window::WindowTask;

/// The planner of one run.
pub(crate) struct Planner {
    facts: Facts,
    tasks: Vec<Frame>,
}

/// A task in its present state: what it was answered, and what it waits for.
struct Frame {
    task: Task,
    answers: Answers,
    waiting: Option<Need>,
    now: Datestamp,
}

impl Frame {
    fn new(task: Task, now: Datestamp) -> Self {
        Self { task, answers: Answers::default(), waiting: None, now }
    }
}

/// A piece of work that takes more than one step. In its first state, it also is the key of its result.
#[derive(Clone, Debug, PartialEq)]
enum Task {
    Run(Run),
    List(ListTask),
    Window(WindowTask),
    Count(CountTask),
    Recount(RecountTask),
    Fetch(FetchTask),
    Chosen(ChosenTask),
    Sets(SetsTask),
}

/// The result of a step.
enum Step {
    /// The task is in its next state.
    Next,
    /// The task is finished.
    Done(Report),
}

impl Planner {
    /// A run over what the options select. What is `known` of the server was learnt by earlier runs.
    pub(crate) fn new(options: Options, contract: Contract, known: Option<Identity>, habits: Habits) -> Self {
        let run = Frame::new(Task::Run(Run::Identify), Datestamp::from_unix(0));
        Self { facts: Facts::new(options, contract, known, habits), tasks: vec![run] }
    }

    /// Returns the next action. The result of the action before it must have been passed to [`take`](Self::take).
    pub(crate) fn next(&mut self, now: Datestamp) -> Action {
        while let Some(frame) = self.tasks.last_mut() {
            if frame.answers.is_empty() {
                frame.now = now;
            }
            self.facts.now = frame.now;
            std::mem::swap(&mut self.facts.answers, &mut frame.answers);
            let step = self.facts.step(&mut frame.task);
            std::mem::swap(&mut self.facts.answers, &mut frame.answers);
            match step {
                Ok(Step::Next) => frame.answers.clear(),
                Ok(Step::Done(report)) => {
                    self.tasks.pop();
                    self.answer(report);
                }
                Err(Pause::End(end)) => {
                    self.tasks.clear();
                    return Action::End(Some(*end));
                }
                Err(Pause::Need(need)) => {
                    let need = frame.waiting.insert(*need).clone();
                    match need {
                        Need::Task(task) => self.tasks.push(Frame::new(*task, now)),
                        Need::Document(request) => return self.facts.document_action(&request),
                        Need::Page(request) => return self.facts.page_action(request),
                        Need::Links => return Action::Links,
                        Need::Store(op) => return Action::Store(op),
                    }
                }
            }
        }
        Action::End(None)
    }

    /// Takes the result of the last action.
    pub(crate) fn take(&mut self, report: Report, cost: Cost) {
        let waiting = self.tasks.last().and_then(|frame| frame.waiting.as_ref());
        let report = self.facts.account(waiting, report, cost);
        self.answer(report);
    }

    fn answer(&mut self, report: Report) {
        if let Some(frame) = self.tasks.last_mut()
            && let Some(need) = frame.waiting.take()
        {
            frame.answers.push((need, report));
        }
    }

    /// The knowledge so far.
    pub(crate) fn facts(&self) -> &Facts {
        &self.facts
    }
}

impl Facts {
    fn step(&mut self, task: &mut Task) -> Result<Step, Pause> {
        match task {
            Task::Run(task) => self.run(task),
            Task::List(task) => self.list(task),
            Task::Window(task) => self.window(task),
            Task::Count(task) => self.counting(task),
            Task::Recount(task) => self.recounting(task),
            Task::Fetch(task) => self.fetching(task),
            Task::Chosen(task) => self.fetching_chosen(task),
            Task::Sets(task) => self.listing_sets(task),
        }
    }
}
