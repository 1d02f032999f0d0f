"""Simulated power cuts: disk states that a recorded run may have left.

Locks do not survive; views are discarded.
"""

import collections
import os
import random
import shutil
import threading

from disk import Disk, Names, Operation, read_trace
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


def new_ledger_states(operations, points, seed, drops_syncs):
    """Yields (whether the ledger was acknowledged, names, contents) while a ledger is made."""
    source = random.Random(seed)
    disk, names = Disk({}, drops_syncs), Names(drops_syncs)
    wanted = collections.Counter(points)
    is_acknowledged = False
    for index, operation in enumerate([*operations, Operation("e", "", 0, b"")]):
        content = names.now.get(operation.path)
        for _ in range(wanted[index]):
            yield is_acknowledged, names.cut(source), disk.cut(
                operation._replace(path=content or ""), source)
        if operation.kind == "a":
            is_acknowledged = True
        elif operation.kind == "m":
            names.change(operation.path, None, "directory")
        elif operation.kind == "c":
            names.change(operation.path, None, "file-%d" % index)
        elif operation.kind == "u":
            names.change(None, operation.path, None)
        elif operation.kind == "r":
            names.change(operation.data.decode(), operation.path, content)
        elif operation.kind == "s" and content == "directory":
            names.synced(operation.path)
        elif content:
            disk.do(operation._replace(path=content))


def check_new_ledger(tool, state):
    """Opens what is left of a ledger that was being made; None if that is as it must be."""
    is_acknowledged, names, contents = state
    root = tool.directory("made-%d" % threading.get_ident())
    os.makedirs(root)
    try:
        for path in sorted(names, key=lambda name: name.count("/")):
            target = os.path.join(root, path)
            if path == "." or not os.path.isdir(os.path.dirname(target)):
                continue
            if names[path] == "directory":
                os.makedirs(target, exist_ok=True)
            else:
                with open(target, "wb") as file:
                    file.write(contents.get(names[path], b""))
        ledger = os.path.join(root, "ledger")
        if is_acknowledged:
            if checked_audit(tool, ledger, but=("view",))["records"] != 1:
                raise Fault("the catalog is lost")
            checked_log(tool, ledger, None, {})
        else:
            code = tool.run(ledger, "status").returncode
            if code not in (0, 3, 65, 66, 74, 78):
                raise Fault("status ended with %d" % code)
        return None
    except (Fault, ValueError) as fault:
        return str(fault)
    finally:
        shutil.rmtree(root, ignore_errors=True)


def run_new_ledgers(tool, report, library, seed, count):
    """Power cuts while a ledger is made, and after it was said to stand: its names too."""
    root = os.path.realpath(tool.scratch) + "/fresh"
    shutil.rmtree(root, ignore_errors=True)
    os.makedirs(root)
    trace = os.path.join(tool.scratch, "trace-init")
    tool.environment.update(
        LD_PRELOAD=library, RECORDER_TRACE=trace, RECORDER_ROOT=root)
    try:
        tool.ask(os.path.join(root, "ledger"), "init", "--catalog",
                 os.path.join(tool.scratch, "catalog.json"))
    finally:
        for name in ("LD_PRELOAD", "RECORDER_TRACE", "RECORDER_ROOT"):
            del tool.environment[name]
    operations = read_trace(trace)
    os.remove(trace)
    source = random.Random("new/%d" % seed)
    figures = {}
    for drops_syncs in (False, True):
        # Half of the states are those after the acknowledgement.
        points = [
            len(operations) if drops_syncs or n % 2 else source.randrange(len(operations))
            for n in range(count)]
        made = list(new_ledger_states(operations, points, "new/%d" % seed, drops_syncs))
        problems = in_parallel(lambda state: check_new_ledger(tool, state), made)
        bad = [problem for problem in problems if problem]
        figures["withoutSyncs" if drops_syncs else "asRecorded"] = {
            "states": len(made), "bad": len(bad)}
        if drops_syncs and len(bad) * 2 <= len(made):
            report.fail("power control", "%d of %d new ledgers without syncs are bad" % (
                len(bad), len(made)))
        if not drops_syncs and bad:
            report.fail("power", "%d of %d new ledgers: %s" % (len(bad), len(made), bad[0]))
    report.figures["powerNewLedger"] = figures


def run(tool, report, seed, count):
    library = compiled(RECORDER, tool.scratch, "-shared", "-fPIC", "-ldl", "-lpthread")
    tool.make("first")  # Leaves the catalog's file.
    run_new_ledgers(tool, report, library, seed, max(40, count // 20))
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
