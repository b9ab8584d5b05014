//! Compares a response with XML and with the schemas, in one pass.
//!
//! An XSD engine is not available at run time, and is not necessary: the schemas of the protocol are small, and
//! [`schema`] contains them as tables. Everything in a response that is not allowed is reported as a [`Deviation`] with
//! its place; each check reports those of its subject.

use std::collections::HashMap;

use modoai_protocol::text::shortened;
use modoai_protocol::xml::XSI_NAMESPACE;
use modoai_protocol::xml::reader::fragment::Fragment;
use modoai_protocol::xml::reader::{Fault, ReadError};
use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};
use quick_xml::name::{QName, ResolveResult};
use quick_xml::reader::NsReader;

use super::report::Excerpt;
use super::schema::{self, Content, Element, Particle};

/// The number of deviations of one kind, in one place and element, that are reported for one response: many of one kind
/// hide none of another.
const MOST: usize = 50;
/// The maximum length of text that is compared with a form.
const LONGEST_TEXT: usize = 8 * 1024;

/// The maximum length of foreign text in a message, in characters.
pub(crate) const MAX_QUOTED: usize = 60;

/// The namespace of the types of XML Schema.
const XSD_NAMESPACE: &str = "http://www.w3.org/2001/XMLSchema";

/// The kind of a deviation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// Not well-formed, or an undeclared namespace prefix.
    IllFormed,
    /// Bytes that are not UTF-8.
    Encoding,
    /// A character that XML does not allow.
    Character,
    /// The XML declaration is missing, does not state version 1.0 and UTF-8, or occurs more than once.
    Declaration,
    /// The root element, its namespace, or its xsi:schemaLocation.
    Root,
    /// An element that is missing, out of order, too many, or unknown.
    Structure,
    /// A text or attribute of another form, or an attribute that is missing or not allowed.
    Value,
    /// A container that does not contain exactly one element of another namespace.
    Container,
    /// Metadata without xsi:schemaLocation for its namespace.
    Location,
}

/// The part of the response with a deviation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Place {
    /// In the protocol's own elements.
    Envelope,
    /// Inside a record's metadata.
    Metadata,
    /// Inside an about container of a record.
    About,
    /// Inside a description of the repository or of a set.
    Description,
}

/// A deviation from XML or a schema.
#[derive(Clone, Debug)]
pub(crate) struct Deviation {
    pub(crate) kind: Kind,
    pub(crate) place: Place,
    /// The innermost element that a table contains, and its namespace.
    pub(crate) element: &'static str,
    pub(crate) namespace: &'static str,
    pub(crate) message: String,
    pub(crate) excerpt: Excerpt,
}

/// Returns all deviations of a response. If it is not XML, they end at the first XML error.
pub(crate) fn inspect(bytes: &[u8]) -> Vec<Deviation> {
    let mut inspector = Inspector {
        bytes,
        shift: 0,
        flaw: None,
        stack: Vec::new(),
        rooted: false,
        found: Vec::new(),
        alike: HashMap::new(),
    };
    match std::str::from_utf8(bytes) {
        Err(error) => {
            let message = format!("invalid UTF-8 at byte {}", error.valid_up_to());
            inspector.tell(Kind::Encoding, message, error.valid_up_to());
        }
        Ok(text) => inspector.document(text),
    }
    inspector.found
}

struct Inspector<'a> {
    bytes: &'a [u8],
    /// The length of a byte order mark.
    shift: usize,
    /// The XML error, until it is reported.
    flaw: Option<Flaw>,
    stack: Vec<Frame>,
    rooted: bool,
    found: Vec<Deviation>,
    /// The number of deviations of each kind; the tables limit the number of kinds.
    alike: HashMap<(Kind, Place, &'static str), usize>,
}

/// An XML error: the first one, after which a parser stops.
struct Flaw {
    at: usize,
    kind: Kind,
    message: String,
}

/// Returns the error for which modoai refuses a document.
fn first_flaw(text: &str) -> Option<Flaw> {
    let mut fragment = Fragment::document();
    let read = fragment.push(text.as_bytes(), &mut |_| Ok::<(), ReadError>(()));
    let ReadError { offset, fault } = read.and_then(|()| fragment.finish()).err()?;
    let at = usize::try_from(offset).unwrap_or(usize::MAX);
    let (kind, at) = match &fault {
        // A document type is another deviation, and documents of any size are XML.
        Fault::InternalSubset | Fault::Limit { .. } => return None,
        Fault::IllFormed { what: "a document type declaration" } => return None,
        Fault::Character { .. } => (Kind::Character, at),
        Fault::Truncated { .. } => (Kind::IllFormed, at.saturating_sub(80)),
        _ => (Kind::IllFormed, at),
    };
    Some(Flaw { at, kind, message: fault.to_string() })
}

/// An open element.
struct Frame {
    /// `None` for an element that is not in a table; its content is not checked.
    element: Option<&'static Element>,
    /// The innermost element in a table, itself or around it.
    known: Option<&'static Element>,
    place: Place,
    /// The position in its sequence: the particle, the number of its occurrences, and the alternative.
    at: usize,
    count: u32,
    alternative: usize,
    /// The number of elements in a container.
    children: u32,
    text: String,
    start: usize,
}

impl<'a> Inspector<'a> {
    fn document(&mut self, text: &'a str) {
        self.shift = if text.starts_with('\u{feff}') { 3 } else { 0 };
        let text = &text[self.shift..];
        self.flaw = first_flaw(text);
        if !text.starts_with("<?xml") {
            self.tell(Kind::Declaration, "the XML declaration is missing".to_owned(), 0);
        }
        let mut reader = NsReader::from_str(text);
        reader.config_mut().enable_all_checks(true);
        loop {
            let start = usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX);
            let event = match reader.read_event() {
                Ok(event) => event,
                Err(error) => {
                    // The strict check has found the error, too, unless a document type or a limit ended it.
                    let is_known = |it: &Deviation| matches!(it.kind, Kind::IllFormed | Kind::Character);
                    if self.flaw.is_none() && !self.found.iter().any(is_known) {
                        self.tell(Kind::IllFormed, error.to_string(), start);
                    }
                    break;
                }
            };
            let end = usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX);
            if !matches!(event, Event::Start(_) | Event::Empty(_)) {
                self.tell_flaw(end);
            }
            match event {
                Event::Start(tag) => {
                    self.open(&reader, &tag, start);
                    self.tell_flaw(end);
                }
                Event::Empty(tag) => {
                    self.open(&reader, &tag, start);
                    self.tell_flaw(end);
                    self.close();
                }
                Event::End(_) => self.close(),
                Event::Text(text) => self.text(&text, start),
                Event::CData(text) => self.text(&text, start),
                Event::GeneralRef(reference) => {
                    let resolved = match reference.resolve_char_ref() {
                        Ok(Some(character)) => Some(String::from(character)),
                        Ok(None) => quick_xml::escape::resolve_predefined_entity(&reference).map(str::to_owned),
                        Err(_) => None,
                    };
                    self.text(&resolved.unwrap_or_default(), start);
                }
                Event::Decl(declaration) => {
                    let encoding = declaration.encoding().and_then(Result::ok).unwrap_or_default().into_owned();
                    let version = declaration.version().map(std::borrow::Cow::into_owned).unwrap_or_default();
                    if version != "1.0" || !encoding.eq_ignore_ascii_case("utf-8") {
                        let message = format!("the XML declaration has version '{version}' and encoding '{encoding}'");
                        self.tell(Kind::Declaration, message, start);
                    }
                }
                Event::DocType(_) => {
                    let message =
                        "a document type declaration, which XML readers refuse for security reasons".to_owned();
                    self.tell(Kind::Declaration, message, start);
                }
                Event::Comment(_) | Event::PI(_) => {}
                Event::Eof => break,
            }
        }
        self.tell_flaw(usize::MAX);
    }

    /// Reports the XML error, if it is before this position, as a deviation of the innermost open element.
    fn tell_flaw(&mut self, end: usize) {
        if let Some(Flaw { at, kind, message }) = self.flaw.take_if(|flaw| flaw.at < end) {
            self.tell(kind, message, at);
        }
    }

    fn text(&mut self, text: &str, start: usize) {
        let is_blank = text.bytes().all(|byte| byte.is_ascii_whitespace());
        let Some(frame) = self.stack.last_mut() else { return };
        match frame.element.map(|element| &element.content) {
            Some(Content::Text(_)) if frame.text.len() <= LONGEST_TEXT => frame.text.push_str(text),
            Some(Content::Text(_)) => {}
            Some(_) if !is_blank => {
                let name = frame.element.map_or("", |element| element.name);
                self.tell(Kind::Structure, format!("'{name}' contains text"), start);
            }
            _ => {}
        }
    }

    fn open(&mut self, reader: &NsReader<&[u8]>, tag: &BytesStart<'_>, start: usize) {
        let (resolved, local) = reader.resolver().resolve_element(tag.name());
        let namespace = match resolved {
            ResolveResult::Bound(namespace) => namespace.into_inner().to_owned(),
            ResolveResult::Unbound | ResolveResult::Unknown(_) => String::new(),
        };
        let name = local.into_inner();
        let is_root = self.stack.is_empty();
        let parent = self.stack.last().and_then(|frame| frame.element).map(|parent| parent.name);
        let (element, place) =
            if is_root { self.root(&namespace, name, start) } else { self.child(&namespace, name, start) };
        let text = String::new();
        let known = element.or_else(|| self.stack.last().and_then(|frame| frame.known));
        self.stack.push(Frame { element, known, place, at: 0, count: 0, alternative: 0, children: 0, text, start });
        let location = self.attributes(reader, tag, element, start);
        if is_root && tag.name().prefix().is_some() {
            self.tell(
                Kind::Root,
                "the root element has a prefix; xmlns must be the protocol's namespace".to_owned(),
                start,
            );
        }
        if is_root && !self.rooted && element.is_some() {
            self.root_location(location.as_deref(), start);
        }
        self.rooted = true;
        if place == Place::Metadata && parent == Some("metadata") {
            let mut names = location.as_deref().unwrap_or_default().split_whitespace().step_by(2);
            if !names.any(|named| named == namespace) {
                let message = format!("the metadata has no xsi:schemaLocation for its namespace '{namespace}'");
                self.tell(Kind::Location, message, start);
            }
        }
    }

    fn root(&mut self, namespace: &str, name: &str, start: usize) -> (Option<&'static Element>, Place) {
        let root = &schema::ROOT;
        if name == root.name && namespace == root.namespace {
            return (Some(root), Place::Envelope);
        }
        let message = format!("the root element is '{name}' in the namespace '{namespace}'");
        self.tell(Kind::Root, message, start);
        (None, Place::Envelope)
    }

    fn root_location(&mut self, location: Option<&str>, start: usize) {
        let mut words = location.unwrap_or_default().split_whitespace();
        let mut pairs = std::iter::from_fn(|| Some((words.next()?, words.next()?)));
        let schema = (modoai_protocol::xml::OAI_NAMESPACE, modoai_protocol::xml::OAI_SCHEMA);
        if !pairs.any(|pair| pair == schema) {
            let message = format!("xsi:schemaLocation does not pair '{}' with '{}'", schema.0, schema.1);
            self.tell(Kind::Root, message, start);
        }
    }

    /// Returns the table's element at this position, and reports a deviation if it is another one.
    fn child(&mut self, namespace: &str, name: &str, start: usize) -> (Option<&'static Element>, Place) {
        let frame = self.stack.last_mut().expect("only called below the root");
        let place = frame.place;
        let Some(parent) = frame.element else { return (None, place) };
        frame.children += 1;
        match parent.content {
            Content::Foreign => {
                let inner = match parent.name {
                    "metadata" => Place::Metadata,
                    "about" => Place::About,
                    _ => Place::Description,
                };
                if namespace.is_empty() || namespace == parent.namespace {
                    let message = format!("'{}' contains '{name}', which must be in another namespace", parent.name);
                    self.tell(Kind::Container, message, start);
                }
                let known = schema::KNOWN.iter().find(|known| known.name == name && known.namespace == namespace);
                (known.copied(), inner)
            }
            Content::Elements(particles) => {
                let (element, messages) = frame.step(parent.name, particles, namespace, name);
                messages.into_iter().for_each(|message| self.tell(Kind::Structure, message, start));
                (element, place)
            }
            Content::Text(_) | Content::Nothing => {
                let message = format!("'{}' contains an element '{name}'", parent.name);
                self.tell(Kind::Structure, message, start);
                (None, place)
            }
        }
    }

    /// Checks the attributes; returns xsi:schemaLocation.
    fn attributes(
        &mut self,
        reader: &NsReader<&[u8]>,
        tag: &BytesStart<'_>,
        element: Option<&'static Element>,
        start: usize,
    ) -> Option<String> {
        let mut location = None;
        let mut given: Vec<(String, String)> = Vec::new();
        for attribute in tag.attributes() {
            let Ok(attribute) = attribute else { break };
            let name = attribute.key.into_inner();
            let Ok(value) = attribute.normalized_value(XmlVersion::Implicit1_0) else { continue };
            let value = value.into_owned();
            if attribute.key.as_namespace_binding().is_some() {
                continue;
            }
            let (resolved, local) = reader.resolver().resolve_attribute(attribute.key);
            match (resolved, local) {
                (ResolveResult::Unknown(_), _) => {}
                (ResolveResult::Bound(namespace), local) if namespace.into_inner() == XSI_NAMESPACE => {
                    match (local.into_inner(), element) {
                        ("schemaLocation", _) => location = Some(value),
                        ("type", Some(element)) => self.judge_type(reader, element, value.trim(), start),
                        _ => {}
                    }
                }
                (ResolveResult::Bound(_), _) if name == "xml:lang" || name == "xml:space" => {}
                _ => given.push((name.to_owned(), value)),
            }
        }
        if let Some(element) = element {
            self.judge_attributes(element, &given, start);
        }
        location
    }

    /// Checks xsi:type: in an element of a known schema, the type must be defined by that schema or by XML Schema.
    fn judge_type(&mut self, reader: &NsReader<&[u8]>, element: &Element, value: &str, start: usize) {
        let is_known = match reader.resolver().resolve_element(QName(value)).0 {
            ResolveResult::Bound(namespace) => [element.namespace, XSD_NAMESPACE].contains(&namespace.into_inner()),
            ResolveResult::Unbound | ResolveResult::Unknown(_) => false,
        };
        if !is_known {
            let message = format!(
                "'{}' has xsi:type '{}', which its schema does not define",
                element.name,
                shortened(value, MAX_QUOTED)
            );
            self.tell(Kind::Value, message, start);
        }
    }

    fn judge_attributes(&mut self, element: &Element, given: &[(String, String)], start: usize) {
        for (name, value) in given {
            match element.attributes.iter().find(|attribute| attribute.name == name) {
                None => {
                    let message =
                        format!("'{}' has an attribute '{name}' that the schema does not define", element.name);
                    self.tell(Kind::Value, message, start);
                }
                Some(attribute) if !(attribute.form.accepts)(value) => {
                    let message = format!(
                        "the attribute '{name}' of '{}' is '{value}', not {}",
                        element.name, attribute.form.what
                    );
                    self.tell(Kind::Value, message, start);
                }
                Some(_) => {}
            }
        }
        for attribute in element.attributes.iter().filter(|attribute| attribute.required) {
            if !given.iter().any(|(name, _)| name == attribute.name) {
                let message = format!("'{}' has no attribute '{}'", element.name, attribute.name);
                self.tell(Kind::Value, message, start);
            }
        }
    }

    fn close(&mut self) {
        let Some(frame) = self.stack.last() else { return };
        let start = frame.start;
        let mut found = Vec::new();
        if let Some(element) = frame.element {
            match &element.content {
                Content::Text(form) if frame.text.len() <= LONGEST_TEXT && !(form.accepts)(&frame.text) => {
                    let message =
                        format!("'{}' is '{}', not {}", element.name, shortened(&frame.text, MAX_QUOTED), form.what);
                    found.push((Kind::Value, message));
                }
                Content::Foreign if frame.children != 1 => {
                    let message = format!("'{}' contains {} elements, not one", element.name, frame.children);
                    found.push((Kind::Container, message));
                }
                Content::Elements(particles) => {
                    let missing = frame.missing(element.name, particles).into_iter();
                    found.extend(missing.map(|message| (Kind::Structure, message)));
                }
                _ => {}
            }
        }
        found.into_iter().for_each(|(kind, message)| self.tell(kind, message, start));
        self.stack.pop();
    }

    fn tell(&mut self, kind: Kind, message: String, at: usize) {
        let place = self.stack.last().map_or(Place::Envelope, |frame| frame.place);
        let known = self.stack.last().and_then(|frame| frame.known);
        let (element, namespace) = known.map_or(("", ""), |element| (element.name, element.namespace));
        let alike = self.alike.entry((kind, place, element)).or_default();
        *alike += 1;
        if *alike <= MOST {
            let excerpt = Excerpt::around(self.bytes, at + self.shift);
            self.found.push(Deviation { kind, place, element, namespace, message, excerpt });
        }
    }
}

impl Frame {
    /// Reads the next child: returns its element, and its deviations at this position.
    fn step(
        &mut self,
        parent: &str,
        particles: &'static [Particle],
        namespace: &str,
        name: &str,
    ) -> (Option<&'static Element>, Vec<String>) {
        let mut messages = Vec::new();
        for index in self.at..particles.len() {
            let Some((element, alternative, most)) = particles[index].find(namespace, name) else { continue };
            for (skipped, particle) in particles.iter().enumerate().take(index).skip(self.at) {
                let count = if skipped == self.at { self.count } else { 0 };
                messages
                    .extend(particle.missing(count).map(|what| format!("'{parent}' has no {what} before '{name}'")));
            }
            if index > self.at {
                self.count = 0;
            } else if self.count > 0 && alternative != self.alternative {
                messages.push(format!("'{name}' is not allowed next to the other content of '{parent}'"));
                self.count = 0;
            }
            (self.at, self.alternative) = (index, alternative);
            self.count = self.count.saturating_add(1);
            if self.count > most {
                messages.push(format!("'{parent}' has more than {most} '{name}'"));
            }
            return (Some(element), messages);
        }
        let earlier = particles.iter().take(self.at).find_map(|particle| particle.find(namespace, name));
        let message = match earlier {
            Some(_) => format!("'{name}' in '{parent}' is out of order"),
            None => format!("'{parent}' contains '{name}' (namespace '{namespace}'), which is not allowed there"),
        };
        (earlier.map(|(element, ..)| element), vec![message])
    }

    fn missing(&self, parent: &str, particles: &'static [Particle]) -> Vec<String> {
        let rest = particles.iter().enumerate().skip(self.at);
        let missing =
            rest.filter_map(|(index, particle)| particle.missing(if index == self.at { self.count } else { 0 }));
        missing.map(|what| format!("'{parent}' has no {what}")).collect()
    }
}

impl Particle {
    /// Returns the element with this name, the alternative, and the maximum number at this position.
    fn find(&self, namespace: &str, name: &str) -> Option<(&'static Element, usize, u32)> {
        let is_it = |element: &Element| element.name == name && element.namespace == namespace;
        match *self {
            Self::Each(element, _, most) => is_it(element).then_some((element, 0, most)),
            Self::Either(alternatives) => alternatives.iter().enumerate().find_map(|(index, alternative)| {
                alternative.find(namespace, name).map(|(element, _, most)| (element, index, most))
            }),
            Self::Mix(elements) => {
                elements.iter().find(|element| is_it(element)).map(|element| (*element, 0, u32::MAX))
            }
        }
    }

    /// Returns the missing elements after this number of occurrences.
    fn missing(&self, count: u32) -> Option<String> {
        match self {
            Self::Each(element, least, _) => (count < *least).then(|| format!("'{}'", element.name)),
            Self::Either(alternatives) => (count == 0).then(|| {
                let names = alternatives.iter().filter_map(|alternative| match alternative {
                    Self::Each(element, ..) => Some(element.name),
                    Self::Either(_) | Self::Mix(_) => None,
                });
                names.collect::<Vec<_>>().join(" or ")
            }),
            Self::Mix(_) => None,
        }
    }
}

#[cfg(test)]
mod tests;
