//! One run after the other: what is asked again, what is new, fixed or removed; and runs that do not come to their end.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use modoai_testkit::process::binary;
use modoai_testkit::waiting::wait_until;
use modoai_testkit::web::{Delivery, Host, Reply, Visit, Web, html};

use super::{Ended, Spider, whole};
use crate::running::{Told, signal, to_its_end};

/// A page with a tag, so that it need not be sent twice.
fn tagged(body: &str) -> impl Fn(&Visit<'_>) -> Reply + Send + Sync + use<> {
    let tag = format!("\"{}\"", body.len());
    let body = body.to_owned();
    move |_| html(&body).with("ETag", &tag)
}

#[test]
fn the_second_run_is_conditional() {
    let dated = |_: &Visit<'_>| html(r#"<a href="/gone">x</a>"#).with("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT");
    let weak = |_: &Visit<'_>| html(r##"<p id="p"><a href="#q">x</a>"##).with("ETag", "W/\"1\"");
    let host = Web::default()
        .on("/", tagged(r#"<a href="/dated">1</a><a href="/weak#p">2</a><a href="/plain">3</a><img src="/picture">"#))
        .on("/dated", dated)
        .on("/weak", weak)
        .page("/plain", r#"<a href="/">back</a>"#)
        .file("/picture", "image/png", "x")
        .start();
    let folder = tempfile::tempdir().expect("a folder");
    let table = folder.path().join("table");
    let first = Spider::new(host.at("/"), &table).complete();
    assert_eq!(told(&first, &host), ["broken /gone", "fragment /weak#q"], "{}", first.said);
    assert_eq!((first.count("new"), first.count("fixed"), first.count("removed")), (2, 0, 0), "{}", first.said);
    let before = host.take_log();

    let second = Spider::new(host.at("/"), &table).complete();
    assert_eq!(told(&second, &host), told(&first, &host), "{}", second.said);
    assert_eq!((second.count("new"), second.count("fixed"), second.count("removed")), (0, 0, 0), "{}", second.said);
    for name in ["pages", "links", "urls", "broken", "fragments"] {
        assert_eq!(second.count(name), first.count(name), "{name}\n{}", second.said);
    }
    let log = host.log();
    assert!(log.len() <= before.len(), "{log:#?}");
    assert_eq!(host.repeated(), []);
    for (path, status, header) in
        [("/", 304, "If-None-Match"), ("/dated", 304, "If-Modified-Since"), ("/weak", 304, "If-None-Match")]
    {
        let asked = log.iter().find(|asked| asked.request.target == path).expect("it is asked for again");
        assert_eq!(asked.status, status, "{asked}");
        assert!(asked.request.header(header).is_some(), "{asked}");
    }
    let bodies: usize = log.iter().filter(|asked| asked.status == 200).map(|asked| asked.length).sum();
    assert!(bodies < 400, "{bodies} bytes");
}

#[test]
fn new_unchanged_fixed_and_removed_targets_are_counted() {
    let links = r#"<a href="/remains">1</a><a href="/fixed">2</a><a href="/breaks">3</a><a href="/other#p">4</a>"#;
    let host = Web::default().on("/", tagged(links)).page("/breaks", "x").on("/other", tagged("<p id=p>")).start();
    let folder = tempfile::tempdir().expect("a folder");
    let table = folder.path().join("table");
    let first = Spider::new(host.at("/"), &table).complete();
    assert_eq!(told(&first, &host), ["broken /fixed", "broken /remains"]);
    assert!(first.findings.iter().all(|finding| finding["is_new"] == true), "{}", first.said);

    // The page that has the links is as it was; what they lead to is not.
    host.change(|web| web.without("/breaks").page("/fixed", "x").on("/other", tagged("<p id=another>")));
    let second = Spider::new(host.at("/"), &table).complete();
    assert_eq!(told(&second, &host), ["broken /breaks", "broken /remains", "fragment /other#p"]);
    let is_new: BTreeMap<String, bool> = second
        .findings
        .iter()
        .map(|finding| (whole(finding).replace(host.url(), ""), finding["is_new"] == true))
        .collect();
    assert_eq!(
        is_new,
        [("/breaks", true), ("/other#p", true), ("/remains", false)].map(|(path, new)| (path.to_owned(), new)).into()
    );
    assert_eq!((second.count("new"), second.count("fixed"), second.count("removed")), (2, 1, 0), "{}", second.said);
    let since = |ended: &Ended| {
        let of_it = ended.findings.iter().find(|finding| whole(finding).ends_with("/remains"));
        of_it.and_then(|finding| finding["since"].as_str()).map(str::to_owned)
    };
    assert!(since(&first).is_some());
    assert_eq!(since(&first), since(&second), "it has been broken since it was first seen to be");

    // A link that is taken out of its page is removed, not fixed.
    host.change(|web| web.on("/", tagged(r#"<a href="/breaks">3</a>"#)));
    let third = Spider::new(host.at("/"), &table).complete();
    assert_eq!(told(&third, &host), ["broken /breaks"]);
    assert_eq!((third.count("new"), third.count("fixed"), third.count("removed")), (0, 0, 2), "{}", third.said);
}

#[test]
fn what_could_not_be_tested_is_not_fixed() {
    let host = Web::default()
        .page("/", r#"<a href="/hub">1</a>"#)
        .page("/hub", r#"<a href="/gone">2</a><a href="/far">3</a>"#)
        .page("/far", r#"<a href="/gone-too">4</a>"#)
        .start();
    let folder = tempfile::tempdir().expect("a folder");
    let table = folder.path().join("table");
    let first = Spider::new(host.at("/"), &table).complete();
    assert_eq!(told(&first, &host), ["broken /gone", "broken /gone-too"]);

    // The target cannot be tested, then the page that has the link, and with it whatever is behind it.
    for trouble in ["/gone", "/hub"] {
        host.change(|web| web.status(trouble, 502));
        let ended = Spider::new(host.at("/"), &table).run().unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((ended.code, ended.count("unread")), (Some(3), 1), "{trouble}\n{}", ended.said);
        assert_eq!((ended.count("fixed"), ended.count("removed")), (0, 0), "{trouble}\n{}", ended.said);
        host.change(|web| match trouble {
            "/gone" => web.without(trouble),
            _ => web.page(trouble, r#"<a href="/gone">2</a><a href="/far">3</a>"#),
        });
    }
    let last = Spider::new(host.at("/"), &table).complete();
    assert_eq!(told(&last, &host), ["broken /gone", "broken /gone-too"]);
    assert_eq!((last.count("new"), last.count("fixed"), last.count("removed")), (0, 0, 0), "{}", last.said);
}

/// What happens to a site between two runs.
type Change = fn(Web) -> Web;

/// The site in [`unread_pages_make_the_run_incomplete`]: a front page and two areas with one broken link each.
fn areas() -> Web {
    Web::default()
        .page("/", r#"<a href="/open">1</a><a href="/area/">2</a>"#)
        .page("/open", r#"<a href="/gone">3</a>"#)
        .page("/area/", r#"<a href="/area/far">4</a><a href="/gone-too">5</a>"#)
        .page("/area/far", r#"<a href="/gone-as-well">6</a>"#)
}

#[test]
fn unread_pages_make_the_run_incomplete() {
    let refusals: [(&str, Change); 5] = [
        ("429", |web| web.status("/area/", 429)),
        ("503", |web| web.status("/area/", 503)),
        ("401", |web| web.status("/area/", 401)),
        ("connection closed", |web| web.on("/area/", |_| html("half").delivered(Delivery::CutAt(3)))),
        ("robots.txt", |web| web.robots("User-agent: *\nDisallow: /area/\n")),
    ];
    for (name, refuse) in refusals {
        let host = areas().robots("").start();
        let folder = tempfile::tempdir().expect("a folder");
        let table = folder.path().join("table");
        let spider = || {
            let mut spider = Spider::new(host.at("/"), &table).run().unwrap_or_else(|error| panic!("{name}: {error}"));
            spider.findings.retain(|finding| finding["verdict"] == "broken");
            spider
        };
        let first = spider();
        assert_eq!(
            (first.code, first.count("unread"), first.findings.len()),
            (Some(2), 0, 3),
            "{name}\n{}",
            first.said
        );
        host.change(refuse);
        // robots.txt is kept for a day.
        let second = if name == "robots.txt" {
            let fresh = folder.path().join("fresh");
            Spider::new(host.at("/"), &fresh).run().unwrap_or_else(|error| panic!("{name}: {error}"))
        } else {
            spider()
        };
        assert_eq!((second.code, second.count("unread")), (Some(3), 1), "{name}\n{}", second.said);
        assert_eq!(second.summary["complete"], false, "{name}\n{}", second.said);
        let share = "1 of 3 pages (33.3%) could not be read";
        assert!(second.summary["incomplete"].as_str().is_some_and(|why| why.starts_with(share)), "{}", second.said);
        assert_eq!((second.count("fixed"), second.count("removed")), (0, 0), "{name}\n{}", second.said);
        // As it was: nothing is new, and everything has been so since the first run.
        host.change(|_| areas().robots(""));
        let third = spider();
        let since = |ended: &Ended| -> BTreeSet<String> {
            ended.findings.iter().map(|finding| format!("{} {}", whole(finding), finding["since"])).collect()
        };
        assert_eq!((third.code, third.count("new")), (Some(2), 0), "{name}\n{}", third.said);
        assert_eq!(since(&third), since(&first), "{name}\n{}", third.said);
    }
}

#[test]
fn a_start_page_that_cannot_be_read_is_no_assurance() {
    for (status, code) in [(503, 3), (404, 1)] {
        let host = Web::default().status("/", status).start();
        let mut command = Command::new(binary());
        command.args(["spider", &host.at("/"), "--no-table", "--quiet"]).stdin(Stdio::null());
        let Told { status: ended, out, err, .. } = to_its_end(&mut command).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(ended.code(), Some(code), "{out}{err}");
        assert!(!out.contains("nothing needs attention") && !out.contains("The run is complete"), "{out}");
        assert!(out.contains(&host.at("/")), "--quiet keeps the report\n{out}");
        assert_eq!(err.lines().filter(|line| line.starts_with("modoai: ")).count(), 1, "{err}");
    }
}

#[test]
fn without_a_network_one_remark_replaces_log_lines() {
    let links: String = (1..=9).map(|port| format!("<a href=\"http://127.0.0.1:{port}/\">x</a>")).collect();
    let host = Web::default().page("/", &links).start();
    let folder = tempfile::tempdir().expect("a folder");
    let ended = Spider::new(host.at("/"), &folder.path().join("table")).complete();
    let remarks = ended.summary["remarks"].as_array().expect("remarks");
    let about =
        |text: &str| remarks.iter().filter(|remark| remark.as_str().is_some_and(|it| it.contains(text))).count();
    assert_eq!(about("none of 9 external hosts could be reached"), 1, "{}", ended.said);
    assert_eq!(ended.said.lines().filter(|line| line.contains(" INFO ") && line.contains("robots")).count(), 0);
}

#[test]
fn a_page_that_was_only_asked_for_is_read_whole_the_next_time() {
    let page = |body: &'static str, tag: &'static str| move |_: &Visit<'_>| html(body).with("ETag", tag);
    let host = Web::default()
        .page("/", r#"<a href="/page">1</a>"#)
        .on("/page", page(r#"<a href="/old">1</a>"#, "\"1\""))
        .start();
    let folder = tempfile::tempdir().expect("a folder");
    let table = folder.path().join("table");
    let first = Spider::new(host.at("/"), &table).complete();
    assert_eq!(told(&first, &host), ["broken /old"]);
    host.change(|web| web.on("/page", page(r#"<a href="/new">1</a>"#, "\"2\"")));
    Spider::new(host.at("/"), &table).with(["--leaf", &host.at("/page")]).complete();
    let last = Spider::new(host.at("/"), &table).complete();
    assert_eq!(told(&last, &host), ["broken /new"], "{}", last.said);
}

#[test]
fn an_interrupted_run_says_so_and_is_gone_on_with() {
    let host = slow_host();
    let folder = tempfile::tempdir().expect("a folder");
    let table = folder.path().join("table");
    let mut interrupted = false;
    let first = spider(&host, &table).run_while(|pid| {
        if !interrupted && host.log().len() > 60 {
            interrupted = true;
            signal(pid, "INT");
        }
    });
    let first = first.unwrap_or_else(|error| panic!("{error}"));
    let code = first.code.expect("it ends by itself");
    assert!(code != 0 && code != 2, "exit status {code}\n{}", first.said);
    assert_eq!(first.summary["complete"], false, "{}", first.said);
    let before = asked_for(&host);
    assert!(before.len() < SLOW, "it went on to the end");

    host.take_log();
    let second = spider(&host, &table).complete();
    let again: Vec<_> = asked_for(&host).intersection(&before).cloned().collect();
    // Those that were under way.
    assert!(again.len() <= 10, "asked for again: {again:?}");
    assert_eq!(findings(&second), findings(&undisturbed(&host)), "{}", second.said);
}

#[test]
fn a_killed_run_is_gone_on_with() {
    let host = slow_host();
    let folder = tempfile::tempdir().expect("a folder");
    let table = folder.path().join("table");
    for part in 1..=2 {
        let mut child = spider(&host, &table).start();
        wait_until("a part of the host is asked for", || {
            assert!(child.try_wait().expect("our own child").is_none(), "it ends too early");
            asked_for(&host).len() >= SLOW * part / 3
        });
        child.kill().and_then(|()| child.wait()).expect("our own child");
    }
    let last = spider(&host, &table).complete();
    // Only what was not committed when it was killed is asked for again: half a second of work.
    let repeated = host.repeated().len();
    assert!(repeated < SLOW / 3, "{repeated} of {SLOW} were asked for again");
    host.take_log();
    assert_eq!(findings(&last), findings(&undisturbed(&host)), "{}", last.said);
}

/// How many URLs the slow host has.
const SLOW: usize = 300;

/// A host that takes its time, so that there is time to be interrupted: pages in a chain of bunches, some links broken.
fn slow_host() -> Host {
    let page = |visit: &Visit<'_>| {
        let number: usize = visit.request.path().trim_start_matches("/slow/").parse().unwrap_or(0);
        let next = (number * 5 + 1..=number * 5 + 5)
            .filter(|next| *next < SLOW)
            .map(|next| format!("<a href=\"/slow/{next}\">x</a>"));
        let missing = if number.is_multiple_of(10) {
            format!("<a href=\"/missing/{number}\">x</a><a href=\"#no\">y</a>")
        } else {
            String::new()
        };
        html(&(next.collect::<String>() + &missing)).after(Duration::from_millis(50))
    };
    Web::default().page("/", r#"<a href="/slow/0">x</a>"#).below("/slow/", page).start()
}

fn spider(host: &Host, table: &Path) -> Spider {
    Spider::new(host.at("/"), table).with(["--per-host", "2"])
}

/// A run with a table of its own.
fn undisturbed(host: &Host) -> Ended {
    let folder = tempfile::tempdir().expect("a folder");
    Spider::new(host.at("/"), &folder.path().join("table")).with(["--per-host", "16"]).complete()
}

fn asked_for(host: &Host) -> BTreeSet<String> {
    host.log().into_iter().map(|asked| asked.request.target).filter(|target| target != "/robots.txt").collect()
}

/// What is found where, but for when.
fn findings(ended: &Ended) -> BTreeSet<[String; 3]> {
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    ended.findings.iter().map(|finding| [text(&finding["page"]), whole(finding), text(&finding["verdict"])]).collect()
}

/// The same in short.
fn told(ended: &Ended, host: &Host) -> Vec<String> {
    let mut told: Vec<String> = findings(ended)
        .into_iter()
        .map(|[_, target, verdict]| format!("{verdict} {}", target.replace(host.url(), "")))
        .collect();
    told.sort();
    told
}
