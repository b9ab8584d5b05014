"""Writes the records of WARC files again with warcio: what the size of an archive is compared with.

usage: peer_warcio.py OUTPUT INPUT...
"""

import sys

from warcio.archiveiterator import ArchiveIterator
from warcio.warcwriter import WARCWriter


def main():
    with open(sys.argv[1], "wb") as output:
        writer = WARCWriter(output, gzip=True)
        for name in sys.argv[2:]:
            with open(name, "rb") as archive:
                for record in ArchiveIterator(archive):
                    writer.write_record(record)


main()
