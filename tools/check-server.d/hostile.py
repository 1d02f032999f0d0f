"""Hostile clients while honest ones are all answered and the server's memory stays bounded."""

import json
import os
import socket
import subprocess
import sys
import time

import attack
import honest
from harness.report import Fault
from harness.server import expect

FOLDER = os.path.dirname(os.path.abspath(__file__))
# What the server allows for a head, a body or a stalled answer, and a little for a busy machine.
DEADLINE_SECONDS = 30
LATE_SECONDS = 8
# MiB that all of it may take beyond the server as it was before.
MEMORY_LIMIT = 192
# Bytes that are under way beside those in the sockets' buffers.
UNDER_WAY = 4 << 20
# Half-sent bodies, and what a server of a small budget and one of none in effect may grow by, in MiB.
HALF_BODIES = 400
HALF_BODY = 400_000
SMALL_BUDGET, NO_BUDGET = 16 << 20, 1 << 30
BODIES_LIMIT = 100
RELEASE_SECONDS = 15
CUT = ("idle", "slow headers", "slow bodies")
FLOODS = ("endless headers", "an endless header", "huge bodies", "huge bodies in chunks")
# A body that nobody reads: its request is answered by the head alone, before more of it is taken than is under way.
UNREAD = "huge bodies where none belongs"


def flood_limit():
    """Bytes of a flood that may go out before it is cut: what the buffers of two sockets may hold,
    which the system lets grow (tcp(7)), and what is under way."""
    limit = UNDER_WAY
    for name in ("tcp_rmem", "tcp_wmem"):
        with open("/proc/sys/net/ipv4/" + name, encoding="ascii") as file:
            limit += int(file.read().split()[2])
    return limit


def judge(found):
    """What the attackers report, against what a server must do."""
    for name in CUT:
        kind = found[name]
        is_late = kind["longestSeconds"] > DEADLINE_SECONDS + LATE_SECONDS
        if kind["closed"] < kind["begun"] or is_late:
            raise Fault("%s: %s" % (name, kind))
    readers = found["slow readers"]
    if readers["closed"] < readers["begun"]:
        raise Fault("slow readers: %s" % readers)
    limit = flood_limit()
    if limit >= attack.HUGE:
        raise Fault("the system's buffers, of %d bytes, take a whole flood" % limit)
    for name in (*FLOODS, UNREAD):
        kind = found[name]
        wrong = [o for o in kind["outcomes"] if not (
            o == "closed" or o.startswith("4") or (name, o) == (UNREAD, "200"))]
        if wrong or kind["mostBytes"] > limit:
            raise Fault("%s: %s" % (name, kind))
    for outcome in found["malformed"]["outcomes"]:
        result = outcome.rsplit(": ", 1)[1]
        if result != "closed" and not result.startswith("4"):
            raise Fault("malformed: %s" % outcome)
    for outcome in found["pipelining"]["outcomes"]:
        if outcome != "all answered" and not outcome.startswith(
                ("half a request: 4", "half a request: closed")):
            raise Fault("pipelining: %s" % outcome)


def check_control():
    """A request without an answer must be noticed."""
    stub = honest.Stub(5, b"")
    with honest.Crowd("127.0.0.1", stub.port, [honest.checks("k", "c", "f", True)]) as crowd:
        time.sleep(1)
    if not crowd.failures or not crowd.count:
        raise Fault("control: an honest request without an answer was not noticed")


def half_bodies(server, count):
    """Connections that sent the half of a body each, as far as the server took it."""
    head = ("POST /v1/signals/app-store HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            "Content-Length: %d\r\n\r\n" % (HALF_BODY + 1000)).encode()
    held = []
    for _ in range(count):
        connection = socket.create_connection((server.host, server.port), 10)
        held.append(connection)
        try:
            connection.sendall(head + b" " * HALF_BODY)
        except OSError:
            pass
    return held


def check_bodies(material):
    """Half-sent bodies: memory stays within the budget, honest signals are taken, and what was
    taken is given back. The control is a server without a budget, which has to grow beyond."""
    figures, (body,) = {}, material.app_store.notifications(1)
    for name, budget in (("bounded", SMALL_BUDGET), ("unbounded", NO_BUDGET)):
        with material.server(environment={"ENTITLE_BODY_BYTES": str(budget)}) as server:
            before = server.memory()
            held = half_bodies(server, HALF_BODIES)
            time.sleep(1)
            expect(server.ask("POST", "/v1/signals/app-store", body), 200, "beside half bodies",
                   outcome="appended")
            most = server.memory("VmHWM")
            for connection in held:
                connection.close()
            end = time.monotonic() + RELEASE_SECONDS
            while server.memory() > before + BODIES_LIMIT / 2 and time.monotonic() < end:
                time.sleep(0.5)
            figures[name] = {"before": round(before), "atMost": round(most),
                             "after": round(server.memory())}
            server.stop()
    for name, found in figures.items():
        if (found["atMost"] - found["before"] <= BODIES_LIMIT) != (name == "bounded"):
            raise Fault("half-sent bodies: %s" % figures)
        if found["after"] > found["before"] + BODIES_LIMIT / 2:
            raise Fault("half-sent bodies: memory is not given back: %s" % figures)
    return figures


def run(tool, material, report, seed, seconds):
    """Honest clients alone, then together with the others."""
    check_control()
    halves = check_bodies(material)
    bodies = material.app_store.notifications(200)
    with material.server() as server:
        expect(server.ask("POST", "/v1/customers/honest/grants", {"tier": "pro"}), 200, "a grant")
        works = [honest.checks(server.key, "honest", "export", True),
                 honest.checks(server.key, "honest", "sync", True, fresh=True),
                 honest.checks(server.key, "stranger", "export", False),
                 honest.signals(bodies[:100]), honest.signals(bodies[100:])]
        with honest.Crowd(server.host, server.port, works) as quiet:
            time.sleep(5)
        if quiet.failures:
            raise Fault("honest clients alone: %s" % quiet.failures[:3])
        works[3:] = [honest.grants(server.key, "hostile", {})] * 2
        before, files = server.memory(), server.open_files()
        with honest.Crowd(server.host, server.port, works) as crowd:
            attackers = subprocess.run(
                [sys.executable, "-B", os.path.join(FOLDER, "attack.py"), server.host,
                 str(server.port), str(seconds)],
                capture_output=True, timeout=seconds + 60, check=False)
        server.require_alive()
        if attackers.returncode != 0:
            raise Fault("the attackers failed: %s" % attackers.stderr[-500:].decode())
        found = json.loads(attackers.stdout)
        figures = {
            "attacks": {name: kind["begun"] for name, kind in found.items()},
            "honestAnswers": crowd.count, "honestUnanswered": len(crowd.failures),
            "p50Milliseconds": crowd.milliseconds(0.5), "p99Milliseconds": crowd.milliseconds(0.99),
            "p99AloneMilliseconds": quiet.milliseconds(0.99),
            "memoryBefore": round(before), "memoryAtMost": round(server.memory("VmHWM")),
            "halfSentBodies": halves, "plantedAndFound": 2}
        report.figures["hostile"] = figures
        if crowd.failures:
            raise Fault("%d of %d honest requests had no right answer: %s" % (
                len(crowd.failures), len(crowd.failures) + crowd.count, crowd.failures[:3]))
        judge(found)
        if server.memory("VmHWM") - before > MEMORY_LIMIT:
            raise Fault("memory rose from %d to %d MiB" % (before, server.memory("VmHWM")))
        wait_for_files(server, files)
        server.stop()


def wait_for_files(server, files):
    """Connections that are gone hold no file."""
    end = time.monotonic() + DEADLINE_SECONDS
    while server.open_files() > files + 8:
        if time.monotonic() > end:
            raise Fault("%d files are open, %d were before" % (server.open_files(), files))
        time.sleep(0.5)
