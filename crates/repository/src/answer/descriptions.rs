//! Writes the descriptions in Identify and ListSets: containers whose schemas are not part of the protocol.
//!
//! They follow the implementation guidelines: oai-identifier, rights, eprints, friends, branding. Each is written if it
//! has content, and declares all its namespaces, so that it remains valid when it is cut out of the response.

use modoai_protocol::xml::{DATESTAMPS_NAMESPACE, XmlWriter};

use crate::formats::oai_dc;
use crate::repository::Repository;
use crate::settings::{EprintsPolicies, Settings, value};

const OAI: &str = "http://www.openarchives.org/OAI/2.0/";

/// The only subject of a rights statement that the schema allows for repositories.
const METADATA: &str = "http://www.openarchives.org/OAI/2.0/entity#metadata";

/// The name in the sample identifier of a site without items: nearly every site has this file.
const COMMON_NAME: &str = "index.html";

/// Writes all descriptions of a repository.
pub(super) fn write(repository: &Repository, xml: &mut XmlWriter<'_>) {
    let settings = &*repository.settings;
    if settings.describe_datestamps {
        write_datestamps(&repository.base_url, xml);
    }
    if let Some(namespace) = &settings.repository_identifier {
        write_oai_identifier(namespace, settings.sample_identifier.as_deref().unwrap_or(COMMON_NAME), xml);
    }
    if settings.eprints != EprintsPolicies::default() {
        write_eprints(&settings.eprints, xml);
    }
    if !settings.metadata_rights.is_empty() {
        write_rights(&settings.metadata_rights, xml);
    }
    if !settings.friends.is_empty() {
        open(xml, "friends", &[OAI, "friends/"], &[OAI, "friends.xsd"]).raw(">");
        for url in &settings.friends {
            xml.element("baseURL", url);
        }
        close(xml, "friends");
    }
    write_branding(settings, xml);
}

/// Writes the content of a set, as an `oai_dc` description.
pub(super) fn write_of_set(description: &str, xml: &mut XmlWriter<'_>) {
    xml.raw("<setDescription>");
    xml.raw(oai_dc::ROOT).element("dc:description", description).raw(oai_dc::ROOT_END);
    xml.raw("</setDescription>");
}

/// Writes that datestamps are those of visibility, so that harvesters can rely on it: they need not request an overlap.
fn write_datestamps(base_url: &str, xml: &mut XmlWriter<'_>) {
    open(xml, "datestamps", &[DATESTAMPS_NAMESPACE], &[base_url, "/datestamps.xsd"]).raw(">visibility");
    close(xml, "datestamps");
}

fn write_oai_identifier(namespace: &str, sample: &str, xml: &mut XmlWriter<'_>) {
    // Unlike those of the other schemas, this namespace has no slash at its end.
    open(xml, "oai-identifier", &[OAI, "oai-identifier"], &[OAI, "oai-identifier.xsd"]).raw("><scheme>oai</scheme>");
    xml.element("repositoryIdentifier", namespace).raw("<delimiter>:</delimiter><sampleIdentifier>oai:");
    xml.text(namespace).raw(":").text(sample).raw("</sampleIdentifier>");
    close(xml, "oai-identifier");
}

fn write_eprints(policies: &EprintsPolicies, xml: &mut XmlWriter<'_>) {
    const EPRINTS: &str = "http://www.openarchives.org/OAI/1.1/eprints";
    open(xml, "eprints", &[EPRINTS], &[EPRINTS, ".xsd"]).raw(">");
    // The schema requires two of them, even if they are empty.
    for (name, said, is_required) in [
        ("content", &policies.content, false),
        ("metadataPolicy", &policies.metadata, true),
        ("dataPolicy", &policies.data, true),
        ("submissionPolicy", &policies.submission, false),
    ] {
        if is_required || !said.is_empty() {
            xml.raw("<").raw(name).raw(">");
            for text in said {
                xml.element(if value::is_url(text) { "URL" } else { "text" }, text);
            }
            xml.raw("</").raw(name).raw(">");
        }
    }
    for comment in &policies.comments {
        xml.element("comment", comment);
    }
    close(xml, "eprints");
}

fn write_rights(licences: &[String], xml: &mut XmlWriter<'_>) {
    open(xml, "rightsManifest", &[OAI, "rights/"], &[OAI, "rightsManifest.xsd"]);
    xml.attribute("appliesTo", METADATA).raw(">");
    for licence in licences {
        xml.raw("<rights><rightsReference").attribute("ref", licence).raw("/></rights>");
    }
    close(xml, "rightsManifest");
}

fn write_branding(settings: &Settings, xml: &mut XmlWriter<'_>) {
    if let Some(icon) = &settings.branding_icon {
        open(xml, "branding", &[OAI, "branding/"], &[OAI, "branding.xsd"])
            .raw("><collectionIcon>")
            .element("url", icon);
        if let Some(link) = &settings.branding_link {
            xml.element("link", link);
        }
        xml.element("title", &settings.repository_name).raw("</collectionIcon>");
        close(xml, "branding");
    }
}

/// Opens a description up to where attributes may follow. Namespace and schema are given in parts.
fn open<'x, 'w>(xml: &'x mut XmlWriter<'w>, name: &str, namespace: &[&str], schema: &[&str]) -> &'x mut XmlWriter<'w> {
    let (namespace, schema) = (namespace.concat(), schema.concat());
    xml.raw("\n<description>");
    crate::formats::open_root(xml, name, "xmlns", &namespace, &schema);
    xml
}

fn close(xml: &mut XmlWriter<'_>, name: &str) {
    xml.raw("</").raw(name).raw("></description>\n");
}
