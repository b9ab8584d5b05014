//! The schemas of the protocol as tables: the position, the number and the content of each element.
//!
//! These are OAI-PMH.xsd, oai_dc.xsd and the schemas of the guidelines, in as much of XML Schema as they use:
//! sequences, choices, occurrence, lexical forms, attributes, and containers for one element of another namespace. Text
//! that a separate check examines is any text here, so that one error is reported once.

use modoai_protocol::xml::OAI_NAMESPACE;

use super::lexical::{self, Lexical};

pub(crate) const DC_NAMESPACE: &str = "http://purl.org/dc/elements/1.1/";
pub(crate) const OAI_DC_NAMESPACE: &str = "http://www.openarchives.org/OAI/2.0/oai_dc/";
pub(crate) const OAI_IDENTIFIER_NAMESPACE: &str = "http://www.openarchives.org/OAI/2.0/oai-identifier";
const PROVENANCE: &str = "http://www.openarchives.org/OAI/2.0/provenance";
const RIGHTS: &str = "http://www.openarchives.org/OAI/2.0/rights/";
const FRIENDS: &str = "http://www.openarchives.org/OAI/2.0/friends/";
const BRANDING: &str = "http://www.openarchives.org/OAI/2.0/branding/";
const GATEWAY: &str = "http://www.openarchives.org/OAI/2.0/gateway/";
const EPRINTS: &str = "http://www.openarchives.org/OAI/1.1/eprints";

/// An element.
pub(crate) struct Element {
    pub(crate) namespace: &'static str,
    pub(crate) name: &'static str,
    pub(crate) content: Content,
    pub(crate) attributes: &'static [Attribute],
}

/// The content of an element.
pub(crate) enum Content {
    /// Text of a form.
    Text(&'static Lexical),
    /// Elements, in this order.
    Elements(&'static [Particle]),
    /// Exactly one element of another namespace than its own.
    Foreign,
    /// No content.
    Nothing,
}

/// A place in a sequence.
pub(crate) enum Particle {
    /// This element, with its minimum and maximum number.
    Each(&'static Element, u32, u32),
    /// One of these.
    Either(&'static [Particle]),
    /// Any of these, in any order and number.
    Mix(&'static [&'static Element]),
}

/// An attribute without a namespace.
pub(crate) struct Attribute {
    pub(crate) name: &'static str,
    pub(crate) form: &'static Lexical,
    pub(crate) required: bool,
}

use Content::{Elements, Foreign, Nothing, Text};
use Particle::{Each, Either, Mix};

const MANY: u32 = u32::MAX;

const fn element(namespace: &'static str, name: &'static str, content: Content) -> Element {
    Element { namespace, name, content, attributes: &[] }
}

const fn oai(name: &'static str, content: Content) -> Element {
    element(OAI_NAMESPACE, name, content)
}

const fn optional(name: &'static str, form: &'static Lexical) -> Attribute {
    Attribute { name, form, required: false }
}

const fn required(name: &'static str, form: &'static Lexical) -> Attribute {
    Attribute { name, form, required: true }
}

/// The root of every response.
pub(crate) static ROOT: Element = oai(
    "OAI-PMH",
    Elements(&[
        Each(&RESPONSE_DATE, 1, 1),
        Each(&REQUEST, 1, 1),
        Either(&[
            Each(&ERROR, 1, MANY),
            Each(&IDENTIFY, 1, 1),
            Each(&LIST_METADATA_FORMATS, 1, 1),
            Each(&LIST_SETS, 1, 1),
            Each(&GET_RECORD, 1, 1),
            Each(&LIST_IDENTIFIERS, 1, 1),
            Each(&LIST_RECORDS, 1, 1),
        ]),
    ]),
);

/// Elements of other namespaces whose schemas are known.
pub(crate) static KNOWN: [&Element; 9] = [
    &DC,
    &OAI_IDENTIFIER,
    &PROVENANCE_ROOT,
    &RIGHTS_ROOT,
    &RIGHTS_MANIFEST,
    &FRIENDS_ROOT,
    &BRANDING_ROOT,
    &GATEWAY_ROOT,
    &EPRINTS_ROOT,
];

static RESPONSE_DATE: Element = oai("responseDate", Text(&lexical::ANY));
static REQUEST: Element = Element {
    namespace: OAI_NAMESPACE,
    name: "request",
    content: Text(&lexical::URI),
    attributes: &[
        optional("verb", &lexical::VERB),
        optional("identifier", &lexical::ANY),
        optional("metadataPrefix", &lexical::PREFIX),
        optional("from", &lexical::DATESTAMP),
        optional("until", &lexical::DATESTAMP),
        optional("set", &lexical::SET_SPEC),
        optional("resumptionToken", &lexical::ANY),
    ],
};
static ERROR: Element = Element {
    namespace: OAI_NAMESPACE,
    name: "error",
    content: Text(&lexical::ANY),
    attributes: &[required("code", &lexical::ERROR_CODE)],
};
static IDENTIFY: Element = oai(
    "Identify",
    Elements(&[
        Each(&REPOSITORY_NAME, 1, 1),
        Each(&BASE_URL, 1, 1),
        Each(&PROTOCOL_VERSION, 1, 1),
        Each(&ADMIN_EMAIL, 1, MANY),
        Each(&EARLIEST_DATESTAMP, 1, 1),
        Each(&DELETED_RECORD, 1, 1),
        Each(&GRANULARITY, 1, 1),
        Each(&COMPRESSION, 0, MANY),
        Each(&DESCRIPTION, 0, MANY),
    ]),
);
static REPOSITORY_NAME: Element = oai("repositoryName", Text(&lexical::ANY));
static BASE_URL: Element = oai("baseURL", Text(&lexical::ANY));
static PROTOCOL_VERSION: Element = oai("protocolVersion", Text(&lexical::ANY));
static ADMIN_EMAIL: Element = oai("adminEmail", Text(&lexical::ANY));
static EARLIEST_DATESTAMP: Element = oai("earliestDatestamp", Text(&lexical::ANY));
static DELETED_RECORD: Element = oai("deletedRecord", Text(&lexical::ANY));
static GRANULARITY: Element = oai("granularity", Text(&lexical::ANY));
static COMPRESSION: Element = oai("compression", Text(&lexical::ANY));
static DESCRIPTION: Element = oai("description", Foreign);
static LIST_METADATA_FORMATS: Element = oai("ListMetadataFormats", Elements(&[Each(&METADATA_FORMAT, 1, MANY)]));
static METADATA_FORMAT: Element = oai(
    "metadataFormat",
    Elements(&[Each(&METADATA_PREFIX, 1, 1), Each(&SCHEMA, 1, 1), Each(&METADATA_NAMESPACE, 1, 1)]),
);
static METADATA_PREFIX: Element = oai("metadataPrefix", Text(&lexical::PREFIX));
static SCHEMA: Element = oai("schema", Text(&lexical::URI));
static METADATA_NAMESPACE: Element = oai("metadataNamespace", Text(&lexical::URI));
static LIST_SETS: Element = oai("ListSets", Elements(&[Each(&SET, 1, MANY), Each(&RESUMPTION_TOKEN, 0, 1)]));
static SET: Element =
    oai("set", Elements(&[Each(&SET_SPEC, 1, 1), Each(&SET_NAME, 1, 1), Each(&SET_DESCRIPTION, 0, MANY)]));
static SET_SPEC: Element = oai("setSpec", Text(&lexical::SET_SPEC));
static SET_NAME: Element = oai("setName", Text(&lexical::ANY));
static SET_DESCRIPTION: Element = oai("setDescription", Foreign);
static GET_RECORD: Element = oai("GetRecord", Elements(&[Each(&RECORD, 1, 1)]));
static LIST_RECORDS: Element = oai("ListRecords", Elements(&[Each(&RECORD, 1, MANY), Each(&RESUMPTION_TOKEN, 0, 1)]));
static LIST_IDENTIFIERS: Element =
    oai("ListIdentifiers", Elements(&[Each(&HEADER, 1, MANY), Each(&RESUMPTION_TOKEN, 0, 1)]));
static RECORD: Element = oai("record", Elements(&[Each(&HEADER, 1, 1), Each(&METADATA, 0, 1), Each(&ABOUT, 0, MANY)]));
static HEADER: Element = Element {
    namespace: OAI_NAMESPACE,
    name: "header",
    content: Elements(&[Each(&IDENTIFIER, 1, 1), Each(&DATESTAMP, 1, 1), Each(&SET_SPEC, 0, MANY)]),
    attributes: &[optional("status", &lexical::DELETED)],
};
static IDENTIFIER: Element = oai("identifier", Text(&lexical::ANY));
static DATESTAMP: Element = oai("datestamp", Text(&lexical::ANY));
static METADATA: Element = oai("metadata", Foreign);
static ABOUT: Element = oai("about", Foreign);
static RESUMPTION_TOKEN: Element = Element {
    namespace: OAI_NAMESPACE,
    name: "resumptionToken",
    content: Text(&lexical::ANY),
    attributes: &[
        optional("expirationDate", &lexical::ANY),
        optional("completeListSize", &lexical::POSITIVE),
        optional("cursor", &lexical::NUMBER),
    ],
};

static DC: Element = element(OAI_DC_NAMESPACE, "dc", Elements(&[Mix(&DC_ELEMENTS)]));

macro_rules! dublin_core {
    ($($constant:ident = $name:literal),+ $(,)?) => {
        $(static $constant: Element = element(DC_NAMESPACE, $name, Text(&lexical::ANY));)+
        /// The fifteen elements of Dublin Core.
        static DC_ELEMENTS: [&Element; 15] = [$(&$constant),+];
    };
}

dublin_core! {
    DC_TITLE = "title",
    DC_CREATOR = "creator",
    DC_SUBJECT = "subject",
    DC_DESCRIPTION = "description",
    DC_PUBLISHER = "publisher",
    DC_CONTRIBUTOR = "contributor",
    DC_DATE = "date",
    DC_TYPE = "type",
    DC_FORMAT = "format",
    DC_IDENTIFIER = "identifier",
    DC_SOURCE = "source",
    DC_LANGUAGE = "language",
    DC_RELATION = "relation",
    DC_COVERAGE = "coverage",
    DC_RIGHTS = "rights",
}

static OAI_IDENTIFIER: Element = element(
    OAI_IDENTIFIER_NAMESPACE,
    "oai-identifier",
    Elements(&[
        Each(&SCHEME, 1, 1),
        Each(&REPOSITORY_IDENTIFIER, 1, 1),
        Each(&DELIMITER, 1, 1),
        Each(&SAMPLE_IDENTIFIER, 1, 1),
    ]),
);
static SCHEME: Element = element(OAI_IDENTIFIER_NAMESPACE, "scheme", Text(&lexical::OAI));
static REPOSITORY_IDENTIFIER: Element =
    element(OAI_IDENTIFIER_NAMESPACE, "repositoryIdentifier", Text(&lexical::DOMAIN));
static DELIMITER: Element = element(OAI_IDENTIFIER_NAMESPACE, "delimiter", Text(&lexical::COLON));
static SAMPLE_IDENTIFIER: Element =
    element(OAI_IDENTIFIER_NAMESPACE, "sampleIdentifier", Text(&lexical::OAI_IDENTIFIER));

static PROVENANCE_ROOT: Element = element(PROVENANCE, "provenance", Elements(&[Each(&ORIGIN, 1, 1)]));
static ORIGIN: Element = Element {
    namespace: PROVENANCE,
    name: "originDescription",
    content: Elements(&[
        Each(&ORIGIN_URL, 1, 1),
        Each(&ORIGIN_IDENTIFIER, 1, 1),
        Each(&ORIGIN_DATESTAMP, 1, 1),
        Each(&ORIGIN_NAMESPACE, 1, 1),
        Each(&ORIGIN, 0, 1),
    ]),
    attributes: &[required("harvestDate", &lexical::DATESTAMP), required("altered", &lexical::BOOLEAN)],
};
static ORIGIN_URL: Element = element(PROVENANCE, "baseURL", Text(&lexical::URI));
static ORIGIN_IDENTIFIER: Element = element(PROVENANCE, "identifier", Text(&lexical::URI));
static ORIGIN_DATESTAMP: Element = element(PROVENANCE, "datestamp", Text(&lexical::DATESTAMP));
static ORIGIN_NAMESPACE: Element = element(PROVENANCE, "metadataNamespace", Text(&lexical::URI));

static RIGHTS_ROOT: Element =
    element(RIGHTS, "rights", Elements(&[Either(&[Each(&RIGHTS_REFERENCE, 1, 1), Each(&RIGHTS_DEFINITION, 1, 1)])]));
static RIGHTS_REFERENCE: Element = Element {
    namespace: RIGHTS,
    name: "rightsReference",
    content: Nothing,
    attributes: &[required("ref", &lexical::URI)],
};
static RIGHTS_DEFINITION: Element = element(RIGHTS, "rightsDefinition", Foreign);
static RIGHTS_MANIFEST: Element = Element {
    namespace: RIGHTS,
    name: "rightsManifest",
    content: Elements(&[Each(&RIGHTS_ROOT, 1, MANY)]),
    attributes: &[optional("appliesTo", &lexical::URI)],
};

static FRIENDS_ROOT: Element = element(FRIENDS, "friends", Elements(&[Each(&FRIEND, 0, MANY)]));
static FRIEND: Element = element(FRIENDS, "baseURL", Text(&lexical::URI));

static BRANDING_ROOT: Element =
    element(BRANDING, "branding", Elements(&[Each(&ICON, 0, 1), Each(&RENDERING, 0, MANY)]));
static ICON: Element = element(
    BRANDING,
    "collectionIcon",
    Elements(&[
        Each(&ICON_URL, 1, 1),
        Each(&ICON_LINK, 0, 1),
        Each(&ICON_TITLE, 0, 1),
        Each(&ICON_WIDTH, 0, 1),
        Each(&ICON_HEIGHT, 0, 1),
    ]),
);
static ICON_URL: Element = element(BRANDING, "url", Text(&lexical::URI));
static ICON_LINK: Element = element(BRANDING, "link", Text(&lexical::URI));
static ICON_TITLE: Element = element(BRANDING, "title", Text(&lexical::ANY));
static ICON_WIDTH: Element = element(BRANDING, "width", Text(&lexical::INTEGER));
static ICON_HEIGHT: Element = element(BRANDING, "height", Text(&lexical::INTEGER));
static RENDERING: Element = Element {
    namespace: BRANDING,
    name: "metadataRendering",
    content: Text(&lexical::URI),
    attributes: &[required("metadataNamespace", &lexical::URI), required("mimeType", &lexical::MIME)],
};

static GATEWAY_ROOT: Element = element(
    GATEWAY,
    "gateway",
    Elements(&[
        Each(&GATEWAY_SOURCE, 1, 1),
        Each(&GATEWAY_DESCRIPTION, 1, 1),
        Each(&GATEWAY_ADMIN, 1, MANY),
        Each(&GATEWAY_URL, 0, 1),
        Each(&GATEWAY_NOTES, 0, 1),
    ]),
);
static GATEWAY_SOURCE: Element = element(GATEWAY, "source", Text(&lexical::ANY));
static GATEWAY_DESCRIPTION: Element = element(GATEWAY, "gatewayDescription", Text(&lexical::URI));
static GATEWAY_ADMIN: Element = element(GATEWAY, "gatewayAdmin", Text(&lexical::EMAIL));
static GATEWAY_URL: Element = element(GATEWAY, "gatewayURL", Text(&lexical::URI));
static GATEWAY_NOTES: Element = element(GATEWAY, "gatewayNotes", Text(&lexical::URI));

static EPRINTS_ROOT: Element = element(
    EPRINTS,
    "eprints",
    Elements(&[
        Each(&EPRINTS_CONTENT, 0, 1),
        Each(&EPRINTS_METADATA, 1, 1),
        Each(&EPRINTS_DATA, 1, 1),
        Each(&EPRINTS_SUBMISSION, 0, 1),
        Each(&EPRINTS_COMMENT, 0, MANY),
    ]),
);
static EPRINTS_CONTENT: Element = element(EPRINTS, "content", Elements(&[Mix(&EPRINTS_TEXTS)]));
static EPRINTS_METADATA: Element = element(EPRINTS, "metadataPolicy", Elements(&[Mix(&EPRINTS_TEXTS)]));
static EPRINTS_DATA: Element = element(EPRINTS, "dataPolicy", Elements(&[Mix(&EPRINTS_TEXTS)]));
static EPRINTS_SUBMISSION: Element = element(EPRINTS, "submissionPolicy", Elements(&[Mix(&EPRINTS_TEXTS)]));
static EPRINTS_COMMENT: Element = element(EPRINTS, "comment", Text(&lexical::ANY));
static EPRINTS_TEXTS: [&Element; 2] = [&EPRINTS_URL, &EPRINTS_TEXT];
static EPRINTS_URL: Element = element(EPRINTS, "URL", Text(&lexical::URI));
static EPRINTS_TEXT: Element = element(EPRINTS, "text", Text(&lexical::ANY));
