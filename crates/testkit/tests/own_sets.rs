//! Sets of the administrator's own choice, in both hosts: who is in them, what they are called, and what a changed rule
//! changes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;
use std::time::{Duration, SystemTime};

use modoai_testkit::apache::{self, Httpd, Mpm};
use modoai_testkit::http::Client;
use modoai_testkit::process::{self, Server, binary};
use modoai_testkit::site::TestSite;
use modoai_testkit::waiting::wait_until;
use modoai_testkit::xsd;
use tempfile::TempDir;

use crate::oai;
use crate::running::to_its_end;

/// A setSpec, a name, a description, and patterns.
type Rule<'a> = (&'a str, &'a str, &'a str, &'a [&'a str]);

const RULES: &[Rule<'_>] = &[
    ("physics", "Physics & more", "Everything <about> physics.", &["/physics", "re:-phys\\.html$"]),
    ("physics:hep", "High energy physics", "", &["/physics/hep/**"]),
    ("texts", "Plain texts", "", &["*.txt"]),
    ("unused", "Nothing is here", "", &["/nowhere"]),
    ("series", "All series", "", &[]),
    ("series:1", "The first series", "", &["/physics/hep/b.html", "/chemistry"]),
];

/// `physics` has another name, `physics:hep` lost a file, `texts` has no members any more, `chemistry` is new.
const CHANGED: &[Rule<'_>] = &[
    ("physics", "The department", "", &["/physics", "re:-phys\\.html$"]),
    ("physics:hep", "High energy physics", "", &["/physics/hep/b.html"]),
    ("chemistry", "Chemistry", "", &["/chemistry"]),
    ("series", "All series", "", &[]),
    ("series:1", "The first series", "", &["/physics/hep/b.html", "/chemistry"]),
];

const FILES: &[&str] = &[
    "index.html",
    "news-phys.html",
    "physics/a.html",
    "physics/hep/b.html",
    "physics/hep/talk.txt",
    "chemistry/c.html",
];

/// A repository whose rules can be changed.
enum Repository {
    Standalone { site: TestSite, state: TempDir, server: Option<Server> },
    Apache { httpd: Httpd, _site: TestSite },
}

impl Repository {
    fn site() -> TestSite {
        let site = TestSite::with(&[]);
        for name in FILES {
            site.write(name, "x");
            let file = File::options().append(true).open(site.at(name)).expect("just written");
            // The first index dates files by their modification time, so every later stamp is another.
            let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
            file.set_modified(long_ago).expect("a date it can have");
        }
        site
    }

    fn standalone() -> Self {
        let state = tempfile::tempdir().expect("a folder");
        let mut repository = Self::Standalone { site: Self::site(), state, server: None };
        repository.apply(RULES);
        repository
    }

    fn apache() -> Self {
        let site = Self::site();
        fs::set_permissions(site.path(), Permissions::from_mode(0o755)).expect("permissions set");
        let launch = apache::Launch::new(Mpm::Event).site_at(site.path()).text("Include \"${SITE}/sets.conf\"");
        launch.write("sets.conf", directives(RULES));
        let httpd = launch.start();
        httpd.wait_for_index(&mut httpd.client());
        Self::Apache { httpd, _site: site }
    }

    fn apply(&mut self, rules: &[Rule<'_>]) {
        match self {
            Self::Standalone { site, state, server } => {
                drop(server.take());
                let config = state.path().join("modoai.toml");
                fs::write(&config, tables(rules)).expect("a configuration");
                let launch = process::Launch::of(site.path()).state(state.path());
                let launch = launch.argument("--url").argument("http://same.example/");
                *server = Some(launch.argument("--config").argument(config).start());
            }
            Self::Apache { httpd, .. } => {
                httpd.write("sets.conf", directives(rules));
                httpd.graceful();
            }
        }
    }

    fn url(&self) -> String {
        match self {
            Self::Standalone { server, .. } => server.as_ref().expect("it runs").url().to_owned(),
            Self::Apache { httpd, .. } => httpd.url(),
        }
    }

    /// Names of sets by setSpec, without those of media types.
    fn sets(&self) -> BTreeMap<String, String> {
        let pages = oai::pages(&mut Client::new(&self.url()), "verb=ListSets");
        xsd::expect_all_valid(pages.iter().map(|page| (page.query.as_str(), &page.xml[..])));
        let sets = pages.into_iter().flat_map(|page| page.answer.sets);
        sets.filter(|set| !set.spec.starts_with("mime")).map(|set| (set.spec, set.name)).collect()
    }

    /// The own sets of each record, and its datestamp.
    fn records(&self, arguments: &str) -> BTreeMap<String, (String, String)> {
        let query = format!("verb=ListIdentifiers&metadataPrefix=oai_dc{arguments}");
        let records = oai::harvest(&mut Client::new(&self.url()), &query).into_iter();
        let record = records.map(|record| {
            assert!(!record.deleted && record.sets.iter().any(|set| set.starts_with("mime:")), "{record:?}");
            let own: Vec<String> = record.sets.into_iter().filter(|set| !set.starts_with("mime")).collect();
            let path = record.identifier.splitn(4, '/').nth(3).unwrap_or_default().to_owned();
            (path, (own.join(" "), record.datestamp))
        });
        record.collect()
    }

    fn members(&self, set: &str) -> BTreeSet<String> {
        self.records(&format!("&set={set}")).into_keys().collect()
    }
}

fn tables(rules: &[Rule<'_>]) -> String {
    rules.iter().fold(String::new(), |mut text, (spec, name, description, patterns)| {
        writeln!(text, "[[set]]\nspec = '{spec}'\nname = '{name}'\ndescription = '{description}'").expect("memory");
        writeln!(text, "patterns = {patterns:?}").expect("memory");
        text
    })
}

fn directives(rules: &[Rule<'_>]) -> String {
    rules.iter().fold(String::new(), |mut text, (spec, name, description, patterns)| {
        let patterns: Vec<String> = patterns.iter().map(|pattern| format!("\"{pattern}\"")).collect();
        writeln!(text, "OAISet {spec} \"{name}\" \"description={description}\" {}", patterns.join(" "))
            .expect("memory");
        text
    })
}

fn paths(paths: &[&str]) -> BTreeSet<String> {
    paths.iter().map(|&path| path.to_owned()).collect()
}

fn names(names: &[(&str, &str)]) -> BTreeMap<String, String> {
    names.iter().map(|&(spec, name)| (spec.to_owned(), name.to_owned())).collect()
}

fn rules_put_files_into_sets_and_a_changed_rule_stamps_what_moves(mut repository: Repository) {
    let shown = [
        ("physics", "Physics & more"),
        ("physics:hep", "High energy physics"),
        ("series", "All series"),
        ("series:1", "The first series"),
        ("texts", "Plain texts"),
    ];
    assert_eq!(repository.sets(), names(&shown));
    let page = Client::new(&repository.url()).get("/modoai?verb=ListSets").expect("an answer").text();
    assert!(page.contains("<dc:description>Everything &lt;about&gt; physics.</dc:description>"), "{page}");
    let before = repository.records("");
    let own: BTreeMap<&str, &str> = before.iter().map(|(path, (sets, _))| (path.as_str(), sets.as_str())).collect();
    assert_eq!(
        own,
        BTreeMap::from([
            ("chemistry/c.html", "series:1"),
            ("index.html", ""),
            ("news-phys.html", "physics"),
            ("physics/a.html", "physics"),
            ("physics/hep/b.html", "physics:hep series:1"),
            ("physics/hep/talk.txt", "physics:hep texts"),
        ])
    );
    assert!(before.values().all(|(_, datestamp)| datestamp == "2001-09-09T01:46:40Z"), "{before:?}");
    let physics = ["news-phys.html", "physics/a.html", "physics/hep/b.html", "physics/hep/talk.txt"];
    assert_eq!(repository.members("physics"), paths(&physics));
    assert_eq!(repository.members("physics:hep"), paths(&physics[2..]));
    assert_eq!(repository.members("series"), paths(&["chemistry/c.html", "physics/hep/b.html"]));

    repository.apply(CHANGED);
    let shown = [
        ("chemistry", "Chemistry"),
        ("physics", "The department"),
        ("physics:hep", "High energy physics"),
        ("series", "All series"),
        ("series:1", "The first series"),
    ];
    wait_until("the sets are those of the new rules", || repository.sets() == names(&shown));
    let mut expected = before.clone();
    let after = repository.records("");
    for (path, sets) in [("chemistry/c.html", "chemistry series:1"), ("physics/hep/talk.txt", "physics")] {
        let (_, stamped) = &after[path];
        assert!(stamped.as_str() > "2020", "{path}: {stamped}");
        expected.insert(path.to_owned(), (sets.to_owned(), stamped.clone()));
    }
    assert_eq!(after, expected, "nothing else has changed");
    let moved: BTreeSet<String> = repository.records("&from=2020-01-01").into_keys().collect();
    assert_eq!(moved, paths(&["chemistry/c.html", "physics/hep/talk.txt"]), "an incremental harvest gets what moved");
    let mut validate = Command::new(binary());
    validate.args(["validate", &format!("{}/modoai", repository.url()), "--only", "sets"]);
    let validated = to_its_end(&mut validate).expect("it ends");
    assert_eq!(validated.status.code(), Some(0), "{}{}", validated.out, validated.err);

    repository.apply(&[]);
    wait_until("only media types are left", || repository.sets().is_empty());
    assert!(repository.records("").values().all(|(sets, _)| sets.is_empty()));
}

#[test]
fn rules_put_files_into_sets_and_a_changed_rule_stamps_what_moves_in_the_standalone_server() {
    rules_put_files_into_sets_and_a_changed_rule_stamps_what_moves(Repository::standalone());
}

#[test]
fn rules_put_files_into_sets_and_a_changed_rule_stamps_what_moves_in_httpd() {
    if !apache::is_missing() {
        rules_put_files_into_sets_and_a_changed_rule_stamps_what_moves(Repository::apache());
    }
}

#[test]
fn a_file_that_appears_is_in_its_sets_at_once() {
    let mut repository = Repository::standalone();
    let Repository::Standalone { site, .. } = &mut repository else { unreachable!("just made") };
    site.write("physics/hep/new.txt", "new");
    wait_until("the file is in both sets", || {
        let records = repository.records("");
        records.get("physics/hep/new.txt").is_some_and(|(sets, _)| sets == "physics:hep texts")
    });
}

#[test]
fn a_host_inherits_sets_and_can_redefine_them() {
    if apache::is_missing() {
        return;
    }
    let launch = apache::Launch::new(Mpm::Event).text(
        r#"OAIIndexDir "${SITE}/index"
        OAISet a "A of all hosts" /a
        OAISet b "B of all hosts" /b
        <Location "/modoai">
            SetHandler oai-handler
        </Location>
        <Directory "${SITE}">
            Require all granted
        </Directory>
        DocumentRoot "${SITE}/docs"
        <VirtualHost 127.0.0.1:${PORT}>
            ServerName http://127.0.0.1:${PORT}
            OAISet b "B of this host" /c
        </VirtualHost>"#,
    );
    for name in ["a", "b", "c"] {
        launch.write(format!("docs/{name}/page.html"), "x");
    }
    let httpd = launch.start();
    let mut client = httpd.client();
    httpd.wait_for_index(&mut client);
    let sets = oai::ask(&mut client, "verb=ListSets").answer.sets.into_iter();
    let own: BTreeMap<String, String> = sets.map(|set| (set.spec, set.name)).collect();
    assert_eq!((own["a"].as_str(), own["b"].as_str()), ("A of all hosts", "B of this host"));
    let members = oai::harvest(&mut client, "verb=ListIdentifiers&metadataPrefix=oai_dc&set=b");
    assert_eq!(members.iter().map(|record| record.identifier.ends_with("/c/page.html")).collect::<Vec<_>>(), [true]);
}
