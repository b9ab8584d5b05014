//! Configuration: flags override `--option`, `--option` overrides environment variables, those override the file, and the
//! file overrides the defaults.

use std::path::{Path, PathBuf};

use clap::Args;
use modoai_flow::{FLOW_SETTINGS, FlowSettings, HARVESTER_SETTINGS};
use modoai_repository::sets::SET_SETTINGS;
use modoai_repository::settings::{FORMER, SETTINGS};
use modoai_repository::site::{SITE_SETTINGS, SiteSettings, name};
use modoai_repository::{Settings, site::Site};
use modoai_server::{AREA_SETTINGS, HEALTH_PATH, SERVER_SETTINGS, ServerSettings};
use modoai_settings::{
    Former, Problem, Setting, Target, Value, assign, load, load_variables, misspelt_variable, variable,
};

use crate::error::{CliError, Kind};

/// The arguments of commands for a directory.
#[derive(Debug, Args)]
pub(crate) struct SiteArgs {
    /// Directory of the site.
    pub(crate) dir: PathBuf,
    /// Directory for the catalogue [default: one per site in the state directory of the user]
    #[arg(long, value_name = "STATE_DIR", value_parser = crate::place::state_dir())]
    data: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
}

/// The arguments of commands that need settings.
#[derive(Clone, Debug, Args)]
pub(crate) struct SettingsArgs {
    /// Configuration file; `modoai settings` prints a template.
    #[arg(long, value_name = "FILE", env = "MODOAI_CONFIG")]
    config: Option<PathBuf>,
    /// Public URL of the site; the prefix of all identifiers.
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// Override one setting (repeatable).
    #[arg(long = "option", value_name = "KEY=VALUE")]
    assignments: Vec<String>,
    /// Former name of --option. In `modoai harvest`, --set selects an OAI-PMH set.
    #[arg(long = "set", value_name = "KEY=VALUE", hide = true, value_parser = renamed)]
    renamed: Vec<String>,
}

fn renamed(assignment: &str) -> Result<String, String> {
    Err(format!("to override a setting, use --option {assignment}"))
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
            load(&text, path.parent().unwrap_or(Path::new("")), &mut config)
                .map_err(|error| CliError::new(Kind::Config, error.place(path)).because(error).hint(SEE))?;
        }
        config.load_environment()?;
        let given = flags.iter().copied().chain([("url", self.url.as_deref())]);
        let flags = given.filter_map(|(key, value)| value.map(|value| (format!("--{key}"), quoted(key, value))));
        let sets = self.assignments.iter().map(|assignment| ("--option".to_owned(), assignment.clone()));
        for (option, assignment) in sets.chain(flags) {
            assign(&assignment, &mut config)
                .map_err(|error| CliError::new(Kind::Config, option).because(error).hint(SEE))?;
        }
        crate::log::set_format(config.server.log_format);
        Ok(config)
    }
}

impl SiteArgs {
    /// Loads the configuration; `flags` are settings that the command's own flags give.
    pub(crate) fn config(&self, flags: &[(&str, Option<&str>)]) -> Result<Config, CliError> {
        self.settings.config(flags)
    }

    /// Returns the directory of the catalogue.
    pub(crate) fn state_dir(&self, site: &Site) -> Result<PathBuf, CliError> {
        let dir = match &self.data {
            Some(dir) => std::path::absolute(dir).map_err(|error| {
                CliError::failed(format!("failed to find the directory {}", dir.display())).because(error)
            })?,
            None => usual_state_dir(&self.dir)?,
        };
        if site.would_serve(&dir) {
            let what = format!("the state directory {} is inside the site and would be served with it", dir.display());
            return Err(CliError::new(Kind::Usage, what).hint("give another directory with --data"));
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

    fn load_environment(&mut self) -> Result<(), CliError> {
        let value = |name: &str| std::env::var_os(name).map(|value| value.to_string_lossy().into_owned());
        load_variables(value, self)
            .map_err(|(name, error)| CliError::new(Kind::Config, name).because(error).hint(SEE))?;
        for name in std::env::vars_os().filter_map(|(name, _)| name.into_string().ok()) {
            if let Some(key) = misspelt_variable(&name, self) {
                tracing::warn!("ignored the environment variable {name}; did you mean {}?", variable(key));
            }
        }
        Ok(())
    }

    /// Returns the keys of settings that Identify shows and that still have their defaults.
    pub(crate) fn left_at_default(&self) -> Vec<&'static str> {
        let usual = Settings::default();
        let name = (self.repository.repository_name == usual.repository_name).then_some("repository_name");
        let email = (self.repository.admin_email == usual.admin_email).then_some("admin_email");
        name.into_iter().chain(email).collect()
    }

    /// Returns the URL paths that the server itself handles.
    pub(crate) fn reserved(&self) -> [&str; 2] {
        [&self.server.base_path, HEALTH_PATH]
    }
}

impl Target for Config {
    fn keys(&mut self) -> Vec<&'static str> {
        self.tables().iter_mut().flat_map(|table| table.keys()).collect()
    }

    fn put(&mut self, key: &str, value: &Value) -> Option<Result<(), Problem>> {
        self.tables().iter_mut().find_map(|table| table.put(key, value))
    }

    fn former(&self) -> Former {
        FORMER
    }
}

/// Returns a flag's value as text, so that `--url` never reads a number or a date.
fn quoted(key: &str, value: &str) -> String {
    format!("{key}=\"{}\"", value.escape_default())
}

/// Returns the default directory of a catalogue: `~/.local/state/modoai/sites/` and the site's own path, which is
/// readable and unique for each site.
pub(crate) fn usual_state_dir(dir: &Path) -> Result<PathBuf, CliError> {
    // The path is not resolved: if the site is given as a symbolic link, its target may change, and it is still the
    // same site.
    let place = match (dir.parent(), dir.file_name()) {
        (Some(parent), Some(name)) => Path::new(".").join(parent).canonicalize().map(|parent| parent.join(name)),
        _ => dir.canonicalize(),
    };
    let root = place.map_err(|error| CliError::failed(format!("failed to find {}", shown(dir))).because(error))?;
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = absolute("XDG_STATE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/state")));
    let state = state.ok_or_else(|| {
        CliError::failed("cannot determine the state directory: neither HOME nor XDG_STATE_HOME is set")
            .hint("give a directory for the catalogue with --data")
    })?;
    Ok(state.join("modoai/sites").join(root.strip_prefix("/").unwrap_or(&root)))
}

/// A setting in the documentation.
pub(crate) struct Row {
    pub(crate) key: &'static str,
    pub(crate) default: &'static str,
    pub(crate) doc: &'static str,
}

/// Returns every setting, under the title of its table.
pub(crate) fn rows() -> [(&'static str, Vec<Row>); 7] {
    fn of<T>(table: &'static [Setting<T>]) -> Vec<Row> {
        let row = |setting: &Setting<T>| Row {
            key: setting.key,
            default: if setting.default.is_empty() { "\"…\"" } else { setting.default },
            doc: setting.doc.trim(),
        };
        table.iter().map(row).collect()
    }
    [
        ("The repository", of(SETTINGS)),
        ("The site", of(SITE_SETTINGS)),
        ("The server", of(SERVER_SETTINGS)),
        ("Flow control", of(FLOW_SETTINGS)),
        ("Areas: one table each, at the end of the file\n\n#[[area]]", of(AREA_SETTINGS)),
        ("Known harvesters: one table each, at the end of the file\n\n#[[harvester]]", of(HARVESTER_SETTINGS)),
        ("Sets of a site: one table each, at the end of the file\n\n#[[set]]", of(SET_SETTINGS)),
    ]
}

/// Returns every setting as a commented configuration file.
pub(crate) fn reference() -> String {
    let mut text = "# All settings of modoai with their defaults. To change one, remove the # in front of it.\n\
         # The environment variable of a setting is MODOAI_ and its name in capitals: MODOAI_LISTEN.\n\n"
        .to_owned();
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

/// Returns the site's directory as a name in messages.
pub(crate) fn shown(path: &Path) -> String {
    let text = path.display().to_string();
    if text.contains(modoai_fetch::is_invisible) { name::encode_segment(text.as_bytes()) } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loaded(variables: &[(String, String)]) -> Result<Config, (String, Problem)> {
        let mut config = Config::default();
        let lookup = |name: &str| variables.iter().find(|(given, _)| given == name).map(|(_, value)| value.clone());
        load_variables(lookup, &mut config).map(|()| config)
    }

    #[test]
    fn every_setting_is_read_from_its_variable() {
        let keys = Config::default().keys();
        assert!((35..=42).contains(&keys.len()), "{}: {keys:?}", keys.len());
        for key in keys {
            // No setting is a date.
            let error = loaded(&[(variable(key), "1979-05-27".to_owned())]).expect_err(key);
            assert_eq!(error.0, format!("MODOAI_{}", key.to_uppercase()));
            assert!(error.1.what.starts_with(&format!("setting '{key}' ")), "{error:?}");
            assert!(loaded(&[(variable(key), String::new())]).is_ok(), "an empty {key} counts as not set");
            assert_ne!(variable(key), "MODOAI_CONFIG", "clap reads that variable");
        }
    }

    #[test]
    fn every_default_may_be_written_into_a_variable() {
        fn defaults<T>(table: &'static [Setting<T>]) -> impl Iterator<Item = (String, String)> {
            table.iter().map(|setting| (variable(setting.key), setting.default.to_owned()))
        }
        let variables: Vec<_> = defaults(SETTINGS)
            .chain(defaults(SITE_SETTINGS))
            .chain(defaults(SERVER_SETTINGS))
            .chain(defaults(FLOW_SETTINGS))
            .collect();
        let (config, usual) = (loaded(&variables).expect("defaults are legal"), Config::default());
        assert_eq!((config.repository, config.server), (usual.repository, usual.server));
    }

    #[test]
    fn tables_are_written_as_in_toml_and_misspelt_variables_are_found() {
        let area = "[{ path = '/private', htpasswd = 'users' }]".to_owned();
        let config = loaded(&[("MODOAI_AREA".to_owned(), area)]).expect("an area");
        assert_eq!(config.server.area[0].path, "/private");
        let mut config = Config::default();
        assert_eq!(misspelt_variable("MODOAI_RECORDS_PER_PAG", &mut config), Some("records_per_page"));
        for unrelated in ["MODOAI_RECORDS_PER_PAGE", "MODOAI_PASSWORD", "MODOAI_CONFIG", "MODOAI_BIN", "PATH"] {
            assert_eq!(misspelt_variable(unrelated, &mut config), None, "{unrelated}");
        }
    }
}
