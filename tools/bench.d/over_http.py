"""The server over HTTP with wrk, on the machine that it runs on.

Access beside a constant answer of the same server, in alternating runs; App Store notifications of
real size, verified and durably recorded, at full and at half load; pushes of Google Play beside them,
each with a token that is verified.
"""

import json
import os
import statistics
import subprocess

from harness.play_store import PlayPushes
from harness.report import Fault, say
from harness.server import expect
from rows import row

CUSTOMERS = 1000
CONNECTIONS = 64
RUN_SECONDS = 120
SIZES = {
    "quick": {"rounds": 3, "seconds": 2, "notifications": 6_000},
    "usual": {"rounds": 7, "seconds": 5, "notifications": 40_000},
}
CONSTANT = "constant"
APP_STORE = "app store notifications"
LUA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "wrk.lua")
WORDS = {CONSTANT: "the same server, one connection for each of %d clients of wrk, answering a"
                   " constant" % CONNECTIONS,
         APP_STORE: "notifications of the App Store, by the same server in the same run"}


def wrk(server, seconds, arguments, connections=CONNECTIONS):
    """One run: requests, seconds, latencies in milliseconds; a wrong answer is a fault."""
    before = server.processor_seconds()
    done = subprocess.run(
        ["wrk", "-t1", "-c%d" % connections, "-d%gs" % seconds, "-s", LUA, server.url,
         "--", *arguments],
        capture_output=True, text=True, timeout=seconds + 60, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0 or not lines:
        raise Fault("wrk: %s" % (done.stderr or done.stdout)[-400:])
    found = json.loads(lines[-1])
    if found["wrong"] or not found["requests"]:
        raise Fault("wrong answers: %s" % found)
    used = server.processor_seconds() - before
    found["microseconds"] = 1e6 * used / found["requests"]
    found["rate"] = found["requests"] / found["seconds"]
    return found


def access(material, sizes):
    """Checks of a feature beside the same server's constant, in alternating runs."""
    with material.server(words=["--log-level", "error"]) as server:
        for number in range(CUSTOMERS):
            expect(server.ask("POST", "/v1/customers/c%d/grants" % number, {"tier": "pro"}), 200,
                   "a grant")
        kinds = {CONSTANT: ["constant"], "access": ["access", server.key, str(CUSTOMERS)]}
        found = {kind: [] for kind in kinds}
        for kind in kinds.values():
            wrk(server, 1, kind)
        for turn in range(sizes["rounds"]):
            order = list(kinds) if turn % 2 == 0 else list(kinds)[::-1]
            for kind in order:
                found[kind].append(wrk(server, sizes["seconds"], kinds[kind]))
        server.stop()
    return [
        row(name, unit, [run[share] for run in found["access"]],
            [run[share] for run in found[CONSTANT]], CONSTANT)
        for name, unit, share in (
            ("http-access", "requests/s", "rate"), ("http-access-p50", "ms p50", "p50"),
            ("http-access-p99", "ms p99", "p99"),
            ("http-access-processor", "us of the server each", "microseconds"))]


def notifications(material, sizes):
    """Distinct signals to a durable ledger: the App Store's at full and at half load, Google Play's at full."""
    rounds = max(2, sizes["rounds"] // 2)
    share = sizes["notifications"] // (2 * rounds)
    say("bench: minting %d notifications" % sizes["notifications"])
    bodies = material.app_store.notifications(sizes["notifications"])
    pushed = PlayPushes.bodies(rounds * share)
    ledger, key = material.ledger()
    full, half, play = [], [], []
    with PlayPushes(material) as pushes, material.server(
            ledger, key, ["--stores", pushes.configuration, "--log-level", "error"]) as server:
        def send(bodies, rate, *words):
            path = material.path("bodies.ndjson")
            with open(path, "wb") as file:
                file.write(b"\n".join(bodies))
            # The run ends when every line was answered.
            run = wrk(server, RUN_SECONDS, ["signals", path, str(len(bodies)), str(rate), *words])
            if run["requests"] != len(bodies):
                raise Fault("%d of %d were answered" % (run["requests"], len(bodies)))
            return run

        app_store, google = ["/v1/signals/app-store"], ["/v1/signals/play", pushes.token]
        for turn in range(rounds):
            at = 2 * turn * share
            full.append(send(bodies[at:at + share], 0, *app_store))
            play.append(send(pushed[turn * share:(turn + 1) * share], 0, *google))
            half.append(send(bodies[at + share:at + 2 * share], full[-1]["rate"] / 2, *app_store))
        server.stop()
    recorded = material.tool.ask_json(ledger, "status")["sequence"]
    if recorded < 3 * rounds * share:
        raise Fault("%d events stand for %d signals" % (recorded, 3 * rounds * share))
    made = [
        row("http-notifications", "notifications/s", [run["rate"] for run in full]),
        row("http-notifications-bytes", "bytes each", [
            statistics.mean(len(body) for body in bodies)]),
        row("http-notifications-processor", "us of the server each", [
            run["microseconds"] for run in full]),
        row("http-play", "pushes/s", [run["rate"] for run in play], [run["rate"] for run in full],
            APP_STORE)]
    for name, runs in (("full", full), ("half", half)):
        made += [row("http-notifications-%s-%s" % (name, quantile), "ms %s" % quantile,
                     [run[quantile] for run in runs]) for quantile in ("p50", "p99")]
    return made


def measure(material, size):
    say("bench: http")
    return access(material, SIZES[size]) + notifications(material, SIZES[size])
