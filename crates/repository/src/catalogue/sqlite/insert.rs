//! Inserts many rows with few statements.
//!
//! Starting and ending a statement costs as much as inserting a row, so a statement inserts dozens of rows.

use rusqlite::{Connection, Statement};

/// Rows of one statement. More rows are not faster and make the statement large.
const ROWS: usize = 32;

/// Inserts all rows. `into` is the statement up to and including `VALUES`, `row` the parenthesis for one row; `bind`
/// binds the parameters of one row, beginning with the parameter number passed to it.
pub(super) fn insert_all<Row>(
    writer: &Connection,
    into: &str,
    row: &str,
    rows: &[Row],
    bind: impl Fn(&Row, &mut Statement<'_>, usize) -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    let parameters = row.matches('?').count();
    let (dozens, rest) = rows.split_at(rows.len() - rows.len() % ROWS);
    for (rows, rows_each) in [(dozens, ROWS), (rest, 1)] {
        if rows.is_empty() {
            continue;
        }
        let mut statement = writer.prepare_cached(&format!("{into} {}", vec![row; rows_each].join(",")))?;
        for chunk in rows.chunks_exact(rows_each) {
            for (index, row) in chunk.iter().enumerate() {
                bind(row, &mut statement, index * parameters + 1)?;
            }
            statement.raw_execute()?;
        }
    }
    Ok(())
}
