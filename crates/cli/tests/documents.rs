//! What is written about the command is true: references match it, command lines work, links lead somewhere, examples
//! load.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use modoai_testkit::process::Launch;
use modoai_testkit::{not_installed, site, workspace};

use crate::desk::Desk;

const GUIDE: &str = "docs/guide/configuration.md";
const BEGIN: &str = "<!-- printed by `modoai settings` -->\n```toml\n";
const END: &str = "```\n<!-- end of what is printed -->\n";

/// Names with underscores that the guide speaks of, and that are not settings.
const NO_SETTINGS: [&str; 11] = [
    "oai_dc",
    "http_header",
    "oai_didl",
    "oai_module",
    "base_url",
    "cut_short",
    "not_tested",
    "unread_pages",
    "user_agent",
    // Of pywb.
    "index_paths",
    "archive_paths",
];

/// Settings of the Apache module had such names once, and its modules have them still.
const OF_APACHE: [&str; 2] = ["mod_", "modoai_"];

#[test]
fn the_reference_in_the_guide_is_what_the_command_prints() {
    let printed = Desk::new().run(&["settings"]).printed();
    expect_shown(GUIDE, (BEGIN, END), &printed, "`modoai settings` prints");
}

#[test]
fn rust_version_of_manifest_and_readme_is_enough_for_every_locked_package() {
    let version = |text: &str| {
        let mut parts = text.split('.').map(|part| part.parse::<u32>().expect("a number"));
        [(); 3].map(|()| parts.next().unwrap_or_default())
    };
    let manifest: toml::Table = document("Cargo.toml").text.parse().expect("TOML");
    let ours = manifest["workspace"]["package"]["rust-version"].as_str().expect("a version").to_owned();
    let readme = document("README.md").text;
    let (_, required) = readme.split_once("(https://www.rust-lang.org/tools/install) ").expect("a link to Rust");
    assert_eq!(required.split_once(' ').expect("a sentence").0, ours, "README.md and Cargo.toml");

    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let platform = &format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let metadata = std::process::Command::new(cargo)
        .args(["metadata", "--format-version=1", "--locked", "--offline", "--filter-platform", platform])
        .current_dir(workspace())
        .output()
        .expect("cargo can be run");
    if !metadata.status.success() {
        // A build downloads only what it needs.
        not_installed("not all locked packages are downloaded");
        return;
    }
    let metadata: serde_json::Value = serde_json::from_slice(&metadata.stdout).expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    let newer: Vec<_> = packages
        .iter()
        .filter(|package| package["rust_version"].as_str().is_some_and(|theirs| version(theirs) > version(&ours)))
        .map(|package| format!("{} needs Rust {}", package["id"], package["rust_version"]))
        .collect();
    assert!(newer.is_empty(), "rust-version is {ours}: {newer:#?}");
}

/// A page of the guide shows, between two marks, what the project itself says. `MODOAI_WRITE_DOCS=1` writes it anew.
pub(crate) fn expect_shown(page: &str, (begin, end): (&str, &str), expected: &str, by_whom: &str) {
    let path = workspace().join(page);
    let text = fs::read_to_string(&path).expect("the guide");
    let (before, rest) = text.split_once(begin).expect("a mark where it begins");
    let (shown, after) = rest.split_once(end).expect("a mark where it ends");
    if std::env::var_os("MODOAI_WRITE_DOCS").is_some() {
        fs::write(&path, format!("{before}{begin}{expected}{end}{after}")).expect("the guide can be written");
        return;
    }
    let renew = "to write it anew: MODOAI_WRITE_DOCS=1 cargo test -p modoai";
    assert!(shown == expected, "{page} does not show what {by_whom}; {renew}");
}

#[test]
fn the_exit_codes_in_the_guide_are_those_of_the_help() {
    let guide = document("docs/guide/operation.md").text;
    let (_, section) = guide.split_once("## Exit codes\n").expect("a section about exit codes");
    let cells = |row: &str| Some(owned(row.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | ")?));
    let told: Vec<_> = section.lines().filter_map(cells).skip_while(|(code, _)| code == "code").collect();
    let help = Desk::new().run(&["--help"]).printed();
    let (_, codes) = help.split_once("\nExit codes:\n").expect("exit codes in the help");
    let meant: Vec<_> = codes.lines().filter_map(|line| line.trim().split_once(' ')).map(owned).collect();
    assert_eq!(told, meant);
}

#[test]
fn every_setting_the_guide_names_exists() {
    let desk = Desk::new();
    let known = setting_keys(&desk);
    let limits = document("docs/guide/operation.md").text;
    let (_, section) = limits.split_once("## Limits\n").expect("a section about limits");
    let table = section.split("\n## ").next().expect("it has an end");
    let in_table = inline_code(table);
    assert!(in_table.len() >= 3, "the table of limits names its settings");
    let is_setting_like =
        |code: &String| code.contains('_') && code.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
    // Keys of task files and fields of records are no settings; the spider's and the archive's own tests compare those
    // pages with them.
    let others = ["spider-tasks.md", "crosswalks.md", "import-sources.md", "sets.md", "archive.md"];
    let is_guide = |name: &str| name.strip_prefix("docs/guide/").is_some_and(|page| !others.contains(&page));
    let guide = documents().into_iter().filter(|document| is_guide(&document.name));
    let named = guide.flat_map(|document| inline_code(&document.text));
    for name in in_table.into_iter().chain(named.filter(is_setting_like)) {
        let is_apaches = OF_APACHE.iter().any(|beginning| name.starts_with(beginning));
        assert!(known.contains(&name) || NO_SETTINGS.contains(&name.as_str()) || is_apaches, "`{name}` is no setting");
    }
}

#[test]
fn every_command_line_that_is_shown_can_be_understood() {
    let desk = Desk::new();
    let mut seen = 0;
    for document in documents() {
        let inline = inline_code(&document.text).into_iter();
        for line in inline.chain(document.command_lines()).filter(|line| line.starts_with("modoai ")) {
            let command = line.split([';', '|', '>']).next().expect("there is always one").replace("SHELL", "bash");
            let command =
                command.replace(" URL", " http://example.org/oai").replace(" BASE_URL", " http://example.org/oai");
            let ended = desk.shell(&format!("{command} --help"), workspace());
            assert_eq!(ended.status, 0, "{}: {line}\n{}", document.name, ended.stderr);
            seen += 1;
        }
    }
    assert!(seen > 10, "only {seen} command lines were found");
}

#[test]
fn every_command_line_about_the_example_site_works() {
    let desk = Desk::new();
    let mut seen = 0;
    for document in documents() {
        let lines = document.command_lines().into_iter();
        for line in lines.filter(|line| line.starts_with("modoai ") && line.contains(" examples/site")) {
            // A server would not end.
            let endless = line.starts_with("modoai serve ") && !line.contains("--check-config");
            let line = if endless { format!("{line} --check-config") } else { line };
            let printed = desk.shell(&line, workspace()).printed();
            assert!(!printed.is_empty(), "{}: {line}", document.name);
            seen += 1;
        }
    }
    assert!(seen >= 4, "only {seen} command lines were found");
}

#[test]
fn every_request_that_is_shown_is_answered() {
    if modoai_testkit::lacks(&["curl"]) {
        return;
    }
    let desk = Desk::new();
    let server = Launch::of(workspace().join("examples/site")).start();
    let mut seen = 0;
    for document in documents() {
        // What an ellipsis stands for is the reader's to fill in.
        let lines = document.command_lines().into_iter();
        for line in lines.filter(|line| line.starts_with("curl ") && !line.contains('…')) {
            let line = line.replace("http://127.0.0.1:8080", server.url()).replacen("curl ", "curl -sS ", 1);
            let answer = desk.shell(&line, workspace()).printed();
            assert!(answer.contains("<OAI-PMH "), "{}: {line}\n{answer}", document.name);
            let judged = answer.replace("<error code=\"noRecordsMatch\">", "");
            assert!(!judged.contains("<error "), "{}: {line}\n{answer}", document.name);
            seen += 1;
        }
    }
    assert!(seen >= 4, "only {seen} requests were found");
}

#[test]
fn every_configuration_that_is_shown_is_good() {
    let desk = Desk::new();
    let mut seen = 0;
    for document in documents() {
        for block in document.blocks("toml") {
            for file in block.lines().filter_map(|line| line.strip_prefix("htpasswd = \"")?.split('"').next()) {
                desk.write(file, "alice:{SHA}qUqP5cyxm6YcTAhz05Hph5gvu9M=\n");
            }
            for name in site::files_below(&workspace().join("examples/identify")).expect("there are examples") {
                let name = format!("examples/identify/{}", name.display());
                desk.write(&name, fs::read_to_string(workspace().join(&name)).expect("an example"));
            }
            desk.write("shown.toml", &block);
            let ended = desk.run(&["serve", "site", "--config", "shown.toml", "--check-config"]);
            assert_eq!(ended.status, 0, "{}:\n{block}\n{}", document.name, ended.stderr);
            seen += 1;
        }
    }
    assert!(seen >= 3, "only {seen} configurations were found");
}

#[test]
fn every_example_configuration_is_good() {
    let desk = Desk::new();
    let entries = fs::read_dir(workspace().join("examples")).expect("there are examples");
    let paths = entries.map(|entry| entry.expect("readable").path());
    let configurations: Vec<_> = paths.filter(|path| path.extension().is_some_and(|it| it == "toml")).collect();
    assert!(!configurations.is_empty());
    for path in configurations {
        let name = format!("examples/{}", path.file_name().expect("a file").display());
        let ended = desk.shell(&format!("modoai serve examples/site --config '{name}' --check-config"), workspace());
        assert_eq!(ended.printed(), "the configuration is valid\n", "{name}");
    }
}

#[test]
fn the_example_archive_is_imported_and_served_in_every_format() {
    let desk = Desk::new();
    let place = desk.at("institute").display().to_string();
    let line = "modoai import examples/archive/records.jsonl --config examples/archive/archive.toml --into institute";
    for page in ["README.md", "docs/guide/archive.md", "examples/archive/archive.toml"] {
        assert!(document(page).text.contains(line), "{page} shows another line");
    }
    let imported = desk.shell(&line.replace("--into institute", &format!("--into '{place}'")), workspace());
    assert_eq!(imported.status, 0, "{}", imported.stderr);
    let ask = |query: &str| desk.run(&["ask", "--catalogue", &place, query]).printed();
    for prefix in ["oai_dc", "datacite", "mods", "institute"] {
        let records = ask(&format!("verb=ListRecords&metadataPrefix={prefix}"));
        assert!(records.contains("oai:institute.example.org:1</identifier>"), "{records}");
        assert!(records.contains("On the counting of web pages"), "{records}");
        assert!(records.contains("<header status=\"deleted\">") || prefix == "datacite", "{records}");
    }
    assert!(ask("verb=ListSets").contains("<setSpec>theses:2024</setSpec>"));
}

#[test]
fn the_example_configuration_protects_what_it_says() {
    let desk = Desk::new();
    let listed = |flags: &str| {
        let query = "'verb=ListIdentifiers&metadataPrefix=oai_dc'";
        desk.shell(&format!("modoai ask examples/site {query} {flags}"), workspace()).printed()
    };
    assert!(listed("").contains("<identifier>http://127.0.0.1:8080/archive/"));
    let configured = listed("--config examples/modoai.toml");
    assert!(configured.contains("<identifier>https://www.example.org/index.html</identifier>"), "{configured}");
    assert!(!configured.contains("/archive/"), "{configured}");
    let launch = Launch::of(workspace().join("examples/site"));
    let server = launch.argument("--config").argument(workspace().join("examples/modoai.toml")).start();
    assert_eq!(server.client().get("/archive/2005/06/unlinked.html").expect("an answer").status, 401);
    let mut alice = server.client().with_password("alice", "wonderland");
    assert_eq!(alice.get("/archive/2005/06/unlinked.html").expect("an answer").status, 200);
}

#[test]
fn the_directives_in_the_guide_are_those_of_the_module() {
    let table = document("crates/mod_oai/src/directives.rs").text;
    let named = |calls: &[&str]| -> Vec<String> {
        table.lines().filter_map(directive).filter(|(call, ..)| calls.contains(call)).map(|(_, name, _)| name).collect()
    };
    let guide = document("docs/guide/apache.md").text;
    let (_, section) = guide.split_once("## All directives\n").expect("a section about directives");
    let section = section.split("\n## ").next().expect("it has an end");
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `")?.split(['`', ' ']).next());
    let own = ["own", "setting!(Section", "setting!(Server", "name:"];
    assert_eq!(rows.collect::<Vec<_>>(), named(&own), "in the order of the module");
    let (_, local) = section.split_once("next to `OAICatalogue`: ").expect("those of a catalogue");
    let local: BTreeSet<String> = inline_code(local.split("\n\n").next().expect("it has an end")).into_iter().collect();
    let of_a_catalogue = named(&["setting!(Section", "name:"]).into_iter().filter(|name| name != "OAICatalogue");
    assert_eq!(local, of_a_catalogue.collect());
    let (_, others) = section.split_once("directives of other modules: ").expect("those of other modules");
    let others = inline_code(others.split("\n\n").next().expect("it has an end"));
    let others: BTreeSet<String> = others.into_iter().collect();
    assert_eq!(others, named(&["observed"]).into_iter().collect());
}

/// Returns the kind of row that a line of the module's table has, the name of the directive, and the key of its setting.
fn directive(line: &str) -> Option<(&str, String, Option<&str>)> {
    let quoted = |text: &str| Some(text.split_once("c\"")?.1.split_once('"')?.0.to_owned());
    let line = line.trim();
    if let Some((call, rest)) = line.split_once(" \"").filter(|(call, _)| call.starts_with("setting!(")) {
        let (key, rest) = rest.split_once('"')?;
        let word = |word: &str| word[..1].to_uppercase() + &word[1..];
        let name = quoted(rest).unwrap_or_else(|| "OAI".to_owned() + &key.split('_').map(word).collect::<String>());
        return Some((call, name, Some(key)));
    }
    let (call, _) = line.split_once("c\"")?;
    Some((call.trim_end_matches([' ', '(']), quoted(line)?, None))
}

#[test]
fn defaults_of_directives_in_the_guide_are_those_of_their_settings() {
    let printed = Desk::new().run(&["settings"]).printed();
    let default = |key: &str| {
        let line = printed.lines().find_map(|line| line.strip_prefix(&format!("#{key} = "))).expect(key);
        match line {
            "true" => "`On`".to_owned(),
            "false" => "`Off`".to_owned(),
            "\"\"" | "[]" => "none".to_owned(),
            other => format!("`{}`", other.trim_matches('"')),
        }
    };
    let guide = document("docs/guide/apache.md").text;
    let table = document("crates/mod_oai/src/directives.rs").text;
    let mut seen = 0;
    // httpd has other defaults for these.
    let differs = |line: &&str| !line.contains("default \"") && !line.contains("OAITempDir");
    for (_, name, key) in table.lines().filter(differs).filter_map(directive) {
        let Some(key) = key else { continue };
        let row = guide.lines().find(|line| line.starts_with(&format!("| `{name} "))).expect(&name);
        let shown = row.replace("\\|", "/").split(" | ").nth(1).expect("a default").to_owned();
        assert_eq!(shown, default(key), "{name}");
        seen += 1;
    }
    assert!(seen > 12, "only {seen} directives were found");
}

#[test]
fn the_apache_configurations_in_the_guide_are_the_examples() {
    let shown = document("docs/guide/apache.md").blocks("apache");
    let examples = site::files_below(&workspace().join("examples/apache")).expect("there are examples");
    assert!(examples.len() >= 5);
    for example in examples {
        let name = Path::new("examples/apache").join(example);
        let text = document(name.to_str().expect("our own names")).text;
        assert!(shown.contains(&text), "{} is not what the guide shows", name.display());
    }
}

#[test]
fn every_link_leads_somewhere() {
    let mut seen = 0;
    for document in documents() {
        let folder = document.path.parent().expect("a file is in a folder");
        for link in links(&document.text).filter(|link| !link.contains(':')) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { document.path.clone() } else { folder.join(file) };
            assert!(target.exists(), "{} links to {link}, which does not exist", document.name);
            if !anchor.is_empty() {
                let text = fs::read_to_string(&target).expect("a document");
                assert!(anchors(&text).contains(anchor), "{} links to {link}: no such heading", document.name);
            }
            seen += 1;
        }
    }
    assert!(seen > 20, "only {seen} links were found");
}

/// Something to read, by its path from the root of the project.
struct Document {
    name: String,
    path: PathBuf,
    text: String,
}

impl Document {
    /// The commands in its blocks of shell: a line each, with continued lines joined and comments gone. From the
    /// sources, `cargo run` is the same as the command.
    fn command_lines(&self) -> Vec<String> {
        let joined = self.blocks("sh").concat().replace("\\\n", " ");
        let plain = |line: &str| line.split(" # ").next().expect("there is always one").trim().to_owned();
        joined.lines().map(plain).map(|line| line.replace("cargo run --release -- ", "modoai ")).collect()
    }

    /// The contents of its fenced blocks in this language.
    fn blocks(&self, language: &str) -> Vec<String> {
        let opening = format!("\n```{language}\n");
        let blocks = self.text.split(&opening).skip(1);
        blocks.map(|rest| rest.split("```").next().expect("there is always one").to_owned()).collect()
    }
}

fn document(name: &str) -> Document {
    let path = workspace().join(name);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
    Document { name: name.to_owned(), path, text }
}

/// All there is to read.
fn documents() -> Vec<Document> {
    let found = site::files_below(&workspace().join("docs")).expect("there are documents");
    let inner = found.iter().map(|file| Path::new("docs").join(file));
    let outer = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "bench/README.md"]
        .map(PathBuf::from);
    let all = outer.into_iter().chain(inner.filter(|file| file.extension().is_some_and(|it| it == "md")));
    all.map(|file| document(file.to_str().expect("our own names"))).collect()
}

/// What stands between single backticks, outside of fenced blocks.
fn inline_code(text: &str) -> Vec<String> {
    let prose: Vec<&str> = text.split("```").step_by(2).collect();
    let codes = prose.iter().flat_map(|part| part.split('`').skip(1).step_by(2));
    codes.map(|code| code.replace('\n', " ")).collect()
}

/// The anchors of headings, as GitHub derives them: lower case, spaces as hyphens, punctuation dropped.
fn anchors(text: &str) -> BTreeSet<String> {
    let prose = text.split("```").step_by(2).flat_map(str::lines);
    let headings = prose.filter_map(|line| line.strip_prefix('#')).map(|line| line.trim_start_matches('#').trim());
    let kept = |character: &char| character.is_alphanumeric() || "-_ ".contains(*character);
    let slug = |heading: &str| heading.to_lowercase().chars().filter(kept).collect::<String>().replace(' ', "-");
    headings.map(slug).collect()
}

/// The targets of links, outside of fenced blocks.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let prose = text.split("```").step_by(2);
    prose.flat_map(|part| part.split("](").skip(1)).filter_map(|rest| rest.split(')').next())
}

/// The keys that `modoai settings` explains.
fn setting_keys(desk: &Desk) -> BTreeSet<String> {
    let reference = desk.run(&["settings"]).printed();
    let key = |line: &str| Some(line.strip_prefix('#')?.split_once(" = ")?.0.to_owned());
    reference.lines().filter_map(key).filter(|key| !key.contains(' ')).collect()
}

fn owned((code, meaning): (&str, &str)) -> (String, String) {
    (code.trim().to_owned(), meaning.trim().to_owned())
}
