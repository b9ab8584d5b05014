"""Writes every file of a site into one WARC file with warcio, as `response` records: what the size of an archive is compared with.

usage: peer_warcio.py SITE FILE
"""

import mimetypes
import sys
from pathlib import Path
from urllib.parse import quote

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter


def main():
    site = Path(sys.argv[1])
    with open(sys.argv[2], "wb") as output:
        writer = WARCWriter(output, gzip=True)
        for path in sorted(site.rglob("*")):
            if path.is_file():
                kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
                fields = [("Content-Type", kind), ("Content-Length", str(path.stat().st_size))]
                head = StatusAndHeaders("200 OK", fields, protocol="HTTP/1.1")
                url = f"http://site.example/{quote(str(path.relative_to(site)))}"
                with open(path, "rb") as payload:
                    record = writer.create_warc_record(url, "response", payload=payload, http_headers=head)
                    writer.write_record(record)


main()
