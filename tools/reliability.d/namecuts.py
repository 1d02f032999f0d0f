"""Simulated power cuts while names of files change, too: a ledger that is made, one that takes a newer
format, and an erasure.

A state has those names that a sync of their folder made durable, and any of the changes that wait.
Locks do not survive; views are discarded.
"""

import os
import random
import shutil
import threading

import erasures
import formats
from disk import Disk, Names, Operation, read_trace
from harness.history import History
from harness.install import compiled
from harness.ledgers import checked_audit, checked_log, copy_ledger
from harness.report import Fault, in_parallel
from people import People

# What is neither followed nor kept.
PASSED_OVER = ("lock.mdb", "writer.lock", "views")
# Customers who go.
GONE = [0, 1]
OLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "older.c")
# Events of a ledger of format 1, and with those that a newer program adds.
FIRST, ALL = 60, 120


def standing(root):
    """Names below a folder, each with what it leads to, and the contents of files."""
    names, contents = {".": "directory"}, {}
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name not in PASSED_OVER]
        for name in folders + [name for name in files if name not in PASSED_OVER]:
            path = os.path.join(folder, name)
            at = os.path.relpath(path, root)
            names[at] = "directory"
            if name in files:
                names[at] = "was " + at
                with open(path, "rb") as file:
                    contents[names[at]] = file.read()
    return names, contents


def recorded(tool, library, root, work):
    """What a command asks of the disk below a folder, which is as its record says afterwards."""
    base, trace = standing(root), os.path.join(tool.scratch, "trace-names")
    tool.environment.update(
        LD_PRELOAD=library, RECORDER_TRACE=trace, RECORDER_ROOT=os.path.realpath(root))
    try:
        work()
    finally:
        for name in ("LD_PRELOAD", "RECORDER_TRACE", "RECORDER_ROOT"):
            del tool.environment[name]
    operations = read_trace(trace)
    os.remove(trace)
    names, disk = Names(base[0], False), Disk(base[1], False)
    for index, operation in enumerate(operations):
        do(operation, index, names, disk)
    for waiting in disk.waiting:
        disk.apply(disk.durable, waiting)
    now = standing(root)
    if {path: kind == "directory" for path, kind in names.now.items()} != {
            path: kind == "directory" for path, kind in now[0].items()}:
        raise Fault("the record does not give the names")
    for path, content in names.now.items():
        if content != "directory" and disk.durable.get(content, b"") != now[1][now[0][path]]:
            raise Fault("the record does not give the file %s" % path)
    return base, operations


def do(operation, index, names, disk):
    """Takes one operation of a record, the one at an index."""
    content = names.now.get(operation.path)
    if operation.kind == "m":
        names.change(operation.path, None, "directory")
    elif operation.kind == "c":
        names.change(operation.path, None, "file %d" % index)
    elif operation.kind == "u":
        names.change(None, operation.path, None)
    elif operation.kind == "r":
        names.change(operation.data.decode(), operation.path, content)
    elif operation.kind == "s" and content == "directory":
        names.synced(operation.path)
    elif content:
        disk.do(operation._replace(path=content))


def states(base, operations, points, seed, drops_syncs):
    """Whether it was acknowledged, names and contents at points of a record."""
    source = random.Random(seed)
    names, disk = Names(base[0], drops_syncs), Disk(base[1], drops_syncs)
    # What it says last; before that, a process that it starts may say something to it.
    acknowledged = max(n for n, operation in enumerate(operations) if operation.kind == "a")
    made = []
    for index, operation in enumerate([*operations, Operation("e", "", 0, b"")]):
        if operation.kind == "x":
            raise Fault("a call failed while it was recorded")
        content = names.now.get(operation.path) or ""
        for _ in range(points.count(index)):
            made.append((index > acknowledged, names.cut(source), disk.cut(
                operation._replace(path=content), source)))
        if operation.kind != "a":
            do(operation, index, names, disk)
    return made


def check_state(tool, state, check):
    """Lays a state out and checks it; None if it is sound, else what is wrong."""
    is_acknowledged, names, contents = state
    root = tool.directory("cut-%d" % threading.get_ident())
    os.makedirs(root)
    try:
        for path in sorted(names, key=lambda name: name.count("/")):
            target = os.path.join(root, path)
            if path == "." or not os.path.isdir(os.path.dirname(target)):
                continue
            if names[path] == "directory":
                os.makedirs(target, mode=0o700, exist_ok=True)
            else:
                with open(target, "wb") as file:
                    file.write(contents.get(names[path], b""))
        check(root, is_acknowledged)
        return None
    except (Fault, ValueError, KeyError) as fault:
        return str(fault)
    finally:
        shutil.rmtree(root, ignore_errors=True)


def try_states(tool, report, recorded_run, what, seed, count, check):
    """So many states, half of them after the acknowledgement; as many without syncs, all after it."""
    base, operations = recorded_run
    source = random.Random("%s/%d" % (what, seed))
    figures = {"operations": len(operations)}
    for drops_syncs in (False, True):
        points = [
            len(operations) if drops_syncs or n % 2 else source.randrange(len(operations))
            for n in range(count)]
        problems, left = [], points
        # States hold whole files: only a few are kept at a time.
        while left:
            some, left = left[:32], left[32:]
            problems += in_parallel(
                lambda state: check_state(tool, state, check),
                states(base, operations, some, "%s/%d/%d" % (what, seed, len(left)), drops_syncs))
        bad = [problem for problem in problems if problem]
        figures["withoutSyncs" if drops_syncs else "asRecorded"] = {
            "states": len(problems), "bad": len(bad)}
        if drops_syncs and len(bad) * 2 <= len(problems):
            report.fail("power control", "%d of %d states of %s without syncs are bad" % (
                len(bad), len(problems), what))
        if not drops_syncs and bad:
            report.fail("power", "%d of %d states of %s: %s" % (
                len(bad), len(problems), what, bad[0]))
    return figures


def new_ledgers(tool, report, library, seed, count):
    """While a ledger is made, and after it was said to stand."""
    root = tool.directory("fresh")
    os.makedirs(root)
    run = recorded(tool, library, root, lambda: tool.ask(
        os.path.join(root, "ledger"), "init", "--catalog", tool.catalog()))

    def check(root, is_acknowledged):
        ledger = os.path.join(root, "ledger")
        if is_acknowledged:
            if checked_audit(tool, ledger, but=("view",))["records"] != 1:
                raise Fault("the catalog is lost")
            checked_log(tool, ledger, None, {})
            return
        code = tool.run(ledger, "status").returncode
        if code not in (0, 3, 65, 66, 74, 78):
            raise Fault("status ended with %d" % code)

    return try_states(tool, report, run, "a new ledger", seed, count, check)


def upgraded(tool, report, library, seed, count):
    """While the first new streams ride in the log of a ledger of format 1 (Storage, "New streams ride
    in the log's commit"): none of them stands there before the ledger says format 2."""
    history = History(seed)
    ledger = tool.make("older")

    def grow(ledger, start, end):
        tool.ask(ledger, "import", "--format", "events", "-",
                 data=history.lines(range(start, end)))

    grow(ledger, 0, FIRST)
    formats.make_first(tool, compiled(OLDER, tool.scratch, "-llmdb"), ledger)

    def check(root, is_acknowledged):
        checked_audit(tool, root, but=("view",))
        events = checked_log(tool, root, history, {FIRST - 1: FIRST})
        if is_acknowledged and events != ALL:
            raise Fault("%d of %d events are there" % (events, ALL))
        if events > FIRST and formats.said(root) != 2:
            raise Fault("new streams stand in a ledger of format %d" % formats.said(root))
        grow(root, 0, ALL)
        checked_audit(tool, root)
        checked_log(tool, root, history, {ALL - 1: ALL})

    run = recorded(tool, library, ledger, lambda: grow(ledger, FIRST, ALL))
    figures = try_states(tool, report, run, "a newer format", seed, count, check)
    # The control: nobody waits until the name of what says the format is on the disk.
    base, operations = run
    early = [operation for operation in operations if (operation.kind, operation.path) != ("s", ".")]
    problems = in_parallel(
        lambda state: check_state(tool, state, check),
        states(base, early, [len(early)] * count, "early/%d" % seed, False))
    figures["saidTooLate"] = sum("of format 1" in (problem or "") for problem in problems)
    if not figures["saidTooLate"]:
        report.fail("power control", "no state has new streams in a ledger of format 1")
    return figures


def erased(tool, report, library, seed, count):
    """While people are erased whose streams wait in the log (Storage, "New streams ride in the log's
    commit"), and after it was said to be done: not begun, or finished by the next who writes."""
    people = People(seed, erasures.OTHERS)
    ledger = copy_ledger(erasures.waiting(tool, people), tool.directory("erased"))

    def erase():
        done = erasures.erase(tool, ledger, [people.customer(number) for number in GONE])
        if done.returncode != 0:
            raise Fault("the recorded erasure ended with %d: %s" % (
                done.returncode, done.stderr[-300:]))

    def check(root, is_acknowledged):
        erasures.checked_end(
            tool, root, people, GONE, True if is_acknowledged else None, but=("view",))

    return try_states(tool, report, recorded(tool, library, ledger, erase), "an erasure", seed,
                      count, check)


def run(tool, report, library, seed, size):
    """`size`: states of imports; of each of these there is a twentieth."""
    report.figures["powerNewLedger"] = new_ledgers(
        tool, report, library, seed, max(40, size // 20))
    report.figures["powerFormat"] = upgraded(tool, report, library, seed, max(16, size // 20))
    report.figures["powerErasure"] = erased(tool, report, library, seed, max(16, size // 20))
