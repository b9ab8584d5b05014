//! Interrupted and resumed runs, and later runs.

use super::*;

/// Forty pages in a tree, some links broken, one page redirected.
fn site(job: &FetchJob, _: usize) -> Visited {
    if job.etag.is_some() {
        return status(job, 304);
    }
    let path = job.url.path();
    match path.trim_start_matches('/').parse::<u32>() {
        Ok(13) => moved(job, 301, "/moved"),
        Ok(number @ 0..40) => links(
            job,
            (number * 3 + 1..=number * 3 + 3).map(|next| format!("/{next}")).chain([format!("/gone{number}")]),
        ),
        Ok(_) => status(job, 404),
        Err(_) if path == "/" => links(job, ["/0"]),
        Err(_) if path == "/moved" => links(job, ["/0"]),
        Err(_) => status(job, 404),
    }
}

fn text(outcomes: &BTreeMap<&str, &Outcome>) -> String {
    format!("{outcomes:#?}")
}

#[test]
fn a_resumed_run_requests_the_rest_and_has_the_same_results() {
    let whole = World::new(Options::default(), site).run();
    let total = whole.requests.len();
    for part in [1, 5, 20, 60, total - 1] {
        let first = World::new(Options::default(), site).run_until(part);
        let second = World::over(&first.table, 1, Options::default(), site).run();
        assert_eq!(text(&second.outcomes()), text(&whole.outcomes()), "interrupted after {part}");
        // Those in flight are repeated.
        let sent = part + second.requests.len();
        assert!((total..=total + 8).contains(&sent), "interrupted after {part}: {sent} of {total}");
    }
}

#[test]
fn a_later_run_asks_whether_documents_have_changed() {
    let first = World::new(Options::default(), site).run();
    let second = World::over(&first.table, 2, Options::default(), site).run();
    assert_eq!(text(&second.outcomes()), text(&first.outcomes()));
    assert_eq!(second.planner.progress().pages, first.planner.progress().pages);
    let conditional = second.lines().iter().filter(|line| line.ends_with("if changed")).count();
    assert_eq!(conditional as u64, first.planner.progress().pages, "{:?}", second.lines());
    let since = |world: &World| world.table.tests.values().map(|test| test.since).max();
    assert_eq!(since(&second), since(&first), "no outcome has changed since the first run");
}

#[test]
fn a_document_without_stored_references_is_read_again() {
    let mut first = World::new(Options::default(), site).run();
    let top = first.planner.web.find(&format!("{SITE}/")).expect("the top");
    first.table.pages.remove(&top);
    let second = World::over(&first.table, 2, Options::default(), site).run();
    assert_eq!(second.lines()[..2], ["GET /", "GET /0 if changed"]);
}

#[test]
fn a_host_without_responses_is_broken_after_three_runs_over_a_week() {
    let mut table = World::new(Options::default(), site).run().table;
    let silent: Server = |job, _| Visited::not_asked(job.node, Reason::TimedOut);
    for (run, is_broken) in [(2, false), (5, false), (8, false), (10, true)] {
        let world = World::over(&table, run, Options { attempts: 1, ..Options::default() }, silent).run();
        assert_eq!(matches!(world.outcome("/"), Outcome::Broken(_)), is_broken, "in run {run}");
        table = world.table;
    }
}
