"""Hostile requests over HTTP, made of the schemas that the server describes itself with.

The server has to live, may answer none with 500, has to answer in time, and keeps its memory: what
is resident of its own after the last tenth is at most a tenth more than after the first. Before it,
as the control, the same is asked of servers with a planted fault each, which must be found.
"""

import json
import multiprocessing
import os
import queue
import random
import socket
import time

from harness.report import Fault, say
from harness.server import expect
from stub import FAULTS, Stub
from values import KNOWN, Requests

# Requests that are under way on a connection at once.
DEPTH = 8
ANSWER_SECONDS = 30
GROWTH = 1.1
# Of memory that comes and goes with how the threads fall, in MiB.
NOISE = 24
WORKERS = 2
# Who is told of what the requests change: of this machine's own addresses, so that nothing is sent.
ADDRESSES = ["https://127.0.0.1:9/hook", "https://[::ffff:7f00:1]/a?b=c", "HTTPS://2130706433/x", "https://0x7f.1/"]


class Connection:
    """Requests and their statuses, some at a time."""

    def __init__(self, address, patience):
        self.socket = socket.create_connection(address, timeout=patience)
        self.file = self.socket.makefile("rb")

    def close(self):
        self.file.close()
        self.socket.close()

    def status(self, method):
        """The status of the next answer, its body read; None where the connection ends."""
        while True:
            line = self.file.readline(65_536)
            if not line.startswith(b"HTTP/1.1 "):
                return None
            status = int(line[9:12])
            length, chunked = 0, False
            while (line := self.file.readline(65_536)) not in (b"\r\n", b""):
                name, _, value = line.partition(b":")
                name = name.lower()
                if name == b"content-length":
                    length = int(value)
                elif name == b"transfer-encoding":
                    chunked = b"chunked" in value.lower()
            if 100 <= status < 200:
                continue
            break
        if method == "HEAD" or status in (204, 304):
            return status
        if chunked:
            while (size := int(self.file.readline() or b"0", 16)):
                self.file.read(size + 2)
            self.file.readline()
        else:
            self.file.read(length)
        return status


def work(number, seed, address, document, credentials, patience, results, stop):
    """Sends requests until it is told to stop; counts of statuses, and what was wrong."""
    requests = Requests(random.Random("%d/%d" % (seed, number)), document, credentials)
    connection, statuses, sent = None, {}, 0
    while not stop.is_set():
        batch = [requests.next() for _ in range(DEPTH)]
        try:
            connection = connection or Connection(address, patience)
            connection.socket.sendall(b"".join(data for _, data in batch))
            for method, data in batch:
                status = connection.status(method)
                if status is None:
                    raise OSError("closed")
                sent += 1
                statuses[status] = statuses.get(status, 0) + 1
                if status == 500:
                    results.put(("fault", "answered 500", data))
        except TimeoutError:
            results.put(("fault", "no answer in %d s" % patience, b"".join(d for _, d in batch)))
            return
        except (OSError, ValueError):
            # What follows a head that nobody can read is left; a dead server is found by its end.
            if connection:
                connection.close()
            connection = None
            results.put(("batch", number, b"\n--\n".join(data for _, data in batch)))
            sent += 1
            statuses["closed"] = statuses.get("closed", 0) + 1
        if sent >= 200:
            results.put(("count", sent, statuses))
            statuses, sent = {}, 0


def attack(server, document, credentials, seed, wanted, seconds, findings, patience=ANSWER_SECONDS):
    """Sends so many requests, or for so long; the figures. Raises where something did not hold."""
    results, stop = multiprocessing.Queue(), multiprocessing.Event()
    address = (server.host, server.port)
    workers = [multiprocessing.Process(target=work, daemon=True, args=(
        number, seed, address, document, credentials, patience, results, stop)) for number in range(WORKERS)]
    for worker in workers:
        worker.start()
    begin, sent, statuses, memory, batches = time.monotonic(), 0, {}, [], {}
    fault = None

    def share():
        passed = time.monotonic() - begin
        return max(sent / wanted if wanted else 0, passed / seconds if seconds else 0)

    try:
        while not fault and share() < 1:
            try:
                kind, *rest = results.get(timeout=1)
            except queue.Empty:
                kind, rest = "none", []
            if kind == "count":
                sent += rest[0]
                for status, count in rest[1].items():
                    statuses[str(status)] = statuses.get(str(status), 0) + count
            elif kind == "batch":
                batches[rest[0]] = rest[1]
            elif kind == "fault":
                fault = (rest[0], rest[1])
            if server.process.poll() is not None:
                # What was under way is told of a little later.
                time.sleep(1)
                while not results.empty():
                    kind, *rest = results.get()
                    if kind == "batch":
                        batches[rest[0]] = rest[1]
                fault = ("the server died with %d" % server.process.returncode,
                         b"\n====\n".join(batches.values()))
            elif int(share() * 10) > len(memory):
                memory.append(round(server.memory("RssAnon"), 1))
            if not any(worker.is_alive() for worker in workers) and not fault and results.empty():
                fault = ("nobody sends any more", b"")
    finally:
        stop.set()
        for worker in workers:
            worker.terminate()
            worker.join()
    passed = time.monotonic() - begin
    figures = {"requests": sent, "seconds": round(passed, 1), "perSecond": round(sent / passed),
               "statuses": dict(sorted(statuses.items())), "megabytes": memory}
    if fault:
        os.makedirs(findings, exist_ok=True)
        path = os.path.join(findings, "http-%d" % seed)
        with open(path, "wb") as file:
            file.write(fault[1])
        raise Fault("%s; what was sent last is in %s; %s; %s" % (
            fault[0], path, json.dumps(figures), server.log_text()[-1500:]))
    if len(memory) >= 9 and memory[-1] > memory[0] * GROWTH + NOISE:
        raise Fault("memory grows: %s MiB" % memory)
    return figures


def credentials_of(material, server):
    """Who asks: the administrator, keys of each scope, customers, strangers, and forgers."""
    lines = [None, None, "Authorization: Bearer " + server.key, "X-API-Key: " + server.key]
    lines += ["Authorization: Bearer " + server.key] * 4
    for number in (1, 2, 3):
        lines.append("Authorization: Bearer " + material.signer.token("fuzzed-%d" % number))
    lines += [
        "Authorization: Bearer " + material.signer.token("fuzzed-1", -10),
        "Authorization: Bearer el_wrong_" + "a" * 43, "Authorization: Bearer a.b.c",
        "Authorization: Basic YTpi", "Authorization: " + material.revenuecat_secret,
        "Authorization: Bearer " + "9" * 3000]
    return lines


def control(document, findings):
    """Each planted fault is found."""
    for name in FAULTS:
        with Stub(name) as stub:
            try:
                attack(stub, document, [None], 1, 4000, 60, findings, patience=2)
            except Fault as fault:
                if FAULTS[name] not in str(fault):
                    raise Fault("the planted fault %r was told as %s" % (name, fault)) from fault
                continue
            raise Fault("the planted fault %r was not found" % name)


def run(material, report, seed, wanted, seconds, findings):
    with material.server(words=["--log-level", "error"]) as server:
        _, _, document = server.ask("GET", "/openapi.json")
        control(document, findings)
        say("fuzz http: planted faults found: %s" % ", ".join(FAULTS))
        # Some history, so that questions have answers.
        for number in range(40):
            server.ask("POST", "/v1/customers/fuzzed-%d/grants" % number, {"tier": "pro"})
        for url in ADDRESSES:
            webhook = expect(server.ask("POST", "/v1/webhooks", {"url": url}), 201, "a webhook")
            KNOWN["webhook"].append(webhook["id"])
        figures = attack(server, document, credentials_of(material, server), seed, wanted, seconds,
                         findings)
        server.require_alive()
        figures["stopSeconds"] = round(server.stop(), 1)
        report.figures["http"] = figures
