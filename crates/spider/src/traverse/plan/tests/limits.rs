//! Traps, and limits of documents and depth.

use super::*;

/// A calendar without an end.
fn calendar(job: &FetchJob, _: usize) -> Visited {
    let day: u32 = job.url.path().trim_start_matches("/day/").parse().unwrap_or(0);
    links(job, [format!("/day/{}", day + 1)])
}

#[test]
fn webs_without_an_end_have_one() {
    let unlimited = Options { max_depth: u16::MAX, ..Options::default() };
    // The options, the documents that are read, and the limit that the remark mentions.
    for (options, read, remark) in [
        (Options { max_similar: Some(30), ..unlimited.clone() }, 31, "--max-similar"),
        (Options { max_depth: 7, ..Options::default() }, 8, "more than 7 links"),
        (Options { max_pages: Some(12), ..unlimited }, 12, "--max-pages"),
    ] {
        let world = World::new(options, calendar).run();
        let gets = world.lines().iter().filter(|line| line.starts_with("GET")).count();
        assert_eq!(gets, read, "{remark}");
        let remarks = &world.planner.remarks;
        assert!(remarks.len() == 1 && remarks[0].contains(remark), "{remarks:?}");
        assert!(world.planner.is_cut(), "{remark}");
    }
}

#[test]
fn documents_beyond_the_limit_are_tested_like_leaves() {
    for per_host in [1, 4] {
        let options = Options { max_pages: Some(3), per_host, ..Options::default() };
        let world = World::new(options, |job, _| match job.url.path() {
            "/" => links(job, ["/a", "/b", "/c", "/d"]),
            _ => links(job, [] as [&str; 0]),
        })
        .run();
        assert_eq!(world.sorted(), ["GET /", "GET /a", "GET /b", "HEAD /c", "HEAD /d"]);
        assert_eq!(world.outcomes().len(), 5);
    }
}

#[test]
fn a_place_that_a_failing_document_reserved_becomes_free() {
    let options = Options { max_pages: Some(1), ..Options::default() };
    let world = World::new(options, |job, before| if before == 0 { busy(job, 503, 1) } else { html(job, "") }).run();
    assert_eq!(world.lines(), ["GET /", "GET /"]);
    assert_eq!(world.outcome("/"), Outcome::Good);
    assert!(!world.planner.is_cut());
}

#[test]
fn depths_do_not_depend_on_the_order_of_responses() {
    // The long way is found first, because the short one waits for its host.
    let options = Options { max_depth: 3, per_host: 8, ..Options::default() };
    let world = World::new(options, |job, before| match (job.url.path(), before) {
        ("/", _) => links(job, ["/1", "/short"]),
        ("/1", _) => links(job, ["/2"]),
        ("/2", _) => links(job, ["/deep"]),
        ("/deep", _) => links(job, ["/deeper"]),
        ("/short", 0) => busy(job, 503, 60),
        ("/short", _) => links(job, ["/deep"]),
        _ => html(job, ""),
    })
    .run();
    assert!(world.lines().contains(&"GET /deeper"), "{:?}", world.lines());
    assert!(!world.planner.is_cut(), "{:?}", world.planner.remarks);
}
