//! The configuration that results from the directives.

use std::ffi::CString;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use modoai_flow::{Effort, FLOW_SETTINGS, FlowSettings, Processors};
use modoai_httpd::server::Server;
use modoai_repository::catalogue::Location;
use modoai_repository::settings::{SETTINGS, Settings};
use modoai_repository::site::{Links, SITE_SETTINGS, SiteSettings};
use modoai_settings::{Problem, Target as _, Value};

use crate::house::Door;

/// The configuration of a server or virtual host.
#[derive(Default)]
pub(crate) struct ServerConfig {
    /// `OAIEngine`.
    pub(crate) engine: Option<bool>,
    /// Values for the tables of settings, in the order of their directives.
    assigned: Vec<(&'static str, Value)>,
    /// `OAIHarvester`.
    harvesters: Vec<Value>,
    /// `OAISet`.
    sets: Vec<Value>,
    /// `OAIIgnore`, and `!*` as none.
    pub(crate) ignore: Vec<Option<String>>,
    /// `OAIIndexDir`.
    pub(crate) index_dir: Option<PathBuf>,
    /// `OAISiteURL`.
    pub(crate) site_url: Option<String>,
    /// `OAITraffic`.
    pub(crate) traffic: Option<bool>,
    /// `OAIRoot` and `Alias`: URL paths as written, and the directories that they map to.
    pub(crate) places: Vec<(String, PathBuf)>,
    /// The last `UserDir` that sets a location.
    pub(crate) user_dir: Option<Vec<String>>,
    /// `OAIUsers`.
    pub(crate) users: Option<Vec<String>>,
    /// URL paths at which the handler was set.
    pub(crate) endpoints: Vec<String>,
    /// `OAICatalogue`: the section that has it, or none for all of them, and the location.
    pub(crate) catalogues: Vec<(Option<String>, Location)>,
    /// Sections with their own settings, and the directive that sets them.
    pub(crate) settings_in: Vec<(String, String)>,
    /// Filters that run a program: `ExtFilterDefine`, `LuaOutputFilter`.
    pub(crate) program_filters: Vec<CString>,
    /// The state that a child has opened for this server.
    pub(crate) door: Door,
    /// The processors, which all servers share.
    pub(crate) processors: OnceLock<Arc<Processors>>,
    /// Time spent on items that are hidden from a requester.
    pub(crate) effort: OnceLock<Arc<Effort>>,
}

impl ServerConfig {
    /// Returns this configuration overlaid by another.
    pub(crate) fn overlaid_by(&self, own: &Self) -> Self {
        Self {
            engine: own.engine.or(self.engine),
            assigned: [&self.assigned[..], &own.assigned].concat(),
            // The first that matches is used.
            harvesters: [&own.harvesters[..], &self.harvesters].concat(),
            // A host can redefine a set.
            sets: self.sets.iter().filter(|set| !own.has_set_like(set)).chain(&own.sets).cloned().collect(),
            ignore: [&self.ignore[..], &own.ignore].concat(),
            index_dir: own.index_dir.clone().or_else(|| self.index_dir.clone()),
            site_url: own.site_url.clone().or_else(|| self.site_url.clone()),
            traffic: own.traffic.or(self.traffic),
            places: [&self.places[..], &own.places].concat(),
            user_dir: own.user_dir.clone().or_else(|| self.user_dir.clone()),
            users: own.users.clone().or_else(|| self.users.clone()),
            endpoints: [&self.endpoints[..], &own.endpoints].concat(),
            catalogues: [&self.catalogues[..], &own.catalogues].concat(),
            settings_in: [&self.settings_in[..], &own.settings_in].concat(),
            program_filters: [&self.program_filters[..], &own.program_filters].concat(),
            door: Door::default(),
            processors: OnceLock::new(),
            effort: OnceLock::new(),
        }
    }

    /// Returns the state by which lists of this server share the processors. If no parent prepared it, it belongs to
    /// this process alone.
    pub(crate) fn processors(&self) -> Arc<Processors> {
        self.processors.get_or_init(Arc::default).clone()
    }

    /// Notes a value for a setting; fails with the kind of value that it needs.
    pub(crate) fn assign(&mut self, key: &'static str, value: Value) -> Result<(), String> {
        All::default().put(key, &value)?;
        self.assigned.push((key, value));
        Ok(())
    }

    /// Notes a harvester; fails with the problem of an invalid one.
    pub(crate) fn describe(&mut self, harvester: Value) -> Result<(), String> {
        All::default().put("harvester", &harvester)?;
        self.harvesters.push(harvester);
        Ok(())
    }

    /// Notes a set; fails with the problem of an invalid one.
    pub(crate) fn add_set(&mut self, set: Value) -> Result<(), String> {
        let sets = [&self.sets[..], &[set]].concat();
        All::default().put("set", &list(&sets))?;
        self.sets = sets;
        Ok(())
    }

    /// Returns true if a set with the same setSpec is defined here.
    fn has_set_like(&self, other: &Value) -> bool {
        self.sets.iter().any(|set| set.get("spec") == other.get("spec"))
    }

    /// Returns the settings of the repository of a server. Settings without a directive are derived from httpd's
    /// configuration.
    pub(crate) fn settings(&self, server: &Server<'_>) -> All {
        let mut all = All::default();
        all.settings.repository_name = server.name().to_owned();
        let admin = server.admin().filter(|admin| admin.contains('@')).map(Value::from);
        let harvesters = list(&self.harvesters);
        let sets = list(&self.sets);
        let told = admin.iter().map(|admin| ("admin_email", admin));
        let told = told.chain([("harvester", &harvesters), ("set", &sets)]);
        for (key, value) in told.chain(self.assigned.iter().map(|(k, v)| (*k, v))) {
            // Checked when the directive was read; an invalid address of httpd's own is left out.
            let _ = all.put(key, value);
        }
        for step in &self.ignore {
            match step {
                Some(pattern) => all.site.ignore.push(pattern.clone()),
                None => all.site.ignore.clear(),
            }
        }
        // httpd decides with every request which links are followed.
        all.site.follow_links = Links::Anywhere;
        // httpd also decides which files are code: it runs a program for them, or refuses them.
        all.site.withhold = Vec::new();
        all
    }

    /// Returns the settings of the repository of a catalogue: those of its section override those of the server.
    pub(crate) fn settings_of(&self, server: &Server<'_>, catalogue: &CatalogueConfig) -> All {
        let mut all = self.settings(server);
        if catalogue.section.is_some() {
            // The prefix of the site's identifiers does not apply to those of a catalogue.
            all.settings.repository_identifier = None;
        }
        for (key, value) in &catalogue.assigned {
            // Checked when the directive was read.
            let _ = all.put(key, value);
        }
        all
    }

    /// `OAIEngine`.
    pub(crate) fn is_enabled(&self) -> bool {
        self.engine.unwrap_or(true)
    }

    /// Returns true if the site of this server has a repository: at some URL that is not a catalogue's.
    pub(crate) fn is_on(&self) -> bool {
        self.is_enabled() && self.endpoints.iter().any(|endpoint| !self.has_catalogue_at(endpoint))
    }

    /// Returns a section that has settings, but no catalogue that they apply to.
    pub(crate) fn settings_without_a_catalogue(&self) -> Option<&(String, String)> {
        self.settings_in.iter().find(|(section, _)| !self.has_catalogue_at(section))
    }

    /// Returns true if a section, or one that contains it, has a catalogue.
    fn has_catalogue_at(&self, path: &str) -> bool {
        self.catalogues.iter().any(|(section, _)| match section.as_deref().map(|at| at.trim_end_matches('/')) {
            None => true,
            Some(at) => path.strip_prefix(at).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')),
        })
    }
}

/// A catalogue that is served without a site, as a section has it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CatalogueConfig {
    /// `OAICatalogue`.
    pub(crate) location: Option<Location>,
    /// The section that contains it.
    pub(crate) section: Option<String>,
    /// Values for the tables of settings, in the order of their directives.
    assigned: Vec<(&'static str, Value)>,
}

impl CatalogueConfig {
    /// Notes a value for a setting; fails with the kind of value that it needs.
    pub(crate) fn assign(&mut self, key: &'static str, value: Value) -> Result<(), String> {
        All::default().put(key, &value)?;
        self.assigned.push((key, value));
        Ok(())
    }

    /// Returns this catalogue overlaid by that of an inner section.
    fn overlaid_by(&self, own: &Self) -> Self {
        let place = if own.location.is_some() { own } else { self };
        let assigned = [&self.assigned[..], &own.assigned].concat();
        Self { location: place.location.clone(), section: place.section.clone(), assigned }
    }
}

/// The configuration that results from the tables of settings.
#[derive(Default)]
pub(crate) struct All {
    pub(crate) settings: Settings,
    pub(crate) site: SiteSettings,
    pub(crate) flow: FlowSettings,
}

impl All {
    fn put(&mut self, key: &str, value: &Value) -> Result<(), String> {
        let put = (SETTINGS, &mut self.settings).put(key, value);
        let put = put.or_else(|| (SITE_SETTINGS, &mut self.site).put(key, value));
        let put = put.or_else(|| (FLOW_SETTINGS, &mut self.flow).put(key, value));
        put.unwrap_or_else(|| Err("is an unknown setting".into())).map_err(Problem::predicate)
    }
}

/// The configuration of a section, a folder or a `.htaccess`. It is created with every request that matches one, so it
/// is small, and merging shares existing values.
#[derive(Clone, Default)]
pub(crate) struct DirectoryConfig {
    /// `IndexIgnore`.
    pub(crate) index_ignore: Option<Arc<Vec<CString>>>,
    /// `IndexIgnoreReset`.
    pub(crate) index_ignore_reset: bool,
    /// True if a request for something here makes mod_ssl renegotiate with the client.
    pub(crate) asks_for_certificate: bool,
    /// Filters that run a program and are defined here: `LuaOutputFilter`.
    pub(crate) program_filters: Option<Arc<Vec<CString>>>,
    /// Media types for which `Action` runs a script.
    pub(crate) actions: Option<Arc<Vec<String>>>,
    /// True if `SetHandler` makes the repository respond here.
    pub(crate) is_repository: Option<bool>,
    /// The catalogue that is served here instead of the site.
    pub(crate) catalogue: Option<Arc<CatalogueConfig>>,
}

impl DirectoryConfig {
    /// Returns this configuration overlaid by an inner one.
    pub(crate) fn overlaid_by(&self, own: &Self) -> Self {
        let outer = if own.index_ignore_reset { &None } else { &self.index_ignore };
        Self {
            index_ignore: joined(outer, &own.index_ignore),
            index_ignore_reset: self.index_ignore_reset || own.index_ignore_reset,
            asks_for_certificate: self.asks_for_certificate || own.asks_for_certificate,
            program_filters: joined(&self.program_filters, &own.program_filters),
            actions: joined(&self.actions, &own.actions),
            is_repository: own.is_repository.or(self.is_repository),
            catalogue: match (&self.catalogue, &own.catalogue) {
                (Some(outer), Some(inner)) => Some(Arc::new(outer.overlaid_by(inner))),
                (outer, inner) => inner.clone().or_else(|| outer.clone()),
            },
        }
    }
}

fn list(items: &[Value]) -> Value {
    items.iter().cloned().collect()
}

fn joined<T: Clone>(outer: &Option<Arc<Vec<T>>>, inner: &Option<Arc<Vec<T>>>) -> Option<Arc<Vec<T>>> {
    match (outer, inner) {
        (Some(outer), Some(inner)) => Some(Arc::new([&outer[..], inner].concat())),
        (outer, inner) => outer.clone().or_else(|| inner.clone()),
    }
}
