//! Extracts references from `Link` response headers (RFC 8288).

use url::Url;

use super::attributes;
use super::gather::Gathered;
use super::resolve::Resolver;
use super::tokens::beginning;
use crate::reference::{Kind, Leads};

/// The maximum number of bytes of headers.
const MOST: usize = 64 * 1024;

/// Reads the links of a response to a request for this URL.
pub(super) fn read(headers: &[&str], url: &Url, gathered: &mut Gathered) {
    if headers.is_empty() {
        return;
    }
    let resolver = Resolver::new(url);
    for header in headers {
        let mut rest = beginning(header, MOST);
        while let Some(link) = next(&mut rest) {
            // The relation determines the kind as in a page, except that all documents are links of the header.
            let Some(kind) = attributes::relation(&link.rel, &link.media_type) else { continue };
            let kind = if kind.leads() == Leads::ToDocument { Kind::LinkHeader } else { kind };
            gathered.add(&resolver, kind, 0, &link.title, link.target);
        }
    }
}

#[derive(Default)]
struct Link<'h> {
    target: &'h str,
    rel: String,
    media_type: String,
    title: String,
}

/// Returns the next link of a header. Other text is skipped, up to the next `<`.
fn next<'h>(rest: &mut &'h str) -> Option<Link<'h>> {
    let (_, after) = rest.split_once('<')?;
    let (target, after) = after.split_once('>')?;
    let mut link = Link { target, ..Link::default() };
    *rest = after;
    let mut has_rel = false;
    while let Some((name, value)) = parameter(rest) {
        match name {
            // Of several relations in one link, those of the first parameter count.
            _ if name.eq_ignore_ascii_case("rel") && !has_rel => (has_rel, link.rel) = (true, value),
            _ if name.eq_ignore_ascii_case("type") => link.media_type = value,
            _ if name.eq_ignore_ascii_case("title") => link.title = value,
            _ => {}
        }
    }
    Some(link)
}

/// Returns the next parameter of a link, with its `;`; `None` at the end of the link.
fn parameter<'h>(rest: &mut &'h str) -> Option<(&'h str, String)> {
    let after = rest.trim_start().strip_prefix(';')?;
    let end = after.find(['=', ';', ',', '<']).unwrap_or(after.len());
    let name = after[..end].trim();
    *rest = &after[end..];
    let Some(value) = rest.strip_prefix('=') else { return Some((name, String::new())) };
    let value = value.trim_start();
    if let Some(quoted) = value.strip_prefix('"') {
        let (text, beyond) = unquoted(quoted);
        *rest = beyond;
        return Some((name, text));
    }
    let end = value.find([';', ',']).unwrap_or(value.len());
    *rest = &value[end..];
    Some((name, value[..end].trim().to_owned()))
}

/// Returns a quoted string, and the text after its closing quote.
fn unquoted(text: &str) -> (String, &str) {
    let mut unquoted = String::new();
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return (unquoted, &text[at + 1..]),
            '\\' => unquoted.extend(characters.next().map(|(_, escaped)| escaped)),
            _ => unquoted.push(character),
        }
    }
    (unquoted, "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::Form;
    use crate::reference::Target;

    fn links(headers: &[&str]) -> Vec<(Kind, String, String)> {
        let mut gathered = Gathered::default();
        read(headers, &Url::parse("http://h.test/a/b").expect("it is a URL"), &mut gathered);
        let references = gathered.into_page(Form::Other).references;
        let of = |target| match target {
            Target::Web { url, .. } => url.into(),
            other => format!("{other:?}"),
        };
        references.into_iter().map(|found| (found.kind, of(found.target), found.text.into())).collect()
    }

    #[test]
    fn links_are_read_with_their_relations() {
        let found = links(&[
            "<c>; rel=\"next\"; title=\"C, \\\"D\\\"; <e>\", </s.css>; rel=stylesheet,<p>;rel=preconnect",
            "garbage, <d>;rel;x=;rel=alternate; type=\"application/rss+xml\"",
            "<e>; Rel = preload ; as=image",
            "<f",
        ]);
        let expected = [
            (Kind::LinkHeader, "http://h.test/a/c", "C, \"D\"; <e>"),
            (Kind::Stylesheet, "http://h.test/s.css", ""),
            (Kind::LinkHeader, "http://h.test/a/d", ""),
            (Kind::LinkPart, "http://h.test/a/e", ""),
        ];
        let expected = expected.map(|(kind, url, text)| (kind, url.to_owned(), text.to_owned()));
        assert_eq!(found, expected);
    }
}
