//! The WARC records of a capture.
//!
//! | capture | records |
//! |---|---|
//! | a resource by value | `response`, or `revisit` if its bytes are stored already |
//! | a resource by reference | the same, with the `request`; a separate pair for each redirect |
//! | the index file of a directory | also a `revisit` under the URL of the directory |
//! | an OAI record, also of a deletion | `metadata` |
//! | a segment | `warcinfo`, its first record |

use modoai_protocol::{Datestamp, query};

use super::archive::Member;
use super::cdxj::Capture;
use super::http::{self, ResponseHead, one_line};
use super::index::Stored;
use super::payload::{Form, Payload};
use super::record::{Head, labelled, legal_uri, new_id};
use super::{Arriving, Warc, compression, envelope};
use crate::didl::Algorithm;
use crate::sink::SinkError;
use crate::sink::spool::Spool;

const RESPONSE: &str = "application/http; msgtype=response";
const REQUEST: &str = "application/http; msgtype=request";

impl Warc {
    /// Writes everything of a record. The inner error is the reason why it cannot be stored.
    pub(super) fn write(&mut self, arriving: Arriving) -> Result<Result<(), String>, SinkError> {
        let Arriving { mut resources, mut block, .. } = arriving;
        block.push(envelope::CLOSING, &self.scratch)?;
        block.push(b"\r\n", &self.scratch)?;
        // Metadata in another format is stored verbatim; invalid DIDL is an error.
        let header = resources.header;
        if header.deleted {
            resources.found.clear();
        } else if let Some(fault) = resources.fault.filter(|_| resources.is_didl) {
            return Ok(Err(fault));
        }
        let mut payloads = Vec::new();
        for (component, value) in resources.found {
            match Payload::of(&header, &component, value, self.date, &self.getter, &self.scratch)? {
                Ok(Some(payload)) => payloads.push(payload),
                Ok(None) => {}
                Err(reason) => return Ok(Err(reason)),
            }
        }
        if self.archive.roll()? {
            self.write_info()?;
        }
        let mut concurrent = Vec::new();
        for payload in payloads {
            if let Some(digest) = payload.spool.second_digest() {
                let hex: String = digest.bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                let field = format!("payload-digest: sha256:{hex} {}\r\n", payload.uri);
                block.push(field.as_bytes(), &self.scratch)?;
            }
            concurrent.push(self.write_payload(payload)?);
        }
        let uri = self.record_url(&header.identifier);
        let (id, digest) = (new_id(), block.digest());
        let head = Head {
            kind: "metadata",
            id: &id,
            uri: Some(&uri),
            media_type: "application/warc-fields",
            digest: Some(&digest),
            length: block.len(),
            concurrent: &concurrent,
            ..Head::default()
        };
        let scratch = &self.scratch;
        let head = head.to_text(self.date);
        self.archive.append(&head, compression::of_text(), &mut |out| block.read(scratch, out))?;
        Ok(Ok(()))
    }

    /// Returns the URL of the request that returns an OAI record.
    fn record_url(&self, identifier: &str) -> String {
        let arguments = [("verb", "GetRecord"), ("metadataPrefix", &self.prefix), ("identifier", identifier)];
        let base_url = &self.source.base_url;
        let separator = if base_url.contains('?') { '&' } else { '?' };
        legal_uri(&format!("{base_url}{separator}{}", query::render(arguments)))
    }

    /// Writes a resource with the messages around it. Returns the identity of the record that has the resource.
    fn write_payload(&mut self, mut payload: Payload) -> Result<String, SinkError> {
        let digest = payload.spool.digest();
        let label = labelled(&digest);
        let date = payload.date;
        let known = self.index.stored(&payload.uri)?.filter(|stored| stored.digest == digest.bytes);
        let (id, original) = match known {
            // A record that is repeated within a second is the same capture.
            Some(stored) if stored.date == date.to_string() => return Ok(stored.record),
            Some(stored) => (self.write_revisit(&payload.uri, &payload, &payload.uri, &stored)?, stored),
            None => {
                let id = new_id();
                let (kind, media_type, http, effort) = match &payload.form {
                    Form::Response(head) => {
                        let media_type = head.content_type.as_deref().unwrap_or_default();
                        ("response", RESPONSE, head.text.as_str(), compression::effort(media_type, head.is_coded))
                    }
                    Form::Resource(name) => ("resource", name.as_str(), "", compression::effort(name, false)),
                };
                let head = Head {
                    kind,
                    id: &id,
                    uri: Some(&payload.uri),
                    media_type,
                    payload: Some(&digest),
                    length: http.len() as u64 + payload.spool.len(),
                    ..Head::default()
                };
                let (scratch, spool) = (&self.scratch, &mut payload.spool);
                let member = self.archive.append(&head.to_text(date), effort, &mut |out| {
                    out(http.as_bytes())?;
                    spool.read(scratch, out)
                })?;
                let stored = Stored { digest: digest.bytes, record: id.clone(), date: date.to_string() };
                self.index.store(&payload.uri, &stored, &member)?;
                let (media_type, status) = match &payload.form {
                    Form::Response(head) => (head.media_type(), Some(head.status)),
                    Form::Resource(name) => (name.split([';', ' ']).next(), None),
                };
                self.add_line(&payload.uri, date, media_type, status, &label, &member)?;
                (id, stored)
            }
        };
        if let Some(folder) = payload.folder()
            && self.index.stored(folder)?.is_none()
        {
            self.write_revisit(folder, &payload, &payload.uri, &original)?;
        }
        self.write_exchange(&payload, &id)?;
        Ok(id)
    }

    /// Writes a `revisit` record: at `uri`, the payload is the one that is stored for `original_uri`.
    fn write_revisit(
        &mut self,
        uri: &str,
        payload: &Payload,
        original_uri: &str,
        original: &Stored,
    ) -> Result<String, SinkError> {
        let (id, digest) = (new_id(), payload.spool.digest());
        let (media_type, http, status) = match &payload.form {
            Form::Response(head) => (RESPONSE, head.text.as_str(), Some(head.status)),
            Form::Resource(name) => (name.as_str(), "", None),
        };
        let head = Head {
            kind: "revisit",
            id: &id,
            uri: Some(uri),
            media_type,
            payload: Some(&digest),
            length: http.len() as u64,
            refers_to: Some(&original.record),
            same_as: Some((original_uri, &original.date)),
            ..Head::default()
        };
        let (head, effort) = (head.to_text(payload.date), compression::of_text());
        let member = self.archive.append(&head, effort, &mut |out| out(http.as_bytes()))?;
        self.add_line(uri, payload.date, Some("warc/revisit"), status, &labelled(&digest), &member)?;
        Ok(id)
    }

    /// Writes the requests for a fetched resource, and the redirects among the responses.
    fn write_exchange(&mut self, payload: &Payload, id: &str) -> Result<(), SinkError> {
        let Some(fetched) = &payload.fetched else { return Ok(()) };
        let client = self.getter.client();
        let request = |url| http::request(url, &client.user_agent(), client.from());
        let last = request(&fetched.url);
        let hops: Vec<_> = fetched.hops.iter().map(|hop| (hop, request(&hop.from))).collect();
        self.write_request(&payload.uri, payload.date, &last, id)?;
        for (hop, request) in hops {
            let headers = [("Location".to_owned(), hop.to.to_string())];
            let response = ResponseHead::new(hop.status, &headers, 0);
            let id = self.write_redirect(hop.from.as_str(), payload.date, &response)?;
            self.write_request(hop.from.as_str(), payload.date, &request, &id)?;
        }
        Ok(())
    }

    fn write_request(&mut self, uri: &str, date: Datestamp, request: &str, response: &str) -> Result<(), SinkError> {
        let (id, concurrent) = (new_id(), [response.to_owned()]);
        let head = Head {
            kind: "request",
            id: &id,
            uri: Some(uri),
            media_type: REQUEST,
            length: request.len() as u64,
            concurrent: &concurrent,
            ..Head::default()
        };
        let (head, effort) = (head.to_text(date), compression::of_text());
        self.archive.append(&head, effort, &mut |out| out(request.as_bytes())).map(drop)
    }

    fn write_redirect(&mut self, uri: &str, date: Datestamp, response: &ResponseHead) -> Result<String, SinkError> {
        let (id, digest) = (new_id(), Spool::new(Algorithm::Sha1).digest());
        let head = Head {
            kind: "response",
            id: &id,
            uri: Some(uri),
            media_type: RESPONSE,
            payload: Some(&digest),
            length: response.text.len() as u64,
            ..Head::default()
        };
        let (head, effort) = (head.to_text(date), compression::of_text());
        let member = self.archive.append(&head, effort, &mut |out| out(response.text.as_bytes()))?;
        self.add_line(uri, date, response.media_type(), Some(response.status), &labelled(&digest), &member)?;
        Ok(id)
    }

    /// Adds a record to the index.
    fn add_line(
        &self,
        uri: &str,
        date: Datestamp,
        media_type: Option<&str>,
        status: Option<u16>,
        digest: &str,
        member: &Member,
    ) -> Result<(), SinkError> {
        let file = self.archive.log.file_name();
        let line = Capture { uri, date, media_type, status, digest, file: &file }.line(member);
        self.index.add_line(&line, member)
    }

    /// Writes the first record of every segment: the program that wrote it, and its settings.
    fn write_info(&mut self) -> Result<(), SinkError> {
        let client = self.getter.client();
        let (user_agent, base_url) = (client.user_agent(), &self.source.base_url);
        let description =
            format!("harvested by OAI-PMH from {base_url}; the URL of a folder is a copy of its index.html");
        // py-wacz lists the pages of a recording; elsewhere it lists only pages that a Referer header names.
        let recording = serde_json::json!({ "type": "recording", "title": self.source.name, "desc": description });
        let recording = recording.to_string();
        let mut info = String::new();
        for (name, value) in [
            ("software", Some(concat!("modoai/", env!("CARGO_PKG_VERSION")))),
            ("format", Some("WARC File Format 1.1")),
            ("conformsTo", Some("http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/")),
            ("operator", client.contact()),
            ("http-header-user-agent", Some(&user_agent)),
            ("http-header-from", client.from()),
            ("robots", Some("not applied: the repository lists what is harvested")),
            ("isPartOf", Some(&self.source.name)),
            ("description", Some(&description)),
            ("json-metadata", Some(&recording)),
        ] {
            if let Some(value) = value {
                info += &format!("{name}: {}\r\n", one_line(value));
            }
        }
        let (id, file) = (new_id(), self.archive.log.file_name());
        let mut spool = Spool::new(Algorithm::Sha1);
        spool.push(info.as_bytes(), &self.scratch)?;
        let digest = spool.digest();
        let head = Head {
            kind: "warcinfo",
            id: &id,
            media_type: "application/warc-fields",
            digest: Some(&digest),
            length: spool.len(),
            file: Some(&file),
            ..Head::default()
        };
        let (head, effort) = (head.to_text(self.date), compression::of_text());
        self.archive.append(&head, effort, &mut |out| out(info.as_bytes())).map(drop)
    }
}
