"""Three servers of one ledger over PostgreSQL, under clients that each wait, while their leader is killed.

Clients grant features under ids of their own, each at any of the servers, and repeat a call under the same
id until it is acknowledged; then they ask another server for it with `Ledger-Min-Sequence`. The history is
judged by what every server tells in the end (`GET /v1/events`), by the audits of their directories, and by
the root that stands in PostgreSQL. Two webhooks are told meanwhile (cluster.d/receivers.py).
"""
import json
import os
import random
import re
import signal
import socket
import subprocess
import threading
import time
import urllib.parse

from erasures import Erasures
from harness.report import Fault
from harness.server import UNLIMITED, exchange
from restores import is_level, restored
from serverfaults import CLIENTS, LEASE, PATIENCE, away, ended, keys_changed, known, led_to_itself, left, refilled, \
    stopped, wait
import consoles
import http.client
import receivers

NAMES = ("a", "b", "c")
# Erasures whose leader is killed, at most.
ERASURES = 10


def free_port():
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        return place.getsockname()[1]


class Machine:
    """One server; it begins anew on the same port."""

    def __init__(self, tool, folder, name, port):
        self.tool, self.name, self.port = tool, name, port
        self.ledger = os.path.join(folder, name)
        self.process = None
        self.log = os.path.join(folder, name + ".log")

    @property
    def address(self):
        return "http://127.0.0.1:%d" % self.port

    def configure(self, postgres, key_of):
        """What a machine needs that has nothing yet."""
        os.makedirs(self.ledger)
        with open(os.path.join(self.ledger, "cluster.json"), "w", encoding="utf-8") as file:
            json.dump({"postgres": postgres, "node": self.name, "address": self.address}, file)
        with open(os.path.join(key_of, "key"), "rb") as source:
            key = source.read()
        with open(os.open(os.path.join(self.ledger, "key"), os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
            file.write(key)

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [self.tool.binary, "serve", "--cluster", "--ledger", self.ledger, "--port", str(self.port),
                 "--json"],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, cwd=self.tool.scratch,
                env={**self.tool.environment, "ENTITLE_LIMITS": UNLIMITED, **receivers.PRIVATE})
        if not self.process.stdout.readline():
            raise Fault("server %s ends with %d: %s" % (self.name, self.process.wait(), self.log_text()))

    def log_text(self):
        with open(self.log, encoding="utf-8", errors="replace") as file:
            return file.read()[-600:]

    def signal(self, number):
        self.process.send_signal(number)

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        if self.process.wait(60) != 0:
            raise Fault("server %s ends with %d: %s" % (self.name, self.process.returncode, self.log_text()))
        self.process.stdout.close()

    def ask(self, method, path, key, body=None, headers=None, timeout=15):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            return exchange(connection, method, path, body, key, headers)
        finally:
            connection.close()


class Cluster:
    """The servers, with a key for all of them."""

    def __init__(self, tool, folder, postgres):
        self.tool, self.postgres = tool, postgres
        os.makedirs(folder)
        self.machines = {name: Machine(tool, folder, name, free_port()) for name in NAMES}
        first = self.machines["a"]
        tool.ask(first.ledger, "init", "--catalog", tool.catalog())
        self.key = tool.key(first.ledger)
        tool.ask(first.ledger, "cluster", "init", "--postgres", postgres, "--node", "a", "--address", first.address)
        for name in NAMES[1:]:
            self.machines[name].configure(postgres, first.ledger)

    def start(self):
        for machine in self.machines.values():
            machine.start()

    def status(self):
        return json.loads(self.tool.ask_plain("cluster", "status", "--postgres", self.postgres, "--json"))

    def leader(self, but=None):
        """The machine that leads by what PostgreSQL says; nil while it is another one's turn."""
        name = self.status().get("leader")
        return self.machines.get(name) if name != but else None

    def end(self):
        for machine in self.machines.values():
            if machine.process is not None and machine.process.poll() is None:
                machine.signal(signal.SIGCONT)
                machine.kill()


class Client(threading.Thread):
    """Grants one thing after the other, and waits for each."""

    def __init__(self, cluster, number, chance):
        super().__init__(daemon=True)
        self.cluster, self.number, self.chance = cluster, number, chance
        self.ending = threading.Event()
        self.acknowledged = []  # id, place in the log, moment
        self.place = None  # how far the log was behind the last one, and which history that is
        self.faults = []
        self.repeats = 0

    def run(self):
        try:
            while not self.ending.is_set():
                self.grant("g%d-%d" % (self.number, len(self.acknowledged)))
        except Fault as fault:
            self.faults.append(str(fault))

    def machine(self):
        return self.cluster.machines[self.chance.choice(NAMES)]

    def grant(self, name):
        customer = "p%d-%d" % (self.number, self.chance.randrange(20))
        path = "/v1/customers/%s/grants" % customer
        answer = self.until_answered("POST", path, {"grantId": name, "tier": "pro"}, {"Idempotency-Key": name})
        self.place = answer[1]["Ledger-Sequence"]
        self.acknowledged.append((name, answer[2]["sequence"], time.monotonic()))
        seen = self.until_answered(
            "GET", "/v1/events?customer=%s&limit=1000" % customer, None, {"Ledger-Min-Sequence": self.place})
        if not any(grant_of(event) == name for event in seen[2]):
            self.faults.append("%s was acknowledged at %d and is not read at Ledger-Min-Sequence %s" % (
                name, answer[2]["sequence"], self.place))

    def until_answered(self, method, path, body, headers):
        """Asks any machine, again under the same id, until one answers."""
        end = time.monotonic() + PATIENCE
        said = None
        while time.monotonic() < end:
            try:
                said = self.machine().ask(method, path, self.cluster.key, body, headers)
            except (OSError, http.client.HTTPException, ValueError) as error:
                said = error
            else:
                if said[0] in (200, 201):
                    return said
                if said[0] < 500:
                    raise Fault("%s %s: %s" % (method, path, said))
            self.repeats += 1
            time.sleep(0.02)
        raise Fault("%s %s is not answered in %d s: %s" % (method, path, PATIENCE, said))


def grant_of(event):
    """The id of the grant that an event tells of; nil: it tells of none."""
    return (event.get("data") or {}).get("grantId") if event["type"].endswith("grant.given") else None


def other_histories(cluster, place):
    """Every machine tells a place of another history from one that another machine told."""
    said = re.fullmatch(r'(\d+);root="([0-9a-f]{16})"', place)
    if not said:
        raise Fault("an answer does not say of which history it is: %s" % place)
    other = '%s;root="%016x"' % (said[1], int(said[2], 16) ^ 1)
    found = []
    for machine in cluster.machines.values():
        answers = [machine.ask("GET", "/v1/customers/p0-0", cluster.key, None, {"Ledger-Min-Sequence": asked})
                   for asked in (place, other)]
        told = [(status, (answer or {}).get("code")) for status, _, answer in answers]
        if told != [(200, None), (409, "other_history")]:
            found.append("server %s does not tell histories apart: %s" % (machine.name, told))
    return found


def told(machine, key):
    """Everything that a server tells: id of the grant by place."""
    grants, after = [], None
    while True:
        path = "/v1/events?limit=1000" + ("" if after is None else "&after=%d" % after)
        status, headers, events = machine.ask("GET", path, key)
        if status != 200:
            raise Fault("server %s tells no events: %s" % (machine.name, events))
        grants += [(int(event["sequence"]), grant_of(event)) for event in events]
        link = re.search(r"after=(\d+)", headers.get("Link") or "")
        if not link:
            return grants
        after = int(link.group(1))


def judge(acknowledged, histories):
    """What is wrong with what the servers tell; empty: nothing."""
    found = []
    first = histories[NAMES[0]]
    for name, history in histories.items():
        if history != first:
            found.append("server %s tells another history than %s" % (name, NAMES[0]))
    places = [place for place, _ in first]
    if places != list(range(len(places))):
        found.append("the places are not dense")
    by_grant = {}
    for place, grant in first:
        if grant is not None:
            by_grant.setdefault(grant, []).append(place)
    for grant, place, _ in acknowledged:
        if by_grant.get(grant) != [place]:
            found.append("%s was acknowledged at %s and stands at %s" % (grant, place, by_grant.get(grant)))
    twice = [grant for grant, places in by_grant.items() if len(places) > 1]
    if twice:
        found.append("recorded twice: %s" % twice[:3])
    return found


def run(tool, folder, pair, chance, kills):
    """All of it: figures, and what is wrong."""
    cluster = Cluster(tool, folder, place_of(pair))
    clients = []
    hearers = [receivers.Receiver(random.Random(chance.random())) for _ in range(2)]
    try:
        cluster.start()
        wait(lambda: cluster.leader() is not None, "a leader")
        hear(cluster, hearers)
        clients = [Client(cluster, number, random.Random(chance.random())) for number in range(CLIENTS)]
        erasures = Erasures(cluster, wait, min(kills, ERASURES))
        erasures.begin()
        began = time.monotonic()
        for client in clients:
            client.start()
        # As whatever kills it, and as a service manager ends it.
        pauses = sorted(ended(cluster, clients, kills, Machine.kill))
        ends = sorted(ended(cluster, clients, 3, Machine.stop))
        stopped(cluster, clients)
        away(cluster, clients, pair)
        erasures.kill_within(chance)
        erasures.stop_within(chance)
        erasures.without_one()
        refilled(cluster, chance)
        changed = keys_changed(cluster) + known(cluster) + consoles.check(cluster)
        changed += led_to_itself(cluster, pair, primary_of(pair))
        for client in clients:
            client.ending.set()
        for client in clients:
            client.join(PATIENCE + 30)
        seconds = time.monotonic() - began
        acknowledged = [entry for client in clients for entry in client.acknowledged]
        size = max(place for _, place, _ in acknowledged) + 1
        # Their questions are recorded, too.
        known_of_erased, kept = erasures.judge(), erasures.kept_is_seen()
        wait(lambda: cluster.status()["sequence"] >= size and is_level(cluster), "all to be equally far")
        changed += other_histories(cluster, clients[0].place)
        changed += restored(cluster, pair, primary_of(pair))
        histories = {name: told(machine, cluster.key) for name, machine in cluster.machines.items()}
        found = [fault for client in clients for fault in client.faults] + judge(acknowledged, histories) + changed
        found += known_of_erased
        if ends[0] >= LEASE - 1:
            found.append("a leader that ends is waited for as one that dies: %s s" % ends)
        webhooks, wrong = told_all(cluster, hearers, acknowledged, histories, erasures.customers)
        found += wrong
        roots = {pair.sql(primary_of(pair), "SELECT encode(root, 'base64') FROM entitlement_ledger.ledger")}
        for machine in cluster.machines.values():
            machine.stop()
            roots.add(json.loads(tool.ask(machine.ledger, "audit", "--json"))["rootHash"])
        if len(roots) != 1:
            found.append("roots differ: %s" % sorted(roots))
        found += left(cluster, min(roots), lambda statement: pair.sql(primary_of(pair), statement))
        figures = {
            "kills": kills, "acknowledged": len(acknowledged), "recorded": size,
            "repeatedCalls": sum(client.repeats for client in clients), "seconds": round(seconds, 1),
            "pauseSeconds": {
                "median": round(pauses[len(pauses) // 2], 2), "longest": round(pauses[-1], 2)},
            "erased": len(erasures.customers),
            "handOverSeconds": {"median": round(ends[len(ends) // 2], 2), "longest": round(ends[-1], 2)},
            "webhooks": webhooks,
            "plantedFound": {
                **planted(acknowledged, histories), "notErased": kept, **webhooks.pop("plantedFound")}}
        if not all(figures["plantedFound"].values()):
            found.append("a history that was changed was not found: %s" % figures["plantedFound"])
        return figures, found
    finally:
        for client in clients:
            client.ending.set()
        cluster.end()
        for hearer in hearers:
            hearer.end()


def hear(cluster, hearers):
    """Two are told, each added at another machine; one of them nothing yet."""
    a, b, c = cluster.machines.values()
    for hearer, machine in zip(hearers, (b, c)):
        until(lambda hearer=hearer, machine=machine: hearer.add_to(machine, cluster.key))
    hearers[1].change(a, cluster.key, "disable")


def until(done):
    """Tries something until a machine that begins to lead does it."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return done()
        except Fault:
            if time.monotonic() > end:
                raise
            time.sleep(0.2)


def told_all(cluster, hearers, acknowledged, histories, erased):
    """Figures of what was told, and what is wrong with it, once all of it was."""
    grants = {grant for grant, _, _ in acknowledged}
    places = {grant: place for place, grant in histories[NAMES[0]] if grant is not None}
    found = []
    hearer, silent = hearers
    if silent.heard():
        found.append("one was told that was disabled")
    standing = {one.name: silent.standing(one, cluster.key)["state"] for one in cluster.machines.values()}
    if set(standing.values()) != {"disabled"}:
        found.append("one is disabled no more: %s" % standing)
    silent.change(cluster.machines["c"], cluster.key, "enable")
    for one in hearers:
        end = time.monotonic() + receivers.PATIENCE
        while not grants <= one.taken() and time.monotonic() < end:
            time.sleep(0.2)
        found += one.faults[:3] + receivers.judge(grants, places, one.heard(), erased)[:5]
    named = {subject for _, subject, _, _, _ in silent.heard() if subject.rpartition("/")[2] in erased}
    if named:
        found.append("somebody was told of who was erased before: %s" % named)
    messages = hearer.heard()
    return {
        "told": len(hearer.taken()), "messages": len(messages), "toldLate": len(silent.taken()),
        "plantedFound": receivers.planted(grants, places, messages)}, found


def place_of(pair):
    """libpq's connection string of both servers."""
    return "host=%s,%s port=5432,5433 user=postgres dbname=postgres target_session_attrs=read-write" % (
        pair.folder, pair.folder)


def guide(cluster):
    """What to do with it."""
    first, second, _ = cluster.machines.values()
    lines = ["three machines serve one ledger:"]
    lines += ["  %s  %s  %s" % (one.name, one.address, one.ledger) for one in cluster.machines.values()]
    lines += [
        "", "a key for all of them:", "  %s" % cluster.key, "", "try:",
        "  curl -H 'Authorization: Bearer %s' -H 'Content-Type: application/json' \\\n"
        "    -d '{\"grantId\":\"g1\",\"tier\":\"pro\"}' %s/v1/customers/alice/grants" % (cluster.key, second.address),
        "  curl -H 'Authorization: Bearer %s' '%s/v1/customers/alice/timeline'" % (cluster.key, first.address),
        "  entitle cluster status --postgres '%s'" % cluster.postgres,
        "  kill -9 %d        # a; another one leads within seconds" % first.process.pid,
        "", "Ctrl-C ends all of it and leaves nothing."]
    return "\n".join(lines)


def planted(acknowledged, histories):
    """The judge's own controls: whether each changed history is found."""
    def changed(change):
        other = {name: list(history) for name, history in histories.items()}
        change(other)
        return bool(judge(acknowledged, other))
    place = next(place for place, grant in histories["a"] if grant == acknowledged[-1][0])

    def lose(other):
        for history in other.values():
            history[place] = (place, None)

    def repeat(other):
        for history in other.values():
            history.append((len(history), acknowledged[0][0]))

    def differ(other):
        other["b"] = other["b"][:-1]
    return {"lost": changed(lose), "twice": changed(repeat), "other": changed(differ)}


def primary_of(pair):
    """The PostgreSQL that takes writes."""
    return next(
        name for name in ("a", "b") if pair.sql(name, "SELECT pg_is_in_recovery()", check=False) == "f")
