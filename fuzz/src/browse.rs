//! What shows foreign XML on a page, which is private to its crate.

// Only some of it is needed by what is fuzzed.
#[allow(dead_code)]
#[path = "../../crates/repository/src/browse/form.rs"]
mod form;
#[allow(dead_code)]
#[path = "../../crates/repository/src/browse/fragment.rs"]
mod fragment;
#[allow(dead_code)]
#[path = "../../crates/repository/src/browse/links.rs"]
mod links;
#[path = "../../crates/repository/src/browse/tokens.rs"]
mod tokens;

use modoai_protocol::xml::document::Part;

/// What a page shows of a fragment: how much text that is, and where its links lead.
pub fn shown(xml: &[u8]) -> (usize, Vec<String>) {
    let fragment = fragment::Fragment::new(&Part { bytes: xml.to_vec(), namespaces: Vec::new() });
    let values: Vec<_> = fragment.fields.iter().flatten().flat_map(|field| &field.values).collect();
    let of_fields: usize = values.iter().map(|value| value.text.len()).sum();
    let of_lines: usize = fragment.xml.iter().map(|line| line.text.len()).sum();
    let links = values.iter().filter_map(|value| value.link.clone()).collect();
    (of_fields + of_lines, links)
}
