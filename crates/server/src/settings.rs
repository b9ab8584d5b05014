//! Settings of the server: one row each, as in [`modoai_repository::settings`].

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use modoai_flow::network::Network;
use modoai_flow::settings::networks;
use modoai_repository::settings::{Setting, apply_defaults, load, value};
use modoai_repository::site::name;

/// The addresses, timeouts and limits of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerSettings {
    /// Address and port.
    pub listen: SocketAddr,
    /// The site's public URL with a slash at the end, if it is not the address of the server.
    pub url: Option<String>,
    /// Path of the repository.
    pub base_path: String,
    /// The certificate chain in PEM; empty for plain HTTP.
    pub tls_certificate: PathBuf,
    /// The private key in PEM; empty for plain HTTP.
    pub tls_key: PathBuf,
    /// Areas that need a password.
    pub area: Vec<AreaSettings>,
    /// Connections at the same time.
    pub max_connections: usize,
    /// Connections of one address at the same time; 0 for half of all.
    pub max_connections_per_address: usize,
    /// The timeout for the head of a request.
    pub header_timeout: Duration,
    /// The timeout for a client that takes or sends no byte.
    pub stall_timeout: Duration,
    /// The time that requests in progress get when the server is stopped.
    pub grace: Duration,
    /// Answers of the repository computed at the same time; 0 for as many as suit the machine.
    pub workers: usize,
    /// The destination of the access log.
    pub access_log: AccessLog,
    /// The format of all log lines.
    pub log_format: LogFormat,
    /// Proxies whose information about the origin of a request is trusted.
    pub trusted_proxies: Vec<Network>,
}

/// The destination of the access log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AccessLog {
    /// Requests are not logged.
    Off,
    /// The log of the program, on the tracing target [`ACCESS_TARGET`](crate::ACCESS_TARGET).
    Messages,
    /// A file.
    File(PathBuf),
}

/// The format of log lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// Requests in the Combined Log Format, messages as text.
    Text,
    /// One JSON object per line.
    Json,
}

/// A part of the site that needs a password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AreaSettings {
    /// URL path, such as `/private`.
    pub path: String,
    /// The password file.
    pub htpasswd: PathBuf,
    /// The text that the browser shows when it prompts for the password.
    pub realm: String,
    /// The users of the password file that have access; empty for all of them.
    pub users: Vec<String>,
}

impl ServerSettings {
    /// Returns the public URL of the site, with a slash at the end, for a server that listens at `address`. Never taken
    /// from a request: a client could otherwise make the repository issue foreign identifiers.
    pub fn site_url(&self, address: SocketAddr) -> String {
        match &self.url {
            Some(url) => url.clone(),
            None if address.ip().is_unspecified() => format!("{}://localhost:{}/", self.scheme(), address.port()),
            None => format!("{}://{address}/", self.scheme()),
        }
    }

    /// The scheme of URLs of this server, without a proxy in front of it.
    pub fn scheme(&self) -> &'static str {
        if self.tls_certificate.as_os_str().is_empty() { "http" } else { "https" }
    }

    /// The public URL of the repository.
    pub fn base_url(&self, address: SocketAddr) -> String {
        format!("{}{}", self.site_url(address), self.base_path.trim_start_matches('/'))
    }

    /// Files that must not be served.
    pub(crate) fn secret_files(&self) -> impl Iterator<Item = &Path> {
        let log = match &self.access_log {
            AccessLog::File(path) => Some(path.as_path()),
            AccessLog::Off | AccessLog::Messages => None,
        };
        let key = Some(self.tls_key.as_path()).filter(|path| !path.as_os_str().is_empty());
        self.area.iter().map(|area| area.htpasswd.as_path()).chain(key).chain(log)
    }

    /// Returns the maximum number of connections that one address may have at the same time.
    pub(crate) fn connections_of_one_address(&self) -> usize {
        match self.max_connections_per_address {
            0 => self.max_connections.div_ceil(2),
            number => number,
        }
    }

    /// Returns the number of responses of the repository that are computed at the same time. They wait for the disk as
    /// much as for the processor, hence two per core.
    pub fn worker_count(&self) -> usize {
        match self.workers {
            0 => std::thread::available_parallelism().map_or(4, |cores| (2 * cores.get()).max(4)),
            workers => workers,
        }
    }
}

impl Default for ServerSettings {
    fn default() -> Self {
        let mut settings = Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            url: None,
            base_path: String::new(),
            tls_certificate: PathBuf::new(),
            tls_key: PathBuf::new(),
            area: Vec::new(),
            max_connections: 0,
            max_connections_per_address: 0,
            header_timeout: Duration::ZERO,
            stall_timeout: Duration::ZERO,
            grace: Duration::ZERO,
            workers: 0,
            access_log: AccessLog::Off,
            log_format: LogFormat::Text,
            trusted_proxies: Vec::new(),
        };
        apply_defaults(SERVER_SETTINGS, &mut settings);
        settings
    }
}

/// The settings of the server.
pub const SERVER_SETTINGS: &[Setting<ServerSettings>] = &[
    Setting {
        key: "listen",
        default: "\"127.0.0.1:8080\"",
        doc: "Address and port to listen on. \"0.0.0.0:80\" or \"[::]:80\" means all addresses of the machine.",
        set: |s, v| match value::text(v)?.parse() {
            Ok(address) => {
                s.listen = address;
                Ok(())
            }
            Err(_) => Err("needs an address and a port, such as \"127.0.0.1:8080\" or \"[::]:80\"".to_owned()),
        },
    },
    Setting {
        key: "url",
        default: "\"\"",
        doc: "Public URL of the site, such as \"https://www.example.org/\". It is the prefix of all identifiers, so set it before the first harvest. If empty, it is http:// (https:// with tls_certificate) and the address of listen.",
        set: |s, v| match value::text(v)? {
            url if url.is_empty() => {
                s.url = None;
                Ok(())
            }
            url => public_url(&url).map(|url| s.url = Some(url)),
        },
    },
    Setting {
        key: "base_path",
        default: "\"/modoai\"",
        doc: "URL path of the repository. Files of the site at or below this path are not served.",
        set: |s, v| {
            let path = value::text(v)?;
            let segments = path.strip_prefix('/').and_then(name::decode).filter(|segments| !segments.is_empty());
            match segments {
                Some(segments) if name::encode(&segments) == path[1..] && path != crate::HEALTH_PATH => {
                    s.base_path = path;
                    Ok(())
                }
                _ => Err("needs a path such as \"/modoai\", other than \"/\" and \"/healthz\"".to_owned()),
            }
        },
    },
    Setting {
        key: "tls_certificate",
        default: "\"\"",
        doc: "File with the certificate of the server and the chain above it, in PEM. With it, the server speaks HTTPS only (HTTP/2 and HTTP/1.1). It is read again when it changes and on SIGHUP; if it is broken then, the previous one stays in use.",
        set: |s, v| value::text(v).map(|path| s.tls_certificate = PathBuf::from(path)),
    },
    Setting {
        key: "tls_key",
        default: "\"\"",
        doc: "File with the private key of tls_certificate, in PEM, without a passphrase.",
        set: |s, v| value::text(v).map(|path| s.tls_key = PathBuf::from(path)),
    },
    Setting {
        key: "area",
        default: "[]",
        doc: "Parts of the site that need a password, one [[area]] each, with the keys path, htpasswd, realm and users. If areas are nested, the innermost applies.",
        set: |s, v| {
            let tables = v.as_array().ok_or("needs to be written as [[area]], once for each area")?;
            s.area = tables
                .iter()
                .map(|table| area(&table.as_table().ok_or("needs to be written as [[area]]")?.to_string()))
                .collect::<Result<_, String>>()?;
            Ok(())
        },
    },
    Setting {
        key: "max_connections",
        default: "2048",
        doc: "Maximum number of connections; each further request on an HTTP/2 connection counts as one. Further ones get 503 and are closed (with TLS, they are closed).",
        set: |s, v| count(v, 1).map(|number| s.max_connections = number),
    },
    Setting {
        key: "max_connections_per_address",
        default: "0",
        doc: "Maximum number of connections per address, so that one client cannot use all of them; 0 means half of max_connections. IPv6 addresses that share 56 bits count as one. Does not apply to trusted_proxies.",
        set: |s, v| count(v, 0).map(|number| s.max_connections_per_address = number),
    },
    Setting {
        key: "header_timeout",
        default: "\"10s\"",
        doc: "Maximum time to receive the TLS handshake or the header section of a request; then the connection is closed.",
        set: |s, v| patience(v).map(|time| s.header_timeout = time),
    },
    Setting {
        key: "stall_timeout",
        default: "\"60s\"",
        doc: "A connection is closed if the client reads no byte of a response for this time, or needs longer to send a form.",
        set: |s, v| patience(v).map(|time| s.stall_timeout = time),
    },
    Setting {
        key: "grace",
        default: "\"10s\"",
        doc: "Time for requests in progress to finish when the server is stopped.",
        set: |s, v| value::duration(v).map(|time| s.grace = time),
    },
    Setting {
        key: "workers",
        default: "0",
        doc: "Number of list pages computed concurrently, and as many other responses; 0 means two per processor core, and at least 4. Further requests wait.",
        set: |s, v| count(v, 0).map(|number| s.workers = number),
    },
    Setting {
        key: "access_log",
        default: "true",
        doc: "Log each request on standard error; or the path of a file to log requests to, which may be rotated at any time.",
        set: |s, v| {
            s.access_log = match v.as_str() {
                Some("") => return Err("needs true, false or the path of a file".to_owned()),
                Some(path) => AccessLog::File(PathBuf::from(path)),
                None if value::flag(v).map_err(|_| "needs true, false or the path of a file")? => AccessLog::Messages,
                None => AccessLog::Off,
            };
            Ok(())
        },
    },
    Setting {
        key: "log_format",
        default: "\"text\"",
        doc: "Format of log lines: \"text\" (requests in the Combined Log Format, without anything in front of it) or \"json\" (one object per line, for requests and messages).",
        set: |s, v| {
            s.log_format = match value::text(v)?.as_str() {
                "text" => LogFormat::Text,
                "json" => LogFormat::Json,
                other => return Err(format!("needs \"text\" or \"json\", not '{other}'")),
            };
            Ok(())
        },
    },
    Setting {
        key: "trusted_proxies",
        default: "[]",
        doc: "Addresses and networks of proxies in front of the server, such as \"127.0.0.1\" or \"10.0.0.0/8\". Their X-Forwarded-For header determines the address of the client.",
        set: |s, v| networks(v).map(|networks| s.trusted_proxies = networks),
    },
];

/// The settings of one `[[area]]`.
pub const AREA_SETTINGS: &[Setting<AreaSettings>] = &[
    Setting {
        key: "path",
        default: "",
        doc: "URL path of the area, such as \"/private\", including everything below it.",
        set: |s, v| match value::text(v)? {
            path if path.starts_with('/') && name::decode(path.trim_matches('/')).is_some() => {
                s.path = path;
                Ok(())
            }
            path => Err(format!("needs a URL path such as \"/private\", not '{path}'")),
        },
    },
    Setting {
        key: "htpasswd",
        default: "",
        doc: "Password file, created with Apache's htpasswd (bcrypt, MD5 or SHA-1). It is read again when it changes. Keep it outside the site.",
        set: |s, v| value::text(v).map(|path| s.htpasswd = PathBuf::from(path)),
    },
    Setting {
        key: "realm",
        default: "\"Restricted area\"",
        doc: "Realm, which browsers show in the password prompt.",
        set: |s, v| match value::text(v)? {
            realm if realm.contains(char::is_control) => Err("needs text without control characters".to_owned()),
            realm => {
                s.realm = realm;
                Ok(())
            }
        },
    },
    Setting {
        key: "users",
        default: "[]",
        doc: "Users in the password file that have access; an empty list means all.",
        set: |s, v| value::texts(v).map(|users| s.users = users),
    },
];

fn area(table: &str) -> Result<AreaSettings, String> {
    let mut area =
        AreaSettings { path: String::new(), htpasswd: PathBuf::new(), realm: String::new(), users: Vec::new() };
    apply_defaults(AREA_SETTINGS, &mut area);
    load(table, &mut (AREA_SETTINGS, &mut area)).map_err(|error| format!("is invalid: {error}"))?;
    match area {
        area if area.path.is_empty() => Err("needs a path in each area".to_owned()),
        area if area.htpasswd.as_os_str().is_empty() => Err(format!("needs an htpasswd file for {}", area.path)),
        area => Ok(area),
    }
}

/// An http or https URL that identifiers can begin with: no query, no fragment, no user, one slash at the end.
fn public_url(url: &str) -> Result<String, String> {
    let problem = || format!("needs a URL such as \"https://www.example.org/\", not '{url}'");
    let uri: hyper::Uri = url.parse().map_err(|_| problem())?;
    let authority = uri.authority().ok_or_else(problem)?.as_str();
    let plain = matches!(uri.scheme_str(), Some("http" | "https")) && uri.query().is_none();
    if !plain || url.contains(['#', '?', '@']) {
        return Err(problem());
    }
    let scheme = uri.scheme_str().ok_or_else(problem)?;
    let authority = authority.to_ascii_lowercase();
    let default_port = if scheme == "http" { ":80" } else { ":443" };
    let authority = authority.strip_suffix(default_port).unwrap_or(&authority);
    let path =
        name::decode(uri.path().trim_matches('/')).map(|segments| name::encode(&segments)).ok_or_else(problem)?;
    let slash = if path.is_empty() { "" } else { "/" };
    Ok(format!("{scheme}://{authority}/{path}{slash}"))
}

fn patience(v: &toml::Value) -> Result<Duration, String> {
    match value::duration(v)? {
        time if time.is_zero() => Err("needs a duration longer than 0".to_owned()),
        time => Ok(time),
    }
}

/// A larger number is a typing error, and more than any semaphore counts.
fn count(v: &toml::Value, least: u64) -> Result<usize, String> {
    const MOST: u64 = 1_000_000;
    match value::number(v, least)? {
        number if number <= MOST => Ok(usize::try_from(number).expect("checked against MOST")),
        _ => Err(format!("needs at most {MOST}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use modoai_repository::settings::SettingsError;

    fn loaded(text: &str) -> Result<ServerSettings, SettingsError> {
        let mut settings = ServerSettings::default();
        load(text, &mut (SERVER_SETTINGS, &mut settings)).map(|()| settings)
    }

    #[test]
    fn every_default_is_legal_and_every_row_explained() {
        let settings = loaded("").expect("defaults");
        assert_eq!(settings, ServerSettings::default());
        assert_eq!(settings.base_path, "/modoai");
        assert!(settings.worker_count() >= 4);
        for (key, doc) in SERVER_SETTINGS
            .iter()
            .map(|setting| (setting.key, setting.doc))
            .chain(AREA_SETTINGS.iter().map(|setting| (setting.key, setting.doc)))
        {
            assert!(doc.ends_with('.'), "{key} wants an explanation");
        }
    }

    #[test]
    fn areas_are_tables_with_their_own_keys() {
        let settings =
            loaded("[[area]]\npath = '/a'\nhtpasswd = 'x'\nusers = 'bob'\n[[area]]\npath = '/b/'\nhtpasswd = 'y'");
        let areas = settings.expect("two areas").area;
        assert_eq!(areas.len(), 2);
        assert_eq!(areas[0].users, ["bob"]);
        assert_eq!(areas[1].realm, "Restricted area");
    }

    #[test]
    fn a_public_url_is_normalised() {
        for (given, meant) in [
            ("https://www.example.org", "https://www.example.org/"),
            ("http://Example.org:8080/", "http://example.org:8080/"),
            ("http://example.org:80/%7euser/", "http://example.org/~user/"),
            ("https://example.org:443", "https://example.org/"),
            ("https://example.org/site", "https://example.org/site/"),
        ] {
            assert_eq!(loaded(&format!("url = '{given}'")).expect(given).url.as_deref(), Some(meant));
        }
        assert_eq!(loaded("url = ''").expect("none").url, None);
    }

    #[test]
    fn a_bad_value_says_what_is_needed() {
        for (text, needed) in [
            ("listn = ':80'", "did you mean 'listen'"),
            ("listen = 'localhost'", "an address and a port"),
            ("url = 'ftp://example.org/'", "needs a URL"),
            ("url = 'https://example.org/?a'", "needs a URL"),
            ("url = 'https://example.org/#a'", "needs a URL"),
            ("url = '/path'", "needs a URL"),
            ("base_path = '/'", "needs a path"),
            ("base_path = 'modoai'", "needs a path"),
            ("base_path = '/a/'", "needs a path"),
            ("base_path = '/a/../b'", "needs a path"),
            ("max_connections = 0", "at least 1"),
            ("workers = 10000000", "at most"),
            ("header_timeout = 0", "longer than 0"),
            ("area = 'private'", "[[area]]"),
            ("[[area]]\npath = '/a'", "htpasswd"),
            ("[[area]]\nhtpasswd = '/a'", "needs a path"),
            ("[[area]]\npath = '/a'\nhtpaswd = 'x'", "did you mean 'htpasswd'"),
            ("[[area]]\npath = '/../a'\nhtpasswd = 'x'", "URL path"),
        ] {
            let message = loaded(text).expect_err(text).to_string();
            assert!(message.contains(needed), "{text}: {message}");
        }
    }
}
