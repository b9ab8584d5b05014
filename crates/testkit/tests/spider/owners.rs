//! Many owners, one web: tasks in TOML and in the words of 1994.

use std::path::PathBuf;

use modoai_testkit::process::write_program;
use modoai_testkit::web::{Asked, Host, Reply, Visit, Web, html};
use tempfile::TempDir;

use super::{Ended, Spider};

/// A task file in a folder of its own, and the table beside it.
struct Tasks {
    folder: TempDir,
    file: PathBuf,
}

impl Tasks {
    fn new(text: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("tasks");
        std::fs::write(&file, text).expect("room for it");
        Self { folder, file }
    }

    fn run(&self) -> Ended {
        Spider::new(&self.file, &self.folder.path().join("table")).complete()
    }
}

/// A site of three departments, each with a broken link, and a front page.
fn departments() -> Host {
    let web = Web::default().page(
        "/",
        r#"<a href="/physics/">1</a><a href="/chemistry/">2</a><a href="/biology/">3</a><a href="/gone">4</a>"#,
    );
    let web = ["physics", "chemistry", "biology"].into_iter().fold(web, |web, name| {
        let page = |number: usize| {
            format!(r#"<a href="/{name}/{number}">next</a><a href="/">home</a><a href="/physics/1">p</a>"#)
        };
        web.page(&format!("/{name}/"), &page(1))
            .page(&format!("/{name}/1"), &page(2))
            .page(&format!("/{name}/2"), r#"<a href="gone">x</a>"#)
    });
    web.start()
}

#[test]
fn ten_overlapping_tasks_cost_what_one_costs() {
    let host = departments();
    let task =
        |name: &str, scope: &str, path: &str| format!("[[task]]\nname = \"{name}\"\n{scope} = \"{}\"\n", host.at(path));
    let one = Tasks::new(&task("all", "site", "/")).run();
    let asked = host.take_log().len();
    let mut ten = task("all", "site", "/") + &task("again", "site", "/") + &task("top", "tree", "/");
    for name in ["physics", "chemistry", "biology"] {
        ten += &(task(name, "tree", &format!("/{name}/")) + &task(&format!("{name}-2"), "tree", &format!("/{name}/1")));
    }
    ten += &task("physics-site", "site", "/physics/");
    let ten = Tasks::new(&ten).run();
    assert_eq!(host.repeated(), [], "whoever's task it is, a URL is asked for once");
    assert_eq!(host.log().len(), asked);
    assert_eq!(ten.targets("broken"), one.targets("broken"));
    assert_eq!(ten.findings.len(), one.findings.len(), "each page once, however many tasks have it\n{}", ten.said);
    let of_physics =
        ten.findings.iter().find(|finding| finding["target"] == host.at("/physics/gone")).expect("it is broken");
    let tasks: Vec<&str> =
        of_physics["tasks"].as_array().into_iter().flatten().filter_map(|task| task.as_str()).collect();
    for (name, has) in [("all", true), ("again", true), ("physics", true), ("physics-2", true), ("chemistry", false)] {
        assert_eq!(tasks.contains(&name), has, "{name} in {tasks:?}");
    }
}

#[test]
fn a_tree_goes_no_further_than_its_folder() {
    let host = departments();
    let ended = Tasks::new(&format!("[[task]]\nname = \"physics\"\ntree = \"{}\"\n", host.at("/physics/1"))).run();
    let broken: Vec<String> =
        ended.targets("broken").into_iter().map(|target| target.replace(host.url(), "")).collect();
    assert_eq!(broken, ["/physics/gone"], "{}", ended.said);
    // What is outside is tested, but not traversed.
    assert_eq!((host.times("/"), host.times("/chemistry/"), host.times("/gone")), (1, 0, 0));
    assert_eq!(ended.count("pages"), 2, "{}", ended.said);
}

#[test]
fn an_owner_has_the_documents_that_say_so() {
    let head = |owner: &str, missing: &str| {
        format!(
            "<!DOCTYPE html><html><head><title>x</title>{owner}</head><body><a href=\"/missing/{missing}\">x</a></body></html>"
        )
    };
    let file =
        |web: Web, path: &str, owner: &str| web.file(path, "text/html", head(owner, path.trim_start_matches('/')));
    let web = Web::default().page("/", r#"<a href="/header">1</a><a href="/meta">2</a><a href="/of-1994">3</a><a href="/another">4</a><a href="/nobody">5</a>"#);
    let web = file(web, "/meta", r#"<meta name="owner" content="RTF">"#);
    let web = file(web, "/of-1994", r#"<META header name="Owner" value="RTF">"#);
    let web = file(web, "/another", r#"<meta name="owner" content="somebody">"#);
    let page = head("", "header");
    let web = file(web, "/nobody", "")
        .on("/header", move |_: &Visit<'_>| Reply::of(200, "text/html", page.clone()).with("Owner", "RTF"));
    let host = web.start();
    let ended = Tasks::new(&format!("[[task]]\nname = \"RTF\"\nowner = \"{}\"\n", host.at("/"))).run();
    let broken: Vec<String> =
        ended.targets("broken").into_iter().map(|target| target.replace(host.url(), "")).collect();
    assert_eq!(broken, ["/missing/header", "/missing/meta", "/missing/of-1994"], "{}", ended.said);
    assert_eq!(host.times("/missing/another") + host.times("/missing/nobody"), 0, "these are not RTF's");
    assert!(ended.findings.iter().all(|finding| finding["owner"] == "RTF"), "{}", ended.said);
}

#[test]
fn an_owner_has_documents_on_other_hosts() {
    let owned = r#"<html><head><meta name="owner" content="RTF"></head>"#;
    let third = Web::default().file("/mine", "text/html", format!("{owned}<a href=\"/gone-3\">x</a>")).start();
    let leaf = |number: usize| format!("<a href=\"/nobodys/{number}\">x</a>");
    let stranger = Web::default().below("/nobodys/", |_| html("nobody's")).status("/refused", 403).start();
    let other = Web::default()
        .on("/mine", {
            let page = format!("<a href=\"/gone-2\">x</a><a href=\"{}\">next</a>", third.at("/mine"));
            move |_: &Visit<'_>| html(&page).with("Owner", "RTF")
        })
        .file("/not-mine", "text/html", r#"<meta name="owner" content="XYZ"><a href="/gone-4">x</a>"#)
        .start();
    let nobodys: String = (0..60).map(|number| leaf(number).replace("/nobodys", &stranger.at("/nobodys"))).collect();
    let links = format!(
        r#"<a href="{}">1</a><a href="{}">2</a><a href="{}">3</a>{nobodys}"#,
        other.at("/mine"),
        other.at("/not-mine"),
        stranger.at("/refused")
    );
    let host = Web::default().page("/", &links).start();
    let tasks = Tasks::new(&format!("[[task]]\nname = \"RTF\"\nowner = \"{}\"\n", host.at("/")));
    let ended = tasks.run();
    let expected = std::collections::BTreeSet::from([other.at("/gone-2"), third.at("/gone-3")]);
    assert_eq!(ended.targets("broken"), expected, "{}", ended.said);
    assert_eq!(other.times("/gone-4"), 0, "that is not RTF's");
    assert_eq!(ended.count("pages"), 3, "{}", ended.said);
    // Refusals of others are not called broken, and a host without an owner's document is soon only tested.
    assert!(ended.targets("not tested").contains(&stranger.at("/refused")), "{}", ended.said);
    let is_read = |asked: &Asked| asked.request.method == "GET" && asked.request.target != "/robots.txt";
    let read = stranger.log().into_iter().filter(is_read);
    assert_eq!(read.count(), 20);

    let folder = tempfile::tempdir().expect("a folder");
    let same = Spider::new(&tasks.file, &folder.path().join("table")).with(["--owner-hosts", "same"]).complete();
    assert!(same.targets("broken").is_empty(), "{}", same.said);
}

#[test]
fn owners_by_path_are_told() {
    let host = departments();
    let tasks = format!(
        "[[task]]\nname = \"all\"\nsite = \"{}\"\n[owners]\n\"/physics/\" = \"curie\"\n\"/\" = \"web\"\n",
        host.at("/")
    );
    let ended = Tasks::new(&tasks).run();
    for (path, owner) in [("/physics/gone", "curie"), ("/chemistry/gone", "web"), ("/gone", "web")] {
        let finding = ended.findings.iter().find(|finding| finding["target"] == host.at(path)).expect("it is broken");
        assert_eq!(finding["owner"], owner, "{finding}");
    }
}

#[test]
fn what_is_avoided_is_not_asked_for_and_leaves_are_not_read() {
    let host = departments();
    let tasks = format!(
        "[[task]]\nname = \"all\"\nsite = \"{0}/\"\n[[avoid]]\nurl = \"{0}/physics/\"\n[[leaf]]\nurl = \"{0}/chemistry/\"\n",
        host.url()
    );
    let ended = Tasks::new(&tasks).run();
    assert!(host.log().iter().all(|asked| !asked.request.target.starts_with("/physics")), "{}", ended.said);
    let chemistry: Vec<_> =
        host.log().into_iter().filter(|asked| asked.request.target.starts_with("/chemistry")).collect();
    assert!(matches!(&chemistry[..], [one] if one.request.method == "HEAD"), "{chemistry:?}");
    // Whoever has something avoided need not be told so every time; nor is it called broken.
    assert!(ended.findings.iter().all(|finding| finding["target"] != host.at("/physics/")), "{}", ended.said);
    let broken: Vec<String> =
        ended.targets("broken").into_iter().map(|target| target.replace(host.url(), "")).collect();
    assert_eq!(broken, ["/biology/gone", "/gone"], "{}", ended.said);
}

#[test]
fn what_changed_and_what_expires_is_told() {
    let now = modoai_testkit::endpoint::calendar::now();
    let date = modoai_testkit::endpoint::calendar::http_date;
    let (yesterday, long_ago, soon, late) =
        (date(now - 86_400), date(now - 9_000_000), date(now + 86_400), date(now + 9_000_000));
    let page = |modified: &str, expires: &str| {
        let (modified, expires) = (modified.to_owned(), expires.to_owned());
        move |_: &Visit<'_>| html("x").with("Last-Modified", &modified).with("Expires", &expires)
    };
    let host = Web::default()
        .page("/", r#"<a href="/changed">1</a><a href="/expiring">2</a><a href="/still">3</a><a href="/expired">4</a>"#)
        .on("/changed", page(&yesterday, &late))
        .on("/expiring", page(&long_ago, &soon))
        .on("/expired", page(&long_ago, &yesterday))
        .on("/still", page(&long_ago, &late))
        .start();
    let tasks =
        format!("[[task]]\nname = \"all\"\nsite = \"{}\"\nchange_window = 3\nexpire_window = 7\n", host.at("/"));
    let ended = Tasks::new(&tasks).run();
    let told = |verdict: &str| -> Vec<String> {
        ended.targets(verdict).into_iter().map(|target| target.replace(host.url(), "")).collect()
    };
    assert_eq!(told("changed"), ["/changed"], "{}", ended.said);
    assert_eq!(told("expiring"), ["/expired", "/expiring"], "{}", ended.said);
    assert_eq!(ended.code, Some(0), "that is nothing broken\n{}", ended.said);
}

/// The entries of the paper's appendix C.
const AVOID_FILE: &str = "\
# MOMspider-0.1a Avoid File: Lists URL prefixes to avoid or leaf.

Avoid http://www.ncsa.uiuc.edu:8001/ [*]
Avoid http://info.cern.ch:8001/ [*]
Avoid http://www.contrib.andrew.cmu.edu:8001/sokoban/ [*]
Leaf http://www.ncsa.uiuc.edu/SDG/Software/Mosaic/Docs/whats-new.html [*]
Leaf http://www.ncsa.uiuc.edu/SDG/Software/Mosaic/MetaIndex.html [*]
Leaf http://info.cern.ch/hypertext/DataSources/ByAccess.html [*]
Leaf http://info.cern.ch/hypertext/DataSources/bySubject/Overview.html [*]
Avoid http://www.whitehouse.gov/ [*]
Leaf http://www.ics.uci.edu/Admin/ [*]
Avoid http://www.ics.uci.edu/Test/momtest.html [Sat, 02 Apr 1994 00:00:00 GMT]
Avoid http://betelgeuse.com/name.html [Fri, 31 Dec 1999 09:30:00 GMT]
Avoid http://simplon.ics.uci.edu:8001/ [Thu, 29 Sep 1994 23:59:59 GMT]
";

/// Those of appendix D.
const SITES_FILE: &str = "\
# MOMspider-0.1a Sites File: Lists IPaddress:port locations we've checked

Site www.ics.uci.edu:80 [*]
Site betelgeuse.com:80 [Fri, 31 Dec 1999 09:30:00 GMT]
Site simplon.ics.uci.edu:8001 [Thu, 29 Sep 1994 23:59:59 GMT]
";

#[test]
fn the_instruction_file_of_1994_runs() {
    let host = Web::default()
        .page("/ICSHome.html", r#"<a href="/WebSoft/MOMspider/WWW94/paper.html">paper</a><a href="/~fielding/hotlist.html">hot</a><a href="/gone.html">x</a>"#)
        .page("/WebSoft/MOMspider/WWW94/paper.html", r#"<a href="appendix-A.html">A</a><a href="nowhere.html">x</a>"#)
        .page("/WebSoft/MOMspider/WWW94/appendix-A.html", "the end")
        .page("/~fielding/hotlist.html", r#"<a href="/~fielding/cold.html">x</a><a href="/mine.html">y</a>"#)
        .file("/mine.html", "text/html", r#"<html><head><meta header name="Owner" value="RTF"></head><a href="/~fielding/lost.html">x</a>"#)
        .start();
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name).display().to_string();
    let (url, file) = (host.url(), folder.path().join("instructions"));
    let instructions = format!(
        "SystemAvoid {avoid}
SystemSites {sites}
AvoidFile   {own_avoid}
SitesFile   {own_sites}
SitesCheck  7
<Site
  Name      ICS
  TopURL    {url}/ICSHome.html
  IndexURL  {url}/Admin/ICS.html
  IndexFile {ics}
  IndexTitle MOMspider Index for All of ICS
  EmailAddress www@ics.uci.edu
  EmailBroken
  EmailExpired 2
>
<Tree
  Name      MOMspider-WWW94
  TopURL    {url}/WebSoft/MOMspider/WWW94/paper.html
  IndexURL  {url}/Admin/MOMspider-WWW94.html
  IndexFile {www94}
  IndexTitle MOMspider Index for Roy's WWW94 Paper
  EmailAddress fielding@ics.uci.edu
  EmailBroken
>
<Owner
  Name      RTF
  TopURL    {url}/~fielding/hotlist.html
  IndexURL  {url}/~fielding/MOM/RTF.html
  IndexFile {rtf}
  EmailAddress fielding@ics.uci.edu
  EmailBroken
  EmailChanged 3
  EmailExpired 7
>
",
        avoid = at("avoid.mom"),
        sites = at("sites.mom"),
        own_avoid = at("momspider-avoid"),
        own_sites = at("momspider-sites"),
        ics = at("ICS.html"),
        www94 = at("MOMspider-WWW94.html"),
        rtf = at("RTF.html"),
    );
    std::fs::write(&file, instructions).expect("room for it");
    let beside = [
        ("avoid.mom", AVOID_FILE.to_owned()),
        ("sites.mom", SITES_FILE.to_owned()),
        ("momspider-avoid", format!("Avoid {url}/~fielding/cold.html [*]\n")),
    ];
    for (name, text) in beside {
        std::fs::write(folder.path().join(name), text).expect("room for it");
    }
    // Where there is a sendmail, somebody would really be written to.
    let ended = Spider::new(&file, &folder.path().join("table")).with(["--no-mail"]).complete();
    let broken: Vec<String> = ended.targets("broken").into_iter().map(|target| target.replace(url, "")).collect();
    assert_eq!(
        broken,
        ["/WebSoft/MOMspider/WWW94/nowhere.html", "/gone.html", "/~fielding/lost.html"],
        "{}",
        ended.said
    );
    assert_eq!(host.times("/~fielding/cold.html"), 0, "it is to be avoided");
    assert_eq!(host.repeated(), []);
    for (index, title, has) in [
        ("ICS.html", "MOMspider Index for All of ICS", "gone.html"),
        ("MOMspider-WWW94.html", "MOMspider Index for Roy&#x27;s WWW94 Paper", "nowhere.html"),
        ("RTF.html", "RTF", "lost.html"),
    ] {
        let text =
            std::fs::read_to_string(folder.path().join(index)).unwrap_or_else(|error| panic!("{index}: {error}"));
        let plain = text.replace("&#39;", "&#x27;").replace('\'', "&#x27;");
        assert!(plain.contains(title) && text.contains(has), "{index} lacks {title} or {has}");
    }
}

#[test]
fn an_owner_is_written_to_once_about_each_thing() {
    let host = Web::default().page("/", r#"<a href="/gone">1</a>"#).start();
    let folder = tempfile::tempdir().expect("a folder");
    let (program, letters) = (folder.path().join("sendmail"), folder.path().join("letters"));
    write_program(&program, &format!("#!/bin/sh\ncat >> '{}'\n", letters.display()));
    let tasks = Tasks::new(&format!(
        "[mail]\nsendmail = {:?}\nfrom = \"spider@example.org\"\n[[task]]\nname = \"web\"\nsite = \"{}\"\nmail = [\"ann@example.org\"]\n",
        program.display().to_string(),
        host.at("/")
    ));
    let written = || std::fs::read_to_string(&letters).unwrap_or_default().matches("Message-ID:").count();
    tasks.run();
    assert_eq!(written(), 1);
    let second = tasks.run();
    assert_eq!(written(), 1, "nothing is new\n{}", second.said);
    host.change(|web| web.page("/", r#"<a href="/gone">1</a><a href="/gone-too">2</a>"#));
    tasks.run();
    assert_eq!(written(), 2);
}

#[test]
fn a_top_that_cannot_be_read_is_no_good_news() {
    let host = Web::default().page("/there/", "<p>").start();
    let task = |name: &str, path: &str| format!("[[task]]\nname = \"{name}\"\ntree = \"{}\"\n", host.at(path));
    let ended = Tasks::new(&(task("there", "/there/") + &task("gone", "/gone/"))).run();
    assert_eq!((ended.code, ended.count("broken")), (Some(2), 1), "{}", ended.said);
    assert_eq!(ended.findings[0]["tasks"], serde_json::json!(["gone"]));
}
