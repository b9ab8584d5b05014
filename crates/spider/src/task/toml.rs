//! Parses task files in TOML. A key is one row of [`TOP`], [`OF_TASKS`], [`OF_MAIL`] or [`OF_RESTRICTIONS`]. Other keys
//! are refused, with a suggestion of the nearest key.

use std::path::PathBuf;

use ::toml::Spanned;
use ::toml::de::{DeTable, DeValue};
use url::Url;

use super::draft::{Content, Draft, Include, TaskDraft};
use super::error::{Note, shown, unknown};
use super::owners::same_owner;
use super::{Action, MailRoute, OwnerRule, Restriction, SaidIn, Scope, Tell, values};

/// A key of a table that sets a value of a `T`.
pub(super) struct Key<T> {
    pub(super) name: &'static str,
    set: fn(&mut T, &At<'_>) -> Result<(), Note>,
}

/// The keys of the file itself.
pub(super) const TOP: &[Key<Draft>] = &[
    Key { name: "contact", set: |draft, at| at.parse(values::contact).map(|it| draft.plan.contact = Some(it)) },
    Key { name: "depth", set: |draft, at| at.number(0).map(|it| draft.plan.max_depth = Some(it)) },
    Key { name: "robots_hours", set: |draft, at| at.number(0).map(|it: u32| draft.check_robots_after(it.into())) },
    Key { name: "task", set: |draft, at| at.tables()?.into_iter().try_for_each(|task| add_task(draft, task)) },
    Key { name: "avoid", set: |draft, at| restrict(draft, at, Action::Avoid) },
    Key { name: "leaf", set: |draft, at| restrict(draft, at, Action::Leaf) },
    Key { name: "avoid_file", set: |draft, at| include(draft, at, Content::Restrictions) },
    Key { name: "owners", set: own },
    Key { name: "owners_file", set: |draft, at| include(draft, at, Content::Owners) },
    Key { name: "people", set: know },
    Key { name: "mail", set: |draft, at| route(at).map(|it| draft.plan.mail = Some(it)) },
];

/// The keys of `[[task]]`.
pub(super) const OF_TASKS: &[Key<TaskDraft>] = &[
    Key { name: "name", set: |task, at| at.parse(values::name).map(|it| task.name = Some(it)) },
    Key { name: "site", set: |task, at| begin(task, at, Scope::Site) },
    Key { name: "tree", set: |task, at| begin(task, at, Scope::Tree) },
    Key { name: "owner", set: |task, at| begin(task, at, Scope::Owner) },
    Key { name: "title", set: |task, at| at.text().map(|it| task.index_title = Some(it.to_owned())) },
    Key { name: "index", set: |task, at| at.path().map(|it| task.index_file = Some(it)) },
    Key { name: "index_url", set: |task, at| at.parse(values::absolute_url).map(|it| task.index_url = Some(it)) },
    Key { name: "mail", set: |task, at| addresses(at).map(|it| task.addresses = it) },
    Key { name: "tell", set: tell },
    Key {
        name: "tell_changed",
        set: |task, at| {
            task.asks_to_tell = true;
            at.number(0).map(|it| task.tell.changed = Some(it))
        },
    },
    Key {
        name: "tell_expiring",
        set: |task, at| {
            task.asks_to_tell = true;
            at.number(0).map(|it| task.tell.expired = Some(it))
        },
    },
    Key {
        name: "always",
        set: |task, at| {
            task.tell.always = at.value.get_ref().as_bool().ok_or_else(|| at.wrong("needs true or false"))?;
            task.asks_to_tell |= task.tell.always;
            Ok(())
        },
    },
    Key { name: "change_window", set: |task, at| at.number(0).map(|it| task.change_window = Some(it)) },
    Key { name: "expire_window", set: |task, at| at.number(0).map(|it| task.expire_window = Some(it)) },
    Key {
        name: "exclude",
        set: |task, at| {
            let prefixes = at.items().map(|item| Ok((item.line(), item.text()?.to_owned())));
            prefixes.collect::<Result<_, _>>().map(|it| task.exclude = it)
        },
    },
    Key { name: "max_pages", set: |task, at| at.number(1).map(|it| task.max_pages = Some(it)) },
];

/// The keys of `[mail]`.
pub(super) const OF_MAIL: &[Key<MailDraft>] = &[
    Key { name: "smtp", set: |mail, at| at.parse(smtp_url).map(|it| mail.smtp = Some(it)) },
    Key { name: "sendmail", set: |mail, at| at.path().map(|it| mail.sendmail = Some(it)) },
    Key { name: "from", set: |mail, at| at.parse(values::address).map(|it| mail.from = Some(it)) },
    Key { name: "user", set: |mail, at| at.text().map(|it| mail.user = Some(it.to_owned())) },
    Key { name: "password_file", set: |mail, at| at.path().map(|it| mail.password_file = Some(it)) },
];

/// The keys of `[[avoid]]` and `[[leaf]]`.
pub(super) const OF_RESTRICTIONS: &[Key<Restriction>] = &[
    Key { name: "url", set: |restriction, at| at.parse(values::prefix).map(|it| restriction.prefix = it) },
    Key {
        name: "until",
        set: |restriction, at| {
            restriction.until = match at.value.get_ref() {
                DeValue::Datetime(date) => values::until(&date.to_string()).map_err(|problem| at.wrong(&problem))?,
                _ => at.parse(values::until)?,
            };
            Ok(())
        },
    },
];

/// Parses a task file.
pub(super) fn parse(text: &str) -> Result<Draft, Note> {
    let lines = Lines::of(text);
    let table = DeTable::parse(text).map_err(|error| {
        let line = lines.line(error.span().map_or(0, |span| span.start));
        Note::new(line, format!("invalid TOML: {}", error.message().replace('\n', ", ")))
    })?;
    let mut draft = Draft::default();
    fill(table.get_ref(), TOP, &mut draft, &lines)?;
    Ok(draft)
}

/// Sets the values of a table in `target`, in the order of the file, so that the first error is reported.
fn fill<T>(table: &DeTable<'_>, keys: &[Key<T>], target: &mut T, lines: &Lines) -> Result<(), Note> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    for (key, value) in entries {
        let name: &str = key.get_ref();
        let Some(row) = keys.iter().find(|row| row.name == name) else {
            let known: Vec<&str> = keys.iter().map(|row| row.name).collect();
            return Err(Note::new(lines.line(key.span().start), stranger(name, &known)));
        };
        (row.set)(target, &At { key: row.name, value, lines })?;
    }
    Ok(())
}

/// Returns the message about an unknown key in a table. Two common mistakes have separate messages.
fn stranger(name: &str, known: &[&str]) -> String {
    if TOP.iter().any(|row| row.name == name) {
        return format!("'{name}' applies to the whole file; move it above the first line with brackets");
    }
    if known.contains(&"tree") && matches!(name, "top" | "url" | "start") {
        return format!("'{name}' does not define the scope of the task; use site, tree or owner instead");
    }
    unknown(name, known)
}

/// A value in the file.
struct At<'a> {
    key: &'a str,
    value: &'a Spanned<DeValue<'a>>,
    lines: &'a Lines,
}

impl<'a> At<'a> {
    fn line(&self) -> usize {
        self.lines.line(self.value.span().start)
    }

    fn wrong(&self, problem: &str) -> Note {
        Note::new(self.line(), format!("'{}' {problem}", self.key))
    }

    /// Returns a text that is not empty.
    fn text(&self) -> Result<&'a str, Note> {
        let text = self.value.get_ref().as_str().map(str::trim).filter(|text| !text.is_empty());
        text.ok_or_else(|| self.wrong("needs text in quotes"))
    }

    fn parse<T>(&self, parser: fn(&str) -> Result<T, String>) -> Result<T, Note> {
        parser(self.text()?).map_err(|problem| self.wrong(&problem))
    }

    fn path(&self) -> Result<PathBuf, Note> {
        self.text().map(PathBuf::from)
    }

    fn number<T: TryFrom<u64>>(&self, least: u64) -> Result<T, Note> {
        let digits = self.value.get_ref().as_integer();
        let number = digits.and_then(|digits| u64::from_str_radix(digits.as_str(), digits.radix()).ok());
        let fitting = number.filter(|number| *number >= least).and_then(|number| T::try_from(number).ok());
        fitting.ok_or_else(|| self.wrong(&format!("needs a whole number of at least {least}")))
    }

    /// Returns the value itself, or those of a list.
    fn items(&self) -> impl Iterator<Item = At<'a>> {
        let Self { key, value, lines } = *self;
        let items = value.get_ref().as_array().map_or(std::slice::from_ref(value), |array| array.as_ref());
        items.iter().map(move |value| At { key, value, lines })
    }

    fn tables(&self) -> Result<Vec<(usize, &'a DeTable<'a>, &'a Lines)>, Note> {
        let table = |item: At<'a>| match item.value.get_ref().as_table() {
            Some(table) => Ok((item.line(), table, item.lines)),
            None => Err(item.wrong(&format!("must begin with [[{}]] on a separate line", item.key))),
        };
        self.items().map(table).collect()
    }

    /// Returns the entries of a table with keys of all kinds, in the order of the file.
    fn entries(&self) -> Result<Vec<At<'a>>, Note> {
        let table =
            self.value.get_ref().as_table().ok_or_else(|| self.wrong(&format!("must begin with [{}]", self.key)))?;
        let lines = self.lines;
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        Ok(entries.into_iter().map(|(key, value)| At { key: key.get_ref(), value, lines }).collect())
    }
}

fn add_task(draft: &mut Draft, (line, table, lines): (usize, &DeTable<'_>, &Lines)) -> Result<(), Note> {
    // The default for a task with an address: the findings that need repair.
    let tell = Tell { broken: true, redirected: true, ..Tell::default() };
    let mut task = TaskDraft { line, tell, ..TaskDraft::default() };
    fill(table, OF_TASKS, &mut task, lines)?;
    draft.add(task, ["name", "site, tree or owner, which define its scope"])
}

fn begin(task: &mut TaskDraft, at: &At<'_>, scope: Scope) -> Result<(), Note> {
    if task.top.is_some() {
        return Err(at.wrong("is in conflict: a task has one of site, tree and owner; use two tasks"));
    }
    task.top = Some(at.parse(values::top)?);
    task.scope = Some(scope);
    Ok(())
}

fn tell(task: &mut TaskDraft, at: &At<'_>) -> Result<(), Note> {
    (task.tell.broken, task.tell.redirected) = (false, false);
    for item in at.items() {
        match item.text()? {
            "broken" => task.tell.broken = true,
            "moved" => task.tell.redirected = true,
            "changed" => return Err(item.wrong("needs a number of days: use tell_changed = 7")),
            "expiring" => return Err(item.wrong("needs a number of days: use tell_expiring = 30")),
            other => return Err(Note::new(item.line(), unknown(other, &["broken", "moved"]))),
        }
        task.asks_to_tell = true;
    }
    Ok(())
}

fn addresses(at: &At<'_>) -> Result<Vec<String>, Note> {
    at.items().map(|item| item.parse(values::address)).collect()
}

fn restrict(draft: &mut Draft, at: &At<'_>, action: Action) -> Result<(), Note> {
    for item in at.items() {
        let mut restriction = Restriction { action, prefix: String::new(), until: None, origin: String::new() };
        match item.value.get_ref().as_table() {
            Some(table) => fill(table, OF_RESTRICTIONS, &mut restriction, item.lines)?,
            None => restriction.prefix = item.parse(values::prefix)?,
        }
        if restriction.prefix.is_empty() {
            return Err(item.wrong("needs a url"));
        }
        draft.restrictions.push((item.line(), restriction));
    }
    Ok(())
}

fn include(draft: &mut Draft, at: &At<'_>, content: Content) -> Result<(), Note> {
    for item in at.items() {
        draft.includes.push(Include { path: item.path()?, line: item.line(), content, may_lack: false });
    }
    Ok(())
}

/// Reads `[owners]`: a path or a URL, and the owner of the documents at or below it.
fn own(draft: &mut Draft, at: &At<'_>) -> Result<(), Note> {
    for entry in at.entries()? {
        let pattern = if entry.key.starts_with('/') && !entry.key.contains(['*', '?']) {
            entry.key.to_owned()
        } else if entry.key.contains('*') {
            return Err(
                entry.wrong("is a pattern; only paths and URLs are allowed here, use an owners_file for patterns")
            );
        } else {
            let advice =
                "is neither a path nor a URL; use \"/physics/\" or \"https://example.org/physics/\", in quotes";
            values::prefix(entry.key).map_err(|_| entry.wrong(advice))?
        };
        let owner = Some(entry.parse(values::owner)?);
        draft.plan.owners.push(OwnerRule { pattern, owner, said_in: SaidIn::Table });
    }
    Ok(())
}

/// Reads `[people]`: an owner and its addresses.
fn know(draft: &mut Draft, at: &At<'_>) -> Result<(), Note> {
    for entry in at.entries()? {
        let owner = values::owner(entry.key).map_err(|problem| entry.wrong(&problem))?;
        let addresses = addresses(&entry)?;
        if addresses.is_empty() {
            return Err(entry.wrong("needs an address, or a list of addresses"));
        }
        if draft.plan.people.iter().any(|(known, _)| same_owner(known, &owner)) {
            return Err(entry.wrong("occurs twice, except for an @ or for case; remove one of them"));
        }
        draft.plan.people.push((owner, addresses));
    }
    Ok(())
}

/// The parsed table `[mail]`.
#[derive(Default)]
pub(super) struct MailDraft {
    smtp: Option<Url>,
    sendmail: Option<PathBuf>,
    from: Option<String>,
    user: Option<String>,
    password_file: Option<PathBuf>,
}

fn route(at: &At<'_>) -> Result<MailRoute, Note> {
    let table = at.value.get_ref().as_table().ok_or_else(|| at.wrong("must begin with [mail] on a separate line"))?;
    let mut mail = MailDraft::default();
    fill(table, OF_MAIL, &mut mail, at.lines)?;
    let from = mail.from.ok_or_else(|| at.wrong("needs from, the sender address of the messages"))?;
    match (mail.smtp, mail.sendmail) {
        (Some(url), None) => Ok(MailRoute::Smtp { url, user: mail.user, password_file: mail.password_file, from }),
        (None, Some(_)) if mail.user.is_some() || mail.password_file.is_some() => {
            Err(at.wrong("has a user or a password, but sendmail needs neither"))
        }
        (None, Some(program)) => Ok(MailRoute::Sendmail { program, from }),
        _ => Err(at.wrong("needs either smtp = \"smtp://host:port\" or sendmail = \"/usr/sbin/sendmail\"")),
    }
}

fn smtp_url(text: &str) -> Result<Url, String> {
    let url = values::absolute_url(text)?;
    let is_smtp = matches!(url.scheme(), "smtp" | "smtps" | "smtp+starttls");
    if !is_smtp || url.host_str().is_none_or(str::is_empty) {
        let forms = "smtp://host:25, smtp+starttls://host:587 or smtps://host:465";
        return Err(format!("needs a URL such as {forms}, not '{}'", shown(text)));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("has a user or a password in its URL; use user = \"…\" and password_file = \"…\"".to_owned());
    }
    Ok(url)
}

/// The ends of the lines of a text.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        Self(text.match_indices('\n').map(|(at, _)| at).collect())
    }

    /// Returns the line of an offset, from 1.
    fn line(&self, offset: usize) -> usize {
        self.0.partition_point(|end| *end < offset) + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TASK: &str = "[[task]]\nname = 'a'\nsite = 'http://h/'\n";

    #[test]
    fn what_is_wrong_is_told_with_its_line_and_a_remedy() {
        for (text, line, part) in [
            ("x =\n", 1, "invalid TOML"),
            ("\ncontcat = 'a@b'\n", 2, "did you mean 'contact'?"),
            ("contact = 3\n", 1, "'contact' needs text in quotes"),
            ("contact = 'nobody'\n", 1, "needs an address"),
            ("depth = -1\n", 1, "'depth' needs a whole number"),
            ("task = 'x'\n", 1, "must begin with [[task]]"),
            ("[[task]]\nname = 'a'\n", 1, "has no site, tree or owner"),
            ("[[task]]\nsite = 'http://h/'\n", 1, "this task has no name"),
            ("[[task]]\ntop = 'http://h/'\n", 2, "use site, tree or owner"),
            ("[[task]]\ndepth = 3\n", 2, "'depth' applies to the whole file"),
            ("[[task]]\nsite = 'http://h/'\ntree = 'http://h/'\n", 3, "use two tasks"),
            ("[[task]]\nttile = 'x'\n", 2, "did you mean 'title'?"),
            ("[[task]]\ntell = ['broken', 'changed']\n", 2, "use tell_changed = 7"),
            ("[[task]]\ntell = ['brocken']\n", 2, "did you mean 'broken'?"),
            ("[[task]]\nmail = ['a@b',\n 'c']\n", 3, "not 'c'"),
            ("[[task]]\nmax_pages = 0\n", 2, "at least 1"),
            ("[[task]]\nalways = 'yes'\n", 2, "needs true or false"),
            ("[mail]\nfrom = 'a@b'\n", 1, "needs either smtp"),
            ("[mail]\nsmtp = 'smtp://h'\n", 1, "needs from"),
            ("[mail]\nsmtp = 'http://h'\n", 2, "smtps://host:465"),
            ("[mail]\nsmtp = 'smtp://u:p@h'\n", 2, "password_file"),
            ("[mail]\nsendmail = '/s'\nuser = 'u'\nfrom = 'a@b'\n", 1, "needs neither"),
            ("avoid = ['h']\n", 1, "'avoid' needs an absolute URL"),
            ("[[avoid]]\nuntil = 2030-01-01\n", 1, "needs a url"),
            ("[[leaf]]\nurl = 'http://h/'\nuntil = 07:32:00\n", 3, "needs a date"),
            ("[owners]\n'*.css' = 'x'\n", 2, "use an owners_file for patterns"),
            ("[owners]\nphysics = 'x'\n", 2, "is neither a path nor a URL"),
            ("[people]\nx = []\n", 2, "needs an address"),
            ("[people]\nx = 'a@b'\n'@x' = 'a@b'\n", 3, "occurs twice"),
            ("[people]\nx = 'a@b'\nX = 'c@d'\n", 3, "occurs twice"),
        ] {
            let note = parse(text).expect_err("something is wrong with it");
            assert!(note.line == line && note.what.contains(part), "{text:?}: {note:?}");
        }
    }

    #[test]
    fn repairs_are_told_unless_it_says_otherwise() {
        let tell = |more: &str| parse(&format!("{TASK}{more}")).expect("good").plan.tasks[0].tell.clone();
        let both = Tell { broken: true, redirected: true, ..Tell::default() };
        assert_eq!(tell(""), both);
        assert_eq!(tell("tell_changed = 7\nalways = true\n"), Tell { changed: Some(7), always: true, ..both });
        assert_eq!(tell("tell = 'broken'\n"), Tell { broken: true, ..Tell::default() });
        assert_eq!(tell("tell = []\n"), Tell::default());
    }

    #[test]
    fn restrictions_are_texts_or_tables() {
        let text = "leaf = ['http://h:80']\navoid = [{ url = 'http://a/', until = 2030-01-01 }, 'http://b/']\n";
        let draft = parse(text).expect("good");
        let until = values::until("2030-01-01").expect("a date");
        let of = |action, prefix: &str, until| {
            let (prefix, origin) = (prefix.to_owned(), String::new());
            Restriction { action, prefix, until, origin }
        };
        let expected = [
            (1, of(Action::Leaf, "http://h/", None)),
            (2, of(Action::Avoid, "http://a/", until)),
            (2, of(Action::Avoid, "http://b/", None)),
        ];
        assert_eq!(draft.restrictions, expected);
    }
}
