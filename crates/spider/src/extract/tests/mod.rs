//! Tests the extraction of documents, by format.

mod every_reference;
mod hostile;
mod pages;

use url::Url;

use super::{Page, Source, extract};
use crate::reference::{Kind, Target};

/// Extracts a document at `http://h.test/d/page`.
fn page(media_type: &str, body: impl AsRef<[u8]>) -> Page {
    with_links(media_type, body, &[])
}

fn with_links(media_type: &str, body: impl AsRef<[u8]>, links: &[&str]) -> Page {
    let url = Url::parse("http://h.test/d/page").expect("it is a URL");
    extract(&Source { url: &url, media_type: Some(media_type), charset: None, links, body: body.as_ref() })
}

/// Returns its references: kind, and URL with fragment, or else the text of the target.
fn references(page: &Page) -> Vec<(Kind, String)> {
    page.references.iter().map(|reference| (reference.kind, written(&reference.target))).collect()
}

fn urls(page: &Page) -> Vec<String> {
    page.references.iter().map(|reference| written(&reference.target)).collect()
}

fn written(target: &Target) -> String {
    match target {
        Target::Web { url, fragment: None } => url.to_string(),
        Target::Web { url, fragment: Some(fragment) } => format!("{url}#{fragment}"),
        Target::Mail { url, fault } => format!("mail {url}{}", fault.map_or("", |_| " with a fault")),
        Target::Elsewhere { url } => format!("elsewhere {url}"),
        Target::Invalid { text, .. } => format!("invalid {text}"),
    }
}
