//! What is hidden: the same for the site and for the repository.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use super::name;

/// Decides on hidden names.
#[derive(Debug)]
pub struct Rules {
    names: GlobSet,
    paths: GlobSet,
    show_dotfiles: bool,
    reserved: Vec<Vec<Vec<u8>>>,
}

impl Rules {
    /// From glob patterns and the URL paths that the server itself answers.
    pub fn new(ignore: &[String], show_dotfiles: bool, reserved: &[&str]) -> Result<Self, globset::Error> {
        let (paths, names): (Vec<&String>, Vec<&String>) = ignore.iter().partition(|pattern| pattern.contains('/'));
        let reserved = reserved.iter().filter_map(|path| name::decode(path.trim_matches('/'))).collect();
        Ok(Self { names: globs(&names)?, paths: globs(&paths)?, show_dotfiles, reserved })
    }

    /// Whether a path is shown, judging every folder on the way.
    pub fn shows(&self, segments: &[Vec<u8>]) -> bool {
        (1..=segments.len()).all(|depth| self.shows_last(&segments[..depth]))
    }

    /// Whether the last segment of a path is shown, given that the folders before it are.
    pub fn shows_last(&self, segments: &[Vec<u8>]) -> bool {
        let Some(last) = segments.last() else { return true };
        let dotted = last.starts_with(b".") && !self.show_dotfiles;
        let well_known = segments.len() == 1 && last == b".well-known";
        let ignored = || {
            let path = || OsStr::from_bytes(&segments.join(&b'/')).to_owned();
            self.names.is_match(OsStr::from_bytes(last)) || (!self.paths.is_empty() && self.paths.is_match(path()))
        };
        (!dotted || well_known) && !ignored() && !self.reserved.iter().any(|reserved| reserved == segments)
    }
}

fn globs(patterns: &[&String]) -> Result<GlobSet, globset::Error> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        // Only `**` crosses folders, as in every other tool with such patterns.
        set.add(GlobBuilder::new(pattern.trim_matches('/')).literal_separator(true).build()?);
    }
    set.build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_is_what_the_patterns_dots_and_reserved_paths_say() {
        let ignore = ["*~", "CVS", "/drafts/*.html", "deep/**/x"].map(str::to_owned);
        let rules = Rules::new(&ignore, false, &["/modoai", "/healthz"]).expect("good globs");
        let shows = |path: &str| rules.shows(&name::decode(path).expect("a path"));
        for shown in
            ["a", "a/b", ".well-known/x", "drafts/a.txt", "drafts/a/b.html", "modoai.html", "a/modoai", "", "deep/y"]
        {
            assert!(shows(shown), "{shown}");
        }
        for hidden in [
            ".git/config",
            "a/.b/c",
            "a/.well-known",
            ".htpasswd",
            "a~",
            "b/a~",
            "a~/b",
            "CVS/Root",
            "x/CVS",
            "drafts/a.html",
            "modoai",
            "modoai/http_header.xsd",
            "healthz",
            "deep/x",
            "deep/a/b/x",
        ] {
            assert!(!shows(hidden), "{hidden}");
        }
    }
}
