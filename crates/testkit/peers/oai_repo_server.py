"""PyPI's `oai_repo` over a small repository in memory, to be judged and harvested."""

from lxml import etree
from oai_repo import OAIDC_SCHEMA, NSMAP_OAIDC, DataInterface, Identify, MetadataFormat, OAIRepository, RecordHeader, Set

from serving import BY_IDENTIFIER, EARLIEST, ITEMS, PER_PAGE, SETS, serve

DC = "{http://purl.org/dc/elements/1.1/}"
OAI_DC = "http://www.openarchives.org/OAI/2.0/oai_dc/"


def text(date):
    return date.strftime("%Y-%m-%dT%H:%M:%SZ")


def naive(date):
    """The library's dates know that they are UTC; ours need not."""
    return date and date.replace(tzinfo=None)


class Repository(DataInterface):
    limit = PER_PAGE

    def __init__(self, base_url):
        self.base_url = base_url

    def get_identify(self):
        return Identify(
            repository_name="oai_repo",
            base_url=self.base_url,
            admin_email=["webmaster@example.org"],
            earliest_datestamp=text(EARLIEST),
            deleted_record="persistent",
            granularity="YYYY-MM-DDThh:mm:ssZ",
        )

    def is_valid_identifier(self, identifier):
        return identifier in BY_IDENTIFIER

    def get_metadata_formats(self, identifier=None):
        return [MetadataFormat("oai_dc", "http://www.openarchives.org/OAI/2.0/oai_dc.xsd", OAI_DC)]

    def get_record_header(self, identifier):
        item = BY_IDENTIFIER[identifier]
        return RecordHeader(identifier, text(item.stamp), [item.set], "deleted" if item.deleted else None)

    def get_record_metadata(self, identifier, metadataprefix):
        item = BY_IDENTIFIER[identifier]
        if item.deleted:
            return None
        root = etree.Element(f"{{{OAI_DC}}}dc", nsmap=NSMAP_OAIDC)
        root.set(*OAIDC_SCHEMA)
        for name, text in (("title", item.title), ("identifier", identifier), ("type", "Text")):
            etree.SubElement(root, DC + name).text = text
        return root

    def get_record_abouts(self, identifier):
        return []

    def list_set_specs(self, identifier=None, cursor=0):
        specs = list(SETS) if identifier is None else [BY_IDENTIFIER[identifier].set]
        return specs, len(specs), None

    def get_set(self, setspec):
        return Set(setspec, SETS[setspec], []) if setspec in SETS else None

    def list_identifiers(self, metadataprefix, filter_from=None, filter_until=None, filter_set=None, cursor=0):
        start, end = naive(filter_from), naive(filter_until)
        matching = [item.identifier for item in ITEMS if item.selected(filter_set, start, end)]
        return matching[cursor : cursor + PER_PAGE], len(matching), None


def library(base_url):
    repository = OAIRepository(Repository(base_url))
    return lambda arguments: bytes(repository.process(arguments))


if __name__ == "__main__":
    serve(library)
