//! Settings: where they may stand, which of them wins, and what is said about one that is wrong.

use crate::desk::Desk;

#[test]
fn the_reference_is_a_configuration_that_changes_nothing() {
    let desk = Desk::new();
    let reference = desk.run(&["settings"]).printed();
    assert!(reference.lines().all(|line| line.is_empty() || line.starts_with('#')), "{reference}");
    desk.write("modoai.toml", &reference);
    desk.run_on_site("serve", &["--config", "modoai.toml", "--check-config"]).printed();
}

#[test]
fn every_default_in_the_reference_may_be_written_out() {
    let desk = Desk::new();
    let reference = desk.run(&["settings"]).printed();
    // An area has no default: it is somewhere, and has a password file.
    let (reference, _areas) = reference.split_once("#[[area]]").expect("areas come last");
    let set = |line: &str| line.strip_prefix('#').filter(|it| !it.starts_with([' ', '#'])).map(str::to_owned);
    let defaults: Vec<String> = reference.lines().filter_map(set).collect();
    assert!(defaults.len() > 15, "{reference}");
    desk.write("modoai.toml", defaults.join("\n"));
    let ended = desk.run_on_site("serve", &["--config", "modoai.toml", "--check-config"]);
    assert_eq!(ended.printed(), "the configuration is valid\n");
}

#[test]
fn a_wrong_setting_is_named_with_the_place_it_stands_in_and_the_one_that_was_meant() {
    let desk = Desk::new();
    for (file, said) in [
        ("listn = \"127.0.0.1:0\"", "unknown setting 'listn'; did you mean 'listen'?"),
        ("listen = 8080", "setting 'listen' needs text in quotes"),
        ("rescan = \"soon\"", "setting 'rescan' needs a duration, such as 30, \"30s\", \"15m\", \"2h\" or \"1d\""),
        ("[[area]]\nhtpasswd = \"users\"", "setting 'area' needs a path in each area"),
        ("[[area]]\npaht = \"/\"", "unknown setting 'paht'; did you mean 'path'?"),
        ("[[area]]\npath = 5", "setting 'path' needs text in quotes"),
        (
            "friends = []",
            "setting 'friends' is a file now: list it in identify_descriptions (OAIDescription in Apache httpd); examples/identify/ shows the form of each",
        ),
        ("workers = 2", "setting 'workers' depends only on the number of processor cores now; remove it"),
    ] {
        desk.write("modoai.toml", file);
        let line = 1 + usize::from(file.starts_with("[[") && !said.contains("needs a path"));
        let said = format!("modoai: modoai.toml:{line}: {said}\n  hint: `modoai settings` lists every setting");
        for command in ["serve", "index"] {
            desk.run_on_site(command, &["--config", "modoai.toml"]).failed(78, &said);
        }
        desk.run_on_site("serve", &["--config", "modoai.toml", "--check-config"]).failed(78, &said);
    }
}

#[test]
fn a_wrong_flag_is_named_too() {
    let desk = Desk::new();
    for (flags, said) in [
        (["--option", "page_byte=1M"], "--option: unknown setting 'page_byte'; did you mean 'page_bytes'?"),
        (["--option", "page_bytes"], "--option: setting 'page_bytes' has no value; write key=value"),
        (
            ["--url", "example.org"],
            "--url: setting 'url' needs a URL such as \"https://www.example.org/\", not 'example.org'",
        ),
        (
            ["--listen", "80"],
            "--listen: setting 'listen' needs an address and a port, such as \"127.0.0.1:8080\" or \"[::]:80\"",
        ),
    ] {
        let said = format!("modoai: {said}\n  hint: `modoai settings` lists every setting");
        desk.run_on_site("serve", &flags).failed(78, &said);
    }
}

#[test]
fn a_file_that_is_not_toml_is_named_with_the_line() {
    let desk = Desk::new();
    desk.write("modoai.toml", "index = \"a\"\nurl = https://example.org\n");
    let ended = desk.run_on_site("serve", &["--config", "modoai.toml", "--check-config"]);
    assert_eq!((ended.status, ended.stdout.as_str()), (78, ""));
    let said = "modoai: modoai.toml:2: invalid TOML: ";
    assert!(ended.stderr.starts_with(said), "{}", ended.stderr);
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let said = "modoai: failed to read the configuration modoai.toml: No such file or directory (os error 2)";
    Desk::new().run_on_site("index", &["--config", "modoai.toml"]).failed(78, said);
}

#[test]
fn flags_win_over_set_and_set_over_the_file() {
    let desk = Desk::new();
    desk.write("modoai.toml", "url = \"https://file.example.org\"\nrepository_name = \"In the file\"\n");
    let identify = |flags: &[&str]| {
        let arguments = [&["verb=Identify", "--config", "modoai.toml"], flags].concat();
        let answer = desk.run_on_site("ask", &arguments).printed();
        let text = |name: &str| {
            let rest = answer.split_once(&format!("<{name}>")).expect("it is told").1;
            rest.split('<').next().expect("text").to_owned()
        };
        (text("repositoryName"), text("baseURL"))
    };
    let is = |name: &str, host: &str| (name.to_owned(), format!("https://{host}.example.org/modoai"));
    assert_eq!(identify(&[]), is("In the file", "file"));
    let set = ["--option", "url=https://set.example.org", "--option", "repository_name=Set, without quotes"];
    assert_eq!(identify(&set), is("Set, without quotes", "set"));
    let flag = ["--url", "https://flag.example.org", "--option", "url=https://set.example.org"];
    assert_eq!(identify(&flag), is("In the file", "flag"));
}

#[test]
fn variables_override_the_file_and_flags_override_variables() {
    let desk = Desk::new();
    desk.write("modoai.toml", "url = \"https://file.example.org\"\nrepository_name = \"In the file\"\n");
    let ask = "MODOAI_CONFIG=modoai.toml MODOAI_REPOSITORY_NAME='In a variable' MODOAI_URL=https://variable.example.org \
               modoai ask site verb=Identify";
    let answer = desk.shell(&format!("{ask} --url https://flag.example.org"), &desk.at("")).printed();
    assert!(answer.contains("<repositoryName>In a variable</repositoryName>"), "{answer}");
    assert!(answer.contains("<baseURL>https://flag.example.org/modoai</baseURL>"), "{answer}");
    let answer = desk.shell(&format!("{ask} --option repository_name=Set"), &desk.at("")).printed();
    assert!(answer.contains("<repositoryName>Set</repositoryName>"), "{answer}");
    assert!(answer.contains("<baseURL>https://variable.example.org/modoai</baseURL>"), "{answer}");
}

#[test]
fn a_wrong_variable_is_named() {
    let desk = Desk::new();
    let hint = "\n  hint: `modoai settings` lists every setting";
    let said =
        format!("modoai: MODOAI_RECORDS_PER_HOUR: setting 'records_per_hour' needs a whole number of at least 0{hint}");
    desk.shell("MODOAI_RECORDS_PER_HOUR=many modoai serve site --check-config", &desk.at("")).failed(78, &said);
}

#[test]
fn the_environment_may_name_the_file() {
    let desk = Desk::new();
    desk.write("modoai.toml", "listn = \"127.0.0.1:0\"\n");
    let line = "MODOAI_CONFIG=modoai.toml modoai serve site --check-config";
    let said = "modoai: modoai.toml:1: unknown setting 'listn'; did you mean 'listen'?\n  hint: `modoai settings` lists every setting";
    desk.shell(line, &desk.at("")).failed(78, said);
}
