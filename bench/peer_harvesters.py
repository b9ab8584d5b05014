"""Lists and counts with another harvester: `peer_harvesters.py sickle|scythe URL PREFIX` prints the number of records."""

import sys


def sickle(url, prefix):
    from sickle import Sickle

    return sum(1 for _ in Sickle(url).ListRecords(metadataPrefix=prefix))


def scythe(url, prefix):
    from oaipmh_scythe import Scythe

    with Scythe(url) as client:
        return sum(1 for _ in client.list_records(metadata_prefix=prefix))


if __name__ == "__main__":
    name, url, prefix = sys.argv[1:]
    print({"sickle": sickle, "scythe": scythe}[name](url, prefix))
