//! One request as a URL, in the form that a server accepts.

use modoai_fetch::Url;
use modoai_protocol::{Datestamp, Verb, query};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

use crate::habits::{DateStyle, Habits, TokenStyle};
use crate::window::{Granularity, Window};

/// A request to a repository, independent of its base URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    /// The Identify request.
    Identify,
    /// The formats of the repository.
    Formats,
    /// The sets of the repository, from the beginning or from a token on.
    Sets {
        /// The token of the page.
        token: Option<String>,
    },
    /// One record.
    Record {
        /// The identifier of the record.
        identifier: String,
        /// The format of the record.
        prefix: String,
    },
    /// A list, from its beginning or from a token on.
    List {
        /// Whole records, or headers only.
        headers_only: bool,
        /// The format of the records.
        prefix: String,
        /// The set; none for all.
        set: Option<String>,
        /// The dates of the list.
        window: Window,
        /// True if the end may be a little later: parts of a list overlap, because servers differ in what belongs to
        /// the last day or second.
        loose: bool,
        /// The token of the page.
        token: Option<String>,
    },
}

impl Question {
    /// Returns the identifier of the requested record; empty for other requests.
    pub(crate) fn identifier(&self) -> &str {
        if let Self::Record { identifier, .. } = self { identifier } else { "" }
    }

    /// Returns the verb of the request.
    pub(crate) fn verb(&self) -> Verb {
        match self {
            Self::Identify => Verb::Identify,
            Self::Formats => Verb::ListMetadataFormats,
            Self::Sets { .. } => Verb::ListSets,
            Self::Record { .. } => Verb::GetRecord,
            Self::List { headers_only: true, .. } => Verb::ListIdentifiers,
            Self::List { headers_only: false, .. } => Verb::ListRecords,
        }
    }

    /// Returns the URL of the request. The verb comes first, because some servers need that; empty arguments are never
    /// sent.
    pub(crate) fn url(&self, base_url: &Url, granularity: Granularity, habits: &Habits, now: Datestamp) -> Url {
        let mut arguments = vec![("verb", self.verb().as_str().to_owned())];
        match self {
            Self::Identify | Self::Formats => {}
            Self::Sets { token } => arguments.extend(token.iter().map(|token| ("resumptionToken", token.clone()))),
            Self::Record { identifier, prefix } => {
                arguments.push(("identifier", identifier.clone()));
                arguments.push(("metadataPrefix", prefix.clone()));
            }
            Self::List { prefix, token: Some(token), .. } => {
                if habits.prefix_with_token {
                    arguments.push(("metadataPrefix", prefix.clone()));
                }
                arguments.push(("resumptionToken", token.clone()));
            }
            Self::List { prefix, set, window, loose, token: None, .. } => {
                arguments.push(("metadataPrefix", prefix.clone()));
                arguments.extend(dates(*window, *loose, granularity, habits.dates, now));
                arguments.extend(set.iter().filter(|set| !set.is_empty()).map(|set| ("set", set.clone())));
            }
        }
        let query = arguments.iter().map(|(name, value)| match (*name, habits.token) {
            ("resumptionToken", TokenStyle::Raw) => format!("{name}={}", utf8_percent_encode(value, UNSENDABLE)),
            ("resumptionToken", TokenStyle::EncodedAlready) => format!("{name}={}", encoded_but_escapes(value)),
            _ => query::render([(*name, value.as_str())]),
        });
        let query = query.collect::<Vec<_>>().join("&");
        let mut url = base_url.clone();
        // Some base URLs already have a query.
        let whole = match base_url.query().filter(|own| !own.is_empty()) {
            Some(own) => format!("{own}&{query}"),
            None => query,
        };
        url.set_query(Some(&whole));
        url.set_fragment(None);
        url
    }
}

/// The form datestamps are sent in.
pub(crate) fn sent_granularity(granularity: Granularity, style: DateStyle) -> Granularity {
    match style {
        DateStyle::Days => Granularity::Day,
        DateStyle::Seconds => Granularity::Seconds,
        DateStyle::AsPromised | DateStyle::Always | DateStyle::Never => granularity,
    }
}

fn dates(
    window: Window,
    loose: bool,
    granularity: Granularity,
    style: DateStyle,
    now: Datestamp,
) -> Vec<(&'static str, String)> {
    let form = sent_granularity(granularity, style);
    let later = |date: Datestamp| Datestamp::from_unix(date.unix() + if loose { form.unit() } else { 0 });
    let window = Window { until: window.until.map(later), ..window };
    let (from, until) = match style {
        DateStyle::Never => (None, None),
        DateStyle::Always => {
            let last = Datestamp::from_unix(now.unix() + 86_400);
            (window.from.or(Some(Datestamp::from_unix(0))), window.until.or(Some(last)))
        }
        _ => (window.from, window.until),
    };
    let from = from.map(|date| ("from", form.write(date)));
    from.into_iter().chain(until.map(|date| ("until", form.write(date)))).collect()
}

/// The characters that a URL cannot contain.
const UNSENDABLE: &AsciiSet = &CONTROLS.add(b' ').add(b'#').add(b'"').add(b'<').add(b'>');

/// Percent-encodes all but what is percent-encoded already.
fn encoded_but_escapes(token: &str) -> String {
    let mut out = String::new();
    let mut rest = token;
    while let Some(at) = rest.find('%') {
        out.push_str(&encoded(&rest[..at]));
        let escape = rest.as_bytes().get(at + 1..at + 3).filter(|hex| hex.iter().all(u8::is_ascii_hexdigit));
        let length = if escape.is_some() { 3 } else { 1 };
        out.push_str(if escape.is_some() { &rest[at..at + 3] } else { "%25" });
        rest = &rest[at + length..];
    }
    out + &encoded(rest)
}

fn encoded(text: &str) -> String {
    query::render([("", text)]).split_off(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(token: &str, style: TokenStyle) -> String {
        let base = Url::parse("http://example.org/oai").expect("a URL");
        let list = Question::List {
            headers_only: false,
            prefix: "oai_dc".to_owned(),
            set: None,
            window: Window::ALL,
            loose: false,
            token: Some(token.to_owned()),
        };
        let habits = Habits { token: style, ..Habits::default() };
        list.url(&base, Granularity::Day, &habits, Datestamp::from_unix(0)).query().expect("a query").to_owned()
    }

    #[test]
    fn tokens_are_written_as_the_server_wants_them() {
        let start = "verb=ListRecords&resumptionToken=";
        assert_eq!(asked("a+b c/%2F&d=é", TokenStyle::Encoded), format!("{start}a%2Bb%20c%2F%252F%26d%3D%C3%A9"));
        assert_eq!(asked("a+b c/%2F&d", TokenStyle::Raw), format!("{start}a+b%20c/%2F&d"));
        assert_eq!(asked("a+b/%2F%zz", TokenStyle::EncodedAlready), format!("{start}a%2Bb%2F%2F%25zz"));
    }

    #[test]
    fn the_verb_comes_first_and_nothing_empty_is_sent() {
        let base = Url::parse("http://example.org/index.php?page=oai#top").expect("a URL");
        let window = Window { from: Some(Datestamp::from_unix(86_400)), until: None };
        let list = |set: &str| Question::List {
            headers_only: true,
            prefix: "oai_dc".to_owned(),
            set: Some(set.to_owned()),
            window,
            loose: false,
            token: None,
        };
        let url = |question: &Question, dates| {
            let habits = Habits { dates, ..Habits::default() };
            question.url(&base, Granularity::Seconds, &habits, Datestamp::from_unix(0)).to_string()
        };
        let start = "http://example.org/index.php?page=oai&verb=ListIdentifiers&metadataPrefix=oai_dc";
        assert_eq!(url(&list(""), DateStyle::AsPromised), format!("{start}&from=1970-01-02T00:00:00Z"));
        assert_eq!(url(&list("a:b"), DateStyle::Days), format!("{start}&from=1970-01-02&set=a:b"));
        assert_eq!(url(&list("a"), DateStyle::Never), format!("{start}&set=a"));
        assert!(url(&list(""), DateStyle::Always).contains("&until="));
    }
}
