"""A provider of somebody else's over a store of records in SQLite, behind a WSGI server for production.

usage: peer_archive_server.py oaipmh|oai_repo STORE RECORDS_PER_PAGE

Both are given the best that they can use: the store is read-only and in order, metadata are kept ready as they are to be
sent, a page takes one look into an index and one into the table. Their tokens say at which place of a list a page begins,
so that the index has to be walked from the beginning of the list.
"""

import functools
import logging
import sqlite3
import sys
import threading
from datetime import datetime
from urllib.parse import parse_qsl

from lxml import etree
from waitress import create_server

STAMP = "%Y-%m-%dT%H:%M:%SZ"
THREADS = 4


class Store:
    """The records. Every thread has a connection of its own."""

    def __init__(self, path):
        self.path, self.own = path, threading.local()

    def ask(self, query, *values):
        if not hasattr(self.own, "connection"):
            self.own.connection = sqlite3.connect(f"file:{self.path}?mode=ro", uri=True)
        return self.own.connection.execute(query, values).fetchall()

    def page(self, from_, until, cursor, most):
        where, values = selection(from_, until)
        inner = f"SELECT number FROM records{where} ORDER BY datestamp, number LIMIT ? OFFSET ?"
        query = "SELECT identifier, datestamp, deleted, sets, dc FROM records JOIN ({}) USING (number) ORDER BY datestamp, number"
        return self.ask(query.format(inner), *values, most, cursor)

    @functools.lru_cache
    def count(self, from_, until):
        where, values = selection(from_, until)
        return self.ask(f"SELECT count(*) FROM records{where}", *values)[0][0]

    @functools.lru_cache
    def earliest(self):
        return datetime.strptime(self.ask("SELECT min(datestamp) FROM records")[0][0], STAMP)


def selection(from_, until):
    bounds = [("datestamp >= ?", from_), ("datestamp <= ?", until)]
    given = [(condition, bound.strftime(STAMP)) for condition, bound in bounds if bound is not None]
    where = " WHERE " + " AND ".join(condition for condition, _ in given) if given else ""
    return where, [bound for _, bound in given]


def oaipmh(store, per_page):
    from oaipmh import common, error, metadata, server

    class Repository:
        def identify(self):
            return common.Identify(
                repositoryName="peer",
                baseURL="http://127.0.0.1/oai",
                protocolVersion="2.0",
                adminEmails=["webmaster@example.org"],
                earliestDatestamp=store.earliest(),
                deletedRecord="persistent",
                granularity="YYYY-MM-DDThh:mm:ssZ",
                compression=["identity"],
            )

        def listRecords(self, metadataPrefix, cursor, batch_size, set=None, from_=None, until=None):
            if set is not None:
                raise error.NoSetHierarchyError
            rows = store.page(from_, until, cursor, batch_size)
            return [(header(*kept), dc, None) for *kept, dc in rows]

    def header(identifier, datestamp, deleted, sets):
        return common.Header(None, identifier, datetime.strptime(datestamp, STAMP), sets.split(), bool(deleted))

    registry = metadata.MetadataRegistry()
    registry.registerWriter("oai_dc", lambda element, dc: element.append(etree.fromstring(dc)))
    provider = server.BatchingServer(Repository(), registry, resumption_batch_size=per_page)
    return provider.handleRequest


def oai_repo(store, per_page):
    from oai_repo import DataInterface, Identify, MetadataFormat, OAIRepository, RecordHeader

    class Records(DataInterface):
        limit = per_page

        def __init__(self):
            # It is asked for a page, and then for headers and metadata of what is on it.
            self.own = threading.local()

        def get_identify(self):
            return Identify(
                repository_name="peer",
                base_url="http://127.0.0.1/oai",
                admin_email=["webmaster@example.org"],
                earliest_datestamp=store.earliest().strftime(STAMP),
                deleted_record="persistent",
                granularity="YYYY-MM-DDThh:mm:ssZ",
            )

        def get_metadata_formats(self, identifier=None):
            schema, namespace = "http://www.openarchives.org/OAI/2.0/oai_dc.xsd", "http://www.openarchives.org/OAI/2.0/oai_dc/"
            return [MetadataFormat(metadata_prefix="oai_dc", schema=schema, metadata_namespace=namespace)]

        def list_identifiers(self, metadataprefix, filter_from=None, filter_until=None, filter_set=None, cursor=0):
            rows = store.page(filter_from, filter_until, cursor, self.limit)
            self.own.page = {row[0]: row for row in rows}
            return list(self.own.page), store.count(filter_from, filter_until), None

        def get_record_header(self, identifier):
            _, datestamp, _, sets, _ = self.own.page[identifier]
            return RecordHeader(identifier=identifier, datestamp=datestamp, setspecs=sets.split())

        def get_record_metadata(self, identifier, metadataprefix):
            dc = self.own.page[identifier][4]
            return etree.fromstring(dc) if dc else None

        def get_record_abouts(self, identifier):
            return []

    provider = OAIRepository(Records())
    return lambda arguments: bytes(provider.process(arguments))


def main():
    name, path, per_page = sys.argv[1], sys.argv[2], int(sys.argv[3])
    logging.getLogger("waitress").setLevel(logging.ERROR)
    answer = {"oaipmh": oaipmh, "oai_repo": oai_repo}[name](Store(path), per_page)

    def application(environment, start_response):
        body = answer(dict(parse_qsl(environment["QUERY_STRING"])))
        start_response("200 OK", [("Content-Type", "text/xml"), ("Content-Length", str(len(body)))])
        return [body]

    server = create_server(application, host="127.0.0.1", port=0, threads=THREADS)
    print(f"listening on http://127.0.0.1:{server.effective_port}", flush=True)
    server.run()


if __name__ == "__main__":
    main()
