//! Stores facts about items and files.

use rusqlite::{Connection, OptionalExtension as _, Row, TransactionBehavior, params};

use super::read::fingerprint_from;
use crate::catalogue::Learned;
use crate::item::{Digests, Fingerprint};

/// Stores facts about items whose fingerprint has not changed since.
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

/// Returns the digests of a document's file, and the state of the file when they were computed.
pub(super) fn of_file(reader: &Connection, path: &str) -> rusqlite::Result<Option<(Fingerprint, Digests)>> {
    // A catalogue of version 7 that is opened read-only has no digests of files.
    if !reader.prepare_cached("SELECT 1 FROM sqlite_schema WHERE name = 'file'")?.exists([])? {
        return Ok(None);
    }
    let mut query =
        reader.prepare_cached("SELECT size, modified, changed, inode, sha256, md5 FROM file WHERE path = ?1")?;
    let state_and_digests = |row: &Row<'_>| {
        let digests = Digests { sha256: row.get(4)?, md5: row.get(5)? };
        Ok((fingerprint_from(row, 0)?, digests))
    };
    query.query_row([path], state_and_digests).optional()
}

/// Stores the digests of one state of a document's file, and replaces those of another state.
pub(super) fn remember_file(
    connection: &Connection,
    path: &str,
    state: &Fingerprint,
    digests: &Digests,
) -> rusqlite::Result<()> {
    let Fingerprint { size, modified, changed, inode } = *state;
    let (size, inode) = (size as i64, inode as i64);
    let mut replace = connection.prepare_cached("INSERT OR REPLACE INTO file VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")?;
    replace.execute(params![path, size, modified, changed, inode, digests.sha256, digests.md5]).map(drop)
}
