//! Answers made to exhaust or deceive whoever reads them: bombs, entities, endless elements. Tried, and held.

use std::io::Write as _;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use modoai_testkit::endpoint::{Endpoint, Reply, Script};

use crate::harvest::{Ended, Harvest, stored};

/// The most memory that a harvest may have, in a build for tests.
const MEMORY: u64 = 160 << 20;
/// How much a bomb expands to.
const LARGE: usize = 300 << 20;

fn harvested(script: Script, sink: &str) -> Ended {
    let endpoint = Endpoint::start(script);
    let folder = tempfile::tempdir().expect("a folder");
    let ended = run(&endpoint, folder.path(), sink);
    assert!(ended.peak < MEMORY, "{} bytes of memory\n{}", ended.peak, ended.said);
    ended
}

fn run(endpoint: &Endpoint, folder: &Path, sink: &str) -> Ended {
    let harvest = Harvest::new(endpoint.url(), folder, sink).with(["--format", "oai_dc", "--attempts", "1"]);
    harvest.with(["--max-size", "5M"]).run().expect("an end")
}

/// Lists answer with this: `open`, then `filling` until it is large, then `close`; compressed.
fn bomb(open: &str, filling: &str, close: &str) -> Script {
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    let filling = filling.repeat((1 << 20) / filling.len());
    packed.write_all(open.as_bytes()).expect("memory");
    for _ in 0..LARGE / filling.len() {
        packed.write_all(filling.as_bytes()).expect("memory");
    }
    packed.write_all(close.as_bytes()).expect("memory");
    let packed = packed.finish().expect("memory");
    assert!(packed.len() < 4 << 20, "{} bytes on the wire", packed.len());
    Script::default()
        .instead(move |visit| visit.is_list().then(|| Reply::xml(packed.clone()).with("Content-Encoding", "gzip")))
}

const HEAD: &str = "<OAI-PMH xmlns=\"http://www.openarchives.org/OAI/2.0/\"><responseDate>2024-01-01T00:00:00Z</responseDate>\
    <request>http://x/</request><ListRecords>";
const RECORD: &str = "<record><header><identifier>a</identifier><datestamp>2024-01-01</datestamp></header><metadata>";

#[test]
fn bombs_take_little_memory_and_are_named() {
    let record = format!("{HEAD}{RECORD}");
    let bombs = [
        ("text", format!("{record}<a>"), "aaaaaaaa", "</a></metadata></record></ListRecords></OAI-PMH>"),
        ("an attribute", format!("{record}<a b=\""), "aaaaaaaa", "\"/></metadata></record></ListRecords></OAI-PMH>"),
        ("a name", format!("{record}<a"), "aaaaaaaa", "/></metadata></record></ListRecords></OAI-PMH>"),
        ("attributes", format!("{record}<a "), "b='' ", "/></metadata></record></ListRecords></OAI-PMH>"),
        ("depth", record.clone(), "<a>", ""),
        ("a comment", format!("{record}<a><!--"), "aaaaaaaa", "--></a></metadata></record></ListRecords></OAI-PMH>"),
        ("a comment before all", "<!--".to_owned(), "aaaaaaaa", ""),
        ("CDATA", format!("{record}<a><![CDATA["), "aaaaaaaa", "]]></a></metadata></record></ListRecords></OAI-PMH>"),
        ("white space", HEAD.to_owned(), "        ", "</ListRecords></OAI-PMH>"),
        ("an identifier", format!("{HEAD}<record><header><identifier>"), "aaaaaaaa", ""),
        ("sets", format!("{HEAD}<record><header><identifier>a</identifier>"), "<setSpec>a</setSpec>", ""),
        ("a token", format!("{HEAD}<resumptionToken>"), "aaaaaaaa", "</resumptionToken></ListRecords></OAI-PMH>"),
    ];
    for (name, open, filling, close) in bombs {
        let ended = harvested(bomb(&open, filling, close), "records");
        let is_harmless = name == "white space";
        assert!(is_harmless || matches!(ended.code, Some(1 | 3)), "{name}: {}", ended.said);
    }
}

#[test]
fn entities_are_neither_expanded_nor_fetched() {
    let laughs: String =
        (1..20).map(|n| format!("<!ENTITY e{n} \"{}\">", format!("&e{};", n - 1).repeat(10))).collect();
    let secret = Endpoint::start(Script::default());
    let external = format!("<!ENTITY x SYSTEM \"file:///etc/passwd\"><!ENTITY y SYSTEM \"{}\">", secret.url());
    for (declared, reference) in [(format!("<!ENTITY e0 \"ha\">{laughs}"), "&e19;"), (external, "&x;&y;")] {
        let page = format!(
            "<!DOCTYPE OAI-PMH [{declared}]>{HEAD}{RECORD}<a>{reference}</a></metadata></record></ListRecords></OAI-PMH>"
        );
        let script = Script::default().instead(move |visit| visit.is_list().then(|| Reply::xml(page.clone().into())));
        let endpoint = Endpoint::start(script);
        let folder = tempfile::tempdir().expect("a folder");
        let ended = run(&endpoint, folder.path(), "jsonl");
        assert!(ended.peak < MEMORY, "{} bytes of memory", ended.peak);
        let kept = stored::text(folder.path());
        assert!(!kept.contains("root:") && kept.len() < 10_000, "{kept}");
        assert!(secret.log().is_empty(), "{}", secret.story());
    }
}
