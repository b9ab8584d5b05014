//! The name of a list in the log: the selection, and the position of the page in the list.
//!
//! All pages of a list have the same name except for the position, whether they were requested by a selection or by a
//! token. `until` is known only for the first page: a token has an upper end even if the request had none.

use std::fmt;

use modoai_protocol::{Datestamp, Range, Selection};

/// A page of a list, by its selection: `oai_dc set=physics from=2024-01-01T00:00:00Z after=200`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct List {
    /// The metadata prefix.
    pub prefix: String,
    /// The set.
    pub set: Option<String>,
    /// The lower end of the range.
    pub from: Option<String>,
    /// The upper end of the range; only for a first page.
    pub until: Option<String>,
    /// The number of records on earlier pages: 0 for the first page.
    pub after: u64,
}

impl List {
    /// Returns the first page of a selection.
    pub fn begun(selection: &Selection) -> Self {
        Self {
            prefix: selection.prefix.to_string(),
            set: selection.set.as_ref().map(ToString::to_string),
            from: from(selection.range().first),
            until: selection.until.map(|bound| bound.last().to_string()),
            after: 0,
        }
    }

    /// Parses a name in the log, as far as possible: a name without a position is that of a first page.
    pub fn read(text: &str) -> Self {
        let mut list = Self::default();
        for word in text.split([' ', '&', ',', ';']).filter(|word| !word.is_empty()) {
            match word.split_once('=') {
                Some(("set", set)) => list.set = Some(set.to_owned()),
                Some(("from", from)) => list.from = Some(from.to_owned()),
                Some(("until", until)) => list.until = Some(until.to_owned()),
                Some(("after", after)) => list.after = after.parse().unwrap_or_default(),
                Some(("metadataPrefix", prefix)) => list.prefix = prefix.to_owned(),
                Some(_) => {}
                None if list.prefix.is_empty() => list.prefix = word.to_owned(),
                None => {}
            }
        }
        list
    }

    /// Returns true for the first page.
    pub fn is_first(&self) -> bool {
        self.after == 0
    }

    /// Returns true if the selection is unrestricted: no set, and no end of the range. For first pages.
    pub fn is_everything(&self) -> bool {
        self.set.is_none() && self.from.is_none() && self.until.is_none()
    }
}

/// Returns the beginning of a range, if it has one.
fn from(first: Datestamp) -> Option<String> {
    (first > Range::ALL.first).then(|| first.to_string())
}

impl fmt::Display for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.prefix)?;
        for (name, value) in [("set", &self.set), ("from", &self.from), ("until", &self.until)] {
            if let Some(value) = value {
                write!(f, " {name}={value}")?;
            }
        }
        if self.after > 0 {
            write!(f, " after={}", self.after)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use modoai_protocol::{Bound, MetadataPrefix, SetSpec};

    use super::*;

    fn selection(set: Option<&str>, from: Option<&str>, until: Option<&str>) -> Selection {
        let bound = |text: Option<&str>| text.map(|text| Bound::parse(text).expect("a date"));
        Selection {
            prefix: MetadataPrefix::parse("oai_dc").expect("a prefix"),
            set: set.map(|set| SetSpec::parse(set).expect("a set")),
            from: bound(from),
            until: bound(until),
        }
    }

    #[test]
    fn a_page_is_read_as_it_was_written() {
        for (list, shown) in [
            (List::begun(&selection(None, None, None)), "oai_dc"),
            (
                List::begun(&selection(Some("a:b"), Some("2024-01-01"), Some("2024-01-31"))),
                "oai_dc set=a:b from=2024-01-01T00:00:00Z until=2024-01-31T23:59:59Z",
            ),
        ] {
            assert_eq!(list.to_string(), shown);
            assert_eq!(List::read(shown), list);
        }
        let odd = List::read("metadataPrefix=oai_dc&set=x&from=2024-01-01&strange=1");
        assert_eq!((odd.prefix.as_str(), odd.set.as_deref(), odd.after), ("oai_dc", Some("x"), 0));
        assert_eq!(List::read(""), List::default());
    }
}
