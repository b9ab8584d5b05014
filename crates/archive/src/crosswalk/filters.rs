//! The filters for templates, in addition to those of the engine.
//!
//! The filters for dates, URLs and names return nothing if the value is invalid, so that `{{ x|date or x }}` and `{% if
//! licence|url %}` work.

use std::sync::LazyLock;

use minijinja::value::ObjectRepr;
use minijinja::{Environment, Error, Value};

use super::dates::Date;
use super::kinds;
use super::subject::{Detail, filing_name, full_name, one_line};
use super::web;
use crate::record::Agent;

/// Adds the filters to the engine. The table in the module's documentation and in the guide has a row for each.
pub(super) fn add_to(engine: &mut Environment<'static>) {
    engine.add_filter("date", |value: &Value| of_text(value, |text| Date::parse(text).map(|date| date.to_string())));
    engine.add_filter("year", |value: &Value| {
        of_text(value, |text| Date::parse(text).map(|date| format!("{:04}", date.year())))
    });
    engine.add_filter("line", |value: &Value| of_text(value, |text| Some(one_line(text).into_owned())));
    engine.add_filter("url", |value: &Value| of_text(value, web::url));
    engine.add_filter("doi", |value: &Value| of_text(value, |text| web::doi(text).map(str::to_owned)));
    engine.add_filter("language", |value: &Value| of_text(value, language));
    engine.add_filter("person", |value: &Value| of_agent(value, filing_name));
    engine.add_filter("fullname", |value: &Value| of_agent(value, full_name));
    engine.add_filter("kind", |value: &Value| kinds::of(value.as_str().unwrap_or_default()));
    engine.add_filter("access", |value: &Value| kinds::access(value.as_str().unwrap_or_default()));
    engine.add_filter("words", |value: &Value| match value.as_str() {
        Some(text) => text.split_whitespace().map(Value::from).collect(),
        None => texts(value),
    });
    engine.add_filter("texts", texts);
    // The engine's own filters reject missing values, but records lack fields.
    engine.add_filter("first", |value: &Value| lenient(value, minijinja::filters::first));
    engine.add_filter("last", |value: &Value| lenient(value, |value| minijinja::filters::last(value.clone())));
    engine.add_filter(
        "length",
        |value: &Value| {
            if value.is_undefined() { Ok(0) } else { minijinja::filters::length(value) }
        },
    );
    engine.add_filter("matches", |value: &Value, pattern: &str| {
        value.as_str().is_some_and(|text| matches(text.as_bytes(), pattern.as_bytes()))
    });
}

fn lenient(value: &Value, filter: impl Fn(&Value) -> Result<Value, Error>) -> Result<Value, Error> {
    if value.is_undefined() { Ok(Value::UNDEFINED) } else { filter(value) }
}

/// Applies to text, and to numbers in their text form.
fn of_text(value: &Value, make: impl Fn(&str) -> Option<String>) -> Value {
    let made = match value.as_str() {
        Some(text) => make(text),
        None if value.is_number() => make(&value.to_string()),
        None => None,
    };
    made.filter(|text| !text.is_empty()).map_or(Value::UNDEFINED, Value::from)
}

fn of_agent(value: &Value, make: impl Fn(&Agent) -> String) -> Value {
    if let Some(agent) = value.downcast_object_ref::<Detail>().and_then(Detail::agent) {
        return Value::from(make(agent));
    }
    if value.as_str().is_some() {
        return of_text(value, |text| Some(one_line(text).into_owned()));
    }
    // An agent among the further fields.
    let field = |name: &str| value.get_attr(name).ok().and_then(|value| value.as_str().map(str::to_owned));
    let agent = Agent {
        family: field("family").unwrap_or_default(),
        given: field("given"),
        suffix: field("suffix"),
        ..Agent::default()
    };
    match make(&agent) {
        name if name.is_empty() => Value::UNDEFINED,
        name => Value::from(name),
    }
}

/// Returns the strings and numbers of a list, a single one as a list of one, and an empty list for anything else:
/// catalogues have one value where others have many, and some have values for which no format has a place.
fn texts(value: &Value) -> Value {
    static NONE: LazyLock<Value> = LazyLock::new(|| Value::from(Vec::<Value>::new()));
    let is_text = |value: &Value| value.as_str().is_some() || value.is_number();
    if is_text(value) {
        return Value::from(vec![value.clone()]);
    }
    match value.as_object() {
        Some(object) if object.repr() != ObjectRepr::Map => {
            object.try_iter().into_iter().flatten().filter(is_text).collect()
        }
        _ => NONE.clone(),
    }
}

/// Returns a language tag that is valid in XML Schema (`xs:language`).
fn language(text: &str) -> Option<String> {
    let text = text.trim();
    let mut parts = text.split('-');
    let first =
        parts.next().is_some_and(|part| (1..=8).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_alphabetic()));
    let others = parts.all(|part| (1..=8).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_alphanumeric()));
    (first && others).then(|| text.to_owned())
}

/// Returns true if the whole text matches a pattern, in which `*` is any text and `?` any single byte. Backtracks at
/// most once per byte of text, for any pattern.
fn matches(text: &[u8], pattern: &[u8]) -> bool {
    let (mut at, mut in_pattern, mut star) = (0, 0, None);
    while at < text.len() {
        match pattern.get(in_pattern) {
            Some(b'*') => {
                star = Some((in_pattern, at));
                in_pattern += 1;
            }
            Some(&byte) if byte == b'?' || byte == text[at] => {
                at += 1;
                in_pattern += 1;
            }
            _ => match star {
                Some((place, from)) => {
                    star = Some((place, from + 1));
                    (in_pattern, at) = (place + 1, from + 1);
                }
                None => return false,
            },
        }
    }
    pattern[in_pattern..].iter().all(|&byte| byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render(template: &str) -> String {
        let mut engine = Environment::new();
        engine.set_undefined_behavior(minijinja::UndefinedBehavior::Chainable);
        add_to(&mut engine);
        engine.render_str(template, ()).expect(template)
    }

    #[test]
    fn filters_give_nothing_for_what_they_cannot_read() {
        assert_eq!(render("{{ 'Mon, 2 Apr 2007 19:18:42 GMT'|date }} {{ '1 May'|date or '?' }}"), "2007-04-02 ?");
        assert_eq!(render("{{ 2024|year }}{{ '2024-05'|year }}{{ nothing|year }}"), "20242024");
        assert_eq!(render("{{ ' a\n  b '|line }}|{{ 'http://h/ x'|url }}|{{ 'text'|url }}"), "a b|http://h/%20x|");
        assert_eq!(render("{{ 'doi:10.1/x'|doi }}|{{ 'en-GB'|language }}|{{ 'Old Norse'|language }}"), "10.1/x|en-GB|");
        assert_eq!(render("{{ {'family': 'A', 'given': 'B'}|person }}; {{ 'C  D'|fullname }}"), "A, B; C D");
        assert_eq!(render("{{ 'a  b'|words|join(',') }} {{ ['a b', 'c']|words|join(',') }}"), "a,b a b,c");
        assert_eq!(
            render("{{ 'a  b'|texts|length }}{{ [1, 2, {}, []]|texts|length }}{{ nothing|texts|length }}"),
            "120"
        );
    }

    #[test]
    fn what_is_missing_is_empty() {
        assert_eq!(
            render("{{ nothing|first }}{{ nothing|last }}{{ nothing|length }}{{ [1, 2]|length }}{{ [1, 2]|last }}"),
            "022"
        );
    }

    #[test]
    fn patterns_match_whole_texts() {
        for (text, pattern, expected) in [
            ("10.48550/arXiv.1", "10.48550/*", true),
            ("a.b.c", "*.c", true),
            ("a.b.c", "*b", false),
            ("", "*", true),
            ("", "", true),
            ("abc", "a?c", true),
            ("aaaaaaaaaaaaaaaaaaaaaaaa", "*a*a*a*a*a*a*b", false),
            ("x", "", false),
        ] {
            assert_eq!(matches(text.as_bytes(), pattern.as_bytes()), expected, "{text} {pattern}");
        }
    }
}
