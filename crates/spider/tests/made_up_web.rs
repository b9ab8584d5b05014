//! A made-up web that is like real ones: folders within folders, an index in each, a menu on every page, breadcrumbs, links to
//! the one before and after, cross links, hubs, owners; and rot, most of it in a few old corners. The same number is always the
//! same web.

use std::collections::{HashMap, HashSet, VecDeque};

use jiff::Timestamp;
use modoai_spider::reference::Kind;
use modoai_spider::results::{Document, Earlier, Finding, Infostructure, Referenced, Results, Run, Summary, Visit};
use modoai_spider::task::{Scope, Task};
use modoai_spider::verdict::Verdict;

/// A finished run that never was.
pub(crate) struct MadeUpWeb {
    run: Run,
    infostructures: Vec<Infostructure>,
    /// In the order of their URLs; a test may change them.
    pub(crate) documents: Vec<(Document, Vec<Referenced>)>,
}

/// Folders at the top: name, title, owner, share of the pages, share of its pages that rot.
const PARTS: [(&str, &str, &str, usize, f64); 10] = [
    ("library", "Library", "library", 20, 0.03),
    ("physics", "Physics", "physics", 17, 0.04),
    ("history", "History", "history", 13, 0.30),
    ("news", "News", "press office", 14, 0.12),
    ("courses", "Courses", "registrar", 11, 0.02),
    ("~miller", "Miller's papers", "miller", 5, 0.45),
    ("computing", "Computing", "computing", 9, 0.02),
    ("events", "Events", "press office", 5, 0.10),
    ("about", "About us", "webmaster", 3, 0.01),
    ("archive", "Archive 1996", "", 3, 0.60),
];
const WORDS: [&str; 24] = [
    "Catalogue",
    "Lecture",
    "Notes",
    "Survey",
    "Optics",
    "Seminar",
    "Reports",
    "Guide",
    "Manuscripts",
    "Letters",
    "Index",
    "Maps",
    "Exercises",
    "Methods",
    "Collection",
    "Theory",
    "Instruments",
    "Minutes",
    "Programme",
    "Staff",
    "Projects",
    "Sources",
    "Bibliography",
    "Tables",
];

impl MadeUpWeb {
    /// A web of about so many pages.
    pub(crate) fn of(pages: usize) -> Self {
        let mut chance = fastrand::Rng::with_seed(1994);
        let mut grown = Grown { pages: vec![Sprout::new("/", "University of Somewhere", "webmaster", None, 0.0)] };
        for (name, title, owner, share, rot) in PARTS {
            let top = grown.add(0, &format!("/{name}/"), title, owner, rot);
            grown.grow(top, (pages * share / 100).max(2) - 1, &mut chance);
        }
        let links = grown.link(&mut chance);
        Self::finished(&grown, &links, &mut chance)
    }

    /// A web of these documents only.
    pub(crate) fn with(documents: Vec<(Document, Vec<Referenced>)>) -> Self {
        let targets = |verdict| {
            let of = documents.iter().flat_map(|(_, references)| references).filter(|one| one.verdict == verdict);
            of.map(|one| (&one.target, &one.fragment)).collect::<HashSet<_>>().len() as u64
        };
        let (broken, fragments) = (targets(Verdict::Broken), targets(Verdict::Fragment));
        let summary = Summary { pages: documents.len() as u64, broken, fragments, ..Summary::default() };
        let when = Timestamp::from_second(1_790_000_000).expect("a time");
        let run = Run { number: 2, began: when, ended: when, summary: summary.clone(), ..Run::default() };
        Self { run, infostructures: vec![Infostructure { task: task(), summary }], documents }
    }

    fn finished(grown: &Grown, links: &[Vec<usize>], chance: &mut fastrand::Rng) -> Self {
        let count = grown.pages.len();
        let mut depth = vec![u32::MAX; count];
        depth[0] = 0;
        let mut queue = VecDeque::from([0]);
        while let Some(page) = queue.pop_front() {
            for &to in &links[page] {
                if depth[to] == u32::MAX {
                    depth[to] = depth[page] + 1;
                    queue.push_back(to);
                }
            }
        }
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by(|a, b| grown.pages[*a].url.cmp(&grown.pages[*b].url));
        let documents = order
            .into_iter()
            .map(|page| {
                let sprout = &grown.pages[page];
                let mut document = document(page as u32, &sprout.url, &sprout.title, depth[page]);
                document.owner = (!sprout.owner.is_empty()).then(|| sprout.owner.clone());
                document.is_changed = chance.u32(0..40) == 0;
                document.is_expiring = chance.u32(0..150) == 0;
                let mut references: Vec<Referenced> = links[page]
                    .iter()
                    .enumerate()
                    .map(|(line, to)| {
                        good(*to as u32, &grown.pages[*to].url, &grown.pages[*to].title, line as u32 + 20)
                    })
                    .collect();
                sprout.rot(&mut references, chance);
                (document, references)
            })
            .collect();
        Self::with(documents)
    }
}

impl Results for MadeUpWeb {
    fn run(&self) -> &Run {
        &self.run
    }

    fn infostructures(&self) -> &[Infostructure] {
        &self.infostructures
    }

    fn documents(&self, of: usize, visit: &mut dyn FnMut(&Document, &[Referenced]) -> Visit) -> Visit {
        assert_eq!(of, 0, "there is only one");
        self.documents.iter().try_for_each(|(document, references)| visit(document, references))
    }

    fn findings(&self, _of: Option<usize>, visit: &mut dyn FnMut(&Finding) -> Visit) -> Visit {
        self.documents.iter().try_for_each(|(document, references)| {
            let mut bad = references.iter().filter(|reference| reference.verdict != Verdict::Good);
            bad.try_for_each(|reference| visit(&finding(document, reference)))
        })
    }

    fn earlier(&self, _of: Option<usize>, _visit: &mut dyn FnMut(&Earlier) -> Visit) -> Visit {
        unreachable!("maps show what is, not what was")
    }
}

fn finding(document: &Document, reference: &Referenced) -> Finding {
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
        is_new: false,
        to: reference.to.clone(),
        permanent: reference.is_permanent,
        owner: document.owner.clone(),
        tasks: Vec::new(),
    }
}

/// A page while the web grows.
struct Sprout {
    url: String,
    title: String,
    owner: String,
    parent: Option<usize>,
    children: Vec<usize>,
    rot: f64,
}

impl Sprout {
    fn new(path: &str, title: &str, owner: &str, parent: Option<usize>, rot: f64) -> Self {
        let url = format!("https://www.somewhere.example{path}");
        Self { url, title: title.to_owned(), owner: owner.to_owned(), parent, children: Vec::new(), rot }
    }

    /// Adds links with which something is the matter.
    fn rot(&self, references: &mut Vec<Referenced>, chance: &mut fastrand::Rng) {
        // One line in a footer, wrong on every page of a part: one repair, many reports.
        if self.url.contains("/events/") {
            references.push(broken(
                "https://www.somewhere.example/images/calendar-old.gif",
                "404 not found",
                Kind::Image,
                88,
            ));
        }
        if chance.f64() < self.rot {
            for _ in 0..chance.usize(1..5) {
                let host = ["www.gone.example", "ftp.old-lab.example", "www.somewhere.example/pub"][chance.usize(0..3)];
                let url =
                    format!("https://{host}/{}-{}.html", WORDS[chance.usize(0..24)].to_lowercase(), chance.u32(1..60));
                let reason = ["404 not found", "host not found", "410 gone"][chance.usize(0..3)];
                references.push(broken(&url, reason, Kind::Anchor, chance.u32(30..400)));
            }
        }
        if chance.f64() < self.rot / 3.0 && !references.is_empty() {
            let mut missing = references[chance.usize(0..references.len())].clone();
            missing.fragment = Some(format!("sec{}", chance.u32(1..9)));
            missing.verdict = Verdict::Fragment;
            missing.reason = Some("fragment not found in the page".into());
            references.push(missing);
        }
        if chance.f64() < 0.05 {
            let number = chance.u32(1..40);
            let mut moved = broken(&format!("http://journal.example/{number}"), "moved permanently", Kind::Anchor, 61);
            moved.verdict = Verdict::Moved;
            moved.to = Some(format!("https://journal.example/articles/{number}"));
            moved.is_permanent = true;
            references.push(moved);
        }
        if chance.f64() < 0.1 {
            let mut unknown = broken(
                "https://social.example/somewhere",
                "refused, possibly only to programs (403)",
                Kind::Anchor,
                90,
            );
            unknown.verdict = Verdict::NotTested;
            references.push(unknown);
        }
    }
}

struct Grown {
    pages: Vec<Sprout>,
}

impl Grown {
    fn add(&mut self, parent: usize, path: &str, title: &str, owner: &str, rot: f64) -> usize {
        let index = self.pages.len();
        self.pages.push(Sprout::new(path, title, owner, Some(parent), rot));
        self.pages[parent].children.push(index);
        index
    }

    /// Adds so many pages below a page: some in its folder, the rest in folders below it.
    fn grow(&mut self, top: usize, mut count: usize, chance: &mut fastrand::Rng) {
        let path = self.pages[top].url["https://www.somewhere.example".len()..].to_owned();
        let (owner, rot) = (self.pages[top].owner.clone(), self.pages[top].rot);
        let here = if count < 30 { count } else { chance.usize(8..(count / 3).clamp(10, 90)) };
        for nth in 1..=here {
            let word = WORDS[chance.usize(0..24)];
            self.add(top, &format!("{path}{}-{nth}.html", word.to_lowercase()), &format!("{word} {nth}"), &owner, rot);
        }
        count -= here;
        let mut nth = 0;
        while count > 0 {
            nth += 1;
            let share = chance.usize(1..=(count / 2).max(20).min(count)).max(count.min(9));
            let word = WORDS[chance.usize(0..24)];
            let folder = format!("{path}{}{nth}/", word.to_lowercase());
            let rot = if chance.u32(0..5) == 0 { rot * 2.0 } else { rot * 0.6 };
            let index = self.add(top, &folder, &format!("{word}, part {nth}"), &owner, rot);
            self.grow(index, share - 1, chance);
            count -= share;
        }
    }

    /// Who links to whom.
    fn link(&self, chance: &mut fastrand::Rng) -> Vec<Vec<usize>> {
        let count = self.pages.len();
        let menu = &self.pages[0].children;
        let mut siblings: HashMap<usize, (Option<usize>, Option<usize>)> = HashMap::new();
        for page in &self.pages {
            for pair in page.children.windows(2) {
                siblings.entry(pair[0]).or_default().1 = Some(pair[1]);
                siblings.entry(pair[1]).or_default().0 = Some(pair[0]);
            }
        }
        (0..count)
            .map(|index| {
                let page = &self.pages[index];
                let mut leads = vec![0];
                leads.extend(menu);
                leads.extend(page.parent);
                // Long lists are in several pages: what comes late is far from the top.
                leads.extend(page.children.iter().take(25));
                let (before, after) = siblings.get(&index).copied().unwrap_or_default();
                leads.extend(before.into_iter().chain(after));
                for _ in 0..chance.usize(0..8) {
                    // Mostly near by, sometimes anywhere; the square prefers old pages, which become hubs.
                    let near = index.saturating_sub(chance.usize(1..40));
                    let any = (chance.f64() * chance.f64() * count as f64) as usize;
                    leads.push(if chance.u32(0..5) == 0 { any.min(count - 1) } else { near });
                }
                leads.retain(|to| *to != index);
                leads
            })
            .collect()
    }
}

/// A document with which nothing is the matter.
pub(crate) fn document(node: u32, url: &str, title: &str, depth: u32) -> Document {
    Document {
        title: Some(title.to_owned()),
        media_type: Some("text/html".into()),
        bytes: Some(4_096),
        depth,
        ..Document::new(node, url)
    }
}

/// A reference to a document of the web.
pub(crate) fn good(node: u32, url: &str, text: &str, line: u32) -> Referenced {
    Referenced { node: Some(node), is_inside: true, ..Referenced::new(Kind::Anchor, line, text, url) }
}

/// A reference to what is not there.
pub(crate) fn broken(url: &str, reason: &str, kind: Kind, line: u32) -> Referenced {
    Referenced {
        verdict: Verdict::Broken,
        status: (reason == "404 not found").then_some(404),
        reason: Some(reason.to_owned()),
        since: Timestamp::from_second(1_780_000_000).ok(),
        ..Referenced::new(kind, line, "further reading", url)
    }
}

fn task() -> Task {
    let top = "https://www.somewhere.example/".parse().expect("a URL");
    Task { index_title: Some("University of Somewhere".into()), ..Task::new("somewhere", Scope::Site, top) }
}
