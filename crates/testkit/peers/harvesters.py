"""Harvests with the software of others: `harvesters.py sickle|scythe URL` prints the number of records.

Both wait as long as Retry-After says, at most so many times for one request.
"""

import sys

RETRIES = 20


def sickle(url):
    from sickle import Sickle

    return sum(1 for _ in Sickle(url, max_retries=RETRIES).ListRecords(metadataPrefix="oai_dc"))


def scythe(url):
    from oaipmh_scythe import Scythe

    with Scythe(url, max_retries=RETRIES) as client:
        return sum(1 for _ in client.list_records(metadata_prefix="oai_dc"))


if __name__ == "__main__":
    name, url = sys.argv[1:]
    print({"sickle": sickle, "scythe": scythe}[name](url))
