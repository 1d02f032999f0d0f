"""Checks of a ledger, and its answers."""

import json
import shutil
import subprocess

from harness.history import QUESTION_TIME
from harness.report import Fault


def checked_log(tool, ledger, history, acknowledged, start=0):
    """Reads the events from one on (catalog first, then the history) and checks that they are a
    gapless piece of the history with everything acknowledged; the number of history events."""
    text = tool.ask(ledger, "events", "--json", "--from", str(start))
    sequence = start
    for line in text.splitlines():
        event = json.loads(line)
        if int(event["sequence"]) != sequence:
            raise Fault("event %d stands where %d is expected" % (int(event["sequence"]), sequence))
        if sequence > 0:
            expected = history.event(sequence - 1)
            for name in ("id", "type", "subject", "time", "source"):
                if event[name] != expected[name]:
                    raise Fault("event %d has another %s" % (sequence, name))
            for name, value in expected["data"].items():
                if event["data"].get(name) != value:
                    raise Fault("event %d has another data.%s" % (sequence, name))
        elif event["type"] != "catalog.published":
            raise Fault("the first event is not the catalog")
        sequence += 1
    lost = [index for index, at in acknowledged.items() if at >= sequence]
    if lost:
        raise Fault("%d acknowledged events are lost, from event %d on" % (
            len(lost), min(acknowledged[index] for index in lost)))
    for index, at in acknowledged.items():
        if at != index + 1:
            raise Fault("event %d was acknowledged as %d" % (index + 1, at))
    return sequence - 1


def checked_audit(tool, ledger, but=()):
    """Audits; kinds of faults in `but` do not count."""
    done = tool.run(ledger, "audit", "--json")
    if done.returncode not in (0, 3):
        raise Fault("audit ended with %d: %s" % (
            done.returncode, done.stderr[-200:].decode(errors="replace").strip()))
    try:
        report = json.loads(done.stdout)
    except ValueError:
        raise Fault("audit: %s" % done.stderr[-200:].decode(errors="replace").strip()) from None
    faults = [fault for fault in report["faults"] if fault["kind"] not in but]
    if faults:
        raise Fault("audit: %s" % faults[0])
    return report


def checked_replay(tool, ledger):
    report = json.loads(tool.ask(ledger, "replay", "--at", QUESTION_TIME, "--json"))
    if not report["ok"]:
        raise Fault("replay: %s" % report["differences"][:1])
    return report


def answers(tool, ledger, customers, size=None):
    """The states of customers, one question each; the catalog is event 0."""
    questions = "".join(
        json.dumps({"customer": customer, "at": QUESTION_TIME, **(
            {"knownSequence": size} if size is not None else {})}) + "\n"
        for customer in customers)
    text = tool.ask(ledger, "show", "--questions", "-", "--json", data=questions.encode())
    return [json.loads(line) for line in text.splitlines()]


def compare_with_rebuilt(tool, ledger, history, count, random_source, sample=40):
    """Compares answers with those of a ledger made anew from the same events."""
    other = tool.make("anew")
    tool.ask(other, "import", "--format", "events", "-", data=history.lines(range(count)))
    numbers = random_source.sample(
        range(history.customers + count // 4), min(sample, history.customers + count // 4))
    customers = [history.customer(number) for number in numbers]
    # A token says of which log it is.
    ours, theirs = ([{**answer, "token": None} for answer in answers(tool, one, customers)] for one in (ledger, other))
    shutil.rmtree(other)
    for mine, expected in zip(ours, theirs, strict=True):
        if mine != expected:
            raise Fault("a customer's answer differs from a ledger made anew")
    return len(customers)


def copy_ledger(source, target):
    shutil.rmtree(target, ignore_errors=True)
    subprocess.run(["cp", "-r", "--sparse=always", source, target], check=True)
    return target
