//! Writes the descriptions in Identify and ListSets: containers whose schemas are not part of the protocol.
//!
//! modoai writes those that depend on the repository: the form of identifiers, and the guarantee for datestamps. All others
//! are elements of the administrator ([`Description`](crate::description::Description)). Each declares all its namespaces,
//! so that it remains valid when it is cut out of the response.

use modoai_protocol::xml::{DATESTAMPS_NAMESPACE, XmlWriter};

use crate::formats::oai_dc;
use crate::repository::Repository;

/// The namespace of oai-identifier; unlike others, it has no slash at its end.
const IDENTIFIER: &str = "http://www.openarchives.org/OAI/2.0/oai-identifier";

/// The name in the sample identifier of a site without items: nearly every site has this file.
const COMMON_NAME: &str = "index.html";

/// Writes all descriptions of a repository.
pub(super) fn write(repository: &Repository, xml: &mut XmlWriter<'_>) {
    let settings = &*repository.settings;
    if settings.describe_datestamps {
        write_datestamps(&repository.base_url, xml);
    }
    let descriptions = &settings.identify_descriptions;
    let is_described = descriptions.iter().any(|description| description.namespace == IDENTIFIER);
    if let Some(namespace) = settings.repository_identifier.as_ref().filter(|_| !is_described) {
        write_oai_identifier(namespace, repository.sample.as_deref().unwrap_or(COMMON_NAME), xml);
    }
    for description in descriptions {
        xml.raw("\n<description>").raw(&description.xml).raw("</description>\n");
    }
}

/// Writes the content of a set, as an `oai_dc` description.
pub(super) fn write_of_set(description: &str, xml: &mut XmlWriter<'_>) {
    xml.raw("<setDescription>");
    xml.raw(oai_dc::ROOT).element("dc:description", description).raw(oai_dc::ROOT_END);
    xml.raw("</setDescription>");
}

/// Writes that datestamps are those of visibility, so that harvesters can rely on it: they need not request an overlap.
fn write_datestamps(base_url: &str, xml: &mut XmlWriter<'_>) {
    open(xml, "datestamps", DATESTAMPS_NAMESPACE, &format!("{base_url}/datestamps.xsd")).raw(">visibility");
    close(xml, "datestamps");
}

fn write_oai_identifier(namespace: &str, sample: &str, xml: &mut XmlWriter<'_>) {
    open(xml, "oai-identifier", IDENTIFIER, &format!("{IDENTIFIER}.xsd")).raw("><scheme>oai</scheme>");
    xml.element("repositoryIdentifier", namespace).raw("<delimiter>:</delimiter><sampleIdentifier>oai:");
    xml.text(namespace).raw(":").text(sample).raw("</sampleIdentifier>");
    close(xml, "oai-identifier");
}

/// Opens a description.
fn open<'x, 'w>(xml: &'x mut XmlWriter<'w>, name: &str, namespace: &str, schema: &str) -> &'x mut XmlWriter<'w> {
    xml.raw("\n<description>");
    crate::formats::open_root(xml, name, "xmlns", namespace, schema);
    xml
}

fn close(xml: &mut XmlWriter<'_>, name: &str) {
    xml.raw("</").raw(name).raw("></description>\n");
}
