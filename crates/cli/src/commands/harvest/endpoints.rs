//! Reads the file of `--all`: one base URL per line, comments after `#`.
//!
//! Such files have many lines by many authors. An invalid line is reported and skipped; the others are harvested.

use std::collections::hash_map::{Entry, HashMap};
use std::collections::{BTreeMap, HashSet, VecDeque};
use std::path::Path;

use modoai_fetch::{Credential, Origin, Secret, Url};
use modoai_harvester::harvest::{Options, distinct_slug};

use crate::config::shown;
use crate::error::CliError;
use crate::remote::base_url;

/// The contents of a file.
#[derive(Default)]
pub(super) struct Endpoints {
    /// The base URLs, each once, without credentials.
    pub(super) urls: Vec<Url>,
    /// The credentials that URLs had before the host's name, each for its own origin.
    pub(super) credentials: Vec<Credential>,
    /// Invalid lines: their numbers and the errors. The text of a line is not repeated: it may contain a password.
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
        return Err("invalid UTF-8".to_owned());
    }
    let mut url = base_url(text)?;
    let Some(Credential { origin, secret }) = Credential::from_url(&mut url) else { return Ok(url) };
    match secrets.entry(origin) {
        Entry::Vacant(entry) => drop(entry.insert((number, secret))),
        // Requests would be sent with the wrong user name.
        Entry::Occupied(entry) if entry.get().1 != secret => {
            return Err(format!(
                "line {} has different credentials for the same host; harvest this repository separately",
                entry.get().0
            ));
        }
        Entry::Occupied(_) => {}
    }
    Ok(url)
}

/// Returns each source with a unique name, which is that of its folder: the existing one, by the base URL that is known
/// there. Sources that have none yet and would have the same get a number from their URL. So the order of the lines
/// does not matter, and a line keeps its folder regardless of lines that are added to the file.
pub(super) fn named(
    urls: Vec<Url>,
    folders: &BTreeMap<String, String>,
    options: impl Fn(Url) -> Result<Options, CliError>,
) -> Result<Vec<Options>, CliError> {
    let mut sources = urls.into_iter().map(options).collect::<Result<Vec<_>, _>>()?;
    let by_url: HashMap<_, _> = folders.iter().rev().map(|(folder, url)| (url.as_str(), folder)).collect();
    let home = |options: &Options| {
        let url = options.base_url.as_str();
        let is_home = folders.get(&options.slug).is_some_and(|known| known == url);
        if is_home { Some(options.slug.clone()) } else { by_url.get(url).map(|folder| (*folder).clone()) }
    };
    let homes: Vec<_> = sources.iter().map(home).collect();
    // The number of sources that have, or would have, each name.
    let mut wanted: HashMap<String, usize> = HashMap::new();
    for (options, home) in sources.iter().zip(&homes) {
        *wanted.entry(options.slug.clone()).or_default() += 1;
        if let Some(home) = home.as_ref().filter(|home| **home != options.slug) {
            *wanted.entry(home.clone()).or_default() += 1;
        }
    }
    for (options, home) in sources.iter_mut().zip(homes) {
        let is_shared = wanted.get(&options.slug).is_some_and(|count| *count > 1);
        match home {
            Some(home) => options.slug = home,
            None if is_shared => options.slug = distinct_slug(&options.base_url),
            None => {}
        }
    }
    Ok(sources)
}

/// Returns sources by host, in the order of the file. A host is one machine, regardless of its ports, and responds to
/// one list at a time: a second harvest would only keep a place from others.
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

    fn slugs_beside(folders: &[(&str, &str)], endpoints: Endpoints) -> Vec<String> {
        let folders = folders.iter().map(|(folder, url)| ((*folder).to_owned(), (*url).to_owned())).collect();
        let sources = named(endpoints.urls, &folders, |url| Ok(Options::new(url))).expect("names");
        sources.into_iter().map(|options| options.slug).collect()
    }

    fn slugs(endpoints: Endpoints) -> Vec<String> {
        slugs_beside(&[], endpoints)
    }

    #[test]
    fn sources_have_names_of_their_own() {
        let lines = [
            "# four that sound alike",
            "http://a.org/oai",
            "https://a.org/oai  # the same, or is it?",
            "https://b.org:8443/",
            "http://a.org/oai",
            "http://a.org/oai-2",
            "http://a.org/oai/",
        ];
        let found = |lines: &[&str]| {
            let found = Endpoints::parse(&lines.join("\n"));
            assert!(found.wrong.is_empty(), "{:?}", found.wrong);
            found
        };
        let names = slugs(found(&lines));
        assert_eq!((names[2].as_str(), names[3].as_str()), ("b.org-8443", "a.org-oai-2"));
        for alike in [&names[0], &names[1], &names[4]] {
            assert!(alike.strip_prefix("a.org-oai-").is_some_and(|number| number.len() == 16), "{alike}");
        }
        assert_eq!(names.iter().collect::<HashSet<_>>().len(), 5);
        let mut reversed = lines;
        reversed.reverse();
        let same = |one: Vec<String>, other: Vec<String>| {
            assert_eq!(one.into_iter().collect::<HashSet<_>>(), other.into_iter().collect::<HashSet<_>>());
        };
        same(names, slugs(found(&reversed)));
    }

    #[test]
    fn sources_keep_their_folders() {
        let folders = [("a.org-oai", "http://a.org/oai"), ("a.org-oai-2", "http://a.org/oai/"), ("z", "http://b.org/")];
        let beside = |text: &str| slugs_beside(&folders, Endpoints::parse(text));
        assert_eq!(beside("http://a.org/oai/\nhttp://b.org/\nhttp://a.org/oai\n"), ["a.org-oai-2", "z", "a.org-oai"]);
        assert_eq!(beside("http://a.org/oai/\n"), ["a.org-oai-2"]);
        let joined = beside("https://a.org/oai\nhttp://a.org/oai\nhttp://a.org/oai-2\nhttp://a.org/oai/\n");
        assert!(joined[0].starts_with("a.org-oai-") && joined[0].len() == 26, "{joined:?}");
        assert!(joined[2].starts_with("a.org-oai-2-") && joined[2].len() == 28, "{joined:?}");
        assert_eq!((joined[1].as_str(), joined[3].as_str()), ("a.org-oai", "a.org-oai-2"));
        // The only one of that name: perhaps the repository has moved, which is for people to say.
        assert_eq!(beside("https://a.org/oai\n"), ["a.org-oai"]);
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
        // Two hundred thousand sources; each name occurs twice.
        let lines: String =
            (0..100_000).map(|n| format!("http://a.org/oai?n={n}\nhttps://a.org/oai?n={n}\n")).collect();
        let names: HashSet<_> = slugs(Endpoints::parse(&lines)).into_iter().collect();
        assert_eq!(names.len(), 200_000);
    }
}
