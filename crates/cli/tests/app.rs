//! What all commands have in common: help, version, usage errors, completions and man pages.

use crate::desk::Desk;

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
    let site = ["<DIR>", "--data <STATE_DIR>", "--config <FILE>", "--url <URL>", "--set <KEY=VALUE>", "MODOAI_CONFIG"];
    let own: [&[&str]; 7] = [
        &["--listen <ADDR:PORT>", "--check-config", "listening on"],
        &["--accept-deletions", "--json", "cron", "--apache", "--httpd <PROGRAM>", "www-data"],
        &["<QUERY>", "'verb=ListRecords&metadataPrefix=oai_dc'"],
        &["<DIR>", "--json", "--identifier <ID>", "--deleted", "--versions", "exactly as"],
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
    let version = format!("modoai {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(desk.run(&["-V"]).printed(), version);
    assert_eq!(desk.run(&["--version"]).printed(), version);
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
        (&["serve"], "give the folder DIR, or a catalogue of records with --catalogue FILE"),
        (&["serve", "site", "--prot", "80"], "unexpected argument '--prot'"),
        (&["serve", "site", "--listen"], "a value is required for '--listen <ADDR:PORT>'"),
        (&["ask", "site"], "there is no request QUERY"),
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
    assert_eq!(desk.run(&["man", "share/man/man1"]).printed(), "");
    let page = |name: &str| {
        let path = desk.at("share/man/man1").join(format!("{name}.1"));
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    assert!(page("modoai").contains("Exit codes"));
    for command in COMMANDS {
        assert!(page(&format!("modoai-{command}")).starts_with(".ie \\n(.g .ds Aq"), "{command} is no man page");
    }
}

#[test]
fn man_pages_that_cannot_be_written_are_a_failure_that_names_the_folder() {
    let desk = Desk::new();
    desk.write("taken", "a file");
    let said = "modoai: failed to write the man pages into taken: File exists (os error 17)";
    desk.run(&["man", "taken"]).failed(1, said);
}
