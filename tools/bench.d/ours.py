"""Runs `entitle bench` and the references in turn, and makes rows of their figures."""

import json
import os
import subprocess

import plan
import references
import rows
from harness.report import Fault, say


class Pairs:
    """Figures of our row and of one reference, run by run."""

    def __init__(self):
        self.ours = []
        self.theirs = []


class Bench:
    def __init__(self, binary, client, scratch, options, beside):
        self.binary = binary
        self.client = client
        self.scratch = scratch
        self.options = options
        self.beside = beside
        self.records = references.Records(os.path.join(scratch, "records"))

    def words(self, topics):
        words = [self.client()] if topics == [plan.CLIENT] else [
            self.binary, "bench", *topics, "--events", str(self.options.events)]
        words += ["--json", "--directory", self.scratch, "--runs", str(self.options.runs),
                  "--partner-records", self.records.path]
        return words + (["--quick"] if self.options.quick else [])

    def measure(self, topics):
        """The rows of topics; each run of ours is followed by one of each reference."""
        say("bench: %s" % ", ".join(topics))
        pairs = {}
        lines = self.answered(topics, pairs)
        names = [line["name"] for line in lines]
        expected = [name for topic in topics for name in plan.ROWS[topic]]
        if names != expected:
            raise Fault("entitle bench: rows %s, expected %s" % (names, expected))
        return [made for line in lines for made in self.finished(line, pairs)]

    def answered(self, topics, pairs):
        """The rows that the command prints at its end; between its runs the references have their
        turns."""
        lines = []
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith("ENTITLE_")}
        with open(os.path.join(self.scratch, "errors"), "w+b") as log, subprocess.Popen(
                self.words(topics), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
                text=True, env=environment, cwd=self.scratch) as process:
            try:
                for line in process.stdout:
                    answer = json.loads(line)
                    if "run" not in answer:
                        lines = answer["rows"]
                        continue
                    self.take_turn(answer["run"], pairs)
                    process.stdin.write("\n")
                    process.stdin.flush()
            except BrokenPipeError:
                pass  # It has ended; its exit code says why.
            except BaseException:
                process.kill()
                raise
            if process.wait() != 0:
                log.seek(0)
                raise Fault("entitle bench %s ended with %d: %s" % (
                    " ".join(topics), process.returncode,
                    log.read()[-300:].decode(errors="replace").strip()))
        return lines

    def take_turn(self, figures, pairs):
        """Measures what stands beside a run, and notes both sides."""
        ours = {figure["name"]: figure["value"] for figure in figures}
        for key, measure in plan.BESIDE.get(figures[0]["name"], []):
            if not self.beside.offers(key):
                continue
            for name, value in measure(self.beside, ours, self.records).items():
                pair = pairs.setdefault((name, key), Pairs())
                pair.ours.append(ours[name])
                pair.theirs.append(value)

    def finished(self, line, pairs):
        """A row of ours, beside its first reference, and a row for each other one."""
        name, unit = line["name"], line["unit"]
        mine = [(key, pair) for (row, key), pair in pairs.items() if row == name]
        primary = first_reference(name)
        made = []
        for key, pair in mine:
            own = name if key == primary else "%s/%s" % (name, key)
            made.append(rows.row(own, unit, pair.ours, pair.theirs, key))
        if name not in [each["name"] for each in made]:
            made.insert(0, rows.judged(dict(line)))
        return made


def first_reference(name):
    """The reference that a row's goal names."""
    for first, beside in plan.BESIDE.items():
        if name == first or name.startswith(first + "-p"):
            return beside[0][0]
    return None
