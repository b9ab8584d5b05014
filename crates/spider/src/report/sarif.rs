//! Findings as SARIF 2.1.0, which code scanning and editors read.
//!
//! Each verdict is a rule, in the order of [`TOLD`]. What makes a finding the same from run to run is its fingerprint: page,
//! verdict, target and how many alike came before it on the page, but not its line, which changes when somebody writes
//! a paragraph above it.

use std::collections::HashMap;
use std::io::Write;

use serde_json::{Value, json};
use xxhash_rust::xxh3::xxh3_64;

use super::words::{self, TOLD, Told};
use super::writing;
use crate::results::{Finding, ReportError, Results, Run, Visit};

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

pub(super) fn write(results: &dyn Results, out: &mut dyn Write) -> Visit {
    let run = results.run();
    // Results come one by one; whatever is around them is written by hand.
    put(out, format_args!("{{\"$schema\":\"{SCHEMA}\",\"version\":\"2.1.0\",\"runs\":[{{\"tool\":"))?;
    value(out, &tool())?;
    put(out, format_args!(",\"columnKind\":\"unicodeCodePoints\",\"invocations\":"))?;
    value(out, &json!([invocation(run)]))?;
    put(out, format_args!(",\"results\":["))?;
    let mut alike = Alike::default();
    let mut between = "\n";
    results.findings(None, &mut |finding| {
        let Some((index, told)) = TOLD.iter().enumerate().find(|(_, told)| told.verdict == finding.verdict) else {
            return Ok(());
        };
        put(out, format_args!("{between}"))?;
        between = ",\n";
        value(out, &result(finding, index, told, &alike.fingerprint(finding), run.before.is_some()))
    })?;
    put(out, format_args!("]}}]}}\n"))?;
    out.flush().map_err(writing("SARIF"))
}

fn put(out: &mut dyn Write, text: std::fmt::Arguments<'_>) -> Result<(), ReportError> {
    out.write_fmt(text).map_err(writing("SARIF"))
}

fn value(out: &mut dyn Write, value: &Value) -> Visit {
    serde_json::to_writer(&mut *out, value).map_err(|error| writing("SARIF")(error.into()))
}

fn tool() -> Value {
    let version = env!("CARGO_PKG_VERSION");
    let rules = TOLD.iter().map(|told| {
        json!({
            "id": told.slug,
            "name": name_of(told),
            "shortDescription": { "text": told.heading },
            "fullDescription": { "text": told.is },
            "help": { "text": told.advice },
            "defaultConfiguration": { "level": told.level },
        })
    });
    json!({ "driver": { "name": "modoai spider", "version": version, "semanticVersion": version, "rules": rules.collect::<Vec<_>>() } })
}

/// Names of rules are in Pascal case, by the standard's advice.
fn name_of(told: &Told) -> String {
    let mut name = String::new();
    for word in told.slug.split('-') {
        name.extend(word.chars().take(1).map(|c| c.to_ascii_uppercase()));
        name.extend(word.chars().skip(1));
    }
    name
}

fn invocation(run: &Run) -> Value {
    let mut invocation = json!({
        "executionSuccessful": run.cut_short.is_none(),
        "startTimeUtc": run.began.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        "endTimeUtc": run.ended.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        "properties": { "run": run.number, "complete": run.cut_short.is_none(), "summary": run.summary },
    });
    let mut notes: Vec<_> =
        run.remarks.iter().map(|remark| json!({ "level": "note", "message": { "text": remark } })).collect();
    if let Some(why) = &run.cut_short {
        let text = format!("The run was cut short: {why}. What was not visited is not in this report.");
        notes.insert(0, json!({ "level": "error", "message": { "text": text } }));
    }
    invocation["toolExecutionNotifications"] = notes.into();
    invocation
}

fn result(finding: &Finding, index: usize, told: &Told, fingerprint: &str, has_before: bool) -> Value {
    let target = words::aim(&finding.target, finding.fragment.as_deref());
    let mut physical = json!({ "artifactLocation": { "uri": finding.page } });
    if finding.line > 0 {
        physical["region"] = json!({ "startLine": finding.line });
    }
    // A move for now is as it should be.
    let level = if told.slug == "moved" && !finding.permanent { "note" } else { told.level };
    let mut result = json!({
        "ruleId": told.slug,
        "ruleIndex": index,
        "level": level,
        "message": { "text": message(finding, &target) },
        "locations": [{ "physicalLocation": physical }],
        "partialFingerprints": { "link/v1": fingerprint },
        "properties": {
            "target": target,
            "element": finding.element,
            "status": finding.status,
            "since": finding.since.map(|at| at.to_string()),
            "to": finding.to,
            "owner": finding.owner,
            "tasks": finding.tasks,
        },
    });
    if has_before {
        result["baselineState"] = json!(if finding.is_new { "new" } else { "unchanged" });
    }
    result
}

fn message(finding: &Finding, target: &str) -> String {
    let mut text = format!("{target}: {}", finding.reason);
    if let Some(to) = &finding.to {
        text.push_str(" It is now at ");
        text.push_str(to);
    }
    if !finding.text.is_empty() {
        put!(&mut text, " ({} “{}”)", finding.element, finding.text);
    }
    text
}

/// Links that are alike on one page are told apart by their order. Findings come page by page, so only one page is
/// remembered.
#[derive(Default)]
struct Alike {
    page: String,
    seen: HashMap<u64, u32>,
}

impl Alike {
    fn fingerprint(&mut self, finding: &Finding) -> String {
        if self.page != finding.page {
            self.page.clone_from(&finding.page);
            self.seen.clear();
        }
        let target = words::aim(&finding.target, finding.fragment.as_deref());
        let what = xxh3_64(format!("{}\n{}\n{target}", finding.page, finding.verdict.name()).as_bytes());
        let ordinal = self.seen.entry(what).or_default();
        *ordinal += 1;
        format!("{what:016x}:{ordinal}")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::super::fixture::{Fixture, written};
    use super::super::named;
    use super::*;

    fn read(fixture: &Fixture) -> Value {
        serde_json::from_str(&written(named("sarif").expect("a format"), fixture)).expect("JSON")
    }

    fn fingerprints(log: &Value) -> Vec<String> {
        let results = log["runs"][0]["results"].as_array().expect("results");
        results
            .iter()
            .map(|result| result["partialFingerprints"]["link/v1"].as_str().expect("one").to_owned())
            .collect()
    }

    #[test]
    fn the_log_has_the_shape_that_readers_demand() {
        let fixture = Fixture::small();
        let log = read(&fixture);
        assert_eq!(log["version"], "2.1.0");
        let run = &log["runs"][0];
        let rules = run["tool"]["driver"]["rules"].as_array().expect("rules");
        assert_eq!(rules.len(), TOLD.len());
        assert_eq!(rules.last().expect("a rule")["name"], "NotTested");
        assert_eq!(run["invocations"][0]["executionSuccessful"], true);
        let results = run["results"].as_array().expect("results");
        assert_eq!(results.len(), fixture.findings.len());
        for (result, finding) in results.iter().zip(&fixture.findings) {
            let index = usize::try_from(result["ruleIndex"].as_u64().expect("an index")).expect("small");
            assert_eq!(rules[index]["id"], result["ruleId"]);
            assert!(["error", "warning", "note"].contains(&result["level"].as_str().expect("a level")));
            assert!(!result["message"]["text"].as_str().expect("a message").is_empty());
            let physical = &result["locations"][0]["physicalLocation"];
            assert!(physical["artifactLocation"]["uri"].as_str().is_some_and(|uri| url::Url::parse(uri).is_ok()));
            // A region without a line, or with line 0, is not legal.
            match finding.line {
                0 => assert!(physical.get("region").is_none()),
                line => assert_eq!(physical["region"]["startLine"], line),
            }
            assert!(result["baselineState"].is_string());
        }
    }

    #[test]
    fn fingerprints_differ_from_each_other_and_not_from_run_to_run() {
        let fixture = Fixture::small();
        let before = fingerprints(&read(&fixture));
        assert_eq!(before.iter().collect::<HashSet<_>>().len(), before.len());
        let mut later = Fixture::small();
        for finding in &mut later.findings {
            finding.line += 7;
            finding.is_new = false;
        }
        assert_eq!(fingerprints(&read(&later)), before);
    }

    #[test]
    fn a_run_that_was_cut_short_was_not_successful() {
        let mut fixture = Fixture::clean();
        fixture.run.cut_short = Some("interrupted".to_owned());
        let log = read(&fixture);
        let invocation = &log["runs"][0]["invocations"][0];
        assert_eq!(invocation["executionSuccessful"], false);
        assert_eq!(invocation["toolExecutionNotifications"][0]["level"], "error");
    }
}
