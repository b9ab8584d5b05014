//! Lines, groups and the longest match: RFC 9309, sections 2.2 and 2.5.
//!
//! All groups for this agent are merged; so are the groups for `*`, which count if no group is for this agent. A group
//! begins with lines of agents, followed by rules; an agent line after a rule begins another group. Other lines, known
//! or not, do not end a group.

use std::time::Duration;

use super::pattern::{Pattern, comparable};

/// The number of bytes that are read: 500 KiB, the minimum that the RFC demands. A line that is truncated there does
/// not count.
pub(super) const LIMIT: usize = 500 * 1024;

/// The longest pause that is accepted.
const LONGEST_DELAY: Duration = Duration::from_secs(3600);

/// The rules for one agent.
#[derive(Clone, Debug, Default)]
pub(super) struct Rules {
    /// The rules, the most specific first.
    rules: Vec<Rule>,
    /// The pause between requests.
    pub(super) delay: Option<Duration>,
    /// The listed sitemaps, of all agents.
    pub(super) sitemaps: Vec<String>,
}

#[derive(Clone, Debug)]
struct Rule {
    pattern: Pattern,
    allows: bool,
    line: u32,
    /// The rule in the form for users.
    text: Box<str>,
}

/// The rules of merged groups.
#[derive(Default)]
struct Group {
    is_named: bool,
    rules: Vec<Rule>,
    delay: Option<Duration>,
}

impl Rules {
    /// Reads the rules for the agent with this product token.
    pub(super) fn parse(bytes: &[u8], product: &str) -> Self {
        let bytes = within_limit(bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes));
        let (mut ours, mut everybodys) = (Group::default(), Group::default());
        let mut sitemaps = Vec::new();
        // The agents of the current group, and true if it already has a rule.
        let (mut for_us, mut for_all, mut has_rules) = (false, false, false);
        for (number, line) in lines(bytes) {
            let Some((key, value)) = record(line) else { continue };
            let is = |name: &str| key.eq_ignore_ascii_case(name.as_bytes());
            if is("user-agent") {
                if has_rules {
                    (for_us, for_all, has_rules) = (false, false, false);
                }
                for_all |= value == b"*" || value.starts_with(b"* ") || value.starts_with(b"*\t");
                for_us |= !product.is_empty() && token(value).eq_ignore_ascii_case(product.as_bytes());
                ours.is_named |= for_us;
            } else if is("allow") || is("disallow") {
                has_rules = true;
                if !(for_us || for_all) {
                    continue;
                }
                let Some(pattern) = Pattern::parse(value) else { continue };
                let allows = is("allow");
                let name = if allows { "Allow" } else { "Disallow" };
                let text = format!("{name}: {}", String::from_utf8_lossy(value)).into();
                let rule = Rule { pattern, allows, line: number, text };
                if for_all {
                    everybodys.rules.push(rule.clone());
                }
                if for_us {
                    ours.rules.push(rule);
                }
            } else if is("crawl-delay") {
                let delay = delay(value);
                if for_us {
                    ours.delay = ours.delay.max(delay);
                }
                if for_all {
                    everybodys.delay = everybodys.delay.max(delay);
                }
            } else if is("sitemap") && !value.is_empty() {
                sitemaps.push(String::from_utf8_lossy(value).into_owned());
            }
        }
        let mut group = if ours.is_named { ours } else { everybodys };
        // The first rule that matches then decides. Of two equally specific rules, the one that allows does.
        group.rules.sort_by_key(|rule| (std::cmp::Reverse(rule.pattern.octets()), !rule.allows));
        group.rules.shrink_to_fit();
        Self { rules: group.rules, delay: group.delay, sitemaps }
    }

    /// Returns the line and the text of the rule that forbids a path, if one does.
    pub(super) fn forbidding(&self, path_and_query: &str) -> Option<(u32, &str)> {
        if self.rules.is_empty() {
            return None;
        }
        let path = comparable(path_and_query.as_bytes(), false);
        let rule = self.rules.iter().find(|rule| rule.pattern.matches(&path))?;
        (!rule.allows).then_some((rule.line, &*rule.text))
    }

    /// Returns all rules with their lines, in the order of the file.
    pub(super) fn by_line(&self) -> Vec<(u32, &str)> {
        let mut rules: Vec<_> = self.rules.iter().map(|rule| (rule.line, &*rule.text)).collect();
        rules.sort_unstable();
        rules
    }

    /// Returns the approximate memory use.
    pub(super) fn weight(&self) -> usize {
        let rules = self.rules.iter().map(|rule| size_of::<Rule>() + rule.pattern.octets() + rule.text.len());
        let sitemaps = self.sitemaps.iter().map(|sitemap| size_of::<String>() + sitemap.len());
        rules.chain(sitemaps).sum()
    }
}

/// Returns the product token at the beginning of an agent's name: letters, `-` and `_`.
pub(crate) fn product(agent: &str) -> &str {
    // The token is ASCII, so the slice ends at a character boundary.
    &agent[..token(agent.as_bytes()).len()]
}

fn token(value: &[u8]) -> &[u8] {
    let is_part = |octet: &u8| octet.is_ascii_alphabetic() || matches!(octet, b'-' | b'_');
    &value[..value.iter().take_while(|octet| is_part(octet)).count()]
}

/// Returns the bytes within the limit, without a line that is truncated there.
fn within_limit(bytes: &[u8]) -> &[u8] {
    if bytes.len() <= LIMIT {
        return bytes;
    }
    let end = bytes[..LIMIT].iter().rposition(|octet| matches!(octet, b'\r' | b'\n'));
    &bytes[..end.unwrap_or(0)]
}

/// Returns the lines with their numbers. A line ends with CR, LF, or both.
fn lines(bytes: &[u8]) -> impl Iterator<Item = (u32, &[u8])> {
    let mut rest = Some(bytes);
    let lines = std::iter::from_fn(move || {
        let bytes = rest?;
        let Some(end) = memchr::memchr2(b'\r', b'\n', bytes) else { return rest.take() };
        let after = &bytes[end..];
        rest = Some(after.strip_prefix(b"\r\n").unwrap_or(&after[1..]));
        Some(&bytes[..end])
    });
    (1..).zip(lines)
}

/// Returns a line's name and value, without a comment.
fn record(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let line = &line[..memchr::memchr(b'#', line).unwrap_or(line.len())];
    let colon = memchr::memchr(b':', line)?;
    Some((line[..colon].trim_ascii(), line[colon + 1..].trim_ascii()))
}

/// Parses a number of seconds, with or without a decimal point.
fn delay(value: &[u8]) -> Option<Duration> {
    let seconds: f64 = std::str::from_utf8(value).ok()?.parse().ok()?;
    let is_number = seconds.is_finite() && seconds >= 0.0;
    is_number.then(|| Duration::from_secs_f64(seconds.min(LONGEST_DELAY.as_secs_f64())))
}

#[cfg(test)]
mod tests;
