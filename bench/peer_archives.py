"""Other providers of OAI-PMH over the records of the archive: how each is had, what it leaves out, and the store that both
read. The servers themselves: peer_archive_server.py, which runs where the peers are installed."""

import re
import sqlite3
from base64 import b64decode, b64encode
from dataclasses import dataclass
from typing import Callable
from urllib.parse import quote

from measuring import BENCH, expect, get, python_with
from servers import Server

WSGI = "waitress==3.0.2"
LIST = "verb=ListRecords&metadataPrefix=oai_dc"
RECORD = re.compile(
    rb"<header(?P<status>[^>]*)><identifier>(?P<identifier>[^<]+)</identifier><datestamp>(?P<datestamp>[^<]+)</datestamp>"
    rb"(?P<sets>.*?)</header>\s*(?:<metadata>(?P<dc>.*?)</metadata>)?",
    re.DOTALL,
)
SET = re.compile(rb"<setSpec>([^<]+)</setSpec>")
TOKEN = re.compile(rb"<resumptionToken[^>]*>([^<]+)</resumptionToken>")
IDENTIFIER = re.compile(rb"<identifier>([^<]+)</identifier>\s*<datestamp>")
SCHEMA = """
CREATE TABLE records (
    number INTEGER PRIMARY KEY, identifier TEXT NOT NULL UNIQUE, datestamp TEXT NOT NULL,
    deleted INTEGER NOT NULL, sets TEXT NOT NULL, dc BLOB NOT NULL
);
"""


@dataclass
class Peer:
    """A provider, and how its tokens are made: by whoever likes, since they are not sealed."""

    name: str
    package: str
    lacks: str
    token_at: Callable[[bytes, int, int], str]

    def serving(self, options, store):
        command = [python_with(self.package, WSGI), BENCH / "peer_archive_server.py", self.name, store, options.per_page or 500]
        return Server([str(word) for word in command], options.work / f"peer-{self.name}.log")

    def targets(self, server, cursors, per_page):
        """What to ask for the pages that begin at these places of the list."""
        first = f"/oai?{LIST}"
        token = TOKEN.search(get(server.url, first))[1]
        tokens = (self.token_at(token, cursor, per_page) for cursor in cursors)
        return [f"/oai?verb=ListRecords&resumptionToken={quote(token)}" if cursor else first for cursor, token in zip(cursors, tokens)]


def cursor_in_words(token, cursor, _per_page):
    """`oaipmh` writes the place into its token as it is, quoted."""
    return re.sub(r"cursor%3D\d+", f"cursor%3D{cursor}", token.decode())


def cursor_in_base64(token, cursor, per_page):
    """`oai_repo` writes where the page before began, in base64."""
    inner = b64decode(token).decode()
    return b64encode(re.sub(r"(^|&)c=\d+", rf"\g<1>c={cursor - per_page}", inner).encode()).decode()


PEERS = (
    Peer(
        "oaipmh",
        "oaipmh==4.0.0",
        "completeListSize; an upper bound for a list that changes meanwhile; sets (in this store); flow control",
        cursor_in_words,
    ),
    Peer(
        "oai_repo",
        "oai_repo==0.5.2",
        "deleted records; an upper bound for a list that changes meanwhile; sets (in this store); flow control",
        cursor_in_base64,
    ),
)


def fill(store, server, most):
    """Puts the records that a server of ours tells into a store for others, in the same order. Says how many there are."""
    store.unlink(missing_ok=True)
    connection = sqlite3.connect(store)
    connection.execute("PRAGMA journal_mode = OFF")
    connection.execute("PRAGMA synchronous = OFF")
    connection.executescript(SCHEMA)
    count, target = 0, f"/modoai?{LIST}"
    while target and count < most:
        page = get(server.url, target)
        rows = [row(count + place, found) for place, found in enumerate(RECORD.finditer(page), 1)]
        connection.executemany("INSERT INTO records VALUES (?, ?, ?, ?, ?, ?)", rows)
        count += len(rows)
        token = TOKEN.search(page, len(page) - 4096 if len(page) > 4096 else 0)
        target = token and f"/modoai?verb=ListRecords&resumptionToken={quote(token[1].decode())}"
    connection.execute("CREATE INDEX by_datestamp ON records (datestamp, number)")
    connection.execute("ANALYZE")
    connection.commit()
    connection.close()
    return count


def row(number, found):
    sets = b" ".join(SET.findall(found["sets"])).decode()
    deleted = b"deleted" in found["status"]
    return number, found["identifier"].decode(), found["datestamp"].decode(), deleted, sets, (found["dc"] or b"").strip()


def expect_same(server, targets, cursors, store, per_page):
    """Whoever leaves records out would be faster for it."""
    with sqlite3.connect(store) as connection:
        for target, cursor in zip(targets, cursors):
            found = [identifier.decode() for identifier in IDENTIFIER.findall(get(server.url, target))]
            wanted = connection.execute("SELECT identifier FROM records WHERE number > ? ORDER BY number LIMIT ?", (cursor, per_page))
            expect(found == [identifier for (identifier,) in wanted], f"{target}: these are other records")
    connection.close()
