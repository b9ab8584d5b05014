//! `modoai status`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use modoai_harvester::state::{State, StateError};
use modoai_protocol::Datestamp;
use serde_json::{Value, json};

use super::harvest::label;
use crate::config::shown;
use crate::error::CliError;
use crate::output::{self, counted, plain};

/// Print the state of a harvest: stored records, gaps, recent runs, and the next step.
///
/// DIR is a directory given to `modoai harvest --into`, or a directory that contains several of them. The command does
/// not disturb a running harvest.
#[derive(Debug, Args)]
pub(crate) struct StatusCommand {
    /// Directory of the harvest.
    dir: PathBuf,
    /// Print one JSON object per source.
    #[arg(long)]
    json: bool,
}

/// The number of runs that are listed for each source.
const RUNS: usize = 5;

/// The number of missing records that are listed; the others are counted.
const MISSING: usize = 10_000;

impl StatusCommand {
    pub(crate) fn run(self) -> Result<(), CliError> {
        let failed = |error: StateError| {
            let absent = matches!(error, StateError::Absent { .. });
            let failed = CliError::failed("failed to read the state of the harvest").because(error);
            if absent { failed.hint("to start a harvest, run `modoai harvest BASE_URL --into DIR`") } else { failed }
        };
        let sources = sources(&self.dir).map_err(failed)?;
        for (dir, state) in sources {
            let told = told(&dir, &state).map_err(failed)?;
            output::print(&if self.json { format!("{told}\n") } else { text(&told) })?;
        }
        Ok(())
    }
}

/// Returns the harvest of a directory, or those of its subdirectories.
fn sources(dir: &Path) -> Result<Vec<(PathBuf, State)>, StateError> {
    let absent = match State::look(dir) {
        Ok(state) => return Ok(vec![(dir.to_path_buf(), state)]),
        Err(absent @ StateError::Absent { .. }) => absent,
        Err(error) => return Err(error),
    };
    let entries = std::fs::read_dir(dir).map(|entries| entries.flatten().map(|entry| entry.path()).collect::<Vec<_>>());
    let mut folders = entries.unwrap_or_default();
    folders.sort();
    let found: Vec<_> =
        folders.into_iter().filter_map(|folder| State::look(&folder).ok().map(|state| (folder, state))).collect();
    if found.is_empty() { Err(absent) } else { Ok(found) }
}

/// Returns all data about one source as JSON.
fn told(dir: &Path, state: &State) -> Result<Value, StateError> {
    let date = |date: Option<Datestamp>| date.map(|date| date.to_string());
    let contract = state.contract()?;
    let identity = state.identity()?.unwrap_or_default();
    let ((records, deleted), elsewhere) = (state.counts()?, state.elsewhere()?);
    let mut lists = Vec::new();
    for list in state.lists()? {
        let windows = state.windows(list.number)?;
        let open = windows.iter().map(|open| {
            json!({
                "window": open.window.to_string(), "set": open.set, "resumes": open.token.is_some(),
                "received": open.progress.delivered, "announced": open.progress.size, "trouble": open.trouble,
            })
        });
        let open: Vec<_> = open.collect();
        lists.push(json!({
            "set": list.set, "selection": list.window.to_string(), "watermark": date(list.watermark),
            "completed": date(list.completed), "open": open,
        }));
    }
    let runs = state.runs(RUNS)?.into_iter().map(|run| {
        let summary: Value = run.summary.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        json!({ "started": run.started.to_string(), "ended": date(run.ended), "summary": summary })
    });
    let runs: Vec<_> = runs.collect();
    // If the source never responded, only the runs contain its URL.
    let asked = || runs.iter().find_map(|run| run["summary"]["source"].as_str().map(str::to_owned));
    Ok(json!({
        "dir": shown(dir),
        "source": contract.as_ref().map(|contract| contract.base_url.clone()).or_else(asked),
        "sink": contract.as_ref().map(|contract| &contract.sink),
        "format": contract.as_ref().map(|contract| &contract.prefix),
        "catalogue": state.catalogue()?.map(|location| shown(location.path())),
        "name": identity.name, "deleted_record": identity.deleted_record,
        "records": records.saturating_sub(elsewhere.0), "deleted": deleted.saturating_sub(elsewhere.1),
        "elsewhere": elsewhere.0 + elsewhere.1, "lists": lists,
        "missing": state.missing("", MISSING)?, "missing_count": state.missing_count()?, "repaired": state.repairs()?, "runs": runs,
        "not_before": state.waits()?.into_iter().map(|(host, wait)| json!({ "host": host, "until": wait.until.to_string() })).collect::<Vec<_>>(),
    }))
}

/// Returns the same as text.
fn text(told: &Value) -> String {
    // Most of the text is from servers.
    let of = |value: &Value| plain(value.as_str().unwrap_or("-"));
    let count = |value: &Value, one, many| counted(value.as_u64().unwrap_or_default(), one, many);
    let mut out = format!("{}\n  source    {}", of(&told["dir"]), of(&told["source"]));
    let _ = match told["sink"].as_str() {
        Some(sink) => writeln!(
            out,
            " ({})\n  stored    {} and {}, {} as {sink}",
            of(&told["name"]),
            count(&told["records"], "record", "records"),
            count(&told["deleted"], "deletion", "deletions"),
            of(&told["format"]),
        ),
        None => writeln!(out, "\n  stored    nothing yet"),
    };
    let elsewhere = told["elsewhere"].as_u64().unwrap_or_default();
    if elsewhere > 0 {
        let _ = writeln!(out, "  skipped   {elsewhere} that another source of the catalogue provides");
    }
    if let Some(catalogue) = told["catalogue"].as_str() {
        let _ = writeln!(out, "  catalogue {}", plain(catalogue));
    }
    for list in told["lists"].as_array().into_iter().flatten() {
        let set = of(&list["set"]);
        let what =
            if set.is_empty() { of(&list["selection"]) } else { format!("set {set}, {}", of(&list["selection"])) };
        let _ = match list["completed"].as_str() {
            Some(date) => {
                let next = format!("at {date}; the next run requests changes since {}", of(&list["watermark"]));
                match gaps(told, list) {
                    Some(gaps) => writeln!(out, "  incomplete  {what}: {gaps} missing {next}"),
                    None => writeln!(out, "  complete  {what}: {next}"),
                }
            }
            None => writeln!(out, "  pending   {what}"),
        };
        for open in list["open"].as_array().into_iter().flatten() {
            let trouble = open["trouble"].as_str().map(|why| format!("; {}", plain(why))).unwrap_or_default();
            let _ = writeln!(out, "  open      {}: {} received{trouble}", of(&open["window"]), open["received"]);
        }
    }
    for wait in told["not_before"].as_array().into_iter().flatten() {
        let _ = writeln!(
            out,
            "  wait      no requests to {} before {} (Retry-After)",
            of(&wait["host"]),
            of(&wait["until"])
        );
    }
    for missing in told["missing"].as_array().into_iter().flatten() {
        let _ = writeln!(out, "  missing   {}: {}", of(&missing["identifier"]), of(&missing["reason"]));
    }
    let untold = told["missing_count"].as_u64().unwrap_or_default().saturating_sub(MISSING as u64);
    if untold > 0 {
        let _ = writeln!(out, "  missing   {untold} more");
    }
    for repair in told["repaired"].as_array().into_iter().flatten() {
        let quirk = of(&repair["quirk"]);
        let _ = writeln!(out, "  {}  {quirk} ({}×)", label(&quirk), repair["count"]);
    }
    for (age, run) in told["runs"].as_array().into_iter().flatten().enumerate() {
        let summary = &run["summary"];
        let went = match (summary["complete"].as_bool(), summary["failed"].as_str()) {
            (_, Some(why)) => format!("failed: {}", plain(why)),
            (Some(true), _) => {
                format!("complete, {} added or updated, {} deleted", summary["records"], summary["deleted"])
            }
            (Some(false), _) => format!("incomplete, {} added or updated", summary["records"]),
            (None, None) if !run["ended"].is_null() => "ended without a summary".to_owned(),
            // A run cannot have both.
            (None, None) if age > 0 => "did not end: killed, or failed to record the reason".to_owned(),
            (None, None) => "did not end: still running, killed, or failed to record the reason".to_owned(),
        };
        let _ = writeln!(out, "  run       {}: {went}", of(&run["started"]));
    }
    out
}

/// Returns the gaps of a selection, if any. A missing record may belong to any selection.
fn gaps(told: &Value, list: &Value) -> Option<String> {
    let records = told["missing_count"].as_u64().unwrap_or_default();
    let open = list["open"].as_array().map_or(0, Vec::len) as u64;
    let gaps = [(records, "record", "records"), (open, "date range", "date ranges")];
    let gaps = gaps.into_iter().filter(|(count, ..)| *count > 0).map(|(count, one, many)| counted(count, one, many));
    let gaps: Vec<_> = gaps.collect();
    (!gaps.is_empty()).then(|| gaps.join(" and "))
}
