//! Settings of flow control: one row each.
//!
//! 0 always means "no limit". The defaults do not limit correct harvesters; only the operator knows how much a site can
//! spare.

use std::time::Duration;

use modoai_settings::{Network, Problem, Setting, Target, Value, apply_defaults, fill};
use xxhash_rust::xxh3::xxh3_64;

use crate::flow::RequestClass;
use crate::site::MAX_LISTS;

/// The limits of one harvester.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// The minimum time between two requests for lists.
    pub list_delay: Duration,
    /// The minimum time between two requests of any kind.
    pub request_delay: Duration,
    /// The maximum number of records, headers and sets per hour; 0 for no limit.
    pub records: u64,
    /// The maximum number of bytes per hour, before compression; 0 for no limit.
    pub bytes: u64,
    /// The maximum number of lists in progress; 0 for no limit.
    pub lists: usize,
}

/// The rules that distinguish harvesters, and the limits of each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowSettings {
    /// The limits of a harvester without a description.
    pub budget: Budget,
    /// The maximum number of lists in progress, of all harvesters together; 0 for as many as suit the host.
    pub lists_at_once: usize,
    /// The percentage of the processors for lists while readers need them.
    pub list_share: u64,
    /// Harvesters with their own rows.
    pub harvester: Vec<HarvesterSettings>,
}

/// A harvester that the operator has described.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HarvesterSettings {
    /// The name in the log.
    pub name: String,
    /// The user that it signs in as.
    pub user: String,
    /// A string that its User-Agent or From contains, in any case.
    pub agent: String,
    /// The networks that it sends requests from.
    pub networks: Vec<Network>,
    /// The limits that differ from the general ones, as keys of [`FLOW_SETTINGS`] and their values.
    pub own: Vec<(&'static str, Value)>,
}

impl Budget {
    /// Returns true if any limit applies to requests of this class.
    pub(crate) fn concerns(&self, class: RequestClass) -> bool {
        let is_hourly = self.records > 0 || self.bytes > 0;
        class.is_list() || !self.request_delay.is_zero() || (class == RequestClass::Record && is_hourly)
    }

    /// Returns a hash of the rates, so that a change of the settings is detected.
    pub(crate) fn hash(&self) -> u64 {
        let Self { list_delay, request_delay, records, bytes, .. } = self;
        xxh3_64(format!("{list_delay:?} {request_delay:?} {records} {bytes}").as_bytes())
    }
}

/// The general settings that a harvester can have its own values for.
const LIMITS: [&str; 5] = ["list_delay", "request_delay", "records_per_hour", "bytes_per_hour", "lists_per_harvester"];

impl Target for HarvesterSettings {
    fn keys(&mut self) -> Vec<&'static str> {
        HARVESTER_SETTINGS.iter().map(|setting| setting.key).chain(LIMITS).collect()
    }

    fn put(&mut self, key: &str, value: &Value) -> Option<Result<(), Problem>> {
        let Some(limit) = LIMITS.into_iter().find(|limit| *limit == key) else {
            return (HARVESTER_SETTINGS, self).put(key, value);
        };
        let checked = (FLOW_SETTINGS, &mut FlowSettings::of(Budget::default())).put(key, value)?;
        Some(checked.map(|()| self.own.push((limit, value.clone()))))
    }
}

impl FlowSettings {
    fn of(budget: Budget) -> Self {
        Self { budget, lists_at_once: 0, list_share: 0, harvester: Vec::new() }
    }
}

impl Default for FlowSettings {
    fn default() -> Self {
        let mut settings = Self::of(Budget::default());
        apply_defaults(FLOW_SETTINGS, &mut settings);
        settings
    }
}

/// The settings of flow control.
pub const FLOW_SETTINGS: &[Setting<FlowSettings>] = &[
    Setting {
        key: "list_delay",
        default: "0",
        doc: "Minimum time between two list requests of one harvester, such as \"3s\"; 0 for none. An earlier request gets status 503 with Retry-After.",
        set: |s, v| v.duration().map(|time| s.budget.list_delay = time),
    },
    Setting {
        key: "request_delay",
        default: "0",
        doc: "Minimum time between two requests of any kind of one harvester, Identify included, such as \"1s\"; 0 for none. An earlier request gets status 503 with Retry-After.",
        set: |s, v| v.duration().map(|time| s.budget.request_delay = time),
    },
    Setting {
        key: "records_per_hour",
        default: "0",
        doc: "Maximum number of records, headers and sets per hour for one harvester; 0 for no limit. Unused budget accumulates for up to an hour.",
        set: |s, v| v.number(0..=u64::MAX).map(|number| s.budget.records = number),
    },
    Setting {
        key: "bytes_per_hour",
        default: "0",
        doc: "Maximum number of bytes per hour for one harvester, before compression, such as \"4G\"; 0 for no limit.",
        set: |s, v| v.bytes().map(|bytes| s.budget.bytes = bytes),
    },
    Setting {
        key: "lists_per_harvester",
        default: "16",
        doc: "Maximum number of concurrent lists of one harvester, up to three quarters of lists_at_once; 0 for no limit. A harvester that requests one page after the other has one.",
        set: |s, v| v.number(0..=MAX_LISTS as u64).map(|number| s.budget.lists = number),
    },
    Setting {
        key: "lists_at_once",
        default: "0",
        doc: "Maximum number of concurrent lists of all harvesters in all processes, up to 500; 0 selects a number that suits the machine. Further requests wait up to two seconds (not in Apache), then get status 503 with Retry-After.",
        set: |s, v| v.number(0..=MAX_LISTS as u64).map(|number| s.lists_at_once = number),
    },
    Setting {
        key: "list_share",
        default: "10",
        doc: "Percentage of the processor time that all lists together may use while visitors use the site and the processors are busy. Idle processors are used in full. 100 for no limit.",
        set: |s, v| v.number(1..=100).map(|share| s.list_share = share),
    },
    Setting {
        key: "harvester",
        default: "[]",
        doc: "Known harvesters, one [[harvester]] each, with the keys name, user, agent, networks, list_delay, request_delay, records_per_hour, bytes_per_hour and lists_per_harvester. The first match applies.",
        set: |s, v| {
            s.harvester = v.tables("harvester")?.into_iter().map(harvester).collect::<Result<_, _>>()?;
            Ok(())
        },
    },
];

/// The settings of one `[[harvester]]`.
pub const HARVESTER_SETTINGS: &[Setting<HarvesterSettings>] = &[
    Setting {
        key: "name",
        default: "",
        doc: "Name in the log, such as \"BASE\".",
        set: |s, v| match v.text()? {
            name if name.is_empty() || name.contains(char::is_control) => Err("needs a name".into()),
            name => {
                name.clone_into(&mut s.name);
                Ok(())
            }
        },
    },
    Setting {
        key: "user",
        default: "\"\"",
        doc: "User name, for a repository with passwords.",
        set: |s, v| v.text().map(|user| user.clone_into(&mut s.user)),
    },
    Setting {
        key: "agent",
        default: "\"\"",
        doc: "Part of its User-Agent or From header. Any client can send this, so set networks too if the limits are higher than the general ones.",
        set: |s, v| v.text().map(|agent| s.agent = agent.to_lowercase()),
    },
    Setting {
        key: "networks",
        default: "[]",
        doc: "Addresses and networks such as \"192.0.2.0/24\". All given keys of user, agent and networks must match. A harvester can also have its own list_delay, request_delay, records_per_hour, bytes_per_hour and lists_per_harvester; the default of each is the general value.",
        set: |s, v| v.networks().map(|networks| s.networks = networks),
    },
];

fn harvester(table: &Value) -> Result<HarvesterSettings, Problem> {
    let mut harvester = HarvesterSettings::default();
    fill(table, &mut harvester)?;
    match harvester {
        harvester if harvester.name.is_empty() => Err(table.problem("needs a name for each harvester")),
        harvester if harvester.is_vague() => {
            Err(table.problem(format!("needs a user, an agent or networks to identify {}", harvester.name)))
        }
        harvester => Ok(harvester),
    }
}

impl HarvesterSettings {
    /// Returns the limits of this harvester.
    pub(crate) fn budget(&self, general: &Budget) -> Budget {
        let mut settings = FlowSettings::of(*general);
        for (key, value) in &self.own {
            // Checked when it was read.
            let _ = (FLOW_SETTINGS, &mut settings).put(key, value);
        }
        settings.budget
    }

    fn is_vague(&self) -> bool {
        self.user.is_empty() && self.agent.is_empty() && self.networks.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    use modoai_settings::load;

    fn loaded(text: &str) -> Result<FlowSettings, Problem> {
        let mut settings = FlowSettings::default();
        load(text, Path::new(""), &mut (FLOW_SETTINGS, &mut settings)).map(|()| settings)
    }

    #[test]
    fn every_default_is_legal_and_every_row_explained() {
        let settings = loaded("").expect("defaults");
        assert_eq!(settings, FlowSettings::default());
        assert_eq!((settings.budget.records, settings.budget.lists, settings.list_share), (0, 16, 10));
        let docs = FLOW_SETTINGS.iter().map(|setting| (setting.key, setting.doc));
        for (key, doc) in docs.chain(HARVESTER_SETTINGS.iter().map(|setting| (setting.key, setting.doc))) {
            assert!(doc.ends_with('.'), "{key} wants an explanation");
        }
    }

    #[test]
    fn a_harvester_has_what_its_row_says_and_the_rest_of_everybody() {
        let text = "records_per_hour = 1000\nlist_delay = '3s'\n\
            [[harvester]]\nname = 'BASE'\nagent = 'BASE harvester'\nnetworks = ['192.0.2.0/24']\nrecords_per_hour = 0\n";
        let settings = loaded(text).expect("a harvester");
        let row = &settings.harvester[0];
        assert_eq!((row.name.as_str(), row.agent.as_str()), ("BASE", "base harvester"));
        let budget = row.budget(&settings.budget);
        assert_eq!((budget.records, budget.list_delay, budget.lists), (0, Duration::from_secs(3), 16));
    }

    #[test]
    fn a_bad_value_says_what_is_needed() {
        for (text, needed) in [
            ("records_per_hour = -1", "at least 0"),
            ("bytes_per_hour = 'lots'", "needs a number of bytes"),
            ("lists_per_harvester = 501", "to 500"),
            ("lists_at_once = 501", "to 500"),
            ("list_share = 101", "from 1 to 100"),
            ("list_share = 0", "from 1 to 100"),
            ("harvester = 'BASE'", "[[harvester]]"),
            ("[[harvester]]\nagent = 'x'", "needs a name"),
            ("[[harvester]]\nname = 'x'", "to identify x"),
            ("[[harvester]]\nname = 'x'\nnetworks = 'home'", "invalid network"),
            ("[[harvester]]\nname = 'x'\nagnet = 'x'", "did you mean 'agent'"),
        ] {
            let message = loaded(text).expect_err(text).to_string();
            assert!(message.contains(needed), "{text}: {message}");
        }
    }
}
