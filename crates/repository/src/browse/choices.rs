//! The options that a page offers to the reader, and the present selection.

use std::collections::HashMap;

use modoai_protocol::query::Arguments;
use modoai_protocol::token::ListToken;
use modoai_protocol::{Datestamp, Range, SetSpec, Token, Verb};

use super::search::Search;
use crate::answer::SetNames;
use crate::answer::describe::visible_sets;
use crate::error::Failure;
use crate::repository::Visit;

/// The maximum number of sets in a form; ListSets has all.
const MOST_SETS: usize = 1_000;

/// The number of characters of a datestamp that are its day.
const DAY: usize = "YYYY-MM-DD".len();

/// The options of a page's forms.
#[derive(Debug, Default)]
pub(super) struct Choices {
    pub(super) repository_name: String,
    /// Metadata prefixes, beginning with the one that every repository has.
    pub(super) formats: Vec<String>,
    /// Specs and names of the sets this requester sees.
    pub(super) sets: Vec<(String, String)>,
    /// The arguments of the request.
    pub(super) asked: Arguments,
    pub(super) chosen: Chosen,
    /// True if the page is the front page of the repository, requested without arguments.
    pub(super) is_front: bool,
    /// True if the repository contains records, and not the files of a site.
    pub(super) is_of_records: bool,
    /// The number of items in each set, and of all items under the empty spec. `None` if this requester does not see
    /// all items: a count would reveal the number of hidden items.
    pub(super) counts: Option<HashMap<String, u64>>,
    /// Titles of records in a format without titles, by identifier.
    pub(super) titles: HashMap<String, String>,
    /// The maximum size of files that are inside of records in the chosen format, and omitted on the page.
    pub(super) left_out_up_to: Option<u64>,
    /// The search whose results the page shows.
    pub(super) search: Option<Search>,
}

/// A selection in a form: unselected fields are empty.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Chosen {
    pub(super) prefix: String,
    pub(super) set: String,
    pub(super) from: String,
    pub(super) until: String,
}

impl Choices {
    /// Returns the options of a page. `by_value_limit` is that of the repository; pages have no files inside of
    /// records.
    pub(super) fn new(visit: &Visit<'_>, asked: Arguments, by_value_limit: u64) -> Result<Self, Failure> {
        let repository = visit.repository;
        let token = value(&asked, "resumptionToken").and_then(|token| Token::open(token, &visit.token_key()));
        let chosen = match token {
            Some(Token::List(token)) => Chosen::in_token(&token, visit.standing.newest),
            _ => Chosen::in_arguments(&asked),
        };
        let (sets, names) = (visible_sets(visit)?, SetNames::read(visit)?);
        let has_files = visit.format(&chosen.prefix).is_some_and(|format| format.contains_files());
        let counts = visit.host.sees_all().then(|| repository.catalogue.live_counts()).transpose()?;
        Ok(Self {
            repository_name: repository.settings.repository_name.clone(),
            formats: visit.formats.iter().map(|format| format.prefix().to_owned()).collect(),
            sets: sets.iter().take(MOST_SETS).map(|set| (set.to_string(), names.of(set))).collect(),
            asked,
            chosen,
            is_front: false,
            is_of_records: visit.repository.is_of_records(),
            counts,
            titles: HashMap::new(),
            left_out_up_to: Some(by_value_limit).filter(|limit| has_files && *limit > 0),
            search: None,
        })
    }

    /// Returns the value of an argument of the request.
    pub(super) fn asked(&self, name: &str) -> Option<&str> {
        value(&self.asked, name)
    }

    /// Returns the verb of the request, if it has one.
    pub(super) fn verb(&self) -> Option<Verb> {
        self.asked("verb").and_then(Verb::from_name)
    }

    /// Returns the default format.
    pub(super) fn usual_format(&self) -> &str {
        self.formats.first().map_or("oai_dc", String::as_str)
    }

    /// Returns the number of items in a set; of all items, for the empty spec.
    pub(super) fn count(&self, spec: &str) -> Option<String> {
        self.counts.as_ref().map(|counts| grouped(counts.get(spec).copied().unwrap_or(0)))
    }

    /// Returns the name of a set; its spec if it has none.
    pub(super) fn set_name<'a>(&'a self, spec: &'a str) -> &'a str {
        self.sets.iter().find(|(known, _)| known == spec).map_or(spec, |(_, name)| name)
    }
}

impl Chosen {
    fn in_arguments(asked: &Arguments) -> Self {
        let text = |name| value(asked, name).unwrap_or_default().to_owned();
        Self { prefix: text("metadataPrefix"), set: text("set"), from: text("from"), until: text("until") }
    }

    /// Reads the selection of a later page from its token. The token does not show if the upper end of the list was
    /// selected or is the newest datestamp of the catalogue; the latter is not shown as a selection.
    fn in_token(token: &ListToken, newest: Option<Datestamp>) -> Self {
        let Range { first, last } = token.range;
        let ends = newest.is_some_and(|newest| last < newest);
        let bound = |is_chosen: bool, moment: Datestamp| if is_chosen { moment.to_string() } else { String::new() };
        Self {
            prefix: token.prefix.to_string(),
            set: token.set.as_ref().map(SetSpec::to_string).unwrap_or_default(),
            from: bound(first > Datestamp::MIN, first),
            until: bound(ends, last),
        }
    }

    /// Returns the day of a bound, for a form.
    pub(super) fn day(bound: &str) -> &str {
        bound.get(..DAY).unwrap_or(bound)
    }

    /// Returns the arguments of a list of this selection, from its beginning.
    pub(super) fn arguments<'a>(&'a self, verb: &'a str) -> Vec<(&'a str, &'a str)> {
        let optional = [("from", &*self.from), ("until", &*self.until), ("set", &*self.set)];
        let mut arguments = vec![("verb", verb), ("metadataPrefix", &*self.prefix)];
        arguments.extend(optional.into_iter().filter(|(_, value)| !value.is_empty()));
        arguments
    }
}

/// Returns a number with commas: `2,614,332`.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev().map(|group| String::from_utf8_lossy(group));
    groups.collect::<Vec<_>>().join(",")
}

fn value<'a>(arguments: &'a Arguments, name: &str) -> Option<&'a str> {
    arguments.iter().find(|(given, _)| given == name).map(|(_, value)| value.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use modoai_protocol::{ListVerb, MetadataPrefix};

    #[test]
    fn a_token_tells_what_was_chosen() {
        let at = Datestamp::from_unix;
        let token = ListToken {
            verb: ListVerb::Records,
            prefix: MetadataPrefix::parse("oai_dc").expect("legal"),
            set: SetSpec::parse("mime:text"),
            range: Range { first: Datestamp::MIN, last: at(86_399) },
            after: (at(0), 1),
            cursor: 50,
            size: None,
            epoch: 0,
        };
        let open = Chosen { prefix: "oai_dc".to_owned(), set: "mime:text".to_owned(), ..Chosen::default() };
        assert_eq!(Chosen::in_token(&token, Some(at(86_399))), open, "it ended where the catalogue did");
        let until = "1970-01-01T23:59:59Z".to_owned();
        assert_eq!(Chosen::in_token(&token, Some(at(99_999))), Chosen { until, ..open }, "it was to end earlier");
    }
}
