//! A case: a repository, the properties and errors of its server, and the runs of the harvester. Its text is one line of JSON
//! with the fields that differ from the default, which is a small, correct server and one run.

use serde::{Deserialize, Serialize};

/// A case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Case {
    /// The seed of the delays of retries.
    pub seed: u64,
    /// Live records at the start.
    pub records: u8,
    /// Deleted records at the start.
    pub tombstones: u8,
    /// The datestamps at the start.
    pub spread: Spread,
    /// Records per page of ListRecords.
    pub page: u8,
    /// Headers per page of ListIdentifiers.
    pub header_page: u8,
    /// The order of lists.
    pub order: Order,
    /// The meaning of tokens.
    pub paging: Paging,
    /// The validity of tokens.
    pub token: Token,
    /// True if tokens contain reserved characters of a query.
    pub odd_tokens: bool,
    /// The end of a list of several pages.
    pub end: End,
    /// True if a list of one page has an empty token, too.
    pub lone_token: bool,
    /// completeListSize.
    pub size: Size,
    /// The number of records after which lists stop; none if it is 0.
    pub limit: u8,
    /// What happens at that limit.
    pub at_limit: Limit,
    /// True if datestamps are days.
    pub days: bool,
    /// The meaning of from and until.
    pub dates: Dates,
    /// deletedRecord of Identify.
    pub deletions: Deletions,
    /// True if Identify promises that datestamps are those of visibility.
    pub prompt: bool,
    /// Milliseconds per request.
    pub latency: u16,
    /// Seconds by which the clock of the server is ahead.
    pub skew: i32,
    /// Seconds by which datestamps precede the visibility of a change.
    pub late: u32,
    /// True if the server has sets.
    pub sets: bool,
    /// True if only one set is harvested.
    pub one_set: bool,
    /// Verbs that always fail.
    pub fails: Vec<Verb>,
    /// How they fail.
    pub failure: Fault,
    /// The number of a record that makes its page of ListRecords fail.
    pub bad: Option<u8>,
    /// True if that record cannot be fetched by its identifier, either.
    pub bad_alone: bool,
    /// True if every page begins with the last record of the page before.
    pub overlap: bool,
    /// Requests, by their number, that fail once.
    pub faults: Vec<(u16, Fault)>,
    /// The runs.
    pub runs: Vec<Run>,
}

/// A run of the harvester, and what happens before and during it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Run {
    /// Seconds since the run before.
    pub pause: u32,
    /// Changes, each before the request of this number; 0 is the time of the pause.
    pub changes: Vec<(u16, Change)>,
    /// The harvester is killed at this event: a request, a wait, or a call of the sink.
    pub kill: Option<u16>,
}

macro_rules! choices {
    ($($(#[$doc:meta])* $name:ident { $($(#[$about:meta])* $variant:ident,)+ })+) => {
        $($(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        pub enum $name { $($(#[$about])* $variant,)+ }

        impl $name {
            /// Every value.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];
        })+
    };
}

choices! {
    /// The datestamps of the first records.
    Spread {
        /// Over several years.
        #[default]
        Years,
        /// Over the last two days.
        Days,
        /// All the same, long ago.
        Moment,
        /// All the same, and now.
        Now,
    }
    /// The order of lists.
    Order {
        /// By datestamp, then by identifier.
        #[default]
        Datestamp,
        /// By identifier.
        Identifier,
        /// By a hash.
        Hash,
    }
    /// The meaning of tokens.
    Paging {
        /// After the last record, in the order of the list.
        #[default]
        Key,
        /// After that number of records.
        Offset,
        /// The list as it was at the first request.
        Snapshot,
        /// After the last record, without those that have changed since the first request.
        Bounded,
    }
    /// The validity of tokens.
    Token {
        /// Always.
        #[default]
        Lasting,
        /// Until it was used.
        SingleUse,
        /// For a minute.
        Expiring,
    }
    /// The end of a list of several pages.
    End {
        /// An empty token, as the protocol requires.
        #[default]
        EmptyToken,
        /// No token.
        NoToken,
        /// A token that returns an empty page.
        EmptyPage,
        /// A token that returns noRecordsMatch.
        NoRecords,
        /// The token of the last page itself.
        SelfLoop,
        /// The token of the first page.
        Cycle,
    }
    /// completeListSize.
    Size {
        /// None.
        #[default]
        Absent,
        /// The present number of records.
        Right,
        /// The number of records at the first request.
        First,
        /// One more.
        TooLarge,
        /// One less.
        TooSmall,
        /// The number of all records, whatever is selected.
        OfStore,
        /// The number that the limit permits.
        OfLimit,
    }
    /// What happens at the limit of a list.
    Limit {
        /// The list ends as if it were complete.
        Ends,
        /// Further pages fail.
        #[default]
        Fails,
    }
    /// The meaning of from and until.
    Dates {
        /// As the protocol defines.
        #[default]
        Right,
        /// None: all records are returned.
        Ignored,
        /// Both ends are excluded.
        Exclusive,
        /// The end is excluded.
        UntilExclusive,
        /// badArgument.
        Refused,
        /// Both are required: requests without them fail.
        Required,
    }
    /// deletedRecord of Identify.
    Deletions {
        /// Deletions are announced permanently.
        #[default]
        Persistent,
        /// Deletions are announced for three days.
        Transient,
        /// Deletions are not announced.
        No,
    }
    /// Verbs.
    Verb {
        /// Identify.
        #[default]
        Identify,
        /// ListMetadataFormats.
        ListMetadataFormats,
        /// ListSets.
        ListSets,
        /// GetRecord.
        GetRecord,
        /// ListIdentifiers.
        ListIdentifiers,
        /// ListRecords.
        ListRecords,
    }
    /// A failure of a request.
    Fault {
        /// HTTP 500.
        #[default]
        Status,
        /// HTTP 503 with a Retry-After of 20 s.
        Busy,
        /// HTTP 503 with a Retry-After of two hours.
        LongBusy,
        /// The body is truncated.
        CutShort,
        /// A web page with status 200.
        WebPage,
        /// No response within five minutes.
        Timeout,
        /// The connection is refused.
        Refused,
        /// An empty body.
        Empty,
        /// noRecordsMatch, although there are records.
        NoRecords,
        /// An error code that is not defined.
        Unknown,
    }
}

/// A change of the repository. Numbers of records are taken modulo their count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Change {
    /// A record is added.
    Add,
    /// A record gets a new version; a deleted one is restored.
    Edit(u8),
    /// A record is deleted.
    Delete(u8),
}

impl Default for Case {
    fn default() -> Self {
        Self {
            seed: 0,
            records: 3,
            tombstones: 0,
            spread: Spread::Years,
            page: 2,
            header_page: 2,
            order: Order::Datestamp,
            paging: Paging::Key,
            token: Token::Lasting,
            odd_tokens: false,
            end: End::EmptyToken,
            lone_token: false,
            size: Size::Absent,
            limit: 0,
            at_limit: Limit::Fails,
            days: false,
            dates: Dates::Right,
            deletions: Deletions::Persistent,
            prompt: false,
            latency: 100,
            skew: 0,
            late: 0,
            sets: false,
            one_set: false,
            fails: Vec::new(),
            failure: Fault::Status,
            bad: None,
            bad_alone: false,
            overlap: false,
            faults: Vec::new(),
            runs: vec![Run::default()],
        }
    }
}

/// Returns the text of a case: the fields that differ from the default.
pub fn to_text(case: &Case) -> String {
    let value = |case: &Case| serde_json::to_value(case).unwrap_or_default();
    let (mut value, default) = (value(case), value(&Case::default()));
    if let (Some(fields), Some(usual)) = (value.as_object_mut(), default.as_object()) {
        fields.retain(|name, value| usual.get(name) != Some(value));
    }
    value.to_string()
}

/// Reads the text of a case.
pub fn from_text(text: &str) -> Result<Case, serde_json::Error> {
    serde_json::from_str(text)
}

impl Case {
    /// True if the server does nothing that the protocol forbids.
    pub fn is_correct(&self) -> bool {
        let usual = Self::default();
        let order_is_stable = self.paging != Paging::Offset;
        order_is_stable
            && matches!(self.size, Size::Absent | Size::Right | Size::First)
            && self.spoilt() == usual.spoilt()
            && (self.limit, self.skew, self.late, self.overlap) == (0, 0, 0, false)
    }

    /// True if lists are cut without an error, and the harvester may not find that out: more records than the limit may have one
    /// datestamp, dates do not select, or the list is not in the order of datestamps.
    pub fn hides_records(&self) -> bool {
        let is_divisible = self.limit >= 4 && self.spread == Spread::Years && self.dates == Dates::Right;
        let is_revealed = is_divisible && self.order == Order::Datestamp;
        self.limit > 0 && self.at_limit == Limit::Ends && !is_revealed
    }

    fn spoilt(&self) -> (Token, End, Dates, &[Verb], Damage<'_>) {
        (self.token, self.end, self.dates, &self.fails, (self.bad, &self.faults))
    }
}

/// The record that cannot be parsed, and the faults of requests.
type Damage<'a> = (Option<u8>, &'a [(u16, Fault)]);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_a_case_is_read_back() {
        for seed in 0..200 {
            let case = Case::generate(seed);
            assert_eq!(from_text(&to_text(&case)).expect("a case"), case);
        }
        assert_eq!(to_text(&Case::default()), "{}");
    }
}
