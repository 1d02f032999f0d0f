"""Judges what nodes said against what PostgreSQL holds: written apart from the product.

Of the product it knows the layout of a batch's bytes and RFC 6962's tree, nothing else.
"""
import hashlib
import struct


def leaf(record):
    return hashlib.sha256(b"\0" + record).digest()


def root(leaves):
    """RFC 6962 section 2.1, over all leaves."""
    stack = []
    for count, hash_ in enumerate(leaves):
        size = 1
        while count & size:
            hash_ = hashlib.sha256(b"\1" + stack.pop() + hash_).digest()
            size <<= 1
        stack.append(hash_)
    if not stack:
        return hashlib.sha256(b"").digest()
    found = stack.pop()
    while stack:
        found = hashlib.sha256(b"\1" + stack.pop() + found).digest()
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
    rows = [line.split("|") for line in pair.sql(
        server, f"SELECT first, count, encode(root, 'hex'), vault_position, encode(bytes, 'hex')"
                f" FROM {schema}.batch ORDER BY first").splitlines()]
    size, last_root, position = pair.sql(
        server, f"SELECT size, encode(root, 'hex'), vault_position FROM {schema}.ledger").split("|")
    items = [line.split("|") for line in pair.sql(
        server, f"SELECT position, convert_from(bytes, 'UTF8') FROM {schema}.vault_item ORDER BY position").splitlines()]
    log, leaves, roots = [], [], {0: root([])}
    for first, count, said, vault, text in rows:
        inside = records(bytes.fromhex(text))
        if int(first) != len(log) or int(count) != len(inside):
            found.append(f"batch {first} does not begin at {len(log)}, or has another count than it says")
        log += inside
        leaves += [leaf(record) for record in inside]
        roots[len(log)] = root(leaves)
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
    acknowledged = doubts = reads = 0
    terms = {}
    for lines in nodes:
        confirmed = 0
        refused = set()
        for number, words in enumerate(lines):
            if words[0] == "acked":
                acknowledged += 1
                at = places.get(words[1] + " 0")
                if at is None:
                    found.append(f"{words[1]} was acknowledged and is lost")
                elif at != [int(words[2])]:
                    found.append(f"{words[1]} was acknowledged at {words[2]} and is at {at}")
            elif words[0] == "unknown":
                doubts += 1
            elif words[0] == "refused":
                # Whose outcome stayed unknown may be there: nobody was told otherwise.
                if lines[number - 1][0] == "sent":
                    refused.add(words[1])
            elif words[0] == "read":
                reads += 1
                if int(words[1]) < confirmed:
                    found.append(f"a node showed {words[1]} events after {confirmed}")
                confirmed = int(words[1])
                if confirmed in roots and roots[confirmed].hex() != words[2] or confirmed > len(log):
                    found.append(f"a node showed {confirmed} events that are others by now")
            elif words[0] == "led":
                if words[1] in terms:
                    found.append(f"two led in term {words[1]}")
                terms[words[1]] = True
        for name in refused:
            if name + " 0" in places:
                found.append(f"{name} was refused and is there")
    return found, {"events": len(log), "batches": len(rows), "acknowledged": acknowledged, "doubts": doubts,
                   "reads": reads, "terms": len(terms)}
