//! Links to repositories on a web page.

use modoai_fetch::Url;

/// The links of a web page whose URLs contain OAI or a verb, on the same host and without a query, each once.
pub(super) fn oai_links(page: &str, base: &Url) -> Vec<Url> {
    const MOST: usize = 5;
    let mut links: Vec<Url> = Vec::new();
    for rest in page.split("href=").skip(1) {
        let Some(quote) = rest.chars().next().filter(|first| matches!(first, '"' | '\'')) else { continue };
        let Some(value) = rest[1..].split(quote).next() else { continue };
        let Ok(mut url) = base.join(&value.replace("&amp;", "&")) else { continue };
        let is_oai =
            url.path().to_ascii_lowercase().contains("oai") || url.query().is_some_and(|it| it.contains("verb="));
        url.set_query(None);
        url.set_fragment(None);
        if is_oai && url.origin() == base.origin() && !links.contains(&url) {
            links.push(url);
        }
        if links.len() == MOST {
            break;
        }
    }
    links
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_repositories_are_found_on_a_page() {
        let base = Url::parse("https://example.org/about/").expect("a URL");
        let page = "<a href=\"/oai?verb=Identify\">OAI</a> <a href='../OAI2#x'>2</a> <a href=\"/help\">no</a>\
                    <a href=\"https://elsewhere.example/oai\">no</a> <a href=\"/oai\">again</a> <a href=";
        let found: Vec<_> = oai_links(page, &base).into_iter().map(String::from).collect();
        assert_eq!(found, ["https://example.org/oai", "https://example.org/OAI2"]);
    }
}
