//! Finds the end of a document type, and detects an internal subset.
//!
//! A document type that only names a schema is harmless and kept. One with an internal subset is removed completely:
//! its definitions could expand without limit, or name local files, so none of it is resolved or expanded.

/// Finds the end of a document type, byte by byte, beginning after `<!DOCTYPE`.
#[derive(Clone, Copy)]
pub(super) struct Doctype {
    inside: Inside,
    /// True if it has an internal subset.
    pub(super) defines: bool,
}

#[derive(Clone, Copy)]
enum Inside {
    /// Before the internal subset, or behind it.
    Outer,
    Subset,
    /// A literal that this quote ends.
    Literal(u8),
    /// In the subset, after this number of bytes of `<!--`. In a comment, quotes have no meaning.
    CommentOpening(u8),
    /// After this number of dashes.
    Comment(u8),
    /// In an instruction; true after a `?`.
    Instruction(bool),
}

impl Doctype {
    pub(super) fn new() -> Self {
        Self { inside: Inside::Outer, defines: false }
    }

    /// Reads the next byte; returns true if it was the last one.
    pub(super) fn ends_with(&mut self, byte: u8) -> bool {
        use Inside::{Comment, CommentOpening, Instruction, Literal, Outer, Subset};
        self.inside = match (self.inside, byte) {
            (Outer, b'>') => return true,
            (Outer, b'[') => {
                self.defines = true;
                Subset
            }
            (Outer | Subset | CommentOpening(_), b'"' | b'\'') => Literal(byte),
            (Literal(quote), _) if quote != byte => Literal(quote),
            // After a literal, the surrounding state is restored.
            (Literal(_), _) if self.defines => Subset,
            (Literal(_) | Outer, _) | (Subset | CommentOpening(_), b']') => Outer,
            (Subset | CommentOpening(_), b'<') => CommentOpening(1),
            (CommentOpening(1), b'?') => Instruction(false),
            (CommentOpening(1), b'!') => CommentOpening(2),
            (CommentOpening(2), b'-') => CommentOpening(3),
            (CommentOpening(3), b'-') => Comment(0),
            (Subset | CommentOpening(_), _) => Subset,
            (Comment(dashes), b'-') => Comment(2.min(dashes + 1)),
            (Comment(2), b'>') | (Instruction(true), b'>') => Subset,
            (Comment(_), _) => Comment(0),
            (Instruction(_), _) => Instruction(byte == b'?'),
        };
        false
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Remedies, mended};

    #[test]
    fn what_defines_things_is_left_out() {
        let root = "<OAI-PMH a='1'></OAI-PMH>";
        for doctype in [
            "<!DOCTYPE x []>",
            "<!DOCTYPE OAI-PMH [<!ENTITY a \"]>\"><!ENTITY b '&a;&a;'>\n]  >",
            "<!doctype x SYSTEM 'a]>' [ <!-- don't ]> --> <?p ]> \" ?> <!ELEMENT a (b)> ]>",
            "<!DOCTYPE x [%p;<!ATTLIST a b CDATA '>'><!---->]>",
        ] {
            let (text, repairs) =
                mended(format!("<?xml version='1.0'?>{doctype}{root}").as_bytes(), Remedies::DOCTYPE, None);
            assert_eq!(String::from_utf8_lossy(&text), format!("<?xml version='1.0'?>{root}"));
            assert_eq!(repairs, [("document-type", 1)]);
        }
    }

    #[test]
    fn what_only_names_a_schema_stays() {
        for answer in ["<!DOCTYPE x SYSTEM \"[a]>\"><OAI-PMH/>", "<!DOCTYPE x [ <!ENTITY a '><OAI-PMH/>"] {
            assert_eq!(mended(answer.as_bytes(), Remedies::DOCTYPE, None), (answer.as_bytes().to_vec(), vec![]));
        }
    }
}
