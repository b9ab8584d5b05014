//! How we behave: the settings, each with the reason for its default.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use url::Url;

use crate::credentials::{Credential, without_userinfo};

/// How we behave towards the hosts we ask.
#[derive(Clone)]
pub struct Manners {
    /// Who asks, as `User-Agent` says it. The contact is added to it.
    pub agent: String,
    /// Whom to write to if we are a nuisance: a mail address, or a page. None by default, since nobody may speak in
    /// another's name; a mail address is sent as `From` too.
    pub contact: Option<String>,
    /// The least pause between two requests to one host. None by default: one request at a time makes us as slow as the
    /// host itself, and a repository that wants more says so with Retry-After.
    pub delay: Duration,
    /// How many requests may be under way at one host. One by default: hosts with hundreds of endpoints exist, and each of
    /// our lists is one request after the other anyway.
    pub per_host: usize,
    /// How many requests may be under way in all, if that is limited. Not by default: whoever asks thousands of hosts at
    /// once has to say how many, since only a few hundred are in reach where files are few. More than there is
    /// [room](crate::room_for_connections) for is taken as that many. Those [beside](crate::Client::beside) do not count:
    /// they would wait for the very ones who asked them.
    pub at_once: Option<usize>,
    /// How long a connection that nobody uses is kept. 90 s: longer than most servers keep it. Whoever asks many hosts once
    /// each is better off with less.
    pub keep_alive: Duration,
    /// How long a connection may take, TLS included. 30 s: three lost packets are survived, a dead host is not waited for.
    pub connect_timeout: Duration,
    /// How long the first byte of an answer may take, and after the headers the first byte of the body. 300 s: pages that
    /// take minutes to make exist, and giving up means that the host did the work for nothing.
    pub first_byte_timeout: Duration,
    /// How long a body may pause once it has begun. 120 s: longer, and the connection has died without telling us.
    pub idle_timeout: Duration,
    /// How many bytes per second have to come, on average, in every stretch of [`first_byte_timeout`] that a body is
    /// waited for; time in which nobody asks for more does not count. 100: a fiftieth of what a modem does, and enough for
    /// a server that writes a compressed record every few seconds; but a byte now and then would keep us for months.
    ///
    /// [`first_byte_timeout`]: Self::first_byte_timeout
    pub least_rate: u64,
    /// How many redirects are followed. 10: more than any honest path needs, fewer than a browser would.
    pub redirects: usize,
    /// Whether 503 with Retry-After speaks for the whole host, as 429 does. True by default: a repository is one service. A
    /// spider asks for many things of a host, one of which may be out of order by itself.
    pub holds_on_503: bool,
    /// Where everything is asked through, but for what `NO_PROXY` names. If none is given, the environment decides
    /// (`HTTP_PROXY`, `HTTPS_PROXY`, `NO_PROXY`), as for other tools.
    pub proxy: Option<Url>,
    /// Whose certificates are believed. Those of the system by default.
    pub trust: Trust,
    /// What is told to which origin, and to no other. Nothing by default.
    pub credentials: Vec<Credential>,
    /// Whether answers may be compressed that come from this very machine. Not by default: there is no line on which that
    /// would save anything, and it takes longer than all the rest.
    pub compressed_at_home: bool,
    /// Whether only hosts on the public internet may be asked, whatever URLs and redirects say: nothing on this machine,
    /// in this house, or at an address of no host at all. Not by default: one's own repository may well be at home. What
    /// is asked through a proxy is resolved where we cannot see it, so there is none then, also not from the environment.
    pub public_only: bool,
}

/// Whose certificates are believed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Trust {
    /// Those that the system believes.
    #[default]
    System,
    /// Those, and the ones in this PEM file.
    Also(PathBuf),
    /// Any. Whoever is on the line can read and change everything: for tests and for the desperate, and warned about.
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
    /// What `User-Agent` says: who, and whom to write to.
    pub(crate) fn user_agent(&self) -> String {
        match self.contact.as_deref().map(str::trim) {
            Some(contact) if !contact.is_empty() && !self.agent.contains(contact) => {
                format!("{} (+{})", self.agent, contact)
            }
            _ => self.agent.clone(),
        }
    }

    /// What `From` says: a mail address, if the contact is one.
    pub(crate) fn from(&self) -> Option<&str> {
        let contact = self.contact.as_deref()?.trim();
        let address = contact.strip_prefix("mailto:").unwrap_or(contact);
        (address.contains('@') && !address.contains("://")).then_some(address)
    }
}

impl fmt::Debug for Manners {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A proxy's URL may hold a password.
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
