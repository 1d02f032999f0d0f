"""kill -9 at random moments, on one growing ledger."""

import os
import random
import shutil

from harness.feeding import Acknowledgements, feed, finish
from harness.history import History
from harness.ledgers import (
    answers, checked_audit, checked_log, checked_replay, compare_with_rebuilt, copy_ledger)
from harness.report import Fault, say

DEEP_EVERY = 8
RESTART_AT = 20_000


def cycle(tool, ledger, history, count, acknowledged, source):
    """One import that is killed; what was acknowledged is added."""
    # Some of what is known is fed again: it must be found by its id.
    first = max(0, count - source.randrange(4))
    answered = Acknowledgements(first)
    process = tool.start_import(ledger)
    try:
        if source.random() < 0.2:
            # While the ledger is being opened, or soon after.
            feed(process, history, first, first + 5000, answered, source,
                 first_deadline=source.uniform(0, 0.12))
        else:
            feed(process, history, first, first + 5000, answered, source,
                 deadline=source.uniform(0.002, 0.06))
    finally:
        code, errors = finish(process, answered, kill=True)
    if code != -9:
        raise Fault("an import ended by itself with %d: %s" % (code, errors[-300:]))
    acknowledged.update(answered.sequences)
    return answered.count


def check(tool, ledger, history, acknowledged, known, deep, source):
    """All checks after a kill; the number of events that stand in the log."""
    status = tool.ask_json(ledger, "status")
    recent = dict(acknowledged)
    start = 0
    if not deep:
        start = max(0, known - 50)
        recent = {i: at for i, at in acknowledged.items() if at >= start}
    count = checked_log(tool, ledger, history, recent, start)
    if status["sequence"] != count + 1:
        raise Fault("status counts %s events, the log has %d" % (status["sequence"], count + 1))
    figures = {"replays": 1, "audits": 0, "answers": 0}
    checked_replay(tool, ledger)
    if deep:
        checked_audit(tool, ledger)
        figures["audits"] = 1
        figures["answers"] = compare_with_rebuilt(tool, ledger, history, count, source)
    return count, figures


def run(tool, report, seed, cycles):
    """Kills and checks, so many cycles."""
    source = random.Random("kills/%d" % seed)
    totals = {"cycles": 0, "acknowledged": 0, "durableButNotAcknowledged": 0,
              "killedBeforeAnyAcknowledgement": 0, "replays": 0, "audits": 0, "answers": 0,
              "ledgers": 0}
    controls = {"olderCopies": [0, 0], "damagedViews": [0, 0]}
    ledger, history, count, acknowledged = None, None, 0, {}
    while totals["cycles"] < cycles:
        if ledger is None or count > RESTART_AT:
            if ledger:
                shutil.rmtree(ledger)
            totals["ledgers"] += 1
            history = History(seed + totals["ledgers"] * 1000)
            ledger = tool.make("killed")
            count, acknowledged = 0, {}
        number = totals["cycles"] = totals["cycles"] + 1
        deep = number % DEEP_EVERY == 0
        older = copy_ledger(ledger, tool.directory("older")) if deep else None
        before, acknowledged_before = count, len(acknowledged)
        try:
            answered = cycle(tool, ledger, history, count, acknowledged, source)
            count, figures = check(tool, ledger, history, acknowledged, before, deep, source)
        except Fault as fault:
            report.fail("kill", "cycle %d: %s" % (number, fault))
            kept = copy_ledger(ledger, tool.directory("failed"))
            say("the ledger is kept in %s" % kept)
            break
        for name, value in figures.items():
            totals[name] += value
        totals["acknowledged"] += len(acknowledged) - acknowledged_before
        totals["killedBeforeAnyAcknowledgement"] += answered == 0
        if count > (max(acknowledged) + 1 if acknowledged else 0):
            totals["durableButNotAcknowledged"] += 1
        if older:
            if len(acknowledged) > acknowledged_before:
                controls["olderCopies"][0] += 1
                try:
                    check(tool, older, history, acknowledged, before, False, source)
                except Fault:
                    controls["olderCopies"][1] += 1
            shutil.rmtree(older)
        if number % 20 == 0:
            say("kill: %d cycles, %d events" % (number, count))
    if ledger and not report.failures:
        damage_views(tool, ledger, history, controls["damagedViews"], source)
    report.figures["kill"] = totals
    report.figures["killControls"] = {
        name: {"tried": tried, "found": found} for name, (tried, found) in controls.items()}
    tried, found = controls["olderCopies"]
    if tried == 0 or found < tried:
        report.fail("kill control", "%d of %d older copies were found" % (found, tried))
    tried, found = controls["damagedViews"]
    if tried and found * 2 < tried:
        report.fail("kill control", "%d of %d damaged views were found" % (found, tried))


def damage_views(tool, ledger, history, counter, source):
    """Writes over 64 bytes of the views: the comparison with the log must see it."""
    for _ in range(12):
        copy = copy_ledger(ledger, tool.directory("views"))
        # A clean state first, so that the tables hold all and are trusted.
        tool.ask(copy, "rebuild")
        generation = open(os.path.join(copy, "views", "current")).read().strip()
        views = os.path.join(copy, "views", generation)
        name = source.choice([name for name in os.listdir(views) if name.startswith("streams-")])
        with open(os.path.join(views, name), "r+b") as file:
            # In the first block, which is full or nearly so in a ledger of this size.
            file.seek(source.randrange(900))
            file.write(source.randbytes(64))
        counter[0] += 1
        try:
            checked_replay(tool, copy)
            answers(tool, copy, [history.customer(0)])
        except Fault:
            counter[1] += 1
        shutil.rmtree(copy)
