//! Packages: the command lines in their files are accepted, and their files are installed where they have an effect.

use std::fs;
use std::path::Path;
use std::process::Command;

use modoai_testkit::{site, workspace};

use crate::desk::Desk;

#[test]
fn command_lines_of_units_cron_jobs_and_the_container_are_accepted() {
    let examples = site::files_below(&workspace().join("packaging/examples")).expect("there are examples");
    let mut lines = Vec::new();
    for example in examples.iter().filter_map(|file| file.to_str()?.strip_suffix(".env")) {
        let (command, instance) = example.split_once('-').expect("a command and a name");
        let unit = text(&format!("packaging/systemd/modoai-{command}@.service"));
        let start = unit.lines().find_map(|line| line.strip_prefix("ExecStart=/usr/bin/")).expect("a command line");
        let start = start.replace("%S", "/var/lib").replace("%i", instance);
        assert!(start.starts_with(&format!("modoai {command} ")), "{start}");
        let variants = text(&format!("packaging/examples/{example}.env"));
        let arguments = variants.lines().filter_map(|line| line.trim_start_matches('#').strip_prefix("ARGUMENTS="));
        lines.extend(arguments.map(|arguments| start.replace("$ARGUMENTS", arguments)));
    }
    let crontab = text("packaging/examples/crontab");
    let jobs = crontab.lines().filter_map(|line| line.split_once(" modoai  ")).map(|(_, job)| job.to_owned());
    lines.extend(jobs);
    let container = text("Containerfile");
    let command = container.lines().find_map(|line| line.strip_prefix("CMD [")?.strip_suffix(']')).expect("a command");
    lines.push(format!("modoai {}", command.replace([',', '"'], "")));
    assert_eq!(lines.len(), 10, "{lines:?}");
    let desk = Desk::new();
    for line in lines {
        let ended = desk.shell(&format!("{line} --help"), workspace());
        assert_eq!(ended.status, 0, "{line}\n{}", ended.stderr);
    }
}

#[test]
fn units_are_installed_for_prefixes_that_systemd_reads() {
    let tree = tempfile::tempdir().expect("a temporary directory");
    let install = |prefix: &str| {
        let mut script = Command::new(workspace().join("packaging/install-units"));
        assert!(script.arg(prefix).arg(tree.path()).status().expect("bash can be run").success(), "{prefix}");
    };
    install("/home/alice/.local");
    assert!(!tree.path().join("home").exists(), "systemd does not read units there");

    install("/usr/local");
    let installed = tree.path().join("usr/local/lib");
    assert!(installed.join("sysusers.d/modoai.conf").exists());
    for file in site::files_below(&workspace().join("packaging/systemd")).expect("there are units") {
        if file == Path::new("sysusers.conf") {
            continue;
        }
        let unit = fs::read_to_string(installed.join("systemd/system").join(&file)).expect("an installed unit");
        assert!(!unit.contains("/usr/bin/"), "{}: {unit}", file.display());
    }
}

#[test]
fn directories_that_the_container_file_copies_are_built() {
    if modoai_testkit::lacks(&["make"]) {
        return;
    }
    let make = Command::new("make").args(["--dry-run", "image"]).current_dir(workspace()).output();
    let commands = String::from_utf8(make.expect("make can be run").stdout).expect("text");
    let container = text("Containerfile");
    let copied = container.lines().filter_map(|line| line.strip_prefix("COPY ")?.rsplit(' ').nth(1));
    let sources: Vec<_> = copied.collect();
    assert_eq!(sources, ["root/", "state/"]);
    for source in sources {
        assert!(commands.contains(&format!("/image/{source}")), "{source}: {commands}");
    }
}

fn text(name: &str) -> String {
    fs::read_to_string(workspace().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}
