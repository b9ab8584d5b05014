//! Collects the resources of one record while it arrives, for the sinks that store resources.

use memchr::memchr;

use super::spool::{Scratch, Spool, Take};
use super::{Part, SinkError};
use crate::didl::{Component, DidlError, Found, Reader, Stopped, Value};
use crate::record::Header;

/// The maximum number of resources by value in one record: each may need an open file.
const BY_VALUE: usize = 64;
/// The number of bytes that small resources may keep in memory together.
const IN_MEMORY: u64 = 4 * 1024 * 1024;

/// A record, and the resources found in it so far.
pub(super) struct Resources {
    pub(super) header: Header,
    /// The reason why the record cannot be stored.
    pub(super) fault: Option<String>,
    /// True if the metadata is DIDL; otherwise `fault` reports that, too.
    pub(super) is_didl: bool,
    /// Every Component, with its bytes if the record contained them.
    pub(super) found: Vec<(Component, Option<Spool>)>,
    /// The function that creates the spool of a value, with the digests that the sink needs.
    new_spool: fn() -> Spool,
    reader: Option<Reader>,
    /// The value that is arriving.
    arriving: Option<Spool>,
}

impl Resources {
    /// Starts a record. Its bytes are written to spools made by `new_spool`.
    pub(super) fn new(header: Header, new_spool: fn() -> Spool) -> Self {
        Self { header, fault: None, is_didl: true, found: Vec::new(), new_spool, reader: None, arriving: None }
    }

    /// Starts a part.
    pub(super) fn part(&mut self, part: Part, namespaces: &[(&str, &str)]) {
        self.reader = (part == Part::Metadata && self.fault.is_none()).then(|| Reader::new(namespaces));
    }

    /// Adds bytes of the part.
    pub(super) fn bytes(&mut self, bytes: &[u8], scratch: &Scratch) -> Result<(), SinkError> {
        let Self { reader: Some(reader), arriving, found, new_spool, .. } = self else { return Ok(()) };
        let mut crowded = false;
        let read = reader.push(bytes, &mut |item| match item {
            Found::Value(bytes) => arriving.get_or_insert_with(*new_spool).push(bytes, scratch),
            Found::Component(component) => {
                let spool = arriving.take();
                let spool = match component.value {
                    Value::Whole => Some(spool.unwrap_or_else(*new_spool)),
                    Value::None | Value::Other(_) => None,
                };
                crowded |= found.iter().filter(|(_, spool)| spool.is_some()).count() >= BY_VALUE;
                if crowded {
                    return Ok(());
                }
                found.push((component, spool));
                unload(found, scratch)
            }
        });
        match read {
            Ok(()) if crowded => self.fail(format!("the record contains more than {BY_VALUE} resources by value")),
            Ok(()) => {}
            Err(Stopped::Told(error)) => return Err(error),
            Err(Stopped::Didl(error)) => {
                self.is_didl = !matches!(error, DidlError::NotDidl { .. });
                self.fail(error.to_string());
            }
        }
        Ok(())
    }

    /// Adds bytes of the part, and passes everything but the base64 text of values to `keep`.
    pub(super) fn bytes_without_values(
        &mut self,
        mut bytes: &[u8],
        scratch: &Scratch,
        keep: Take<'_>,
    ) -> Result<(), SinkError> {
        while !bytes.is_empty() {
            let is_value = self.reader.as_ref().is_some_and(Reader::is_in_base64) && bytes[0] != b'<';
            // Values end where markup begins; when markup ends, the reader knows if a value has started.
            let end = if is_value { memchr(b'<', bytes) } else { memchr(b'>', bytes).map(|end| end + 1) };
            let (run, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
            self.bytes(run, scratch)?;
            if !is_value {
                keep(run)?;
            }
            bytes = rest;
        }
        Ok(())
    }

    /// Completes the part.
    pub(super) fn part_end(&mut self) {
        if let Some(reader) = self.reader.take()
            && let Err(error) = reader.finish()
        {
            self.fail(error.to_string());
        }
    }

    fn fail(&mut self, fault: String) {
        self.fault = Some(fault);
        (self.reader, self.arriving) = (None, None);
        self.found.clear();
    }
}

/// Moves resources to files: many small resources need as much memory as a large one.
fn unload(found: &mut [(Component, Option<Spool>)], scratch: &Scratch) -> Result<(), SinkError> {
    let held: u64 = found.iter().flat_map(|(_, spool)| spool).map(Spool::in_memory).sum();
    match found.last_mut() {
        Some((_, Some(spool))) if held > IN_MEMORY => spool.unload(scratch),
        _ => Ok(()),
    }
}

/// Returns the difference between the bytes and their record, if any.
pub(super) fn check(component: &Component, spool: &mut Spool, scratch: &Scratch) -> Result<Option<String>, SinkError> {
    let length = component.header("Content-Length").and_then(|length| length.parse::<u64>().ok());
    // If the resource has a content coding, the length may be that of the coded bytes.
    if let Some(length) = length.filter(|_| component.header("Content-Encoding").is_none())
        && length != spool.len()
    {
        return Ok(Some(format!("received {} bytes, but the record states {length}", spool.len())));
    }
    component.digest().map_or(Ok(None), |stated| spool.contradicts(stated, scratch))
}
