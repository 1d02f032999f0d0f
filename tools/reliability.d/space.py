"""Full maps, full reader tables and readers that stay: clear words, and going on afterwards."""

import os
import random
import resource
import subprocess
import time

from harness.feeding import Acknowledgements, feed, finish
from harness.history import History
from harness.install import compiled
from harness.ledgers import checked_audit, checked_log, checked_replay
from harness.report import Fault, Missing, say
from harness.server import Server

SMALL_MAP = {"ENTITLE_MAP_BYTES": str(1 << 20)}
# Events that outgrow it.
OUTGROWN = 6_000
# A map grows by 16 GiB: threads fit into this, a larger map does not.
SPARE_ADDRESSES = 6 << 30
# How often, and for how long, the readers of a ledger that is followed are looked at.
FOLLOWED_LOOKS, FOLLOWED_SECONDS = 8, 2.0
READERS_SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "readers.c")
# What compilers say where liblmdb-dev is not installed.
NO_HEADER = ("lmdb.h: No such file", "'lmdb.h' file not found")
# The slots of an LMDB lock file.
READERS = 1024


def size_of(ledger, part):
    """Bytes that a part's data file takes on the disk."""
    return os.stat(os.path.join(ledger, part, "data.mdb")).st_blocks * 512


def take_in(tool, ledger, history, first, last, extra_environment=None):
    """Imports a piece of a history and checks all that was acknowledged."""
    answered = Acknowledgements(first)
    process = tool.start_import(ledger, extra_environment=extra_environment)
    feed(process, history, first, last, answered, random.Random(first))
    code, errors = finish(process, answered)
    if code != 0 or checked_log(tool, ledger, history, answered.sequences) != last:
        raise Fault("an import ended with %d: %s" % (code, errors[-300:]))


def check_growth(tool, history):
    """More than the map holds is recorded; a reader of the same small map follows."""
    ledger = tool.make("grows")
    take_in(tool, ledger, history, 0, OUTGROWN, SMALL_MAP)
    tool.environment.update(SMALL_MAP)
    try:
        tool.ask(ledger, "show", history.customer(0))
    finally:
        for name in SMALL_MAP:
            del tool.environment[name]
    checked_audit(tool, ledger)
    grown = size_of(ledger, "log")
    if grown <= int(SMALL_MAP["ENTITLE_MAP_BYTES"]):
        raise Fault("the map was never full: %d bytes" % grown)
    return grown


def limit_addresses(process, spare):
    """Lets a process have so many bytes of address space more; None: as many as it wants."""
    limit = resource.RLIM_INFINITY
    if spare is not None:
        with open("/proc/%d/statm" % process.pid, encoding="ascii") as file:
            limit = int(file.read().split()[0]) * resource.getpagesize() + spare
    hard = resource.prlimit(process.pid, resource.RLIMIT_AS)[1]
    resource.prlimit(process.pid, resource.RLIMIT_AS, (limit, hard))


def fill(server, first, count):
    """Gives grants, each with a long reason, up to the first refusal: how many, and its answer."""
    connection = server.connect()
    for number in range(first, first + count):
        status, _, answer = server.ask("POST", "/v1/customers/full-%d/grants" % number, {
            "grantId": "g%d" % number, "tier": "pro", "reason": "x" * 1000}, connection=connection)
        if status != 200:
            return number, status, answer
    return first + count, 200, None


def check_full(tool, is_limited, count):
    """A server whose map cannot grow refuses clearly, answers on, and records when there is room."""
    ledger = tool.make("full")
    with Server(tool, ledger, environment=SMALL_MAP) as server:
        if is_limited:
            limit_addresses(server.process, SPARE_ADDRESSES)
        given, status, answer = fill(server, 0, count)
        if not is_limited:
            return given, status
        if status not in (503, 507) or answer.get("code") != "storage_full" \
                or not answer.get("retryable"):
            raise Fault("a full map was answered %d: %s" % (status, answer))
        for number in (0, given - 1):
            status, _, answer = server.ask("GET", "/v1/customers/full-%d/features/export" % number)
            if status != 200 or not answer["allowed"]:
                raise Fault("beside a full map a question was answered %d: %s" % (status, answer))
        status, _, answer = server.ask("GET", "/v1/customers/full-%d/features/export" % given)
        if status != 200 or answer["allowed"]:
            raise Fault("what was refused is there: %d %s" % (status, answer))
        limit_addresses(server.process, None)
        later, status, answer = fill(server, given, 50)
        if status != 200:
            raise Fault("when there is room again: %d %s" % (status, answer))
        server.stop()
    checked_audit(tool, ledger)
    # What the log notes of who gave them stands beside.
    recorded = tool.ask(ledger, "events", "--type", "grant.given", "--json").splitlines()
    if len(recorded) != later:
        raise Fault("%d grants were acknowledged, others are in the log" % later)
    checked_replay(tool, ledger)
    return given, status


class Readers:
    """A process that holds read transactions of the log."""

    def __init__(self, program, ledger, count):
        self.process = subprocess.Popen(
            [program, os.path.join(ledger, "log"), str(count)], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE)
        line = self.process.stdout.readline()
        self.taken = int(line) if line else 0

    def end(self, kill=False):
        if kill:
            self.process.kill()
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def check_readers(tool, program):
    """Every reader's slot is taken: exit 75 with a hint; afterwards all goes on without a restart."""
    ledger = tool.make("readers")
    tool.ask(ledger, "grant", "ann", "--tier", "pro")
    commands = (["can", "ann", "export"], ["show", "ann"], ["grant", "bob", "--tier", "pro"])
    refused = 0
    with Server(tool, ledger) as server:
        for kill in (False, True):
            held = Readers(program, ledger, READERS)
            try:
                if held.taken < READERS - 64:
                    raise Fault("only %d readers' slots were taken" % held.taken)
                for words in commands[:2]:
                    done = tool.run(ledger, *words)
                    if done.returncode != 75 or b"hint" not in done.stderr:
                        raise Fault("without a reader's slot %s ended with %d: %s" % (
                            words[0], done.returncode, done.stderr[-200:]))
                    refused += 1
                status, _, answer = server.ask("GET", "/v1/customers/ann/features/export")
                if (status, (answer or {}).get("allowed")) != (200, True) and status != 503:
                    raise Fault("without a reader's slot the server says %d %s" % (
                        status, answer))
            finally:
                held.end(kill)
            # The slots of a killed reader are found by whoever needs one.
            for words in commands[:2]:
                tool.ask(ledger, *words)
            if server.grant("bob", 1 + kill) != (200, None):
                raise Fault("after the readers the server does not record")
        server.stop()
    checked_audit(tool, ledger)
    return refused


def check_long_reader(tool, program, history, events, is_held):
    """Bytes that a log grows by under a reader that stays, or without one; then without it again."""
    ledger = tool.make("long")
    held = Readers(program, ledger, 1) if is_held else None
    begin = size_of(ledger, "log")
    try:
        take_in(tool, ledger, history, 0, events)
        middle = size_of(ledger, "log")
    finally:
        if held:
            held.end()
    take_in(tool, ledger, history, events, 2 * events)
    end = size_of(ledger, "log")
    return {"during": middle - begin, "after": end - middle}


def held_snapshots(program, ledger):
    """The processes and threads that read a snapshot of the log now, and which."""
    text = subprocess.run(
        [program, os.path.join(ledger, "log"), "0"], capture_output=True, text=True,
        check=True).stdout
    lines = [line.split() for line in text.splitlines()]
    return {tuple(words) for words in lines
            if len(words) == 3 and words[0].isdigit() and words[2] != "-"}


def check_followers(tool, program):
    """Who follows the log, or waits for a question, holds no snapshot of it meanwhile."""
    ledger = tool.make("followed")
    tail = subprocess.Popen(
        tool.arguments(ledger, "tail"), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, env=tool.environment, cwd=tool.scratch)
    try:
        with Server(tool, ledger) as server:
            if server.grant("ann", 1) != (200, None):
                raise Fault("the server does not record")
            tail.stdout.readline()
            looks = []
            for _ in range(FOLLOWED_LOOKS):
                looks.append(held_snapshots(program, ledger))
                time.sleep(FOLLOWED_SECONDS / FOLLOWED_LOOKS)
            if set.intersection(*looks):
                raise Fault("a follower keeps a snapshot: %s" % set.intersection(*looks))
            # The control: a reader that stays is seen.
            held = Readers(program, ledger, 1)
            seen = held_snapshots(program, ledger)
            held.end()
            if not seen:
                raise Fault("a reader that stays is not seen")
            server.stop()
    finally:
        tail.kill()
        tail.wait()
        tail.stdout.close()
    return len(looks)


def run(tool, report, seed, events):
    history = History(seed + 21)
    figures = report.figures["space"] = {}
    figures["grownBytes"] = check_growth(tool, history)
    given, _ = check_full(tool, True, 100_000)
    figures["grantsBeforeFull"] = given
    # The control: the same map where it may grow.
    beyond, status = check_full(tool, False, 2 * given)
    figures["grantsWithRoom"] = beyond
    if status != 200 or beyond != 2 * given:
        report.fail("space control", "with room a map refused grant %d" % beyond)
    try:
        program = compiled(READERS_SOURCE, tool.scratch, "-llmdb")
    except (Missing, Fault) as missing:
        if isinstance(missing, Fault) and not any(words in str(missing) for words in NO_HEADER):
            raise
        figures["readers"] = {"skipped": str(missing)}
        say("space: readers are skipped: %s" % missing)
        return
    figures["readersRefused"] = check_readers(tool, program)
    figures["looksAtFollowers"] = check_followers(tool, program)
    long, none = (
        check_long_reader(tool, program, history, events, held) for held in (True, False))
    figures["longReader"] = {"withReader": long, "without": none}
    # The control is the reader itself: where it costs nothing, nothing was measured.
    if long["during"] <= none["during"]:
        report.fail("space control", "a reader that stays does not show: %s" % figures)
    # What it kept alive is used again: the second half needs no more than without it.
    if long["after"] > none["after"] * 1.25 + (1 << 20):
        report.fail("space", "after a long reader the file grows on: %s" % figures)
