//! Determines the path of a resource in a mirror.
//!
//! A mirror has the directories of the site: `http://HOST/a/b.html` is stored in `a/b.html`, and file names are the
//! bytes that the URL's escapes represent. URLs of other hosts are below a directory with the name of the host. Names
//! are untrusted: a name that could leave the directory, could not be a file, or is treated specially by programs
//! (`special`) is refused with a reason, never changed into another name. Two exceptions are escaped: the device names
//! of Windows, because a mirror may be copied there; and a file `HEAD`, because git treats a directory with this file
//! as a repository.

use modoai_fetch::{is_invisible, is_joiner};
use percent_encoding::percent_decode_str;

use crate::sink::NOT_WRITTEN;
use crate::state::OWN_FOLDER;

/// Longest name and path that Linux and most other systems support.
const LONGEST_NAME: usize = 255;
const LONGEST_PATH: usize = 4095;

/// The names of directories from the mirror's root, and that of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Path(Vec<Vec<u8>>);

impl Path {
    /// Returns the directories, from the root.
    pub(super) fn folders(&self) -> &[Vec<u8>] {
        self.0.split_last().map_or(&[], |(_, folders)| folders)
    }

    /// Returns the name of the file.
    pub(super) fn name(&self) -> &[u8] {
        self.0.last().map_or(&[], Vec::as_slice)
    }

    /// Returns the names separated by slashes: unambiguous, because no name contains one.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        self.0.join(&b'/')
    }

    /// Parses the result of [`Path::to_bytes`]; `None` if it cannot be one.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Self::checked(bytes.split(|byte| *byte == b'/').map(<[u8]>::to_vec).collect()).ok()
    }

    /// Returns the path as text for messages.
    pub(super) fn display(&self) -> String {
        String::from_utf8_lossy(&self.to_bytes()).into_owned()
    }

    fn checked(names: Vec<Vec<u8>>) -> Result<Self, &'static str> {
        for name in &names {
            match name.as_slice() {
                b"" => return Err("its path has an empty segment"),
                b"." | b".." => return Err("its path has a segment of dots"),
                name if name.contains(&0) => return Err("its path contains a NUL character"),
                name if name.contains(&b'/') => return Err("its path contains an escaped slash"),
                name if name.len() > LONGEST_NAME => return Err("a name in its path is too long for a file name"),
                _ => {}
            }
        }
        let first = names.first().ok_or("it has no path")?;
        // Some file systems do not distinguish these.
        if first.trim_ascii_end().trim_suffix_dots().eq_ignore_ascii_case(OWN_FOLDER.as_bytes()) {
            return Err("its path is reserved for the mirror");
        }
        if names.iter().map(|name| name.len() + 1).sum::<usize>() > LONGEST_PATH {
            return Err("its path is too long for a file name");
        }
        Ok(Self(names))
    }
}

trait TrimDots {
    fn trim_suffix_dots(&self) -> &[u8];
}

impl TrimDots for [u8] {
    fn trim_suffix_dots(&self) -> &[u8] {
        let end = self.iter().rposition(|byte| *byte != b'.').map_or(0, |last| last + 1);
        &self[..end]
    }
}

/// A URL of the web, split without resolving anything: a path that leads upwards is to be refused, not followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WebUrl<'a> {
    host: String,
    path: &'a str,
    query: Option<&'a str>,
    fragment: Option<&'a str>,
}

impl<'a> WebUrl<'a> {
    /// Returns `None` if the text is not such a URL.
    pub(super) fn split(url: &'a str) -> Option<Self> {
        let (scheme, rest) = url.split_once("://")?;
        let port = match scheme.to_ascii_lowercase().as_str() {
            "http" => ":80",
            "https" => ":443",
            _ => return None,
        };
        let parted =
            |text: &'a str, sign| text.split_once(sign).map_or((text, None), |(one, other)| (one, Some(other)));
        let (rest, fragment) = parted(rest, '#');
        let (rest, query) = parted(rest, '?');
        let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let host = host.to_ascii_lowercase();
        let host = host.strip_suffix(port).map(str::to_owned).unwrap_or(host);
        let legal = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:[]".contains(&byte);
        (!host.is_empty() && host.bytes().all(legal)).then_some(Self { host, path, query, fragment })
    }

    fn folder(&self) -> &'a str {
        &self.path[..self.path.rfind('/').map_or(0, |slash| slash + 1)]
    }

    /// Returns true if two URLs can only be the same resource: they differ at most in the scheme or in the escapes.
    pub(super) fn is(&self, other: &WebUrl<'_>) -> bool {
        let decoded = |path| percent_decode_str(path).collect::<Vec<u8>>();
        // A record of a fragment is not one of the whole document, although its file has the same name.
        (&self.host, self.query, self.fragment) == (&other.host, other.query, other.fragment)
            && decoded(self.path) == decoded(other.path)
    }
}

/// The site that a mirror's directory represents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Site {
    host: String,
    /// The directory; it begins and ends with a slash.
    folder: String,
}

impl Site {
    /// Returns the site of a repository from its base URL and one of its resources: the innermost directory that
    /// contains both. For a repository at `http://HOST/modoai` that is all of `HOST`.
    pub(super) fn of(base_url: &str, resource: &str) -> Option<Self> {
        let (base, resource) = (WebUrl::split(base_url)?, WebUrl::split(resource)?);
        if base.host != resource.host {
            return None;
        }
        let same = base.folder().split_inclusive('/').zip(resource.folder().split_inclusive('/'));
        let folder: String = same.take_while(|(one, other)| one == other).map(|(one, _)| one).collect();
        Some(Self { host: base.host, folder: if folder.is_empty() { "/".to_owned() } else { folder } })
    }

    /// Parses the result of [`Site::to_text`].
    pub(super) fn from_text(text: &str) -> Option<Self> {
        let (host, folder) = text.split_at(text.find('/')?);
        Some(Self { host: host.to_owned(), folder: folder.to_owned() })
    }

    /// Returns the site as text for the index.
    pub(super) fn to_text(&self) -> String {
        format!("{}{}", self.host, self.folder)
    }
}

/// Returns the path of the resource with this URL, or with this identifier if it has no URL. A URL that ends with a
/// slash is that of an index file, whose name `location` may contain (as `Content-Location` does).
pub(super) fn place(
    site: Option<&Site>,
    name: &str,
    location: Option<&str>,
    allow_dotfiles: bool,
) -> Result<Path, String> {
    let special = |path: Path| match path.0.iter().find_map(|name| special(name, allow_dotfiles)) {
        Some(reason) => Err(reason),
        None => Ok(path),
    };
    let placed = try_place(site, name, location).and_then(special);
    placed.map_err(|reason| format!("'{name}' {NOT_WRITTEN}: {reason}"))
}

/// Returns the reason why a name is refused although a file could have it: a shell, a web server or git treats it
/// specially, or a terminal displays it incorrectly.
fn special(name: &[u8], allow_dotfiles: bool) -> Option<&'static str> {
    let text = String::from_utf8_lossy(name);
    // Some file systems ignore these characters in names, so that '.git' can be written with one before the dot.
    let shown: String = text.chars().filter(|c| !is_invisible(*c) && !is_joiner(*c)).collect();
    let lower = shown.trim_end_matches(['.', ' ']).to_lowercase();
    let is_short_name = lower.strip_prefix("git~").is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
    // Characters that display text in another order than it is written: embeddings, overrides and isolates.
    let reorders = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    Some(match shown.as_bytes() {
        _ if name.iter().any(u8::is_ascii_control) || text.contains(char::is_control) => {
            "a name in its path contains a control character"
        }
        _ if text.contains(reorders) => "a name in its path contains characters that reverse text",
        // Commands treat such a name as an option: `rm *`.
        [b'-', ..] => "a name in its path begins with '-'",
        // Shells replace these by the home directory, or by other directories. `~alice` is the usual URL of a user's pages.
        [b'~'] | [b'~', b'+' | b'-' | b'0'..=b'9', ..] => "a name in its path is '~' or begins with '~+', '~-' or '~0'",
        // .htaccess and .user.ini configure web servers, .git/config runs programs, .ssh and .bashrc belong to an account.
        [b'.', ..] if !allow_dotfiles && shown != ".well-known" => "a name in its path begins with a dot",
        _ if is_short_name => "a name in its path is equivalent to '.git' on Windows",
        _ if lower == "web.config" => "a name in its path is that of a web server's configuration",
        _ => return None,
    })
}

fn try_place(site: Option<&Site>, name: &str, location: Option<&str>) -> Result<Path, &'static str> {
    let mut names = Vec::new();
    let url = WebUrl::split(name);
    let is_url = url.is_some();
    let (path, query) = match url {
        None if name.contains("://") => return Err("it is not an HTTP URL"),
        None => (name, None),
        Some(url) => {
            match site.filter(|site| site.host == url.host).and_then(|site| url.path.strip_prefix(&site.folder)) {
                Some(path) => (path, url.query),
                None => {
                    names.push(url.host.into_bytes());
                    (url.path.strip_prefix('/').unwrap_or_default(), url.query)
                }
            }
        }
    };
    names.extend(path.split('/').map(|segment| percent_decode_str(segment).collect::<Vec<u8>>()));
    let last = names.last_mut().ok_or("it has no path")?;
    if last.is_empty() && is_url {
        *last = location.and_then(file_name).unwrap_or_else(|| b"index.html".to_vec());
    }
    if let Some(query) = query {
        last.push(b'?');
        last.extend_from_slice(query.as_bytes());
    }
    let is_device = |name: &&mut Vec<u8>| is_device(name);
    names.iter_mut().filter(is_device).for_each(escape);
    names.last_mut().filter(|name| is_head(name)).map(escape);
    Path::checked(names)
}

/// Returns the last name of a URL or path, if a file can have it.
fn file_name(location: &str) -> Option<Vec<u8>> {
    let location = location.split(['?', '#']).next().unwrap_or_default();
    let last = location.rsplit('/').next().unwrap_or_default();
    let name: Vec<u8> = percent_decode_str(last).collect();
    (!name.is_empty()).then_some(name)
}

/// Escapes the first character of a name.
fn escape(name: &mut Vec<u8>) {
    let escaped = format!("%{:02X}", name[0]);
    name.splice(..1, escaped.into_bytes());
}

fn is_device(name: &[u8]) -> bool {
    let stem = name.split(|byte| *byte == b'.').next().unwrap_or_default().trim_ascii_end().to_ascii_uppercase();
    match stem.as_slice() {
        b"CON" | b"PRN" | b"AUX" | b"NUL" | b"CONIN$" | b"CONOUT$" => true,
        [b'C', b'O', b'M', digit] | [b'L', b'P', b'T', digit] => digit.is_ascii_digit(),
        _ => false,
    }
}

/// Returns true for the file that git requires in a repository. Next to `objects`, `refs` and `config`, it makes git
/// run the programs that `config` names, in that directory and below. Some file systems ignore case and final dots.
fn is_head(name: &[u8]) -> bool {
    name.trim_ascii_end().trim_suffix_dots().eq_ignore_ascii_case(b"HEAD")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(base_url: &str, name: &str) -> Result<String, String> {
        let site = Site::of(base_url, name);
        place(site.as_ref(), name, None, false).map(|path| path.display())
    }

    #[test]
    fn a_mirror_is_the_sites_folder() {
        for (base_url, name, path) in [
            ("http://h/modoai", "http://h/a/b%20c.html", "a/b c.html"),
            ("http://h/modoai", "https://H:443/a/", "a/index.html"),
            ("http://h:8080/modoai", "http://h:8080/", "index.html"),
            ("http://h/docs/modoai", "http://h/docs/a", "a"),
            ("http://h/oai/request", "http://h/bitstream/1/x.pdf", "bitstream/1/x.pdf"),
            ("http://h/modoai", "http://other:81/a?b=c#d", "other:81/a?b=c"),
            ("http://h/modoai", "http://h/trailing.", "trailing."),
            ("http://h/modoai", "http://h/nul.txt", "%6Eul.txt"),
            ("http://h/modoai", "http://h/a/COM1/b", "a/%43OM1/b"),
            ("http://h/modoai", "http://h/x.git/HEAD", "x.git/%48EAD"),
            ("http://h/modoai", "http://h/head.", "%68ead."),
            ("http://h/modoai", "http://h/head/HEAD.html", "head/HEAD.html"),
            ("http://h/modoai", "oai:h:a/b", "oai:h:a/b"),
            ("http://h/modoai", "http://h/.well-known/security.txt", ".well-known/security.txt"),
            ("http://h/modoai", "http://h/~alice/a-b.html", "~alice/a-b.html"),
            ("http://h/modoai", "http://h/a.git/x", "a.git/x"),
            ("http://h/modoai", "http://h/%E2%80%8Cx%D9%85%DB%8C%E2%80%8C", "\u{200c}xمی\u{200c}"),
        ] {
            assert_eq!(placed(base_url, name).as_deref(), Ok(path), "{name}");
        }
        let site = Site::of("http://h/modoai", "http://h/x");
        let named = |location| place(site.as_ref(), "http://h/a/", Some(location), false).map(|path| path.display());
        assert_eq!(named("start.htm").as_deref(), Ok("a/start.htm"));
        assert_eq!(named("http://h/a/start.htm").as_deref(), Ok("a/start.htm"));
        assert!(named("..").is_err());
    }

    #[test]
    fn what_cannot_be_a_file_is_refused() {
        let long = format!("http://h/{}", "x".repeat(256));
        let deep = format!("http://h/{}", "x/".repeat(2100));
        for name in [
            "http://h/../a",
            "http://h/%2e%2E/a",
            "http://h/a/..",
            "http://h/.",
            "http://h/a%2Fb",
            "http://h/a%00",
            "http://h/a\nb",
            "http://h//a",
            "/etc/passwd",
            "../a",
            "",
            "file:///etc/passwd",
            "http://../a",
            "http://h/.modoai/x",
            "http://h/.MODOAI",
            "http://h/.modoai.",
            "http://u@h/a",
            &long,
            &deep,
        ] {
            assert!(placed("http://h/modoai", name).is_err(), "{name}");
        }
    }
    #[test]
    fn names_that_programs_treat_specially_are_refused() {
        let special = [
            "http://h/.htaccess",
            "http://h/%2Ehtaccess",
            "http://h/a/.user.ini",
            "http://h/.ssh/authorized_keys",
            "http://h/.git/config",
            "http://h/.GIT/config",
            "http://h/a/.git",
            "http://h/.well-known./x",
            "http://h/.Well-Known/x",
            "http://h/...",
            "http://h/%E2%80%8C.git/config",
            "http://h/%EF%BB%BF.htaccess",
            "http://h/.?query",
            "http://.git/config",
        ];
        let other = [
            "http://h/GIT~1/config",
            "http://h/git~12",
            "http://h/-rf",
            "http://h/a/--checkpoint-action=exec=sh%20x",
            "http://h/-",
            "http://h/~",
            "http://h/~+/x",
            "http://h/~1",
            "http://h/a%0ab",
            "http://h/%1b%5B2J",
            "http://h/a%7f",
            "http://h/%C2%9B2J",
            "http://h/x%E2%80%AEgpj.exe",
            "http://h/Web.Config",
            "http://h/web.config.",
        ];
        for name in special.into_iter().chain(other) {
            assert!(placed("http://h/modoai", name).is_err(), "{name}");
        }
        let site = Site::of("http://h/modoai", "http://h/x");
        for name in special {
            assert!(place(site.as_ref(), name, None, true).is_ok(), "{name}, if dotfiles are allowed");
        }
        for name in other.into_iter().chain(["http://h/.modoai/x", "http://h/..", "http://h/."]) {
            assert!(place(site.as_ref(), name, None, true).is_err(), "{name}, also if dotfiles are allowed");
        }
        let named = |location| place(site.as_ref(), "http://h/a/", Some(location), false);
        assert!(named(".htaccess").is_err() && named("-x").is_err(), "by Content-Location");
    }
}
