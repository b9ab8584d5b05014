//! Parses the instruction file of MOMspider, as published in 1994: directives for all tasks without indentation, then
//! blocks that `<Site`, `<Tree` or `<Owner` open and a lone `>` closes. One directive per line, names are
//! case-sensitive, lines are never continued, and lines that are blank or begin with `#` are ignored.
//!
//! A directive is one row of [`GLOBALS`] or [`OF_TASKS`].

use std::path::PathBuf;

use modoai_settings::unknown;

use super::draft::{Content, Draft, Include, TaskDraft};
use super::error::{Note, shown};
use super::{Scope, Syntax, values};

/// A directive that sets a value of a `T`.
pub(super) struct Directive<T> {
    pub(super) name: &'static str,
    takes: Takes,
    set: fn(&mut T, usize, &str) -> Result<(), String>,
}

/// The arguments of a directive.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    /// Nothing.
    Nothing,
    /// A value, once.
    One,
    /// A value, and more values if it is given again.
    More,
}

/// The directives for the whole file.
pub(super) const GLOBALS: &[Directive<Draft>] = &[
    Directive {
        name: "SystemAvoid",
        takes: Takes::One,
        set: |draft, line, value| include(draft, line, value, Content::Restrictions),
    },
    Directive {
        name: "SystemSites",
        takes: Takes::One,
        set: |draft, line, value| include(draft, line, value, Content::Sites),
    },
    Directive {
        name: "AvoidFile",
        takes: Takes::One,
        set: |draft, line, value| include(draft, line, value, Content::Restrictions),
    },
    Directive {
        name: "SitesFile",
        takes: Takes::One,
        set: |draft, line, value| include(draft, line, value, Content::Sites),
    },
    Directive {
        name: "SitesCheck",
        takes: Takes::One,
        set: |draft, line, value| {
            let days = values::number(value)?;
            if days > 1 {
                let what = format!("SitesCheck {days}: robots.txt is requested again after 1 day, by RFC 9309");
                draft.remarks.push(Note::new(line, what));
            }
            draft.check_robots_after(i64::from(days).min(1) * 24);
            Ok(())
        },
    },
    Directive {
        name: "ReplyTo",
        takes: Takes::One,
        set: |draft, _, value| values::contact(value).map(|contact| draft.plan.contact = Some(contact)),
    },
    Directive {
        name: "MaxDepth",
        takes: Takes::One,
        set: |draft, _, value| values::number(value).map(|links| draft.plan.max_depth = Some(links)),
    },
];

/// The directives for one task.
pub(super) const OF_TASKS: &[Directive<TaskDraft>] = &[
    Directive {
        name: "Name",
        takes: Takes::One,
        set: |task, _, value| values::name(value).map(|name| task.name = Some(name)),
    },
    Directive {
        name: "TopURL",
        takes: Takes::One,
        set: |task, _, value| values::top(value).map(|top| task.top = Some(top)),
    },
    Directive {
        name: "IndexURL",
        takes: Takes::One,
        set: |task, _, value| values::absolute_url(value).map(|url| task.index_url = Some(url)),
    },
    Directive {
        name: "IndexFile",
        takes: Takes::One,
        set: |task, _, value| {
            task.index_file = Some(PathBuf::from(value));
            Ok(())
        },
    },
    Directive {
        name: "IndexTitle",
        takes: Takes::One,
        set: |task, _, value| {
            task.index_title = Some(value.to_owned());
            Ok(())
        },
    },
    Directive {
        name: "EmailAddress",
        takes: Takes::More,
        set: |task, _, value| {
            for address in value.split([',', ' ', '\t']).filter(|part| !part.is_empty()) {
                task.addresses.push(values::address(address)?);
            }
            Ok(())
        },
    },
    Directive {
        name: "EmailBroken",
        takes: Takes::Nothing,
        set: |task, _, _| {
            task.tell.broken = true;
            Ok(())
        },
    },
    Directive {
        name: "EmailRedirected",
        takes: Takes::Nothing,
        set: |task, _, _| {
            task.tell.redirected = true;
            Ok(())
        },
    },
    Directive {
        name: "EmailChanged",
        takes: Takes::One,
        set: |task, _, value| values::number(value).map(|days| task.tell.changed = Some(days)),
    },
    Directive {
        name: "EmailExpired",
        takes: Takes::One,
        set: |task, _, value| values::number(value).map(|days| task.tell.expired = Some(days)),
    },
    Directive {
        name: "ChangeWindow",
        takes: Takes::One,
        set: |task, _, value| values::number(value).map(|days| task.change_window = Some(days)),
    },
    Directive {
        name: "ExpireWindow",
        takes: Takes::One,
        set: |task, _, value| values::number(value).map(|days| task.expire_window = Some(days)),
    },
    Directive {
        name: "Exclude",
        takes: Takes::More,
        set: |task, line, value| {
            task.exclude.push((line, value.to_owned()));
            Ok(())
        },
    },
];

const OPENINGS: [(&str, Scope); 3] = [("<Site", Scope::Site), ("<Tree", Scope::Tree), ("<Owner", Scope::Owner)];

#[expect(clippy::unnecessary_wraps, reason = "it stands for a directive's setter")]
fn include(draft: &mut Draft, line: usize, path: &str, content: Content) -> Result<(), String> {
    draft.includes.push(Include { path: PathBuf::from(path), line, content, may_lack: true });
    Ok(())
}

/// Parses an instruction file.
pub(super) fn parse(text: &str) -> Result<Draft, Note> {
    let mut draft = Draft::default();
    draft.plan.syntax = Syntax::Momspider;
    let mut given = Given::default();
    let mut open: Option<(TaskDraft, Given)> = None;
    for (index, raw) in text.lines().enumerate() {
        let (number, line) = (index + 1, raw.trim());
        let wrong = |what: String| Note::new(number, what);
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if line.starts_with('<') {
            if let Some((task, _)) = &open {
                let what =
                    format!("the task of line {} is not closed; close it with a > on a separate line", task.line);
                return Err(wrong(what));
            }
            let scope = opening(line).map_err(wrong)?;
            open = Some((TaskDraft { line: number, scope: Some(scope), ..TaskDraft::default() }, Given::default()));
        } else if line == ">" {
            let Some((mut task, _)) = open.take() else {
                return Err(wrong(
                    "this > does not close a task; a task begins with <Site, <Tree or <Owner".to_owned(),
                ));
            };
            task.asks_to_tell = task.tell != super::Tell::default();
            draft.add(task, ["Name", "TopURL"])?;
        } else if let Some((task, given)) = &mut open {
            apply(OF_TASKS, task, given, number, line).map_err(|what| wrong(in_a_task(line, what)))?;
        } else {
            let indented = raw.starts_with([' ', '\t']);
            let result = apply(GLOBALS, &mut draft, &mut given, number, line);
            result.map_err(|what| wrong(outside_of_tasks(line, what)))?;
            if indented {
                let advice =
                    "is indented, but does not belong to a task; remove the indentation, or begin the task above it";
                return Err(wrong(format!("{} {advice}", word_of(line))));
            }
        }
    }
    match open {
        Some((task, _)) => Err(Note::new(task.line, "this task is not closed; close it with a > on a separate line")),
        None => Ok(draft),
    }
}

/// The directives that were given, with their lines.
type Given = Vec<(&'static str, usize)>;

fn apply<T>(
    known: &[Directive<T>],
    target: &mut T,
    given: &mut Given,
    number: usize,
    line: &str,
) -> Result<(), String> {
    let word = word_of(line);
    let value = line[word.len()..].trim();
    let Some(directive) = known.iter().find(|directive| directive.name == word) else {
        return Err(unknown("name", word, &known.iter().map(|directive| directive.name).collect::<Vec<_>>()));
    };
    if let Some((_, first)) = given.iter().find(|(name, _)| *name == word && directive.takes != Takes::More) {
        return Err(format!("{word} is already set in line {first}; remove one of them"));
    }
    match (directive.takes, value) {
        (Takes::Nothing, "") => {}
        (Takes::Nothing, value) => return Err(format!("{word} takes no value; remove '{}'", shown(value))),
        (_, "") => return Err(format!("{word} needs a value")),
        _ => {}
    }
    (directive.set)(target, number, value).map_err(|problem| format!("{word} {problem}"))?;
    if directive.takes != Takes::More {
        given.push((directive.name, number));
    }
    Ok(())
}

fn word_of(line: &str) -> &str {
    line.split([' ', '\t']).next().unwrap_or_default()
}

fn opening(line: &str) -> Result<Scope, String> {
    if let Some((_, scope)) = OPENINGS.iter().find(|(word, _)| *word == line) {
        return Ok(*scope);
    }
    let word = line.split([' ', '\t', '>']).next().unwrap_or_default();
    if OPENINGS.iter().any(|(known, _)| *known == word) {
        return Err(format!(
            "{word} must be on a separate line, followed by the directives of the task and a > on a separate line"
        ));
    }
    Err(unknown("name", word, &OPENINGS.map(|(word, _)| word)))
}

/// Replaces the message about a directive that is known, but not allowed inside a task.
fn in_a_task(line: &str, what: String) -> String {
    let word = word_of(line);
    if GLOBALS.iter().any(|directive| directive.name == word) {
        return format!("{word} applies to all tasks; move it above the first task, without indentation");
    }
    what
}

fn outside_of_tasks(line: &str, what: String) -> String {
    let word = word_of(line);
    if OF_TASKS.iter().any(|directive| directive.name == word) {
        return format!("{word} belongs to a task; <Site, <Tree or <Owner is missing above it");
    }
    what
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> (usize, String) {
        let note = parse(text).expect_err("something is wrong with it");
        (note.line, note.what)
    }

    const TASK: &str = "<Site\n Name a\n TopURL http://h/\n";

    #[test]
    fn what_is_wrong_is_told_with_its_line_and_a_remedy() {
        for (text, line, part) in [
            ("\n# x\nMaxdepth 3\n", 3, "did you mean 'MaxDepth'?"),
            ("MaxDepth three\n", 1, "MaxDepth needs a whole number, not 'three'"),
            ("MaxDepth\n", 1, "MaxDepth needs a value"),
            ("MaxDepth 3\nMaxDepth 4\n", 2, "already set in line 1"),
            (" MaxDepth 3\n", 1, "remove the indentation"),
            ("Name a\n", 1, "Name belongs to a task"),
            (">\n", 1, "does not close a task"),
            ("<site\n", 1, "did you mean '<Site'?"),
            ("<Site>\n", 1, "on a separate line"),
            ("<Site Name a\n", 1, "on a separate line"),
            ("<!DOCTYPE html>\n", 1, "unknown name '<!DOCTYPE'"),
            (TASK, 1, "not closed"),
            ("<Site\n Name a\n>\n", 1, "this task has no TopURL"),
            ("<Site\n TopURL http://h/\n>\n", 1, "this task has no Name"),
            ("<Site\n Name two words\n>\n", 2, "one word"),
            ("<Site\n TopURL ftp://h/\n>\n", 2, "http or https"),
            ("<Site\n Topurl http://h/\n>\n", 2, "did you mean 'TopURL'?"),
            ("<Site\n MaxDepth 3\n>\n", 2, "applies to all tasks"),
            ("<Site\n EmailBroken yes\n>\n", 2, "takes no value; remove 'yes'"),
            ("<Site\n EmailAddress alice\n>\n", 2, "EmailAddress needs an address"),
            ("<Site\n<Tree\n", 2, "the task of line 1 is not closed"),
            ("<Site\n Name a\n TopURL http://h/\n Exclude x y\n>\n", 4, "exclude needs an absolute URL"),
        ] {
            let (at, what) = told(text);
            assert!(at == line && what.contains(part), "{text:?}: line {at}: {what}");
        }
    }

    #[test]
    fn what_may_be_given_again_adds_up() {
        let more = " EmailAddress a@h, b@h\n EmailAddress c@h\n Exclude /x\n Exclude http://o/y\n>\n";
        let draft = parse(&format!("{TASK}{more}")).expect("good");
        let task = &draft.plan.tasks[0];
        assert_eq!(task.addresses, ["a@h", "b@h", "c@h"]);
        assert_eq!(task.exclude, ["http://h/x", "http://o/y"]);
        assert!(!draft.tasks[0].1, "nothing is to be told");
    }

    #[test]
    fn tabs_carriage_returns_and_flush_left_tasks_are_taken() {
        let draft = parse("MaxDepth\t3\r\n<Tree\r\nName\ta\r\nTopURL\thttp://h/\r\n>\r\n").expect("good");
        assert_eq!(draft.plan.max_depth, Some(3));
        assert_eq!(draft.plan.tasks[0].name, "a");
    }
}
