//! Every way to refer to something, each to a path of its own where nothing is: a spider finds as many broken links as it
//! knows ways to refer. And what only looks like a reference.

use super::{Reply, Web};

/// One way to refer: its name, and what stands in the page. `{}` is the path.
pub struct Way {
    /// Its name, which is the last part of the path, too.
    pub name: &'static str,
    /// Where it stands.
    pub place: Place,
    /// What stands there.
    pub text: &'static str,
}

/// Where a reference stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the head of the page.
    Head,
    /// In its body.
    Body,
    /// In a header of its answer, of this name.
    Header(&'static str),
    /// In a document of its own, of this type, to which the page refers by this.
    Beside(&'static str, &'static str),
}

use Place::{Beside, Body, Head, Header};

/// Every way, by the name of what it is.
#[rustfmt::skip]
pub const WAYS: &[Way] = &[
    way("a-href", Body, r#"<a href="{}">x</a>"#),
    way("a-href-nofollow", Body, r#"<a rel="nofollow" href="{}">x</a>"#),
    way("a-href-upper-case", Body, r#"<A HREF="{}">x</A>"#),
    way("a-href-unquoted", Body, "<a href={}>x</a>"),
    way("a-href-spaced", Body, "<a href=\" \n {}\t\">x</a>"),
    way("a-href-in-pre", Body, r#"<pre><a href="{}">x</a></pre>"#),
    way("a-href-in-code", Body, r#"<code><a href="{}">x</a></code>"#),
    way("a-href-in-noscript", Body, r#"<noscript><a href="{}">x</a></noscript>"#),
    way("a-href-hidden", Body, r#"<div hidden><a href="{}">x</a></div>"#),
    way("a-href-entity-&", Body, r#"<a href="{}">x</a>"#),
    way("a-href-backslash", Body, r#"<a href="\missing\a-href-backslash">x</a>"#),
    way("a-href-dots", Body, r#"<a href="/some/where/../../missing/a-href-dots">x</a>"#),
    way("a-href-whole", Body, r#"<a href="{here}{}">x</a>"#),
    way("a-href-without-scheme", Body, r#"<a href="{there}{}">x</a>"#),
    way("a-href-query?a=b", Body, r#"<a href="{}">x</a>"#),
    way("a-ping", Body, r#"<a href="/" ping="{}">x</a>"#),
    way("area-href", Body, r#"<map name="m"><area href="{}" alt="x"></map>"#),
    way("audio-src", Body, r#"<audio src="{}"></audio>"#),
    way("blockquote-cite", Body, r#"<blockquote cite="{}">x</blockquote>"#),
    way("body-style", Body, r#"<div style="background: url({})"></div>"#),
    way("button-formaction", Body, r#"<form><button formaction="{}">x</button></form>"#),
    way("del-cite", Body, r#"<del cite="{}">x</del>"#),
    way("embed-src", Body, r#"<embed src="{}">"#),
    way("form-action", Body, r#"<form action="{}"></form>"#),
    way("frame-in-body", Body, r#"<iframe src="{}"></iframe>"#),
    way("iframe-srcdoc", Body, r#"<iframe srcdoc="&lt;a href=&quot;{}&quot;&gt;x&lt;/a&gt;"></iframe>"#),
    way("img-longdesc", Body, r#"<img src="/there.png" longdesc="{}" alt="x">"#),
    way("img-src", Body, r#"<img src="{}" alt="x">"#),
    way("img-srcset", Body, r#"<img src="/there.png" srcset="/there.png 1x, {} 2x" alt="x">"#),
    way("input-src", Body, r#"<input type="image" src="{}" alt="x">"#),
    way("ins-cite", Body, r#"<ins cite="{}">x</ins>"#),
    way("json-ld", Head, r#"<script type="application/ld+json">{"@context":"https://schema.org","@type":"Thing","image":"{here}{}"}</script>"#),
    way("link-alternate", Head, r#"<link rel="alternate" hreflang="fr" href="{}">"#),
    way("link-icon", Head, r#"<link rel="icon" href="{}">"#),
    way("link-imagesrcset", Head, r#"<link rel="preload" as="image" imagesrcset="{} 2x">"#),
    way("link-manifest", Head, r#"<link rel="manifest" href="{}">"#),
    way("link-next", Head, r#"<link rel="next" href="{}">"#),
    way("link-preload", Head, r#"<link rel="preload" as="font" href="{}">"#),
    way("link-stylesheet", Head, r#"<link rel="stylesheet" href="{}">"#),
    way("meta-og-image", Head, r#"<meta property="og:image" content="{here}{}">"#),
    way("meta-refresh", Head, r#"<meta http-equiv="refresh" content="3600; url={}">"#),
    way("meta-twitter-image", Head, r#"<meta name="twitter:image" content="{here}{}">"#),
    way("object-data", Body, r#"<object data="{}"></object>"#),
    way("q-cite", Body, r#"<q cite="{}">x</q>"#),
    way("script-src", Body, r#"<script src="{}"></script>"#),
    way("source-src", Body, r#"<video><source src="{}"></video>"#),
    way("source-srcset", Body, r#"<picture><source srcset="{} 2x"><img src="/there.png" alt="x"></picture>"#),
    way("style-import", Head, r#"<style>@import "{}";</style>"#),
    way("style-import-url", Head, r#"<style>@import url({}) print;</style>"#),
    way("style-url", Head, r#"<style>h1 { background: url("{}") }</style>"#),
    way("svg-a", Body, r#"<svg><a href="{}"><text>x</text></a></svg>"#),
    way("svg-image-href", Body, r#"<svg><image href="{}"/></svg>"#),
    way("svg-image-xlink", Body, r#"<svg xmlns:xlink="http://www.w3.org/1999/xlink"><image xlink:href="{}"/></svg>"#),
    way("svg-use-href", Body, r##"<svg><use href="{}#a"/></svg>"##),
    way("svg-use-xlink", Body, r##"<svg xmlns:xlink="http://www.w3.org/1999/xlink"><use xlink:href="{}#a"/></svg>"##),
    way("table-background", Body, r#"<table background="{}"><tr><td>x</table>"#),
    way("track-src", Body, r#"<video><track src="{}"></video>"#),
    way("video-poster", Body, r#"<video poster="{}"></video>"#),
    way("video-src", Body, r#"<video src="{}"></video>"#),
    way("link-header", Header("Link"), r#"<{}>; rel="next""#),
    way("base", Beside("text/html", r#"<a href="/beside/base">x</a>"#), r#"<base href="/missing/"><a href="base">x</a>"#),
    way("css-font", Beside("text/css", r#"<link rel="stylesheet" href="/beside/css-font">"#), "@font-face { src: url('{}') format('woff') }"),
    way("css-import", Beside("text/css", r#"<link rel="stylesheet" href="/beside/css-import">"#), "@import '{}';"),
    way("css-url", Beside("text/css", r#"<link rel="stylesheet" href="/beside/css-url">"#), "h1 { background: url( {} ) }"),
    way("feed-atom", Beside("application/atom+xml", r#"<link rel="alternate" type="application/atom+xml" href="/beside/feed-atom">"#),
        r#"<feed xmlns="http://www.w3.org/2005/Atom"><title>x</title><entry><link href="{}"/></entry></feed>"#),
    way("feed-enclosure", Beside("application/rss+xml", r#"<link rel="alternate" type="application/rss+xml" href="/beside/feed-enclosure">"#),
        r#"<rss version="2.0"><channel><item><enclosure url="{here}{}" length="1" type="audio/mpeg"/></item></channel></rss>"#),
    way("feed-rss", Beside("application/rss+xml", r#"<link rel="alternate" type="application/rss+xml" href="/beside/feed-rss">"#),
        r#"<rss version="2.0"><channel><item><link>{here}{}</link></item></channel></rss>"#),
    way("frame-src", Beside("text/html", r#"<a href="/beside/frame-src">x</a>"#), r#"<frameset><frame src="{}"></frameset>"#),
    way("manifest-icon", Beside("application/manifest+json", r#"<link rel="manifest" href="/beside/manifest-icon">"#),
        r#"{"name":"x","icons":[{"src":"{}","sizes":"48x48"}]}"#),
    way("markdown-image", Beside("text/markdown", r#"<a href="/beside/markdown-image">x</a>"#), "# X\n\n![a picture]({})\n"),
    way("markdown-link", Beside("text/markdown", r#"<a href="/beside/markdown-link">x</a>"#), "# X\n\n[a link][1]\n\n[1]: {}\n"),
    way("sitemap", Beside("application/xml", ""),
        r#"<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>{here}{}</loc></url></urlset>"#),
    way("xhtml", Beside("application/xhtml+xml", r#"<a href="/beside/xhtml">x</a>"#),
        r#"<html xmlns="http://www.w3.org/1999/xhtml"><head><title>x</title></head><body><a href="{}"/></body></html>"#),
    // A page in Latin-1; the path goes over the line in UTF-8.
    way("latin-1-é", Beside("text/html; charset=iso-8859-1", r#"<a href="/beside/latin-1">x</a>"#), r#"<a href="{}">x</a>"#),
];

/// What only looks like a reference: nobody may ask for what is below `/never/`.
pub const NONE: &str = r##"
    <!-- <a href="/never/comment">x</a> -->
    <script>const page = '<a href="/never/script">x</a>'; location = "/never/location";</script>
    <textarea><a href="/never/textarea">x</a></textarea>
    <style>/* url(/never/css-comment) */</style>
    <p title="/never/title" data-href="/never/data">http://127.0.0.1/never/text</p>
    <a href="data:text/html,/never/data-url">x</a>
"##;

const fn way(name: &'static str, place: Place, text: &'static str) -> Way {
    Way { name, place, text }
}

impl Way {
    /// The path, as it goes over the line.
    pub fn path(&self) -> String {
        format!("/missing/{}", self.name.replace('é', "%C3%A9"))
    }

    fn written(&self, here: &str) -> String {
        let path = format!("/missing/{}", self.name.replace('&', "&amp;"));
        let there = here.trim_start_matches("http:");
        self.text.replace("{here}", here).replace("{there}", there).replace("{}", &path)
    }
}

/// A web with all of them, to be traversed from `/`.
pub fn web() -> Web {
    let mut web = Web::default()
        .on("/", |visit| front(visit.here))
        .file("/there.png", "image/png", "x")
        .on("/robots.txt", |visit| Reply::of(200, "text/plain", format!("Sitemap: {}/beside/sitemap\n", visit.here)));
    for way in WAYS {
        let Place::Beside(media_type, _) = way.place else { continue };
        web = web.on(&format!("/beside/{}", way.name.trim_end_matches("-é")), |visit| {
            let text = way.written(visit.here);
            let is_latin = media_type.ends_with("8859-1");
            let body = if is_latin { text.chars().map(|letter| letter as u8).collect() } else { text.into_bytes() };
            Reply::of(200, media_type, body)
        });
    }
    web
}

fn front(here: &str) -> Reply {
    let written = |wanted: fn(&Place) -> bool| -> String {
        WAYS.iter().filter(|way| wanted(&way.place)).map(|way| way.written(here) + "\n").collect()
    };
    let beside: String =
        WAYS.iter().filter_map(|way| if let Beside(_, by) = way.place { Some(by) } else { None }).collect();
    let (head, body) = (written(|place| *place == Head), written(|place| *place == Body));
    let page = format!(
        "<!DOCTYPE html>\n<html><head><title>All ways</title>\n{head}</head>\n<body>\n{body}{NONE}{beside}</body></html>\n"
    );
    let headers =
        WAYS.iter().filter_map(|way| if let Header(name) = way.place { Some((name, way.written(here))) } else { None });
    headers.fold(Reply::of(200, "text/html; charset=utf-8", page), |reply, (name, value)| reply.with(name, &value))
}
