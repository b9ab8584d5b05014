"""A real Apache httpd with mod_oai in it, in a folder of its own, for bench/apache, bench/archive and bench/harvest."""

import grp
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from measuring import TARGET, expect, fresh
from servers import TICKS, high_water

HTTPD = os.environ.get("MODOAI_HTTPD") or shutil.which("apache2", path="/usr/sbin:/usr/local/apache2/bin") or "httpd"
MODULES = Path(os.environ.get("MODOAI_HTTPD_MODULES", "/usr/lib/apache2/modules"))
MOD_OAI = Path(os.environ.get("MODOAI_MODULE", TARGET / "libmod_oai.so"))
# What an ordinary site loads; what is part of the executable has no file and is left out.
ORDINARY = ("unixd", "watchdog", "log_config", "authn_core", "authz_core", "authz_host", "alias", "dir", "mime", "autoindex")
PAGE = os.sysconf("SC_PAGE_SIZE")


def hosts():
    """Who can serve a site here."""
    if Path(HTTPD).is_file() and MOD_OAI.is_file():
        return ("modoai serve", "Apache with mod_oai")
    print(f"bench: NOT MEASURED: Apache; {HTTPD} or {MOD_OAI} is missing", file=sys.stderr, flush=True)
    return ("modoai serve",)


class Httpd:
    """Runs within its `with` block, on loopback only. Started by root, its children run as the user for that."""

    def __init__(self, work, name, site, with_oai=True, override="None", mpm="event", children=1, threads=8, more="", public=None):
        self.folder = work / f"httpd-{name}"
        for inner in ("run", "logs"):
            fresh(self.folder / inner)
        self.index = self.folder / "index"
        self.index.mkdir(exist_ok=True)
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.site = site
        user = run_user()
        if user:
            for path in (self.folder / "run", self.index):
                shutil.chown(path, user[0], user[1])
        sizes = f"StartServers {children}\nServerLimit {children}\n"
        if mpm == "prefork":
            sizes += f"MaxRequestWorkers {children}\nMinSpareServers 1\nMaxSpareServers {children}\n"
        else:
            workers = children * threads
            sizes += f"ThreadsPerChild {threads}\nMaxRequestWorkers {workers}\nMinSpareThreads 1\nMaxSpareThreads {workers}\n"
        loads = "".join(load(module) for module in (f"mpm_{mpm}", *ORDINARY))
        oai = f"""
LoadModule oai_module "{MOD_OAI}"
OAIIndexDir "{self.index}"
<Location "/modoai">
    SetHandler oai-handler
</Location>
"""
        (self.folder / "httpd.conf").write_text(
            f"""ServerRoot "{self.folder}"
ServerName {public or self.url}
{"UseCanonicalName On" if public else ""}
Listen 127.0.0.1:{self.port}
DefaultRuntimeDir "{self.folder}/run"
PidFile run/httpd.pid
Mutex file:{self.folder}/run default
ErrorLog logs/error.log
{loads}TypesConfig /etc/mime.types
CustomLog logs/access.log "%h %l %u %t \\"%r\\" %>s %b"
{f"User {user[0]}{chr(10)}Group {user[1]}" if user else ""}
{sizes}MaxKeepAliveRequests 0
KeepAliveTimeout 60
<Directory "/">
    Require all denied
    AllowOverride None
    Options FollowSymLinks
</Directory>
DocumentRoot "{site}"
<Directory "{site}">
    Require all granted
    AllowOverride {override}
</Directory>
{oai if with_oai else ""}
{more}
"""
        )
        self.with_oai = with_oai
        self.process = None

    def __enter__(self):
        command = [HTTPD, "-d", str(self.folder), "-f", str(self.folder / "httpd.conf"), "-D", "FOREGROUND"]
        said = open(self.folder / "logs" / "said", "w")
        # A group of its own: when it ends, it signals its group.
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, process_group=0)
        said.close()
        deadline = time.monotonic() + 60
        while not self.answers():
            expect(self.process.poll() is None, f"httpd ended instead of serving; see {self.folder}/logs")
            expect(time.monotonic() < deadline, "httpd does not serve")
            time.sleep(0.02)
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def answers(self):
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
            return True
        except OSError:
            return False

    def children(self):
        found = []
        for name in filter(str.isdigit, os.listdir("/proc")):
            fields = stat(name)
            if fields and fields[0] != "Z" and int(fields[1]) == self.process.pid:
                found.append(int(name))
        return found

    def cpu_seconds(self):
        """Processor time of the parent and all children so far."""
        fields = [stat(pid) for pid in (self.process.pid, *self.children())]
        return sum(int(field[11]) + int(field[12]) for field in fields if field) / TICKS

    def resident(self):
        """Resident memory of all children together, in bytes."""
        total = 0
        for pid in self.children():
            with open(f"/proc/{pid}/statm") as statm:
                total += int(statm.read().split()[1]) * PAGE
        return total

    def highest(self):
        """The most memory that each child ever had, of all children together, in bytes. What they share is counted for each."""
        return sum(high_water(pid) for pid in self.children())

    def requests(self):
        """How many requests it has answered."""
        with open(self.folder / "logs" / "access.log") as log:
            return sum(1 for _ in log)

    def settle(self, patience=600):
        """Waits until it lists, and until nothing is done in the background any more."""
        deadline = time.monotonic() + patience
        while self.with_oai and not self.lists():
            expect(time.monotonic() < deadline, f"the site is not indexed; see {self.folder}/logs/error.log")
            time.sleep(0.1)
        while time.monotonic() < deadline:
            before = self.cpu_seconds()
            time.sleep(1.5)
            if self.cpu_seconds() - before < 0.03:
                return
        print("bench: httpd is still busy; measuring anyway", flush=True)

    def lists(self):
        curl = ["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", f"{self.url}/modoai?verb=Identify"]
        return subprocess.run(curl, capture_output=True).stdout == b"200"


def stat(pid):
    """The fields of a process's state after its name; nothing if it has ended."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()
    except OSError:
        return None


def load(module):
    path = MODULES / f"mod_{module}.so"
    return f'LoadModule {module}_module "{path}"\n' if path.exists() else ""


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def run_user():
    """Whom the children run as, with the group; nobody in particular unless root starts them."""
    if os.geteuid() != 0:
        return None
    for name in ("www-data", "apache", "daemon"):
        try:
            user = pwd.getpwnam(name)
            return name, grp.getgrgid(user.pw_gid).gr_name
        except KeyError:
            continue
    raise SystemExit("bench: there is no user for httpd's children")
