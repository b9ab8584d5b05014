//! What reports say: the same in all of them, each target once, and what a browser shows.

use std::path::Path;
use std::process::{Command, Stdio};

use modoai_testkit::endpoint::calendar;
use modoai_testkit::process::binary;
use modoai_testkit::web::{Host, Reply, Visit, Web, html};
use serde_json::Value;

use super::Spider;
use crate::running::to_its_end;

/// What a browser has on a page when it has read it; none where there is no browser, which is said loudly.
fn shown(url: &str) -> Option<String> {
    let Some(browser) = modoai_testkit::command(&["chromium", "chromium-browser", "google-chrome"]) else {
        modoai_testkit::not_installed("no browser for reports");
        return None;
    };
    let profile = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(browser);
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", "--virtual-time-budget=5000"]);
    command.arg(format!("--user-data-dir={}", profile.path().display())).arg(url);
    let told = to_its_end(&mut command).unwrap_or_else(|error| panic!("{error}"));
    assert!(told.status.success(), "{}", told.err);
    Some(told.out)
}

#[test]
fn the_report_has_every_finding_and_nothing_that_pages_smuggle_in() {
    let host = Web::default()
        .page("/", r#"<a href="/gone">A &lt;script>document.title='smuggled'&lt;/script> link</a><a href="/old">x</a><a href="/fine#no">y</a><a href="/x&quot;><img src=x onerror=alert(1)>">z</a>"#)
        .redirect("/old", 301, "/fine")
        .page("/fine", "fine")
        .start();
    let folder = tempfile::tempdir().expect("a folder");
    let report = folder.path().join("report.html");
    let spider = Spider::new(host.at("/"), &folder.path().join("table")).with(["--html".as_ref(), report.as_os_str()]);
    let ended = spider.complete();
    assert_eq!(ended.findings.len(), 4, "{}", ended.said);
    let text = std::fs::read_to_string(&report).expect("a report");
    assert!(!text.contains("<img src=x"), "what is a page's text is an element of the report");
    let Some(page) = shown(&format!("file://{}", report.display())) else { return };
    for part in ["/gone", "/old", "/fine", "404", "no"] {
        assert!(page.contains(part), "the report lacks {part}\n{page}");
    }
    assert!(!page.contains("<title>smuggled"), "a script of a page was run");
}

/// The number of pages of [`templated`], without its front page.
const PAGES: usize = 40;

/// A site whose footer has a dead link; one page has two broken links of its own, to one target, and one mail address that is none.
fn templated() -> Host {
    let links: String = (0..PAGES).map(|page| format!("<a href=\"/{page}\">{page}</a> ")).collect();
    let mut web = Web::default().page("/", &links);
    for page in 0..PAGES {
        let own = match page {
            7 => {
                r#"<a href="/gone#a">1</a><a href="/gone#b">2</a><a href="mailto:nobody">3</a><a href="http://127.0.0.1:1/">4</a>"#
            }
            _ => "",
        };
        web = web.page(&format!("/{page}"), &format!("{own}<footer><a href=\"/imprint\">Imprint</a></footer>"));
    }
    web.start()
}

#[test]
fn a_dead_link_in_the_template_is_reported_once_and_totals_agree() {
    let host = templated();
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| folder.path().join(name);
    let report = |format: &str| format!("{format}={}", file(format).display());
    let spider =
        Spider::new(host.at("/"), &file("table")).with(["--no-external", "--html"]).with([file("report.html")]);
    let spider = spider.with(["--map"]).with([file("map.html")]);
    let ended = spider
        .with(["text", "junit", "sarif"].iter().flat_map(|format| ["--report".to_owned(), report(format)]))
        .complete();
    assert_eq!((ended.count("broken"), ended.count("not_tested"), ended.count("skipped")), (3, 0, 1), "{}", ended.said);
    let urls = ended.count("urls");

    let text = std::fs::read_to_string(file("text")).expect("a report");
    assert_eq!(text.matches(&host.at("/imprint")).count(), 1, "{text}");
    assert!(text.contains("on 40 of 41 pages: in the site's template"), "{text}");
    assert!(text.contains(&format!(" to {urls} URLs;")) && text.contains("        3  ✗ broken targets\n"), "{text}");

    let page = std::fs::read_to_string(file("report.html")).expect("a report");
    assert!(page.contains(&format!(" to {urls} URLs; all pages were read.")), "{page}");
    assert!(page.contains("3 targets, 43 links"), "{page}");
    assert!(page.contains("<dt>Maximum number of documents</dt><dd>100,000</dd>"), "{page}");
    assert!(page.contains("1 skipped") && !page.contains("1 not tested"), "{page}");

    let map = std::fs::read_to_string(file("map.html")).expect("a map");
    assert!(map.contains("3 broken targets"), "{map}");
    // Only the page with broken links of its own is listed, after the link in the template.
    let rows: Vec<&str> = map
        .split("<ol id=\"list\">")
        .nth(1)
        .and_then(|list| list.split("</ol>").next())
        .into_iter()
        .flat_map(|list| list.split("<li"))
        .skip(1)
        .collect();
    assert_eq!(rows.len(), 2, "{rows:?}");

    let junit = std::fs::read_to_string(file("junit")).expect("a report");
    assert!(junit.contains("tests=\"43\" failures=\"2\" errors=\"0\" skipped=\"0\""), "{junit}");

    let sarif: Value = serde_json::from_slice(&std::fs::read(file("sarif")).expect("a report")).expect("JSON");
    let results = sarif["runs"][0]["results"].as_array().expect("results");
    assert_eq!(results.len(), 3, "{results:?}");
    assert_eq!(results[0]["occurrenceCount"], 40);
    for result in results {
        let location = &result["locations"][0]["physicalLocation"]["artifactLocation"];
        assert_eq!(location["uriBaseId"], "SITEROOT");
        assert!(!location["uri"].as_str().unwrap_or("http:").contains("http:"), "{location}");
    }
}

#[test]
fn findings_on_deleted_pages_are_removed_and_not_fixed() {
    let host = templated();
    let folder = tempfile::tempdir().expect("a folder");
    let table = folder.path().join("table");
    let first = Spider::new(host.at("/"), &table).with(["--no-external"]).complete();
    assert_eq!(first.count("new"), 3, "{}", first.said);
    // The page with links of its own is deleted; one page less has the template.
    host.change(|web| {
        let links: String =
            (0..PAGES).filter(|page| *page != 7).map(|page| format!("<a href=\"/{page}\">x</a>")).collect();
        web.without("/7").page("/", &links)
    });
    let second = Spider::new(host.at("/"), &table).with(["--no-external"]).complete();
    let counts = ["new", "fixed", "removed", "unchecked", "broken"].map(|name| second.count(name));
    assert_eq!(counts, [0, 0, 2, 0, 1], "{}", second.said);
}

#[test]
fn changes_and_expiries_have_their_date() {
    let now = calendar::now();
    let (changed, expires) = (calendar::http_date(now - 86_400), calendar::http_date(now + 86_400));
    let page =
        move |_: &Visit<'_>| html(r#"<a href="/old">x</a>"#).with("Last-Modified", &changed).with("Expires", &expires);
    let picture = calendar::http_date(now - 2 * 86_400);
    let picture = move |_: &Visit<'_>| Reply::of(200, "image/png", "x").with("Last-Modified", &picture);
    let old = |_: &Visit<'_>| html(r#"<a href="/">1</a><img src="/picture.png"><img src="/picture.png">"#);
    let host = Web::default().on("/", page).on("/old", old).on("/picture.png", picture).start();
    let folder = tempfile::tempdir().expect("a folder");
    let spider = Spider::new(host.at("/"), &folder.path().join("table")).with(["--changed", "3", "--expiring", "3"]);
    let ended = spider.complete();
    let reason = |verdict: &str| {
        let of_it = ended.findings.iter().find(|finding| finding["verdict"] == verdict);
        of_it.and_then(|finding| finding["reason"].as_str()).unwrap_or_default().to_owned()
    };
    for (verdict, begin) in [("changed", "changed on 20"), ("expiring", "expires on 20")] {
        assert!(reason(verdict).starts_with(begin), "{verdict}: {}", reason(verdict));
    }
    // What a page refers to has changed as well, and is counted once.
    assert_eq!(ended.targets("changed"), [host.at("/"), host.at("/picture.png")].into(), "{}", ended.said);
    assert_eq!((ended.count("changed"), ended.count("expiring")), (2, 1), "{}", ended.said);
}

/// Runs the spider with pipes that nobody reads.
fn unread(arguments: &[&str], table: &Path) -> Option<i32> {
    let mut command = Command::new(binary());
    command.arg("spider").args(arguments).arg("--table").arg(table);
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
    drop((child.stdout.take(), child.stderr.take()));
    child.wait().expect("our own child").code()
}

#[test]
fn closed_pipes_do_not_change_the_exit_code() {
    let host = templated();
    let folder = tempfile::tempdir().expect("a folder");
    let table = folder.path().join("table");
    let url = host.at("/");
    for argument in ["--json", "--quiet", "-v"] {
        assert_eq!(unread(&[&url, "--no-external", argument], &table), Some(2), "{argument}");
    }
}

#[test]
fn an_option_that_was_given_is_not_proposed() {
    let host = templated();
    let folder = tempfile::tempdir().expect("a folder");
    let report = folder.path().join("report.html");
    let mut command = Command::new(binary());
    command.args(["spider", &host.at("/"), "--no-table", "--no-external", "--html"]).arg(&report);
    let told = to_its_end(&mut command).unwrap_or_else(|error| panic!("{error}"));
    assert!(!told.out.contains("--html"), "{}", told.out);
    assert!(told.out.contains(&report.display().to_string()), "{}", told.out);
}
