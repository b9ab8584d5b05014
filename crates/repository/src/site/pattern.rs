//! Patterns of paths, as settings contain them: globs and regular expressions.
//!
//! A glob without a slash matches a name in any directory, one with a slash a path from the root. `re:` begins a
//! regular expression, which is searched for in the path from the root with its leading slash: `re:^/(drafts|old)/`. A
//! pattern that matches a directory covers everything in it.
//!
//! A pattern that cannot match any path is an error. If it were accepted, it would publish the files that it was meant
//! to hide.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt as _;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use regex_automata::hybrid::dfa::DFA;
use regex_automata::meta::Regex;
use regex_automata::util::{start, syntax};

/// The prefix of a regular expression.
pub const EXPRESSION: &str = "re:";

/// Compiled patterns. Two are equal if they were written identically.
#[derive(Clone, Default)]
pub struct Patterns {
    texts: Vec<String>,
    names: GlobSet,
    paths: GlobSet,
    expressions: Option<Regex>,
    in_any_case: bool,
}

impl fmt::Debug for Patterns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Patterns").field(&self.texts).finish()
    }
}

impl PartialEq for Patterns {
    fn eq(&self, other: &Self) -> bool {
        (&self.texts, self.in_any_case) == (&other.texts, other.in_any_case)
    }
}

impl Eq for Patterns {}

/// A pattern that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("has '{pattern}', which {problem}")]
pub struct PatternError {
    /// The pattern in the settings.
    pub pattern: String,
    /// The reason.
    pub problem: String,
}

impl Patterns {
    /// Compiles patterns that distinguish upper and lower case.
    pub fn new(patterns: &[String]) -> Result<Self, PatternError> {
        Self::compile(patterns, false)
    }

    /// Compiles patterns that do not distinguish upper and lower case.
    pub fn in_any_case(patterns: &[String]) -> Result<Self, PatternError> {
        Self::compile(patterns, true)
    }

    fn compile(patterns: &[String], in_any_case: bool) -> Result<Self, PatternError> {
        let (mut names, mut paths) = (GlobSetBuilder::new(), GlobSetBuilder::new());
        let mut expressions = Vec::new();
        // A file name can contain a line feed.
        let syntax = syntax::Config::new().dot_matches_new_line(true).case_insensitive(in_any_case);
        for pattern in patterns {
            let refuse = |problem: String| PatternError { pattern: pattern.clone(), problem };
            if let Some(expression) = pattern.strip_prefix(EXPRESSION) {
                check_expression(expression, syntax).map_err(refuse)?;
                expressions.push(expression);
                continue;
            }
            check_glob(pattern).map_err(refuse)?;
            let is_path = pattern.contains('/');
            let glob = pattern.trim_matches('/');
            let glob = if in_any_case { Cow::Owned(glob.to_ascii_lowercase()) } else { Cow::Borrowed(glob) };
            // In a path only `**` crosses directories, as in other tools with such patterns. A name has no slash;
            // without the rule, the library looks up `*.html` by its extension.
            let glob = GlobBuilder::new(&glob).literal_separator(is_path).build();
            let glob = glob.map_err(|error| refuse(format!("is not a pattern: {}", error.kind())))?;
            if is_path { &mut paths } else { &mut names }.add(glob);
        }
        let refuse = |problem: String| PatternError { pattern: patterns.join("', '"), problem };
        let too_large = |error: globset::Error| refuse(format!("cannot be compiled together: {error}"));
        let (names, paths) = (names.build().map_err(too_large)?, paths.build().map_err(too_large)?);
        let expressions = match expressions.as_slice() {
            [] => None,
            several => {
                let compiled = Regex::builder().syntax(syntax).build_many(several);
                Some(compiled.map_err(|error| refuse(format!("cannot be compiled together: {error}")))?)
            }
        };
        Ok(Self { texts: patterns.to_vec(), names, paths, expressions, in_any_case })
    }

    /// Returns the patterns as written.
    pub fn texts(&self) -> &[String] {
        &self.texts
    }

    /// Returns true if it contains no pattern.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Returns true if a pattern matches the path or one of its parent directories.
    pub fn cover(&self, segments: &[Vec<u8>]) -> bool {
        !self.is_empty() && (1..=segments.len()).any(|depth| self.match_path(&segments[..depth]))
    }

    /// Returns true if a pattern matches the path itself, or its last name.
    pub fn match_path(&self, segments: &[Vec<u8>]) -> bool {
        let Some(last) = segments.last() else { return false };
        // In lower case here: globs that ignore case would all be compared as regular expressions.
        let cased = |text: &mut Vec<u8>| {
            if self.in_any_case {
                text.make_ascii_lowercase();
            }
        };
        let mut last = Cow::Borrowed(last);
        if self.in_any_case {
            cased(last.to_mut());
        }
        if self.names.is_match(OsStr::from_bytes(&last)) {
            return true;
        }
        if self.paths.is_empty() && self.expressions.is_none() {
            return false;
        }
        let mut path = vec![b'/'];
        path.extend(segments.join(&b'/'));
        // Bytes that are not UTF-8 become U+FFFD, so that `.` matches them.
        let is_match = |expressions: &Regex| expressions.is_match(&*String::from_utf8_lossy(&path));
        if self.expressions.as_ref().is_some_and(is_match) {
            return true;
        }
        cased(&mut path);
        self.paths.is_match(OsStr::from_bytes(&path[1..]))
    }
}

/// Returns the reason why a regular expression cannot be used.
fn check_expression(expression: &str, syntax: syntax::Config) -> Result<(), String> {
    if expression.is_empty() {
        return Err("is an empty regular expression, which matches every path".to_owned());
    }
    Regex::builder().syntax(syntax).build(expression).map_err(|error| {
        let cause = error.syntax_error().map_or_else(|| error.to_string(), ToString::to_string);
        format!("is not a regular expression: {cause}")
    })?;
    // Every path begins with a slash. If the automaton is in a dead state after the slash, it never matches.
    let Ok(automaton) = DFA::builder().syntax(syntax).build(expression) else { return Ok(()) };
    let mut cache = automaton.create_cache();
    let state = automaton.start_state(&mut cache, &start::Config::new());
    let after_slash = state.ok().and_then(|state| automaton.next_state(&mut cache, state, b'/').ok());
    if after_slash.is_some_and(|state| state.is_dead()) {
        return Err("matches no path: a path begins with a slash, such as /docs/a.html".to_owned());
    }
    Ok(())
}

/// Returns the reason why a glob matches no path, or hardly any intended one.
fn check_glob(glob: &str) -> Result<(), String> {
    let path = glob.trim_matches('/');
    if path.is_empty() {
        return Err("matches no file or directory".to_owned());
    }
    if path.contains("://") {
        return Err("matches no path: leave out the scheme and the host".to_owned());
    }
    if path.split('/').any(|segment| matches!(segment, "" | "." | "..")) {
        return Err("matches no path: no directory or file is named '', '.' or '..'".to_owned());
    }
    if looks_like_expression(path) {
        return Err(format!(
            "looks like a regular expression: write '{EXPRESSION}{glob}' for one; in a glob, put special characters of file \
             names in brackets, such as [|]"
        ));
    }
    Ok(())
}

/// Returns true if a glob contains syntax of regular expressions that is rare in file names: `|`, `.+`, `\.` or `\d`,
/// `^` as the first character or `$` as the last.
fn looks_like_expression(glob: &str) -> bool {
    let (mut in_class, mut before) = (false, ' ');
    let mut characters = glob.chars();
    while let Some(character) = characters.next() {
        let is_special = match character {
            '\\' => characters.next().is_some_and(|escaped| escaped == '.' || escaped.is_ascii_alphanumeric()),
            '|' => !in_class,
            '+' => !in_class && before == '.',
            _ => false,
        };
        if is_special {
            return true;
        }
        in_class = (in_class || character == '[') && character != ']';
        before = character;
    }
    glob.starts_with('^') || (before == '$' && !in_class)
}

#[cfg(test)]
mod tests {
    use super::super::name;
    use super::*;

    fn patterns(texts: &[&str]) -> Result<Patterns, PatternError> {
        Patterns::new(&texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>())
    }

    fn path(text: &str) -> Vec<Vec<u8>> {
        name::decode(text).expect("a path")
    }

    #[test]
    fn an_expression_is_searched_for_in_the_path_from_the_root() {
        let patterns = patterns(&[r"re:^/(drafts|old)/", r"re:\.(aux|log)$", "*.tmp"]).expect("good patterns");
        for covered in ["drafts/a.html", "old/x/y", "a/b/paper.aux", "x.log", "x.log/deep/a", "a/b.tmp", "b.tmp/a"] {
            assert!(patterns.cover(&path(covered)), "{covered}");
        }
        for other in ["drafts", "a/drafts/b", "older/x", "xlog", "x.LOG", "", "a.html"] {
            assert!(!patterns.cover(&path(other)), "{other}");
        }
        let patterns = Patterns::in_any_case(&[r"re:\.BAK$".to_owned(), "/Old/*".to_owned()]).expect("good patterns");
        assert!(patterns.cover(&path("x.bak")) && patterns.cover(&path("x.Bak")) && patterns.cover(&path("oLD/x")));
    }

    #[test]
    fn no_name_evades_an_expression_by_its_bytes() {
        let patterns = patterns(&["re:^/a.+z$"]).expect("a good pattern");
        for name in [&b"a\xe4z"[..], b"a\nz", b"a\r\nz", b"a\xff\xfez", "a\u{202e}z".as_bytes()] {
            assert!(patterns.match_path(&[name.to_vec()]), "{name:?}");
        }
    }

    #[test]
    fn a_pattern_that_cannot_match_is_refused_with_the_reason() {
        for (pattern, reason) in [
            ("/(a|ok).*/", "'re:/(a|ok).*/'"),
            (r".*\.bak", "regular expression"),
            ("^drafts", "regular expression"),
            ("*.html$", "regular expression"),
            ("drafts/.+", "regular expression"),
            (r"chapter\d", "regular expression"),
            ("", "no file"),
            ("/", "no file"),
            ("a//b", "no path"),
            ("../a", "no path"),
            ("./a", "no path"),
            ("https://example.org/drafts", "leave out the scheme"),
            ("[", "unclosed"),
            ("re:", "every path"),
            ("re:(", "unclosed group"),
            ("re:(?=a)", "look-around"),
            ("re:^drafts/", "begins with a slash"),
        ] {
            let error = patterns(&[pattern]).expect_err(pattern);
            assert_eq!(error.pattern, pattern);
            assert!(error.problem.contains(reason), "{error}");
        }
        for fine in [
            "a(1).txt",
            "C++",
            "$RECYCLE.BIN",
            "a[|]b",
            r"a\|b",
            "*[$]",
            "wp-config.*",
            "{a,b}",
            "a.[+]",
            "/a/",
            "**/x",
            "re:a",
            "re:^/$",
            "re:^.drafts",
            r"re:\bx",
            "*~",
            "*#",
            "*,v",
        ] {
            patterns(&[fine]).expect(fine);
        }
    }
}
