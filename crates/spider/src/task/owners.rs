//! Assigns owners to URLs: by the table of a task file, and by files in the format of CODEOWNERS.
//!
//! Documents that name their owner are rare, as De Bra noted in 1994. A site usually assigns directories to owners, so
//! owners can be defined in one of two ways, each with the precedence that users expect:
//!
//! - In the **table**, an entry is a path (`/physics/`) or a URL (`https://example.org/physics/`) and applies to all
//!   URLs at or below it. The *longest* path that matches wins; among equals, the one that names its host.
//! - In a **file**, a line is a pattern with the syntax of Git hosts (`*.css`, `/docs/`, `apps/**/figures/`), or a URL.
//!   The *last* line that matches wins, even if it assigns no owner.
//!
//! The table takes precedence, since it is part of the task file. A rule without a host applies only to the sites on
//! which tasks begin. Otherwise a task for `physics` would extend to every other site that has a directory of this
//! name.

use std::borrow::Cow;
use std::collections::HashSet;

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};
use percent_encoding::percent_decode_str;
use url::Url;

use super::error::{Note, shown};
use super::prefix::{Prefixes, key, path_of, plain};
use super::{OwnerRule, Plan, SaidIn, values};

/// The rules of a plan cannot be used together.
#[derive(Debug, thiserror::Error)]
#[error("too many or too long owner patterns")]
pub struct OwnersError(#[from] globset::Error);

/// The owner rules of a plan, prepared for a lookup of every document.
#[derive(Clone, Debug, Default)]
pub struct Owners {
    rules: Vec<Ranked>,
    /// Rules with a host, by key.
    urls: Prefixes<usize>,
    /// Rules that are plain paths.
    paths: Prefixes<usize>,
    /// Patterns, and the rule of each in `globbed`.
    globs: GlobSet,
    globbed: Vec<usize>,
    /// The sites to which rules without a host apply: `host[:port]`.
    sites: HashSet<Box<str>>,
}

/// A rule, with its precedence.
#[derive(Clone, Debug)]
struct Ranked {
    owner: Option<Box<str>>,
    rank: Rank,
}

/// The precedence of a rule; the greatest wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// The number of the line.
    File(usize),
    /// The length of the path, and true if the rule has a host.
    Table(usize, bool),
}

/// The parsed form of a pattern.
enum Form {
    Url(String),
    Path(String),
    Globs(Vec<Glob>),
}

impl Owners {
    /// Prepares the rules of a plan.
    pub fn new(plan: &Plan) -> Result<Self, OwnersError> {
        let (mut urls, mut paths, mut globs, mut globbed) = (Vec::new(), Vec::new(), GlobSetBuilder::new(), Vec::new());
        let mut rules = Vec::with_capacity(plan.owners.len());
        for (index, rule) in plan.owners.iter().enumerate() {
            let mut length = 0;
            let mut has_host = false;
            match form(&rule.pattern)? {
                Form::Url(prefix) => {
                    (length, has_host) = (path_of(&prefix).len(), true);
                    urls.push((prefix, index));
                }
                Form::Path(prefix) => {
                    length = prefix.len();
                    paths.push((prefix, index));
                }
                Form::Globs(each) => {
                    for glob in each {
                        globs.add(glob);
                        globbed.push(index);
                    }
                }
            }
            let rank = match rule.said_in {
                SaidIn::Table => Rank::Table(length, has_host),
                SaidIn::File => Rank::File(index),
            };
            rules.push(Ranked { owner: rule.owner.as_deref().map(Into::into), rank });
        }
        let sites = plan.tasks.iter().filter_map(|task| Some(host_of(&key(task.top.as_str())?).into())).collect();
        Ok(Self {
            rules,
            urls: Prefixes::new(urls),
            paths: Prefixes::new(paths),
            globs: globs.build()?,
            globbed,
            sites,
        })
    }

    /// Returns the owner of a URL, if one is known.
    pub fn of(&self, url: &Url) -> Option<&str> {
        if self.rules.is_empty() {
            return None;
        }
        let key = key(url.as_str())?;
        let path = path_of(&key);
        let mut best: Option<&Ranked> = None;
        let mut consider = |index: usize| {
            let rule = &self.rules[index];
            best = Some(best.filter(|best| best.rank > rule.rank).unwrap_or(rule));
        };
        at_or_below(&self.urls, &key).for_each(&mut consider);
        if self.sites.contains(host_of(&key)) {
            at_or_below(&self.paths, path).for_each(&mut consider);
            if !self.globs.is_empty() {
                let path = percent_decode_str(url.path()).decode_utf8_lossy();
                let found = self.globs.matches(path.trim_start_matches('/'));
                found.into_iter().map(|at| self.globbed[at]).for_each(&mut consider);
            }
        }
        best?.owner.as_deref()
    }
}

/// Returns true if two names mean the same owner: `@Physics` is physics.
pub(super) fn same_owner(one: &str, other: &str) -> bool {
    folded_owner(one) == folded_owner(other)
}

/// Returns the name of an owner in the form for comparisons: without case, and without `@`.
pub(crate) fn folded_owner(name: &str) -> String {
    name.trim().trim_start_matches('@').to_lowercase()
}

fn host_of(key: &str) -> &str {
    key.split('/').next().unwrap_or_default()
}

/// Returns the rules for places that `text` is at or below: `/physics` matches `/physics/a`, and not `/physics2`.
fn at_or_below<'a>(prefixes: &'a Prefixes<usize>, text: &'a str) -> impl Iterator<Item = usize> + 'a {
    let ends_there = move |prefix: &str| match text.as_bytes().get(prefix.len()) {
        Some(next) => prefix.ends_with('/') || b"/?".contains(next),
        None => true,
    };
    prefixes.of(text).filter(move |(prefix, _)| ends_there(prefix)).map(|(_, index)| *index)
}

/// Parses a pattern. A pattern that is not a URL has the syntax of Git hosts.
fn form(pattern: &str) -> Result<Form, globset::Error> {
    if pattern.starts_with("http://") || pattern.starts_with("https://") {
        return Ok(Form::Url(key(pattern).map_or_else(|| pattern.to_owned(), Cow::into_owned)));
    }
    let body = pattern.trim_matches('/');
    let is_anchored = pattern.starts_with('/') || body.contains('/');
    if is_anchored && !body.contains(['*', '?']) {
        let mut url = Url::parse("http://h/").expect("it is a URL");
        url.set_path(pattern);
        return Ok(Form::Path(plain(url.path()).into_owned()));
    }
    let anywhere = if is_anchored { "" } else { "**/" };
    // Git hosts treat brackets and braces as literal characters, or do not support them.
    let escaped: String =
        body.chars().flat_map(|c| "[]{}\\".contains(c).then_some('\\').into_iter().chain([c])).collect();
    let glob = |text: String| GlobBuilder::new(&text).literal_separator(true).backslash_escape(true).build();
    let below = glob(format!("{anywhere}{escaped}/**"))?;
    if pattern.ends_with('/') {
        return Ok(Form::Globs(vec![below]));
    }
    let itself = glob(format!("{anywhere}{escaped}"))?;
    // `docs/*` matches entries of docs, and not those of its subdirectories.
    let only_itself = is_anchored && body.ends_with("/*");
    Ok(Form::Globs(if only_itself { vec![itself] } else { vec![itself, below] }))
}

/// The contents of an owners file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct OwnersFile {
    pub(super) rules: Vec<OwnerRule>,
    pub(super) people: Vec<(String, Vec<String>)>,
    pub(super) remarks: Vec<Note>,
}

/// Parses a file in the format of CODEOWNERS. It may have been written for another program, so an invalid line is
/// reported in a remark and ignored.
pub(super) fn parse_owners(text: &str) -> OwnersFile {
    let mut file = OwnersFile::default();
    let mut has_more_owners = false;
    for (index, line) in text.lines().enumerate() {
        let (number, line) = (index + 1, line.trim());
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let mut remark = |what: String| file.remarks.push(Note::new(number, what));
        if line.starts_with('[') || line.starts_with("^[") {
            remark("sections are ignored: all lines are read as one list".to_owned());
            continue;
        }
        let mut words = words(line).into_iter();
        let pattern = match pattern(words.next().unwrap_or_default()) {
            Ok(pattern) => pattern,
            Err(problem) => {
                remark(format!("{problem}; ignoring the line"));
                continue;
            }
        };
        let named: Vec<String> = words.take_while(|word| !word.starts_with('#')).collect();
        let (mut addresses, mut owners): (Vec<&String>, Vec<&String>) = (Vec::new(), Vec::new());
        for word in &named {
            let is_address = !word.starts_with('@') && word.contains('@');
            if is_address { addresses.push(word) } else { owners.push(word) }
        }
        // An owner with only an address has the address as its name.
        let owner = owners.first().or(addresses.first()).map(|word| values::owner(word));
        let owner = match owner.transpose() {
            Ok(owner) => owner,
            Err(problem) => {
                remark(format!("an owner {problem}; ignoring the line"));
                continue;
            }
        };
        if owners.len() > 1 && !has_more_owners {
            remark(
                "only the first owner of a line is used; addresses after it are the mail addresses of that owner"
                    .to_owned(),
            );
            has_more_owners = true;
        }
        if let Some(owner) = &owner {
            let (good, odd): (Vec<_>, Vec<_>) =
                addresses.iter().map(|word| values::address(word)).partition(Result::is_ok);
            odd.into_iter().filter_map(Result::err).for_each(|problem| remark(format!("an owner {problem}")));
            add_person(&mut file.people, owner, good.into_iter().flatten());
        }
        file.rules.push(OwnerRule { pattern, owner, said_in: SaidIn::File });
    }
    file
}

/// Adds addresses of an owner, who may have some already.
fn add_person(people: &mut Vec<(String, Vec<String>)>, owner: &str, addresses: impl Iterator<Item = String>) {
    for address in addresses {
        match people.iter_mut().find(|(known, _)| same_owner(known, owner)) {
            Some((_, known)) if known.contains(&address) => {}
            Some((_, known)) => known.push(address),
            None => people.push((owner.to_owned(), vec![address])),
        }
    }
}

/// Splits a line into words; a blank after a backslash is part of its word.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut is_escaped = false;
    for c in line.chars() {
        let word = words.last_mut().expect("there is always one");
        match c {
            c if is_escaped => {
                // Before anything but a blank, a backslash is an ordinary character.
                word.extend(Some('\\').filter(|_| !c.is_whitespace()));
                word.push(c);
                is_escaped = false;
            }
            '\\' => is_escaped = true,
            c if c.is_whitespace() => words.push(String::new()),
            c => word.push(c),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Returns a pattern of a file, if it is valid.
fn pattern(text: String) -> Result<String, String> {
    const LONGEST: usize = 1000;
    let pattern = match text.starts_with("http://") || text.starts_with("https://") {
        true => values::prefix(&text).map_err(|problem| format!("a pattern {problem}"))?,
        false if text.starts_with('!') => return Err("exceptions (!) are not supported in owners files".to_owned()),
        false => text,
    };
    if pattern.trim_matches('/').is_empty() && pattern != "/" || pattern.len() > LONGEST || form(&pattern).is_err() {
        return Err(format!("invalid pattern '{}'", shown(&pattern)));
    }
    Ok(pattern)
}

#[cfg(test)]
mod tests;
