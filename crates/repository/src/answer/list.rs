//! ListIdentifiers and ListRecords: a selection, page by page.
//!
//! The catalogue yields items in order; the host decides which of them this requester sees; a page ends at its limit of
//! records or bytes. One look ahead tells a full page from the last one, so that a token always leads to at least one
//! more record. The list's upper end is frozen when it begins: what changes meanwhile moves beyond it and is left to the
//! next incremental harvest, so a busy site cannot make a list endless, and what does not change is seen exactly once.

use std::collections::VecDeque;

use modoai_protocol::token::ListToken;
use modoai_protocol::xml::XmlWriter;
use modoai_protocol::{Datestamp, ErrorCode, ListVerb, MetadataPrefix, Range, Selection, SetSpec, Token, Verb};

use super::record::{self, Prepared, no_such_format, prepare};
use super::{Body, Resumption, write_resumption};
use crate::catalogue::{Detail, PageQuery};
use crate::error::Failure;
use crate::formats::{Desk, Format};
use crate::item::Item;
use crate::repository::{Decision, Visit, refuse};

/// Items fetched at once for formats that open every file: a page of them is ended by its bytes, not by its count.
const CHUNK_OF_FILES: usize = 64;

/// A list with at least one more item.
pub(crate) struct Listed<'a> {
    verb: ListVerb,
    format: &'a dyn Format,
    walk: Walk,
    first: Prepared,
    /// Items on earlier pages.
    cursor: u64,
    size: Size,
}

/// How many items the whole list has, if that can be told.
enum Size {
    /// Of a list that goes on: as its first page told it.
    Told(Option<u64>),
    /// To be found out once it is clear that the list has several pages.
    Asked { set: Option<SetSpec>, range: Range },
}

/// Decides the first page of a list.
pub(crate) fn begin<'a>(visit: &Visit<'a>, verb: ListVerb, selection: &Selection) -> Decision<Body<'a>> {
    let Some(format) = visit.format(selection.prefix.as_str()) else {
        return Ok(Err(vec![no_such_format(&selection.prefix)]));
    };
    let mut range = selection.range();
    range.last = range.last.min(visit.standing.newest.unwrap_or(Datestamp::MIN));
    let mut walk = Walk::new(selection.set.clone(), range, None, chunk(visit, verb, format));
    let size = Size::Asked { set: selection.set.clone(), range };
    match walk.next(visit, described(verb, format))? {
        Some(first) => Ok(Ok(Body::List(Listed { verb, format, walk, first, cursor: 0, size }))),
        None => refuse(ErrorCode::NoRecordsMatch, "no records match this selection"),
    }
}

/// Decides a later page.
pub(crate) fn resume<'a>(visit: &Visit<'a>, verb: ListVerb, text: &str) -> Decision<Body<'a>> {
    let bad = |why: &str| refuse(ErrorCode::BadResumptionToken, why);
    let token = match Token::open(text, &visit.token_key()) {
        Some(Token::List(token)) if token.verb == verb => token,
        Some(_) => return bad("this resumption token belongs to a list of another kind"),
        None => return bad("this resumption token was not issued here, or was damaged on the way"),
    };
    let format = visit.format(token.prefix.as_str()).filter(|_| token.epoch == visit.standing.epoch);
    let Some(format) = format else {
        return bad("this resumption token is from before the repository was rebuilt; begin the list again");
    };
    let ListToken { set, range, after, cursor, size, .. } = token;
    let mut walk = Walk::new(set, range, Some(after), chunk(visit, verb, format));
    let size = Size::Told(size);
    match walk.next(visit, described(verb, format))? {
        Some(first) => Ok(Ok(Body::List(Listed { verb, format, walk, first, cursor, size }))),
        // All that was left has changed meanwhile and will come with the next incremental harvest, but a list element
        // may not be empty.
        None => bad("nothing is left of this list; harvest again from its responseDate"),
    }
}

/// Writes the list element.
pub(crate) fn write(visit: &Visit<'_>, listed: Listed<'_>, xml: &mut XmlWriter<'_>) -> Result<(), Failure> {
    let Listed { verb, format, mut walk, first, cursor, size } = listed;
    let settings = &visit.repository.settings;
    let (element, most) = match verb {
        ListVerb::Identifiers => (Verb::ListIdentifiers, settings.identifiers_per_page),
        ListVerb::Records => (Verb::ListRecords, settings.records_per_page),
    };
    let start = xml.position();
    let mut desk = Desk::default();
    let mut sent = 0;
    let mut next = first;
    xml.raw("<").raw(element.as_str()).raw(">\n");
    let (token, size) = loop {
        match verb {
            ListVerb::Identifiers => {
                record::write_header(visit, &next.item, xml);
                xml.raw("\n").relieve()?;
            }
            ListVerb::Records => record::write(visit, next, format, &mut desk, xml)?,
        }
        sent += 1;
        let full = sent >= most || xml.position() - start >= settings.page_bytes;
        match walk.next(visit, described(verb, format))? {
            // Here at the latest it is known.
            None => break (None, Some(cursor + sent as u64)),
            Some(_) if full => {
                let size = size.find_out(visit)?;
                let cursor = cursor + sent as u64;
                break (Some(walk.token(visit, verb, format.metadata_prefix(), cursor, size)), size);
            }
            Some(prepared) => next = prepared,
        }
    };
    write_resumption(&Resumption { token, cursor, size }, xml);
    xml.raw("</").raw(element.as_str()).raw(">\n");
    visit.remember(&desk.learned);
    Ok(())
}

/// The format items are to be prepared for: none where only headers are told.
fn described(verb: ListVerb, format: &dyn Format) -> Option<&dyn Format> {
    (verb == ListVerb::Records).then_some(format)
}

fn chunk(visit: &Visit<'_>, verb: ListVerb, format: &dyn Format) -> usize {
    let settings = &visit.repository.settings;
    match verb {
        // One more than a page, so that looking ahead takes no second query.
        ListVerb::Identifiers => settings.identifiers_per_page + 1,
        ListVerb::Records if format.opens_files() => CHUNK_OF_FILES.min(settings.records_per_page + 1),
        ListVerb::Records => settings.records_per_page + 1,
    }
}

impl Size {
    /// How many items of the selection this requester sees. Left out where finding out would be slow; and it must never
    /// tell how much is hidden.
    fn find_out(self, visit: &Visit<'_>) -> Result<Option<u64>, Failure> {
        let (set, range) = match self {
            Self::Told(size) => return Ok(size),
            Self::Asked { set, range } => (set, range),
        };
        let total = visit.repository.catalogue.count(set.as_ref(), range)?;
        if visit.host.sees_all() {
            return Ok(Some(total));
        }
        if total > visit.host.patience() {
            return Ok(None);
        }
        let mut walk = Walk::new(set, range, None, 1_000);
        let mut seen = 0;
        while walk.next(visit, None)?.is_some() {
            seen += 1;
        }
        Ok(Some(seen))
    }
}

/// Goes through a selection in order, past what the requester does not see.
struct Walk {
    set: Option<SetSpec>,
    range: Range,
    /// Key of the last item looked at.
    after: Option<(Datestamp, i64)>,
    /// Key of the one before it: where a list goes on that must begin with the last.
    before: Option<(Datestamp, i64)>,
    chunk: usize,
    fetched: VecDeque<Item>,
    exhausted: bool,
}

impl Walk {
    fn new(set: Option<SetSpec>, range: Range, after: Option<(Datestamp, i64)>, chunk: usize) -> Self {
        let exhausted = range.first > range.last;
        Self { set, range, after, before: after, chunk, fetched: VecDeque::new(), exhausted }
    }

    fn next(&mut self, visit: &Visit<'_>, format: Option<&dyn Format>) -> Result<Option<Prepared>, Failure> {
        loop {
            let Some(item) = self.fetched.pop_front() else {
                if self.exhausted {
                    return Ok(None);
                }
                self.fetch(visit, format.map_or(Detail::Header, Format::detail))?;
                continue;
            };
            self.before = self.after;
            self.after = Some((item.datestamp, item.number));
            if let Some(prepared) = prepare(visit, item, format)? {
                return Ok(Some(prepared));
            }
        }
    }

    fn fetch(&mut self, visit: &Visit<'_>, detail: Detail) -> Result<(), Failure> {
        let (set, range, after, limit) = (self.set.as_ref(), self.range, self.after, self.chunk);
        let query = PageQuery { set, range, after, limit, detail };
        let items = visit.repository.catalogue.page(&query)?;
        self.exhausted = items.len() < self.chunk;
        self.fetched.extend(items);
        Ok(())
    }

    /// A token for the list that begins with the last item looked at.
    fn token(
        self,
        visit: &Visit<'_>,
        verb: ListVerb,
        prefix: MetadataPrefix,
        cursor: u64,
        size: Option<u64>,
    ) -> String {
        let Self { set, range, before, .. } = self;
        let after = before.unwrap_or((Datestamp::MIN, i64::MIN));
        let epoch = visit.standing.epoch;
        Token::List(ListToken { verb, prefix, set, range, after, cursor, size, epoch }).seal(&visit.token_key())
    }
}
