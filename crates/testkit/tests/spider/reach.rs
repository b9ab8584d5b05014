//! What is found beyond links between pages: sitemaps of every form, parts of drawings, schemes that are not tested, targets that
//! changed; and tables that are damaged.

use std::fs;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use modoai_testkit::endpoint::calendar::{http_date, now};
use modoai_testkit::site::TestSite;
use modoai_testkit::web::{Host, Visit, Web, html};

use super::{Ended, Spider};

fn gzip(text: &str) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(text.as_bytes()).expect("memory takes it");
    packed.finish().expect("memory takes it")
}

fn paths(ended: &Ended, verdict: &str, host: &Host) -> Vec<String> {
    ended.targets(verdict).into_iter().map(|target| target.replace(host.url(), "")).collect()
}

/// A site with an index of sitemaps outside of `/docs/`, which names three sitemaps of other forms. Only they lead to the pages.
pub(crate) fn mapped() -> Host {
    let host = Web::default()
        .page("/", "home")
        .page("/docs/", "docs")
        .page("/docs/a", r#"<a href="/docs/missing-a">x</a>"#)
        .page("/docs/b", r#"<a href="/docs/missing-b">x</a>"#)
        .page("/docs/c", r#"<a href="/docs/missing-c">x</a>"#)
        .start();
    let url = host.url().to_owned();
    let map = |path: &str| {
        format!(
            "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc>{url}{path}</loc></url></urlset>"
        )
    };
    let index = ["/maps/pages.xml.gz", "/maps/list.txt", "/maps/list.gz"]
        .map(|path| format!("<sitemap><loc>{url}{path}</loc></sitemap>"))
        .concat();
    let index = format!("<sitemapindex xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>{index}</sitemapindex>");
    host.change(|web| {
        web.robots(&format!("Sitemap: {url}/maps/index.xml.gz\n"))
            .file("/maps/index.xml.gz", "application/gzip", gzip(&index))
            .file("/maps/pages.xml.gz", "application/x-gzip", gzip(&map("/docs/a")))
            .file("/maps/list.txt", "text/plain", format!("{url}/docs/b\n"))
            .file("/maps/list.gz", "application/octet-stream", gzip(&format!("{url}/docs/c\n")))
    });
    host
}

#[test]
fn sitemaps_of_every_form_lead_to_pages() {
    let host = mapped();
    let folder = tempfile::tempdir().expect("a folder");
    let missing = ["/docs/missing-a", "/docs/missing-b", "/docs/missing-c"];
    let table = folder.path().join("table");
    for run in ["the first run", "the second run"] {
        let ended = Spider::new(host.at("/docs/"), &table).with(["--tree"]).complete();
        assert_eq!(paths(&ended, "broken", &host), missing, "{run}\n{}", ended.said);
        assert_eq!(host.repeated(), [], "{run}");
        host.take_log();
    }
}

#[test]
fn sitemap_that_decompresses_to_a_gigabyte_takes_little_memory() {
    let mut bomb = GzEncoder::new(Vec::new(), Compression::best());
    bomb.write_all(b"<urlset>").expect("memory takes it");
    let block = vec![b' '; 1 << 20];
    (0..1_024).for_each(|_| bomb.write_all(&block).expect("memory takes it"));
    let bomb = bomb.finish().expect("memory takes it");
    let host = Web::default().page("/", r#"<a href="/missing">x</a>"#).start();
    let names: String = (0..8).map(|number| format!("Sitemap: {}/{number}.xml.gz\n", host.url())).collect();
    host.change(|web| {
        let web = web.robots(&names);
        (0..8).fold(web, |web, number| web.file(&format!("/{number}.xml.gz"), "application/gzip", bomb.clone()))
    });
    let folder = tempfile::tempdir().expect("a folder");
    let ended = Spider::new(host.at("/"), &folder.path().join("table")).complete();
    assert_eq!(paths(&ended, "broken", &host), ["/missing"], "{}", ended.said);
    assert!(ended.peak < 400 << 20, "it took {} MB of memory", ended.peak >> 20);
}

#[test]
fn schemes_are_not_tested_and_numbers_and_files_are_checked() {
    let host = Web::default()
        .page(
            "/",
            r##"<a href="ftp://ftp.h.test/a">1</a><a href="gopher://h.test/">2</a><a href="news:comp.x">3</a>
                <a href="tel:+1-201-555-0123">4</a><a href="tel:call">5</a><a href="file:///home/me/a.html">6</a>
                <a href="javascript:void(0)">7</a><img src="data:image/gif;base64,R0lGOD"><a href="mailto:a@b.test">8</a>
                <a href="mailto:nobody">9</a><a href=" /there ">10</a>"##,
        )
        .page("/there", "there")
        .start();
    let folder = tempfile::tempdir().expect("a folder");
    let ended = Spider::new(host.at("/"), &folder.path().join("table")).complete();
    let untested: Vec<_> = ended.findings.iter().filter(|finding| finding["verdict"] == "not tested").collect();
    let reasons: Vec<_> = untested.iter().map(|finding| (&finding["target"], &finding["reason"])).collect();
    assert_eq!(
        format!("{reasons:?}"),
        r#"[(String("ftp://ftp.h.test/a"), String("scheme ftp")), (String("gopher://h.test/"), String("scheme gopher")), (String("news:comp.x"), String("scheme news"))]"#
    );
    assert_eq!(paths(&ended, "broken", &host), ["file:///home/me/a.html", "mailto:nobody", "tel:call"]);
    assert_eq!((ended.count("not_tested"), ended.count("broken")), (3, 3));
    let padded = ended.remarks();
    assert!(padded.iter().any(|remark| remark.starts_with("1 link has whitespace")), "{padded:?}");
}

#[test]
fn parts_of_drawings_are_looked_up() {
    let drawing = r#"<svg xmlns="http://www.w3.org/2000/svg"><symbol id="good"/><font id="face"/></svg>"#;
    let host = Web::default()
        .page(
            "/",
            r#"<link rel="stylesheet" href="/s.css"><svg><use href="/a.svg#good"/><use xlink:href="/a.svg#bad"/></svg>
               <img src="/a.svg#svgView(viewBox(0,0,1,1))"><img src="/a.svg">"#,
        )
        .file("/s.css", "text/css", "@font-face { src: url(b.svg#face), url(b.svg#lost), url(c.eot#iefix) }")
        .file("/a.svg", "image/svg+xml", drawing)
        .file("/b.svg", "image/svg+xml", drawing)
        .file("/c.eot", "application/vnd.ms-fontobject", "x")
        .start();
    let folder = tempfile::tempdir().expect("a folder");
    let ended = Spider::new(host.at("/"), &folder.path().join("table")).complete();
    assert_eq!(paths(&ended, "fragment", &host), ["/a.svg#bad", "/b.svg#lost"], "{}", ended.said);
    assert_eq!(host.repeated(), []);
}

#[test]
fn changed_targets_are_found_once_leaves_and_external_ones_included() {
    let dated = |days: i64| {
        let date = http_date(now() - days * 86_400);
        move |_: &Visit<'_>| html("x").with("Last-Modified", &date)
    };
    let other = Web::default().on("/new", dated(1)).on("/old", dated(400)).start();
    let links = format!(
        r#"<img src="/new.png"><img src="/old.png"><a href="{0}/new">1</a><a href="{0}/old">2</a><a href="/page">3</a>"#,
        other.url()
    );
    let host = Web::default()
        .page("/", &links)
        .page("/page", &links)
        .on("/new.png", dated(1))
        .on("/old.png", dated(400))
        .start();
    let folder = tempfile::tempdir().expect("a folder");
    let ended = Spider::new(host.at("/"), &folder.path().join("table")).with(["--changed", "7"]).complete();
    let mut changed: Vec<_> = ended
        .findings
        .iter()
        .filter(|finding| finding["verdict"] == "changed")
        .map(|it| it["target"].clone())
        .collect();
    changed.sort_by_key(ToString::to_string);
    // Each page that refers to it has a finding.
    changed.dedup();
    let mut expected = [host.at("/new.png"), other.at("/new")];
    expected.sort();
    assert_eq!(changed, expected, "{}", ended.said);
    assert_eq!(ended.count("changed"), 2, "{}", ended.said);
}

#[test]
fn damaged_table_is_replaced_and_a_document_of_somebody_is_not() {
    let host = Web::default().page("/", r#"<a href="/missing">x</a>"#).start();
    let folder = tempfile::tempdir().expect("a folder");
    let table = folder.path().join("table");
    Spider::new(host.at("/"), &table).complete();
    let whole = std::fs::read(&table).expect("readable");
    let mut cases = vec![whole[..whole.len() / 2].to_vec(), whole[..100].to_vec()];
    // A page of the file at a time.
    for page in 0..whole.len() / 4096 {
        let mut damaged = whole.clone();
        damaged[page * 4096 + 100..(page + 1) * 4096].fill(0xa5);
        cases.push(damaged);
    }
    for (number, case) in cases.into_iter().enumerate() {
        std::fs::write(&table, case).expect("written");
        let ended = Spider::new(host.at("/"), &table).complete();
        assert_eq!(paths(&ended, "broken", &host), ["/missing"], "case {number}\n{}", ended.said);
        assert_eq!(Spider::new(host.at("/"), &table).complete().count("new"), 0, "case {number}");
    }
    assert!(folder.path().join("table.damaged").exists());
    let notes = folder.path().join("notes.txt");
    std::fs::write(&notes, "somebody's notes about something else").expect("written");
    let ended = Spider::new(host.at("/"), &notes).run().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(ended.code, Some(1), "{}", ended.said);
    assert_eq!(std::fs::read_to_string(&notes).expect("readable"), "somebody's notes about something else");
}

#[test]
fn avoided_prefixes_are_listed_without_a_request() {
    let host = Web::default().page("/", "home").robots("User-agent: *\nDisallow: /private/\n").start();
    let folder = tempfile::tempdir().expect("a folder");
    let table = folder.path().join("table");
    Spider::new(host.at("/"), &table).complete();
    host.take_log();
    let list = std::process::Command::new(modoai_testkit::process::binary())
        .args(["spider", &host.at("/"), "--show-avoid", "--leaf", "http://l.test/", "--table"])
        .arg(&table)
        .output()
        .expect("the command runs");
    let text = String::from_utf8_lossy(&list.stdout);
    let entries: Vec<_> = text.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(entries.len(), 2, "{text}");
    assert_eq!(entries[0], "Leaf http://l.test/ [*]");
    assert!(entries[1].starts_with(&format!("Avoid {}/private/ [", host.url())), "{text}");
    assert!(text.contains(&format!("# robots.txt of {}, line 2: Disallow: /private/", host.url())), "{text}");
    assert!(host.log().is_empty());
    // What is listed is an avoid file.
    let (avoid, tasks) = (folder.path().join("avoid"), folder.path().join("tasks.toml"));
    std::fs::write(&avoid, &list.stdout).expect("written");
    let text = format!("avoid_file = \"avoid\"\n[[task]]\nname = \"a\"\nsite = \"{}\"\n", host.at("/"));
    std::fs::write(&tasks, text).expect("written");
    Spider::new(&tasks, &folder.path().join("table-2")).complete();
}

#[test]
fn folder_is_checked_without_a_server() {
    let outside = Web::default().page("/there", "x").start();
    let site = TestSite::with(&[
        ("index.html", "<a href=sub/>1</a> <a href=sub>2</a> <a href=gone.html>3</a> <a href='sub/a.html#part'>4</a>"),
        ("sub/index.html", "<a href=a.html#none>1</a> <a href=/index.html>2</a> <a href='a%20b.txt'>3</a>"),
        ("sub/a.html", "<p id=part><a href=../../outside.html>1</a><a href='b:c.html'>2</a>"),
        ("sub/a b.txt", "text"),
        ("orphan.html", "<img src=lost.png><a href=https://www.example.org/docs/sub/gone-too.html>x</a>"),
        ("notes.md", "[x](lost.md)"),
        ("style.css", "p { background: url(not-read.png) }"),
        (".hidden.html", "<a href=hidden-gone.html>x</a>"),
    ]);
    site.write("link.html", format!("<a href={}>1</a><a href={}>2</a>", outside.at("/there"), outside.at("/gone")));
    let folder = tempfile::tempdir().expect("a folder");
    let table = folder.path().join("table");
    let checked = |arguments: &[&str]| Spider::new(site.path(), &table).with(arguments).complete();
    let report = folder.path().join("report.html").display().to_string();
    let ended = checked(&["--no-external", "--html", &report]);
    let page = fs::read_to_string(&report).expect("a report");
    assert!(page.contains("<dt>Maximum number of documents</dt><dd>no limit</dd>"), "{page}");
    let at = |path: &str| format!("http://localhost/{path}");
    let mut expected = vec![at("gone.html"), at("lost.md"), at("lost.png"), at("outside.html")];
    let broken = |ended: &Ended| ended.targets("broken").into_iter().collect::<Vec<_>>();
    assert_eq!(broken(&ended), expected, "{}", ended.said);
    assert_eq!(ended.targets("fragment").into_iter().collect::<Vec<_>>(), [at("sub/a.html#none")], "{}", ended.said);
    assert_eq!(ended.targets("moved").into_iter().collect::<Vec<_>>(), [at("sub")], "{}", ended.said);
    assert!(outside.log().is_empty());
    assert!(!ended.said.contains("--contact"), "nobody is asked: {}", ended.said);

    // With its URL, links that name the host are checked in the folder, too; nothing is new the second time.
    let base = ["--no-external", "--base", "https://www.example.org/docs/"];
    let ended = checked(&base);
    expected = ["gone.html", "lost.md", "lost.png", "sub/gone-too.html"]
        .map(|path| format!("https://www.example.org/docs/{path}"))
        .to_vec();
    assert_eq!(broken(&ended), expected, "{}", ended.said);
    let again = checked(&base);
    assert_eq!((broken(&again), again.count("new")), (expected, 0), "{}", again.said);
    site.write("gone.html", "found");
    assert_eq!(checked(&base).count("fixed"), 1);

    // A folder is no reason to connect to this machine.
    let avoid = ["--avoid", "https://www.example.org/"];
    let ended = checked(&avoid);
    assert!(ended.targets("not tested").contains(&outside.at("/there")), "{}", ended.said);
    let ended = checked(&[&avoid[..], &["--allow-private"]].concat());
    assert!(ended.targets("broken").contains(&outside.at("/gone")), "{}", ended.said);
}
