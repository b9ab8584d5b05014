"""What the benchmarks share: running commands, making trees, harvesting, and the table of results."""

import http.client
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

BENCH = Path(__file__).resolve().parent
ROOT = BENCH.parent
# A debug build tells nothing about speed, but that a benchmark still runs.
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / os.environ.get("MODOAI_PROFILE", "dist")
MODOAI = os.environ.get("MODOAI_BIN", str(TARGET / "modoai"))


def harvest(url, query, pid=None):
    command = [TARGET / "examples" / "bench_client", url, query, *([str(pid)] if pid else [])]
    return json.loads(run(command, capture_output=True).stdout)


def harvest_into(httpd, query, folder):
    """Harvests, and keeps the pages as they are, as a crawler keeps what it gets; tells seconds, requests, bytes and records."""
    if folder:
        fresh(folder)
    verb = query.split("&")[0]
    connection = http.client.HTTPConnection("127.0.0.1", httpd.port, timeout=300)
    target, number, received, records = f"/modoai?{query}", 0, 0, 0
    buffer = memoryview(bytearray(1 << 20))
    began = time.perf_counter()
    while target:
        connection.request("GET", target)
        answer = connection.getresponse()
        expect(answer.status == 200, f"{target}: status {answer.status}")
        tail = b""
        with open(folder / f"{number}.xml" if folder else os.devnull, "wb") as page:
            while size := answer.readinto(buffer):
                piece = bytes(buffer[:size])
                page.write(piece)
                received += size
                # A tag may be cut in two by the end of a piece.
                records += (tail[-10:] + piece).count(b"<datestamp>")
                tail = (tail + piece)[-4096:]
        token = tail.partition(b"<resumptionToken")[2].partition(b">")[2].partition(b"<")[0].decode()
        target = f"/modoai?{verb}&resumptionToken={token}" if token else None
        number += 1
    seconds = time.perf_counter() - began
    connection.close()
    return seconds, number, received, records


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


@dataclass
class Measured:
    """What a command took, what it printed, and what a server spent on it meanwhile, if that was of interest."""

    seconds: float
    cpu: float
    peak: int
    output: bytes
    server: float = 0.0
    code: int = 0


def measured(command, codes=(0,)):
    """Runs a command to its end; these exit codes mean that it did what it was asked."""
    command = [str(word) for word in command]
    with tempfile.TemporaryFile() as output:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output)
        watch = Peak(process.pid)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        peak = watch.end()
        expect(process.returncode in codes, f"failed ({process.returncode}): {' '.join(command)}")
        output.seek(0)
        return Measured(seconds, usage.ru_utime + usage.ru_stime, peak, output.read(), code=process.returncode)


class Peak:
    """The highest resident memory of a process, in bytes, as the kernel remembers it. What wait4 tells of it would
    include this process before it became the other."""

    def __init__(self, pid):
        self.pid, self.highest, self.over = pid, 0, threading.Event()
        self.thread = threading.Thread(target=self.look)
        self.thread.start()

    def look(self):
        while not self.over.wait(0.01):
            try:
                with open(f"/proc/{self.pid}/status") as status:
                    lines = [line for line in status if line.startswith("VmHWM:")]
            except OSError:
                return
            if lines:
                self.highest = int(lines[0].split()[1]) * 1024

    def end(self):
        self.over.set()
        self.thread.join()
        return self.highest


def memory_folder(work):
    """Copies go into memory where there is room: the disk is not what is measured."""
    shared = Path("/dev/shm")
    roomy = shared.is_dir() and shutil.disk_usage(shared).free > 4_000_000_000
    return shared if roomy else work


def python_with(*packages):
    """A Python that has these packages, each with its version."""
    python = BENCH / ".venv" / "bin" / "python"
    if not python.exists():
        run([sys.executable, "-m", "venv", BENCH / ".venv"])
    frozen = run([python, "-m", "pip", "freeze"], capture_output=True).stdout.decode().lower().splitlines()
    if not {package.lower() for package in packages} <= set(frozen):
        run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages])
    return python


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
