//! Redirects, refusals, and responses that are not trusted.

use super::*;
use crate::verdict::Fault;

#[test]
fn redirects_are_urls_that_are_tested_once_and_end() {
    let world = World::new(Options::default(), |job, _| match job.url.path() {
        "/" => links(job, ["/old", "/new", "/circle", "/far/0"]),
        "/old" => moved(job, 301, "/new#part"),
        "/circle" => moved(job, 302, "/circle/2"),
        "/circle/2" => moved(job, 302, "/circle"),
        path => match path.strip_prefix("/far/") {
            Some(number) => moved(job, 302, &format!("/far/{}", number.parse::<u32>().expect("a number") + 1)),
            None => html(job, ""),
        },
    })
    .run();
    assert!(["/old", "/new", "/circle", "/circle/2"].iter().all(|path| world.seconds(path).len() == 1));
    let web = &world.planner.web;
    let find = |path: &str| web.find(&format!("{SITE}{path}")).expect("found");
    let end = web.end_of(find("/old")).expect("it ends");
    assert_eq!((end.node, end.replacement), (find("/new"), Some(find("/new"))));
    assert_eq!(end.part_by, Some(find("/old")), "the fragment of the redirect applies");
    assert_eq!(web.end_of(find("/circle")), None);
    let far = world.lines().iter().filter(|line| line.contains("/far/")).count();
    assert_eq!(far, 21, "no more than any browser follows");
    assert_eq!(web.node(find("/far/20")).code, Outcome::Broken(Fault::RedirectLoop).to_code().0);
}

#[test]
fn a_top_that_moves_takes_its_task_along() {
    let world = World::new(Options::default(), |job, _| match job.url.as_str() {
        "http://h/" => moved(job, 301, "http://www.h/"),
        "http://www.h/" => links(job, ["/page", "http://h/other"]),
        _ => html(job, ""),
    })
    .run();
    assert_eq!(world.lines()[..3], ["GET /", "GET http://www.h/", "GET http://www.h/page"]);
    assert!(world.lines().contains(&"HEAD /other"), "the former host is outside: {:?}", world.lines());
    assert_eq!(world.planner.remarks.len(), 1, "{:?}", world.planner.remarks);
}

#[test]
fn retry_after_is_obeyed_by_the_host_on_429_and_by_the_page_on_503() {
    // Status and Retry-After of the first response, the outcome, the time of the last request for this page and for the
    // others in seconds, and the hosts on hold.
    type Row = (u16, u64, Outcome, std::ops::Range<u128>, std::ops::Range<u128>, usize);
    let table: [(Server, Row); 4] = [
        (|job, n| answer(job, n, 429, 120), (429, 120, Outcome::Good, 120..140, 120..150, 0)),
        (|job, n| answer(job, n, 503, 120), (503, 120, Outcome::Good, 120..140, 0..3, 0)),
        (|job, n| answer(job, n, 429, 7200), (429, 7200, Outcome::NotTested(Reason::Busy(429)), 0..3, 0..3, 1)),
        (|job, n| answer(job, n, 503, 7200), (503, 7200, Outcome::NotTested(Reason::Busy(503)), 0..3, 0..3, 0)),
    ];
    fn answer(job: &FetchJob, before: usize, status: u16, wait: u64) -> Visited {
        match (job.url.path(), before) {
            ("/", _) => links(job, (0..9).map(|n| format!("/{n}"))),
            ("/0", 0) => busy(job, status, wait),
            _ => html(job, ""),
        }
    }
    for (server, (status, wait, outcome, page, others, holds)) in table {
        let world = World::new(Options { per_host: 1, ..Options::default() }, server).run();
        assert_eq!(world.outcome("/0"), outcome, "{status} {wait}");
        let last = |path: &str| world.seconds(path).last().copied().expect("requested");
        assert!(page.contains(&last("/0")), "{status} {wait}: {:?}", world.requests);
        assert!(others.contains(&last("/8")), "{status} {wait}: {:?}", world.requests);
        assert_eq!(world.holds.len(), holds, "{status} {wait}");
    }
}

#[test]
fn a_busy_page_gets_more_attempts_than_a_failing_one() {
    let table: [(Server, usize); 4] = [
        (|job, _| busy(job, 503, 5), 6),
        (|job, _| status(job, 502), 3),
        (|job, _| status(job, 500), 3),
        (|job, _| status(job, 404), 1),
    ];
    for (server, attempts) in table {
        let world = World::new(Options::default(), server).run();
        assert_eq!(world.requests.len(), attempts, "{:?}", world.requests);
    }
    let world = World::new(Options::default(), |job, _| status(job, 500)).run();
    assert_eq!(world.outcome("/"), Outcome::Broken(Fault::Status(500)));
}

#[test]
fn a_host_that_never_responds_is_given_up() {
    let options = Options { attempts: 1, per_host: 1, ..Options::default() };
    let world = World::new(options, |job, _| match job.url.host_str() {
        Some("h") => links(job, (0..9).map(|n| format!("http://down/{n}"))),
        _ => Visited::not_asked(job.node, Reason::TimedOut),
    })
    .run();
    let down = world.lines().iter().filter(|line| line.contains("down")).count();
    assert_eq!(down, 3, "{:?}", world.requests);
    let tested = world.outcomes().values().filter(|outcome| ***outcome == Outcome::NotTested(Reason::TimedOut)).count();
    assert_eq!(tested, 9, "the others have the same outcome");
}

#[test]
fn head_is_trusted_where_it_has_proved_reliable() {
    /// An honest host, whose images 0 to 9 exist.
    fn honest(job: &FetchJob, _: usize) -> Visited {
        let number = job.url.path().trim_start_matches("/i").trim_end_matches(".png").parse::<u32>();
        let mut visited = match number {
            Ok(0..10) => status(job, 200),
            Ok(_) => status(job, 404),
            Err(_) => return images(job),
        };
        header(&mut visited.headers, "content-type", "text/plain");
        visited
    }
    /// A host whose HEAD never finds an image.
    fn liar(job: &FetchJob, _: usize) -> Visited {
        match (job.url.path(), job.method) {
            ("/", _) => images(job),
            (_, Method::Head) => status(job, 404),
            _ => status(job, 200),
        }
    }
    fn images(job: &FetchJob) -> Visited {
        html(job, &(0..40).map(|n| format!("<img src=\"/i{n}.png\">")).collect::<String>())
    }
    let gets = |world: &World| world.lines().iter().filter(|line| line.starts_with("GET /i")).count();
    let world = World::new(Options { per_host: 1, ..Options::default() }, honest).run();
    assert_eq!(gets(&world), 1, "one GET shows how the host responds: {:?}", world.lines());
    let broken = |world: &World| world.outcomes().values().filter(|it| matches!(it, Outcome::Broken(_))).count();
    assert_eq!(broken(&world), 30);
    let world = World::new(Options::default(), liar).run();
    assert_eq!((gets(&world), broken(&world)), (40, 0), "{:?}", world.lines());
}

#[test]
fn robots_txt_forbids_delays_and_lists_sitemaps() {
    let world = World::new(Options { per_host: 4, ..Options::default() }, |job, _| {
        let robots = "User-agent: *\nDisallow: /private\nCrawl-delay: 5\nSitemap: http://h/map.xml\n";
        let visited = match job.url.path() {
            "/" => links(job, ["/private/x", "/a", "/b"]),
            "/private/x" => Visited::not_asked(job.node, Reason::Robots("Disallow: /private, line 2".into())),
            "/map.xml" => links(job, ["/only-in-the-map"]),
            _ => html(job, ""),
        };
        with_robots(robots, visited)
    })
    .run();
    assert!(matches!(world.outcome("/private/x"), Outcome::NotTested(Reason::Robots(_))));
    assert_eq!(world.outcome("/only-in-the-map"), Outcome::Good);
    let times: Vec<u128> = world.requests.iter().map(|(at, _)| *at).collect();
    assert_eq!(times.len(), 6, "{:?}", world.requests);
    // The delay is known from the first response on.
    assert!(times[1..].windows(2).all(|pair| pair[1] - pair[0] >= 5_000), "{:?}", world.requests);
}
