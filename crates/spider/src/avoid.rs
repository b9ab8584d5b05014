//! Lists all avoided and leafed prefixes with the reasons, in the format of MOMspider's avoid file: the entries of the
//! plan, and the rules of robots.txt that are stored in the table. The output can be used as an avoid file.

use std::fmt::Write as _;

use jiff::{SignedDuration, Timestamp};
use modoai_fetch::{Remembered, Robots, Url};

use crate::foreign::one_line;
use crate::table::{Table, TableError};
use crate::task::{Action, Plan};
use crate::traverse::ROBOTS_LIVE;

/// The first lines of the file.
const HEAD: &str = "\
# URL prefixes that are avoided (no request) or leafed (tested, not read), with the reason.
# The format is: EntryType URLprefix [ExpireDate]; [*] means permanently.
";

/// Returns the list for a plan and the table's robots.txt rules. `agent` is the product token of the client.
pub fn list(plan: &Plan, table: &Table, agent: &str, now: Timestamp) -> Result<String, TableError> {
    let age = plan.robots_age.unwrap_or(ROBOTS_LIVE).min(ROBOTS_LIVE);
    let mut remembered = Vec::new();
    table.robots(now - age, |robots| remembered.push(robots))?;
    remembered.sort_by_key(|robots| robots.origin.to_string());
    let mut text = HEAD.to_owned();
    for restriction in &plan.restrictions {
        let kind = match restriction.action {
            Action::Avoid => "Avoid",
            Action::Leaf => "Leaf",
        };
        let _ = writeln!(text, "# {}", one_line(&restriction.origin, 200));
        let _ = writeln!(text, "{kind} {} [{}]", restriction.prefix, date(restriction.until));
    }
    for robots in &remembered {
        add_robots(&mut text, robots, agent, age);
    }
    Ok(text)
}

fn add_robots(text: &mut String, remembered: &Remembered, agent: &str, age: SignedDuration) {
    let robots = Robots::from_answer(remembered.status, &remembered.body, agent);
    let Ok(url) = Url::parse(&remembered.origin.to_string()) else { return };
    let origin = url.origin().ascii_serialization();
    let until = Timestamp::try_from(remembered.fetched_at).ok().map(|at| at + age);
    for (line, rule) in robots.rules() {
        let rule = one_line(rule, 1_000);
        let (kind, path) = rule.split_once(": ").unwrap_or((&rule, ""));
        let _ = write!(text, "# robots.txt of {origin}, line {line}: {rule}");
        match kind {
            "Disallow" if !path.contains(['*', '$', ' ']) && path.starts_with('/') => {
                let _ = writeln!(text, "\nAvoid {origin}{path} [{}]", date(until));
            }
            // A prefix cannot express it.
            "Disallow" => text.push_str(" (a pattern)\n"),
            _ => text.push_str(" (an exception)\n"),
        }
    }
}

/// Formats a date for the avoid file.
fn date(until: Option<Timestamp>) -> String {
    until.map_or_else(|| "*".to_owned(), |until| httpdate::fmt_http_date(until.into()))
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use modoai_fetch::Origin;

    use super::*;
    use crate::task::Restriction;

    #[test]
    fn plan_and_robots_are_listed_as_an_avoid_file() {
        let now: Timestamp = "2026-11-18T10:00:00Z".parse().expect("a time");
        let table = Table::temporary().expect("a table");
        let url = Url::parse("https://h.test/").expect("a URL");
        let robots = |at: Timestamp| Remembered {
            origin: Origin::of(&url).expect("an origin"),
            status: 200,
            body: "User-agent: *\nDisallow: /private/\nAllow: /private/x\nDisallow: /*.pdf$\n".into(),
            fetched_at: SystemTime::from(at),
        };
        table.keep_robots(&robots(now)).expect("kept");
        let restriction = Restriction {
            action: Action::Leaf,
            prefix: "http://a.test/".to_owned(),
            until: Some(now),
            origin: "tasks.toml:3".to_owned(),
        };
        let plan = Plan { restrictions: vec![restriction], ..Plan::default() };
        let expected = "\
# tasks.toml:3
Leaf http://a.test/ [Wed, 18 Nov 2026 10:00:00 GMT]
# robots.txt of https://h.test, line 2: Disallow: /private/
Avoid https://h.test/private/ [Thu, 19 Nov 2026 10:00:00 GMT]
# robots.txt of https://h.test, line 3: Allow: /private/x (an exception)
# robots.txt of https://h.test, line 4: Disallow: /*.pdf$ (a pattern)
";
        assert_eq!(list(&plan, &table, "modoai", now).expect("listed"), format!("{HEAD}{expected}"));
        let impatient = Plan { robots_age: Some(SignedDuration::ZERO), ..Plan::default() };
        table.keep_robots(&robots(now - SignedDuration::from_secs(1))).expect("kept");
        assert_eq!(list(&impatient, &table, "modoai", now).expect("listed"), HEAD, "it is requested again");
    }
}
