//! Findings as SARIF 2.1.0, which code scanning and editors read.
//!
//! Each verdict is a rule, in the order of [`VERDICTS`]. Each target is one result: the first page that links to it is its
//! location, further pages are related locations, and `occurrenceCount` is the number of links. A result is identified
//! from run to run by its fingerprint: verdict and target, but no page or line, which change when a page is edited.
//!
//! Locations are relative to the root of a task's site (`originalUriBaseIds`): GitHub and others refuse absolute http
//! URLs, and a checkout of the site often has the same paths.

use std::io::Write;

use serde_json::{Value, json};
use url::Url;
use xxhash_rust::xxh3::xxh3_64;

use super::words::{self, VERDICTS, VerdictText};
use super::writing;
use crate::results::{ReportError, Results, Run, Visit};
use crate::targets::{Target, Targets};
use crate::verdict::Verdict;

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

pub(super) fn write(results: &dyn Results, out: &mut dyn Write) -> Visit {
    let run = results.run();
    // Results are written one by one, so the surrounding JSON is written without a serialiser.
    put(out, format_args!("{{\"$schema\":\"{SCHEMA}\",\"version\":\"2.1.0\",\"runs\":[{{\"tool\":"))?;
    value(out, &tool())?;
    put(out, format_args!(",\"columnKind\":\"unicodeCodePoints\",\"originalUriBaseIds\":"))?;
    let roots = Roots::of(results);
    value(out, &roots.base_ids())?;
    put(out, format_args!(",\"invocations\":"))?;
    value(out, &json!([invocation(run)]))?;
    put(out, format_args!(",\"results\":["))?;
    let targets = Targets::gather(results, None)?;
    let mut between = "\n";
    for (index, wording) in VERDICTS.iter().enumerate() {
        for target in targets.of(wording.verdict) {
            put(out, format_args!("{between}"))?;
            between = ",\n";
            let context = Context { roots: &roots, documents: targets.documents(), has_before: run.before.is_some() };
            value(out, &context.result(target, index, wording))?;
        }
    }
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
    let rules = VERDICTS.iter().map(|wording| {
        json!({
            "id": wording.slug,
            "name": name_of(wording),
            "shortDescription": { "text": wording.heading },
            "fullDescription": { "text": wording.is },
            "help": { "text": wording.advice },
            "defaultConfiguration": { "level": wording.level },
        })
    });
    json!({ "driver": { "name": "modoai spider", "version": version, "semanticVersion": version, "rules": rules.collect::<Vec<_>>() } })
}

/// Returns the name of a rule, in Pascal case by the standard's advice.
fn name_of(wording: &VerdictText) -> String {
    let mut name = String::new();
    for word in wording.slug.split('-') {
        name.extend(word.chars().take(1).map(|c| c.to_ascii_uppercase()));
        name.extend(word.chars().skip(1));
    }
    name
}

fn invocation(run: &Run) -> Value {
    let incomplete = run.incomplete();
    let mut invocation = json!({
        "executionSuccessful": incomplete.is_none(),
        "startTimeUtc": run.began.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        "endTimeUtc": run.ended.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        "properties": { "run": run.number, "complete": incomplete.is_none(), "summary": run.summary },
    });
    let mut notes: Vec<_> =
        run.remarks.iter().map(|remark| json!({ "level": "note", "message": { "text": remark } })).collect();
    if let Some(why) = incomplete {
        let text = format!("Incomplete: {why}. Links on other pages are not included in this report.");
        notes.insert(0, json!({ "level": "error", "message": { "text": text } }));
    }
    invocation["toolExecutionNotifications"] = notes.into();
    invocation
}

/// The roots of the sites, to which the locations of pages are relative.
struct Roots(Vec<(String, Url)>);

impl Roots {
    fn of(results: &dyn Results) -> Self {
        let mut roots: Vec<(String, Url)> = Vec::new();
        for infostructure in results.infostructures() {
            let Ok(root) = infostructure.task.top.join("/") else { continue };
            if roots.iter().all(|(_, known)| *known != root) {
                let id = if roots.is_empty() { "SITEROOT".to_owned() } else { format!("SITEROOT{}", roots.len() + 1) };
                roots.push((id, root));
            }
        }
        Self(roots)
    }

    fn base_ids(&self) -> Value {
        let ids = self.0.iter().map(|(id, root)| (id.clone(), json!({ "uri": root.as_str() })));
        Value::Object(ids.collect())
    }

    /// Returns the location of a page, relative to the root of its site.
    fn location(&self, page: &str, line: u32) -> Value {
        let within = self.0.iter().find_map(|(id, root)| Some((id, page.strip_prefix(root.as_str())?)));
        let mut physical = match within {
            Some((id, path)) => {
                // Readers would interpret a first segment with a colon as a scheme, and an empty one as a host or as
                // nothing.
                let first = path.split('/').next().unwrap_or_default();
                let path = if first.is_empty() || first.contains(':') { format!("./{path}") } else { path.to_owned() };
                json!({ "artifactLocation": { "uri": path, "uriBaseId": id } })
            }
            None => json!({ "artifactLocation": { "uri": page } }),
        };
        if line > 0 {
            physical["region"] = json!({ "startLine": line });
        }
        json!({ "physicalLocation": physical })
    }
}

/// The data that all results share.
struct Context<'a> {
    roots: &'a Roots,
    documents: u64,
    has_before: bool,
}

impl Context<'_> {
    fn result(&self, target: &Target, index: usize, wording: &VerdictText) -> Value {
        let (finding, url) = (&target.first, target.url());
        // A temporary redirect is correct.
        let level = if wording.slug == "moved" && !finding.permanent { "note" } else { wording.level };
        let mut locations = target.places.iter().map(|place| self.roots.location(&place.page, place.line));
        let first = locations.next().unwrap_or_else(|| self.roots.location(&finding.page, finding.line));
        let mut result = json!({
            "ruleId": wording.slug,
            "ruleIndex": index,
            "level": level,
            "message": { "text": message(target, &url, self.documents) },
            "locations": [first],
            "relatedLocations": locations.collect::<Vec<_>>(),
            "occurrenceCount": target.links,
            "partialFingerprints": { "target/v1": fingerprint(finding.verdict, &url) },
            "properties": {
                "target": url,
                "element": finding.element,
                "status": finding.status,
                "since": target.since.map(|at| at.to_string()),
                "to": finding.to,
                "owner": finding.owner,
                "tasks": finding.tasks,
                "pages": target.pages,
                "siteWide": target.is_site_wide,
            },
        });
        if self.has_before {
            result["baselineState"] = json!(if target.is_new { "new" } else { "unchanged" });
        }
        result
    }
}

fn message(target: &Target, url: &str, documents: u64) -> String {
    let finding = &target.first;
    let mut text = format!("{url}: {}", finding.reason);
    if let Some(to) = &finding.to {
        put!(&mut text, ", now at {to}");
    }
    if target.pages > 1 {
        put!(&mut text, ", {}", words::spread(target, documents));
    }
    if !finding.text.is_empty() {
        put!(&mut text, " ({} “{}”)", finding.element, finding.text);
    }
    text
}

fn fingerprint(verdict: Verdict, url: &str) -> String {
    format!("{:016x}", xxh3_64(format!("{}\n{url}", verdict.name()).as_bytes()))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::super::fixture::{Fixture, written};
    use super::super::named;
    use super::*;
    use crate::results::Finding;

    fn read(fixture: &Fixture) -> Value {
        serde_json::from_str(&written(named("sarif").expect("a format"), fixture)).expect("JSON")
    }

    fn fingerprints(log: &Value) -> Vec<String> {
        let results = log["runs"][0]["results"].as_array().expect("results");
        results
            .iter()
            .map(|result| result["partialFingerprints"]["target/v1"].as_str().expect("one").to_owned())
            .collect()
    }

    #[test]
    fn the_log_has_the_shape_that_readers_demand() {
        let fixture = Fixture::small();
        let log = read(&fixture);
        assert_eq!(log["version"], "2.1.0");
        let run = &log["runs"][0];
        let rules = run["tool"]["driver"]["rules"].as_array().expect("rules");
        assert_eq!(rules.len(), VERDICTS.len());
        assert_eq!(rules.last().expect("a rule")["name"], "NotTested");
        assert_eq!(run["invocations"][0]["executionSuccessful"], true);
        let results = run["results"].as_array().expect("results");
        assert_eq!(results.len(), fixture.findings.len());
        assert_eq!(run["originalUriBaseIds"]["SITEROOT"]["uri"], "https://tidewater.example/");
        for result in results {
            let index = usize::try_from(result["ruleIndex"].as_u64().expect("an index")).expect("small");
            assert_eq!(rules[index]["id"], result["ruleId"]);
            assert!(["error", "warning", "note"].contains(&result["level"].as_str().expect("a level")));
            assert!(!result["message"]["text"].as_str().expect("a message").is_empty());
            let physical = &result["locations"][0]["physicalLocation"];
            // A relative reference, and never an empty one.
            let location = &physical["artifactLocation"];
            assert_eq!(location["uriBaseId"], "SITEROOT");
            let uri = location["uri"].as_str().expect("a location");
            assert!(!uri.is_empty() && Url::parse(uri) == Err(url::ParseError::RelativeUrlWithoutBase), "{uri}");
            let root = Url::parse("https://tidewater.example/").expect("a URL");
            let page = root.join(uri).expect("a URL");
            // A region without a line, or with line 0, is invalid.
            let target = result["properties"]["target"].as_str().expect("a target");
            let of_it = |finding: &&Finding| {
                let aim = words::aim(&finding.target, finding.fragment.as_deref());
                finding.page == page.as_str() && (aim == target || finding.target == target)
            };
            let finding = fixture.findings.iter().find(of_it).expect("a finding");
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
    fn a_dead_link_in_the_template_is_one_result() {
        let log = read(&Fixture::templated(3_000));
        let results = log["runs"][0]["results"].as_array().expect("results");
        assert_eq!(results.len(), 2);
        assert_eq!(results[0]["occurrenceCount"], 2_990);
        assert_eq!(results[0]["properties"]["siteWide"], true);
        assert_eq!(results[0]["relatedLocations"].as_array().map(Vec::len), Some(9));
    }

    #[test]
    fn locations_are_relative_references() {
        let roots = Roots::of(&Fixture::small());
        let uri = |page: &str| {
            let location = roots.location(page, 0);
            let location = &location["physicalLocation"]["artifactLocation"];
            (location["uri"].as_str().map(str::to_owned), location["uriBaseId"].is_string())
        };
        assert_eq!(uri("https://tidewater.example/"), (Some("./".to_owned()), true));
        assert_eq!(uri("https://tidewater.example/a/b.html?q=1"), (Some("a/b.html?q=1".to_owned()), true));
        assert_eq!(uri("https://tidewater.example/a:b"), (Some("./a:b".to_owned()), true));
        assert_eq!(uri("https://tidewater.example//a"), (Some(".//a".to_owned()), true));
        assert_eq!(uri("https://other.example/x"), (Some("https://other.example/x".to_owned()), false));
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
