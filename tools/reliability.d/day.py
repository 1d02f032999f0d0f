"""A day of mixed load in minutes: what it leaves on the disk, what it holds open, what it answers."""

import json
import os
import random
import threading
import time

from harness.app_store import AppStore
from harness.clock import Clock
from harness.history import QUESTION_TIME, History
from harness.ledgers import checked_audit, checked_replay
from harness.report import Fault, say
from harness.server import Server

QUARTERS = 4
DAY = 86_400_000
# Events that each quarter's import brings, and signed notifications that it delivers twice.
IMPORTED = 400
NOTIFIED = 30
WORKERS = 6
# What a quarter may cost beyond the first one, a bit of which is the ledger's own beginning.
GROWTH = 1.5
SPARE_BYTES = 2 << 20
SPARE_MEMORY = 64
SPARE_FILES = 8


def bytes_on_disk(ledger, part):
    total = 0
    for folder, _, names in os.walk(os.path.join(ledger, part)):
        for name in names:
            total += os.stat(os.path.join(folder, name)).st_blocks * 512
    return total


class Load:
    """Clients of a server, each with a connection of its own, until they are told to stop."""

    def __init__(self, server, customers, seed):
        self.server, self.customers = server, customers
        self.counts, self.faults = {}, []
        self.lock, self.is_over = threading.Lock(), threading.Event()
        self.threads = [
            threading.Thread(target=self.work, args=(random.Random("%s/%d" % (seed, n)),))
            for n in range(WORKERS)]
        for thread in self.threads:
            thread.start()

    def work(self, source):
        connection = self.server.connect()
        try:
            while not self.is_over.is_set():
                self.step(source, connection)
        except (Fault, ValueError, KeyError) as fault:
            self.faults.append(str(fault))
        finally:
            connection.close()

    def step(self, source, connection):
        path = "/v1/customers/" + source.choice(self.customers)
        number = source.randrange(1 << 30)
        what, method, path, body, expected = source.choices([
            ("state", "GET", path, None, (200,)),
            ("past", "GET", path + "?at=" + QUESTION_TIME, None, (200,)),
            ("access", "GET", path + "/features/export", None, (200,)),
            ("timeline", "GET", path + "/timeline", None, (200,)),
            ("grant", "POST", path + "/grants", {"grantId": "d%d" % number, "tier": "pro"},
             (200,)),
            ("use", "POST", path + "/usage", {
                "featureId": "export", "amount": 1}, (200, 403, 409)),
            ("trial", "POST", path + "/trials", {"trialId": "week"}, (200, 403, 409)),
        ], [6, 3, 12, 1, 3, 3, 1])[0]
        status, _, answer = self.server.ask(method, path, body, connection=connection)
        if status not in expected:
            raise Fault("%s was answered %d: %s" % (what, status, answer))
        with self.lock:
            self.counts[what] = self.counts.get(what, 0) + 1

    def end(self):
        self.is_over.set()
        for thread in self.threads:
            thread.join()
        if self.faults:
            raise Fault(self.faults[0])


def transaction(store, number):
    """A signed purchase of a number of its own."""
    return store.transaction(
        transactionId=str(number), originalTransactionId=str(number), productId="month")


def deliver(server, bodies):
    """Each notification twice: the second time it is known."""
    for outcome in ("appended", "duplicate"):
        for body in bodies:
            status, _, answer = server.ask("POST", "/v1/signals/app-store", body)
            if (status, answer.get("outcome")) != (200, outcome):
                raise Fault("a notification was answered %d: %s" % (status, answer))


def quarter(tool, ledger, history, store, clock, number, seconds, seed, key):
    """Import, checkpoint, then a server under load while its clock runs through six hours."""
    first = number * IMPORTED
    tool.ask(ledger, "import", "--format", "events", "-",
             data=history.lines(range(first, first + IMPORTED)))
    tool.ask(ledger, "checkpoint")
    customers = [history.customer(n) for n in range(history.customers + IMPORTED)]
    watched = {"memory": 0, "files": 0}
    with Server(tool, ledger, key, environment=clock.environment) as server:
        files = server.open_files()
        load = Load(server, customers, "day/%s/%d" % (seed, number))
        try:
            deliver(server, store.notifications(NOTIFIED))
            for claim in range(4):
                status, _, answer = server.ask(
                    "POST", "/v1/customers/%s/purchases" % customers[claim], {
                        "store": "app_store",
                        "signedTransaction": transaction(store, number * 10 + claim + 1)})
                if status != 200:
                    raise Fault("a claim was answered %d: %s" % (status, answer))
            begin = time.monotonic()
            while time.monotonic() < begin + seconds:
                share = (time.monotonic() - begin) / seconds
                clock.move(int(DAY * (number + min(share, 1)) / QUARTERS))
                watched["memory"] = max(watched["memory"], server.memory("VmRSS"))
                watched["files"] = max(watched["files"], server.open_files())
                time.sleep(0.05)
            # A reader beside the writer, as an auditor would be.
            checked_audit(tool, ledger)
        finally:
            load.end()
        time.sleep(0.5)
        left = server.open_files() - files
        server.stop()
    if left > SPARE_FILES:
        raise Fault("the server keeps %d files open after its clients" % left)
    events = tool.ask_json(ledger, "status")["sequence"]
    sizes = {part: bytes_on_disk(ledger, part) for part in ("log", "vault", "views")}
    return {"events": events, **sizes, "memoryMiB": round(watched["memory"], 1),
            "openFiles": watched["files"], "requests": load.counts}


def asked(tool, ledger, questions):
    """The answers, without their tokens, which say of which log they are."""
    data = "".join(json.dumps(question) + "\n" for question in questions).encode()
    lines = tool.ask(ledger, "show", "--questions", "-", "--json", data=data).splitlines()
    return [{**json.loads(line), "token": None} for line in lines]


def copied(tool, lines, name):
    """A ledger made anew from a feed, with its recorded times."""
    ledger = tool.directory(name)
    tool.ask(ledger, "init")
    tool.ask(ledger, "import", "--format", "events", "--preserve-recorded-time", "-",
             data=b"".join(line + b"\n" for line in lines))
    return ledger


def compare(tool, report, ledger, customers, end):
    """Answers at several points against a ledger made anew; the control lacks one grant."""
    lines = tool.ask(ledger, "events", "--json").splitlines()
    size = len(lines)
    questions = [
        {"customer": customer, "at": at, "knownSequence": known}
        for customer in customers for at in (QUESTION_TIME, end)
        for known in (size // 3, size)]
    ours = asked(tool, ledger, questions)
    theirs = asked(tool, copied(tool, lines, "anew"), questions)
    different = sum(mine != other for mine, other in zip(ours, theirs, strict=True))
    if different:
        report.fail("day", "%d of %d answers are not those of a ledger made anew" % (
            different, len(questions)))
    # A late grant of a customer who is asked about.
    subjects = {"customer/" + customer for customer in customers}
    missing = max(index for index, event in enumerate(map(json.loads, lines))
                  if event["type"] == "grant.given" and event["subject"] in subjects)
    lacking = lines[:missing] + lines[missing + 1:]
    # The sequence differs anyhow: only what is said of the customer counts.
    found = sum(
        {**mine, "sequence": 0, "known": 0} != {**other, "sequence": 0, "known": 0}
        for mine, other in zip(asked(tool, ledger, [
            {"customer": customer, "at": end} for customer in customers]), asked(
                tool, copied(tool, lacking, "lacking"), [
                    {"customer": customer, "at": end} for customer in customers]), strict=True))
    if found != 1:
        report.fail("day control", "%d answers differ where one grant is missing" % found)
    return {"answersCompared": len(questions), "controlFound": found}


def check_growth(report, quarters):
    """Each event costs about what it cost in the first quarter."""
    first, before = quarters[0], quarters[0]
    parts = ("log", "vault", "views")
    cost = sum(first[part] for part in parts) / first["events"]
    for number, now in enumerate(quarters[1:], 2):
        grown = sum(now[part] - before[part] for part in parts)
        if grown > cost * GROWTH * (now["events"] - before["events"]) + SPARE_BYTES:
            report.fail("day", "in quarter %d the files grew by %d bytes for %d events" % (
                number, grown, now["events"] - before["events"]))
        if now["memoryMiB"] > first["memoryMiB"] * GROWTH + SPARE_MEMORY:
            report.fail("day", "in quarter %d the server took %s MiB" % (
                number, now["memoryMiB"]))
        before = now


def run(tool, report, seed, seconds):
    clock = Clock(tool)
    history = History(seed + 31)
    ledger = tool.make("day")
    store = AppStore(tool, ledger)
    key = tool.key(ledger)
    tool.environment.update(clock.environment)
    try:
        quarters = []
        for number in range(QUARTERS):
            quarters.append(quarter(
                tool, ledger, history, store, clock, number, seconds / QUARTERS, seed, key))
            say("day: quarter %d: %s" % (number + 1, quarters[-1]))
        check_growth(report, quarters)
        checked_audit(tool, ledger)
        checked_replay(tool, ledger)
        source = random.Random("day/%d" % seed)
        customers = source.sample(
            [history.customer(n) for n in range(history.customers + IMPORTED)], 60)
        end = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(time.time() + DAY / 1000))
        report.figures["day"] = {
            "quarters": quarters, **compare(tool, report, ledger, customers, end)}
    finally:
        for name in clock.environment:
            del tool.environment[name]
