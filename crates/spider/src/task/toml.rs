//! Parses task files in TOML. A key is one row of [`TOP`], [`OF_TASKS`], [`OF_MAIL`] or [`OF_RESTRICTIONS`]. Other keys
//! are refused, with a suggestion of the nearest key.

use std::path::{Path, PathBuf};

use modoai_settings::{Former, Problem, Setting, Value, fill, load, unknown};
use url::Url;

use super::draft::{Content, Draft, Include, TaskDraft};
use super::error::{Note, shown};
use super::owners::same_owner;
use super::{Action, MailRoute, OwnerRule, Restriction, SaidIn, Scope, Tell, values};

const ANY: std::ops::RangeInclusive<u64> = 0..=u64::MAX;

/// The keys of the file itself.
pub(super) const TOP: &[Setting<Draft>] = &[
    Setting::of_key("contact", |draft, v| parsed(v, values::contact).map(|it| draft.plan.contact = Some(it))),
    Setting::of_key("depth", |draft, v| v.number(ANY).map(|it| draft.plan.max_depth = Some(it))),
    Setting::of_key("robots_hours", |draft, v| v.number(ANY).map(|it: u32| draft.check_robots_after(it.into()))),
    Setting::of_key("task", |draft, v| v.tables("task")?.into_iter().try_for_each(|task| add_task(draft, task))),
    Setting::of_key("avoid", |draft, v| restrict(draft, v, Action::Avoid)),
    Setting::of_key("leaf", |draft, v| restrict(draft, v, Action::Leaf)),
    Setting::of_key("avoid_file", |draft, v| include(draft, v, Content::Restrictions)),
    Setting::of_key("owners", own),
    Setting::of_key("owners_file", |draft, v| include(draft, v, Content::Owners)),
    Setting::of_key("people", know),
    Setting::of_key("mail", |draft, v| route(v).map(|it| draft.plan.mail = Some(it))),
];

/// The keys of `[[task]]`.
pub(super) const OF_TASKS: &[Setting<TaskDraft>] = &[
    Setting::of_key("name", |task, v| parsed(v, values::name).map(|it| task.name = Some(it))),
    Setting::of_key("site", |task, v| begin(task, v, Scope::Site)),
    Setting::of_key("tree", |task, v| begin(task, v, Scope::Tree)),
    Setting::of_key("owner", |task, v| begin(task, v, Scope::Owner)),
    Setting::of_key("title", |task, v| text(v).map(|it| task.index_title = Some(it.to_owned()))),
    Setting::of_key("index", |task, v| path(v).map(|it| task.index_file = Some(it))),
    Setting::of_key("index_url", |task, v| parsed(v, values::absolute_url).map(|it| task.index_url = Some(it))),
    Setting::of_key("mail", |task, v| addresses(v).map(|it| task.addresses = it)),
    Setting::of_key("tell", tell),
    Setting::of_key("tell_changed", |task, v| {
        task.asks_to_tell = true;
        v.number(ANY).map(|it| task.tell.changed = Some(it))
    }),
    Setting::of_key("tell_expiring", |task, v| {
        task.asks_to_tell = true;
        v.number(ANY).map(|it| task.tell.expired = Some(it))
    }),
    Setting::of_key("always", |task, v| {
        task.tell.always = v.flag()?;
        task.asks_to_tell |= task.tell.always;
        Ok(())
    }),
    Setting::of_key("change_window", |task, v| v.number(ANY).map(|it| task.change_window = Some(it))),
    Setting::of_key("expire_window", |task, v| v.number(ANY).map(|it| task.expire_window = Some(it))),
    Setting::of_key("exclude", |task, v| {
        let prefixes = v.items().map(|item| Ok((item.line().unwrap_or(1), text(item)?.to_owned())));
        prefixes.collect::<Result<_, _>>().map(|it| task.exclude = it)
    }),
    Setting::of_key("max_pages", |task, v| v.number(1..=u64::MAX).map(|it| task.max_pages = Some(it))),
];

/// Names that are mistaken for the scope of a task.
const MISTAKEN: Former = &[("top", SCOPE), ("url", SCOPE), ("start", SCOPE)];
const SCOPE: &str = "does not define the scope of the task; use site, tree or owner instead";

/// The keys of `[mail]`.
pub(super) const OF_MAIL: &[Setting<MailDraft>] = &[
    Setting::of_key("smtp", |mail, v| parsed(v, smtp_url).map(|it| mail.smtp = Some(it))),
    Setting::of_key("sendmail", |mail, v| path(v).map(|it| mail.sendmail = Some(it))),
    Setting::of_key("from", |mail, v| parsed(v, values::address).map(|it| mail.from = Some(it))),
    Setting::of_key("user", |mail, v| text(v).map(|it| mail.user = Some(it.to_owned()))),
    Setting::of_key("password_file", |mail, v| path(v).map(|it| mail.password_file = Some(it))),
];

/// The keys of `[[avoid]]` and `[[leaf]]`.
pub(super) const OF_RESTRICTIONS: &[Setting<Restriction>] = &[
    Setting::of_key("url", |restriction, v| parsed(v, values::prefix).map(|it| restriction.prefix = it)),
    Setting::of_key("until", |restriction, v| {
        let text = v.written_text().ok_or("needs a date")?;
        restriction.until = values::until(text)?;
        Ok(())
    }),
];

/// Parses a task file.
pub(super) fn parse(text: &str) -> Result<Draft, Note> {
    let mut draft = Draft::default();
    load(text, Path::new(""), &mut (TOP, &mut draft))?;
    Ok(draft)
}

/// Returns a text that is not empty.
fn text(value: &Value) -> Result<&str, Problem> {
    let text = value.text()?.trim();
    if text.is_empty() { Err(value.problem("needs text in quotes")) } else { Ok(text) }
}

fn parsed<T>(value: &Value, parser: fn(&str) -> Result<T, String>) -> Result<T, Problem> {
    parser(text(value)?).map_err(|what| value.problem(what))
}

fn path(value: &Value) -> Result<PathBuf, Problem> {
    text(value).map(PathBuf::from)
}

fn add_task(draft: &mut Draft, table: &Value) -> Result<(), Problem> {
    // The default for a task with an address: the findings that need repair.
    let tell = Tell { broken: true, redirected: true, ..Tell::default() };
    let mut task = TaskDraft { line: table.line().unwrap_or(1), tell, ..TaskDraft::default() };
    fill(table, &mut (OF_TASKS, &mut task, MISTAKEN))?;
    Ok(draft.add(task, ["name", "site, tree or owner, which define its scope"])?)
}

fn begin(task: &mut TaskDraft, value: &Value, scope: Scope) -> Result<(), Problem> {
    if task.top.is_some() {
        return Err("is in conflict: a task has one of site, tree and owner; use two tasks".into());
    }
    task.top = Some(parsed(value, values::top)?);
    task.scope = Some(scope);
    Ok(())
}

fn tell(task: &mut TaskDraft, value: &Value) -> Result<(), Problem> {
    (task.tell.broken, task.tell.redirected) = (false, false);
    for item in value.items() {
        match text(item)? {
            "broken" => task.tell.broken = true,
            "moved" => task.tell.redirected = true,
            "changed" => return Err(item.problem("needs a number of days: use tell_changed = 7")),
            "expiring" => return Err(item.problem("needs a number of days: use tell_expiring = 30")),
            other => return Err(Problem::complete(item.line(), unknown("name", other, &["broken", "moved"]))),
        }
        task.asks_to_tell = true;
    }
    Ok(())
}

fn addresses(value: &Value) -> Result<Vec<String>, Problem> {
    value.items().map(|item| parsed(item, values::address)).collect()
}

fn restrict(draft: &mut Draft, value: &Value, action: Action) -> Result<(), Problem> {
    for item in value.items() {
        let mut restriction = Restriction { action, prefix: String::new(), until: None, origin: String::new() };
        if item.is_table() {
            fill(item, &mut (OF_RESTRICTIONS, &mut restriction))?;
        } else {
            restriction.prefix = parsed(item, values::prefix)?;
        }
        if restriction.prefix.is_empty() {
            return Err(item.problem("needs a url"));
        }
        draft.restrictions.push((item.line().unwrap_or(1), restriction));
    }
    Ok(())
}

fn include(draft: &mut Draft, value: &Value, content: Content) -> Result<(), Problem> {
    for item in value.items() {
        draft.includes.push(Include { path: path(item)?, line: item.line().unwrap_or(1), content, may_lack: false });
    }
    Ok(())
}

/// Reads `[owners]`: a path or a URL, and the owner of the documents at or below it.
fn own(draft: &mut Draft, value: &Value) -> Result<(), Problem> {
    for (key, line, value) in value.entries()? {
        let wrong = |what: &str| Problem::from(what).of(key, line);
        let pattern = if key.starts_with('/') && !key.contains(['*', '?']) {
            key.to_owned()
        } else if key.contains('*') {
            return Err(wrong("is a pattern; only paths and URLs are allowed here, use an owners_file for patterns"));
        } else {
            let advice =
                "is neither a path nor a URL; use \"/physics/\" or \"https://example.org/physics/\", in quotes";
            values::prefix(key).map_err(|_| wrong(advice))?
        };
        let owner = Some(parsed(value, values::owner).map_err(|problem| problem.of(key, line))?);
        draft.plan.owners.push(OwnerRule { pattern, owner, said_in: SaidIn::Table });
    }
    Ok(())
}

/// Reads `[people]`: an owner and its addresses.
fn know(draft: &mut Draft, value: &Value) -> Result<(), Problem> {
    for (key, line, value) in value.entries()? {
        let wrong = |what: &str| Problem::from(what).of(key, line);
        let owner = values::owner(key).map_err(|what| wrong(&what))?;
        let addresses = addresses(value).map_err(|problem| problem.of(key, line))?;
        if addresses.is_empty() {
            return Err(wrong("needs an address, or a list of addresses"));
        }
        if draft.plan.people.iter().any(|(known, _)| same_owner(known, &owner)) {
            return Err(wrong("occurs twice, except for an @ or for case; remove one of them"));
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

fn route(table: &Value) -> Result<MailRoute, Problem> {
    let mut mail = MailDraft::default();
    fill(table, &mut (OF_MAIL, &mut mail))?;
    let from = mail.from.ok_or("needs from, the sender address of the messages")?;
    match (mail.smtp, mail.sendmail) {
        (Some(url), None) => Ok(MailRoute::Smtp { url, user: mail.user, password_file: mail.password_file, from }),
        (None, Some(_)) if mail.user.is_some() || mail.password_file.is_some() => {
            Err("has a user or a password, but sendmail needs neither".into())
        }
        (None, Some(program)) => Ok(MailRoute::Sendmail { program, from }),
        _ => Err("needs either smtp = \"smtp://host:port\" or sendmail = \"/usr/sbin/sendmail\"".into()),
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
            ("task = 'x'\n", 1, "needs to be written as [[task]]"),
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
