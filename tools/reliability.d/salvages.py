"""Damaged ledgers put together again: what is confirmed comes back, what is lost is named, and nothing
is invented."""

import json
import os
import random
import shutil

from damage import EVENTS, KINDS, LATER, Image, forged, records
from harness.history import QUESTION_TIME, History
from harness.ledgers import copy_ledger
from harness.report import Fault, in_parallel, say

LOG, VAULT = "log/data.mdb", "vault/data.mdb"
# What every answer warns of where records are lost, and none where all came back.
EVENTS_LOST = {"code": "events_lost"}
# Of an answer: what says how long the log is, not what holds.
OF_THE_LOG = {"sequence", "token"}
# Controls of a kind.
CONTROLS = 3
DAYS = 150  # by which a forged record is moved


class Undamaged:
    """A sound ledger, an earlier state of it, its archive, and what it answers."""

    def __init__(self, tool, seed):
        self.tool = tool
        history = History(seed + 17)
        self.ledger = tool.make("rescue")
        tool.ask(self.ledger, "import", "--format", "events", "-",
                 data=history.lines(range(LATER)))
        self.older = copy_ledger(self.ledger, tool.directory("earlier"))
        tool.ask(self.ledger, "import", "--format", "events", "-",
                 data=history.lines(range(LATER, EVENTS)))
        tool.ask(self.ledger, "checkpoint")
        self.archive = tool.directory("archive")
        tool.ask(self.ledger, "archive", "--to", self.archive)
        self.events = [
            json.loads(line) for line in tool.ask(self.ledger, "events", "--json").splitlines()]
        self.customers = [history.customer(n) for n in range(history.customers + EVENTS // 4)]
        self.asked = "".join(
            json.dumps({"customer": customer, "at": QUESTION_TIME}) + "\n"
            for customer in self.customers).encode()
        self.answers = self.ask(self.ledger)
        self.groups = groups_of(self.events)

    def ask(self, ledger):
        """What holds for each customer; None where nothing is answered."""
        done = self.tool.run(ledger, "show", "--questions", "-", "--json", data=self.asked)
        answers = [
            {name: value for name, value in json.loads(line).items() if name not in OF_THE_LOG}
            for line in done.stdout.splitlines()]
        return dict(zip(self.customers, answers)) if done.returncode == 0 else None

    def damaged(self, path, kind, seed, without_journal=False):
        """A copy with one damaged file; None where no byte is another one."""
        source = random.Random(seed)
        ledger = copy_ledger(self.ledger, self.tool.directory("damaged"))
        content = read(self.ledger, path)
        image = Image(content, read(self.older, path), source)
        kind(image)
        if bytes(image.content) == content:
            shutil.rmtree(ledger)
            return None
        write(ledger, path, image.content)
        if without_journal:
            os.remove(os.path.join(ledger, "vault", "journal"))
        return ledger

    def rescue(self, ledger, *words):
        """Salvages; the exit code, the report and the new ledger."""
        into = self.tool.directory("rescued")
        done = self.tool.run(ledger, "salvage", ledger, "--into", into, "--json", *words)
        if done.returncode not in (0, 3):
            raise Fault("salvage ended with %d: %s" % (
                done.returncode, done.stderr[-300:].decode(errors="replace")))
        return done.returncode, json.loads(done.stdout), into


def read(ledger, path):
    with open(os.path.join(ledger, path), "rb") as file:
        return file.read()


def write(ledger, path, content):
    with open(os.path.join(ledger, path), "wb") as file:
        file.write(content)


def names_of(event):
    names = [event["subject"]]
    data = event["data"]
    if data.get("purchase"):
        names.append("purchase/" + data["purchase"])
    names += ["customer/" + data["alias"]] if data.get("alias") else []
    return names


def groups_of(events):
    """Names that events name together, by one of them."""
    parents = {}

    def root(name):
        while parents.setdefault(name, name) != name:
            name = parents[name]
        return name

    for event in events:
        first, *rest = [root(name) for name in names_of(event)]
        for other in rest:
            parents[root(other)] = root(first)
    return {name: root(name) for name in list(parents)}


def lost_of(report):
    return {
        n for gap in report["gaps"] for n in range(gap["first"], gap["last"] + 1)}


def faults_of(sound, code, report, into, wants_all):
    """What is wrong with a salvage; an empty list if nothing is."""
    wrong = []
    lost = lost_of(report)
    if (code == 0) != report["ok"]:
        wrong.append("exit %d, ok %s" % (code, report["ok"]))
    if report["lost"] != len(lost) or report["records"] + len(lost) != report["size"]:
        wrong.append("gaps do not add up: %s" % {k: report[k] for k in ("lost", "records", "size")})
    if report["size"] != len(sound.events):
        wrong.append("the size is said to be %d" % report["size"])
    if wants_all and not report["ok"]:
        wrong.append("not all came back: %d lost" % report["lost"])
    audit = sound.tool.run(into, "audit", "--json")
    found = json.loads(audit.stdout)
    if found["ok"] != report["ok"]:
        wrong.append("audit says %s: %s" % (found["ok"], found["faults"][:2]))
    named = {fault["sequence"] for fault in found["faults"] if fault["kind"] == "record"}
    within = {n for n in lost if n < found["treeSize"]}
    if not within <= named and len(found["faults"]) < 1000:
        wrong.append("audit does not name %s" % sorted(within - named)[:5])
    wrong += wrong_events(sound, report, lost, into)
    return wrong + wrong_answers(sound, report, lost, into)


def wrong_events(sound, report, lost, into):
    """Events that are not those of the undamaged ledger, but for the lost ones."""
    done = sound.tool.run(into, "events", "--json")
    if report["lostCompanions"] and done.returncode == 3:
        return []  # Without its catalog document a catalog's event cannot be shown.
    if done.returncode != 0:
        return ["events ended with %d" % done.returncode]
    got = {int(e["sequence"]): e for e in map(json.loads, done.stdout.splitlines())}
    want = {n: event for n, event in enumerate(sound.events) if n not in lost}
    if set(got) != set(want):
        return ["events at %s" % sorted(set(got) ^ set(want))[:5]]
    if report["vault"]["lost"]:
        # Whose name is lost shows as erased.
        got = {n: e for n, e in got.items() if not e["subject"].startswith("erased/")
               and not any(value is None or str(value).startswith("erased/")
                           for value in e["data"].values())}
    return ["event %d is another one" % n for n in got if got[n] != want[n]][:3]


def wrong_answers(sound, report, lost, into):
    """Answers that differ though no lost event concerns the customer."""
    if 0 in lost or report["lostCompanions"] or report["vault"]["lost"]:
        return []
    touched = {sound.groups[name] for n in lost for name in names_of(sound.events[n])}
    answers = sound.ask(into)
    if answers is None:
        return ["show answers nothing"]
    warned = [EVENTS_LOST in answer["warnings"] for answer in answers.values()]
    if any(warned) != all(warned) or any(warned) != bool(lost):
        return ["%d of %d answers warn of %d lost events" % (sum(warned), len(warned), len(lost))]
    for answer in answers.values():
        answer["warnings"] = [each for each in answer["warnings"] if each != EVENTS_LOST]
    return [
        "another answer for a customer without a lost event" for customer in sound.customers
        if sound.groups.get("customer/" + customer) not in touched
        and answers[customer] != sound.answers[customer]][:1]


def trial(sound, path, kind, seed):
    """One damage: salvaged from itself alone and, of the log, with the archive."""
    ledger = sound.damaged(path, kind, seed)
    if ledger is None:
        return None
    wrong, recovered = [], {}
    ways = [("alone", ())] + ([("archive", ("--archive", sound.archive))] if path == LOG else [])
    try:
        for name, words in ways:
            code, report, into = sound.rescue(ledger, *words)
            # The vault's journal is its second copy.
            wants_all = name == "archive" or path == VAULT
            wrong += ["%s: %s" % (name, text)
                      for text in faults_of(sound, code, report, into, wants_all)]
            recovered[name] = report["records"]
            shutil.rmtree(into)
    except (Fault, ValueError, KeyError) as fault:
        wrong.append("%s: %s" % (type(fault).__name__, fault))
    shutil.rmtree(ledger, ignore_errors=True)
    return wrong, recovered


def keyless_trial(sound, kind, seed):
    """A damaged vault without its journal: keys that are lost are named."""
    ledger = sound.damaged(VAULT, kind, seed, without_journal=True)
    if ledger is None:
        return None
    try:
        code, report, into = sound.rescue(ledger)
        wrong = faults_of(sound, code, report, into, wants_all=False)
        if report["lost"]:
            wrong.append("records are lost with keys")
        shutil.rmtree(into)
    except (Fault, ValueError, KeyError) as fault:
        return ["%s: %s" % (type(fault).__name__, fault)], {}
    shutil.rmtree(ledger, ignore_errors=True)
    return wrong, {"keys": report["vault"]["streams"]}


def summary(results):
    done = [result for result in results if result is not None]
    figures = {"files": len(done), "bad": sum(1 for wrong, _ in done if wrong)}
    for name in ("alone", "archive", "keys"):
        counts = [recovered[name] for _, recovered in done if name in recovered]
        if counts:
            figures[name] = {"worst": min(counts), "mean": round(sum(counts) / len(counts), 1)}
    return figures


def run(tool, report, seed, count):
    """So many damages of log and vault each, all kinds in turn, and the controls."""
    sound = Undamaged(tool, seed)
    figures = {"events": len(sound.events)}
    works = {
        "log": lambda p: trial(sound, LOG, *p),
        "vault": lambda p: trial(sound, VAULT, *p),
        "vaultAlone": lambda p: keyless_trial(sound, *p)}
    for name, work in works.items():
        plan = [(KINDS[n % len(KINDS)], "%s/%d/%d" % (name, seed, n)) for n in range(count)]
        results = in_parallel(work, plan)
        figures[name] = summary(results)
        for (kind, text), result in zip(plan, results, strict=True):
            for wrong in (result or ([], {}))[0][:2]:
                report.fail("salvage", "%s, %s (%s): %s" % (name, kind.__name__, text, wrong))
        say("salvage: %s: %s" % (name, figures[name]))
    report.figures["salvage"] = figures
    report.figures["salvageControl"] = controls(sound, report, seed)


# What must not come back, and what the checks above must not pass.

def controls(sound, report, seed):
    source = random.Random("controls/%d" % seed)
    content = read(sound.ledger, LOG)
    places = records(content)
    figures = {"altered": 0, "superseded": 0, "checksFailed": 0}
    chosen = source.sample(sorted(places), CONTROLS)
    for record in chosen:
        figures["altered"] += control_altered(sound, content, places[record], record)
    for record in chosen:
        figures["superseded"] += control_superseded(sound, content, record)
    figures["checksFailed"] = control_checks(sound, seed)
    if figures != {"altered": CONTROLS, "superseded": CONTROLS, "checksFailed": 2}:
        report.fail("salvage control", str(figures))
    return figures


def control_altered(sound, content, places, record):
    """A record with another time and a checksum that fits: named, whatever holds it."""
    image = bytearray(content)
    for at in places:
        image[at:at + len(record)] = forged(record, DAYS)
    ledger = copy_ledger(sound.ledger, sound.tool.directory("altered"))
    write(ledger, LOG, image)
    code, report, into = sound.rescue(ledger)
    sequence = int.from_bytes(record[8:16], "little")
    named = lost_of(report) | {
        n for part in report["unconfirmed"] for n in range(part["first"], part["last"] + 1)}
    alone = code == 3 and sequence in named and json.loads(
        sound.tool.run(into, "audit", "--json").stdout)["ok"] is False
    code, _, into = sound.rescue(ledger, "--archive", sound.archive)
    events = sound.tool.ask(into, "events", "--json").splitlines()
    return alone and code == 0 and [json.loads(line) for line in events] == sound.events


def control_superseded(sound, content, record):
    """Records in pages that nobody uses, of a place that is taken and of one behind the end."""
    size = len(sound.events)
    other = forged(record, DAYS)
    behind = forged(record[:8] + size.to_bytes(8, "little") + record[16:], DAYS)
    page = other + b"\0\0" + behind
    ledger = copy_ledger(sound.ledger, sound.tool.directory("superseded"))
    write(ledger, LOG, content + page + bytes(-len(page) % 4096))
    code, report, into = sound.rescue(ledger)
    events = sound.tool.ask(into, "events", "--json").splitlines()
    return code == 0 and report["size"] == size and [
        json.loads(line) for line in events] == sound.events


def control_checks(sound, seed):
    """The checks above find a loss that should not be, and an event that is another one."""
    ledger = copy_ledger(sound.ledger, sound.tool.directory("cut"))
    content = read(sound.ledger, LOG)
    write(ledger, LOG, content[:len(content) // 2])
    code, report, into = sound.rescue(ledger)
    found = bool(faults_of(sound, code, report, into, wants_all=True))
    code, report, into = sound.rescue(sound.ledger)
    kept = sound.events[7]
    sound.events[7] = {**kept, "time": "2001-01-01T00:00:00.000Z"}
    found += bool(faults_of(sound, code, report, into, wants_all=True))
    sound.events[7] = kept
    return found
