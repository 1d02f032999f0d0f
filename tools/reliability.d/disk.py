"""A simulated disk: what is on it for sure, and what waits for a sync; files, and their names.

A state holds all writes that a sync made durable and any part of those that wait, in sectors of
512 bytes that reach the disk independently of one another.
"""

import collections
import os
import struct

SECTOR = 512
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


class Names:
    """Directory entries: those that stand for sure, and changes that wait for a sync."""

    def __init__(self, base, drops_syncs):
        self.now = dict(base)
        self.durable = dict(base)
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
