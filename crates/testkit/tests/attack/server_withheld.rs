//! A folder that was made for another web server, with its sources, keys and backups: none of them is served or listed.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use modoai_testkit::http::encode;
use modoai_testkit::process::{Launch, Server, binary};
use modoai_testkit::site::TestSite;
use modoai_testkit::waiting::wait_until;

use crate::oai;
use crate::running::to_its_end;

const SECRET: &str = "DB_PASSWORD=correct horse";

/// What a web root holds that no visitor is meant to read.
const SENSITIVE: &[&str] = &[
    "wp-config.php",
    "WP-CONFIG.PHP",
    "index.php",
    "index.php5",
    "index.php74",
    "index.php.1",
    "index.php_bak",
    "index.php-old",
    "config.php.dist",
    "default.aspx.cs",
    "key.p8",
    "web.keytab",
    "client.ovpn",
    "secring.gpg",
    "page.bak2",
    "old/index.phtml",
    "config.inc",
    "includes/db.INC",
    "cgi-bin/form",
    "form.cgi",
    "default.asp",
    "default.aspx",
    "page.jsp",
    "page.shtml",
    ".env",
    ".env.local",
    "production.env",
    "id_rsa",
    "keys/id_ed25519",
    "server.pem",
    "server.key",
    "keys/store.p12",
    ".htpasswd",
    "users.htpasswd",
    ".htaccess",
    "web.config",
    "php.ini",
    "data.sqlite",
    "data.sqlite3",
    "data.sqlite-wal",
    "app.db",
    "dump.sql",
    "dump.sql.gz",
    "index.html.bak",
    "index.html.old",
    "index.html.orig",
    "index.html.save",
    "index.html~",
    "index.html#",
    "#index.html#",
    "index.html,v",
    "index.html,t",
    "RCS/index.html",
    "CVS/Root",
    ".git/config",
    "project/.git/config",
    ".svn/entries",
    ".hg/store",
    ".bash_history",
    ".index.html.swp",
    "docker-compose.yml",
    "terraform.tfstate",
];

const PUBLIC: &[&str] = &[
    "index.html",
    "paper.pdf",
    "docs/htpasswd.html",
    "docs/php.html",
    "docs/a.php.html",
    "data.csv",
    "keys/readme.txt",
];

fn web_root() -> TestSite {
    let site = TestSite::with(&[]);
    for name in SENSITIVE {
        site.write(name, SECRET);
    }
    for name in PUBLIC {
        site.write(name, "public");
    }
    site
}

/// What a repository lists, by name, and all that it says in a format.
fn listed(server: &Server) -> BTreeSet<String> {
    let start = format!("{}/", server.url());
    let records = oai::harvest(&mut server.client(), "verb=ListIdentifiers&metadataPrefix=oai_dc").into_iter();
    records.filter(|record| !record.deleted).map(|record| record.identifier.replace(&start, "")).collect()
}

#[test]
fn sources_keys_and_backups_are_neither_served_nor_listed() {
    let site = web_root();
    for dots in ["", ", '!.*'"] {
        let ignore = format!("['*~', '*#', '*,v', '*,t', 'RCS', 'CVS', '*.swp'{dots}]");
        let server = Launch::of(site.path()).set("ignore", &ignore).start();
        assert_eq!(listed(&server), PUBLIC.iter().map(|&name| name.to_owned()).collect(), "ignore = {ignore}");
        let mut client = server.client();
        for prefix in ["oai_dc", "http_header", "oai_didl"] {
            let page = client.get(&format!("/modoai?verb=ListRecords&metadataPrefix={prefix}")).expect("an answer");
            let secret = base64(SECRET);
            assert!(!page.text().contains(SECRET) && !page.text().contains(&secret), "{prefix}");
        }
        for name in SENSITIVE {
            // As it is, and every letter spelt otherwise.
            let path: Vec<String> = name.split('/').map(encode).collect();
            let spelt: String =
                name.bytes().map(|byte| if byte == b'/' { "/".into() } else { format!("%{byte:02x}") }).collect();
            for target in [format!("/{}", path.join("/")), format!("/{spelt}")] {
                let answer = client.get(&target).expect("an answer");
                assert_eq!(answer.status, 404, "{target}");
                assert!(!answer.text().contains(SECRET), "{target}");
            }
            let identifier = encode(format!("{}/{}", server.url(), path.join("/")));
            let query = format!("verb=GetRecord&metadataPrefix=oai_didl&identifier={identifier}");
            let errors = oai::ask(&mut client, &query).answer.errors;
            assert_eq!(errors.first().map(|(code, _)| code.as_str()), Some("idDoesNotExist"), "{name}");
        }
    }
}

fn base64(text: &str) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(text)
}

#[test]
fn the_log_reports_them_once_at_start() {
    let site = TestSite::with(&[
        ("index.html", "x"),
        ("a.php", "x"),
        (".git/config", "x"),
        (".git/HEAD", "x"),
        ("b.bak", "x"),
    ]);
    let server = Server::of(site.path());
    wait_until("the log reports them", || server.said().contains("3 files or directories look like server-side code"));
    let line = server.said().lines().find(|line| line.contains("look like")).expect("a line").to_owned();
    for part in ["neither served nor listed", "withhold", "access rules"] {
        assert!(line.contains(part), "{line}");
    }
    assert_eq!(server.said().matches("look like").count(), 1, "{}", server.said());

    let plain = TestSite::with(&[("index.html", "x")]);
    let server = Server::of(plain.path());
    assert_eq!(server.client().get("/modoai?verb=Identify").expect("an answer").status, 200);
    assert!(!server.said().contains("look like"), "{}", server.said());
}

#[test]
fn the_list_is_a_setting() {
    let site = TestSite::with(&[("a.php", "x"), ("b.bak", "x"), ("c.secret", "x"), ("index.html", "x")]);
    let all: BTreeSet<String> = ["a.php", "b.bak", "c.secret", "index.html"].map(str::to_owned).into();
    let server = Launch::of(site.path()).set("withhold", "[]").start();
    assert_eq!(listed(&server), all);
    assert_eq!(server.client().get("/a.php").expect("an answer").status, 200);
    let server = Launch::of(site.path()).set("withhold", "[\"*.secret\"]").start();
    assert_eq!(listed(&server), all.iter().filter(|name| *name != "c.secret").cloned().collect());
    assert_eq!(server.client().get("/C.SECRET").expect("an answer").status, 404);
    // A list of names to ignore replaces those, and not these.
    let server = Launch::of(site.path()).set("ignore", "[\"index.*\"]").start();
    assert_eq!(listed(&server), BTreeSet::from(["c.secret".to_owned()]));

    let state = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(binary());
    command.arg("index").arg(site.path()).args(["--json", "--data"]).arg(state.path());
    let told = to_its_end(&mut command).expect("it ends");
    let told: serde_json::Value = serde_json::from_str(&told.out).expect("JSON");
    assert_eq!((&told["files"], &told["withheld"]), (&2.into(), &2.into()));
}

#[test]
fn what_was_listed_before_is_not_any_more() {
    let site = TestSite::with(&[("index.html", "x"), ("a.php", SECRET)]);
    let state = tempfile::tempdir().expect("a folder");
    let server = Launch::of(site.path()).state(state.path()).set("withhold", "[]").start();
    assert_eq!(listed(&server).len(), 2);
    server.terminate();
    let server = Launch::of(site.path()).state(state.path()).start();
    assert_eq!(listed(&server), BTreeSet::from(["index.html".to_owned()]));
    fs::write(site.at("a.php"), "changed").expect("a writable site");
    let answer = server.client().get("/modoai?verb=ListRecords&metadataPrefix=oai_didl").expect("an answer").text();
    assert!(!answer.contains(&base64(SECRET)) && !answer.contains(&base64("changed")), "{answer}");
}
