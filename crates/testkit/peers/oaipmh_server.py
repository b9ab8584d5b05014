"""PyPI's `oaipmh` (the maintained fork of pyoai) over a small repository in memory, to be judged and harvested."""

from oaipmh import common, error, metadata, server

from serving import BY_IDENTIFIER, EARLIEST, ITEMS, PER_PAGE, SETS, serve


def header(item):
    return common.Header(None, item.identifier, item.stamp, [item.set], item.deleted)


def record(item):
    fields = {"title": [item.title], "identifier": [item.identifier], "type": ["Text"]}
    return header(item), common.Metadata(None, fields), None


def found(identifier):
    if identifier not in BY_IDENTIFIER:
        raise error.IdDoesNotExistError(f"there is no {identifier}")
    return BY_IDENTIFIER[identifier]


def expect_format(prefix):
    if prefix != "oai_dc":
        raise error.CannotDisseminateFormatError(f"there is no format {prefix}")


class Repository:
    def __init__(self, base_url):
        self.base_url = base_url

    def identify(self):
        return common.Identify(
            repositoryName="oaipmh",
            baseURL=self.base_url,
            protocolVersion="2.0",
            adminEmails=["webmaster@example.org"],
            earliestDatestamp=EARLIEST,
            deletedRecord="persistent",
            granularity="YYYY-MM-DDThh:mm:ssZ",
            compression=[],
        )

    def listMetadataFormats(self, identifier=None):
        if identifier is not None:
            found(identifier)
        namespace = "http://www.openarchives.org/OAI/2.0/oai_dc/"
        return [("oai_dc", "http://www.openarchives.org/OAI/2.0/oai_dc.xsd", namespace)]

    def listSets(self):
        return [(spec, name, None) for spec, name in SETS.items()]

    def getRecord(self, metadataPrefix, identifier):
        item = found(identifier)
        expect_format(metadataPrefix)
        return record(item)

    def listIdentifiers(self, metadataPrefix, set=None, from_=None, until=None):
        expect_format(metadataPrefix)
        return [header(item) for item in ITEMS if item.selected(set, from_, until)]

    def listRecords(self, metadataPrefix, set=None, from_=None, until=None):
        expect_format(metadataPrefix)
        return [record(item) for item in ITEMS if item.selected(set, from_, until)]


def library(base_url):
    registry = metadata.MetadataRegistry()
    registry.registerWriter("oai_dc", server.oai_dc_writer)
    return server.Server(Repository(base_url), registry, resumption_batch_size=PER_PAGE).handleRequest


if __name__ == "__main__":
    serve(library)
