//! Settings of a folder that is served as a site.

use std::collections::BTreeMap;
use std::time::Duration;

use toml::Value;

use super::document_headers::{self, HeaderSource};
use super::pattern::{PatternError, Patterns};
use crate::settings::{Setting, apply_defaults, value};

/// The symbolic links that are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// None.
    Never,
    /// Links whose target is inside the directory.
    Inside,
    /// All.
    Anywhere,
}

/// The settings of a directory that is served as a site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteSettings {
    /// Patterns of paths that are hidden.
    pub ignore: Vec<String>,
    /// Patterns of paths that look like files which no web server sends unprocessed.
    pub withhold: Vec<String>,
    /// True if names that begin with a dot are shown.
    pub show_dotfiles: bool,
    /// The links that are followed.
    pub follow_links: Links,
    /// The file that a directory's own URL returns.
    pub index: String,
    /// Charset in the Content-Type of text files.
    pub charset: String,
    /// Media types by file name extension, on top of the usual ones.
    pub types: BTreeMap<String, String>,
    /// The sources of the headers Owner and Expires.
    pub document_headers: Vec<HeaderSource>,
    /// The interval between rescans of everything.
    pub rescan: Duration,
    /// True if files are hashed in advance.
    pub read_ahead: bool,
    /// The maximum share of items, in percent, that a rescan or a crawl may delete.
    pub max_deleted: u64,
}

impl Default for SiteSettings {
    fn default() -> Self {
        let mut settings = Self {
            ignore: Vec::new(),
            withhold: Vec::new(),
            show_dotfiles: false,
            follow_links: Links::Inside,
            index: String::new(),
            charset: String::new(),
            types: BTreeMap::new(),
            document_headers: Vec::new(),
            rescan: Duration::ZERO,
            read_ahead: false,
            max_deleted: 0,
        };
        apply_defaults(SITE_SETTINGS, &mut settings);
        settings
    }
}

/// The default of `withhold`. A directory that is served by modoai was often made for another web server, which runs
/// these files, or refuses them by rules that modoai does not know. A line for each kind: server-side code; keys and
/// passwords; configuration; databases; backups; version control.
const WITHHOLD: &str = r##"[
  "*.php", "*.php[0-9]", "*.phps", "*.phtml", "*.pht", "*.phar", "*.inc", "*.cgi", "*.fcgi", "cgi-bin",
  "*.asp", "*.asp[a-z]", "*.asa", "*.asax", "*.ascx", "*.ashx", "*.asmx", "*.cshtml", "*.jsp", "*.jsp[a-z]",
  "*.cfm", "*.cfc", "*.shtml", "*.rhtml", "*.erb", "*.wsgi", "WEB-INF", "App_Data", "App_Code",
  "*.php[0-9][0-9]", "*.php[_-]*", "*.php.[0-9]*", "*.php.dist", "*.aspx.cs", "*.aspx.vb",
  "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "authorized_keys", "*.pem", "*.key", "*.ppk", "*.p12", "*.pfx",
  "*.jks", "*.keystore", "*.kdb", "*.kdbx", "htpasswd", "*.htpasswd", ".htpasswd*", "*.htdigest", ".htdigest*",
  "*.p8", "*.keytab", "*.ovpn", "secring.*",
  ".ssh", ".gnupg", ".aws", ".docker", ".netrc", ".pgpass", "credentials.json", "secrets.json", "secrets.y*ml",
  "*.env", ".env*", "*.ini", ".htaccess", "web.config", "httpd.conf", "apache2.conf", "nginx.conf", "my.cnf",
  ".my.cnf", "wp-config.*", "config.y*ml", "database.y*ml", "parameters.y*ml", "appsettings*.json",
  "settings.py", "local_settings.py", "modoai.toml", "docker-compose*.y*ml", "*.tfstate*", "*.tfvars", ".npmrc",
  "*.sqlite*", "*.db", "*.db3", "*.db-*", "*.mdb", "*.accdb", "*.sql", "*.sql.*", "*.dump",
  "*.bak", "*.bak[0-9]", "*.bak.*", "*.backup", "*.old", "*.orig", "*.rej", "*.save", "*.dpkg-*", "*.ucf-*", "*.rpmsave",
  "*.rpmnew", ".*_history", ".git*", ".svn", ".hg*", ".bzr*", "_darcs",
]"##;

/// Parses one pattern or several, each of which can match a path.
fn patterns(v: &Value, compile: fn(&[String]) -> Result<Patterns, PatternError>) -> Result<Vec<String>, String> {
    let texts = value::texts(v)?;
    compile(&texts).map_err(|error| error.to_string())?;
    Ok(texts)
}

/// The settings of a folder that is served as a site.
pub const SITE_SETTINGS: &[Setting<SiteSettings>] = &[
    Setting {
        key: "ignore",
        default: r##"["*~", "*#", "*,v", "*,t", "RCS", "CVS", "*.swp", "*.swo", "lost+found", "Thumbs.db"]"##,
        doc: "Patterns of files and directories that are neither served nor listed. A glob without a slash matches a name in any directory; one with a slash matches a path from the root. \"re:^/(drafts|old)/\" is a regular expression, searched for in the path from the root. Replaces the default list.",
        set: |s, v| patterns(v, Patterns::new).map(|patterns| s.ignore = patterns),
    },
    Setting {
        key: "withhold",
        default: WITHHOLD,
        doc: "Patterns, as in ignore but case-insensitive, of files that look like server-side code, keys, passwords, configuration, databases or backups. They are neither served nor listed. If the directory contains any, the log reports their number at start. Replaces the default list; [] disables this.",
        set: |s, v| patterns(v, Patterns::in_any_case).map(|patterns| s.withhold = patterns),
    },
    Setting {
        key: "show_dotfiles",
        default: "false",
        doc: "Serve and list names that begin with a dot. The directory .well-known is always included.",
        set: |s, v| value::flag(v).map(|flag| s.show_dotfiles = flag),
    },
    Setting {
        key: "follow_links",
        default: "\"inside\"",
        doc: "Symbolic links to follow: \"never\", \"inside\" (only to targets inside the directory) or \"anywhere\". A path can contain at most four linked directories, and cannot enter virtual file systems such as /proc and /sys.",
        set: |s, v| {
            s.follow_links = match v.as_str() {
                Some("never") => Links::Never,
                Some("inside") => Links::Inside,
                Some("anywhere") => Links::Anywhere,
                _ => return Err("needs \"never\", \"inside\" or \"anywhere\"".to_owned()),
            };
            Ok(())
        },
    },
    Setting {
        key: "index",
        default: "\"index.html\"",
        doc: "File that the URL of a directory returns; empty for none.",
        set: |s, v| match value::text(v)? {
            index if index.contains('/') => Err("needs a file name without a slash".to_owned()),
            index => {
                s.index = index;
                Ok(())
            }
        },
    },
    Setting {
        key: "charset",
        default: "\"utf-8\"",
        doc: "Charset in the Content-Type of text files, except HTML and XML, which declare it; empty for none.",
        set: |s, v| match value::text(v)? {
            charset if charset.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.:+".contains(&b)) => {
                s.charset = charset;
                Ok(())
            }
            charset => Err(format!("needs the name of a charset, not '{charset}'")),
        },
    },
    Setting {
        key: "types",
        default: "{}",
        doc: "Additional media types by file name extension: { md = \"text/markdown\" }, or a table [types] at the end of the file.",
        set: |s, v| {
            let table = v.as_table().ok_or("needs a table of extensions and media types")?;
            for (extension, media_type) in table {
                let media_type = value::text(media_type)?;
                if !super::kind::is_media_type(&media_type) {
                    return Err(format!(
                        "has the invalid media type '{media_type}'; expected a media type such as text/markdown"
                    ));
                }
                let extension = extension.trim_start_matches('.').to_ascii_lowercase();
                s.types.insert(extension, media_type.to_ascii_lowercase());
            }
            Ok(())
        },
    },
    Setting {
        key: "document_headers",
        default: "[]",
        doc: "Sources of the headers Owner and Expires of files, the most important first: \"meta\" (META elements of HTML files), \"metainfo\" (a file .metainfo in each directory), and rows such as { path = \"/docs/**\", owner = \"Web team\", expires = \"Thu, 31 Dec 2026 23:59:59 GMT\" }. With an empty list, these headers are not sent.",
        set: |s, v| document_headers::sources(v).map(|sources| s.document_headers = sources),
    },
    Setting {
        key: "rescan",
        default: "\"15m\"",
        doc: "Interval between complete rescans, in addition to immediate detection of changes. Shorten it for network file systems, which do not report changes.",
        set: |s, v| match value::duration(v)? {
            rescan if rescan.is_zero() => Err("needs a duration longer than 0".to_owned()),
            rescan => {
                s.rescan = rescan;
                Ok(())
            }
        },
    },
    Setting {
        key: "read_ahead",
        default: "true",
        doc: "Read files in the background, one at a time and with low priority, to compute their digests. Records of files above by_value_limit have digests only with this setting; digests of smaller files are otherwise computed on first request. With digests, a change of permissions is distinguished from a change of content, up to 8M.",
        set: |s, v| value::flag(v).map(|flag| s.read_ahead = flag),
    },
    Setting {
        key: "max_deleted",
        default: "50",
        doc: "If a rescan would delete more than this percentage of the items (and more than 1000), modoai assumes an accident, such as an unmounted disk: nothing is deleted, and the log reports it.",
        set: |s, v| match value::number(v, 1)? {
            percent if percent <= 100 => {
                s.max_deleted = percent;
                Ok(())
            }
            _ => Err("needs a percentage from 1 to 100".to_owned()),
        },
    },
];
