//! The attributes that contain references, by element: one table. Attributes that depend on more than the names of
//! element and attribute (the relation of a `link`, the name of a `meta`) have separate tables below.

use crate::reference::Kind;

macro_rules! attributes {
    ($($attribute:ident $name:literal),+ $(,)?) => {
        /// An attribute that the extraction uses; all others are skipped while they are read.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Attribute { $($attribute),+ }

        impl Attribute {
            /// Returns the attribute of this name, in lower case.
            pub(super) fn of(name: &[u8]) -> Option<Self> {
                const NAMES: &[(&[u8], Attribute)] = &[$(($name.as_bytes(), Attribute::$attribute)),+];
                // The most frequent attribute contains no reference.
                if name == b"class" {
                    return None;
                }
                NAMES.iter().find(|(there, _)| *there == name).map(|(_, attribute)| *attribute)
            }
        }
    };
}

attributes! {
    Href "href", Id "id", Src "src", Alt "alt", Title "title", Rel "rel", Type "type", Name "name", Content "content", Style "style",
    Property "property", HttpEquiv "http-equiv", Value "value", Srcset "srcset", ImageSrcset "imagesrcset", XlinkHref "xlink:href",
    Action "action", FormAction "formaction", Data "data", Poster "poster", Ping "ping", Cite "cite", LongDesc "longdesc",
    Background "background", Manifest "manifest", DynSrc "dynsrc", LowSrc "lowsrc", SrcDoc "srcdoc", Url "url",
    IsPermaLink "ispermalink", XmlBase "xml:base", Uri "uri", Method "method",
}

/// The syntax of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// One URL.
    Url,
    /// A list of images with descriptors.
    Srcset,
    /// URLs separated by whitespace.
    List,
}

/// Element, attribute, syntax of the value, and kind of the reference. The most frequent come first.
const REFERENCES: &[(&str, Attribute, How, Kind)] = &[
    ("a", Attribute::Href, How::Url, Kind::Anchor),
    ("img", Attribute::Src, How::Url, Kind::Image),
    ("script", Attribute::Src, How::Url, Kind::Script),
    ("img", Attribute::Srcset, How::Srcset, Kind::Srcset),
    ("img", Attribute::LongDesc, How::Url, Kind::LongDescription),
    ("img", Attribute::DynSrc, How::Url, Kind::Background),
    ("img", Attribute::LowSrc, How::Url, Kind::Background),
    ("a", Attribute::XlinkHref, How::Url, Kind::Anchor),
    ("a", Attribute::Ping, How::List, Kind::Ping),
    ("area", Attribute::Href, How::Url, Kind::Area),
    ("area", Attribute::Ping, How::List, Kind::Ping),
    ("audio", Attribute::Src, How::Url, Kind::Audio),
    ("blockquote", Attribute::Cite, How::Url, Kind::Cite),
    ("body", Attribute::Background, How::Url, Kind::Background),
    ("button", Attribute::FormAction, How::Url, Kind::ButtonAction),
    ("del", Attribute::Cite, How::Url, Kind::Cite),
    ("embed", Attribute::Src, How::Url, Kind::Embed),
    ("feimage", Attribute::Href, How::Url, Kind::SvgImage),
    ("feimage", Attribute::XlinkHref, How::Url, Kind::SvgImage),
    ("form", Attribute::Action, How::Url, Kind::FormAction),
    ("frame", Attribute::LongDesc, How::Url, Kind::LongDescription),
    ("frame", Attribute::Src, How::Url, Kind::Frame),
    ("html", Attribute::Manifest, How::Url, Kind::Background),
    ("iframe", Attribute::LongDesc, How::Url, Kind::LongDescription),
    ("iframe", Attribute::Src, How::Url, Kind::Frame),
    // The element of SVG; outside SVG, browsers treat it as `img`.
    ("image", Attribute::Href, How::Url, Kind::SvgImage),
    ("image", Attribute::Src, How::Url, Kind::Image),
    ("image", Attribute::XlinkHref, How::Url, Kind::SvgImage),
    ("input", Attribute::FormAction, How::Url, Kind::ButtonAction),
    ("input", Attribute::Src, How::Url, Kind::InputImage),
    ("ins", Attribute::Cite, How::Url, Kind::Cite),
    ("object", Attribute::Data, How::Url, Kind::Object),
    ("q", Attribute::Cite, How::Url, Kind::Cite),
    ("script", Attribute::Href, How::Url, Kind::Script),
    ("script", Attribute::XlinkHref, How::Url, Kind::Script),
    ("source", Attribute::Src, How::Url, Kind::Source),
    ("source", Attribute::Srcset, How::Srcset, Kind::Srcset),
    ("table", Attribute::Background, How::Url, Kind::Background),
    ("tbody", Attribute::Background, How::Url, Kind::Background),
    ("td", Attribute::Background, How::Url, Kind::Background),
    ("tfoot", Attribute::Background, How::Url, Kind::Background),
    ("th", Attribute::Background, How::Url, Kind::Background),
    ("thead", Attribute::Background, How::Url, Kind::Background),
    ("tr", Attribute::Background, How::Url, Kind::Background),
    ("track", Attribute::Src, How::Url, Kind::Track),
    ("use", Attribute::Href, How::Url, Kind::SvgUse),
    ("use", Attribute::XlinkHref, How::Url, Kind::SvgUse),
    ("video", Attribute::Poster, How::Url, Kind::Poster),
    ("video", Attribute::Src, How::Url, Kind::Video),
];

/// Returns the reference that this attribute of this element contains, if any.
pub(super) fn reference(element: &[u8], attribute: Attribute) -> Option<(How, Kind)> {
    REFERENCES
        .iter()
        .find(|(name, there, ..)| *there == attribute && name.as_bytes() == element)
        .map(|(.., how, kind)| (*how, *kind))
}

/// The kinds of references by link relation; the first matching row counts. Relations without a kind are only hints for
/// later requests, without a resource to test.
const RELATIONS: &[(&str, Option<Kind>)] = &[
    ("stylesheet", Some(Kind::Stylesheet)),
    ("manifest", Some(Kind::Manifest)),
    ("sitemap", Some(Kind::SitemapFile)),
    ("icon", Some(Kind::LinkPart)),
    ("apple-touch-icon", Some(Kind::LinkPart)),
    ("apple-touch-icon-precomposed", Some(Kind::LinkPart)),
    ("apple-touch-startup-image", Some(Kind::LinkPart)),
    ("mask-icon", Some(Kind::LinkPart)),
    ("fluid-icon", Some(Kind::LinkPart)),
    ("image_src", Some(Kind::LinkPart)),
    ("preload", Some(Kind::LinkPart)),
    ("modulepreload", Some(Kind::LinkPart)),
    ("prefetch", Some(Kind::LinkPart)),
    ("search", Some(Kind::LinkPart)),
    ("edituri", Some(Kind::LinkPart)),
    ("wlwmanifest", Some(Kind::LinkPart)),
    ("compression-dictionary", Some(Kind::LinkPart)),
    ("pingback", Some(Kind::Ping)),
    ("webmention", Some(Kind::Ping)),
    ("preconnect", None),
    ("dns-prefetch", None),
];

/// The media types of feeds.
const FEEDS: &[&str] = &["application/rss+xml", "application/atom+xml", "application/feed+json", "application/rdf+xml"];

/// Returns the kind of reference of a link with this relation and type; `None` if it cannot be tested.
pub(super) fn relation(rel: &str, media_type: &str) -> Option<Kind> {
    let has = |name: &str| rel.split_ascii_whitespace().any(|token| token.eq_ignore_ascii_case(name));
    if let Some((_, kind)) = RELATIONS.iter().find(|(name, _)| has(name)) {
        return *kind;
    }
    let essence = media_type.split(';').next().unwrap_or_default().trim();
    if has("alternate") && FEEDS.iter().any(|feed| essence.eq_ignore_ascii_case(feed)) {
        return Some(Kind::FeedFile);
    }
    Some(Kind::LinkDocument)
}

/// The names of `meta` whose content is a URL.
const META: &[(&str, Kind)] = &[
    ("og:image", Kind::OpenGraph),
    ("og:image:url", Kind::OpenGraph),
    ("og:image:secure_url", Kind::OpenGraph),
    ("og:url", Kind::OpenGraph),
    ("og:see_also", Kind::OpenGraph),
    ("og:video", Kind::OpenGraph),
    ("og:video:url", Kind::OpenGraph),
    ("og:video:secure_url", Kind::OpenGraph),
    ("og:audio", Kind::OpenGraph),
    ("og:audio:url", Kind::OpenGraph),
    ("og:audio:secure_url", Kind::OpenGraph),
    ("twitter:image", Kind::TwitterCard),
    ("twitter:image:src", Kind::TwitterCard),
    ("twitter:image0", Kind::TwitterCard),
    ("twitter:image1", Kind::TwitterCard),
    ("twitter:image2", Kind::TwitterCard),
    ("twitter:image3", Kind::TwitterCard),
    ("twitter:player", Kind::TwitterCard),
    ("twitter:player:stream", Kind::TwitterCard),
    ("twitter:url", Kind::TwitterCard),
    ("msapplication-tileimage", Kind::LinkPart),
    ("thumbnail", Kind::LinkPart),
];

/// Returns the kind of reference in the content of a `meta` of this name, if it is a URL.
pub(super) fn meta(name: &str) -> Option<Kind> {
    META.iter().find(|(there, _)| there.eq_ignore_ascii_case(name)).map(|(_, kind)| *kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_relation_that_decides_wins() {
        assert_eq!(relation("alternate stylesheet", "text/css"), Some(Kind::Stylesheet));
        assert_eq!(relation("Shortcut ICON", ""), Some(Kind::LinkPart));
        assert_eq!(relation("alternate", "application/atom+xml; charset=utf-8"), Some(Kind::FeedFile));
        assert_eq!(relation("alternate", "text/html"), Some(Kind::LinkDocument));
        assert_eq!(relation("", ""), Some(Kind::LinkDocument));
        assert_eq!(relation("preconnect", ""), None);
        assert_eq!(relation("dns-prefetch preload", ""), Some(Kind::LinkPart));
    }

    #[test]
    fn no_row_stands_twice() {
        for (at, (element, attribute, ..)) in REFERENCES.iter().enumerate() {
            let again = REFERENCES[at + 1..].iter().any(|(name, there, ..)| name == element && there == attribute);
            assert!(!again, "{element} {attribute:?}");
        }
    }
}
