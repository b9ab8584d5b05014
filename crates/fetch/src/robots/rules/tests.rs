//! The examples of the RFC, cases that other tools fail, and content of real files.

use super::*;

fn rules(text: &str, agent: &str) -> Rules {
    Rules::parse(text.as_bytes(), product(agent))
}

fn allows(text: &str, agent: &str, path: &str) -> bool {
    rules(text, agent).forbidding(path).is_none()
}

/// Section 5.1.
const SIMPLE: &str = "User-Agent: *
Disallow: *.gif$
Disallow: /example/
Allow: /publications/

User-Agent: foobot
Disallow:/
Allow:/example/page.html
Allow:/example/allowed.gif

User-Agent: barbot
User-Agent: bazbot
Disallow: /example/page.html

User-Agent: quxbot
";

#[test]
fn the_simple_example() {
    for (agent, path, allowed) in [
        ("anybot", "/example/page.html", false),
        ("anybot", "/picture.gif", false),
        ("anybot", "/picture.gif?x", true),
        ("anybot", "/publications/1", true),
        // The rule would need as many octets as `*.gif$`; `/publications/` has more.
        ("anybot", "/publications/picture.gif", true),
        ("anybot", "/", true),
        ("foobot", "/", false),
        ("foobot", "/publications/", false),
        ("foobot", "/example/page.html", true),
        ("foobot", "/example/allowed.gif", true),
        ("foobot", "/example/other.gif", false),
        ("barbot", "/example/page.html", false),
        ("bazbot", "/example/page.html", false),
        ("barbot", "/example/", true),
        ("bazbot", "/picture.gif", true),
        ("quxbot", "/example/page.html", true),
        ("quxbot", "/picture.gif", true),
        ("FooBot/2.1", "/", false),
        ("QUXBOT", "/example/", true),
    ] {
        assert_eq!(allows(SIMPLE, agent, path), allowed, "{agent} {path}");
    }
}

#[test]
fn the_longest_match() {
    // Section 5.2.
    let text = "User-Agent: foobot\nAllow: /example/page/\nDisallow: /example/page/disallowed.gif\n";
    assert!(!allows(text, "foobot", "/example/page/disallowed.gif"));
    assert!(allows(text, "foobot", "/example/page/allowed.gif"));
    assert!(allows(text, "otherbot", "/example/page/disallowed.gif"));
}

#[test]
fn groups_of_one_agent_are_merged() {
    // Section 2.2.1.
    let text = "user-agent: ExampleBot\ndisallow: /foo\ndisallow: /bar\n\nuser-agent: OtherBot\ndisallow: /other\n\nuser-agent: examplebot\ndisallow: /baz\n";
    for path in ["/foo", "/bar", "/baz"] {
        assert!(!allows(text, "ExampleBot", path), "{path}");
    }
    assert!(allows(text, "ExampleBot", "/other") && allows(text, "nobody", "/foo"));
    let everybody = "User-agent: *\nDisallow: /a\nUser-agent: x\nDisallow: /x\nUser-agent: *\nDisallow: /b\n";
    assert!(!allows(everybody, "modoai", "/a") && !allows(everybody, "modoai", "/b"));
    assert!(allows(everybody, "x", "/a"), "who is named does not belong to everybody");
}

#[test]
fn the_probes_that_others_fail() {
    let text = "User-agent: *\nDisallow: /private/\nAllow: /private/open/\nDisallow: /*.cgi$\n\nUser-agent: *\nDisallow: /second/\n";
    for (path, allowed) in [
        ("/private/x", false),
        ("/private/open/x", true),
        ("/bin/test.cgi", false),
        ("/bin/test.cgi?x", true),
        ("/second/", false),
        ("/", true),
    ] {
        assert_eq!(allows(text, "modoai", path), allowed, "{path}");
    }
}

#[test]
fn the_rule_and_its_line_are_told() {
    let text = "# hello\r\n\r\nUser-agent: *\r\nDisallow:   /a b  # not here\r\rDisallow: /c\nDisallow: /d";
    let rules = rules(text, "modoai");
    assert_eq!(rules.forbidding("/a%20b"), Some((4, "Disallow: /a b")));
    assert_eq!(rules.forbidding("/c"), Some((6, "Disallow: /c")));
    assert_eq!(rules.forbidding("/d"), Some((7, "Disallow: /d")));
}

#[test]
fn allow_wins_where_both_are_as_long() {
    for text in ["Disallow: /page\nAllow: /page", "Allow: /page\nDisallow: /page", "Disallow: /pag*\nAllow: /page"] {
        assert!(allows(&format!("User-agent: *\n{text}"), "modoai", "/page"), "{text}");
    }
    assert!(!allows("User-agent: *\nAllow: /p\nDisallow: /pa", "modoai", "/page"));
    assert!(allows("User-agent: *\nAllow: /$\nDisallow: /", "modoai", "/"));
    assert!(!allows("User-agent: *\nAllow: /$\nDisallow: /", "modoai", "/x"));
}

#[test]
fn nothing_is_forbidden_by_nothing() {
    for text in [
        "",
        "\n",
        "User-agent: *",
        "User-agent: *\nDisallow:",
        "User-agent: *\nDisallow: # all\nAllow:",
        "\u{feff}",
        "<!DOCTYPE html><p>404: no such page",
    ] {
        assert!(allows(text, "modoai", "/x"), "{text:?}");
    }
    assert!(allows("User-agent: *\nDisallow: /\nUser-agent: modoai\nDisallow:\n", "modoai", "/x"));
}

#[test]
fn rules_before_any_agent_are_passed_over() {
    assert!(allows("Disallow: /\nUser-agent: *\nDisallow: /x\n", "modoai", "/y"));
}

#[test]
fn other_lines_end_no_group() {
    let text = "User-agent: a\nCrawl-delay: 3\nSitemap: https://example.org/map\nnonsense\nHost: x\nUser-agent: b\nDisallow: /x\nClean-param: y\nDisallow: /z\n\n\n# more\nDisallow: /w\n";
    for agent in ["a", "b"] {
        for path in ["/x", "/z", "/w"] {
            assert!(!allows(text, agent, path), "{agent} {path}");
        }
    }
    assert_eq!((rules(text, "a").delay, rules(text, "b").delay), (Some(Duration::from_secs(3)), None));
    // A rule that can match nothing is still a rule: the next agent begins a new group.
    assert!(allows("User-agent: a\nDisallow:\nUser-agent: b\nDisallow: /\n", "a", "/"));
}

#[test]
fn agents_are_tokens() {
    let closed = |agent: &str| format!("User-agent: {agent}\nDisallow: /\n");
    for agent in [
        "modoai",
        "MODOAI",
        "ModOAI/1.0",
        "modoai (+https://example.org/)",
        "  modoai\t",
        "modoai # us",
        "*",
        "* # all",
        "* x",
    ] {
        assert!(!allows(&closed(agent), "modoai/0.1", "/x"), "{agent}");
    }
    for agent in ["modoaibot", "modo", "mod-oai", "", "Mozilla/5.0 modoai", "**", "*bot"] {
        assert!(allows(&closed(agent), "modoai/0.1", "/x"), "{agent}");
    }
    assert!(allows(&closed("7up"), "7up", "/"), "no token at all is nobody's");
}

#[test]
fn marks_and_line_ends_of_every_kind() {
    for text in [
        "\u{feff}User-agent: *\nDisallow: /x\n",
        "User-agent: *\rDisallow: /x\r",
        "User-agent: *\r\nDisallow: /x",
        " \tUSER-AGENT\t : \t*\t\n  dIsAlLoW  :/x  \n",
    ] {
        assert!(!allows(text, "modoai", "/x") && allows(text, "modoai", "/y"), "{text:?}");
    }
}

#[test]
fn bytes_that_are_no_text_are_compared_as_bytes() {
    let rules = Rules::parse(b"User-agent: *\nDisallow: /caf\xe9\n", "modoai");
    assert!(rules.forbidding("/caf%E9/menu").is_some() && rules.forbidding("/café").is_none());
}

#[test]
fn five_hundred_kibibytes_are_read_and_no_more() {
    let mut text = "User-agent: *\nDisallow: /first\n".to_owned();
    let last = "Disallow: /last\n";
    while text.len() + last.len() < LIMIT - 20 {
        text.push_str("#23456789\n");
    }
    text.push_str(&"#".repeat(LIMIT - last.len() - text.len() - 1));
    text.push('\n');
    text.push_str(last);
    assert_eq!(text.len(), LIMIT);
    // The file is read completely, also with bytes after the limit.
    assert!(!allows(&text, "modoai", "/last"));
    text.push_str("Disallow: /behind\n");
    assert!(!allows(&text, "modoai", "/last") && allows(&text, "modoai", "/behind"));
    // One octet more, and the line is truncated: `Disallow: /last` might have continued.
    let cut = text.replacen("#23456789", "#234567890", 1);
    assert!(allows(&cut, "modoai", "/last") && !allows(&cut, "modoai", "/first"));
    let endless = "#".repeat(2 * LIMIT);
    assert!(allows(&endless, "modoai", "/"));
}

#[test]
fn delays_are_sane() {
    let delay = |value: &str| rules(&format!("User-agent: *\nCrawl-delay: {value}\n"), "modoai").delay;
    assert_eq!(delay("10"), Some(Duration::from_secs(10)));
    assert_eq!(delay("0.5"), Some(Duration::from_millis(500)));
    assert_eq!(delay("86400"), Some(LONGEST_DELAY));
    assert_eq!(delay("1e300"), Some(LONGEST_DELAY));
    for value in ["", "-1", "NaN", "inf", "soon", "10s"] {
        assert_eq!(delay(value), None, "{value}");
    }
    let text = "Crawl-delay: 9\nUser-agent: *\nCrawl-delay: 2\nCrawl-delay: 4\nUser-agent: modoai\nDisallow:\nUser-agent: x\nCrawl-delay: 7";
    assert_eq!(rules(text, "anybot").delay, Some(Duration::from_secs(4)));
    assert_eq!(rules(text, "modoai").delay, None, "it was said to those named before it");
    assert_eq!(rules(text, "x").delay, Some(Duration::from_secs(7)));
}

#[test]
fn site_maps_are_everybodys() {
    let text =
        "Sitemap: https://example.org/a.xml\nUser-agent: x\nDisallow: /\nsitemap : /b.xml # relative\nSitemap:\n";
    assert_eq!(rules(text, "modoai").sitemaps, ["https://example.org/a.xml", "/b.xml"]);
}

#[test]
fn many_rules_take_little_time() {
    let mut text = "User-agent: *\n".to_owned();
    while text.len() < LIMIT {
        text.push_str("Disallow:/*a*a*a*a*a*b\n");
    }
    let path = format!("/{}", "a".repeat(2000));
    assert!(allows(&text, "modoai", &path));
}
