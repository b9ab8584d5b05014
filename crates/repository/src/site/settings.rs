//! Settings of a folder that is served as a site.

use std::collections::BTreeMap;
use std::time::Duration;

use modoai_settings::{Problem, Value, settings};

use super::document_headers::{self, HeaderSource};
use super::pattern::{PatternError, Patterns};
use super::rules::ignored;

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

settings! {
    /// The settings of a directory that is served as a site.
    pub struct SiteSettings, SITE_SETTINGS {
        /// Patterns of files and directories that are neither served nor listed. A glob without a slash matches a name
        /// in any directory; one with a slash matches a path from the root. "re:^/(drafts|old)/" is a regular
        /// expression, searched for in the path from the root. Replaces the default list. Names that begin with a dot
        /// are always ignored, except for /.well-known; "!.*" in the list shows them.
        ignore: Vec<String> = r##"["*~", "*#", "*,v", "*,t", "RCS", "CVS", "*.swp", "*.swo", "lost+found", "Thumbs.db"]"##,
            |v| patterns(v, ignored);
        /// Patterns, as in ignore but case-insensitive, of files that look like server-side code, keys, passwords,
        /// configuration, databases or backups. They are neither served nor listed. If the directory contains any, the
        /// log reports their number at start. Replaces the default list; `[]` disables this.
        withhold: Vec<String> = WITHHOLD, |v| patterns(v, Patterns::in_any_case);
        /// Symbolic links to follow: "never", "inside" (only to targets inside the directory) or "anywhere". A path can
        /// contain at most four linked directories, and cannot enter virtual file systems such as /proc and /sys.
        follow_links: Links = "\"inside\"", links;
        /// File that the URL of a directory returns; empty for none.
        index: String = "\"index.html\"", index;
        /// Charset in the Content-Type of text files, except HTML and XML, which declare it; empty for none.
        charset: String = "\"utf-8\"", charset;
        /// Additional media types by file name extension: { md = "text/markdown" }, or a table `[types]` at the end of
        /// the file.
        types: BTreeMap<String, String> = "{}", types;
        /// Sources of the headers Owner and Expires of files, the most important first: "meta" (META elements of HTML
        /// files), "metainfo" (a file .metainfo in each directory), and rows such as { path = "/docs/**", owner = "Web
        /// team", expires = "Thu, 31 Dec 2026 23:59:59 GMT" }. With an empty list, these headers are not sent.
        document_headers: Vec<HeaderSource> = "[]", document_headers::sources;
        /// Interval between complete rescans, in addition to immediate detection of changes. Shorten it for network
        /// file systems, which do not report changes.
        rescan: Duration = "\"15m\"", Value::interval;
        /// Read files in the background, one at a time and with low priority, to compute their digests. Records of
        /// files above by_value_limit have digests only with this setting; digests of smaller files are otherwise
        /// computed on first request. With digests, a change of permissions is distinguished from a change of content,
        /// up to 8M.
        read_ahead: bool = "true", Value::flag;
        /// If a rescan would delete more than this percentage of the items (and more than 1000), modoai assumes an
        /// accident, such as an unmounted disk: nothing is deleted, and the log reports it.
        max_deleted: u64 = "50", |v| v.number(1..=100);
    }
}

/// Parses one pattern or several, each of which can match a path.
fn patterns<T>(v: &Value, compile: fn(&[String]) -> Result<T, PatternError>) -> Result<Vec<String>, Problem> {
    let texts = v.texts()?;
    compile(&texts).map_err(|error| error.to_string())?;
    Ok(texts)
}

fn links(value: &Value) -> Result<Links, Problem> {
    match value.text() {
        Ok("never") => Ok(Links::Never),
        Ok("inside") => Ok(Links::Inside),
        Ok("anywhere") => Ok(Links::Anywhere),
        _ => Err("needs \"never\", \"inside\" or \"anywhere\"".into()),
    }
}

fn index(value: &Value) -> Result<String, Problem> {
    let index = value.string()?;
    if index.contains('/') { Err("needs a file name without a slash".into()) } else { Ok(index) }
}

fn charset(value: &Value) -> Result<String, Problem> {
    let charset = value.string()?;
    let is_legal = charset.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.:+".contains(&b));
    if is_legal { Ok(charset) } else { Err(format!("needs the name of a charset, not '{charset}'").into()) }
}

fn types(table: &Value) -> Result<BTreeMap<String, String>, Problem> {
    let media_type = |(extension, _, value): (&str, _, &Value)| {
        let media_type = value.text()?;
        if !super::kind::is_media_type(media_type) {
            let what =
                format!("has the invalid media type '{media_type}'; expected a media type such as text/markdown");
            return Err(value.problem(what));
        }
        Ok((extension.trim_start_matches('.').to_ascii_lowercase(), media_type.to_ascii_lowercase()))
    };
    table.entries()?.map(media_type).collect()
}
