//! Deletions of private files (decision 016), in both directions: a deletion is reported to every requester that the file was
//! listed for, whatever rule gave access and whether or not the rule still exists; and to no other requester.

use std::collections::BTreeSet;
use std::fs;
use std::io;

use modoai_testkit::apache::{self, Httpd, Launch, Mpm};
use modoai_testkit::curl::{Curl, Version};
use modoai_testkit::http::{Client, Get, Response};
use modoai_testkit::waiting::wait_for;

use crate::oai;

/// One configuration. The file `x.txt` is in a directory with the name of the case.
struct Case {
    name: &'static str,
    /// Sections of the server's configuration. `FOLDER` stands for the directory.
    sections: &'static str,
    /// The `.htaccess` file of the directory.
    access: &'static str,
    removed: Removed,
    /// Requesters that can GET the file.
    allowed: &'static [Visitor],
    /// Requesters that cannot.
    refused: &'static [Visitor],
}

/// The part of a case that the test deletes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Removed {
    File,
    /// The directory, with its `.htaccess` file.
    Folder,
}

/// A requester.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Visitor {
    tls: bool,
    http2: bool,
    /// User and password.
    user: Option<(&'static str, &'static str)>,
    /// An additional header.
    header: Option<(&'static str, &'static str)>,
}

const NOBODY: Visitor = Visitor { tls: false, http2: false, user: None, header: None };
const ALICE: Visitor = Visitor { user: Some(("alice", "secret")), ..NOBODY };
const BOB: Visitor = Visitor { user: Some(("bob", "hidden")), ..NOBODY };
const CHAIR: Visitor = Visitor { user: Some(("chair", "secret")), ..NOBODY };
const LIAR: Visitor = Visitor { user: Some(("alice", "guess")), ..NOBODY };
const NINE: Visitor = from("10.9.9.9");
const EIGHT: Visitor = from("10.8.8.8");
const SECURE: Visitor = Visitor { tls: true, ..NOBODY };
const SECURE_2: Visitor = Visitor { http2: true, ..SECURE };
const SECURE_ALICE: Visitor = Visitor { tls: true, ..ALICE };
const SECURE_BOB: Visitor = Visitor { tls: true, ..BOB };
const SECURE_LIAR: Visitor = Visitor { tls: true, ..LIAR };

const fn from(address: &'static str) -> Visitor {
    with("X-Client", address)
}

const fn with(name: &'static str, value: &'static str) -> Visitor {
    Visitor { header: Some((name, value)), ..NOBODY }
}

const MEMBERS: &str = "AuthType Basic\nAuthName Members\nAuthUserFile users\nRequire valid-user\n";
const CASES: &[Case] = &[
    Case {
        name: "public",
        sections: "",
        access: "",
        removed: Removed::Folder,
        allowed: &[NOBODY, ALICE, NINE],
        refused: &[],
    },
    Case {
        name: "password",
        sections: "",
        access: MEMBERS,
        removed: Removed::File,
        allowed: &[ALICE, BOB],
        refused: &[NOBODY, LIAR],
    },
    Case {
        name: "password-gone",
        sections: "",
        access: MEMBERS,
        removed: Removed::Folder,
        allowed: &[ALICE, BOB],
        refused: &[NOBODY, LIAR],
    },
    Case {
        name: "password-of-the-server",
        sections: "<Directory FOLDER>\nAuthType Basic\nAuthName Members\nAuthUserFile users\nRequire valid-user\n</Directory>\n",
        access: "",
        removed: Removed::Folder,
        allowed: &[ALICE],
        refused: &[NOBODY, LIAR],
    },
    Case {
        name: "narrower-rules-gone",
        sections: "<Directory FOLDER>\nAuthType Basic\nAuthName Members\nAuthUserFile users\nRequire valid-user\n</Directory>\n",
        access: "Require user chair\n",
        removed: Removed::Folder,
        allowed: &[CHAIR],
        refused: &[ALICE, BOB, NOBODY],
    },
    Case {
        name: "narrower-rules",
        sections: "<Directory FOLDER>\nAuthType Basic\nAuthName Members\nAuthUserFile users\nRequire valid-user\n</Directory>\n",
        access: "Require user chair\n",
        removed: Removed::File,
        allowed: &[CHAIR],
        refused: &[ALICE, LIAR],
    },
    Case {
        name: "group",
        sections: "",
        access: "AuthType Basic\nAuthName Members\nAuthUserFile users\nAuthGroupFile groups\nRequire group board\n",
        removed: Removed::Folder,
        allowed: &[CHAIR, BOB],
        refused: &[ALICE, NOBODY],
    },
    Case {
        name: "address",
        sections: "",
        access: "Require ip 10.9.9.9\n",
        removed: Removed::File,
        allowed: &[NINE],
        refused: &[EIGHT, NOBODY, ALICE],
    },
    Case {
        name: "address-gone",
        sections: "",
        access: "Require ip 10.9.9.0/24\n",
        removed: Removed::Folder,
        allowed: &[NINE],
        refused: &[EIGHT, NOBODY, ALICE],
    },
    Case {
        name: "local",
        sections: "",
        access: "Require local\n",
        removed: Removed::Folder,
        allowed: &[NOBODY, ALICE],
        refused: &[EIGHT, NINE],
    },
    Case {
        name: "named-host",
        sections: "<Directory FOLDER>\nRequire forward-dns localhost\n</Directory>\n",
        access: "",
        removed: Removed::File,
        allowed: &[NOBODY],
        refused: &[EIGHT],
    },
    Case {
        name: "allow-from",
        sections: "",
        access: "Order deny,allow\nDeny from all\nAllow from 10.9.9.9\n",
        removed: Removed::Folder,
        allowed: &[NINE],
        refused: &[EIGHT, NOBODY],
    },
    Case {
        name: "agent",
        sections: "",
        access: "Require expr %{HTTP_USER_AGENT} =~ /^Harvester/\n",
        removed: Removed::Folder,
        allowed: &[with("User-Agent", "Harvester/1.0")],
        refused: &[with("User-Agent", "Reaper/1.0"), NOBODY],
    },
    Case {
        name: "key",
        sections: "",
        access: "Require expr %{HTTP:X-Key} == 'opens'\n",
        removed: Removed::Folder,
        allowed: &[with("X-Key", "opens")],
        refused: &[with("X-Key", "does not"), NOBODY],
    },
    Case {
        name: "variable",
        sections: "<Directory FOLDER>\nSetEnvIf X-Key opens has_key\nRequire env has_key\n</Directory>\n",
        access: "",
        removed: Removed::File,
        allowed: &[with("X-Key", "opens")],
        refused: &[with("X-Key", "does not"), NOBODY],
    },
    Case {
        name: "cookie",
        sections: "",
        access: "RewriteEngine On\nRewriteCond %{HTTP_COOKIE} !session=open\nRewriteRule ^ - [F]\n",
        removed: Removed::Folder,
        allowed: &[with("Cookie", "session=open")],
        refused: &[with("Cookie", "session=closed"), NOBODY],
    },
    Case {
        name: "forwarded",
        sections: "",
        access: "RewriteEngine On\nRewriteCond %{HTTP:X-Forwarded-Proto} !https\nRewriteRule ^ https://127.0.0.1/ [R,L]\n",
        removed: Removed::Folder,
        allowed: &[with("X-Forwarded-Proto", "https")],
        refused: &[with("X-Forwarded-Proto", "http"), NOBODY],
    },
    Case {
        name: "either",
        sections: "",
        access: "AuthType Basic\nAuthName Members\nAuthUserFile users\n<RequireAny>\nRequire ip 10.9.9.9\nRequire user alice\n</RequireAny>\n",
        removed: Removed::Folder,
        allowed: &[NINE, ALICE],
        refused: &[EIGHT, BOB, LIAR],
    },
    Case {
        name: "both",
        sections: "",
        access: "AuthType Basic\nAuthName Members\nAuthUserFile users\n<RequireAll>\nRequire ip 10.9.9.9\nRequire user alice\n</RequireAll>\n",
        removed: Removed::Folder,
        allowed: &[Visitor { header: NINE.header, ..ALICE }],
        refused: &[ALICE, NINE, Visitor { header: NINE.header, ..BOB }],
    },
    Case {
        name: "satisfy-any",
        sections: "",
        access: "AuthType Basic\nAuthName Members\nAuthUserFile users\nRequire user alice\nOrder deny,allow\nDeny from all\nAllow from 10.9.9.9\nSatisfy Any\n",
        removed: Removed::Folder,
        allowed: &[NINE, ALICE],
        refused: &[EIGHT, BOB],
    },
    Case {
        name: "tls",
        sections: "",
        access: "SSLRequireSSL\n",
        removed: Removed::Folder,
        allowed: &[SECURE, SECURE_2, SECURE_BOB],
        refused: &[],
    },
    Case {
        name: "tls-rewritten",
        sections: "",
        access: "RewriteEngine On\nRewriteCond %{HTTPS} !=on\nRewriteRule ^ https://%{HTTP_HOST}%{REQUEST_URI} [R=301,L]\n",
        removed: Removed::File,
        allowed: &[SECURE, SECURE_2, SECURE_ALICE],
        refused: &[],
    },
    Case {
        name: "tls-provider",
        sections: "<Directory FOLDER>\nRequire ssl\n</Directory>\n",
        access: "",
        removed: Removed::Folder,
        allowed: &[SECURE],
        refused: &[],
    },
    Case {
        name: "tls-and-password",
        sections: "",
        access: "SSLRequireSSL\nAuthType Basic\nAuthName Members\nAuthUserFile users\nRequire user alice\n",
        removed: Removed::Folder,
        allowed: &[SECURE_ALICE, Visitor { http2: true, ..SECURE_ALICE }],
        refused: &[SECURE, SECURE_2, SECURE_BOB, SECURE_LIAR],
    },
];

impl Case {
    fn is_of_tls(&self) -> bool {
        self.allowed[0].tls
    }

    fn folder(&self) -> String {
        format!("{}/{}", if self.is_of_tls() { "secure" } else { "docs" }, self.name)
    }

    fn file(&self) -> String {
        format!("{}/x.txt", self.name)
    }

    fn visitors(&self) -> impl Iterator<Item = &'static Visitor> {
        self.allowed.iter().chain(self.refused)
    }

    fn remove(&self, httpd: &Httpd) {
        let folder = httpd.path().join(self.folder());
        match self.removed {
            Removed::File => fs::remove_file(folder.join("x.txt")).expect("a file"),
            Removed::Folder => fs::remove_dir_all(folder).expect("a folder"),
        }
    }
}

/// A connection of a requester.
enum Visit {
    Plain(Client, Option<(&'static str, &'static str)>),
    Tls(Curl),
}

impl Visitor {
    fn at(&self, httpd: &Httpd) -> Visit {
        if self.tls {
            let version = if self.http2 { Version::Http2 } else { Version::Http1 };
            let curl = Curl::new(&httpd.tls_url(), version);
            return Visit::Tls(self.user.map_or(curl.clone(), |(user, password)| curl.with_password(user, password)));
        }
        let client = httpd.client();
        let client = match self.user {
            Some((user, password)) => client.with_password(user, password),
            None => client,
        };
        Visit::Plain(client, self.header)
    }
}

impl Get for Visit {
    fn get_all(&mut self, targets: &[String]) -> io::Result<Vec<Response>> {
        match self {
            Self::Plain(client, header) => {
                let headers: Vec<(&str, &str)> = header.iter().copied().collect();
                targets.iter().map(|target| client.get_with(target, &headers)).collect()
            }
            Self::Tls(curl) => curl.get_all(targets),
        }
    }
}

/// The paths that are listed for a requester, and whether they are deleted.
fn listed(httpd: &Httpd, visitor: &Visitor) -> BTreeSet<(String, bool)> {
    let (mut client, query) = (visitor.at(httpd), "verb=ListIdentifiers&metadataPrefix=oai_dc");
    // A wrong password is refused, unless the response has begun.
    if client.get(&format!("/modoai?{query}")).expect("an answer").status == 401 {
        return BTreeSet::new();
    }
    let records = oai::harvest(&mut client, query);
    let path = |identifier: String| identifier.splitn(4, '/').nth(3).unwrap_or_default().to_owned();
    records.into_iter().map(|record| (path(record.identifier), record.deleted)).collect()
}

fn launch(mpm: Mpm, cases: &[Case]) -> Httpd {
    let sections = |is_of_tls: bool| -> String {
        let cases = cases.iter().filter(|case| case.is_of_tls() == is_of_tls);
        cases.map(|case| case.sections.replace("FOLDER", &format!("\"${{SITE}}/{}\"", case.folder()))).collect()
    };
    let launch = Launch::new(mpm)
        .tls()
        .modules(&["mod_remoteip", "mod_rewrite", "mod_authz_groupfile", "mod_http2"])
        .ordinary_site()
        .text("RemoteIPHeader X-Client\nRemoteIPInternalProxy 127.0.0.1\n")
        .text(&sections(false))
        .text(
            "<VirtualHost 127.0.0.1:${TLS_PORT}>\nServerName https://127.0.0.1:${TLS_PORT}\nInclude tls.conf\nProtocols h2 http/1.1\n\
             DocumentRoot \"${SITE}/secure\"\n\
             <Directory \"${SITE}/secure\">\nRequire all granted\nAllowOverride All\n</Directory>",
        )
        .text(&sections(true))
        .text("</VirtualHost>");
    // alice and chair: secret, bob: hidden
    launch.write(
        "users",
        "alice:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=\nchair:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=\n\
         bob:{SHA}mdcsf8Pi4UWHC+qzfAtw40PqnDs=\n",
    );
    launch.write("groups", "board: chair bob\n");
    launch.write("docs/open.txt", "x");
    launch.write("secure/open.txt", "x");
    for case in cases {
        launch.write(format!("{}/x.txt", case.folder()), case.name);
        if !case.access.is_empty() {
            launch.write(format!("{}/.htaccess", case.folder()), case.access);
        }
    }
    let httpd = launch.start();
    httpd.wait_for_index(&mut NOBODY.at(&httpd));
    httpd.wait_for_index(&mut SECURE.at(&httpd));
    httpd
}

/// All requesters, without duplicates.
fn visitors(cases: &[Case]) -> Vec<&'static Visitor> {
    let mut visitors: Vec<&Visitor> = Vec::new();
    for visitor in cases.iter().flat_map(Case::visitors) {
        if !visitors.contains(&visitor) {
            visitors.push(visitor);
        }
    }
    visitors
}

#[test]
fn deletion_is_reported_to_the_requesters_that_the_file_was_listed_for() {
    if apache::is_missing() {
        return;
    }
    let httpd = launch(Mpm::Event, CASES);
    for visitor in visitors(CASES) {
        let paths = listed(&httpd, visitor);
        for case in CASES.iter().filter(|case| case.visitors().any(|other| other == visitor)) {
            let expected = case.allowed.contains(visitor);
            assert_eq!(paths.contains(&(case.file(), false)), expected, "{}: {visitor:?}", case.name);
        }
    }
    CASES.iter().for_each(|case| case.remove(&httpd));
    for visitor in visitors(CASES) {
        wait_for(&format!("deletions are reported to {visitor:?}"), || {
            let paths = listed(&httpd, visitor);
            let cases = CASES.iter().filter(|case| case.allowed.contains(visitor));
            let mut lacking = cases.filter(|case| !paths.contains(&(case.file(), true)));
            lacking.next().map_or(Ok(()), |case| Err(case.name))
        });
    }
    // The catalogue has all deletions now.
    for visitor in visitors(CASES) {
        let paths = listed(&httpd, visitor);
        for case in CASES.iter().filter(|case| case.refused.contains(visitor)) {
            assert!(!paths.contains(&(case.file(), true)), "{}: reported to {visitor:?}", case.name);
        }
    }
}

/// A server with a file that needs a password and was listed for alice.
fn with_a_file_for_members(mpm: Mpm) -> Httpd {
    let members = CASES.iter().find(|case| case.name == "password-gone").expect("a case");
    let httpd = launch(mpm, std::slice::from_ref(members));
    assert!(listed(&httpd, &ALICE).contains(&("password-gone/x.txt".to_owned(), false)));
    httpd
}

const GONE: &str = "password-gone/x.txt";

fn wait_until_reported(httpd: &Httpd, visitor: &Visitor) {
    httpd.wait("the deletion is reported", || listed(httpd, visitor).contains(&(GONE.to_owned(), true)));
}

#[test]
fn deletion_is_reported_after_kill_9_of_all_children() {
    if apache::is_missing() {
        return;
    }
    for mpm in [Mpm::Event, Mpm::Prefork] {
        let httpd = with_a_file_for_members(mpm);
        for pid in httpd.children() {
            httpd.kill_child(pid);
        }
        httpd.wait_for_index(&mut NOBODY.at(&httpd));
        fs::remove_dir_all(httpd.path().join("docs/password-gone")).expect("a folder");
        wait_until_reported(&httpd, &ALICE);
        assert!(!listed(&httpd, &NOBODY).contains(&(GONE.to_owned(), true)), "{mpm:?}");
    }
}

#[test]
fn deletion_is_reported_to_a_user_with_a_new_password_and_address() {
    if apache::is_missing() {
        return;
    }
    let httpd = with_a_file_for_members(Mpm::Event);
    // alice: hidden
    httpd.write("users", "alice:{SHA}mdcsf8Pi4UWHC+qzfAtw40PqnDs=\n");
    fs::remove_file(httpd.path().join("docs").join(GONE)).expect("a file");
    let elsewhere = Visitor { header: NINE.header, user: Some(("alice", "hidden")), ..NOBODY };
    wait_until_reported(&httpd, &elsewhere);
    let eve = Visitor { user: Some(("eve", "hidden")), ..NOBODY };
    for other in [NOBODY, eve, LIAR] {
        assert!(!listed(&httpd, &other).contains(&(GONE.to_owned(), true)), "{other:?}");
    }
    // The old password was valid when the file was listed for it.
    assert!(listed(&httpd, &ALICE).contains(&(GONE.to_owned(), true)));
}

#[test]
fn deletion_is_reported_to_the_next_version_of_a_program() {
    if apache::is_missing() {
        return;
    }
    let agents = CASES.iter().find(|case| case.name == "agent").expect("a case");
    let httpd = launch(Mpm::Event, std::slice::from_ref(agents));
    assert!(listed(&httpd, &agents.allowed[0]).contains(&(agents.file(), false)));
    agents.remove(&httpd);
    let next = with("User-Agent", "Harvester/12.7.1");
    httpd.wait("the deletion is reported", || listed(&httpd, &next).contains(&(agents.file(), true)));
    assert!(!listed(&httpd, &NOBODY).contains(&(agents.file(), true)));
}

#[test]
fn deletion_is_not_reported_to_a_user_that_never_listed_the_file() {
    if apache::is_missing() {
        return;
    }
    let httpd = with_a_file_for_members(Mpm::Event);
    httpd.write("docs/password-gone/unseen.txt", "x");
    // Listed for bob only.
    let unseen = |visitor, deleted| listed(&httpd, visitor).contains(&("password-gone/unseen.txt".to_owned(), deleted));
    httpd.wait("the file is listed", || unseen(&BOB, false));
    fs::remove_dir_all(httpd.path().join("docs/password-gone")).expect("a folder");
    httpd.wait("the deletion is reported", || unseen(&BOB, true));
    wait_until_reported(&httpd, &ALICE);
    assert!(!unseen(&ALICE, true) && !unseen(&NOBODY, true));
}

#[test]
fn public_file_created_again_as_private_is_reported_as_deleted() {
    if apache::is_missing() {
        return;
    }
    let httpd = with_a_file_for_members(Mpm::Event);
    let open = |visitor, deleted| listed(&httpd, visitor).contains(&("open.txt".to_owned(), deleted));
    assert!(open(&NOBODY, false));
    fs::remove_file(httpd.path().join("docs/open.txt")).expect("a file");
    httpd.wait("the deletion is reported", || open(&NOBODY, true));
    httpd.write("docs/.htaccess", format!("<Files open.txt>\n{MEMBERS}</Files>\n"));
    httpd.write("docs/open.txt", "closed now");
    httpd.wait("the file is back for members", || open(&ALICE, false));
    assert!(open(&NOBODY, true), "a harvester may have missed the deletion in between");
}
