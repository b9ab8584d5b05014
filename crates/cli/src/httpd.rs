//! Queries Apache httpd for the repositories of mod_oai: the servers that have one, the directories of their files, and
//! their catalogues. httpd only reads its configuration for that; it need not run, and is not started.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use modoai_repository::sets::SetRules;
use modoai_repository::site::{Links, Root, SiteSettings};
use modoai_settings::{Problem, Setting, Target as _, Value, load};

use crate::error::{CliError, Kind};

/// The names of httpd on different systems, beginning with the one that reads the system's environment.
const PROGRAMS: [&str; 3] = ["apachectl", "apache2ctl", "httpd"];

/// The directory of these programs, which is not in every user's PATH.
const SUPERUSERS_FOLDER: &str = "/usr/sbin";

/// With these arguments the module prints its repositories …
const QUESTION: &str = "-t -D MODOAI_SHOW_ROOTS";

/// … beginning with this line, after any output of other modules.
const FIRST_LINE: &str = "# mod_oai roots";

/// A server that has a repository.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Served {
    pub(crate) name: String,
    /// The directory of its catalogue.
    pub(crate) folder: PathBuf,
    pub(crate) roots: Vec<Root>,
    pub(crate) site: SiteSettings,
    pub(crate) sets: SetRules,
}

/// Returns all servers of this httpd that have a repository. `-` reads earlier output of httpd from standard input.
pub(crate) fn servers(program: Option<&str>) -> Result<Vec<Served>, CliError> {
    let servers = printed(program)?.server;
    if servers.is_empty() { Err(no_repository()) } else { Ok(servers) }
}

/// Returns the repositories of this httpd: the name of each, and the directory of its budgets and its log. A catalogue
/// that was never requested has none.
pub(crate) fn repositories(program: Option<&str>) -> Result<Vec<(String, PathBuf)>, CliError> {
    let Printed { server, archive } = printed(program)?;
    if server.is_empty() && archive.is_empty() {
        return Err(no_repository());
    }
    let servers = server.into_iter().map(|server| (server.name, server.folder));
    let archives = archive.into_iter().filter(|archive| archive.folder.is_dir());
    Ok(servers.chain(archives.map(|archive| (archive.catalogue, archive.folder))).collect())
}

fn printed(program: Option<&str>) -> Result<Printed, CliError> {
    read(&match program {
        Some("-") => standard_input()?,
        Some(program) => ask(program)?,
        None => ask(&usual()?)?,
    })
}

fn no_repository() -> CliError {
    let hint = "configure one: <Location \"/modoai\"> SetHandler oai-handler </Location>";
    CliError::new(Kind::Config, "no server of this httpd has a repository").hint(hint)
}

fn usual() -> Result<String, CliError> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = || std::env::split_paths(&path).chain([PathBuf::from(SUPERUSERS_FOLDER)]);
    let mut places = PROGRAMS.iter().flat_map(|name| folders().map(move |folder| folder.join(name)));
    let found = places.find(|place| place.is_file());
    let found = found.ok_or_else(|| {
        CliError::failed(format!("Apache httpd not found: tried {}", PROGRAMS.join(", ")))
            .hint("give the command that starts it with --httpd")
    })?;
    Ok(format!("'{}'", found.display().to_string().replace('\'', r"'\''")))
}

/// Runs httpd. A program with arguments is a line of shell, as in other options that take a command.
fn ask(program: &str) -> Result<String, CliError> {
    let line = format!("exec {program} {QUESTION}");
    let asked = Command::new("sh").args(["-c", &line]).stdin(Stdio::null()).output();
    let asked = asked.map_err(|error| CliError::failed("failed to run a shell").because(error))?;
    if asked.status.success() {
        return Ok(String::from_utf8_lossy(&asked.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&asked.stderr);
    Err(CliError::failed(format!("`{program} {QUESTION}` failed ({}): {}", asked.status, said.trim())).hint(format!(
        "if only root may read its configuration, run: sudo {program} {QUESTION} | modoai index --apache --httpd -"
    )))
}

fn standard_input() -> Result<String, CliError> {
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().read_to_end(&mut bytes);
    read.map_err(|error| CliError::failed("failed to read standard input").because(error))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The output of the module. Keys that a newer module adds are ignored; those that an older one lacks have defaults.
#[derive(Default)]
struct Printed {
    server: Vec<Served>,
    archive: Vec<PrintedArchive>,
}

#[derive(Default)]
struct PrintedArchive {
    catalogue: String,
    folder: PathBuf,
}

const PRINTED: &[Setting<Printed>] = &[
    Setting::of_key("server", |printed, v| {
        // httpd decides on links, with every request, and on code, which it runs as programs.
        let decided = SiteSettings { follow_links: Links::Anywhere, withhold: Vec::new(), ..SiteSettings::default() };
        printed.server = tables(v, "server", SERVER, || Served { site: decided.clone(), ..Served::default() })?;
        Ok(())
    }),
    Setting::of_key("archive", |printed, v| {
        printed.archive = tables(v, "archive", ARCHIVE, PrintedArchive::default)?;
        Ok(())
    }),
];

const SERVER: &[Setting<Served>] = &[
    Setting::of_key("name", |s, v| v.text().map(|name| name.clone_into(&mut s.name))),
    Setting::of_key("folder", |s, v| v.path().map(|path| s.folder = path)),
    Setting::of_key("ignore", |s, v| v.texts().map(|patterns| s.site.ignore = patterns)),
    Setting::of_key("max_deleted", |s, v| v.number(1..=100).map(|percent| s.site.max_deleted = percent)),
    Setting::of_key("read_ahead", |s, v| v.flag().map(|flag| s.site.read_ahead = flag)),
    Setting::of_key("set", |s, v| SetRules::read(v).map(|sets| s.sets = sets)),
    Setting::of_key("root", |s, v| {
        s.roots = tables(v, "root", ROOT, || Root { prefix: String::new(), path: PathBuf::new() })?;
        Ok(())
    }),
];

const ROOT: &[Setting<Root>] = &[
    Setting::of_key("prefix", |root, v| v.text().map(|prefix| prefix.clone_into(&mut root.prefix))),
    Setting::of_key("path", |root, v| v.path().map(|path| root.path = path)),
];

const ARCHIVE: &[Setting<PrintedArchive>] = &[
    Setting::of_key("catalogue", |archive, v| v.text().map(|text| text.clone_into(&mut archive.catalogue))),
    Setting::of_key("folder", |archive, v| v.path().map(|path| archive.folder = path)),
];

/// Reads tables without their unknown keys.
fn tables<T>(value: &Value, name: &str, keys: &'static [Setting<T>], start: impl Fn() -> T) -> Result<Vec<T>, Problem> {
    let table = |table: &Value| {
        let mut read = start();
        let put = |(key, _, value): (&str, _, &Value)| (keys, &mut read).put(key, value).unwrap_or(Ok(()));
        table.entries()?.try_for_each(put).map(|()| read)
    };
    value.tables(name)?.into_iter().map(table).collect()
}

fn read(printed: &str) -> Result<Printed, CliError> {
    let mut lines = printed.lines().skip_while(|line| line.trim_end() != FIRST_LINE);
    if lines.next().is_none() {
        return Err(
            CliError::failed("mod_oai is not loaded in httpd").hint("load the module: `a2enmod oai`, or LoadModule")
        );
    }
    // Output of other modules after that has another form.
    let begins = |line: &str| line.starts_with("[[server") || line.starts_with("[[archive");
    let is_ours = |line: &&str| line.is_empty() || begins(line) || line.contains(" = ");
    let ours: String = lines.take_while(is_ours).flat_map(|line| [line, "\n"]).collect();
    let mut printed = Printed::default();
    load(&ours, Path::new(""), &mut (PRINTED, &mut printed))
        .map_err(|error| CliError::failed("failed to parse the list of servers from mod_oai").because(error))?;
    Ok(printed)
}

/// Checks that the present user owns the directory for catalogues: httpd could not write to files of another user.
pub(crate) fn check_user(folder: &Path) -> Result<(), CliError> {
    use std::os::unix::fs::MetadataExt as _;
    let index_dir = folder.parent().unwrap_or(folder);
    let owner = [folder, index_dir].iter().find_map(|place| place.metadata().ok()).map(|metadata| metadata.uid());
    let Some(owner) = owner else {
        let what = format!("the index directory {} does not exist", index_dir.display());
        return Err(CliError::failed(what).hint("start httpd once to create it, and stop it again"));
    };
    if owner == rustix::process::geteuid().as_raw() {
        return Ok(());
    }
    let user = user_name(owner);
    let what = format!("the index directory {} belongs to {user}, the user of httpd", index_dir.display());
    Err(CliError::failed(what).hint(format!("run this as that user: sudo -u {user} modoai index --apache")))
}

/// Returns the name of a user, or the number in the form that `sudo -u` accepts.
fn user_name(uid: u32) -> String {
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let has_number = |line: &&str| line.split(':').nth(2) == Some(&uid.to_string());
    let name = users.lines().find(has_number).and_then(|line| line.split(':').next());
    name.map_or_else(|| format!("'#{uid}'"), ToOwned::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = r#"another module talks
# mod_oai roots

[[server]]
name = "www.example.org"
folder = "/var/lib/apache2/oai/www.example.org_80"
ignore = ["*~"]
max_deleted = 10
read_ahead = false
a_later_invention = "1"
[[server.set]]
spec = "physics"
name = "Physics"
patterns = ["/physics", "re:-phys$"]
[[server.root]]
prefix = ""
path = "/srv/www"
[[server.root]]
prefix = "icons"
path = "/usr/share/icons"

[[server]]
name = "b.example.org"
folder = "/var/lib/apache2/oai/b.example.org_80"

[[archive]]
catalogue = "/srv/theses"
folder = "/var/lib/apache2/oai/archives/theses-01234567"

and so does yet another
"#;

    #[test]
    fn what_the_module_prints_is_found_among_the_talk_of_others() {
        let Printed { server: servers, archive } = read(OUTPUT).expect("two servers and an archive");
        assert_eq!(archive.iter().map(|archive| archive.catalogue.as_str()).collect::<Vec<_>>(), ["/srv/theses"]);
        let [first, second] = servers.as_slice() else { panic!("{servers:?}") };
        assert_eq!((first.name.as_str(), first.site.read_ahead), ("www.example.org", false));
        assert_eq!(first.sets.iter().map(|rule| rule.spec.as_str()).collect::<Vec<_>>(), ["physics"]);
        let SiteSettings { ignore, max_deleted, follow_links, .. } = &first.site;
        assert_eq!((ignore.as_slice(), *max_deleted), (&["*~".to_owned()][..], 10));
        assert_eq!(*follow_links, Links::Anywhere);
        let roots = first.roots.iter().map(|root| (root.prefix.as_str(), root.path.to_str()));
        assert_eq!(roots.collect::<Vec<_>>(), [("", Some("/srv/www")), ("icons", Some("/usr/share/icons"))]);
        assert_eq!((second.name.as_str(), second.roots.len()), ("b.example.org", 0));
        assert!(second.site.read_ahead, "the default");
        assert_eq!(second.site.ignore, SiteSettings::default().ignore);
    }

    #[test]
    fn without_the_first_line_nothing_is_believed() {
        assert!(read("Syntax OK\n[[server]]\nname = 'a'\nfolder = 'b'\n").is_err());
        assert!(read("# mod_oai roots\n").expect("no servers").server.is_empty());
        assert!(read("# mod_oai roots\n[[server]]\nname = 1\n").is_err());
    }
}
