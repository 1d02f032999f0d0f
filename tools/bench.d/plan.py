"""Which rows there are, and which references stand beside each."""

import math
import os

# What `client-bench` measures: the command would be linked with an app's networking.
CLIENT = "client"
# Rows of `entitle bench TOPIC`, and of that; one that is missing is a failure.
ROWS = {
    "append": ["append-1", "append-1-new-stream", "append-64", "append-64-p50", "append-64-p99",
               "append-64-group", "append-1000", "append-1000-processor", "append-1000-growth",
               "append-1000-written"],
    "import": ["import", "import-processor", "import-webhooks", "import-webhooks-processor",
               "import-notifications", "import-notifications-processor"],
    "backfill": ["backfill", "backfill-processor", "backfill-distant", "backfill-distant-processor"],
    "fold": ["fold", "fold-processor"],
    "whatif": ["whatif"],
    "rebuild": ["rebuild", "rebuild-processor"],
    "report": ["report-revenue", "report-revenue-processor",
               "report-customers", "report-customers-processor", "report-revenue-views",
               "report-customers-views", "report-funnel-views", "report-stages-views", "report-errors-views"],
    "audit": ["audit", "audit-processor", "audit-everything", "audit-everything-processor"],
    "space": ["space", "space-log", "space-vault", "space-views", "space-identifiers"],
    "access": ["access", "access-p99", "access-customers"],
    "state": ["state-12", "state-12-p99", "state-50", "state-50-p99"],
    "explain": ["explain-12", "explain-12-p99", "explain-50", "explain-50-p99"],
    "verify": ["verify-transaction", "verify-transaction-2", "verify-notification"],
    "proofs": ["proof-inclusion", "proof-inclusion-p99",
               "proof-consistency", "proof-consistency-p99"],
    "archive": ["archive-append", "archive"],
    "salvage": ["salvage-read", "salvage"],
    "memory": ["memory-import", "memory-rebuild", "memory-audit"],
    "client": ["client-is-open", "client-memory"],
}
# What reads one and the same ledger, which is filled once.
WHOLE_LOG = ("fold", "whatif", "rebuild", "report", "audit", "space")

CALLERS = 64
GROUP = 1000
# Peers get no more of the grouped events: their indexes stay small, which is to their advantage.
PEER_EVENTS = 200_000
# Without group commit the rate is the same however many they are.
SQLITE_EVENTS = 1280
QUESTIONS = 5000
LOOK_UPS = 100_000
NODE_BYTES = 65
CORES = len(os.sched_getaffinity(0))


def together(topics):
    """The topics of the command in groups that are measured in one process each."""
    whole = [topic for topic in topics if topic in WHOLE_LOG]
    groups = []
    for topic in topics:
        group = whole if topic in WHOLE_LOG else [topic]
        if topic in ROWS and group not in groups:
            groups.append(group)
    return groups


def rate(found):
    return found["count"] / found["seconds"]


def rows_of_callers(found):
    return {"append-64": rate(found), "append-64-p50": found["p50"], "append-64-p99": found["p99"]}


# Each of these measures one reference once, for the rows of our run beside it: it is given the
# references, our figures of that run and the run's records, and returns a figure for each row.

def lmdb_single(name):
    return lambda all, ours, records: {
        name: all.lmdb("append", records.path, all.fresh(), 1)["p50"]}


def sqlite_single(name):
    return lambda all, ours, records: {
        name: all.sqlite("append", records.path, all.fresh(), 1, 1)["p50"]}


def postgresql_single(name):
    return lambda all, ours, records: {name: all.postgresql("insert", records.path, 1)["p50"]}


def postgresql_callers(all, ours, records):
    return rows_of_callers(all.postgresql("insert", records.path, CALLERS))


def sqlite_callers(all, ours, records):
    path = records.prefix(SQLITE_EVENTS)
    return rows_of_callers(all.sqlite("append", path, all.fresh(), CALLERS, 1))


def lmdb_groups_of_callers(all, ours, records):
    size = max(1, round(ours["append-64-group"]))
    return {"append-64": rate(all.lmdb("append", records.path, all.fresh(), size))}


def lmdb_groups(what):
    return lambda all, ours, records: {
        "append-1000": rate(all.lmdb(what, records.path, all.fresh(), GROUP))}


def sqlite_groups(all, ours, records):
    path = records.prefix(PEER_EVENTS)
    return {"append-1000": rate(all.sqlite("append", path, all.fresh(), 1, GROUP))}


def postgresql_groups(all, ours, records):
    return {"append-1000": rate(all.postgresql("copy", records.prefix(PEER_EVENTS), GROUP))}


def c_fold(all, ours, records):
    return {"fold": rate(all.lmdb("fold", records.path))}


def openssl_hashes(all, ours, records):
    """Leaves and nodes a second, as many of one as of the other."""
    leaf = math.ceil(records.mean_bytes()) + 1
    leaves, nodes = (
        all.openssl_speed(CORES, "-bytes", str(size), "sha256") / size
        for size in (leaf, NODE_BYTES))
    return {"audit": 1 / (1 / leaves + 1 / nodes)}


def look_ups(all, ours, records):
    found = all.lmdb("get", int(ours["access-customers"]), LOOK_UPS, 1, all.fresh())
    return {"access": 1000 * found["p50"], "access-p99": 1000 * found["p99"]}


def sqlite_states(name):
    def measure(all, ours, records):
        found = all.sqlite("state", records.path, all.fresh(), QUESTIONS, 1)
        return {name: found["p50"], name + "-p99": found["p99"]}
    return measure


def openssl_signatures(name, cores, each):
    return lambda all, ours, records: {name: all.openssl_speed(cores, "ecdsap256") / each}


# By the first row of a run: the references in turn; the first is the one that the goal names.
BESIDE = {
    **{name: [("lmdb", lmdb_single(name)), ("sqlite", sqlite_single(name)),
              ("postgresql", postgresql_single(name))]
       for name in ("append-1", "append-1-new-stream")},
    "append-64": [("postgresql", postgresql_callers), ("sqlite", sqlite_callers),
                  ("lmdb", lmdb_groups_of_callers)],
    "append-1000": [("lmdb-indexed", lmdb_groups("append-indexed")),
                    ("lmdb", lmdb_groups("append")), ("sqlite", sqlite_groups),
                    ("postgresql", postgresql_groups)],
    "fold": [("c-fold", c_fold)],
    "audit": [("openssl", openssl_hashes)],
    "access": [("mdb_get", look_ups)],
    "state-12": [("sqlite", sqlite_states("state-12"))],
    "state-50": [("sqlite", sqlite_states("state-50"))],
    "verify-transaction": [("openssl", openssl_signatures("verify-transaction", 1, 1))],
    "verify-transaction-2": [("openssl", openssl_signatures("verify-transaction-2", 2, 1))],
    "verify-notification": [("openssl", openssl_signatures("verify-notification", 1, 3))],
}
