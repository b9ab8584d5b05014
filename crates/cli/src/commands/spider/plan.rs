//! Reads TARGET: a URL is a plan of one task; any other value is a file of tasks.

use std::path::{Path, PathBuf};

use modoai_fetch::{Credential, Url};
use modoai_spider::task::{Action, Plan, Restriction, Scope, Task};

use super::{OwnerHosts, SpiderCommand, folder};
use crate::error::{CliError, Kind};
use crate::place::{own_place, web_url};

impl SpiderCommand {
    /// Returns the plan with the options of the command line, and the credentials in its URLs. No table, report or mail
    /// contains the credentials.
    pub(super) fn plan(&self) -> Result<(Plan, Vec<Credential>), CliError> {
        if self.base.is_some() && self.folder().is_none() {
            return Err(CliError::new(Kind::Usage, "--base requires a directory as TARGET"));
        }
        let mut plan = match web_url(&self.target) {
            Some(top) => Plan { tasks: vec![self.task(top)?], ..Plan::default() },
            None => match self.folder() {
                Some(folder) => Plan { tasks: vec![self.folder_task(folder)?], ..Plan::default() },
                None => self.file()?,
            },
        };
        let credentials = self.remote.credentials_of(plan.tasks.iter_mut().map(|task| &mut task.top))?;
        let given = [("--avoid", Action::Avoid, &self.avoid), ("--leaf", Action::Leaf, &self.leaf)];
        for (option, action, prefixes) in given {
            for prefix in prefixes {
                let url = Url::parse(prefix).map_err(|error| {
                    CliError::new(Kind::Usage, format!("invalid URL prefix {prefix:?}")).because(error)
                })?;
                plan.restrictions.push(Restriction {
                    action,
                    prefix: url.into(),
                    until: None,
                    origin: option.to_owned(),
                });
            }
        }
        for task in &mut plan.tasks {
            task.any_host = self.owner_hosts == OwnerHosts::Any;
            task.change_window = self.changed.or(task.change_window);
            task.expire_window = self.expiring.or(task.expire_window);
        }
        Ok((plan, credentials))
    }

    fn task(&self, top: Url) -> Result<Task, CliError> {
        let Some(host) = top.host_str() else {
            return Err(CliError::new(Kind::Usage, format!("{top} has no host")));
        };
        let scope = if self.tree { Scope::Tree } else { Scope::Site };
        let name = top.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
        Ok(Task { index_file: self.html.clone(), ..Task::new(name, scope, top) })
    }

    /// Returns the directory that is checked, if TARGET is one.
    pub(super) fn folder(&self) -> Option<&Path> {
        let path = Path::new(&self.target);
        (web_url(&self.target).is_none() && path.is_dir()).then_some(path)
    }

    fn folder_task(&self, folder: &Path) -> Result<Task, CliError> {
        let base = match &self.base {
            Some(base) => base.join("."),
            None => Url::parse(folder::BASE),
        };
        let base = base.map_err(|error| CliError::new(Kind::Usage, "invalid --base").because(error))?;
        let name =
            std::path::absolute(folder).ok().and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
        let name = name.unwrap_or_else(|| "folder".to_owned());
        Ok(Task { index_file: self.html.clone(), ..Task::new(name, Scope::Tree, base) })
    }

    fn file(&self) -> Result<Plan, CliError> {
        if self.tree || self.html.is_some() {
            let message = "--tree and --html require a URL as TARGET; tasks define their own scope and index file";
            return Err(CliError::new(Kind::Usage, message));
        }
        let path = Path::new(&self.target);
        if !path.exists() {
            return Err(CliError::new(Kind::Usage, format!("file {} not found", self.target))
                .hint("a URL must begin with http:// or https://"));
        }
        let plan = Plan::read(path).map_err(|error| CliError::new(Kind::Config, "invalid tasks").because(error))?;
        if plan.tasks.is_empty() {
            return Err(CliError::new(Kind::Config, format!("{} contains no task", self.target)));
        }
        Ok(plan)
    }
}

/// Returns the path of a target's table.
pub(super) fn own_table(target: &str) -> Result<PathBuf, CliError> {
    let place = own_place("spider", target).ok_or_else(|| {
        CliError::new(Kind::Usage, "cannot determine the state directory: HOME is not set")
            .hint("give a file with --table, or --no-table")
    })?;
    let mut file = place.into_os_string();
    file.push(".table");
    Ok(file.into())
}
