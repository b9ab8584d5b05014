//! Who we say we are, and how often we ask.

use modoai_testkit::web::{Host, Web, html};

use super::Spider;

/// A host with some pages, and pictures on each of them.
fn host() -> Host {
    let page = |number: usize| {
        let links: String =
            (0..20).map(|other| format!("<a href=\"/page/{other}\">x</a><img src=\"/picture/{other}\">")).collect();
        format!("<h1 id=h>{number}</h1>{links}<a href=\"/page/0#h\">x</a>")
    };
    let web = Web::default()
        .page("/", &page(0))
        .below("/picture/", |_| modoai_testkit::web::Reply::of(200, "image/png", "x"));
    (0..20).fold(web, |web, number| web.page(&format!("/page/{number}"), &page(number))).start()
}

#[test]
fn every_url_is_asked_for_once_and_leaves_by_head() {
    let host = host();
    let folder = tempfile::tempdir().expect("a folder");
    let ended = Spider::new(host.at("/"), &folder.path().join("table")).complete();
    assert!(ended.findings.is_empty(), "{}", ended.said);
    assert_eq!(host.repeated(), []);
    let log = host.log();
    assert_eq!(log.len(), 1 + 1 + 20 + 20);
    let by = |method: &str| log.iter().filter(|asked| asked.request.method == method).count();
    assert_eq!((by("GET"), by("HEAD")), (22, 20));
    assert!(
        log.iter().filter(|asked| asked.request.method == "HEAD").all(|asked| asked.request.target.contains("picture"))
    );
    assert_eq!(ended.count("requests"), 42);
    assert_eq!(ended.count("pages"), 21);
    assert_eq!(ended.count("urls"), 41);
}

#[test]
fn requests_say_who_asks_why_and_for_whom() {
    let host = host();
    let folder = tempfile::tempdir().expect("a folder");
    let spider = Spider::new(host.at("/"), &folder.path().join("table"));
    spider.with(["--contact", "webmaster@example.org"]).complete();
    for asked in host.log() {
        let agent = asked.request.header("User-Agent").unwrap_or_default();
        assert!(agent.starts_with("modoai"), "{agent}");
        assert_eq!(asked.request.header("From"), Some("webmaster@example.org"), "{asked}");
        let referer = asked.request.header("Referer").unwrap_or_default();
        let has_none = asked.request.target == "/" || asked.request.target == "/robots.txt";
        assert!(has_none || referer.starts_with(host.url()), "{asked}: {referer}");
    }
}

#[test]
fn no_more_at_once_than_was_asked_for() {
    let page: String = (0..40).map(|number| format!("<a href=\"/slow/{number}\">x</a>")).collect();
    let slow = |_: &modoai_testkit::web::Visit<'_>| html("x").after(std::time::Duration::from_millis(100));
    for most in [1, 3] {
        let host = Web::default().page("/", &page).below("/slow/", slow).start();
        let folder = tempfile::tempdir().expect("a folder");
        Spider::new(host.at("/"), &folder.path().join("table")).with(["--per-host", &most.to_string()]).complete();
        let log = host.log();
        let at: Vec<_> =
            log.iter().filter(|asked| asked.request.target.starts_with("/slow/")).map(|asked| asked.at).collect();
        assert_eq!(at.len(), 40);
        // Each is logged when it arrives, and takes a tenth of a second; so of the next ones, at most so many come within that.
        for window in at.windows(most + 1) {
            let time = window[most] - window[0];
            assert!(time.as_millis() >= 90, "{} requests within {time:?}", most + 1);
        }
    }
}

#[test]
fn pages_outside_are_read_for_their_parts_and_not_gone_on_from() {
    let other = Web::default().page("/page", r#"<p id=p><a href="/behind">x</a>"#).page("/behind", "x").start();
    let links = format!(r##"<a href="{0}#p">1</a><a href="{0}#q">2</a>"##, other.at("/page"));
    let host = Web::default().page("/", &links).start();
    let folder = tempfile::tempdir().expect("a folder");
    let ended = Spider::new(host.at("/"), &folder.path().join("table")).with(["--external-fragments"]).complete();
    assert_eq!(ended.targets("fragment").into_iter().collect::<Vec<_>>(), [other.at("/page#q")], "{}", ended.said);
    assert_eq!((other.times("/page"), other.times("/behind")), (1, 0));
}

#[test]
fn a_form_behind_a_redirect_takes_what_is_sent_to_it() {
    let host = Web::default()
        .page("/", r#"<form method=post action="/form"></form>"#)
        .redirect("/form", 301, "/new-form")
        .status("/new-form", 405)
        .start();
    let folder = tempfile::tempdir().expect("a folder");
    let ended = Spider::new(host.at("/"), &folder.path().join("table")).complete();
    assert_eq!(ended.count("broken"), 0, "{}", ended.said);
}

#[test]
fn from_is_the_address_of_the_task_or_its_absence_is_reported_once() {
    let host = host();
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("tasks");
    let task = format!("<Site\n  Name a\n  TopURL {}\n  EmailAddress ann@example.org\n>\n", host.at("/"));
    std::fs::write(&file, task).expect("written");
    Spider::new(&file, &folder.path().join("table")).complete();
    for asked in host.take_log() {
        assert_eq!(asked.request.header("From"), Some("ann@example.org"), "{asked}");
    }
    let ended = Spider::new(host.at("/"), &folder.path().join("table-2")).complete();
    assert_eq!(ended.said.matches("--contact").count(), 1, "{}", ended.said);
    assert!(host.log().iter().all(|asked| asked.request.header("From").is_none()));
}
