//! ListIdentifiers and ListRecords: a selection, page by page.
//!
//! The catalogue yields items in order; the host decides which of them this requester sees; a page ends at its limit of
//! records or bytes. One item is read ahead to distinguish a full page from the last one, so that a token always points
//! to at least one more record. The list's upper end is frozen when it begins: items that change meanwhile move beyond
//! it and are left to the next incremental harvest. A busy site therefore cannot make a list endless, and an unchanged
//! item is listed exactly once.

use std::collections::VecDeque;
use std::sync::Arc;

use modoai_protocol::token::ListToken;
use modoai_protocol::xml::XmlWriter;
use modoai_protocol::{Datestamp, ErrorCode, ListVerb, Range, Selection, SetSpec, Token, Verb};

use super::describe::{no_sets, visible_sets};
use super::record::{self, Prepared, no_such_format, prepare};
use super::{Body, Resumption, Sent, SentList, write_resumption};
use crate::catalogue::{Detail, PageQuery, Selected};
use crate::error::Failure;
use crate::formats::{Desk, Format};
use crate::item::Item;
use crate::repository::{Decision, Visit, refuse};

/// The number of items per query in bulky formats: a page of them is ended by its bytes, not by its count.
const BULKY_CHUNK: usize = 128;

/// A list with at least one more item.
pub(crate) struct Listed {
    verb: ListVerb,
    walk: Walk,
    first: Prepared,
    /// The number of items on earlier pages.
    cursor: u64,
    size: Size,
}

/// The number of items in the whole list, if it can be reported.
enum Size {
    /// As the first page of the list reported it.
    Told(Option<u64>),
    /// Computed once it is clear that the list has several pages.
    Asked,
}

/// Decides the first page of a list.
pub(crate) fn begin(visit: &Visit<'_>, verb: ListVerb, selection: &Selection) -> Decision<Body> {
    let Some(format) = visit.format(selection.prefix.as_str()) else {
        return Ok(Err(vec![no_such_format(&selection.prefix)]));
    };
    let mut range = selection.range();
    range.last = range.last.min(visit.standing.newest.unwrap_or(Datestamp::MIN));
    let chunk = chunk(visit, verb, &*format);
    let mut walk = Walk::new(format, selection.set.clone(), range, None, chunk);
    match walk.next(visit, verb == ListVerb::Records)? {
        Some(first) => Ok(Ok(Body::List(Listed { verb, walk, first, cursor: 0, size: Size::Asked }))),
        // Queried only if the list is empty anyway.
        None if selection.set.is_some() && visible_sets(visit)?.is_empty() => Ok(Err(vec![no_sets(visit)])),
        None => refuse(ErrorCode::NoRecordsMatch, "no records match this selection"),
    }
}

/// Decides a later page.
pub(crate) fn resume(visit: &Visit<'_>, verb: ListVerb, text: &str) -> Decision<Body> {
    let bad = |why: &str| refuse(ErrorCode::BadResumptionToken, why);
    let token = match Token::open(text, &visit.token_key()) {
        Some(Token::List(token)) if token.verb == verb => token,
        Some(_) => return bad("this resumption token belongs to a list of another kind"),
        None => return bad("this resumption token was not issued by this repository, or was modified"),
    };
    let format = visit.format(token.prefix.as_str()).filter(|_| token.epoch == visit.standing.epoch);
    let Some(format) = format else {
        return bad("this resumption token was issued before the repository was rebuilt; start the list again");
    };
    let ListToken { set, range, after, cursor, size, .. } = token;
    let chunk = chunk(visit, verb, &*format);
    let mut walk = Walk::new(format, set, range, Some(after), chunk);
    let size = Size::Told(size);
    match walk.next(visit, verb == ListVerb::Records)? {
        Some(first) => Ok(Ok(Body::List(Listed { verb, walk, first, cursor, size }))),
        // All remaining records have changed meanwhile and will be in the next incremental harvest, but a list element
        // must not be empty.
        None => bad("no records of this list are left; harvest again from its responseDate"),
    }
}

/// Writes the list element.
pub(crate) fn write(
    visit: &Visit<'_>,
    listed: Listed,
    xml: &mut XmlWriter<'_>,
    told: &mut Sent,
) -> Result<(), Failure> {
    let Listed { verb, mut walk, first, cursor, size } = listed;
    let format = Arc::clone(&walk.format);
    let settings = &visit.repository.settings;
    let (element, most) = match verb {
        ListVerb::Identifiers => (Verb::ListIdentifiers, settings.identifiers_per_page),
        ListVerb::Records => (Verb::ListRecords, settings.records_per_page),
    };
    told.list =
        Some(SentList { prefix: format.prefix().to_owned(), set: walk.set.clone(), range: walk.range, after: cursor });
    let start = xml.position();
    let mut desk = Desk::default();
    let mut sent = 0;
    let mut next = first;
    xml.raw("<").raw(element.as_str()).raw(">\n");
    let (token, size) = loop {
        match verb {
            ListVerb::Identifiers => {
                record::write_header(visit, &next.item, xml)?;
                xml.raw("\n").relieve()?;
            }
            ListVerb::Records => record::write(visit, next, &*format, &mut desk, xml)?,
        }
        sent += 1;
        told.records = sent as u64;
        let full = sent >= most || xml.position() - start >= settings.page_bytes;
        match walk.next(visit, verb == ListVerb::Records)? {
            // The size of the list is known here.
            None => break (None, Some(cursor + sent as u64)),
            Some(_) if full => {
                let size = size.find_out(visit, &walk)?;
                let cursor = cursor + sent as u64;
                break (Some(walk.token(visit, verb, cursor, size)), size);
            }
            Some(prepared) => next = prepared,
        }
    };
    told.is_last = token.is_none();
    write_resumption(&Resumption { token, cursor, size }, xml);
    xml.raw("</").raw(element.as_str()).raw(">\n");
    visit.remember(&desk.learned);
    Ok(())
}

fn chunk(visit: &Visit<'_>, verb: ListVerb, format: &dyn Format) -> usize {
    let settings = &visit.repository.settings;
    match verb {
        // One more than a page, so that reading ahead needs no second query.
        ListVerb::Identifiers => settings.identifiers_per_page + 1,
        ListVerb::Records if format.is_bulky() => BULKY_CHUNK.min(settings.records_per_page + 1),
        ListVerb::Records => settings.records_per_page + 1,
    }
}

impl Size {
    /// Returns the number of items of the selection that this requester sees. `None` if counting would be slow; the
    /// number must never reveal the number of hidden items.
    fn find_out(self, visit: &Visit<'_>, walk: &Walk) -> Result<Option<u64>, Failure> {
        match self {
            Self::Told(size) => return Ok(size),
            Self::Asked => {}
        }
        let total = visit.repository.catalogue.count(walk.selection())?;
        if visit.host.sees_all() {
            return Ok(Some(total));
        }
        if total > visit.host.patience() {
            return Ok(None);
        }
        let mut walk = Walk::new(Arc::clone(&walk.format), walk.set.clone(), walk.range, None, 1_000);
        let mut seen = 0;
        while walk.next(visit, false)?.is_some() {
            seen += 1;
        }
        Ok(Some(seen))
    }
}

/// Reads a selection in order, and skips the items that the requester does not see.
struct Walk {
    format: Arc<dyn Format>,
    set: Option<SetSpec>,
    range: Range,
    /// The key of the last item read.
    after: Option<(Datestamp, i64)>,
    /// The key of the item before it: the start of a list that must begin with the last item read.
    before: Option<(Datestamp, i64)>,
    chunk: usize,
    fetched: VecDeque<Item>,
    exhausted: bool,
}

impl Walk {
    fn new(
        format: Arc<dyn Format>,
        set: Option<SetSpec>,
        range: Range,
        after: Option<(Datestamp, i64)>,
        chunk: usize,
    ) -> Self {
        let exhausted = range.first > range.last;
        Self { format, set, range, after, before: after, chunk, fetched: VecDeque::new(), exhausted }
    }

    fn selection(&self) -> Selected<'_> {
        Selected { format: self.format.list(), set: self.set.as_ref(), range: self.range }
    }

    /// Returns the next item, with all that its record needs or with its header only.
    fn next(&mut self, visit: &Visit<'_>, whole: bool) -> Result<Option<Prepared>, Failure> {
        loop {
            let Some(item) = self.fetched.pop_front() else {
                if self.exhausted {
                    return Ok(None);
                }
                self.fetch(visit, if whole { self.format.detail() } else { Detail::Header })?;
                continue;
            };
            self.before = self.after;
            self.after = Some((item.datestamp, item.number));
            if let Some(prepared) = prepare(visit, item, whole.then_some(&*self.format))? {
                return Ok(Some(prepared));
            }
        }
    }

    fn fetch(&mut self, visit: &Visit<'_>, detail: Detail) -> Result<(), Failure> {
        let query = PageQuery { selection: self.selection(), after: self.after, limit: self.chunk, detail };
        let items = visit.repository.catalogue.page(&query)?;
        self.exhausted = items.len() < self.chunk;
        self.fetched.extend(items);
        Ok(())
    }

    /// Returns a token for the list that begins with the last item read.
    fn token(self, visit: &Visit<'_>, verb: ListVerb, cursor: u64, size: Option<u64>) -> String {
        let Self { format, set, range, before, .. } = self;
        let prefix = format.metadata_prefix();
        let after = before.unwrap_or((Datestamp::MIN, i64::MIN));
        let epoch = visit.standing.epoch;
        Token::List(ListToken { verb, prefix, set, range, after, cursor, size, epoch }).seal(&visit.token_key())
    }
}
