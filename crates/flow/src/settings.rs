//! Settings of flow control: one row each, as in [`modoai_repository::settings`].
//!
//! 0 always means "no limit". The defaults do not limit correct harvesters; only the operator knows how much a site can
//! spare.

use std::time::Duration;

use modoai_repository::settings::{Setting, apply_defaults, load, value};

use xxhash_rust::xxh3::xxh3_64;

use crate::flow::RequestClass;
use crate::network::Network;
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
    /// The limits that differ from the common budget.
    pub own: OwnBudget,
}

/// The limits that differ from the common budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OwnBudget {
    /// See [`Budget::list_delay`].
    pub list_delay: Option<Duration>,
    /// See [`Budget::request_delay`].
    pub request_delay: Option<Duration>,
    /// See [`Budget::records`].
    pub records: Option<u64>,
    /// See [`Budget::bytes`].
    pub bytes: Option<u64>,
    /// See [`Budget::lists`].
    pub lists: Option<usize>,
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

impl OwnBudget {
    /// Returns the common budget with these limits applied.
    pub fn over(&self, everybody: &Budget) -> Budget {
        Budget {
            list_delay: self.list_delay.unwrap_or(everybody.list_delay),
            request_delay: self.request_delay.unwrap_or(everybody.request_delay),
            records: self.records.unwrap_or(everybody.records),
            bytes: self.bytes.unwrap_or(everybody.bytes),
            lists: self.lists.unwrap_or(everybody.lists),
        }
    }
}

impl Default for FlowSettings {
    fn default() -> Self {
        let mut settings = Self { budget: Budget::default(), lists_at_once: 0, list_share: 0, harvester: Vec::new() };
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
        set: |s, v| value::duration(v).map(|time| s.budget.list_delay = time),
    },
    Setting {
        key: "request_delay",
        default: "0",
        doc: "Minimum time between two requests of any kind of one harvester, Identify included, such as \"1s\"; 0 for none. An earlier request gets status 503 with Retry-After.",
        set: |s, v| value::duration(v).map(|time| s.budget.request_delay = time),
    },
    Setting {
        key: "records_per_hour",
        default: "0",
        doc: "Maximum number of records, headers and sets per hour for one harvester; 0 for no limit. Unused budget accumulates for up to an hour.",
        set: |s, v| value::number(v, 0).map(|number| s.budget.records = number),
    },
    Setting {
        key: "bytes_per_hour",
        default: "0",
        doc: "Maximum number of bytes per hour for one harvester, before compression, such as \"4G\"; 0 for no limit.",
        set: |s, v| value::bytes(v).map(|bytes| s.budget.bytes = bytes),
    },
    Setting {
        key: "lists_per_harvester",
        default: "16",
        doc: "Maximum number of concurrent lists of one harvester, up to three quarters of lists_at_once; 0 for no limit. A harvester that requests one page after the other has one.",
        set: |s, v| up_to(v, MAX_LISTS).map(|number| s.budget.lists = number),
    },
    Setting {
        key: "lists_at_once",
        default: "0",
        doc: "Maximum number of concurrent lists of all harvesters in all processes, up to 500; 0 selects a number that suits the machine. Further requests wait up to two seconds (not in Apache), then get status 503 with Retry-After.",
        set: |s, v| up_to(v, MAX_LISTS).map(|number| s.lists_at_once = number),
    },
    Setting {
        key: "list_share",
        default: "10",
        doc: "Percentage of the processor time that all lists together may use while visitors use the site and the processors are busy. Idle processors are used in full. 100 for no limit.",
        set: |s, v| match value::number(v, 1)? {
            share @ 1..=100 => {
                s.list_share = share;
                Ok(())
            }
            _ => Err("needs a percentage from 1 to 100".to_owned()),
        },
    },
    Setting {
        key: "harvester",
        default: "[]",
        doc: "Known harvesters, one [[harvester]] each, with the keys name, user, agent, networks, list_delay, request_delay, records_per_hour, bytes_per_hour and lists_per_harvester. The first match applies.",
        set: |s, v| {
            let tables = v.as_array().ok_or("needs to be written as [[harvester]], once for each harvester")?;
            s.harvester = tables
                .iter()
                .map(|table| harvester(&table.as_table().ok_or("needs to be written as [[harvester]]")?.to_string()))
                .collect::<Result<_, String>>()?;
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
        set: |s, v| match value::text(v)? {
            name if name.is_empty() || name.contains(char::is_control) => Err("needs a name".to_owned()),
            name => {
                s.name = name;
                Ok(())
            }
        },
    },
    Setting {
        key: "user",
        default: "\"\"",
        doc: "User name, for a repository with passwords.",
        set: |s, v| value::text(v).map(|user| s.user = user),
    },
    Setting {
        key: "agent",
        default: "\"\"",
        doc: "Part of its User-Agent or From header. Any client can send this, so set networks too if the limits are higher than the general ones.",
        set: |s, v| value::text(v).map(|agent| s.agent = agent.to_lowercase()),
    },
    Setting {
        key: "networks",
        default: "[]",
        doc: "Addresses and networks such as \"192.0.2.0/24\". All given keys of user, agent and networks must match.",
        set: |s, v| networks(v).map(|networks| s.networks = networks),
    },
    Setting {
        key: "list_delay",
        default: "",
        doc: "list_delay of this harvester. Default, for this and the next four: the general value.",
        set: |s, v| value::duration(v).map(|time| s.own.list_delay = Some(time)),
    },
    Setting {
        key: "request_delay",
        default: "",
        doc: "request_delay of this harvester.",
        set: |s, v| value::duration(v).map(|time| s.own.request_delay = Some(time)),
    },
    Setting {
        key: "records_per_hour",
        default: "",
        doc: "records_per_hour of this harvester.",
        set: |s, v| value::number(v, 0).map(|number| s.own.records = Some(number)),
    },
    Setting {
        key: "bytes_per_hour",
        default: "",
        doc: "bytes_per_hour of this harvester.",
        set: |s, v| value::bytes(v).map(|bytes| s.own.bytes = Some(bytes)),
    },
    Setting {
        key: "lists_per_harvester",
        default: "",
        doc: "lists_per_harvester of this harvester.",
        set: |s, v| up_to(v, MAX_LISTS).map(|number| s.own.lists = Some(number)),
    },
];

/// Parses a list of networks.
pub fn networks(v: &toml::Value) -> Result<Vec<Network>, String> {
    value::texts(v)?.iter().map(|text| text.parse()).collect()
}

fn harvester(table: &str) -> Result<HarvesterSettings, String> {
    let mut harvester = HarvesterSettings::default();
    load(table, &mut (HARVESTER_SETTINGS, &mut harvester)).map_err(|error| format!("is invalid: {error}"))?;
    match harvester {
        harvester if harvester.name.is_empty() => Err("needs a name for each harvester".to_owned()),
        harvester if harvester.is_vague() => {
            Err(format!("needs a user, an agent or networks to identify {}", harvester.name))
        }
        harvester => Ok(harvester),
    }
}

impl HarvesterSettings {
    fn is_vague(&self) -> bool {
        self.user.is_empty() && self.agent.is_empty() && self.networks.is_empty()
    }
}

fn up_to(v: &toml::Value, most: usize) -> Result<usize, String> {
    let number = usize::try_from(value::number(v, 0)?).ok().filter(|number| *number <= most);
    number.ok_or_else(|| format!("needs at most {most}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use modoai_repository::settings::SettingsError;

    fn loaded(text: &str) -> Result<FlowSettings, SettingsError> {
        let mut settings = FlowSettings::default();
        load(text, &mut (FLOW_SETTINGS, &mut settings)).map(|()| settings)
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
        let budget = row.own.over(&settings.budget);
        assert_eq!((budget.records, budget.list_delay, budget.lists), (0, Duration::from_secs(3), 16));
    }

    #[test]
    fn a_bad_value_says_what_is_needed() {
        for (text, needed) in [
            ("records_per_hour = -1", "at least 0"),
            ("bytes_per_hour = 'lots'", "needs a number of bytes"),
            ("lists_per_harvester = 501", "at most 500"),
            ("lists_at_once = 501", "at most 500"),
            ("list_share = 101", "from 1 to 100"),
            ("list_share = 0", "at least 1"),
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
