//! Checks the syntax of `tel:` and `sms:` URLs (RFC 3966, RFC 5724), as leniently as telephones dial them.

use percent_encoding::percent_decode_str;

/// Returns the error in a `tel:` or `sms:` URL, if it has one.
pub(super) fn fault(url: &str) -> Option<&'static str> {
    let rest = url.split_once(':').map_or("", |(_, rest)| rest);
    let number = rest.split([';', '?', '#']).next().unwrap_or_default();
    let Ok(number) = percent_decode_str(number).decode_utf8() else {
        return Some("the telephone number is not valid UTF-8");
    };
    let number = number.trim();
    if number.is_empty() {
        return Some("the telephone number is missing");
    }
    if !number.contains(|character: char| character.is_ascii_digit()) {
        return Some("the telephone number has no digits");
    }
    let digits = number.strip_prefix('+').unwrap_or(number);
    // Separators, the keys of a telephone, and pauses while dialling.
    let is_dialled = |character: char| {
        character.is_ascii_digit()
            || character.is_whitespace()
            || "-./()*#ABCDabcd,pwPW\u{2010}\u{2011}".contains(character)
    };
    (!digits.chars().all(is_dialled)).then_some("the telephone number has characters that cannot be dialled")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_checked_for_their_syntax() {
        for good in [
            "tel:+1-201-555-0123",
            "tel:7042;phone-context=example.com",
            "tel:+44%20(0)20%207946%200000",
            "tel:*100",
            "tel:112",
            "tel:+49.30/123456,,7",
            "sms:+15105550101?body=hello%20there",
        ] {
            assert_eq!(fault(good), None, "{good}");
        }
        for bad in
            ["tel:", "tel:%20", "tel:call", "tel:+", "tel:1-800-FLOWERS", "tel:1+2", "tel:12@example.org", "tel:%FF1"]
        {
            assert!(fault(bad).is_some(), "{bad}");
        }
    }
}
