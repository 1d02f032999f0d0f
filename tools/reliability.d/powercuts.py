"""Simulated power cuts: disk states that a recorded run may have left.

A state holds all writes that a sync made durable and any part of those that wait, in sectors of
512 bytes that reach the disk independently of one another. Locks do not survive; views are
discarded.
"""

import collections
import os
import random
import shutil
import struct
import subprocess
import threading

from harness import (
    Acknowledgements, Fault, History, checked_audit, checked_log, checked_replay, copy_ledger,
    feed, finish, in_parallel, say)

SECTOR = 512
EVENTS = 420
HEAD = struct.Struct("<BHIQ")
# Writes that wait in the control where syncs do nothing; the older ones reach the disk by age.
CONTROL_BACKLOG = 40
Operation = collections.namedtuple("Operation", "kind path offset data")


def read_trace(path):
    with open(path, "rb") as file:
        content = file.read()
    operations, at = [], 0
    while at < len(content):
        kind, path_length, data_length, offset = HEAD.unpack_from(content, at)
        at += HEAD.size
        name = content[at:at + path_length].decode()
        at += path_length
        operations.append(Operation(chr(kind), name, offset, content[at:at + data_length]))
        at += data_length
    return operations


class Disk:
    """What is on the disk for sure, and what waits."""

    def __init__(self, base, drops_syncs):
        self.durable = {path: bytearray(content) for path, content in base.items()}
        self.waiting = []
        self.drops_syncs = drops_syncs

    @staticmethod
    def put(files, path, offset, data):
        image = files.setdefault(path, bytearray())
        if len(image) < offset + len(data):
            image.extend(bytes(offset + len(data) - len(image)))
        image[offset:offset + len(data)] = data

    @classmethod
    def apply(cls, files, operation, keeps=None):
        """Applies a change; `keeps` says of each sector of a write whether it arrives."""
        if operation.kind == "t":
            image = files.setdefault(operation.path, bytearray())
            if len(image) > operation.offset:
                del image[operation.offset:]
            else:
                image.extend(bytes(operation.offset - len(image)))
            return
        if keeps is None:
            return cls.put(files, operation.path, operation.offset, operation.data)
        # Sectors are the disk's: the first and the last piece may be shorter.
        start, end = operation.offset, operation.offset + len(operation.data)
        while start < end:
            stop = min(end, (start // SECTOR + 1) * SECTOR)
            if keeps():
                cls.put(files, operation.path, start,
                        operation.data[start - operation.offset:stop - operation.offset])
            start = stop

    def do(self, operation):
        if operation.kind in "wt" or (operation.kind == "d" and self.drops_syncs):
            self.waiting.append(operation)
        elif operation.kind == "d":
            self.apply(self.durable, operation)
        elif operation.kind == "s" and not self.drops_syncs:
            for waiting in self.waiting:
                if waiting.path == operation.path:
                    self.apply(self.durable, waiting)
            self.waiting = [w for w in self.waiting if w.path != operation.path]
        if self.drops_syncs and len(self.waiting) > CONTROL_BACKLOG:
            self.apply(self.durable, self.waiting.pop(0))

    def cut(self, current, source):
        """The files after a power cut, the current change being under way."""
        files = {path: bytearray(image) for path, image in self.durable.items()}
        waiting = list(self.waiting)
        if current.kind in "wdt":
            waiting.append(current)
        mode = source.choice(["some", "all", "none", "sectors", "prefix"])
        cut_at = source.randrange(len(waiting) + 1)
        if mode == "some":
            # What reaches the disk does so in any order.
            source.shuffle(waiting)
        for index, operation in enumerate(waiting):
            arrives = {
                "some": source.random() < 0.5, "all": True, "none": False, "sectors": None,
                "prefix": index < cut_at}[mode]
            if operation.kind == "t":
                if arrives or (arrives is None and source.random() < 0.5):
                    self.apply(files, operation)
            elif arrives is None or source.random() < 0.15:
                self.apply(files, operation, lambda: source.random() < 0.5)
            elif arrives:
                self.apply(files, operation)
        return files


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


class Names:
    """Directory entries: those that stand for sure, and changes that wait for a sync."""

    def __init__(self, drops_syncs):
        self.now = {".": "directory"}
        self.durable = {".": "directory"}
        self.waiting = []
        self.drops_syncs = drops_syncs

    def change(self, added, removed, what):
        entry = (added, removed, what)
        self.apply(self.now, entry)
        self.waiting.append(entry)

    @staticmethod
    def apply(names, entry):
        added, removed, what = entry
        if removed:
            names.pop(removed, None)
        if added:
            names[added] = what

    def synced(self, directory):
        if self.drops_syncs:
            return
        still = []
        for entry in self.waiting:
            if (os.path.dirname(entry[0] or entry[1]) or ".") == directory:
                self.apply(self.durable, entry)
            else:
                still.append(entry)
        self.waiting = still

    def cut(self, source):
        names = dict(self.durable)
        likely = source.choice([0.1, 0.5, 0.9])
        for entry in self.waiting:
            if source.random() < likely:
                self.apply(names, entry)
        return names


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


def run(tool, report, seed, count, controls, compiler):
    if not compiler:
        report.figures["power"] = {"skipped": "there is no C compiler"}
        say("power: skipped, there is no C compiler")
        return
    library = os.path.join(tool.scratch, "recorder.so")
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "recorder.c")
    subprocess.run(
        [compiler, "-O2", "-shared", "-fPIC", source, "-o", library, "-ldl", "-lpthread"],
        check=True)
    tool.make("first")  # Leaves the catalog's file.
    run_new_ledgers(tool, report, library, seed, max(40, count // 20))
    figures = {"traces": 0, "operations": 0, "states": 0, "bad": 0, "kinds": {}}
    control = {"states": 0, "found": 0}
    left, left_controls, number = count, controls, 0
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
