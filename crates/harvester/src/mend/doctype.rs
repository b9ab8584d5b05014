//! Where a document type ends, and whether it defines things.
//!
//! One that only names a schema does no harm and stays. One with an internal subset is left out as a whole: what it
//! defines could grow without end, or name files of ours, so nothing of it is resolved or expanded.

/// Finds the end of a document type, byte by byte, from behind `<!DOCTYPE` on.
#[derive(Clone, Copy)]
pub(super) struct Doctype {
    inside: Inside,
    /// Whether there is an internal subset.
    pub(super) defines: bool,
}

#[derive(Clone, Copy)]
enum Inside {
    /// Before the internal subset, or behind it.
    Outer,
    Subset,
    /// A literal that this quote ends.
    Literal(u8),
    /// In the subset, after so many bytes of `<!--`. Quotes mean nothing in a comment.
    CommentOpening(u8),
    /// After so many dashes.
    Comment(u8),
    /// In an instruction, after a question mark or not.
    Instruction(bool),
}

impl Doctype {
    pub(super) fn new() -> Self {
        Self { inside: Inside::Outer, defines: false }
    }

    /// Takes the next byte; whether it was the last one.
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
            // Behind a literal, what goes on is what it stood in.
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
