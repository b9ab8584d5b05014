//! Values of settings, each with its line in the file, and their parsers.
//!
//! A value comes from a TOML file, from a text such as an environment variable, or from a directive of Apache httpd. A
//! parser returns the expected kind of value if it does not fit.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use crate::{Network, Problem};

/// A value of a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    data: Data,
    line: Option<usize>,
    /// The directory that paths are relative to.
    folder: Option<Arc<Path>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Data {
    Text(String),
    Integer(i64),
    Boolean(bool),
    List(Vec<Value>),
    /// Keys with their lines, in the order of the file.
    Table(Vec<(String, Option<usize>, Value)>),
    /// A date or a fraction, as written.
    Other(String),
}

impl From<Data> for Value {
    fn from(data: Data) -> Self {
        Self { data, line: None, folder: None }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Data::Text(text.to_owned()).into()
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Data::Integer(number).into()
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Data::Boolean(flag).into()
    }
}

impl FromIterator<Value> for Value {
    fn from_iter<I: IntoIterator<Item = Value>>(items: I) -> Self {
        Data::List(items.into_iter().collect()).into()
    }
}

impl<'k> FromIterator<(&'k str, Value)> for Value {
    fn from_iter<I: IntoIterator<Item = (&'k str, Value)>>(entries: I) -> Self {
        Data::Table(entries.into_iter().map(|(key, value)| (key.to_owned(), None, value)).collect()).into()
    }
}

impl Value {
    /// Parses a TOML file, as a table.
    pub(crate) fn parse(text: &str, folder: &Path) -> Result<Self, Problem> {
        let lines = Lines::of(text);
        let table = DeTable::parse(text).map_err(|error| {
            let problem = lines.problem(&error);
            Problem { what: format!("invalid TOML: {}", problem.what), ..problem }
        })?;
        let file = Origin { lines: Some(lines), folder: Some(folder.into()) };
        Ok(file.value(table.span().start, file.table(table.get_ref())))
    }

    /// Parses a value outside of a file: TOML, or text without quotes.
    pub fn written(text: &str) -> Self {
        let assignment = format!("value = {text}");
        let table = DeTable::parse(&assignment).ok();
        let value = table.as_ref().and_then(|table| table.get_ref().get("value"));
        value.map_or_else(|| Self::from(text), |value| Origin { lines: None, folder: None }.convert(value))
    }

    /// Returns its line in the file.
    pub fn line(&self) -> Option<usize> {
        self.line
    }

    /// Returns a problem with this value.
    pub fn problem(&self, what: impl Into<String>) -> Problem {
        Problem { line: self.line, ..what.into().into() }
    }

    /// Parses a string, which is borrowed.
    pub fn text(&self) -> Result<&str, Problem> {
        match &self.data {
            Data::Text(text) => Ok(text),
            _ => Err(self.problem("needs text in quotes")),
        }
    }

    /// Parses a string.
    pub fn string(&self) -> Result<String, Problem> {
        self.text().map(str::to_owned)
    }

    /// Returns a string, or a date as written.
    pub fn written_text(&self) -> Option<&str> {
        match &self.data {
            Data::Text(text) | Data::Other(text) => Some(text),
            _ => None,
        }
    }

    /// Parses a string with a function that returns the expected form.
    pub fn parse_text<T>(&self, parser: impl Fn(&str) -> Result<T, String>) -> Result<T, Problem> {
        parser(self.text()?).map_err(|what| self.problem(what))
    }

    /// Returns the items of a list, or the value itself.
    pub fn items(&self) -> impl Iterator<Item = &Self> {
        match &self.data {
            Data::List(items) => items.iter(),
            _ => std::slice::from_ref(self).iter(),
        }
    }

    /// Parses one string, or a list of them.
    pub fn texts(&self) -> Result<Vec<String>, Problem> {
        match &self.data {
            Data::List(items) => items.iter().map(|item| item.text().map(str::to_owned)).collect(),
            Data::Text(text) => Ok(vec![text.clone()]),
            _ => Err(self.problem("needs text, or a list of strings")),
        }
    }

    /// Parses a path, relative to the configuration file.
    pub fn path(&self) -> Result<PathBuf, Problem> {
        let path = Path::new(self.text()?);
        let folder = self.folder.as_ref().filter(|_| !path.as_os_str().is_empty());
        Ok(folder.map_or_else(|| path.to_owned(), |folder| folder.join(path)))
    }

    /// Parses addresses and networks.
    pub fn networks(&self) -> Result<Vec<Network>, Problem> {
        self.texts()?.iter().map(|text| text.parse().map_err(|what: String| self.problem(what))).collect()
    }

    /// Parses an integer within a range.
    pub fn number<T: TryFrom<u64>>(&self, range: RangeInclusive<u64>) -> Result<T, Problem> {
        let number = match &self.data {
            Data::Integer(number) => u64::try_from(*number).ok(),
            _ => None,
        };
        let (least, most) = (range.start(), range.end());
        let needed = || match *most {
            u64::MAX => format!("needs a whole number of at least {least}"),
            _ => format!("needs a whole number from {least} to {most}"),
        };
        let fitting = number.filter(|number| range.contains(number)).and_then(|number| T::try_from(number).ok());
        fitting.ok_or_else(|| self.problem(needed()))
    }

    /// Parses true or false.
    pub fn flag(&self) -> Result<bool, Problem> {
        match self.data {
            Data::Boolean(flag) => Ok(flag),
            _ => Err(self.problem("needs true or false")),
        }
    }

    /// Parses a number of bytes: `65536`, `"64K"`, `"16M"`, `"1G"`.
    pub fn bytes(&self) -> Result<u64, Problem> {
        let units = [('k', 1 << 10), ('m', 1 << 20), ('g', 1 << 30)];
        let needed = "needs a number of bytes, such as 65536, \"64K\", \"16M\" or \"1G\"";
        self.in_units(&units).ok_or_else(|| self.problem(needed))
    }

    /// Parses a duration of up to a year: `30`, `"30s"`, `"15m"`, `"2h"`, `"1d"`; a bare number is seconds.
    pub fn duration(&self) -> Result<Duration, Problem> {
        const LONGEST: u64 = 366 * 86_400;
        let units = [('s', 1), ('m', 60), ('h', 3_600), ('d', 86_400)];
        let needed = "needs a duration, such as 30, \"30s\", \"15m\", \"2h\" or \"1d\"";
        let seconds = self.in_units(&units).filter(|seconds| *seconds <= LONGEST);
        seconds.map(Duration::from_secs).ok_or_else(|| self.problem(needed))
    }

    /// Parses a duration that is not 0.
    pub fn interval(&self) -> Result<Duration, Problem> {
        match self.duration()? {
            Duration::ZERO => Err(self.problem("needs a duration longer than 0")),
            time => Ok(time),
        }
    }

    /// Parses a number, or a text of a number and the letter of a unit.
    fn in_units(&self, units: &[(char, u64)]) -> Option<u64> {
        let text = match &self.data {
            Data::Integer(number) => return u64::try_from(*number).ok(),
            Data::Text(text) => text.trim(),
            _ => return None,
        };
        let unit = |(letter, factor): &(char, u64)| {
            let digits = text.strip_suffix(|last: char| last.to_ascii_lowercase() == *letter)?;
            Some((digits, *factor))
        };
        let (digits, factor) = units.iter().find_map(unit).unwrap_or((text, 1));
        digits.trim().parse::<u64>().ok()?.checked_mul(factor)
    }

    /// Returns the tables that were written as `[[name]]`.
    pub fn tables(&self, name: &str) -> Result<Vec<&Self>, Problem> {
        match self.items().find(|item| !item.is_table()) {
            Some(other) => Err(other.problem(format!("needs to be written as [[{name}]]"))),
            None => Ok(self.items().collect()),
        }
    }

    /// Returns true if it is a table.
    pub fn is_table(&self) -> bool {
        matches!(self.data, Data::Table(_))
    }

    /// Returns the entries of a table with their lines, in the order of the file.
    pub fn entries(&self) -> Result<impl Iterator<Item = (&str, Option<usize>, &Self)>, Problem> {
        match &self.data {
            Data::Table(entries) => Ok(entries.iter().map(|(key, line, value)| (key.as_str(), *line, value))),
            _ => Err(self.problem("needs a table")),
        }
    }

    /// Returns the value of a key of a table.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.entries().ok()?.find(|(known, ..)| *known == key).map(|(.., value)| value)
    }
}

/// The ends of the lines of a text.
pub struct Lines(Vec<usize>);

impl Lines {
    /// Finds the lines of a text.
    pub fn of(text: &str) -> Self {
        Self(text.match_indices('\n').map(|(at, _)| at).collect())
    }

    /// Returns the line of an offset, from 1.
    fn line(&self, offset: usize) -> usize {
        self.0.partition_point(|end| *end < offset) + 1
    }

    /// Returns an error of the TOML parser on one line.
    pub fn problem(&self, error: &toml::de::Error) -> Problem {
        let line = error.span().map(|span| self.line(span.start));
        Problem::complete(line, error.message().trim_end().replace('\n', ", "))
    }
}

/// The file that a value comes from, if any.
struct Origin {
    lines: Option<Lines>,
    folder: Option<Arc<Path>>,
}

impl Origin {
    fn line(&self, at: usize) -> Option<usize> {
        self.lines.as_ref().map(|lines| lines.line(at))
    }

    fn value(&self, at: usize, data: Data) -> Value {
        Value { data, line: self.line(at), folder: self.folder.clone() }
    }

    fn convert(&self, value: &Spanned<DeValue<'_>>) -> Value {
        let data = match value.get_ref() {
            DeValue::String(text) => Data::Text(text.clone().into_owned()),
            DeValue::Integer(digits) => i64::from_str_radix(digits.as_str(), digits.radix())
                .map_or_else(|_| Data::Other(digits.as_str().to_owned()), Data::Integer),
            DeValue::Float(digits) => Data::Other(digits.as_str().to_owned()),
            DeValue::Boolean(flag) => Data::Boolean(*flag),
            DeValue::Datetime(date) => Data::Other(date.to_string()),
            DeValue::Array(items) => Data::List(items.iter().map(|item| self.convert(item)).collect()),
            DeValue::Table(table) => self.table(table),
        };
        self.value(value.span().start, data)
    }

    fn table(&self, table: &DeTable<'_>) -> Data {
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        let entry = |(key, value): (&Spanned<DeString<'_>>, &Spanned<DeValue<'_>>)| {
            (key.get_ref().to_string(), self.line(key.span().start), self.convert(value))
        };
        Data::Table(entries.into_iter().map(entry).collect())
    }
}
