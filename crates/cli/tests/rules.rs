//! Rules that keep the door open: real servers understand them, and with a fence around everything else the repository
//! is still there.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use modoai_testkit::apache;
use modoai_testkit::apache::machine::{self, free_port, module_file};
use modoai_testkit::http::{Client, Response};
use modoai_testkit::waiting::{PATIENCE, wait_for};

use crate::desk::Desk;
use crate::documents::expect_shown;

const URL: &str = "https://www.example.org/modoai";

/// A crawler that the fences here are made against.
const CRAWLER: (&str, &str) = ("User-Agent", "GPTBot/1.2");

#[test]
fn without_a_choice_all_rules_are_printed() {
    let desk = Desk::new();
    let all = desk.run(&["rules", "--base-url", URL]).printed();
    let kinds = ["robots", "nginx", "apache", "cloudflare"];
    let each = kinds.map(|kind| desk.run(&["rules", kind, "--base-url", URL]).printed());
    assert_eq!(all, each.join("\n\n"));
    for (kind, text) in kinds.iter().zip(each) {
        assert!(text.contains(URL) && text.contains("/modoai"), "{kind}: {text}");
    }
}

#[test]
fn a_former_option_names_the_argument() {
    let ended = Desk::new().run(&["rules", "--nginx"]);
    assert!(ended.status == 64 && ended.stderr.contains("`modoai rules nginx`"), "{}", ended.stderr);
}

#[test]
fn the_guide_shows_what_is_printed() {
    let desk = Desk::new();
    for (kind, language) in [("robots", ""), ("nginx", "nginx"), ("apache", "apacheconf"), ("cloudflare", "")] {
        let printed = desk.run(&["rules", kind, "--base-url", URL]).printed();
        let begin = format!("<!-- printed by `modoai rules {kind}` -->\n```{language}\n");
        let end = format!("```\n<!-- end of {kind} -->\n");
        expect_shown("docs/guide/harvesters.md", (&begin, &end), &printed, &format!("`modoai rules {kind}` prints"));
    }
}

#[test]
fn the_door_is_where_the_configuration_has_it() {
    let desk = Desk::new();
    desk.write(
        "modoai.toml",
        "url = \"https://www.example.org/\"\nbase_path = \"/oai/request\"\nlisten = \"0.0.0.0:81\"\n",
    );
    let nginx = desk.run(&["rules", "nginx", "--config", "modoai.toml"]).printed();
    assert!(nginx.contains("location = \"/oai/request\" {"), "{nginx}");
    assert!(nginx.contains("proxy_pass http://127.0.0.1:81;"), "{nginx}");
    let set = desk.run(&["rules", "robots", "--option", "base_path=\"/oai\""]).printed();
    assert!(set.contains("\nAllow: /oai?\n"), "{set}");
}

#[test]
fn a_path_that_cannot_be_written_down_is_refused() {
    let said = "modoai: cannot generate rules for https://example.org/a;b\n  \
        hint: use a base URL without a query, whose path contains only letters, digits and -._~";
    Desk::new().run(&["rules", "--base-url", "https://example.org/a;b"]).failed(64, said);
}

#[test]
fn a_robots_txt_gets_the_door_in_every_group() {
    let desk = Desk::new();
    desk.write(
        "robots.txt",
        "User-agent: *\nDisallow: /*?\nUser-agent: GPTBot\nDisallow: /modoai?verb=ListRecords&set=\n",
    );
    let ended = desk.run(&["rules", "--robots-txt", "robots.txt", "--base-url", URL]);
    let ours = "Allow: /modoai$\nAllow: /modoai?\nAllow: /modoai?*verb=\nAllow: /modoai/\nAllow: /modoai/*.xsd\n";
    let expected = format!(
        "User-agent: *\n{ours}Disallow: /*?\nUser-agent: GPTBot\n{ours}Disallow: /modoai?verb=ListRecords&set=\n"
    );
    assert_eq!((ended.status, ended.stdout.as_str(), ended.stderr.as_str()), (0, expected.as_str(), ""));
    // Which harvester asks for records of a set in that order of arguments? One that is asked about does not.
    desk.write("robots.txt", "User-agent: GPTBot\nDisallow: /modoai?verb=Identify\n");
    let ended = desk.run(&["rules", "--robots-txt", "robots.txt", "--base-url", URL]);
    let warning = "line 7 still blocks GPTBot from the repository: Disallow: /modoai?verb=Identify";
    assert!(ended.status == 0 && ended.stderr.contains(warning), "{}", ended.stderr);
    let said = "modoai: failed to read missing.txt: No such file or directory (os error 2)";
    desk.run(&["rules", "--robots-txt", "missing.txt"]).failed(1, said);
}

#[test]
fn a_fenced_nginx_lets_harvesters_in() {
    let Some(nginx) = nginx() else { return };
    let desk = Desk::new();
    let upstream = Upstream::start();
    let listen = format!("listen=\"{}\"", upstream.address);
    let rules = desk.run(&["rules", "nginx", "--base-url", URL, "--option", &listen]).printed();
    let (http, server) = rules.split_once("# 2. Within server { }").expect("two parts");
    // A site that shuts out everybody it can think of, in every way that nginx has.
    let fence = "\
        limit_req zone=site;\nlimit_req_status 429;\nauth_basic \"people only\";\nauth_basic_user_file users;\n\
        deny all;\nerror_page 503 /busy.html;\nproxy_intercept_errors on;\n\
        set $fenced $bad_bot$modoai_door;\nif ($fenced = 10) { return 403; }\n\
        location ~ modoai { return 418; }\n";
    let zones = "limit_req_zone $binary_remote_addr zone=site:1m rate=1r/m;\n\
        map $http_user_agent $bad_bot { default 0; ~*gptbot 1; }\n";
    desk.write("nginx/users", "");
    let server = Nginx::start(&nginx, &desk.at("nginx"), &format!("{zones}{http}"), &format!("{fence}{server}"));
    let mut client = Client::new(&server.url);
    assert_eq!(client.get_with("/", &[CRAWLER]).expect("an answer").status, 403);
    assert_ne!(client.get("/modoaix").expect("an answer").status, 200);
    let schema = client.get_with("/modoai/http_header.xsd", &[CRAWLER]).expect("an answer");
    assert_eq!((schema.status, schema.text().as_str()), (200, ANSWER));
    for number in 0..20 {
        let answer = client.get_with("/modoai?verb=Identify", &[CRAWLER]).expect("an answer");
        assert_eq!((answer.status, answer.text().as_str()), (200, ANSWER), "{number}");
    }
    // A refusal of the repository comes as it is …
    let refusal = client.get("/modoai?verb=ListRecords&busy").expect("an answer");
    assert_eq!((refusal.status, refusal.header("Retry-After")), (503, Some("77")));
    assert_eq!(refusal.text(), "later");
    // … and nginx has its own for a flood.
    let refusal = flood(&server.url);
    assert_eq!((refusal.status, refusal.header("Retry-After")), (503, Some("5")));
    assert!(!refusal.text().contains('<'), "{}", refusal.text());
}

#[test]
fn a_fenced_httpd_lets_harvesters_in() {
    if apache::is_missing() {
        return;
    }
    let desk = Desk::new();
    let rules = desk.run(&["rules", "apache", "--base-url", URL]).printed();
    let fence = "SetEnvIfNoCase User-Agent gptbot bad_bot\n\
        <Location \"/\">\nAuthType Basic\nAuthName \"people only\"\nAuthUserFile users\nRequire valid-user\n\
        Order allow,deny\nAllow from all\nDeny from env=bad_bot\n</Location>\n\
        RewriteEngine On\nRewriteRule \"^/modoai(/|$)\" - [END]\n\
        RewriteCond \"%{HTTP_USER_AGENT}\" gptbot [NC]\nRewriteRule \".\" - [F]\nErrorDocument 503 /busy.html\n";
    assert!(
        rules.contains("RewriteRule \"^/modoai(/|$)\" - [END]"),
        "what the fence here has in it is what the rules say"
    );
    desk.write("httpd/docs/modoai", ANSWER);
    desk.write("httpd/docs/modoaix", "beside");
    desk.write("httpd/docs/page.html", "<p>");
    desk.write("httpd/users", "");
    let server = Httpd::start(&desk.at("httpd"), &format!("{fence}{rules}"));
    let mut client = Client::new(&server.url);
    for (target, crawler, reader) in [("/page.html", 403, 401), ("/modoaix", 403, 401), ("/modoai.xsd", 403, 401)] {
        assert_eq!(client.get_with(target, &[CRAWLER]).expect("an answer").status, crawler, "{target}");
        assert_eq!(client.get(target).expect("an answer").status, reader, "{target}");
    }
    for headers in [&[CRAWLER][..], &[]] {
        let answer = client.get_with("/modoai?verb=Identify", headers).expect("an answer");
        assert_eq!((answer.status, answer.text().as_str()), (200, ANSWER), "{headers:?}");
        // Let through: it is only that nothing is there.
        let below = client.get_with("/modoai/http_header.xsd", headers).expect("an answer");
        assert_eq!(below.status, 404, "{headers:?}");
    }
}

/// Asks twice as often at once as nginx lets through, however slowly this machine goes, and returns a refusal.
fn flood(url: &str) -> Response {
    thread::scope(|scope| {
        let ask = || Client::new(url).get("/modoai?verb=Identify").expect("an answer");
        let asking: Vec<_> = (0..120).map(|_| scope.spawn(ask)).collect();
        let answers = asking.into_iter().map(|asked| asked.join().expect("no panic"));
        let refusals: Vec<_> = answers.filter(|answer| answer.status != 200).collect();
        refusals.into_iter().next().expect("nginx does not let everybody through")
    })
}

const ANSWER: &str = "<OAI-PMH/>\n";

/// A repository that says the least: an answer, or that it is busy. Until it is dropped.
struct Upstream {
    address: String,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Upstream {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("it listens").to_string();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let thread = thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if stopped.load(Ordering::Relaxed) {
                    return;
                }
                answer(&stream);
            }
        });
        Self { address, stop, thread: Some(thread) }
    }
}

fn answer(mut stream: &TcpStream) {
    let _ = stream.set_read_timeout(Some(Duration::from_secs(10)));
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    let request = lines.next().unwrap_or_default();
    // To the end of the head, or closing would be a reset.
    lines.find(String::is_empty);
    let (status, header, body) =
        if request.contains("busy") { ("503 Later", "Retry-After: 77\r\n", "later") } else { ("200 OK", "", ANSWER) };
    let length = body.len();
    let _ = write!(stream, "HTTP/1.1 {status}\r\n{header}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}");
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(&self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A server that is stopped when it is dropped.
struct Running {
    child: Child,
    url: String,
}

impl Running {
    /// Waits until somebody answers there.
    fn wait(child: Child, port: u16, log: &Path) -> Self {
        let mut running = Self { child, url: format!("http://127.0.0.1:{port}") };
        wait_for("the server starts", || {
            let ended = running.child.try_wait().expect("our own child");
            let said = fs::read_to_string(log).unwrap_or_default();
            assert!(ended.is_none(), "it ended ({ended:?}): {said}");
            TcpStream::connect(("127.0.0.1", port)).map_err(|_| said)
        });
        running
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Politely, so that a master takes its workers along. The shell has a `kill` of its own; the command of that name is
        // not installed everywhere.
        let _ = Command::new("sh").arg("-c").arg(format!("kill {}", self.child.id())).status();
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline && matches!(self.child.try_wait(), Ok(None)) {
            thread::sleep(Duration::from_millis(10));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The nginx that is installed here. Without one its rules are not tested, and that is said.
fn nginx() -> Option<PathBuf> {
    let found = modoai_testkit::command(&["nginx"]);
    if found.is_none() {
        modoai_testkit::not_installed("no nginx");
    }
    found
}

struct Nginx;

impl Nginx {
    fn start(program: &Path, folder: &Path, http: &str, server: &str) -> Running {
        let port = free_port();
        let places: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map(|name| format!("{name}_temp_path {}/{name};\n", folder.display()))
            .concat();
        // As root, workers would otherwise become somebody who may not read the folder.
        let user = if machine::is_root() { "user root;" } else { "" };
        let configuration = format!(
            "{user}\ndaemon off;\nworker_processes 2;\npid nginx.pid;\nerror_log error.log;\nevents {{ }}\nhttp {{\n\
             access_log off;\n{places}{http}\nserver {{\nlisten 127.0.0.1:{port};\n{server}\n}}\n}}\n"
        );
        fs::write(folder.join("nginx.conf"), configuration).expect("a configuration");
        let command = || {
            let mut command = Command::new(program);
            command.arg("-p").arg(folder).args(["-c", "nginx.conf", "-e", "error.log"]);
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            command
        };
        let tested = command().arg("-t").stderr(Stdio::piped()).output().expect("nginx can be run");
        assert!(tested.status.success(), "{}", String::from_utf8_lossy(&tested.stderr));
        Running::wait(command().spawn().expect("nginx can be run"), port, &folder.join("error.log"))
    }
}

struct Httpd;

impl Httpd {
    fn start(folder: &Path, text: &str) -> Running {
        const MODULES: [&str; 13] = [
            "mpm_event",
            "unixd",
            "authn_core",
            "authz_core",
            "authz_host",
            "authz_user",
            "authn_file",
            "auth_basic",
            "access_compat",
            "dir",
            "mime",
            "rewrite",
            "setenvif",
        ];
        let port = free_port();
        let load = |name: &&str| {
            let file = module_file(&format!("mod_{name}.so"))?;
            Some(format!("LoadModule {name}_module \"{}\"\n", file.display()))
        };
        let loads: String = MODULES.iter().filter_map(load).collect();
        let user =
            machine::run_user().map(|user| format!("User {}\nGroup #{}\n", user.name, user.gid)).unwrap_or_default();
        let place = folder.display();
        let configuration = format!(
            "ServerRoot \"{place}\"\nDefaultRuntimeDir \"{place}\"\nPidFile httpd.pid\nMutex file:{place} default\n\
             ErrorLog error.log\n{loads}{user}TypesConfig /dev/null\nStartServers 1\nListen 127.0.0.1:{port}\n\
             ServerName 127.0.0.1\nDocumentRoot \"{place}/docs\"\n\
             <Directory \"{place}/docs\">\nRequire all granted\n</Directory>\n{text}"
        );
        let file = folder.join("httpd.conf");
        fs::write(&file, configuration).expect("a configuration");
        let command = || {
            let mut command = Command::new(machine::httpd());
            command.arg("-d").arg(folder).arg("-f").arg(&file).arg("-DFOREGROUND");
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            command
        };
        let tested = command().arg("-t").stderr(Stdio::piped()).output().expect("httpd can be run");
        assert!(tested.status.success(), "{}", String::from_utf8_lossy(&tested.stderr));
        Running::wait(command().spawn().expect("httpd can be run"), port, &folder.join("error.log"))
    }
}
