//! Reduces a User-Agent to the program, without data about its user.

/// The maximum length; real product names are shorter.
const LONGEST: usize = 48;

/// Returns the product and its version: `modoai-harvest/0.1` of `modoai-harvest/0.1 (+mailto:user@example.org)`. In a
/// User-Agent that imitates a browser, the name after `compatible;` is the product.
///
/// ```
/// # use modoai_harvest_log::product;
/// assert_eq!(product("OAI-Harvester/2.0 (somebody@example.org)"), "OAI-Harvester/2.0");
/// assert_eq!(product("Mozilla/5.0 (compatible; ABot/1.0; +https://example.org/bot)"), "ABot/1.0");
/// ```
pub fn product(user_agent: &str) -> String {
    let claimed = user_agent.strip_prefix("Mozilla/").and_then(|rest| rest.split_once("compatible;")).map(|(_, it)| it);
    let text = claimed.unwrap_or(user_agent).trim_start();
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~/".contains(c))).unwrap_or(text.len());
    // An email address in place of a name identifies a person.
    if text[end..].starts_with('@') {
        return String::new();
    }
    // All ASCII up to here, so any byte is the end of a character.
    text[..end.min(LONGEST)].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_about_a_person_is_kept() {
        for (sent, kept) in [
            ("curl/8.5.0", "curl/8.5.0"),
            ("python-requests/2.31 somebody@example.org", "python-requests/2.31"),
            ("somebody@example.org", ""),
            ("", ""),
            ("(no product)", ""),
            ("Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/140.0", "Mozilla/5.0"),
            ("Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)", "GPTBot/1.2"),
            ("Müller-Harvester/1", "M"),
        ] {
            assert_eq!(product(sent), kept, "{sent}");
        }
        assert_eq!(product(&"x".repeat(1000)).len(), LONGEST);
    }
}
