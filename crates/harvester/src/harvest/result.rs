//! The end of a run: its stored results, and the summary that lists the gaps.

use std::time::SystemTime;

use modoai_protocol::{Datestamp, with_causes};

use super::driver::Driver;
use super::{HarvestError, Options, Trouble, host, lost};
use crate::clock;
use crate::gauge::Gauge;
use crate::habits::Habits;
use crate::plan::End;
use crate::sink::{NOT_WRITTEN, SinkError};
use crate::state::{Contract, Repair, State, Wait};
use crate::summary::{Gap, NextRun, Summary, without_nested};
use crate::world::{Clock, Transport};

/// Missing records that a summary lists; the rest is counted.
const MAX_GAPS: usize = 1000;

impl<T: Transport, C: Clock> Driver<T, C> {
    /// Ends the run. For any reason of its end, commits are synced, and the properties of the server are stored.
    pub(super) fn close(mut self, run: i64, end: Result<Option<End>, HarvestError>) -> Result<Summary, HarvestError> {
        let now = self.now();
        let end = match end {
            Ok(None) => Ok(None),
            Ok(Some(End::Stopped(trouble))) => Ok(Some(trouble)),
            Ok(Some(End::Failed(error))) | Err(error) => Err(error),
        };
        if let Some(closed) = &mut self.closed {
            let state = &mut closed.state;
            return match end {
                Ok(Some(Trouble::Postponed(wait))) => {
                    let wait = remember_wait(state, &self.options, self.requests.clock.now() + wait)?;
                    postponed(state, run, &self.planner.facts().contract, &self.requests.gauge, &wait, now)
                }
                Ok(trouble) => {
                    let source = trouble.unwrap_or_else(|| Trouble::Internal("the sink was not opened".to_owned()));
                    let error = HarvestError::NoRepository { url: self.options.base_url.to_string(), source };
                    Err(failed(state, run, &self.options, now, error))
                }
                Err(error) => Err(failed(state, run, &self.options, now, error)),
            };
        }
        let finished = end.and_then(|trouble| self.stop(trouble));
        let kept = self.finish();
        match finished.and_then(|stopped| Ok((stopped, kept?))) {
            Ok((stopped, repaired)) => self.summarise(run, stopped, repaired),
            Err(error) => Err(match &mut self.desk {
                Some(desk) => failed(&mut desk.state, run, &self.options, now, error),
                None => error,
            }),
        }
    }

    /// Returns the gap of a run that stopped for a reason other than its lists, and the earliest date of the next run.
    fn stop(&mut self, trouble: Option<Trouble>) -> Result<(Option<Gap>, Option<Wait>), HarvestError> {
        let (reason, wait) = match trouble {
            None => return Ok((None, None)),
            Some(Trouble::Sink(SinkError::Limit(reached))) => (reached.to_string(), None),
            Some(Trouble::Sink(error)) => return Err(error.into()),
            Some(Trouble::State(error)) => return Err(error.into()),
            Some(Trouble::Postponed(wait)) => {
                let desk = self.desk.as_mut().ok_or_else(|| lost("the state of the harvest is unavailable"))?;
                let wait = remember_wait(&mut desk.state, &self.options, self.requests.clock.now() + wait)?;
                (wait.reason.clone(), Some(wait))
            }
            Some(trouble) => (trouble.to_string(), None),
        };
        Ok((Some(Gap { what: "source".to_owned(), reason, ..Gap::default() }), wait))
    }

    /// Syncs the commits, and stores the properties of the server. Returns the repairs of this run.
    fn finish(&mut self) -> Result<Vec<Repair>, HarvestError> {
        let facts = self.planner.facts();
        let repaired = facts.repairs.told();
        let habits = Habits {
            remedies: self.requests.remedies.clone(),
            public_host: self.requests.transport.public_host().or_else(|| facts.habits.public_host.clone()),
            ..facts.habits.clone()
        };
        let desk = self.desk.as_mut().ok_or_else(|| lost("the state of the harvest is unavailable"))?;
        desk.state.roll_back()?;
        desk.finish()?;
        desk.state.set_unsynced(None)?;
        desk.state.set_habits(&habits)?;
        desk.state.add_repairs(&repaired)?;
        Ok(repaired)
    }

    /// Returns the summary, which lists or counts every gap.
    fn summarise(
        &mut self,
        run: i64,
        (stopped, wait): (Option<Gap>, Option<Wait>),
        repaired: Vec<Repair>,
    ) -> Result<Summary, HarvestError> {
        let (now, facts) = (self.now(), self.planner.facts());
        let desk = self.desk.as_mut().ok_or_else(|| lost("the state of the harvest is unavailable"))?;
        let state = &mut desk.state;
        let mut missing: Vec<Gap> = facts.gaps.iter().cloned().chain(stopped).collect();
        // Other selections of this folder have separate gaps and watermarks, which `modoai status` lists.
        let mut lists = state.lists()?;
        lists.retain(|list| facts.lists.contains(&list.number));
        let from = lists.iter().filter_map(|list| list.watermark).min();
        for list in lists {
            missing.extend(state.windows(list.number)?.into_iter().map(|open| Gap {
                what: "window".to_owned(),
                from: open.window.from.map(|date| date.to_string()),
                until: open.window.until.map(|date| date.to_string()),
                set: (!open.set.is_empty()).then_some(open.set),
                reason: open.trouble.unwrap_or_else(|| "not yet harvested".to_owned()),
                ..Gap::default()
            }));
        }
        let mut missing = without_nested(missing);
        let records = state.missing("", MAX_GAPS)?;
        let unlisted = state.missing_count()?.saturating_sub(records.len() as u64);
        missing.extend(records.into_iter().map(|record| Gap {
            what: "record".to_owned(),
            identifier: Some(record.identifier),
            reason: record.reason,
            ..Gap::default()
        }));
        if unlisted > 0 {
            let reason = format!("{unlisted} more records are missing; `modoai status` lists them");
            missing.push(Gap { what: "record".to_owned(), reason, ..Gap::default() });
        }
        let gauge = &desk.gauge;
        let summary = Summary {
            source: facts.contract.base_url.clone(),
            sink: facts.contract.sink.clone(),
            format: facts.contract.prefix.clone(),
            records: Gauge::read(&gauge.records),
            deleted: Gauge::read(&gauge.deleted),
            unchanged: Gauge::read(&gauge.unchanged),
            elsewhere: Gauge::read(&gauge.elsewhere),
            refused: state.missing_because(NOT_WRITTEN)?,
            bytes: Gauge::read(&gauge.bytes),
            requests: Gauge::read(&gauge.requests),
            complete: missing.is_empty(),
            repaired,
            missing,
            next: NextRun {
                not_before: wait.map(|wait| wait.until.to_string()),
                from: from.map(|date| date.to_string()),
            },
        };
        state.end_run(run, now, &json(&summary))?;
        Ok(summary)
    }
}

fn remember_wait(state: &mut State, options: &Options, until: SystemTime) -> Result<Wait, HarvestError> {
    let until = clock::of(until);
    let reason = format!("the server requested a pause until {until} (Retry-After)");
    let wait = Wait { until, reason };
    state.roll_back()?;
    state.set_wait(host(&options.base_url), &wait)?;
    Ok(wait)
}

/// The summary of a run that must not send any request, or no further one.
pub(super) fn postponed(
    state: &mut State,
    run: i64,
    contract: &Contract,
    gauge: &Gauge,
    wait: &Wait,
    now: Datestamp,
) -> Result<Summary, HarvestError> {
    let summary = Summary {
        source: contract.base_url.clone(),
        sink: contract.sink.clone(),
        format: contract.prefix.clone(),
        bytes: Gauge::read(&gauge.bytes),
        requests: Gauge::read(&gauge.requests),
        missing: vec![Gap { what: "source".to_owned(), reason: wait.reason.clone(), ..Gap::default() }],
        next: NextRun { not_before: Some(wait.until.to_string()), from: None },
        ..Summary::default()
    };
    state.end_run(run, now, &json(&summary))?;
    Ok(summary)
}

/// Stores the reason why a run failed, if that can be written.
fn failed(state: &mut State, run: i64, options: &Options, now: Datestamp, error: HarvestError) -> HarvestError {
    let summary = serde_json::json!({ "source": options.base_url.as_str(), "failed": with_causes(&error) });
    let noted = state.roll_back().and_then(|()| state.end_run(run, now, &summary.to_string()));
    if let Err(also) = noted {
        tracing::warn!("failed to record the result of the run: {}", with_causes(&also));
    }
    error
}

fn json(summary: &Summary) -> String {
    serde_json::to_string(summary).unwrap_or_default()
}
