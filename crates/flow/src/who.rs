//! Who is asking, told as coarsely as accounts need it.
//!
//! A name that somebody proved, a harvester the operator has described, or a block of addresses: never a single
//! address, and never what else a request says about a person.

use std::fmt;
use std::net::IpAddr;

use crate::settings::{Budget, FlowSettings, HarvesterSettings};

/// Whose account a request is on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Who {
    /// Somebody who showed a password.
    User(String),
    /// A harvester that the operator has described, by the name given to it.
    Harvester(String),
    /// Everybody in a block of addresses.
    Block(Block),
}

/// A block of addresses: the leading bits of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Block {
    /// The first address of the block.
    pub address: IpAddr,
    /// How many leading bits its addresses share.
    pub bits: u8,
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User(name) => write!(f, "user {name}"),
            Self::Harvester(name) => write!(f, "{name}"),
            Self::Block(block) => write!(f, "{block}"),
        }
    }
}

/// What a request says about where it comes from.
#[derive(Clone, Copy, Debug)]
pub struct Asker<'a> {
    /// The user that it proved to come from.
    pub user: Option<&'a str>,
    /// The address that it comes from.
    pub address: IpAddr,
    /// Its User-Agent.
    pub agent: &'a str,
    /// Its From.
    pub from: &'a str,
}

/// On whose account a request is, and what there is on it.
#[derive(Clone, Debug)]
pub(crate) struct Party {
    pub(crate) who: Who,
    pub(crate) budget: Budget,
    /// What the account is kept by. Those who only call themselves by a name get an account for each block they come
    /// from: whoever borrows the name of a good harvester takes nothing from it.
    pub(crate) key: String,
}

impl Party {
    /// Finds out who is asking.
    pub(crate) fn of(asker: &Asker<'_>, settings: &FlowSettings) -> Self {
        let address = asker.address.to_canonical();
        let bits = if address.is_ipv4() { settings.ipv4_block } else { settings.ipv6_block };
        let block = Block::of(address, bits);
        if let Some(row) = settings.harvester.iter().find(|row| row.is(asker)) {
            let who = Who::Harvester(row.name.clone());
            let is_proven = !row.user.is_empty() || !row.networks.is_empty();
            let key = if is_proven { format!("harvester {who}") } else { format!("harvester {who} {block}") };
            return Self { budget: row.own.over(&settings.budget), key, who };
        }
        let who = asker.user.map_or(Who::Block(block), |user| Who::User(user.to_owned()));
        Self { budget: settings.budget, key: who.to_string(), who }
    }
}

impl HarvesterSettings {
    /// Whether all that its row says fits.
    fn is(&self, asker: &Asker<'_>) -> bool {
        let says = |header: &str| header.to_lowercase().contains(&self.agent);
        (self.user.is_empty() || asker.user == Some(self.user.as_str()))
            && (self.networks.is_empty() || self.networks.iter().any(|network| network.contains(asker.address)))
            && (self.agent.is_empty() || says(asker.agent) || says(asker.from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::FLOW_SETTINGS;
    use modoai_repository::settings::load;

    const ROWS: &str = "records_per_hour = 10\n\
        [[harvester]]\nname = 'BASE'\nagent = 'base'\nnetworks = '192.0.2.0/24'\nrecords_per_hour = 0\n\
        [[harvester]]\nname = 'OAIster'\nagent = 'oaister@example.org'\nrecords_per_hour = 50\n\
        [[harvester]]\nname = 'partner'\nuser = 'alice'\nrecords_per_hour = 99\n";

    fn party(user: Option<&str>, address: &str, agent: &str, from: &str) -> (String, u64, String) {
        let mut settings = FlowSettings::default();
        load(ROWS, &mut (FLOW_SETTINGS, &mut settings)).expect("rows");
        let asker = Asker { user, address: address.parse().expect("an address"), agent, from };
        let party = Party::of(&asker, &settings);
        (party.who.to_string(), party.budget.records, party.key)
    }

    #[test]
    fn proof_counts_more_than_words() {
        for (user, address, agent, from, who, records) in [
            (None, "192.0.2.9", "BASE/2.0", "", "BASE", 0),
            // The name alone is not enough where the row also says where from.
            (None, "198.51.100.9", "BASE/2.0", "", "198.51.100.0/24", 10),
            (None, "198.51.100.9", "x", "OAIster@example.org", "OAIster", 50),
            (Some("alice"), "198.51.100.9", "x", "", "partner", 99),
            (Some("bob"), "198.51.100.9", "x", "", "user bob", 10),
            (None, "2001:db8:0:1ff::1", "", "", "2001:db8:0:100::/56", 10),
            (None, "::ffff:198.51.100.9", "", "", "198.51.100.0/24", 10),
        ] {
            let (found, budget, _) = party(user, address, agent, from);
            assert_eq!((found.as_str(), budget), (who, records), "{user:?} {address} {agent} {from}");
        }
    }

    #[test]
    fn whoever_borrows_a_name_has_an_account_of_their_own() {
        let key = |address: &str, agent: &str| party(None, address, agent, "").2;
        assert_ne!(key("198.51.100.9", "oaister@example.org"), key("203.0.113.9", "oaister@example.org"));
        assert_eq!(key("192.0.2.9", "base"), key("192.0.2.200", "base"));
        // Nobody can be called as a user or a block is kept.
        assert_ne!(key("198.51.100.9", ""), key("198.51.100.9", "oaister@example.org"));
    }
}
