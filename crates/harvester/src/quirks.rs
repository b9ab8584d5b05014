//! What real servers get wrong, and what is done about it: one row each.
//!
//! The rows come from years of bug reports against providers and harvesters. A remedy that was applied is counted under its
//! name and told at the end, unless it is the way things are always done here (the verb comes first, pages are streamed); the misbehaving endpoint of the tests has every row in its repertoire.

/// One deviation.
#[derive(Debug, PartialEq, Eq)]
pub struct Quirk {
    /// What it is called in reports.
    pub name: &'static str,
    /// What the server does.
    pub symptom: &'static str,
    /// What is done about it, and why that is enough.
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
    /// A token element without text ends the list, as it should, and breaks many harvesters.
    EMPTY_TOKEN = "empty-token" => "an empty token is an end; nothing else is";
    /// A page hands out the very token it was asked with.
    TOKEN_SELF_LOOP = "token-self-loop" => "the list ends there; counts decide whether it is complete, or is split";
    /// Tokens lead back to an earlier page.
    TOKEN_CYCLE = "token-cycle" => "noticed by token and by pages that bring nothing new; as a self-loop";
    /// The last but one and the last page have the same token.
    LAST_TOKEN_TWICE = "last-token-twice" => "the list ends there; counts decide whether it is complete";
    /// A token leads to an empty page, because the total is a multiple of the page size.
    TOKEN_TO_EMPTY_PAGE = "token-to-empty-page" => "an empty page without a token is an end; empty pages with tokens are followed, within a limit";
    /// A token leads to noRecordsMatch.
    TOKEN_TO_NO_RECORDS = "token-to-no-records" => "an end, if the counts agree";
    /// The cursor equals completeListSize, and there is a token.
    CURSOR_AT_SIZE = "cursor-at-size" => "the token is followed: cursors are advice, tokens are not";
    /// The cursor counts pages, not records.
    CURSOR_COUNTS_PAGES = "cursor-counts-pages" => "cursors that do not add up are ignored; what arrived is counted";
    /// completeListSize is that of the whole repository although a set was asked for.
    SIZE_OF_STORE = "size-of-store" => "compared with the size of the list without a set; if equal, it proves nothing and an identifier pass does";
    /// completeListSize is not what the list holds.
    SIZE_WRONG = "size-wrong" => "identifiers, listed whole and by halves, decide what is there";
    /// There is no token, or an empty one, although the list has more.
    TOKEN_MISSING = "token-missing" => "a list that ends early or on a full page is asked again in smaller windows, and by identifiers";
    /// Records move from one page to another while a list is read, because others before them disappear.
    LIST_SHIFTED = "list-shifted" => "a list of several pages that no size proves to be whole is compared with a list of its identifiers; what was on no page is got by name";
    /// ListIdentifiers fails, whatever it is asked for.
    NO_IDENTIFIERS = "no-identifiers" => "where identifiers would be compared, records are listed again";
    /// ListRecords fails, whatever it is asked for.
    NO_RECORDS = "no-records" => "identifiers are listed, and records are got one by one";
    /// A token expires in minutes, or with the session.
    TOKEN_EXPIRED = "token-expired" => "the window is asked again from its start, then in halves; what came before is not stored twice";
    /// A token holds characters that mean something in a query.
    TOKEN_NEEDS_ENCODING = "token-needs-encoding" => "everything but letters, digits and -._~ is percent-encoded";
    /// A token is understood only if it is not percent-encoded.
    TOKEN_RAW = "token-raw" => "where an encoded token is refused it is sent as it came";
    /// A token is percent-encoded already.
    TOKEN_ENCODED_ALREADY = "token-encoded-already" => "where an encoded token is refused it is sent without encoding it again";
    /// A token looks like a query.
    TOKEN_WITH_QUERY = "token-with-query" => "a token is never taken apart";
    /// A token is refused without metadataPrefix, against the protocol.
    PREFIX_WITH_TOKEN = "prefix-with-token" => "where badArgument says so, metadataPrefix is sent along";
    /// From the second page on, records of other sets come.
    SET_FORGOTTEN = "set-forgotten" => "records whose headers name other sets only are left out";
    /// A token of ListRecords leads to a page of headers.
    VERB_CHANGED = "verb-changed" => "the records of those headers are got one by one";
    /// Lists fail after 10,000 records, or end there as if that were all.
    DEEP_PAGING = "deep-paging" => "the window is split by dates until no part is that long";
    /// A window with too many records is refused.
    WINDOW_TOO_LARGE = "window-too-large" => "the window is split by dates, down to seconds, then by sets";
    /// Lists are in no order of dates.
    UNORDERED = "unordered" => "what to ask for next time follows from responseDate, not from the newest record";
    /// The same record comes twice.
    DUPLICATES = "duplicates" => "a record that was there already is not stored again";
    /// earliestDatestamp is now, later than the records, or missing.
    EARLIEST_WRONG = "earliest-wrong" => "it is not believed: the first window has no lower end";
    /// Identify fails, although lists work.
    NO_IDENTIFY = "no-identify" => "the harvest goes on with what an earlier run knows, or else with dates that are days, and without trust in sizes";
    /// ListMetadataFormats fails or is empty, although lists work.
    NO_FORMATS = "no-formats" => "the format is harvested if a list delivers it";
    /// The granularity is misspelt.
    GRANULARITY_MISSPELT = "granularity-misspelt" => "read by its length, whatever its case";
    /// Datestamps are not in the granularity of Identify.
    GRANULARITY_MIXED = "granularity-mixed" => "stored as they are; requests use the form that Identify promises, or the other where that is refused";
    /// from and until are refused or ignored.
    DATES_REFUSED = "dates-refused" => "the list is asked for without, or as a whole and never in parts; what is the same as before is not stored again";
    /// There is no answer without from and until.
    DATES_REQUIRED = "dates-required" => "they are sent, from the year 1970 to tomorrow";
    /// Local time is passed off as UTC, so that changes appear hours late.
    LOCAL_TIME = "local-time" => "windows overlap; the overlap grows when responseDate is not our UTC";
    /// Records vanish without a deletion.
    VANISHED = "vanished" => "an identifier pass (--verify) finds them; if they cannot be had by name either, they are passed on as deletions";
    /// Hundreds of thousands of deletions come first.
    MANY_DELETIONS = "many-deletions" => "deletions of what was never there are counted, and cost next to nothing";
    /// A header has no datestamp, no identifier, or is missing.
    HEADER_INCOMPLETE = "header-incomplete" => "without datestamp it is kept; without identifier it cannot be, and is named as missing";
    /// A record that is not deleted has no metadata.
    METADATA_MISSING = "metadata-missing" => "asked for once more with GetRecord, and named as missing if that has none either";
    /// The base URL has moved.
    BASE_URL_MOVED = "base-url-moved" => "redirects are followed and the new place is told; Identify's baseURL is compared and told";
    /// Protocol errors come with a 4xx status.
    ERROR_WITH_STATUS = "error-with-status" => "the answer is read whatever its status";
    /// 429 comes with a Retry-After of a day, or with none.
    TOO_MANY_REQUESTS = "too-many-requests" => "short waits are waited, long ones remembered for the next run";
    /// A bot wall answers in the server's place.
    BOT_WALL = "bot-wall" => "told by its name, never taken for an answer";
    /// One bad record makes its page fail.
    BAD_RECORD = "bad-record" => "the window is split around it, then its records are got one by one; only the bad one is missing, by name";
    /// Answers are 500, 502 or 504 now and then.
    UNSTABLE = "unstable" => "asked for again, with growing pauses; then the window is split";
    /// A page takes minutes.
    SLOW_PAGE = "slow-page" => "the first byte may take five minutes; then the window is split";
    /// The connection breaks in the middle of a page.
    CUT_SHORT = "cut-short" => "a page without its end is not a page: it is asked for again";
    /// A document is whole, and its body is not: Content-Length is larger, or the last chunk is missing.
    LENGTH_WRONG = "length-wrong" => "accepted, because the root element is closed";
    /// A body is compressed and does not say so, says so and is not, or names another coding.
    CODING_MISLABELLED = "coding-mislabelled" => "the first bytes decide";
    /// An HTML page comes with status 200.
    HTML_WITH_200 = "html-with-200" => "not an answer: asked for again, then a failure by name";
    /// Text stands before or after the XML.
    JUNK_AROUND = "junk-around" => "left out, if what remains is a whole answer";
    /// The answer is labelled as HTML or anything else.
    CONTENT_TYPE = "content-type" => "the label is not believed";
    /// Tokens are tied to a cookie.
    SESSION_COOKIE = "session-cookie" => "cookies are kept for the length of a run";
    /// A certificate is expired, self-signed or not for this host.
    TLS_BROKEN = "tls-broken" => "refused by name; --ca and --insecure are there for those who know better";
    /// The verb must be the first argument.
    VERB_FIRST = "verb-first" => "it is";
    /// An empty set argument breaks the answer.
    EMPTY_SET = "empty-set" => "never sent";
    /// Control characters stand in texts.
    CONTROL_CHARACTERS = "control-characters" => "replaced in the protocol's own fields; in metadata kept as they are, unless the page had to be mended";
    /// Bytes are not UTF-8.
    INVALID_UTF8 = "invalid-utf8" => "read as Windows-1252 if the protocol's own fields have them; in metadata kept as they are, unless the page had to be mended";
    /// Character references name halves of surrogate pairs.
    SURROGATES = "surrogates" => "pairs are joined, halves replaced";
    /// The declared encoding is wrong, or not UTF-8.
    ENCODING = "encoding" => "read in the encoding it is really in, and handed on in UTF-8";
    /// Ampersands are not escaped.
    AMPERSANDS = "ampersands" => "escaped if the protocol's own fields have them; in metadata kept as they are, unless the page had to be mended";
    /// A '<' that begins no tag is not escaped.
    ANGLE_BRACKETS = "angle-brackets" => "escaped if what follows cannot be a tag; else only the record that has it is missing, by name";
    /// The answer is in no namespace, or in a misspelt one.
    NAMESPACE = "namespace" => "read as the protocol's, if it differs only by https or a slash, or is missing";
    /// Namespaces are declared on outer elements only, or twice.
    OUTER_NAMESPACES = "outer-namespaces" => "declarations in scope are stored with every record";
    /// A page is larger than memory.
    HUGE_PAGE = "huge-page" => "pages are streamed, and never held";
    /// Error codes the protocol does not know.
    UNKNOWN_ERROR = "unknown-error" => "a failure by that name; tried again, then split";
    /// Nodes are very deep or very long.
    DEEP_NODES = "deep-nodes" => "text has no limit, nesting a generous one";
    /// A document type defines entities.
    DOCUMENT_TYPE = "document-type" => "left out: nothing is resolved, nothing is expanded";
}

impl Quirk {
    /// The row of that name.
    pub fn named(name: &str) -> Option<&'static Self> {
        QUIRKS.iter().copied().find(|quirk| quirk.name == name)
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
