//! A repository with one defect for every check: the smallest defect that only this check finds.

use std::io::Read as _;

use modoai_protocol::query::Arguments;
use modoai_protocol::{Bound, Datestamp};

use super::super::exchange::{Hop, Question};
use super::super::report::Grade;
use super::super::report::Grade::{Failure, Warning};
use super::repository::{Repository, gzipped};

pub(super) struct Defect {
    /// The check that finds it.
    pub(super) check: &'static str,
    pub(super) grade: Grade,
    /// Other checks that necessarily find it, too.
    pub(super) also: &'static [&'static str],
    pub(super) what: &'static str,
    pub(super) make: fn(&mut Repository),
}

const fn defect(check: &'static str, grade: Grade, what: &'static str, make: fn(&mut Repository)) -> Defect {
    Defect { check, grade, also: &[], what, make }
}

const fn wider(
    check: &'static str,
    grade: Grade,
    also: &'static [&'static str],
    what: &'static str,
    make: fn(&mut Repository),
) -> Defect {
    Defect { check, grade, also, what, make }
}

const DC_ROOT: &str = "xmlns:oai_dc=\"http://www.openarchives.org/OAI/2.0/oai_dc/\"";
const DC_LOCATION: &str = "xsi:schemaLocation=\"http://www.openarchives.org/OAI/2.0/oai_dc/ \
                           http://www.openarchives.org/OAI/2.0/oai_dc.xsd\"";

pub(super) const DEFECTS: &[Defect] = &[
    defect("http-status", Failure, "errors come with 422", |it| {
        it.on_wire = |_, raw| {
            if String::from_utf8_lossy(&raw.body).contains("<error") {
                raw.status = 422;
            }
        };
    }),
    defect("http-content-type", Failure, "text/html", |it| {
        it.on_wire = |_, raw| raw.headers[0].1 = "text/html; charset=UTF-8".to_owned();
    }),
    defect("http-content-type", Failure, "no type at all", |it| {
        it.on_wire = |_, raw| drop(raw.headers.remove(0));
    }),
    defect("http-charset", Failure, "Latin 1", |it| {
        it.on_wire = |_, raw| raw.headers[0].1 = "text/xml; charset=ISO-8859-1".to_owned();
    }),
    defect("http-redirects", Warning, "it has moved for good", |it| {
        it.on_wire = |_, raw| raw.hops.push(Hop { status: 301, to: "https://elsewhere.example.org/".to_owned() });
    }),
    defect("http-flow-control", Failure, "come back at some time", |it| it.refuses = Some((503, None))),
    defect("http-flow-control", Failure, "come back at a date", |it| {
        it.refuses = Some((503, Some("Sat, 01 Jun 2024 12:01:00 GMT")));
    }),
    defect("http-flow-control", Warning, "429", |it| it.refuses = Some((429, Some("3")))),
    defect("http-identity", Failure, "gzip unasked", |it| {
        it.on_wire = |question, raw| {
            if question.coding == "identity" {
                raw.body = gzipped(&raw.body);
                raw.headers.push(("Content-Encoding".to_owned(), "gzip".to_owned()));
            }
        };
    }),
    defect("http-post-identify", Failure, "POST is answered otherwise", |it| {
        it.on_answer = |question, text| {
            if question.post && question.query == "verb=Identify" {
                replace(text, "<repositoryName>Example", "<repositoryName>Welcome");
            }
        };
    }),
    defect("http-post-arguments", Failure, "POST is answered otherwise", |it| {
        it.on_answer = |question, text| {
            if question.post && asks(question, "GetRecord") {
                replace(text, "The thing", "A thing");
            }
        };
    }),
    defect("http-gzip", Failure, "gzip without a label", |it| {
        it.on_wire = |_, raw| raw.headers.retain(|(name, _)| name != "Content-Encoding");
    }),
    wider(
        "http-gzip",
        Failure,
        &["shape-well-formed", "shape-declaration", "shape-root"],
        "a label without gzip",
        |it| {
            it.on_wire = |question, raw| {
                if question.coding == "gzip" {
                    raw.body = b"<html>".to_vec();
                }
            };
        },
    ),
    defect("http-gzip", Warning, "gzip is promised and never sent", |it| {
        it.on_wire = |question, raw| {
            if question.coding == "gzip" {
                raw.body = plain(&raw.body);
                raw.headers.truncate(1);
            }
        };
    }),
    defect("http-deflate", Warning, "deflate is promised and never sent", |it| {
        it.on_answer = |_, text| {
            replace(text, "<compression>gzip", "<compression>deflate</compression><compression>gzip");
        };
    }),
    defect("http-deflate", Failure, "a label without deflate", |it| {
        it.on_answer = |_, text| {
            replace(text, "<compression>gzip", "<compression>deflate</compression><compression>gzip");
        };
        it.on_wire = |question, raw| {
            if question.coding == "deflate" {
                raw.headers.push(("Content-Encoding".to_owned(), "deflate".to_owned()));
            }
        };
    }),
    defect("http-compression", Warning, "identity is advertised", |it| {
        it.on_answer = |_, text| {
            replace(text, "<compression>gzip", "<compression>identity</compression><compression>gzip");
        };
    }),
    defect("shape-well-formed", Failure, "an entity of HTML in metadata", |it| {
        it.on_answer = |_, text| {
            replace(text, "<dc:type>Text", "<dc:type>Te&nbsp;xt");
        };
    }),
    defect("shape-well-formed", Failure, "a prefix nobody declared", |it| {
        it.on_answer = |_, text| {
            replace(text, "<dc:type>Text</dc:type>", "<dc:type>Text</dc:type><!-- a -- b -->");
        };
    }),
    defect("shape-well-formed", Failure, "a name that begins with a digit", |it| {
        it.on_answer = |_, text| replace(text, "xsd\">oai:", "xsd\"><x:1t xmlns:x=\"urn:x\"/>oai:");
    }),
    defect("shape-well-formed", Failure, "an attribute twice, by two prefixes", |it| {
        it.on_answer = |_, text| {
            let twice = "<b xmlns:p=\"urn:q\" xmlns:r=\"urn:q\" p:a=\"1\" r:a=\"2\"/>";
            replace(text, "xsd\">oai:", &format!("xsd\">{twice}oai:"));
        };
    }),
    defect("shape-encoding", Failure, "Latin 1 in metadata", |it| {
        it.on_wire = |question, raw| {
            if question.coding == "identity" {
                raw.body.iter_mut().filter(|byte| **byte == b'|').for_each(|byte| *byte = 0xe9);
            }
        };
        it.on_answer = |_, text| replace(text, "<dc:type>Text", "<dc:type>T|xt");
    }),
    defect("shape-characters", Failure, "a control character in metadata", |it| {
        it.on_answer = |_, text| {
            replace(text, "<dc:type>Text", "<dc:type>Te\u{1}xt");
        };
    }),
    defect("shape-declaration", Failure, "no XML declaration", |it| {
        it.on_answer = |_, text| {
            replace(text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", "");
        };
    }),
    defect("shape-root", Failure, "another schema", |it| {
        it.on_answer = |_, text| {
            replace(
                text,
                "http://www.openarchives.org/OAI/2.0/OAI-PMH.xsd",
                "http://www.openarchives.org/OAI/2.0/oai.xsd",
            );
        };
    }),
    defect("shape-elements", Failure, "out of order", |it| {
        it.on_answer = |_, text| {
            replace(
                text,
                "<protocolVersion>2.0</protocolVersion><adminEmail>someone@repository.example.org</adminEmail>",
                "<adminEmail>someone@repository.example.org</adminEmail><protocolVersion>2.0</protocolVersion>",
            );
        };
    }),
    defect("shape-elements", Failure, "an element of its own", |it| {
        it.on_answer = |_, text| {
            replace(text, "</responseDate>", "</responseDate><servedBy>me</servedBy>");
        };
    }),
    defect("shape-elements", Failure, "an element is missing", |it| {
        it.on_answer = |_, text| {
            replace(text, "<deletedRecord>persistent</deletedRecord>", "");
        };
    }),
    defect("shape-values", Failure, "a schema that is no URI", |it| {
        it.on_answer = |_, text| {
            replace(text, "<schema>http://example.org/other.xsd", "<schema>the other schema");
        };
    }),
    defect("shape-values", Failure, "an attribute of its own", |it| {
        it.on_answer = |_, text| {
            replace(text, "<resumptionToken ", "<resumptionToken expiration_date=\"never\" ");
        };
    }),
    defect("shape-response-date", Failure, "a fraction of a second", |it| {
        it.on_answer = |question, text| {
            if asks(question, "ListSets") {
                replace(text, "12:00:00Z</responseDate>", "12:00:00.5Z</responseDate>");
            }
        };
    }),
    defect("shape-verb", Failure, "another verb is answered", |it| {
        it.on_answer = |question, text| {
            if question.post {
                replace(text, "GetRecord>", "ListRecords>");
            }
        };
    }),
    defect("shape-request-url", Failure, "somewhere else", |it| {
        it.on_answer = |_, text| {
            replace(text, ">http://repository.example.org/oai</request>", ">http://localhost:8080/oai</request>");
        };
    }),
    defect("shape-request-arguments", Failure, "bad arguments are echoed", |it| {
        it.on_answer = |_, text| {
            if text.contains("code=\"badArgument\"") {
                replace(text, "<request>", "<request verb=\"ListRecords\">");
            }
        };
    }),
    defect("shape-request-arguments", Failure, "arguments are not echoed", |it| {
        it.on_answer = |_, text| {
            replace(text, " metadataPrefix=\"oai_dc\"", "");
        };
    }),
    wider("identify-answer", Failure, &["http-post-identify", "http-gzip"], "an error instead", |it| {
        it.on_answer = |question, text| {
            if question.query == "verb=Identify" && !question.post && question.coding == "identity" {
                refuse(text, "noRecordsMatch");
            }
        };
    }),
    defect("identify-repository-name", Failure, "no name", |it| {
        it.on_answer = |_, text| {
            replace(text, "<repositoryName>Example", "<repositoryName>");
        };
    }),
    defect("identify-base-url", Failure, "another scheme", |it| {
        it.on_answer = |_, text| {
            replace(text, "<baseURL>http://repository", "<baseURL>https://repository");
        };
    }),
    defect("identify-protocol-version", Failure, "an old protocol", |it| {
        it.on_answer = |_, text| {
            replace(text, "<protocolVersion>2.0", "<protocolVersion>1.1");
        };
    }),
    defect("identify-admin-email", Failure, "nobody at home", |it| {
        it.on_answer = |_, text| {
            replace(text, "someone@repository.example.org", "root@localhost");
        };
    }),
    defect("identify-admin-email", Warning, "a URL", |it| {
        it.on_answer = |_, text| {
            replace(text, "someone@repository.example.org", "mailto:someone@repository.example.org");
        };
    }),
    defect("identify-placeholders", Warning, "the default name", |it| {
        it.on_answer = |_, text| {
            replace(text, "<repositoryName>Example", "<repositoryName>A modoai repository");
        };
    }),
    defect("identify-placeholders", Warning, "an address for examples", |it| {
        it.on_answer = |_, text| {
            replace(text, "someone@repository.example.org", "webmaster@Example.ORG");
        };
    }),
    defect("identify-granularity", Failure, "misspelt", |it| {
        it.on_answer = |_, text| {
            replace(text, "YYYY-MM-DDThh:mm:ssZ", "YYYY-MM-DDTHH:MM:SSZ");
        };
    }),
    defect("identify-earliest-datestamp", Failure, "in days", |it| {
        it.on_answer = |_, text| {
            replace(text, "<earliestDatestamp>2024-01-01T00:00:00Z", "<earliestDatestamp>2024-01-01");
        };
    }),
    wider(
        "identify-earliest-datestamp",
        Failure,
        &["dates-earliest", "dates-from-earliest", "dates-before-earliest"],
        "in the future",
        |it| {
            it.on_answer = |_, text| {
                replace(text, "<earliestDatestamp>2024", "<earliestDatestamp>2034");
            };
        },
    ),
    defect("identify-deleted-record", Failure, "undecided", |it| {
        it.on_answer = |_, text| {
            replace(text, "<deletedRecord>persistent", "<deletedRecord>sometimes");
        };
    }),
    defect("identify-granularity", Failure, "white space around it", |it| {
        it.on_answer =
            |_, text| replace(text, "<granularity>YYYY-MM-DDThh:mm:ssZ<", "<granularity> YYYY-MM-DDThh:mm:ssZ <");
    }),
    defect("identify-protocol-version", Failure, "white space around it", |it| {
        it.on_answer = |_, text| replace(text, "<protocolVersion>2.0<", "<protocolVersion> 2.0 <");
    }),
    defect("identify-deleted-record", Failure, "white space around it", |it| {
        it.on_answer = |_, text| replace(text, "<deletedRecord>persistent<", "<deletedRecord> persistent <");
    }),
    defect("identify-admin-email", Failure, "white space around it", |it| {
        it.on_answer = |_, text| {
            replace(
                text,
                "<adminEmail>someone@repository.example.org<",
                "<adminEmail> someone@repository.example.org <",
            );
        };
    }),
    defect("identify-oai-identifier", Failure, "another delimiter", |it| {
        it.on_answer = |_, text| {
            replace(text, "<delimiter>:", "<delimiter>/");
        };
    }),
    defect("identify-oai-identifier", Failure, "a sample of somebody else", |it| {
        it.on_answer = |_, text| {
            replace(text, "<sampleIdentifier>oai:example.org:", "<sampleIdentifier>oai:example.com:");
        };
    }),
    defect("identify-oai-identifier", Failure, "two of them", |it| {
        it.on_answer = |question, text| {
            if asks(question, "Identify") && text.contains("<Identify>") {
                let (start, end) = (text.find("<description>").unwrap_or(0), text.find("</description>").unwrap_or(0));
                let copy = format!("{}</description>", &text[start..end]);
                text.insert_str(start, &copy);
            }
        };
    }),
    defect("identify-descriptions", Failure, "a friend without a URL", |it| {
        it.on_answer = |_, text| {
            replace(text, "http://friend.example.org/oai", "my best friend");
        };
    }),
    wider("identify-descriptions", Failure, &["shape-elements"], "a description of a set in no namespace", |it| {
        it.set_description = "<setDescription>all of it</setDescription>";
    }),
    wider("formats-list", Failure, &["formats-oai-dc", "formats-of-item"], "no formats", |it| {
        it.on_answer = |question, text| {
            if question.query == "verb=ListMetadataFormats" {
                refuse(text, "noMetadataFormats");
            }
        };
    }),
    defect("formats-oai-dc", Failure, "another namespace", |it| {
        it.on_answer = |question, text| {
            if question.query == "verb=ListMetadataFormats" {
                replace(text, "/oai_dc/</metadataNamespace>", "/oai_dc</metadataNamespace>");
            }
        };
    }),
    defect("formats-distinct", Failure, "one twice", |it| {
        it.on_answer = |_, text| {
            let start = text.rfind("<metadataFormat>");
            let end = text.rfind("</ListMetadataFormats>");
            if let (Some(start), Some(end)) = (start, end) {
                let copy = text[start..end].to_owned();
                text.insert_str(end, &copy);
            }
        };
    }),
    defect("formats-of-item", Failure, "without oai_dc", |it| {
        it.on_answer = |question, text| {
            if question.query.contains("identifier=") && asks(question, "ListMetadataFormats") {
                cut(text, "<metadataFormat>", "</metadataFormat>");
            }
        };
    }),
    defect("formats-disseminated", Failure, "another namespace", |it| {
        it.on_answer = |question, text| {
            if asks(question, "GetRecord") {
                replace(text, "http://example.org/other/", "http://example.org/another/");
            }
        };
    }),
    defect("errors-verb-missing", Failure, "another code", |it| {
        it.on_answer = |question, text| {
            if !question.query.contains("verb") {
                replace(text, "badVerb", "badArgument");
            }
        };
    }),
    defect("errors-verb-unknown", Failure, "another code", |it| {
        it.on_answer = |question, text| {
            if question.query == "verb=identify" {
                replace(text, "badVerb", "badArgument");
            }
        };
    }),
    defect("errors-verb-repeated", Warning, "another code", |it| {
        it.on_answer = |question, text| {
            if question.query.matches("verb").count() == 2 {
                replace(text, "badVerb", "badArgument");
            }
        };
    }),
    defect("errors-argument-missing", Failure, "another code", |it| {
        it.on_answer = |question, text| {
            if question.query == "verb=ListRecords" {
                replace(text, "badArgument", "badVerb");
            }
        };
    }),
    wider("errors-argument-unknown", Failure, &["shape-values"], "what is unknown is ignored", |it| {
        it.on_request = |arguments| {
            arguments.retain(|(name, _)| name != "junk");
        };
    }),
    defect("errors-argument-repeated", Failure, "only one of two counts", |it| {
        it.on_request = |arguments| {
            if arguments.len() == 3 && arguments[1] == arguments[2] {
                arguments.pop();
            }
        };
    }),
    defect("errors-identifier-unknown", Failure, "another code", |it| {
        it.on_answer = |question, text| {
            if question.query.contains("nobody.invalid") {
                replace(text, "idDoesNotExist", "noMetadataFormats");
            }
        };
    }),
    defect("errors-identifier-illegal", Failure, "another code", |it| {
        it.on_answer = |question, text| {
            if question.query.contains("invalid%22id") {
                replace(text, "idDoesNotExist", "cannotDisseminateFormat");
            }
        };
    }),
    defect("errors-format-unknown", Failure, "another code", |it| {
        it.on_answer = |_, text| {
            replace(text, "cannotDisseminateFormat", "noRecordsMatch");
        };
    }),
    defect("errors-text", Warning, "without a word", |it| {
        it.on_answer = |_, text| {
            replace(text, ">that is not possible</error>", "></error>");
        };
    }),
    defect("lists-identifiers", Failure, "refused", |it| {
        it.on_answer = |question, text| {
            if question.query == "verb=ListIdentifiers&metadataPrefix=oai_dc" {
                refuse(text, "cannotDisseminateFormat");
            }
        };
    }),
    defect("lists-records", Failure, "refused", |it| {
        it.on_answer = |question, text| {
            if question.query == "verb=ListRecords&metadataPrefix=oai_dc" {
                refuse(text, "cannotDisseminateFormat");
            }
        };
    }),
    defect("lists-unique", Failure, "one twice", |it| {
        let copy = it.items[11].clone();
        it.items.push(copy);
    }),
    defect("lists-steady", Failure, "another identifier the second time", |it| {
        it.on_answer = |question, text| {
            if question.take == 1 {
                replace(text, "item/0<", "item/zero<");
            }
        };
    }),
    wider("lists-agree", Failure, &["sets-minimal"], "other sets", |it| {
        it.on_answer = |question, text| {
            if asks(question, "ListIdentifiers")
                && question.query.matches('=').count() == 2
                && !question.query.contains("set=")
            {
                replace(text, "<setSpec>art:music", "<setSpec>art</setSpec><setSpec>art:music");
            }
        };
    }),
    wider("lists-whole", Failure, &["dates-halves"], "lists are cut short, and have no token", |it| {
        it.on_answer = |_, text| cut(text, "<resumptionToken", "</resumptionToken>");
    }),
    defect("lists-get-record", Warning, "other metadata", |it| {
        it.on_answer = |question, text| {
            if asks(question, "GetRecord") {
                replace(text, "The thing", "A thing");
            }
        };
    }),
    defect("lists-get-record", Failure, "other sets", |it| {
        it.on_answer = |question, text| {
            if asks(question, "GetRecord") {
                replace(text, "<setSpec>art:music", "<setSpec>art</setSpec><setSpec>art:music");
            }
        };
    }),
    defect("tokens-single-page", Failure, "an empty token", |it| {
        it.on_answer = |_, text| {
            replace(text, "</ListSets>", "<resumptionToken/></ListSets>");
        };
    }),
    defect("tokens-last-page", Failure, "no token at the end", |it| {
        it.on_answer = |_, text| {
            replace(text, "<resumptionToken completeListSize=\"12\" cursor=\"10\"/>", "");
        };
    }),
    defect("tokens-lead-on", Failure, "a token too many", |it| {
        it.on_answer = |_, text| {
            replace(
                text,
                "<resumptionToken completeListSize=\"12\" cursor=\"10\"/>",
                "<resumptionToken completeListSize=\"12\" cursor=\"10\">more</resumptionToken>",
            );
        };
    }),
    defect("tokens-end", Failure, "round and round", |it| {
        it.on_answer = |_, text| {
            replace(text, ":10</resumptionToken>", ":5</resumptionToken>");
        };
    }),
    defect("tokens-cursor", Failure, "pages are counted", |it| {
        it.on_answer = |_, text| {
            replace(text, "cursor=\"5\"", "cursor=\"1\"");
        };
    }),
    defect("tokens-size", Warning, "one more", |it| {
        it.on_answer = |_, text| {
            replace(text, "completeListSize=\"12\"", "completeListSize=\"13\"");
        };
    }),
    defect("tokens-size", Failure, "five times as many", |it| {
        it.on_answer = |_, text| {
            replace(text, "completeListSize=\"12\"", "completeListSize=\"60\"");
        };
    }),
    defect("tokens-expiration", Failure, "expired before it was given", |it| {
        it.on_answer = |_, text| {
            replace(text, "expirationDate=\"2024-06", "expirationDate=\"2024-05");
        };
    }),
    defect("tokens-expiration", Warning, "seconds", |it| {
        it.on_answer = |_, text| {
            replace(text, "expirationDate=\"2024-06-02T12:00:00Z", "expirationDate=\"2024-06-01T12:00:30Z");
        };
    }),
    defect("tokens-reusable", Failure, "only once", |it| {
        it.on_answer = |question, text| {
            if question.take == 2 {
                refuse(text, "badResumptionToken");
            }
        };
    }),
    defect("tokens-garbage", Failure, "another code", |it| {
        it.on_answer = |question, text| {
            if question.query.ends_with("resumptionToken=junk") {
                replace(text, "badResumptionToken", "noRecordsMatch");
            }
        };
    }),
    defect("tokens-damaged", Failure, "another code", |it| {
        it.on_answer = |question, text| {
            if question.query.ends_with("~junk") {
                replace(text, "badResumptionToken", "noRecordsMatch");
            }
        };
    }),
    defect("tokens-damaged", Warning, "mended", |it| {
        it.on_request = |arguments| {
            for (name, value) in arguments {
                if name == "resumptionToken" {
                    *value = value.replace("~junk", "");
                }
            }
        };
    }),
    defect("tokens-of-another-verb", Failure, "another code", |it| {
        it.on_answer = |question, text| {
            if question.query.starts_with("verb=ListRecords&resumptionToken=verb%3DListIdentifiers") {
                replace(text, "badResumptionToken", "noRecordsMatch");
            }
        };
    }),
    defect("tokens-exclusive", Failure, "company is ignored", |it| {
        it.on_request = |arguments| {
            if arguments.iter().any(|(name, _)| name == "resumptionToken") {
                arguments.retain(|(name, _)| name == "resumptionToken" || name == "verb");
            }
        };
    }),
    defect("dates-granularity", Failure, "one of them a day", |it| {
        it.items[3].datestamp.truncate(10);
    }),
    wider("dates-earliest", Failure, &["dates-from-earliest"], "one too early", |it| {
        it.items[0].datestamp = "2023-12-31T00:00:00Z".to_owned();
    }),
    defect("dates-future", Warning, "one too late", |it| {
        it.items[11].datestamp = "2025-01-01T00:00:00Z".to_owned();
    }),
    defect("dates-clock", Warning, "local time", |it| {
        it.on_answer = |_, text| {
            replace(text, "T12:00:00Z</responseDate>", "T14:00:00Z</responseDate>");
        };
    }),
    defect("dates-inclusive", Failure, "the end is excluded", |it| {
        it.on_answer = |question, text| {
            if asks(question, "ListRecords")
                && value(question, "from").is_some()
                && value(question, "from") == value(question, "until")
            {
                refuse(text, "noRecordsMatch");
            }
        };
    }),
    defect("dates-nothing-else", Failure, "until is ignored", |it| {
        it.on_request = |arguments| {
            let ranged = arguments.iter().any(|(name, from)| name == "from" && from.len() == 20);
            if ranged && verb_is(arguments, "ListIdentifiers") {
                arguments.retain(|(name, _)| name != "until");
            }
        };
    }),
    wider("dates-halves", Failure, &["dates-inclusive"], "the end is excluded", |it| {
        it.on_request = |arguments| {
            if verb_is(arguments, "ListIdentifiers") && arguments.len() == 3 {
                earlier_until(arguments);
            }
        };
    }),
    defect("dates-from-earliest", Failure, "refused", |it| {
        it.on_answer = |question, text| {
            if value(question, "from").as_deref() == Some("2024-01-01T00:00:00Z") {
                refuse(text, "badArgument");
            }
        };
    }),
    defect("dates-before-earliest", Failure, "refused", |it| {
        it.on_answer = |question, text| {
            if question.query.contains("until=2022-12-31") {
                refuse(text, "badArgument");
            }
        };
    }),
    defect("dates-after-newest", Failure, "another code", |it| {
        it.on_answer = |question, text| {
            if value(question, "from").as_deref() == Some("2024-05-06T01:30:01Z") && asks(question, "ListRecords") {
                refuse(text, "cannotDisseminateFormat");
            }
        };
    }),
    defect("dates-by-day", Failure, "a day is its first second", |it| {
        it.on_request = |arguments| {
            let day = arguments.iter().filter(|(_, value)| value == "2024-05-01").count();
            if day == 2 {
                for (_, value) in arguments {
                    if value == "2024-05-01" {
                        value.push_str("T00:00:00Z");
                    }
                }
            }
        };
    }),
    defect("dates-finer", Failure, "seconds are cut off", |it| {
        *it = Repository::by_day();
        it.on_request = |arguments| {
            for (_, value) in arguments {
                if value == "2001-01-01T00:00:00Z" {
                    value.truncate(10);
                }
            }
        };
    }),
    defect("dates-mixed", Failure, "seconds are cut off", |it| {
        it.on_request = |arguments| {
            for (_, value) in arguments {
                if value == "2002-02-06T05:35:00Z" {
                    value.truncate(10);
                }
            }
        };
    }),
    defect("dates-reversed", Failure, "nothing matches", |it| {
        it.on_answer = |question, text| {
            if question.query.contains("from=2002-02-06&until=2002-02-05") {
                echo(question, text);
                refuse(text, "noRecordsMatch");
            }
        };
    }),
    defect("dates-illegal", Failure, "another code", |it| {
        it.on_answer = |question, text| {
            if question.query.contains("2002-02-30") {
                replace(text, "badArgument", "badVerb");
            }
        };
    }),
    defect("sets-list", Failure, "refused", |it| {
        it.on_answer = |question, text| {
            if question.query == "verb=ListSets" {
                refuse(text, "cannotDisseminateFormat");
            }
        };
    }),
    defect("sets-names", Warning, "a set without a name", |it| {
        it.on_answer = |_, text| {
            replace(text, "The science", "");
        };
    }),
    defect("sets-distinct", Failure, "one twice", |it| {
        it.sets.push("science".to_owned());
    }),
    defect("sets-hierarchy", Warning, "no set above", |it| {
        it.sets.retain(|set| set != "art");
    }),
    defect("sets-minimal", Warning, "the set above as well", |it| it.items[0].sets.push("art".to_owned())),
    defect("shape-root", Failure, "a prefix", |it| {
        it.on_answer = |_, text| {
            for name in ["OAI-PMH", "responseDate", "request", "error"] {
                *text = text
                    .replace(&format!("<{name}"), &format!("<o:{name}"))
                    .replace(&format!("</{name}"), &format!("</o:{name}"));
            }
            replace(text, "<o:OAI-PMH ", "<o:OAI-PMH xmlns:o=\"http://www.openarchives.org/OAI/2.0/\" ");
        };
    }),
    defect("sets-of-headers", Failure, "a set that is not listed", |it| {
        it.sets.retain(|set| set != "science");
    }),
    defect("sets-members-only", Failure, "the set is ignored", |it| {
        it.on_request = |arguments| {
            arguments.retain(|(name, value)| name != "set" || value != "science");
        };
    }),
    defect("sets-all-members", Failure, "one is left out", |it| {
        it.on_answer = |question, text| {
            if question.query.contains("set=science") && asks(question, "ListIdentifiers") {
                cut(text, "<header", "</header>");
            }
        };
    }),
    defect("sets-members-only", Failure, "ListRecords ignores the set", |it| {
        it.on_request = |arguments| {
            if verb_is(arguments, "ListRecords") {
                arguments.retain(|(name, _)| name != "set");
            }
        };
    }),
    wider("dates-nothing-else", Failure, &["dates-halves"], "tokens of ListRecords forget the range", |it| {
        it.on_request = |arguments| {
            if verb_is(arguments, "ListRecords") {
                for (_, token) in arguments.iter_mut().filter(|(name, _)| name == "resumptionToken") {
                    *token = token.replace(";from", ";junk").replace(";until", ";junk");
                    if let (Some(start), Some(end)) = (token.find(";junk"), token.rfind(':')) {
                        token.replace_range(start..end, "");
                    }
                }
            }
        };
    }),
    defect("dates-inclusive", Failure, "ListRecords excludes from", |it| {
        it.on_request = |arguments| {
            let has_until = arguments.iter().any(|(name, _)| name == "until");
            if verb_is(arguments, "ListRecords") && !has_until {
                for (_, value) in arguments.iter_mut().filter(|(name, value)| name == "from" && value.len() == 20) {
                    if let Some(bound) = Bound::parse(value) {
                        *value = Datestamp::from_unix(bound.first().unix() + 1).to_string();
                    }
                }
            }
        };
    }),
    defect("formats-listed", Failure, "ListRecords is always in oai_dc", |it| {
        it.on_request = |arguments| {
            if verb_is(arguments, "ListRecords") {
                arguments
                    .iter_mut()
                    .filter(|(_, value)| value == "other")
                    .for_each(|(_, it)| *it = "oai_dc".to_owned());
            }
        };
    }),
    defect("formats-listed", Failure, "ListIdentifiers knows only oai_dc", |it| {
        it.on_answer = |question, text| {
            if asks(question, "ListIdentifiers") && value(question, "metadataPrefix").as_deref() == Some("other") {
                refuse(text, "noRecordsMatch");
            }
        };
    }),
    defect("sets-unknown", Failure, "another code", |it| {
        it.on_answer = |question, text| {
            if question.query.contains("modoai-validate-nothing") {
                replace(text, "noRecordsMatch", "idDoesNotExist");
            }
        };
    }),
    defect("sets-unknown", Failure, "sets where there are none", |it| {
        *it = Repository::without_sets();
        it.on_answer = |question, text| {
            if question.query.contains("modoai-validate-nothing") {
                replace(text, "noSetHierarchy", "noRecordsMatch");
            }
        };
    }),
    defect("deletions-policy", Failure, "there should be none", |it| {
        it.deleted_record = "no";
    }),
    defect("deletions-empty", Failure, "metadata all the same", |it| {
        it.on_answer = |_, text| {
            let dc = format!("</header><metadata><oai_dc:dc {DC_ROOT} {DC_LOCATION}/></metadata></record>");
            replace(text, "</header></record>", &dc);
        };
    }),
    defect("deletions-get-record", Failure, "as if it had never been", |it| {
        it.on_answer = |question, text| {
            if asks(question, "GetRecord") && value(question, "identifier").is_some_and(|it| it.ends_with("item/4")) {
                refuse(text, "idDoesNotExist");
            }
        };
    }),
    defect("deletions-by-date", Failure, "left out", |it| {
        it.on_answer = |question, text| {
            if value(question, "from").as_deref() == Some("2024-05-03T04:30:00Z") {
                refuse(text, "noRecordsMatch");
            }
        };
    }),
    defect("deletions-formats", Warning, "as if it had never been", |it| {
        it.on_answer = |question, text| {
            if asks(question, "ListMetadataFormats")
                && value(question, "identifier").is_some_and(|it| it.ends_with("item/4"))
            {
                refuse(text, "idDoesNotExist");
            }
        };
    }),
    defect("records-identifiers", Failure, "no URI", |it| {
        it.items[2].identifier = "item 2".to_owned();
    }),
    defect("records-identifiers", Warning, "white space behind it", |it| {
        it.on_answer = |_, text| *text = text.replace("item/2</identifier>", "item/2 </identifier>");
    }),
    defect("records-oai-identifiers", Failure, "of somebody else", |it| {
        it.items[2].identifier = "oai:elsewhere.org:item/2".to_owned();
    }),
    defect("records-metadata", Failure, "none", |it| {
        it.on_answer = |_, text| {
            if let Some(at) = text.find("item/2</identifier>") {
                let mut rest = text.split_off(at);
                cut(&mut rest, "<metadata>", "</metadata>");
                text.push_str(&rest);
            }
        };
    }),
    defect("records-oai-dc", Failure, "an element that Dublin Core does not have", |it| {
        it.on_answer = |_, text| {
            replace(text, "dc:type>", "dc:kind>");
        };
    }),
    defect("records-oai-dc", Failure, "a type that nobody declares", |it| {
        it.on_answer = |_, text| *text = text.replace("<dc:type>", "<dc:type xsi:type=\"dcterms:DCMIType\">");
    }),
    defect("records-schema-location", Failure, "none", |it| {
        it.on_answer = |_, text| {
            replace(text, &format!(" {DC_LOCATION}"), "");
        };
    }),
    defect("records-about", Failure, "a provenance that is not sure", |it| {
        it.about = "<about><provenance xmlns=\"http://www.openarchives.org/OAI/2.0/provenance\"><originDescription harvestDate=\"2024-01-01\" altered=\"perhaps\"><baseURL>http://a.example.org/</baseURL><identifier>oai:a.example.org:1</identifier><datestamp>2024-01-01</datestamp><metadataNamespace>http://www.openarchives.org/OAI/2.0/oai_dc/</metadataNamespace></originDescription></provenance></about>";
    }),
    defect("records-about", Failure, "empty", |it| it.about = "<about/>"),
    defect("records-about", Failure, "two in one", |it| {
        it.about = "<about><a xmlns=\"urn:a\"/><a xmlns=\"urn:a\"/></about>";
    }),
];

fn asks(question: &Question, verb: &str) -> bool {
    question.argument("verb").as_deref() == Some(verb)
}

fn verb_is(arguments: &Arguments, verb: &str) -> bool {
    arguments.iter().any(|(name, value)| name == "verb" && value == verb)
}

fn value(question: &Question, name: &str) -> Option<String> {
    question.argument(name)
}

fn replace(text: &mut String, from: &str, to: &str) {
    *text = text.replace(from, to);
}

/// Removes the text from the first occurrence of `from` to that of `to`.
fn cut(text: &mut String, from: &str, to: &str) {
    let start = text.find(from);
    let end = start.and_then(|start| text[start..].find(to).map(|end| start + end + to.len()));
    if let (Some(start), Some(end)) = (start, end) {
        text.replace_range(start..end, "");
    }
}

/// Replaces the response by an error.
fn refuse(text: &mut String, code: &str) {
    let start = text.find("</request>").map_or(0, |at| at + "</request>".len());
    text.truncate(start);
    text.push_str(&format!("<error code=\"{code}\">that is not possible</error></OAI-PMH>"));
    if ["badArgument", "badVerb"].contains(&code) {
        cut(text, "<request", ">");
        let at = text.find("http://repository").unwrap_or(0);
        text.insert_str(at, "<request>");
    }
}

/// Echoes arguments that were removed.
fn echo(question: &Question, text: &mut String) {
    let attributes: String = question.arguments().iter().map(|(name, value)| format!(" {name}=\"{value}\"")).collect();
    replace(text, "<request>", &format!("<request{attributes}>"));
}

/// Sets `until` a second earlier.
fn earlier_until(arguments: &mut Arguments) {
    for (_, value) in arguments.iter_mut().filter(|(name, _)| name == "until") {
        if let Some(bound) = Bound::parse(value).filter(|_| value.len() == 20) {
            *value = Datestamp::from_unix(bound.first().unix() - 1).to_string();
        }
    }
}

fn plain(bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    flate2::read::GzDecoder::new(bytes).read_to_end(&mut plain).expect("our own gzip");
    plain
}
