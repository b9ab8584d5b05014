"""What the peers share: a small repository, and HTTP around a library that answers a dictionary of arguments.

usage: PEER_server.py [--without-deletions]

All that is a user's business is done right here (GET and POST, the type of the content, the base URL, what is in which
set, what was deleted), so that whatever is found wrong is the library's doing. Only one thing cannot be done right: an
argument that is repeated has no place in a dictionary.
"""

import sys
from datetime import datetime, timedelta
from typing import NamedTuple
from urllib.parse import parse_qsl
from wsgiref.simple_server import WSGIRequestHandler, make_server

PER_PAGE = 5
# Not at midnight, where a day and its first second are the same.
EARLIEST = datetime(2005, 6, 1, 9, 30)
SETS = {"mime": "All", "mime:text": "Text", "mime:text:html": "Pages", "mime:text:plain": "Plain text"}


class Item(NamedTuple):
    identifier: str
    stamp: datetime
    set: str
    deleted: bool
    title: str

    def selected(self, set, start, end):
        """Whether it is in the set or below it, and was changed in this time."""
        inside = set is None or self.set == set or self.set.startswith(set + ":")
        return inside and (start is None or self.stamp >= start) and (end is None or self.stamp <= end)


def made(number):
    kind = "html" if number % 2 else "plain"
    # The title has what XML must escape, and what is more than ASCII.
    title = f"Número {number} <{kind}> & more"
    stamp = EARLIEST + number * timedelta(hours=7, seconds=number)
    return Item(f"oai:peer.example:item-{number}", stamp, f"mime:text:{kind}", number == 7, title)


# The last page is not full, as is usual.
ITEMS = [made(number) for number in range(23)]
if "--without-deletions" in sys.argv:
    ITEMS = [item for item in ITEMS if not item.deleted]
BY_IDENTIFIER = {item.identifier: item for item in ITEMS}


class Quiet(WSGIRequestHandler):
    def log_message(self, *_):
        pass


def serve(library):
    """Serves what `library(base_url)` returns: a function from a dictionary of arguments to the bytes of an answer."""

    def application(environment, start_response):
        query = environment["QUERY_STRING"]
        if environment["REQUEST_METHOD"] == "POST":
            query = environment["wsgi.input"].read(int(environment["CONTENT_LENGTH"])).decode("ascii")
        # An exception in here is a 500 to the client: the library let it through.
        answer = answering(dict(parse_qsl(query, keep_blank_values=True)))
        start_response("200 OK", [("Content-Type", "text/xml"), ("Content-Length", str(len(answer)))])
        return [answer]

    with make_server("127.0.0.1", 0, application, handler_class=Quiet) as httpd:
        base_url = f"http://127.0.0.1:{httpd.server_port}/oai"
        answering = library(base_url)
        print(base_url, flush=True)
        httpd.serve_forever()
