//! Runs for tests of reports: a small one with every verdict, one without findings, one whose pages contain attacks,
//! and one of any size that is generated while it is read.

use std::io::Write;

use jiff::Timestamp;
use url::Url;

use super::{Format, Writer};
use crate::reference::Kind;
use crate::results::{Document, Earlier, Finding, Infostructure, Referenced, Results, Run, State, Summary, Visit};
use crate::task::{Scope, Task};
use crate::verdict::Verdict;

/// A run in memory.
#[derive(Clone)]
pub(crate) struct Fixture {
    pub run: Run,
    pub infostructures: Vec<Infostructure>,
    pub documents: Vec<(Document, Vec<Referenced>)>,
    pub findings: Vec<Finding>,
    pub earlier: Vec<Earlier>,
}

impl Results for Fixture {
    fn run(&self) -> &Run {
        &self.run
    }

    fn infostructures(&self) -> &[Infostructure] {
        &self.infostructures
    }

    fn documents(&self, _: usize, visit: &mut dyn FnMut(&Document, &[Referenced]) -> Visit) -> Visit {
        self.documents.iter().try_for_each(|(document, references)| visit(document, references))
    }

    fn findings(&self, _: Option<usize>, visit: &mut dyn FnMut(&Finding) -> Visit) -> Visit {
        self.findings.iter().try_for_each(visit)
    }

    fn earlier(&self, _: Option<usize>, visit: &mut dyn FnMut(&Earlier) -> Visit) -> Visit {
        self.earlier.iter().try_for_each(visit)
    }
}

/// Returns the output of a format for a run.
pub(super) fn written(format: &Format, results: &dyn Results) -> String {
    let mut out = Vec::new();
    write(format, results, &mut out).expect("memory takes everything");
    String::from_utf8(out).expect("UTF-8")
}

/// Writes a format of a run, which has one infostructure here.
pub(super) fn write(format: &Format, results: &dyn Results, out: &mut dyn Write) -> Visit {
    match format.writer {
        Writer::Run(write) => write(results, out),
        Writer::Picture(write) => write(results, 0, out),
    }
}

pub(super) fn at(text: &str) -> Timestamp {
    text.parse().expect("a time")
}

const SITE: &str = "https://tidewater.example";

impl Fixture {
    /// A small site with one of everything.
    pub(crate) fn small() -> Self {
        let documents = vec![
            page(
                0,
                "/",
                "Tidewater: a field station on the coast",
                Some("maria"),
                vec![
                    link(12, "Tide tables", "/tides/", Some(3)),
                    Referenced { kind: Kind::Stylesheet, node: Some(90), ..good(4, "", "/style.css") },
                    Referenced {
                        kind: Kind::Image,
                        node: Some(91),
                        ..good(18, "The boat house at low water", "/pictures/boats.jpg")
                    },
                    Referenced { is_inside: true, node: Some(1), ..good(27, "Our instruments", "/instruments.html") },
                    bad(31, "Annual report 2024", "/reports/2024.pdf", Verdict::Broken, "404 not found"),
                    moved(35, "Harbour office", "https://tides.example/", "https://home.tides.example/", true),
                    Referenced {
                        fragment: Some("visitors".to_owned()),
                        ..good(40, "For visitors", "/instruments.html")
                    },
                    bad(
                        52,
                        "The weather buoy, live",
                        "https://buoys.example/7",
                        Verdict::NotTested,
                        "no answer in time",
                    ),
                ],
            ),
            page(
                1,
                "/instruments.html",
                "Instruments",
                Some("tom"),
                vec![
                    link(9, "Home", "/", Some(0)),
                    Referenced {
                        fragment: Some("gauge-2".to_owned()),
                        node: Some(3),
                        is_inside: true,
                        since: Some(at("2026-10-02T06:00:00Z")),
                        ..bad(22, "the second gauge", "/tides/", Verdict::Fragment, "the document has no such part")
                    },
                    Referenced {
                        since: Some(at("2026-10-02T06:00:00Z")),
                        ..bad(
                            30,
                            "Manual of the CTD probe",
                            "http://oldmaker.example/ctd.html",
                            Verdict::Broken,
                            "host not found",
                        )
                    },
                    Referenced {
                        kind: Kind::Image,
                        since: Some(at("2026-10-02T06:00:00Z")),
                        ..bad(41, "The old crane", "/pictures/crane.gif", Verdict::Broken, "410 gone")
                    },
                    moved(48, "Calibration service", "http://lab.example/cal", "https://lab.example/cal", false),
                ],
            ),
            page(
                2,
                "/news/",
                "News",
                Some("maria"),
                vec![
                    link(9, "Home", "/", Some(0)),
                    link(14, "Tide tables", "/tides/", Some(3)),
                    bad(26, "The fishermen’s log", "https://log.example/", Verdict::NotTested, "one must log in (401)"),
                ],
            ),
            page(
                3,
                "/tides/",
                "Tide tables for the coming month",
                None,
                vec![
                    link(9, "Home", "/", Some(0)),
                    bad(
                        17,
                        "Almanac",
                        "https://almanac.example/private/",
                        Verdict::NotTested,
                        "robots.txt forbids it (Disallow: /private/, line 4)",
                    ),
                    Referenced {
                        kind: Kind::Anchor,
                        ..bad(
                            20,
                            "Write to us",
                            "http://[harbour",
                            Verdict::Broken,
                            "invalid URL: invalid IPv6 address",
                        )
                    },
                ],
            ),
        ];
        let mut documents = documents;
        documents[2].0.is_changed = true;
        documents[2].0.changed = Some(at("2026-11-14T09:30:00Z"));
        documents[3].0.is_expiring = true;
        documents[3].0.expires = Some(at("2026-11-18T00:00:00Z"));

        let mut findings = Vec::new();
        for (document, references) in &documents {
            findings.extend(references.iter().filter(|r| r.verdict != Verdict::Good).map(|r| finding_of(document, r)));
            for (is_so, verdict, reason) in [
                (document.is_changed, Verdict::Changed, "changed on 2026-11-14"),
                (document.is_expiring, Verdict::Expiring, "expires on 2026-11-18"),
            ] {
                findings.extend(is_so.then(|| about(document, verdict, reason)));
            }
        }
        let summary = Summary {
            pages: 4,
            unread: 0,
            links: 22,
            urls: 15,
            requests: 16,
            bytes: 48_213,
            broken: 4,
            fragments: 1,
            moved: 2,
            not_tested: 3,
            skipped: 0,
            changed: 1,
            expiring: 1,
            new: 7,
            fixed: 1,
            removed: 0,
            unchecked: 0,
        };
        let run = Run {
            number: 7,
            began: at("2026-11-16T05:45:12Z"),
            ended: at("2026-11-16T05:45:19Z"),
            before: Some(at("2026-11-09T05:45:03Z")),
            cut_short: None,
            unread: Vec::new(),
            settings: vec![("Maximum depth", "20 links".to_owned())],
            remarks: vec!["documents more than 20 links from the top were tested, but not read".to_owned()],
            summary: summary.clone(),
        };
        let earlier = vec![Earlier {
            page: format!("{SITE}/news/"),
            target: format!("{SITE}/news/2025.html"),
            fragment: None,
            verdict: Verdict::Broken,
            since: Some(at("2026-09-01T00:00:00Z")),
            state: State::Fixed,
        }];
        Self { run, infostructures: vec![Infostructure { task: task(), summary }], documents, findings, earlier }
    }

    /// The same site, without findings.
    pub(super) fn clean() -> Self {
        let mut clean = Self::small();
        for (document, references) in &mut clean.documents {
            references.retain(|reference| reference.verdict == Verdict::Good);
            (document.is_changed, document.is_expiring) = (false, false);
        }
        clean.findings.clear();
        clean.earlier.clear();
        clean.run.remarks.clear();
        let summary = Summary { pages: 4, links: 12, urls: 8, requests: 9, bytes: 40_000, ..Summary::default() };
        clean.run.summary = summary.clone();
        clean.infostructures[0].summary = summary;
        clean
    }

    /// A site whose template has a broken link, on all pages but ten; one page also has its own broken link.
    pub(crate) fn templated(pages: u32) -> Self {
        const TEMPLATED: &str = "https://templated.example";
        let page = |number: u32| {
            let dead =
                |line, text, path| bad(line, text, &format!("{TEMPLATED}{path}"), Verdict::Broken, "404 not found");
            let own = (number == 42).then(|| dead(7, "Minutes", "/minutes"));
            let shared = (number >= 10).then(|| dead(90, "Imprint", "/imprint"));
            let document = Document::new(number, format!("{TEMPLATED}/page-{number:04}"));
            (document, own.into_iter().chain(shared).collect())
        };
        let documents: Vec<(Document, Vec<Referenced>)> = (0..pages).map(page).collect();
        let of_page = |(document, references): &(Document, Vec<Referenced>)| -> Vec<Finding> {
            references.iter().map(|reference| finding_of(document, reference)).collect()
        };
        let findings: Vec<Finding> = documents.iter().flat_map(of_page).collect();
        let links = findings.len() as u64;
        let summary = Summary { pages: pages.into(), links, urls: 2, broken: 2, new: 2, ..Summary::default() };
        let mut templated = Self { documents, findings, ..Self::clean() };
        templated.run.summary = summary.clone();
        templated.infostructures[0].summary = summary;
        templated
    }

    /// The same site, in which every string is an attack.
    pub(super) fn hostile() -> Self {
        const ATTACKS: [&str; 6] = [
            "</title></bdi></li><script>alert(1)</script>",
            "\"><img src=x onerror=alert(1)>",
            "'><svg/onload=alert(1)>",
            "\u{1b}[2J\u{0}\u{7}\u{9b}\u{202e}\u{ffff}]]>--><!--hole:entries-->",
            "javascript:alert(document.domain)",
            "{{ title }}{% include \"style.css\" %}",
        ];
        let mut hostile = Self::small();
        let mut next = ATTACKS.iter().cycle();
        let mut attack = || (*next.next().expect("endless")).to_owned();
        for (document, references) in &mut hostile.documents {
            document.title = Some(attack());
            document.owner = Some(attack());
            document.media_type = Some(attack());
            for reference in references {
                reference.text = attack();
                reference.title = Some(attack());
                reference.reason = Some(attack());
                reference.fragment = Some(attack());
                reference.target = format!("javascript:alert('{}')", attack());
                reference.to = Some(format!("JavaScript:{}", attack()));
            }
        }
        for finding in &mut hostile.findings {
            finding.title = Some(attack());
            finding.text = attack();
            finding.reason = attack();
            finding.owner = Some(attack());
            finding.target = format!("data:text/html,{}", attack());
            finding.to = Some(format!("vbscript:{}", attack()));
        }
        for earlier in &mut hostile.earlier {
            earlier.page = attack();
            earlier.target = attack();
        }
        hostile.infostructures[0].task.name = attack();
        hostile.infostructures[0].task.index_title = Some(attack());
        hostile.infostructures[0].task.exclude = vec![attack()];
        hostile.run.cut_short = Some(ATTACKS.concat());
        hostile.run.remarks = vec![ATTACKS.concat()];
        hostile
    }
}

fn task() -> Task {
    Task {
        index_title: Some("Tidewater field station".to_owned()),
        addresses: vec!["maria@tidewater.example".to_owned()],
        change_window: Some(7),
        expire_window: Some(14),
        exclude: vec![format!("{SITE}/archive/")],
        ..Task::new("tidewater", Scope::Site, Url::parse(SITE).expect("a URL"))
    }
}

fn page(
    node: u32,
    path: &str,
    title: &str,
    owner: Option<&str>,
    references: Vec<Referenced>,
) -> (Document, Vec<Referenced>) {
    let document = Document {
        title: Some(title.to_owned()),
        owner: owner.map(str::to_owned),
        media_type: Some("text/html".to_owned()),
        bytes: Some(12_345),
        last_modified: Some(at("2026-08-30T12:00:00Z")),
        first_seen: at("2026-05-01T05:45:00Z"),
        depth: u32::from(node > 0),
        ..Document::new(node, format!("{SITE}{path}"))
    };
    (document, references)
}

fn good(line: u32, text: &str, target: &str) -> Referenced {
    let site = if target.starts_with('/') { SITE } else { "" };
    Referenced::new(Kind::Anchor, line, text, format!("{site}{target}"))
}

fn link(line: u32, text: &str, target: &str, node: Option<u32>) -> Referenced {
    Referenced { node, is_inside: node.is_some(), title: Some(text.to_owned()), ..good(line, text, target) }
}

fn bad(line: u32, text: &str, target: &str, verdict: Verdict, reason: &str) -> Referenced {
    let status = reason.get(..3).and_then(|start| start.parse().ok());
    Referenced { verdict, status, reason: Some(reason.to_owned()), ..good(line, text, target) }
}

fn moved(line: u32, text: &str, target: &str, to: &str, is_permanent: bool) -> Referenced {
    let reason = if is_permanent { "moved permanently" } else { "redirected temporarily" };
    let is_small_move = !is_permanent;
    Referenced {
        to: Some(to.to_owned()),
        is_permanent,
        is_small_move,
        ..bad(line, text, target, Verdict::Moved, reason)
    }
}

fn finding_of(document: &Document, reference: &Referenced) -> Finding {
    Finding {
        page: document.url.clone(),
        title: document.title.clone(),
        target: reference.target.clone(),
        fragment: reference.fragment.clone(),
        verdict: reference.verdict,
        status: reference.status,
        reason: reference.reason.clone().unwrap_or_default(),
        element: reference.kind.name(),
        line: reference.line,
        text: reference.text.clone(),
        since: reference.since,
        is_new: reference.since.is_none(),
        to: reference.to.clone(),
        permanent: reference.is_permanent,
        owner: document.owner.clone(),
        tasks: vec!["tidewater".to_owned()],
    }
}

fn about(document: &Document, verdict: Verdict, reason: &str) -> Finding {
    let top = Referenced { kind: Kind::Top, ..bad(0, "", &document.url, verdict, reason) };
    finding_of(document, &top)
}

/// A web of any size, generated while it is read: every document links to its neighbours, to some distant documents,
/// and sometimes to a missing one.
pub(super) struct Vast {
    small: Fixture,
    documents: u32,
    links: u32,
}

impl Vast {
    pub(super) fn new(documents: u32, links: u32) -> Self {
        let mut small = Fixture::small();
        small.run.summary.pages = documents.into();
        small.infostructures[0].summary.pages = documents.into();
        Self { small, documents, links }
    }

    fn document(&self, number: u32) -> (Document, Vec<Referenced>) {
        // Nodes are numbered in the order of discovery, which is not the order of URLs.
        let node = |number: u32| (number * 7 + 3) % self.documents;
        let url = |number: u32| format!("/area-{:02}/{number:07}.html", number * 100 / self.documents);
        let references = (0..self.links).map(|n| {
            let to = (number + n * n * 13 + 1) % self.documents;
            match (number + n) % 97 {
                0 => bad(n, "a link that was", &format!("/gone/{n}"), Verdict::Broken, "404 not found"),
                1 => bad(
                    n,
                    "somewhere else",
                    &format!("https://elsewhere.example/{n}"),
                    Verdict::NotTested,
                    "no answer in time",
                ),
                _ => link(n, &format!("Document {to}"), &url(to), Some(node(to))),
            }
        });
        page(
            node(number),
            &url(number),
            &format!("Document {number} of a vast web"),
            Some("everybody"),
            references.collect(),
        )
    }
}

impl Results for Vast {
    fn run(&self) -> &Run {
        &self.small.run
    }

    fn infostructures(&self) -> &[Infostructure] {
        &self.small.infostructures
    }

    fn documents(&self, _: usize, visit: &mut dyn FnMut(&Document, &[Referenced]) -> Visit) -> Visit {
        (0..self.documents).try_for_each(|number| {
            let (document, references) = self.document(number);
            visit(&document, &references)
        })
    }

    fn findings(&self, _: Option<usize>, visit: &mut dyn FnMut(&Finding) -> Visit) -> Visit {
        (0..self.documents).try_for_each(|number| {
            let (document, references) = self.document(number);
            let mut bad = references.iter().filter(|reference| reference.verdict != Verdict::Good);
            bad.try_for_each(|reference| visit(&finding_of(&document, reference)))
        })
    }

    fn earlier(&self, of: Option<usize>, visit: &mut dyn FnMut(&Earlier) -> Visit) -> Visit {
        self.small.earlier(of, visit)
    }
}
