//! Data about hosts that is kept between runs: robots.txt for a day, requests to wait, and start URLs with public
//! addresses.

use jiff::Timestamp;
use modoai_fetch::{Origin, Remembered, Url};
use rusqlite::params;

use super::{Result, Table, timestamp};

impl Table {
    /// Visits every robots.txt that was fetched since then.
    pub(crate) fn robots(&self, since: Timestamp, mut visit: impl FnMut(Remembered)) -> Result<()> {
        self.kept(|db| {
            let mut statement = db.prepare("SELECT origin, status, body, at FROM robots WHERE at >= ?1")?;
            let mut rows = statement.query([since.as_millisecond()])?;
            while let Some(row) = rows.next()? {
                let origin = Url::parse(row.get_ref(0)?.as_str()?).ok().and_then(|url| Origin::of(&url));
                let Some(origin) = origin else { continue };
                visit(Remembered {
                    origin,
                    status: row.get(1)?,
                    body: row.get::<_, Vec<u8>>(2)?.into(),
                    fetched_at: timestamp(row.get(3)?).into(),
                });
            }
            Ok(())
        })
    }

    /// Stores the robots.txt of a host.
    pub(crate) fn keep_robots(&self, remembered: &Remembered) -> Result<()> {
        let Remembered { origin, status, body, fetched_at } = remembered;
        let at = Timestamp::try_from(*fetched_at).unwrap_or(Timestamp::UNIX_EPOCH);
        let row = params![origin.to_string(), status, body.as_ref(), at.as_millisecond()];
        self.write("INSERT OR REPLACE INTO robots VALUES (?1, ?2, ?3, ?4)", row)
    }

    /// Visits the hosts that still refuse requests until a later time.
    pub(crate) fn holds(&self, now: Timestamp, mut visit: impl FnMut(&str, Timestamp)) -> Result<()> {
        self.kept(|db| {
            db.execute("DELETE FROM hold WHERE until <= ?1", [now.as_millisecond()])?;
            let mut statement = db.prepare("SELECT host, until FROM hold")?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                visit(row.get_ref(0)?.as_str()?, timestamp(row.get(1)?));
            }
            Ok(())
        })
    }

    /// Stores the time until which a host refuses requests.
    pub(crate) fn keep_hold(&self, host: &str, until: Timestamp) -> Result<()> {
        self.write("INSERT OR REPLACE INTO hold VALUES (?1, ?2)", params![host, until.as_millisecond()])
    }

    /// Returns true if a host had a public address when a run began there.
    pub(crate) fn was_public(&self, host: &str) -> Result<bool> {
        self.kept(|db| {
            db.query_row("SELECT EXISTS (SELECT 1 FROM public_host WHERE host = ?1)", [host], |row| row.get(0))
        })
    }

    /// Stores that a host had a public address.
    pub(crate) fn keep_public(&self, host: &str) -> Result<()> {
        self.write("INSERT OR IGNORE INTO public_host VALUES (?1)", [host])
    }
}
