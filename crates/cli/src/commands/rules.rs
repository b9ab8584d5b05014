//! `modoai rules`.
//!
//! The output consists of templates, which are readable by themselves: `rules/nginx.conf` and its neighbours. The URL
//! of the repository is filled in; the only further logic is that for robots.txt, which depends on the existing file.

mod robots;

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use modoai_fetch::Url;
use serde_json::json;

use crate::config::{SettingsArgs, shown};
use crate::error::{CliError, Kind};
use crate::output;
use crate::remote::base_url;

/// Print rules for robots.txt, web servers and Cloudflare that exempt the repository from bot blocking.
///
/// Sites that block abusive crawlers often block harvesters as well. The repository needs no such protection, because
/// it limits its own load with 503 and Retry-After. Comments in the output explain each rule.
#[derive(Debug, Args)]
pub(crate) struct RulesCommand {
    /// Kinds of rules to print [default: all]
    #[arg(value_enum, value_name = "KIND")]
    kinds: Vec<RuleKind>,
    /// Former options.
    #[arg(long = "robots", aliases = ["nginx", "apache", "cloudflare"], hide = true, num_args = 0, default_missing_value = "", value_parser = former)]
    former: Vec<String>,
    /// Existing robots.txt of the site: print it with the necessary lines added and nothing else changed.
    #[arg(long, value_name = "FILE")]
    robots_txt: Option<PathBuf>,
    /// Base URL of the repository [default: from the configuration]
    #[arg(long, value_name = "URL", value_parser = base_url, conflicts_with = "url")]
    base_url: Option<Url>,
    #[command(flatten)]
    settings: SettingsArgs,
}

/// A kind of rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum RuleKind {
    /// Lines for robots.txt.
    Robots,
    /// Directives for nginx.
    Nginx,
    /// Directives for Apache httpd.
    Apache,
    /// A custom rule for Cloudflare, as an expression and for its API.
    Cloudflare,
}

fn former(_: &str) -> Result<String, String> {
    Err("write the kind without dashes, such as `modoai rules nginx`".to_owned())
}

/// The location of the repository.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Door {
    /// The base URL.
    url: String,
    host: String,
    path: String,
    /// The address of `modoai serve`.
    upstream: String,
}

impl RulesCommand {
    pub(crate) fn run(self) -> Result<(), CliError> {
        let door = self.door()?;
        let mut parts = Vec::new();
        let all = self.kinds.is_empty() && self.robots_txt.is_none();
        let prints = |kind| all || self.kinds.contains(&kind);
        match &self.robots_txt {
            Some(file) => {
                let there = std::fs::read(file)
                    .map_err(|error| CliError::failed(format!("failed to read {}", shown(file))).because(error))?;
                parts.push(robots::with_door(&there, &door));
            }
            None if prints(RuleKind::Robots) => parts.push(robots::alone(&door)),
            None => {}
        }
        if prints(RuleKind::Nginx) {
            parts.push(door.fill(include_str!("rules/nginx.conf")));
        }
        if prints(RuleKind::Apache) {
            parts.push(door.fill(include_str!("rules/apache.conf")));
        }
        if prints(RuleKind::Cloudflare) {
            parts.push(door.fill(include_str!("rules/cloudflare.txt")));
        }
        output::print(&parts.join("\n\n"))
    }

    fn door(&self) -> Result<Door, CliError> {
        let config = self.settings.config(&[])?;
        let server = &config.server;
        let mut listen = server.listen;
        if listen.ip().is_unspecified() {
            listen.set_ip(std::net::Ipv4Addr::LOCALHOST.into());
        }
        let configured = || Url::parse(&server.base_url(server.listen));
        let url = self.base_url.clone().map_or_else(configured, Ok);
        let url = url.map_err(|error| CliError::new(Kind::Config, "invalid base URL").because(error))?;
        Door::new(&url, listen.to_string())
    }
}

impl Door {
    /// Refuses paths with special characters of the four configuration languages into which they are written.
    fn new(url: &Url, upstream: String) -> Result<Self, CliError> {
        let path = url.path();
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte);
        if !path.bytes().all(is_plain) || url.query().is_some() {
            let what = format!("cannot generate rules for {url}");
            let hint = "use a base URL without a query, whose path contains only letters, digits and -._~";
            return Err(CliError::new(Kind::Usage, what).hint(hint));
        }
        let host = url.host_str().unwrap_or_default().to_owned();
        Ok(Self { url: url.to_string(), host, path: path.to_owned(), upstream })
    }

    fn fill(&self, template: &str) -> String {
        // Only a dot has a special meaning.
        let pattern = self.path.replace('.', "\\.");
        let filled = template
            .replace("{{url}}", &self.url)
            .replace("{{host}}", &self.host)
            .replace("{{path}}", &self.path)
            .replace("{{pattern}}", &pattern)
            .replace("{{upstream}}", &self.upstream);
        // After the rest, because it contains the expression again.
        filled.replace("{{json}}", &self.for_the_api(&filled))
    }

    /// Returns Cloudflare's rule for its API, with the expression in the text.
    fn for_the_api(&self, text: &str) -> String {
        let expression = text.lines().filter(|line| !line.starts_with('#') && !line.contains("{{json}}"));
        let expression = expression.map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
        let rule = json!({
            "description": format!("Allow harvesters to access the OAI-PMH repository {}", self.url),
            "expression": expression,
            "action": "skip",
            "action_parameters": {
                "ruleset": "current",
                "phases": ["http_ratelimit", "http_request_sbfm", "http_request_firewall_managed"],
                "products": ["bic", "hot", "rateLimit", "securityLevel", "uaBlock", "waf"],
            },
            "logging": { "enabled": true },
            "enabled": true,
            "position": { "index": 1 },
        });
        format!("{rule:#}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn door(url: &str) -> Door {
        Door::new(&Url::parse(url).expect("a URL"), "127.0.0.1:8080".to_owned()).expect("a plain path")
    }

    #[test]
    fn a_path_that_means_something_in_a_configuration_is_refused() {
        for odd in ["/a;b", "/a$b", "/a%20b", "/a(b)", "/a*", "/a'b", "/a?b=c", "/a|b", "/{a}"] {
            let url = Url::parse("https://example.org").and_then(|url| url.join(odd)).expect("a URL");
            assert!(Door::new(&url, String::new()).is_err(), "{odd}");
        }
    }

    #[test]
    fn nothing_is_left_to_fill_in() {
        for template in [
            include_str!("rules/nginx.conf"),
            include_str!("rules/apache.conf"),
            include_str!("rules/cloudflare.txt"),
            include_str!("rules/robots.txt"),
        ] {
            let filled = door("https://oai.example.org/oai/request.v2").fill(template);
            assert!(!filled.contains("{{") && filled.contains("oai/request"), "{filled}");
        }
    }

    #[test]
    fn the_rule_for_the_api_has_the_expression_of_the_text() {
        let text = door("https://www.example.org/modoai").fill(include_str!("rules/cloudflare.txt"));
        let (_, from) = text.split_once("\n{").expect("an object");
        let rule: serde_json::Value = serde_json::from_str(&format!("{{{from}")).expect("JSON to the end");
        let expression = rule["expression"].as_str().expect("text");
        assert!(expression.starts_with("(http.host eq \"www.example.org\" and "), "{expression}");
        assert!(expression.contains("http.request.uri.path eq \"/modoai\""), "{expression}");
        let count = |what: char| expression.chars().filter(|c| *c == what).count();
        assert_eq!(count('('), count(')'), "{expression}");
        assert_eq!(rule["action"], "skip");
    }
}
