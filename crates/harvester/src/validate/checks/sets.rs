//! Checks of sets: their list, their members, and requests that must be refused.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use modoai_protocol::SetSpec;

use super::super::case::{Case, End, Judged, SELECTIVE, Stop, not_judged};
use super::super::exchange::{Entry, Question};
use super::super::report::{Grade, Verdict};
use super::Check;
use super::errors::refused;

/// The number of sets whose lists are read completely.
const WALKED: usize = 3;

pub(super) const CHECKS: &[Check] = &[
    Check::new("sets-list", "4.6", "ListSets", "sets, or noSetHierarchy", list),
    Check::new("sets-names", "4.6", "ListSets", "a non-empty setName", names),
    Check::new("sets-distinct", "2.6", "ListSets", "each setSpec once", distinct),
    Check::new("sets-hierarchy", "2.6", "ListSets", "for each set, the sets above it", hierarchy),
    Check::new(
        "sets-of-headers",
        "2.6, 4.6",
        "ListSets, ListIdentifiers",
        "every set in a header is listed (in that of a deleted record: a warning)",
        of_headers,
    ),
    Check::new("sets-minimal", "2.6", "ListIdentifiers", "no header contains a set above another of its sets", minimal),
    Check::new(
        "sets-members-only",
        "2.7.2",
        "ListRecords and ListIdentifiers for some of the sets",
        "headers in that set or below it",
        members_only,
    ),
    Check::new(
        "sets-all-members",
        "2.7.2",
        "the same",
        "every record whose header in other lists contains that set, or one below it",
        all_members,
    ),
    Check::new(
        "sets-unknown",
        "3.6",
        "ListIdentifiers for an unknown set",
        "noRecordsMatch (badArgument is tolerated); noSetHierarchy if the repository has no sets",
        unknown,
    ),
];

/// Returns the sets. An empty list of sets differs from a list that could not be read.
fn known(case: &Case) -> Result<BTreeSet<String>, Stop> {
    let walk = case.sets()?;
    if let End::Broken(reason) = &walk.end {
        return not_judged(format!("failed to list the sets: {reason}"));
    }
    Ok(walk.set_specs().map(|(_, spec)| spec.to_owned()).collect())
}

fn some(case: &Case) -> Result<BTreeSet<String>, Stop> {
    let known = known(case)?;
    if known.is_empty() { not_judged("the repository has no sets") } else { Ok(known) }
}

fn list(case: &Case, verdict: &mut Verdict) -> Judged {
    let walk = case.sets()?;
    let first = walk.first();
    match first.answer() {
        None => verdict.fail(first, first.trouble()),
        Some(answer) if !answer.errors.is_empty() && !answer.is_refused_with("noSetHierarchy") => {
            let codes = answer.codes().join(", ");
            verdict.fail_at(first, format!("expected sets or noSetHierarchy, received {codes}"), "<error");
        }
        Some(_) => {}
    }
    if walk.end == End::Sampled {
        verdict.note(format!("only the first {} sets were checked", walk.set_specs().count()));
    }
    Ok(())
}

fn names(case: &Case, verdict: &mut Verdict) -> Judged {
    some(case)?;
    for page in case.sets()?.pages {
        for set in page.answer().map_or(&[][..], |answer| &answer.sets) {
            if set.name.trim().is_empty() {
                verdict.warn_at(page, format!("the set '{}' has no name", set.spec), &set.spec);
            }
        }
    }
    Ok(())
}

fn distinct(case: &Case, verdict: &mut Verdict) -> Judged {
    some(case)?;
    let mut seen = HashSet::new();
    for (page, spec) in case.sets()?.set_specs() {
        if !seen.insert(spec) {
            verdict.fail_at_last(page, format!("the set '{spec}' is listed twice"), spec);
        }
    }
    Ok(())
}

fn hierarchy(case: &Case, verdict: &mut Verdict) -> Judged {
    let known = some(case)?;
    let walk = case.sets()?;
    if !walk.is_complete() {
        return not_judged("too many sets to check");
    }
    for (page, spec) in walk.set_specs() {
        let Some(set) = SetSpec::parse(spec) else { continue };
        if let Some(above) = set.lineage().find(|above| !known.contains(*above)) {
            verdict.warn_at(page, format!("'{spec}' is listed, but '{above}' above it is not"), spec);
        }
    }
    Ok(())
}

fn of_headers(case: &Case, verdict: &mut Verdict) -> Judged {
    let known = known(case)?;
    if !case.sets()?.is_complete() {
        return not_judged("too many sets to check");
    }
    let headers = case.headers()?;
    let mut told = HashSet::new();
    let mut emptied = BTreeSet::new();
    for (page, entry) in headers.entries() {
        for set in entry.sets.iter().filter(|set| !known.contains(*set)) {
            // A set whose last record was deleted may be removed from the list.
            if entry.deleted {
                emptied.insert(set.as_str());
            } else if told.insert(set) {
                let message = format!("'{}' is in the set '{set}', which is not listed", entry.identifier);
                verdict.add(Grade::Failure, page, message, page.excerpt(set));
            }
        }
    }
    if !emptied.is_empty() {
        verdict.note(format!("sets of deleted records that are not listed: {}", emptied.len()));
    }
    if let Some(shortfall) = headers.shortfall() {
        verdict.note(shortfall);
    }
    Ok(())
}

fn minimal(case: &Case, verdict: &mut Verdict) -> Judged {
    some(case)?;
    for (page, entry) in case.headers()?.entries() {
        let implied: HashSet<&str> = entry.sets.iter().flat_map(|set| above(set)).collect();
        if let Some(implied) = entry.sets.iter().find(|set| implied.contains(set.as_str())) {
            let message =
                format!("'{}' lists the set '{implied}', which is implied by another of its sets", entry.identifier);
            verdict.warn_at(page, message, &entry.identifier);
        }
    }
    Ok(())
}

/// Returns the sets above a set.
fn above(set: &str) -> impl Iterator<Item = &str> {
    set.match_indices(':').map(|(end, _)| &set[..end])
}

fn is_within(set: &str, spec: &str) -> bool {
    set == spec || set.strip_prefix(spec).is_some_and(|rest| rest.starts_with(':'))
}

/// Returns the number of headers in each of the sets, including the sets below it.
fn members<'a>(known: &'a BTreeSet<String>, headers: impl Iterator<Item = &'a Entry>) -> BTreeMap<&'a str, usize> {
    let mut members = BTreeMap::new();
    for entry in headers {
        let within: HashSet<&str> = entry.sets.iter().flat_map(|set| above(set).chain([set.as_str()])).collect();
        for spec in within.into_iter().filter_map(|spec| known.get(spec)) {
            *members.entry(spec.as_str()).or_default() += 1;
        }
    }
    members
}

/// Returns some sets that have members, if headers contain sets: one of each depth first.
fn walked(case: &Case) -> Result<Vec<String>, Stop> {
    let known = some(case)?;
    let headers = case.headers()?;
    let members = members(&known, headers.entries().map(|(_, entry)| entry));
    let mut chosen: Vec<String> = Vec::new();
    // Lists of sets with few members are complete sooner.
    let mut by_size: Vec<_> = members.into_iter().collect();
    by_size.sort_by_key(|(spec, count)| (*count, *spec));
    for (spec, _) in &by_size {
        let depth = |spec: &str| spec.matches(':').count();
        if chosen.len() < WALKED && chosen.iter().all(|other| depth(other) != depth(spec)) {
            chosen.push((*spec).to_owned());
        }
    }
    let others = by_size.iter().map(|(spec, _)| (*spec).to_owned()).chain(known.iter().cloned());
    for spec in others {
        if chosen.len() < WALKED && !chosen.contains(&spec) {
            chosen.push(spec);
        }
    }
    Ok(chosen)
}

fn members_only(case: &Case, verdict: &mut Verdict) -> Judged {
    let sets = walked(case)?;
    for (spec, verb) in sets.iter().flat_map(|spec| SELECTIVE.map(|verb| (spec, verb))) {
        let walk = case.list(verb, &[("set", spec)])?;
        if let End::Broken(reason) = &walk.end {
            verdict.fail(walk.last(), format!("the list of '{spec}' stops early: {reason}"));
        }
        for (page, entry) in walk.entries() {
            if !entry.sets.iter().any(|set| is_within(set, spec)) {
                let message = format!(
                    "'{}' is in the list of '{spec}', but its header does not contain this set",
                    entry.identifier
                );
                verdict.fail_at(page, message, &entry.identifier);
            }
        }
    }
    verdict.note(format!("checked: {}", sets.join(", ")));
    Ok(())
}

fn all_members(case: &Case, verdict: &mut Verdict) -> Judged {
    let sets = walked(case)?;
    let headers = case.headers()?;
    let mut judged = BTreeSet::new();
    for (spec, verb) in sets.iter().flat_map(|spec| SELECTIVE.map(|verb| (spec, verb))) {
        let walk = case.list(verb, &[("set", spec)])?;
        if !walk.is_complete() {
            continue;
        }
        judged.insert(spec.as_str());
        let listed: HashSet<_> = walk.entries().map(|(_, entry)| &entry.identifier).collect();
        for (_, entry) in headers.entries().filter(|(_, entry)| entry.sets.iter().any(|set| is_within(set, spec))) {
            if !listed.contains(&entry.identifier) {
                verdict.fail(walk.first(), format!("'{}' is missing from the list of '{spec}'", entry.identifier));
            }
        }
    }
    if judged.is_empty() {
        return not_judged("the lists of the sets are too long");
    }
    verdict.note(format!("checked: {}", Vec::from_iter(judged).join(", ")));
    Ok(())
}

fn unknown(case: &Case, verdict: &mut Verdict) -> Judged {
    let has_sets = !known(case)?.is_empty();
    let prefix = case.prefix()?;
    let set = ("set", "modoai-validate-nothing");
    let question = Question::of(&[("verb", "ListIdentifiers"), ("metadataPrefix", &prefix), set]);
    let (codes, also): (&[_], &[_]) =
        if has_sets { (&["noRecordsMatch"], &["badArgument"]) } else { (&["noSetHierarchy"], &[]) };
    refused(case, verdict, &[question], codes, also)
}

#[cfg(test)]
mod tests {
    use modoai_testkit::effort::effort;

    use super::*;

    #[test]
    fn many_headers_in_many_sets_are_soon_counted() {
        let header =
            |sets: &[&str]| Entry { sets: sets.iter().map(|set| (*set).to_owned()).collect(), ..Entry::default() };
        let mut known: BTreeSet<String> = (0..100_000).map(|number| format!("s{number}")).collect();
        known.extend(["a", "a:b"].map(str::to_owned));
        let mut headers = vec![header(&["s7"]); 50_000];
        headers.extend([header(&["a:b:c", "a"]), header(&["a:bb"]), header(&["unknown"])]);
        let (members, effort) = effort(|| members(&known, headers.iter()));
        assert_eq!(members, BTreeMap::from([("a", 2), ("a:b", 1), ("s7", 50_000)]));
        // With a search for each set, this takes many minutes.
        assert!(effort.as_secs() < 60, "{effort:?} of a processor");
    }
}
