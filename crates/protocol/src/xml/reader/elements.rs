//! Which of the protocol's elements stands where (the schema as one table).

use super::PartKind;
use crate::verb::Verb;

/// A place in an answer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Element {
    Root,
    ResponseDate,
    Request,
    Error,
    Answer(Verb),
    /// A text in Identify, by name.
    IdentifyField(&'static str),
    Format,
    Set,
    Record,
    Header,
    HeaderSet,
    /// A text that its parent needs when it closes, kept in this slot until then.
    Field(usize),
    /// What holds foreign elements.
    Container(PartKind),
    Token,
}

/// The texts of Identify.
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
    /// The child of that local name in the protocol's namespace, if it belongs here.
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

    /// Whether its content is text.
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
