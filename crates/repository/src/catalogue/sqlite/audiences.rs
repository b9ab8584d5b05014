//! Records the audiences that items were listed for.

use rusqlite::{Connection, OptionalExtension as _, Transaction, TransactionBehavior, params};

use super::names::OTHERS;
use crate::audience::{Audience, Listing};

/// Maximum number of audiences of one item.
const MAX_PER_ITEM: usize = 64;

/// Maximum number of audiences. Readers keep all of them in memory, about a hundred bytes each.
const MAX: i64 = 50_000;

/// Adds audiences to items, including deleted ones.
pub(super) fn record(connection: &mut Connection, listed: &[Listing]) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Most items of a page have the same audiences as the previous item.
    let mut last: Option<(&[Audience], Vec<String>)> = None;
    for Listing { number, audiences: added } in listed {
        let words = match last.take().filter(|(audiences, _)| *audiences == added.as_slice()) {
            Some((_, words)) => words,
            None => added.iter().map(|audience| word_of(&transaction, audience)).collect::<rusqlite::Result<_>>()?,
        };
        let text = transaction
            .prepare_cached("SELECT audience FROM record WHERE number = ?1")?
            .query_row([number], |row| row.get::<_, String>(0))
            .optional()?;
        if let Some(text) = text {
            let mut all: Vec<&str> = text.split_ascii_whitespace().collect();
            for word in &words {
                // Another process may have added it already.
                let is_known = all.contains(&word.as_str());
                let word = if all.len() < MAX_PER_ITEM { word.as_str() } else { OTHERS };
                if !is_known && !all.contains(&word) {
                    all.push(word);
                }
            }
            let update = "UPDATE record SET audience = ?2 WHERE number = ?1 AND audience <> ?2";
            transaction.prepare_cached(update)?.execute(params![number, all.join(" ")])?;
        }
        last = Some((added, words));
    }
    transaction.commit()
}

/// The representation of an audience in `record.audience`. Adds the audience if it is new.
fn word_of(transaction: &Transaction<'_>, Audience { needs, digest }: &Audience) -> rusqlite::Result<String> {
    let find = "SELECT number FROM audience WHERE needs = ?1 AND digest = ?2";
    let mut find = transaction.prepare_cached(find)?;
    if let Some(number) = find.query_row(params![needs, digest], |row| row.get::<_, i64>(0)).optional()? {
        return Ok(number.to_string());
    }
    let next = "SELECT coalesce(max(number), 0) + 1 FROM audience";
    let number: i64 = transaction.prepare_cached(next)?.query_row([], |row| row.get(0))?;
    if number > MAX {
        return Ok(OTHERS.to_owned());
    }
    let insert = "INSERT INTO audience VALUES (?1, ?2, ?3)";
    transaction.prepare_cached(insert)?.execute(params![number, needs, digest])?;
    Ok(number.to_string())
}
