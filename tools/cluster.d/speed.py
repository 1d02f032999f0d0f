"""What appends to a cluster's journal cost, beside PostgreSQL's own on the same primary and standby in one run.

Ours is a leader over its journal (Tests/ClusterNode, `measure`): bytes as they are, hashed into the tree, one call a
commit; its own copy is in memory. Theirs is tools/bench.d/postgres.c, which stores the same bytes one row an event, with
an index of streams and a unique one of digests, and PostgreSQL's own pgbench. Rows of "the database alone" have pgbench
make the journal's call, so that none of the node's own work is in them.

All of it shares the machine, the standby too. Where others use it, each commit waits for a processor several times: that
costs who has one commit on its way more than who has 64. So a row says how busy the machine was.
"""
import json
import os
import subprocess

from harness.start import ROOT
from nodes import place
from pair import Pair

CALLERS, GROUP, RECORD_BYTES = 64, 1000, 280
SOURCE = os.path.join(ROOT, "tools/bench.d")
TABLE = "CREATE TABLE IF NOT EXISTS entry (number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, bytes bytea NOT NULL)"
EVENTS = ("INSERT INTO event (stream, kind, time, digest, body) SELECT (random() * 1e15)::bigint, 1, 1,"
          " uuid_send(gen_random_uuid()), decode(repeat('a7', %d), 'hex') FROM generate_series(1, %d);\n" % (RECORD_BYTES, GROUP))
INSERT = "INSERT INTO entry (bytes) VALUES (decode(repeat('a7', %d), 'hex'));\n" % RECORD_BYTES
# The root is none: the function does not know the tree.
CALL = """SELECT new.* FROM {schema}.ledger l, LATERAL {schema}.append(l.term, l.leader, l.size, l.root,
 l.vault_position, l.generation, l.size, {group}, l.root, l.last_recorded, l.highest_counter,
 decode(repeat('a7', {count}), 'hex'), '{{}}', '{{}}') new;
""".replace("\n", "").replace("new;", "new;\n")


class Measured:
    """Both sides of each row."""

    def __init__(self, program, pair, scratch):
        self.program, self.pair, self.scratch = program, pair, scratch
        self.client = os.path.join(scratch, "postgres")
        self.schemas = 0
        flags = subprocess.run(["pkg-config", "--cflags", "--libs", "libpq"], capture_output=True, text=True, check=True)
        subprocess.run(["cc", "-O3", "-std=gnu11", "-I", SOURCE, "-o", self.client, SOURCE + "/postgres.c",
                        *flags.stdout.split()], check=True)

    def records(self, count):
        """A file of them, each behind its length."""
        path = os.path.join(self.scratch, "records")
        with open(path, "wb") as file:
            for _ in range(count):
                file.write(RECORD_BYTES.to_bytes(4, "little") + os.urandom(RECORD_BYTES))
        return path

    def ours(self, what, count, amount):
        self.schemas += 1
        schema = "speed_%d" % self.schemas
        done = subprocess.run([self.program, "measure", place(self.pair.folder), schema, self.records(count), what,
                               str(amount)], stdout=subprocess.PIPE, text=True, check=True)
        self.drop(schema)
        return figures(json.loads(done.stdout))

    def rows(self, what, count, amount):
        """One row an event."""
        where = "host=%s port=5432 user=postgres dbname=postgres" % self.pair.folder
        done = subprocess.run([self.client, what, self.records(count), where, str(amount)],
                              stdout=subprocess.PIPE, text=True, check=True)
        return figures(json.loads(done.stdout))

    def commits(self, seconds):
        """One row a transaction, by one caller of pgbench."""
        self.pair.sql("a", TABLE)
        return self.pgbench(INSERT, seconds)

    def inserted(self, seconds):
        """One row an event in groups; the table is the last one of postgres.c."""
        self.rows("copy", GROUP, GROUP)
        made = self.pgbench(EVENTS, seconds)
        made["perSecond"] *= GROUP
        return made

    def journal(self, seconds, group):
        """The journal's call for a group of records, by pgbench: without the node's own work."""
        self.schemas += 1
        schema = "speed_%d" % self.schemas
        subprocess.run([self.program, "create", place(self.pair.folder), schema], check=True)
        made = self.pgbench(CALL.format(schema=schema, group=group, count=group * (RECORD_BYTES + 4) + 50), seconds)
        made["perSecond"] *= group
        self.drop(schema)
        return made

    def drop(self, schema):
        self.pair.sql("a", "SET client_min_messages = error; DROP SCHEMA %s CASCADE" % schema)

    def pgbench(self, text, seconds):
        pair = self.pair
        script, prefix = pair.folder + "/script.sql", pair.data("a") + "/pgbench"
        with open(script, "w") as file:
            file.write(text)
        pair.run(pair.bin + "/pgbench", "-h", pair.folder, "-p", "5432", "-n", "-M", "prepared", "-c", "1", "-T", str(seconds),
                 "-f", script, "-l", "--log-prefix=" + prefix, "postgres")
        latencies = []
        for name in os.listdir(pair.data("a")):
            if name.startswith("pgbench."):
                with open(pair.data("a") + "/" + name) as file:
                    latencies += [int(line.split()[2]) for line in file]
                os.remove(pair.data("a") + "/" + name)
        latencies.sort()
        return figures({"count": len(latencies), "seconds": seconds, "p50": latencies[len(latencies) // 2],
                        "p99": latencies[len(latencies) * 99 // 100]})


def figures(line):
    return {"perSecond": round(line["count"] / line["seconds"]), "p50Milliseconds": round(line["p50"] / 1000, 2),
            "p99Milliseconds": round(line["p99"] / 1000, 2)}


def beside(rounds, goal, what, ratio, ours, theirs):
    """Both in turn, so that what else runs on the machine meets each."""
    pairs = sorted(((ours(), theirs()) for _ in range(rounds)), key=lambda pair: ratio(*pair))
    ratios = [round(ratio(*pair), 2) for pair in pairs]
    middle = pairs[len(pairs) // 2]
    return {"what": what, "goal": goal, "ratio": ratios[len(ratios) // 2], "from": ratios[0], "to": ratios[-1],
            "ours": middle[0], "theirs": middle[1], "load": round(os.getloadavg()[0], 1)}


def faster(one, other):
    return one["perSecond"] / other["perSecond"]


def slower(one, other):
    return one["p99Milliseconds"] / other["p99Milliseconds"]


def measured(program, scratch, quick, say):
    """All rows."""
    pair = Pair(scratch + "/f")
    rounds, part = (1, 2) if quick else (7, 1)
    try:
        pair.make()
        both = Measured(program, pair, scratch)
        rows = []

        def row(name, *words):
            say(name)
            rows.append(beside(rounds, *words))

        row("callers", ">= 4", "%d callers that each wait, beside one INSERT a transaction of as many connections" % CALLERS,
            faster, lambda: both.ours("callers", 10_000 // part, CALLERS), lambda: both.rows("insert", 10_000 // part, CALLERS))
        row("callers, the database alone", ">= 4", "calls of %d records, beside one INSERT a transaction of %d connections"
            % (CALLERS - 1, CALLERS), faster, lambda: both.journal(2, CALLERS - 1),
            lambda: both.rows("insert", 10_000 // part, CALLERS))
        row("groups", ">= 4", "groups of %d, beside one row an event in the same groups (COPY)" % GROUP,
            faster, lambda: both.ours("groups", 50_000 // part, GROUP), lambda: both.rows("copy", 50_000 // part, GROUP))
        row("groups, the database alone", ">= 4", "calls of %d records, beside an INSERT of as many rows" % GROUP,
            faster, lambda: both.journal(2, GROUP), lambda: both.inserted(2))
        row("lone", "<= 2", "p99 of a lone append, beside one INSERT of pgbench", slower,
            lambda: both.ours("groups", 1000 // part, 1), lambda: both.commits(4 // part))
        say("lag")
        lag = sorted((both.ours("lag", 500 // part, 5) for _ in range(rounds)), key=lambda one: one["p99Milliseconds"])
        rows.append({"what": "how much later than its leader a follower has an event", "goal": "p99 <= 50 ms as a guide",
                     "ours": lag[len(lag) // 2], "to": lag[-1]["p99Milliseconds"], "load": round(os.getloadavg()[0], 1)})
        return {"program": os.path.relpath(program, ROOT), "note": "both servers stand on one machine that others use: ratios,"
                " not figures", "rows": rows}
    finally:
        pair.remove()
