//! References of documents, and the elements that contain them. One row of [`KINDS`] is one kind of reference.

/// One reference in a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The element and attribute, or other syntax.
    pub kind: Kind,
    /// The line of the document, from 1; 0 without lines (a response header).
    pub line: u32,
    /// The visible text: the text of a link, the alternative of an image. Whitespace is folded, and long text is cut.
    pub text: Box<str>,
    /// The target.
    pub target: Target,
    /// True if the URL has whitespace around it, which not every program removes.
    pub is_padded: bool,
}

/// The target of a reference, resolved by the rules of the URL standard with the document's base.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// An http or https URL.
    Web {
        /// The URL, without its fragment.
        url: Box<str>,
        /// The fragment as the URL has it (percent-encoded), without `#` and without a text directive (`:~:`). `None`
        /// if it is missing or empty.
        fragment: Option<Box<str>>,
    },
    /// A `mailto:` URL.
    Mail {
        /// The URL as written.
        url: Box<str>,
        /// The error in its syntax, if it has one.
        fault: Option<&'static str>,
    },
    /// Any other scheme (`tel:`, `data:`, `javascript:`, `ftp:` …), which is not tested; see [`untested_scheme`].
    Elsewhere {
        /// The URL, cut if it is long.
        url: Box<str>,
    },
    /// A URL that no browser can follow.
    Invalid {
        /// The text as written, cut if it is long.
        text: Box<str>,
        /// The reason.
        fault: &'static str,
    },
}

/// Schemes whose URLs need no test: they contain the content themselves, or start a call.
const NEED_NO_TEST: [&str; 6] = ["about", "blob", "data", "javascript", "sms", "tel"];

/// Returns the scheme of a URL that cannot be tested; `None` if the URL needs no test. Not for http and https.
pub fn untested_scheme(url: &str) -> Option<&str> {
    let (scheme, _) = url.split_once(':')?;
    (!NEED_NO_TEST.iter().any(|known| scheme.eq_ignore_ascii_case(known))).then_some(scheme)
}

/// The kind of target that a reference implies, which decides how it is tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Leads {
    /// A document that users read: part of the web if a task's scope includes it.
    ToDocument,
    /// A resource that is read for references, but is not a document (a style sheet, a manifest, a feed).
    ToSource,
    /// A sitemap, which is read as one regardless of its name and media type.
    ToSitemap,
    /// A resource without references: an image, a script.
    ToPart,
    /// A resource of a style sheet: few and small, so that GET costs no more than HEAD.
    ToOrnament,
    /// A target of form data; if it refuses the method, it exists.
    ToAction,
}

impl Leads {
    /// Returns true if the target is read for its references.
    pub fn is_read(self) -> bool {
        matches!(self, Self::ToDocument | Self::ToSource | Self::ToSitemap)
    }
}

macro_rules! kinds {
    ($($(#[$about:meta])* $name:ident = $code:literal $element:literal $leads:ident),+ $(,)?) => {
        /// A kind of reference. The number is stored with pages, so it never changes its meaning.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Kind { $($(#[$about])* $name = $code),+ }

        /// All kinds, in the order of their numbers.
        pub const KINDS: &[Kind] = &[$(Kind::$name),+];

        impl Kind {
            /// Returns the element and attribute, as shown in reports.
            pub fn name(self) -> &'static str {
                match self { $(Self::$name => $element),+ }
            }

            /// Returns the kind of target.
            pub fn leads(self) -> Leads {
                match self { $(Self::$name => Leads::$leads),+ }
            }

            /// Returns the kind of this number.
            pub fn from_code(code: u8) -> Option<Self> {
                match code { $($code => Some(Self::$name),)+ _ => None }
            }
        }
    };
}

kinds! {
    /// The start of a task, which is not a reference in a document.
    Top = 0 "top" ToDocument,
    /// `<a href>`, also in SVG.
    Anchor = 1 "a href" ToDocument,
    /// `<area href>`.
    Area = 2 "area href" ToDocument,
    /// `<link href>` to another document (alternate, next, canonical …).
    LinkDocument = 3 "link href" ToDocument,
    /// `<link rel=stylesheet href>`.
    Stylesheet = 4 "link rel=stylesheet" ToSource,
    /// `<link href>` to an icon, a preloaded file, a script module.
    LinkPart = 5 "link (part)" ToPart,
    /// `<link imagesrcset>`.
    LinkImageSrcset = 6 "link imagesrcset" ToPart,
    /// `<link rel=manifest href>`.
    Manifest = 7 "link rel=manifest" ToSource,
    /// `<img src>`.
    Image = 8 "img src" ToPart,
    /// `<img srcset>` and `<source srcset>`.
    Srcset = 9 "srcset" ToPart,
    /// `<img longdesc>` and `<iframe longdesc>`.
    LongDescription = 10 "longdesc" ToDocument,
    /// `<script src>`.
    Script = 11 "script src" ToPart,
    /// `<iframe src>` and `<frame src>`.
    Frame = 12 "iframe src" ToDocument,
    /// `<form action method=post>`.
    FormAction = 13 "form action" ToAction,
    /// `<button formaction>` and `<input formaction>`.
    ButtonAction = 14 "button formaction" ToAction,
    /// `<input type=image src>`.
    InputImage = 15 "input src" ToPart,
    /// `<object data>`.
    Object = 16 "object data" ToPart,
    /// `<embed src>`.
    Embed = 17 "embed src" ToPart,
    /// `<video src>`.
    Video = 18 "video src" ToPart,
    /// `<audio src>`.
    Audio = 19 "audio src" ToPart,
    /// `<source src>`.
    Source = 20 "source src" ToPart,
    /// `<track src>`.
    Track = 21 "track src" ToPart,
    /// `<video poster>`.
    Poster = 22 "video poster" ToPart,
    /// SVG `<image href>`, also by `xlink:href`.
    SvgImage = 23 "svg image href" ToPart,
    /// SVG `<use href>`, also by `xlink:href`.
    SvgUse = 24 "svg use href" ToPart,
    /// `<meta http-equiv=refresh>`.
    Refresh = 25 "meta refresh" ToDocument,
    /// `<meta property="og:…">` that is a URL.
    OpenGraph = 26 "meta og" ToPart,
    /// `<meta name="twitter:…">` that is a URL.
    TwitterCard = 27 "meta twitter" ToPart,
    /// A URL in JSON-LD.
    JsonLd = 28 "JSON-LD" ToPart,
    /// An icon or screenshot of a web manifest.
    ManifestIcon = 29 "manifest icon" ToPart,
    /// The start URL or a shortcut of a web manifest.
    ManifestStart = 30 "manifest start_url" ToDocument,
    /// `url()` in a style sheet, a `<style>` element or a `style` attribute.
    CssUrl = 31 "css url()" ToOrnament,
    /// `@import` in the same places.
    CssImport = 32 "css @import" ToSource,
    /// A `Link` response header.
    LinkHeader = 33 "Link header" ToDocument,
    /// An entry of a sitemap.
    Sitemap = 34 "sitemap loc" ToDocument,
    /// A sitemap listed in robots.txt, in another sitemap or by `<link rel=sitemap>`.
    SitemapFile = 35 "sitemap" ToSitemap,
    /// An entry of an RSS or Atom feed.
    Feed = 36 "feed link" ToDocument,
    /// An enclosure or image of a feed.
    FeedPart = 37 "feed enclosure" ToPart,
    /// A feed: `<link rel=alternate type="application/rss+xml">` and the like.
    FeedFile = 38 "link (feed)" ToSource,
    /// `<a ping>`.
    Ping = 39 "a ping" ToAction,
    /// `cite` of a quotation, an insertion or a deletion.
    Cite = 40 "cite" ToDocument,
    /// `<html manifest>`, `<body background>`, `<table background>` and other obsolete attributes.
    Background = 41 "background" ToPart,
    /// A link in Markdown.
    MarkdownLink = 42 "markdown link" ToDocument,
    /// An image in Markdown.
    MarkdownImage = 43 "markdown image" ToPart,
    // 44 was any other reference to a document, which never occurred; the number is not used again.
    /// `<form action>` with the method GET: an ordinary page, such as that of a search.
    FormPage = 45 "form action (get)" ToDocument,
}
