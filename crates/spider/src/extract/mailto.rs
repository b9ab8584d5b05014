//! Checks the syntax of `mailto:` URLs (RFC 6068), but not the existence of the address.

use percent_encoding::percent_decode_str;

/// The fields that contain addresses.
const RECIPIENTS: [&str; 3] = ["to", "cc", "bcc"];

/// Returns the error in a `mailto:` URL, if it has one.
pub(super) fn fault(url: &str) -> Option<&'static str> {
    let rest = url.split_once(':').map_or("", |(_, rest)| rest);
    let rest = rest.split('#').next().unwrap_or_default();
    let (to, fields) = rest.split_once('?').map_or((rest, None), |(to, fields)| (to, Some(fields)));
    if !is_well_encoded(rest) {
        return Some("a percent sign is not followed by two hexadecimal digits");
    }
    if to.trim().is_empty() && fields.is_none_or(str::is_empty) {
        return Some("missing recipient");
    }
    let in_to = addresses(to).find_map(fault_of_address);
    in_to.or_else(|| fields.and_then(fault_of_fields))
}

fn fault_of_fields(fields: &str) -> Option<&'static str> {
    // A repeated `&amp;` is a common mistake, and only results in an empty field.
    fields.split('&').filter(|field| !field.is_empty()).find_map(|field| {
        let Some((name, value)) = field.split_once('=') else { return Some("a field without a value") };
        let holds_addresses = RECIPIENTS.iter().any(|there| there.eq_ignore_ascii_case(name));
        if holds_addresses { addresses(value).find_map(fault_of_address) } else { None }
    })
}

/// Returns the addresses of a list. The list may be empty: `mailto:?subject=…` leaves the address to the sender.
fn addresses(list: &str) -> impl Iterator<Item = &str> {
    let list = list.trim();
    let is_list = !list.is_empty();
    list.split(',').filter(move |_| is_list)
}

fn fault_of_address(encoded: &str) -> Option<&'static str> {
    let Ok(address) = percent_decode_str(encoded).decode_utf8() else { return Some("an address with invalid UTF-8") };
    let address = address.trim();
    if address.is_empty() {
        return Some("empty address");
    }
    let Some((local, domain)) = address.rsplit_once('@') else { return Some("missing @") };
    if !is_local_part(local) {
        return Some("invalid part before the @");
    }
    (!is_domain(domain)).then_some("invalid domain")
}

fn is_local_part(local: &str) -> bool {
    if local.len() > 64 {
        return false;
    }
    if let Some(quoted) = local.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        let mut is_escaped = false;
        let is_legal = quoted.chars().all(|character| {
            let is_legal = is_escaped || character != '"';
            is_escaped = !is_escaped && character == '\\';
            is_legal && !character.is_control()
        });
        return is_legal && !is_escaped;
    }
    let is_word = |word: &str| {
        !word.is_empty()
            && word.chars().all(|character| {
                character.is_ascii_alphanumeric() || !character.is_ascii() || "!#$%&'*+-/=?^_`{|}~".contains(character)
            })
    };
    local.split('.').all(is_word)
}

fn is_domain(domain: &str) -> bool {
    if let Some(literal) = domain.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        return !literal.is_empty() && literal.bytes().all(|byte| byte.is_ascii_graphic() && !b"[]\\".contains(&byte));
    }
    let is_label = |label: &str| {
        !label.is_empty()
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.chars().all(|character| character.is_alphanumeric() || character == '-')
    };
    domain.len() <= 255 && domain.split('.').all(is_label)
}

fn is_well_encoded(text: &str) -> bool {
    let mut pieces = text.split('%');
    pieces.next();
    pieces.all(|piece| piece.len() >= 2 && piece.bytes().take(2).all(|byte| byte.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_judged_by_their_syntax() {
        for good in [
            "mailto:chris@example.com",
            "mailto:a@b",
            "mailto:addr1@an.example,addr2@an.example",
            "mailto:?to=joe@example.com&cc=bob@example.com&body=hello",
            "mailto:?subject=Look&body=here",
            "mailto:list@example.org?In-Reply-To=%3C3469A91.D10AF4C@example.com%3E",
            "mailto:gorby%25kremvax@example.com",
            "mailto:unlikely%3Faddress@example.com",
            "mailto:%22not%40me%22@example.org",
            "mailto:user@%E7%B4%8D%E8%B1%86.example.org?subject=Test",
            "mailto:a@[192.0.2.1]",
            "mailto: a@b.test",
        ] {
            assert_eq!(fault(good), None, "{good}");
        }
        for bad in [
            "mailto:",
            "mailto:?",
            "mailto:joe",
            "mailto:@example.com",
            "mailto:joe@",
            "mailto:a@b@c",
            "mailto:a..b@c",
            "mailto:.a@b",
            "mailto:a@b..c",
            "mailto:a@-b",
            "mailto:a@b%",
            "mailto:a@b%zz",
            "mailto:a@b,",
            "mailto:Joe <joe@example.com>",
            "mailto:joe@example.com;bob@example.com",
            "mailto:a%FF@b",
            "mailto:?to=joe",
            "mailto:a@b?subject",
        ] {
            assert!(fault(bad).is_some(), "{bad}");
        }
    }
}
