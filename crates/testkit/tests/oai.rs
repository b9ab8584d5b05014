//! Asking a repository through HTTP, and reading what it says with the protocol's own reader.

use modoai_protocol::xml::Response;
use modoai_protocol::xml::document::Record;
use modoai_testkit::http::{self, Get};

/// One question and its answer.
pub(crate) struct Page {
    /// What was asked.
    pub(crate) query: String,
    /// What came, for the schemas to judge.
    pub(crate) xml: Vec<u8>,
    /// What it means.
    pub(crate) answer: Response,
}

/// Asks one question. Whatever the answer, errors included, it must be XML with status 200.
pub(crate) fn ask(client: &mut impl Get, query: &str) -> Page {
    read(query, client.get(&format!("/modoai?{query}")).expect("an answer"))
}

/// Reads the answer to one question; asking and reading apart are for those who ask many questions at once.
pub(crate) fn read(query: &str, response: http::Response) -> Page {
    assert_eq!(response.status, 200, "{query}: {}", response.text());
    let media_type = response.header("Content-Type").unwrap_or_default();
    assert!(media_type.starts_with("text/xml"), "{query}: {media_type}");
    let answer = Response::read(&response.body);
    let answer = answer.unwrap_or_else(|error| panic!("{query}: {error}\n{}", response.text()));
    Page { query: query.to_owned(), xml: response.body, answer }
}

/// All pages of a list. Checks what every list must obey: cursors that count, a size that is true, a last token that is
/// empty if there was one before.
pub(crate) fn pages(client: &mut impl Get, query: &str) -> Vec<Page> {
    let verb = query.split('&').find(|pair| pair.starts_with("verb=")).expect("a verb");
    let mut pages = vec![ask(client, query)];
    let mut seen = 0;
    loop {
        let page = &pages.last().expect("there is one").answer;
        let Some(token) = &page.token else {
            assert_eq!(pages.len(), 1, "{query}: the last page of several has no token");
            return pages;
        };
        if let Some(cursor) = &token.cursor {
            assert_eq!(cursor, &seen.to_string(), "{query}: the cursor of page {}", pages.len());
        }
        seen += page.records.len() + page.sets.len();
        if token.value.is_empty() {
            if let Some(size) = &token.size {
                assert_eq!(size, &seen.to_string(), "{query}: the size of the list");
            }
            return pages;
        }
        let next = ask(client, &format!("{verb}&resumptionToken={}", http::encode(&token.value)));
        assert_eq!(next.answer.errors, [], "{}", next.query);
        pages.push(next);
    }
}

/// All records of a list; none if nothing matches.
pub(crate) fn harvest(client: &mut impl Get, query: &str) -> Vec<Record> {
    pages(client, query).into_iter().flat_map(|page| page.answer.records).collect()
}

/// The specs of all sets.
pub(crate) fn harvest_sets(client: &mut impl Get) -> std::collections::BTreeSet<String> {
    let pages = pages(client, "verb=ListSets");
    pages.into_iter().flat_map(|page| page.answer.sets).map(|set| set.spec).collect()
}
