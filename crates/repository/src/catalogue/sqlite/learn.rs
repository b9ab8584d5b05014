//! Remembering facts.

use rusqlite::{Connection, TransactionBehavior, params};

use crate::catalogue::Learned;
use crate::item::Fingerprint;

/// Remembers facts about items that are still in the state the facts are about.
pub(super) fn remember(connection: &mut Connection, facts: &[Learned]) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    {
        let mut update = transaction.prepare_cached(
            "UPDATE record SET title = coalesce(?6, title), sha256 = coalesce(?7, sha256), md5 = coalesce(?8, md5)
             WHERE number = ?1 AND size = ?2 AND modified = ?3 AND changed = ?4 AND inode = ?5 AND deleted = 0",
        )?;
        for Learned { number, fingerprint, facts } in facts {
            let Fingerprint { size, modified, changed, inode } = *fingerprint;
            let digests = facts.digests.as_ref();
            let (sha256, md5) = (digests.map(|d| d.sha256), digests.map(|d| d.md5));
            let (size, inode) = (size as i64, inode as i64);
            update.execute(params![number, size, modified, changed, inode, facts.title, sha256, md5])?;
        }
    }
    transaction.commit()
}
