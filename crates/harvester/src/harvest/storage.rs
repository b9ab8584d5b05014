//! Operations of the planner on what is stored: the state, and where a page cannot do it, the sink.

use std::sync::atomic::{AtomicBool, Ordering};

use super::HarvestError;
use crate::desk::Desk;
use crate::gauge::Gauge;
use crate::plan::{Op, Report};
use crate::quirks;
use crate::record::{Header, Novelty};
use crate::repairs::Repairs;
use crate::sink::{Inspected, Origin};
use crate::state::{Sight, State};

/// Missing records that are looked up at a time.
const MAX_MISSING: usize = 500;

/// Deletions that are passed on in one commit.
const MAX_DELETED: usize = 1000;

/// Performs an operation. Returns what is reported, and the repairs that it was.
pub(super) fn perform(
    desk: &mut Desk,
    op: Op,
    origin: &Origin,
    stop: &AtomicBool,
) -> Result<(Report, Repairs), HarvestError> {
    let state = &mut desk.state;
    let number = |number: u64| Report::Number(number.cast_signed());
    let done = |()| Report::Done;
    let report = match op {
        Op::Open(_) => Report::Done,
        Op::Lists => Report::Lists(state.lists()?),
        Op::List { set, window } => Report::Lists(vec![state.list(&set, window)?]),
        Op::NextWindows { list, limit } => Report::Windows(state.next_windows(list, limit)?),
        Op::OpenWindows(list) => number(state.windows(list)?.len() as u64),
        Op::Change(change) => {
            if let Some(reason) = &change.reason {
                tracing::info!("requesting {} smaller date ranges instead of {reason}", change.added.len());
            }
            Report::Number(state.change(&change)?)
        }
        Op::GiveUpAll { list, why } => state.give_up_all(list, &why).map(done)?,
        Op::BeginPass { list, window, set } => Report::Number(state.begin_pass(list, window, &set)?),
        Op::CompletePass { list, is_void } => {
            desk.finish()?;
            desk.state.complete_list(list, origin.harvested, is_void).map(done)?
        }
        Op::NewNumber(_) => Report::Number(state.fresh_number()?),
        Op::ItemCount => number(state.counts()?.0),
        Op::SeenSince(pass) => number(state.seen_since(pass)?),
        Op::LastSeen { window, until, limit } => Report::Names(state.last_seen_in(window, until, limit)?),
        Op::Unlisted { pass, limit } => Report::Names(state.unlisted(pass, limit)?),
        Op::UnlistedCount(pass) => number(state.unlisted_count(pass)?),
        Op::MissingCount => number(state.missing_count()?),
        Op::Missing { after } => Report::Missing(state.missing(&after, MAX_MISSING)?),
        Op::Found(identifier) => state.found(&identifier).map(done)?,
        Op::Tried { identifier, reason } => state.tried(&identifier, &reason).map(done)?,
        Op::Delete { pass } => return Ok((Report::Done, delete(desk, origin, pass)?)),
        Op::Inspect => number(inspect(desk, stop)?),
        Op::StartOver => state.start_over().map(done)?,
    };
    Ok((report, Repairs::default()))
}

/// Compares the stored records with what was written. Altered ones are noted as missing, to be fetched by identifier.
/// Returns the number of such records; 0 if the user stopped the comparison.
fn inspect(desk: &mut Desk, stop: &AtomicBool) -> Result<u64, HarvestError> {
    let (mut after, mut altered) = (String::new(), 0);
    while !stop.load(Ordering::Relaxed) {
        desk.gauge.say(format!("comparing stored records, {altered} modified"));
        let inspected = desk.sink.inspect(&after)?;
        desk.state.begin()?;
        for (identifier, reason) in inspected.iter().flat_map(|inspected| &inspected.altered) {
            desk.state.miss(identifier, reason, 0)?;
            desk.state.doubt(identifier)?;
        }
        desk.state.commit()?;
        let Some(Inspected { last, altered: found }) = inspected else { return Ok(altered) };
        (after, altered) = (last, altered + found.len() as u64);
    }
    Ok(0)
}

/// Passes items on as deleted that were not listed since a pass.
fn delete(desk: &mut Desk, origin: &Origin, pass: i64) -> Result<Repairs, HarvestError> {
    let mut repairs = Repairs::default();
    loop {
        let batch = desk.state.unlisted(pass, MAX_DELETED)?;
        let Some(example) = batch.first() else { return Ok(repairs) };
        desk.state.begin()?;
        desk.sink.page(origin)?;
        for identifier in &batch {
            let (identifier, datestamp) = (identifier.clone(), origin.harvested.to_string());
            let stamp = Some(origin.harvested.unix());
            desk.state.note(&Sight { identifier: &identifier, hash: 0, stamp, gone: true, window: pass }, pass)?;
            // A deleted record does not count as missing, whatever its problem was.
            desk.state.found(&identifier)?;
            desk.sink.record(&Header { identifier, datestamp, sets: Vec::new(), deleted: true })?;
            desk.sink.end(Novelty::Changed)?;
        }
        let mark = desk.sink.commit()?;
        desk.state.set_mark(&mark)?;
        desk.unsynced = true;
        desk.state.commit()?;
        Gauge::add(&desk.gauge.deleted, batch.len() as u64);
        repairs.add(quirks::VANISHED, batch.len() as u64, example);
    }
}

/// Returns true if everything that was committed is stored, although not all of it was synced. If the system stopped
/// since, that is unknown; then all of it is requested again.
pub(super) fn survived(state: &mut State) -> Result<bool, HarvestError> {
    // A random identifier of the kernel, new at every start. Only Linux has one; on other systems nothing can be
    // compared.
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let survived = state.unsynced()?.is_none_or(|before| before == boot.trim());
    if !survived {
        tracing::warn!("the system stopped during the last harvest; comparing all records again");
        state.start_over()?;
    }
    state.set_unsynced(Some(boot.trim()))?;
    Ok(survived)
}
