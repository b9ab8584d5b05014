//! The two hosts of a repository: the standalone server, and Apache httpd with our module. A rule of the protocol is the
//! same in both, so its test is written once and run in both.

use std::fmt::Write as _;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use modoai_testkit::apache::{self, Httpd, Mpm};
use modoai_testkit::http::Client;
use modoai_testkit::process::{self, Server};
use modoai_testkit::site::TestSite;

/// Where a repository lives.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Host {
    /// `modoai serve`.
    Standalone,
    /// `mod_oai.so`.
    Apache,
}

/// What can be set in both hosts: as settings of the one and as a directive of the other.
const SETTINGS: &[(&str, &[&str], &str)] = &[
    ("name", &["repository_name"], "OAIRepositoryName"),
    ("email", &["admin_email"], "OAIAdminEmail"),
    ("descriptions", &["identify_descriptions"], "OAIDescription"),
    ("identifier", &["repository_identifier"], "OAIRepositoryIdentifier"),
    ("page size", &["records_per_page", "identifiers_per_page"], "OAIPageSize"),
    ("ignore", &["ignore"], "OAIIgnore"),
    ("url", &["url"], "OAISiteURL"),
    ("datestamps", &["describe_datestamps"], "OAIDescribeDatestamps"),
];

/// A repository that can be asked.
pub(crate) enum Running {
    Standalone(Server),
    Apache(Httpd),
}

impl Host {
    /// Serves a folder, and waits until it can be asked. Settings are names and values of [`SETTINGS`].
    pub(crate) fn serve(self, site: &TestSite, settings: &[(&str, &[&str])]) -> Running {
        let settings = settings.iter().map(|(name, values)| {
            let (_, keys, directive) = SETTINGS.iter().find(|row| row.0 == *name).expect("a setting of both hosts");
            (*keys, *directive, *values)
        });
        match self {
            Self::Standalone => {
                let mut launch = process::Launch::of(site.path());
                for (keys, _, values) in settings {
                    for key in keys {
                        launch = match values {
                            [url] if *key == "url" => launch.argument("--url").argument(url),
                            ["Off"] => launch.set(key, "false"),
                            [value] if *key != "admin_email" => launch.set(key, value),
                            several => launch.set(key, &format!("{several:?}")),
                        };
                    }
                }
                Running::Standalone(launch.start())
            }
            Self::Apache => {
                let mut text = String::from("LimitRequestLine 65536\n");
                for (_, directive, values) in settings {
                    let values: Vec<String> = values.iter().map(|value| format!("\"{value}\"")).collect();
                    writeln!(text, "{directive} {}", values.join(" ")).expect("memory");
                }
                // Whoever made the folder keeps it to himself, and that is not the user that httpd runs as.
                fs::set_permissions(site.path(), Permissions::from_mode(0o755)).expect("permissions set");
                let launch = apache::Launch::new(Mpm::Event).site_at(site.path()).text(&text);
                let httpd = launch.start();
                httpd.wait_for_index(&mut httpd.client());
                Running::Apache(httpd)
            }
        }
    }
}

impl Running {
    /// Where it listens, without a slash at the end.
    pub(crate) fn url(&self) -> String {
        match self {
            Self::Standalone(server) => server.url().to_owned(),
            Self::Apache(httpd) => httpd.url(),
        }
    }

    /// A new client of it.
    pub(crate) fn client(&self) -> Client {
        Client::new(&self.url())
    }
}
