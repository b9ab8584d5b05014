//! httpd accepts and refuses the same configuration with the module as without it: every module that Debian ships, alone
//! and together; and every directive that the module observes, in every section and in `.htaccess`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use modoai_testkit::apache::{self, Httpd, Launch, Mpm, machine};
use modoai_testkit::skipped;

/// Directives of other modules that the module observes, and some of those that say how users are authenticated.
const OBSERVED: &[&str] = &[
    "SetHandler default-handler",
    "Alias /x /srv/x",
    "Alias /srv/x",
    "UserDir public_html",
    "IndexIgnore *.x",
    "IndexIgnoreReset On",
    "SSLVerifyClient none",
    "SSLCipherSuite HIGH",
    "ExtFilterDefine f cmd=/bin/cat",
    "LuaOutputFilter f /srv/f.lua f",
    "Action text/x-script /run",
    "AuthType Basic",
    "AuthUserFile /srv/users",
    "AuthBasicProvider file",
    "AuthLDAPBindDN cn=x",
    "AuthnCacheEnable",
    "AuthzSendForbiddenOnFailure On",
    "SSLOptions +StdEnvVars",
    "SSLRequireSSL",
    "SSLProtocol all",
];

/// Modules that own them, besides those that every server here loads.
const OWNERS: &[&str] = &[
    "mod_actions",
    "mod_authn_socache",
    "mod_authnz_ldap",
    "mod_ext_filter",
    "mod_ldap",
    "mod_lua",
    "mod_proxy",
    "mod_socache_shmcb",
    "mod_ssl",
    "mod_userdir",
];

const SECTIONS: &[(&str, &str)] = &[
    ("", ""),
    ("<VirtualHost *:8081>", "</VirtualHost>"),
    ("<Directory \"/srv\">", "</Directory>"),
    ("<Location \"/x\">", "</Location>"),
    ("<LocationMatch \"^/x\">", "</LocationMatch>"),
    ("<Files \"x\">", "</Files>"),
    ("<If \"true\">", "</If>"),
    ("<Proxy \"http://x/\">", "</Proxy>"),
    ("<Directory \"/srv\">\n<Limit GET>", "</Limit>\n</Directory>"),
    ("<Directory \"/srv\">\n<Files \"x\">", "</Files>\n</Directory>"),
    ("<Directory \"/srv\">\n<If \"true\">", "</If>\n</Directory>"),
];

/// What a test of the configuration says, without the name of the folder.
fn said(launch: &Launch, text: &str) -> (bool, String) {
    let (right, message) = launch.config_test(text);
    (right, message.replace(&launch.path().display().to_string(), "SITE"))
}

#[test]
fn a_directive_is_allowed_where_its_owner_allows_it_and_nowhere_else() {
    if apache::is_missing() {
        return;
    }
    // With the modules that own the directives, and without them: then nobody knows these names.
    for owners in [OWNERS, &[]] {
        let launch = || Launch::new(Mpm::Event).modules(owners);
        let (ours, without) = (launch(), launch().without_ours());
        let mut faults = Vec::new();
        let mut accepted = 0;
        for directive in OBSERVED {
            let name = directive.split(' ').next().expect("a name");
            let asked = format!("<IfDirective {name}>\nNobodyKnowsThis\n</IfDirective>");
            let lines = SECTIONS.iter().map(|(open, close)| format!("{open}\n{directive}\n{close}"));
            for text in lines.chain([asked]) {
                let (expected, found) = (said(&without, &text), said(&ours, &text));
                accepted += usize::from(expected.0);
                if expected != found {
                    faults.push(format!("{text}\nwithout: {expected:?}\nwith: {found:?}"));
                }
            }
        }
        assert!(faults.is_empty(), "{} differ:\n{}", faults.len(), faults.join("\n\n"));
        assert!(accepted > 0, "nothing was accepted at all");
    }
}

/// What may be overridden, by the name of the folder in which it may.
const CLASSES: &[(&str, &str)] = &[
    ("none", "AllowOverride None"),
    ("auth", "AllowOverride AuthConfig"),
    ("file", "AllowOverride FileInfo"),
    ("index", "AllowOverride Indexes"),
    ("limit", "AllowOverride Limit"),
    ("options", "AllowOverride Options"),
    ("all", "AllowOverride All"),
    ("lenient", "AllowOverride Limit Nonfatal=Override"),
    ("list", "AllowOverride None\nAllowOverrideList IndexIgnore Action SSLCipherSuite AuthType"),
];

#[test]
fn a_directive_is_allowed_in_a_file_of_a_folder_where_its_owner_allows_it() {
    if apache::is_missing() {
        return;
    }
    let in_files = |text: &str| [text.to_owned(), format!("<Files \"x.txt\">\n{text}\n</Files>")];
    let start = |launch: Launch| -> Httpd {
        let mut text = String::from("DocumentRoot \"${SITE}/docs\"\n");
        for (folder, overrides) in CLASSES {
            text +=
                &format!("<Directory \"${{SITE}}/docs/{folder}\">\nRequire all granted\n{overrides}\n</Directory>\n");
            for (number, text) in OBSERVED.iter().flat_map(|text| in_files(text)).enumerate() {
                // A closed folder says nothing about its file.
                let text = if text.contains("SSLRequireSSL") { "Options None".to_owned() } else { text };
                launch.write(format!("docs/{folder}/{number}/.htaccess"), format!("{text}\n"));
                launch.write(format!("docs/{folder}/{number}/x.txt"), "x");
            }
        }
        launch.modules(OWNERS).text(&text).text("SSLSessionCache none").start()
    };
    let (ours, without) = (start(Launch::new(Mpm::Event)), start(Launch::new(Mpm::Event).without_ours()));
    let status = |httpd: &Httpd, path: &str| httpd.client().get(path).expect("an answer").status;
    let mut faults = Vec::new();
    let mut met = BTreeSet::new();
    for (folder, _) in CLASSES {
        for (number, text) in OBSERVED.iter().flat_map(|text| in_files(text)).enumerate() {
            let path = format!("/{folder}/{number}/x.txt");
            let (expected, found) = (status(&without, &path), status(&ours, &path));
            met.insert(expected);
            if expected != found {
                faults.push(format!("{folder}: {text}: {found}, not {expected}"));
            }
        }
    }
    assert!(faults.is_empty(), "{} differ:\n{}", faults.len(), faults.join("\n"));
    assert!(met.contains(&200) && met.contains(&500), "{met:?}");
}

/// A module as Debian describes it: what it needs besides, and the lines that load and configure it.
struct Described {
    needs: Vec<String>,
    load: String,
    configure: String,
}

/// The modules that Debian ships, by their names; none elsewhere.
fn described() -> BTreeMap<String, Described> {
    let Ok(entries) = fs::read_dir("/etc/apache2/mods-available") else { return BTreeMap::new() };
    let files = entries.filter_map(Result::ok).map(|entry| entry.path());
    let loads = files.filter(|file| file.extension().is_some_and(|extension| extension == "load"));
    loads
        .map(|file| {
            let load = fs::read_to_string(&file).expect("a description");
            let needs = load.lines().filter_map(|line| line.strip_prefix("# Depends:"));
            let needs = needs.flat_map(str::split_whitespace).map(str::to_owned).collect();
            let configure = fs::read_to_string(file.with_extension("conf")).unwrap_or_default();
            let name = file.file_stem().expect("a name").to_string_lossy().into_owned();
            (name, Described { needs, load, configure })
        })
        .collect()
}

/// These and all that they need, in an order in which they can be loaded.
fn with_needs(wanted: &[&str], all: &BTreeMap<String, Described>) -> Vec<String> {
    fn add(name: &str, all: &BTreeMap<String, Described>, order: &mut Vec<String>) {
        if order.iter().any(|known| known == name) {
            return;
        }
        if let Some(module) = all.get(name) {
            module.needs.iter().for_each(|need| add(need, all, order));
            order.push(name.to_owned());
        }
    }
    let mut order = Vec::new();
    wanted.iter().for_each(|name| add(name, all, &mut order));
    order
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Ours {
    Absent,
    First,
    Last,
}

/// What httpd says to these modules.
fn test_of(modules: &[String], all: &BTreeMap<String, Described>, ours: Ours, folder: &Path) -> (bool, String) {
    let line = format!("LoadModule oai_module \"{}\"", machine::mod_oai().display());
    let at = |place: Ours| if place == ours { line.as_str() } else { "#" };
    let loads: String = modules.iter().map(|name| all[name].load.as_str()).collect();
    let configures: String = modules.iter().map(|name| all[name].configure.as_str()).collect();
    let text = format!(
        "ServerRoot /etc/apache2\nServerName localhost\nListen 127.0.0.1:8080\nErrorLog ${{APACHE_LOG_DIR}}/error.log\n\
         {}\n{loads}{}\n{configures}\n<Location \"/x\">\nSetHandler default-handler\n</Location>\n",
        at(Ours::First),
        at(Ours::Last),
    );
    let file = folder.join("modules.conf");
    fs::write(&file, text).expect("a configuration");
    let mut command = Command::new(machine::httpd());
    for name in ["APACHE_RUN_DIR", "APACHE_LOG_DIR", "APACHE_LOCK_DIR"] {
        command.env(name, folder);
    }
    command.env("APACHE_PID_FILE", folder.join("pid"));
    let done = command.arg("-t").arg("-f").arg(&file).output().expect("httpd can be run");
    (done.status.success(), String::from_utf8_lossy(&done.stderr).into_owned())
}

#[test]
fn every_module_of_debian_is_accepted_as_it_is_without_ours() {
    if apache::is_missing() {
        return;
    }
    let all = described();
    if all.is_empty() {
        skipped("this httpd is not Debian's, so there is no list of its modules");
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let is_mpm = |name: &str| name.starts_with("mpm_");
    let mut runs: Vec<Vec<String>> = all.keys().map(|name| with_needs(&[name], &all)).collect();
    for run in &mut runs {
        if !run.iter().any(|name| is_mpm(name)) {
            run.insert(0, "mpm_event".to_owned());
        }
    }
    // All that can be loaded together: one MPM, and PHP only where there are no threads.
    for mpm in ["mpm_event", "mpm_worker", "mpm_prefork"] {
        let is_together = |name: &&str| !is_mpm(name) && (mpm == "mpm_prefork" || !name.starts_with("php"));
        let others = all.keys().map(String::as_str).filter(is_together);
        runs.push(with_needs(&[mpm].into_iter().chain(others).collect::<Vec<_>>(), &all));
    }
    let mut faults = Vec::new();
    let mut accepted = 0;
    for run in &runs {
        let expected = test_of(run, &all, Ours::Absent, folder.path());
        accepted += usize::from(expected.0);
        for ours in [Ours::First, Ours::Last] {
            let found = test_of(run, &all, ours, folder.path());
            if found != expected {
                faults.push(format!("{run:?}, ours {ours:?}:\nwithout: {expected:?}\nwith: {found:?}"));
            }
        }
    }
    assert!(faults.is_empty(), "{} differ:\n{}", faults.len(), faults.join("\n\n"));
    assert!(accepted > runs.len() / 2, "only {accepted} of {} are accepted without ours", runs.len());
}
