//! The settings of the client, each with the reason for its default.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use url::Url;

use crate::credentials::{Credential, without_userinfo};

/// The settings of the client, mainly its politeness towards hosts.
#[derive(Clone)]
pub struct Manners {
    /// The name of the program in `User-Agent`. The contact is added to it.
    pub agent: String,
    /// The operator's contact for complaints: an email address, or a page. None by default, because only the operator
    /// can name one. An email address is also sent as `From`.
    pub contact: Option<String>,
    /// The minimum pause between two requests to one host. None by default: with one request at a time the client is as
    /// slow as the host itself, and a repository that needs longer pauses sends Retry-After.
    pub delay: Duration,
    /// The maximum number of concurrent requests to one host. One by default: some hosts have hundreds of endpoints,
    /// and a list is a sequence of requests anyway.
    pub per_host: usize,
    /// The maximum number of concurrent requests in all, if that is limited. Unlimited by default: a caller that
    /// contacts thousands of hosts concurrently must set it, because files may suffice for only a few hundred. A number
    /// that exceeds the [available files](crate::room_for_connections) is reduced to them. Requests of [separate
    /// places](crate::Client::beside) do not count: they would wait for the requests that caused them.
    pub at_once: Option<usize>,
    /// The duration for which an idle connection is kept. 90 s: longer than most servers keep it. A caller that
    /// requests from many hosts once each should choose less.
    pub keep_alive: Duration,
    /// The timeout of a connection, TLS included. 30 s: the connection survives three lost packets, and a dead host
    /// does not block the caller.
    pub connect_timeout: Duration,
    /// The timeout of the first byte of a response, and after the headers of the first byte of the body. 300 s: some
    /// servers take minutes to create a page, and if the client gives up, the host has worked for nothing.
    pub first_byte_timeout: Duration,
    /// The longest interruption of a body that has started. 120 s: after that, the connection has died without notice.
    pub idle_timeout: Duration,
    /// The minimum number of bytes per second, on average, in every interval of [`first_byte_timeout`] that is spent
    /// waiting for a body; time in which the caller does not read does not count. 100: a fiftieth of the rate of a
    /// modem, and enough for a server that writes a compressed record every few seconds; with a byte every few seconds,
    /// one response could take months.
    ///
    /// [`first_byte_timeout`]: Self::first_byte_timeout
    pub least_rate: u64,
    /// The maximum number of redirects that are followed. 10: more than any legitimate chain needs, fewer than browsers
    /// follow.
    pub redirects: usize,
    /// True if 503 with Retry-After applies to the whole host, as 429 does. True by default: a repository is one
    /// service. A spider requests many resources of a host, one of which may be unavailable by itself.
    pub holds_on_503: bool,
    /// The proxy for all requests, except to the hosts in `NO_PROXY`. Without a value, the environment decides
    /// (`HTTP_PROXY`, `HTTPS_PROXY`, `NO_PROXY`), as for other tools.
    pub proxy: Option<Url>,
    /// The trusted certificates. Those of the system by default.
    pub trust: Trust,
    /// The credentials, each for one origin. None by default.
    pub credentials: Vec<Credential>,
    /// True if responses from this machine may be compressed. False by default: no network is involved that compression
    /// would relieve, and it takes longer than all the rest.
    pub compressed_at_home: bool,
    /// True if only hosts on the public internet may be contacted, regardless of URLs and redirects: not this machine,
    /// not the local network, not a reserved address. False by default: a user's repository may be local. A proxy
    /// resolves names where the client cannot check them, so none is used then, also not from the environment.
    pub public_only: bool,
}

/// The trusted certificates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Trust {
    /// The certificates that the system trusts.
    #[default]
    System,
    /// The system's certificates, and those in this PEM file.
    Also(PathBuf),
    /// Every certificate. Connections can be intercepted and modified: for tests and emergencies only, and reported
    /// with a warning.
    Anyone,
}

impl Default for Manners {
    fn default() -> Self {
        Self {
            agent: concat!("modoai/", env!("CARGO_PKG_VERSION")).to_owned(),
            contact: None,
            delay: Duration::ZERO,
            per_host: 1,
            at_once: None,
            keep_alive: Duration::from_secs(90),
            connect_timeout: Duration::from_secs(30),
            first_byte_timeout: Duration::from_secs(300),
            idle_timeout: Duration::from_secs(120),
            least_rate: 100,
            redirects: 10,
            holds_on_503: true,
            proxy: None,
            trust: Trust::System,
            credentials: Vec::new(),
            compressed_at_home: false,
            public_only: false,
        }
    }
}

impl Manners {
    /// Returns the value of `User-Agent`: the program and the contact.
    pub(crate) fn user_agent(&self) -> String {
        match self.contact.as_deref().map(str::trim) {
            Some(contact) if !contact.is_empty() && !self.agent.contains(contact) => {
                format!("{} (+{})", self.agent, contact)
            }
            _ => self.agent.clone(),
        }
    }

    /// Returns the value of `From`: the email address, if the contact is one.
    pub(crate) fn from(&self) -> Option<&str> {
        let contact = self.contact.as_deref()?.trim();
        let address = contact.strip_prefix("mailto:").unwrap_or(contact);
        (address.contains('@') && !address.contains("://")).then_some(address)
    }
}

impl fmt::Debug for Manners {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The proxy's URL may contain a password.
        let proxy = self.proxy.as_ref().map(without_userinfo);
        f.debug_struct("Manners")
            .field("agent", &self.agent)
            .field("contact", &self.contact)
            .field("delay", &self.delay)
            .field("per_host", &self.per_host)
            .field("at_once", &self.at_once)
            .field("keep_alive", &self.keep_alive)
            .field("connect_timeout", &self.connect_timeout)
            .field("first_byte_timeout", &self.first_byte_timeout)
            .field("idle_timeout", &self.idle_timeout)
            .field("least_rate", &self.least_rate)
            .field("redirects", &self.redirects)
            .field("proxy", &proxy.as_ref().map(Url::as_str))
            .field("trust", &self.trust)
            .field("credentials", &self.credentials)
            .field("compressed_at_home", &self.compressed_at_home)
            .field("public_only", &self.public_only)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_contact(contact: &str) -> Manners {
        Manners { agent: "a/1".into(), contact: Some(contact.into()), ..Manners::default() }
    }

    #[test]
    fn the_agent_says_whom_to_write_to() {
        assert_eq!(with_contact("me@example.org").user_agent(), "a/1 (+me@example.org)");
        assert_eq!(with_contact(" ").user_agent(), "a/1");
        let own = Manners { agent: "b/2 (+me@example.org)".into(), ..with_contact("me@example.org") };
        assert_eq!(own.user_agent(), "b/2 (+me@example.org)");
    }

    #[test]
    fn only_a_mail_address_is_a_from() {
        assert_eq!(with_contact("mailto:me@example.org").from(), Some("me@example.org"));
        assert_eq!(with_contact("https://example.org/@bot").from(), None);
        assert_eq!(Manners::default().from(), None);
    }

    #[test]
    fn a_proxys_password_is_not_shown() {
        let manners = Manners { proxy: Url::parse("http://user:geheim@proxy:8080/").ok(), ..Manners::default() };
        let shown = format!("{manners:?}");
        assert!(shown.contains("proxy:8080") && !shown.contains("geheim"), "{shown}");
    }
}
