//! Directives that are settings: name, help and default derive from the row of the setting, when this is compiled.
//!
//! `records_per_hour` becomes `OAIRecordsPerHour`. The help in `httpd -L` is the first sentence of the row with the
//! default. The notation of the default also decides how arguments are read.

use std::ffi::CStr;
use std::sync::Arc;

use modoai_flow::FLOW_SETTINGS;
use modoai_httpd::directive::Setting;
use modoai_repository::settings::{FORMER, SETTINGS};
use modoai_repository::site::SITE_SETTINGS;
use modoai_settings::{Setting as Row, Value};

use crate::Oai;

pub(crate) type Arguments<'a> = &'a [&'a str];
pub(crate) type Taken = Result<(), String>;

/// A directive that is a setting: its contexts, the key, and optionally its name, its default and its function if they
/// differ.
macro_rules! setting {
    ($place:ident $key:literal) => {
        setting!($place $key, $crate::derived::Text::name($key).c(), $crate::derived::default($key), $crate::derived::set)
    };
    ($place:ident $key:literal default $default:literal) => {
        setting!($place $key, $crate::derived::Text::name($key).c(), $default, $crate::derived::set)
    };
    ($place:ident $key:literal, $name:expr, $default:expr, $set:expr) => {{
        const NAME: &std::ffi::CStr = $name;
        const HELP: &std::ffi::CStr = $crate::derived::Text::help($key, $default).c();
        Directive { name: NAME, place: Place::$place, help: HELP, does: Does::Set(|at, words| $set(at, $key, words)) }
    }};
}

/// A former directive: an error that names its replacement.
macro_rules! former {
    ($key:literal) => {
        former!($crate::derived::Text::name($key).c(), $crate::derived::replacement($key))
    };
    ($name:expr, $replacement:expr) => {{
        const NAME: &std::ffi::CStr = $name;
        const REPLACEMENT: &str = $replacement;
        let error: fn(&mut Setting<'_, Oai>, &[&str]) -> Taken = |_, _| Err(REPLACEMENT.to_owned());
        Directive { name: NAME, place: Place::Section, help: c"former directive", does: Does::Set(error) }
    }};
}

pub(crate) use {former, setting};

/// A C string that the compiler builds.
pub(crate) struct Text {
    bytes: [u8; 300],
    length: usize,
}

impl Text {
    /// Returns the name of the directive for a setting.
    pub(crate) const fn name(key: &str) -> Self {
        let mut text = Self::of("OAI");
        let (key, mut at) = (key.as_bytes(), 0);
        while at < key.len() {
            let starts_word = at == 0 || key[at - 1] == b'_';
            if key[at] != b'_' {
                text.bytes[text.length] = if starts_word { key[at].to_ascii_uppercase() } else { key[at] };
                text.length += 1;
            }
            at += 1;
        }
        text
    }

    /// Returns the help of a setting: the first sentence of its explanation, and a default.
    pub(crate) const fn help(key: &str, default: &str) -> Self {
        let doc = row(key).1;
        let doc = if doc.as_bytes()[0] == b' ' { doc.split_at(1).1 } else { doc };
        let (sentence, _) = doc.split_at(end_of_sentence(doc.as_bytes()));
        let text = Self::of(sentence).with(" (default: ");
        let default = match default.as_bytes() {
            b"true" => "On",
            b"false" => "Off",
            b"" | b"\"\"" | b"[]" => "none",
            [b'"', .., b'"'] => default.split_at(default.len() - 1).0.split_at(1).1,
            _ => default,
        };
        text.with(default).with(")")
    }

    pub(crate) const fn of(text: &str) -> Self {
        Self { bytes: [0; 300], length: 0 }.with(text)
    }

    pub(crate) const fn with(mut self, more: &str) -> Self {
        let mut at = 0;
        while at < more.len() {
            self.bytes[self.length] = more.as_bytes()[at];
            self.length += 1;
            at += 1;
        }
        self
    }

    pub(crate) const fn c(&self) -> &CStr {
        match CStr::from_bytes_until_nul(&self.bytes) {
            Ok(text) => text,
            Err(_) => panic!("the text is too long"),
        }
    }
}

const fn end_of_sentence(doc: &[u8]) -> usize {
    let mut at = 0;
    while at + 1 < doc.len() && !(doc[at] == b'.' && doc[at + 1] == b' ') {
        at += 1;
    }
    at
}

/// Returns the default of a setting, in the notation of the configuration file.
pub(crate) const fn default(key: &str) -> &'static str {
    row(key).0
}

/// Returns the default and the explanation of a setting.
const fn row(key: &str) -> (&'static str, &'static str) {
    match (find(SETTINGS, key), find(SITE_SETTINGS, key), find(FLOW_SETTINGS, key)) {
        (Some(row), ..) | (_, Some(row), _) | (.., Some(row)) => row,
        _ => panic!("unknown setting"),
    }
}

const fn find<T>(rows: &'static [Row<T>], key: &str) -> Option<(&'static str, &'static str)> {
    let mut at = 0;
    while at < rows.len() {
        if is_equal(rows[at].key.as_bytes(), key.as_bytes()) {
            return Some((rows[at].default, rows[at].doc));
        }
        at += 1;
    }
    None
}

const fn is_equal(one: &[u8], other: &[u8]) -> bool {
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    one.len() == other.len() && at == one.len()
}

/// Returns the error of a former directive.
pub(crate) const fn replacement(key: &str) -> &'static str {
    let mut at = 0;
    while !is_equal(FORMER[at].0.as_bytes(), key.as_bytes()) {
        at += 1;
    }
    FORMER[at].1
}

/// Sets a setting to the arguments of its directive.
pub(crate) fn set(setting: &mut Setting<'_, Oai>, key: &'static str, arguments: Arguments<'_>) -> Taken {
    let value = match default(key).as_bytes().first() {
        Some(b't' | b'f') => Value::from(on_or_off(arguments)?),
        Some(b'[') => texts(arguments)?,
        Some(b'"') => Value::from(one(arguments)?),
        _ => number_or_text(one(arguments)?),
    };
    put(setting, key, value)
}

/// Notes a value: for the server, or for the catalogue of a section.
pub(crate) fn put(setting: &mut Setting<'_, Oai>, key: &'static str, value: Value) -> Taken {
    let Some(section) = setting.section else { return setting.server.assign(key, value) };
    setting.server.settings_in.push((section.to_owned(), setting.name.to_owned()));
    Arc::make_mut(setting.directory.catalogue.get_or_insert_default()).assign(key, value)
}

pub(crate) fn one<'a>(arguments: Arguments<'a>) -> Result<&'a str, String> {
    match arguments {
        [one] => Ok(one),
        [] => Err("needs an argument".to_owned()),
        [_, rest @ ..] => Err(format!("takes one argument, but '{}' follows it; put quotes around it", rest.join(" "))),
    }
}

pub(crate) fn on_or_off(arguments: Arguments<'_>) -> Result<bool, String> {
    match one(arguments)? {
        on if on.eq_ignore_ascii_case("on") => Ok(true),
        off if off.eq_ignore_ascii_case("off") => Ok(false),
        other => Err(format!("needs On or Off, not '{other}'")),
    }
}

pub(crate) fn texts(arguments: Arguments<'_>) -> Result<Value, String> {
    match arguments {
        [] => Err("needs at least one argument".to_owned()),
        several => Ok(several.iter().map(|text| Value::from(*text)).collect()),
    }
}

pub(crate) fn number_or_text(text: &str) -> Value {
    text.parse::<i64>().map_or_else(|_| Value::from(text), Value::from)
}
