//! Builds links of requests, and decides which links in metadata are active.
//!
//! Links contain only a query, or a path, so that they work at any address of the page: behind a proxy or a tunnel the
//! address differs from the base URL of the repository.

use modoai_protocol::query;

use super::form::Form;

/// Returns the link to the page of a request.
pub(super) fn page(arguments: &[(&str, &str)]) -> String {
    format!("?{}", query::render(arguments.iter().copied()))
}

/// Returns the text as a link, if it is one to the web. Any other URL (`javascript:`, `data:`) stays text.
pub(super) fn web(text: &str) -> Option<String> {
    let has_scheme = |scheme: &str| text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    (has_scheme("http://") || has_scheme("https://")).then(|| text.to_owned())
}

/// Returns the link to the response in another form, also for a browser. `None` for a request that could not be read.
pub(super) fn in_form(base_url: &str, form: Form, arguments: &[(&str, &str)]) -> Option<String> {
    let name = form.name().filter(|_| !arguments.is_empty())?;
    let host_and_path = base_url.split_once("://").map_or(base_url, |(_, rest)| rest);
    let path = host_and_path.split_once('/').map_or("", |(_, path)| path).trim_end_matches('/');
    let slash = if path.is_empty() { "" } else { "/" };
    Some(format!("/{path}{slash}{name}?{}", query::render(arguments.iter().copied())))
}

/// Returns the URL of a request, as harvesters send it. `None` for a request that could not be read and so cannot be
/// repeated.
pub(super) fn request(base_url: &str, arguments: &[(&str, &str)]) -> Option<String> {
    (!arguments.is_empty()).then(|| format!("{base_url}?{}", query::render(arguments.iter().copied())))
}

/// Returns a command that requests a URL, safe to paste into a shell.
pub(super) fn command(url: &str) -> String {
    format!("curl '{}'", url.replace('\'', r"'\''"))
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
    fn other_forms_are_paths_below_the_base() {
        let arguments = [("verb", "a&b")];
        for (base, link) in [
            ("https://example.org/modoai", "/modoai/xml?verb=a%26b"),
            ("https://example.org/a/b/", "/a/b/xml?verb=a%26b"),
            ("https://example.org", "/xml?verb=a%26b"),
        ] {
            assert_eq!(in_form(base, Form::Xml, &arguments).as_deref(), Some(link));
        }
        assert_eq!(in_form("https://example.org/modoai", Form::Csv, &[]), None);
        assert_eq!(in_form("https://example.org/modoai", Form::Page, &arguments), None);
    }

    #[test]
    fn a_command_stays_one_argument() {
        let url = request("http://a/it's", &[("verb", "a'; echo $(id) &")]).expect("arguments");
        assert_eq!(command(&url), r"curl 'http://a/it'\''s?verb=a%27%3B%20echo%20%24%28id%29%20%26'");
    }
}
