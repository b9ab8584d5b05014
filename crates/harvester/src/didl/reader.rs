//! Interprets the elements of a DIDL document.

use modoai_protocol::text::shortened;
use modoai_protocol::xml::reader::Limits;
use modoai_protocol::xml::reader::fragment::{Fragment, Node, Start};

use super::value::Base64;
use super::{Algorithm, Component, DidlError, Digest, Found, Stopped, Value, digest};

/// Both editions of the standard; modoai writes the second.
const DIDL: [&str; 2] = ["urn:mpeg:mpeg21:2002:02-DIDL-NS", "urn:mpeg:mpeg21:2002:01-DIDL-NS"];
const DII: &str = "urn:mpeg:mpeg21:2002:01-DII-NS";
const FIXITY: &str = "urn:modoai:fixity:1";

/// The maximum number of bytes kept of one document in addition to values: identifiers, headers, digests, references.
const FACTS: usize = 256 * 1024;
/// The maximum number of Components in one document. Real documents have a few dozen.
const COMPONENTS: usize = 4096;

/// Reads one document. Its input is pieces of any size, cut anywhere.
pub struct Reader {
    fragment: Fragment,
    inner: Inner,
}

#[derive(Default)]
struct Inner {
    /// The open elements.
    open: Vec<Element>,
    /// The facts about each open Item.
    items: Vec<Facts>,
    /// True if an Item was read already: only the first is read.
    item_seen: bool,
    component: Option<Open>,
    components: usize,
    /// The text of the open element, if it is one whose text is used.
    text: Vec<u8>,
    /// The name of the open header, or the algorithm of the open digest.
    key: String,
    /// The number of bytes of facts so far.
    taken: usize,
}

/// The elements that are interpreted; all others are skipped with their content.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Element {
    Didl,
    Container,
    Item,
    Component,
    Descriptor,
    Statement,
    Resource,
    Identifier,
    Headers,
    Header,
    Fixity,
    Digest,
    Other,
}

#[derive(Clone, Default)]
struct Facts {
    identifier: Option<String>,
    status: Option<u16>,
    headers: Vec<(String, String)>,
}

/// The Component that is open.
#[derive(Default)]
struct Open {
    said: Component,
    own: Facts,
    resource: Resource,
    /// True if bytes of a value have been passed on.
    begun: bool,
}

/// The content of the open Resource.
#[derive(Default)]
enum Resource {
    /// Content that is not used.
    #[default]
    Ignored,
    Text,
    Base64(Box<Base64>),
}

impl Reader {
    /// Returns a reader of a document that inherits these namespace declarations.
    pub fn new(namespaces: &[(&str, &str)]) -> Self {
        Self { fragment: Fragment::new(Limits::default(), namespaces), inner: Inner::default() }
    }

    /// Reads a piece of the document and passes its content to `sink`. Do not call it again after an error.
    pub fn push<E>(
        &mut self,
        bytes: &[u8],
        sink: &mut impl FnMut(Found<'_>) -> Result<(), E>,
    ) -> Result<(), Stopped<E>> {
        let inner = &mut self.inner;
        self.fragment.push(bytes, &mut |node| match node {
            Node::Start(start) => inner.start(&start).map_err(Stopped::Didl),
            Node::Text(text) => inner.text(text, sink),
            Node::End { .. } => inner.end(sink),
        })
    }

    /// Returns true if the next byte is base64 text of a value, or the first byte of markup.
    pub fn is_in_base64(&self) -> bool {
        let resource = self.inner.component.as_ref().map(|open| &open.resource);
        self.inner.open.last() == Some(&Element::Resource)
            && matches!(resource, Some(Resource::Base64(_)))
            && self.fragment.is_between_markup()
    }

    /// Checks that the document is complete.
    pub fn finish(&self) -> Result<(), DidlError> {
        Ok(self.fragment.finish()?)
    }

    /// Returns the number of bytes held, for tests that memory is bounded.
    pub fn held(&self) -> usize {
        let Inner { open, text, key, taken, .. } = &self.inner;
        self.fragment.held() + open.capacity() * size_of::<Element>() + text.capacity() + key.capacity() + taken
    }
}

impl Inner {
    fn start(&mut self, start: &Start<'_>) -> Result<(), DidlError> {
        let element = self.child(start)?;
        self.open.push(element);
        match element {
            Element::Item => {
                self.item_seen = true;
                self.items.push(Facts::default());
            }
            Element::Component => {
                self.components += 1;
                if self.components > COMPONENTS {
                    return Err(DidlError::Limit { what: "components", limit: COMPONENTS });
                }
                self.component = Some(Open::default());
            }
            Element::Resource => self.resource(start)?,
            Element::Header => {
                self.key = match start.attribute("name")? {
                    Some(name) => name.into_owned(),
                    // The schema of 2004 is lost; a header may have been a separate element.
                    None => start.name.to_owned(),
                };
                self.take(self.key.len())?;
            }
            Element::Headers => {
                let status = start.attribute("status")?.and_then(|status| status.trim().parse().ok());
                if let Some(facts) = self.facts() {
                    facts.status = facts.status.or(status);
                }
            }
            Element::Digest => self.key = start.attribute("algorithm")?.unwrap_or_default().into_owned(),
            // Markup in a Resource is a separate document, not bytes.
            Element::Other if self.open.iter().rev().nth(1) == Some(&Element::Resource) => {
                if let Some(open) = &mut self.component
                    && !matches!(open.resource, Resource::Ignored)
                {
                    open.resource = Resource::Ignored;
                    open.said.value = Value::Other("it contains XML instead of base64");
                }
            }
            _ => {}
        }
        self.text.clear();
        Ok(())
    }

    fn child(&self, start: &Start<'_>) -> Result<Element, DidlError> {
        let is_didl = DIDL.contains(&start.namespace);
        let Some(parent) = self.open.last() else {
            if is_didl && start.name == "DIDL" {
                return Ok(Element::Didl);
            }
            return Err(DidlError::NotDidl { name: shortened(start.name, 80).into_owned() });
        };
        let http_header = ["http_header", "http-header"].iter().any(|name| start.name.eq_ignore_ascii_case(name));
        Ok(match (parent, start.name) {
            (Element::Didl | Element::Container, "Container") if is_didl => Element::Container,
            (Element::Didl | Element::Container, "Item") if is_didl && !self.item_seen => Element::Item,
            (Element::Item, "Item") if is_didl => Element::Item,
            (Element::Item, "Component") if is_didl => Element::Component,
            (Element::Item | Element::Component, "Descriptor") if is_didl => Element::Descriptor,
            (Element::Descriptor, "Statement") if is_didl => Element::Statement,
            (Element::Component, "Resource") if is_didl => Element::Resource,
            (Element::Statement, "Identifier") if start.namespace == DII => Element::Identifier,
            (Element::Statement, "fixity") if start.namespace == FIXITY => Element::Fixity,
            (Element::Fixity, "digest") if start.namespace == FIXITY => Element::Digest,
            (Element::Statement, _) if http_header => Element::Headers,
            (Element::Headers, _) => Element::Header,
            _ => Element::Other,
        })
    }

    fn resource(&mut self, start: &Start<'_>) -> Result<(), DidlError> {
        let (reference, encoding) = (start.attribute("ref")?, start.attribute("encoding")?);
        let (media_type, coding) = (start.attribute("mimeType")?, start.attribute("contentEncoding")?);
        let encoding = encoding.unwrap_or_default();
        self.take(reference.as_ref().map_or(0, |url| url.len()) + media_type.as_ref().map_or(0, |name| name.len()))?;
        let Some(open) = &mut self.component else { return Ok(()) };
        open.said.media_type = open.said.media_type.take().or(media_type.map(Into::into));
        if let Some(reference) = reference {
            open.said.references.push(reference.trim().to_owned());
            return Ok(());
        }
        // All Resources of a Component have the same bytes: the first value is sufficient.
        if open.begun {
            return Ok(());
        }
        let (value, resource) = match encoding.trim() {
            _ if coding.is_some_and(|coding| !coding.trim().is_empty()) => {
                (Value::Other("it is compressed"), Resource::Ignored)
            }
            "" => (Value::Whole, Resource::Text),
            name if name.eq_ignore_ascii_case("base64") => (Value::Whole, Resource::Base64(Box::default())),
            _ => (Value::Other("unknown encoding"), Resource::Ignored),
        };
        open.begun = value == Value::Whole;
        (open.said.value, open.resource) = (value, resource);
        Ok(())
    }

    fn text<E>(&mut self, text: &[u8], sink: &mut impl FnMut(Found<'_>) -> Result<(), E>) -> Result<(), Stopped<E>> {
        let mut value = |bytes: &[u8]| sink(Found::Value(bytes)).map_err(Stopped::Told);
        match self.open.last() {
            Some(Element::Resource) => match self.component.as_mut().map(|open| &mut open.resource) {
                Some(Resource::Text) => value(text),
                Some(Resource::Base64(base64)) => base64.push(text, &mut value),
                Some(Resource::Ignored) | None => Ok(()),
            },
            Some(Element::Identifier | Element::Header | Element::Digest) => {
                self.take(text.len())?;
                self.text.extend_from_slice(text);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn end<E>(&mut self, sink: &mut impl FnMut(Found<'_>) -> Result<(), E>) -> Result<(), Stopped<E>> {
        let text = String::from_utf8_lossy(&std::mem::take(&mut self.text)).into_owned();
        let key = std::mem::take(&mut self.key);
        match self.open.pop() {
            Some(Element::Identifier) => {
                if let Some(facts) = self.facts() {
                    facts.identifier.get_or_insert_with(|| text.trim().to_owned());
                }
            }
            Some(Element::Header) => {
                if let Some(facts) = self.facts() {
                    facts.headers.push((key, text));
                }
            }
            Some(Element::Digest) => {
                // A digest of an unknown algorithm is ignored.
                if let (Some(algorithm), Some(open)) = (Algorithm::named(&key), &mut self.component) {
                    open.said.digests.push(Digest::from_hex(algorithm, &text)?);
                }
            }
            Some(Element::Resource) => {
                if let Some(open) = &mut self.component
                    && let Resource::Base64(mut base64) = std::mem::take(&mut open.resource)
                {
                    base64.finish()?;
                }
            }
            Some(Element::Item) => {
                self.items.pop();
            }
            Some(Element::Component) => {
                if let Some(open) = self.component.take() {
                    sink(Found::Component(self.complete(open))).map_err(Stopped::Told)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Combines the facts of a Component with those of the Items around it.
    fn complete(&self, open: Open) -> Component {
        let Open { mut said, own, .. } = open;
        let around = || self.items.iter().rev();
        said.identifier = own.identifier.or_else(|| around().find_map(|item| item.identifier.clone()));
        (said.status, said.headers) = (own.status, own.headers);
        // Headers further out belong to the only resource, or to no particular one.
        if said.headers.is_empty()
            && let Some(item) = around().next()
        {
            (said.status, said.headers) = (item.status, item.headers.clone());
        }
        let told = digest::in_headers(&said);
        said.digests.extend(told);
        said
    }

    /// Returns the facts to which a statement belongs: those of the Component around it, or of the Item.
    fn facts(&mut self) -> Option<&mut Facts> {
        match &mut self.component {
            Some(open) => Some(&mut open.own),
            None => self.items.last_mut(),
        }
    }

    fn take(&mut self, length: usize) -> Result<(), DidlError> {
        // An empty fact needs memory, too.
        self.taken += length + size_of::<String>();
        if self.taken > FACTS {
            return Err(DidlError::Limit { what: "bytes about resources", limit: FACTS });
        }
        Ok(())
    }
}
