//! Selections that are harvested, and the windows of them that are not yet proven complete.

use modoai_protocol::Datestamp;
use rusqlite::{Row, params};
use serde::{Deserialize, Serialize};

use super::{Result, State};
use crate::ending::How;
use crate::window::Window;

/// A selection that is harvested: a set and dates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List {
    /// Its number.
    pub number: i64,
    /// The set of the list; empty for all.
    pub set: String,
    /// The dates that the user selected.
    pub window: Window,
    /// Everything that changed before this date is stored.
    pub watermark: Option<Datestamp>,
    /// The start of the open pass, by the server's clock.
    pub first_date: Option<Datestamp>,
    /// The number of the first window of that pass, or of the last one.
    pub first_window: i64,
    /// The largest size that the server announced for a window of that pass that had to be divided.
    pub announced: Option<u64>,
    /// The date of the last complete pass, by the local clock.
    pub completed: Option<Datestamp>,
}

/// A part of a list that is not yet proven complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenWindow {
    /// Its number. A window that is requested again from its start gets a new one.
    pub number: i64,
    /// The dates of the window.
    pub window: Window,
    /// The set of the list; empty for all.
    pub set: String,
    /// The token of the next page.
    pub token: Option<String>,
    /// The counts up to that token.
    pub progress: Progress,
    /// The reason why it was given up.
    pub trouble: Option<String>,
}

impl OpenWindow {
    /// Returns a window without any pages yet.
    pub fn new(number: i64, window: Window, set: &str) -> Self {
        Self { number, window, set: set.to_owned(), token: None, progress: Progress::default(), trouble: None }
    }
}

/// A change of the windows of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// The list of the windows.
    pub list: i64,
    /// Windows that are complete, or replaced by others.
    pub closed: Vec<i64>,
    /// A window that is given up for this run, and the reason.
    pub given_up: Option<(i64, String)>,
    /// The size of the list, as announced for the window that is replaced.
    pub announced: Option<u64>,
    /// The window that is divided and the reason, for the log.
    pub reason: Option<String>,
    /// Windows that are added, with their sets.
    pub added: Vec<(Window, String, Progress)>,
}

/// The counts of a window so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Progress {
    /// Pages received.
    pub pages: u64,
    /// Records received, including those that were received twice.
    pub delivered: u64,
    /// Records received, each once.
    pub fresh: u64,
    /// The largest completeListSize that the server sent.
    pub size: Option<u64>,
    /// True if that size is wrong, because more records followed.
    pub size_refuted: bool,
    /// True if the sizes on the pages differ.
    pub size_varies: bool,
    /// The date of the first page, by the server's clock.
    pub began: Option<i64>,
    /// Records on the largest page.
    pub fullest: u64,
    /// Records on the last page that had any.
    pub last: u64,
    /// Empty pages in a row.
    pub empty: u32,
    /// Pages in a row that held nothing that was not seen in this window.
    pub stale: u32,
    /// Pages in a row that were empty, or held nothing that was not seen in this window.
    pub idle: u32,
    /// The oldest and the newest datestamp received.
    pub span: Option<(i64, i64)>,
    /// True if the headers of the first page contain the requested set.
    pub labelled: bool,
    /// True if the window is its whole pass.
    pub is_pass: bool,
    /// The end of the list, if all pages were received and it is not yet known if they are complete.
    pub ended: Option<How>,
    /// The number of restarts after an expired token.
    pub restarts: u32,
    /// The token by which cycles are detected, as a hash, and the number of pages after which another is chosen
    /// (Brent's algorithm).
    pub milestone: Option<(u64, u64)>,
}

impl Progress {
    /// Returns the oldest datestamp received.
    pub fn oldest(&self) -> Option<Datestamp> {
        self.span.map(|(oldest, _)| Datestamp::from_unix(oldest))
    }
}

fn date(row: &Row<'_>, column: &str) -> rusqlite::Result<Option<Datestamp>> {
    Ok(row.get::<_, Option<i64>>(column)?.map(Datestamp::from_unix))
}

fn window(row: &Row<'_>) -> rusqlite::Result<Window> {
    Ok(Window { from: date(row, "from_date")?, until: date(row, "until_date")? })
}

fn unix(date: Option<Datestamp>) -> Option<i64> {
    date.map(Datestamp::unix)
}

fn open_window(row: &Row<'_>) -> rusqlite::Result<OpenWindow> {
    Ok(OpenWindow {
        number: row.get("number")?,
        window: window(row)?,
        set: row.get("set_spec")?,
        token: row.get("token")?,
        progress: serde_json::from_str(&row.get::<_, String>("progress")?).unwrap_or_default(),
        trouble: row.get("trouble")?,
    })
}

impl State {
    /// Returns the selection of that set and those dates; creates it if it is missing.
    pub fn list(&mut self, set: &str, window: Window) -> Result<List> {
        let (from, until) = (unix(window.from), unix(window.until));
        let find = |list: &List| list.set == set && list.window == window;
        if let Some(list) = self.lists()?.into_iter().find(find) {
            return Ok(list);
        }
        let insert = "INSERT INTO list (set_spec, from_date, until_date) VALUES (?, ?, ?)";
        let number = self.sql(|sql| {
            sql.execute(insert, params![set, from, until])?;
            Ok(sql.last_insert_rowid())
        })?;
        let (set, watermark, first_date) = (set.to_owned(), None, None);
        Ok(List { number, set, window, watermark, first_date, first_window: 0, announced: None, completed: None })
    }

    /// Returns all selections of this harvest.
    pub fn lists(&self) -> Result<Vec<List>> {
        self.sql(|sql| {
            let mut select = sql.prepare("SELECT * FROM list ORDER BY number")?;
            let lists = select.query_map([], |row| {
                Ok(List {
                    number: row.get("number")?,
                    set: row.get("set_spec")?,
                    window: window(row)?,
                    watermark: date(row, "watermark")?,
                    first_date: date(row, "first_date")?,
                    first_window: row.get("first_window")?,
                    announced: row.get::<_, Option<i64>>("announced")?.map(i64::cast_unsigned),
                    completed: date(row, "completed")?,
                })
            })?;
            lists.collect()
        })
    }

    /// Returns the windows of a list that are not yet proven complete, in order of time.
    pub fn windows(&self, list: i64) -> Result<Vec<OpenWindow>> {
        let select = "SELECT * FROM window WHERE list = ? ORDER BY from_date IS NOT NULL, from_date, set_spec, number";
        self.sql(|sql| sql.prepare_cached(select)?.query_map([list], open_window)?.collect())
    }

    /// Returns the first windows of a list that were not given up in this run: those with a token first, then in order of time.
    pub fn next_windows(&self, list: i64, limit: usize) -> Result<Vec<OpenWindow>> {
        let select = "SELECT * FROM window WHERE list = ? AND trouble IS NULL
                      ORDER BY token IS NULL, from_date IS NOT NULL, from_date, set_spec, number LIMIT ?";
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.sql(|sql| sql.prepare_cached(select)?.query_map(params![list, limit], open_window)?.collect())
    }

    /// Adds a window to a list, and returns its number.
    pub fn add_window(&mut self, list: i64, window: Window, set: &str, progress: &Progress) -> Result<i64> {
        let insert = "INSERT INTO window (list, from_date, until_date, set_spec, progress) VALUES (?, ?, ?, ?, ?)";
        let progress = serde_json::to_string(progress).unwrap_or_default();
        self.sql(|sql| {
            let values = params![list, unix(window.from), unix(window.until), set, progress];
            sql.prepare_cached(insert)?.execute(values)?;
            Ok(sql.last_insert_rowid())
        })
    }

    /// Stores the token of the next page of a window, and the counts up to there.
    pub fn set_token(&mut self, number: i64, token: Option<&str>, progress: &Progress) -> Result<()> {
        let update = "UPDATE window SET token = ?, progress = ? WHERE number = ?";
        let progress = serde_json::to_string(progress).unwrap_or_default();
        self.sql(|sql| sql.prepare_cached(update)?.execute(params![token, progress, number]).map(drop))
    }

    /// Changes the windows of a list, all or nothing. Returns the number of the last window that was added.
    pub fn change(&mut self, change: &Change) -> Result<i64> {
        let mut number = 0;
        self.begin()?;
        if let Some(size) = change.announced {
            self.announce(change.list, size)?;
        }
        for closed in &change.closed {
            self.close_window(*closed)?;
        }
        if let Some((window, why)) = &change.given_up {
            let update = "UPDATE window SET trouble = ? WHERE number = ?";
            self.sql(|sql| sql.execute(update, params![why, window]).map(drop))?;
        }
        for (window, set, progress) in &change.added {
            number = self.add_window(change.list, *window, set, progress)?;
        }
        self.commit()?;
        Ok(number)
    }

    /// Gives up every window of a list that was not given up in this run.
    pub fn give_up_all(&mut self, list: i64, why: &str) -> Result<()> {
        let update = "UPDATE window SET trouble = ? WHERE list = ? AND trouble IS NULL";
        self.sql(|sql| sql.execute(update, params![why, list]).map(drop))
    }

    /// Resets the windows that the last run gave up, so that a new run tries them again.
    pub fn clear_errors(&mut self) -> Result<()> {
        self.sql(|sql| sql.execute("UPDATE window SET trouble = NULL", []).map(drop))
    }

    /// Deletes a window that is proven complete, or replaced by others.
    fn close_window(&mut self, number: i64) -> Result<()> {
        self.sql(|sql| sql.prepare_cached("DELETE FROM window WHERE number = ?")?.execute([number]).map(drop))
    }

    /// Stores the start of the pass of a list, by the server's clock. The first value is kept.
    pub fn began(&mut self, list: i64, date: Datestamp) -> Result<()> {
        let update = "UPDATE list SET first_date = ? WHERE number = ? AND first_date IS NULL";
        self.sql(|sql| sql.prepare_cached(update)?.execute(params![date.unix(), list]).map(drop))
    }

    /// Starts a pass of a list with this window.
    pub fn begin_pass(&mut self, list: i64, window: Window, set: &str) -> Result<i64> {
        let number = self.add_window(list, window, set, &Progress { is_pass: true, ..Progress::default() })?;
        let update = "UPDATE list SET first_window = ?, announced = NULL WHERE number = ?";
        self.sql(|sql| sql.execute(update, params![number, list]).map(drop))?;
        Ok(number)
    }

    /// Stores the size that the server announced for a list before it was divided.
    fn announce(&mut self, list: i64, size: u64) -> Result<()> {
        let update = "UPDATE list SET announced = max(coalesce(announced, 0), ?) WHERE number = ?";
        self.sql(|sql| sql.execute(update, params![size.cast_signed(), list]).map(drop))
    }

    /// Completes the pass of a list: its start becomes the watermark of the next one, unless the list was empty (`is_void`).
    pub fn complete_list(&mut self, list: i64, now: Datestamp, is_void: bool) -> Result<()> {
        let update = "UPDATE list SET first_date = NULL, completed = ?, watermark = CASE WHEN ? THEN watermark
            ELSE max(coalesce(first_date, watermark), coalesce(watermark, first_date)) END WHERE number = ?";
        self.sql(|sql| sql.execute(update, params![now.unix(), is_void, list]).map(drop))
    }

    /// Returns a number that no window and no identifier pass has had.
    pub fn fresh_number(&mut self) -> Result<i64> {
        self.sql(|sql| {
            sql.execute("INSERT INTO window (list, set_spec) SELECT number, '' FROM list LIMIT 1", [])?;
            let number = sql.last_insert_rowid();
            sql.execute("DELETE FROM window WHERE number = ?", [number])?;
            Ok(number)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_complete_when_its_windows_are() {
        let mut state = State::in_memory().expect("a state");
        let list = state.list("", Window::ALL).expect("a list");
        assert_eq!(state.list("", Window::ALL).expect("the same list"), list);
        let added = vec![(Window::ALL, String::new(), Progress::default())];
        let first = state.change(&Change { list: list.number, added, ..Change::default() }).expect("a window");
        let progress = Progress { pages: 1, size: Some(7), ..Progress::default() };
        state.set_token(first, Some("go on"), &progress).expect("noted");
        let open = state.next_windows(list.number, 5).expect("windows").remove(0);
        assert_eq!((open.token.as_deref(), open.progress), (Some("go on"), progress));
        let given_up = Some((first, "broken".to_owned()));
        state.change(&Change { list: list.number, given_up, ..Change::default() }).expect("given up");
        assert!(state.next_windows(list.number, 5).expect("windows").is_empty());
        state.clear_errors().expect("again");
        assert_eq!(state.next_windows(list.number, 5).expect("windows").len(), 1);
        state.began(list.number, Datestamp::from_unix(100)).expect("began");
        state.began(list.number, Datestamp::from_unix(200)).expect("the first stands");
        state.change(&Change { list: list.number, closed: vec![first], ..Change::default() }).expect("closed");
        state.complete_list(list.number, Datestamp::from_unix(200), true).expect("nothing came");
        assert_eq!(state.list("", Window::ALL).expect("the list").watermark, None);
        state.began(list.number, Datestamp::from_unix(100)).expect("began");
        state.complete_list(list.number, Datestamp::from_unix(300), false).expect("complete");
        let list = state.list("", Window::ALL).expect("the list");
        assert_eq!(list.watermark, Some(Datestamp::from_unix(100)));
        assert!(state.fresh_number().expect("a number") > first);
    }
}
