//! The responses collected so far, and the interface for requesting more.
//!
//! Checks are plain functions. A check that needs a response that was not requested yet stops with [`Stop::Need`]; the
//! response is fetched, and the check starts again. So every request is sent once, regardless of the number of checks
//! that use it, and checks contain no network code.

use std::collections::{HashMap, HashSet};

use modoai_protocol::{Bound, Datestamp};

use super::Options;
use super::exchange::{Answer, Entry, Exchange, Question};
use crate::window::Granularity;

/// The reason why a check cannot continue.
pub(crate) enum Stop {
    /// This request must be sent first.
    Need(Question),
    /// The check is not applicable, for this reason.
    NotJudged(String),
}

/// The end of a check: its findings are in its verdict.
pub(crate) type Judged = Result<(), Stop>;

/// Ends a check that is not applicable.
pub(crate) fn not_judged<T>(reason: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::NotJudged(reason.into()))
}

/// The verbs that select by date and set: harvesters use either, and both must agree.
pub(crate) const SELECTIVE: [&str; 2] = ["ListIdentifiers", "ListRecords"];

/// All responses received so far.
pub(crate) struct Case {
    pub(crate) base_url: String,
    pub(crate) options: Options,
    exchanges: Vec<Exchange>,
    places: HashMap<Question, usize>,
}

/// The end of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The last page was received.
    Complete,
    /// The validator stopped: the list is longer than the limit of the sample.
    Sampled,
    /// The server ended it, in this way.
    Broken(String),
}

/// A list, or the beginning of one.
pub(crate) struct Walk<'a> {
    pub(crate) pages: Vec<&'a Exchange>,
    pub(crate) end: End,
}

impl Case {
    pub(crate) fn new(base_url: &str, options: &Options) -> Self {
        let options = options.clone();
        Self { base_url: base_url.to_owned(), options, exchanges: Vec::new(), places: HashMap::new() }
    }

    /// Returns true if a text is the base URL, byte for byte; but an empty path and the path `/` are equivalent.
    pub(crate) fn is_base_url(&self, text: &str) -> bool {
        let is_without_path = || text.split_once("://").is_some_and(|(_, rest)| !rest.contains('/'));
        text == self.base_url || (self.base_url.strip_suffix('/') == Some(text) && is_without_path())
    }

    /// Stores a response.
    pub(crate) fn file(&mut self, exchange: Exchange) {
        self.places.insert(exchange.question.clone(), self.exchanges.len());
        self.exchanges.push(exchange);
    }

    /// Returns all requests so far, with and without a response.
    pub(crate) fn asked(&self) -> &[Exchange] {
        &self.exchanges
    }

    /// Returns all requests so far, except those that the server refused in every attempt.
    pub(crate) fn exchanges(&self) -> impl Iterator<Item = &Exchange> + Clone {
        self.exchanges.iter().filter(|exchange| !exchange.is_refused())
    }

    /// Returns the outcome of a request. If the server has refused every attempt, the check is not applicable.
    pub(crate) fn ask(&self, question: Question) -> Result<&Exchange, Stop> {
        match self.places.get(&question) {
            Some(&place) if self.exchanges[place].is_refused() => {
                let exchange = &self.exchanges[place];
                let status = exchange.reply().map_or(0, |reply| reply.status);
                not_judged(format!("{} was always refused: HTTP {status}", exchange.url))
            }
            Some(&place) => Ok(&self.exchanges[place]),
            None => Err(Stop::Need(question)),
        }
    }

    /// Returns a request and its content. If the response cannot be read, the check is not applicable.
    pub(crate) fn read(&self, question: Question) -> Result<(&Exchange, &Answer), Stop> {
        let exchange = self.ask(question)?;
        match exchange.answer() {
            Some(answer) => Ok((exchange, answer)),
            None => not_judged(format!("{}: {}", exchange.url, exchange.trouble())),
        }
    }

    pub(crate) fn identify(&self) -> Result<(&Exchange, &Answer), Stop> {
        self.read(Question::of(&[("verb", "Identify")]))
    }

    pub(crate) fn formats(&self) -> Result<(&Exchange, &Answer), Stop> {
        self.read(Question::of(&[("verb", "ListMetadataFormats")]))
    }

    /// Returns the granularity in Identify; if its text is not one of the two, by its length. If Identify cannot be
    /// read, by the first datestamp.
    pub(crate) fn granularity(&self) -> Result<Granularity, Stop> {
        let identify = self.ask(Question::of(&[("verb", "Identify")]))?;
        let told = match identify.answer() {
            Some(answer) => answer.field("granularity").map(str::to_owned),
            None => self.headers()?.entries().next().map(|(_, entry)| entry.datestamp.trim().to_owned()),
        };
        Ok(told.as_deref().map_or(Granularity::Seconds, Granularity::parse))
    }

    /// Returns the format of the requested lists: oai_dc, or the first format if oai_dc is not available.
    pub(crate) fn prefix(&self) -> Result<String, Stop> {
        let formats = self.ask(Question::of(&[("verb", "ListMetadataFormats")]))?;
        let offered = formats.answer().map_or(&[][..], |answer| &answer.formats);
        let has_dc = offered.is_empty() || offered.iter().any(|format| format.prefix == "oai_dc");
        Ok(if has_dc { "oai_dc".to_owned() } else { offered[0].prefix.clone() })
    }

    /// Returns a list, beginning with its first request.
    pub(crate) fn walk(&self, first: Question) -> Result<Walk<'_>, Stop> {
        let verb = first.argument("verb").unwrap_or_default();
        let take = first.take;
        let mut pages = vec![self.ask(first)?];
        let mut seen = HashSet::new();
        let mut count = 0;
        loop {
            let page = pages[pages.len() - 1];
            let Some(answer) = page.answer() else {
                return Ok(Walk { end: End::Broken(page.trouble()), pages });
            };
            count += answer.entries.len() + answer.sets.len();
            if let Some((code, message)) = answer.errors.first() {
                let is_empty = pages.len() == 1 && (code == "noRecordsMatch" || code == "noSetHierarchy");
                let end = if is_empty { End::Complete } else { End::Broken(format!("{code}: {message}")) };
                return Ok(Walk { pages, end });
            }
            let Some(token) = answer.token.as_ref().map(|token| &token.value).filter(|value| !value.is_empty()) else {
                return Ok(Walk { pages, end: End::Complete });
            };
            if !seen.insert(token) {
                return Ok(Walk {
                    pages,
                    end: End::Broken("a resumption token returns to an earlier page".to_owned()),
                });
            }
            if count >= self.options.records || pages.len() >= self.options.pages {
                return Ok(Walk { pages, end: End::Sampled });
            }
            let next = Question::of(&[("verb", &verb), ("resumptionToken", token)]);
            pages.push(self.ask(Question { take, ..next })?);
        }
    }

    /// Returns a list of headers or records with these arguments in addition to verb and format.
    pub(crate) fn list(&self, verb: &str, arguments: &[(&str, &str)]) -> Result<Walk<'_>, Stop> {
        let prefix = self.prefix()?;
        let mut all = vec![("verb", verb), ("metadataPrefix", prefix.as_str())];
        all.extend(arguments);
        self.walk(Question::of(&all))
    }

    /// Returns all headers, or the sample of them.
    pub(crate) fn headers(&self) -> Result<Walk<'_>, Stop> {
        self.list("ListIdentifiers", &[])
    }

    /// Returns all records, or the sample of them.
    pub(crate) fn records(&self) -> Result<Walk<'_>, Stop> {
        self.list("ListRecords", &[])
    }

    pub(crate) fn sets(&self) -> Result<Walk<'_>, Stop> {
        self.walk(Question::of(&[("verb", "ListSets")]))
    }

    /// Returns the lists whose pages and tokens are checked.
    pub(crate) fn lists(&self) -> Result<Vec<(&'static str, Walk<'_>)>, Stop> {
        Ok(vec![("ListIdentifiers", self.headers()?), ("ListRecords", self.records()?), ("ListSets", self.sets()?)])
    }

    /// Returns an existing record for tests: the first that is not deleted.
    pub(crate) fn sample(&self) -> Result<&Entry, Stop> {
        match self.headers()?.entries().find(|(_, entry)| !entry.deleted && !entry.identifier.trim().is_empty()) {
            Some((_, entry)) => Ok(entry),
            None => not_judged("no header of an existing record found"),
        }
    }

    /// Returns a deleted record, if one was seen.
    pub(crate) fn deleted(&self) -> Result<&Entry, Stop> {
        match self.headers()?.entries().find(|(_, entry)| entry.deleted) {
            Some((_, entry)) => Ok(entry),
            None => not_judged("no deleted record found"),
        }
    }

    /// Returns one record in one format.
    pub(crate) fn record(&self, identifier: &str, prefix: &str) -> Result<&Exchange, Stop> {
        self.ask(Question::of(&[("verb", "GetRecord"), ("identifier", identifier), ("metadataPrefix", prefix)]))
    }

    /// Returns true if a list may lack a record that another list has: records may have been added or deleted since the
    /// list was started, and only persistent deletions are reported consistently (section 2.5.1).
    pub(crate) fn may_lack(&self, list: &Walk<'_>, entry: &Entry) -> bool {
        let identify = self.ask(Question::of(&[("verb", "Identify")])).ok().and_then(Exchange::answer);
        let is_persistent = identify.and_then(|answer| answer.field("deletedRecord")) == Some("persistent");
        let begun = list.first().answer().map_or("", |answer| answer.response_date.trim());
        let datestamp = entry.datestamp.trim();
        let is_new = begun.get(..datestamp.len()).is_none_or(|begun| datestamp >= begun);
        is_new || (entry.deleted && !is_persistent)
    }

    /// Requests one response of each kind, for checks over all responses, even if other checks are not selected.
    pub(crate) fn survey(&self) -> Judged {
        // Responses that cannot be read are checked, too; requests without a response are left out.
        needed(self.ask(Question::of(&[("verb", "Identify")])))?;
        needed(self.ask(Question::of(&[("verb", "ListMetadataFormats")])))?;
        needed(self.headers())?;
        needed(self.records())?;
        needed(self.sets())?;
        needed(self.ask(Question::of(&[("verb", "junk")])))?;
        if let (Ok(sample), Ok(prefix)) = (self.sample(), self.prefix()) {
            needed(self.record(&sample.identifier, &prefix))?;
        }
        Ok(())
    }

    /// Performs a [`survey`](Self::survey) for checks of headers and records, which are not applicable if none was
    /// received.
    pub(crate) fn survey_records(&self) -> Judged {
        self.survey()?;
        let has_entries = |exchange: &Exchange| exchange.answer().is_some_and(|answer| !answer.entries.is_empty());
        if self.exchanges().any(has_entries) { Ok(()) } else { not_judged("no record received") }
    }
}

impl<'a> Walk<'a> {
    /// Returns its entries, each with its page.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&'a Exchange, &'a Entry)> + use<'a, '_> {
        self.pages.iter().flat_map(|page| {
            page.answer().into_iter().flat_map(move |answer| answer.entries.iter().map(move |entry| (*page, entry)))
        })
    }

    /// Returns the sets that it lists, each with its page.
    pub(crate) fn set_specs(&self) -> impl Iterator<Item = (&'a Exchange, &'a str)> + use<'a, '_> {
        self.pages.iter().flat_map(|page| {
            page.answer()
                .into_iter()
                .flat_map(move |answer| answer.sets.iter().map(move |set| (*page, set.spec.as_str())))
        })
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.end == End::Complete
    }

    /// Returns the first page.
    pub(crate) fn first(&self) -> &'a Exchange {
        self.pages[0]
    }

    /// Returns the last page that was received.
    pub(crate) fn last(&self) -> &'a Exchange {
        self.pages[self.pages.len() - 1]
    }

    /// Returns the reason why it is incomplete, if it is.
    pub(crate) fn shortfall(&self) -> Option<String> {
        match &self.end {
            End::Complete => None,
            End::Sampled => Some(format!("only the first {} of the list were checked", self.entries().count())),
            End::Broken(reason) => Some(format!("the list stops early: {reason}")),
        }
    }
}

/// Returns only the error for a request that must be sent first.
fn needed<T>(asked: Result<T, Stop>) -> Judged {
    match asked {
        Err(Stop::Need(question)) => Err(Stop::Need(question)),
        Ok(_) | Err(Stop::NotJudged(_)) => Ok(()),
    }
}

/// Returns the time of a datestamp, in either form.
pub(crate) fn moment(text: &str) -> Option<Datestamp> {
    Bound::parse(text.trim()).map(Bound::first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_url_is_itself() {
        let is = |base_url: &str, text: &str| Case::new(base_url, &Options::default()).is_base_url(text);
        assert!(is("http://a.example/", "http://a.example") && is("http://a.example/", "http://a.example/"));
        assert!(is("http://a.example/oai", "http://a.example/oai"));
        assert!(!is("http://a.example/oai/", "http://a.example/oai"));
        assert!(!is("http://a.example/", "https://a.example") && !is("http://a.example/", "http://a.example/oai"));
    }
}
