"""Flipped bits where a vault finds names: everybody is asked for, and nobody is somebody else."""

import json
import os
import random
import shutil
import struct

from harness.history import QUESTION_TIME
from harness.ledgers import copy_ledger
from harness.report import in_parallel, say

PAGE = 4096
HEADER = 16
# So many names stand on several pages of their table, with a branch page above them.
NAMES = 20_000
# Bits of one damage: they stand on other pages, and the first that is met ends the command.
FLIPS = 4
REPORTED = {3, 65, 74}
BRANCH, LEAF = 1, 2
# Digests, which are the keys of names, and the streams that they lead to.
KEY, VALUE = 16, 8


class Everybody:
    """A ledger of many names, each with an answer of its own."""

    def __init__(self, tool):
        self.tool = tool
        self.ledger = tool.make("named")
        tool.ask(self.ledger, "import", "--format", "events", "-", data=b"".join(
            json.dumps({
                "specversion": "1.0", "id": "named-%d" % n, "source": "faults",
                "type": "grant.given", "time": "2025-01-01T00:00:00.000Z",
                "subject": "customer/named-%d" % n,
                "data": {"grantId": "grant-%d" % n, "tier": "plus"}}).encode() + b"\n"
            for n in range(NAMES)))
        numbers = list(range(NAMES))
        random.Random(NAMES).shuffle(numbers)
        self.asked = "".join(
            json.dumps({"customer": "named-%d" % n, "at": QUESTION_TIME}) + "\n"
            for n in numbers).encode()
        self.answers = ["grant-%d" % n for n in numbers]
        with open(self.file(self.ledger), "rb") as file:
            self.content = file.read()

    @staticmethod
    def file(ledger):
        return os.path.join(ledger, "vault", "data.mdb")

    def ask(self, ledger):
        return self.tool.run(ledger, "show", "--questions", "-", "--json", data=self.asked)

    @staticmethod
    def judge(done, expected):
        """Whether every answer that is given is right, and what is missing was said to be."""
        answers = [
            "".join(grant["grantId"] for grant in json.loads(line)["grants"])
            for line in done.stdout.splitlines()]
        if answers != expected[:len(answers)]:
            return "wrong"
        if done.returncode == 0:
            return "right" if len(answers) == len(expected) else "mute"
        told = done.returncode in REPORTED and done.stderr.strip()
        return "reported" if told else "died %d" % done.returncode


def nodes(content):
    """Where the nodes of the table of names stand (LMDB 0.9, MDB_page and MDB_node): page and range."""
    found = []
    for page in range(2 * PAGE, len(content) - PAGE + 1, PAGE):
        flags, lower = struct.unpack_from("<HH", content, page + 10)
        if flags not in (BRANCH, LEAF) or not HEADER < lower <= PAGE:
            continue
        for slot in range(HEADER, lower, 2):
            node = page + struct.unpack_from("<H", content, page + slot)[0]
            if node + 8 <= page + PAGE and struct.unpack_from("<H", content, node + 6)[0] == KEY:
                end = node + 8 + KEY + (VALUE if flags == LEAF else 0)
                found.append((page, flags, node, end))
    return found


def trial(everybody, places, seed):
    """Flips bits of a copy and asks for everybody."""
    source = random.Random(seed)
    ledger = copy_ledger(everybody.ledger, everybody.tool.directory("misnamed"))
    try:
        image = bytearray(everybody.content)
        for _ in range(FLIPS):
            _, _, start, end = source.choice(places)
            image[source.randrange(start, end)] ^= 1 << source.randrange(8)
        with open(everybody.file(ledger), "wb") as file:
            file.write(image)
        verdict = everybody.judge(everybody.ask(ledger), everybody.answers)
        # Who is told must be able to find out more.
        if verdict == "reported" and everybody.tool.run(ledger, "audit", "--quick").returncode != 3:
            return "not in the audit"
        return verdict
    finally:
        shutil.rmtree(ledger, ignore_errors=True)


def run(tool, report, seed, count):
    """So many damages; half of them of branch pages, which lead past names."""
    everybody = Everybody(tool)
    places = nodes(everybody.content)
    branches = [place for place in places if place[1] == BRANCH]
    verdicts = in_parallel(
        lambda n: trial(everybody, branches if n % 2 else places, "names/%d/%d" % (seed, n)),
        range(count))
    figures = {"names": len(everybody.answers), "pages": len({place[0] for place in places}),
               "branchNodes": len(branches), "damages": count}
    for verdict in verdicts:
        figures[verdict] = figures.get(verdict, 0) + 1
        if verdict not in ("right", "reported"):
            report.fail("names", "a flipped bit: %s" % verdict)
    # The control: of a sound ledger all are right; two whose answers are exchanged, which no checksum
    # can tell, are found.
    sound = everybody.ask(everybody.ledger)
    forged = list(everybody.answers)
    forged[-1], forged[-2] = forged[-2], forged[-1]
    figures["control"] = [
        everybody.judge(sound, expected) for expected in (everybody.answers, forged)]
    if figures["control"] != ["right", "wrong"] or not branches or "reported" not in figures:
        report.fail("names control", str(figures))
    report.figures["names"] = figures
    say("names: %s" % figures)
