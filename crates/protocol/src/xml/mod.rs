//! Writes OAI-PMH responses, and reads them without losing a byte.
//!
//! Both directions are implemented here because general XML libraries do not meet their requirements: the writer must
//! make ill-formed output impossible for any file name, at millions of records a second; the reader must return
//! metadata as the exact bytes received, in bounded memory, even if one record is larger than memory.

pub mod document;
pub mod envelope;
pub mod names;
pub mod reader;
pub mod writer;

pub use document::Response;
pub use reader::Reader;
pub use writer::XmlWriter;

/// The namespace of the protocol's own elements.
pub const OAI_NAMESPACE: &str = "http://www.openarchives.org/OAI/2.0/";
/// The URL at which the protocol's schema is published.
pub const OAI_SCHEMA: &str = "http://www.openarchives.org/OAI/2.0/OAI-PMH.xsd";
/// The namespace of `xsi:schemaLocation`.
pub const XSI_NAMESPACE: &str = "http://www.w3.org/2001/XMLSchema-instance";
/// The namespace of a repository's statement about its datestamps: a guarantee that harvesters may rely on.
pub const DATESTAMPS_NAMESPACE: &str = "urn:modoai:datestamps:1";

/// Returns true if XML 1.0 allows the character.
pub fn is_legal(character: char) -> bool {
    !matches!(character, '\0'..='\x08' | '\x0b' | '\x0c' | '\x0e'..='\x1f' | '\u{fffe}' | '\u{ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_those_of_the_specification() {
        // Production 2 of XML 1.0; a `char` is never a surrogate.
        let char = |c| matches!(c, '\u{9}' | '\u{a}' | '\u{d}' | '\u{20}'..='\u{fffd}' | '\u{10000}'..='\u{10ffff}');
        assert!(('\0'..=char::MAX).all(|character| is_legal(character) == char(character)));
    }
}
