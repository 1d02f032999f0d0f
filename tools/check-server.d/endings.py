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

    def run(self):
        turn, connection = 0, self.server.connect(timeout=ANSWER_SECONDS)
        while True:
            try:
                problem = self.work(connection, self.number, turn)
                if problem:
                    self.refused.append(problem)
                    return
            except http.client.RemoteDisconnected:
                # No byte of an answer: closed between two requests, or before it was begun.
                return
            except (http.client.HTTPException, json.JSONDecodeError) as error:
                self.halves.append(repr(error))
                return
            except OSError:
                return
            turn += 1


def under_load(server, prefix, acknowledged, act, seconds):
    """Lets clients work, acts in the midst of it, and waits for all; the clients, and what came of the act."""
    load = [Load(server, prefix, number, acknowledged) for number in range(CLIENTS)]
    for client in load:
        client.start()
    time.sleep(seconds)
    outcome = act()
    for client in load:
        client.join(30)
        if client.is_alive():
            raise Fault("a client still waits for an answer after the server's end")
    return load, outcome


def recorded(tool, ledger, start=0):
    """The places of all events by id, from one on."""
    text = tool.ask(ledger, "events", "--json", "--from", str(start))
    events = [json.loads(line) for line in text.splitlines()]
    return {event["id"]: int(event["sequence"]) for event in events}


def require_recorded(places, acknowledged):
    """Everything acknowledged stands in the log, where it was said to."""
    lost = [name for name, at in acknowledged.items() if places.get(name) != at]
    if lost:
        raise Fault("%d acknowledged events are lost, such as %s at %s" % (
            len(lost), lost[0], acknowledged[lost[0]]))


def check_control(places):
    """An acknowledgement that nobody gave must be found missing, and a wrong place too."""
    some = next(iter(places))
    for planted in ({"nobody-recorded-this": 1}, {some: places[some] + 1}):
        try:
            require_recorded(places, planted)
        except Fault:
            continue
        raise Fault("control: a lost event was not found")
    return 2


def require_whole(load):
    """No answer ends in the middle."""
    halves = [half for client in load for half in client.halves]
    if halves:
        raise Fault("%d answers end in the middle: %s" % (len(halves), halves[0]))


def require_served(load, acknowledged, what):
    """Something was recorded, and nobody was refused but to come again."""
    wrong = [text for client in load for text in client.refused if " 503 " not in text]
    if wrong:
        raise Fault("%s: %s" % (what, wrong[0]))
    if not acknowledged:
        raise Fault("%s: nothing was acknowledged before it" % what)


def check_load_controls():
    """Half an answer, a refusal that no end explains and a load that records nothing must be found; how many."""
    half, refusal = honest.Stub.ANSWER[:-9], honest.Stub.ANSWER.replace(b"200 OK", b"500 No")
    plans = ((3, half, lambda load, _: require_whole(load)),
             (3, refusal, lambda load, acknowledged: require_served(load, acknowledged, "control")),
             (0, b"", lambda load, acknowledged: require_served(load, acknowledged, "control")))
    for count, last, require in plans:
        acknowledged = {}
        client = Load(honest.Stub(count, last), "planted", 0, acknowledged)
        client.start()
        client.join(30)
        try:
            require([client], acknowledged)
        except Fault:
            continue
        raise Fault("control: %r behind %d answers was not found" % (last[:30], count))
    return len(plans)


def stalled(tool, material):
    """A client that sends half a request and waits does not hold up the end."""
    ledger, key = material.ledger()
    with material.server(ledger, key) as server, \
            socket.create_connection((server.host, server.port), 10) as connection:
        connection.sendall(
            b"POST /v1/signals/app-store HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\n{")
        time.sleep(0.5)
        seconds = server.stop()
    if seconds > DRAIN_SECONDS + 1:
        raise Fault("with a stalled client the server took %.1f s to end" % seconds)
    checked_audit(tool, ledger)
    return seconds


def received(connection, done):
    """What comes in until it is what one waits for, or the connection ends."""
    text = b""
    while not done(text) and (piece := connection.recv(1 << 16)):
        text += piece
    return text


def followed(material):
    """A client that follows the log is told of the end, and does not hold it up."""
    ledger, key = material.ledger()
    with material.server(ledger, key) as server, \
            socket.create_connection((server.host, server.port), ANSWER_SECONDS) as connection:
        connection.sendall(
            b"GET /v1/events/stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n"
            % server.key.encode())
        begun = received(connection, lambda text: b"retry:" in text)
        if b" 200 " not in begun:
            raise Fault("a stream does not begin: %r" % begun)
        seconds = server.stop()
        rest = received(connection, lambda _: False)
    if b"event: bye" not in rest or not rest.endswith(b"\r\n0\r\n\r\n"):
        raise Fault("a stream is not told of the end: %r" % rest)
    if seconds > DRAIN_SECONDS:
        raise Fault("with an open stream the server took %.1f s to end" % seconds)
    return seconds


def terminate(tool, material, source, rounds):
    """SIGTERM under load."""
    ledger, key = material.ledger()
    acknowledged, everybody, slowest = {}, [], 0.0
    for number in range(rounds):
        with material.server(ledger, key) as server:
            load, seconds = under_load(
                server, "term%d" % number, acknowledged, server.stop, source.uniform(0.5, 1.5))
        require_whole(load)
        everybody += load
        slowest = max(slowest, seconds)
        require_recorded(recorded(tool, ledger), acknowledged)
    require_served(everybody, acknowledged, "SIGTERM")
    if slowest > DRAIN_SECONDS:
        raise Fault("the server took %.1f s to end" % slowest)
    checked_audit(tool, ledger)
    return {"rounds": rounds, "acknowledged": len(acknowledged), "lost": 0,
            "refusedAtTheEnd": sum(1 for client in everybody if client.refused),
            "slowestEndSeconds": round(slowest, 2), "plantedAndFound": check_load_controls(),
            "stalledEndSeconds": round(stalled(tool, material), 2),
            "followedEndSeconds": round(followed(material), 2)}


def kill(tool, material, source, cycles):
    """kill -9 under load, on one growing ledger, which the next server opens again."""
    ledger, key = material.ledger()
    acknowledged, everybody, repeated = {}, [], 0
    for number in range(cycles):
        with material.server(ledger, key) as server:
            repeated += require_repeats(server, acknowledged)
            load, _ = under_load(
                server, "kill%d" % number, acknowledged, server.kill, source.uniform(0.05, 1.2))
        everybody += load
        require_recorded(recorded(tool, ledger), acknowledged)
        checked_replay(tool, ledger)
    require_served(everybody, acknowledged, "kill -9")
    checked_audit(tool, ledger)
    places = recorded(tool, ledger)
    return {"cycles": cycles, "acknowledged": len(acknowledged), "lost": 0,
            "recorded": len(places), "repeatedAsDuplicates": repeated,
            "plantedAndFound": check_control(places)}


def require_repeats(server, acknowledged, count=5):
    """Asked again after the crash, the same request gets its first outcome."""
    connection = server.connect()
    names = list(acknowledged)[-count:]
    for name in names:
        turn = int(name.rsplit("-", 1)[1])
        status, _, value = exchange(
            connection, "POST", "/v1/customers/c%d/grants" % (turn % honest.CUSTOMERS),
            {"grantId": name, "tier": "pro"}, server.key, {"Idempotency-Key": name})
        if status != 200 or value["outcome"] != "duplicate" \
                or value["sequence"] != acknowledged[name]:
            raise Fault("a grant again: %d %s" % (status, value))
    connection.close()
    return len(names)


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
