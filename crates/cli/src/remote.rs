//! The options of commands that send requests to other servers: identification, timeouts, trusted certificates.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use modoai_fetch::{Client, Credential, FetchError, Manners, Origin, Secret, Start, Trust, Url};

use crate::config::shown;
use crate::error::{CliError, Kind};

/// The environment variables for secrets that are not in files.
const PASSWORD: &str = "MODOAI_PASSWORD";
const TOKEN: &str = "MODOAI_TOKEN";
/// The default timeouts for the first byte.
const HARVESTERS_PATIENCE: Duration = Duration::from_secs(300);
const SPIDERS_PATIENCE: Duration = Duration::from_secs(60);

/// The options for requests to other servers.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "HTTP options")]
pub(crate) struct RemoteArgs {
    /// Email address of the operator, sent in the From header of every request.
    #[arg(long, value_name = "EMAIL", env = "MODOAI_CONTACT", value_parser = e_mail)]
    contact: Option<String>,
    /// User name for HTTP authentication. The password is read from MODOAI_PASSWORD or --password-file and sent only to
    /// this host. Credentials in the URL (https://name:password@host/) take precedence.
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
    /// File that contains the password.
    #[arg(long, value_name = "FILE", requires = "user")]
    password_file: Option<PathBuf>,
    /// File that contains a bearer token (or set MODOAI_TOKEN); sent only to this host.
    #[arg(long, value_name = "FILE", conflicts_with = "user")]
    token_file: Option<PathBuf>,
    /// Minimum time between two requests to the same host.
    #[arg(long, value_name = "SECONDS", default_value = "0", value_parser = seconds)]
    delay: Duration,
    /// Maximum time to wait for the first byte of a response [default: 300; spider: 60]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    timeout: Option<Duration>,
    /// Proxy for all requests [default: HTTP_PROXY, HTTPS_PROXY and NO_PROXY]
    #[arg(long, value_name = "URL")]
    proxy: Option<Url>,
    /// PEM file of additional trusted certificates.
    #[arg(long, value_name = "FILE")]
    pub(crate) ca: Option<PathBuf>,
    /// Do not verify TLS certificates; anyone on the network path can then alter the data.
    #[arg(long, conflicts_with = "ca")]
    insecure: bool,
    /// Connect to private, loopback and link-local addresses as well. By default, modoai connects only to public
    /// addresses, and to the host given on the command line if that has no public address.
    #[arg(long)]
    pub(crate) allow_private: bool,
}

impl RemoteArgs {
    /// Returns the address of the operator, if it was given.
    pub(crate) fn contact(&self) -> Option<&str> {
        self.contact.as_deref()
    }

    /// Returns a client for one repository; credentials in its URL are removed from it.
    pub(crate) fn client(&self, url: &mut Url) -> Result<Client, CliError> {
        let credential = match Credential::from_url(url) {
            Some(given) => Some(given),
            None => self.secret()?.zip(Origin::of(url)).map(|(secret, origin)| Credential { origin, secret }),
        };
        self.with(credential.into_iter().collect())
    }

    /// Returns the same client, restricted to public addresses and to the hosts of these URLs, unless everything is
    /// allowed.
    pub(crate) fn restricted<'a>(
        &self,
        client: Client,
        starts: impl IntoIterator<Item = &'a Url>,
    ) -> Result<Client, CliError> {
        if self.allow_private {
            return Ok(client);
        }
        client.restricted_to(starts.into_iter().map(Start::from)).map_err(unusable)
    }

    /// Returns credentials for the sites that begin at these URLs, to be sent only there. Those in the URLs are removed
    /// from them.
    pub(crate) fn credentials_of<'a>(
        &self,
        tops: impl IntoIterator<Item = &'a mut Url>,
    ) -> Result<Vec<Credential>, CliError> {
        let secret = self.secret()?;
        let mut credentials = Vec::new();
        for top in tops {
            let given = Credential::from_url(top);
            let known = || secret.clone().zip(Origin::of(top)).map(|(secret, origin)| Credential { origin, secret });
            credentials.extend(given.or_else(known));
        }
        Ok(credentials)
    }

    /// Returns the HTTP settings of a spider. It requests pages that are built for browsers, so its timeout is shorter
    /// than that of a harvester.
    pub(crate) fn spiders_manners(&self, credentials: Vec<Credential>) -> Manners {
        self.manners(credentials, SPIDERS_PATIENCE)
    }

    /// Returns a client for many repositories, with the credentials in their URLs. One secret for all of them would be
    /// sent to every host in the list, so that is refused.
    pub(crate) fn client_of_many(&self, credentials: Vec<Credential>) -> Result<Client, CliError> {
        if self.user.is_some() || self.token_file.is_some() {
            let told = "--user and --token-file cannot be used with --all: the secret would be sent to every host";
            return Err(CliError::new(Kind::Usage, told)
                .hint("put name and password into the URLs of the file: https://name:password@example.org/oai"));
        }
        for variable in [PASSWORD, TOKEN].into_iter().filter(|variable| kept(variable).is_some()) {
            tracing::warn!("ignored {variable}: with --all it would be sent to every host");
        }
        self.with(credentials)
    }

    fn with(&self, credentials: Vec<Credential>) -> Result<Client, CliError> {
        let manners = self.manners(credentials, HARVESTERS_PATIENCE);
        Client::new(manners).map_err(unusable)
    }

    fn manners(&self, credentials: Vec<Credential>, patience: Duration) -> Manners {
        let patience = self.timeout.unwrap_or(patience);
        Manners {
            contact: self.contact.clone(),
            delay: self.delay,
            first_byte_timeout: patience,
            idle_timeout: patience.min(Manners::default().idle_timeout),
            proxy: self.proxy.clone(),
            trust: match (&self.ca, self.insecure) {
                (Some(file), _) => Trust::Also(file.clone()),
                (None, true) => Trust::Anyone,
                (None, false) => Trust::System,
            },
            credentials,
            ..Manners::default()
        }
    }

    fn secret(&self) -> Result<Option<Secret>, CliError> {
        let from = |file: &PathBuf| {
            let text = std::fs::read_to_string(file);
            let text =
                text.map_err(|error| CliError::failed(format!("failed to read {}", shown(file))).because(error))?;
            Ok(text.trim_end_matches(['\r', '\n']).to_owned())
        };
        if let Some(user) = &self.user {
            let password = match &self.password_file {
                Some(file) => from(file)?,
                None => kept(PASSWORD).ok_or_else(|| {
                    CliError::new(Kind::Usage, "--user needs a password")
                        .hint("put it into MODOAI_PASSWORD, or into a file for --password-file")
                })?,
            };
            return Ok(Some(Secret::Basic { user: user.clone(), password }));
        }
        let token = match &self.token_file {
            Some(file) => Some(from(file)?),
            None => kept(TOKEN),
        };
        Ok(token.map(Secret::Bearer))
    }
}

/// Returns the error for options that are invalid for a client.
pub(crate) fn unusable(error: FetchError) -> CliError {
    CliError::new(Kind::Usage, "invalid options").because(error)
}

fn kept(variable: &str) -> Option<String> {
    std::env::var(variable).ok().filter(|value| !value.is_empty())
}

/// Checks the form of an email address.
fn e_mail(text: &str) -> Result<String, String> {
    let is_odd = |character: char| character.is_whitespace() || character.is_control() || "<>,;".contains(character);
    let parts = text.split_once('@').filter(|(name, host)| !name.is_empty() && !host.is_empty() && !host.contains('@'));
    if parts.is_none() || text.contains(is_odd) {
        return Err("expected an email address such as you@example.org".to_owned());
    }
    Ok(text.to_owned())
}

/// Parses a number of seconds, with fractions.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let number: f64 = text.parse().map_err(|_| "expected a number of seconds".to_owned())?;
    Duration::try_from_secs_f64(number).map_err(|error| error.to_string())
}

/// Parses a base URL: http or https, complete.
pub(crate) fn base_url(text: &str) -> Result<Url, String> {
    let url =
        Url::parse(text).map_err(|error| format!("{error}; expected a base URL such as https://example.org/oai"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err("a base URL must begin with http:// or https://".to_owned());
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_contact_can_be_written_to() {
        assert_eq!(e_mail("you+oai@example.org").as_deref(), Ok("you+oai@example.org"));
        for wrong in
            ["", "not mail", "example.org", "@example.org", "you@", "a@b@c", "You <you@example.org>", "a@b\r\nX: y"]
        {
            assert!(e_mail(wrong).is_err(), "{wrong}");
        }
    }
}
