//! What a repository in memory holds.

use super::calendar::{self, Granularity};

/// The namespace of unqualified Dublin Core in OAI-PMH.
const OAI_DC: &str = "http://www.openarchives.org/OAI/2.0/oai_dc/";

/// What is held, and how it is told.
#[derive(Clone, Debug)]
pub struct Holdings {
    /// In the order of lists.
    pub records: Vec<Record>,
    /// Set specs; none means that there is no hierarchy of sets.
    pub sets: Vec<String>,
    /// How dates are written.
    pub granularity: Granularity,
    /// What Identify says of deletions.
    pub deleted_record: &'static str,
    /// How many seconds the clock that dates changes is ahead of the real one.
    pub clock: i64,
}

/// One record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Of the item.
    pub identifier: String,
    /// When it changed, in seconds since 1970.
    pub changed: i64,
    /// The sets it is in.
    pub sets: Vec<String>,
    /// Whether it is gone.
    pub deleted: bool,
    /// The exact bytes of the metadata's one element.
    pub metadata: Vec<u8>,
    /// The exact bytes of each about container's element.
    pub abouts: Vec<Vec<u8>>,
}

impl Holdings {
    /// So many records, spread over the years, every eighth of them deleted, in nested sets or in none.
    pub fn of(count: usize) -> Self {
        Self {
            records: (0..count).map(Record::numbered).collect(),
            sets: ["a", "a:b", "c"].map(str::to_owned).into(),
            granularity: Granularity::Second,
            deleted_record: "persistent",
            clock: 0,
        }
    }

    /// All that are not deleted and, if a set is given, are in it.
    pub fn live<'a>(&'a self, set: Option<&'a str>) -> impl Iterator<Item = &'a Record> {
        self.records.iter().filter(move |record| !record.deleted && set.is_none_or(|set| record.is_in(set)))
    }

    /// All that are deleted and, if a set is given, were in it.
    pub fn deleted<'a>(&'a self, set: Option<&'a str>) -> impl Iterator<Item = &'a Record> {
        self.records.iter().filter(move |record| record.deleted && set.is_none_or(|set| record.is_in(set)))
    }

    /// The record of that name.
    pub fn record(&mut self, identifier: &str) -> Option<&mut Record> {
        self.records.iter_mut().find(|record| record.identifier == identifier)
    }

    /// The first record that is not deleted changes now.
    pub fn change_first(&mut self, addition: &str) {
        let now = self.now();
        let record = self.records.iter_mut().find(|record| !record.deleted).expect("something that lives");
        record.metadata = dublin_core(&format!("{addition} of {}", record.identifier));
        record.changed = now;
    }

    /// The last record that is not deleted is deleted now.
    pub fn delete_last(&mut self) {
        let now = self.now();
        let record = self.records.iter_mut().rev().find(|record| !record.deleted).expect("something that lives");
        record.deleted = true;
        record.changed = now;
    }

    /// One more record comes now, in the first set if there are any.
    pub fn add(&mut self) {
        // Not the count: some may have vanished.
        let numbers = self.records.iter().filter_map(|record| record.identifier.rsplit(':').next()?.parse().ok());
        let mut record = Record::numbered(numbers.max().map_or(0, |last: usize| last + 1));
        record.deleted = false;
        record.sets = self.sets.first().cloned().into_iter().collect();
        record.changed = self.now();
        self.records.push(record);
    }

    fn now(&self) -> i64 {
        calendar::now() + self.clock
    }
}

impl Record {
    /// The record of that number.
    pub fn numbered(number: usize) -> Self {
        let sets: &[&str] = match number % 3 {
            0 => &["a", "a:b"],
            1 => &["c"],
            _ => &[],
        };
        let rights = format!("<rights xmlns=\"urn:example:rights\" of='{number}'>free</rights>");
        let note = "<n:note xmlns:n=\"urn:example:note\">one of <n:b>two</n:b> containers</n:note>";
        Self {
            identifier: format!("oai:endpoint.example:{number:04}"),
            changed: 1_425_196_800 + number as i64 * 3_207_607,
            sets: sets.iter().map(|&set| set.to_owned()).collect(),
            deleted: number % 8 == 5,
            metadata: dublin_core(&format!("Record {number}")),
            abouts: if number.is_multiple_of(4) { vec![rights.into(), note.into()] } else { Vec::new() },
        }
    }

    /// Whether it is in a set or in one below it.
    pub fn is_in(&self, set: &str) -> bool {
        let below = |spec: &str| spec.strip_prefix(set).is_some_and(|rest| rest.is_empty() || rest.starts_with(':'));
        self.sets.iter().any(|spec| below(spec))
    }
}

/// Dublin Core with everything in it that a careless harvester re-writes: quotes, references, CDATA, comments, line ends.
pub fn dublin_core(title: &str) -> Vec<u8> {
    format!(
        "<oai_dc:dc xmlns:oai_dc=\"{OAI_DC}\" xmlns:dc='http://purl.org/dc/elements/1.1/'\n  \
         xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:schemaLocation=\"{OAI_DC} {OAI_DC_SCHEMA}\" >\n\
         \t<dc:title  xml:lang=\"en\">{title} &amp; its n&#233;ighbours – “ünïcödé” 🚲</dc:title>\r\n\
         <dc:description><![CDATA[<b>kept</b> & as it is]]></dc:description><!-- kept --><dc:type/>\n</oai_dc:dc>",
    )
    .into_bytes()
}

/// Where the schema of Dublin Core is.
pub(super) const OAI_DC_SCHEMA: &str = "http://www.openarchives.org/OAI/2.0/oai_dc.xsd";

/// Prefix, schema and namespace of the one format there is.
pub(super) const FORMAT: [&str; 3] = ["oai_dc", OAI_DC_SCHEMA, OAI_DC];
