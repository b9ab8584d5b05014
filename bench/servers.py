"""Starting, watching and ending the servers that are measured."""

import os
import subprocess
import time

TICKS = os.sysconf("SC_CLK_TCK")


class Server:
    """A process that says `listening on http://…` when it is ready. Ends with the `with` block."""

    def __init__(self, command, log):
        self.started = time.perf_counter()
        self.log = log
        # Access logs stay on, as they do in service; a file takes them as fast as it would there.
        with open(log, "w") as stderr:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, text=True)
        self.url = None
        for line in self.process.stdout:
            if "listening on http://" in line:
                address = line.split("listening on http://")[1].split()[0]
                self.url = "http://" + address.rstrip("/.,")
                break
        if self.url is None:
            raise SystemExit(f"bench: {command[0]} ended ({self.process.wait()}) instead of listening; see {log}")

    @property
    def pid(self):
        return self.process.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()

    def cpu_seconds(self):
        """Processor time used so far."""
        with open(f"/proc/{self.pid}/stat") as stat:
            fields = stat.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def resident(self):
        """Resident memory in bytes."""
        with open(f"/proc/{self.pid}/statm") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def highest(self):
        """The most memory that it ever had, in bytes."""
        return high_water(self.pid)

    def requests(self):
        """How many requests it has answered, by its access log."""
        with open(self.log) as log:
            return sum(1 for line in log if '"GET ' in line)

    def settle(self, patience=300):
        """Waits until whatever it does in the background is done: a whole second in which it is all but idle."""
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline:
            before = self.cpu_seconds()
            time.sleep(1)
            if self.cpu_seconds() - before < 0.03:
                return
        print("bench: the server is still busy; measuring anyway", flush=True)


def high_water(pid):
    """The most memory that a process ever had, in bytes."""
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM:"))
