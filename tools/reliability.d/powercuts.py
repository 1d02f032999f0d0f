"""Simulated power cuts: disk states that a recorded import may have left.

Locks do not survive; views are discarded.
"""

import collections
import os
import random
import shutil
import threading

import namecuts
from disk import Disk, read_trace
from harness.feeding import Acknowledgements, feed, finish
from harness.history import History
from harness.install import compiled
from harness.ledgers import checked_audit, checked_log, checked_replay, copy_ledger
from harness.report import Fault, in_parallel, say

RECORDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "recorder.c")
# What a writer that did not end by itself leaves.
MARK = "unclean"
EVENTS = 420
# Of simulated power cuts, how many have a control whose syncs do nothing.
CONTROL_SHARE = 4


def states(operations, base, points, seed, drops_syncs):
    """Yields (point, what was acknowledged, files) at points of a trace."""
    source = random.Random(seed)
    disk = Disk(base, drops_syncs)
    acknowledged = Acknowledgements(0)
    wanted = collections.Counter(points)
    for index, operation in enumerate(operations):
        if operation.kind == "x":
            raise Fault("a call failed while it was recorded")
        for _ in range(wanted[index]):
            yield index, dict(acknowledged.sequences), disk.cut(operation, source)
        if operation.kind == "a":
            acknowledged.take(operation.data)
        else:
            disk.do(operation)


def read_files(ledger):
    files = {}
    for directory in ("log", "vault"):
        for name in os.listdir(os.path.join(ledger, directory)):
            if name != "lock.mdb":
                with open(os.path.join(ledger, directory, name), "rb") as file:
                    files["%s/%s" % (directory, name)] = file.read()
    return files


def record(tool, library, history, seed, events):
    """Records one import; the ledger as it was before, and what happened."""
    ledger = tool.make("recorded")
    before = copy_ledger(ledger, tool.directory("before"))
    trace = os.path.join(tool.scratch, "trace")
    answered = Acknowledgements(0)
    process = tool.start_import(ledger, extra_environment={
        "LD_PRELOAD": library, "RECORDER_TRACE": trace, "RECORDER_ROOT": os.path.realpath(ledger)})
    try:
        feed(process, history, 0, events, answered, random.Random(seed), window=8)
    finally:
        code, errors = finish(process, answered)
    if code != 0 or answered.count != events:
        raise Fault("the recorded import ended with %d: %s" % (code, errors[-300:]))
    operations = read_trace(trace)
    # The record is whole: what it says was written is what the files hold.
    disk = Disk(read_files(before), False)
    for operation in operations:
        if operation.kind in "wdts":
            disk.do(operation)
    for operation in disk.waiting:
        disk.apply(disk.durable, operation)
    now = read_files(ledger)
    for path, content in now.items():
        if bytes(disk.durable.get(path, b"")) != content:
            raise Fault("the record does not give the file %s" % path)
    return before, operations


def check_state(tool, before, history, acknowledged, files, goes_on):
    """Opens a state; None if it is sound, else what is wrong."""
    ledger = tool.directory("state-%d" % threading.get_ident())
    os.makedirs(ledger)
    try:
        for name in ("ledger.json", "key"):
            shutil.copy(os.path.join(before, name), ledger)
        for path, content in files.items():
            target = os.path.join(ledger, path)
            os.makedirs(os.path.dirname(target), mode=0o700, exist_ok=True)
            with open(target, "wb") as file:
                file.write(content)
        # The mark is on the disk before anything is written.
        open(os.path.join(ledger, MARK), "wb").close()
        checked_audit(tool, ledger, but=("view",))
        count = checked_log(tool, ledger, history, acknowledged)
        if goes_on:
            tool.ask(ledger, "import", "--format", "events", "-",
                     data=history.lines(range(count + 20)))
            checked_audit(tool, ledger)
            checked_replay(tool, ledger)
            if checked_log(tool, ledger, history, acknowledged) != count + 20:
                raise Fault("the next import does not go on")
        return None
    except (Fault, ValueError, KeyError) as fault:
        return str(fault)
    finally:
        shutil.rmtree(ledger, ignore_errors=True)


def try_states(tool, before, operations, history, count, seed, drops_syncs):
    source = random.Random("points/%d/%s" % (seed, drops_syncs))
    points = [source.randrange(len(operations)) for _ in range(count)]
    results = []
    # States hold whole files: only a few are kept at a time.
    batch = []

    def drain():
        results.extend(in_parallel(lambda s: (s[1][0], check_state(
            tool, before, history, s[1][1], s[1][2], not drops_syncs and s[0] % 4 == 0)), batch))
        batch.clear()

    made = states(operations, read_files(before), points, "states/%d" % seed, drops_syncs)
    for number, state in enumerate(made):
        batch.append((number, state))
        if len(batch) == 16:
            drain()
    drain()
    return results


def run(tool, report, seed, count):
    library = compiled(RECORDER, tool.scratch, "-shared", "-fPIC", "-ldl", "-lpthread")
    tool.make("first")  # Leaves the catalog's file.
    namecuts.run(tool, report, library, seed, count)
    figures = {"traces": 0, "operations": 0, "states": 0, "bad": 0, "kinds": {}}
    control = {"states": 0, "found": 0}
    left, left_controls, number = count, max(40, count // CONTROL_SHARE), 0
    while left > 0 or left_controls > 0:
        # A new trace for each thousand states, so that they differ in more than their moments.
        history = History(seed + 2 + number)
        before, operations = record(tool, library, history, seed + number, EVENTS)
        figures["traces"] += 1
        figures["operations"] += len(operations)
        for operation in operations:
            figures["kinds"][operation.kind] = figures["kinds"].get(operation.kind, 0) + 1
        results = try_states(
            tool, before, operations, history, min(left, 1000), seed + number, False)
        figures["states"] += len(results)
        for point, problem in results:
            if problem:
                figures["bad"] += 1
                if figures["bad"] <= 5:
                    report.fail("power", "trace %d, operation %d: %s" % (number, point, problem))
        results = try_states(
            tool, before, operations, history, min(left_controls, 100), seed + number, True)
        control["states"] += len(results)
        control["found"] += sum(problem is not None for _, problem in results)
        left, left_controls, number = left - 1000, left_controls - 100, number + 1
        os.remove(os.path.join(tool.scratch, "trace"))
        say("power: %d states, %d bad; without syncs %d of %d bad" % (
            figures["states"], figures["bad"], control["found"], control["states"]))
    report.figures["power"] = figures
    control["percent"] = round(100 * control["found"] / max(1, control["states"]), 1)
    report.figures["powerControlWithoutSyncs"] = control
    if figures["bad"] > 5:
        report.fail("power", "%d states are bad" % figures["bad"])
    if control["percent"] <= 50:
        report.fail("power control", "only %s %% of the states without syncs are bad" %
                    control["percent"])
