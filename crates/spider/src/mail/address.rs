//! Checks email addresses of a task file.

use lettre::Address;
use lettre::message::Mailbox;

use crate::foreign::{is_joiner, one_line};

/// Parses an address, with or without a name. Returns an error if no message can be sent to it.
pub(super) fn mailbox(written: &str) -> Result<Mailbox, String> {
    if written.len() > 500
        || written.contains(|c: char| c.is_control() || is_joiner(c))
        || one_line(written, 500) != written.trim()
    {
        return Err("invalid email address: too long, or invalid characters".to_owned());
    }
    let mut mailbox: Mailbox = written.trim().parse().map_err(|error| format!("invalid email address: {error}"))?;
    // Every server supports the ASCII form of an internationalised domain; only some support the other.
    if !mailbox.email.domain().is_ascii()
        && let Ok(domain) = url::Host::parse(mailbox.email.domain())
    {
        mailbox.email = Address::new(mailbox.email.user(), domain.to_string()).map_err(|error| error.to_string())?;
    }
    let local = mailbox.email.user();
    // Legal within quotes, but some mail programs misinterpret these characters.
    if local.contains(['<', '>', ',', ';', '\\', '"', ' ']) || local.starts_with('-') {
        return Err("unsafe email address".to_owned());
    }
    Ok(mailbox)
}

/// Returns an address in the form of the ledger: domains are case-insensitive.
pub(super) fn ledger_name(mailbox: &Mailbox) -> String {
    format!("{}@{}", mailbox.email.user(), mailbox.email.domain().to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_are_addresses() {
        for good in
            ["a@example.org", "Ann Other <ann@example.org>", "\"Other, Ann\" <ann@example.org>", "jö@exämple.org"]
        {
            mailbox(good).expect(good);
        }
        assert_eq!(mailbox("jo@exämple.org").expect("good").email.to_string(), "jo@xn--exmple-cua.org");
        for bad in [
            "",
            "ann",
            "ann@",
            "a@b@",
            "a@example.org\r\nBcc: all@example.org",
            "a@example.org\nRCPT TO:<b@example.org>",
            "\u{202e}a@example.org",
            "a\u{200d}b@example.org",
            "\"a>b\"@example.org",
            "\"a b\"@example.org",
            "-oQ/tmp@example.org",
            "a@example.org, b@example.org",
            "a@exa mple.org",
            &format!("{}@example.org", "a".repeat(1_000)),
        ] {
            assert!(mailbox(bad).is_err(), "{bad:?}");
        }
    }
}
