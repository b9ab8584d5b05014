//! What all commands have in common: help, version, usage errors, completions and man pages.

use crate::desk::{Desk, finish};

const COMMANDS: [&str; 7] = ["serve", "index", "ask", "records", "settings", "completions", "man"];

#[test]
fn the_help_names_every_command_and_every_exit_code() {
    let help = Desk::new().run(&["--help"]).printed();
    for command in COMMANDS {
        assert!(help.contains(&format!("\n  {command} ")), "{command} is missing:\n{help}");
    }
    assert!(help.contains("Usage: modoai [OPTIONS] <COMMAND>\n"), "{help}");
    assert!(help.contains("\nExit codes:\n  0   success\n  1   "), "{help}");
}

#[test]
fn every_command_explains_itself() {
    let desk = Desk::new();
    let site =
        ["<DIR>", "--data <STATE_DIR>", "--config <FILE>", "--url <URL>", "--option <KEY=VALUE>", "MODOAI_CONFIG"];
    let own: [&[&str]; 7] = [
        &["--listen <ADDR:PORT>", "--check-config", "listening on"],
        &["--accept-deletions", "--json", "cron", "--apache", "--httpd <PROGRAM>", "www-data"],
        &["<QUERY>", "'verb=ListRecords&metadataPrefix=oai_dc'"],
        &["<DIR>", "--json", "--identifier <ID>", "--deleted", "--versions", "base64"],
        &["every setting"],
        &["<SHELL>", "bash", "fish", "zsh"],
        &["<DIR>", "man1"],
    ];
    for (command, own) in COMMANDS.into_iter().zip(own) {
        let help = desk.run(&[command, "--help"]).printed();
        let shared: &[&str] = if ["serve", "index", "ask"].contains(&command) { &site } else { &[] };
        for word in ["--verbose", "--quiet", "--help"].iter().chain(shared).chain(own) {
            assert!(help.contains(word), "{command} --help does not mention {word}:\n{help}");
        }
        assert_eq!(desk.run(&["help", command]).printed(), help);
        assert!(desk.run(&[command, "-h"]).printed().contains("Usage: modoai "));
    }
}

#[test]
fn the_version_is_one_line() {
    let desk = Desk::new();
    let version = desk.run(&["--version"]).printed();
    assert_eq!(desk.run(&["-V"]).printed(), version);
    let number = format!("modoai {}", env!("CARGO_PKG_VERSION"));
    let commit = version.strip_prefix(&number).and_then(|rest| rest.strip_suffix('\n')).expect("the number, one line");
    // From a git checkout with its commit and date, from a source archive without.
    if !commit.is_empty() {
        let inner = commit.strip_prefix(" (").and_then(|rest| rest.strip_suffix(')')).expect("in brackets");
        let (hash, date) = inner.split_once(' ').expect("a commit and a date");
        assert!(hash.len() >= 10 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()), "{version}");
        assert_eq!(date.len(), "2026-01-31".len(), "{version}");
    }
}

#[test]
fn no_command_at_all_is_answered_with_the_help() {
    let ended = Desk::new().run(&[]);
    assert_eq!((ended.status, ended.stdout.as_str()), (64, ""));
    assert!(ended.stderr.contains("Usage: modoai [OPTIONS] <COMMAND>\n\nCommands:\n"), "{}", ended.stderr);
}

#[test]
fn a_command_line_that_makes_no_sense_is_status_64_and_says_what_would() {
    for (arguments, said) in [
        (&["srve", "site"][..], "similar subcommands exist: 'harvest', 'serve'"),
        (&["serve"], "give the directory DIR, or a catalogue of records with --catalogue FILE"),
        (&["serve", "site", "--prot", "80"], "unexpected argument '--prot'"),
        (&["serve", "site", "--listen"], "a value is required for '--listen <ADDR:PORT>'"),
        (&["ask", "site"], "missing QUERY"),
        (&["index", "site", "other"], "unexpected argument 'other'"),
        (&["completions", "tcsh"], "possible values: bash"),
        (&["-q", "-v", "settings"], "'--quiet' cannot be used with '--verbose...'"),
    ] {
        let ended = Desk::new().run(arguments);
        assert_eq!((ended.status, ended.stdout.as_str()), (64, ""), "{arguments:?}");
        assert!(ended.stderr.contains(said), "{arguments:?}:\n{}", ended.stderr);
        assert!(ended.stderr.contains("try '--help'"), "{arguments:?}:\n{}", ended.stderr);
    }
}

#[test]
fn completions_know_commands_and_flags() {
    let desk = Desk::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = desk.run(&["completions", shell]).printed();
        for word in COMMANDS.into_iter().chain(["check-config", "accept-deletions"]) {
            assert!(script.contains(word), "the {shell} script lacks {word}");
        }
    }
}

#[test]
fn every_command_has_a_man_page() {
    let desk = Desk::new();
    assert_eq!(desk.run(&["man", "share/man"]).printed(), "");
    let page = |name: &str| {
        let path = desk.at("share/man/man1").join(format!("{name}.1"));
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    for name in COMMANDS.map(|command| format!("modoai-{command}")).iter().map(String::as_str).chain(["modoai"]) {
        let page = page(name);
        assert!(page.starts_with(".ie \\n(.g .ds Aq"), "{name} is not a man page");
        for section in ["EXIT STATUS", "ENVIRONMENT", "FILES", "SEE ALSO"] {
            assert_eq!(page.matches(&format!("\n.SH \"{section}\"\n")).count(), 1, "{name}: {section}");
        }
        assert!(!page.contains("SH EXTRA"), "{name}");
    }
    let settings = std::fs::read_to_string(desk.at("share/man/man5/modoai.toml.5")).expect("a page in section 5");
    for row in desk.run(&["settings"]).printed().lines().filter_map(|line| line.strip_prefix('#')?.split_once(" = ")) {
        let key = row.0;
        if !key.contains(' ') {
            assert!(settings.contains(&format!("\n\\fB{key} = ")), "{key} is missing:\n{settings}");
        }
    }
    // A second run replaces the pages.
    desk.run(&["man", "share/man"]).printed();
    assert_eq!(page("modoai").matches("EXIT STATUS").count(), 1);
}

/// Programs read variables that nobody finds unless a page names them.
#[test]
fn man_pages_name_every_environment_variable_that_the_command_reads() {
    let desk = Desk::new();
    desk.run(&["man", "share/man"]).printed();
    let page = std::fs::read_to_string(desk.at("share/man/man1/modoai.1")).expect("a page");
    let sources = modoai_testkit::workspace().join("crates/cli/src");
    for file in modoai_testkit::site::files_below(&sources).expect("sources") {
        let text = std::fs::read_to_string(sources.join(&file)).expect("UTF-8");
        let read = ["env::var(\"", "env::var_os(\"", "env = \"", "absolute(\"", "folder(\"", ": &str = \"MODOAI_"];
        for (begin, rest) in read.iter().flat_map(|begin| text.split(begin).skip(1).map(move |rest| (begin, rest))) {
            let name = rest.split('"').next().expect("always one");
            let name = if begin.ends_with("MODOAI_") { format!("MODOAI_{name}") } else { name.to_owned() };
            assert!(page.contains(&format!("\\fB{name}\\fR")), "{name}, read in {file:?}, is not in modoai(1)");
        }
    }
}

#[test]
fn closed_pipes_end_no_command_with_a_panic() {
    let desk = Desk::new();
    desk.write("records.jsonl", "{\"identifier\": \"1\", \"title\": \"One\"}\nnonsense\n");
    desk.write("taken", "a file");
    for arguments in [
        &["--help"][..],
        &["--version"],
        &["nonsense"],
        &["settings"],
        &["completions", "bash"],
        &["man", "taken"],
        &["rules", "robots"],
        &["serve", "site", "--data", "state", "--check-config"],
        &["serve", "missing"],
        &["index", "site", "--data", "state"],
        &["-v", "index", "site", "--data", "state"],
        &["ask", "site", "--data", "state", "verb=ListRecords&metadataPrefix=oai_dc"],
        &["ask", "site", "--data", "state", "verb=Nonsense"],
        &["import", "records.jsonl", "--namespace", "example.org", "--into", "archive"],
        &["status", "missing"],
        &["records", "missing"],
        &["harvesters", "--data", "state"],
        &["harvest", "http://127.0.0.1:1/oai", "--into", "copy"],
        &["validate", "http://127.0.0.1:1/oai"],
        &["spider", "http://127.0.0.1:1/"],
        &["count", "--files", "site"],
    ] {
        let code = finish(desk.start_unheard(arguments)).status;
        assert!(matches!(code, 0 | 1 | 2 | 3 | 64 | 78), "{arguments:?} ended with {code}");
    }
}

#[test]
fn no_color_and_color_hold_for_help_reports_and_messages() {
    let desk = Desk::new();
    let coloured = |line: &str| desk.shell(line, &desk.at("")).stdout.contains('\u{1b}');
    assert!(coloured("modoai --color always spider --help"));
    assert!(!coloured("modoai spider --help"), "no terminal");
    assert!(!coloured("modoai --color never spider --help"));
    let warning = "site --data state --option max_deleted=nonsense 2>&1";
    assert!(!coloured(&format!("modoai index {warning}")));
}

#[test]
fn settings_are_given_with_option_and_no_longer_with_set() {
    let desk = Desk::new();
    let ended = desk.run_on_site("ask", &["verb=Identify", "--set", "repository_name=Mine"]);
    assert_eq!(ended.status, 64);
    assert!(ended.stderr.contains("to override a setting, use --option repository_name=Mine"), "{}", ended.stderr);
    let identify = desk.run_on_site("ask", &["verb=Identify", "--option", "repository_name=Mine"]).printed();
    assert!(identify.contains("<repositoryName>Mine</repositoryName>"), "{identify}");
}

#[test]
fn catalogue_in_place_of_a_site_is_refused_with_the_option_that_was_meant() {
    let desk = Desk::new();
    desk.write("records.jsonl", "{\"identifier\": \"1\", \"title\": \"One\"}\n");
    desk.run(&["import", "records.jsonl", "--namespace", "example.org", "--into", "archive"]).printed();
    for (dir, meant) in
        [("archive", "--catalogue archive"), ("archive/catalogue.sqlite", "--catalogue archive/catalogue.sqlite")]
    {
        for command in
            [&["serve", dir, "--check-config"][..], &["serve", dir], &["ask", dir, "verb=Identify"], &["index", dir]]
        {
            let said = format!("modoai: {dir} is a catalogue, not a site\n  hint: to use its records, give `{meant}`");
            desk.run(command).failed(64, &said);
        }
    }
    desk.run_on_site("index", &[]).printed();
    let said = "modoai: state is a catalogue, not a site\n  hint: give the directory of the site, and this directory with --data";
    desk.run(&["serve", "state"]).failed(64, said);
}

#[test]
fn usage_errors_show_the_usage_of_the_subcommand() {
    let desk = Desk::new();
    for (arguments, usage) in [
        (&["serve"][..], "Usage: modoai serve "),
        (&["serve", "--crawl", "http://127.0.0.1/", "."], "Usage: modoai serve "),
        (&["ask"], "Usage: modoai ask "),
        (&["index", "--apache", "."], "Usage: modoai index "),
    ] {
        let ended = desk.run(arguments);
        assert!(ended.stderr.contains(usage) && !ended.stderr.contains("\n\n\n"), "{}", ended.stderr);
    }
}

#[test]
fn man_pages_that_cannot_be_written_are_a_failure_that_names_the_folder() {
    let desk = Desk::new();
    desk.write("taken", "a file");
    let said = "modoai: failed to write the man pages into taken: Not a directory (os error 20)";
    desk.run(&["man", "taken"]).failed(1, said);
}
