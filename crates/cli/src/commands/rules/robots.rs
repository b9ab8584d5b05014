//! Adds rules to robots.txt, according to RFC 9309: a robot obeys only the groups that name it, and among their rules
//! the longest that matches. So the rules for the repository must be in every group, and longer than any rule that
//! excludes the site.

use std::collections::BTreeSet;

use modoai_fetch::{Permission, Robots};

use super::Door;

/// Crawlers for language models that robots.txt files name.
const AI_CRAWLERS: [&str; 20] = [
    "AI2Bot",
    "Amazonbot",
    "anthropic-ai",
    "Applebot-Extended",
    "Bytespider",
    "CCBot",
    "ChatGPT-User",
    "Claude-SearchBot",
    "Claude-User",
    "ClaudeBot",
    "cohere-ai",
    "Diffbot",
    "DuckAssistBot",
    "Google-Extended",
    "GPTBot",
    "meta-externalagent",
    "MistralAI-User",
    "OAI-SearchBot",
    "PerplexityBot",
    "PetalBot",
];

/// Returns the rules for the repository, to be added to an unknown robots.txt.
pub(super) fn alone(door: &Door) -> String {
    let crawlers: String = AI_CRAWLERS.iter().map(|name| format!("#User-agent: {name}\n")).collect();
    let rules: String = rules(door).iter().map(|rule| format!("#{rule}\n")).collect();
    format!("{}{crawlers}#Disallow: /\n{rules}", door.fill(include_str!("robots.txt")))
}

/// Returns the rules for all requests to the repository: the HTML page, everything with a query, and longer, everything
/// with a verb; and the paths below.
fn rules(door: &Door) -> [String; 5] {
    ["$", "?", "?*verb=", "/", "/*.xsd"].map(|end| format!("Allow: {}{end}", door.path))
}

/// Returns a robots.txt with the rules in every group. Logs a warning for rules that still exclude the repository.
pub(super) fn with_door(there: &[u8], door: &Door) -> String {
    let there = String::from_utf8_lossy(there);
    let lines = lines(&there);
    let end = lines.iter().map(|line| &line[line.trim_end_matches(['\r', '\n']).len()..]).find(|end| !end.is_empty());
    let end = end.unwrap_or("\n");
    let added: String = rules(door).iter().map(|rule| format!("{rule}{end}")).collect();
    let (mut text, mut agents, mut in_head) = (String::new(), BTreeSet::new(), false);
    for line in lines {
        match field(line) {
            Some((name, agent)) if name.eq_ignore_ascii_case("user-agent") => {
                agents.insert(agent.to_owned());
                in_head = true;
            }
            // The first rule of a group: the added rules are inserted before it.
            Some(_) if in_head => {
                text.push_str(&added);
                in_head = false;
            }
            _ => {}
        }
        text.push_str(line);
        // The last line may have no line feed.
        if in_head && !line.ends_with(['\r', '\n']) {
            text.push_str(end);
        }
    }
    if in_head {
        text.push_str(&added);
    }
    // A robot that no group names may request everything.
    check(&text, &agents, door);
    text
}

/// Splits text into lines with their ends, of which there are three kinds.
fn lines(text: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end =
            rest.find(['\r', '\n']).map_or(rest.len(), |at| at + if rest[at..].starts_with("\r\n") { 2 } else { 1 });
        let (line, after) = rest.split_at(end);
        lines.push(line);
        rest = after;
    }
    lines
}

/// Returns the name and the value of a line, if it has both.
fn field(line: &str) -> Option<(&str, &str)> {
    let said = line.trim_start_matches('\u{feff}').split('#').next()?;
    said.split_once(':').map(|(name, value)| (name.trim(), value.trim()))
}

/// Requests as harvesters send them.
const REQUESTS: [&str; 6] = [
    "",
    "?verb=Identify",
    "?verb=ListRecords&metadataPrefix=oai_dc&from=2024-01-01&set=a:b",
    "?verb=ListRecords&resumptionToken=AbC-_",
    "?metadataPrefix=oai_dc&identifier=oai:example.org:1&verb=GetRecord",
    "/http_header.xsd",
];

/// Warns if a rule is longer than the added ones: then only the owner of the file can remove it.
fn check(text: &str, agents: &BTreeSet<String>, door: &Door) {
    let mut told = BTreeSet::new();
    for agent in agents {
        let robots = Robots::parse(text.as_bytes(), agent);
        for request in REQUESTS {
            if let Permission::Forbidden { line, rule } = robots.allows(&format!("{}{request}", door.path))
                && told.insert(line)
            {
                tracing::warn!("line {line} still blocks {agent} from the repository: {rule}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::door;
    use super::*;

    fn open(text: &str, agent: &str, door: &Door) -> bool {
        let robots = Robots::parse(text.as_bytes(), agent);
        REQUESTS.iter().all(|request| robots.allows(&format!("{}{request}", door.path)) == Permission::Allowed)
    }

    fn closed(text: &str, agent: &str, path: &str) -> bool {
        Robots::parse(text.as_bytes(), agent).allows(path) != Permission::Allowed
    }

    #[test]
    fn appended_it_opens_the_door_and_nothing_else() {
        for url in ["https://example.org/modoai", "https://example.org/oai/request", "https://example.org/"] {
            let door = door(url);
            for fence in [
                "Disallow: /",
                "Disallow: /*?",
                "Disallow: /\nDisallow: /*verb=",
                "Disallow: /*?*=",
                "Disallow: /\nDisallow: /*.xsd$",
            ] {
                let text = format!("User-agent: *\n{fence}\n\n{}", alone(&door));
                assert!(open(&text, "SomeHarvester", &door), "{url} {fence}");
                let others =
                    ["/page?x=1&verb=y", "/a?verb=1&x=2", &format!("{}x?verb=a", door.path)].map(str::to_owned);
                assert!(others.iter().all(|path| closed(&text, "SomeHarvester", path)), "{url} {fence}");
            }
        }
    }

    #[test]
    fn a_crawler_that_is_not_named_keeps_to_the_rules_for_all() {
        let door = door("https://example.org/modoai");
        let text = format!("User-agent: *\nDisallow: /private/\n\n{}", alone(&door));
        assert!(closed(&text, "GPTBot", "/private/a"));
        assert!(open(&text, "GPTBot", &door));
    }

    #[test]
    fn the_fence_for_crawlers_of_language_models_has_the_door_in_it() {
        let door = door("https://example.org/modoai");
        let text = alone(&door);
        let (_, fence) = text.split_once("#User-agent: AI2Bot").expect("the fence");
        let fence = format!("User-agent: AI2Bot{}", fence.replace("\n#", "\n"));
        for crawler in AI_CRAWLERS {
            assert!(open(&fence, crawler, &door) && closed(&fence, crawler, "/"), "{crawler}\n{fence}");
        }
    }

    #[test]
    fn every_group_of_a_robots_txt_gets_the_door_and_the_rest_stays() {
        let door = door("https://example.org/modoai");
        let there = "# ours\r\nUser-agent: GPTBot # no\r\nUSER-AGENT: CCBot\r\n\r\n# nothing for them\r\nDisallow: /\r\n\
            \r\nUser-agent: *\r\nCrawl-delay: 10\r\nDisallow: /*?\r\nSitemap: https://example.org/map.xml\r\n\r\n\
            User-agent: ClaudeBot\r\nDisallow: /\r\nUser-agent: Bytespider";
        let text = with_door(there.as_bytes(), &door);
        let ours = rules(&door).map(|rule| format!("{rule}\r\n")).concat();
        assert_eq!(text.matches(&ours).count(), 4, "{text}");
        assert_eq!(text.replace(&ours, ""), format!("{there}\r\n"));
        for agent in ["GPTBot", "CCBot", "ClaudeBot", "Bytespider", "somebody"] {
            assert!(open(&text, agent, &door), "{agent}\n{text}");
        }
        assert!(closed(&text, "CCBot", "/a") && closed(&text, "somebody", "/a?b") && !closed(&text, "somebody", "/a"));
        assert_eq!(Robots::parse(text.as_bytes(), "somebody").crawl_delay().map(|delay| delay.as_secs()), Some(10));
    }

    #[test]
    fn a_robots_txt_without_groups_stays_as_it_is() {
        for there in ["", "Sitemap: https://example.org/map.xml\n", "# nothing"] {
            assert_eq!(with_door(there.as_bytes(), &door("https://example.org/modoai")), there);
        }
    }
}
