//! Limits the number of documents that are read on hosts outside the tasks to find those of an owner.
//!
//! Only a document itself names its owner, so every document that an owner's pages link to is read once. A host with
//! none of the owner's documents among the first few hardly has more; on a host that has some, a limit applies.

use std::collections::HashMap;

/// The number of documents that are read on a host while none of them belongs to an owner.
const TRIAL_DOCUMENTS: u32 = 20;
/// The maximum number of documents that are read on a host.
const MAX_DOCUMENTS: u32 = 1_000;

/// The documents read on each host, by the host's number in the frontier.
#[derive(Default)]
pub(super) struct ForeignHosts {
    hosts: HashMap<u32, Host>,
}

#[derive(Default)]
struct Host {
    read: u32,
    owned: u32,
    /// True if the limit kept documents from being read although some belong to an owner.
    is_cut: bool,
}

impl ForeignHosts {
    /// Returns true if another document of a host may be read, and counts it.
    pub(super) fn admit(&mut self, host: u32) -> bool {
        let known = self.hosts.entry(host).or_default();
        let is_admitted = known.read < if known.owned == 0 { TRIAL_DOCUMENTS } else { MAX_DOCUMENTS };
        known.read += u32::from(is_admitted);
        known.is_cut |= !is_admitted && known.owned > 0;
        is_admitted
    }

    /// Records that a document of a host belongs to an owner.
    pub(super) fn owned(&mut self, host: u32) {
        self.hosts.entry(host).or_default().owned += 1;
    }

    /// Returns a remark if documents of an owner may have been left out.
    pub(super) fn remark(&self) -> Option<String> {
        let hosts = self.hosts.values().filter(|host| host.is_cut).count();
        (hosts > 0).then(|| {
            format!("read {MAX_DOCUMENTS} documents on {hosts} other hosts to find those of owners; the others were only tested")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_without_an_owner_are_soon_left_and_others_have_a_limit() {
        let mut foreign = ForeignHosts::default();
        assert_eq!((0..100).filter(|_| foreign.admit(1)).count(), 20);
        assert!(foreign.admit(2));
        foreign.owned(2);
        assert_eq!((0..2_000).filter(|_| foreign.admit(2)).count(), 999);
        assert!(foreign.remark().is_some_and(|remark| remark.contains("on 1 other hosts")));
    }
}
