//! Who may see what: the repository shows a requester exactly what that requester could GET.

use std::collections::BTreeSet;
use std::fs;

use modoai_testkit::http::{Client, encode};
use modoai_testkit::process::{Launch, Server};
use modoai_testkit::site::TestSite;
use modoai_testkit::waiting::{wait_for, wait_until};

use crate::oai;

/// alice: secret (bcrypt), bob: hidden ({SHA}).
const HTPASSWD: &str =
    "alice:$2y$04$I6aGn6YQNKm2UnmsrF0EDeey16CzBpbOJSfW/kAszlx4tMCdY9kgm\nbob:{SHA}mdcsf8Pi4UWHC+qzfAtw40PqnDs=\n";

struct Guarded {
    site: TestSite,
    server: Server,
    _config: tempfile::TempDir,
}

fn guarded() -> Guarded {
    let site = TestSite::with(&[
        ("open.txt", "x"),
        ("private/a.txt", "x"),
        ("private/only.pdf", "%PDF-1.4"),
        ("private/deeper/bob.txt", "x"),
        ("private2/open.html", "x"),
        (".hidden", "x"),
        ("backup.txt~", "x"),
    ]);
    let config = tempfile::tempdir().expect("a folder");
    fs::write(config.path().join("users"), HTPASSWD).expect("a password file");
    let areas = "[[area]]\npath = \"/private\"\nhtpasswd = \"users\"\nrealm = \"Members\"\n\n\
                 [[area]]\npath = \"/private/deeper\"\nhtpasswd = \"users\"\nusers = [\"bob\"]\n";
    let path = config.path().join("modoai.toml");
    fs::write(&path, areas).expect("a configuration");
    let server = Launch::of(site.path()).argument("--config").argument(&path).set("identifiers_per_page", "2").start();
    Guarded { site, server, _config: config }
}

const ALL: [&str; 7] = [
    "open.txt",
    "private/a.txt",
    "private/only.pdf",
    "private/deeper/bob.txt",
    "private2/open.html",
    ".hidden",
    "backup.txt~",
];

#[test]
fn what_is_listed_is_what_these_credentials_could_get() {
    let guarded = guarded();
    let url = guarded.server.url();
    let clients: [(&str, Client, &[&str]); 3] = [
        ("nobody", Client::new(url), &["open.txt", "private2/open.html"]),
        (
            "alice",
            Client::new(url).with_password("alice", "secret"),
            &["open.txt", "private/a.txt", "private/only.pdf", "private2/open.html"],
        ),
        (
            "bob",
            Client::new(url).with_password("bob", "hidden"),
            &["open.txt", "private/a.txt", "private/only.pdf", "private/deeper/bob.txt", "private2/open.html"],
        ),
    ];
    for (who, mut client, expected) in clients {
        let expected: BTreeSet<String> = expected.iter().map(|name| format!("{url}/{name}")).collect();
        let pages = oai::pages(&mut client, "verb=ListIdentifiers&metadataPrefix=oai_dc");
        let size = pages[0].answer.token.as_ref().and_then(|token| token.size.clone());
        assert!(
            pages.len() == 1 || size == Some(expected.len().to_string()),
            "{who}: the size tells only what is seen"
        );
        let listed: BTreeSet<String> =
            pages.into_iter().flat_map(|page| page.answer.records).map(|record| record.identifier).collect();
        assert_eq!(listed, expected, "{who}");
        for name in ALL {
            let got = client.get(&format!("/{name}")).expect("an answer").status == 200;
            assert_eq!(got, expected.contains(&format!("{url}/{name}")), "{who}: GET {name}");
            let id = encode(format!("{url}/{name}"));
            let record = oai::ask(&mut client, &format!("verb=GetRecord&metadataPrefix=oai_didl&identifier={id}"));
            assert_eq!(record.answer.errors.is_empty(), got, "{who}: GetRecord {name}");
            let formats = oai::ask(&mut client, &format!("verb=ListMetadataFormats&identifier={id}"));
            assert_eq!(formats.answer.errors.is_empty(), got, "{who}: ListMetadataFormats {name}");
        }
        let sets = oai::harvest_sets(&mut client);
        assert_eq!(
            sets.contains("mime:application:pdf"),
            who != "nobody",
            "{who}: sets tell nothing of what is hidden"
        );
    }
}

#[test]
fn wrong_credentials_are_told_so_and_never_get_a_shorter_list() {
    let guarded = guarded();
    let mut client = Client::new(guarded.server.url()).with_password("alice", "wrong");
    let answer = client.get("/modoai?verb=ListIdentifiers&metadataPrefix=oai_dc").expect("an answer");
    assert_eq!(answer.status, 401);
    assert!(answer.header("WWW-Authenticate").is_some_and(|challenge| challenge.starts_with("Basic ")));
}

#[test]
fn a_deleted_private_file_stays_private() {
    let guarded = guarded();
    let mut alice = Client::new(guarded.server.url()).with_password("alice", "secret");
    guarded.site.remove("private/a.txt");
    let deleted = |client: &mut Client| {
        let records = oai::harvest(client, "verb=ListIdentifiers&metadataPrefix=oai_dc");
        records.iter().any(|record| record.deleted && record.identifier.ends_with("/private/a.txt"))
    };
    wait_until("the deletion is listed", || deleted(&mut alice));
    assert!(!deleted(&mut Client::new(guarded.server.url())));
}

#[test]
fn deletions_in_a_removed_area_are_reported_to_its_users_only() {
    let guarded = guarded();
    let url = guarded.server.url();
    let (mut nobody, mut alice, mut bob) = (
        Client::new(url),
        Client::new(url).with_password("alice", "secret"),
        Client::new(url).with_password("bob", "hidden"),
    );
    fs::remove_dir_all(guarded.site.path().join("private")).expect("a folder");
    let deleted = |client: &mut Client| -> BTreeSet<String> {
        let records = oai::harvest(client, "verb=ListIdentifiers&metadataPrefix=oai_dc").into_iter();
        let gone = records.filter(|record| record.deleted).map(|record| record.identifier);
        gone.filter_map(|identifier| Some(identifier.strip_prefix(url)?.to_owned())).collect()
    };
    let all = ["/private/a.txt", "/private/deeper/bob.txt", "/private/only.pdf"].map(str::to_owned);
    wait_for("bob sees the deletions", || {
        let paths = deleted(&mut bob);
        if paths == BTreeSet::from(all.clone()) { Ok(()) } else { Err(format!("{paths:?}")) }
    });
    // alice had no access to bob's directory.
    assert_eq!(deleted(&mut alice), BTreeSet::from([all[0].clone(), all[2].clone()]));
    assert_eq!(deleted(&mut nobody), BTreeSet::new());
}

#[test]
fn no_spelling_of_a_path_opens_a_door() {
    let guarded = guarded();
    let mut client = Client::new(guarded.server.url());
    for path in [
        "/private/a.txt",
        "/%70rivate/a.txt",
        "/private%2Fa.txt",
        "//private/a.txt",
        "/./private/a.txt",
        "/open.txt/../private/a.txt",
        "/private2/../private/a.txt",
        "/private/%61.txt",
        "/..%2f..%2fetc/passwd",
        "/../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/.hidden",
        "/%2ehidden",
        "/backup.txt~",
        "/backup.txt%7e",
        "/PRIVATE/a.txt",
        "/private/a.txt%00",
        "/private/a.txt/",
    ] {
        let mut answer = client.get(path).expect("an answer");
        if answer.status == 301 {
            let canonical = answer.header("location").expect("where to").to_owned();
            answer = client.get(&canonical).expect("an answer");
        }
        let status = answer.status;
        assert!(matches!(status, 400 | 401 | 403 | 404), "{path}: {status}");
    }
}
