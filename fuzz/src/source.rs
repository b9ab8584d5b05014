//! What judges XML files of an archive, which is private to its crate.

// Only some of it is needed by what is fuzzed.
#[allow(dead_code)]
#[path = "../../crates/archive/src/source/xml/document.rs"]
mod document;
#[path = "../../crates/archive/src/source/xml/encoding.rs"]
mod encoding;

/// What is wrong with an entry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Fault(pub String);

/// The root element of a file, if it may go out, and how many nodes were told of it.
pub fn root(bytes: &[u8]) -> Result<(String, usize), Fault> {
    let text = encoding::decoded(bytes)?;
    let mut nodes = 0;
    let document = document::read(&text, &mut |_| nodes += 1)?;
    assert!(!document.namespace.is_empty() && !document.name.is_empty());
    Ok((document.root.to_owned(), nodes))
}
