//! Computes the numbers and the lists from the ledger.

use std::collections::{BTreeMap, HashMap};

use serde::{Serialize, Serializer};

use super::ledger::{Entry, Fate, Ledger};
use super::{SOURCES, Source};

/// The lists: name and description.
pub const LISTS: [(&str, &str); 7] = [
    ("orphans", "exist, but cannot be reached by links from the home page"),
    ("ghosts", "linked, in the sitemap or in the log, but missing"),
    ("forbidden", "linked or in the sitemap, but forbidden by robots.txt or by the server (401, 403)"),
    ("duplicates", "the same bytes under several URLs"),
    ("nowhere", "exist, but unknown to crawl, sitemap and log"),
    ("once", "known to only one source"),
    ("everywhere", "known to every source"),
];

/// The result of a count.
#[derive(Clone, Debug, Serialize)]
pub struct Count {
    /// The site's URL.
    pub site: String,
    /// The sources that were queried, in the order of all numbers below.
    pub sources: Vec<Source>,
    /// The number of URLs that each source lists.
    pub totals: Vec<u64>,
    /// The number of URLs that any source lists.
    pub any: u64,
    /// The same by kind of resource, the most frequent first.
    pub kinds: Vec<KindCount>,
    /// The number of URLs that exactly these sources list, the largest first.
    pub combinations: Vec<Combination>,
    /// The lists, in the order of [`LISTS`].
    pub lists: Vec<Listed>,
    /// Remarks about the count.
    pub remarks: Vec<String>,
}

/// The number of resources of one kind in each source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KindCount {
    /// A media type, or the extension of a name.
    pub kind: String,
    /// The numbers by source.
    pub counts: Vec<u64>,
    /// The number in any source.
    pub any: u64,
}

/// The number of URLs that exactly these sources list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Combination {
    /// The sources.
    pub sources: Vec<Source>,
    /// The number.
    pub urls: u64,
}

/// One list.
#[derive(Clone, Debug, Serialize)]
pub struct Listed {
    /// Its name.
    pub name: &'static str,
    /// Its description.
    pub about: &'static str,
    /// True if the necessary sources were available.
    pub is_known: bool,
    /// Its contents, in the order of URLs.
    pub rows: Vec<Row>,
}

/// One line of a list.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Row {
    /// The URL; for duplicates, all of them.
    pub urls: Vec<String>,
    /// The other sources, or the reason; may be empty.
    pub note: String,
}

impl Serialize for Source {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl Count {
    /// Computes the count.
    pub fn of(mut ledger: Ledger) -> Self {
        merge_queries(&mut ledger);
        let sources: Vec<Source> = SOURCES.into_iter().filter(|source| ledger.asked & source.bit() != 0).collect();
        let mut totals = vec![0; sources.len()];
        let mut kinds = BTreeMap::<String, (Vec<u64>, u64)>::new();
        let mut masks = BTreeMap::<u8, u64>::new();
        for (name, entry) in ledger.entries.iter().filter(|(_, entry)| entry.by != 0) {
            *masks.entry(entry.by).or_default() += 1;
            let row = kinds.entry(kind_of(&ledger, name, entry)).or_insert_with(|| (vec![0; sources.len()], 0));
            row.1 += 1;
            for (column, source) in sources.iter().enumerate() {
                totals[column] += u64::from(entry.has(*source));
                row.0[column] += u64::from(entry.has(*source));
            }
        }
        let mut kinds: Vec<_> =
            kinds.into_iter().map(|(kind, (counts, any))| KindCount { kind, counts, any }).collect();
        kinds.sort_by_key(|kind| std::cmp::Reverse(kind.any));
        let mut combinations: Vec<_> =
            masks.iter().map(|(mask, urls)| Combination { sources: named(*mask), urls: *urls }).collect();
        combinations.sort_by_key(|combination| std::cmp::Reverse(combination.urls));
        Self {
            site: ledger.place.base().to_string(),
            any: masks.values().sum(),
            totals,
            kinds,
            combinations,
            lists: lists(&ledger, &sources),
            remarks: remarks(&ledger),
            sources,
        }
    }

    /// Returns the list of this name.
    pub fn list(&self, name: &str) -> &[Row] {
        self.lists.iter().find(|list| list.name == name).map_or(&[], |list| &list.rows)
    }

    /// Returns the number of URLs that a source lists, if it was queried.
    pub fn total(&self, source: Source) -> Option<u64> {
        self.sources.iter().position(|asked| *asked == source).map(|column| self.totals[column])
    }

    /// Returns the number of the site's resources that a crawl reaches, and their total: the two numbers of the paper.
    pub fn reached(&self) -> Option<(u64, u64)> {
        self.total(Source::Crawl)?;
        let holds = |combination: &&Combination| combination.sources.iter().any(|source| source.is_truth());
        let held: u64 = self.combinations.iter().filter(holds).map(|combination| combination.urls).sum();
        let both = self.combinations.iter().filter(holds).filter(|both| both.sources.contains(&Source::Crawl));
        (held > 0).then(|| (both.map(|both| both.urls).sum(), held))
    }
}

/// Removes the queries of files, which ignore them: `/a.css?v=2` is `/a.css` if the site contains that.
fn merge_queries(ledger: &mut Ledger) {
    let asked: Vec<Box<str>> = ledger
        .entries
        .iter()
        .filter(|(name, entry)| name.contains('?') && !entry.is_held())
        .map(|(name, _)| name.clone())
        .collect();
    for name in asked {
        let path = name.split('?').next().unwrap_or_default();
        if ledger.entries.get(path).is_some_and(Entry::is_held)
            && let Some(merged) = ledger.entries.remove(&name)
            && let Some(entry) = ledger.entries.get_mut(path)
        {
            entry.by |= merged.by;
            if entry.fate == Fate::Untold {
                entry.fate = merged.fate;
            }
        }
    }
}

fn lists(ledger: &Ledger, sources: &[Source]) -> Vec<Listed> {
    let has_truth = sources.iter().any(|source| source.is_truth());
    let has_crawl = sources.contains(&Source::Crawl);
    let has_claims = sources.iter().any(|source| matches!(source, Source::Sitemap | Source::Log));
    LISTS
        .into_iter()
        .map(|(name, about)| {
            let is_known = match name {
                "orphans" => has_crawl && (has_truth || has_claims),
                "ghosts" => has_crawl || (has_truth && has_claims),
                "forbidden" => has_crawl || ledger.entries.values().any(|entry| entry.confirmed != Fate::Untold),
                "duplicates" => has_crawl || sources.contains(&Source::Files),
                "nowhere" => has_truth && sources.len() > 1,
                _ => sources.len() > 1,
            };
            let mut rows = match (is_known, name) {
                (false, _) => Vec::new(),
                (true, "duplicates") => duplicates(ledger),
                (true, _) => singles(ledger, name, has_truth),
            };
            rows.sort();
            Listed { name, about, is_known, rows }
        })
        .collect()
}

fn singles(ledger: &Ledger, list: &str, has_truth: bool) -> Vec<Row> {
    let note = |name: &str, entry: &Entry| -> Option<String> {
        let known_to = |mask: u8| {
            let names: Vec<_> = named(mask).into_iter().map(Source::name).collect();
            names.join(", ")
        };
        let claims = entry.by & (Source::Sitemap.bit() | Source::Log.bit());
        let is_there = if has_truth { entry.is_held() } else { claims != 0 };
        match list {
            "orphans" => {
                let is_reached = entry.has(Source::Crawl) || entry.fate != Fate::Untold;
                (is_there && !is_reached).then(|| known_to(claims))
            }
            "ghosts" => {
                let is_absent = match (entry.fate, entry.confirmed) {
                    (Fate::Missing, _) | (Fate::Untold, Fate::Missing) => true,
                    // It was not requested, or the request failed.
                    (Fate::Untold, Fate::Untold | Fate::Untested) => {
                        has_truth && !entry.is_held() && claims != 0 && !is_dynamic(name)
                    }
                    _ => false,
                };
                let linked = if entry.fate == Fate::Missing { "linked" } else { "" };
                let parts: Vec<_> =
                    [linked.to_owned(), known_to(claims)].into_iter().filter(|p| !p.is_empty()).collect();
                (is_absent && !entry.is_held()).then(|| parts.join(", "))
            }
            "forbidden" => match (entry.fate, entry.confirmed) {
                (Fate::Robots, _) => Some("robots.txt".to_owned()),
                (Fate::Refused, _) => Some("the server".to_owned()),
                (Fate::Untold, Fate::Robots) => Some("robots.txt, sitemap".to_owned()),
                (Fate::Untold, Fate::Refused) => Some("the server, sitemap".to_owned()),
                _ => None,
            },
            "nowhere" => {
                let others = entry.by & (claims | Source::Crawl.bit());
                (entry.is_held() && others == 0 && entry.fate == Fate::Untold).then(String::new)
            }
            "once" => (entry.by.count_ones() == 1).then(|| known_to(entry.by)),
            _ => (entry.by == ledger.asked && entry.by != 0).then(String::new),
        }
    };
    let row = |name: &str, entry: &Entry| {
        let note = note(name, entry)?;
        Some(Row { urls: vec![ledger.place.url(name)], note })
    };
    ledger.entries.iter().filter_map(|(name, entry)| row(name, entry)).collect()
}

/// Returns true if a URL has a query: a program may generate it, so it need not exist as a file.
fn is_dynamic(name: &str) -> bool {
    name.contains('?')
}

fn duplicates(ledger: &Ledger) -> Vec<Row> {
    let mut by_digest = HashMap::<u64, Vec<&str>>::new();
    let mut rows = Vec::new();
    for (name, entry) in &ledger.entries {
        if entry.digest != 0 {
            by_digest.entry(entry.digest).or_default().push(name);
        }
        if entry.as_folder && entry.as_index {
            let folder = ledger.place.url(name);
            let index = format!("{folder}{}", ledger.place.index());
            rows.push(Row { urls: vec![folder, index], note: "a directory and its index".to_owned() });
        }
    }
    for mut names in by_digest.into_values().filter(|names| names.len() > 1) {
        names.sort_unstable();
        let urls = names.into_iter().map(|name| ledger.place.url(name)).collect();
        rows.push(Row { urls, note: "the same bytes".to_owned() });
    }
    rows
}

fn named(mask: u8) -> Vec<Source> {
    SOURCES.into_iter().filter(|source| mask & source.bit() != 0).collect()
}

/// Returns the kind of a resource: its media type if known, else its extension.
fn kind_of(ledger: &Ledger, name: &str, entry: &Entry) -> String {
    if let Some(kind) = ledger.kinds.get(usize::from(entry.kind)).filter(|kind| !kind.is_empty()) {
        return kind.to_string();
    }
    let path = name.split('?').next().unwrap_or_default();
    let ending = path.rsplit('/').next().and_then(|file| file.rsplit_once('.')).map(|(_, ending)| ending);
    let ending = ending.filter(|ending| ending.len() <= 8 && ending.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    let ending = ending.unwrap_or_default().to_ascii_lowercase();
    let text = match ending.as_str() {
        "htm" | "html" => "text/html",
        "css" => "text/css",
        "js" | "mjs" => "text/javascript",
        "txt" => "text/plain",
        "jpg" | "jpeg" => "image/jpeg",
        "png" => "image/png",
        "gif" => "image/gif",
        "svg" => "image/svg+xml",
        "pdf" => "application/pdf",
        "" => "unknown",
        _ => return format!(".{ending}"),
    };
    text.to_owned()
}

fn remarks(ledger: &Ledger) -> Vec<String> {
    let elsewhere = SOURCES.iter().zip(ledger.elsewhere).filter(|(_, count)| *count > 0);
    elsewhere
        .map(|(source, count)| format!("{count} URLs of the {} do not belong to this site", source.name()))
        .collect()
}
