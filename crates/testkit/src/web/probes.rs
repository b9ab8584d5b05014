//! robots.txt, and what it allows (RFC 9309): hosts that each have one, a front page with links, and which of them may be
//! asked for.

use std::time::Duration;

use super::{Reply, Visit, Web, html};

/// One robots.txt.
pub struct Probe {
    /// What it is about.
    pub name: &'static str,
    /// How it is answered.
    pub robots: fn(&Visit<'_>) -> Reply,
    /// What a spider may ask for.
    pub allowed: &'static [&'static str],
    /// What it may not.
    pub forbidden: &'static [&'static str],
    /// The least time between two requests.
    pub pace: Duration,
    /// Whether the front page may be asked for at all.
    pub open: bool,
}

/// All of them.
pub const PROBES: &[Probe] = &[
    probe(
        "obeyed",
        |_| text("User-agent: *\nDisallow: /private\n"),
        &["/public", "/priv"],
        &["/private", "/private/x"],
    ),
    probe(
        "the longest match wins",
        |_| text("User-agent: *\nDisallow: /a\nAllow: /a/b\nDisallow: /a/b/c\n"),
        &["/a/b", "/a/bx"],
        &["/a", "/a/x", "/a/b/c"],
    ),
    probe(
        "of two as long, the one that allows",
        |_| text("User-agent: *\nDisallow: /page\nAllow: /page\n"),
        &["/page"],
        &[],
    ),
    probe(
        "stars and dollars",
        |_| text("User-agent: *\nDisallow: /*.php$\nDisallow: /x/*/z\n"),
        &["/a.php?x", "/x/z", "/a.phps"],
        &["/a.php", "/x/y/z", "/x/y/zz"],
    ),
    probe(
        "groups for one agent are one",
        |_| {
            text(
                "User-agent: modoai\nDisallow: /a\n\nUser-agent: other\nDisallow: /b\n\nUser-agent: MODOAI\nDisallow: /c\n",
            )
        },
        &["/b"],
        &["/a", "/c"],
    ),
    probe(
        "several agents, one group",
        |_| text("User-agent: other\nUser-agent: modoai\nDisallow: /a\n"),
        &["/b"],
        &["/a"],
    ),
    probe(
        "a group of one's own",
        |_| text("User-agent: *\nDisallow: /\n\nUser-agent: modoai\nDisallow: /a\n"),
        &["/b"],
        &["/a"],
    ),
    probe("another's group", |_| text("User-agent: other\nDisallow: /\n"), &["/a"], &[]),
    probe("nothing disallowed", |_| text("User-agent: *\nDisallow:\n"), &["/a"], &[]),
    probe(
        "redirected",
        |_| Reply::html(301, "Moved").with("Location", "/robots-are-here"),
        &["/public"],
        &["/private"],
    ),
    probe("missing", |_| Reply::html(404, "No"), &["/a"], &[]),
    probe("forbidden itself", |_| Reply::html(403, "No"), &["/a"], &[]),
    probe(
        "in a mess",
        |_| {
            Reply::of(
                200,
                "text/html",
                b"\xef\xbb\xbfuser-AGENT : *  # all\r\nnonsense\rDISALLOW:/a#b\r\n\xff\xff: x\r\n".to_vec(),
            )
        },
        &["/b"],
        &["/a"],
    ),
    probe("encoded", |_| text("User-agent: *\nDisallow: /%7Ea/\nDisallow: /b%3Cd\n"), &["/~b/"], &["/~a/x", "/b%3cd"]),
    probe(
        "of a megabyte",
        |_| text(&format!("User-agent: *\nDisallow: /a\n{}", "# nothing\n".repeat(100_000))),
        &["/b"],
        &["/a"],
    ),
    Probe { open: false, ..probe("in trouble: stay out", |_| Reply::html(503, "Later"), &[], &["/a", "/"]) },
    Probe {
        pace: Duration::from_millis(900),
        ..probe("a delay", |_| text("User-agent: *\nCrawl-delay: 1\n"), &["/a", "/b", "/c"], &[])
    },
];

const fn probe(
    name: &'static str,
    robots: fn(&Visit<'_>) -> Reply,
    allowed: &'static [&'static str],
    forbidden: &'static [&'static str],
) -> Probe {
    Probe { name, robots, allowed, forbidden, pace: Duration::ZERO, open: true }
}

impl Probe {
    /// A host with it. All its pages are there, and each is linked from the front page.
    pub fn web(&self) -> Web {
        let links = self.allowed.iter().chain(self.forbidden).map(|path| format!("<a href=\"{path}\">x</a>\n"));
        let front: String = links.collect();
        Web::default().below("/", |_| html("a page")).page("/", &front).on("/robots.txt", self.robots).file(
            "/robots-are-here",
            "text/plain",
            "User-agent: *\nDisallow: /private\n",
        )
    }
}

fn text(text: &str) -> Reply {
    Reply::of(200, "text/plain", text)
}
