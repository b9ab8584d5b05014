//! Reads records from JSON.
//!
//! Records are written by humans and by all sorts of programs, so the same content has several forms: one creator or a
//! list of them, a name or an object, a number in place of a string. All unambiguous forms are accepted. The code is
//! written by hand because the record is also the stored format of the catalogue: reading each field directly into its
//! place, without an intermediate value of unknown type, saves a third.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::{Agent, File, Link, Record, Version};

impl<'de> Deserialize<'de> for Record {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(RecordVisitor)
    }
}

struct RecordVisitor;

impl<'de> Visitor<'de> for RecordVisitor {
    type Value = Record;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with the fields of a record")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Record, A::Error> {
        let mut record = Record::default();
        while let Some(Text(key)) = map.next_key::<Text<'de>>()? {
            let read = match &*key {
                // An import may have read it in advance, so it must be unique.
                "identifier" if !record.identifier.is_empty() => Err(A::Error::custom("it occurs twice")),
                "identifier" => text(&mut map).map(|it| record.identifier = it.unwrap_or_default()),
                "deleted" => map.next_value::<Option<bool>>().map(|it| record.deleted = it == Some(true)),
                "datestamp" => text(&mut map).map(|it| record.datestamp = it),
                "title" => text(&mut map).map(|it| record.title = it),
                "creators" => list(&mut map).map(|it| record.creators = it),
                "contributors" => list(&mut map).map(|it| record.contributors = it),
                "abstract" => text(&mut map).map(|it| record.abstract_ = it),
                "subjects" => texts(&mut map).map(|it| record.subjects = it),
                "dates" => dates(&mut map).map(|it| record.dates = it),
                "versions" => list(&mut map).map(|it| record.versions = it),
                "licence" | "license" => text(&mut map).map(|it| record.licence = it),
                "links" => list(&mut map).map(|it| record.links = it),
                "files" => list(&mut map).map(|it| record.files = it),
                "sets" => texts(&mut map).map(|it| record.sets = it),
                "provenance" => map.next_value().map(|it| record.provenance = it),
                _ => map.next_value::<Value>().map(|value| {
                    if !value.is_null() {
                        record.further.insert(key.clone().into_owned(), value);
                    }
                }),
            };
            // The position is already at the end of the message, where the library finds it again.
            read.map_err(|error| A::Error::custom(format_args!("field `{key}`: {error}")))?;
        }
        Ok(record)
    }
}

fn text<'de, A: MapAccess<'de>>(map: &mut A) -> Result<Option<String>, A::Error> {
    Ok(map.next_value::<Option<Text<'de>>>()?.map(Text::into_string))
}

fn list<'de, A: MapAccess<'de>, T: Deserialize<'de>>(map: &mut A) -> Result<Vec<T>, A::Error> {
    Ok(map.next_value::<OneOrMany<T>>()?.0)
}

fn texts<'de, A: MapAccess<'de>>(map: &mut A) -> Result<Vec<String>, A::Error> {
    Ok(list::<A, Text<'de>>(map)?.into_iter().map(Text::into_string).collect())
}

fn dates<'de, A: MapAccess<'de>>(map: &mut A) -> Result<BTreeMap<String, String>, A::Error> {
    let dates = map.next_value::<Option<BTreeMap<String, Option<Text<'de>>>>>()?.unwrap_or_default();
    Ok(dates.into_iter().filter_map(|(event, date)| Some((event, date?.into_string()))).collect())
}

/// A string, or a whole number that is meant as one. Other numbers are rejected, because their original form is lost:
/// `1.50` is 1.5, and of many digits the last are lost. Borrowed from the input if nothing in it was escaped.
pub(crate) struct Text<'a>(pub(crate) Cow<'a, str>);

impl Text<'_> {
    pub(crate) fn into_string(self) -> String {
        self.0.into_owned()
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }

            fn visit_string<E>(self, text: String) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text)))
            }

            fn visit_u64<E>(self, number: u64) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(number.to_string())))
            }

            fn visit_i64<E>(self, number: i64) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(number.to_string())))
            }

            fn visit_f64<E: Error>(self, _: f64) -> Result<Text<'de>, E> {
                Err(E::custom("text must be in quotation marks, except whole numbers of at most 19 digits"))
            }
        }
        deserializer.deserialize_any(TextVisitor)
    }
}

/// A list, or the value that would be its only element. Nulls are left out.
pub(crate) struct OneOrMany<T>(pub(crate) Vec<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ListVisitor<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for ListVisitor<T> {
            type Value = OneOrMany<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }

            fn visit_unit<E>(self) -> Result<OneOrMany<T>, E> {
                Ok(OneOrMany(Vec::new()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<OneOrMany<T>, A::Error> {
                let mut all = Vec::new();
                while let Some(one) = seq.next_element::<Option<T>>()? {
                    all.extend(one);
                }
                Ok(OneOrMany(all))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<OneOrMany<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(|one| OneOrMany(vec![one]))
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<OneOrMany<T>, E> {
                T::deserialize(serde::de::value::BorrowedStrDeserializer::new(text)).map(|one| OneOrMany(vec![one]))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<OneOrMany<T>, E> {
                T::deserialize(serde::de::value::StrDeserializer::new(text)).map(|one| OneOrMany(vec![one]))
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<OneOrMany<T>, E> {
                T::deserialize(serde::de::value::U64Deserializer::new(number)).map(|one| OneOrMany(vec![one]))
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<OneOrMany<T>, E> {
                T::deserialize(serde::de::value::I64Deserializer::new(number)).map(|one| OneOrMany(vec![one]))
            }

            fn visit_f64<E: Error>(self, number: f64) -> Result<OneOrMany<T>, E> {
                T::deserialize(serde::de::value::F64Deserializer::new(number)).map(|one| OneOrMany(vec![one]))
            }
        }
        deserializer.deserialize_any(ListVisitor(PhantomData))
    }
}

/// A type that is written as an object, or as the one string that is its main field.
pub(super) trait TextOrObject: Sized {
    /// The expected forms, for the error message.
    const EXPECTED: &'static str;

    fn from_text(text: &str) -> Self;

    fn from_object<'de, D: Deserializer<'de>>(object: D) -> Result<Self, D::Error>;
}

/// Reads either form.
pub(super) fn text_or_object<'de, D: Deserializer<'de>, T: TextOrObject>(deserializer: D) -> Result<T, D::Error> {
    struct EitherVisitor<T>(PhantomData<T>);
    impl<'de, T: TextOrObject> Visitor<'de> for EitherVisitor<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(T::EXPECTED)
        }

        fn visit_str<E>(self, text: &str) -> Result<T, E> {
            Ok(T::from_text(text))
        }

        fn visit_u64<E>(self, number: u64) -> Result<T, E> {
            Ok(T::from_text(&number.to_string()))
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
            T::from_object(MapAccessDeserializer::new(map))
        }
    }
    deserializer.deserialize_any(EitherVisitor(PhantomData))
}

/// Reads a string field of an object, as leniently as those of the record.
pub(super) fn any_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(optional_text(deserializer)?.unwrap_or_default())
}

/// The same for an optional field.
pub(super) fn optional_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(Option::<Text<'de>>::deserialize(deserializer)?.map(Text::into_string))
}

/// The same for a field with several values.
pub(super) fn many_texts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    Ok(OneOrMany::<Text<'de>>::deserialize(deserializer)?.0.into_iter().map(Text::into_string).collect())
}

impl TextOrObject for Agent {
    const EXPECTED: &'static str = "a name, or an object with `family`, `given`, …";

    fn from_text(text: &str) -> Self {
        Agent::named(text)
    }

    fn from_object<'de, D: Deserializer<'de>>(object: D) -> Result<Self, D::Error> {
        Agent::deserialize(object)
    }
}

impl TextOrObject for Link {
    const EXPECTED: &'static str = "a URL, or an object with `url`, `rel`, …";

    fn from_text(text: &str) -> Self {
        Link { url: text.trim().to_owned(), ..Link::default() }
    }

    fn from_object<'de, D: Deserializer<'de>>(object: D) -> Result<Self, D::Error> {
        Link::deserialize(object)
    }
}

impl TextOrObject for File {
    const EXPECTED: &'static str = "a path, or an object with `path`, `url`, …";

    fn from_text(text: &str) -> Self {
        File { path: text.to_owned(), ..File::default() }
    }

    fn from_object<'de, D: Deserializer<'de>>(object: D) -> Result<Self, D::Error> {
        File::deserialize(object)
    }
}

impl TextOrObject for Version {
    const EXPECTED: &'static str = "a version, or an object with `version`, `date`, …";

    fn from_text(text: &str) -> Self {
        Version { version: text.to_owned(), ..Version::default() }
    }

    fn from_object<'de, D: Deserializer<'de>>(object: D) -> Result<Self, D::Error> {
        Version::deserialize(object)
    }
}

/// The derived ways to read and write objects are inherent functions; these implementations use them for the types.
macro_rules! takes_text_or_object {
    ($($type:ty),+) => {$(
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                text_or_object(deserializer)
            }
        }

        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                <$type>::serialize(self, serializer)
            }
        }
    )+};
}

takes_text_or_object!(Agent, Link, File, Version);

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<Record, String> {
        serde_json::from_str(json).map_err(|error| error.to_string())
    }

    #[test]
    fn all_shapes_of_the_same_mean_the_same() {
        let long = r#"{"identifier":"7","creators":[{"family":"Noether","given":"Emmy"},{"family":"Bourbaki"}],
            "subjects":["algebra"],"links":[{"url":"https://example.org/7"}],"licence":"CC0","year":1921}"#;
        let short = r#"{"identifier":7,"creators":["Noether, Emmy","Bourbaki",null],"subjects":"algebra",
            "links":"https://example.org/7","license":"CC0","abstract":null,"year":1921,"nothing":null}"#;
        let record = read(long).expect("legal");
        assert_eq!(record, read(short).expect("legal"));
        assert_eq!(record.further["year"], 1921);
        assert_eq!(record.further.len(), 1);
        let one = read(r#"{"creators":{"family":"Noether","given":"Emmy"}}"#).expect("legal");
        assert_eq!(one.creators, record.creators[..1]);
    }

    #[test]
    fn what_was_written_is_read_back() {
        let record = read(
            r#"{"identifier":"a/1","deleted":true,"datestamp":"2020-01-01","title":"T","creators":["A, B"],"abstract":"S",
            "dates":{"created":"2020"},"versions":[{"version":"v1","date":"now","size":"1kb","source_type":"D"}],
            "links":[{"url":"u","rel":"pdf","media_type":"application/pdf"}],"sets":["x:y"],"doi":"10.1/2",
            "files":[{"path":"a.pdf","state":[1,-2]}],"provenance":{"base_url":"b","altered":true},"more":{"deep":[1]}}"#,
        );
        let record = record.expect("legal");
        let written = serde_json::to_string(&record).expect("a record can be written");
        assert_eq!(read(&written).expect("what we write"), record);
        assert_eq!(record.files[0].state, Some((1, -2)));
    }

    #[test]
    fn every_field_is_known_by_its_name() {
        for name in Record::FIELDS {
            let read = read(&format!(r#"{{"{name}":null}}"#)).expect("nothing is legal everywhere");
            assert_eq!(read, Record::default(), "{name}");
        }
        let full = r#"{"identifier":"a","deleted":true,"datestamp":"d","title":"t","creators":"c","contributors":"c",
            "abstract":"a","subjects":"s","dates":{"created":"d"},"versions":"v","licence":"l","links":"l","files":"f",
            "sets":"s","provenance":{}}"#;
        let written = serde_json::to_value(read(full).expect("legal")).expect("a record can be written");
        let names: Vec<&String> = written.as_object().expect("an object").keys().collect();
        assert!(names.len() == 15 && names.iter().all(|name| Record::FIELDS.contains(&name.as_str())), "{names:?}");
    }

    #[test]
    fn mistakes_are_told_with_field_and_place() {
        for (json, said) in [
            (
                r#"{"identifier":"a","title":["x"]}"#,
                "field `title`: invalid type: sequence, expected text at line 1 column 27",
            ),
            (
                r#"{"creators":[1.5]}"#,
                "field `creators`: invalid type: floating point `1.5`, expected a name, or an object with",
            ),
            (r#"{"creators":{"name":"x"}}"#, "field `creators`: unknown field `name`, expected one of `family`"),
            (r#"{"identifier":1.50}"#, "field `identifier`: text must be in quotation marks, except whole numbers"),
            (r#"{"identifier":12345678901234567890123}"#, "field `identifier`: text must be in quotation marks"),
            (r#"{"subjects":[530.10]}"#, "field `subjects`: text must be in quotation marks"),
            (r#"{"subjects":530.10}"#, "field `subjects`: text must be in quotation marks"),
            (r#"{"deleted":"yes"}"#, "field `deleted`: invalid type: string \"yes\", expected a boolean"),
            (r#"{"identifier":"a","identifier":"b"}"#, "field `identifier`: it occurs twice"),
            (r#"["a"]"#, "expected an object with the fields of a record"),
            (r#"{"identifier":"a""#, "EOF while parsing an object at line 1 column 17"),
        ] {
            let error = read(json).expect_err(json);
            assert!(error.contains(said), "{json}: {error}");
        }
    }
}
