//! What a child keeps open for a server: the catalogue and the repository.
//!
//! The parent only makes the directory for the catalogues, while it may; everything in it is made by children, with the
//! rights of the user they run as. A house is opened when it is first needed. If that fails the site is served as
//! before, the repository is not to be had for the time being, and the error log says why, once.

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

/// Where programs of this system keep what must last, by the names httpd has on different systems.
const STATE_DIRS: [&str; 2] = ["/var/lib/apache2", "/var/lib/httpd"];

/// The way into a house, kept with the configuration of its server.
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
    /// The directory of its catalogue.
    pub(crate) fn folder(&self) -> Option<&Path> {
        self.folder.get().map(PathBuf::as_path)
    }

    /// Writes to the error log, unless it was the last thing said about this server: it would be said with every
    /// request.
    pub(crate) fn say_once(&self, message: String) {
        let mut said = lock(&self.said);
        if said.as_ref() != Some(&message) {
            log::server(Level::Error, &message);
            *said = Some(message);
        }
    }
}

/// What is open for a server.
pub(crate) struct House {
    /// Where it is kept.
    pub(crate) folder: PathBuf,
    pub(crate) catalogue: Arc<dyn Catalogue>,
    /// What is never listed.
    pub(crate) rules: Rules,
    pub(crate) site: SiteSettings,
    /// How much each harvester may take.
    pub(crate) flow: Arc<Flow>,
    /// Digests of the attributes of requesters.
    pub(crate) digests: Digests,
    /// Requests that were refused for their passwords.
    pub(crate) refused: Refused,
    settings: Settings,
    repositories: Repositories<()>,
}

/// Says what is wrong with the configuration as a whole.
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

/// Makes the directories for the catalogues, with the rights of the parent, and tells every server its folder.
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

/// The directories of all servers for which something is kept.
fn index_dirs(main: Server<'_>) -> BTreeSet<PathBuf> {
    let keeps = |config: &ServerConfig| config.is_on() || (config.is_enabled() && !config.catalogues.is_empty());
    main.all().filter(|server| keeps(server.config::<Oai>())).map(|server| index_dir(&server)).collect()
}

/// The servers that have a repository, each with the folder for its catalogue. Those of the same name and port are told
/// apart by where and what they serve and not by their order, which may change: a catalogue in other hands would tell
/// secrets.
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

/// A number for where and what a server serves.
fn number_of(server: &Server<'_>) -> u32 {
    let places = server.config::<Oai>().places.iter().map(|(url, path)| format!("{url} {}", path.display()));
    let root = server.document_root().unwrap_or_default().display().to_string();
    let text = server.addresses().into_iter().chain([root]).chain(places).collect::<Vec<_>>().join("\n");
    number(&text)
}

/// A text as part of the name of a folder.
pub(crate) fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_alphanumeric() || "-.".contains(c) { c } else { '_' }).collect()
}

/// A number for a text. FNV-1a: the same in every version of this program.
pub(crate) fn number(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |number, byte| (number ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// The house of a server, opened if need be. Why it cannot be is in the error log.
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
        let rules = Rules::new(&site.ignore, site.show_dotfiles, &[]);
        let rules = rules.map_err(|error| Failure::Io(io::Error::other(error)))?;
        // It knows the names of what is not for everybody.
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

    /// The repository at a URL, for a site at another.
    pub(crate) fn repository(&self, base_url: &str, site_url: &str) -> Repository {
        let key = format!("{base_url} {site_url}");
        let make = || Repository::new(self.catalogue.clone(), self.settings.clone(), base_url, site_url);
        let Ok(repository) = self.repositories.at(key, (), || Ok::<_, Infallible>(make()));
        repository
    }

    /// The sets of the administrator's own choice.
    pub(crate) fn sets(&self) -> &SetRules {
        &self.settings.sets
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

/// How many lists at once suit httpd: visitors keep at least half of the workers. Most lists wait for their harvesters,
/// and those that compute give way.
pub(crate) fn lists_at_once() -> usize {
    let cores = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
    (server::workers() / 2).clamp(2, 16 * cores)
}

/// `OAIIndexDir`, or the place for such things on this system.
pub(crate) fn index_dir(server: &Server<'_>) -> PathBuf {
    let given = server.config::<Oai>().index_dir.clone();
    let usual = || STATE_DIRS.iter().map(Path::new).find(|dir| dir.is_dir()).map(|dir| dir.join("oai"));
    given.or_else(usual).or_else(|| server_root_relative("oai")).unwrap_or_else(|| PathBuf::from("/var/lib/oai"))
}

/// Makes a directory that belongs to the user children run as. One that exists is left as it is: whoever may write to
/// it could have put a link in its place, and root must not give that away.
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

/// A thread that panicked left plain data behind; it is still good.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
