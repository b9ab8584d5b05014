//! Tests the guide page about task files: its tables match those of the parsers, and all its examples can be read.

use std::path::Path;

use jiff::Timestamp;
use modoai_settings::Setting;
use modoai_testkit::workspace;

use super::{Plan, momspider, toml};

fn read(name: &str) -> String {
    std::fs::read_to_string(workspace().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn page() -> String {
    read("docs/guide/spider-tasks.md")
}

/// Returns the code blocks of this kind.
fn blocks(kind: &str) -> Vec<String> {
    let (page, opening) = (page(), format!("\n```{kind}\n"));
    let rest = page.split(&opening).skip(1).map(|rest| rest.split("```").next().unwrap_or_default());
    rest.map(str::to_owned).collect()
}

/// Returns the first cells of the tables below a heading, up to the next heading.
fn rows(heading: &str) -> Vec<String> {
    let page = page();
    let (_, section) = page.split_once(&format!("\n{heading}\n")).expect("the guide has the heading");
    let section = section.split("\n#").next().expect("it has an end");
    let first = |line: &str| Some(line.strip_prefix("| `")?.split_once('`')?.0.to_owned());
    section.lines().filter_map(first).collect()
}

#[test]
fn the_tables_of_the_guide_are_those_of_the_parsers() {
    fn keys<T>(table: &[Setting<T>]) -> Vec<&str> {
        table.iter().map(|setting| setting.key).collect()
    }
    fn directives<T>(table: &[momspider::Directive<T>]) -> Vec<&str> {
        table.iter().map(|directive| directive.name).collect()
    }
    assert_eq!(rows("## The file"), keys(toml::TOP));
    assert_eq!(rows("## Tasks"), keys(toml::OF_TASKS));
    assert_eq!(rows("## Avoid and leaf"), keys(toml::OF_RESTRICTIONS));
    assert_eq!(rows("## Mail"), keys(toml::OF_MAIL));
    assert_eq!(rows("### For all tasks"), directives(momspider::GLOBALS));
    assert_eq!(rows("### For one task"), directives(momspider::OF_TASKS));
}

#[test]
fn the_guide_shows_the_examples() {
    assert_eq!(blocks("toml tasks")[0], read("examples/spider/tasks.toml"));
    assert_eq!(blocks("momspider"), [read("examples/spider/momspider-instruct")]);
    assert_eq!(blocks("codeowners"), [read("examples/spider/CODEOWNERS")]);
    assert_eq!(blocks("avoid"), [read("examples/spider/avoid")]);
}

#[test]
fn every_task_file_that_the_guide_shows_can_be_read() {
    let folder = workspace().join("examples/spider");
    let shown = [blocks("toml tasks"), blocks("momspider")].concat();
    assert!(shown.len() >= 5, "only {} were found", shown.len());
    for text in shown {
        let task_file = Path::new("shown");
        let mut open = |path: &Path| {
            if path == task_file { Ok(text.clone().into_bytes()) } else { std::fs::read(folder.join(path)) }
        };
        let read = Plan::read_with(task_file, Timestamp::UNIX_EPOCH, &mut open);
        read.unwrap_or_else(|error| panic!("{text}\n{error}"));
    }
}
