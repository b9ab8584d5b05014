//! Text for messages, logs and reports: errors with their causes, and untrusted text of limited length.

use std::borrow::Cow;

/// Returns an error and its causes, on one line.
pub fn with_causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// Returns a text of at most `most` characters; a longer one is cut and ends with `…`.
pub fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

/// Returns the beginning of a text, at most `most` bytes.
pub fn beginning(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|&end| text.is_char_boundary(end));
    &text[..end.unwrap_or_default()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{0}")]
    struct Because(&'static str, #[source] Option<Box<Because>>);

    #[test]
    fn causes_follow_what_they_caused() {
        let alone = Because("no answer", None);
        assert_eq!(with_causes(&alone), "no answer");
        let chain = Because("failed to harvest", Some(Box::new(Because("no connection", Some(Box::new(alone))))));
        assert_eq!(with_causes(&chain), "failed to harvest: no connection: no answer");
    }

    #[test]
    fn long_text_is_cut_between_characters() {
        assert_eq!((shortened("naïve", 5), shortened("naïve", 3)), ("naïve".into(), "naï…".into()));
        assert_eq!((beginning("naïve", 6), beginning("naïve", 3), beginning("", 1)), ("naïve", "na", ""));
    }
}
