"""Ways to change an archive: each takes the copy's path and a generator of random numbers."""
import base64
import hashlib
import os
import struct

from harness.records import crc32c

RECORDS = 256
# Where the parts of a record stand (schemas/log-format.md).
FIELDS = {
    "magic": (0, 4), "length": (4, 8), "sequence": (8, 16), "recorded time": (16, 24),
    "effective time": (24, 32), "observed time": (32, 40), "stream": (40, 48), "kind": (48, 49),
    "source": (49, 50), "environment": (50, 51), "companion": (51, 52),
    "length of the facts": (52, 54), "length of the sealed part": (54, 56),
    "signal digest": (56, 72),
}
FULL_BUNDLE = "tile/entries/003"


def read(copy, path):
    with open(os.path.join(copy, path), "rb") as file:
        return bytearray(file.read())


def write(copy, path, data):
    with open(os.path.join(copy, path), "wb") as file:
        file.write(data)


def bundle(copy, path=FULL_BUNDLE):
    data, records = read(copy, path), []
    while data:
        count = struct.unpack(">H", data[:2])[0]
        records.append(data[2:2 + count])
        data = data[2 + count:]
    return records


def pack(copy, records, path=FULL_BUNDLE):
    write(copy, path, b"".join(struct.pack(">H", len(record)) + record for record in records))


def flip(data, place, generator):
    data[place] ^= 1 << generator.randrange(8)


def in_record(part):
    """Changes one bit of a part of a random record: (from, to), or a function of the record."""
    def body(copy, generator):
        records = bundle(copy)
        record = records[generator.randrange(len(records))]
        first, end = part(record) if callable(part) else part
        flip(record, generator.randrange(first, end), generator)
        pack(copy, records)
    return body


def facts(record):
    start = 112 if record[51] else 72
    return start, start + struct.unpack("<H", record[52:54])[0]


def sealed(record):
    start = facts(record)[1]
    return start, start + struct.unpack("<H", record[54:56])[0]


def checksum(record):
    return len(record) - 4, len(record)


def evidence_digest(copy, generator):
    """Bytes of a record that name its evidence."""
    records = bundle(copy, LAST["path"](copy))
    record = next(record for record in records if record[51])
    flip(record, generator.randrange(80, 112), generator)
    pack(copy, records, LAST["path"](copy))


def last_bundle(copy):
    folder = "tile/entries/"
    partial = sorted(name for name in os.listdir(os.path.join(copy, folder)) if name.endswith(".p"))[-1]
    width = max(int(name) for name in os.listdir(os.path.join(copy, folder, partial)))
    return f"{folder}{partial}/{width}"


LAST = {"path": last_bundle}


def rewritten(copy, generator):
    """A record with another price and a right checksum: what a careful hand would write."""
    records = bundle(copy)
    record = records[generator.randrange(len(records))]
    first, end = facts(record)
    flip(record, generator.randrange(first, end), generator)
    record[-4:] = struct.pack("<I", crc32c(record[:-4]))
    pack(copy, records)


def rehashed(copy, generator):
    """The same, and its leaf hash written anew as well."""
    rewritten(copy, generator)
    hashes = b"".join(hashlib.sha256(b"\0" + bytes(record)).digest() for record in bundle(copy))
    write(copy, "tile/0/003", hashes)


def swapped_records(copy, generator):
    records = bundle(copy)
    first = generator.randrange(len(records) - 1)
    records[first], records[first + 1] = records[first + 1], records[first]
    pack(copy, records)


def swapped_bundles(copy, _):
    one, other = read(copy, "tile/entries/002"), read(copy, "tile/entries/003")
    write(copy, "tile/entries/002", other)
    write(copy, "tile/entries/003", one)


def swapped_leaves(copy, _):
    one, other = read(copy, "tile/0/002"), read(copy, "tile/0/003")
    write(copy, "tile/0/002", other)
    write(copy, "tile/0/003", one)
    swapped_bundles(copy, None)


def dropped_record(copy, _):
    pack(copy, bundle(copy)[:-1])


def doubled_record(copy, _):
    records = bundle(copy)
    pack(copy, records + records[-1:])


def cut(path):
    def body(copy, _):
        name = path(copy) if callable(path) else path
        write(copy, name, read(copy, name)[:-1])
    return body


def gone(path):
    def body(copy, _):
        os.remove(os.path.join(copy, path(copy) if callable(path) else path))
    return body


def in_file(path):
    def body(copy, generator):
        name = path(copy) if callable(path) else path
        data = read(copy, name)
        flip(data, generator.randrange(len(data)), generator)
        write(copy, name, data)
    return body


def upper_tile(copy):
    folder = os.path.join(copy, "tile/1/000.p")
    return "tile/1/000.p/" + max(os.listdir(folder), key=int)


def last_tile(copy):
    return last_bundle(copy).replace("entries", "0")


def in_line(number, change):
    """Changes a line of the checkpoint."""
    def body(copy, _):
        lines = read(copy, "checkpoint").decode().split("\n")
        lines[number] = change(lines[number])
        write(copy, "checkpoint", "\n".join(lines).encode())
    return body


def other_bit(place):
    """Changes a bit of what stands in base64 behind the last space."""
    def change(line):
        head, _, text = line.rpartition(" ")
        data = bytearray(base64.b64decode(text))
        data[place] ^= 1
        return (head + " " if head else "") + base64.b64encode(data).decode()
    return change


TAMPERINGS = {
    **{f"a bit of a record: {name}": in_record(part) for name, part in FIELDS.items()},
    "a bit of a record: facts": in_record(facts),
    "a bit of a record: sealed part": in_record(sealed),
    "a bit of a record: checksum": in_record(checksum),
    "a bit of a record: digest of its evidence": evidence_digest,
    "a bit of the last bundle": in_file(last_bundle),
    "a record rewritten with a right checksum": rewritten,
    "a record rewritten, and its leaf hash": rehashed,
    "two records swapped": swapped_records,
    "two bundles swapped": swapped_bundles,
    "two bundles swapped with their tiles": swapped_leaves,
    "a record dropped": dropped_record,
    "a record doubled": doubled_record,
    "a bundle cut": cut(FULL_BUNDLE),
    "the last bundle cut": cut(last_bundle),
    "a bundle gone": gone(FULL_BUNDLE),
    "a bit of a tile of leaves": in_file("tile/0/003"),
    "a bit of the last tile of leaves": in_file(last_tile),
    "a bit of a tile above": in_file(upper_tile),
    "a tile of leaves cut": cut("tile/0/003"),
    "a tile of leaves gone": gone("tile/0/003"),
    "a tile above gone": gone(upper_tile),
    "the checkpoint's origin": in_line(0, lambda line: line + "x"),
    "the checkpoint's size": in_line(1, lambda line: str(int(line) - 1)),
    "the checkpoint's root": in_line(2, other_bit(5)),
    "the name of the signature": in_line(4, lambda line: line.replace("ledger", "Ledger")),
    "the key id of the signature": in_line(4, other_bit(1)),
    "a bit of the signature": in_line(4, other_bit(40)),
    "the checkpoint gone": gone("checkpoint"),
}


def last_evidence(copy):
    return last_bundle(copy).replace("tile/entries", "companions")


def older_checkpoint(copy):
    return "checkpoints/" + min(os.listdir(os.path.join(copy, "checkpoints")), key=int)


# What stands beside the tree's own files: bound by the records' digests.
BESIDE = {
    "a bit of an evidence": in_file(last_evidence),
    "evidences cut": cut(last_evidence),
    "evidences gone": gone(last_evidence),
    "a bit of an older checkpoint": in_line(4, other_bit(40)),
    "a kept checkpoint of another size": in_file(older_checkpoint),
}
