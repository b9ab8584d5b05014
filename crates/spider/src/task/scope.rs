//! Decides whether a document belongs to a task. It runs for every link of every page, so everything possible is
//! computed once.

use url::Url;

use super::owners::same_owner;
use super::prefix::{Prefixes, key};
use super::{Scope, Task};

/// The relation of a document to a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scoping {
    /// Inside: it is read, and its links are followed.
    Inside,
    /// Outside: it is tested, and its links are not followed.
    Outside,
    /// Unknown: it depends on the owner, which only the document itself names.
    Ask,
    /// The same, on a host that no task names.
    AskElsewhere,
}

/// The bounds of one task, prepared for a lookup of every link.
#[derive(Clone, Debug)]
pub struct Scoper {
    /// The top, which always belongs to the task.
    top: Box<str>,
    /// The prefix of URLs within bounds: the site, or the directory of the top.
    within: Box<str>,
    /// The owner, if only documents of one owner belong to the task.
    owner: Option<Box<str>>,
    /// True if documents on other hosts may be the owner's.
    any_host: bool,
    exclude: Prefixes<()>,
}

impl Scoper {
    /// Prepares the bounds of a task.
    pub fn new(task: &Task) -> Self {
        let top = key(task.top.as_str()).unwrap_or_default();
        let end = match task.scope {
            Scope::Site | Scope::Owner => top.find('/'),
            // A query after the path may contain slashes, too.
            Scope::Tree => top.split('?').next().and_then(|path| path.rfind('/')),
        };
        let within = &top[..end.map_or(top.len(), |slash| slash + 1)];
        let exclude = task.exclude.iter().filter_map(|prefix| Some((key(prefix)?.into_owned(), ())));
        Self {
            within: within.into(),
            owner: (task.scope == Scope::Owner).then(|| task.name.as_str().into()),
            any_host: task.any_host,
            exclude: Prefixes::new(exclude),
            top: top.into(),
        }
    }

    /// Returns the relation of a document to the task; `owner` is its owner, if known. http and https on their default
    /// ports are one site.
    pub fn scoping(&self, url: &Url, owner: Option<&str>) -> Scoping {
        let Some(key) = key(url.as_str()) else { return Scoping::Outside };
        if *key == *self.top {
            return Scoping::Inside;
        }
        if !self.exclude.is_empty() && self.exclude.of(&key).next().is_some() {
            return Scoping::Outside;
        }
        let is_within = key.starts_with(&*self.within);
        match (&self.owner, owner) {
            (None, _) if is_within => Scoping::Inside,
            (Some(ours), Some(theirs)) if same_owner(ours, theirs) => Scoping::Inside,
            (Some(_), None) if is_within => Scoping::Ask,
            (Some(_), None) if self.any_host => Scoping::AskElsewhere,
            _ => Scoping::Outside,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).expect("a URL")
    }

    fn expect(task: &Task, cases: &[(&str, Option<&str>, Scoping)]) {
        let scoper = Scoper::new(task);
        for (text, owner, expected) in cases {
            assert_eq!(scoper.scoping(&url(text), *owner), *expected, "{text} of {owner:?}");
        }
    }

    #[test]
    fn a_site_is_a_host_and_a_port_by_http_or_https() {
        let mut task = Task::new("a", Scope::Site, url("http://h/x/top.html"));
        task.exclude = vec!["http://h/old".to_owned(), "http://h/x/top.html".to_owned()];
        expect(
            &task,
            &[
                ("http://h/", None, Scoping::Inside),
                ("https://h:443/y", None, Scoping::Inside),
                ("http://h:8080/", None, Scoping::Outside),
                ("http://h.evil/", None, Scoping::Outside),
                ("http://sub.h/", None, Scoping::Outside),
                ("http://h@evil/", None, Scoping::Outside),
                ("mailto:a@h", None, Scoping::Outside),
                ("https://h/older/a", None, Scoping::Outside),
                ("http://h/x/top.html", None, Scoping::Inside),
            ],
        );
    }

    #[test]
    fn a_tree_is_the_folder_of_its_top() {
        let task = Task::new("a", Scope::Tree, url("http://h/~a/b/top.html?c=/d/"));
        expect(
            &task,
            &[
                ("http://h/~a/b/", None, Scoping::Inside),
                ("https://h/%7Ea/b/c/d.html", None, Scoping::Inside),
                ("http://h/~a/b/top.html?c=/d/", None, Scoping::Inside),
                ("http://h/~a/b", None, Scoping::Outside),
                ("http://h/~a/", None, Scoping::Outside),
                ("http://h/~a/b2/", None, Scoping::Outside),
                ("http://o/~a/b/", None, Scoping::Outside),
            ],
        );
        let whole = Task::new("a", Scope::Tree, url("http://h"));
        expect(&whole, &[("http://h/any/where", None, Scoping::Inside)]);
    }

    #[test]
    fn an_owner_is_asked_for_on_the_site_of_the_top() {
        let task = Task::new("RTF", Scope::Owner, url("http://h/~f/hotlist.html"));
        expect(
            &task,
            &[
                ("http://h/~f/hotlist.html", Some("somebody else"), Scoping::Inside),
                ("http://h/x", None, Scoping::Ask),
                ("http://h/x", Some("rtf"), Scoping::Inside),
                ("http://h/x", Some("XYZ"), Scoping::Outside),
                ("http://o/x", None, Scoping::AskElsewhere),
                ("http://o/x", Some("RTF"), Scoping::Inside),
                ("http://o/x", Some("XYZ"), Scoping::Outside),
            ],
        );
        let same = Task { any_host: false, ..task };
        expect(&same, &[("http://o/x", None, Scoping::Outside), ("http://o/x", Some("RTF"), Scoping::Inside)]);
    }
}
