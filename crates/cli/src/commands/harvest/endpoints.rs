//! The file of `--all`: one base URL per line, comments after `#`.
//!
//! Such files have many lines by many hands. One that is wrong is told and left out; it is no reason to harvest nothing.

use std::collections::hash_map::{Entry, HashMap};
use std::collections::{HashSet, VecDeque};
use std::path::Path;

use modoai_fetch::{Credential, Origin, Secret, Url};
use modoai_harvester::harvest::Options;

use crate::config::shown;
use crate::error::CliError;
use crate::remote::base_url;

/// What a file says.
#[derive(Default)]
pub(super) struct Endpoints {
    /// Each once, without credentials.
    pub(super) urls: Vec<Url>,
    /// What URLs had before the host's name, each for its own origin.
    pub(super) credentials: Vec<Credential>,
    /// Lines that cannot be used, by their numbers, and why. What they say is not repeated: it may hold a password.
    pub(super) wrong: Vec<(usize, String)>,
}

impl Endpoints {
    pub(super) fn read(file: &Path) -> Result<Self, CliError> {
        let text = std::fs::read(file)
            .map_err(|error| CliError::failed(format!("failed to read {}", shown(file))).because(error))?;
        Ok(Self::parse(&String::from_utf8_lossy(&text)))
    }

    fn parse(text: &str) -> Self {
        let mut found = Self::default();
        let (mut seen, mut secrets) = (HashSet::new(), HashMap::new());
        for (number, line) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
            let line = line.split_once(" #").map_or(line, |(url, _)| url).trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            match endpoint(line, number, &mut secrets) {
                Ok(url) if seen.insert(url.clone()) => found.urls.push(url),
                Ok(_) => {}
                Err(reason) => found.wrong.push((number, reason)),
            }
        }
        found.credentials = secrets.into_iter().map(|(origin, (_, secret))| Credential { origin, secret }).collect();
        found
    }
}

/// A URL without its credentials, which are remembered with the line they are from.
fn endpoint(text: &str, number: usize, secrets: &mut HashMap<Origin, (usize, Secret)>) -> Result<Url, String> {
    if text.contains(char::REPLACEMENT_CHARACTER) {
        return Err("not UTF-8".to_owned());
    }
    let mut url = base_url(text)?;
    let Some(Credential { origin, secret }) = Credential::from_url(&mut url) else { return Ok(url) };
    match secrets.entry(origin) {
        Entry::Vacant(entry) => drop(entry.insert((number, secret))),
        // Requests would go out under the wrong name.
        Entry::Occupied(entry) if entry.get().1 != secret => {
            return Err(format!("line {} logs in to this host as somebody else; harvest one by itself", entry.get().0));
        }
        Entry::Occupied(_) => {}
    }
    Ok(url)
}

/// Each source with a name of its own. Names must not depend on what else is in the file, so only those that would be the
/// same get a number.
pub(super) fn named(
    urls: Vec<Url>,
    options: impl Fn(Url) -> Result<Options, CliError>,
) -> Result<Vec<Options>, CliError> {
    // The number that comes next for a name that is taken.
    let mut taken: HashMap<String, u32> = HashMap::new();
    let mut sources = Vec::new();
    for url in urls {
        let mut options = options(url)?;
        let plain = options.slug.clone();
        while taken.contains_key(&options.slug) {
            let next = taken.entry(plain.clone()).or_insert(2);
            options.slug = format!("{plain}-{next}");
            *next += 1;
        }
        taken.insert(options.slug.clone(), 2);
        sources.push(options);
    }
    Ok(sources)
}

/// Sources by host, in the order of the file. A host is one machine, whatever its ports, and answers one list at a time:
/// a second harvest would only keep a place from others.
pub(super) fn by_host<T>(sources: Vec<T>, url: impl Fn(&T) -> &Url) -> VecDeque<VecDeque<T>> {
    let mut hosts = VecDeque::new();
    let mut known = HashMap::new();
    for source in sources {
        let host = url(&source).host_str().unwrap_or_default().trim_end_matches('.').to_owned();
        let at = *known.entry(host).or_insert_with(|| {
            hosts.push_back(VecDeque::new());
            hosts.len() - 1
        });
        hosts[at].push_back(source);
    }
    hosts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slugs(endpoints: Endpoints) -> Vec<String> {
        let sources = named(endpoints.urls, |url| Ok(Options::new(url))).expect("names");
        sources.into_iter().map(|options| options.slug).collect()
    }

    #[test]
    fn sources_have_names_of_their_own() {
        let found = Endpoints::parse(
            "# four that sound alike\nhttp://a.org/oai\nhttps://a.org/oai  # the same, or is it?\n\nhttps://b.org:8443/\n\
             http://a.org/oai\nhttp://a.org/oai-2\nhttp://a.org/oai/\n",
        );
        assert!(found.wrong.is_empty(), "{:?}", found.wrong);
        assert_eq!(slugs(found), ["a.org-oai", "a.org-oai-2", "b.org-8443", "a.org-oai-2-2", "a.org-oai-3"]);
    }

    #[test]
    fn a_bad_line_is_left_out() {
        let found = Endpoints::parse("http://a.org/\nnot a url\nftp://b.org/\nhttp://c.org/\u{fffd}\nhttp://d.org/\n");
        assert_eq!(found.wrong.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [2, 3, 4]);
        assert_eq!(slugs(found), ["a.org", "d.org"]);
    }

    #[test]
    fn credentials_are_for_the_origin_they_stand_before() {
        let found = Endpoints::parse(
            "http://me:secret@a.org/1\nhttp://me:secret@a.org/2\nhttp://you:other@a.org/3\nhttp://you:other@b.org/\n",
        );
        assert_eq!(
            found.urls.iter().map(Url::as_str).collect::<Vec<_>>(),
            ["http://a.org/1", "http://a.org/2", "http://b.org/"]
        );
        assert_eq!(found.credentials.len(), 2);
        let (line, reason) = &found.wrong[0];
        assert!(*line == 3 && reason.starts_with("line 1 ") && !reason.contains("other"), "{reason}");
    }

    #[test]
    fn hosts_take_turns() {
        let found = Endpoints::parse("http://a.org/1\nhttp://a.org:8080/2\nhttp://b.org/\nhttps://a.org./3\n");
        let hosts = by_host(found.urls, |url| url);
        assert_eq!(hosts.iter().map(VecDeque::len).collect::<Vec<_>>(), [3, 1]);
    }

    #[test]
    fn many_lines_take_no_time() {
        // Two hundred thousand, each of them twice under one name.
        let lines: String =
            (0..100_000).map(|n| format!("http://a.org/oai?n={n}\nhttps://a.org/oai?n={n}\n")).collect();
        let names: HashSet<_> = slugs(Endpoints::parse(&lines)).into_iter().collect();
        assert_eq!(names.len(), 200_000);
    }
}
