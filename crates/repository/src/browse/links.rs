//! Requests as links, and which links are followed.
//!
//! Links hold only a query, or a path, so that they lead back to wherever the page was opened: behind a proxy or a tunnel
//! that is not the URL the repository knows itself by.

use modoai_protocol::query;

/// The name below the base URL at which every client gets XML: the link "as XML" on each page leads there. It is a
/// path because OAI-PMH forbids further arguments.
pub const XML_NAME: &str = "xml";

/// The page of a request.
pub(super) fn page(arguments: &[(&str, &str)]) -> String {
    format!("?{}", query::render(arguments.iter().copied()))
}

/// The text as a link, if it is one to the web. Whatever else it may be (`javascript:`, `data:`) stays text.
pub(super) fn web(text: &str) -> Option<String> {
    let has_scheme = |scheme: &str| text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    (has_scheme("http://") || has_scheme("https://")).then(|| text.to_owned())
}

/// The answer to a request as XML, for a browser too. None for a request that could not be read.
pub(super) fn xml(base_url: &str, arguments: &[(String, String)]) -> Option<String> {
    if arguments.is_empty() {
        return None;
    }
    let host_and_path = base_url.split_once("://").map_or(base_url, |(_, rest)| rest);
    let path = host_and_path.split_once('/').map_or("", |(_, path)| path).trim_end_matches('/');
    let slash = if path.is_empty() { "" } else { "/" };
    let pairs = arguments.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    Some(format!("/{path}{slash}{XML_NAME}?{}", query::render(pairs)))
}

/// A command that fetches an answer as harvesters get it, safe to paste into a shell. None for a request that could not
/// be read and so not be repeated.
pub(super) fn command(base_url: &str, arguments: &[(String, String)]) -> Option<String> {
    if arguments.is_empty() {
        return None;
    }
    let pairs = arguments.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let url = format!("{base_url}?{}", query::render(pairs));
    Some(format!("curl '{}'", url.replace('\'', r"'\''")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_web_is_linked() {
        for link in ["http://example.org/", "https://example.org/a?b", "HTTPS://EXAMPLE.ORG/"] {
            assert_eq!(web(link).as_deref(), Some(link));
        }
        for text in ["javascript:alert(1)//http://", " http://a/", "data:text/html,x", "oai:example.org:a", "é", ""] {
            assert_eq!(web(text), None);
        }
    }

    #[test]
    fn the_link_to_xml_is_a_path_below_the_base() {
        let arguments = [("verb".to_owned(), "a&b".to_owned())];
        for (base, link) in [
            ("https://example.org/modoai", "/modoai/xml?verb=a%26b"),
            ("https://example.org/a/b/", "/a/b/xml?verb=a%26b"),
            ("https://example.org", "/xml?verb=a%26b"),
        ] {
            assert_eq!(xml(base, &arguments).as_deref(), Some(link));
        }
        assert_eq!(xml("https://example.org/modoai", &[]), None);
    }

    #[test]
    fn a_command_stays_one_argument() {
        let arguments = [("verb".to_owned(), "a'; echo $(id) &".to_owned())];
        let expected = r"curl 'http://a/it'\''s?verb=a%27%3B%20echo%20%24%28id%29%20%26'";
        assert_eq!(command("http://a/it's", &arguments).as_deref(), Some(expected));
    }
}
