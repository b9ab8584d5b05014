//! The forms that a response can have, and the names below the base URL at which every client gets one of them.
//!
//! They are paths because OAI-PMH forbids further arguments.

/// The form of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A page of HTML.
    Page,
    /// XML, as defined by OAI-PMH.
    Xml,
    /// A whole list as a table, for spreadsheets.
    Csv,
    /// A whole list with a JSON object in each line.
    JsonLines,
}

impl Form {
    const NAMED: [(&'static str, Self); 3] = [("xml", Self::Xml), ("csv", Self::Csv), ("jsonl", Self::JsonLines)];

    /// Returns the form with this name below the base URL.
    pub fn named(name: &[u8]) -> Option<Self> {
        Self::NAMED.iter().find(|(known, _)| known.as_bytes() == name).map(|(_, form)| *form)
    }

    /// Returns the name below the base URL.
    pub(super) fn name(self) -> Option<&'static str> {
        Self::NAMED.iter().find(|(_, form)| *form == self).map(|(name, _)| *name)
    }

    /// Returns true for whole lists.
    pub fn is_download(self) -> bool {
        matches!(self, Self::Csv | Self::JsonLines)
    }

    /// Returns the value of Content-Type.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Page => "text/html; charset=UTF-8",
            Self::Xml => "text/xml; charset=UTF-8",
            Self::Csv => "text/csv; charset=UTF-8; header=present",
            Self::JsonLines => "application/jsonl; charset=UTF-8",
        }
    }

    /// Returns the value of Content-Disposition, if a browser is to save the response.
    pub fn disposition(self) -> Option<&'static str> {
        match self {
            Self::Page | Self::Xml => None,
            Self::Csv => Some("attachment; filename=\"records.csv\""),
            Self::JsonLines => Some("attachment; filename=\"records.jsonl\""),
        }
    }
}
