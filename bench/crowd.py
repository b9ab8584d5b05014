"""Many concurrent harvesters, each from an address block of its own, all of them well-behaved: they ask for one page after the
other, and come back when they were told to.

usage: crowd.py URL HARVESTERS SECONDS [one]

With `one`, all of them come from one address.

Prints one JSON object. An answer of 503 must say when to come back, in whole seconds, and whoever does so must be answered;
anything else but 200 is a failure.
"""

import asyncio
import json
import os
import re
import resource
import sys
import time
from collections import Counter
from urllib.parse import quote, urlsplit

QUERY = "verb=ListRecords&metadataPrefix=oai_dc"
TOKEN = re.compile(rb"<resumptionToken[^>]*>([^<]+)</resumptionToken>")
TAIL = 8192
# Nobody is kept waiting longer for an answer by a server that works.
PATIENCE = 60


class Harvester:
    def __init__(self, number, url, end, counts, failures, is_one=False):
        parts = urlsplit(url)
        self.host, self.port, self.path = parts.hostname, parts.port, parts.path
        # Everybody in 127.0.0.0/8 is this machine, and a block of addresses is an account.
        self.source = ("127.0.0.1", 0) if is_one else (f"127.{1 + number // 250}.{number % 250}.1", 0)
        self.end, self.counts, self.failures = end, counts, failures
        self.reader = self.writer = None
        self.number = number

    async def harvest(self):
        query, waited, refusals, lists = QUERY, False, 0, 0
        while time.monotonic() < self.end:
            try:
                status, headers, tail = await asyncio.wait_for(self.ask(query), PATIENCE)
            except (OSError, EOFError, ValueError, asyncio.TimeoutError) as error:
                self.fail(f"{type(error).__name__}: {error}")
                self.hang_up()
                await asyncio.sleep(1)
                continue
            if status == 200:
                self.counts["pages"] += 1
                self.counts["kept promises"] += waited
                waited, refusals = False, 0
                token = TOKEN.search(tail)
                query = f"verb=ListRecords&resumptionToken={quote(token[1].decode())}" if token else QUERY
                if not token:
                    lists += 1
                    self.counts["complete lists"] += 1
                    self.counts["harvesters with a complete list"] += lists == 1
            elif status == 503:
                self.counts["refusals"] += 1
                refusals += 1
                self.counts["most refusals"] = max(self.counts["most refusals"], refusals)
                if waited:
                    self.fail("refused again after waiting as long as it was told to")
                after = headers.get("retry-after", "")
                if not re.fullmatch(r"[1-9][0-9]*", after):
                    self.fail(f"503 with Retry-After '{after}'")
                    after = "1"
                self.counts["longest wait"] = max(self.counts["longest wait"], int(after))
                if time.monotonic() + int(after) >= self.end:
                    # There is no time left to see whether it is true.
                    self.counts["promises not tried"] += 1
                    break
                await asyncio.sleep(int(after))
                waited = True
            else:
                self.fail(f"status {status}")
                await asyncio.sleep(1)
        self.hang_up()

    async def ask(self, query):
        """One request: status, headers, and the end of the body."""
        if self.writer is None:
            self.reader, self.writer = await asyncio.open_connection(self.host, self.port, local_addr=self.source)
            fresh = True
        else:
            fresh = False
        request = f"GET {self.path}?{query} HTTP/1.1\r\nHost: {self.host}:{self.port}\r\nUser-Agent: crowd/{self.number}\r\n\r\n"
        try:
            self.writer.write(request.encode())
            head = await self.reader.readuntil(b"\r\n\r\n")
        except (OSError, EOFError):
            # A server may close a kept connection at any time; only then is a second attempt fair.
            self.hang_up()
            if fresh:
                raise
            return await self.ask(query)
        lines = head.decode("latin-1").split("\r\n")
        status = int(lines[0].split()[1])
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        tail = await self.body(headers)
        if headers.get("connection", "").lower() == "close":
            self.hang_up()
        return status, headers, tail

    async def body(self, headers):
        tail = b""
        if headers.get("transfer-encoding", "").lower() == "chunked":
            while size := int((await self.reader.readuntil(b"\r\n")).split(b";")[0], 16):
                tail = (tail + await self.reader.readexactly(size))[-TAIL:]
                await self.reader.readexactly(2)
            await self.reader.readuntil(b"\r\n")
        else:
            rest = int(headers.get("content-length", 0))
            while rest:
                piece = await self.reader.read(min(rest, 1 << 16))
                if not piece:
                    raise EOFError("the answer ends early")
                rest -= len(piece)
                tail = (tail + piece)[-TAIL:]
        return tail

    def hang_up(self):
        if self.writer is not None:
            self.writer.close()
            self.reader = self.writer = None

    def fail(self, what):
        self.failures[what] += 1


async def crowd(url, harvesters, seconds, is_one):
    counts, failures = Counter(), Counter()
    end = time.monotonic() + seconds
    everybody = [Harvester(number, url, end, counts, failures, is_one) for number in range(harvesters)]
    tasks = [asyncio.create_task(one.harvest()) for one in everybody]
    done, late = await asyncio.wait(tasks, timeout=seconds + PATIENCE)
    for task in late:
        task.cancel()
    for task in done:
        task.result()
    if late:
        failures["still waiting for an answer"] += len(late)
    return {"harvesters": harvesters, "seconds": seconds, "counts": dict(counts), "failures": dict(failures)}


def main():
    url, harvesters, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    # What harvesters need of the processor they need elsewhere; here they take what the server and its readers leave.
    os.nice(19)
    print(json.dumps(asyncio.run(crowd(url, harvesters, seconds, len(sys.argv) > 4))))


if __name__ == "__main__":
    main()
