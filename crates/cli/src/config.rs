//! Configuration: flags over `--option` over the file over the defaults.

use std::path::{Path, PathBuf};

use clap::Args;
use modoai_flow::{FLOW_SETTINGS, FlowSettings, HARVESTER_SETTINGS};
use modoai_repository::settings::{SETTINGS, Setting, SettingsError, Target, assign, load};
use modoai_repository::site::{SITE_SETTINGS, SiteSettings, name};
use modoai_repository::{Settings, site::Site};
use modoai_server::{AREA_SETTINGS, HEALTH_PATH, SERVER_SETTINGS, ServerSettings};

use crate::error::{CliError, Kind};

/// What every command about a folder takes.
#[derive(Debug, Args)]
pub(crate) struct SiteArgs {
    /// The folder that is the site.
    pub(crate) dir: PathBuf,
    /// Where the catalogue is kept; by default below the user's state folder, one place per site.
    #[arg(long, value_name = "STATE_DIR", value_parser = crate::place::path())]
    data: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
}

/// What every command that needs settings takes.
#[derive(Clone, Debug, Args)]
pub(crate) struct SettingsArgs {
    /// Configuration file; `modoai settings` prints one to start from.
    #[arg(long, value_name = "FILE", env = "MODOAI_CONFIG")]
    config: Option<PathBuf>,
    /// Public URL of the site, with which all identifiers begin.
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// Change one setting; may be repeated.
    #[arg(long = "option", value_name = "KEY=VALUE")]
    assignments: Vec<String>,
    /// The former name of --option. In `modoai harvest`, --set selects a set of OAI-PMH.
    #[arg(long = "set", value_name = "KEY=VALUE", hide = true, value_parser = renamed)]
    renamed: Vec<String>,
}

fn renamed(assignment: &str) -> Result<String, String> {
    Err(format!("settings are given with --option {assignment}"))
}

/// All settings, resolved.
#[derive(Debug, Default)]
pub(crate) struct Config {
    pub(crate) repository: Settings,
    pub(crate) site: SiteSettings,
    pub(crate) server: ServerSettings,
    pub(crate) flow: FlowSettings,
}

impl SettingsArgs {
    /// Loads the configuration; `flags` are settings that the command's own flags give.
    pub(crate) fn config(&self, flags: &[(&str, Option<&str>)]) -> Result<Config, CliError> {
        let mut config = Config::default();
        if let Some(path) = &self.config {
            let text = std::fs::read_to_string(path).map_err(|error| {
                CliError::new(Kind::Config, format!("failed to read the configuration {}", path.display()))
                    .because(error)
            })?;
            load(&text, &mut config)
                .map_err(|error| CliError::new(Kind::Config, format!("{}", path.display())).because(error).hint(SEE))?;
            config.resolve_paths(path.parent().unwrap_or(Path::new("")));
        }
        let given = flags.iter().copied().chain([("url", self.url.as_deref())]);
        let flags = given.filter_map(|(key, value)| value.map(|value| (format!("--{key}"), quoted(key, value))));
        let sets = self.assignments.iter().map(|assignment| ("--option".to_owned(), assignment.clone()));
        for (option, assignment) in sets.chain(flags) {
            assign(&assignment, &mut config)
                .map_err(|error: SettingsError| CliError::new(Kind::Config, option).because(error).hint(SEE))?;
        }
        Ok(config)
    }
}

impl SiteArgs {
    /// Loads the configuration; `flags` are settings that the command's own flags give.
    pub(crate) fn config(&self, flags: &[(&str, Option<&str>)]) -> Result<Config, CliError> {
        self.settings.config(flags)
    }

    /// Where the catalogue is kept.
    pub(crate) fn state_dir(&self, site: &Site) -> Result<PathBuf, CliError> {
        let dir = match &self.data {
            Some(dir) => std::path::absolute(dir).map_err(|error| {
                CliError::failed(format!("failed to find the folder {}", dir.display())).because(error)
            })?,
            None => usual_state_dir(&self.dir)?,
        };
        if site.would_serve(&dir) {
            let what = format!("the state folder {} lies inside the site and would be served with it", dir.display());
            return Err(CliError::new(Kind::Usage, what).hint("give another with --data"));
        }
        Ok(dir)
    }
}

const SEE: &str = "`modoai settings` lists every setting";

impl Config {
    fn tables(&mut self) -> [Box<dyn Target + '_>; 4] {
        [
            Box::new((SETTINGS, &mut self.repository)),
            Box::new((SITE_SETTINGS, &mut self.site)),
            Box::new((SERVER_SETTINGS, &mut self.server)),
            Box::new((FLOW_SETTINGS, &mut self.flow)),
        ]
    }

    /// Paths in a configuration file are relative to that file.
    fn resolve_paths(&mut self, folder: &Path) {
        for area in &mut self.server.area {
            area.htpasswd = folder.join(&area.htpasswd);
        }
    }

    /// URL paths that the server answers itself.
    pub(crate) fn reserved(&self) -> [&str; 2] {
        [&self.server.base_path, HEALTH_PATH]
    }
}

impl Target for Config {
    fn keys(&mut self) -> Vec<&'static str> {
        self.tables().iter_mut().flat_map(|table| table.keys()).collect()
    }

    fn put(&mut self, key: &str, value: &toml::Value) -> Option<Result<(), String>> {
        self.tables().iter_mut().find_map(|table| table.put(key, value))
    }
}

/// A flag's value as text, so that `--url` never reads a number or a date.
fn quoted(key: &str, value: &str) -> String {
    format!("{key}=\"{}\"", value.escape_default())
}

/// Where the catalogue of a folder is kept if nothing is said: `~/.local/state/modoai/sites/` and the site's own path,
/// which is readable, and one place per site.
pub(crate) fn usual_state_dir(dir: &Path) -> Result<PathBuf, CliError> {
    // The path as it was given: where a link stands for the site, what it leads to may change, and it is still the same
    // site.
    let place = match (dir.parent(), dir.file_name()) {
        (Some(parent), Some(name)) => Path::new(".").join(parent).canonicalize().map(|parent| parent.join(name)),
        _ => dir.canonicalize(),
    };
    let root = place.map_err(|error| CliError::failed(format!("failed to find {}", shown(dir))).because(error))?;
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = absolute("XDG_STATE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/state")));
    let state = state.ok_or_else(|| {
        CliError::failed("there is no place to keep the catalogue: neither HOME nor XDG_STATE_HOME is set")
            .hint("give one with --data")
    })?;
    Ok(state.join("modoai/sites").join(root.strip_prefix("/").unwrap_or(&root)))
}

/// A setting as documentation shows it.
pub(crate) struct Row {
    pub(crate) key: &'static str,
    pub(crate) default: &'static str,
    pub(crate) doc: &'static str,
}

/// Every setting, under the title of its table.
pub(crate) fn rows() -> [(&'static str, Vec<Row>); 6] {
    fn of<T>(table: &'static [Setting<T>]) -> Vec<Row> {
        let row = |setting: &Setting<T>| Row {
            key: setting.key,
            default: if setting.default.is_empty() { "\"…\"" } else { setting.default },
            doc: setting.doc,
        };
        table.iter().map(row).collect()
    }
    [
        ("The repository", of(SETTINGS)),
        ("The site", of(SITE_SETTINGS)),
        ("The server", of(SERVER_SETTINGS)),
        ("Flow control", of(FLOW_SETTINGS)),
        ("Areas, each with its own head, at the end of the file\n\n#[[area]]", of(AREA_SETTINGS)),
        ("Harvesters that you know, each with its own head, too\n\n#[[harvester]]", of(HARVESTER_SETTINGS)),
    ]
}

/// Every setting as a commented configuration file.
pub(crate) fn reference() -> String {
    let mut text =
        "# Every setting of modoai with its default. Remove the # in front of what you change.\n\n".to_owned();
    for (title, rows) in rows() {
        text += &format!("## {title}\n\n");
        for Row { key, default, doc } in rows {
            text += &format!("{}#{key} = {}\n\n", wrapped(doc), default.replace('\n', "\n#"));
        }
    }
    text
}

fn wrapped(doc: &str) -> String {
    const WIDTH: usize = 96;
    let mut lines = vec![String::new()];
    for word in doc.split(' ') {
        let line = lines.last_mut().expect("there is always a last line");
        if !line.is_empty() && line.len() + word.len() >= WIDTH {
            lines.push(word.to_owned());
        } else {
            line.push_str(if line.is_empty() { "" } else { " " });
            line.push_str(word);
        }
    }
    lines.iter().map(|line| format!("# {line}\n")).collect()
}

/// The site's folder as a name in messages.
pub(crate) fn shown(path: &Path) -> String {
    let text = path.display().to_string();
    if text.contains(modoai_fetch::is_invisible) { name::encode_segment(text.as_bytes()) } else { text }
}
