//! A server decides what it sends. It must not fill the disk, and not keep a client busy for ever.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use modoai_testkit::endpoint::{Delivery, Endpoint, Entry, Reply, Script, Token};
use modoai_testkit::process::{Launch, Server};
use modoai_testkit::site::{TestSite, files_below};
use modoai_testkit::waiting::wait_until;

use crate::harvest::{Ended, Harvest};

const SINKS: [&str; 4] = ["records", "mirror", "warc", "catalogue"];

fn run(endpoint: &Endpoint, folder: &Path, sink: &str, more: &[&str]) -> Ended {
    let harvest = Harvest::new(endpoint.url(), folder, sink).with(["--format", "oai_dc", "--attempts", "2"]);
    harvest.with(more).run().expect("an end")
}

/// The size of all files below a folder.
fn size(folder: &Path) -> u64 {
    let files = files_below(folder).expect("a folder");
    files.iter().map(|file| fs::metadata(folder.join(file)).map_or(0, |file| file.len())).sum()
}

/// The bytes of one DIDL with a resource of this size by value.
fn by_value(size: usize) -> Vec<u8> {
    format!(
        "<d:DIDL xmlns:d=\"urn:mpeg:mpeg21:2002:02-DIDL-NS\"><d:Item><d:Component>\
         <d:Resource mimeType=\"text/plain\" encoding=\"base64\">{}</d:Resource></d:Component></d:Item></d:DIDL>",
        "AAAA".repeat(size / 3)
    )
    .into_bytes()
}

/// A script of `count` records, each a URL of the repository's own with a resource of this size, compressed on the wire.
fn records_of(count: usize, size: usize) -> Script {
    let script = Script::default().holding(|holdings| {
        holdings.records.retain(|record| !record.deleted);
        holdings.records.truncate(count);
        for (number, record) in holdings.records.iter_mut().enumerate() {
            record.identifier = format!("http://site.example/{number}.bin");
            record.metadata = by_value(size);
            record.abouts.clear();
        }
    });
    script.pages_of(1).reply(|_, reply| {
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(&reply.body).expect("memory");
        reply.body = packed.finish().expect("memory");
        reply.set_header("Content-Encoding", "gzip");
    })
}

/// Three megabytes on the wire became a file of 600 MB once.
#[test]
fn a_record_that_is_too_large_is_named_and_not_stored() {
    for sink in SINKS {
        let script = records_of(3, 1000).holding(|holdings| holdings.records[1].metadata = by_value(40 << 20));
        let endpoint = Endpoint::start(script);
        let folder = tempfile::tempdir().expect("a folder");
        let ended = run(&endpoint, folder.path(), sink, &["--max-size", "2M"]);
        assert_eq!(ended.code, Some(3), "{sink}: {}", ended.said);
        let [missing] = ended.missing() else { panic!("{sink}: {}", ended.said) };
        assert!(missing["reason"].as_str().is_some_and(|reason| reason.contains("--max-size")), "{sink}: {missing}");
        assert_eq!(ended.report["records"], 2, "{sink}: {}", ended.said);
        assert!(size(folder.path()) < 4 << 20, "{sink}: {} bytes", size(folder.path()));
        assert!(ended.peak < 200 << 20, "{sink}: {} bytes of memory", ended.peak);
    }
}

#[test]
fn a_resource_by_reference_that_is_too_large_is_named_and_not_stored() {
    for (delivery, sink) in [
        (Delivery::Length, "mirror"),
        (Delivery::Chunked, "mirror"),
        (Delivery::UntilClose, "warc"),
        (Delivery::Repeated(8), "warc"),
    ] {
        let script = Script::default().instead(move |visit| {
            visit.request.path().ends_with(".bin").then(|| Reply::of(200, "x/y", vec![0; 1 << 20]).delivered(delivery))
        });
        let endpoint = Endpoint::start(script);
        let origin = endpoint.url().trim_end_matches("/oai").to_owned();
        endpoint.change(|holdings| {
            holdings.records.truncate(1);
            let didl = "<d:DIDL xmlns:d=\"urn:mpeg:mpeg21:2002:02-DIDL-NS\"><d:Item><d:Component>";
            let end = "</d:Component></d:Item></d:DIDL>";
            let reference = format!("<d:Resource mimeType=\"x/y\" ref=\"{origin}/large.bin\"/>");
            holdings.records[0].metadata = format!("{didl}{reference}{end}").into_bytes();
        });
        let folder = tempfile::tempdir().expect("a folder");
        let ended = run(&endpoint, folder.path(), sink, &["--max-size", "500K"]);
        assert_eq!(ended.code, Some(3), "{delivery:?}: {}", ended.said);
        let [missing] = ended.missing() else { panic!("{delivery:?}: {}", ended.said) };
        assert!(missing["reason"].as_str().is_some_and(|reason| reason.contains("--max-size")), "{missing}");
        assert!(size(folder.path()) < 1 << 20, "{delivery:?}: {} bytes", size(folder.path()));
        // Whoever has the room has the file.
        let folder = tempfile::tempdir().expect("a folder");
        assert!(run(&endpoint, folder.path(), sink, &["--max-size", "9M"]).is_complete(), "{delivery:?}");
    }
}

#[test]
fn a_run_stops_at_its_total_and_the_next_one_continues() {
    for sink in SINKS {
        let endpoint = Endpoint::start(records_of(6, 300_000));
        let folder = tempfile::tempdir().expect("a folder");
        let mut runs = 0;
        loop {
            let ended = run(&endpoint, folder.path(), sink, &["--max-total", "1M"]);
            if ended.is_complete() {
                break;
            }
            runs += 1;
            assert_eq!(ended.code, Some(3), "{sink}: {}", ended.said);
            assert!(ended.said.contains("--max-total"), "{sink}: {}", ended.said);
            assert!(runs < 10, "{sink}: no progress: {}", ended.said);
        }
        assert!(runs > 1, "{sink}: the limit never stopped it");
    }
}

#[test]
fn a_disk_that_is_almost_full_is_left_alone() {
    for sink in SINKS {
        let endpoint = Endpoint::start(records_of(2, 1000));
        let folder = tempfile::tempdir().expect("a folder");
        let ended = run(&endpoint, folder.path(), sink, &["--min-free", "999999999G"]);
        assert_eq!(ended.code, Some(3), "{sink}: {}", ended.said);
        assert!(ended.said.contains("--min-free"), "{sink}: {}", ended.said);
        assert_eq!(ended.report["records"], 0, "{sink}: {}", ended.said);
        assert!(run(&endpoint, folder.path(), sink, &["--min-free", "0"]).is_complete(), "{sink}");
    }
}

/// Lists without an end, and how many requests they may cost. What each page says is up to the hook.
fn endless(entries: impl Fn(usize, Vec<Entry>) -> Vec<Entry> + Send + Sync + 'static) -> Endpoint {
    Endpoint::start(
        Script::default()
            .understand(|request| {
                // Every token leads to the first page.
                if request.argument("resumptionToken").is_some() {
                    request.arguments.retain(|(name, _)| name == "verb");
                    request.set_argument("metadataPrefix", "oai_dc");
                }
            })
            .page(move |visit, page| {
                let number = visit.number;
                if let Some(list) = page.list() {
                    list.entries = entries(number, std::mem::take(&mut list.entries));
                    list.token = Some(Token { value: format!("token-{number}"), ..Token::default() });
                }
            }),
    )
}

/// Each of these went on for ever, or would have: with tokens that are always new, and nothing behind them.
#[test]
fn lists_that_bring_nothing_new_come_to_an_end() {
    let first = |entries: Vec<Entry>| entries.into_iter().take(1).collect::<Vec<_>>();
    let attacks: [(&str, Endpoint); 6] = [
        ("the same records", endless(|_, entries| entries)),
        ("nothing", endless(|_, _| Vec::new())),
        (
            "nothing and the same record in turn",
            endless(move |number, entries| if number % 2 == 0 { Vec::new() } else { first(entries) }),
        ),
        (
            "the same record without metadata",
            endless(move |_, entries| {
                let bare = |entry: Entry| Entry { metadata: None, abouts: Vec::new(), ..entry };
                first(entries).into_iter().map(bare).collect()
            }),
        ),
        (
            "the same record, changed each time",
            endless(move |number, entries| {
                let other =
                    |entry: Entry| Entry { metadata: Some(format!("<a n=\"{number}\"/>").into_bytes()), ..entry };
                first(entries).into_iter().map(other).collect()
            }),
        ),
        (
            "the same record with a name that a mirror refuses",
            endless(move |_, entries| {
                let refused = |entry: Entry| Entry {
                    identifier: Some("http://site.example/.htaccess".to_owned()),
                    metadata: Some(by_value(30)),
                    deleted: false,
                    ..entry
                };
                first(entries).into_iter().map(refused).collect()
            }),
        ),
    ];
    for (name, endpoint) in attacks {
        let sink = if name.contains("mirror") { "mirror" } else { "records" };
        let folder = tempfile::tempdir().expect("a folder");
        let ended = run(&endpoint, folder.path(), sink, &[]);
        assert_ne!(ended.code, Some(0), "{name}: {}", ended.said);
        assert!(!ended.missing().is_empty(), "{name}: {}", ended.said);
        assert!(endpoint.log().len() < 1_500, "{name}: {} requests", endpoint.log().len());
    }
}

#[test]
fn a_crawl_stops_at_its_total_and_serves_what_it_has() {
    let pages: Vec<(String, String)> = (0..40)
        .map(|number| (format!("{number}.html"), format!("<a href={}.html>next</a>{}", number + 1, "x".repeat(50_000))))
        .collect();
    let site = TestSite::with(&[("index.html", "<a href=0.html>first</a>")]);
    for (name, text) in &pages {
        site.write(name, text);
    }
    let origin = Server::of(site.path());
    let state = tempfile::tempdir().expect("a folder");
    let url = format!("{}/", origin.url());
    let crawl = |limit: &str| {
        let launch = Launch::of_crawl(&url).state(state.path()).argument("--max-total").argument(limit);
        launch.argument("--depth").argument("100").start()
    };
    let server = crawl("500K");
    wait_until("the limit is reached", || server.said().contains("--max-total"));
    let list = "/modoai?verb=ListIdentifiers&metadataPrefix=oai_dc";
    let listed = |server: &Server| server.client().get(list).expect("an answer").text().matches("<header>").count();
    assert!((2..20).contains(&listed(&server)), "{}", listed(&server));
    let kept =
        files_below(state.path()).expect("a folder").into_iter().filter(|file| file.iter().any(|part| part == "kept"));
    let kept: u64 = kept.map(|file| fs::metadata(state.path().join(file)).map_or(0, |file| file.len())).sum();
    assert!(kept > 0 && kept <= 500 << 10, "{kept} bytes");
    drop(server);
    let server = crawl("100M");
    wait_until("the whole site is listed", || listed(&server) == 41);
}
