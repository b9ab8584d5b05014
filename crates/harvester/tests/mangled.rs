//! Pages that something has been at: whatever bytes come, a page becomes true as a whole or not at all.
//!
//! Good pages are mutated by dice that always fall the same way, cut into pieces, and read at a desk whose sink minds the
//! order of its calls. What is committed must be what was told; of what is refused nothing may be left.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use modoai_harvester::desk::Desk;
use modoai_harvester::gauge::Gauge;
use modoai_harvester::mend::{Mender, Remedies};
use modoai_harvester::page::{Order, PageReader, PageReport, Purpose};
use modoai_harvester::record::{Header, Novelty};
use modoai_harvester::sink::{Kept, Origin, Part, Sink, SinkError};
use modoai_harvester::state::{OpenWindow, Progress, State};
use modoai_harvester::window::{Granularity, Window};
use modoai_protocol::{Datestamp, Verb};
use modoai_testkit::dice::Dice;
use modoai_testkit::endpoint::{Endpoint, Holdings, Script};
use modoai_testkit::http::Client;
use proptest::prelude::*;

/// Mutations of each good page.
const MUTATIONS: u64 = 500;

/// What a page of a few kilobytes can make the reader hold: what it consists of, a few times over.
const MOST_HELD: usize = 256 * 1024;

/// Where in the order of calls a sink is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Outside,
    Page,
    Record,
    Part,
}

/// The bytes of a record's parts.
type Parts = Vec<(Part, Vec<u8>)>;

/// A record that was handed on whole, and how it compared.
type Told = (Header, Parts, Novelty);

/// What a sink was told.
#[derive(Debug, Default)]
struct Ledger {
    place: Place,
    record: Option<(Header, Parts)>,
    page: Vec<Told>,
    committed: Vec<Told>,
    commits: usize,
}

/// A sink that minds the order of its calls.
#[derive(Clone, Default)]
struct Strict(Arc<Mutex<Ledger>>);

impl Strict {
    fn step(&self, from: &[Place], to: Place, act: impl FnOnce(&mut Ledger)) {
        let mut ledger = self.0.lock().expect("nobody panics");
        assert!(from.contains(&ledger.place), "from {:?} to {to:?}", ledger.place);
        ledger.place = to;
        act(&mut ledger);
    }
}

impl Sink for Strict {
    fn page(&mut self, _: &Origin) -> Result<(), SinkError> {
        self.step(&[Place::Outside], Place::Page, |_| {});
        Ok(())
    }

    fn record(&mut self, header: &Header) -> Result<(), SinkError> {
        self.step(&[Place::Page], Place::Record, |ledger| ledger.record = Some((header.clone(), Vec::new())));
        Ok(())
    }

    fn part(&mut self, part: Part, _: &[(&str, &str)]) -> Result<(), SinkError> {
        self.step(&[Place::Record], Place::Part, |ledger| {
            ledger.record.as_mut().expect("a record").1.push((part, Vec::new()));
        });
        Ok(())
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result<(), SinkError> {
        self.step(&[Place::Part], Place::Part, |ledger| {
            let parts = &mut ledger.record.as_mut().expect("a record").1;
            parts.last_mut().expect("a part").1.extend_from_slice(bytes);
        });
        Ok(())
    }

    fn part_end(&mut self) -> Result<(), SinkError> {
        self.step(&[Place::Part], Place::Record, |_| {});
        Ok(())
    }

    fn end(&mut self, novelty: Novelty) -> Result<Kept, SinkError> {
        self.step(&[Place::Record], Place::Page, |ledger| {
            let (header, parts) = ledger.record.take().expect("a record");
            ledger.page.push((header, parts, novelty));
        });
        Ok(Kept::Yes)
    }

    fn abandon(&mut self) -> Result<(), SinkError> {
        self.step(&[Place::Record], Place::Page, |ledger| ledger.record = None);
        Ok(())
    }

    fn commit(&mut self) -> Result<String, SinkError> {
        self.step(&[Place::Page], Place::Outside, |ledger| {
            let mut page = std::mem::take(&mut ledger.page);
            ledger.committed.append(&mut page);
            ledger.commits += 1;
        });
        Ok("a mark".to_owned())
    }

    fn roll_back(&mut self) -> Result<(), SinkError> {
        let anywhere = [Place::Outside, Place::Page, Place::Record, Place::Part];
        self.step(&anywhere, Place::Outside, |ledger| {
            ledger.page.clear();
            ledger.record = None;
        });
        Ok(())
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        Ok(())
    }
}

/// How a page is read.
#[derive(Clone, Copy, Debug)]
struct Reading {
    verb: Verb,
    purpose: Purpose,
    /// The set that was asked for; empty for all.
    set: &'static str,
    remedies: Remedies,
}

/// What a page came to.
#[derive(Debug, PartialEq)]
struct Outcome {
    report: Result<PageReport, String>,
    told: Vec<Told>,
    /// Items that are here, items that are gone, and what is missing with the reasons.
    counts: (u64, u64),
    missing: Vec<(String, String)>,
    window: Option<OpenWindow>,
}

/// Reads a page at a new desk as a harvest does, and checks that what became of it is all of it or nothing.
fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>, reading: Reading) -> Outcome {
    let sink = Strict::default();
    let mut state = State::in_memory().expect("a state");
    let list = state.list(reading.set, Window::ALL).expect("a list").number;
    let number = state.add_window(list, Window::ALL, reading.set, &Progress::default()).expect("a window");
    let window = OpenWindow::new(number, Window::ALL, reading.set);
    let before = window.clone();
    let gauge = Arc::new(Gauge::default());
    let mut desk = Desk {
        state,
        sink: Box::new(sink.clone()),
        gauge: gauge.clone(),
        budget: std::sync::Arc::default(),
        unsynced: false,
    };
    let origin = Origin {
        base_url: "http://endpoint.example/oai".to_owned(),
        prefix: "oai_dc".to_owned(),
        schema: String::new(),
        namespace: String::new(),
        harvested: Datestamp::from_unix(1_700_000_000),
    };
    let Reading { verb, purpose, remedies, .. } = reading;
    let (granularity, asked) = (Granularity::Seconds, Datestamp::from_unix(1_700_000_000));
    let order =
        Order { verb, origin, granularity: Some(granularity), list: Some(list), pass: number, asked, window, purpose };
    let mender = (!remedies.is_empty()).then(|| Mender::new(remedies, Some("utf-8")));
    let mut page = PageReader::new(&mut desk, &order, mender).expect("a page");
    let pushed = pieces.into_iter().try_for_each(|piece| {
        let pushed = page.push(piece);
        assert!(page.held() <= MOST_HELD, "{} bytes held", page.held());
        pushed
    });
    let report = pushed.and_then(|()| page.finish());
    if report.is_err() {
        desk.roll_back().expect("it can be undone");
    }

    let kept = report.as_ref().is_ok_and(|report| report.errors.is_empty());
    let window = desk.state.windows(list).expect("readable").into_iter().find(|open| open.number == number);
    let missing = desk.state.missing("", 10_000).expect("readable");
    let missing: Vec<_> = missing.into_iter().map(|record| (record.identifier, record.reason)).collect();
    let counts = desk.state.counts().expect("readable");
    let counted = [&gauge.records, &gauge.deleted, &gauge.unchanged, &gauge.received].map(Gauge::read);
    let ledger = std::mem::take(&mut *sink.0.lock().expect("nobody panics"));
    assert_eq!(ledger.place, Place::Outside, "a page was left open");
    assert!(ledger.page.is_empty() && ledger.record.is_none());
    desk.state.begin().expect("no transaction was left open");
    desk.state.roll_back().expect("nothing was done");
    if kept {
        // Of two that are the same the second is told, too, as one that is known already.
        let mut last: BTreeMap<&str, bool> = BTreeMap::new();
        ledger.committed.iter().for_each(|(header, ..)| {
            last.insert(&header.identifier, header.deleted);
        });
        let gone = last.values().filter(|gone| **gone).count() as u64;
        assert_eq!(counts, (last.len() as u64 - gone, gone));
        let [records, deleted, unchanged, received] = counted;
        assert_eq!(records + deleted + unchanged, ledger.committed.len() as u64);
        assert!(received >= ledger.committed.len() as u64);
        let expected = report.as_ref().map(|report| report.progress.clone()).unwrap_or_default();
        let makes_progress = matches!(purpose, Purpose::Keep | Purpose::Headers);
        let progress = window.as_ref().map(|window| window.progress.clone());
        assert_eq!(progress, Some(if makes_progress { expected } else { Progress::default() }));
    } else {
        assert_eq!((ledger.commits, counts, counted, missing.len()), (0, (0, 0), [0; 4], 0), "{report:?}");
        assert_eq!(window.as_ref(), Some(&before));
    }
    let report = report.map_err(|error| error.to_string());
    Outcome { report, told: ledger.committed, counts, missing, window }
}

/// The same as [`read`], whole and in pieces: cutting must not matter.
fn read_anyhow(page: &[u8], cuts: &mut Dice, reading: Reading) -> Outcome {
    let whole = read([page], reading);
    let mut pieces = Vec::new();
    let mut rest = page;
    while !rest.is_empty() {
        let most = *cuts.pick(&[1, 7, 100, 3000]);
        let (piece, after) = rest.split_at(rest.len().min(1 + cuts.below(most) as usize));
        pieces.push(piece);
        rest = after;
    }
    assert_eq!(read(pieces, reading), whole, "{}", String::from_utf8_lossy(page));
    whole
}

/// Good pages, as an endpoint writes them, and how they are read.
fn good_pages() -> Vec<(Vec<u8>, Reading)> {
    let endpoint = Endpoint::start(Script::of(Holdings::of(9)).pages_of(6));
    let mut client = Client::new(endpoint.url());
    let mut get = |query: &str| client.get(&format!("/oai?{query}")).expect("an answer").body;
    let list = "metadataPrefix=oai_dc";
    let reading = |verb, purpose| Reading { verb, purpose, set: "", remedies: Remedies::default() };
    let keep = reading(Verb::ListRecords, Purpose::Keep);
    let records = get(&format!("verb=ListRecords&{list}"));
    let prefixed = String::from_utf8(records.clone()).expect("UTF-8");
    let names = ["OAI-PMH", "ListRecords", "record", "header", "metadata", "about", "identifier", "resumptionToken"];
    let prefixed =
        names.iter().fold(prefixed.replace("xmlns=\"http://www.o", "xmlns:o=\"http://www.o"), |text, name| {
            let ends = text.replace(&format!("</{name}>"), &format!("</o:{name}>"));
            ends.replace(&format!("<{name}>"), &format!("<o:{name}>"))
                .replace(&format!("<{name} "), &format!("<o:{name} "))
        });
    let one = "verb=GetRecord&metadataPrefix=oai_dc&identifier=oai:endpoint.example:0004";
    vec![
        (records, keep),
        (prefixed.into_bytes(), keep),
        (get(&format!("verb=ListRecords&{list}&set=a")), Reading { set: "a", ..keep }),
        (get(&format!("verb=ListIdentifiers&{list}")), reading(Verb::ListIdentifiers, Purpose::Headers)),
        (get(&format!("verb=ListIdentifiers&{list}")), reading(Verb::ListIdentifiers, Purpose::Compare)),
        (get(one), reading(Verb::GetRecord, Purpose::One)),
        (get(&format!("verb=ListRecords&{list}&from=2099-01-01")), keep),
    ]
}

/// What is put where it does not belong.
const MARKUP: [&[u8]; 26] = [
    b"<record>",
    b"</record>",
    b"<header>",
    b"</header>",
    b"<header status=\"deleted\"/>",
    b"<header><identifier>oai:x:1</identifier><datestamp>2020-01-01</datestamp></header>",
    b"<metadata>",
    b"</metadata>",
    b"<metadata><x xmlns=\"urn:x\"/></metadata>",
    b"<about>",
    b"</about>",
    b"<identifier>oai:x:2</identifier>",
    b"<ListRecords>",
    b"</ListRecords>",
    b"<ListIdentifiers/>",
    b"<resumptionToken>next</resumptionToken>",
    b"<error code=\"badVerb\">no</error>",
    b"</OAI-PMH>",
    b"<![CDATA[",
    b"]]>",
    b"<!--",
    b"-->",
    b"<?x ?>",
    b"&nbsp;",
    b"\x00",
    b"\xff\xfe",
];

/// One to four things are done to a page.
fn mangle(page: &mut Vec<u8>, dice: &mut Dice) {
    for _ in 0..=dice.below(4) {
        let length = page.len() as u64;
        if length == 0 {
            return;
        }
        let at = dice.below(length) as usize;
        let most = *dice.pick(&[4, 40, 400]);
        let end = page.len().min(at + 1 + dice.below(most) as usize);
        // Where markup begins: whole elements are moved about more often than bytes would be by chance.
        let tags: Vec<usize> = page.iter().enumerate().filter(|(_, byte)| **byte == b'<').map(|(at, _)| at).collect();
        let tag = if tags.is_empty() { at } else { *dice.pick(&tags) };
        match dice.below(8) {
            0 => page[at] ^= 1 << dice.below(8),
            1 => drop(page.drain(at..end)),
            2 => {
                let copy = page[at..end].to_vec();
                page.splice(end..end, copy);
            }
            3 => page.truncate(at),
            4 => drop(page.splice(at..at, dice.pick(&MARKUP).iter().copied())),
            5 => drop(page.splice(tag..tag, dice.pick(&MARKUP).iter().copied())),
            6 => {
                // From one tag to another, once more, somewhere else.
                let other = if tags.is_empty() { end } else { *dice.pick(&tags) };
                let copy = page[tag.min(other)..tag.max(other)].to_vec();
                let to = if tags.is_empty() { at } else { *dice.pick(&tags) };
                page.splice(to..to, copy);
            }
            _ => {
                let end = page[tag..].iter().position(|byte| *byte == b'>').map_or(page.len(), |to| tag + to + 1);
                page.drain(tag..end);
            }
        }
        page.truncate(64 * 1024);
    }
}

#[test]
fn mangled_pages_become_true_as_a_whole_or_not_at_all() {
    let mut dice = Dice::new(2005);
    let mut kept = 0;
    for (good, reading) in good_pages() {
        let outcome = read_anyhow(&good, &mut dice, reading);
        assert!(outcome.report.is_ok(), "{outcome:?}");
        for _ in 0..MUTATIONS {
            let mut page = good.clone();
            mangle(&mut page, &mut dice);
            let remedies = *dice.pick(&[Remedies::default(), Remedies::default(), Remedies::ALL]);
            let outcome = read_anyhow(&page, &mut dice, Reading { remedies, ..reading });
            kept += u64::from(outcome.report.is_ok());
        }
    }
    // If everything were refused, or nothing, the dice would be loaded.
    let all = MUTATIONS * good_pages().len() as u64;
    assert!(kept > all / 20 && kept < all, "{kept} of {all} were kept");
}

/// What a change of the first page of records comes to: how many records are kept, how many items are noted as missing; none
/// if the page is refused.
#[test]
fn known_accidents() {
    let (good, keep) = good_pages().swap_remove(0);
    let good = String::from_utf8(good).expect("UTF-8");
    let header = "<header>\n<identifier>oai:endpoint.example:0001</identifier>";
    let first = good.find("<record>").expect("there is one");
    let second = first + 1 + good[first + 1..].find("<record>").expect("there are two");
    let record = good[first..second].to_owned();
    let only_header = record[record.find("<header>").expect("one")..record.find("<metadata>").expect("one")].to_owned();
    let metadata = record[record.find("<metadata>").expect("one")..record.find("<about>").expect("one")].to_owned();
    let row = |from: &str, to: &str| good.replacen(from, to, 1);
    for (what, page, expected) in [
        ("nothing", good.clone(), Some((6, 0))),
        ("a record twice", row(&record, &record.repeat(2)), Some((7, 0))),
        ("the header of a record twice", row("<metadata>", &format!("{only_header}<metadata>")), Some((6, 0))),
        (
            "the header of another item in a record",
            row("</metadata>\n", &format!("</metadata>\n{}", only_header.replace("0000", "0042"))),
            Some((5, 2)),
        ),
        (
            "a header after the metadata",
            row(&only_header, "").replacen("</metadata>\n", &format!("</metadata>\n{only_header}"), 1),
            Some((5, 1)),
        ),
        ("no header", row(&only_header, ""), Some((5, 1))),
        ("no identifier", row("<identifier>oai:endpoint.example:0000</identifier>", ""), Some((5, 1))),
        ("no metadata", row(&metadata, ""), Some((5, 1))),
        (
            "a header in place of a record",
            row("<record>", &format!("{}<record>", only_header.replace("0000", "0042"))),
            Some((6, 1)),
        ),
        ("a record within a record", row("</record>", &format!("{record}</record>")), Some((6, 1))),
        (
            "a second list",
            row("</ListRecords>", &format!("</ListRecords><ListRecords>{record}</ListRecords>")),
            Some((7, 0)),
        ),
        ("an error behind the records", row("</OAI-PMH>", "<error code=\"badVerb\"/></OAI-PMH>"), Some((0, 0))),
        ("another document behind it", format!("{good}<x/>"), None),
        ("an end tag that is missing", row("</header>", ""), None),
        ("a control character in an identifier", row(header, &header.replace("oai:", "\u{1}oai:")), Some((6, 0))),
        ("half of it", good[..good.len() / 2].to_owned(), None),
        ("nothing at all", String::new(), None),
    ] {
        let outcome = read_anyhow(page.as_bytes(), &mut Dice::new(1), keep);
        let found = outcome.report.as_ref().ok().map(|_| (outcome.told.len(), outcome.missing.len()));
        assert_eq!(found, expected, "{what}: {:?}, missing {:?}", outcome.report, outcome.missing);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Markup in any order, inside an answer.
    #[test]
    fn any_order_of_markup_is_survived(
        words in prop::collection::vec(prop::sample::select(&MARKUP[..17]), 0..40),
        seed in any::<u64>(),
        mends in any::<bool>(),
    ) {
        let open = b"<OAI-PMH xmlns=\"http://www.openarchives.org/OAI/2.0/\"><ListRecords>".as_slice();
        let page = [open, &words.concat(), b"</ListRecords></OAI-PMH>"].concat();
        let remedies = if mends { Remedies::ALL } else { Remedies::default() };
        let reading = Reading { verb: Verb::ListRecords, purpose: Purpose::Keep, set: "", remedies };
        read_anyhow(&page, &mut Dice::new(seed), reading);
    }
}
