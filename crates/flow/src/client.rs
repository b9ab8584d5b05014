//! Selects the account of a request: a user, a harvester that the operator has described, or a block of addresses.
//!
//! Neither a single address nor anything else that a request reveals about a person identifies an account.

use std::net::IpAddr;

use modoai_settings::Network;

use crate::settings::{Budget, FlowSettings, HarvesterSettings};

/// The origin of a request.
#[derive(Clone, Copy, Debug)]
pub struct Client<'a> {
    /// The user whose password was checked.
    pub user: Option<&'a str>,
    /// The address.
    pub address: IpAddr,
    /// The User-Agent header.
    pub agent: &'a str,
    /// The From header.
    pub from: &'a str,
}

/// The account of a request.
#[derive(Clone, Debug)]
pub(crate) struct Party {
    /// The account as the log names it.
    pub(crate) name: String,
    pub(crate) budget: Budget,
    /// The key of the account in the ledger. A harvester that is known by a claimed name only has one account for each
    /// block of addresses, so that a client that borrows the name does not use up the budget of the other.
    pub(crate) key: String,
}

impl Party {
    pub(crate) fn of(client: &Client<'_>, settings: &FlowSettings) -> Self {
        let address = client.address.to_canonical();
        // The networks that one institution, or one customer of a provider, usually has.
        let block = Network::of(address, if address.is_ipv4() { 24 } else { 56 });
        if let Some(row) = settings.harvester.iter().find(|row| row.matches(client)) {
            let is_proven = !row.user.is_empty() || !row.networks.is_empty();
            let key =
                if is_proven { format!("harvester {}", row.name) } else { format!("harvester {} {block}", row.name) };
            return Self { name: row.name.clone(), budget: row.budget(&settings.budget), key };
        }
        let name = client.user.map_or_else(|| block.to_string(), |user| format!("user {user}"));
        Self { budget: settings.budget, key: name.clone(), name }
    }
}

impl HarvesterSettings {
    /// Returns true if everything that the row states applies to the client.
    fn matches(&self, client: &Client<'_>) -> bool {
        let contains = |header: &str| header.to_lowercase().contains(&self.agent);
        (self.user.is_empty() || client.user == Some(self.user.as_str()))
            && (self.networks.is_empty() || self.networks.iter().any(|network| network.contains(client.address)))
            && (self.agent.is_empty() || contains(client.agent) || contains(client.from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::FLOW_SETTINGS;
    use modoai_settings::load;
    use std::path::Path;

    const ROWS: &str = "records_per_hour = 10\n\
        [[harvester]]\nname = 'BASE'\nagent = 'base'\nnetworks = '192.0.2.0/24'\nrecords_per_hour = 0\n\
        [[harvester]]\nname = 'OAIster'\nagent = 'oaister@example.org'\nrecords_per_hour = 50\n\
        [[harvester]]\nname = 'partner'\nuser = 'alice'\nrecords_per_hour = 99\n";

    fn party(user: Option<&str>, address: &str, agent: &str, from: &str) -> (String, u64, String) {
        let mut settings = FlowSettings::default();
        load(ROWS, Path::new(""), &mut (FLOW_SETTINGS, &mut settings)).expect("rows");
        let client = Client { user, address: address.parse().expect("an address"), agent, from };
        let party = Party::of(&client, &settings);
        (party.name, party.budget.records, party.key)
    }

    #[test]
    fn password_and_network_count_more_than_a_claimed_name() {
        for (user, address, agent, from, who, records) in [
            (None, "192.0.2.9", "BASE/2.0", "", "BASE", 0),
            // The name alone is not enough where the row also gives networks.
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
    fn claimed_agent_name_gets_one_account_per_address_block() {
        let key = |address: &str, agent: &str| party(None, address, agent, "").2;
        assert_ne!(key("198.51.100.9", "oaister@example.org"), key("203.0.113.9", "oaister@example.org"));
        assert_eq!(key("192.0.2.9", "base"), key("192.0.2.200", "base"));
        // No name of a harvester is the key of a user or a block.
        assert_ne!(key("198.51.100.9", ""), key("198.51.100.9", "oaister@example.org"));
    }
}
