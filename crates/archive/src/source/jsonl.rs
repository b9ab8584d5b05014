//! Lines of JSON, each a record in the form of [`crate::record`].

use std::fmt;

use serde::de::{Deserializer as _, Error as _, IgnoredAny, MapAccess, Visitor};

use super::{Content, Fault, Kind, Options, Place, Reading, plain};
use crate::record::Record;
use crate::record::lenient::Text;

/// Reads lines of JSON.
pub(super) struct Jsonl {
    tex: bool,
    fingerprint: u64,
}

impl Jsonl {
    pub(super) fn new(options: &Options) -> Self {
        Self { tex: options.tex == Some(true), fingerprint: options.fingerprint(Kind::Jsonl, 2) }
    }
}

impl Reading for Jsonl {
    fn identifier(&self, bytes: &[u8], _: &Place) -> Result<String, Fault> {
        first_text(bytes, "identifier")
    }

    fn read(&self, bytes: &[u8], _: &Place) -> Result<Content, Fault> {
        let mut record: Record = serde_json::from_slice(bytes).map_err(|error| fault(&error, bytes))?;
        record.identifier = legal(&record.identifier, "identifier")?;
        if self.tex {
            plain::record(&mut record);
        }
        Ok(Content { record, given: Vec::new() })
    }

    fn fingerprint(&self) -> u64 {
        self.fingerprint
    }
}

/// Returns the identifier without surrounding whitespace, if it is valid.
pub(super) fn legal(identifier: &str, field: &str) -> Result<String, Fault> {
    match identifier.trim() {
        "" => Err(Fault(format!("missing field `{field}`"))),
        text if text.chars().any(char::is_control) => Err(Fault(format!("field `{field}`: control characters"))),
        text => Ok(text.to_owned()),
    }
}

/// Returns the string value of a field of an object. The rest of the object is not parsed.
pub(super) fn first_text(bytes: &[u8], field: &str) -> Result<String, Fault> {
    struct Seeker<'a> {
        field: &'a str,
        found: &'a mut Option<String>,
    }
    impl<'de> Visitor<'de> for Seeker<'_> {
        type Value = ();

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object with the fields of a record")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
            while let Some(Text(key)) = map.next_key::<Text<'de>>()? {
                if key == self.field {
                    let text = map.next_value::<Text<'de>>();
                    let text = text.map_err(|error| A::Error::custom(format_args!("field `{key}`: {error}")))?;
                    *self.found = Some(text.into_string());
                    // The parser cannot be stopped in any other way.
                    return Err(A::Error::custom("found"));
                }
                map.next_value::<IgnoredAny>()?;
            }
            Ok(())
        }
    }
    let mut found = None;
    let read = serde_json::Deserializer::from_slice(bytes).deserialize_map(Seeker { field, found: &mut found });
    match (found, read) {
        (Some(text), _) => legal(&text, field),
        (None, Err(error)) => Err(fault(&error, bytes)),
        (None, Ok(())) => legal("", field),
    }
}

/// The library's messages for invalid JSON, and the wording for the author of the line.
const SAID: [(&str, &str); 10] = [
    ("invalid type: sequence, expected an object with the fields of a record", ARRAY),
    ("invalid type: sequence, expected an object with the fields of a paper", ARRAY),
    ("EOF while parsing a list", BREAKS_OFF),
    ("EOF while parsing an object", BREAKS_OFF),
    ("EOF while parsing a string", BREAKS_OFF),
    ("EOF while parsing a value", BREAKS_OFF),
    ("expected ident", "invalid JSON: only true, false and null can be written without quotation marks"),
    ("expected value", "invalid JSON: expected a value"),
    ("trailing characters", "unexpected content after the record"),
    ("recursion limit exceeded", "nested too deeply"),
];

const BREAKS_OFF: &str = "the line is truncated";
const ARRAY: &str = "expected one object per line, not an array; convert the array with `jq -c '.[]'`";

/// Returns the error in a line, and its position.
pub(super) fn fault(error: &serde_json::Error, bytes: &[u8]) -> Fault {
    if let Err(error) = std::str::from_utf8(bytes) {
        return Fault(format!("column {}: invalid UTF-8", error.valid_up_to() + 1));
    }
    let said = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    match said.strip_suffix(&position) {
        Some(what) => {
            // The library counts from 1, but reports 0 for an array that begins the line.
            let column = error.column().max(1);
            // The message follows the names of the fields that contain the error.
            let said = SAID.iter().find_map(|(theirs, ours)| Some(format!("{}{ours}", what.strip_suffix(theirs)?)));
            Fault(format!("column {column}: {}", said.as_deref().unwrap_or(what)))
        }
        None => Fault(said),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn place() -> Place {
        Place { file: Arc::new("x.jsonl".into()), line: 1 }
    }

    fn read(line: &[u8]) -> Result<Record, String> {
        Jsonl::new(&Options::default()).read(line, &place()).map(|content| content.record).map_err(|fault| fault.0)
    }

    fn identifier(line: &[u8]) -> Result<String, String> {
        Jsonl::new(&Options::default()).identifier(line, &place()).map_err(|fault| fault.0)
    }

    #[test]
    fn a_line_is_a_record() {
        let line = br#"{"title":"On \u0041","identifier":" x/1 ","creators":"A, B","rating":5}"#;
        assert_eq!(identifier(line).as_deref(), Ok("x/1"));
        let record = read(line).expect("legal");
        assert_eq!((record.identifier.as_str(), record.title.as_deref()), ("x/1", Some("On A")));
        assert_eq!(record.further["rating"], 5);
        for number in ["17", "-17", "9007199254740993", "18446744073709551615"] {
            let line = format!("{{\"identifier\":{number}}}");
            assert_eq!(identifier(line.as_bytes()).as_deref(), Ok(number));
            assert_eq!(read(line.as_bytes()).expect("legal").identifier, number);
        }
        for number in ["1.50", "1e3", "12345678901234567890123"] {
            let line = format!("{{\"identifier\":{number}}}");
            assert!(identifier(line.as_bytes()).expect_err("not as it was written").contains("whole number"));
            assert!(read(line.as_bytes()).expect_err("not as it was written").contains("whole number"));
        }
    }

    #[test]
    fn the_identifier_is_had_without_the_rest() {
        assert_eq!(identifier(br#"{"identifier":"a","title":}"#).as_deref(), Ok("a"));
    }

    #[test]
    fn bad_lines_are_told_what_and_where() {
        for (line, said) in [
            (&b"{}"[..], "missing field `identifier`"),
            (br#"{"identifier":" "}"#, "missing field `identifier`"),
            (br#"{"identifier":"a\u0007"}"#, "field `identifier`: control characters"),
            (br#"{"identifier":["a"]}"#, "column 15: field `identifier`: invalid type: sequence, expected text"),
            (br#"["a", 1]"#, &format!("column 1: {ARRAY}")),
            (b"hello", "column 1: invalid JSON: expected a value"),
            (
                br#"{"identifier":nul}"#,
                "column 18: field `identifier`: invalid JSON: only true, false and null can be written without \
                    quotation marks",
            ),
            (br#"{"identifier":"a"#, "column 16: field `identifier`: the line is truncated"),
            (br#"{"title":"a""#, "column 12: the line is truncated"),
            (b"{\"identifier\xff\":1}", "column 13: invalid UTF-8"),
        ] {
            assert_eq!(read(line).expect_err(said), said);
            assert_eq!(identifier(line).expect_err(said), said);
        }
        assert_eq!(
            read(br#"{"identifier":"a"} x"#).expect_err("two things"),
            "column 20: unexpected content after the record"
        );
        assert_eq!(
            read(br#"{"identifier":"a","deleted":1}"#).expect_err("not a truth"),
            "column 29: field `deleted`: invalid type: integer `1`, expected a boolean"
        );
        assert!(
            read(&[&b"{\"a\":"[..], &b"[".repeat(100_000)].concat()).expect_err("deep").contains("nested too deeply")
        );
    }
}
