//! Both hosts over the same folder, configured alike.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::time::Duration;

use modoai_testkit::apache::{self, Httpd, Mpm};
use modoai_testkit::http::{Client, encode};
use modoai_testkit::process::{self, Server};
use modoai_testkit::site::TestSite;

use super::outcome::Outcome;
use super::requests::Case;

/// The user alice, with the password `secret`, may read below `/private`.
const USERS: &str = "alice:$2y$04$I6aGn6YQNKm2UnmsrF0EDeey16CzBpbOJSfW/kAszlx4tMCdY9kgm\n";

/// The files: more than a page of two records.
const FILES: [(&str, &str); 6] = [
    ("index.html", "<title>Home &amp; away</title>"),
    ("a.txt", "a"),
    ("b/c.png", "\u{89}PNG"),
    ("b/d.txt", "=1+1"),
    ("e.pdf", "%PDF-1.4"),
    ("private/f.txt", "f"),
];

/// The files are from this moment, so that their datestamps differ from all dates of the run.
const LONG_AGO: Duration = Duration::from_secs(1_000_000_000);

/// Both hosts.
pub(super) struct Hosts {
    _site: TestSite,
    _server: Server,
    _httpd: Httpd,
    hosts: [Host; 2],
}

/// One of them.
pub(super) struct Host {
    url: String,
    /// The folder with the catalogue and the log.
    state: PathBuf,
    /// The tokens of lists, by the name of the request whose answer they were in.
    tokens: RefCell<HashMap<&'static str, String>>,
}

impl Hosts {
    pub(super) fn start() -> Self {
        let site = TestSite::with(&FILES);
        FILES.iter().for_each(|(name, _)| site.date(name, LONG_AGO));
        fs::set_permissions(site.path(), Permissions::from_mode(0o755)).expect("permissions set");
        // Each account has its own address, behind a proxy that both trust.
        let launch = process::Launch::of(site.path())
            .set("trusted_proxies", "127.0.0.1")
            .set("list_delay", "1h")
            .set("access_log", "false");
        let apache = apache::Launch::new(Mpm::Event).modules(&["mod_remoteip", "mod_deflate"]).site_at(site.path());
        apache.write("users", USERS);
        let areas = format!("[{{ path = '/private', htpasswd = '{}' }}]", apache.path().join("users").display());
        let launch = launch.set("area", &areas).set("repository_name", "Both").set("admin_email", "a@example.org");
        let launch = launch.set("records_per_page", "2").set("identifiers_per_page", "2");
        let server = launch.start();
        let text = "RemoteIPHeader X-Forwarded-For\nRemoteIPInternalProxy 127.0.0.1\nLimitRequestLine 65536\n\
            OAIListDelay 1h\nOAIRepositoryName Both\nOAIAdminEmail a@example.org\nOAIPageSize 2\n\
            <Location \"/private\">\nAuthType Basic\nAuthName \"Restricted area\"\nAuthUserFile \"${SITE}/users\"\n\
            Require valid-user\n</Location>\n<Location \"/modoai\">\nSetOutputFilter DEFLATE\n</Location>\n";
        let httpd = apache.text(text).start();
        httpd.wait_for_index(&mut httpd.client());
        let host = |url: String, state: PathBuf| Host { url, state, tokens: RefCell::default() };
        let index = fs::read_dir(httpd.path().join("index")).expect("a folder").next();
        let index = index.expect("one server").expect("it can be read").path();
        let hosts = [host(server.url().to_owned(), server.state().to_owned()), host(httpd.url(), index)];
        Self { _site: site, _server: server, _httpd: httpd, hosts }
    }

    /// Does the same with both: first `modoai serve`, then httpd.
    pub(super) fn both<T>(&self, mut what: impl FnMut(&Host) -> T) -> [T; 2] {
        let [ours, theirs] = &self.hosts;
        [what(ours), what(theirs)]
    }

    /// Runs SQL in both catalogues.
    pub(super) fn in_catalogues(&self, sql: &str) {
        self.both(|host| {
            let catalogue = rusqlite::Connection::open(host.state.join("catalogue.sqlite")).expect("a catalogue");
            catalogue.busy_timeout(Duration::from_secs(60)).expect("a number");
            catalogue.execute_batch(sql).expect("good SQL");
        });
    }
}

impl Host {
    /// Sends a request.
    pub(super) fn ask(&self, case: &Case) -> Outcome {
        let mut client = Client::new(&self.url);
        let mut headers: Vec<(&str, &str)> = case.headers.clone();
        let address = format!("198.18.{}.1", case.account);
        headers.push(("X-Forwarded-For", &address));
        let token = |name| self.tokens.borrow().get(name).map(encode).unwrap_or_default();
        let filled = |text: &str| match case.token_of {
            Some(name) => text.replace("{TOKEN}", &token(name)),
            None => text.to_owned(),
        };
        let filled = |text: &str| filled(text).replace("{SITE}", &encode(&self.url));
        let target = format!("/modoai{}", filled(&case.target));
        let response = client.send(case.method, &target, &headers, filled(&case.body).as_bytes());
        let outcome = Outcome::of(&self.url, &response.unwrap_or_else(|error| panic!("{}: {error}", case.name)));
        if let Some(token) = &outcome.token {
            self.tokens.borrow_mut().insert(case.name, token.clone());
        }
        outcome
    }

    /// The lines of the harvest log by account, without date and bytes; and the bytes of all lines of each account.
    pub(super) fn log_lines(&self) -> (BTreeMap<String, Vec<String>>, BTreeMap<String, usize>) {
        let log = fs::read_to_string(self.state.join("harvest-log/harvests.jsonl")).unwrap_or_default();
        let (mut lines, mut bytes) = (BTreeMap::<String, Vec<String>>::new(), BTreeMap::new());
        for line in log.lines() {
            let mut line: serde_json::Value = serde_json::from_str(line).expect("JSON");
            let fields = line.as_object_mut().expect("an object");
            fields.remove("t");
            let sent = fields.remove("b").and_then(|bytes| bytes.as_u64()).unwrap_or_default() as usize;
            let account = fields["w"].as_str().expect("an account").to_owned();
            // That of the client that waited for the index.
            if account != "127.0.0.0/24" {
                *bytes.entry(account.clone()).or_insert(0) += sent;
                lines.entry(account).or_default().push(line.to_string());
            }
        }
        // Another process of httpd may write the line of an earlier request later.
        lines.values_mut().for_each(|lines| lines.sort());
        (lines, bytes)
    }
}
