"""Mutated lines for `import`, catalogs, questions and arguments, given to the command.

No process may die: each ends with a code of the closed set, and never by a signal or a trap. What
`import` takes and what it puts aside are together what it was given.
"""

import concurrent.futures
import json
import os
import random
import sys
import time

from harness.command import Tool
from harness.history import History
from harness.report import Fault, say
from values import NUMBERS, NUMBER_TEXTS, TEXTS, Values, catalog

# 70 is a fault of the program, a trap among them.
CODES = {0, 1, 2, 3, 4, 64, 65, 66, 73, 74, 75, 77, 78}
LINES_PER_IMPORT = 20_000
# Of a million lines, as many of the others.
SHARE = 50
COMMANDS = [
    ["show", "*", "--at", "*"], ["show", "*", "--known", "*"], ["show", "*", "--known-sequence", "*"],
    ["can", "*", "*", "--at", "*"], ["explain", "*", "*", "--for", "*", "--lang", "*"],
    ["timeline", "*", "--at", "*"], ["diff", "*", "--from", "*", "--to", "*"],
    ["events", "--from", "*", "--to", "*", "--limit", "*"], ["events", "--since", "*", "--until", "*"],
    ["events", "--customer", "*", "--type", "*"], ["events", "--purchase", "*", "--limit", "1"],
    ["report", "errors", "--window-minutes", "*", "--baseline-windows", "*"],
    ["report", "stages", "--thresholds", "*"], ["report", "revenue", "--from", "*", "--to", "*"],
    ["grant", "*", "--tier", "*", "--expires", "*"], ["withdraw", "*", "*"], ["trial", "*", "*"],
    ["use", "*", "*", "--amount", "*", "--unit", "*"], ["use", "*", "--undo", "*"],
    ["link", "*", "*"], ["prove", "*"], ["prove", "--consistency", "*"],
    ["catalog", "gates", "--level", "*", "--feature", "*", "--customer", "*"],
    ["keys", "create", "--scope", "*", "--expires", "*"], ["keys", "revoke", "*"],
    ["drift", "--sample", "*"], ["*", "*"], ["tail", "--after", "*", "--limit", "0"],
    ["export", "--customer", "*", "--from", "*", "--output", "/dev/null/x"],
    ["webhooks", "add", "*"], ["webhooks", "add", "https://127.0.0.1/", "--type", "*", "--of", "*"],
    ["webhooks", "deliveries", "*", "--state", "*", "--limit", "*"],
    ["webhooks", "resend", "*", "--from", "*", "--to", "*"], ["webhooks", "remove", "*"],
]


def mutated(r, values, line):
    """A line that is not quite one."""
    kind = r.randrange(8)
    if kind < 4:
        event = json.loads(line)
        for _ in range(r.choice([1, 1, 2, 5])):
            place = r.choice([event, event["data"]] if isinstance(event.get("data"), dict) else [event])
            name = r.choice([*place, values.text()[:60]]) if place else "x"
            change = r.randrange(4)
            if change == 0:
                place.pop(name, None)
            else:
                place[name] = values.anything() if change < 3 else r.choice(NUMBERS)
        return json.dumps(event, ensure_ascii=r.random() < 0.5).encode("utf-8", "surrogatepass")
    data = bytearray(line.rstrip(b"\n"))
    if kind == 4:
        for _ in range(r.choice([1, 2, 8])):
            data[r.randrange(len(data))] = r.randrange(256)
    elif kind == 5:
        data = data[:r.randrange(len(data))]
    elif kind == 6:
        place = r.randrange(len(data))
        data[place:place] = r.choice(NUMBER_TEXTS + TEXTS).encode("utf-8", "surrogatepass")
    # An empty line is none.
    return bytes(data).replace(b"\n", b" ").strip() or b"0"


class Lines:
    """The command, and what it is given."""

    def __init__(self, tool, seed, findings):
        self.tool, self.findings = tool, findings
        self.random = random.Random(seed)
        self.values = Values(self.random, {"components": {"schemas": {}}})
        self.ledger = tool.directory("ledger")

    def ended(self, words, data=None):
        """What a run came to; a fault where it died."""
        done = self.tool.run_plain(*words, data=data, timeout=600)
        if done.returncode not in CODES:
            os.makedirs(self.findings, exist_ok=True)
            path = os.path.join(self.findings, "lines-%d" % time.time_ns())
            with open(path, "wb") as file:
                file.write(json.dumps(words).encode() + b"\n" + (data or b""))
            raise Fault("%s ended with %d (%s): %s" % (
                words[:3], done.returncode, path, done.stderr[-800:].decode(errors="replace")))
        return done

    def imports(self, count):
        """Lines in runs of `import`; all are accounted for."""
        history, index, left = History(self.random.randrange(1 << 30)), 0, count
        totals = {"appended": 0, "duplicate": 0, "refused": 0}
        while left > 0:
            size = min(left, LINES_PER_IMPORT)
            given = []
            for _ in range(size):
                line = history.line(index)
                index += 1
                given.append(
                    line.rstrip(b"\n") if self.random.random() < 0.1
                    else mutated(self.random, self.values, line))
            done = self.ended(
                ["import", "-", "--ledger", self.ledger, "--json", "--on-error", "quarantine"],
                b"\n".join(given) + b"\n")
            answer = json.loads(done.stdout.splitlines()[-1])
            for name in totals:
                totals[name] += answer[name]
            left -= size
        if sum(totals.values()) != count:
            raise Fault("of %d lines, %s are told of" % (count, totals))
        # A tenth of them are events as they should be.
        if not totals["appended"]:
            raise Fault("of %d lines none is taken: %s" % (count, totals))
        return totals

    def catalogs(self, count):
        """Documents for `catalog validate`."""
        documents = (
            json.dumps(catalog(self.values)).encode("utf-8", "surrogatepass") for _ in range(count))
        return self.together(["catalog", "validate", "-", "--json"], documents)

    def together(self, words, inputs):
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            codes = [done.returncode for done in pool.map(lambda data: self.ended(words, data), inputs)]
        return {str(code): codes.count(code) for code in sorted(set(codes))}

    def questions(self, count):
        """Lines for `show --questions`, each behind one that is answered: a bad one ends it."""
        r, given = self.random, []
        first = b'{"customer":"customer-1-1"}\n'
        for number in range(count):
            question = {"customer": "customer-1-%d" % r.randrange(40), "at": r.choice(["now", "-36h"])}
            for _ in range(r.choice([1, 1, 2])):
                question[r.choice(["customer", "at", "known", "knownSequence", "environment", "x"])] = \
                    r.choice([self.values.anything(), self.values.text(), r.choice(NUMBERS)])
            line = json.dumps(question).encode("utf-8", "surrogatepass")
            if r.random() < 0.2:
                line = mutated(r, self.values, line + b"\n")
            given.append(line)
        return self.together(
            ["show", "--questions", "-", "--ledger", self.ledger, "--json"],
            [first + line + b"\n" for line in given])

    def arguments(self, count):
        """Calls with words that nobody expects."""
        r, calls = self.random, []
        for _ in range(count):
            words = []
            for word in r.choice(COMMANDS):
                if word == "*":
                    word = r.choice(["customer-1-1", "export", self.values.text(), str(r.choice(NUMBERS))])
                    word = word.replace("\0", "").encode("utf-8", "surrogatepass")[:8000]
                words.append(word)
            calls.append([*words, "--ledger", self.ledger, "--json"])
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            codes = [done.returncode for done in pool.map(lambda call: self.ended(call, b""), calls)]
        return {str(code): codes.count(code) for code in sorted(set(codes))}


def control(tool, findings):
    """A command that dies is found."""
    lines = Lines(Tool("/bin/sh", tool.scratch), 1, findings)
    for script in ("kill -ILL $$", "exit 70", "kill -SEGV $$"):
        try:
            lines.ended(["-c", script])
        except Fault:
            continue
        raise Fault("a command that dies was not found: " + script)


def run(tool, report, seed, count, findings):
    control(tool, findings)
    say("fuzz lines: planted deaths found")
    lines = Lines(tool, seed, findings)
    tool.ask(lines.ledger, "init", "--catalog", tool.catalog())
    others = max(40, count // SHARE)
    figures = report.figures.setdefault("lines", {})
    for name, part, size in (
            ("imports", lines.imports, count), ("catalogs", lines.catalogs, others),
            ("questions", lines.questions, others), ("arguments", lines.arguments, others)):
        begin = time.monotonic()
        outcome = part(size)
        figures[name] = {"count": size, "seconds": round(time.monotonic() - begin, 1), **outcome}
        say("fuzz lines: %s: %s" % (name, json.dumps(figures[name])))
    print(file=sys.stderr)
