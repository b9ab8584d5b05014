//! Extracts URLs from JSON-LD. Only search engines read it, so its broken links would not be noticed.
//!
//! Contexts are not expanded. The properties of schema.org whose values are URLs are known by name; for those that may
//! also be plain words, only an unambiguous URL is accepted.

use serde_json::Value;

use super::resolve::starts_with;

/// Properties that contain URLs.
const URLS: &[&str] = &[
    "url",
    "image",
    "logo",
    "sameAs",
    "contentUrl",
    "thumbnailUrl",
    "embedUrl",
    "downloadUrl",
    "installUrl",
    "discussionUrl",
    "photo",
    "screenshot",
    "relatedLink",
    "significantLink",
    "archivedAt",
    "codeRepository",
];

/// Properties that contain URLs, names, or things.
const PERHAPS: &[&str] = &[
    "@id",
    "item",
    "mainEntityOfPage",
    "license",
    "acquireLicensePage",
    "usageInfo",
    "publishingPrinciples",
    "hasMap",
    "menu",
    "isPartOf",
    "target",
    "audio",
    "video",
    "associatedMedia",
    "primaryImageOfPage",
    "thumbnail",
];

/// Reports each URL of a piece of JSON-LD. Invalid JSON has none. The JSON parser limits the depth.
pub(super) fn read(text: &str, mut found: impl FnMut(&str)) {
    if let Ok(value) = serde_json::from_str::<Value>(text.trim()) {
        walk(&value, &mut found);
    }
}

fn walk(value: &Value, found: &mut impl FnMut(&str)) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| walk(value, found)),
        Value::Object(properties) => {
            for (name, value) in properties {
                // Contexts are vocabularies, which clients need not fetch.
                if name != "@context" {
                    let is_url = URLS.contains(&name.as_str());
                    if is_url || PERHAPS.contains(&name.as_str()) {
                        visit_references(value, is_url, found);
                    }
                    walk(value, found);
                }
            }
        }
        _ => {}
    }
}

fn visit_references(value: &Value, is_url: bool, found: &mut impl FnMut(&str)) {
    match value {
        Value::Array(values) => {
            values.iter().filter(|value| value.is_string()).for_each(|value| visit_references(value, is_url, found));
        }
        Value::String(text) if is_reference(text.trim(), is_url) => found(text.trim()),
        _ => {}
    }
}

fn is_reference(text: &str, is_url: bool) -> bool {
    // A template is filled in before use; a blank node and a fragment name things of this text.
    if text.is_empty() || text.contains(['{', ' ', '\n']) || text.starts_with("_:") || text.starts_with('#') {
        return false;
    }
    is_url
        || starts_with(text, "http://")
        || starts_with(text, "https://")
        || ["/", "./", "../"].iter().any(|start| text.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_told_from_words() {
        let mut urls = Vec::new();
        read(
            r##" {"@context": "https://schema.org", "@graph": [
                {"@id": "https://h.test/#me", "url": "page.html", "name": "url", "license": "MIT"},
                {"@id": "#local", "image": ["a.png", {"url": "b.png"}], "sameAs": "https://other.test/"},
                {"potentialAction": {"target": "https://h.test/?q={q}"}, "item": "/crumb", "@type": "URL"},
                {"logo": {"contentUrl": "c.png", "caption": "/no"}, "thumbnailUrl": 7, "url": ""}
            ]} "##,
            |url| urls.push(url.to_owned()),
        );
        urls.sort();
        let expected = ["/crumb", "a.png", "b.png", "c.png", "https://h.test/#me", "https://other.test/", "page.html"];
        assert_eq!(urls, expected);
    }

    #[test]
    fn what_is_not_json_has_no_urls() {
        for text in ["", "{", "// comment", &"[".repeat(100_000), &"{\"url\":".repeat(100_000)] {
            read(text, |url| panic!("{url}"));
        }
    }
}
