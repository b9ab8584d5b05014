//! What a browser shows of a report.

use std::process::Command;

use modoai_testkit::web::Web;

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
