"""What the benchmarks share: running commands, making trees, harvesting, and the table of results."""

import http.client
import json
import os
import platform
import shutil
import subprocess
import sys
import time
from pathlib import Path

BENCH = Path(__file__).resolve().parent
ROOT = BENCH.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"


def harvest(url, query, pid=None):
    command = [TARGET / "examples" / "bench_client", url, query, *([str(pid)] if pid else [])]
    return json.loads(run(command, capture_output=True).stdout)


def tree(work, kind, size):
    """A generated tree, kept for the next run."""
    folder = work / f"{kind}-{size}"
    finished = work / f"{kind}-{size}.finished"
    if not finished.exists():
        fresh(folder)
        run([TARGET / "examples" / "make_site", kind, folder, f"{size}"])
        # Otherwise the disk is still busy with it while something is measured.
        os.sync()
        finished.touch()
    return folder


def fresh(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def write_noise(path, size):
    with open(path, "wb") as file:
        block = os.urandom(1 << 20)
        while size > 0:
            size -= file.write(block[: min(size, len(block))])


def get(url, target):
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=60)
    connection.request("GET", target)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    expect(answer.status == 200, f"{target}: status {answer.status}")
    return body


def timed(command):
    """Seconds that a command takes; what it prints is of no interest."""
    start = time.perf_counter()
    run(command, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def run(command, **options):
    done = subprocess.run([str(word) for word in command], **options)
    if done.returncode:
        sys.stderr.buffer.write(done.stderr or b"")
        raise SystemExit(f"bench: failed ({done.returncode}): {' '.join(map(str, command))}")
    return done


def expect(condition, message):
    if not condition:
        raise SystemExit(f"bench: {message}")


def machine():
    with open("/proc/cpuinfo") as cpuinfo:
        models = [line.split(":")[1].strip() for line in cpuinfo if line.startswith("model name")]
    with open("/proc/meminfo") as meminfo:
        gigabytes = int(meminfo.readline().split()[1]) / 1e6
    model = models[0] if models else platform.machine()
    return f"{time.strftime('%Y-%m-%d')}, {os.cpu_count()} cores ({model}), {gigabytes:.0f} GB, Linux {platform.release()}"


class Table:
    """Rows of what, ours, the other's, the ratio between them, and what was wanted."""

    def __init__(self):
        self.rows = [("what", "modoai", "measured against", "ratio", "wanted", "")]

    def add(self, what, ours, theirs, ratio, at_least=None, at_most=None):
        wanted = f"≥ {at_least:.3g}" if at_least is not None else f"≤ {at_most:.3g}" if at_most is not None else ""
        met = ratio is None or (at_least is None or ratio >= at_least) and (at_most is None or ratio <= at_most)
        shown = "" if ratio is None else f"{ratio:.3g}"
        self.rows.append((what, ours, theirs, shown, wanted, ("yes" if met else "NO") if wanted else ""))

    def show(self):
        show(self.rows)


def show(rows):
    """Prints rows of texts, the first of them the heads of the columns."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for number, row in enumerate(rows):
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |")
        if number == 0:
            print("|" + "|".join("-" * (width + 2) for width in widths) + "|")
