//! How a server is to be started. The configuration is written by the test; what every server needs stands around it.

use std::fmt::Write as _;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use super::machine::{self, User};
use super::running::Httpd;

/// How httpd divides its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mpm {
    /// One process for each connection.
    Prefork,
    /// Processes with threads.
    Worker,
    /// The same, with idle connections kept aside.
    Event,
}

impl Mpm {
    fn name(self) -> &'static str {
        match self {
            Self::Prefork => "mod_mpm_prefork",
            Self::Worker => "mod_mpm_worker",
            Self::Event => "mod_mpm_event",
        }
    }

    /// A few children, because that is what there are on real sites, and no more, because they take memory. They are
    /// neither added nor ended by themselves.
    fn sizes(self) -> &'static str {
        match self {
            Self::Prefork => "StartServers 3\nMinSpareServers 2\nMaxSpareServers 12\nMaxRequestWorkers 12\n",
            Self::Worker | Self::Event => {
                "StartServers 2\nThreadsPerChild 8\nMinSpareThreads 4\nMaxSpareThreads 24\nMaxRequestWorkers 24\n"
            }
        }
    }
}

/// Modules that every server here has: what an ordinary site loads. `mod_watchdog` runs the indexer.
const ORDINARY: &[&str] = &[
    "mod_unixd",
    "mod_watchdog",
    "mod_log_config",
    "mod_authn_core",
    "mod_authz_core",
    "mod_authz_host",
    "mod_authz_user",
    "mod_authn_file",
    "mod_auth_basic",
    "mod_access_compat",
    "mod_alias",
    "mod_dir",
    "mod_mime",
    "mod_autoindex",
    "mod_negotiation",
    "mod_setenvif",
];

/// Types for the extensions that tests use. Not the system's own list, which differs from one to the next.
const TYPES: &str = "text/html html htm shtml\ntext/plain txt\ntext/css css\ntext/xml xml\nimage/png png\nimage/gif gif\n\
    image/svg+xml svg\napplication/pdf pdf\napplication/json json\napplication/x-tar tar\n";

/// How a server is to be started.
#[derive(Debug)]
pub struct Launch {
    folder: TempDir,
    user: Option<User>,
    mpm: Mpm,
    modules: Vec<String>,
    text: String,
    port: u16,
    tls_port: Option<u16>,
    without_ours: bool,
}

impl Launch {
    /// A server with an empty configuration, our module loaded, and a folder of its own.
    pub fn new(mpm: Mpm) -> Self {
        let folder = tempfile::Builder::new().prefix("modoai-httpd-").tempdir().expect("a temporary folder");
        let user = machine::run_user();
        set_mode(folder.path(), 0o755);
        for name in ["docs", "logs", "run", "index"] {
            fs::create_dir(folder.path().join(name)).expect("a new folder");
        }
        for name in ["run", "index"] {
            give(&folder.path().join(name), user.as_ref());
        }
        fs::write(folder.path().join("mime.types"), TYPES).expect("a list of types");
        let modules = ORDINARY.iter().map(|&name| name.to_owned()).collect();
        let port = machine::free_port();
        Self { folder, user, mpm, modules, text: String::new(), port, tls_port: None, without_ours: false }
    }

    /// Load these modules of httpd's own too, such as `mod_rewrite`.
    ///
    /// # Panics
    ///
    /// If one of them is not installed: what depends on it would not be tested.
    #[must_use]
    pub fn modules(mut self, names: &[&str]) -> Self {
        self.modules.extend(names.iter().map(|&name| name.to_owned()));
        self
    }

    /// Leave our own module out, to compare with.
    #[must_use]
    pub fn without_ours(mut self) -> Self {
        self.without_ours = true;
        self
    }

    /// Compile a module that is not httpd's own, and load it.
    #[must_use]
    pub fn compiled(self, name: &str, source: &str) -> Self {
        let file = machine::compile(self.path(), name, source);
        self.text(&format!("LoadModule {name}_module \"{}\"", file.display()))
    }

    /// Load the module that runs scripts: one for processes, another one for threads.
    #[must_use]
    pub fn cgi(self) -> Self {
        match self.mpm {
            Mpm::Prefork => self.modules(&["mod_cgi"]),
            Mpm::Worker | Mpm::Event => self.modules(&["mod_cgid"]).text("ScriptSock cgisock\n"),
        }
    }

    /// Listen for TLS on a second port, `${TLS_PORT}`; virtual hosts there include `tls.conf`.
    #[must_use]
    pub fn tls(mut self) -> Self {
        let port = machine::free_port();
        self.tls_port = Some(port);
        make_certificate(self.path());
        let engine = "SSLEngine on\nSSLCertificateFile tls.pem\nSSLCertificateKeyFile tls.key\n";
        fs::write(self.path().join("tls.conf"), engine).expect("a configuration");
        self.modules(&["mod_socache_shmcb", "mod_ssl"])
            .text("Listen 127.0.0.1:${TLS_PORT}\nSSLSessionCache shmcb:run/tls\n")
    }

    /// More configuration. `${SITE}` is the server's folder, `${PORT}` and `${TLS_PORT}` are where it listens.
    #[must_use]
    pub fn text(mut self, text: &str) -> Self {
        self.text.push_str(text);
        self.text.push('\n');
        self
    }

    /// The usual: `docs` in the server's folder is the document root, `/modoai` the repository.
    #[must_use]
    pub fn ordinary_site(self) -> Self {
        let docs = self.path().join("docs");
        self.site_at(&docs)
    }

    /// The same with another folder as document root.
    #[must_use]
    pub fn site_at(self, docs: &Path) -> Self {
        let docs = docs.display();
        self.text(&format!(
            "DocumentRoot \"{docs}\"\n<Directory \"{docs}\">\nRequire all granted\nAllowOverride All\n</Directory>"
        ))
        .text("OAIIndexDir \"${SITE}/index\"\n<Location \"/modoai\">\nSetHandler oai-handler\n</Location>")
    }

    /// The server's folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Where it will listen.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Writes a file below the server's folder, such as `docs/index.html`.
    pub fn write(&self, name: impl AsRef<Path>, content: impl AsRef<[u8]>) {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().expect("below a folder")).expect("a new folder");
        fs::write(path, content).expect("a new file");
    }

    /// What `httpd -t` says to this configuration with more text at its end: whether it is right, and why not.
    pub fn config_test(&self, more: &str) -> (bool, String) {
        let file = self.path().join("test.conf");
        fs::write(&file, format!("{}{more}\n", self.configuration())).expect("a configuration");
        let done = self.command(&file).arg("-t").output().expect("httpd can be run");
        (done.status.success(), String::from_utf8_lossy(&done.stderr).into_owned())
    }

    /// Starts the server and waits until it answers. If it does not, panics with what it said instead.
    pub fn start(self) -> Httpd {
        let file = self.path().join("httpd.conf");
        fs::write(&file, self.configuration()).expect("a configuration");
        let command = self.command(&file);
        Httpd::start(command, self.folder, self.port, self.tls_port)
    }

    fn command(&self, file: &Path) -> Command {
        let mut command = Command::new(machine::httpd());
        command.arg("-d").arg(self.path()).arg("-f").arg(file);
        command
    }

    fn configuration(&self) -> String {
        let mut all = String::new();
        let mut line = |text: &str| writeln!(all, "{text}").expect("memory");
        let folder = self.path().display();
        line(&format!("Define SITE \"{folder}\"\nDefine PORT {}", self.port));
        if let Some(port) = self.tls_port {
            line(&format!("Define TLS_PORT {port}"));
        }
        line("ServerRoot \"${SITE}\"\nDefaultRuntimeDir \"${SITE}/run\"\nPidFile run/httpd.pid");
        line("Mutex file:${SITE}/run default\nErrorLog logs/error.log\nTypesConfig mime.types\nTimeout 60");
        // curl stumbles when an HTTP/2 connection ends between two requests, as it would after a hundred of them.
        line("MaxKeepAliveRequests 0");
        for name in [self.mpm.name()].into_iter().chain(self.modules.iter().map(String::as_str)) {
            line(&load(name));
        }
        if self.without_ours {
            line("# One line as well, so that messages name the same ones.");
        } else {
            line(&format!("LoadModule oai_module \"{}\"", machine::mod_oai().display()));
        }
        if let Some(user) = &self.user {
            line(&format!("User {}\nGroup #{}", user.name, user.gid));
        }
        line(self.mpm.sizes());
        line("Listen 127.0.0.1:${PORT}\nServerName http://127.0.0.1:${PORT}");
        line("CustomLog logs/access.log \"%{X-Forwarded-For}i %v %p %u %m %U%q %H %>s %B\"");
        line(
            "<Directory \"/\">\n    Require all denied\n    AllowOverride None\n    Options FollowSymLinks\n</Directory>",
        );
        line(&self.text);
        all
    }
}

/// The line that loads a module, or nothing if it is part of the executable.
fn load(name: &str) -> String {
    if machine::is_compiled_in(name) {
        return String::new();
    }
    let file = format!("{name}.so");
    let path =
        machine::module_file(&file).unwrap_or_else(|| panic!("{file} is not installed: tools/install-test-tools"));
    // libphp8.2.so calls itself php_module, mod_alias.so alias_module.
    let symbol = if name.starts_with("libphp") { "php" } else { name.trim_start_matches("mod_") };
    format!("LoadModule {symbol}_module \"{}\"", path.display())
}

/// Writes a certificate for this machine, `tls.pem`, and its key, `tls.key`.
///
/// # Panics
///
/// If openssl is missing or fails.
pub fn make_certificate(folder: &Path) {
    let mut command = Command::new("openssl");
    command.args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]);
    command.args(["-subj", "/CN=127.0.0.1", "-out", "tls.pem", "-keyout", "tls.key"]).current_dir(folder);
    // Else httpd warns of a certificate that is an authority's, and not for this name.
    command.args(["-addext", "basicConstraints=CA:FALSE", "-addext", "subjectAltName=DNS:127.0.0.1,DNS:localhost"]);
    let done = command.output().expect("openssl is installed: tools/install-test-tools");
    assert!(done.status.success(), "no certificate: {}", String::from_utf8_lossy(&done.stderr));
}

fn give(path: &Path, user: Option<&User>) {
    if let Some(user) = user {
        chown(path, Some(user.uid), Some(user.gid)).expect("root may do that");
    }
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("permissions set");
}
