//! Converts strings to the form of records: without line breaks for layout, and without TeX where possible.

use std::borrow::Cow;

use crate::record::{Agent, Record};
use crate::tex;

/// Replaces every sequence of whitespace with one space, and removes it at the ends.
pub(super) fn squeezed(text: &str) -> Cow<'_, str> {
    let text = text.trim();
    let bytes = text.as_bytes();
    let odd = |at: usize| match bytes[at] {
        b' ' => bytes.get(at + 1) == Some(&b' '),
        byte => byte.is_ascii_whitespace(),
    };
    if !(0..bytes.len()).any(odd) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for word in text.split_ascii_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    Cow::Owned(out)
}

/// Returns the text with TeX converted to characters if `tex` is true, otherwise unchanged.
pub(super) fn text(text: Cow<'_, str>, tex: bool) -> String {
    match if tex { tex::to_unicode(&text) } else { Cow::Borrowed(&*text) } {
        Cow::Owned(converted) => converted,
        Cow::Borrowed(_) => text.into_owned(),
    }
}

/// Converts the TeX in a record's strings to characters.
pub(super) fn record(record: &mut Record) {
    let texts = record.title.iter_mut().chain(&mut record.abstract_).chain(&mut record.subjects);
    texts.for_each(convert);
    for agent in record.creators.iter_mut().chain(&mut record.contributors) {
        let Agent { family, given, suffix, affiliations, .. } = agent;
        convert(family);
        given.iter_mut().chain(suffix).chain(affiliations).for_each(convert);
    }
}

fn convert(text: &mut String) {
    if let Cow::Owned(converted) = tex::to_unicode(text) {
        *text = converted;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_is_single() {
        assert_eq!(squeezed("  On\n  the   road\t"), "On the road");
        assert!(matches!(squeezed(" as it is\n"), Cow::Borrowed("as it is")));
        assert_eq!(squeezed(" \n "), "");
    }

    #[test]
    fn names_and_titles_become_characters() {
        let mut one = Record {
            title: Some(r"\'Etude".to_owned()),
            creators: vec![Agent { given: Some(r"\O.".to_owned()), ..Agent::named(r#"M\"uller"#) }],
            ..Record::default()
        };
        record(&mut one);
        assert_eq!(one.title.as_deref(), Some("Étude"));
        assert_eq!((one.creators[0].family.as_str(), one.creators[0].given.as_deref()), ("Müller", Some("Ø.")));
    }
}
