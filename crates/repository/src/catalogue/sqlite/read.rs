//! The queries for responses.
//!
//! Every function copies its results and leaves no statement open. An open statement would hold its snapshot, and the
//! write-ahead log would grow for as long as a slow client reads.

use std::collections::HashMap;
use std::sync::Arc;

use modoai_protocol::{Datestamp, SetSpec};
use rusqlite::types::{FromSqlError, Type};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::membership::{SECONDS_PER_DAY, day};
use super::names::{EVERYTHING, Grouping, KnownNames, Names, format_number, list_number, publicity_from};
use super::store::FORMATS;
use crate::catalogue::stored::{Body, Place, StoredFormat};
use crate::catalogue::{Detail, PageQuery, Selected, Standing, Unread};
use crate::item::{Digests, Facts, Fingerprint, Item, ListedFor};

/// A number that no format has: the numbers of formats begin at 1.
const NO_FORMAT: i64 = 0;

/// The initial capacity of a page, in items: the limit may be far greater than the number of items.
const ROOM: usize = 1000;

/// The columns that [`item_from`] reads, in its order, as far as the detail requires them; and the column of the
/// datestamp, which may be that of one format.
macro_rules! item_columns {
    (Header, $datestamp:literal) => {
        concat!("r.number, ", $datestamp, ", r.deleted, r.sets, r.name, r.publicity, r.audience")
    };
    (Description, $datestamp:literal) => {
        concat!(item_columns!(Header, $datestamp), ", r.media, r.size, r.modified, r.changed, r.inode, r.title")
    };
    (Whole, $datestamp:literal) => {
        concat!(item_columns!(Description, $datestamp), ", r.sha256, r.md5")
    };
    (Stored, $datestamp:literal) => {
        concat!(item_columns!(Header, $datestamp), ", s.size, s.body, s.pieces")
    };
}

/// The query of a page, with these columns.
macro_rules! page_query {
    ($detail:ident $(, $join:literal)?) => {
        concat!(
            "SELECT ",
            item_columns!($detail, "m.datestamp"),
            " FROM member m CROSS JOIN record r ON r.number = m.number",
            $($join,)?
            " WHERE m.set_id = ?1 AND (m.datestamp, m.number) > (?2, ?3) AND m.datestamp <= ?4
             ORDER BY m.datestamp, m.number LIMIT ?5"
        )
    };
}

/// Returns the state of the catalogue, without a valid `as_of`, and the moment of a pending change.
pub(super) fn standing(reader: &Connection) -> rusqlite::Result<(Standing, Option<i64>)> {
    let mut query = reader.prepare_cached(
        "SELECT epoch, secret, ready, pending,
                (SELECT datestamp FROM member WHERE set_id = ?1 ORDER BY datestamp DESC LIMIT 1),
                (SELECT min(datestamp) FROM
                    (SELECT * FROM (SELECT datestamp FROM member WHERE set_id = ?1 ORDER BY datestamp LIMIT 1)
                     UNION ALL SELECT min(datestamp) FROM stamp)),
                revision
         FROM standing",
    )?;
    query.query_row([EVERYTHING], |row| {
        let moment = |column| {
            let seconds: rusqlite::Result<Option<i64>> = row.get(column);
            seconds.map(|seconds| seconds.map(Datestamp::from_unix))
        };
        let standing = Standing {
            epoch: row.get::<_, i64>(0)? as u64,
            secret: row.get(1)?,
            revision: row.get(6)?,
            ready: row.get(2)?,
            as_of: Datestamp::MIN,
            newest: moment(4)?,
            earliest: moment(5)?,
        };
        Ok((standing, row.get(3)?))
    })
}

/// A list, and its format if it contains only records in that format.
struct List {
    number: i64,
    format: Option<i64>,
}

/// Returns the list that contains a selection as a range; `None` if it never had an item.
fn list_of(reader: &Connection, names: &KnownNames, selection: Selected<'_>) -> rusqlite::Result<Option<List>> {
    let format = match selection.format {
        Some(prefix) => match format_number(reader, names, prefix)? {
            Some(format) => Some(format),
            None => return Ok(None),
        },
        None => None,
    };
    let number = list_number(reader, format, selection.set)?;
    Ok(number.map(|number| List { number, format }))
}

pub(super) fn page(reader: &Connection, names: &KnownNames, query: &PageQuery<'_>) -> rusqlite::Result<Vec<Item>> {
    let Some(List { number: list, format }) = list_of(reader, names, query.selection)? else { return Ok(Vec::new()) };
    let range = query.selection.range;
    let start = (range.first.unix(), i64::MIN);
    let after = query.after.map_or(start, |(datestamp, number)| start.max((datestamp.unix(), number)));
    let limit = i64::try_from(query.limit).unwrap_or(i64::MAX);
    let mut page = reader.prepare_cached(match query.detail {
        Detail::Header => page_query!(Header),
        Detail::Description => page_query!(Description),
        Detail::Whole => page_query!(Whole),
        Detail::Stored | Detail::Record => {
            page_query!(Stored, " LEFT JOIN stored s ON s.key = m.number * ?7 + ?6")
        }
    })?;
    page.raw_bind_parameter(1, list)?;
    page.raw_bind_parameter(2, after.0)?;
    page.raw_bind_parameter(3, after.1)?;
    page.raw_bind_parameter(4, range.last.unix())?;
    page.raw_bind_parameter(5, limit)?;
    if let Some(body) = body_of(reader, names, query.detail, format)? {
        page.raw_bind_parameter(6, body)?;
        page.raw_bind_parameter(7, FORMATS)?;
    }
    let mut rows = page.raw_query();
    let mut items = Vec::with_capacity(query.limit.min(ROOM));
    let mut resolve = Resolve::new(reader, names);
    while let Some(row) = rows.next()? {
        items.push(item_from(row, &mut resolve, query.detail, format)?);
    }
    Ok(items)
}

pub(super) fn item(reader: &Connection, names: &KnownNames, name: &str) -> rusqlite::Result<Option<Item>> {
    let mut query = reader.prepare_cached(concat!(
        "SELECT ",
        item_columns!(Whole, "r.datestamp"),
        " FROM name n CROSS JOIN record r ON r.number = n.number WHERE n.name = ?1"
    ))?;
    let mut resolve = Resolve::new(reader, names);
    query.query_row([name], |row| item_from(row, &mut resolve, Detail::Whole, None)).optional()
}

/// Returns the number of the format whose records a detail requires, if any.
fn body_of(
    reader: &Connection,
    names: &KnownNames,
    detail: Detail,
    format: Option<i64>,
) -> rusqlite::Result<Option<i64>> {
    match detail {
        Detail::Header | Detail::Description | Detail::Whole => Ok(None),
        Detail::Stored => Ok(Some(format.unwrap_or(NO_FORMAT))),
        Detail::Record => {
            let record = format_number(reader, names, &StoredFormat::record().prefix)?;
            Ok(Some(record.unwrap_or(NO_FORMAT)))
        }
    }
}

pub(super) fn item_with(
    reader: &Connection,
    names: &KnownNames,
    name: &str,
    format: Option<&str>,
    detail: Detail,
) -> rusqlite::Result<Option<Item>> {
    let format = match format {
        // No item has a record in an unknown format.
        Some(prefix) => Some(format_number(reader, names, prefix)?.unwrap_or(NO_FORMAT)),
        None => None,
    };
    let Some(body) = body_of(reader, names, detail, format)? else { return item(reader, names, name) };
    let mut query = reader.prepare_cached(concat!(
        "SELECT ",
        item_columns!(Stored, "coalesce(o.datestamp, r.datestamp)"),
        " FROM name n CROSS JOIN record r ON r.number = n.number
          LEFT JOIN stored s ON s.key = n.number * ?3 + ?2
          LEFT JOIN stamp o ON o.key = n.number * ?3 + ?2 WHERE n.name = ?1"
    ))?;
    let mut resolve = Resolve::new(reader, names);
    query.query_row(params![name, body, FORMATS], |row| item_from(row, &mut resolve, detail, format)).optional()
}

pub(super) fn described(
    reader: &Connection,
    names: &KnownNames,
    gone: bool,
    after: i64,
    limit: usize,
) -> rusqlite::Result<Vec<Item>> {
    let body = body_of(reader, names, Detail::Record, None)?;
    let mut query = reader.prepare_cached(concat!(
        "SELECT ",
        item_columns!(Stored, "r.datestamp"),
        " FROM record r LEFT JOIN stored s ON s.key = r.number * ?4 + ?3
          WHERE r.number > ?1 AND r.deleted = ?5 ORDER BY r.number LIMIT ?2"
    ))?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut resolve = Resolve::new(reader, names);
    let items = query.query_map(params![after, limit, body, FORMATS, gone], |row| {
        item_from(row, &mut resolve, Detail::Record, None)
    })?;
    items.collect()
}

pub(super) fn piece(reader: &Connection, body: i64, place: i64) -> rusqlite::Result<Option<Vec<u8>>> {
    let mut query = reader.prepare_cached("SELECT bytes FROM piece WHERE body = ?1 AND place = ?2")?;
    query.query_row([body, place], |row| row.get(0)).optional()
}

pub(super) fn unread(
    reader: &Connection,
    names: &KnownNames,
    wanted: &Unread<'_>,
    after: i64,
    limit: usize,
) -> rusqlite::Result<Vec<Item>> {
    let mut query = reader.prepare_cached(concat!(
        "SELECT ",
        item_columns!(Whole, "r.datestamp"),
        " FROM record r WHERE r.number > ?1 AND r.deleted = 0
              AND ((r.sha256 IS NULL AND r.size BETWEEN ?2 AND ?3) OR (?4 AND r.title IS NULL))
          ORDER BY r.number"
    ))?;
    let size = |size: &u64| i64::try_from(*size).unwrap_or(i64::MAX);
    let (smallest, largest) = (size(wanted.digests_of.start()), size(wanted.digests_of.end()));
    let mut rows = query.query(params![after, smallest, largest, !wanted.titles_of.is_empty()])?;
    let mut items = Vec::new();
    let mut resolve = Resolve::new(reader, names);
    while items.len() < limit
        && let Some(row) = rows.next()?
    {
        let item = item_from(row, &mut resolve, Detail::Whole, None)?;
        items.extend(Some(item).filter(|item| wanted.holds(item)));
    }
    Ok(items)
}

pub(super) fn sets(reader: &Connection) -> rusqlite::Result<Vec<Arc<SetSpec>>> {
    let mut query = reader.prepare_cached("SELECT spec FROM setname WHERE live > 0 AND set_id <> ?1 ORDER BY spec")?;
    let mut rows = query.query([EVERYTHING])?;
    let mut sets = Vec::new();
    while let Some(row) = rows.next()? {
        sets.extend(SetSpec::parse(row.get_ref(0)?.as_str()?).map(Arc::new));
    }
    Ok(sets)
}

pub(super) fn live_counts(reader: &Connection) -> rusqlite::Result<HashMap<String, u64>> {
    // Specs with a slash are those of lists by format.
    let mut query = reader.prepare_cached("SELECT spec, live FROM setname WHERE live > 0 AND spec NOT LIKE '%/%'")?;
    let counts = query.query_map([], |row| Ok((row.get(0)?, row.get::<_, i64>(1)?.unsigned_abs())))?;
    counts.collect()
}

/// Returns the number of selected items. Whole days come from the counters. The first and the last day are scanned only
/// if a part of them is outside the range.
pub(super) fn count(reader: &Connection, names: &KnownNames, selection: Selected<'_>) -> rusqlite::Result<u64> {
    let Some(List { number: set, .. }) = list_of(reader, names, selection)? else { return Ok(0) };
    let (mut first, mut last) = (selection.range.first.unix(), selection.range.last.unix());
    if first > last {
        return Ok(0);
    }
    // One snapshot for all parts of the sum.
    let snapshot = reader.unchecked_transaction()?;
    let mut members =
        snapshot.prepare_cached("SELECT count(*) FROM member WHERE set_id = ?1 AND datestamp BETWEEN ?2 AND ?3")?;
    let mut members = |first, last| members.query_row([set, first, last], |row| row.get::<_, i64>(0));
    let mut any = snapshot.prepare_cached("SELECT 1 FROM member WHERE set_id = ?1 AND datestamp BETWEEN ?2 AND ?3")?;
    let mut any = |first, last| Ok::<_, rusqlite::Error>(first <= last && any.exists([set, first, last])?);

    let (day_begin, day_end) = (day(first) * SECONDS_PER_DAY, (day(last) + 1) * SECONDS_PER_DAY - 1);
    let cut_begin = any(day_begin, first - 1)?;
    let cut_end = any(last + 1, day_end)?;
    if (cut_begin || cut_end) && day(first) == day(last) {
        return Ok(members(first, last)?.unsigned_abs());
    }
    let mut sum = 0;
    if cut_begin {
        let next = (day(first) + 1) * SECONDS_PER_DAY;
        sum += members(first, next - 1)?;
        first = next;
    }
    if cut_end {
        let begin = day(last) * SECONDS_PER_DAY;
        sum += members(begin, last)?;
        last = begin - 1;
    }
    let mut days = snapshot
        .prepare_cached("SELECT coalesce(sum(members), 0) FROM counter WHERE set_id = ?1 AND day BETWEEN ?2 AND ?3")?;
    sum += days.query_row([set, day(first), day(last)], |row| row.get::<_, i64>(0))?;
    Ok(sum.unsigned_abs())
}

/// Resolves the numbers of sets and media types to names, and reads the names again if one is missing.
pub(super) struct Resolve<'a> {
    reader: &'a Connection,
    known: &'a KnownNames,
    names: Arc<Names>,
    /// Groupings that were already resolved: most rows of a page have the same one as an earlier row.
    groupings: HashMap<String, Grouping>,
    /// Audiences that were already resolved.
    audiences: HashMap<String, ListedFor>,
    /// The value for details without a media type.
    no_media_type: Arc<str>,
}

impl<'a> Resolve<'a> {
    pub(super) fn new(reader: &'a Connection, known: &'a KnownNames) -> Self {
        let (groupings, audiences) = (HashMap::new(), HashMap::new());
        Self { reader, known, names: known.current(), groupings, audiences, no_media_type: "".into() }
    }

    pub(super) fn media_type(&mut self, row: &Row<'_>, column: usize) -> rusqlite::Result<Arc<str>> {
        let media = row.get(column)?;
        self.name(column, |names| names.media(media))
    }

    pub(super) fn grouping(&mut self, row: &Row<'_>, column: usize) -> rusqlite::Result<Grouping> {
        let text = row.get_ref(column)?.as_str()?;
        if let Some(grouping) = self.groupings.get(text) {
            return Ok(grouping.clone());
        }
        let grouping = self.name(column, |names| names.grouping(text))?;
        self.groupings.insert(text.to_owned(), grouping.clone());
        Ok(grouping)
    }

    fn listed_for(&mut self, row: &Row<'_>, column: usize) -> rusqlite::Result<ListedFor> {
        let text = row.get_ref(column)?.as_str()?;
        if let Some(known) = self.audiences.get(text) {
            return Ok(known.clone());
        }
        let audiences = self.name(column, |names| names.listed_for(text))?;
        self.audiences.insert(text.to_owned(), audiences.clone());
        Ok(audiences)
    }

    fn name<T>(&mut self, column: usize, look_up: impl Fn(&Names) -> Option<T>) -> rusqlite::Result<T> {
        if let Some(name) = look_up(&self.names) {
            return Ok(name);
        }
        self.names = self.known.renewed(self.reader)?;
        let dangling = || {
            let cause = FromSqlError::Other("a number without a name".into());
            rusqlite::Error::FromSqlConversionFailure(column, Type::Integer, cause.into())
        };
        look_up(&self.names).ok_or_else(dangling)
    }
}

/// Reads an item from a row. With a format, its deletion is that of its record in the format.
fn item_from(row: &Row<'_>, resolve: &mut Resolve<'_>, detail: Detail, format: Option<i64>) -> rusqlite::Result<Item> {
    let described = matches!(detail, Detail::Description | Detail::Whole);
    let grouping = resolve.grouping(row, 3)?;
    let deleted: bool = row.get(2)?;
    Ok(Item {
        number: row.get(0)?,
        datestamp: Datestamp::from_unix(row.get(1)?),
        deleted: deleted || format.is_some_and(|format| grouping.gone_in.contains(&format)),
        sets: grouping.sets,
        formats: grouping.formats,
        name: row.get(4)?,
        publicity: publicity_from(row.get(5)?),
        listed_for: resolve.listed_for(row, 6)?,
        media_type: if described { resolve.media_type(row, 7)? } else { Arc::clone(&resolve.no_media_type) },
        fingerprint: if described { fingerprint_from(row, 8)? } else { Fingerprint::default() },
        facts: match detail {
            Detail::Header | Detail::Stored | Detail::Record => Facts::default(),
            Detail::Description => Facts { title: row.get(12)?, digests: None },
            Detail::Whole => facts_from(row, 12)?,
        },
        body: if matches!(detail, Detail::Stored | Detail::Record) { body_from(row, 7)? } else { None },
    })
}

/// Reads a stored record from three columns, starting with `first`.
fn body_from(row: &Row<'_>, first: usize) -> rusqlite::Result<Option<Body>> {
    let Some(size) = row.get::<_, Option<i64>>(first)? else { return Ok(None) };
    let packed = match row.get(first + 2)? {
        Some(body) => Place::Pieces(body),
        None => Place::Here(row.get(first + 1)?),
    };
    Ok(Some(Body { size: size.unsigned_abs(), packed }))
}

/// Reads a fingerprint from four columns, starting with `first`.
pub(super) fn fingerprint_from(row: &Row<'_>, first: usize) -> rusqlite::Result<Fingerprint> {
    Ok(Fingerprint {
        // SQLite has no unsigned integers; the cast restores the original bits.
        size: row.get::<_, i64>(first)? as u64,
        modified: row.get(first + 1)?,
        changed: row.get(first + 2)?,
        inode: row.get::<_, i64>(first + 3)? as u64,
    })
}

/// Reads facts from three columns, starting with `first`.
pub(super) fn facts_from(row: &Row<'_>, first: usize) -> rusqlite::Result<Facts> {
    let digests = match (row.get(first + 1)?, row.get(first + 2)?) {
        (Some(sha256), Some(md5)) => Some(Digests { sha256, md5 }),
        _ => None,
    };
    Ok(Facts { title: row.get(first)?, digests })
}
