//! Interprets the tags and the text of a response as events.

use super::elements::Element;
use super::fault::{Fault, ReadError, quoted};
use super::outside::Outside;
use super::tags::{Attributes, Nesting, Scope, is_space, name, split, utf8};
use super::text::Text;
use super::{Event, Limits};
use crate::query::Arguments;
use crate::xml::OAI_NAMESPACE;

/// The effect of a tag on the bytes around it.
pub(super) enum Step {
    /// No effect.
    On,
    /// A part begins with this tag.
    PartOpened,
    /// A part ends with this tag.
    PartClosed,
    /// This tag is a whole part.
    PartWhole,
}

pub(super) struct Answer {
    limits: Limits,
    nesting: Nesting,
    /// The open elements of the protocol; all others are inside a foreign one.
    frames: Vec<Frame>,
    scope: Scope,
    foreign: Option<Foreign>,
    outside: Outside,
    /// The text of the open text element.
    text: Text,
    /// The attributes of the open text element.
    attributes: Arguments,
    /// The fields of the open header, set or format.
    slots: [String; 3],
    sets: Vec<String>,
    /// The number of bytes in slots and sets.
    taken: usize,
    deleted: bool,
    /// True if other spellings of the protocol's namespace are accepted.
    pub(super) is_lenient: bool,
    /// The namespace of the root element, if it differs from the protocol's.
    pub(super) own_namespace: Option<String>,
}

struct Frame {
    element: Element,
    /// The number of namespace declarations in scope before the element.
    outer_scope: usize,
    /// True if stray text in the element was reported.
    strayed: bool,
}

/// The foreign element that is being passed on or skipped.
#[derive(Clone, Copy)]
struct Foreign {
    /// The number of elements around it.
    depth: usize,
    /// True if its bytes are passed on.
    is_part: bool,
}

impl Answer {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            limits,
            nesting: Nesting::default(),
            frames: Vec::new(),
            scope: Scope::default(),
            foreign: None,
            outside: Outside::default(),
            text: Text::default(),
            attributes: Arguments::new(),
            slots: Default::default(),
            sets: Vec::new(),
            taken: 0,
            deleted: false,
            is_lenient: false,
            own_namespace: None,
        }
    }

    pub(super) fn is_in_part(&self) -> bool {
        self.foreign.is_some_and(|foreign| foreign.is_part)
    }

    /// Returns the number of bytes of memory held.
    pub(super) fn held(&self) -> usize {
        let texts = self.slots.iter().chain(&self.sets).map(String::capacity).sum::<usize>();
        let pairs = self.attributes.iter().map(|(name, value)| name.capacity() + value.capacity()).sum::<usize>();
        let room = self.sets.capacity() + 2 * self.attributes.capacity();
        texts + pairs + room * size_of::<String>() + self.text.held() + self.scope.held() + self.nesting.held()
    }

    /// Processes a start, end or empty tag.
    pub(super) fn tag(&mut self, tag: &[u8], offset: u64, sink: &mut dyn FnMut(Event<'_>)) -> Result<Step, ReadError> {
        self.end_run()?;
        self.outside.begun = true;
        let name = name(tag);
        if tag.starts_with(b"</") {
            return self.end_tag(tag, name, sink).map_err(|fault| fault.at(offset));
        }
        let opened = self.start_tag(tag, name, sink).map_err(|fault| fault.at(offset))?;
        if !tag.ends_with(b"/>") {
            return Ok(opened);
        }
        match (opened, self.close(sink).map_err(|fault| fault.at(offset))?) {
            (Step::PartOpened, _) => Ok(Step::PartWhole),
            (_, closed) => Ok(closed),
        }
    }

    fn start_tag(&mut self, tag: &[u8], name: &[u8], sink: &mut dyn FnMut(Event<'_>)) -> Result<Step, Fault> {
        if memchr::memchr(b'<', &tag[1..]).is_some() {
            return Err(Fault::IllFormed { what: "'<' inside a tag" });
        }
        let depth = self.nesting.depth();
        if depth == self.limits.depth {
            return Err(Fault::Limit { what: "open elements", limit: self.limits.depth });
        }
        if self.nesting.length() + name.len() > self.limits.tag {
            return Err(Fault::Limit { what: "bytes in names of open elements", limit: self.limits.tag });
        }
        if depth == 0 && self.outside.root_seen {
            return Err(Fault::Trailing);
        }
        self.nesting.push(name);
        if self.foreign.is_some() {
            return Ok(Step::On);
        }
        let outer_scope = self.scope.len();
        let Some(parent) = self.frames.last().map(|frame| frame.element) else {
            self.outside.root_seen = true;
            return self.root(tag, utf8(name)?);
        };
        self.declare(tag)?;
        if let Element::Container(kind) = parent {
            sink(Event::PartStart { kind, namespaces: &self.scope.inherited(outer_scope) });
            self.scope.truncate(outer_scope);
            self.foreign = Some(Foreign { depth, is_part: true });
            return Ok(Step::PartOpened);
        }
        let name = utf8(name)?;
        let namespace = self.namespace(name)?;
        let is_own = namespace == OAI_NAMESPACE || self.own_namespace.as_deref() == Some(namespace);
        let child = if is_own { parent.child(split(name).1) } else { None };
        match child {
            Some(element) => {
                self.frames.push(Frame { element, outer_scope, strayed: false });
                self.open(element, tag, sink)?;
            }
            None => {
                sink(Event::Stray(name));
                self.scope.truncate(outer_scope);
                self.foreign = Some(Foreign { depth, is_part: false });
            }
        }
        Ok(Step::On)
    }

    /// Processes the first start tag. Its name is checked before its attributes: those of an HTML page may not be valid
    /// XML.
    fn root(&mut self, tag: &[u8], name: &str) -> Result<Step, Fault> {
        if split(name).1 != "OAI-PMH" {
            return Err(Fault::NotOai { name: quoted(name.as_bytes()) });
        }
        self.declare(tag)?;
        let namespace = self.namespace(name)?;
        if namespace != OAI_NAMESPACE {
            if !self.is_lenient || !is_misspelt(namespace) {
                return Err(Fault::Namespace { found: quoted(namespace.as_bytes()) });
            }
            self.own_namespace = Some(namespace.to_owned());
        }
        self.frames.push(Frame { element: Element::Root, outer_scope: 0, strayed: false });
        Ok(Step::On)
    }

    /// Adds the namespace declarations of a tag to the scope.
    fn declare(&mut self, tag: &[u8]) -> Result<(), Fault> {
        for attribute in Attributes::of(tag) {
            let attribute = attribute?;
            if let Some(prefix) = attribute.declares() {
                if self.scope.len() == self.limits.namespaces {
                    let limit = self.limits.namespaces;
                    return Err(Fault::Limit { what: "namespace declarations", limit });
                }
                self.scope.push(utf8(prefix)?, attribute.value()?);
            }
        }
        Ok(())
    }

    /// Returns the namespace of an element with this name; empty if none.
    fn namespace(&self, name: &str) -> Result<&str, Fault> {
        let prefix = split(name).0;
        match self.scope.resolve(prefix) {
            Some(uri) => Ok(uri),
            None if prefix.is_empty() => Ok(""),
            None => Err(Fault::Prefix { prefix: quoted(prefix.as_bytes()) }),
        }
    }

    /// Processes the start of one of the protocol's own elements.
    fn open(&mut self, element: Element, tag: &[u8], sink: &mut dyn FnMut(Event<'_>)) -> Result<(), Fault> {
        if element.holds_text() {
            self.text.clear();
            self.attributes = own_attributes(tag)?;
        }
        match element {
            Element::Answer(verb) => sink(Event::Verb(verb)),
            Element::Record => sink(Event::RecordStart),
            Element::Header | Element::Format | Element::Set => {
                self.slots.iter_mut().for_each(String::clear);
                self.sets.clear();
                self.taken = 0;
                let deleted =
                    |(name, value): &(String, String)| name == "status" && value.trim().eq_ignore_ascii_case("deleted");
                self.deleted = element == Element::Header && own_attributes(tag)?.iter().any(deleted);
            }
            _ => {}
        }
        Ok(())
    }

    fn end_tag(&mut self, tag: &[u8], name: &[u8], sink: &mut dyn FnMut(Event<'_>)) -> Result<Step, Fault> {
        let rest = &tag[2 + name.len()..tag.len() - 1];
        if !rest.iter().all(|byte| is_space(*byte)) {
            return Err(Fault::IllFormed { what: "an end tag contains more than a name" });
        }
        if self.nesting.depth() == 0 || self.nesting.last() != name {
            return Err(Fault::Mismatch { open: quoted(self.nesting.last()), close: quoted(name) });
        }
        self.close(sink)
    }

    /// Processes the end of the innermost element.
    fn close(&mut self, sink: &mut dyn FnMut(Event<'_>)) -> Result<Step, Fault> {
        if let Some(foreign) = self.foreign {
            self.nesting.pop();
            if self.nesting.depth() > foreign.depth {
                return Ok(Step::On);
            }
            self.foreign = None;
            return Ok(if foreign.is_part { Step::PartClosed } else { Step::On });
        }
        if let Some(frame) = self.frames.pop() {
            self.tell(frame.element, sink)?;
            self.scope.truncate(frame.outer_scope);
        }
        self.nesting.pop();
        Ok(Step::On)
    }

    /// Reports one of the protocol's own elements, which is now complete.
    fn tell(&mut self, element: Element, sink: &mut dyn FnMut(Event<'_>)) -> Result<(), Fault> {
        let text = self.text.as_str();
        let attribute =
            |name: &str| self.attributes.iter().find(|(given, _)| given == name).map(|(_, value)| value.as_str());
        let [first, second, third] = &self.slots;
        match element {
            Element::ResponseDate => sink(Event::ResponseDate(text)),
            Element::Request => sink(Event::Request { url: text, arguments: &self.attributes }),
            Element::Error => {
                sink(Event::Error { code: attribute("code").unwrap_or_default(), message: text });
            }
            Element::IdentifyField(name) => sink(Event::Identify { name, text }),
            Element::Format => sink(Event::Format { prefix: first, schema: second, namespace: third }),
            Element::Set => sink(Event::Set { spec: first, name: second }),
            Element::Header => {
                let (sets, deleted) = (&self.sets, self.deleted);
                sink(Event::Header { identifier: first, datestamp: second, sets, deleted });
            }
            Element::Record => sink(Event::RecordEnd),
            Element::Token => sink(Event::Token {
                value: text,
                cursor: attribute("cursor"),
                size: attribute("completeListSize"),
                expiration: attribute("expirationDate"),
            }),
            // The first of two counts: an unexpected repetition does not overwrite a known value.
            Element::Field(slot) if !self.slots[slot].is_empty() => {
                sink(Event::Stray(std::str::from_utf8(self.nesting.last()).unwrap_or_default()));
            }
            Element::Field(slot) => {
                self.take(text.len())?;
                self.slots[slot].push_str(self.text.as_str());
            }
            // Even an empty one takes memory.
            Element::HeaderSet => {
                self.take(text.len() + size_of::<String>())?;
                self.sets.push(self.text.as_str().to_owned());
            }
            Element::Root | Element::Answer(_) | Element::Container(_) => {}
        }
        Ok(())
    }

    /// Counts bytes of text. A header may have any number of sets, so their total is limited too.
    fn take(&mut self, length: usize) -> Result<(), Fault> {
        self.taken += length;
        let limit = self.limits.text;
        if self.taken > limit { Err(Fault::Limit { what: "bytes of text", limit }) } else { Ok(()) }
    }

    /// Processes character data; more may follow.
    pub(super) fn text(&mut self, text: &[u8], offset: u64, sink: &mut dyn FnMut(Event<'_>)) -> Result<(), ReadError> {
        if self.foreign.is_some() {
            return Ok(());
        }
        if self.text.is_cdata() {
            self.end_run()?;
        }
        self.characters(text, offset, sink)
    }

    /// Processes the start of a CDATA section.
    pub(super) fn cdata_start(&mut self, offset: u64) -> Result<(), ReadError> {
        self.end_run()?;
        self.text.begin_cdata();
        if self.nesting.depth() == 0 {
            return Err(Fault::IllFormed { what: "CDATA outside the root element" }.at(offset));
        }
        Ok(())
    }

    /// Processes content of a CDATA section; more may follow.
    pub(super) fn cdata(&mut self, text: &[u8], offset: u64, sink: &mut dyn FnMut(Event<'_>)) -> Result<(), ReadError> {
        if self.foreign.is_some() { Ok(()) } else { self.characters(text, offset, sink) }
    }

    fn characters(&mut self, text: &[u8], offset: u64, sink: &mut dyn FnMut(Event<'_>)) -> Result<(), ReadError> {
        let Some(frame) = self.frames.last_mut() else { return self.outside.text(text, offset) };
        if frame.element.holds_text() {
            return self.text.push(text, offset, self.limits.text);
        }
        if !frame.strayed && !text.iter().all(|byte| is_space(*byte)) {
            frame.strayed = true;
            sink(Event::Stray("#text"));
        }
        Ok(())
    }

    /// Completes the text, which ends at markup.
    pub(super) fn end_run(&mut self) -> Result<(), ReadError> {
        self.text.end_run(self.nesting.last())
    }

    /// Processes a processing instruction.
    pub(super) fn instruction(
        &mut self,
        instruction: &[u8],
        offset: u64,
        sink: &mut dyn FnMut(Event<'_>),
    ) -> Result<(), ReadError> {
        self.end_run()?;
        if self.foreign.is_none() && self.outside.instruction(instruction, offset).map_err(|fault| fault.at(offset))? {
            sink(Event::Stray("?xml"));
        }
        Ok(())
    }

    pub(super) fn doctype(&mut self, offset: u64) -> Result<(), ReadError> {
        self.end_run()?;
        self.outside.begun = true;
        if self.outside.root_seen {
            return Err(Fault::IllFormed { what: "a document type declaration inside the root element" }.at(offset));
        }
        Ok(())
    }

    /// Checks that the response is complete when it ends, at `offset`, with or without incomplete markup.
    pub(super) fn finish(self, is_between_markup: bool, offset: u64) -> Result<(), ReadError> {
        if self.outside.root_seen && self.nesting.depth() == 0 && is_between_markup {
            return Ok(());
        }
        if !self.outside.begun && is_between_markup {
            return Err(Fault::Empty.at(offset));
        }
        Err(Fault::Truncated { open: quoted(self.nesting.last()) }.at(offset))
    }
}

/// Returns the attributes without prefix of one of the protocol's own elements.
fn own_attributes(tag: &[u8]) -> Result<Arguments, Fault> {
    let mut own = Arguments::new();
    for attribute in Attributes::of(tag) {
        let attribute = attribute?;
        if attribute.is_plain() {
            own.push((attribute.name()?.to_owned(), attribute.value()?.into_owned()));
        }
    }
    Ok(own)
}

/// Returns true if this is the protocol's namespace as servers misspell it: missing, with `https`, or without the
/// slash.
fn is_misspelt(namespace: &str) -> bool {
    let plain = |uri: &str| {
        uri.trim().trim_start_matches("https://").trim_start_matches("http://").trim_end_matches('/').to_owned()
    };
    namespace.is_empty() || plain(namespace).eq_ignore_ascii_case(&plain(OAI_NAMESPACE))
}
