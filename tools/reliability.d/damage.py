"""Damaged files of a ledger: no answer may be wrong without a word, and no death without one."""

import json
import os
import random
import shutil
import struct

from harness.history import QUESTION_TIME, History
from harness.ledgers import copy_ledger
from harness.records import crc32c
from harness.report import Fault, in_parallel, say
from harness.server import Ended, Server

PAGE = 4096
HEADER = 16
EVENTS = 900
# Records of a tile (C2SP tlog-tiles).
TILE = 256
LATER = 600
# Ends that say what is wrong: integrity, bad data, no such file, input or output, configuration.
REPORTED = {3, 65, 66, 74, 78}
# Of the sixteen-fold kinds.
MANY = 16
# How often a server is asked too, and how many customers.
SERVED, SERVED_CUSTOMERS = 0.25, 12


class Image:
    """A file's bytes, its pages, and an older state of it."""

    def __init__(self, content, older, source):
        self.content, self.older, self.source = bytearray(content), older, source
        self.pages = max(1, -(-len(content) // PAGE))
        if content[HEADER:HEADER + 4] == b"\xde\xc0\xef\xbe":
            # The last page that was ever used, of the newer meta page (LMDB 0.9).
            self.pages = 1 + max(
                struct.unpack_from("<Q", content, at + 136)[0] for at in (0, PAGE))
        self.pages = min(self.pages, max(1, len(content) // PAGE))
        self.first = 2 if self.pages > 2 else 0

    def page(self):
        return self.source.randrange(self.first, self.pages) * PAGE

    def flip(self, start, end):
        end = min(end, len(self.content))
        if start < end:
            self.content[self.source.randrange(start, end)] ^= 1 << self.source.randrange(8)

    def put(self, at, data):
        data = data[:max(0, len(self.content) - at)]
        self.content[at:at + len(data)] = data


def flip_bit(image):
    image.flip(image.first * PAGE, image.pages * PAGE)


def flip_many(image):
    for _ in range(MANY):
        flip_bit(image)


def flip_header(image):
    at = image.page()
    image.flip(at, at + 2 * HEADER)


def zero_page(image):
    image.put(image.page(), bytes(PAGE))


def zero_many(image):
    for _ in range(MANY):
        zero_page(image)


def random_page(image):
    image.put(image.page(), image.source.randbytes(PAGE))


def truncate(image):
    del image.content[image.source.randrange(len(image.content)):]


def truncate_page(image):
    del image.content[image.source.randrange(image.pages) * PAGE:]


def swap_pages(image):
    one, other = image.page(), image.page()
    first, second = image.content[one:one + PAGE], image.content[other:other + PAGE]
    image.put(one, second)
    image.put(other, first)


def changed_pages(image):
    """Pages that an earlier moment of the file held otherwise."""
    pages = range(image.first * PAGE, min(len(image.older), image.pages * PAGE), PAGE)
    return [
        at for at in pages if image.older[at:at + PAGE] != image.content[at:at + PAGE]] or [
        image.page()]


def old_page(image):
    at = image.source.choice(changed_pages(image))
    image.put(at, image.older[at:at + PAGE])


def half_page(image):
    at = image.source.choice(changed_pages(image))
    keep = image.source.randrange(1, PAGE // 512) * 512
    image.put(at + keep, image.older[at + keep:at + PAGE])


def flip_meta(image):
    at = image.source.choice([0, PAGE])
    image.flip(at, at + 160)


def zero_meta(image):
    image.put(image.source.choice([0, PAGE]), bytes(PAGE))


def zero_metas(image):
    image.put(0, bytes(2 * PAGE))


KINDS = [
    flip_bit, flip_many, flip_header, zero_page, zero_many, random_page, truncate, truncate_page,
    swap_pages, old_page, half_page, flip_meta, zero_meta, zero_metas]


class Questions:
    """What is asked of a sound ledger, and of each damaged copy."""

    def __init__(self, tool, ledger, history, events):
        self.tool = tool
        self.customers = [history.customer(n) for n in range(history.customers + events // 4)]
        self.asked = "".join(
            json.dumps({"customer": customer, "at": QUESTION_TIME}) + "\n"
            for customer in self.customers).encode()
        self.events = tool.ask(ledger, "events", "--json")
        self.states = tool.ask(
            ledger, "show", "--questions", "-", "--json", data=self.asked).splitlines()
        self.allowed = {
            customer: json.loads(state)["features"]["export"]["allowed"]
            for customer, state in zip(self.customers, self.states, strict=True)}
        self.key = tool.key(ledger)

    def verdict(self, ledger, source):
        """What became of the questions: a verdict for each, by its name."""
        customer = source.choice(self.customers)
        verdicts = {
            "can": self.can(ledger, customer),
            "show": self.judged_lines(ledger, ["show", "--questions", "-"], self.states,
                                      self.asked),
            "events": self.judged_lines(ledger, ["events"], self.events.splitlines(), None)}
        if source.random() < SERVED:
            verdicts["server"] = self.served(ledger, source)
        audit = self.tool.run(ledger, "audit", "--json")
        verdicts["audit"] = self.judge(audit, audit.returncode == 0, (0,))
        if audit.returncode in (0, 3):
            try:
                report = json.loads(audit.stdout)
                if report["ok"] != (audit.returncode == 0):
                    verdicts["audit"] = "wrong"
            except ValueError:
                verdicts["audit"] = "mute"
        return verdicts

    def can(self, ledger, customer):
        wanted = 0 if self.allowed[customer] else 1
        done = self.tool.run(ledger, "can", customer, "export", "--at", QUESTION_TIME)
        return self.judge(done, done.returncode == wanted, (0, 1))

    def judged_lines(self, ledger, words, expected, data):
        done = self.tool.run(ledger, *words, "--json", data=data)
        return self.judge(done, done.stdout.splitlines() == expected, (0,))

    def served(self, ledger, source):
        """A server, which writes too: it answers rightly, or says no, or ends with a word."""
        words = []
        try:
            with Server(self.tool, ledger, self.key) as server:
                for customer in source.sample(self.customers, SERVED_CUSTOMERS):
                    status, _, answer = server.ask(
                        "GET", "/v1/customers/%s/features/export?at=%s" % (
                            customer, QUESTION_TIME))
                    if status == 200 and answer["allowed"] != self.allowed[customer]:
                        return "wrong"
                    words.append("right" if status == 200 else "reported")
                if server.grant("newcomer", 1) == (200, None):
                    status, _, answer = server.ask("GET", "/v1/customers/newcomer/features/export")
                    if status == 200 and not answer["allowed"]:
                        return "wrong"
                server.stop()
        except Ended as end:
            return "reported" if end.code in REPORTED and end.errors else "died %d" % end.code
        return "reported" if "reported" in words else "right"

    @staticmethod
    def judge(done, is_right, answers):
        if done.returncode in answers:
            return "right" if is_right else "wrong"
        if done.returncode in REPORTED:
            return "reported" if done.stderr.strip() or done.stdout.strip() else "mute"
        return "died %d" % done.returncode


def files_of(ledger):
    """The files to damage: log, vault, and those of the views in use."""
    generation = open(os.path.join(ledger, "views", "current")).read().strip()
    views = os.path.join("views", generation)
    return ["log/data.mdb", "vault/data.mdb"] + sorted(
        os.path.join(views, name) for name in os.listdir(os.path.join(ledger, views))
        if name != "lock.mdb" and os.path.getsize(os.path.join(ledger, views, name)) > 0)


def trial(tool, questions, base, older, path, kind, seed):
    """Damages one file of a copy and asks; the verdicts, and whether bytes changed at all."""
    source = random.Random(seed)
    ledger = copy_ledger(base, tool.directory("damaged"))
    try:
        with open(os.path.join(base, path), "rb") as file:
            content = file.read()
        earlier = os.path.join(older, path)
        before = b""
        if os.path.exists(earlier):
            with open(earlier, "rb") as file:
                before = file.read()
        image = Image(content, before, source)
        kind(image)
        with open(os.path.join(ledger, path), "wb") as file:
            file.write(image.content)
        if source.random() < 0.3:
            # As if the writer had been killed: the next command looks first.
            open(os.path.join(ledger, "unclean"), "wb").close()
        if bytes(image.content) == content:
            return None
        try:
            return questions.verdict(ledger, source)
        except Fault as fault:
            return {"command": "hangs: %s" % fault}
    finally:
        shutil.rmtree(ledger, ignore_errors=True)


def make(tool, seed):
    """A ledger, an earlier state of it, and what it answers."""
    history = History(seed + 11)
    ledger = tool.make("sound")
    tool.ask(ledger, "import", "--format", "events", "-", data=history.lines(range(LATER)))
    older = copy_ledger(ledger, tool.directory("earlier"))
    tool.ask(ledger, "import", "--format", "events", "-",
             data=history.lines(range(LATER, EVENTS)))
    tool.ask(ledger, "checkpoint")
    return ledger, older, history, Questions(tool, ledger, history, EVENTS)


def is_bad(verdicts):
    """Whether there is an answer or a death that nobody was told of.

    An audit that finds nothing is wrong only where another reader met the damage; a server writes,
    and may meet it in pages that hold nothing.
    """
    others = {name: verdict for name, verdict in verdicts.items() if name != "audit"}
    if any(verdict not in ("right", "reported") for verdict in others.values()):
        return True
    if verdicts["audit"] not in ("right", "reported"):
        return True
    return verdicts["audit"] == "right" and any(
        verdict == "reported" for name, verdict in others.items() if name != "server")


def run(tool, report, seed, count):
    """So many damages of each file, all kinds in turn."""
    ledger, older, history, questions = make(tool, seed)
    totals, kinds, bad = {}, {}, []
    for path in files_of(ledger):
        part = path.split("/")[0]
        plan = [(KINDS[n % len(KINDS)], "%s/%d/%d" % (path, seed, n)) for n in range(count)]
        results = in_parallel(
            lambda p: trial(tool, questions, ledger, older, path, *p), plan)
        figures = totals.setdefault(part, {
            "files": 0, "unchanged": 0, "harmless": 0, "reported": 0, "bad": 0})
        for (kind, text), verdicts in zip(plan, results, strict=True):
            figures["files"] += 1
            if verdicts is None:
                figures["unchanged"] += 1
                continue
            if is_bad(verdicts):
                figures["bad"] += 1
                bad.append("%s, %s (%s): %s" % (path, kind.__name__, text, verdicts))
                kinds[kind.__name__] = kinds.get(kind.__name__, 0) + 1
            elif all(verdict == "right" for verdict in verdicts.values()):
                figures["harmless"] += 1
            else:
                figures["reported"] += 1
        say("damage: %s: %s" % (path, figures))
    report.figures["damage"] = {**totals, "badKinds": kinds}
    for text in bad[:10]:
        report.fail("damage", text)
    if len(bad) > 10:
        report.fail("damage", "%d damaged files in all" % len(bad))
    control(tool, report, seed, ledger, questions)


def records(content):
    """Where intact records stand in a file, by their bytes: each may have several copies."""
    found, at = {}, content.find(b"ELR1")
    while at >= 0:
        length = struct.unpack_from("<I", content, at + 4)[0]
        record = bytes(content[at:at + length])
        if 76 < length == len(record) and \
                crc32c(record[:-4]) == struct.unpack("<I", record[-4:])[0]:
            found.setdefault(record, []).append(at)
        at = content.find(b"ELR1", at + 1)
    return found


def sequence(record):
    """Its place in the log."""
    return struct.unpack_from("<Q", record, 8)[0]


def forged(record, days):
    """The record at another time, with a checksum that fits: what no checksum can find."""
    moved = struct.unpack_from("<q", record, 24)[0] + days * 86_400_000
    body = record[:24] + struct.pack("<q", moved) + record[32:-4]
    return body + struct.pack("<I", crc32c(body))


def forgery(tool, base, content, places, chosen, days):
    """A copy of a ledger in which some records are forged."""
    ledger = copy_ledger(base, tool.directory("forged"))
    image = bytearray(content)
    for record in chosen:
        for at in places[record]:
            image[at:at + len(record)] = forged(record, days)
    with open(os.path.join(ledger, "log", "data.mdb"), "wb") as file:
        file.write(image)
    return ledger


def control(tool, report, seed, base, questions, count=24, asked=8):
    """Forged records: the audit finds each; where most are forged, so does the comparison."""
    source = random.Random("forged/%d" % seed)
    with open(os.path.join(base, "log", "data.mdb"), "rb") as file:
        content = file.read()
    places = records(content)
    figures = {"forged": 0, "auditFound": 0, "asked": 0, "wrongAnswers": 0}
    for record in source.sample(sorted(places), min(count, len(places))):
        ledger = forgery(tool, base, content, places, [record], 150)
        figures["forged"] += 1
        figures["auditFound"] += tool.run(ledger, "audit").returncode == 3
        shutil.rmtree(ledger)
    # Ten years on nobody has bought anything yet. What opens a sealed part says no, since it is
    # sealed with the time; this question opens none. Records that fill no tile yet are hashed by each answer,
    # which says of which log it is.
    size = 1 + max(map(sequence, places))
    ledger = forgery(tool, base, content, places, [
        record for record in places if sequence(record) < size - size % TILE], 3650)
    for customer in [name for name in questions.customers if questions.allowed[name]][:asked]:
        figures["asked"] += 1
        figures["wrongAnswers"] += questions.can(ledger, customer) == "wrong"
    shutil.rmtree(ledger)
    report.figures["damageControl"] = figures
    if figures["auditFound"] < figures["forged"] or \
            figures["wrongAnswers"] == 0:
        report.fail("damage control", str(figures))
