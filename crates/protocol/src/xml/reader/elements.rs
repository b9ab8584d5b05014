//! The protocol's elements and their positions (the schema as one table).

use super::PartKind;
use crate::verb::Verb;

/// A position in a response.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Element {
    Root,
    ResponseDate,
    Request,
    Error,
    Answer(Verb),
    /// A field of Identify, by name.
    IdentifyField(&'static str),
    Format,
    Set,
    Record,
    Header,
    HeaderSet,
    /// A field that is kept in this slot until its parent is closed, which needs it.
    Field(usize),
    /// A container of foreign elements.
    Container(PartKind),
    Token,
}

/// The fields of Identify.
const IDENTIFY: [&str; 8] = [
    "repositoryName",
    "baseURL",
    "protocolVersion",
    "adminEmail",
    "earliestDatestamp",
    "deletedRecord",
    "granularity",
    "compression",
];

impl Element {
    /// Returns the child with this local name in the protocol's namespace, if this element can contain it.
    pub(super) fn child(self, name: &str) -> Option<Self> {
        use Verb::{GetRecord, ListIdentifiers, ListMetadataFormats, ListRecords, ListSets};
        let known = match (self, name) {
            (Self::Root, "responseDate") => Self::ResponseDate,
            (Self::Root, "request") => Self::Request,
            (Self::Root, "error") => Self::Error,
            (Self::Root, verb) => Self::Answer(Verb::from_name(verb)?),
            (Self::Answer(Verb::Identify), "description") => Self::Container(PartKind::Description),
            (Self::Answer(Verb::Identify), field) => {
                Self::IdentifyField(IDENTIFY.into_iter().find(|known| *known == field)?)
            }
            (Self::Answer(GetRecord | ListRecords), "record") => Self::Record,
            (Self::Answer(ListIdentifiers), "header") => Self::Header,
            (Self::Answer(ListMetadataFormats), "metadataFormat") => Self::Format,
            (Self::Answer(ListSets), "set") => Self::Set,
            (Self::Answer(ListIdentifiers | ListRecords | ListSets), "resumptionToken") => Self::Token,
            (Self::Record, "header") => Self::Header,
            (Self::Record, "metadata") => Self::Container(PartKind::Metadata),
            (Self::Record, "about") => Self::Container(PartKind::About),
            (Self::Header, "identifier") => Self::Field(0),
            (Self::Header, "datestamp") => Self::Field(1),
            (Self::Header, "setSpec") => Self::HeaderSet,
            (Self::Format, "metadataPrefix") => Self::Field(0),
            (Self::Format, "schema") => Self::Field(1),
            (Self::Format, "metadataNamespace") => Self::Field(2),
            (Self::Set, "setSpec") => Self::Field(0),
            (Self::Set, "setName") => Self::Field(1),
            (Self::Set, "setDescription") => Self::Container(PartKind::SetDescription),
            _ => return None,
        };
        Some(known)
    }

    /// Returns true if the element contains text.
    pub(super) fn holds_text(self) -> bool {
        matches!(
            self,
            Self::ResponseDate
                | Self::Request
                | Self::Error
                | Self::IdentifyField(_)
                | Self::HeaderSet
                | Self::Field(_)
                | Self::Token
        )
    }
}
