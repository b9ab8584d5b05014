//! Known errors of OAI-PMH servers and their workarounds, one row each.
//!
//! The rows come from years of bug reports against providers and harvesters. A workaround that was applied is counted and
//! reported under its name, unless it applies to every request (the verb is sent first, pages are streamed). The misbehaving
//! endpoint of the tests reproduces every row.

/// A known server error.
#[derive(Debug, PartialEq, Eq)]
pub struct Quirk {
    /// Name in reports.
    pub name: &'static str,
    /// Behaviour of the server.
    pub symptom: &'static str,
    /// Workaround.
    pub remedy: &'static str,
}

macro_rules! quirks {
    ($($(#[doc = $symptom:literal])+ $constant:ident = $name:literal => $remedy:literal;)+) => {
        $($(#[doc = $symptom])+ pub const $constant: &Quirk =
            &Quirk { name: $name, symptom: concat!($($symptom),+).trim_ascii(), remedy: $remedy };)+
        /// Every row, in the order of the groups: tokens and lists, dates and identity, HTTP, XML.
        pub const QUIRKS: &[&Quirk] = &[$($constant),+];
    };
}

quirks! {
    /// A token element without text ends the list, as specified, but breaks many harvesters.
    EMPTY_TOKEN = "empty-token" => "treated as the end of the list; nothing else is";
    /// A page returns the token that was sent to request it.
    TOKEN_SELF_LOOP = "token-self-loop" => "the list ends there; counts decide whether it is complete, or its date range is split";
    /// Tokens point back to an earlier page.
    TOKEN_CYCLE = "token-cycle" => "detected by tokens and by pages without new records; handled like a self-loop";
    /// The last two pages have the same token.
    LAST_TOKEN_TWICE = "last-token-twice" => "the list ends there; counts decide whether it is complete";
    /// A token returns an empty page, because the total is a multiple of the page size.
    TOKEN_TO_EMPTY_PAGE = "token-to-empty-page" => "an empty page without a token is the end; empty pages with tokens are followed, up to a limit";
    /// A token returns noRecordsMatch.
    TOKEN_TO_NO_RECORDS = "token-to-no-records" => "treated as the end, if the counts agree";
    /// The cursor equals completeListSize, but a token follows.
    CURSOR_AT_SIZE = "cursor-at-size" => "the token is followed: cursors are informative only";
    /// The cursor counts pages instead of records.
    CURSOR_COUNTS_PAGES = "cursor-counts-pages" => "inconsistent cursors are ignored; received records are counted";
    /// completeListSize is that of the whole repository although a set was requested.
    SIZE_OF_STORE = "size-of-store" => "compared with the size of the list without a set; if equal, it is ignored and identifiers are compared";
    /// completeListSize differs from the number of records.
    SIZE_WRONG = "size-wrong" => "identifiers, listed as a whole and by halves, decide what exists";
    /// The token is missing or empty although the list continues.
    TOKEN_MISSING = "token-missing" => "a list that ends early or on a full page is requested again in smaller date ranges, and by identifiers";
    /// Records move to another page while a list is read, because earlier ones are removed.
    LIST_SHIFTED = "list-shifted" => "a list of several pages without a reliable size is compared with a list of its identifiers; records that were on no page are fetched one by one";
    /// ListIdentifiers always fails.
    NO_IDENTIFIERS = "no-identifiers" => "records are listed again instead of comparing identifiers";
    /// ListRecords always fails.
    NO_RECORDS = "no-records" => "identifiers are listed, and records fetched one by one";
    /// A token expires within minutes, or with the session.
    TOKEN_EXPIRED = "token-expired" => "the date range is requested again from its start, then in halves; records already received are not stored twice";
    /// A token contains reserved characters of a query.
    TOKEN_NEEDS_ENCODING = "token-needs-encoding" => "all characters except letters, digits and -._~ are percent-encoded";
    /// A token is accepted only without percent-encoding.
    TOKEN_RAW = "token-raw" => "if the encoded token is refused, it is sent verbatim";
    /// A token is already percent-encoded.
    TOKEN_ENCODED_ALREADY = "token-encoded-already" => "if the encoded token is refused, it is sent without encoding it again";
    /// A token looks like a query.
    TOKEN_WITH_QUERY = "token-with-query" => "tokens are never parsed";
    /// A token is refused without metadataPrefix, against the specification.
    PREFIX_WITH_TOKEN = "prefix-with-token" => "if the error is badArgument, metadataPrefix is sent too";
    /// Pages after the first contain records of other sets.
    SET_FORGOTTEN = "set-forgotten" => "records whose headers list only other sets are ignored";
    /// A token of ListRecords returns a page of headers.
    VERB_CHANGED = "verb-changed" => "the records of those headers are fetched one by one";
    /// Lists fail after 10,000 records, or end there without an error.
    DEEP_PAGING = "deep-paging" => "the date range is split until no part is that long";
    /// A date range with too many records is refused.
    WINDOW_TOO_LARGE = "window-too-large" => "the date range is split, down to seconds, then by sets";
    /// Lists are not sorted by date.
    UNORDERED = "unordered" => "the next harvest starts at responseDate, not at the newest record";
    /// The same record is returned twice.
    DUPLICATES = "duplicates" => "a record that is already stored is not stored again";
    /// earliestDatestamp is the current time, later than the records, or missing.
    EARLIEST_WRONG = "earliest-wrong" => "ignored: the first date range has no lower bound";
    /// Identify fails, although lists work.
    NO_IDENTIFY = "no-identify" => "the harvest continues with the data of an earlier run, or with dates without a time of day, and does not rely on sizes";
    /// ListMetadataFormats fails or is empty, although lists work.
    NO_FORMATS = "no-formats" => "the format is harvested if a list returns it";
    /// The granularity is misspelt.
    GRANULARITY_MISSPELT = "granularity-misspelt" => "recognised by its length, regardless of case";
    /// Datestamps do not have the granularity of Identify.
    GRANULARITY_MIXED = "granularity-mixed" => "stored verbatim; requests use the announced form, or the other one if that is refused";
    /// from and until are refused or ignored.
    DATES_REFUSED = "dates-refused" => "the list is requested without dates and not split; unchanged records are not stored again";
    /// Requests fail without from and until.
    DATES_REQUIRED = "dates-required" => "both are sent, from 1970 to tomorrow";
    /// Local time is reported as UTC, so that changes appear hours late.
    LOCAL_TIME = "local-time" => "date ranges overlap; the overlap is larger if responseDate differs from UTC";
    /// Records disappear without a deletion.
    VANISHED = "vanished" => "--verify compares identifiers; records that GetRecord does not return either are deleted";
    /// Hundreds of thousands of deletions come first.
    MANY_DELETIONS = "many-deletions" => "deletions of unknown records are only counted";
    /// A header has no datestamp or no identifier, or is missing.
    HEADER_INCOMPLETE = "header-incomplete" => "without a datestamp, the record is kept; without an identifier, it is reported as missing";
    /// A record that is not deleted has no metadata.
    METADATA_MISSING = "metadata-missing" => "requested again with GetRecord, and reported as missing if that has none either";
    /// The base URL has moved.
    BASE_URL_MOVED = "base-url-moved" => "redirects are followed, and the new URL is reported; baseURL of Identify is compared";
    /// Protocol errors have a 4xx status.
    ERROR_WITH_STATUS = "error-with-status" => "the response is read regardless of its status";
    /// 429 has a Retry-After of a day, or none.
    TOO_MANY_REQUESTS = "too-many-requests" => "modoai waits for a short time; a long one is stored for the next run";
    /// A bot challenge page replaces the response.
    BOT_WALL = "bot-wall" => "reported as such, and never treated as a response of the repository";
    /// One invalid record makes its page fail.
    BAD_RECORD = "bad-record" => "the date range is split around it, then records are fetched one by one; only the invalid record is missing";
    /// Responses are occasionally 500, 502 or 504.
    UNSTABLE = "unstable" => "retried with increasing delays; then the date range is split";
    /// A page takes minutes.
    SLOW_PAGE = "slow-page" => "modoai waits up to five minutes for the first byte; then the date range is split";
    /// The connection is closed in the middle of a page.
    CUT_SHORT = "cut-short" => "an incomplete page is requested again";
    /// The document is complete, but the body is not: Content-Length is larger, or the last chunk is missing.
    LENGTH_WRONG = "length-wrong" => "accepted, because the root element is closed";
    /// The Content-Encoding is missing or wrong.
    CODING_MISLABELLED = "coding-mislabelled" => "detected by the first bytes";
    /// An HTML page is returned with status 200.
    HTML_WITH_200 = "html-with-200" => "retried, then reported as a failure";
    /// Other text precedes or follows the XML.
    JUNK_AROUND = "junk-around" => "removed, if the rest is a complete response";
    /// The Content-Type is HTML or otherwise wrong.
    CONTENT_TYPE = "content-type" => "wrong Content-Type ignored";
    /// Tokens depend on a cookie.
    SESSION_COOKIE = "session-cookie" => "cookies are kept during a run";
    /// A certificate is expired, self-signed or for another host.
    TLS_BROKEN = "tls-broken" => "refused; --ca or --insecure accepts it";
    /// The verb must be the first argument.
    VERB_FIRST = "verb-first" => "always sent first";
    /// An empty set argument causes an error.
    EMPTY_SET = "empty-set" => "never sent";
    /// Text contains control characters.
    CONTROL_CHARACTERS = "control-characters" => "replaced in protocol fields; metadata is unchanged unless the page needed repair";
    /// The response contains bytes that are not UTF-8.
    INVALID_UTF8 = "invalid-utf8" => "read as Windows-1252 in protocol fields; metadata is unchanged unless the page needed repair";
    /// Character references denote halves of surrogate pairs.
    SURROGATES = "surrogates" => "pairs are combined, single halves replaced";
    /// The declared encoding is wrong, or not UTF-8.
    ENCODING = "encoding" => "the actual encoding is detected and converted to UTF-8";
    /// Ampersands are not escaped.
    AMPERSANDS = "ampersands" => "escaped in protocol fields; metadata is unchanged unless the page needed repair";
    /// A '<' that does not begin a tag is not escaped.
    ANGLE_BRACKETS = "angle-brackets" => "escaped if no tag can follow; otherwise only that record is missing";
    /// The response has no namespace, or a misspelt one.
    NAMESPACE = "namespace" => "accepted if it is missing, or differs only by https or a slash";
    /// Namespaces are declared on outer elements only, or twice.
    OUTER_NAMESPACES = "outer-namespaces" => "declarations in scope are stored with every record";
    /// A page is larger than memory.
    HUGE_PAGE = "huge-page" => "pages are streamed";
    /// An error code is not defined in the protocol.
    UNKNOWN_ERROR = "unknown-error" => "reported under that code; retried, then the date range is split";
    /// Elements are nested very deeply, or text is very long.
    DEEP_NODES = "deep-nodes" => "text is not limited; the limit on nesting is generous";
    /// A document type defines entities.
    DOCUMENT_TYPE = "document-type" => "removed: no entity is resolved or expanded";
}

impl Quirk {
    /// The row of that name.
    pub fn named(name: &str) -> Option<&'static Self> {
        QUIRKS.iter().copied().find(|quirk| quirk.name == name)
    }

    /// Returns true if it is repaired in the bytes of a damaged response. All others are workarounds for the behaviour
    /// of a server, and may fail.
    pub fn is_repair(&self) -> bool {
        [
            LENGTH_WRONG,
            CODING_MISLABELLED,
            JUNK_AROUND,
            CONTROL_CHARACTERS,
            INVALID_UTF8,
            SURROGATES,
            ENCODING,
            AMPERSANDS,
            ANGLE_BRACKETS,
            NAMESPACE,
            OUTER_NAMESPACES,
            DOCUMENT_TYPE,
        ]
        .contains(&self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinct() {
        for (index, quirk) in QUIRKS.iter().enumerate() {
            assert!(QUIRKS[..index].iter().all(|other| other.name != quirk.name), "{}", quirk.name);
            assert_eq!(Quirk::named(quirk.name), Some(*quirk));
        }
    }
}
