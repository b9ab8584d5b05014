//! Task files from the disk: the examples, what the paper of 1994 printed, and whatever else somebody may call a task file.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use modoai_spider::task::{
    Action, MailRoute, OwnerRule, Owners, Plan, Restriction, Restrictions, SaidIn, Scope, Scoper, Scoping, Syntax,
    Task, TaskError, Tell,
};
use modoai_testkit::workspace;
use proptest::prelude::*;
use url::Url;

fn url(text: &str) -> Url {
    Url::parse(text).expect("a URL")
}

fn at(time: &str) -> Timestamp {
    time.parse().expect("a time")
}

fn texts<const N: usize>(all: [&str; N]) -> Vec<String> {
    all.map(str::to_owned).to_vec()
}

fn avoid(prefix: &str, until: Option<&str>) -> Restriction {
    Restriction { action: Action::Avoid, prefix: prefix.to_owned(), until: until.map(at), origin: String::new() }
}

fn leaf(prefix: &str, until: Option<&str>) -> Restriction {
    Restriction { action: Action::Leaf, ..avoid(prefix, until) }
}

/// Reads a plan from files that are nowhere.
fn read(files: &[(&str, &[u8])], now: &str) -> Result<Plan, TaskError> {
    let files: HashMap<&Path, &[u8]> = files.iter().map(|(name, bytes)| (Path::new(name), *bytes)).collect();
    let mut open = |path: &Path| files.get(path).map(|bytes| bytes.to_vec()).ok_or(io::ErrorKind::NotFound.into());
    Plan::read_with(Path::new("tasks"), at(now), &mut open)
}

const APPENDIX_A: &[u8] = include_bytes!("tasks/appendix-a");
const APPENDIX_C: &[u8] = include_bytes!("tasks/appendix-c");
const APPENDIX_D: &[u8] = include_bytes!("tasks/appendix-d");

#[test]
fn the_files_of_the_paper_are_read_as_they_were_meant() {
    let files = [
        ("tasks", APPENDIX_A),
        ("/usr/grads/fielding/test/.momspider-avoid", APPENDIX_C),
        ("/usr/grads/fielding/test/.momspider-sites", APPENDIX_D),
    ];
    let mut plan = read(&files, "1994-05-25T00:00:00Z").expect("a plan");
    assert_eq!(plan.restrictions[0].origin, "/usr/grads/fielding/test/.momspider-avoid:3");
    plan.restrictions.iter_mut().for_each(|restriction| restriction.origin.clear());
    let broken = Tell { broken: true, ..Tell::default() };
    let expected = Plan {
        syntax: Syntax::Momspider,
        robots_age: Some(jiff::SignedDuration::from_hours(24)),
        tasks: vec![
            Task {
                index_file: Some(PathBuf::from("/usr/local/httpd/documentroot/MOM/ICS.html")),
                index_url: Some(url("http://www.ics.uci.edu/Admin/ICS.html")),
                index_title: Some("MOMspider Index for All of ICS".to_owned()),
                addresses: texts(["www@ics.uci.edu"]),
                tell: Tell { expired: Some(2), ..broken.clone() },
                ..Task::new("ICS", Scope::Site, url("http://www.ics.uci.edu/ICSHome.html"))
            },
            Task {
                index_file: Some(PathBuf::from("/usr/local/httpd/documentroot/Admin/MOMspider-WWW94.html")),
                index_url: Some(url("http://www.ics.uci.edu/Admin/MOMspider-WWW94.html")),
                index_title: Some("MOMspider Index for Roy's WWW94 Paper".to_owned()),
                addresses: texts(["fielding@ics.uci.edu"]),
                tell: broken.clone(),
                ..Task::new(
                    "MOMspider-WWW94",
                    Scope::Tree,
                    url("http://www.ics.uci.edu/WebSoft/MOMspider/WWW94/paper.html"),
                )
            },
            Task {
                index_file: Some(PathBuf::from("/usr/grads/fielding/public_html/MOM/RTF.html")),
                index_url: Some(url("http://www.ics.uci.edu/~fielding/MOM/RTF.html")),
                addresses: texts(["fielding@ics.uci.edu"]),
                tell: Tell { changed: Some(3), expired: Some(7), ..broken },
                ..Task::new("RTF", Scope::Owner, url("http://www.ics.uci.edu/~fielding/hotlist.html"))
            },
        ],
        restrictions: vec![
            avoid("http://www.ncsa.uiuc.edu:8001/", None),
            avoid("http://info.cern.ch:8001/", None),
            avoid("http://www.contrib.andrew.cmu.edu:8001/sokoban/", None),
            leaf("http://www.ncsa.uiuc.edu/SDG/Software/Mosaic/Docs/whats-new.html", None),
            leaf("http://www.ncsa.uiuc.edu/SDG/Software/Mosaic/MetaIndex.html", None),
            leaf("http://info.cern.ch/hypertext/DataSources/ByAccess.html", None),
            leaf("http://info.cern.ch/hypertext/DataSources/bySubject/Overview.html", None),
            avoid("http://www.whitehouse.gov/", None),
            leaf("http://www.ics.uci.edu/Admin/", None),
            avoid("http://betelgeuse.com/name.html", Some("1999-12-31T09:30:00Z")),
            avoid("http://simplon.ics.uci.edu:8001/", Some("1994-09-29T23:59:59Z")),
        ],
        remarks: texts([
            "tasks:5: SitesCheck 7: robots.txt is requested again after 1 day, by RFC 9309",
            "tasks:1: file /usr/local/httpd/admin/avoid.mom not found; treating it as empty",
            "tasks:2: file /usr/local/httpd/admin/sites.mom not found; treating it as empty",
            "/usr/grads/fielding/test/.momspider-avoid:12: this entry has expired and is ignored",
            "/usr/grads/fielding/test/.momspider-sites:3: robots.txt of www.ics.uci.edu:80 is requested once a day anyway (RFC 9309)",
        ]),
        ..Plan::default()
    };
    assert_eq!(plan, expected);

    let restrictions = Restrictions::new(&plan.restrictions);
    let now = at("1994-05-25T00:00:00Z");
    let action = |url| restrictions.action(url, now);
    assert_eq!(action("http://www.whitehouse.gov/White_House/html/White_House_Home.html"), Some(Action::Avoid));
    assert_eq!(action("http://www.ics.uci.edu/Admin/ICS.html"), Some(Action::Leaf));
    assert_eq!(action("http://www.ics.uci.edu/Test/momtest.html"), None, "that was in April");
    assert_eq!(action("http://simplon.ics.uci.edu:8001/x"), Some(Action::Avoid));

    let paper = Scoper::new(&plan.tasks[1]);
    let beside = url("http://www.ics.uci.edu/WebSoft/MOMspider/WWW94/appendix-B.html");
    assert_eq!(paper.scoping(&beside, None), Scoping::Inside);
    assert_eq!(paper.scoping(&url("http://www.ics.uci.edu/WebSoft/"), None), Scoping::Outside);
}

#[test]
fn the_example_in_toml_is_read_as_the_guide_says() {
    let folder = workspace().join("examples/spider");
    let now = at("2026-01-01T00:00:00Z");
    let mut plan = Plan::read_with(&folder.join("tasks.toml"), now, &mut |path| std::fs::read(path)).expect("a plan");
    plan.restrictions.iter_mut().for_each(|restriction| restriction.origin.clear());
    let repairs = Tell { broken: true, redirected: true, ..Tell::default() };
    let expected = [
        Task {
            index_file: Some(folder.join("links/everything.html")),
            index_url: Some(url("https://www.example.org/links/everything.html")),
            index_title: Some("All of example.org".to_owned()),
            addresses: texts(["webmaster@example.org"]),
            tell: Tell { broken: true, expired: Some(14), ..Tell::default() },
            max_pages: Some(50_000),
            ..Task::new("everything", Scope::Site, url("https://www.example.org/"))
        },
        Task {
            index_file: Some(folder.join("links/handbook.html")),
            addresses: texts(["handbook@example.org", "Bob <bob@example.org>"]),
            tell: repairs.clone(),
            exclude: texts(["https://www.example.org/handbook/archive/"]),
            change_window: Some(7),
            ..Task::new("handbook", Scope::Tree, url("https://www.example.org/handbook/"))
        },
        Task {
            index_file: Some(folder.join("links/physics.html")),
            addresses: texts(["alice@example.org", "carol@example.org"]),
            tell: Tell { changed: Some(3), ..repairs },
            ..Task::new("physics", Scope::Owner, url("https://www.example.org/physics/"))
        },
    ];
    assert_eq!(plan.tasks, expected);
    let expected = [
        leaf("https://lists.example.org/", None),
        avoid("https://www.example.org/calendar/", Some("2031-01-01T00:00:00Z")),
        avoid("https://www.example.org/cgi-bin/", None),
        avoid("http://www.example.org:8001/", Some("2030-12-31T23:59:59Z")),
        leaf("https://www.example.org/links/", None),
        leaf("https://www.example.org/whats-new.html", Some("2030-07-01T00:00:00Z")),
    ];
    assert_eq!(plan.restrictions, expected);
    assert_eq!(plan.contact.as_deref(), Some("webmaster@example.org"));
    assert_eq!(
        plan.mail,
        Some(MailRoute::Smtp {
            url: url("smtp+starttls://mail.example.org:587"),
            user: Some("spider".to_owned()),
            password_file: Some(folder.join("smtp-password")),
            from: "Link watch <spider@example.org>".to_owned(),
        })
    );
    assert_eq!(plan.remarks, [] as [String; 0]);
    let of_table =
        OwnerRule { pattern: "/physics/".to_owned(), owner: Some("physics".to_owned()), said_in: SaidIn::Table };
    assert_eq!(plan.owners[0], of_table);
    assert_eq!(plan.addresses_of("@archive"), texts(["erin@example.org"]));
    assert_eq!(plan.addresses_of("physics"), texts(["alice@example.org", "carol@example.org"]));
    assert_eq!(plan.addresses_of("nobody"), [] as [String; 0]);

    let owners = Owners::new(&plan).expect("good rules");
    for (page, expected) in [
        ("https://www.example.org/", Some("web")),
        ("https://www.example.org/style.css", Some("design")),
        ("https://www.example.org/physics/style.css", Some("physics")),
        ("https://www.example.org/physics/history/1905.html", Some("archive")),
        ("https://www.example.org/handbook/style.css", Some("handbook")),
        ("https://www.example.org/handbook/a/labs/safety.html", Some("physics")),
        ("https://www.example.org/tmp/x.html", None),
        ("https://optics.example.org/lenses.html", Some("physics")),
        ("https://elsewhere.example/physics/", None),
    ] {
        assert_eq!(owners.of(&url(page)), expected, "{page}");
    }
}

#[test]
fn the_example_of_1994_is_the_same_plan_in_other_words() {
    let folder = workspace().join("examples/spider");
    let now = at("2026-01-01T00:00:00Z");
    let plan =
        Plan::read_with(&folder.join("momspider-instruct"), now, &mut |path| std::fs::read(path)).expect("a plan");
    let mut today = Plan::read_with(&folder.join("tasks.toml"), now, &mut |path| std::fs::read(path)).expect("a plan");
    assert_eq!(plan.tasks[0], Task { max_pages: None, ..today.tasks.remove(0) });
    let scopes: Vec<_> = plan.tasks.iter().map(|task| (task.name.as_str(), task.scope)).collect();
    assert_eq!(scopes, [("everything", Scope::Site), ("handbook", Scope::Tree), ("physics", Scope::Owner)]);
    assert_eq!(plan.tasks[1].exclude, texts(["https://www.example.org/handbook/archive/"]));
    assert_eq!(plan.tasks[2].expire_window, Some(30));
    assert_eq!(plan.max_depth, Some(20));
    assert_eq!(plan.contact.as_deref(), Some("webmaster@example.org"));
    assert_eq!(plan.restrictions.len(), 4);
    assert_eq!(plan.remarks.len(), 2, "{:?}", plan.remarks);
}

#[test]
fn from_the_disk_as_from_anywhere() {
    let plan = Plan::read(&workspace().join("examples/spider/tasks.toml")).expect("a plan");
    assert_eq!(plan.tasks.len(), 3);
    let missing = Plan::read(Path::new("/there/is/none")).expect_err("nothing there");
    assert_eq!(missing.to_string(), "failed to read /there/is/none");
}

#[test]
fn errors_name_the_file_and_the_line() {
    let task = "[[task]]\nname = 'a'\nsite = 'http://h/'\n";
    let told = |files: &[(&str, &str)]| {
        let files: Vec<_> = files.iter().map(|(name, text)| (*name, text.as_bytes())).collect();
        read(&files, "2026-01-01T00:00:00Z").expect_err("something is wrong").to_string()
    };
    assert_eq!(told(&[("tasks", "[[task]]\nnaem = 'a'\n")]), "tasks:2: unknown setting 'naem'; did you mean 'name'?");
    assert_eq!(told(&[("tasks", "Maxdepth 3\n")]), "tasks:1: unknown name 'Maxdepth'; did you mean 'MaxDepth'?");
    assert!(told(&[("tasks", "# nothing\n")]).starts_with("tasks contains no tasks; a task is [[task]]"));
    let including = format!("\navoid_file = 'a'\n{task}");
    assert_eq!(told(&[("tasks", &including)]), "failed to read a, included from tasks:2");
    let wrong = told(&[("tasks", &including), ("a", "# x\nAvid http://h/\n")]);
    assert_eq!(wrong, "a:2: unknown name 'Avid'; did you mean 'Avoid'?");
    let twice = "[[task]]\nname='a'\nsite='http://h/'\nindex='i'\n[[task]]\nname='b'\nsite='http://h/'\nindex='i'\n";
    assert_eq!(told(&[("tasks", twice)]), "tasks:5: the task of line 1 also writes its index to i; use another file");
}

#[test]
fn what_is_odd_is_remarked() {
    let text =
        b"\xef\xbb\xbf[[task]]\nname='a'\nsite='http://h/'\ntell_changed=1\n[[task]]\nname='a'\ntree='http://h/x/'\n";
    let plan = read(&[("tasks", text)], "2026-01-01T00:00:00Z").expect("a plan");
    assert_eq!(
        plan.remarks,
        [
            "tasks:1: mail is requested, but the address is missing",
            "tasks:5: the task of line 1 is also called 'a'; reports cannot distinguish them",
        ]
    );
    let text = b"<Site\n Name a\n TopURL http://h/\n IndexTitle Universit\xe9\n>\n";
    let plan = read(&[("tasks", text)], "2026-01-01T00:00:00Z").expect("a plan");
    assert_eq!(plan.tasks[0].index_title.as_deref(), Some("Université"));
    assert_eq!(plan.remarks, ["tasks:4: invalid UTF-8; reading the file as Windows-1252"]);
    let text = b"avoid=[{url='http://h/a', until=2020-01-01}]\n[[task]]\nname='a'\nsite='http://h/'\n";
    let plan = read(&[("tasks", text)], "2026-01-01T00:00:00Z").expect("a plan");
    assert_eq!(plan.restrictions, []);
    assert_eq!(plan.remarks, ["tasks:1: this entry has expired and is ignored"]);
}

/// Lines of one kind of file, with something strange between them now and then.
fn lines(of: &'static [&'static str]) -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![40 => proptest::sample::select(of).prop_map(str::to_owned), 1 => ".{0,30}"];
    prop::collection::vec(line, 1..6).prop_map(|lines| lines.join("\n").into_bytes())
}

/// A task file in either syntax, or anything at all.
fn tasks() -> impl Strategy<Value = Vec<u8>> {
    const IN_TOML: &[&str] = &[
        "[[task]]\nname = 'a'\nsite = 'http://h/a'",
        "[[task]]\nname = 'b'\nowner = 'http://h/a#b'\nexclude = ['/x', 'http://h/%zz']",
        "owners_file = 'd'",
        "avoid_file = ['b', 'b']",
        "avoid = [{url='http://h/', until=2030-01-01}]",
        "tell = ['broken']",
        "[owners]\n'/a' = '@b'",
        "[people]\nb = 'a@b'",
        "[mail]\nsmtp = 'smtp://h'\nfrom = 'a@b'",
    ];
    const OF_1994: &[&str] = &[
        "<Site\nName a\nTopURL http://h/\n>",
        "<Owner\nName b\nTopURL http://h/?a\nExclude /x\nEmailChanged 3\n>",
        "AvoidFile b",
        "SitesFile c",
        "SitesCheck 9",
        "MaxDepth 99999999999",
        "<Tree",
        ">",
    ];
    prop_oneof![4 => lines(IN_TOML), 4 => lines(OF_1994), 1 => prop::collection::vec(any::<u8>(), 0..200)]
}

const AVOIDED: &[&str] =
    &["Avoid http://h/%zz [*]", "Leaf http://h/ [9998-12-31]", "Leaf news:x", "Avoid http://h", "Avoid"];
const SITES: &[&str] = &["Site h:80", "Site h:99999 [*]", "Site h:8001 [2020-01-01]"];
const OWNED: &[&str] =
    &["* @a b@c", "/a/**/b** @x", "\\ \\", "http://h/ @x", "[x] @y", "/{[a]}?* @b", "***/ @a", "/a @b @c d"];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn whatever_the_files_are_there_is_a_plan_or_an_error(tasks in tasks(), avoid in lines(AVOIDED), sites in lines(SITES), owners in lines(OWNED), page in "[a-z/%.*]{0,20}") {
        let files: [(&str, &[u8]); 4] = [("tasks", &tasks), ("b", &avoid), ("c", &sites), ("d", &owners)];
        match read(&files, "2026-01-01T00:00:00Z") {
            Ok(plan) => {
                prop_assert!(!plan.tasks.is_empty());
                let Ok(page) = url("http://h/").join(&page) else { return Ok(()) };
                let owners = Owners::new(&plan).expect("it was tried before");
                Restrictions::new(&plan.restrictions).action(page.as_str(), Timestamp::UNIX_EPOCH);
                for task in &plan.tasks {
                    let scoper = Scoper::new(task);
                    prop_assert_eq!(scoper.scoping(&task.top, None), Scoping::Inside);
                    scoper.scoping(&page, owners.of(&page));
                }
            }
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }
}
