//! A public repository or web site must not lead a client to private addresses: not by URLs, not by redirects, not by
//! names that resolve to something else a moment later. The tests run in networks of their own (`modoai_testkit::network`).

use std::net::Ipv4Addr;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use modoai_testkit::endpoint::{Delivery, Endpoint, Reply, Script, Visit};
use modoai_testkit::network::Network;
use modoai_testkit::process::{Launch, binary};

use crate::harvest::{Ended, Harvest};
use crate::running::{Told, to_its_end};
use crate::spider::Spider;

/// Where the attacker's server is.
const PUBLIC: &str = "93.184.216.34";
/// Where something is that only we can reach.
const PRIVATE: &str = "10.9.8.7";
/// What must never be read.
const SECRET: &str = "a secret of the intranet";

fn ip(text: &str) -> Ipv4Addr {
    text.parse().expect("an address")
}

/// Names that stay what they are: the attacker's, ours, and one of ours in public DNS.
fn steady(name: &str, _asked: usize) -> Option<Vec<Ipv4Addr>> {
    match name {
        "repo.example" => Some(vec![ip(PUBLIC)]),
        "intranet.example" => Some(vec![ip(PRIVATE)]),
        "home.example" => Some(vec![Ipv4Addr::LOCALHOST]),
        "both.example" => Some(vec![ip(PRIVATE), ip(PUBLIC)]),
        _ => None,
    }
}

/// A name that is public when it is asked for first, and private ever after.
fn rebinding(name: &str, asked: usize) -> Option<Vec<Ipv4Addr>> {
    match name {
        "repo.example" if asked > 0 => Some(vec![ip(PRIVATE)]),
        name => steady(name, asked),
    }
}

fn enter(test: &str, names: impl Fn(&str, usize) -> Option<Vec<Ipv4Addr>> + Send + 'static) -> Option<Network> {
    Network::enter(&format!("attack::client_addresses::{test}"), &[PUBLIC, PRIVATE], names)
}

/// A server that says its secret to whoever asks for anything.
fn secret_at(address: &str) -> Endpoint {
    Endpoint::start_at(Script::default().instead(|_| Some(Reply::of(200, "text/html", SECRET))), address, address)
}

/// Every way to name what is private.
fn private_urls() -> Vec<String> {
    let hosts =
        ["intranet.example", PRIVATE, "home.example", "127.0.0.1", "localhost", "0.0.0.0", "0177.1", "2130706433"];
    let more = ["[::1]", "[::ffff:127.0.0.1]", "[::ffff:10.9.8.7]", "168364039", "LOCALHOST.", "intranet.example."];
    hosts.iter().chain(&more).map(|host| format!("http://{host}/secret")).collect()
}

/// Nothing was asked of these servers.
#[track_caller]
fn expect_unasked(servers: &[&Endpoint], told: &str) {
    for server in servers {
        assert!(server.log().is_empty(), "asked:\n{}\n{told}", server.story());
    }
}

fn harvest(url: &str, folder: &Path, sink: &str) -> Harvest {
    Harvest::new(url, folder, sink).with(["--format", "oai_dc", "--attempts", "2"])
}

fn run(harvest: Harvest) -> Ended {
    harvest.run().expect("an end")
}

/// A script whose one record refers to all of these.
fn referring_to(urls: &[String]) -> Script {
    let resources: String = urls
        .iter()
        .map(|url| format!("<d:Component><d:Resource mimeType=\"text/plain\" ref=\"{url}\"/></d:Component>"))
        .collect();
    let didl = |inner: &str| {
        format!("<d:DIDL xmlns:d=\"urn:mpeg:mpeg21:2002:02-DIDL-NS\"><d:Item>{inner}</d:Item></d:DIDL>").into_bytes()
    };
    let resources = didl(&resources);
    Script::default().holding(move |holdings| {
        holdings.records.retain(|record| !record.deleted);
        holdings.records.truncate(1);
        holdings.records[0].metadata = resources;
    })
}

#[test]
fn a_public_repository_cannot_redirect_to_private_addresses() {
    let Some(_network) = enter("a_public_repository_cannot_redirect_to_private_addresses", steady) else { return };
    let (intranet, home) = (secret_at(PRIVATE), secret_at("127.0.0.1"));
    for (number, to) in private_urls().into_iter().enumerate() {
        let to_all = to.clone();
        let from_the_list_on = number % 2 == 0;
        let repository = Endpoint::start_at(
            Script::default().instead(move |visit: &Visit<'_>| {
                (!from_the_list_on || visit.is_list()).then(|| Reply::html(302, "").with("Location", &to_all))
            }),
            PUBLIC,
            "repo.example",
        );
        let folder = tempfile::tempdir().expect("a folder");
        let ended = run(harvest(repository.url(), folder.path(), "records"));
        assert_eq!(ended.code, Some(if from_the_list_on { 3 } else { 1 }), "{to}: {}", ended.said);
        assert!(ended.said.contains("private address"), "{to}: {}", ended.said);
        expect_unasked(&[&intranet, &home], &to);
    }
}

#[test]
fn a_public_repository_cannot_refer_to_private_addresses() {
    let Some(_network) = enter("a_public_repository_cannot_refer_to_private_addresses", steady) else { return };
    let (intranet, home) = (secret_at(PRIVATE), secret_at("127.0.0.1"));
    for url in private_urls() {
        let repository = Endpoint::start_at(referring_to(std::slice::from_ref(&url)), PUBLIC, "repo.example");
        for sink in ["mirror", "warc"] {
            let folder = tempfile::tempdir().expect("a folder");
            let ended = run(harvest(repository.url(), folder.path(), sink));
            assert_eq!(ended.code, Some(3), "{url}: {}", ended.said);
            assert_eq!(ended.missing().len(), 1, "{url}: {}", ended.said);
        }
        expect_unasked(&[&intranet, &home], &url);
    }
    // Whoever wants it can have it.
    let repository =
        Endpoint::start_at(referring_to(&["http://intranet.example/secret".to_owned()]), PUBLIC, "repo.example");
    let folder = tempfile::tempdir().expect("a folder");
    harvest(repository.url(), folder.path(), "mirror").with(["--allow-private"]).complete();
    assert_eq!(intranet.log().len(), 1);
}

#[test]
fn a_name_that_changes_its_address_leads_a_harvest_nowhere() {
    let Some(network) = enter("a_name_that_changes_its_address_leads_a_harvest_nowhere", rebinding) else { return };
    let intranet = secret_at(PRIVATE);
    // Every connection is closed, so that the address is asked for again and again.
    let script = Script::default().reply(|_, reply| reply.delivery = Delivery::UntilClose);
    let repository = Endpoint::start_at(script, PUBLIC, "repo.example");
    let folder = tempfile::tempdir().expect("a folder");
    let ended = run(harvest(repository.url(), folder.path(), "records"));
    assert!(matches!(ended.code, Some(1 | 3)), "{}", ended.said);
    assert!(network.asked("repo.example") > 1, "the name was asked for once only\n{}", ended.said);
    assert_eq!(repository.log().len(), 1, "{}", ended.said);
    expect_unasked(&[&intranet], &ended.said);
}

#[test]
fn a_repository_that_was_public_is_not_trusted_as_a_private_one_later() {
    let test = "a_repository_that_was_public_is_not_trusted_as_a_private_one_later";
    let is_moved = Arc::new(AtomicBool::new(false));
    let names = {
        let is_moved = is_moved.clone();
        // The number of lookups in the first run is not known: the client may open a second connection.
        move |name: &str, _| rebinding(name, usize::from(is_moved.load(Ordering::SeqCst)))
    };
    let Some(_network) = enter(test, names) else { return };
    let repository = Endpoint::start_at(Script::default(), PUBLIC, "repo.example");
    let intranet = Endpoint::start_at(Script::default(), PRIVATE, "repo.example");
    let folder = tempfile::tempdir().expect("a folder");
    harvest(repository.url(), folder.path(), "records").complete();
    is_moved.store(true, Ordering::SeqCst);
    let ended = run(harvest(repository.url(), folder.path(), "records"));
    assert_eq!(ended.code, Some(1), "{}", ended.said);
    assert!(ended.said.contains("--allow-private"), "{}", ended.said);
    expect_unasked(&[&intranet], &ended.said);
    harvest(repository.url(), folder.path(), "records").with(["--allow-private"]).complete();
    assert!(!intranet.log().is_empty());
}

#[test]
fn a_private_repository_leads_to_itself_and_to_public_hosts_only() {
    let test = "a_private_repository_leads_to_itself_and_to_public_hosts_only";
    let Some(_network) = enter(test, steady) else { return };
    let home = secret_at("127.0.0.1");
    let public = secret_at(PUBLIC);
    let own = |name: &str| format!("http://{name}/file.txt");
    for start in ["intranet.example", PRIVATE] {
        for (url, is_allowed) in [
            (own("intranet.example"), true),
            (own(PRIVATE), true),
            (own("repo.example"), true),
            (own("127.0.0.1"), false),
            (own("home.example"), false),
            (own("10.9.8.6"), false),
            (own("169.254.169.254"), false),
        ] {
            let script = referring_to(std::slice::from_ref(&url)).instead(|visit| {
                visit.request.path().ends_with(".txt").then(|| Reply::of(200, "text/plain", "a file"))
            });
            let repository = Endpoint::start_at(script, PRIVATE, start);
            let folder = tempfile::tempdir().expect("a folder");
            let ended = run(harvest(repository.url(), folder.path(), "mirror"));
            assert_eq!(ended.is_complete(), is_allowed, "{start} refers to {url}: {}", ended.said);
        }
    }
    expect_unasked(&[&home], "");
    assert!(!public.log().is_empty());
}

#[test]
fn a_host_with_both_kinds_of_addresses_is_public() {
    let Some(_network) = enter("a_host_with_both_kinds_of_addresses_is_public", steady) else { return };
    let intranet = secret_at(PRIVATE);
    let repository = Endpoint::start_at(Script::default(), PUBLIC, "both.example");
    let folder = tempfile::tempdir().expect("a folder");
    harvest(repository.url(), folder.path(), "records").complete();
    expect_unasked(&[&intranet], "");
}

/// A web whose page links to all of these, and whose robots.txt names site maps there.
fn linking_to(urls: &[String]) -> Script {
    let page: String = urls.iter().map(|url| format!("<a href=\"{url}\">x</a> <img src=\"{url}.png\"> ")).collect();
    let page = format!("<title>Home</title>{page}<a href=\"/led\">led</a>");
    let robots: String = urls.iter().map(|url| format!("Sitemap: {url}.xml\n")).collect();
    Script::default().instead(move |visit| {
        Some(match visit.request.path() {
            "/" => Reply::of(200, "text/html", page.clone()),
            "/robots.txt" => Reply::of(200, "text/plain", format!("User-agent: *\nDisallow: /none\n{robots}")),
            "/led" => Reply::html(302, "").with("Location", "http://intranet.example/led"),
            _ => Reply::html(404, "not here"),
        })
    })
}

#[test]
fn a_spider_tests_no_private_links_of_a_public_web() {
    let Some(_network) = enter("a_spider_tests_no_private_links_of_a_public_web", steady) else { return };
    let (intranet, home) = (secret_at(PRIVATE), secret_at("127.0.0.1"));
    let web = Endpoint::start_at(linking_to(&private_urls()), PUBLIC, "repo.example");
    let folder = tempfile::tempdir().expect("a folder");
    let table = folder.path().join("table");
    let ended = Spider::new("http://repo.example/", &table).run().expect("an end");
    assert!(web.log().len() > 1, "{}", ended.said);
    expect_unasked(&[&intranet, &home], &ended.said);
    let untested = ended.targets("not tested");
    assert!(untested.iter().any(|url| url.contains("intranet.example")), "{}", ended.said);
    let count = ["count", "--crawl", "http://repo.example/", "--json"];
    let Told { out, err, .. } = to_its_end(Command::new(binary()).args(count)).expect("an end");
    expect_unasked(&[&intranet, &home], &format!("{out}{err}"));

    Spider::new("http://repo.example/", &folder.path().join("other")).with(["--allow-private"]).run().expect("an end");
    assert!(!intranet.log().is_empty() && !home.log().is_empty());
}

#[test]
fn a_crawl_republishes_nothing_of_a_name_that_changes_its_address() {
    let test = "a_crawl_republishes_nothing_of_a_name_that_changes_its_address";
    let Some(network) = enter(test, rebinding) else { return };
    let intranet = secret_at(PRIVATE);
    let page = "<title>Home</title><a href=/1.html>1</a><a href=/2.html>2</a><a href=/3.html>3</a>";
    let script = Script::default().instead(move |visit| {
        Some(match visit.request.path() {
            "/robots.txt" => Reply::html(404, "none"),
            _ => Reply::of(200, "text/html", page),
        })
    });
    let script = script.reply(|_, reply| reply.delivery = Delivery::UntilClose);
    let site = Endpoint::start_at(script, PUBLIC, "repo.example");
    let launch = Launch::of_crawl("http://repo.example/").argument("--ignore-robots");
    let server = launch.argument("--per-host").argument("1").start();
    let answer = server.client().get("/modoai?verb=ListRecords&metadataPrefix=oai_didl").expect("an answer");
    assert!(answer.text().contains("http://repo.example/"), "{}", answer.text());
    assert!(network.asked("repo.example") > 1, "{}", server.said());
    assert_eq!(site.log().len(), 1, "{}", site.story());
    expect_unasked(&[&intranet], &server.said());
}

#[test]
fn a_crawl_of_a_public_site_follows_no_redirect_home() {
    let Some(_network) = enter("a_crawl_of_a_public_site_follows_no_redirect_home", steady) else { return };
    let (intranet, home) = (secret_at(PRIVATE), secret_at("127.0.0.1"));
    let _site = Endpoint::start_at(linking_to(&private_urls()), PUBLIC, "repo.example");
    let server = Launch::of_crawl("http://repo.example/").start();
    let answer = server.client().get("/modoai?verb=ListRecords&metadataPrefix=oai_didl").expect("an answer");
    assert!(answer.text().contains("http://repo.example/"), "{}", answer.text());
    assert!(!answer.text().contains(SECRET));
    expect_unasked(&[&intranet, &home], &server.said());
}

#[test]
fn a_judge_follows_no_redirect_home() {
    let Some(_network) = enter("a_judge_follows_no_redirect_home", steady) else { return };
    let intranet = secret_at(PRIVATE);
    let script = Script::default().instead(|visit| {
        (visit.verb() == "ListRecords").then(|| Reply::html(302, "").with("Location", "http://intranet.example/"))
    });
    let repository = Endpoint::start_at(script, PUBLIC, "repo.example");
    let mut command = Command::new(binary());
    let Told { out, err, .. } =
        to_its_end(command.args(["validate", repository.url(), "--timeout", "20"])).expect("an end");
    assert!(repository.log().len() > 5, "{out}{err}");
    expect_unasked(&[&intranet], &format!("{out}{err}"));
}
