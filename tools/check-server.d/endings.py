"""The server's end under load: SIGTERM drains, kill -9 loses nothing that was acknowledged."""

import http.client
import json
import os
import random
import socket
import threading
import time

import honest
from harness.ledgers import checked_audit, checked_replay
from harness.report import Fault
from harness.server import DRAIN_SECONDS, exchange, expect

CLIENTS = 8
ANSWER_SECONDS = 10
# It is looked every two seconds.
KEPT_SECONDS = 60


class Load(threading.Thread):
    """Gives grants as fast as they are answered, until the server is gone.

    Every answer is a grant that was recorded, a problem document, or no answer at all: one that
    ends in the middle is noted.
    """

    def __init__(self, server, prefix, number, acknowledged):
        super().__init__(daemon=True)
        self.server, self.number = server, number
        self.work = honest.grants(server.key, prefix, acknowledged)
        self.refused, self.halves = [], []

    def refusals_kept(ledger):
    """How many refused signals wait for their note, by what the ledger's folder says."""
    try:
        with open(os.path.join(ledger, "refusals.json"), encoding="utf-8") as file:
            return sum(entry["count"] for entry in json.load(file)["counts"])
    except FileNotFoundError:
        return 0


def refuse(server, count):
    """Signals that nobody signed; the first one of an hour is noted at once, the others wait."""
    for _ in range(count):
        expect(server.ask("POST", "/v1/signals/app-store", {"signedPayload": "a.b.c"}), 400, "a bad signal")


def wait_for_refusals(ledger, count, what):
    """Until so many are kept; a busy machine may take its time."""
    end = time.monotonic() + KEPT_SECONDS
    while (kept := refusals_kept(ledger)) != count:
        if time.monotonic() > end:
            raise Fault("%s: %d refusals are kept instead of %d" % (what, kept, count))
        time.sleep(0.1)


def kill_with_refusals(material):
    """What was counted of refused signals outlives kill -9, but the last seconds; how many were counted."""
    ledger, key = material.ledger()
    with material.server(ledger, key) as server:
        refuse(server, 1)
        refuse(server, 20)
        wait_for_refusals(ledger, 20, "before kill -9")
        server.kill()
    with material.server(ledger, key) as server:
        refuse(server, 5)
        wait_for_refusals(ledger, 25, "after kill -9")
        server.stop()
    # The control: without what was kept they are gone.
    os.remove(os.path.join(ledger, "refusals.json"))
    with material.server(ledger, key) as server:
        refuse(server, 5)
        wait_for_refusals(ledger, 5, "the control, without what was kept")
        server.stop()
    return 25


def check_refusals(material):
    """Within one hour: at its turn a note takes what waits."""
    while True:
        hour = time.time() // 3600
        try:
            return kill_with_refusals(material)
        except Fault:
            if time.time() // 3600 == hour:
                raise


def run(tool, material, report, seed, rounds, cycles):
    """Both ends."""
    source = random.Random("endings/%d" % seed)
    report.figures["endings"] = {
        "sigterm": terminate(tool, material, source, rounds),
        "sigkill": kill(tool, material, source, cycles),
        "refusalsKept": check_refusals(material)}
