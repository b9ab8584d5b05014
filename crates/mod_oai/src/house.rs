//! The state that an httpd child keeps per server: the open catalogue and the repository.
//!
//! The parent process creates only the directory for the catalogues, while it has the privileges. Child processes
//! create the files in it as the user they run as. The state is opened on first use. If that fails, httpd serves the
//! site as usual, the repository is unavailable, and the error log contains the reason once.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use modoai_flow::Flow;
use modoai_httpd::directive::server_root_relative;
use modoai_httpd::log::{self, Level};
use modoai_httpd::server::{self, Server};
use modoai_repository::audience::Digests;
use modoai_repository::catalogue::{self, Access, Catalogue, Location};
use modoai_repository::sets::SetRules;
use modoai_repository::site::SiteSettings;
use modoai_repository::site::rules::Rules;
use modoai_repository::{Failure, Repository, Settings, with_causes};
use rustix::fs::{AtFlags, CWD, Gid, Mode, Uid};

use crate::archive::Slot;
use crate::config::{All, ServerConfig};
use crate::refused::Refused;
use crate::repositories::Repositories;
use crate::traffic::Visited;
use crate::{Oai, archive, roots};

/// The directories for persistent state of programs, by the names that httpd has on different systems.
const STATE_DIRS: [&str; 2] = ["/var/lib/apache2", "/var/lib/httpd"];

/// The state of a server that is opened on first use, kept with its configuration.
#[derive(Default)]
pub(crate) struct Door {
    folder: OnceLock<PathBuf>,
    opened: Mutex<Option<Arc<House>>>,
    said: Mutex<Option<String>>,
    /// The URLs that visitors requested.
    pub(crate) visited: Visited,
    /// Catalogues that are served without a site.
    pub(crate) archives: Mutex<Vec<Slot>>,
}

impl Door {
    /// Returns the directory of its catalogue.
    pub(crate) fn folder(&self) -> Option<&Path> {
        self.folder.get().map(PathBuf::as_path)
    }

    /// Writes a message to the error log, unless it was the last one about this server: it would be repeated with every
    /// request.
    pub(crate) fn say_once(&self, message: String) {
        let mut said = lock(&self.said);
        if said.as_ref() != Some(&message) {
            log::server(Level::Error, &message);
            *said = Some(message);
        }
    }
}

/// The open state of a server.
pub(crate) struct House {
    /// The directory of the state.
    pub(crate) folder: PathBuf,
    pub(crate) catalogue: Arc<dyn Catalogue>,
    /// The rules for files that are never listed.
    pub(crate) rules: Rules,
    pub(crate) site: SiteSettings,
    /// The limits of each harvester.
    pub(crate) flow: Arc<Flow>,
    /// Digests of the attributes of requesters.
    pub(crate) digests: Digests,
    /// Requests that were refused for their passwords.
    pub(crate) refused: Refused,
    settings: Settings,
    repositories: Repositories<()>,
}

/// Checks the configuration as a whole, and returns a message about the first problem.
pub(crate) fn check(main: Server<'_>) -> Result<(), String> {
    for directory in index_dirs(main) {
        if let Some(folder) = main.all().find_map(|server| roots::serves(&server, &directory)) {
            return Err(format!(
                "OAIIndexDir {} is inside {}, which is served: choose a directory outside every document root",
                directory.display(),
                folder.display()
            ));
        }
    }
    for (owner, _) in folders(main) {
        // A disk that is not mounted must not keep httpd from starting.
        for (url, path) in owner.config::<Oai>().places.iter().filter(|(_, path)| !path.exists()) {
            let message = format!("{} does not exist; nothing is listed below {url}", path.display());
            log::server(Level::Warning, &message);
        }
    }
    archive::check(main)
}

/// Creates the directories for the catalogues, with the rights of the parent, and sets the folder of every server.
pub(crate) fn prepare(main: Server<'_>) {
    for directory in index_dirs(main) {
        if let Err(error) = make(&directory) {
            let advice = "create it, owned by the user of httpd, or set another with OAIIndexDir";
            let directory = directory.display();
            log::server(Level::Error, &format!("failed to create the index directory {directory}: {error}; {advice}"));
        }
    }
    for (server, folder) in folders(main) {
        // Set once in a configuration's life.
        let _ = server.config::<Oai>().door.folder.set(folder);
    }
}

/// Returns the directories of all servers that have stored data.
fn index_dirs(main: Server<'_>) -> BTreeSet<PathBuf> {
    let keeps = |config: &ServerConfig| config.is_on() || (config.is_enabled() && !config.catalogues.is_empty());
    main.all().filter(|server| keeps(server.config::<Oai>())).map(|server| index_dir(&server)).collect()
}

/// Returns the servers that have a repository, each with the folder for its catalogue. Servers with the same name and
/// port are distinguished by the files that they serve and not by their order, which may change: a catalogue of another
/// server would disclose secrets.
pub(crate) fn folders(main: Server<'_>) -> Vec<(Server<'_>, PathBuf)> {
    let servers: Vec<_> = main.all().filter(|server| server.config::<Oai>().is_on()).collect();
    let name = |server: &Server<'_>| format!("{}_{}", plain(server.name()), server.port());
    let folder = |server: &Server<'_>| {
        let own = name(server);
        let is_shared = servers.iter().filter(|other| name(other) == own).count() > 1;
        let suffix = if is_shared { format!("-{:08x}", number_of(server)) } else { String::new() };
        index_dir(server).join(format!("{own}{suffix}"))
    };
    servers.iter().map(|server| (*server, folder(server))).collect()
}

/// Returns a number that identifies the files and URLs of a server.
fn number_of(server: &Server<'_>) -> u32 {
    let places = server.config::<Oai>().places.iter().map(|(url, path)| format!("{url} {}", path.display()));
    let root = server.document_root().unwrap_or_default().display().to_string();
    let text = server.addresses().into_iter().chain([root]).chain(places).collect::<Vec<_>>().join("\n");
    number(&text)
}

/// Returns a string as part of the name of a folder.
pub(crate) fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_alphanumeric() || "-.".contains(c) { c } else { '_' }).collect()
}

/// Returns a number for a string. FNV-1a: the same in every version of this program.
pub(crate) fn number(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |number, byte| (number ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// Returns the state of a server, and opens it if necessary. If that fails, the error log contains the reason.
pub(crate) fn of(server: &Server<'_>) -> Result<Arc<House>, Failure> {
    let config = server.config::<Oai>();
    let missing = || Failure::outage("the server has no repository", None);
    let folder = config.door.folder.get().ok_or_else(missing)?;
    let mut opened = lock(&config.door.opened);
    if let Some(house) = &*opened {
        return Ok(house.clone());
    }
    let house = House::open(server, folder).inspect_err(|failure| {
        let reason = with_causes(failure);
        config.door.say_once(format!("failed to open the repository of {}: {reason}", server.name()));
    })?;
    Ok(opened.insert(Arc::new(house)).clone())
}

impl House {
    fn open(server: &Server<'_>, folder: &Path) -> Result<Self, Failure> {
        let All { settings, site, flow } = server.config::<Oai>().settings(server);
        let rules = Rules::new(&site.ignore, &[]);
        let rules = rules.map_err(|error| Failure::Io(io::Error::other(error)))?;
        // The catalogue contains the names of files that are not public.
        if let Err(error) = std::fs::DirBuilder::new().mode(0o750).create(folder)
            && error.kind() != io::ErrorKind::AlreadyExists
        {
            let reason = format!("failed to create the directory {}", folder.display());
            return Err(Failure::outage(reason, Some(error)));
        }
        let settings = with_temporary_directory(settings, folder);
        let location = Location::in_directory(folder);
        let catalogue = catalogue::open(&location, Access::Write)?;
        let flow = Flow::beside(&location.file(), flow, lists_at_once(), server.config::<Oai>().processors());
        let (digests, refused, repositories) = (Digests::default(), Refused::default(), Repositories::default());
        Ok(Self { folder: folder.to_owned(), catalogue, rules, site, flow, digests, refused, settings, repositories })
    }

    /// Returns the repository at a URL, for a site at another.
    pub(crate) fn repository(&self, base_url: &str, site_url: &str) -> Repository {
        let key = format!("{base_url} {site_url}");
        let make = || Repository::new(self.catalogue.clone(), self.settings.clone(), base_url, site_url);
        let Ok(repository) = self.repositories.at(key, (), || Ok::<_, Infallible>(make()));
        repository
    }

    /// Returns the sets that the administrator has defined.
    pub(crate) fn sets(&self) -> &SetRules {
        &self.settings.set
    }
}

/// Settings with a directory for temporary copies: `OAITempDir`, or `tmp` in a folder below the index directory. That of the
/// system may be closed to httpd, or too small.
pub(crate) fn with_temporary_directory(settings: Settings, folder: &Path) -> Settings {
    if !settings.temporary_directory.as_os_str().is_empty() {
        return settings;
    }
    let directory = folder.join("tmp");
    match std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&directory) {
        Ok(()) => Settings { temporary_directory: directory, ..settings },
        Err(error) => {
            let directory = directory.display();
            let message = format!(
                "failed to create the temporary directory {directory}: {error}; using that of the system; set \
                    another with OAITempDir"
            );
            log::server(Level::Warning, &message);
            settings
        }
    }
}

/// Returns the number of concurrent lists that suits httpd: visitors keep at least half of the workers. Most lists wait
/// for their harvesters, and those that compute yield.
pub(crate) fn lists_at_once() -> usize {
    let cores = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
    (server::workers() / 2).clamp(2, 16 * cores)
}

/// Returns `OAIIndexDir`, or the directory for persistent state on this system.
pub(crate) fn index_dir(server: &Server<'_>) -> PathBuf {
    let given = server.config::<Oai>().index_dir.clone();
    let usual = || STATE_DIRS.iter().map(Path::new).find(|dir| dir.is_dir()).map(|dir| dir.join("oai"));
    given.or_else(usual).or_else(|| server_root_relative("oai")).unwrap_or_else(|| PathBuf::from("/var/lib/oai"))
}

/// Creates a directory that belongs to the user that children run as. An existing one is not changed: a user with write
/// access could have replaced it with a link, and root must not change the owner of its target.
fn make(directory: &Path) -> std::io::Result<()> {
    if directory.is_dir() {
        return Ok(());
    }
    if let Some(parent) = directory.parent() {
        std::fs::create_dir_all(parent)?;
    }
    rustix::fs::mkdir(directory, Mode::from_raw_mode(0o750))?;
    if rustix::process::geteuid().is_root() {
        let (user, group) = server::run_user();
        let (user, group) = (Some(Uid::from_raw(user)), Some(Gid::from_raw(group)));
        rustix::fs::chownat(CWD, directory, user, group, AtFlags::SYMLINK_NOFOLLOW)?;
    }
    Ok(())
}

/// A thread that panicked left plain data behind; it is still valid.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
