//! Legal requests: every value of [`Request`] is one.
//!
//! [`Request::parse`] converts argument pairs to a [`Request`] or to every error that applies (section 3.6: several may
//! be reported together). The repository checks the rest, which depends on its content: the existence of the set, the
//! format and the item, and the origin of the token.

use crate::datestamp::{Bound, Range};
use crate::error::{ErrorCode, ProtocolError};
use crate::names::{MetadataPrefix, SetSpec};
use crate::query::{Arguments, QueryError};
use crate::text::shortened;
use crate::verb::{ListVerb, Use, Verb};

/// A legal request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// A request for one record in one format.
    GetRecord {
        /// The item. It may be any text, because a response to an unknown identifier is not a failure.
        identifier: String,
        /// The format.
        prefix: MetadataPrefix,
    },
    /// A request for the description of the repository.
    Identify,
    /// A request for a page of headers or records.
    List {
        /// Headers or records.
        verb: ListVerb,
        /// The beginning of the list, or the position of a token.
        listing: Listing,
    },
    /// A request for the formats of the repository, or of one item.
    ListMetadataFormats {
        /// The item, if the request names one.
        identifier: Option<String>,
    },
    /// A request for the sets.
    ListSets {
        /// The resumption token, if the list continues.
        token: Option<String>,
    },
}

/// A legal request, or everything that is wrong with it.
pub type Parsed = Result<Request, Vec<ProtocolError>>;

/// Where a list begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listing {
    /// The beginning of a selection.
    Select(Selection),
    /// The position of this resumption token.
    Resume(String),
}

/// The selection of items of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// The format.
    pub prefix: MetadataPrefix,
    /// The set, descendants included.
    pub set: Option<SetSpec>,
    /// The earliest datestamp, inclusive.
    pub from: Option<Bound>,
    /// The latest datestamp, inclusive.
    pub until: Option<Bound>,
}

impl Selection {
    /// Returns the range of datestamps that is selected; an open end becomes the limit of datestamps.
    pub fn range(&self) -> Range {
        Range {
            first: self.from.map_or(Range::ALL.first, Bound::first),
            last: self.until.map_or(Range::ALL.last, Bound::last),
        }
    }
}

impl Request {
    /// Checks argument pairs against the rules that need no repository.
    ///
    /// A bad verb is the only error reported, because without the verb no argument can be checked. Otherwise all
    /// unknown, repeated, missing and ill-formed arguments are reported together.
    pub fn parse(arguments: &Arguments) -> Parsed {
        let verb = verb_of(arguments).map_err(|error| vec![error])?;
        let mut judge = Judge { verb, arguments, errors: Vec::new() };
        judge.shape();
        let request = judge.request();
        match (request, judge.errors) {
            (Some(request), errors) if errors.is_empty() => Ok(request),
            (_, errors) => Err(errors),
        }
    }

    /// Judges what [`query::parse`](crate::query::parse) made of a query. A query that cannot be read is a bad argument.
    pub fn read(query: Result<Arguments, QueryError>) -> Parsed {
        match query {
            Ok(arguments) => Self::parse(&arguments),
            Err(error) => Err(vec![ProtocolError::new(ErrorCode::BadArgument, error.to_string())]),
        }
    }

    /// The verb.
    pub fn verb(&self) -> Verb {
        match self {
            Self::GetRecord { .. } => Verb::GetRecord,
            Self::Identify => Verb::Identify,
            Self::List { verb, .. } => (*verb).into(),
            Self::ListMetadataFormats { .. } => Verb::ListMetadataFormats,
            Self::ListSets { .. } => Verb::ListSets,
        }
    }

    /// Returns the request as argument pairs, verb first, as the response repeats them and as a harvester sends them.
    pub fn arguments(&self) -> Arguments {
        let mut pairs = vec![("verb", self.verb().as_str().to_owned())];
        match self {
            Self::GetRecord { identifier, prefix } => {
                pairs.push(("identifier", identifier.clone()));
                pairs.push(("metadataPrefix", prefix.to_string()));
            }
            Self::Identify => {}
            Self::List { listing: Listing::Resume(token), .. } => pairs.push(("resumptionToken", token.clone())),
            Self::List { listing: Listing::Select(selection), .. } => {
                pairs.push(("metadataPrefix", selection.prefix.to_string()));
                let optional = [
                    ("from", selection.from.map(|bound| bound.to_string())),
                    ("until", selection.until.map(|bound| bound.to_string())),
                    ("set", selection.set.as_ref().map(ToString::to_string)),
                ];
                pairs.extend(optional.into_iter().filter_map(|(name, value)| value.map(|value| (name, value))));
            }
            Self::ListMetadataFormats { identifier } => {
                pairs.extend(identifier.iter().map(|identifier| ("identifier", identifier.clone())));
            }
            Self::ListSets { token } => {
                pairs.extend(token.iter().map(|token| ("resumptionToken", token.clone())));
            }
        }
        pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

fn verb_of(arguments: &Arguments) -> Result<Verb, ProtocolError> {
    let bad = |message: String| Err(ProtocolError::new(ErrorCode::BadVerb, message));
    let mut verbs = arguments.iter().filter(|(name, _)| name == "verb").map(|(_, value)| value.as_str());
    match (verbs.next(), verbs.next()) {
        (None, _) => bad(format!("missing verb argument; expected one of {}", verb_names())),
        (Some(_), Some(_)) => bad("the verb argument is repeated".to_owned()),
        (Some(name), None) => match Verb::from_name(name) {
            Some(verb) => Ok(verb),
            None => bad(format!("'{}' is not a verb; expected one of {}", shortened(name, MAX_QUOTED), verb_names())),
        },
    }
}

fn verb_names() -> String {
    Verb::ALL.map(Verb::as_str).join(", ")
}

/// The maximum length of a value in a message, in characters.
const MAX_QUOTED: usize = 80;

/// Collects every badArgument of one request.
struct Judge<'a> {
    verb: Verb,
    arguments: &'a Arguments,
    errors: Vec<ProtocolError>,
}

impl<'a> Judge<'a> {
    fn fault(&mut self, message: String) {
        self.errors.push(ProtocolError::new(ErrorCode::BadArgument, message));
    }

    fn value(&self, name: &str) -> Option<&'a str> {
        self.arguments.iter().find(|(given, _)| given == name).map(|(_, value)| value.as_str())
    }

    /// Reports unknown, repeated, empty and missing arguments, and arguments in addition to exclusive ones.
    fn shape(&mut self) {
        let verb = self.verb;
        let known = verb.arguments();
        for (index, (name, value)) in self.arguments.iter().enumerate().filter(|(_, (name, _))| name != "verb") {
            if self.arguments[..index].iter().any(|(earlier, _)| earlier == name) {
                self.fault(format!("the argument '{}' is repeated", shortened(name, MAX_QUOTED)));
            } else if !known.iter().any(|(allowed, _)| allowed == name) {
                self.fault(format!("'{}' is not an argument of {verb}", shortened(name, MAX_QUOTED)));
            } else if value.is_empty() {
                self.fault(format!("the argument '{name}' is empty"));
            }
        }
        let exclusive = known.iter().find(|(name, kind)| *kind == Use::Exclusive && self.value(name).is_some());
        if let Some((name, _)) = exclusive {
            let company = |(other, _): &&(&str, Use)| other != name && self.value(other).is_some();
            if let Some((other, _)) = known.iter().find(company) {
                self.fault(format!("'{name}' is an exclusive argument and cannot be combined with '{other}'"));
            }
        } else {
            for (name, kind) in known {
                if *kind == Use::Required && self.value(name).is_none() {
                    self.fault(format!("{verb} requires the argument '{name}'"));
                }
            }
        }
    }

    /// Returns the request if every value is well formed; otherwise records the errors.
    fn request(&mut self) -> Option<Request> {
        // Every value is checked, even if another one is missing, so that all errors are reported together.
        let identifier = self.value("identifier").map(str::to_owned);
        let prefix = self.parsed("metadataPrefix", "a valid metadata prefix", MetadataPrefix::parse);
        let set = self.parsed("set", "a valid set spec", SetSpec::parse);
        let dates = "a valid date; expected YYYY-MM-DD or YYYY-MM-DDThh:mm:ssZ";
        let from = self.parsed("from", dates, Bound::parse);
        let until = self.parsed("until", dates, Bound::parse);
        if let (Some(from), Some(until)) = (from, until) {
            if !from.same_form(until) {
                self.fault(format!("from ({from}) and until ({until}) have different granularity"));
            } else if from.first() > until.first() {
                self.fault(format!("from ({from}) is later than until ({until})"));
            }
        }
        let token = self.value("resumptionToken").map(str::to_owned);
        let list = |verb, token: Option<String>, prefix: Option<MetadataPrefix>| {
            let listing = match token {
                Some(token) => Listing::Resume(token),
                None => Listing::Select(Selection { prefix: prefix?, set, from, until }),
            };
            Some(Request::List { verb, listing })
        };
        match self.verb {
            Verb::GetRecord => Some(Request::GetRecord { identifier: identifier?, prefix: prefix? }),
            Verb::Identify => Some(Request::Identify),
            Verb::ListIdentifiers => list(ListVerb::Identifiers, token, prefix),
            Verb::ListMetadataFormats => Some(Request::ListMetadataFormats { identifier }),
            Verb::ListRecords => list(ListVerb::Records, token, prefix),
            Verb::ListSets => Some(Request::ListSets { token }),
        }
    }

    fn parsed<T>(&mut self, name: &str, what: &str, parse: impl Fn(&str) -> Option<T>) -> Option<T> {
        // `shape` has reported arguments that the verb does not have, and empty ones.
        let known = self.verb.arguments().iter().any(|(allowed, _)| *allowed == name);
        let value = self.value(name).filter(|value| known && !value.is_empty())?;
        let parsed = parse(value);
        if parsed.is_none() {
            self.fault(format!("{name} '{}' is not {what}", shortened(value, MAX_QUOTED)));
        }
        parsed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query;

    fn parse(query: &str) -> Result<Request, Vec<ProtocolError>> {
        Request::parse(&query::parse(query.as_bytes()).expect("decodable"))
    }

    fn codes(query: &str) -> Vec<ErrorCode> {
        parse(query).expect_err(query).into_iter().map(|error| error.code).collect()
    }

    #[test]
    fn legal_requests_come_back_as_they_were_sent() {
        for query in [
            "verb=Identify",
            "verb=ListMetadataFormats",
            "verb=ListMetadataFormats&identifier=x",
            "verb=ListSets",
            "verb=ListSets&resumptionToken=x",
            "verb=GetRecord&identifier=http:%2F%2Fa%2Fb&metadataPrefix=oai_dc",
            "verb=ListRecords&metadataPrefix=oai_dc&from=2002-02-05&until=2002-02-05&set=a:b",
            "verb=ListIdentifiers&metadataPrefix=oai_dc&from=1969-01-01T00:00:00Z",
            "verb=ListIdentifiers&resumptionToken=junk",
        ] {
            let pairs = parse(query).expect(query).arguments();
            let again = query::render(pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())));
            assert_eq!(again, query);
        }
    }

    #[test]
    fn a_bad_verb_hides_all_other_faults() {
        for query in ["", "junk", "verb", "verb=", "verb=junk", "verb=identify", "verb=Identify&verb=Identify"] {
            assert_eq!(codes(&format!("{query}&junk=1")), [ErrorCode::BadVerb], "{query}");
        }
    }

    #[test]
    fn every_bad_argument_is_named() {
        for (query, faults) in [
            ("verb=Identify&junk=1", 1),
            ("verb=Identify&metadataPrefix=oai_dc", 1),
            ("verb=GetRecord", 2),
            ("verb=GetRecord&identifier=x", 1),
            ("verb=GetRecord&identifier=&metadataPrefix=", 2),
            ("verb=GetRecord&identifier=x&metadataPrefix=a/b&junk", 2),
            ("verb=ListRecords", 1),
            ("verb=ListRecords&metadataPrefix=a&metadataPrefix=a", 1),
            ("verb=ListRecords&metadataPrefix=oai_dc&from=junk&until=junk&set=a+b", 3),
            ("verb=ListRecords&metadataPrefix=oai_dc&set=", 1),
            ("verb=ListRecords&metadataPrefix=oai_dc&from=2002-02-05&until=2002-02-06T05:35:00Z", 1),
            ("verb=ListRecords&metadataPrefix=oai_dc&from=2002-02-06&until=2002-02-05", 1),
            ("verb=ListRecords&metadataPrefix=oai_dc&resumptionToken=junk&until=1990-01-10", 1),
            ("verb=ListIdentifiers&until=junk", 2),
            ("verb=ListSets&set=a", 1),
        ] {
            assert_eq!(codes(query), vec![ErrorCode::BadArgument; faults], "{query}");
        }
    }

    #[test]
    fn a_huge_value_is_not_echoed_whole() {
        let errors = parse(&format!("verb={}", "é".repeat(5000))).expect_err("no such verb");
        assert!(errors[0].message.len() < 400);
    }
}
