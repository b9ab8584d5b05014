"""An nginx of its own in a folder of its own, which counts what it is asked; and Debian packages without installing them."""

import os
import shutil
import socket
import subprocess
import time
from collections import Counter
from pathlib import Path

from httpd import free_port
from measuring import expect, fresh, run
from servers import TICKS

TYPES = "html:text/html css:text/css js:text/javascript svg:image/svg+xml png:image/png txt:text/plain gz:application/gzip woff:font/woff woff2:font/woff2"


def unpacked(package, work):
    """A Debian package's files in a folder, kept for the next run. Nothing is installed."""
    folder = work / package
    if not (folder / "usr").exists():
        fresh(folder)
        expect(shutil.which("apt-get") and shutil.which("dpkg-deb"), f"{package} comes from Debian; apt-get and dpkg-deb are missing")
        run(["apt-get", "download", package], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        (archive,) = folder.glob("*.deb")
        run(["dpkg-deb", "-x", archive, folder])
        archive.unlink()
    return folder


def program(work):
    installed = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")
    return installed or str(unpacked("nginx", work) / "usr/sbin/nginx")


class Nginx:
    """Serves a folder on loopback within its `with` block: nothing compressed, connections that stay open."""

    def __init__(self, work, folder):
        self.folder = fresh(work / "nginx-run")
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = self.folder / "access.log"
        temporary = "".join(f"    {name}_temp_path {self.folder}/{name};\n" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        types = "".join(f"{media} {ending}; " for ending, media in (pair.split(":") for pair in TYPES.split()))
        # As root, the worker would otherwise become somebody who may not read the folder.
        user = "user root;" if os.geteuid() == 0 else ""
        (self.folder / "nginx.conf").write_text(f"""{user}
daemon off;
worker_processes 1;
pid {self.folder}/nginx.pid;
error_log {self.folder}/error.log;
events {{ worker_connections 8192; }}
http {{
{temporary}    log_format counted '$request_method $status $body_bytes_sent $request_uri';
    access_log {self.log} counted;
    types {{ {types}}}
    charset utf-8;
    sendfile on;
    keepalive_requests 10000000;
    # linkchecker asks more than ten times a second only where it is told that it may.
    add_header LinkChecker "allowed";
    server {{
        listen 127.0.0.1:{self.port} backlog=8192;
        root {folder};
    }}
}}
""")
        self.process = subprocess.Popen([program(work), "-p", str(self.folder), "-c", "nginx.conf", "-e", "error.log"])
        deadline = time.monotonic() + 30
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                break
            except OSError:
                expect(self.process.poll() is None and time.monotonic() < deadline, f"nginx does not start; see {self.folder}/error.log")
                time.sleep(0.02)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def mark(self):
        """Where the log ends now; what is asked later is counted from there."""
        return self.log.stat().st_size

    def asked(self, since):
        """What was asked since a mark."""
        # An answer is logged when it has been sent, which may be a moment after it was read.
        time.sleep(0.2)
        asked = Asked()
        with open(self.log) as log:
            log.seek(since)
            for line in log:
                method, status, size, path = line.rstrip("\n").split(" ", 3)
                asked.add(method, int(status), int(size), path)
        return asked

    def cpu_seconds(self):
        """Processor time of its processes."""
        pids = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        total = 0
        for pid in (str(self.process.pid), *pids):
            with open(f"/proc/{pid}/stat") as stat:
                fields = stat.read().rpartition(")")[2].split()
            total += int(fields[11]) + int(fields[12])
        return total / TICKS


class Asked:
    """Requests by method and by status, bytes of bodies, and how often each path was asked for."""

    def __init__(self):
        self.methods, self.statuses, self.paths, self.bytes = Counter(), Counter(), Counter(), 0

    def add(self, method, status, size, path):
        self.methods[method] += 1
        self.statuses[status] += 1
        self.paths[path] += 1
        self.bytes += size

    @property
    def requests(self):
        return self.methods.total()

    def __str__(self):
        return f"{self.requests:,} ({self.methods['HEAD']:,}/{self.methods['GET']:,})"
