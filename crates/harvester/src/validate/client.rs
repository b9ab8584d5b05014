//! Sends the validator's requests over the network.

use std::time::Duration;

use modoai_fetch::{Ask, Client, FetchError, HeaderName, HeaderValue, Url};
use modoai_protocol::with_causes;

use super::exchange::{Hop, Question, Raw};
use super::transport::{NoAnswer, Transport};
use crate::clock;

/// Sends requests to one endpoint, within its limits. Bodies are passed on as received, because their encoding is
/// checked, too.
pub(super) struct Endpoint<'a> {
    client: &'a Client,
    base_url: &'a Url,
    limit: usize,
}

impl<'a> Endpoint<'a> {
    pub(super) fn new(client: &'a Client, base_url: &'a Url, limit: usize) -> Self {
        Self { client, base_url, limit }
    }

    async fn fetch(&self, question: &Question) -> Result<Raw, FetchError> {
        let mut ask = Ask::new(self.base_url.clone());
        if question.post {
            ask.form = Some(question.query.clone());
        } else {
            // The protocol does not allow a base URL with a query; if the base URL has one, it is kept.
            let own = self.base_url.query().filter(|own| !own.is_empty()).map(|own| format!("{own}&"));
            ask.url.set_query(Some(&format!("{}{}", own.unwrap_or_default(), question.query)));
        }
        ask.decode = false;
        // Section 3.1.3: identity must be among the accepted encodings.
        let accepted = match question.coding {
            "gzip" => "gzip;q=1.0, identity;q=0.5",
            "deflate" => "deflate;q=1.0, identity;q=0.5",
            other => other,
        };
        let coding = HeaderValue::from_static(accepted);
        let fetched = self.client.get(ask.header(HeaderName::from_static("accept-encoding"), coding)).await?;
        let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let headers = fetched.headers.iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect();
        let hops = fetched.hops.iter().map(|hop| Hop { status: hop.status, to: hop.to.to_string() }).collect();
        let status = fetched.status;
        Ok(Raw { status, headers, hops, body: fetched.body.read_to_end(self.limit).await? })
    }
}

impl Transport for Endpoint<'_> {
    async fn send(&self, question: &Question, within: Duration) -> Result<Raw, NoAnswer> {
        match tokio::time::timeout(within, self.fetch(question)).await {
            Ok(Ok(raw)) => Ok(raw),
            Ok(Err(error)) => Err(NoAnswer {
                is_held: matches!(error, FetchError::Held { .. }),
                is_transient: error.is_transient() && !error.is_no_such_host(),
                reason: with_causes(&error),
            }),
            Err(_) => Err(NoAnswer { is_transient: false, is_held: false, reason: "timeout".to_owned() }),
        }
    }

    async fn pause(&self, time: Duration) {
        tokio::time::sleep(time).await;
    }

    fn now(&self) -> i64 {
        clock::now().unix()
    }
}
