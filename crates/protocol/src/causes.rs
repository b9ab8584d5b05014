//! Formats errors for logs and reports, which have one line per error: the text of an error alone seldom contains its
//! cause.

/// Returns an error and its causes, on one line.
pub fn with_causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
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
}
