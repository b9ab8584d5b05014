"""Replays the WARC files of a folder with pywb, by the CDXJ files next to them.

usage: pywb_server.py FOLDER

Prints the URL of the collection. Below it, `id_/URL` returns a capture as it is stored, and `mp_/URL` as a browser replays it.
"""

# isort: off
from gevent.monkey import patch_all

patch_all()
# isort: on

import json
import os
import sys
import tempfile
from pathlib import Path

from pywb.apps.frontendapp import FrontEndApp
from pywb.utils.geventserver import GeventServer, RequestURIWSGIHandler


def main():
    folder = Path(sys.argv[1]).resolve()
    collection = {"index_paths": f"{folder}/", "archive_paths": f"{folder}/"}
    # pywb looks for its own folders where it is started.
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        config = {"collections": {"site": collection}, "framed_replay": False}
        Path("config.yaml").write_text(json.dumps(config))
        application = FrontEndApp()
        server = GeventServer(application, port=0, hostname="127.0.0.1", handler_class=RequestURIWSGIHandler)
        print(f"http://127.0.0.1:{server.port}/site", flush=True)
        # pywb prints which directories it reads, and the test does not read this pipe any longer.
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        server.join()


main()
