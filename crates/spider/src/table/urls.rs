//! URLs, their test results, and the contents of pages.

use std::collections::HashSet;

use jiff::Timestamp;
use rusqlite::{OptionalExtension as _, Row, params};

use super::{Result, Table, timestamp};
use crate::extract::Form;
use crate::verdict::Outcome;

/// The last test of a URL.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Test {
    pub(crate) run: u32,
    pub(crate) at: Timestamp,
    pub(crate) outcome: Outcome,
    pub(crate) status: Option<u16>,
    pub(crate) etag: Option<String>,
    pub(crate) modified: Option<String>,
    pub(crate) expires: Option<Timestamp>,
    pub(crate) media_type: Option<String>,
    pub(crate) bytes: Option<u64>,
    pub(crate) owner: Option<String>,
    pub(crate) title: Option<String>,
    pub(crate) form: Form,
    pub(crate) digest: Option<u64>,
    pub(crate) changed: Option<Timestamp>,
    pub(crate) since: Timestamp,
    pub(crate) missed: u32,
}

/// A URL as loaded into memory at the start of a run.
pub(crate) struct Known<'a> {
    pub(crate) id: u32,
    pub(crate) url: &'a str,
    /// Run, outcome, status and form of its last test, if it was ever tested.
    pub(crate) test: Option<(u32, Outcome, u16, Form)>,
}

/// The result of a run for a URL.
#[derive(Clone, Debug, PartialEq)]
pub struct Tested<'a> {
    /// The URL.
    pub url: &'a str,
    /// The outcome.
    pub outcome: Outcome,
    /// Its media type, with parameters.
    pub media_type: Option<&'a str>,
    /// The hash of its bytes, if it was read.
    pub digest: Option<u64>,
}

impl Table {
    /// Visits every URL, in the order of numbers.
    pub(crate) fn load(&self, mut visit: impl FnMut(Known<'_>)) -> Result<()> {
        self.kept(|db| {
            let sql = "SELECT id, url, run, code, CASE WHEN code IN (20, 21) THEN detail END, status, form
                       FROM node LEFT JOIN test ON test.node = node.id ORDER BY id";
            let mut statement = db.prepare(sql)?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let status = row.get::<_, Option<u16>>(5)?.unwrap_or(0);
                let test = match row.get::<_, Option<u32>>(2)? {
                    Some(run) => {
                        let detail = row.get_ref(4)?.as_str_or_null()?;
                        Some((run, Outcome::from_code(row.get(3)?, detail, status), status, form(row.get(6)?)))
                    }
                    None => None,
                };
                visit(Known { id: row.get(0)?, url: row.get_ref(1)?.as_str()?, test });
            }
            Ok(())
        })
    }

    /// Visits the URLs tested in the last run: URL, outcome, media type and digest.
    pub fn last_tested(&self, mut visit: impl FnMut(Tested<'_>)) -> Result<()> {
        self.kept(|db| {
            let sql = "SELECT url, code, CASE WHEN code IN (20, 21) THEN detail END, status, media, digest
                       FROM test JOIN node ON test.node = node.id WHERE run = (SELECT max(number) FROM run)";
            let mut statement = db.prepare(sql)?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let status = row.get::<_, Option<u16>>(3)?.unwrap_or(0);
                let outcome = Outcome::from_code(row.get(1)?, row.get_ref(2)?.as_str_or_null()?, status);
                let (url, media_type) = (row.get_ref(0)?.as_str()?, row.get_ref(4)?.as_str_or_null()?);
                let digest = row.get::<_, Option<i64>>(5)?.map(|digest| digest as u64);
                visit(Tested { url, outcome, media_type, digest });
            }
            Ok(())
        })
    }

    /// Adds a new URL.
    pub(crate) fn add(&self, id: u32, url: &str, now: Timestamp) -> Result<()> {
        let sql = "INSERT INTO node (id, url, first_seen) VALUES (?1, ?2, ?3)";
        self.write(sql, params![id, url, now.as_millisecond()])
    }

    /// Returns the time when a URL was first seen.
    pub(crate) fn first_seen(&self, node: u32) -> Result<Timestamp> {
        self.kept(|db| {
            let mut statement = db.prepare_cached("SELECT first_seen FROM node WHERE id = ?1")?;
            Ok(timestamp(statement.query_row([node], |row| row.get(0)).optional()?.unwrap_or(0)))
        })
    }

    /// Returns the last test of a URL.
    pub(crate) fn test(&self, node: u32) -> Result<Option<Test>> {
        self.kept(|db| {
            let sql = "SELECT run, at, code, detail, status, etag, modified, expires, media, bytes, owner, title, form,
                              digest, changed, since, missed FROM test WHERE node = ?1";
            db.prepare_cached(sql)?.query_row([node], read_test).optional()
        })
    }

    /// Stores the test of a URL.
    pub(crate) fn record(&self, node: u32, test: &Test) -> Result<()> {
        let (code, detail, _) = test.outcome.to_code();
        let sql =
            "INSERT OR REPLACE INTO test VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15,
                                                       ?16, ?17, ?18)";
        let row = params![
            node,
            test.run,
            test.at.as_millisecond(),
            code,
            detail,
            test.status,
            test.etag,
            test.modified,
            test.expires.map(Timestamp::as_millisecond),
            test.media_type,
            test.bytes.map(|bytes| bytes as i64),
            test.owner,
            test.title,
            test.form as u8,
            test.digest.map(|digest| digest as i64),
            test.changed.map(Timestamp::as_millisecond),
            test.since.as_millisecond(),
            test.missed,
        ];
        self.write(sql, row)
    }

    /// Stores the contents of a page.
    pub(crate) fn keep_page(&self, node: u32, reader: u32, partial: bool, refs: &[u8], anchors: &[u8]) -> Result<()> {
        let sql = "INSERT OR REPLACE INTO page VALUES (?1, ?2, ?3, ?4, ?5)";
        self.write(sql, params![node, reader, partial, refs, anchors])
    }

    /// Returns true if the table has a page as read by this version of the extraction.
    pub(crate) fn has_page(&self, node: u32, reader: u32) -> Result<bool> {
        self.kept(|db| {
            db.prepare_cached("SELECT 1 FROM page WHERE node = ?1 AND reader = ?2")?.exists(params![node, reader])
        })
    }

    /// Returns the pages that were too long to be read completely.
    pub(crate) fn partial_pages(&self) -> Result<HashSet<u32>> {
        self.kept(|db| {
            let mut statement = db.prepare("SELECT node FROM page WHERE partial")?;
            statement.query_map([], |row| row.get(0))?.collect()
        })
    }

    /// Returns a page's references, compressed; `None` if it was never read.
    pub(crate) fn references(&self, node: u32) -> Result<Option<Vec<u8>>> {
        self.kept(|db| {
            db.prepare_cached("SELECT refs FROM page WHERE node = ?1")?.query_row([node], |row| row.get(0)).optional()
        })
    }

    /// Returns a page's anchors, and true if these are all.
    pub(crate) fn anchors(&self, node: u32) -> Result<Option<(Vec<u8>, bool)>> {
        self.kept(|db| {
            db.prepare_cached("SELECT anchors, partial FROM page WHERE node = ?1")?
                .query_row([node], |row| Ok((row.get(0)?, !row.get::<_, bool>(1)?)))
                .optional()
        })
    }
}

fn read_test(row: &Row<'_>) -> rusqlite::Result<Test> {
    let time = |at: Option<i64>| at.map(timestamp);
    let status = row.get::<_, Option<u16>>(4)?;
    Ok(Test {
        run: row.get(0)?,
        at: timestamp(row.get(1)?),
        outcome: Outcome::from_code(row.get(2)?, row.get_ref(3)?.as_str_or_null()?, status.unwrap_or(0)),
        status,
        etag: row.get(5)?,
        modified: row.get(6)?,
        expires: time(row.get(7)?),
        media_type: row.get(8)?,
        bytes: row.get::<_, Option<i64>>(9)?.map(|bytes| bytes as u64),
        owner: row.get(10)?,
        title: row.get(11)?,
        form: form(row.get(12)?),
        digest: row.get::<_, Option<i64>>(13)?.map(|digest| digest as u64),
        changed: time(row.get(14)?),
        since: timestamp(row.get(15)?),
        missed: row.get(16)?,
    })
}

fn form(code: u8) -> Form {
    const FORMS: [Form; 8] =
        [Form::Html, Form::Markdown, Form::Css, Form::Manifest, Form::Sitemap, Form::Feed, Form::Svg, Form::Other];
    FORMS.into_iter().find(|form| *form as u8 == code).unwrap_or_default()
}

#[cfg(test)]
mod checks {
    use super::*;
    use crate::verdict::Reason;

    #[test]
    fn tests_survive_the_store() {
        let table = Table::temporary().expect("a table");
        let at = Timestamp::from_millisecond(1_800_000_000_123).expect("a time");
        table.add(4, "http://a/", at).expect("added");
        assert_eq!(table.test(4).expect("read"), None);
        let test = Test {
            run: 3,
            at,
            outcome: Outcome::NotTested(Reason::Refused(403)),
            status: Some(403),
            etag: Some("\"x\"".into()),
            modified: Some("yesterday".into()),
            expires: Some(at),
            media_type: Some("text/html".into()),
            bytes: Some(9),
            owner: Some("RTF".into()),
            title: Some("A".into()),
            form: Form::Html,
            digest: Some(u64::MAX),
            changed: Some(at),
            since: at,
            missed: 2,
        };
        table.record(4, &test).expect("recorded");
        assert_eq!(table.test(4).expect("read"), Some(test));
        assert_eq!(table.first_seen(4).expect("read"), at);
        let mut seen = Vec::new();
        table.load(|known| seen.push((known.id, known.url.to_owned(), known.test))).expect("loaded");
        let outcome = Outcome::NotTested(Reason::Refused(403));
        assert_eq!(seen, [(4, "http://a/".to_owned(), Some((3, outcome, 403, Form::Html)))]);
        table.keep_page(4, 1, true, b"r", b"a").expect("kept");
        assert!(table.has_page(4, 1).expect("read") && !table.has_page(4, 2).expect("read"));
        assert_eq!(table.anchors(4).expect("read"), Some((b"a".to_vec(), false)));
    }
}
