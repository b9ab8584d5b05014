//! Extracts the URLs of a `srcset`, split exactly as in the HTML standard: a URL ends at whitespace, not at a comma,
//! which it may contain.

/// Reports each URL of a list of images.
pub(super) fn read(list: &str, mut found: impl FnMut(&str)) {
    let mut rest = list;
    loop {
        rest = rest.trim_start_matches(|character: char| is_space(character) || character == ',');
        if rest.is_empty() {
            return;
        }
        let end = rest.find(is_space).unwrap_or(rest.len());
        let (url, beyond) = rest.split_at(end);
        let bare = url.trim_end_matches(',');
        if !bare.is_empty() {
            found(bare);
        }
        // A comma at its end means that no descriptors follow.
        rest = if bare.len() < url.len() { beyond } else { after_descriptors(beyond) };
    }
}

/// Returns the text after the comma that ends the descriptors. A comma within brackets is part of a descriptor.
fn after_descriptors(text: &str) -> &str {
    let mut is_in_brackets = false;
    for (at, character) in text.char_indices() {
        match character {
            '(' => is_in_brackets = true,
            ')' => is_in_brackets = false,
            ',' if !is_in_brackets => return &text[at + 1..],
            _ => {}
        }
    }
    ""
}

fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\r' | '\x0c')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_split_as_browsers_do() {
        for (list, expected) in [
            ("", vec![]),
            (" , ,", vec![]),
            ("a", vec!["a"]),
            ("a, b", vec!["a", "b"]),
            ("a,b", vec!["a,b"]),
            ("a 1x,b 2x", vec!["a", "b"]),
            ("a 1x, b 2x ,c 100w", vec!["a", "b", "c"]),
            ("a,, b", vec!["a", "b"]),
            ("data:image/png;base64,AA 1x, b", vec!["data:image/png;base64,AA", "b"]),
            ("a (1,2) 1x, b", vec!["a", "b"]),
            ("a (1, b", vec!["a"]),
            ("a\n1x,\tb", vec!["a", "b"]),
        ] {
            let mut urls = Vec::new();
            read(list, |url| urls.push(url.to_owned()));
            assert_eq!(urls, expected, "{list:?}");
        }
    }
}
