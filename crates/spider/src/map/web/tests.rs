//! Tests the selection of pages of a web that is too large, and the text of their problems.

use super::*;
use crate::reference::Kind;
use crate::results::{Earlier, Finding, Infostructure, Run};

/// A chain of documents, each of which links to all others; those at odd places have a broken link.
struct Chain(Vec<(Document, Vec<Referenced>)>, Run);

impl Chain {
    fn of(length: u32) -> Self {
        let url = |node: u32| format!("https://x.example/{node:04}");
        let reference = |node: u32| Referenced {
            node: (node < length).then_some(node),
            is_inside: node < length,
            verdict: if node < length { Verdict::Good } else { Verdict::Broken },
            ..Referenced::new(Kind::Anchor, 1, "", url(node))
        };
        let document = |node: u32| Document {
            owner: Some(if node.is_multiple_of(3) { "few" } else { "many" }.into()),
            depth: node,
            ..Document::new(node, url(node))
        };
        let references = |node: u32| (0..length).chain((node % 2 == 1).then_some(9_000)).map(reference).collect();
        Self((0..length).map(|node| (document(node), references(node))).collect(), Run::default())
    }
}

impl Results for Chain {
    fn run(&self) -> &Run {
        &self.1
    }
    fn infostructures(&self) -> &[Infostructure] {
        &[]
    }
    fn documents(&self, _: usize, visit: &mut dyn FnMut(&Document, &[Referenced]) -> Visit) -> Visit {
        self.0.iter().try_for_each(|(document, references)| visit(document, references))
    }
    fn findings(&self, _: Option<usize>, _: &mut dyn FnMut(&Finding) -> Visit) -> Visit {
        Ok(())
    }
    fn earlier(&self, _: Option<usize>, _: &mut dyn FnMut(&Earlier) -> Visit) -> Visit {
        Ok(())
    }
}

#[test]
fn what_is_left_out_is_far_and_well_and_counted() {
    let limits = Limits { pages: 7, links: 30, problems_of_a_page: 60, problems: 2 };
    let web = Web::read(&Chain::of(10), 0, limits).expect("a web");
    // The top, the five with a broken link, and the nearest of the others.
    let kept: Vec<u32> = web.pages.iter().map(|page| page.node).collect();
    assert_eq!(kept, [0, 1, 2, 3, 5, 7, 9]);
    assert_eq!(web.pages_left_out, 3);
    assert_eq!(web.links.iter().map(Vec::len).sum::<usize>(), 30);
    assert_eq!(web.links_left_out, 7 * 6 - 30);
    let reported: usize = web.pages.iter().map(|page| page.problems.len()).sum();
    let left_out: usize = web.pages.iter().map(|page| page.problems_left_out).sum();
    assert_eq!((reported, left_out, web.ends.len()), (2, 3, 1));
}

#[test]
fn owners_with_most_pages_come_first_and_parents_are_nearest_to_the_top() {
    let web = Web::read(&Chain::of(10), 0, Limits::default()).expect("a web");
    assert_eq!(web.owners, ["many", "few"]);
    assert_eq!(web.pages[3].owner, Some(1));
    assert!(web.pages[0].parent.is_none());
    assert!(web.pages[1..].iter().all(|page| page.parent == Some(0) && page.links_in == 9));
}

#[test]
fn text_is_one_line_without_tricks() {
    assert_eq!(presentable(" a\n\u{202e}b\u{7} "), "a b");
    assert_eq!(presentable(&"x".repeat(1_000)).chars().count(), LONGEST_TEXT);
}
