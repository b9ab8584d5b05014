"""The peer: PyPI's `oaipmh` over items in memory, behind a single-threaded WSGI server.

usage: peer_oaipmh.py INTERFACE ITEMS ITEMS_PER_PAGE

The library offers its user two interfaces, and both are measured:

plain     the backend returns all that matches a selection, and the library cuts the page out of it;
batching  the backend returns one page. Here it is a slice of a list of finished objects, without looking at the
          selection at all: the most that the library can do, and more than a real backend could.

The items look like ours: a URL, three nested sets, a few fields of Dublin Core.
"""

import sys
from datetime import datetime, timedelta
from urllib.parse import parse_qsl
from wsgiref.simple_server import WSGIRequestHandler, make_server

from oaipmh import common, metadata, server

START = datetime(2005, 6, 1)
SETS = ["mime", "mime:text", "mime:text:html"]


def items(count):
    """(URL, datestamp, name) of every item."""
    for number in range(count):
        name = f"item-{number:07d}.html"
        url = f"http://127.0.0.1/archive/{number // 500:04d}/{name}"
        yield url, START + timedelta(seconds=number), name


def header(url, stamp, _name):
    return common.Header(None, url, stamp, SETS, False)


def record(url, stamp, name):
    fields = {
        "title": [name],
        "identifier": [url],
        "format": ["text/html", "100 bytes"],
        "date": [stamp.isoformat() + "Z"],
        "type": ["Text"],
    }
    return header(url, stamp, name), common.Metadata(None, fields), None


class Repository:
    def identify(self):
        return common.Identify(
            repositoryName="peer",
            baseURL="http://127.0.0.1/oai",
            protocolVersion="2.0",
            adminEmails=["webmaster@example.org"],
            earliestDatestamp=START,
            deletedRecord="persistent",
            granularity="YYYY-MM-DDThh:mm:ssZ",
            compression=["identity"],
        )


class Plain(Repository):
    def __init__(self, count):
        self.items = list(items(count))

    def selected(self, set, from_, until):
        for item in self.items:
            after, before = from_ is None or item[1] >= from_, until is None or item[1] <= until
            if after and before and (set is None or set in SETS):
                yield item

    def listIdentifiers(self, metadataPrefix, set=None, from_=None, until=None):
        return (header(*item) for item in self.selected(set, from_, until))

    def listRecords(self, metadataPrefix, set=None, from_=None, until=None):
        return (record(*item) for item in self.selected(set, from_, until))


class Batching(Repository):
    def __init__(self, count):
        self.records = [record(*item) for item in items(count)]
        self.headers = [header for header, _metadata, _about in self.records]

    def listIdentifiers(self, cursor, batch_size, **_selection):
        return self.headers[cursor : cursor + batch_size]

    def listRecords(self, cursor, batch_size, **_selection):
        return self.records[cursor : cursor + batch_size]


class Quiet(WSGIRequestHandler):
    def log_message(self, *_):
        pass


def main():
    interface, count, per_page = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    registry = metadata.MetadataRegistry()
    registry.registerWriter("oai_dc", server.oai_dc_writer)
    if interface == "plain":
        oai = server.Server(Plain(count), registry, resumption_batch_size=per_page)
    else:
        oai = server.BatchingServer(Batching(count), registry, resumption_batch_size=per_page)

    def application(environment, start_response):
        answer = oai.handleRequest(dict(parse_qsl(environment["QUERY_STRING"])))
        start_response("200 OK", [("Content-Type", "text/xml"), ("Content-Length", str(len(answer)))])
        return [answer]

    with make_server("127.0.0.1", 0, application, handler_class=Quiet) as httpd:
        print(f"listening on http://127.0.0.1:{httpd.server_port}", flush=True)
        httpd.serve_forever()


if __name__ == "__main__":
    main()
