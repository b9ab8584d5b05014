//! URLs to avoid (no request at all) or to leaf (HEAD only): parses the avoid file, and finds the restriction of a URL.
//!
//! MOMspider had a pair of files: the URLs to avoid, and the sites whose robots.txt it had fetched. The avoid file has
//! the same meaning here. The sites file is only read: robots.txt is stored in the table of URLs, for a day at most.

use std::path::Path;

use jiff::Timestamp;
use modoai_settings::unknown;
use url::Url;

use super::error::{Note, shown};
use super::prefix::{Prefixes, key};
use super::{Action, Restriction, values};

/// Restrictions, prepared for a lookup of every link.
#[derive(Clone, Debug, Default)]
pub struct Restrictions {
    prefixes: Prefixes<(Action, Option<Timestamp>)>,
}

impl Restrictions {
    /// Prepares restrictions.
    pub fn new(restrictions: &[Restriction]) -> Self {
        let keyed = |it: &Restriction| Some((key(&it.prefix)?.into_owned(), (it.action, it.until)));
        Self { prefixes: Prefixes::new(restrictions.iter().filter_map(keyed)) }
    }

    /// Returns the restriction of a URL, which is as `Url` writes it. If several match, the strictest applies:
    /// declaring a part of an avoided prefix a leaf does not allow requests to it.
    pub fn action(&self, url: &str, now: Timestamp) -> Option<Action> {
        if self.prefixes.is_empty() {
            return None;
        }
        let key = key(url)?;
        let valid = self.prefixes.of(&key).filter(|(_, (_, until))| until.is_none_or(|until| now < until));
        valid.map(|(_, (action, _))| *action).reduce(|a, b| if a == Action::Avoid { a } else { b })
    }
}

/// Restrictions, each with its line.
pub(super) type Lined = Vec<(usize, Restriction)>;

/// Parses an avoid file into restrictions and remarks: a line is `Avoid` or `Leaf`, a prefix of URLs, and optionally an
/// expiry in brackets: `[*]` or `[date]`.
pub(super) fn parse_avoid(text: &str) -> Result<(Lined, Vec<Note>), Note> {
    let (mut restrictions, mut remarks) = (Vec::new(), Vec::new());
    for (number, line) in significant(text) {
        let Entry { kind, what, until } = Entry::parse(number, line)?;
        let action = match kind {
            "Avoid" => Action::Avoid,
            "Leaf" => Action::Leaf,
            other => return Err(Note::new(number, unknown("name", other, &["Avoid", "Leaf"]))),
        };
        // Files of 1994 also avoid news and gopher URLs.
        if Url::parse(what).is_ok_and(|url| !matches!(url.scheme(), "http" | "https")) {
            let what = format!("'{}' is neither http nor https, and never requested", shown(what));
            remarks.push(Note::new(number, what));
            continue;
        }
        let prefix = values::prefix(what).map_err(|problem| Note::new(number, format!("{kind} {problem}")))?;
        restrictions.push((number, Restriction { action, prefix, until, origin: String::new() }));
    }
    Ok((restrictions, remarks))
}

/// Returns the restrictions of a file that have not expired, and a remark if some have.
pub(super) fn current(file: &Path, all: Lined, now: Timestamp) -> (Vec<Restriction>, Option<Note>) {
    let (valid, expired): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|(_, restriction)| restriction.until.is_none_or(|until| now < until));
    let remark = expired.first().map(|(line, _)| match expired.len() {
        1 => Note::new(*line, "this entry has expired and is ignored"),
        count => Note::new(*line, format!("this entry and {} more have expired and are ignored", count - 1)),
    });
    let origin = |line: usize| format!("{}:{line}", file.display());
    let valid = valid.into_iter().map(|(line, restriction)| Restriction { origin: origin(line), ..restriction });
    (valid.collect(), remark)
}

/// A site whose robots.txt was fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CheckedSite {
    pub(super) line: usize,
    pub(super) host: String,
    pub(super) port: u16,
    /// The time until which it need not be fetched again; `None` means never again.
    pub(super) until: Option<Timestamp>,
}

/// Parses a sites file: a line is `Site`, a host and its port, and optionally an expiry.
pub(super) fn parse_sites(text: &str) -> Result<Vec<CheckedSite>, Note> {
    let mut sites = Vec::new();
    for (number, line) in significant(text) {
        let entry = Entry::parse(number, line)?;
        if entry.kind != "Site" {
            return Err(Note::new(number, unknown("name", entry.kind, &["Site"])));
        }
        // The port is written even if it is the default one; parsing the text as a URL checks the host, too.
        let url = Url::parse(&format!("http://{}/", entry.what)).ok();
        let host = url.as_ref().filter(|url| url.path() == "/" && url.query().is_none()).and_then(Url::host_str);
        let Some((host, port)) = host.zip(url.as_ref().and_then(Url::port_or_known_default)) else {
            let what =
                format!("Site needs a host and its port, such as www.example.org:80, not '{}'", shown(entry.what));
            return Err(Note::new(number, what));
        };
        sites.push(CheckedSite { line: number, host: host.to_owned(), port, until: entry.until });
    }
    Ok(sites)
}

/// Returns the significant lines, numbered from 1.
fn significant(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let numbered = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
    numbered.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
}

/// A line of either file.
struct Entry<'a> {
    kind: &'a str,
    what: &'a str,
    until: Option<Timestamp>,
}

impl<'a> Entry<'a> {
    fn parse(number: usize, line: &'a str) -> Result<Self, Note> {
        let (kind, rest) = line.split_once([' ', '\t']).unwrap_or((line, ""));
        let rest = rest.trim_start();
        let (what, date) = rest.split_once([' ', '\t']).unwrap_or((rest, "*"));
        let date = date.trim();
        let bare = date.strip_prefix('[').and_then(|date| date.strip_suffix(']')).unwrap_or(date);
        let until = values::until(bare).map_err(|problem| Note::new(number, format!("the end of {kind} {problem}")))?;
        Ok(Self { kind, what, until })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(time: &str) -> Timestamp {
        time.parse().expect("a time")
    }

    fn restrictions(text: &str) -> Restrictions {
        let (parsed, remarks) = parse_avoid(text).expect("good");
        assert_eq!(remarks, []);
        Restrictions::new(&current(Path::new("avoid"), parsed, at("2026-01-01T00:00:00Z")).0)
    }

    #[test]
    fn what_forbids_more_wins_wherever_it_is() {
        let text = "Leaf http://h/ [*]\nAvoid http://h/a/\nLeaf http://h/a/b/ [*]\nAvoid http://h/x [2026-06-30]\n";
        let restrictions = restrictions(text);
        let now = at("2026-01-01T00:00:00Z");
        for (url, expected) in [
            ("http://h/", Some(Action::Leaf)),
            ("http://h/a", Some(Action::Leaf)),
            ("http://h/a/", Some(Action::Avoid)),
            ("https://h/a/b/c.html", Some(Action::Avoid)),
            ("http://h/%61/", Some(Action::Avoid)),
            ("http://h/xyz", Some(Action::Avoid)),
            ("http://h.other/", None),
            ("http://other/a/", None),
            ("http://h:8080/a/", None),
            ("ftp://h/a/", None),
        ] {
            assert_eq!(restrictions.action(url, now), expected, "{url}");
        }
        assert_eq!(restrictions.action("http://h/xyz", at("2026-06-30T23:59:59Z")), Some(Action::Avoid));
        assert_eq!(
            restrictions.action("http://h/xyz", at("2026-07-01T00:00:00Z")),
            Some(Action::Leaf),
            "it has expired"
        );
    }

    #[test]
    fn the_usual_port_is_no_port() {
        let restrictions = restrictions("Avoid http://H:80/a\nAvoid https://s:443/\nAvoid http://o:8001/ [*]\n");
        let now = at("2026-01-01T00:00:00Z");
        for url in ["http://h/a", "https://h/a", "https://s/", "http://s/x", "http://o:8001/x"] {
            assert_eq!(restrictions.action(url, now), Some(Action::Avoid), "{url}");
        }
        assert_eq!(restrictions.action("http://o/x", now), None);
    }

    #[test]
    fn wrong_lines_are_named() {
        for (text, line, part) in [
            ("avoid http://h/\n", 1, "did you mean 'Avoid'?"),
            ("# x\n\nAvoid\n", 3, "Avoid needs an absolute URL"),
            ("Avoid www.example.org/\n", 1, "Avoid needs an absolute URL"),
            ("Leaf http://h/ [someday]\n", 1, "the end of Leaf needs a date"),
        ] {
            let note = parse_avoid(text).expect_err("wrong");
            assert!(note.line == line && note.what.contains(part), "{text:?}: {note:?}");
        }
        for (text, part) in [
            ("Avoid http://h/\n", "expected one of Site"),
            ("Site h/x:80\n", "such as www.example.org:80"),
            ("Site\n", "not ''"),
            ("Site h:80 [soon]\n", "the end of Site needs a date"),
        ] {
            let note = parse_sites(text).expect_err("wrong");
            assert!(note.what.contains(part), "{text:?}: {note:?}");
        }
    }

    #[test]
    fn what_is_over_or_not_of_the_web_is_left_out_with_a_remark() {
        let text = "Avoid news:comp.x\nAvoid http://a/ [2020-01-01]\nLeaf http://b/ [2020-01-02]\nLeaf http://c/\n";
        let (parsed, remarks) = parse_avoid(text).expect("good");
        assert_eq!(remarks.iter().map(|note| note.line).collect::<Vec<_>>(), [1]);
        let (valid, remark) = current(Path::new("avoid"), parsed, at("2026-01-01T00:00:00Z"));
        let leaf = Restriction {
            action: Action::Leaf,
            prefix: "http://c/".to_owned(),
            until: None,
            origin: "avoid:4".to_owned(),
        };
        assert_eq!(valid, [leaf]);
        assert_eq!(remark, Some(Note::new(2, "this entry and 1 more have expired and are ignored")));
    }

    #[test]
    fn thousands_are_searched_as_fast_as_a_few() {
        let text: String = (0..20_000).map(|n| format!("Avoid http://h{}/p{n}/\n", n % 100)).collect();
        let restrictions = restrictions(&text);
        // A linear search of 20,000 prefixes for 100,000 URLs would take minutes.
        let avoided = (0..100_000).filter(|n| {
            let url = format!("http://h{}/p{}/x.html", n % 100, n % 40_000);
            restrictions.action(&url, Timestamp::UNIX_EPOCH).is_some()
        });
        assert_eq!(avoided.count(), 60_000);
    }
}
