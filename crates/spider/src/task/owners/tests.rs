//! Tests the precedence of owner rules, and the parsing of owners files.

use super::*;
use crate::task::{Scope, Task};

fn owners(table: &[(&str, &str)], file: &str) -> Owners {
    let top = Url::parse("https://www.example.org/").expect("a URL");
    let mut plan = Plan { tasks: vec![Task::new("all", Scope::Site, top)], ..Plan::default() };
    plan.owners.extend(table.iter().map(|(pattern, owner)| OwnerRule {
        pattern: (*pattern).to_owned(),
        owner: Some((*owner).to_owned()),
        said_in: SaidIn::Table,
    }));
    plan.owners.extend(parse_owners(file).rules);
    Owners::new(&plan).expect("good rules")
}

fn expect(owners: &Owners, cases: &[(&str, Option<&str>)]) {
    for (path, expected) in cases {
        let url = Url::parse("https://www.example.org/").and_then(|base| base.join(path)).expect("a URL");
        assert_eq!(owners.of(&url), *expected, "{path}");
    }
}

#[test]
fn in_the_table_the_longest_wins() {
    let table =
        [("/physics/", "physics"), ("/", "web"), ("/physics/lab", "lab"), ("https://www.example.org/physics/", "dean")];
    expect(
        &owners(&table, ""),
        &[
            ("/", Some("web")),
            ("/physics", Some("web")),
            ("/physics/", Some("dean")),
            ("/physics/lab", Some("lab")),
            ("/physics/lab/a.html?q", Some("lab")),
            ("/physics/lab?q", Some("lab")),
            ("/physics/laboratory", Some("dean")),
            ("http://www.example.org/physics/x", Some("dean")),
            ("https://elsewhere.example/physics/", None),
        ],
    );
}

#[test]
fn in_a_file_the_last_wins_and_may_be_nobody() {
    let file = "* @all\n/docs/ @writers\n*.css @design\n/docs/old/\n/docs/old/kept.html @archive\n";
    expect(
        &owners(&[], file),
        &[
            ("/", Some("all")),
            ("/a/b.html", Some("all")),
            ("/docs", Some("all")),
            ("/docs/", Some("writers")),
            ("/docs/a/b.html", Some("writers")),
            ("/docs/a/b.css", Some("design")),
            ("/docs/old/b.css", None),
            ("/docs/old/kept.html", Some("archive")),
        ],
    );
}

#[test]
fn the_table_is_asked_before_the_file() {
    let owners = owners(&[("/a/", "table")], "* @file\n/a/b/ @deeper\n");
    expect(&owners, &[("/a/b/c", Some("table")), ("/b", Some("file"))]);
}

#[test]
fn patterns_mean_what_they_mean_to_git_hosts() {
    let cases: &[(&str, &[&str], &[&str])] = &[
        ("*.js", &["/a.js", "/x/y/a.js"], &["/a.jsx", "/js"]),
        ("/build/logs/", &["/build/logs/a", "/build/logs/b/c", "/build/logs/"], &["/x/build/logs/a", "/build/logs"]),
        ("docs/*", &["/docs/a.html"], &["/docs/a/b.html", "/x/docs/a.html"]),
        ("apps/", &["/apps/a", "/x/apps/y/z"], &["/apps", "/appse/a"]),
        ("/docs/**/figures/", &["/docs/figures/a", "/docs/x/y/figures/a"], &["/x/docs/figures/a", "/docs/a"]),
        ("**/logs", &["/logs", "/a/logs", "/a/b/logs/c"], &["/a/logs2"]),
        ("/apps/github", &["/apps/github", "/apps/github/x"], &["/apps/githubs"]),
        ("README", &["/README", "/a/README"], &["/README2"]),
        ("/~alice/", &["/~alice/a", "/%7Ealice/a"], &["/~bob/"]),
        ("/a\\ b/*.html", &["/a%20b/c.html"], &["/a/c.html"]),
        ("/a\\ b/", &["/a%20b/c.html"], &["/a/c.html"]),
        ("/[id]/*.html", &["/[id]/a.html", "/%5Bid%5D/a.html"], &["/i/a.html"]),
        ("/?.html", &["/a.html"], &["/ab.html", "/a/b.html"]),
        ("https://www.example.org:443/x/", &["/x/y", "http://www.example.org/x/"], &["/y/x/"]),
    ];
    for (pattern, inside, outside) in cases {
        let owners = owners(&[], &format!("{pattern} @x"));
        let expected = |paths: &[&'static str], owner| paths.iter().map(|path| (*path, owner)).collect::<Vec<_>>();
        expect(&owners, &expected(inside, Some("x")));
        expect(&owners, &expected(outside, None));
    }
}

#[test]
fn the_first_owner_is_the_name_and_addresses_are_people() {
    let text = "# who\n\n/docs/ @physics alice@example.org # the lab\n/a alice@example.org bob@example.org\n\
                /b @physics carol@example.org alice@example.org\n/c @org/team @other\n/d # nobody\n";
    let file = parse_owners(text);
    let rules: Vec<_> = file.rules.iter().map(|rule| (rule.pattern.as_str(), rule.owner.as_deref())).collect();
    assert_eq!(
        rules,
        [
            ("/docs/", Some("physics")),
            ("/a", Some("alice@example.org")),
            ("/b", Some("physics")),
            ("/c", Some("org/team")),
            ("/d", None)
        ]
    );
    let people: Vec<_> = file.people.iter().map(|(owner, to)| (owner.as_str(), to.join(" "))).collect();
    assert_eq!(
        people,
        [
            ("physics", "alice@example.org carol@example.org".to_owned()),
            ("alice@example.org", "alice@example.org bob@example.org".to_owned())
        ]
    );
    assert_eq!(file.remarks.len(), 1);
    assert_eq!(file.remarks[0].line, 6);
}

#[test]
fn lines_that_make_no_sense_are_remarked_and_left_out() {
    let file = parse_owners("[Section] @x\n!/a @x\n// @x\n/b @\nhttp:// @x\n/good @x\n");
    assert_eq!(file.rules.len(), 1);
    assert_eq!(file.remarks.iter().map(|note| note.line).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
}

#[test]
fn names_of_owners_are_compared_generously() {
    assert!(same_owner("@Physics", " physics "));
    assert!(same_owner("ÖKONOMIE", "@ökonomie"));
    assert!(!same_owner("physics", "physics2"));
}
