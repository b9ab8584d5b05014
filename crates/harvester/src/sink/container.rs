//! An XML element that modoai adds around a piece of a received document. The piece is kept byte by byte.
//!
//! The piece inherited namespace declarations from its document, so the element declares them again: all that XML
//! allows, each prefix once, and none that is already in force. Declarations of an untrusted document must not change
//! the meaning of the element itself.

use std::fmt::Write as _;

use modoai_protocol::xml::writer::escaped;

use crate::mend::part::{is_name, may_be_declared};

/// The namespaces in force around containers.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings {
    /// Prefixes and URIs; the default namespace has an empty prefix. The first is that of the containers.
    pub declared: &'static [(&'static str, &'static str)],
    /// The beginning of a container's prefix if its content uses the usual prefix for another namespace.
    pub stem: &'static str,
}

/// An element around a piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Container {
    /// Its start tag.
    pub open: String,
    /// Its end tag.
    pub close: String,
}

impl Surroundings {
    /// Returns the container with this name for a piece that inherits these namespaces; `owns_default` is true if the
    /// piece declares the default namespace itself. Further attributes are appended unmodified to the start tag.
    pub fn container<S: AsRef<str>>(
        &self,
        name: &str,
        namespaces: &[(S, S)],
        owns_default: bool,
        attributes: &str,
    ) -> Container {
        let inherited = declarable(namespaces);
        let (usual, ours) = self.declared.first().copied().unwrap_or_default();
        let is_usual = match resolve(&inherited, usual) {
            Some(uri) => uri == ours,
            // A piece without a default namespace requires that none is in force.
            None => !usual.is_empty() || owns_default,
        };
        let known = inherited.iter().find(|(prefix, uri)| !prefix.is_empty() && *uri == ours);
        let (prefix, declaration) = match known {
            _ if is_usual => (usual.to_owned(), String::new()),
            Some((prefix, _)) => ((*prefix).to_owned(), String::new()),
            None => {
                let free = |candidate: &String| resolve(&inherited, candidate).is_none();
                let stem = self.stem;
                let prefix = (0_u32..).map(|n| if n == 0 { stem.to_owned() } else { format!("{stem}{n}") }).find(free);
                let prefix = prefix.expect("there are more numbers than declarations");
                let declaration = format!(" xmlns:{prefix}=\"{}\"", escaped(ours));
                (prefix, declaration)
            }
        };
        let name = if prefix.is_empty() { name.to_owned() } else { format!("{prefix}:{name}") };
        let inherited = self.attributes(&inherited, owns_default);
        Container { open: format!("<{name}{declaration}{inherited}{attributes}>"), close: format!("</{name}>") }
    }

    /// Returns the declarations that an element needs so that a piece in it, which inherits these namespaces, keeps its
    /// meaning.
    pub fn declarations<S: AsRef<str>>(&self, namespaces: &[(S, S)]) -> String {
        self.attributes(&declarable(namespaces), false)
    }

    fn attributes(&self, inherited: &[(&str, &str)], owns_default: bool) -> String {
        let in_force = |prefix: &str| resolve(self.declared, prefix);
        let default = resolve(inherited, "").unwrap_or_default();
        let mut text = String::new();
        if !owns_default && in_force("").unwrap_or_default() != default {
            let _ = write!(text, " xmlns=\"{}\"", escaped(default));
        }
        for (prefix, uri) in inherited {
            if !prefix.is_empty() && in_force(prefix) != Some(uri) {
                let _ = write!(text, " xmlns:{prefix}=\"{}\"", escaped(uri));
            }
        }
        text
    }
}

/// Returns the declarations that XML allows on one element; untrusted documents may contain others. The last of several
/// declarations of a prefix counts.
fn declarable<S: AsRef<str>>(namespaces: &[(S, S)]) -> Vec<(&str, &str)> {
    let all: Vec<_> = namespaces.iter().map(|(prefix, uri)| (prefix.as_ref(), uri.as_ref())).collect();
    let counts = |(at, (prefix, uri)): &(usize, &(&str, &str))| {
        let is_overruled = all[at + 1..].iter().any(|(later, _)| later == prefix);
        let is_legal = (prefix.is_empty() || is_name(prefix)) && may_be_declared(prefix, uri);
        // The prefix xml is predefined in every document.
        !is_overruled && is_legal && *prefix != "xml"
    };
    all.iter().enumerate().filter(counts).map(|(_, declaration)| *declaration).collect()
}

fn resolve<'a>(namespaces: &[(&str, &'a str)], prefix: &str) -> Option<&'a str> {
    namespaces.iter().find(|(known, _)| *known == prefix).map(|(_, uri)| *uri)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mend::PartCheck;

    const XSI: &str = "http://www.w3.org/2001/XMLSchema-instance";
    /// The containers' namespace is the default.
    const PLAIN: Surroundings = Surroundings { declared: &[("", "urn:ours"), ("xsi", XSI)], stem: "o" };
    /// The containers' namespace has a prefix.
    const PREFIXED: Surroundings = Surroundings { declared: &[("o", "urn:ours")], stem: "o" };

    fn tags(around: Surroundings, namespaces: &[(&str, &str)], owns_default: bool) -> String {
        let container = around.container("m", namespaces, owns_default, "");
        format!("{} {}", container.open, container.close)
    }

    #[test]
    fn only_what_is_missing_is_declared() {
        assert_eq!(tags(PLAIN, &[("", "urn:ours"), ("xsi", XSI)], false), "<m> </m>");
        assert_eq!(tags(PLAIN, &[("a", "u&v")], true), "<m xmlns:a=\"u&amp;v\"> </m>");
        assert_eq!(
            tags(PREFIXED, &[("o", "urn:ours"), ("xsi", XSI)], false),
            format!("<o:m xmlns:xsi=\"{XSI}\"> </o:m>")
        );
        assert_eq!(PREFIXED.container("m", &[("", "urn:x")], false, " a=\"1\"").open, "<o:m xmlns=\"urn:x\" a=\"1\">");
        assert_eq!(PLAIN.declarations(&[("a", "urn:a"), ("xsi", XSI)]), " xmlns=\"\" xmlns:a=\"urn:a\"");
    }

    #[test]
    fn another_default_namespace_moves_ours_to_a_prefix() {
        let ours = "xmlns:o=\"urn:ours\"";
        assert_eq!(tags(PLAIN, &[], false), format!("<o:m {ours} xmlns=\"\"> </o:m>"));
        assert_eq!(tags(PLAIN, &[("", "urn:x")], false), format!("<o:m {ours} xmlns=\"urn:x\"> </o:m>"));
        let taken = tags(PLAIN, &[("o", "urn:y"), ("q", "urn:ours")], false);
        assert_eq!(taken, "<q:m xmlns=\"\" xmlns:o=\"urn:y\" xmlns:q=\"urn:ours\"> </q:m>");
    }

    #[test]
    fn a_prefix_of_ours_that_means_something_else_is_left_to_it() {
        let taken = tags(PREFIXED, &[("o", "urn:y"), ("o1", "urn:z")], false);
        assert_eq!(taken, "<o2:m xmlns:o2=\"urn:ours\" xmlns:o=\"urn:y\" xmlns:o1=\"urn:z\"> </o2:m>");
    }

    #[test]
    fn whatever_was_declared_the_container_is_well_formed() {
        let xml = "http://www.w3.org/XML/1998/namespace";
        let xmlns = "http://www.w3.org/2000/xmlns/";
        let odd: &[&[(&str, &str)]] = &[
            &[("a", "")],
            &[("", "")],
            &[("a", "urn:a"), ("a", "")],
            &[("a", "urn:1"), ("a", "urn:2"), ("", "urn:3"), ("", "urn:4")],
            &[("xml", xml)],
            &[("xml", "urn:x"), ("xmlns", "urn:x"), ("a", xml), ("b", xmlns), ("", xmlns)],
            &[("1", "urn:x"), ("a b", "urn:x"), ("a:b", "urn:x"), ("a=\"\"><x", "urn:x"), ("é", "\"<&\0")],
            &[("o", ""), ("o", "urn:y"), ("xsi", "urn:z")],
        ];
        for namespaces in odd {
            for around in [PLAIN, PREFIXED] {
                let Container { open, close } = around.container("m", namespaces, false, "");
                let whole = format!("{open}<x/>{close}");
                assert_eq!(PartCheck::whole(whole.as_bytes(), around.declared), Ok(()), "{whole}");
            }
        }
        assert_eq!(tags(PREFIXED, odd[0], false), "<o:m> </o:m>");
        assert_eq!(tags(PREFIXED, odd[2], false), "<o:m> </o:m>", "undeclared again");
        assert_eq!(tags(PREFIXED, odd[3], false), "<o:m xmlns=\"urn:4\" xmlns:a=\"urn:2\"> </o:m>");
        assert_eq!(tags(PREFIXED, odd[5], false), "<o:m> </o:m>");
    }
}
