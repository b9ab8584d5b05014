//! A harvester that does as little as possible, so that what is measured is the server: it asks for page after page on
//! one connection, counts records, and finds the token by a byte search.

use std::io;
use std::time::{Duration, Instant};

use memchr::memmem;

use crate::http::{self, Client, Response};

/// Every item has one of these, in lists of headers and of records. There may be more datestamps: provenance has some.
const ITEM: &[u8] = b"</header>";

/// A list, page by page.
#[derive(Debug)]
pub struct Walk {
    client: Client,
    response: Response,
    path: String,
    verb: String,
    /// What is asked for next; nothing after the last page.
    target: Option<String>,
    records: usize,
}

/// A page as it came.
#[derive(Debug)]
pub struct Page<'a> {
    /// What was asked for, from the path on.
    pub target: String,
    /// How long it took from the request to the last byte.
    pub time: Duration,
    /// The whole answer.
    pub body: &'a [u8],
    /// How many records the list has, as far as the server says so.
    pub size: Option<u64>,
}

impl Walk {
    /// The list that a query such as `verb=ListRecords&metadataPrefix=oai_dc` asks for at a base URL.
    pub fn new(url: &str, query: &str) -> Self {
        let rest = url.strip_prefix("http://").unwrap_or(url);
        let path = rest.find('/').map_or("/", |slash| &rest[slash..]).to_owned();
        let verb = query.split('&').next().unwrap_or_default().to_owned();
        let target = Some(format!("{path}?{query}"));
        Self { client: Client::new(url), response: Response::default(), path, verb, target, records: 0 }
    }

    /// The next page; nothing after the last.
    ///
    /// # Errors
    ///
    /// If there is no answer, or one with another status than 200.
    pub fn next_page(&mut self) -> io::Result<Option<Page<'_>>> {
        let Some(target) = self.target.take() else { return Ok(None) };
        let asked = Instant::now();
        self.client.send_into("GET", &target, &[], b"", &mut self.response)?;
        let time = asked.elapsed();
        if self.response.status != 200 {
            return Err(io::Error::other(format!("{target}: status {}", self.response.status)));
        }
        let body = &self.response.body;
        // Who says how many came before need not be counted after, but for the last page.
        let resumption = Resumption::of(body);
        match resumption.cursor {
            Some(before) if resumption.token.is_some() => self.records = before,
            Some(before) => self.records = before + items(body),
            None => self.records += items(body),
        }
        self.target = resumption
            .token
            .map(|token| format!("{}?{}&resumptionToken={}", self.path, self.verb, http::encode(token)));
        Ok(Some(Page { target, time, body, size: resumption.size }))
    }

    /// How many records there were, once the last page has come.
    pub fn records(&self) -> usize {
        self.records
    }
}

fn items(page: &[u8]) -> usize {
    memmem::find_iter(page, ITEM).count()
}

/// Where a list goes on, how many came before this page, and how many there are.
#[derive(Default)]
struct Resumption<'a> {
    token: Option<&'a str>,
    cursor: Option<usize>,
    size: Option<u64>,
}

impl<'a> Resumption<'a> {
    fn of(page: &'a [u8]) -> Self {
        // It stands near the end.
        let tail = &page[page.len().saturating_sub(8192)..];
        let start = memmem::find(tail, b"<resumptionToken").unwrap_or(tail.len());
        let text = std::str::from_utf8(&tail[start..]).unwrap_or_default();
        let Some((tag, rest)) = text.split_once('>') else { return Self::default() };
        let token = rest.split('<').next().filter(|token| !token.is_empty() && !tag.ends_with('/'));
        let attribute = |name: &str| tag.split_once(name).and_then(|(_, rest)| rest.split('"').next());
        Self {
            token,
            cursor: attribute("cursor=\"").and_then(|number| number.parse().ok()),
            size: attribute("completeListSize=\"").and_then(|number| number.parse().ok()),
        }
    }
}

/// The middle one of some times, in milliseconds.
pub fn median_ms<'a>(times: impl IntoIterator<Item = &'a Duration>) -> f64 {
    let mut times: Vec<_> = times.into_iter().collect();
    times.sort();
    times.get(times.len() / 2).map_or(0.0, |time| time.as_secs_f64() * 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_tells_where_a_list_goes_on() {
        let page =
            br#"<a/><resumptionToken completeListSize="30" cursor="10">abc</resumptionToken></ListRecords></OAI-PMH>"#;
        let found = Resumption::of(page);
        assert_eq!((found.token, found.cursor, found.size), (Some("abc"), Some(10), Some(30)));
        for last in
            ["<resumptionToken cursor=\"20\"/></ListRecords>", "<resumptionToken></resumptionToken>", "</ListRecords>"]
        {
            assert_eq!(Resumption::of(last.as_bytes()).token, None, "{last}");
        }
    }
}
