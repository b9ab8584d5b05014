//! Where a catalogue, and other state, is kept: a path.
//!
//! Engines that are named by URLs (`postgres://…`) do not exist here. Taken for a path, such a URL would silently become a
//! folder of that name.

use std::path::Path;

/// Schemes that people write without slashes, too.
const ENGINES: [&str; 10] =
    ["postgres", "postgresql", "mysql", "mariadb", "sqlite", "sqlite3", "jdbc", "mongodb", "s3", "file"];

/// An error for what looks like a URL and not like a path. A path with such a name can be written with `./` before it.
pub fn expect_path(location: &Path) -> Result<(), String> {
    let text = location.to_string_lossy();
    let Some((scheme, rest)) = text.split_once(':') else { return Ok(()) };
    let is_scheme = scheme.len() > 1
        && scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    let is_engine = ENGINES.iter().any(|engine| engine.eq_ignore_ascii_case(scheme));
    if !is_scheme || !(rest.starts_with("//") || is_engine) {
        return Ok(());
    }
    // Not the whole location: it may hold a password.
    Err(format!("expected a path, not a URL ({scheme}:); for a file of this name, prefix it with ./"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_not_paths() {
        for url in [
            "postgres://user:secret@db/oai",
            "postgresql:oai",
            "sqlite:catalogue.sqlite",
            "sqlite:///tmp/a",
            "mysql://a",
            "s3://bucket/a",
            "https://example.org/",
            "file:///tmp/a",
            "Postgres:a",
            "x+y.z-1://a",
        ] {
            let error = expect_path(Path::new(url)).expect_err(url);
            assert!(error.contains("expected a path") && !error.contains("secret"), "{error}");
        }
        for path in [
            "a",
            "/a/b",
            "./postgres://a",
            "a/b://c",
            "2024-01-01T10:00",
            "arxiv:2024",
            "C:/a",
            ":a",
            "://a",
            "é://a",
            "-a://b",
            "",
        ] {
            assert_eq!(expect_path(Path::new(path)), Ok(()), "{path}");
        }
    }
}
