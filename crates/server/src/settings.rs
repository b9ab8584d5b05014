//! Settings of the server: one row each.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use modoai_repository::site::name;
use modoai_settings::{Network, Problem, Value, fill, settings};

/// The time for the head of a request: a client sends it in one packet, or types it.
const MAX_HEAD_TIMEOUT: Duration = Duration::from_secs(10);

/// Returns the number of responses of the repository that are computed at the same time. They wait for the disk as much
/// as for the processor, hence two per core.
pub(crate) fn worker_count() -> usize {
    std::thread::available_parallelism().map_or(4, |cores| (2 * cores.get()).max(4))
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

    /// Returns the timeout for the head of a request, and for the TLS handshake.
    pub(crate) fn head_timeout(&self) -> Duration {
        MAX_HEAD_TIMEOUT.min(self.stall_timeout)
    }
}

settings! {
    /// The addresses, timeouts and limits of the server.
    pub struct ServerSettings, SERVER_SETTINGS {
        /// Address and port to listen on. "0.0.0.0:80" or `"[::]:80"` means all addresses of the machine.
        listen: SocketAddr = "\"127.0.0.1:8080\"", listen;
        /// Public URL of the site, such as `"https://www.example.org/"`. It is the prefix of all identifiers, so set it
        /// before the first harvest. If empty, it is http:// (https:// with tls_certificate) and the address of listen.
        url: Option<String> = "\"\"", |v| if v.text()?.is_empty() { Ok(None) } else { v.parse_text(public_url).map(Some) };
        /// URL path of the repository. Files of the site at or below this path are not served.
        base_path: String = "\"/modoai\"", base_path;
        /// File with the certificate of the server and the chain above it, in PEM. With it, the server speaks HTTPS
        /// only (HTTP/2 and HTTP/1.1). It is read again when it changes and on SIGHUP; if it is broken then, the
        /// previous one stays in use.
        tls_certificate: PathBuf = "\"\"", Value::path;
        /// File with the private key of tls_certificate, in PEM, without a passphrase.
        tls_key: PathBuf = "\"\"", Value::path;
        /// Parts of the site that need a password, one `[[area]]` each, with the keys path, htpasswd, realm and users.
        /// If areas are nested, the innermost applies.
        area: Vec<AreaSettings> = "[]", |v| v.tables("area")?.into_iter().map(area).collect();
        /// Maximum number of connections; each further request on an HTTP/2 connection counts as one. Further ones get
        /// 503 and are closed (with TLS, they are closed).
        max_connections: usize = "2048", |v| v.number(1..=MAX_COUNT);
        /// Maximum number of connections per address, so that one client cannot use all of them; 0 means half of
        /// max_connections. IPv6 addresses that share 56 bits count as one. Does not apply to trusted_proxies.
        max_connections_per_address: usize = "0", |v| v.number(0..=MAX_COUNT);
        /// A connection is closed if the client reads no byte of a response for this time, or needs longer to send a
        /// form.
        stall_timeout: Duration = "\"60s\"", Value::interval;
        /// Log each request on standard error; or the path of a file to log requests to, which may be rotated at any
        /// time.
        access_log: AccessLog = "true", access_log;
        /// Format of log lines: "text" (requests in the Combined Log Format, without anything in front of it) or "json"
        /// (one object per line, for requests and messages).
        log_format: LogFormat = "\"text\"", log_format;
        /// Addresses and networks of proxies in front of the server, such as "127.0.0.1" or "10.0.0.0/8". Their
        /// X-Forwarded-For header determines the address of the client.
        trusted_proxies: Vec<Network> = "[]", Value::networks;
    }
}

settings! {
    /// A part of the site that needs a password: the settings of one `[[area]]`.
    pub struct AreaSettings, AREA_SETTINGS {
        /// URL path of the area, such as "/private", including everything below it.
        path: String, area_path;
        /// Password file, created with Apache's htpasswd (bcrypt, MD5 or SHA-1). It is read again when it changes. Keep
        /// it outside the site.
        htpasswd: PathBuf, Value::path;
        /// Realm, which browsers show in the password prompt.
        realm: String = "\"Restricted area\"", realm;
        /// Users in the password file that have access; an empty list means all.
        users: Vec<String> = "[]", Value::texts;
    }
}

fn listen(value: &Value) -> Result<SocketAddr, Problem> {
    let needed = "needs an address and a port, such as \"127.0.0.1:8080\" or \"[::]:80\"";
    value.text()?.parse().map_err(|_| needed.into())
}

fn base_path(value: &Value) -> Result<String, Problem> {
    let path = value.string()?;
    let segments = path.strip_prefix('/').and_then(name::decode).filter(|segments| !segments.is_empty());
    match segments {
        Some(segments) if name::encode(&segments) == path[1..] && path != crate::HEALTH_PATH => Ok(path),
        _ => Err("needs a path such as \"/modoai\", other than \"/\" and \"/healthz\"".into()),
    }
}

fn access_log(value: &Value) -> Result<AccessLog, Problem> {
    match (value.flag(), value.path()) {
        (Ok(true), _) => Ok(AccessLog::Messages),
        (Ok(false), _) => Ok(AccessLog::Off),
        (_, Ok(path)) if !path.as_os_str().is_empty() => Ok(AccessLog::File(path)),
        _ => Err("needs true, false or the path of a file".into()),
    }
}

fn log_format(value: &Value) -> Result<LogFormat, Problem> {
    match value.text()? {
        "text" => Ok(LogFormat::Text),
        "json" => Ok(LogFormat::Json),
        other => Err(format!("needs \"text\" or \"json\", not '{other}'").into()),
    }
}

fn area_path(value: &Value) -> Result<String, Problem> {
    let path = value.string()?;
    let is_path = path.starts_with('/') && name::decode(path.trim_matches('/')).is_some();
    if is_path { Ok(path) } else { Err(format!("needs a URL path such as \"/private\", not '{path}'").into()) }
}

fn realm(value: &Value) -> Result<String, Problem> {
    let realm = value.string()?;
    if realm.contains(char::is_control) { Err("needs text without control characters".into()) } else { Ok(realm) }
}

fn area(table: &Value) -> Result<AreaSettings, Problem> {
    let mut area = AreaSettings::default();
    fill(table, &mut (AREA_SETTINGS, &mut area))?;
    match area {
        area if area.path.is_empty() => Err(table.problem("needs a path in each area")),
        area if area.htpasswd.as_os_str().is_empty() => {
            Err(table.problem(format!("needs an htpasswd file for {}", area.path)))
        }
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

/// A larger number is a typing error, and more than any semaphore counts.
const MAX_COUNT: u64 = 1_000_000;

#[cfg(test)]
mod tests {
    use super::*;
    use modoai_settings::load;

    fn loaded(text: &str) -> Result<ServerSettings, Problem> {
        let mut settings = ServerSettings::default();
        load(text, Path::new(""), &mut (SERVER_SETTINGS, &mut settings)).map(|()| settings)
    }

    #[test]
    fn every_default_is_legal_and_every_row_explained() {
        let settings = loaded("").expect("defaults");
        assert_eq!(settings, ServerSettings::default());
        assert_eq!(settings.base_path, "/modoai");
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
            ("max_connections = 0", "from 1 to 1000000"),
            ("stall_timeout = 0", "longer than 0"),
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
