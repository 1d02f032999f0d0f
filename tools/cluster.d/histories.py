"""Judges what nodes said against what PostgreSQL holds: written apart from the product.

Of the product it knows the layout of a batch's bytes and RFC 6962's tree, nothing else.
"""
import hashlib
import struct


OTHERS = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"


def leaf(record):
    return hashlib.sha256(b"\0" + record).digest()


class Tree:
    """RFC 6962 section 2.1, leaf by leaf: what stands on the stack are the roots of full subtrees."""

    def __init__(self):
        self.stack, self.count = [], 0

    def add(self, hash_):
        size = 1
        while self.count & size:
            hash_ = hashlib.sha256(b"\1" + self.stack.pop() + hash_).digest()
            size <<= 1
        self.stack.append(hash_)
        self.count += 1

    def root(self):
        if not self.stack:
            return hashlib.sha256(b"").digest()
        found = self.stack[-1]
        for left in reversed(self.stack[:-1]):
            found = hashlib.sha256(b"\1" + left + found).digest()
        return found


def records(batch):
    """The records of a batch's bytes."""
    magic, count = struct.unpack_from("<4sI", batch, 0)
    assert magic == b"ELJ1"
    place = 4 + 4 + 8 + 8 + 1 + 8 + 4 + 4
    found = []
    for _ in range(count):
        (length,) = struct.unpack_from("<I", batch, place)
        found.append(batch[place + 4:place + 4 + length])
        place += 4 + length
    return found


def judge(pair, server, schema, nodes):
    """What does not hold, and what was counted.

    `nodes`: for each process its lines, split into words.
    """
    found = []
    # What a node sent before its end may be on its way yet.
    pair.wait(lambda: pair.sql(server, OTHERS) == "0", "the end of the nodes' connections")
    rows = [line.split("|") for line in pair.sql(
        server, f"SELECT first, count, encode(root, 'hex'), vault_position,"
                # Records stand before what is attached to them, which nobody here reads.
                f" encode(CASE WHEN length(bytes) > 1000000 THEN substring(bytes FOR 100000) ELSE bytes END, 'hex')"
                f" FROM {schema}.batch ORDER BY first").splitlines()]
    size, last_root, position = pair.sql(
        server, f"SELECT size, encode(root, 'hex'), vault_position FROM {schema}.ledger").split("|")
    items = [line.split("|") for line in pair.sql(
        server, f"SELECT position, convert_from(bytes, 'UTF8') FROM {schema}.vault_item ORDER BY position").splitlines()]
    log, tree = [], Tree()
    roots = {0: tree.root()}
    for first, count, said, vault, text in rows:
        inside = records(bytes.fromhex(text))
        if int(first) != len(log) or int(count) != len(inside):
            found.append(f"batch {first} does not begin at {len(log)}, or has another count than it says")
        log += inside
        for record in inside:
            tree.add(leaf(record))
        roots[len(log)] = tree.root()
        if roots[len(log)].hex() != said:
            found.append(f"batch {first} says another root than its records give")
    if int(size) != len(log) or roots[len(log)].hex() != last_root:
        found.append("the row is not where the batches end")
    if [int(place) for place, _ in items] != list(range(int(position))):
        found.append("the vault's items are not dense")
    places = {}
    for place, record in enumerate(log):
        places.setdefault(record.decode(), []).append(place)
    for name, at in places.items():
        if len(at) > 1:
            found.append(f"{name} is there {len(at)} times")
    ids = [name.rsplit(" ", 1)[0] for name in (record.decode() for record in log)]
    if {name for _, name in items} != set(ids):
        found.append("keys and records did not become durable together")
    counts = {"acknowledged": 0, "doubts": 0, "foundOut": 0, "leftOpen": 0, "refused": 0, "reads": 0}
    terms = set()
    for lines in nodes:
        judge_node(lines, log, roots, places, terms, counts, found)
    return found, dict(counts, events=len(log), batches=len(rows), terms=len(terms))


def judge_node(lines, log, roots, places, terms, counts, found):
    """What one process said, against what stands."""
    confirmed = 0
    doubted = set()
    for words in lines:
        if words[0] == "acked":
            counts["acknowledged"] += 1
            counts["foundOut"] += words[1] in doubted
            at = places.get(words[1] + " 0")
            if at is None:
                found.append(f"{words[1]} was acknowledged and is lost")
            elif at != [int(words[2])]:
                found.append(f"{words[1]} was acknowledged at {words[2]} and is at {at}")
        elif words[0] == "unknown":
            counts["doubts"] += 1
            doubted.add(words[1])
        elif words[0] == "refused":
            counts["refused"] += 1
            counts["foundOut"] += words[1] in doubted
            if words[1] + " 0" in places:
                found.append(f"{words[1]} was refused and is there")
        elif words[0] == "open":
            # It may be there or not: its caller was told that nobody knows.
            counts["leftOpen"] += 1
        elif words[0] == "read":
            counts["reads"] += 1
            if int(words[1]) < confirmed:
                found.append(f"a node showed {words[1]} events after {confirmed}")
            confirmed = int(words[1])
            if confirmed in roots and roots[confirmed].hex() != words[2] or confirmed > len(log):
                found.append(f"a node showed {confirmed} events that are others by now")
        elif words[0] == "led":
            if words[1] in terms:
                found.append(f"two led in term {words[1]}")
            terms.add(words[1])
