//! The common parts of every response (section 3.2 of the specification): declaration, root, responseDate, request.

use crate::datestamp::Datestamp;
use crate::error::{ErrorCode, ProtocolError};
use crate::query::Arguments;
use crate::xml::writer::XmlWriter;
use crate::xml::{OAI_NAMESPACE, OAI_SCHEMA, XSI_NAMESPACE};

/// Opens a response: everything up to and including the `request` element.
pub fn open(xml: &mut XmlWriter<'_>, response_date: Datestamp, base_url: &str, arguments: &Arguments) {
    xml.raw("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<OAI-PMH");
    xml.attribute("xmlns", OAI_NAMESPACE).attribute("xmlns:xsi", XSI_NAMESPACE);
    xml.raw(" xsi:schemaLocation=\"").raw(OAI_NAMESPACE).raw(" ").raw(OAI_SCHEMA).raw("\">\n");
    xml.raw("<responseDate>").datestamp(response_date).raw("</responseDate>\n<request");
    for (name, value) in arguments {
        xml.attribute(name, value);
    }
    xml.raw(">").text(base_url).raw("</request>\n");
}

/// Closes a response.
pub fn close(xml: &mut XmlWriter<'_>) {
    xml.raw("</OAI-PMH>\n");
}

/// Writes a complete response that consists of errors. The arguments are repeated only if the errors allow it; pass
/// those of a request that parsed, or none.
pub fn errors(
    xml: &mut XmlWriter<'_>,
    response_date: Datestamp,
    base_url: &str,
    arguments: &Arguments,
    errors: &[ProtocolError],
) {
    let hidden = errors.iter().any(|error| ErrorCode::hides_arguments(error.code));
    let none = Arguments::new();
    open(xml, response_date, base_url, if hidden { &none } else { arguments });
    for error in errors {
        xml.raw("<error").attribute("code", error.code.as_str()).raw(">").text(&error.message).raw("</error>\n");
    }
    close(xml);
}
