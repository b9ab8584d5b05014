//! What an endpoint is to do differently, hooked in where it belongs.
//!
//! | hook | what it changes |
//! |---|---|
//! | [`Script::understand`] | how a request is read |
//! | [`Script::arrange`] | which records a list has, and in which order |
//! | [`Script::instead`] | nothing is looked up: something else is answered |
//! | [`Script::page`] | what an answer says |
//! | [`Script::xml`] | the bytes that say it |
//! | [`Script::reply`] | status, headers and delivery |
//!
//! A hook is called for every request. Whether it does something once, always, now and then or from some page on is for
//! it to decide by what [`Visit`] tells.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::calendar::Granularity;
use super::holdings::{Holdings, Record};
use super::page::{Entry, Page};
use super::reply::Reply;
use super::repository::{Place, Selection};
use super::request::Request;

type Hook<T> = Box<dyn Fn(&Visit<'_>, &mut T) + Send + Sync>;
type Understand = Box<dyn Fn(&mut Request) + Send + Sync>;
type Arrange = Box<dyn Fn(&Selection, &mut Vec<Record>) + Send + Sync>;
type Instead = Box<dyn Fn(&Visit<'_>) -> Option<Reply> + Send + Sync>;

/// A repository, and what is wrong with it.
pub struct Script {
    /// What the repository holds.
    pub holdings: Holdings,
    /// How many records a page has.
    pub page_size: usize,
    pub(super) token_form: fn(&str) -> String,
    pub(super) understand: Vec<Understand>,
    pub(super) arrange: Vec<Arrange>,
    pub(super) instead: Vec<Instead>,
    pub(super) page: Vec<Hook<Page>>,
    pub(super) xml: Vec<Hook<Vec<u8>>>,
    pub(super) reply: Vec<Hook<Reply>>,
}

impl Default for Script {
    /// Twenty-three records in five pages, and nothing wrong.
    fn default() -> Self {
        Self::of(Holdings::of(23))
    }
}

impl Script {
    /// These records in pages of five, and nothing wrong.
    pub fn of(holdings: Holdings) -> Self {
        Self {
            holdings,
            page_size: 5,
            token_form: str::to_owned,
            understand: Vec::new(),
            arrange: Vec::new(),
            instead: Vec::new(),
            page: Vec::new(),
            xml: Vec::new(),
            reply: Vec::new(),
        }
    }

    /// The same with other holdings.
    #[must_use]
    pub fn holding(mut self, change: impl FnOnce(&mut Holdings)) -> Self {
        change(&mut self.holdings);
        self
    }

    /// The same with pages of another size.
    #[must_use]
    pub fn pages_of(mut self, records: usize) -> Self {
        self.page_size = records;
        self
    }

    /// Tokens look like this. They stay distinct if what is given is a part of what is returned.
    #[must_use]
    pub fn tokens(mut self, form: fn(&str) -> String) -> Self {
        self.token_form = form;
        self
    }

    /// Changes how requests are read, before anything else.
    #[must_use]
    pub fn understand(mut self, hook: impl Fn(&mut Request) + Send + Sync + 'static) -> Self {
        self.understand.push(Box::new(hook));
        self
    }

    /// Changes which records a list has.
    #[must_use]
    pub fn arrange(mut self, hook: impl Fn(&Selection, &mut Vec<Record>) + Send + Sync + 'static) -> Self {
        self.arrange.push(Box::new(hook));
        self
    }

    /// Answers in the repository's place, or not.
    #[must_use]
    pub fn instead(mut self, hook: impl Fn(&Visit<'_>) -> Option<Reply> + Send + Sync + 'static) -> Self {
        self.instead.push(Box::new(hook));
        self
    }

    /// Changes what answers say.
    #[must_use]
    pub fn page(mut self, hook: impl Fn(&Visit<'_>, &mut Page) + Send + Sync + 'static) -> Self {
        self.page.push(Box::new(hook));
        self
    }

    /// Changes the bytes of answers.
    #[must_use]
    pub fn xml(mut self, hook: impl Fn(&Visit<'_>, &mut Vec<u8>) + Send + Sync + 'static) -> Self {
        self.xml.push(Box::new(hook));
        self
    }

    /// Changes how answers are sent.
    #[must_use]
    pub fn reply(mut self, hook: impl Fn(&Visit<'_>, &mut Reply) + Send + Sync + 'static) -> Self {
        self.reply.push(Box::new(hook));
        self
    }
}

/// One request, as hooks see it.
pub struct Visit<'a> {
    /// What was asked, as it was understood.
    pub request: &'a Request,
    /// How many requests came before.
    pub number: usize,
    /// How many of them were the same.
    pub times: usize,
    /// When, since the endpoint was started.
    pub at: Duration,
    /// Where in which list this is, if it is a request for a list.
    pub place: Option<&'a Place>,
    /// All that the list has.
    pub matching: &'a [Record],
    /// How many records a page has.
    pub page_size: usize,
    /// How many records there are in all.
    pub store: usize,
    /// How dates are written.
    pub granularity: Granularity,
    pub(super) tokens: &'a Tokens,
}

impl Visit<'_> {
    /// The verb that was asked for.
    pub fn verb(&self) -> &str {
        self.request.argument("verb").unwrap_or_default()
    }

    /// Whether this asks for a list of records or of headers.
    pub fn is_list(&self) -> bool {
        matches!(self.verb(), "ListRecords" | "ListIdentifiers")
    }

    /// Which page of a list this asks for, from 1; 0 if it is no list.
    pub fn page(&self) -> usize {
        self.place.map_or(0, |place| place.offset / self.page_size + 1)
    }

    /// How many pages the list has.
    pub fn pages(&self) -> usize {
        self.matching.len().div_ceil(self.page_size)
    }

    /// The records of the page that is asked for.
    pub fn on_page(&self) -> &[Record] {
        self.place.map_or(&[], |place| self.page_at(place.offset))
    }

    fn page_at(&self, offset: usize) -> &[Record] {
        let end = self.matching.len().min(offset + self.page_size);
        self.matching.get(offset..end).unwrap_or_default()
    }

    /// What the page at an offset of this list says.
    pub fn entries(&self, offset: usize) -> Vec<Entry> {
        self.page_at(offset).iter().map(|record| Entry::of(record, self.granularity)).collect()
    }

    /// Whether the answer would hold that record: on a page of a list, or on its own.
    pub fn concerns(&self, identifier: &str) -> bool {
        let named = self.verb() == "GetRecord" && self.request.argument("identifier") == Some(identifier);
        named || self.on_page().iter().any(|record| record.identifier == identifier)
    }

    /// The token that leads to an offset in this list; always the same one.
    pub fn token(&self, offset: usize) -> String {
        self.issue(offset, "")
    }

    /// A token that leads to an offset in this list and was never handed out before.
    pub fn fresh_token(&self, offset: usize) -> String {
        self.issue(offset, &format!(".{}", self.number))
    }

    /// A token that leads anywhere, for servers that forget what was asked.
    pub fn token_to(&self, place: Place) -> String {
        self.tokens.issue(place, "")
    }

    fn issue(&self, offset: usize, suffix: &str) -> String {
        let place = self.place.expect("only lists have tokens");
        self.tokens.issue(Place { selection: place.selection.clone(), offset }, suffix)
    }

    /// How long ago the first page of this list was asked for.
    pub fn since_first_page(&self) -> Duration {
        self.place.map_or(Duration::ZERO, |place| self.at.saturating_sub(self.tokens.begun(&place.selection)))
    }
}

/// The tokens that were handed out.
pub(super) struct Tokens {
    form: fn(&str) -> String,
    issued: Mutex<Issued>,
}

#[derive(Default)]
struct Issued {
    /// The lists, and when the first page of each was last asked for.
    lists: Vec<(Selection, Duration)>,
    places: HashMap<String, Place>,
}

impl Issued {
    fn list(&mut self, selection: &Selection) -> usize {
        self.lists.iter().position(|(known, _)| known == selection).unwrap_or_else(|| {
            self.lists.push((selection.clone(), Duration::ZERO));
            self.lists.len() - 1
        })
    }
}

impl Tokens {
    pub(super) fn new(form: fn(&str) -> String) -> Self {
        Self { form, issued: Mutex::default() }
    }

    pub(super) fn find(&self, token: &str) -> Option<Place> {
        self.issued.lock().unwrap_or_else(PoisonError::into_inner).places.get(token).cloned()
    }

    /// The first page of this list is asked for.
    pub(super) fn begin(&self, selection: &Selection, at: Duration) {
        let mut issued = self.issued.lock().unwrap_or_else(PoisonError::into_inner);
        let list = issued.list(selection);
        issued.lists[list].1 = at;
    }

    fn begun(&self, selection: &Selection) -> Duration {
        let mut issued = self.issued.lock().unwrap_or_else(PoisonError::into_inner);
        let list = issued.list(selection);
        issued.lists[list].1
    }

    fn issue(&self, place: Place, suffix: &str) -> String {
        let mut issued = self.issued.lock().unwrap_or_else(PoisonError::into_inner);
        let list = issued.list(&place.selection);
        let token = (self.form)(&format!("{list}.{}{suffix}", place.offset));
        issued.places.insert(token.clone(), place);
        token
    }
}
