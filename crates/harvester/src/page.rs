//! One page of a list: read as it arrives, passed to the sink, and committed with the token of the next.
//!
//! This is the part that runs on a blocking thread. A page takes effect only as a whole: if it turns out to be an
//! error, truncated or ill-formed, items, sink and token are rolled back.

mod report;

use modoai_protocol::xml::reader::{Event, PartKind, Reader};
use modoai_protocol::{Datestamp, ErrorCode, Verb};
use xxhash_rust::xxh3::Xxh3;

use crate::desk::Desk;
use crate::ending::Step;
use crate::gauge::Gauge;
use crate::limits::size;
use crate::mend::Mender;
use crate::quirks;
use crate::record::{Header, Novelty};
use crate::sink::{Kept, Origin, Part, SinkError};
use crate::state::{Listed, Sight};
use crate::window::{Granularity, read_date};
pub use report::{Differences, Order, PageError, PageReport, Purpose};

/// The number of protocol errors of a response that are stored.
const MOST_ERRORS: usize = 16;

/// The reason why two items that were mixed up are missing.
const MIXED: &str = "it was mixed with another item";

/// Reads a page piece by piece.
pub struct PageReader<'a> {
    desk: &'a mut Desk,
    order: &'a Order,
    origin: Origin,
    reader: Reader,
    mender: Option<Mender>,
    report: PageReport,
    record: Option<Open>,
    /// The hash of the received content of the record. It is large, so all records share one.
    hash: Box<Xxh3>,
    failed: Option<PageError>,
    begun: bool,
    /// True if any item is noted as missing: then each received record may be one of them.
    misses: bool,
    /// Records that contain the requested set in their header, and records that do not.
    labelled: u64,
    unlabelled: u64,
    tally: Tally,
}

/// The record that is being received.
#[derive(Default)]
struct Open {
    header: Option<Header>,
    /// The number of its metadata elements.
    parts: u32,
    /// Skipped because it is of another set, or because it has no header or no identifier.
    skipped: bool,
    /// It contains the header of another item, so the owner of each part is unknown.
    mixed: bool,
    /// Bytes of it that were counted as stored.
    size: u64,
    /// True if it is larger than a record may be, so that the sink has abandoned it.
    too_large: bool,
}

#[derive(Default)]
struct Tally {
    records: u64,
    deleted: u64,
    unchanged: u64,
    elsewhere: u64,
    received: u64,
}

impl Tally {
    /// Moves items that the sink left to another source from the kept ones to `elsewhere`.
    fn note_elsewhere(&mut self, desk: &mut Desk) -> Result<(), PageError> {
        for identifier in desk.sink.elsewhere() {
            let counted = if desk.state.leave(&identifier)? { &mut self.deleted } else { &mut self.records };
            *counted = counted.saturating_sub(1);
            self.elsewhere += 1;
        }
        Ok(())
    }
}

/// Returns the approximate size of a header in the state and in the sink.
fn header_size(header: &Header) -> u64 {
    const ROW: usize = 64;
    (header.identifier.len() + header.datestamp.len() + header.sets.iter().map(String::len).sum::<usize>() + ROW) as u64
}

impl<'a> PageReader<'a> {
    /// Begins a page.
    pub fn new(desk: &'a mut Desk, order: &'a Order, mender: Option<Mender>) -> Result<Self, PageError> {
        desk.budget.check_free().map_err(SinkError::from)?;
        desk.state.begin()?;
        let misses = desk.state.misses_any()?;
        let is_lenient = mender.as_ref().is_some_and(Mender::reads_any_namespace);
        Ok(Self {
            origin: order.origin.clone(),
            desk,
            order,
            reader: if is_lenient { Reader::default().lenient() } else { Reader::default() },
            mender,
            report: PageReport::default(),
            record: None,
            hash: Box::default(),
            failed: None,
            begun: false,
            misses,
            labelled: 0,
            unlabelled: 0,
            tally: Tally::default(),
        })
    }

    /// Reads more of the page.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), PageError> {
        let Some(mut mender) = self.mender.take() else { return self.read(bytes) };
        let mut result = Ok(());
        mender.push(bytes, &mut |mended| {
            if result.is_ok() {
                result = self.read(mended);
            }
        });
        self.mender = Some(mender);
        result
    }

    fn read(&mut self, bytes: &[u8]) -> Result<(), PageError> {
        let mut reader = std::mem::take(&mut self.reader);
        let result = reader.push(bytes, &mut |event| self.take(event));
        self.reader = reader;
        result?;
        self.failed.take().map_or(Ok(()), Err)
    }

    /// The connection ended before the body was as long as announced.
    pub fn breaks_off(&mut self) {
        self.report.repairs.note(quirks::LENGTH_WRONG, self.order.verb.as_str());
    }

    /// Ends the page. A valid response is committed; an error response is rolled back.
    pub fn finish(mut self) -> Result<PageReport, PageError> {
        if let Some(mut mender) = self.mender.take() {
            let mut result = Ok(());
            mender.finish(&mut |mended| {
                if result.is_ok() {
                    result = self.read(mended);
                }
            });
            for (quirk, count) in mender.repairs() {
                self.report.repairs.add(quirk, count, "");
                self.report.mended = true;
            }
            result?;
        }
        if let Some(found) = self.reader.misspelt_namespace() {
            self.report.repairs.note(quirks::NAMESPACE, &format!("'{found}'"));
            self.report.mended = true;
        }
        std::mem::take(&mut self.reader).finish()?;
        // Records count, even if an error accompanies them.
        if self.report.records > 0 {
            self.report.errors.retain(|(code, _)| code != ErrorCode::NoRecordsMatch.as_str());
        }
        if !self.report.errors.is_empty() {
            self.desk.roll_back()?;
            return Ok(self.report);
        }
        let expected = self.order.verb;
        let lists = [Verb::ListRecords, Verb::ListIdentifiers];
        let fits = |verb| verb == expected || lists.contains(&expected) && lists.contains(&verb);
        match self.report.verb {
            Some(verb) if fits(verb) => self.commit(),
            found => Err(PageError::Nothing { expected, found: found.map_or("nothing", Verb::as_str) }),
        }
    }

    /// Returns the number of bytes held in memory, to test that it is bounded. The sink and the state are not included.
    pub fn held(&self) -> usize {
        let report = &self.report;
        let errors: usize = report.errors.iter().map(|(code, message)| code.len() + message.len()).sum();
        let header = self.record.as_ref().and_then(|record| record.header.as_ref());
        let header = header.map_or(0, |header| {
            header.identifier.len() + header.datestamp.len() + header.sets.iter().map(String::len).sum::<usize>()
        });
        let mender = self.mender.as_ref().map_or(0, Mender::held);
        self.reader.held() + mender + errors + report.token.as_ref().map_or(0, String::len) + header
    }

    fn commit(mut self) -> Result<PageReport, PageError> {
        let window = &self.order.window;
        let mut progress = window.progress.clone();
        let step = progress.take(&self.report, window.token.as_deref());
        if progress.pages == 1 {
            progress.labelled = self.labelled > 0 && self.unlabelled == 0;
        }
        let desk = self.desk;
        if self.order.purpose.makes_progress() {
            let token = if let Step::GoOn(token) = &step { Some(token.as_str()) } else { window.token.as_deref() };
            desk.state.set_token(window.number, token, &progress)?;
            if let Some(list) = self.order.list {
                // If the clock of the server is ahead, its date would make the next harvest miss the changes until
                // then.
                let date = self.report.response_date.unwrap_or(self.order.asked).min(self.order.asked);
                desk.state.began(list, date)?;
            }
        }
        if self.begun {
            let mark = desk.sink.commit()?;
            desk.state.set_mark(&mark)?;
            desk.unsynced = true;
            self.tally.note_elsewhere(desk)?;
        }
        desk.state.commit()?;
        let Tally { records, deleted, unchanged, elsewhere, .. } = self.tally;
        self.report.kept = records + deleted + unchanged + elsewhere;
        let gauge = &desk.gauge;
        Gauge::add(&gauge.records, self.tally.records);
        Gauge::add(&gauge.deleted, self.tally.deleted);
        Gauge::add(&gauge.unchanged, self.tally.unchanged);
        Gauge::add(&gauge.elsewhere, self.tally.elsewhere);
        Gauge::add(&gauge.received, self.tally.received);
        self.report.step = Some(step);
        self.report.progress = progress;
        Ok(self.report)
    }

    /// Processes an event. The first failure is kept, and everything after it is ignored.
    fn take(&mut self, event: Event<'_>) {
        if self.failed.is_none() {
            self.failed = self.try_take(event).err();
        }
    }

    fn try_take(&mut self, event: Event<'_>) -> Result<(), PageError> {
        match event {
            Event::ResponseDate(text) => {
                self.report.response_date = read_date(text);
                self.origin.harvested = self.report.response_date.unwrap_or(self.order.asked);
            }
            Event::Error { code, message } if self.report.errors.len() < MOST_ERRORS => {
                self.report.errors.push((code.trim().to_owned(), message.trim().to_owned()));
            }
            Event::Verb(verb) => self.report.verb = Some(verb),
            Event::RecordStart => self.begin_record(),
            Event::Header { identifier, datestamp, sets, deleted } => {
                let header = Header {
                    identifier: self.plain(identifier),
                    datestamp: self.plain(datestamp),
                    sets: sets.iter().map(|set| self.plain(set)).collect(),
                    deleted,
                };
                self.look_at(&header);
                match self.record.is_some() {
                    true => self.header(header)?,
                    false => self.lone_header(header)?,
                }
            }
            Event::PartStart { kind, namespaces } => self.part(kind, namespaces)?,
            Event::PartBytes(bytes) if self.is_wanted() => self.part_bytes(bytes)?,
            Event::PartEnd if self.is_wanted() => {
                self.desk.sink.part_end()?;
            }
            Event::RecordEnd => self.record_end()?,
            Event::Token { value, cursor, size, .. } => {
                self.report.token = Some(value.trim().to_owned());
                self.report.cursor = cursor.and_then(|text| text.trim().parse().ok());
                self.report.size = size.and_then(|text| text.trim().parse().ok());
            }
            // Records in it were skipped, and their identifiers are unknown.
            Event::Stray(name @ ("record" | "header" | "ListRecords" | "ListIdentifiers" | "GetRecord")) => {
                self.miss_nameless(&format!("unexpected element {name}"))?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns true if a record is being received whose parts are passed to the sink.
    fn is_wanted(&self) -> bool {
        self.record.as_ref().is_some_and(|record| !record.skipped && !record.too_large)
    }

    fn part_bytes(&mut self, bytes: &[u8]) -> Result<(), PageError> {
        let (budget, length) = (&self.desk.budget, bytes.len() as u64);
        let Some(record) = &mut self.record else { return Ok(()) };
        if record.size + length > budget.limits().size {
            record.too_large = true;
            budget.give_back(record.size);
            return Ok(self.desk.sink.abandon()?);
        }
        budget.take(length).map_err(SinkError::from)?;
        record.size += length;
        self.hash.update(bytes);
        Ok(self.desk.sink.bytes(bytes)?)
    }

    fn begin_record(&mut self) {
        self.hash.reset();
        self.record = Some(Open::default());
    }

    /// Returns a value without surrounding whitespace and without control characters. Whitespace is what XML means by
    /// it, where lines may be broken: two identifiers may differ only in other kinds.
    fn plain(&mut self, text: &str) -> String {
        let white = |character: char| matches!(character, ' ' | '\t' | '\r' | '\n');
        let illegal = |character: char| matches!(character, '\0'..'\u{20}' | '\u{fffe}' | '\u{ffff}');
        let text = text.trim_matches(white);
        if !text.contains(illegal) {
            return text.to_owned();
        }
        let text = text.split(white).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
        if !text.contains(illegal) {
            return text;
        }
        let plain = text.replace(illegal, "\u{fffd}");
        self.report.repairs.note(quirks::CONTROL_CHARACTERS, &plain);
        plain
    }

    /// Counts the properties of a header that show how the server behaves: sets, datestamps and granularity.
    fn look_at(&mut self, header: &Header) {
        let (named, unnamed) = &mut self.report.in_sets;
        *(if header.sets.is_empty() { unnamed } else { named }) += 1;
        if let Some(date) = read_date(&header.datestamp).map(Datestamp::unix) {
            let (oldest, newest) = self.report.span.unwrap_or((date, date));
            self.report.span = Some((oldest.min(date), newest.max(date)));
        }
        let is_day = header.datestamp.len() == "YYYY-MM-DD".len();
        let unlike = |promised| is_day != (promised == Granularity::Day);
        if !header.datestamp.is_empty() && self.order.granularity.is_some_and(unlike) {
            self.report.repairs.note(quirks::GRANULARITY_MIXED, &header.datestamp);
        }
    }

    /// Returns true if a set was requested and the record is of another one. The first page shows if a server lists
    /// sets in headers at all.
    fn is_foreign(&mut self, header: &Header) -> bool {
        let set = self.order.window.set.as_str();
        if set.is_empty() || self.order.purpose == Purpose::One {
            return false;
        }
        let belongs = |spec: &String| spec == set || spec.strip_prefix(set).is_some_and(|rest| rest.starts_with(':'));
        let belongs = header.sets.iter().any(belongs);
        *(if belongs { &mut self.labelled } else { &mut self.unlabelled }) += 1;
        let foreign = !belongs && self.order.window.progress.labelled && !header.sets.is_empty();
        if foreign {
            self.report.repairs.note(quirks::SET_FORGOTTEN, &header.identifier);
        }
        foreign
    }

    /// Handles the header of a record that is being received.
    fn header(&mut self, header: Header) -> Result<(), PageError> {
        if let Some(first) = self.record.as_ref().and_then(|record| record.header.as_ref()) {
            let is_other = first.identifier != header.identifier;
            return if is_other { self.stray_header(&header) } else { Ok(()) };
        }
        let foreign = self.is_foreign(&header);
        let Some(record) = &mut self.record else { return Ok(()) };
        record.skipped = foreign;
        if header.identifier.is_empty() {
            record.skipped = true;
            self.report.repairs.note(quirks::HEADER_INCOMPLETE, "a header without identifier");
        } else if header.datestamp.is_empty() {
            self.report.repairs.note(quirks::HEADER_INCOMPLETE, &header.identifier);
        }
        if !record.skipped {
            if !std::mem::replace(&mut self.begun, true) {
                self.desk.sink.page(&self.origin)?;
            }
            for text in [&header.identifier, &header.datestamp].into_iter().chain(&header.sets) {
                self.hash.update(text.as_bytes());
                self.hash.update(&[0, u8::from(header.deleted)]);
            }
            record.size = header_size(&header);
            self.desk.budget.take(record.size).map_err(SinkError::from)?;
            self.desk.sink.record(&header)?;
        }
        record.header = Some(header);
        Ok(())
    }

    /// Handles the header of another item inside a record. Both items are fetched again by identifier.
    fn stray_header(&mut self, header: &Header) -> Result<(), PageError> {
        if let Some(record) = &mut self.record {
            record.mixed = true;
        }
        self.report.repairs.note(quirks::HEADER_INCOMPLETE, "a record with the headers of two items");
        if header.identifier.is_empty() {
            return self.miss_nameless("received a header without an identifier");
        }
        if self.is_foreign(header) {
            return Ok(());
        }
        self.misses = true;
        self.desk.state.miss(&header.identifier, MIXED, self.order.window.number)?;
        Ok(())
    }

    fn part(&mut self, kind: PartKind, namespaces: &[(&str, &str)]) -> Result<(), PageError> {
        let Some(record) = &mut self.record else { return Ok(()) };
        let part = match kind {
            PartKind::Metadata => Part::Metadata,
            PartKind::About => Part::About,
            PartKind::Description | PartKind::SetDescription => return Ok(()),
        };
        // Parts without a header belong to no item; of two metadata elements, which the schema forbids, both are kept.
        record.skipped |= record.header.is_none();
        if record.skipped || record.too_large {
            return Ok(());
        }
        record.parts += u32::from(part == Part::Metadata);
        self.hash.update(&[1, part as u8]);
        for (prefix, uri) in namespaces {
            self.hash.update(prefix.as_bytes());
            self.hash.update(uri.as_bytes());
        }
        Ok(self.desk.sink.part(part, namespaces)?)
    }

    fn record_end(&mut self) -> Result<(), PageError> {
        let Some(record) = self.record.take() else { return Ok(()) };
        let Some(header) = record.header else {
            let reason = "received a record without a header";
            self.report.repairs.note(quirks::HEADER_INCOMPLETE, reason);
            return self.miss_nameless(reason);
        };
        if record.skipped {
            if header.identifier.is_empty() {
                self.miss_nameless("received a record without an identifier")?;
            }
            return Ok(());
        }
        self.report.records += 1;
        self.tally.received += 1;
        let identifier = &header.identifier;
        if record.too_large {
            let most = size(self.desk.budget.limits().size);
            return self.miss(identifier, &format!("the record is larger than {most} (--max-size)")).map(drop);
        }
        let bare = record.parts == 0 && !header.deleted && self.order.purpose != Purpose::Headers;
        if record.mixed || bare {
            self.desk.sink.abandon()?;
            let reason = if record.mixed { MIXED } else { "it has no metadata" };
            if !record.mixed {
                self.report.repairs.note(quirks::METADATA_MISSING, identifier);
            }
            return self.miss(identifier, reason).map(drop);
        }
        let sight = Sight {
            identifier,
            hash: self.hash.digest(),
            stamp: read_date(&header.datestamp).map(Datestamp::unix),
            gone: header.deleted,
            window: self.order.window.number,
        };
        let seen = self.desk.state.note(&sight, self.order.pass)?;
        self.report.fresh += u64::from(seen.fresh);
        self.report.news += u64::from(seen.news);
        if self.order.purpose == Purpose::Again && (seen.news || seen.novelty == Novelty::Changed) {
            let was_there = self.was_there(&header.datestamp);
            self.report.found.add(Differences {
                unknown: u64::from(seen.news),
                recent: u64::from(seen.news && !was_there),
                moved: u64::from(seen.novelty == Novelty::Changed),
                lost: u64::from(was_there && seen.novelty == Novelty::New),
            });
        }
        // A record that changed during the list may be listed again in its new version.
        if !seen.fresh && seen.novelty == Novelty::Same {
            self.report.repairs.note(quirks::DUPLICATES, identifier);
        }
        match self.desk.sink.end(seen.novelty)? {
            Kept::Yes => {
                if self.misses {
                    self.desk.state.found(identifier)?;
                }
                if seen.novelty == Novelty::Same {
                    self.desk.budget.give_back(record.size);
                }
                match (seen.novelty, header.deleted) {
                    (Novelty::Same, _) if seen.elsewhere => self.tally.elsewhere += 1,
                    (Novelty::Same, _) => self.tally.unchanged += 1,
                    (_, true) => self.tally.deleted += 1,
                    (_, false) => self.tally.records += 1,
                }
                self.tally.note_elsewhere(self.desk)?;
            }
            Kept::No(reason) => {
                self.desk.budget.give_back(record.size);
                self.desk.state.forget(identifier)?;
                // The record counts once, as missing and not as received.
                self.report.fresh -= u64::from(seen.fresh);
                self.report.news -= u64::from(seen.news);
                self.miss(identifier, &reason)?;
            }
        }
        Ok(())
    }

    /// Notes a record of the page as missing. A list that continues with the same one contains nothing new. Returns
    /// true if it was not missing before.
    fn miss(&mut self, identifier: &str, reason: &str) -> Result<bool, PageError> {
        self.misses = true;
        let seen = self.desk.state.miss(identifier, reason, self.order.window.number)?;
        self.report.fresh += u64::from(seen != Some(self.order.window.number));
        self.report.news += u64::from(seen.is_none_or(|seen| seen < self.order.pass));
        Ok(seen.is_none())
    }

    /// Returns true if an item with this datestamp was there when the list that this page is compared with began.
    fn was_there(&self, datestamp: &str) -> bool {
        let unit = if datestamp.len() == "YYYY-MM-DD".len() { Granularity::Day } else { Granularity::Seconds }.unit();
        let stamp = read_date(datestamp).map(Datestamp::unix);
        stamp.zip(self.order.window.progress.began).is_none_or(|(stamp, began)| stamp + unit <= began)
    }

    /// Handles a header outside of a record: in a list of headers, or instead of a record that was requested.
    fn lone_header(&mut self, header: Header) -> Result<(), PageError> {
        if self.order.purpose == Purpose::Headers {
            self.begin_record();
            self.header(header)?;
            return self.record_end();
        }
        if header.identifier.is_empty() {
            return self.miss_nameless("received a header without an identifier");
        }
        if self.is_foreign(&header) {
            return Ok(());
        }
        self.report.records += 1;
        let state = &mut self.desk.state;
        let stamp = read_date(&header.datestamp).map(Datestamp::unix);
        match state.mark_listed(&header.identifier, header.deleted, stamp, self.order.window.number)? {
            Listed::Stored(fresh) => self.report.fresh += u64::from(fresh),
            listed => {
                let reason =
                    if header.deleted { "its deletion was not reported" } else { "only its header was listed" };
                self.desk.budget.take(header_size(&header)).map_err(SinkError::from)?;
                let is_news = self.miss(&header.identifier, reason)?;
                let was_there = self.was_there(&header.datestamp);
                self.report.found.add(Differences {
                    unknown: 1,
                    recent: u64::from(!was_there),
                    moved: u64::from(listed == Listed::Changed),
                    lost: u64::from(is_news && was_there),
                });
            }
        }
        if self.order.verb == Verb::ListRecords {
            self.report.repairs.note(quirks::VERB_CHANGED, &header.identifier);
        }
        Ok(())
    }

    /// Notes a record without an identifier as missing, by the page it was on.
    fn miss_nameless(&mut self, reason: &str) -> Result<(), PageError> {
        let window = &self.order.window;
        let page = window.progress.pages + 1;
        let name = format!(
            "(page {page} of {}{})",
            window.window,
            if window.set.is_empty() { String::new() } else { format!(", set {}", window.set) }
        );
        self.misses = true;
        Ok(self.desk.state.miss_nameless(&name, reason)?)
    }
}
