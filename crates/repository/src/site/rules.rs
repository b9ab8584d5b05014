//! Decides which files are hidden: the same for the site and for the repository.

use super::name;
use super::pattern::{PatternError, Patterns};

/// The pattern that shows names that begin with a dot. Without it they are hidden, whichever patterns there are: a list
/// of one's own must not publish `.htpasswd`.
const SHOW_DOTFILES: &str = "!.*";

/// Compiles the patterns of ignored paths; the result is true if names that begin with a dot are shown.
pub fn ignored(patterns: &[String]) -> Result<(Patterns, bool), PatternError> {
    let (exception, patterns): (Vec<_>, Vec<_>) = patterns.iter().cloned().partition(|it| it == SHOW_DOTFILES);
    Ok((Patterns::new(&patterns)?, !exception.is_empty()))
}

/// Decides on hidden names.
#[derive(Debug)]
pub struct Rules {
    ignored: Patterns,
    withheld: Patterns,
    show_dotfiles: bool,
    reserved: Vec<Vec<Vec<u8>>>,
}

impl Rules {
    /// Builds rules from patterns and the URL paths that the server itself handles.
    pub fn new(ignore: &[String], reserved: &[&str]) -> Result<Self, PatternError> {
        let reserved = reserved.iter().filter_map(|path| name::decode(path.trim_matches('/'))).collect();
        let (ignored, show_dotfiles) = ignored(ignore)?;
        Ok(Self { ignored, withheld: Patterns::default(), show_dotfiles, reserved })
    }

    /// Also hides paths that match these patterns, regardless of case: files that another web server would not send
    /// unprocessed.
    pub fn withholding(self, patterns: &[String]) -> Result<Self, PatternError> {
        Ok(Self { withheld: Patterns::in_any_case(patterns)?, ..self })
    }

    /// Returns true if a path is shown, including every directory in it.
    pub fn shows(&self, segments: &[Vec<u8>]) -> bool {
        (1..=segments.len()).all(|depth| self.shows_last(&segments[..depth]))
    }

    /// Returns true if the last segment of a path is shown, provided that its parent directories are.
    pub fn shows_last(&self, segments: &[Vec<u8>]) -> bool {
        let Some(last) = segments.last() else { return true };
        let dotted = last.starts_with(b".") && !self.show_dotfiles;
        let well_known = segments.len() == 1 && last == b".well-known";
        let hidden = || self.ignored.match_path(segments) || self.withheld.match_path(segments);
        (!dotted || well_known) && !hidden() && !self.reserved.iter().any(|reserved| reserved == segments)
    }

    /// Returns true if the last segment of a path is withheld because of its name, and not ignored: used for counting
    /// hidden files.
    pub fn withholds_last(&self, segments: &[Vec<u8>]) -> bool {
        self.withheld.match_path(segments) && !self.ignored.match_path(segments)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_is_what_the_patterns_dots_and_reserved_paths_say() {
        let ignore = ["*~", "CVS", "/drafts/*.html", "deep/**/x"].map(str::to_owned);
        let rules = Rules::new(&ignore, &["/modoai", "/healthz"]).expect("good globs");
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

    #[test]
    fn what_looks_like_code_keys_or_backups_is_withheld_by_default() {
        let mut settings = super::super::SiteSettings::default();
        settings.ignore.push(SHOW_DOTFILES.to_owned());
        let rules = Rules::new(&settings.ignore, &[]).expect("good globs");
        let rules = rules.withholding(&settings.withhold).expect("good globs");
        let path = |text: &str| name::decode(text).expect("a path");
        for withheld in [
            "index.php",
            "a/b/INDEX.PHP",
            "x.php5",
            "x.phtml",
            "config.inc",
            "run.cgi",
            "cgi-bin/run",
            "a.asp",
            "a.aspx",
            "a.jsp",
            "a.jspx",
            "page.shtml",
            ".env",
            ".env.production",
            "prod.env",
            "id_rsa",
            "keys/ID_RSA",
            "server.pem",
            "server.key",
            ".htpasswd",
            "users.htpasswd",
            ".ssh/authorized_keys",
            "web.config",
            "php.ini",
            "data.sqlite",
            "data.sqlite3",
            "data.sqlite-wal",
            "app.db",
            "dump.sql",
            "dump.sql.gz",
            "page.html.bak",
            "page.html.old",
            "page.html.orig",
            ".git/config",
            "sub/.git",
            ".gitignore",
            ".svn/entries",
            ".bash_history",
        ] {
            let segments = path(withheld);
            assert!(!rules.shows(&segments), "{withheld}");
            let counted = (1..=segments.len()).any(|depth| rules.withholds_last(&segments[..depth]));
            assert!(counted, "{withheld} is hidden, but not counted");
        }
        // The names in the IndexIgnore of Debian's httpd, and files that editors leave.
        for ignored in ["a~", "a#", "#a#", "RCS/a,v", "CVS/Root", "a,v", "a,t", ".a.swp", "Thumbs.db"] {
            let segments = path(ignored);
            assert!(!rules.shows(&segments), "{ignored}");
            assert!(!rules.withholds_last(&segments[..1]), "{ignored}");
        }
        for shown in [
            "index.html",
            "htpasswd.html",
            "id_rsa.pub",
            "php.html",
            "sqlite.html",
            "art_history/a.html",
            "a.aspect.html",
            "index.php.html",
            "key.txt",
            "environment.html",
            ".well-known/security.txt",
            "robots.txt",
            "a.py",
            "a.xml",
            "a.json",
            "data.csv",
        ] {
            assert!(rules.shows(&path(shown)), "{shown}");
        }
    }
}
