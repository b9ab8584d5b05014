//! A record with a script in it, opened in a browser and embedded by a page of another origin: nothing runs.
//!
//! Metadata is sent verbatim, so XHTML in a harvested or imported record is XHTML in the answer. Each browser first gets the
//! same bytes without the protecting headers, to show that the script would run.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use modoai_testkit::http::Response;
use modoai_testkit::waiting::wait_until;
use modoai_testkit::web::{Host, Reply, Web, html};
use tempfile::TempDir;

use crate::archive::Archive;

const CONFIGURATION: &str = r#"
repository_identifier = "example.org"
[source]
as = "xml"
namespace = "urn:note"
prefix = "note"
schema = "https://example.org/note.xsd"
[source.fields]
title = "title"
"#;

/// Every way for a record to run something that the audit thought of; each would fetch `/ran`.
fn hostile(beacon: &str) -> String {
    format!(
        r#"<note xmlns="urn:note"><title>Hostile</title>
<x:script xmlns:x="http://www.w3.org/1999/xhtml">new Image().src = "{beacon}/ran?script";</x:script>
<x:img xmlns:x="http://www.w3.org/1999/xhtml" src="{beacon}/ran?image" onerror="new Image().src = '{beacon}/ran?handler'"/>
<x:iframe xmlns:x="http://www.w3.org/1999/xhtml" src="{beacon}/ran?frame"/>
<s:svg xmlns:s="http://www.w3.org/2000/svg"><s:script>new Image().src = "{beacon}/ran?svg";</s:script></s:svg>
</note>
"#
    )
}

/// A browser, started without a window.
#[derive(Clone, Copy, Debug)]
enum Browser {
    Chromium,
    Firefox,
}

impl Browser {
    /// Where it is; none where it is not installed, which is said loudly.
    fn find(self) -> Option<PathBuf> {
        let names = match self {
            Self::Chromium => ["/usr/bin/chromium", "/usr/bin/chromium-browser"],
            Self::Firefox => ["/usr/bin/firefox-esr", "/usr/bin/firefox"],
        };
        let found = names.iter().map(PathBuf::from).find(|path| path.exists());
        if found.is_none() {
            modoai_testkit::not_installed(&format!("records in {self:?}"));
        }
        found
    }

    /// Opens a URL. Whatever is not on this machine it looks for at a port where nobody listens.
    fn open(self, program: &Path, profile: &Path, url: &str) -> Opened {
        let mut command = Command::new(program);
        match self {
            Self::Chromium => {
                command.args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"]);
                command.args(["--proxy-server=127.0.0.1:9", "--remote-debugging-port=0"]);
                command.arg(format!("--user-data-dir={}", profile.display()));
            }
            Self::Firefox => {
                let settings = "user_pref('network.proxy.type', 1);\nuser_pref('network.proxy.http', '127.0.0.1');\n\
                                user_pref('network.proxy.http_port', 9);\nuser_pref('network.proxy.ssl', '127.0.0.1');\n\
                                user_pref('network.proxy.ssl_port', 9);\n\
                                user_pref('browser.shell.checkDefaultBrowser', false);\n\
                                user_pref('datareporting.policy.dataSubmissionEnabled', false);\n";
                std::fs::write(profile.join("user.js"), settings).expect("a writable folder");
                command.args(["--headless", "--no-remote", "--profile"]).arg(profile);
            }
        }
        command.arg(url).env("HOME", profile).env("XDG_CACHE_HOME", profile).env("XDG_CONFIG_HOME", profile);
        Opened(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts"))
    }
}

/// A running browser. It ends with this.
struct Opened(Child);

impl Drop for Opened {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The targets of these requests that begin so.
fn asked(host: &Host, start: &str) -> Vec<String> {
    host.log().into_iter().map(|asked| asked.request.target).filter(|target| target.starts_with(start)).collect()
}

/// What ran when a browser opened this page, which fetches `/loaded` of `evil` when it has loaded.
fn ran(browser: Browser, program: &Path, evil: &Host, page: &str) -> Vec<String> {
    evil.take_log();
    let profile = TempDir::new().expect("a temporary folder");
    let opened = browser.open(program, profile.path(), &evil.at(page));
    wait_until(&format!("{browser:?} loads {page}"), || !asked(evil, "/loaded").is_empty());
    drop(opened);
    asked(evil, "/ran")
}

/// An answer that was received before, sent again to whoever asks and whatever they accept.
fn again(answer: &Response, is_protected: bool) -> Reply {
    let mut reply = Reply::of(200, answer.header("Content-Type").expect("a media type"), answer.body.clone());
    if is_protected {
        for name in ["Content-Security-Policy", "X-Content-Type-Options"] {
            reply = reply.with(name, answer.header(name).unwrap_or_else(|| panic!("{name} is missing")));
        }
    }
    reply
}

/// A page that embeds a URL in every way, and reports one second after all of it has loaded.
fn embedding(url: &str) -> String {
    format!(
        r#"<object data="{url}" type="text/xml"></object><object data="{url}"></object><embed src="{url}">
<iframe src="{url}"></iframe>
<script>
window.onload = () => setTimeout(() => {{ new Image().src = "/loaded"; }}, 1000);
</script>"#
    )
}

/// A page that opens a URL in a frame and in another window.
fn opening(url: &str) -> String {
    format!(
        r#"<iframe src="{url}"></iframe><script>
window.onload = () => setTimeout(() => {{ new Image().src = "/loaded"; }}, 1000);
window.open("{url}");
</script>"#
    )
}

fn nothing_runs(browser: Browser) {
    let Some(program) = browser.find() else { return };
    let evil = Web::default().start();
    let archive = Archive::configured(CONFIGURATION);
    archive.write("notes/hostile.xml", hostile(evil.url()));
    archive.import("notes").done().expect(&[("new", 1)]);
    let server = archive.serve();
    let record = "/modoai?verb=ListRecords&metadataPrefix=note";
    let answer = server.client().get(record).expect("an answer");
    assert!(answer.text().contains("/ran?script"), "the record is sent verbatim: {}", answer.text());

    let (bare, kept) = (again(&answer, false), again(&answer, true));
    let replay = Web::default().on("/bare", move |_| bare.clone()).on("/kept", move |_| kept.clone()).start();
    let (bare, kept, live) = (replay.at("/bare"), replay.at("/kept"), format!("{}{record}", server.url()));
    let record = [("bare", &bare), ("kept", &kept), ("live", &live)];
    evil.change(|web| {
        let web = web.on("/loaded", |_| html("")).below("/ran", |_| html(""));
        record.iter().fold(web, |web, (name, url)| {
            web.page(&format!("/{name}/embedded"), &embedding(url)).page(&format!("/{name}/opened"), &opening(url))
        })
    });
    let proof = ran(browser, &program, &evil, "/bare/embedded");
    assert!(proof.iter().any(|target| target == "/ran?script"), "{browser:?} runs it without the headers: {proof:?}");
    for page in ["/kept/embedded", "/kept/opened", "/live/embedded", "/live/opened"] {
        assert_eq!(ran(browser, &program, &evil, page), [""; 0], "{browser:?} at {page}");
    }
    assert!(replay.times("/kept") >= 2, "{browser:?} did open it");
}

#[test]
fn a_hostile_record_runs_nothing_in_firefox() {
    nothing_runs(Browser::Firefox);
}

#[test]
fn a_hostile_record_runs_nothing_in_chromium() {
    nothing_runs(Browser::Chromium);
}
